from __future__ import annotations

import pytest
from widgets.screen import html

from chatkit.api.record import Body
from chatkit.contacts import ContactBody
from chatkit.flows import FlowBody
from chatkit.templates import App, Button, ContentBody, Header
from chatkit.webhooks import WebhookBody
from chatkit.widgets.fields import Checkbox, Choice, Json, Lines, LooseText, NumberText, Text
from chatkit.widgets.fieldset import Bodies, Samples, make_input

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
        (ContentBody, "variables", Samples),
        (ContentBody, "buttons", Bodies),
        (ContentBody, "auth_apps", Bodies),
        (ContentBody, "validity_period_seconds", NumberText),
        (ContentBody, "connected_catalog_id", LooseText),
        (ContentBody, "footer", Text),
    ],
)
def test_each_kind_of_value_has_its_input(body: type[Body], name: str, kind: type) -> None:
    assert type(make_input(name, body.model_fields[name])) is kind


@pytest.mark.parametrize("body", BODIES)
def test_an_input_that_nobody_touched_holds_what_the_body_would_send_without_it(
    body: type[Body],
) -> None:
    for name, declared in body.model_fields.items():
        if not declared.is_required():
            default = declared.get_default(call_default_factory=True)
            assert make_input(name, declared).read() == default


def test_a_problem_is_shown_at_the_field_as_text_and_taken_back() -> None:
    field = Text("footer")
    field.mark([("error", "<b>no</b>")])
    assert field.drawn()["problems"] == [("error", "<b>no</b>")]
    assert "&lt;b&gt;no&lt;/b&gt;" in html(field)
    field.mark([("error", "")])
    assert field.problem == "" and "problems" not in field.drawn()
