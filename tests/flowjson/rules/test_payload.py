from __future__ import annotations

from typing import Any

import pytest
from screens import body, doubts, entry, errors, field, findings, flow, foot, good, last, screen, to

from chatkit.flowjson.nodes import DEPTH

FOOT = "/screens/0/layout/children/{}/on-click-action"
CLICK, NAVIGATE = "INVALID_ON_CLICK_ACTION_PAYLOAD", "INVALID_NAVIGATE_ACTION_PAYLOAD"
UPDATE, ABSENT = "INVALID_UPDATE_DATA_ACTION_PAYLOAD", "MISSING_NAVIGATION_ACTION_PAYLOAD"
TICKS = {"type": "CheckboxGroup", "name": "ticks", "label": "T", "data-source": []}
AGREE = {"type": "OptIn", "name": "agree", "label": "I agree"}
AGE = entry("age", **{"input-type": "number"})
RANGE = {"type": "CalendarPicker", "name": "days", "label": "D", "mode": "range"}
PHOTO = {"type": "PhotoPicker", "name": "photo", "label": "P"}
MINE = {
    "text": field(),
    "count": field("number", 1),
    "person": field("object", {}, properties={"name": {"type": "string"}}),
    "list": field("array", [], items={"type": "string"}),
    "rows": field("array", [], items={"type": "object"}),
    "pair": field("object", {}, properties={"a": {"type": "string"}, "b": {"type": "string"}}),
}


def moving(payload: Any, wanted: Any, version: str = "7.3", *more: Any) -> dict[str, Any]:
    """Navigate from a screen with inputs to one with a data model."""
    act = foot("navigate", next={"type": "screen", "name": "DONE"}, payload=payload)
    if payload is None:
        del act["on-click-action"]["payload"]
    first = screen("ASK", act, entry("who"), TICKS, AGREE, AGE, RANGE, *more, data=MINE)
    return flow(first, last(data=wanted), version=version)


@pytest.mark.parametrize(
    ("names", "said"), [("abcde", "a, b, c, d, e"), ("abcdef", "a, b, c, d, e and 1 more")]
)
def test_five_fields_that_are_missed_are_named(names: str, said: str) -> None:
    document = moving({}, {name: field() for name in names})
    [told] = findings("action", document)
    assert told.message == f"DONE expects {said}, which the payload does not hold."


STRING, NUMBER, FLAG = field(), field("number", 1), field("boolean", True)
LIST = field("array", [], items={"type": "string"})


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ("fixed", STRING),
        (5, NUMBER),
        (5, field("integer", 1)),
        (True, FLAG),
        (["a"], LIST),
        ({"name": "a"}, field("object", {}, properties={"name": {"type": "string"}})),
        ("${form.who}", STRING),
        ("${form.ticks}", LIST),
        ("${form.agree}", FLAG),
        ("${form.age}", STRING),
        ("${form.age}", NUMBER),
        ("${form.days}", field("object", {})),
        ("${data.person}", field("object", {}, properties={"name": {"type": "string"}})),
        ("${data.list}", LIST),
        ("${data.rows}", field("array", [], items={"type": "object"})),
        ("${data.count}", field("integer", 1)),
        ("Hello ${form.who}", STRING),
        ("`${data.count} > 1`", FLAG),
        ("`'Hello ' ${form.who}`", STRING),
        ({"name": "${form.who}"}, field("object", {}, properties={"name": {"type": "string"}})),
        (["${data.count}"], LIST),
        ("a", field("array", [], items=True) | {"type": ["string", "array"]}),
        ("${data.list}", field("array", [])),
    ],
)
def test_a_fitting_payload_has_no_finding(value: Any, schema: Any) -> None:
    document = moving({"x": value}, {"x": schema})
    assert errors("action", document) == doubts("action", document) == []


@pytest.mark.parametrize(
    ("value", "schema", "below"),
    [
        (123, STRING, ""),
        ("123", NUMBER, ""),
        (1.5, field("integer", 1), ""),
        ("true", FLAG, ""),
        (None, STRING, ""),
        (["a", 5], LIST, "/1"),
        ({"name": 5}, field("object", {}, properties={"name": {"type": "string"}}), "/name"),
        ("${form.who}", FLAG, ""),
        ("${form.ticks}", STRING, ""),
        ("${form.agree}", STRING, ""),
        ("${form.days}", STRING, ""),
        ("${form.age}", FLAG, ""),
        ("${form.ticks}", field("array", [], items={"type": "object"}), ""),
        ("${data.count}", STRING, ""),
        ("${data.list}", field("array", [], items={"type": "number"}), ""),
        ("${data.person}", field("object", {}, properties={"age": {"type": "number"}}), ""),
        (
            "${data.pair}",
            field("object", {}, properties=MINE["pair"]["properties"] | {"a": NUMBER}),
            "",
        ),
        ("Hello ${form.who}", NUMBER, ""),
        ("`${data.count} > 1`", STRING, ""),
    ],
)
def test_a_value_of_another_type_is_told(value: Any, schema: Any, below: str) -> None:
    told = errors("action", moving({"x": value}, {"x": schema}))
    code = "INVALID_NAVIGATE_ACTION_STATIC_DATA" if below else NAVIGATE
    assert told == [(code, FOOT.format(0) + "/payload/x" + below)]


