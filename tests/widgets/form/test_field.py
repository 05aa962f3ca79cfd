from __future__ import annotations

import pytest
from widgets.screen import html

from chatkit.api.record import Body
from chatkit.contacts import ContactBody
from chatkit.errors import InputError
from chatkit.flows import FlowBody
from chatkit.templates import App, Button, ContentBody, Header
from chatkit.webhooks import WebhookBody
from chatkit.widgets.fields import (
    Bodies,
    Checkbox,
    Choice,
    FormField,
    Json,
    Lines,
    NumberText,
    Pairs,
    Text,
    input_for,
)

BODIES: list[type[Body]] = [ContactBody, FlowBody, ContentBody, WebhookBody, Header, Button, App]


@pytest.mark.parametrize(
    ("body", "name", "kind"),
    [
        (ContactBody, "number", Text),
        (WebhookBody, "is_active", Checkbox),
        (WebhookBody, "events", Lines),
        (Header, "type", Choice),
        (FlowBody, "flow_json", Json),
        (FlowBody, "categories", Lines),
        (ContentBody, "variables", Pairs),
        (ContentBody, "buttons", Bodies),
        (ContentBody, "auth_apps", Bodies),
        (ContentBody, "validity_period_seconds", NumberText),
        (ContentBody, "connected_catalog_id", Text),
        (ContentBody, "footer", Text),
    ],
)
def test_each_kind_of_value_has_its_input(body: type[Body], name: str, kind: type) -> None:
    assert type(input_for(name, body.model_fields[name])) is kind


@pytest.mark.parametrize("body", BODIES)
def test_a_field_that_nobody_touched_holds_what_the_body_would_send_without_it(
    body: type[Body],
) -> None:
    for name, declared in body.model_fields.items():
        field = FormField(name, declared)
        field.begin()
        assert not field.edited and not field.counts
        if not declared.is_required():
            assert field.input.read() == declared.get_default(call_default_factory=True)


def footer() -> FormField:
    field = FormField("footer", ContentBody.model_fields["footer"])
    field.begin("Larkspur")
    return field


def test_only_something_else_than_at_first_is_an_edit() -> None:
    field = footer()
    field.set("Other")
    assert field.edited
    field.set("Larkspur")
    assert not field.edited
    field.set("")
    assert field.edited and field.input.read() == ""


def test_a_fixed_field_can_be_neither_typed_into_nor_set() -> None:
    field = FormField("name", FlowBody.model_fields["name"])
    field.begin("survey", fixed=True)
    assert field.input.disabled
    assert "Fixed once it exists." in field.input.help
    with pytest.raises(InputError, match="can only be set when it is created"):
        field.set("x")


def test_a_value_that_it_cannot_hold_is_refused_with_the_name_of_the_field() -> None:
    with pytest.raises(InputError, match="footer = \\[1\\]: must be text"):
        footer().set([1])


def test_a_required_field_with_a_first_value_is_sent_as_it_is() -> None:
    field = FormField("text", ContentBody.model_fields["text"])
    field.begin(required=True)
    assert field.counts and field.input.read() == ""
    assert field.input.drawn()["required"]


def test_a_problem_is_shown_at_the_field_as_text_and_taken_back() -> None:
    field = footer().input
    field.mark([("error", "<b>no</b>")])
    assert field.drawn()["problems"] == [("error", "<b>no</b>")]
    assert "&lt;b&gt;no&lt;/b&gt;" in html(field)
    field.mark([("error", "")])
    assert field.problem == "" and "problems" not in field.drawn()


def test_a_value_that_the_service_hides_is_said_to_be_hidden() -> None:
    field = footer()
    field.begin(hidden=True)
    assert field.input.help.endswith("The service does not show what it holds now.")
