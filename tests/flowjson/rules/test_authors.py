"""Faults that authors of flows make, in a table: what is found, and what is fine."""

from __future__ import annotations

from typing import Any

import pytest
from flowjson.faults import FAULTS, Fault
from screens import alone, body, entry, field, flow, foot, last, screen

from chatkit.flowjson import lint

NAME = entry("name")
GREETED = body("Hi ${form.name}")
TEXT = body("x")
OPTIONS = [{"id": "0_yes", "title": "Yes"}, {"id": "1_no", "title": "No"}]
RADIO = {"type": "RadioButtonsGroup", "name": "r", "label": "R", "data-source": OPTIONS}
STRING, NUMBER = field(), field("number", 1)
ITEMS = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "title": {"type": "string"}},
}
DYNAMIC = {"o": field("array", OPTIONS, items=ITEMS)}


def served(document: dict[str, Any], **routes: list[str]) -> dict[str, Any]:
    """Give a document an endpoint."""
    ways = {each["id"]: [] for each in document["screens"]} | routes
    return document | {"data_api_version": "3.0", "routing_model": ways}


def ending(*components: Any, payload: Any = None, data: Any = None, **more: Any) -> Any:
    """Make a document of one screen that sends a payload."""
    end = foot(payload=payload or {}) | {"label": "Done"}
    return flow(screen("A", *components, end, data=data, terminal=True), **more)


MALFORMED = """
${forms.name} | ${from.name} | ${Form.name} | ${ form.name } | ${my_form.name} | ${form.name | $name
${screen.A.name} | ${A.form.name} | ${screens.A.form.name} | ${form['name']} | $form.name | {{name}}
{{form.name}} | {{ form.name }} | {form.name} | form.name | ${name} | {name} | ${user.id} | ${}
${form.nmae} | ${form.name.} | ${form..name} | ${form} | $(form.name) | #{form.name} | $ {form.name}
${{form.name}} | $screen.A.form.name | ${screen.B.form.name} | ${data.name} | ${form.Name} | {{1}}
${input.name} | $Form.name | {FORM.name} | ＄{form.name} | Dear {{name}}, hi | Hello $form.name
${form.name} ${forms.name}
""".replace("\n", " | ").split(" | ")[1:-1]  # fmt: skip
#: No references, however near.
PLAIN = """
5 $ | US$ 5 | 5 {x} | a {b} c | form | Fill in the form. Thanks | See data.csv | form.pdf | $AAPL
me@form.name | $100 | {"a": 1} | {} | the data. Name it | $${form.name} | https://x.y/data.name/z
metadata.name | 100% {ok} | [name] | name | %name% | ${form.name}, $5
""".replace("\n", " | ").split(" | ")[1:-1]  # fmt: skip


@pytest.mark.parametrize("text", MALFORMED)
def test_what_only_looks_like_a_reference_is_reported_wherever_it_stands(text: str) -> None:
    label = entry("other", label=text)
    for document in (
        ending(NAME, GREETED, payload={"n": text}),
        ending(NAME, GREETED, payload={"n": {"x": [text]}}),
        ending(NAME, GREETED, body(text)),
        ending(NAME, GREETED, label, payload={"other": "${form.other}"}),
        ending(NAME, GREETED) | {"version": "5.1"},
    ):
        if document["version"] == "5.1":
            document["screens"][0]["title"] = text
        assert [each for each in lint(document) if each.code != "TEXT_LONGER_THAN_DOCUMENTED"]


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_like_no_reference_has_no_finding(text: str) -> None:
    assert not lint(ending(NAME, GREETED, body(text), payload={"n": text}))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("${forms.name}", "${form.name}"),
        ("Hi {{ form.name }}, $form.name!", "Hi ${form.name}, ${form.name}!"),
        ("${screen.A.name}", "${form.name}"),
        ("${data.nmae}", "${form.name}"),
        ("${data.persn.agee}", "${data.person.age}"),
        ("${town}", "${screen.FIRST.form.town}"),
        ("${screen.FRIST.form.twon}", "${screen.FIRST.form.town}"),
        ("`${form.nmae} == 'x'`", "`${form.name} == 'x'`"),
    ],
)
def test_the_fix_writes_the_reference_that_was_meant(written: str, meant: str) -> None:
    person = field("object", {"age": "x"}, properties={"age": {"type": "string"}})
    to = foot("navigate", next={"type": "screen", "name": "A"}, payload={"person": {"age": "1"}})
    first = screen("FIRST", entry("town"), to)
    text = body(written if written[0] != "`" else "x")
    if written[0] == "`":
        text["visible"] = written
    used = body("${data.person.age} ${form.name} ${screen.FIRST.form.town}")
    second = last(NAME, used, text, name="A", data={"person": person})
    [found] = {each.hint for each in lint(flow(first, second))}
    mended = lint(flow(first, second)).fix()
    component = mended["screens"][1]["layout"]["children"][2]
    assert component == text | {"visible" if written[0] == "`" else "text": meant}
    assert "Did you mean ${" in found and not lint(mended)


