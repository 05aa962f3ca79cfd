from __future__ import annotations

from collections.abc import Iterator

import pytest
from widgets.screen import controls

import chatkit
from chatkit.client import Client
from chatkit.errors import InputError, Problem
from chatkit.resource import get_endpoints
from chatkit.widgets.fieldset import Fieldset

CONTACT = {"number": "2025550142", "country_code": "+1", "name": "Ana Cruz"}


@pytest.fixture
def client() -> Iterator[Client]:
    with chatkit.Sandbox(seed="empty") as sandbox, chatkit.connect(sandbox) as client:
        yield client


def test_a_new_record_requires_what_the_resource_requires(client: Client) -> None:
    for source in (client.contacts, client.flows, client.webhooks, client.templates("greeting")):
        fields = Fieldset(source, None)
        required = [name for name, field in fields.fields.items() if field.required]
        assert set(required) == set(get_endpoints(source).required())


def test_an_opened_record_sends_nothing_before_it_is_edited(client: Client) -> None:
    fields = Fieldset(client.contacts, CONTACT)
    assert fields.read() == ({}, [])
    fields.set("name", "Ana")
    assert fields.edited == ["name"]
    assert fields.checked() == ({"name": "Ana"}, {"name": "Ana"})


def test_only_something_else_than_at_first_is_an_edit(client: Client) -> None:
    content = Fieldset(client.templates("greeting"), {"lang_code": "en", "footer": "Larkspur"})
    for value, edited in (("Other", ["footer"]), ("Larkspur", []), ("", ["footer"])):
        content.set("footer", value)
        assert content.edited == edited
    assert content.values == {"footer": ""}
    assert content.fields["text"].help.endswith("The service does not show what it holds now.")
    with pytest.raises(InputError, match="footer = \\[1\\]: must be text"):
        content.set("footer", [1])


def test_a_required_field_with_a_first_value_is_sent_as_it_is(client: Client) -> None:
    new = Fieldset(client.templates("greeting"), None)
    assert ("text" in new.values) is new.fields["text"].required


def test_all_that_is_wrong_is_told_at_once(client: Client) -> None:
    fields = Fieldset(client.flows, None)
    fields.fields["flow_json"].show([])
    with pytest.raises(InputError) as caught:
        fields.checked()
    assert {p.field: p.reason for p in caught.value.problems} == {
        "name": "is required",
        "flow_json": "must be a dict, JSON text, or the path of a .json file",
    }


def test_json_that_is_none_is_one_problem_and_not_a_missing_field_too(client: Client) -> None:
    fields = Fieldset(client.flows, None)
    fields.fields["flow_json"].enter("{")
    with pytest.raises(InputError) as caught:
        fields.checked()
    report = [p.reason for p in caught.value.problems if p.field == "flow_json"]
    assert len(report) == 1 and "line 1, column 2" in report[0]


def test_what_is_typed_is_checked_at_once_and_nothing_is_said_while_filling(client: Client) -> None:
    heard: list[int] = []
    fields = Fieldset(client.contacts, None, lambda: heard.append(1))
    fields.set("number", "12 34")
    assert "digits only" in fields.wrong["number"]
    assert heard == [1]
    fields.fill(CONTACT)
    assert fields.wrong == {} and heard == [1]


def test_what_is_fixed_once_it_exists_is_locked_then(client: Client) -> None:
    content = Fieldset(client.templates("greeting"), {"lang_code": "en", "text": "Hi"})
    assert content.fixed == {"lang_code"}
    flow = Fieldset(client.flows, {"name": "survey"})
    assert flow.fixed == {"name", "template_name", "categories"}
    assert "Fixed once it exists." in flow.fields["name"].help
    with pytest.raises(InputError, match="can only be set when it is created"):
        flow.set("name", "x")
    flow.lock(locked=True)
    flow.lock(locked=False)
    assert flow.fields["name"].disabled
    assert not flow.fields["flow_json"].disabled


def test_problems_are_marked_at_their_fields_with_their_place_and_the_rest_is_returned(
    client: Client,
) -> None:
    fields = Fieldset(client.templates("greeting"), {"lang_code": "en"})
    left = fields.mark(
        [
            Problem("text", "", "is too long"),
            Problem("text", "", "has no end"),
            Problem("buttons.1.type", "", "is required"),
            Problem("weather", "", "is bad"),
        ]
    )
    assert left == ["Weather: is bad"]
    assert fields.wrong == {
        "text": "is too long; has no end",
        "buttons": "Button 2, type: is required",
    }
    fields.mark([])
    assert fields.wrong == {}


def test_spare_fields_are_folded_away(client: Client) -> None:
    fields = Fieldset(client.templates("greeting"), {"lang_code": "en", "is_draft": True})
    more = fields.more
    assert not controls(more, "Draft") and fields.fields["is_draft"] in fields.controls
    assert controls(more, "Catalog")
    assert Fieldset(client.contacts, None).more.hidden


def test_the_page_without_widgets_shows_values_as_text(client: Client) -> None:
    fields = Fieldset(client.contacts, CONTACT | {"name": "<img src=x>\u202e"})
    html = fields.html()
    assert "&lt;img src=x&gt;⟨U+202E⟩" in html and "<img" not in html
    assert ">Phone number</strong>" in html
