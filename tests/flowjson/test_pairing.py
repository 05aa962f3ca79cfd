from __future__ import annotations

import copy
from typing import Any

from flowjson.strangers import booking, crooked
from hypothesis import given, settings
from volume import volume

from chatkit.flowjson.diff import Pairing, own, place_of, slots
from chatkit.flowjson.outline import by_slot, outline


def pairing(a: Any, b: Any) -> Pairing:
    first, second = outline(a), outline(b)
    return Pairing(list(zip(first.screens, second.screens, strict=True)), first, second)


def pointers(found: Pairing) -> dict[str, str]:
    return {one.pointer: other.pointer for one, other in found.after.items()}


def children(document: Any, n: int = 0) -> Any:
    return document["screens"][n]["layout"]["children"]


def test_a_container_is_its_lists_and_what_it_holds_itself() -> None:
    switch = {"type": "Switch", "cases": {"a/b": [1], "c": "odd"}, "children": 5}
    assert slots(switch) == {"/cases/a~1b": [1]}
    assert own(switch, {"cases": {}}) == {"type": "Switch", "cases": {"c": "odd"}, "children": 5}
    assert own(switch, {"children": [], "cases": 1}) == {"type": "Switch", "cases": switch["cases"]}
    assert own({"then": [1], "x": 1}, {}) == {"x": 1}


def test_a_component_knows_its_list() -> None:
    whole = outline(booking())
    email = next(c for c in whole.components if c.name == "email")
    coins = next(c for c in whole.components if c.type == "TextCaption")
    assert (email.slot, coins.slot) == ("/children", "/cases/cash")
    assert place_of(email) == "place 1 in Form booking on screen START"
    assert [c.pointer for c in by_slot(whole.screens[1].top)["/children"]] == [
        f"/screens/1/layout/children/{n}" for n in range(3)
    ]


@settings(max_examples=volume(16, 400))
@given(crooked)
def test_in_the_same_document_each_is_itself_and_nothing_moved(document: Any) -> None:
    found = pairing(document, copy.deepcopy(document))
    assert pointers(found) == {c.pointer: c.pointer for c in outline(document).components}
    assert not found.movers


def test_names_hold_through_every_edit() -> None:
    after = booking()
    form = children(after)[2]["children"]
    form[0].update(type="TextArea", label="Something else")
    form.reverse()
    found = pairing(booking(), after)
    base = "/screens/0/layout/children/2/children"
    assert pointers(found)[f"{base}/0"] == f"{base}/3"
    assert len(found.movers) == 3


def test_what_has_no_name_is_found_by_its_place_or_by_its_words() -> None:
    after = booking()
    children(after)[1]["text"] = "Closed on Mondays!"
    children(after, 1)[0]["then"][0]["text"] = "You are late, alas, ${screen.START.form.email}"
    children(after, 1).append(children(after, 1)[0]["then"].pop())
    children(after, 1)[0]["then"].append({"type": "TextBody", "text": "Hello"})
    found = pointers(pairing(booking(), after))
    assert found["/screens/0/layout/children/1"] == "/screens/0/layout/children/1"
    assert found["/screens/1/layout/children/0"] == "/screens/1/layout/children/0"


def test_a_container_put_around_components_moves_none_of_them() -> None:
    after = booking()
    around = {"type": "If", "condition": "${data.x}", "then": children(after)[:2]}
    children(after)[:2] = [around]
    found = pairing(booking(), after)
    assert not found.movers
    assert len(found.after) == len(list(outline(booking()).components))


def test_what_went_to_another_screen_is_found_there() -> None:
    after = booking()
    children(after, 2).append(children(after)[2]["children"].pop(0))
    found = pairing(booking(), after)
    there = "/screens/2/layout/children/1"
    assert pointers(found)["/screens/0/layout/children/2/children/0"] == there
    assert [one.name for one in found.movers] == ["email"]


def test_a_case_by_another_name_keeps_its_components() -> None:
    after = booking()
    cases = children(after, 1)[1]["cases"]
    cases["credit"] = cases.pop("card")
    found = pairing(booking(), after)
    assert not found.movers
    renamed = {one.type: way for one, way in found.cases.items() if way}
    assert renamed == {"Switch": {"/cases/card": "/cases/credit"}}


def test_only_the_top_of_what_is_new_speaks() -> None:
    after = booking()
    inner = {"type": "TextBody", "text": "Only now"}
    children(after).append({"type": "If", "condition": "${data.x}", "then": [inner]})
    children(after, 1)[0].pop("else")
    first, second = outline(booking()), outline(after)
    found = Pairing(list(zip(first.screens, second.screens, strict=True)), first, second)
    new = [one for one in second.components if one not in found.before]
    assert [(one.type, found.tops(one)) for one in new] == [("If", True), ("TextBody", False)]
    gone = [one for one in first.components if one not in found.after]
    # its whole list is gone, which is told where the list stood
    assert [(one.pointer.split("/")[-2:], found.tops(one)) for one in gone] == [
        (["else", "0"], False)
    ]
