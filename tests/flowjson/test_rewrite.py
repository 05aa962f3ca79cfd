from __future__ import annotations

from typing import Any

import pytest
from flowjson.strangers import screen

from chatkit.flowjson.components import Version
from chatkit.flowjson.upgrade import Rewrite
from chatkit.util.display import MISSING
from chatkit.util.json import get_value

CHILD = "/screens/0/layout/children/0"


def rewritten(source: str, target: str, *children: Any, **more: Any) -> Rewrite:
    """Rewrite a flow of one screen, between two versions."""
    here = screen("A", "Title", list(children), **more)
    document = {"version": source, "screens": [here]}
    versions = [Version.parse(text) for text in (source, target)]
    assert versions[0] and versions[1]
    rewrite = Rewrite(document, versions[0], versions[1])
    rewrite.run()
    return rewrite


def report(rewrite: Rewrite) -> list[tuple[str, Any, Any]]:
    return [(one.pointer, one.before, one.after) for one in rewrite.changes]


def test_3_0_takes_the_endpoint_out_of_the_document() -> None:
    document = {"version": "2.1", "data_channel_uri": "https://example.com", "screens": []}
    rewrite = Rewrite(document, Version(2, 1), Version(3, 0))
    rewrite.run()
    assert report(rewrite) == [("/data_channel_uri", "https://example.com", MISSING)]
    assert "data_channel_uri" not in document
    assert ["https://example.com" in one.what for one in rewrite.todo] == [True]


def test_4_0_demands_a_label_and_a_guess_is_marked() -> None:
    group = {"type": "CheckboxGroup", "name": "pay_by", "data-source": []}
    rewrite = rewritten("3.1", "4.0", group)
    assert report(rewrite) == [(f"{CHILD}/label", MISSING, "Pay by")]
    assert [one.pointer for one in rewrite.todo] == [f"{CHILD}/label"]
    labelled = group | {"label": "Pay"}
    assert not report(rewritten("3.1", "7.3", labelled))
    nameless = {"type": "CheckboxGroup", "data-source": []}
    assert [one.what for one in rewritten("3.1", "4.0", nameless).todo] == [
        "Put in a label. 4.0 demands it."
    ]


def test_5_0_writes_dates() -> None:
    picker = {
        "type": "DatePicker",
        "name": "day",
        "label": "Day",
        "min-date": "1693526400000",
        "max-date": "${data.last}",
        "unavailable-dates": ["1693612800000", "1693569600000"],
    }
    form = {"type": "Form", "name": "f", "init-values": {"day": "1693526400000"}}
    data = {"last": {"type": "string", "__example__": "1696118400000"}}
    rewrite = rewritten("4.0", "5.0", form | {"children": [picker]}, data=data)
    day = f"{CHILD}/children/0"
    assert sorted((pointer, after) for pointer, _, after in report(rewrite)) == [
        ("/screens/0/data/last/__example__", "2023-10-01"),
        (f"{day}/min-date", "2023-09-01"),
        (f"{day}/unavailable-dates/0", "2023-09-02"),
        (f"{day}/unavailable-dates/1", "2023-09-01"),
        (f"{CHILD}/init-values/day", "2023-09-01"),
    ]
    assert {one.pointer: one.what.split(":")[0] for one in rewrite.todo} == {
        f"{day}/unavailable-dates/1": "Look at the day",  # noon: which day is it there?
        f"{day}/max-date": "Send ${data.last} as YYYY-MM-DD, no longer in milliseconds.",
        day: "What is picked arrives as YYYY-MM-DD, no longer in milliseconds",
    }
    already = {"type": "DatePicker", "name": "day", "label": "Day", "min-date": "2024-01-01"}
    assert not report(rewritten("4.0", "5.0", already))
    assert not report(rewritten("5.0", "7.3", picker))


def test_6_0_refuses_blank_texts() -> None:
    entry = {"type": "TextInput", "name": "first_name", "label": " ", "helper-text": ""}
    foot = {"type": "Footer", "label": "", "on-click-action": {"name": "complete"}}
    options = {
        "type": "Dropdown",
        "name": "d",
        "label": "D",
        "data-source": [{"id": "", "title": "A"}],
    }
    rewrite = rewritten("5.1", "6.0", entry, foot, options)
    assert sorted(report(rewrite), key=str) == [
        (f"{CHILD}/helper-text", "", MISSING),
        (f"{CHILD}/label", " ", "First name"),
        ("/screens/0/layout/children/1/label", "", "Continue"),
    ]
    assert {one.pointer for one in rewrite.todo} == {
        f"{CHILD}/label",
        "/screens/0/layout/children/1/label",
        "/screens/0/layout/children/2/data-source/0/id",
    }