CONDITIONS = [
    ("${form.r} == 'Yes'", True),
    ("'No' != ${form.r}", True),
    ("${form.r} == '0_YES'", True),
    ("!(${form.r} == 'Yes')", True),
    ("(${form.r} == '0_yes') || (${screen.A.form.r} == 'No')", True),
    ("(${form.r} == '0_yes') || (${form.r} == '1_no')", False),
    ("${form.r} == ''", False),
]


@pytest.mark.parametrize("kind", ["RadioButtonsGroup", "Dropdown"])
@pytest.mark.parametrize(("asked", "wrong"), CONDITIONS)
def test_a_comparison_with_what_is_no_id_is_reported(kind: str, asked: str, wrong: bool) -> None:
    inner = {"type": "If", "condition": asked, "then": [TEXT]}
    for component in (
        inner,
        inner | {"condition": f"`{asked}`"},
        {"type": "If", "condition": "${form.r} == '1_no'", "then": [inner]},
        body("x", visible=f"`{asked}`"),
    ):
        document = ending(RADIO | {"type": kind}, component, payload={"r": "${form.r}"})
        assert bool(lint(document)) is wrong
        assert lint(document).ok
        dynamic = RADIO | {"type": kind, "data-source": "${data.o}"}
        for unknown in (
            ending(dynamic, component, payload={"r": "${form.r}"}, data=DYNAMIC),
            served(ending(dynamic, component, payload={"r": "${form.r}"}, data=DYNAMIC)),
        ):
            assert not lint(unknown)


@pytest.mark.parametrize(
    ("cases", "wrong"), [(["yes", "no"], 0), (["yes", "default"], 0), (["Yes", "no", "nein"], 2)]
)
def test_a_case_that_is_no_id_is_reported(cases: list[str], wrong: int) -> None:
    radio = RADIO | {"data-source": [{"id": "yes", "title": "Ja"}, {"id": "no", "title": "No"}]}
    switch = {"type": "Switch", "value": "${form.r}", "cases": {each: [TEXT] for each in cases}}
    found = lint(ending(radio, switch, payload={"r": "${form.r}"}))
    assert [each.message.endswith("is never shown.") for each in found] == [True] * wrong


def handed(asked: str) -> dict[str, Any]:
    """Hand a choice to the next screen, which asks for it."""
    to = foot("navigate", next={"type": "screen", "name": "DONE"}, payload={"r": "${form.r}"})
    condition = {"type": "If", "condition": asked, "then": [TEXT]}
    return flow(screen("A", RADIO, to), last(condition, data={"r": STRING}))


def test_a_choice_that_is_handed_to_another_screen_is_compared_there() -> None:
    assert not lint(handed("${data.r} == '0_yes'"))
    [found] = lint(handed("${data.r} == 'Yes'"))
    assert found.hint == "Did you mean the id '0_yes'?"
    assert not lint(served(handed("${data.r} == 'Yes'"), A=["DONE"]))  # it may send others


