"""What a flow holds for nothing is told, and mended where that is certain."""

from __future__ import annotations

from typing import Any

import pytest
from displayed import html_of
from flowjson.base import DONE, GO, drop, flow, footer, put, screen

from chatkit.flowjson import lint

NAME = {"type": "TextInput", "name": "name", "label": "Your name"}
FIRST = "/screens/0/layout/children"


def one(*components: Any, action: Any = DONE, **more: Any) -> dict[str, Any]:
    """Make a flow of one screen, whose Footer does this."""
    only = screen("ONLY", *components, footer(action), terminal=True)
    return {"version": "7.3", "screens": [only], **more}


def codes(document: Any) -> list[tuple[str, str]]:
    return [(each.code, each.pointer) for each in lint(document)]


def test_an_answer_that_nothing_sends_or_reads_is_told_at_its_input() -> None:
    (found,) = lint(one(NAME))
    assert (found.code, found.severity) == ("UNUSED_INPUT", "warning")
    assert found.pointer == f"{FIRST}/0/name"
    assert "What people enter in name is thrown away" in found.message
    assert lint(one(NAME)).ok


@pytest.mark.parametrize(
    "component",
    [
        {"type": "If", "condition": "${form.name} == 'x'",
         "then": [{"type": "TextBody", "text": "Hi"}]},
        {"type": "TextBody", "text": "`'Hello ' ${form.name}`"},
        {"type": "TextBody", "text": "${screen.ONLY.form.name}"},
    ],
)  # fmt: skip
def test_an_answer_that_something_reads_is_used(component: Any) -> None:
    assert "UNUSED_INPUT" not in dict(codes(one(NAME, component)))


def test_an_answer_that_another_screen_of_the_same_input_name_reads_is_not_used_here() -> None:
    document = flow(NAME)
    document = put(document, "/screens/1/layout/children/0/text", "${form.name}")
    [found] = lint(document)
    assert found.hint == "Did you mean ${screen.FIRST.form.name}?"
    document = put(document, "/screens/1/layout/children/0/text", "${screen.FIRST.form.name}")
    assert codes(document) == []


def test_the_mend_sends_it_when_the_screen_ends_the_flow() -> None:
    mended = lint(one(NAME)).fix()
    assert mended == one(NAME, action=DONE | {"payload": {"name": "${form.name}"}})
    assert not lint(mended)


def test_the_mend_of_an_earlier_screen_sends_it_at_the_end_and_keeps_what_is_sent() -> None:
    document = put(flow(NAME), "/screens/1/layout/children/1/on-click-action/payload", {"name": 1})
    mended = lint(document).fix()
    sent = mended["screens"][1]["layout"]["children"][1]["on-click-action"]["payload"]
    assert sent == {"name": 1, "first_name": "${screen.FIRST.form.name}"}
    assert not lint(mended)


def test_two_inputs_of_one_name_on_two_screens_are_sent_under_two_keys() -> None:
    document = flow(NAME)
    document["screens"][1]["layout"]["children"].insert(0, NAME)
    mended = lint(document).fix()
    sent = mended["screens"][1]["layout"]["children"][2]["on-click-action"]["payload"]
    assert sent == {"name": "${screen.FIRST.form.name}", "last_name": "${form.name}"}
    assert not lint(mended)


@pytest.mark.parametrize("name", ["T&Cs", "a b"])
def test_an_input_that_no_reference_can_name_has_no_mend(name: str) -> None:
    document = one(NAME | {"name": name})
    assert [each.patch for each in lint(document) if each.code == "UNUSED_INPUT"] == [()]
    assert lint(document).fix() == document


def test_a_screen_that_no_reference_can_name_has_no_mend() -> None:
    document = put(flow(NAME), "/screens/0/id", "A.B")
    [found] = [each for each in lint(document) if each.code == "UNUSED_INPUT"]
    assert found.patch == ()


def test_before_4_0_an_earlier_screen_cannot_be_read_so_nothing_mends_it() -> None:
    found = [each for each in lint(flow(NAME, version="3.1")) if each.code == "UNUSED_INPUT"]
    assert [each.patch for each in found] == [()]


