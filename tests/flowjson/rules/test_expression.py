from __future__ import annotations

from typing import Any

import pytest
from screens import alone, body, doubts, entry, errors, field, findings, flow, foot, last

from chatkit.flowjson.nodes import read_nodes
from chatkit.flowjson.rules.expression import result

AT = "/screens/0/layout/children/0"
VALUE, PAYLOAD = "INVALID_PROPERTY_VALUE", "INVALID_ACTION_PAYLOAD_PROPERTY"
DATA = {
    "text": field(),
    "count": field("number", 3),
    "flag": field("boolean", True),
    "list": field("array", [], items={"type": "string"}),
    "untyped": {"__example__": 1},
}


def asking(condition: Any, version: str = "7.3") -> dict[str, Any]:
    inner = {"type": "If", "condition": condition, "then": [body()]}
    return alone(inner, entry("who"), data=DATA, version=version)


def showing(key: str, value: Any, version: str = "7.3") -> dict[str, Any]:
    component = body("text") | {key: value}
    return alone(component, entry("who"), data=DATA, version=version)


@pytest.mark.parametrize(
    "condition",
    [
        "${data.flag}",
        "!${data.flag}",
        "${data.text} == 'a'",
        "'a' == ${data.text}",
        "${data.count} > -5",
        "(${data.count} > 5) && (${data.text} != '')",
        "${form.who} == 'x'",
        "((${data.flag}))",
        "`${data.count} > 5 && ${data.flag}`",
        "`${data.count} % 2 == 0`",
        "${data.flag} && true",
        "${data.count} == 0",
        "${data.count} == 0.5",
        "${data.untyped}",
        "${screen.DONE.data.flag}",
    ],
)
def test_a_good_condition_has_no_finding(condition: str) -> None:
    assert errors("expression", asking(condition)) == []


@pytest.mark.parametrize(
    "condition",
    [
        "",
        " ",
        "( )",
        "573 == 376",
        "true",
        "'a' == 'b'",
        "${data.flag} && (1 == 1)",
        "))${data.flag}((",
        "(${data.flag}",
        "${data.flag} ==",
        "${data.text} == 'open",
        "${data.flag} ${data.flag}",
        "${data.count} == 007",
        "${data.count} + 1 == 2",
        "-${data.count} == 2",
        "${data.count} == tru",
        "${data.text}",
        "((${data.text}))",
        "${data.text} == 5",
        "${data.text} > 5",
        "${data.count} && ${data.flag}",
        "${data.list} == 'a'",
        "${data.nope}",
        '${data.text} == "a"',
        "${screen.NO.data.x}",
        "${data.flag} & ${data.flag}",
        "`1 == 1`",
        "`${data.text}`",
        "`${data.flag} ?? true`",
        "`'a' ${data.flag}`",
    ],
)
def test_a_broken_condition_is_told_at_its_place(condition: str) -> None:
    assert set(errors("expression", asking(condition))) == {(VALUE, f"{AT}/condition")}


UNREAD = "The expression cannot be read: "
NO_BACKTICKS = [("error", f"{UNREAD}` is not known here, at character 1 of it.")]


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("true", [("error", "It asks nothing: no ${…} stands in it.")]),
        ("${data.text}", [("error", "It comes to a string, not to true or false.")]),
        (
            "${data.nope}",
            [("error", "${data.nope} does not exist: screen DONE declares no data field nope.")],
        ),
        ("1 &", [("error", f"{UNREAD}& is not known here, at character 3 of it.")]),
        (
            "${data.text} == 5",
            [("error", "== compares values of one type, not string and number.")],
        ),
        (
            "-${data.count} == 2",
            [("error", "- and + do not stand in a condition, at character 1.")],
        ),
        (
            "${data.flag} == 1 > 2",
            [
                ("error", "> has a fixed value on both sides."),
                ("warning", "Put brackets around each comparison: == stands beside >."),
            ],
        ),
        (
            '${data.text} "a"',
            [
                ("error", "A text stands in single quotes, at character 14."),
                ("error", "An operator is missing before character 14."),
                ("error", "It comes to a string, not to true or false."),
            ],
        ),
        (
            "${data.count} 007",
            [
                ("error", "A number has leading zeros, at character 15."),
                ("error", "An operator is missing before character 15."),
                ("error", "It comes to a string, not to true or false."),
            ],
        ),
        ("`1 == 1`", [("error", "It asks nothing: no ${…} stands in it.")]),
        ("`${data.text}`", [("error", "It comes to a string, not to true or false.")]),
        (
            "`${data.flag} ?? true`",
            [("error", f"{UNREAD}? is not known here, at character 14 of it.")],
        ),
        (
            "${data.flag} == ${data.flag",
            [("error", f"{UNREAD}a reference has no closing bracket }}, at character 17 of it.")],
        ),
        ("``", [("error", f"{UNREAD}it is empty, at character 1 of it.")]),
    ],
)
def test_what_is_wrong_with_a_condition_is_said_once(
    condition: str, found: list[tuple[str, str]]
) -> None:
    for version in ("6.0", "5.1"):
        told = [
            (one.severity, one.message)
            for one in findings("expression", asking(condition, version))
        ]
        assert told == (NO_BACKTICKS if condition[0] == "`" and version == "5.1" else found)