@pytest.mark.parametrize(
    ("kind", "value", "wrong"),
    [
        *[("RadioButtonsGroup", "Yes", 1), ("RadioButtonsGroup", "0_yes", 0)],
        *[("Dropdown", "nope", 1), ("Dropdown", "1_no", 0)],
        *[("CheckboxGroup", ["Yes", "1_no"], 1), ("ChipsSelector", ["0_yes"], 0)],
    ],
)
def test_a_first_choice_is_an_id(kind: str, value: Any, wrong: int) -> None:
    chosen = RADIO | {"type": kind}
    form = {"type": "Form", "name": "f", "init-values": {"r": value}, "children": [chosen]}
    for component in (chosen | {"init-value": value}, form):
        assert len(lint(ending(component, payload={"r": "${form.r}"}))) == wrong


@pytest.mark.parametrize("kind", ["CheckboxGroup", "ChipsSelector"])
@pytest.mark.parametrize(("least", "off", "wrong"), [(2, 0, 0), (3, 0, 1), (2, 1, 1), (1, 1, 0)])
def test_a_question_can_be_answered(kind: str, least: int, off: int, wrong: int) -> None:
    source = [each | ({"enabled": False} if n < off else {}) for n, each in enumerate(OPTIONS)]
    group = RADIO | {"type": kind, "min-selected-items": least, "data-source": source}
    assert len(lint(ending(group, payload={"r": "${form.r}"}))) == wrong
    dynamic = group | {"data-source": "${data.o}"}
    assert not lint(ending(dynamic, payload={"r": "${form.r}"}, data=DYNAMIC))


def test_a_text_input_may_be_as_long_as_it_must() -> None:
    [found] = lint(ending(NAME | {"min-chars": 100}, GREETED))
    assert found.message == "min-chars is 100; without max-chars at most 80 can be written."
    assert not lint(ending(NAME | {"min-chars": 100, "max-chars": 200}, GREETED))


@pytest.mark.parametrize("endpoint", [False, True])
@pytest.mark.parametrize(
    ("component", "used"),
    [
        (TEXT, False),
        (body("${data.k}"), True),
        (body("`'x' ${screen.A.data.k}`"), True),
        (entry("n", enabled=False, **{"init-value": "${data.k}"}), True),
        ({"type": "If", "condition": "${data.k} == 'x'", "then": [TEXT]}, True),
    ],
)
def test_data_that_nothing_reads_is_reported(component: Any, used: bool, endpoint: bool) -> None:
    document = ending(component, data={"k": STRING})
    codes = [each.code for each in lint(served(document) if endpoint else document)]
    assert ("UNUSED_DATA" not in codes) is used


def test_error_messages_that_nothing_reads_name_their_place() -> None:
    data = {"errors": field("object", {"name": "x"}, properties={"name": {"type": "string"}})}
    [found] = lint(served(ending(NAME, GREETED, data=data)))
    assert found.hint == 'Bind it to "error-message" of its input: ${data.errors.name}.'
    form = {"type": "Form", "name": "f", "children": [NAME]}
    [found] = lint(served(ending(form, GREETED, data=data)))
    assert found.hint == 'Bind it to "error-messages" of the Form: ${data.errors}.'


@pytest.mark.parametrize(
    ("component", "wrong"),
    [
        (NAME, 1),
        (NAME | {"enabled": False}, 0),
        (NAME | {"visible": False}, 0),
        (NAME | {"visible": "`false`"}, 0),
        (NAME | {"enabled": "`${data.k} == 'x'`"}, 1),
        ({"type": "OptIn", "name": "terms", "label": "I agree"}, 0),
    ],
)
def test_an_answer_that_nobody_gives_is_not_missed(component: Any, wrong: int) -> None:
    found = lint(ending(component, body("${data.k}"), data={"k": STRING}))
    assert [each.code for each in found] == ["UNUSED_INPUT"] * wrong


