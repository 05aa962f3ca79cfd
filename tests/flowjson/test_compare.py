from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from flowjson.strangers import anything, booking, crooked, documents, holder, places
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from volume import volume

from chatkit.flowjson.diff import Difference, find_differences
from chatkit.util.display import MISSING
from chatkit.util.json import get_value


def result(a: Any, b: Any) -> list[tuple[str, str]]:
    """Kind and place of all differences: the place after, or before where it is gone."""
    report = list(find_differences(a, b))
    for one in report:
        agrees(one, a, b)
    return [(d.kind, d.pointer_a if d.pointer_b is None else d.pointer_b) for d in report]


def agrees(one: Difference, a: Any, b: Any) -> None:
    """Hold a difference against both documents: its pointers lead to what it says."""
    assert one.kind.split()[1] in ("added", "removed", "changed", "moved", "renamed")
    assert (one.pointer_a is None) == (one.before is MISSING)
    assert (one.pointer_b is None) == (one.after is MISSING)
    for pointer, value, document in ((one.pointer_a, one.before, a), (one.pointer_b, one.after, b)):
        if pointer is not None:
            present = get_value(document, pointer)
            assert one.kind.endswith(("moved", "renamed")) or present == value


def children(document: Any, n: int = 0) -> Any:
    return document["screens"][n]["layout"]["children"]


@settings(max_examples=volume(20, 500))
@given(crooked | anything, st.randoms())
def test_a_document_is_no_different_from_itself_however_its_keys_are_ordered(
    document: Any, random: Any
) -> None:
    def shuffled(value: Any) -> Any:
        if isinstance(value, dict):
            keys = list(value)
            random.shuffle(keys)
            return {key: shuffled(value[key]) for key in keys}
        return list(map(shuffled, value)) if isinstance(value, list) else value

    assert list(find_differences(document, shuffled(document))) == []


@settings(max_examples=volume(20, 500))
@given(crooked | anything, crooked | anything)
def test_any_two_documents_are_compared_and_what_differs_is_told(a: Any, b: Any) -> None:
    report = list(find_differences(a, b))
    assert bool(report) == (result(b, a) != [])
    for one in report:
        agrees(one, a, b)


def test_samples_are_no_different_from_themselves(shared: Path) -> None:
    for name, document in documents(shared).items():
        assert list(find_differences(document, copy.deepcopy(document))) == [], name


@settings(max_examples=volume(20, 500), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_one_mutation_anywhere_is_one_difference_or_two_at_its_place(
    shared: Path, data: st.DataObject
) -> None:
    name, document = data.draw(st.sampled_from(sorted(documents(shared, "valid").items())))
    way = data.draw(st.sampled_from(list(places(document))[1:]))
    how = data.draw(st.sampled_from(["delete", "change", "put in"]))
    after = copy.deepcopy(document)
    inside, last = holder(after, way), way[-1]
    if how == "delete":
        del inside[last]
    elif how == "put in" and isinstance(inside, list):
        inside.insert(last, {"type": "TextBody", "text": "This is new"})
    else:
        inside[last] = f"{inside[last]} anew" if isinstance(inside[last], str) else "anew"
    report = result(document, after)
    assert 1 <= len(report) <= 2, (name, report)
    whole = "".join(f"/{step}" for step in way)
    for _, pointer in report:  # at its place, above it (a whole screen), or below (what it held)
        assert whole.startswith(pointer) or pointer.startswith(whole) or _near(whole, pointer)


def _near(place: str, pointer: str) -> bool:
    """Return whether a pointer is in the list of a place, or is the new name of it."""
    return pointer.startswith(place.rpartition("/")[0])


PAY = "/screens/1/layout/children"
FORM = "/screens/0/layout/children/2/children"


def edit(change: str) -> Any:
    """Run one line of Python on a fresh booking."""
    d = booking()
    exec(change, {"d": d, "children": children, "top": children(d), "pay": children(d, 1)})
    return d


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("d['version'] = '7.3'", [("document changed", "/version")]),
        ("del d['data_api_version']", [("document removed", "/data_api_version")]),
        ("d['routing_model']['PAY'].append('HELP')", [("route added", "/routing_model/PAY/0")]),
        ("d['routing_model']['START'].reverse()", []),
        ("d['screens'][0]['title'] = 'Hi'", [("text changed", "/screens/0/title")]),
        ("d['screens'][1]['terminal'] = False", [("screen changed", "/screens/1/terminal")]),
        ("d['screens'].insert(0, d['screens'].pop())", [("screen moved", "/screens/0")]),
        ("del d['screens'][2]", [("screen removed", "/screens/2")]),
        (
            "d['screens'][1]['data']['late']['type'] = 'string'",
            [("data changed", "/screens/1/data/late/type")],
        ),
        ("del d['screens'][1]['data']['late']", [("data removed", "/screens/1/data/late")]),
        ("top.insert(0, {'type': 'Image', 'src': 'x'})", [("component added", f"{FORM[:-11]}/0")]),
        ("top[2]['children'].pop(0)", [("component removed", f"{FORM}/0")]),
        ("top[2]['children'][0]['label'] = 'E-mail'", [("text changed", f"{FORM}/0/label")]),
        (
            "top[2]['children'][0]['input-type'] = 'text'",
            [("component changed", f"{FORM}/0/input-type")],
        ),
        ("top[2]['children'][0]['name'] = 'mail'", [("component changed", f"{FORM}/0/name")]),
        (
            "top[2]['children'][0]['labl'] = top[2]['children'][0].pop('label')",
            [("property renamed", f"{FORM}/0/labl")],
        ),
        (
            "top[2]['children'].insert(2, top[2]['children'].pop(0))",
            [("component moved", f"{FORM}/2")],
        ),
        (
            "top[:] = top[:2] + top[2]['children']",
            [
                ("component removed", FORM[:-9]),
                *(("component added", f"{FORM[:-11]}/{n}") for n in (2, 3, 4, 5)),
            ],
        ),
        (
            "top[2]['children'][1]['data-source'].pop(1)",
            [("option removed", f"{FORM}/1/data-source/1")],
        ),
        (
            "top[2]['children'][1]['data-source'].reverse()",
            [("option moved", f"{FORM}/1/data-source/{n}") for n in (2, 1)],
        ),
        (
            "top[2]['children'][1]['data-source'][2]['title'] = 'Faro'",
            [("text changed", f"{FORM}/1/data-source/2/title")],
        ),
        (
            "top[2]['children'][3]['on-click-action']['payload']['x'] = 1",
            [("action added", f"{FORM}/3/on-click-action/payload/x")],
        ),
        ("del pay[0]['else']", [("component removed", f"{PAY}/0/else")]),
        ("pay[0]['condition'] = '!${data.late}'", [("component changed", f"{PAY}/0/condition")]),
        ("pay[1]['cases'].pop('cash')", [("component removed", f"{PAY}/1/cases/cash")]),
        (
            "pay[1]['cases']['coins'] = pay[1]['cases'].pop('cash')",
            [("property renamed", f"{PAY}/1/cases/coins")],
        ),
        ("pay[1]['cases']['none'] = []", [("component added", f"{PAY}/1/cases/none")]),
        ("pay.insert(0, 'stray')", [("component added", f"{PAY}/0")]),
        ("pay.insert(0, pay[1]['cases']['card'].pop())", [("component moved", f"{PAY}/0")]),
    ],
)
def test_what_was_done_is_told_in_its_own_words(
    change: str, expected: list[tuple[str, str]]
) -> None:
    assert result(booking(), edit(change)) == expected
    assert len(result(edit(change), booking())) == len(expected)


