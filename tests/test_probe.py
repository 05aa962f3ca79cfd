from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from chatkit.answer import Answer
from chatkit.call import Call
from chatkit.checkup import Observation, Prober, Reply
from chatkit.checkup import observe as observed
from chatkit.connection import Connection
from chatkit.errors import Unreachable
from chatkit.profile import ServiceProfile
from chatkit.sandbox import Sandbox
from chatkit.transport import Transport


@contextmanager
def observing(
    service: ServiceProfile, assumed: ServiceProfile | None = None, seed: str = "demo"
) -> Iterator[Prober]:
    with Sandbox(seed=seed, profile=service) as sandbox:
        connection = Connection(
            base_url="http://localhost",
            account_id=sandbox.account_id,
            token=sandbox.token,
            profile=assumed or service,
        )
        yield Prober(Transport(connection, door=sandbox.answer))


def observe(
    service: ServiceProfile, assumed: ServiceProfile | None = None, seed: str = "demo"
) -> dict[str, Observation]:
    with observing(service, assumed, seed) as ask:
        lists = [ask.get(name) for name in ("contacts", "flows", "webhooks")]
        points = observed(ask, *lists)
        return {point.field: point for point in points}


OTHERWISE = [
    {"page_base": 0},
    {"default_page_size": 25},
    {"max_page_size": 50},
    {"max_page_size": 500},
    {"over_max_page_size": "refuse"},
    {"page_past_end": "refuse"},
    {"bad_page": "clamp"},
    {"status_code_in_body": False},
    {"id_type": "string"},
    {"timestamps": "second"},
    {"timestamps": "microsecond"},
    {"tags": "objects"},
    {"number_form": "international"},
    {"flow_json_in_get": False},
    {"flow_json_form": "text"},
    {"flow_json_form": "raw"},
    {"last_delivery_at": "seconds"},
    {"last_delivery_at": "milliseconds"},
    {"not_found_status": 410},
    {"not_found_status": 400},
    {"unknown_template": "not_found"},
    {"search_param": "q"},
    {"search_param": None},
    {"status_param": "state"},
    {"status_param": None},
    {"error_body": "message"},
    {"error_body": "error_object"},
    {"error_body": "text"},
    {"error_body": "html"},
    {"error_body": "empty"},
]


@pytest.mark.parametrize("point", OTHERWISE, ids=str)
def test_an_open_point_is_seen_whatever_is_assumed(point: dict[str, object]) -> None:
    ((field, value),) = point.items()
    service = ServiceProfile(**point)
    assert observe(service, ServiceProfile())[field].value == value


@pytest.mark.parametrize(
    ("most", "over", "found"),
    [(101, "clamp", 101), (700, "clamp", 700), (5000, "clamp", 1000), (101, "refuse", 101),
     (500, "refuse", 500), (700, "refuse", 500), (5000, "refuse", 1000)],
)  # fmt: skip
def test_the_largest_page_that_a_service_takes_is_found(most: int, over: str, found: int) -> None:
    service = ServiceProfile(max_page_size=most, over_max_page_size=over)
    assert observe(service, ServiceProfile())["max_page_size"].value == found


@pytest.mark.parametrize("point", [{}, *OTHERWISE], ids=str)
def test_every_open_point_is_seen_as_the_service_has_it(point: dict[str, object]) -> None:
    service = ServiceProfile(**point)
    seen = observe(service)
    told = {field: point.value for field, point in seen.items() if point.told}
    assert told == {field: getattr(service, field) for field in told}
    assert len(seen) == 20
    assert len(told) >= 18  # a service that shows no flow hides two things more


def test_an_empty_account_hides_what_only_records_show() -> None:
    seen = observe(ServiceProfile(), seed="empty")
    untold = {field for field, point in seen.items() if not point.told}
    assert untold == {
        "id_type", "timestamps", "tags", "number_form", "flow_json_in_get", "flow_json_form",
        "search_param", "status_param", "last_delivery_at",
    }  # fmt: skip


def test_without_a_list_nothing_is_said() -> None:
    with observing(ServiceProfile()) as ask:
        lost = Reply(Call("GET", ("contacts",)), error=Unreachable(Call("GET", ("contacts",)), "x"))
        assert list(observed(ask, lost, lost, lost)) == []


def test_a_list_without_pagination_is_told_and_hides_what_it_would_tell() -> None:
    seen = observe(ServiceProfile(pagination="never"), ServiceProfile())
    assert seen["pagination"].value == "never"
    assert not seen["page_base"].told
    assert "max_page_size" not in seen


def test_what_was_seen_never_holds_a_text_of_the_service() -> None:
    answer = Answer(Call("GET", ("contacts",)), 404, {}, b"tok_5f3a9c1e77")
    assert Reply(answer.call, answer).said == "404"