@pytest.mark.parametrize(
    ("value", "wrong"),
    [("${form.k}", 0), ("${data.n}", 0), ("x", 0), ("${data.k}", 1), ("`${data.k}`", 1)],
)
def test_a_field_is_not_updated_with_itself(value: str, wrong: int) -> None:
    update = {"name": "update_data", "payload": {"k": value}}
    radio = RADIO | {"name": "k", "on-select-action": update}
    data = {"k": STRING, "n": STRING}
    shown = body("${data.k} ${data.n}")
    assert len(lint(ending(radio, shown, payload={"k": "${form.k}"}, data=data))) == wrong


@pytest.mark.parametrize(
    ("key", "text", "version", "hint"),
    [
        ("visible", "${data.k} == 'a'", "7.3", "Put it in backticks: `${data.k} == 'a'`."),
        ("text", "${data.k} == 'a'", "6.0", "Put it in backticks: `${data.k} == 'a'`."),
        ("visible", "${data.k} == 'a'", "5.1", "Expressions are known from version 6.0"),
        ("visible", "${data.k}!", "7.3", "Write it as ${data.name} or ${form.name}."),
    ],
)
def test_an_expression_without_backticks_has_the_hint_of_its_version(
    key: str, text: str, version: str, hint: str
) -> None:
    component = body("${data.k}") | {key: text}
    found = lint(ending(body("${data.k}"), component, data={"k": STRING}, version=version))
    assert hint in found[-1].hint


@pytest.mark.parametrize(
    ("kind", "second", "third", "wrong"),
    [
        ("number", NUMBER, NUMBER, 1),
        ("passcode", NUMBER, NUMBER, 1),
        ("number", STRING, STRING, 0),
    ],
)
def test_a_number_that_is_handed_on_twice_is_reported(
    kind: str, second: Any, third: Any, wrong: int
) -> None:
    def to(name: str, value: str) -> Any:
        return foot("navigate", next={"type": "screen", "name": name}, payload={"age": value})

    age = entry("age", **{"input-type": kind})
    shown = body("`'You are ' ${data.age}`")
    document = flow(
        screen("A", age, to("B", "${form.age}")),
        screen("B", shown, to("DONE", "${data.age}"), data={"age": second}),
        last(shown, data={"age": third}),
    )
    found = lint(document)
    assert [each.hint for each in found] == [
        "Read it where it is needed: ${screen.A.form.age}."
    ] * wrong


#: Misspelled names: of keys, types, actions, values, screens, inputs.
BODY, ACTION = "/screens/1/layout/children/0", "/screens/0/layout/children/2/on-click-action"
SPELLED = [
    (BODY, {"type": "TextBdy", "txt": "Bye"}, {"type": "TextBody", "text": "Bye"}),
    (BODY, TEXT | {"font-wieght": "blod"}, TEXT | {"font-weight": "bold"}),
    (f"{ACTION}/name", "navigat", "navigate"),
    (f"{ACTION}/next/name", "DNOE", "DONE"),
    (f"{ACTION}/payload", {"wo": "x"}, {"who": "x"}),
    ("/screens/0/layout/children/2/type", "Foter", "Footer"),
    ("/screens/1/layout/type", "SingleColumLayout", "SingleColumnLayout"),
    ("/screens/1/sensitive", ["frist"], ["first"]),
    ("/screens/1/data/who", {"tpye": "strng", "__exampel__": "Ana"}, STRING),
]


