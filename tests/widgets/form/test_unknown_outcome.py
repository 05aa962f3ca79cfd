"""After a lost answer a form looks what took effect, in every resource."""

from __future__ import annotations

from typing import Any

import pytest
from bulk.wayward import DOCUMENT, dropped, lost, wayward
from widgets.screen import Clock

from chatkit.errors import Conflict, UnknownOutcome
from chatkit.resource import Resource
from chatkit.widgets import form
from chatkit.widgets.form import Form

CONTACT = {"number": "2025550142", "country_code": "+1", "name": "Ana Cruz"}
BODIES: list[tuple[Any, dict[str, Any]]] = [
    (lambda client: client.contacts, CONTACT),
    (lambda client: client.flows, {"name": "a", "template_name": "b", "flow_json": DOCUMENT}),
    (lambda client: client.webhooks, {"url": "https://a.example/hook", "events": ["*"]}),
    (lambda client: client.templates("greeting"), {"lang_code": "en", "text": "Hello"}),
]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(form, "time", made)
    return made


def doubtful(resource: Resource[Any], sent: dict[str, Any], key: Any = None) -> Form:
    """Return a form whose answer is lost."""
    made = Form(resource, key)
    for name, value in sent.items():
        made.set(name, value)
    with pytest.raises(UnknownOutcome):
        made.submit()
    return made


@pytest.mark.parametrize("fault", [lost, dropped])
@pytest.mark.parametrize(("find", "sent"), BODIES)
def test_a_create_is_made_once_in_every_resource(
    find: Any, sent: dict[str, Any], fault: Any, clock: Clock
) -> None:
    with wayward() as service, service.client(deadline=3) as client:
        service.on("POST", "", fault)
        made = doubtful(find(client), sent)
        clock.now += 3600
        assert made.submit() is made.record
        assert len(find(client).frame()) == 1


def test_what_somebody_else_has_made_meanwhile_is_a_conflict() -> None:
    with wayward() as service, service.client() as client:
        service.on("POST", "", dropped)
        made = doubtful(client.contacts, CONTACT)
        client.contacts.create(**CONTACT | {"name": "Somebody Else"})
        with pytest.raises(Conflict, match="somebody else created it"):
            made.submit()


@pytest.mark.parametrize("fault", [lost, dropped])
def test_an_update_is_read_back_or_may_still_take_effect(fault: Any, clock: Clock) -> None:
    with wayward() as service, service.client() as client:
        key = client.contacts.create(**CONTACT).id
        service.on("PUT", "", fault)
        made = doubtful(client.contacts, {"name": "Ana Diaz"}, key)
        if fault is dropped:
            with pytest.raises(UnknownOutcome, match="may still take effect"):
                made.submit()
            clock.now += 3600
        assert made.submit().last_name == "Diaz"
