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


def webhook(at: Any = NOW - timedelta(minutes=5), **fields: Any) -> dict[str, Any]:
    """Return a webhook; status, http_status and error are those of its last delivery."""
    last = {"at": at, "status": "delivered", "http_status": 200, "error": None}
    last |= {name: fields.pop(name) for name in fields.keys() & last}
    created = datetime(2026, 1, 1, tzinfo=UTC)
    return (
        {"is_active": True, "created_at": created}
        | fields
        | {f"last_delivery_{name}": value for name, value in last.items()}
    )


def case(health: str, reason: str, **fields: Any) -> Any:
    return pytest.param(fields, health, reason, id=f"{health}: {reason:.40}")


def by_status(health: str, reason: str, status: Any) -> Any:
    return case(health, reason, status=status, http_status=None)


def aged(seconds: int, age: str) -> Any:
    return case("healthy", f"delivered {age} ago", at=NOW - timedelta(seconds=seconds))


HEALTHY = "delivered 5 minutes ago"
OFF = "it is switched off: activate(id) switches it on"
NEVER = dict.fromkeys(("at", "status", "http_status", "error"))
UNUSED = "nothing was ever delivered to it since"


@pytest.mark.parametrize(
    ("fields", "health", "reason"),
    [
        case("healthy", HEALTHY),
        case("healthy", HEALTHY, is_active=None),
        case("silent", "nothing was delivered for 1 day", at=NOW - timedelta(hours=25)),
        case("silent", "nothing was delivered for 1,200 days", at=NOW - timedelta(days=1200)),
        case("never", f"{UNUSED} 2026-01-01 00:00 UTC", **NEVER),
        case("never", f"{UNUSED} it was made", **NEVER, created_at=None),
        case("inactive", OFF, is_active=False),
        case("inactive", OFF, is_active=False, **NEVER),
        case("inactive", OFF, is_active=False, at=None, error="no"),
        case(
            *("inactive", f"{OFF}; its last delivery failed: the receiver answered 500"),
            is_active=False,
            http_status=500,
        ),
        *(case("healthy", HEALTHY, http_status=code) for code in (299, "204.0")),
        case("healthy", HEALTHY, status="odd", http_status=204),
        *(
            case("failing", f"the receiver answered {int(code)}", http_status=code)
            for code in (500, 302, "404", 503.0, 300, 199)
        ),
        case("failing", "the receiver answered 401: often another signing secret", http_status=401),
        case("failing", "its status is lost", http_status=99, status="lost"),
        case("failing", "the receiver answered 500", at=NOW - timedelta(days=9), http_status=500),
        *(case("healthy", HEALTHY, error=error) for error in ("", False)),
        case("failing", "cut", http_status=500, error="cut"),
        case("failing", "no such host", at=None, error="no such host"),
        case("failing", "x " * 59 + "x…", error="x\n" * 500),
        *(by_status("healthy", HEALTHY, word) for word in (None, "", "OK", "SUCCESS", True)),
        *(
            by_status("failing", f"its status is {word}", word)
            for word in ("failed", "timeout", "undelivered", "not delivered", "odd", False)
        ),
        by_status("failing", f"its status is {'x' * 119}…", "x" * 121),
        by_status("failing", f"its status is {'x' * 120}", "x" * 120),
        aged(-3600, "less than a minute"),
        aged(0, "less than a minute"),
        aged(59, "less than a minute"),
        aged(60, "1 minute"),
        aged(119, "1 minute"),
        aged(3599, "59 minutes"),
        aged(3600, "1 hour"),
        aged(86_399, "23 hours"),
        aged(86_400, "1 day"),
    ],
)
def test_the_health_of_a_webhook_is_that_of_its_last_delivery(
    fields: dict[str, Any], health: str, reason: str
) -> None:
    assert assess_health(webhook(**fields), NOW, DAY) == (health, reason)


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
        health = client.webhooks.health(now=NOW)
        assert health.empty and {"health", "reason"} <= set(health.columns)
        with pytest.raises(InputError, match="time zone"):
            client.webhooks.health(now=NOW.replace(tzinfo=None))
        for unusual in (0, -1, 1_000_000, True, "24", None, float("nan")):
            with pytest.raises(InputError, match="quiet="):
                client.webhooks.health(quiet=unusual)