def test_a_component_that_goes_elsewhere_as_it_was_has_moved() -> None:
    form, branch = booking(), booking()
    children(form, 2).append(children(form).pop())
    branches = children(branch, 1)[0]
    branches["else"].insert(0, branches["then"].pop())
    reports = [
        [(d.kind, d.before, d.after) for d in find_differences(booking(), after)]
        for after in (form, branch)
    ]
    (text,) = reports[1]
    assert reports[0] == [
        ("component moved", "screen START › Form booking", "screen HELP › Form booking")
    ]
    assert text[0] == "component moved"
    assert "› then ›" in text[1] and "› else ›" in text[2]


def test_one_that_was_moved_and_edited_is_another_one() -> None:
    after = booking()
    email = children(after)[2]["children"].pop(0)
    children(after).append(email | {"label": "Electronic mail"})
    kinds = [d.kind for d in find_differences(booking(), after)]
    assert sorted(kinds) == ["component added", "component removed"]


def test_what_has_little_in_common_is_not_the_same_one_changed() -> None:
    after = booking()
    children(after)[0] = {"type": "Image", "src": "iVBORw0KGgo="}
    kinds = [each.kind for each in find_differences(booking(), after)]
    assert kinds == ["component removed", "component added"]


def test_a_container_does_not_become_another_kind_by_what_is_in_it() -> None:
    after = booking()
    fields = children(after).pop()["children"]
    children(after).append({"type": "If", "condition": "${data.x}", "then": fields})
    kinds = sorted(d.kind for d in find_differences(booking(), after))
    assert kinds == ["component added", "component removed"]


def test_a_screen_by_another_name_is_the_same_screen() -> None:
    after = booking()
    after["screens"][1]["id"] = "CASHIER"
    assert result(booking(), after) == [("screen changed", "/screens/1/id")]


def test_lines_of_a_text_are_compared_one_by_one() -> None:
    lines = [f"Line {n} of the terms" for n in range(40)]
    before, after = booking(), booking()
    children(before).append({"type": "TextBody", "text": lines})
    edited = [*lines[:3], "A new one", *lines[3:20], lines[20] + ", amended", *lines[22:]]
    children(after).append({"type": "TextBody", "text": edited})
    report = [(d.kind, d.before, d.after) for d in find_differences(before, after)]
    assert report == [
        ("text removed", lines[21], MISSING),
        ("text added", MISSING, "A new one"),
        ("text changed", lines[20], lines[20] + ", amended"),
    ]
    assert result(before, after)[0][1].endswith("/3/text/21")