@pytest.mark.parametrize(("depth", "wrong"), [(DEPTH, True), (DEPTH + 1, False)])
def test_two_declared_lists_are_compared_as_deep_as_a_flow_may_be(depth: int, wrong: bool) -> None:
    """A document may come from anyone: what is nested deeper is told once, as too deep."""
    have, want = {"type": "string"}, {"type": "number"}
    for _ in range(depth):
        have, want = ({"type": "array", "items": items} for items in (have, want))
    document = moving({"x": "${data.deep}"}, {"x": want})
    document["screens"][0]["data"]["deep"] = have
    told = errors("action", document)
    assert told == ([(NAVIGATE, FOOT.format(0) + "/payload/x")] if wrong else [])


def test_two_inputs_that_are_handed_over_for_one_field_are_told_apart() -> None:
    document = moving({"x": "${form.who}"}, {"x": STRING})
    other = foot(
        "navigate", next={"type": "screen", "name": "DONE"}, payload={"x": "${form.agree}"}
    )
    children = document["screens"][0]["layout"]["children"]
    for place in (0, len(children)):
        children.insert(place, other | {"type": "EmbeddedLink", "text": "More"})
        assert errors("action", document) == [(NAVIGATE, FOOT.format(place) + "/payload/x")]
        del children[place]


def test_each_value_that_is_wrong_deeper_down_has_the_code_for_it() -> None:
    people = field("object", {}, properties={"name": {"type": "string"}})
    told = errors(
        "action", moving({"x": {"name": 1}, "y": {"name": 2}}, {"x": people, "y": people})
    )
    assert [code for code, _ in told] == ["INVALID_NAVIGATE_ACTION_STATIC_DATA"] * 2


@pytest.mark.parametrize(
    ("payload", "wanted", "code", "below"),
    [
        ({}, {"x": STRING}, NAVIGATE, "/payload"),
        (None, {"x": STRING}, ABSENT, ""),
        ({"y": "${form.who}"}, {}, NAVIGATE, "/payload/y"),
        ({"x": "a", "y": "b"}, {"x": STRING}, NAVIGATE, "/payload/y"),
    ],
)
@pytest.mark.parametrize("version", ["5.1", "7.3"])
def test_keys_are_the_fields_of_the_target(
    payload: Any, wanted: Any, code: str, below: str, version: str
) -> None:
    told = errors("action", moving(payload, wanted, version))
    assert told == [(code, FOOT.format(0) + below)]


@pytest.mark.parametrize(
    ("payload", "wanted"),
    [({}, {"x": STRING}), (None, {"x": STRING}), ({"y": "${form.who}"}, {})],
)
def test_from_6_0_to_7_2_missing_keys_are_a_doubt(payload: Any, wanted: Any) -> None:
    document = moving(payload, wanted, "7.2")
    assert errors("action", document) == []
    assert len(doubts("action", document)) == 1


def test_no_payload_is_needed_for_a_screen_without_data() -> None:
    assert errors("action", moving(None, {})) == doubts("action", moving(None, {})) == []


@pytest.mark.parametrize("action", ["complete", "data_exchange"])
@pytest.mark.parametrize(
    "value",
    [
        "${form.nope}",
        "${data.a b}",
        "${data.nope}",
        "${screen.NO.form.x}",
        "${screen.DONE.form.x}",
        "${form.f}",
    ],
)
def test_a_reference_to_nothing_is_told(action: str, value: str) -> None:
    form = {"type": "Form", "name": "f", "children": [entry()]}
    ending = screen("DONE", foot(action, payload={"a": value}), form, terminal=True)
    told = errors("action", flow(ending, data_api_version="3.0"))
    assert told == [(CLICK, FOOT.format(0) + "/payload/a")]


def test_deeper_references_to_nothing_are_a_doubt() -> None:
    payload = {"a": {"b": "${data.nope}"}, "c": "x ${data.nope}"}
    document = flow(screen("DONE", foot("complete", payload=payload), terminal=True))
    assert errors("action", document) == []
    at = FOOT.format(0) + "/payload"
    assert doubts("action", document) == [(CLICK, f"{at}/a/b"), (CLICK, f"{at}/c")]


def test_other_screens_are_reached_from_version_4() -> None:
    act = foot("complete", payload={"a": "${screen.ASK.form.first_name}"})
    document = flow(screen("ASK", entry(), to("DONE")), screen("DONE", act, terminal=True))
    assert errors("action", document | {"version": "4.0"}) == []
    at = "/screens/1/layout/children/0/on-click-action/payload/a"
    assert errors("action", document | {"version": "3.1"}) == [(CLICK, at)]


