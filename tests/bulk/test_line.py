"""The lines of a change: which fields are shown, how far, and what is never shown."""

from copy import deepcopy
from typing import Any

import pytest
from documents import DOCUMENT

from chatkit.bulk.changes import Change
from chatkit.bulk.rendering import DEPTH, FIELDS, make_change_label, make_change_lines

Lines = list[tuple[str, str, str]]
NUMBER = "+44 7700900001"
SECRET = "4f1c" * 16
ADDRESS = "https://hooks.example/" + "a" * 60
CONTACT = {"country_code": "+44", "number": "7700900001", "name": "Ana", "tags": []}
LONG = {"type": "text", "text": "A" * 80}
FLOW = {"version": "7.3", "screens": [{"id": f"S{n}", "title": "T" * 80} for n in range(3)]}


def update(before: dict[str, Any], after: dict[str, Any]) -> Change:
    return Change(1, "update", 1, NUMBER, before, after)


def create(label: str, after: dict[str, Any], code: str | None = None) -> Change:
    return Change(1, "create", "en" if code else None, label, {}, after, code)


def edited(change: Any) -> dict[str, Any]:
    document = deepcopy(FLOW)
    change(document["screens"])
    return document


def rename_all(screens: list[Any]) -> None:
    for screen in screens:
        screen |= {"id": screen["id"] + "X", "title": "New"}


CASES: dict[str, tuple[Change, Lines]] = {
    "a line for each field": (
        update({"name": "Ana", "is_active": True}, {"name": "Ana Lima", "is_active": False}),
        [("name", '"Ana"', '"Ana Lima"'), ("is_active", "True", "False")],
    ),
    "hidden": (update({}, {"raw": "x"}), [("raw", "(not shown)", '"x"')]),
    "empty": (update({"name": ""}, {"name": "Ana"}), [("name", "(empty)", '"Ana"')]),
    "none": (update({"name": None}, {"name": "Ana"}), [("name", "(none)", '"Ana"')]),
    "a create shows what it sends": (
        create("7700900001", CONTACT),
        [("country_code", "", '"+44"'), ("name", "", '"Ana"'), ("tags", "", "[]")],
    ),
    "a delete shows what goes": (
        Change(1, "delete", 1, "7700900001", CONTACT),
        [("country_code", '"+44"', ""), ("name", '"Ana"', "")],
    ),
    "what the label says": (
        create("+44 7700", {"country_code": "+44", "number": "7700"}), []
    ),
    "what a label with a template code says": (
        create("order_ready/en", {"lang_code": "en", "text": "Hi"}, "order_ready"),
        [("text", "", '"Hi"')],
    ),
    "an update says again what the label says": (
        update({"number": "7700900009"}, {"number": "7700900001"}),
        [("number", '"7700900009"', '"7700900001"')],
    ),
    "the places of a document that differ": (
        update(
            {"flow_json": FLOW}, {"flow_json": edited(lambda screens: screens[0].update(id="X"))}
        ),
        [("flow_json/screens/0/id", '"S0"', '"X"')],
    ),
    "what is gone from a document": (
        update({"flow_json": FLOW}, {"flow_json": edited(lambda screens: screens[1].pop("id"))}),
        [("flow_json/screens/1/id", '"S1"', "(absent)")],
    ),
    "a document that differs all over": (
        update({"flow_json": FLOW, "name": "a"}, {"flow_json": edited(rename_all), "name": "b"}),
        [
            ("flow_json/screens/0/id", '"S0"', '"S0X"'),
            ("flow_json/screens/0/title", f'"{"T" * 39}…"', '"New"'),
            ("flow_json/screens/1/id", '"S1"', '"S1X"'),
            ("flow_json", "", f"… and {6 - DEPTH} more differences"), ("name", '"a"', '"b"'),
        ],
    ),
    "a null where nothing was, alone": (
        update({"headers": [LONG | {"link": None}]}, {"headers": [LONG]}),
        [("headers/0/link", "(none)", "(absent)")],
    ),
    "a new document": (
        create("Order", {"flow_json": DOCUMENT}), [("flow_json", "", "1 screen, version 7.3")]
    ),
    "small lists and objects": (
        update({"events": ["*"], "variables": {"1": "Ana"}},
               {"events": ["a", "b"], "variables": {"1": "Bo"}}),
        [("events", '["*"]', '["a", "b"]'), ("variables", '{"1": "Ana"}', '{"1": "Bo"}')],
    ),
    "many fields": (
        create("en", {f"field_{n}": n for n in range(FIELDS + 5)}),
        [*((f"field_{n}", "", str(n)) for n in range(FIELDS)), ("", "", "… and 5 more fields")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_lines_of_a_change(name: str) -> None:
    change, lines = CASES[name]
    assert message(change) == lines


def message(change: Change) -> Lines:
    """The lines of a change as text, "" for a side that there is not."""
    return [
        (field, str(before or ""), str(after or ""))
        for field, before, after in make_change_lines(change)
    ]


def test_a_label_that_is_cut_is_said_again_and_a_null_is_no_line_beside_others() -> None:
    assert [line[0] for line in message(create(ADDRESS, {"url": ADDRESS}))] == ["url"]
    other = LONG | {"text": "B" * 80, "file_name": None}
    change = update({"headers": [LONG | {"link": None}]}, {"headers": [other]})
    assert [line[0] for line in message(change)] == ["headers/0/text"]


@pytest.mark.parametrize(
    "change",
    [
        create("x", {"webhook_secret": SECRET}),
        Change(1, "delete", 1, "x", {"verify_token": SECRET}),
        update({"webhook_secret": SECRET}, {"webhook_secret": "new" + SECRET}),
        update({"webhook_secret": SECRET}, {"webhook_secret": None}),
        update({}, {"Authorization": SECRET}),
    ],
)
def test_a_secret_is_never_shown(change: Change) -> None:
    assert SECRET not in str(message(change))
    assert "(not shown)" in str(message(change))


@pytest.mark.parametrize(
    ("label", "code", "shown"),
    [
        ("en", "order_ready", "order_ready en"),
        ("order_ready/en", "order_ready", "order_ready/en"),
        ("a\u202eb", None, "a⟨U+202E⟩b"),
    ],
)
def test_a_label_names_its_template_once(label: str, code: str | None, shown: str) -> None:
    assert make_change_label(create(label, {"text": "Hi"}, code)) == shown