@pytest.mark.parametrize(("at", "written", "meant"), SPELLED)
def test_a_misspelled_name_is_one_finding_and_is_renamed(at: str, written: Any, meant: Any) -> None:
    to = foot("navigate", next={"type": "screen", "name": "DONE"}, payload={"who": "x"})
    first = screen("A", TEXT, body("y"), to)
    end = last(body("${data.who}"), TEXT, data={"who": STRING})
    end["layout"]["children"][2:2] = [entry("first"), body("${form.first} ${data.who}")]
    good = flow(first, end)
    assert not lint(good)
    *way, key = [int(step) if step.isdecimal() else step for step in at.split("/")[1:]]
    holder: Any = good
    for step in way:
        holder = holder[step]
    holder[key] = written
    found = lint(good)
    assert all("Did you mean" in each.hint or each.patch for each in found)
    differ = {*written.items()} ^ {*meant.items()} if isinstance(written, dict) else ()
    keys = [key for key, _ in differ if key in written and key not in meant]
    values = {value for _, value in differ if value not in meant.values()} if differ else ()
    assert len(found) == max(1, len(keys) + len(values))
    mended = lint(good).fix()
    for step in [*way, key]:
        mended = mended[step]
    assert mended == meant and list(mended) == list(meant)
    assert not lint(lint(good).fix())


def test_three_faults_are_three_findings() -> None:
    to = foot("navigate", next={"type": "screen", "name": "NOWHERE"}, payload={})
    first = screen("A", {"type": "Txt", "name": "name", "label": "Name"}, GREETED, to)
    end = screen("END", {"type": "Button", "label": "Done"}, terminal=True)
    assert len(lint(flow(first, end))) == 3


def test_a_flow_without_an_end_is_one_finding_that_is_fixed() -> None:
    document = alone(TEXT)
    del document["screens"][0]["terminal"]
    [found] = lint(document)
    assert found.code == "MISSING_TERMINAL_SCREEN" and not lint(lint(document).fix())


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_what_the_fix_reports_as_corrected_is_corrected(fault: Fault) -> None:
    found = lint(fault.document)
    left = {(each.code, each.message) for each in lint(found.fix())}
    assert not [each for each in found if each.patch and (each.code, each.message) in left]


def listed(screens: int, field: dict[str, Any], first: dict[str, Any] | None) -> dict[str, Any]:
    """Make screens with a list of 20 items each, all of which hand the field k on to the next."""
    made: list[dict[str, Any]] = []
    for n in range(screens):
        has_input = n == 0 and first is not None
        payload = {"k": "${form.k}" if has_input else "${data.k}"}
        step = {"name": "navigate", "next": {"type": "screen", "name": f"S_{'BCDEFGHIJ'[n]}"}}
        step |= {"payload": payload}
        items = [
            {"id": str(m), "main-content": {"title": str(m)}, "on-click-action": step}
            for m in range(20)
        ]
        last = {"type": "Footer", "label": "End"}
        last |= {"on-click-action": {"name": "complete", "payload": payload}}
        asked = {
            "type": "If",
            "condition": "${data.k} == 'z'",
            "then": [{"type": "TextBody", "text": "Hi"}],
        }
        children: list[Any] = [first] if has_input else []
        children += [asked] if first and n else []
        children += [{"type": "NavigationList", "name": "go", "list-items": items}]
        children[-1:] = [last] if n == screens - 1 else children[-1:]
        layout = {"type": "SingleColumnLayout", "children": children}
        screen = {"id": f"S_{'ABCDEFGHIJ'[n]}", "title": "T", "layout": layout}
        made.append(
            screen | {"terminal": n == screens - 1, "data": {} if has_input else {"k": field}}
        )
    return {"version": "7.3", "screens": made}


def test_a_field_that_long_lists_hand_on_is_traced_once_a_screen() -> None:
    """Each way from screen to screen was traced anew: 8 screens of 20 items took hours."""
    number = {"type": "number", "__example__": 1}
    assert not lint(listed(9, number, None))
    choice = {"type": "Dropdown", "name": "k", "label": "K"}
    choice |= {"data-source": [{"id": "a", "title": "A"}]}
    findings = lint(listed(8, {"type": "string", "__example__": "a"}, choice))
    assert len([each for each in findings if "is never 'z'" in each.message]) == 7
