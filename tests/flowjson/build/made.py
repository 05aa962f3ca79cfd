"""Flows made at random: built ones from the table of components, and bent documents."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from chatkit.flowjson import Flow, Range, Screen
from chatkit.flowjson.build import CLASSES
from chatkit.flowjson.build.piece import Action, Block, Piece, attribute_name
from chatkit.flowjson.components import ACTIONS, COMPONENTS, Property, Shape

Strategy = st.SearchStrategy[Any]
ITEMS: dict[str, type[Piece]] = {
    name: made for name, made in CLASSES.items() if not issubclass(made, Block)
}

words = st.text(max_size=12) | st.sampled_from(
    ['a "b" c', "it's", "both ' and \"", "\\n", "`${x}`"]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
maps = st.dictionaries(words, json_values, max_size=3)
references = st.sampled_from(["${data.x}", "${screen.A.form.x}", "`${form.a} == 'b'`"])
KINDS: dict[str, Strategy] = {
    "boolean": st.booleans() | references,
    "integer": st.integers() | references,
    "number": st.integers() | st.floats(allow_nan=False) | references,
    "dates": st.lists(st.dates(), max_size=2) | references,
    "strings": st.lists(words, max_size=3),
    "reference": references,
    "map": maps,
    "range": st.builds(Range, words, words),
    "date": st.dates() | words,
}


def values(about: Property, depth: int) -> Strategy:
    """Make values of a property."""
    if about.enum:
        one = st.sampled_from(about.enum)
        return one if about.kind == "choice" else st.lists(one, max_size=3)
    if about.item:
        made = pieces(ITEMS[_title(about.item.name)], about.item, depth)
        return st.lists(made, max_size=3) if about.kind == "items" else made
    if about.kind == "action":
        return actions()
    if about.kind == "components":
        return st.lists(components(depth - 1), max_size=2)
    if about.kind == "cases":
        return st.dictionaries(words, st.lists(components(depth - 1), max_size=2), max_size=2)
    return KINDS.get(about.kind, words)


def _title(name: str) -> str:
    return name.title().replace(" ", "")


@cache
def _component(name: str, depth: int) -> Strategy:
    return pieces(Block.kinds[name], COMPONENTS[name], depth)


def pieces(made: type[Piece], shape: Shape, depth: int = 0) -> Strategy:
    """Make pieces of a class: all that is required, some of the rest."""
    own = [each for each in shape.properties if each.name not in made.constants]
    needed = {attribute_name(p.name): values(p, depth) for p in own if p.required}
    others = {attribute_name(p.name): values(p, depth) for p in own if not p.required}
    more = st.just({}) | st.dictionaries(words.filter(lambda key: key not in shape.by_name), maps)
    passed = st.fixed_dictionaries({**needed, "more": more}, optional=others)
    return passed.map(lambda fields: made(**fields))


@cache
def actions() -> Strategy:
    """Make actions."""
    made = [
        pieces(Action.kinds[name], shape) for name, shape in ACTIONS.items() if name != "navigate"
    ]
    return st.one_of(st.builds(Action.kinds["navigate"], words, maps | st.none()), *made)


@cache
def components(depth: int = 1) -> Strategy:
    """Make components, others inside of them to that depth."""
    names = [name for name, each in COMPONENTS.items() if depth > 0 or not each.children]
    return st.one_of([_component(name, depth) for name in names])


screens = st.builds(
    Screen,
    words,
    words,
    st.lists(components(), max_size=3),
    terminal=st.none() | st.booleans(),
    data=st.none() | maps,
)
flows = st.builds(
    Flow, st.lists(screens, max_size=3), version=st.sampled_from(["2.1", "4.0", "7.3", "x"])
)


@st.composite
def bent(draw: st.DrawFn, documents: list[Any]) -> Any:
    """Take a document and put something else in one or two of its places."""
    document = draw(st.sampled_from(documents))
    for _ in range(draw(st.integers(1, 2))):
        document = _bent(draw, document)
    return document


def _bent(draw: st.DrawFn, value: Any) -> Any:
    inner = value if isinstance(value, dict | list) and value else None
    if inner is None or (isinstance(inner, dict) and draw(st.integers(0, 9)) == 0):
        return draw(json_values)
    if isinstance(inner, list):
        place = draw(st.integers(0, len(inner) - 1))
        return [_bent(draw, each) if n == place else each for n, each in enumerate(inner)]
    key = draw(st.sampled_from(list(inner)))
    if draw(st.integers(0, 4)) == 0:
        return {other: each for other, each in inner.items() if other != key}
    return {other: _bent(draw, each) if other == key else each for other, each in inner.items()}
