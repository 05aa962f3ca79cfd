"""The inputs of a form: what they show is what they read, and rows that come and go."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from widgets.screen import classes, controls, find, html, is_seen, parts, press, type_into

from chatkit.api.record import Body
from chatkit.bulk.endpoints import Declaration
from chatkit.contacts import ContactBody, ContactEndpoints
from chatkit.flows import FlowBody, FlowEndpoints
from chatkit.templates import App, Button, ContentBody, Header
from chatkit.templates.contents import ContentEndpoints
from chatkit.webhooks import WebhookBody, WebhookEndpoints
from chatkit.widgets.fields import Checkbox, Choice, Json, Lines, LooseText, NumberText, Text
from chatkit.widgets.fieldset import Bodies, Samples, make_input

BODIES: list[type[Body]] = [ContactBody, FlowBody, ContentBody, WebhookBody, Header, Button, App]
QUICK = {"type": "custom", "label": "Yes"}
SITE = {"type": "visit_website", "label": "See", "value": "https://a.example/{{1}}"}
CALL = {"type": "call_phone", "label": "Call", "value": "2025550142", "country_code": "+1"}


def make(body: type[Body], name: str) -> Any:
    return make_input(name, body.model_fields[name], ContentEndpoints.format_label)


# --- the label and the input of a field --------------------------------------------------------


@pytest.mark.parametrize(
    ("declared", "place", "label"),
    [
        (ContactEndpoints, "country_code", "Country code"),
        (ContactEndpoints, "number", "Phone number"),
        (ContactEndpoints, "created_at", "Created"),
        (ContactEndpoints, "ai_mode", "AI mode"),
        (ContactEndpoints, "id", "ID"),
        (ContactEndpoints, "a_field_of_tomorrow", "A field of tomorrow"),
        (WebhookEndpoints, "url", "Address"),
        (WebhookEndpoints, "is_active", "Active"),
        (WebhookEndpoints, "has_signing_secret", "Has signing secret"),
        (FlowEndpoints, "flow_json", "Flow document"),
        (FlowEndpoints, "categories.0", "Category 1"),
        (FlowEndpoints, "flow_json/screens/0/title", "Flow document /screens/0/title"),
        (ContentEndpoints, "is_draft", "Draft"),
        (ContentEndpoints, "headers.0.text", "Header 1, text"),
        (ContentEndpoints, "buttons/1/url_type", "Button 2, address type"),
        (ContentEndpoints, "variables", "Samples"),
        (ContentEndpoints, "variables.1", "{{1}}"),
        (ContentEndpoints, "variables/created_at", "{{created_at}}"),
        (ContentEndpoints, "variables.is_paid", "{{is_paid}}"),
        (ContentEndpoints, "variables/a.b/c", "{{a.b/c}}"),
        (ContentEndpoints, "auth_apps/0/package_name", "App 1, package name"),
        (Declaration, "on-click-action", "On click action"),
        (Declaration, "max-file-size-kb", "Max file size KB"),
        (Declaration, "src", "Source"),
        (Declaration, "steps.0.api_uri", "Step 1, API URI"),
        (Declaration, "steps/0/id", "Step 1, ID"),
        (Declaration, "", ""),
    ],
)
def test_a_field_and_a_place_in_it_have_a_label(
    declared: type[Declaration], place: str, label: str
) -> None:
    assert declared.format_label(place) == label


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
    assert type(made := make(body, name)) is kind
    assert made.name == name and made.label == ContentEndpoints.format_label(name)


@pytest.mark.parametrize("body", BODIES)
def test_an_input_that_nobody_touched_holds_what_the_body_would_send_without_it(
    body: type[Body],
) -> None:
    for name, declared in body.model_fields.items():
        if not declared.is_required():
            assert make(body, name).read() == declared.get_default(call_default_factory=True)


# --- what is shown, typed and read -------------------------------------------------------------

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
loose = st.sampled_from([None, "", "a", "007", 7, {"a": 1}, ["b"]])
KINDS = {
    "text": (lambda: Text("Name"), st.text()),
    "number": (
        lambda: NumberText("Seconds", nothing=None),
        st.integers(-(10**15) + 1, 10**15 - 1) | st.none(),
    ),
    "flag": (lambda: Checkbox("Active"), st.booleans()),
    "choice": (lambda: Choice("Type", {"text": "text"}), st.text(min_size=1) | st.none()),
    "lines": (lambda: Lines("Events"), st.lists(st.sampled_from(["a", "b c"]))),
    "json": (lambda: Json("Document", 10), json_values),
    "loose": (lambda: LooseText("Catalog", nothing=None), loose),
}


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40)
@given(data=st.data())
def test_what_was_shown_is_read_as_it_was(kind: str, data: st.DataObject) -> None:
    made, values = KINDS[kind]
    control, value = made(), data.draw(values)
    control.show(value)
    assert control.read() == value


@pytest.mark.parametrize(
    ("control", "typed", "value"),
    [
        (Text("a", nothing=None), "", None),
        (Text("a"), "", ""),
        (LooseText("a", nothing=None), "abc", "abc"),
        (NumberText("a", nothing=None), " ", None),
        (Lines("a"), " a \n\n*\n", ["a", "*"]),
        (NumberText("a"), "x", "must be a whole number"),
        (NumberText("a"), "1.5", "must be a whole number"),
        (NumberText("a"), "--1", "must be a whole number"),
        (Json("a", 10), '{"a": 1,\n  "b" 2}', "at line 2, column 7"),
        (Json("a", 10), '{"a": 1, "a": 2}', "has 'a' twice"),
        (Json("a", 10), "[NaN]", "NaN is not a JSON number at line 1, column 2"),
        (Json("a", 10), "[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_typed_has_a_value_or_a_reason(control: Text, typed: str, value: Any) -> None:
    control.show(7 if isinstance(control, LooseText) else None)
    control.enter(typed)
    try:
        assert control.read() == value
    except ValueError as error:
        assert value in str(error)


@pytest.mark.parametrize(
    ("control", "value", "reason"),
    [
        (Checkbox("a"), "yes", "True or False"),
        (Lines("a"), "a", "must be a list"),
        (make(ContentBody, "buttons"), [1], "must be"),
        (make(ContentBody, "buttons"), "x", "must be"),
        (make(ContentBody, "buttons"), [{"type": 1}], "must be"),
        (Samples("a"), {"1": 7}, "must be"),
        (Samples("a"), {1: "a"}, "must be"),
        (Samples("a"), 7, "must be"),
    ],
)
def test_a_value_of_another_kind_is_refused(control: Any, value: Any, reason: str) -> None:
    with pytest.raises(TypeError, match=reason):
        control.show(value)


def test_a_value_that_changes_later_is_read_as_it_was_shown() -> None:
    value, field = [{"a": 1}], Json("Document", 10)
    field.show(value)
    value[0]["a"] = 2
    field.read()[0]["a"] = 3
    assert field.read() == [{"a": 1}]


def test_a_problem_is_shown_as_text_and_taken_back() -> None:
    field = Text("Footer")
    field.mark([("error", "<b>no</b>")])
    assert field.drawn()["problems"] == [("error", "<b>no</b>")]
    assert "&lt;b&gt;no&lt;/b&gt;" in html(field)
    field.mark([("error", "")])
    assert field.problem == "" and "problems" not in field.drawn()


# --- rows: headers and buttons -----------------------------------------------------------------


def buttons(*items: Any) -> Any:
    made = make(ContentBody, "buttons")
    made.show(list(items))
    return made


def line(rows: Any, row: int) -> Any:
    """The nth header or button."""
    return [one for one in parts(rows) if "chatkit-row" in classes(one)][row]


def seen(rows: Any, row: int) -> list[str]:
    """The labels of the inputs that are shown in a row."""
    return [one.label for one in line(rows, row).children[:-1] if is_seen(one)]


def tools(rows: Any, row: int) -> dict[str, bool]:
    """The buttons that are shown in a row, and whether each can be pressed."""
    return {t.label: not t.disabled for t in line(rows, row).children[-1].children if is_seen(t)}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (QUICK, ["Type", "Label"]),
        (CALL, ["Type", "Label", "Value", "Country code"]),
        (SITE, ["Type", "Label", "Value", "Address type", "Sample address"]),
        ({**SITE, "value": "https://a.example/"}, ["Type", "Label", "Value", "Address type"]),
        ({**QUICK, "value": "x"}, ["Type", "Label", "Value"]),
        ({**QUICK, "value": None}, ["Type", "Label"]),
        (
            {**SITE, "dynamic_url": {"x": 1}},
            ["Type", "Label", "Value", "Address type", "Sample address"],
        ),
        ({"type": "flow", "label": "Go"}, ["Type", "Label"]),
    ],
)
def test_a_row_shows_what_its_type_uses_and_what_is_filled_in(
    value: dict[str, Any], shown: list[str]
) -> None:
    rows = buttons(value)
    assert seen(rows, 0) == shown and rows.read() == [value]


def test_rows_are_added_moved_and_removed_by_their_buttons() -> None:
    heard: list[Any] = []
    rows = buttons(QUICK, CALL, {**SITE, "id": 7})  # what the service adds cannot be sent
    rows.entered = lambda: heard.append(rows.read())
    assert tools(rows, 0) == {"Move up": False, "Move down": True, "Remove button 1": True}
    press(rows, "Move up", 0)  # the first cannot go up
    press(rows, "Move down", 0)
    press(rows, "Move up", 2)
    assert heard == [[CALL, QUICK, SITE], [CALL, SITE, QUICK]]
    press(rows, "Remove button 1")
    press(rows, "Remove button 1")
    assert tools(rows, 0) == {"Remove button 1": True} and not controls(rows, "Remove button 2")
    press(rows, "Add button")
    assert rows.read() == [QUICK, {"type": "custom"}] and len(heard) == 5
    rows.lock(locked=True)
    for name in ("Add button", "Remove button 1"):
        find(rows, name).click()
    type_into(rows, "Label", "Other")
    assert rows.read() == [QUICK, {"type": "custom"}]
    rows.lock(locked=False)
    assert tools(rows, 1) == {"Move up": True, "Move down": False, "Remove button 2": True}
    rows.show([])
    assert rows.read() == [] and make(ContentBody, "auth_apps").read() is None


@pytest.mark.parametrize(("noun", "most"), [("header", 1), ("button", 10)])
def test_there_are_no_more_than_a_message_may_have(noun: str, most: int) -> None:
    rows = make(ContentBody, f"{noun}s")
    for _ in range(most):
        assert is_seen(find(rows, f"Add {noun}"))
        press(rows, f"Add {noun}")
    assert not is_seen(find(rows, f"Add {noun}")) and rows.read()[0]["type"] in ("text", "custom")
    press(rows, f"Remove {noun} 1")
    assert is_seen(find(rows, f"Add {noun}"))


# --- samples -----------------------------------------------------------------------------------


def test_each_placeholder_has_a_line_for_its_sample_and_none_that_is_filled_in_goes() -> None:
    samples = Samples("Samples")

    def lines() -> dict[str, str]:
        return {one.label: one.value for one in samples.children}

    samples.show({"2": "b", "1": "a"})
    samples.show_lines(["1", "2", "10", "3"])
    assert list(lines()) == ["{{1}}", "{{2}}", "{{3}}", "{{10}}"]
    type_into(samples, "{{3}}", "c")
    type_into(samples, "{{1}}", "")
    assert samples.read() == {"2": "b", "3": "c"}
    samples.show({"1": "x"})
    samples.show_lines([])
    assert lines() == {"{{1}}": "x"}
    samples.lock(locked=True)
    assert find(samples, "{{1}}").disabled


@settings(max_examples=20)
@given(st.dictionaries(st.text(min_size=1), st.text(), max_size=4))
def test_samples_come_back_as_they_were(value: dict[str, str]) -> None:
    samples = Samples("Samples")
    samples.show(value)
    assert samples.read() == {name: text for name, text in value.items() if text}
