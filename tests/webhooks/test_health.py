"""Health: whatever the four fields hold, a webhook is told to be one of five."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chatkit
from chatkit.errors import InputError
from chatkit.webhooks import HEALTH_ORDER, assess_health

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
DAY = timedelta(hours=24)


def webhook(**fields: Any) -> dict[str, Any]:
    return {
        "is_active": True,
        "created_at": datetime(2026, 1, 1, tzinfo=UTC),
        "last_delivery_at": NOW - timedelta(minutes=5),
        "last_delivery_status": "delivered",
        "last_delivery_http_status": 200,
        "last_delivery_error": None,
        **fields,
    }


NEVER = dict.fromkeys(
    [f"last_delivery_{name}" for name in ("at", "status", "http_status", "error")]
)


@pytest.mark.parametrize(
    ("fields", "health", "reports"),
    [
        ({}, "healthy", "5 minutes ago"),
        ({"last_delivery_at": NOW}, "healthy", "less than a minute ago"),
        ({"last_delivery_at": NOW + timedelta(hours=1)}, "healthy", "less than a minute ago"),
        ({"last_delivery_at": NOW - timedelta(hours=24)}, "healthy", "1 day ago"),
        ({"last_delivery_at": NOW - timedelta(hours=25)}, "silent", "for 1 day"),
        ({"last_delivery_at": NOW - timedelta(days=1200)}, "silent", "1,200 days"),
        (NEVER, "never", "since 2026-01-01 00:00 UTC"),
        (NEVER | {"created_at": None}, "never", "since it was made"),
        ({"is_active": False}, "inactive", "activate"),
        (NEVER | {"is_active": False}, "inactive", "activate"),
        ({"is_active": False, "last_delivery_http_status": 500}, "inactive", "answered 500"),
        ({"is_active": None}, "healthy", "ago"),
        ({"last_delivery_http_status": 500}, "failing", "answered 500"),
        ({"last_delivery_http_status": 302}, "failing", "answered 302"),
        ({"last_delivery_http_status": "404"}, "failing", "answered 404"),
        ({"last_delivery_http_status": 503.0}, "failing", "answered 503"),
        ({"last_delivery_error": "connection refused"}, "failing", "connection refused"),
        ({"last_delivery_error": "x\n" * 500}, "failing", "x x"),
        (
            {"last_delivery_status": "failed", "last_delivery_http_status": None},
            "failing",
            "failed",
        ),
        ({"last_delivery_status": "timeout", "last_delivery_http_status": None}, "failing", "time"),
        (
            {"last_delivery_status": "undelivered", "last_delivery_http_status": None},
            "failing",
            "un",
        ),
        ({"last_delivery_status": "SUCCESS", "last_delivery_http_status": None}, "healthy", "ago"),
        ({"last_delivery_status": True, "last_delivery_http_status": None}, "healthy", "ago"),
        ({"last_delivery_status": False, "last_delivery_http_status": None}, "failing", "False"),
        ({"last_delivery_status": "odd", "last_delivery_http_status": 204}, "healthy", "ago"),
        ({"last_delivery_at": None, "last_delivery_error": "no such host"}, "failing", "no such"),
        (
            {"last_delivery_at": NOW - timedelta(days=9), "last_delivery_http_status": 500},
            "failing",
            "answered 500",
        ),
    ],
)
def test_the_health_of_a_webhook_is_that_of_its_last_delivery(
    fields: dict[str, Any], health: str, reports: str
) -> None:
    verdict, reason = assess_health(webhook(**fields), NOW, DAY)
    assert verdict == health, reason
    assert reports in reason
    assert len(reason) < 250


OFF = "it is switched off: activate(id) switches it on"
BARE = {"last_delivery_status": None, "last_delivery_http_status": None}
HEALTHY = "delivered 5 minutes ago"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, HEALTHY),
        ({"is_active": False}, OFF),
        (
            {"is_active": False, "last_delivery_http_status": 500},
            f"{OFF}; its last delivery failed: the receiver answered 500",
        ),
        ({"is_active": False, "last_delivery_at": None, "last_delivery_error": "no"}, OFF),
        ({"last_delivery_http_status": 299}, HEALTHY),
        ({"last_delivery_http_status": 300}, "the receiver answered 300"),
        ({"last_delivery_http_status": 199}, "the receiver answered 199"),
        ({"last_delivery_http_status": "204.0"}, HEALTHY),
        ({"last_delivery_http_status": 99, "last_delivery_status": "lost"}, "its status is lost"),
        ({"last_delivery_http_status": 500, "last_delivery_error": "cut"}, "cut"),
        ({"last_delivery_error": ""}, HEALTHY),
        ({"last_delivery_error": False}, HEALTHY),
        (BARE, HEALTHY),
        (BARE | {"last_delivery_status": ""}, HEALTHY),
        (BARE | {"last_delivery_status": "OK"}, HEALTHY),
        (BARE | {"last_delivery_status": True}, HEALTHY),
        (BARE | {"last_delivery_status": "not delivered"}, "its status is not delivered"),
        (BARE | {"last_delivery_status": "odd"}, "its status is odd"),
        (BARE | {"last_delivery_status": "x" * 121}, f"its status is {'x' * 119}…"),
        (BARE | {"last_delivery_status": "x" * 120}, f"its status is {'x' * 120}"),
    ],
)
def test_the_reason_is_the_first_that_speaks(fields: dict[str, Any], reason: str) -> None:
    assert assess_health(webhook(**fields), NOW, DAY)[1] == reason


@pytest.mark.parametrize(
    ("seconds", "message"),
    [
        (59, "less than a minute"),
        (60, "1 minute"),
        (119, "1 minute"),
        (3599, "59 minutes"),
        (3600, "1 hour"),
        (86_399, "23 hours"),
        (86_400, "1 day"),
        (86_400 * 3, "3 days"),
    ],
)
def test_how_long_ago_is_said_in_the_largest_unit_that_fits(seconds: int, message: str) -> None:
    at = {"last_delivery_at": NOW - timedelta(seconds=seconds)}
    assert assess_health(webhook(**at), NOW, timedelta(days=9))[1] == f"delivered {message} ago"


ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text())


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "is_active": st.none() | st.booleans(),
            "last_delivery_at": st.none() | st.datetimes(timezones=st.just(UTC)),
            "last_delivery_status": ANYTHING,
            "last_delivery_http_status": ANYTHING,
            "last_delivery_error": ANYTHING,
            "created_at": st.none() | st.datetimes(timezones=st.just(UTC)),
        },
    )
)
def test_whatever_a_service_shows_there_is_a_verdict_with_a_reason(fields: dict[str, Any]) -> None:
    health, reason = assess_health(fields, NOW, DAY)
    assert health in HEALTH_ORDER
    assert reason
    assert "\n" not in reason


def test_the_time_of_a_judgement_has_a_zone_and_quiet_is_a_number_of_hours() -> None:
    with chatkit.Sandbox(seed="empty") as sandbox, chatkit.connect(sandbox) as client:
        assert client.webhooks.health(now=NOW).empty
        with pytest.raises(InputError, match="time zone"):
            client.webhooks.health(now=NOW.replace(tzinfo=None))
        for unusual in (0, -1, 1_000_000, True, "24", None, float("nan")):
            with pytest.raises(InputError, match="quiet="):
                client.webhooks.health(quiet=unusual)
