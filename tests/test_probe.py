from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from profiles import Service

from chatkit.account.doctor import Observation, ProbeClient, Reply
from chatkit.account.doctor import observe_points as observed
from chatkit.api.answer import Answer
from chatkit.api.call import Call
from chatkit.api.connection import Connection
from chatkit.api.transport import Transport
from chatkit.errors import Unreachable
from chatkit.profile import ServiceProfile


@contextmanager
def observing(
    service: ServiceProfile,
    assumed: ServiceProfile | None = None,
    seed: str = "demo",
    quirks: frozenset[str] = frozenset(),
) -> Iterator[ProbeClient]:
    with Service(service, quirks).sandbox(seed) as sandbox:
        connection = Connection(
            base_url="http://localhost",
            account_id=sandbox.account_id,
            token=sandbox.token,
            profile=assumed or service,
        )
        yield ProbeClient(Transport(connection, handler=sandbox.answer))


def observe_points(
    service: ServiceProfile,
    assumed: ServiceProfile | None = None,
    seed: str = "demo",
    quirks: frozenset[str] = frozenset(),
) -> dict[str, Observation]:
    with observing(service, assumed, seed, quirks) as ask:
        lists = [ask.get(name) for name in ("contacts", "flows")]
        points = observed(ask, *lists)
        return {point.field: point for point in points}


OTHERWISE = [
    {"page_base": 0},
    {"max_page_size": 50},
    {"max_page_size": 500},
    {"page_past_end": "refuse"},
    {"number_form": "international"},
    {"flow_json_in_get": False},
    {"not_found_status": 410},
    {"not_found_status": 400},
    {"search_param": "q"},
    {"search_param": None},
    {"status_param": "state"},
    {"status_param": None},
]


@pytest.mark.parametrize("point", OTHERWISE, ids=str)
def test_an_open_point_is_seen_whatever_is_assumed(point: dict[str, object]) -> None:
    ((field, value),) = point.items()
    service = ServiceProfile(**point)
    assert observe_points(service, ServiceProfile())[field].value == value


@pytest.mark.parametrize(("most", "result"), [(101, 101), (700, 700), (5000, 1000)])
def test_the_largest_page_that_a_service_takes_is_found(most: int, result: int) -> None:
    service = ServiceProfile(max_page_size=most)
    assert observe_points(service, ServiceProfile())["max_page_size"].value == result


@pytest.mark.parametrize("point", [{}, *OTHERWISE], ids=str)
def test_every_open_point_is_seen_as_the_service_has_it(point: dict[str, object]) -> None:
    service = ServiceProfile(**point)
    seen = observe_points(service)
    report = {field: point.value for field, point in seen.items() if point.known}
    assert report == {field: getattr(service, field) for field in report}
    assert len(report) == len(seen) == 8


def test_what_nothing_shows_is_not_known() -> None:
    seen = observe_points(ServiceProfile(), seed="empty")
    untold = {field for field, point in seen.items() if not point.known}
    assert untold == {"number_form", "flow_json_in_get", "search_param", "status_param"}
    seen = observe_points(ServiceProfile(), quirks=frozenset({"no_pagination"}))
    assert not seen["page_base"].known
    assert "max_page_size" not in seen
    call = Call("GET", ("contacts",))
    with observing(ServiceProfile()) as ask:
        lost = Reply(call, error=Unreachable(call, "x"))
        assert list(observed(ask, lost, lost)) == []
    answer = Answer(call, 404, {}, b"tok_5f3a9c1e77")
    assert Reply(call, answer).status_text == "404", "never a text of the service"