def test_before_version_4_a_footer_reads_only_its_own_form() -> None:
    form = {"type": "Form", "name": "f", "children": [entry()]}
    act = foot("complete", payload={"a": "${form.first_name}"})
    outside = flow(screen("DONE", form, act, terminal=True), version="3.1")
    at = FOOT.format(1) + "/payload/a"
    assert errors("action", outside) == [("INVALID_FOOTER_PAYLOAD_OUTSIDE_FORM", at)]
    assert errors("action", outside | {"version": "4.0"}) == []
    inside = form | {"children": [entry(), act]}
    assert errors("action", flow(screen("DONE", inside, terminal=True), version="3.1")) == []


@pytest.mark.parametrize(
    ("value", "below"), [("${form.photo}", ""), ({"a": ["${form.photo}"]}, "/a/0")]
)
def test_files_are_not_handed_to_a_screen(value: Any, below: str) -> None:
    schema = field("object", {}) if isinstance(value, dict) else STRING
    document = moving({"x": value}, {"x": schema}, "7.3", PHOTO)
    assert errors("action", document) == [(CLICK, FOOT.format(0) + "/payload/x" + below)]


def sending(value: Any, version: str = "7.3", **photo: Any) -> dict[str, Any]:
    act = foot("complete", payload={"x": value})
    keyed = {key.replace("_", "-"): each for key, each in photo.items()}
    return flow(screen("DONE", act, PHOTO | keyed, terminal=True), version=version)


def test_files_stand_alone_in_a_payload() -> None:
    document = sending({"a": "${form.photo}"}, max_uploaded_photos=1)
    assert errors("action", document) == [(CLICK, FOOT.format(0) + "/payload/x/a")]


@pytest.mark.parametrize(
    ("photo", "wrong"),
    [
        ({"max_uploaded_photos": 1}, 0),
        ({"max_uploaded_photos": 10, "max_file_size_kb": 10240}, 0),
        ({"max_uploaded_photos": 11, "max_file_size_kb": 1}, 1),
        ({"max_file_size_kb": 1}, 1),
        ({"max_uploaded_photos": 4}, 0),
        ({"max_uploaded_photos": 10, "max_file_size_kb": 10241}, 1),
        ({"max_uploaded_photos": "${data.n}"}, 0),
    ],
)
def test_an_answer_holds_so_many_files(photo: Any, wrong: int) -> None:
    told = errors("action", sending("${form.photo}", **photo))
    assert told == [(CLICK, FOOT.format(0) + "/payload")] * wrong
    assert doubts("action", sending("${form.photo}", **photo)) == []


def test_an_answer_with_too_many_files_says_how_many_a_picker_allows_by_itself() -> None:
    [told] = findings("action", sending("${form.photo}", max_file_size_kb=1))
    assert told.message == "An answer holds at most 10 files; its pickers allow 30."
    assert told.hint == "Lower max-uploaded-photos (30 when it is not set)."


def test_a_size_nobody_stated_is_a_doubt() -> None:
    for photos in (5, 10):
        document = sending("${form.photo}", max_uploaded_photos=photos)
        assert errors("action", document) == []
        assert doubts("action", document) == [(CLICK, FOOT.format(0) + "/payload")]


@pytest.mark.parametrize(("version", "wrong"), [("4.0", 1), ("5.0", 0), ("5.1", 0), ("6.0", 0)])
def test_an_answer_held_one_file_before_version_5(version: str, wrong: int) -> None:
    document = sending("${form.photo}", version, max_uploaded_photos=2, max_file_size_kb=1)
    assert errors("action", document) == []
    assert doubts("action", document) == [(CLICK, FOOT.format(0) + "/payload")] * wrong


@pytest.mark.parametrize("number", ["${data.n}", True])
def test_files_whose_number_is_not_known_are_not_counted(number: Any) -> None:
    document = sending("${form.photo}", max_uploaded_photos=number, max_file_size_kb=2 * 10 * 10240)
    assert errors("action", document) == doubts("action", document) == []


def updating(payload: Any, data: Any = None) -> dict[str, Any]:
    act = {"name": "update_data", "payload": payload}
    chosen = {
        "type": "Dropdown",
        "name": "c",
        "label": "C",
        "data-source": [],
        "on-select-action": act,
    }
    return flow(last(chosen, entry("who"), body(), data=MINE if data is None else data))


@pytest.mark.parametrize(
    ("payload", "below"),
    [
        ({"nope": "a"}, "/nope"),
        ({"nope": "${form.who}"}, "/nope"),
        ({"text": 5}, "/text"),
        ({"count": "${data.text}"}, "/count"),
        ({"text": "${data.text}"}, "/text"),
        ({"list": [5]}, "/list/0"),
    ],
)
def test_update_data_is_held_against_its_own_screen(payload: Any, below: str) -> None:
    at = "/screens/0/layout/children/0/on-select-action/payload"
    assert errors("action", updating(payload)) == [(UPDATE, at + below)]


def test_a_good_update_has_no_finding() -> None:
    document = updating({"text": "${form.who}", "count": 5, "list": ["a"]})
    assert errors("action", document) == doubts("action", document) == []


def test_the_good_document_has_no_finding() -> None:
    assert errors("action", good()) == []