def test_a_condition_in_backticks_is_known_from_version_6() -> None:
    document = asking("`${data.flag}`", "5.1")
    assert errors("expression", document) == [(VALUE, f"{AT}/condition")]
    assert errors("expression", asking("`${data.flag}`", "6.0")) == []


def test_other_screens_are_asked_from_version_4() -> None:
    condition = "${screen.DONE.data.flag}"
    assert errors("expression", asking(condition, "4.0")) == []
    assert errors("expression", asking(condition, "3.1")) == [(VALUE, f"{AT}/condition")]


def test_expressions_are_known_from_version_6() -> None:
    for version, known in (("6.0", True), ("5.1", False)):
        texts = [body(text) for text in ("`'Hello ' ${data.text}`", "Hi", "`'a' ${data.nope}`")]
        document = alone(*texts, data=DATA, version=version)
        wrong = [(VALUE, f"{AT[:-1]}{n}/text") for n in (0, 2)]
        assert errors("expression", document) == (wrong[1:] if known else [])
        assert doubts("expression", document) == ([] if known else wrong)


def test_comparisons_without_brackets_are_a_doubt() -> None:
    document = asking("${data.count} > 1 && ${data.flag}")
    assert errors("expression", document) == []
    assert doubts("expression", document) == [(VALUE, f"{AT}/condition")]
    assert doubts("expression", asking("(${data.count} > 1) && ${data.flag}")) == []
    assert doubts("expression", asking("${data.text} == 'a && b == c'")) == []


def test_a_condition_that_is_no_text_is_for_structure() -> None:
    assert errors("expression", asking(5)) == errors("expression", asking(True)) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("text", "`'Hello ' ${data.text}`"),
        ("text", "`'Total ' (${data.count} * 2)`"),
        ("visible", "`${data.count} > 2`"),
        ("visible", "`${data.flag} && (${form.who} != '')`"),
        ("visible", "`${data.untyped}`"),
        ("text", "`not closed"),
        ("text", "`"),
        ("text", "a `quoted` word"),
    ],
)
def test_a_good_expression_has_no_finding(key: str, value: str) -> None:
    assert (
        errors("expression", showing(key, value)) == doubts("expression", showing(key, value)) == []
    )


def test_backticks_in_what_is_never_bound_are_text() -> None:
    document = alone(entry("n", pattern="`1 +`", **{"helper-text": "Backticks"}))
    assert errors("expression", document) == doubts("expression", document) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("text", "`'Hello ${data.text}`"),
        ("text", "`${data.nope} 'a'`"),
        ("text", "``"),
        ("text", "`Hello`"),
        ("visible", "`${data.text} > 2`"),
        ("visible", "`${data.text}`"),
        ("visible", "`${data.count} + 2`"),
        ("visible", "`${data.flag} == 'yes'`"),
        ("visible", "`${data.flag} ? true : false`"),
    ],
)
def test_a_broken_expression_is_told_at_its_place(key: str, value: str) -> None:
    assert errors("expression", showing(key, value)) == [(VALUE, f"{AT}/{key}")]


@pytest.mark.parametrize(
    ("key", "value", "version"),
    [
        ("text", "`'a' + ${data.text}`", "7.3"),
        ("text", "`${data.count} + 1`", "7.3"),
        ("text", ["`broken +`"], "7.3"),
        ("text", "`'Hello ' ${data.text}`", "5.1"),
    ],
)
def test_what_others_accept_is_a_doubt(key: str, value: Any, version: str) -> None:
    document = showing(key, value, version)
    assert errors("expression", document) == []
    assert len(doubts("expression", document)) == 1


@pytest.mark.parametrize(("version", "wrong"), [("7.3", True), ("7.2", True), ("7.1", False)])
def test_expressions_in_payloads_are_looked_at_from_7_2(version: str, wrong: bool) -> None:
    act = foot("complete", payload={"a": {"b": "`${data.nope} == 1`"}})
    document = flow(last(act, data=DATA), version=version)
    at = "/screens/0/layout/children/0/on-click-action/payload/a/b"
    assert errors("expression", document) == ([(PAYLOAD, at)] if wrong else [])
    assert doubts("expression", document) == ([] if wrong else [(PAYLOAD, at)])


def test_an_expression_in_an_action_but_outside_its_payload_is_a_property() -> None:
    act = {"name": "open_url", "url": "`${data.nope}`"}
    link = {"type": "EmbeddedLink", "text": "More", "on-click-action": act}
    document = alone(link, data=DATA)
    assert errors("expression", document) == []
    assert doubts("expression", document) == [(VALUE, f"{AT}/on-click-action/url")]


def test_the_result_of_an_expression_has_a_type() -> None:
    whole = read_nodes(showing("text", "a"))
    assert result(whole, whole.screens[0], "`${data.count} > 1`") == {"boolean"}
    assert result(whole, whole.screens[0], "`${data.count} >`") == frozenset()