def three(**more: Any) -> dict[str, Any]:
    """Make a flow in which nothing leads to the second of two screens that lead to LAST."""
    first = screen("FIRST", footer(GO))
    second = screen("SECOND", footer(GO))
    last = screen("LAST", footer(), terminal=True)
    return {"version": "7.3", "screens": [first, second, last], **more}


def test_a_screen_that_nothing_leads_to_is_told() -> None:
    (found,) = lint(three())
    assert (found.code, found.severity) == ("UNREACHED_SCREEN", "warning")
    assert (found.pointer, found.message) == ("/screens/1/id", "Nothing leads to SECOND.")


def test_an_endpoint_may_open_a_flow_at_any_screen() -> None:
    ways = {"FIRST": ["LAST"], "SECOND": ["LAST"], "LAST": []}
    assert codes(three(data_api_version="3.0", routing_model=ways)) == []


def test_a_field_that_no_navigate_action_fills_is_told() -> None:
    data = {"town": {"type": "string", "__example__": "Rome"}}
    document = put(flow(), "/screens/1/data", data)
    document = put(document, "/screens/1/layout/children/0/text", "${data.town}")
    (found,) = lint(document)
    assert "LAST expects town, which the payload does not hold" in found.message


def test_a_field_may_be_called_required() -> None:
    """Only a list of that name is no field."""
    data = {"required": {"type": "boolean", "__example__": True}}
    found, unread = lint(put(flow(), "/screens/1/data", data))
    assert unread.pointer == "/screens/1/data/required"
    assert "LAST expects required" in found.message


# --- other mends ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "at", "value"),
    [
        (put(flow(), "/screens/0/layout/children/0/on-click-action", DONE),
         "/screens/0/terminal", True),
        (put(flow(), "/screens/0/layout/children/0/on-click-action/url", "x"),
         "/screens/0/layout/children/0/on-click-action", GO),
        ({key: value for key, value in flow().items() if key != "version"}, "/version", "7.3"),
        (put(flow(endpoint=True), "/routing_model", {"FIRST": ["LAST"], "LAST": ["FIRST"]}),
         "/routing_model", {"FIRST": ["LAST"], "LAST": []}),
        (put(flow(endpoint=True), "/routing_model", {"FIRST": []}),
         "/routing_model", {"FIRST": ["LAST"]}),
        (put(flow(endpoint=True), "/routing_model", {"FIRST": ["FIRST", "LAST"], "LAST": []}),
         "/routing_model", {"FIRST": ["LAST"], "LAST": []}),
        (put(drop(flow(), "/screens/0/title"), "/screens/0/titel", "A"), "/screens/0/title", "A"),
        (put(flow(), "/screens/1/layout/children/0/type", "TextBdy"),
         "/screens/1/layout/children/0/type", "TextBody"),
        (put(flow(NAME | {"input-type": "emial"}), "/screens/1/data", {}),
         "/screens/0/layout/children/0/input-type", "email"),
        (put(flow(), "/screens/1/layout/children/0", {"type": "TextBody", "txt": "Bye"}),
         "/screens/1/layout/children/0", {"type": "TextBody", "text": "Bye"}),
        ({**flow(), "data_api_version": "3.0"},
         "/routing_model", {"FIRST": ["LAST"], "LAST": []}),
    ],
)  # fmt: skip
def test_what_is_certain_is_mended(document: Any, at: str, value: Any) -> None:
    found = lint(document)
    assert any(each.patch for each in found)
    before = repr(document)
    mended: Any = found.fix()
    assert repr(document) == before  # a copy is mended
    for step in at.split("/")[1:]:
        mended = mended[int(step) if isinstance(mended, list) else step]
    assert mended == value


def test_findings_say_how_many_can_be_mended() -> None:
    assert repr(lint(one(NAME))).startswith("1 warning; .fix() corrects it")
    both = lint(one(NAME, NAME | {"name": "a b"}))
    assert repr(both).startswith("2 warnings; .fix() corrects 1 of them")
    assert ".fix() corrects 1 of them" in html_of(both)