def test_6_0_reads_backticks_and_takes_smaller_pictures() -> None:
    text = {"type": "TextBody", "text": "`code`"}
    option = {"id": "1", "title": "One", "image": "A" * 200 * 1024}
    group = {"type": "RadioButtonsGroup", "name": "g", "label": "G", "data-source": [option]}
    rewrite = rewritten("5.1", "6.0", text, group)
    assert not rewrite.changes
    assert [one.pointer for one in rewrite.todo] == [
        "/screens/0/layout/children/1/data-source/0/image",
        f"{CHILD}/text",
    ]
    assert "150 KB, 100 KB" in rewrite.todo[0].what


def test_6_0_demands_a_layout() -> None:
    rewrite = Rewrite({"screens": [{"id": "A", "title": "T"}]}, Version(5, 1), Version(6, 0))
    rewrite.run()
    empty = {"type": "SingleColumnLayout", "children": []}
    assert report(rewrite) == [("/screens/0/layout", MISSING, empty)]


def test_7_0_types_first_values() -> None:
    fields = [
        {"type": "TextInput", "name": "age", "label": "Age"},
        {"type": "CheckboxGroup", "name": "extras", "label": "Extras", "data-source": []},
        {"type": "OptIn", "name": "news", "label": "News"},
        {"type": "Dropdown", "name": "city", "label": "City", "data-source": "${data.c}"},
    ]
    values = {"age": 30, "extras": "wifi", "news": "true", "city": "${data.mine}"}
    form = {"type": "Form", "name": "f", "init-values": values, "children": fields}
    rewrite = rewritten("6.3", "7.0", form)
    assert [after for _, _, after in report(rewrite)] == ["30", ["wifi"], True]
    assert all(one.pointer.startswith(f"{CHILD}/init-values/") for one in rewrite.changes)


def test_7_0_no_longer_runs_a_choice_when_the_screen_is_shown() -> None:
    action = {"name": "data_exchange", "payload": {}}
    chosen = {"type": "Dropdown", "name": "d", "label": "D", "on-select-action": action}
    begins = chosen | {"init-value": "a"}
    assert [one.pointer for one in rewritten("6.3", "7.0", begins).todo] == [
        f"{CHILD}/on-select-action"
    ]
    assert not rewritten("6.3", "7.0", chosen).todo


def test_7_0_leaves_the_forms_of_a_screen_to_a_person() -> None:
    forms = [{"type": "Form", "name": name, "children": []} for name in ("one", "two")]
    rewrite = rewritten("6.3", "7.0", *forms)
    assert get_value(rewrite.document, "/screens/0/layout/children") == forms
    assert [one.pointer for one in rewrite.todo] == ["/screens/0/layout/children/1"]


def test_7_3_sends_what_the_next_screen_asks_for() -> None:
    go = {"name": "navigate", "next": {"type": "screen", "name": "B"}}
    text = {"type": "string", "__example__": "x"}
    entry = {"type": "TextInput", "name": "email", "label": "Email"}
    first = screen(
        "A",
        "A",
        [entry, {"type": "Footer", "label": "Go", "on-click-action": go}],
        data={"who": text},
    )
    asked = {"who": text, "email": text, "price": {"type": "number", "__example__": 5}}
    document = {"screens": [first, screen("B", "B", [], data=asked)]}
    rewrite = Rewrite(document, Version(7, 2), Version(7, 3))
    rewrite.run()
    sent = {"who": "${data.who}", "email": "${form.email}", "price": 5}
    assert go["payload"] == sent
    pointer = "/screens/0/layout/children/1/on-click-action/payload"
    assert report(rewrite) == [(pointer, MISSING, sent)]
    assert [(one.pointer, "price" in one.what) for one in rewrite.todo] == [(pointer, True)]


def test_7_0_leaves_a_form_in_a_branch_where_it_is() -> None:
    forms = [{"type": "Form", "name": name, "children": []} for name in ("one", "two")]
    branch = {"type": "If", "condition": "${data.x}", "then": [forms[1]]}
    rewrite = rewritten("6.3", "7.0", forms[0], branch)
    assert get_value(rewrite.document, "/screens/0/layout/children") == [forms[0], branch]
    assert [one.pointer for one in rewrite.todo] == ["/screens/0/layout/children/1/then/0"]


@pytest.mark.parametrize(("source", "target"), [("7.3", "7.3"), ("7.0", "7.2"), ("5.0", "5.1")])
def test_versions_between_which_nothing_is_demanded_change_nothing(
    source: str, target: str
) -> None:
    picker = {"type": "DatePicker", "name": "d", "label": "D", "min-date": "1693526400000"}
    rewrite = rewritten(source, target, picker, {"type": "TextBody", "text": "`x`"})
    assert not rewrite.changes and not rewrite.todo
