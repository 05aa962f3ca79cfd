from __future__ import annotations

from typing import Any

import pytest
from bulk.wayward import DOCUMENT, Service, dropped, lost, wayward
from widgets.screen import Clock

from chatkit.client import Client
from chatkit.errors import Conflict, UnknownOutcome
from chatkit.resource import Resource, get_endpoints
from chatkit.widgets import form
from chatkit.widgets.form import UnconfirmedWrite

CONTACT = {"number": "2025550142", "country_code": "+1", "name": "Ana Cruz"}
FLOW = {"name": "survey", "template_name": "default", "flow_json": DOCUMENT}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(form, "time", made)
    return made


def doubtful(
    service: Service, resource: Resource[Any], fault: Any, sent: dict[str, Any], key: Any = None
) -> UnconfirmedWrite:
    """Send something whose answer is lost, and return the doubt."""
    taken = set(get_endpoints(resource).base(None).frame.index)
    service.on(get_endpoints(resource).update_method if key else "POST", "", fault)
    with pytest.raises(UnknownOutcome) as caught:
        if key is None:
            resource.create(**sent)
        else:
            resource.update(key, **sent)
    return UnconfirmedWrite(resource, key, sent, taken, caught.value)


def each_resource(client: Client) -> list[tuple[Resource[Any], dict[str, Any]]]:
    return [
        (client.contacts, CONTACT),
        (client.flows, FLOW),
        (client.webhooks, {"url": "https://a.example/hook", "events": ["*"]}),
        (client.templates("greeting"), {"lang_code": "en", "text": "Hello"}),
    ]


def test_a_create_that_took_effect_is_found_in_every_resource() -> None:
    with wayward() as service, service.client() as client:
        for resource, sent in each_resource(client):
            record = doubtful(service, resource, lost, sent).confirm()
            assert record is not None
            assert get_endpoints(resource).label(
                get_endpoints(resource).dump_visible_fields(record)
            ) == get_endpoints(resource).label(sent)


def test_a_create_without_effect_is_absent_once_it_cannot_have_one_any_more(
    clock: Clock,
) -> None:
    with wayward() as service, service.client(deadline=3) as client:
        for resource, sent in each_resource(client):
            unsure = doubtful(service, resource, dropped, sent)
            if not get_endpoints(resource).unique:  # nothing would refuse a second one
                with pytest.raises(UnknownOutcome, match=r"it may still take effect for 3\d s"):
                    unsure.confirm()
                clock.now += 3600
            assert unsure.confirm() is None


def test_one_that_was_there_before_is_not_taken_for_the_one_that_was_sent(clock: Clock) -> None:
    with wayward() as service, service.client() as client:
        client.flows.create(**FLOW)
        unsure = doubtful(service, client.flows, dropped, FLOW)
        clock.now += 3600
        assert unsure.confirm() is None


def test_what_somebody_else_has_made_meanwhile_is_a_conflict() -> None:
    with wayward() as service, service.client() as client:
        unsure = doubtful(service, client.contacts, dropped, CONTACT)
        client.contacts.create(**CONTACT | {"name": "Somebody Else"})
        with pytest.raises(Conflict, match="somebody else created it"):
            unsure.confirm()


def test_an_update_that_took_effect_reads_back() -> None:
    with wayward() as service, service.client() as client:
        key = client.contacts.create(**CONTACT).id
        record = doubtful(service, client.contacts, lost, {"name": "Ana Diaz"}, key).confirm()
        assert record is not None and record.last_name == "Diaz"


def test_an_update_without_effect_may_have_one_for_a_moment(
    clock: Clock,
) -> None:
    with wayward() as service, service.client() as client:
        key = client.contacts.create(**CONTACT).id
        unsure = doubtful(service, client.contacts, dropped, {"name": "Ana Diaz"}, key)
        with pytest.raises(UnknownOutcome, match="may still take effect"):
            unsure.confirm()
        clock.now += 3600
        assert unsure.confirm() is None
