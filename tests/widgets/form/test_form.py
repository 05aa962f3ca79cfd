"""A form asks for what a resource declares, sends it once, and never guesses the outcome."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from bulk.wayward import DOCUMENT, Answer, answers, dropped, lost, slow, wayward
from profiled import client, sandbox
from widgets.screen import code, find, html, page_of, press, send, static, type_into

import chatkit
from chatkit.client import Client
from chatkit.errors import Conflict, InputError, NotPermitted, Refused, UnknownOutcome
from chatkit.resource import Resource, get_endpoints
from chatkit.widgets.form import Form

__all__ = ["client", "sandbox"]

LOOK = "Look what came of it"  #: the button, after an answer was lost
CONTACT = {"number": "2025550142", "country_code": "+1", "name": "Ana Cruz"}


def filled(source: Resource[Any], **fields: Any) -> Form:
    form = Form(source)
    for name, value in fields.items():
        form.set(name, value)
    return form


def bodies(client: Client) -> list[tuple[Resource[Any], dict[str, Any]]]:
    """Return each resource with the fields of a create."""
    made = get_endpoints(client.templates("greeting")).body.model_fields
    content = {
        name: made[name].get_default(call_default_factory=True)
        for name in client.profile.content_requires
    }
    return [
        (client.contacts, CONTACT),
        (client.flows, {"name": "survey", "template_name": "default", "flow_json": DOCUMENT}),
        (client.webhooks, {"url": "https://a.example/hook", "events": ["*"]}),
        (client.templates("greeting"), {**content, "lang_code": "en", "text": "Hello"}),
    ]


# --- one record of any resource ---------------------------------------------------------------


def test_a_record_of_every_resource_is_created_and_the_line_shown_does_the_same(
    client: Client,
) -> None:
    for source, fields in bodies(client):
        form = filled(source, **fields)
        line = form.line
        assert form.values == fields
        record = form.submit()
        assert form.record is record
        assert form.key == getattr(record, get_endpoints(source).key)
        assert form.message.startswith(f"Created {get_endpoints(source).noun} {form.key}.")
        assert code(form) == line  # what was run stays until something is edited
        source.delete(form.key)
        again = eval(line, {"client": client})
        assert get_endpoints(source).label(
            get_endpoints(source).dump_visible_fields(again)
        ) == get_endpoints(source).label(fields)


def test_only_what_is_edited_is_sent_and_the_line_says_so(client: Client) -> None:
    key = client.contacts.create(**CONTACT).id
    form = Form(client.contacts, key)
    assert (form.values, form.line) == ({}, "")
    assert find(form, "Save contact").disabled
    form.set("name", "Ana Diaz")
    assert form.line == f'client.contacts.update({key}, name="Ana Diaz")'
    assert form.submit().name == "Ana Diaz"
    assert form.message == f"Saved contact {key}."
    assert form.values == {}


def test_without_an_edit_nothing_is_sent_and_the_form_says_so(client: Client) -> None:
    contact = client.contacts.create(number="7700900123", country_code="+44")
    form = Form(client.contacts, contact.id)
    with pytest.raises(InputError, match=r"^No field was edited: change one first\.$"):
        form.submit()
    assert form.message == "Nothing was sent: No field was edited: change one first."


def test_a_flow_is_edited_as_json_and_what_is_fixed_stays(client: Client) -> None:
    made = client.flows.create(name="survey", template_name="default", flow_json=DOCUMENT)
    form = Form(client.flows, made.id)
    document = DOCUMENT | {"version": "7.2"}
    form.set("flow_json", document)
    form.submit()
    if client.profile.flow_json_in_get:
        assert client.flows.get(made.id).flow_json == document
    with pytest.raises(InputError, match="can only be set when it is created"):
        form.set("name", "other")


def test_a_form_of_the_contents_of_a_template_names_its_code() -> None:
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        form = Form(client.templates("order_ready"), "en")
        assert form.values == {}
        form.set("footer", "New")
        assert form.line == 'client.templates("order_ready").update("en", footer="New")'
        assert form.submit().footer == "New"
        assert "Content en · order_ready" in html(form)


def test_after_a_create_the_form_edits_what_it_has_made_and_can_begin_anew(client: Client) -> None:
    form = filled(client.contacts, **CONTACT)
    press(form, "Create contact")
    key = form.key
    form.set("name", "Ana Diaz")
    press(form, "Save contact")
    assert (form.key, client.contacts.get(key).name) == (key, "Ana Diaz")
    press(form, "New contact")
    assert (form.key, form.record, form.line) == (None, None, "client.contacts.create()")


def test_a_signing_secret_survives_a_later_save(client: Client) -> None:
    form = filled(client.webhooks, url="https://a.example/hook", events=["*"])
    secret = form.submit().webhook_secret
    form.set("is_active", False)
    assert form.submit().webhook_secret == secret


def test_another_record_is_opened_once_nothing_is_left_unsaved(client: Client) -> None:
    key = client.contacts.create(**CONTACT).id
    form = Form(client.contacts)
    form.set("name", "Ben")
    with pytest.raises(InputError, match=r"not saved \(Name\): save it, or press “Empty the form”"):
        form.edit(key)
    press(form, "Empty the form")
    form.edit(key)
    assert (form.key, form.values) == (key, {})
    assert find(form, "Name").value == "Ana Cruz"


def test_a_pasted_number_is_split_by_itself_and_a_typed_one_when_it_is_sent(client: Client) -> None:
    form = Form(client.contacts)
    type_into(form, "Phone number", "+49 151 2345-6789")
    assert form.values == {"country_code": "+49", "number": "15123456789"}
    assert form.problems == {}
    type_into(form, "Country code", "+44 (0)7700 900000")
    assert form.values == {"country_code": "+44", "number": "7700900000"}
    press(form, "Empty the form")
    for n in range(1, 13):
        type_into(form, "Phone number", "+12025550142"[:n])
    assert form.values == {"number": "+12025550142"}  # not moved while somebody types
    press(form, "Create contact")
    assert form.message.startswith("Created contact")
    assert (form.record.country_code, form.record.number) == ("+1", "2025550142")  # type: ignore[union-attr]
    type_into(form, "Phone number", "12 34 56 78")  # in no country: it stays, and is told
    assert (
        find(form, "Phone number").value == "12 34 56 78"
        and "digits only" in form.problems["number"]
    )


def test_what_a_required_field_begins_with_is_sent_and_emptied_is_required(client: Client) -> None:
    form = filled(client.flows, name="survey", flow_json=DOCUMENT)
    assert form.values["template_name"] == "default"
    assert form._fields.edited == ["name", "flow_json"]
    form.set("template_name", "")
    with pytest.raises(InputError, match="is required"):
        form.submit()
    form.set("template_name", "default")
    assert form.submit().template_name == "default"


# --- what is wrong ----------------------------------------------------------------------------


def test_what_is_missing_or_wrong_is_shown_at_its_field_and_nothing_is_sent() -> None:
    with wayward() as service, service.client() as client:
        form = filled(client.contacts, number="12 34")
        assert "digits only" in form.problems["number"]
        with pytest.raises(InputError):
            form.submit()
        press(form, "Create contact")
        assert form.problems["country_code"] == "is required"
        assert form.message == "Nothing was sent: see above."
        assert service.sent == []


def test_a_number_that_exists_is_refused_at_its_field(client: Client) -> None:
    client.contacts.create(**CONTACT)
    form = filled(client.contacts, **CONTACT)
    with pytest.raises(Conflict):
        form.submit()
    assert "409" in form.problems["number"]
    assert form.message == "The service refused it, and nothing has changed: see above."
    assert form.key is None and not find(form, "Create contact").disabled
    form.set("number", "2025550143")
    assert form.problems == {} and form.message == ""
    form.submit()


def test_a_refusal_is_shown_at_the_fields_that_the_service_names() -> None:
    report = b'{"message": "no", "errors": {"name": "is too rude", "mood": "is bad"}}'
    with wayward() as service, service.client() as client:
        service.on("POST", "", answers(422, report))
        form = filled(client.contacts, **CONTACT)
        with pytest.raises(Refused):
            form.submit()
    assert form.problems == {"name": "is too rude"}
    assert "Mood: is bad" in form.message


def test_other_errors_are_told_at_the_bottom_in_words() -> None:
    with wayward() as service, service.client() as client:
        service.on("POST", "", answers(403, b'{"message": "not <b>yours</b>"}'))
        form = filled(client.contacts, **CONTACT)
        with pytest.raises(NotPermitted):
            form.submit()
        assert form.problems == {}
        assert "403" in form.message and "chatkit.doctor(client)" in form.message
        assert "<b>" not in html(form)


def test_an_unknown_field_is_refused_with_the_names_that_there_are(client: Client) -> None:
    with pytest.raises(InputError, match="nme: is not one of number, country_code, name"):
        Form(client.contacts).set("nme", "x")


def test_json_that_is_none_has_no_value_and_says_where(client: Client) -> None:
    form = filled(client.flows, name="survey", template_name="default")
    type_into(form, "Flow document", '{"version": }')
    assert "line 1, column 13" in form.problems["flow_json"]
    with pytest.raises(InputError, match="line 1, column 13"):
        _ = form.values
    with pytest.raises(InputError):
        form.submit()


def test_what_somebody_has_changed_meanwhile_is_not_written_over_unseen(client: Client) -> None:
    key = client.contacts.create(**CONTACT).id
    form = Form(client.contacts, key)
    client.contacts.update(key, name="Ana Moved")
    form.set("name", "Ana Mine")
    with pytest.raises(InputError, match='somebody has changed this meanwhile, to "Ana Moved"'):
        form.submit()
    assert client.contacts.get(key).name == "Ana Moved"
    assert "Ana Moved" in form.problems["name"]
    assert form.submit().name == "Ana Mine"  # now it was seen


def test_a_value_that_reads_back_otherwise_is_told() -> None:
    def bent(do: Callable[[], Answer]) -> Answer:
        status, headers, body = do()
        return status, headers, body.replace(b"Cruz", b"Crus")

    with wayward() as service, service.client() as client:
        service.on("GET", "contacts/", forever=bent)
        form = filled(client.contacts, **CONTACT)
        form.submit()
    assert form.message.endswith('But Name reads back as "Ana Crus".')


# --- once -------------------------------------------------------------------------------------


def test_a_click_that_arrives_twice_sends_once() -> None:
    with wayward() as service, service.client() as client:
        form = filled(client.contacts, **CONTACT)
        button = find(form, "Create contact")
        click = {"id": button.id, "entered": button.token}
        send(form, click)
        send(form, click)
        assert len(service.writes()) == 1


def test_two_clicks_at_the_same_moment_send_once() -> None:
    with wayward() as service, service.client() as client:
        service.on("POST", "", slow(0.1))
        form = filled(client.contacts, **CONTACT)
        button = find(form, "Create contact")
        click = {"id": button.id, "entered": button.token}
        threads = [threading.Thread(target=send, args=(form, click)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(service.writes()) == 1


# --- in doubt ---------------------------------------------------------------------------------


def test_after_a_lost_answer_the_next_click_only_looks_and_finds_the_record() -> None:
    with wayward() as service, service.client() as client:
        service.on("POST", "", lost)
        form = filled(client.contacts, **CONTACT)
        press(form, "Create contact")
        assert "may or may not have taken effect" in form.message
        assert find(form, "Name").disabled
        press(form, "Empty the form")  # not before somebody has looked
        press(form, LOOK)
        assert form.message.startswith("It took effect. Created contact")
        assert form.record is not None and form.key == form.record.id  # type: ignore[attr-defined]
        assert len(service.writes()) == 1


def test_what_took_no_effect_is_sent_again_by_a_further_click_only() -> None:
    with wayward() as service, service.client() as client:
        service.on("POST", "", dropped)
        form = filled(client.contacts, **CONTACT)
        press(form, "Create contact")
        press(form, LOOK)
        assert "you can send it again" in form.message
        assert len(service.writes()) == 1
        press(form, "Create contact")
        assert form.message.startswith("Created contact")
        assert service.numbers() == [CONTACT["number"]]


def test_a_flow_in_doubt_is_not_sent_again_while_the_first_may_still_land() -> None:
    with wayward() as service, service.client() as client:
        client.flows.create(name="survey", template_name="default", flow_json=DOCUMENT)
        service.on("POST", "", dropped)
        form = filled(client.flows, name="survey", template_name="default", flow_json=DOCUMENT)
        press(form, "Create flow")
        press(form, LOOK)
        press(form, LOOK)
        with pytest.raises(UnknownOutcome, match="may still take effect"):
            form.submit()
        assert service.names() == ["survey"]
        assert not find(form, LOOK).disabled


def test_a_webhook_found_after_a_lost_answer_says_that_its_secret_is_lost() -> None:
    with wayward() as service, service.client() as client:
        service.on("POST", "", lost)
        form = filled(client.webhooks, url="https://a.example/hook", events=["*"])
        press(form, "Create webhook")
        press(form, LOOK)
        assert "its signing secret was in that answer" in form.message


def test_a_warning_of_a_click_is_shown_in_the_form() -> None:
    with wayward() as service, service.client() as client:
        service.on("GET", "contacts/", forever=answers(500))
        form = filled(client.contacts, **CONTACT)
        press(form, "Create contact")
        assert "is done, but cannot be read back" in form.message


# --- as text ----------------------------------------------------------------------------------


def test_its_text_form_is_one_stable_line(client: Client) -> None:
    form = Form(client.contacts)
    assert repr(form) == "<form: new contact>"
    key = client.contacts.create(**CONTACT).id
    form = Form(client.contacts, key)
    form.set("name", "x")
    assert repr(form) == f"<form: contact {key}, edited: name>"


def test_it_can_be_read_where_no_widget_is_and_nothing_in_it_is_markup(client: Client) -> None:
    with pytest.warns(UserWarning, match="tags of HTML"):
        key = client.contacts.create(**CONTACT | {"name": "<script>alert(1)</script>"}).id
    form = Form(client.contacts, key)
    form.set("name", "<img src=x>")
    bundle = static(form)
    assert bundle["text/plain"] == repr(form)
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert "&lt;img src=x&gt;" in bundle["text/html"]
    for markup in ("<script", "<img"):
        assert markup not in page_of(form) + html(form)
