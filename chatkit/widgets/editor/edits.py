"""Edits of a flow document as functions: each returns a changed copy."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from chatkit.errors import InputError
from chatkit.flowjson.pointer import at, changed, escape, item, steps, with_value_at


def child(pointer: str, key: str | int) -> str:
    """Write the pointer of a key or an item."""
    return f"{pointer}/{escape(key)}"


def same(a: Any, b: Any) -> bool:
    """Tell whether two values are written alike: 1 is not True, and the order of keys counts."""
    return a is b or repr(a) == repr(b)


# --- names: renamed, unused, copied --------------------------------------------------------

_NUMBERED = re.compile(r"_\d+$")
_MAPS = ("init-values", "error-messages")  #: keys of a Form that hold names of its inputs


def renamed(document: Any, pointer: str, name: str) -> Any:
    """Return the document with another name for what stands at a place.

    Raises:
        InputError: It has no name that could be changed, or the name is taken.
    """
    way = steps(pointer)
    thing = at(document, pointer)
    if len(way) == 2 and way[0] == "screens" and isinstance(thing, dict):
        return _screen(document, int(way[1]), thing.get("id"), name)
    if len(way) > 4 and isinstance(thing, dict) and way[-1].isdecimal() and "type" in thing:
        return _field(document, int(way[1]), way, thing.get("name"), name)
    if len(way) > 1 and way[-2] == "cases":
        return _put(document, way[:-1], lambda cases: _key(cases, way[-1], name))
    raise InputError(f"What stands at {pointer or 'the top'} has no name to change.")


def _screen(document: Any, index: int, old: object, new: str) -> Any:
    """Rename a screen: in routes, targets and references, if no other has its name."""
    screens = document["screens"]
    others = [one.get("id") for one in screens if isinstance(one, dict) and one.get("id") == old]
    document = _put(document, ["screens", str(index), "id"], lambda _: new)
    if not isinstance(old, str) or not old or len(others) > 1:
        return document
    told = re.compile(rf"(\$\{{screen\.){re.escape(old)}(?=[.}}])")

    def text(value: str) -> str:
        return told.sub(lambda found: found[1] + new, value)

    def target(key: str, value: Any) -> Any:
        if key == "next" and isinstance(value, dict) and value.get("name") == old:
            return {**value, "name": new}
        return value

    made = mapped(document, text, target)
    routes = made.get("routing_model")
    if isinstance(routes, dict) and (new not in routes or new == old):
        made["routing_model"] = {
            new if key == old else key: [new if one == old else one for one in some]
            if isinstance(some, list)
            else some
            for key, some in routes.items()
        }
    return made


def _field(document: Any, screen: int, way: list[str], old: object, new: str) -> Any:
    """Rename an input: in the references to it, from its own screen and from others."""
    document = _put(document, [*way, "name"], lambda _: new)
    if not isinstance(old, str) or not old:
        return document
    own = document["screens"][screen]
    if any(one.get("name") == old for one in objects_in(own) if "type" in one):
        return document  # another input has it too: nobody knows which is meant
    here = re.compile(rf"(\$\{{form\.){re.escape(old)}(?=[.}}])")

    def local(value: str) -> str:
        return here.sub(lambda found: found[1] + new, value)

    def maps(key: str, value: Any) -> Any:
        if key in _MAPS and isinstance(value, dict):
            return _key(value, old, new) if old in value and new not in value else value
        if key == "sensitive" and isinstance(value, list):
            return [new if one == old else one for one in value]
        return value

    made = _put(document, ["screens", str(screen)], lambda one: mapped(one, local, maps))
    if not isinstance(own.get("id"), str):
        return made
    there = re.compile(rf"(\$\{{screen\.{re.escape(own['id'])}\.form\.){re.escape(old)}(?=[.}}])")
    return mapped(made, lambda text: there.sub(lambda found: found[1] + new, text))


def _key(value: Any, old: str, new: str) -> Any:
    """Write a key of an object otherwise, in its place."""
    if new != old and new in value:
        raise InputError(f"There is a {new} already.")
    return {new if key == old else key: inner for key, inner in value.items()}


def mapped(
    value: Any,
    text: Callable[[str], str],
    item: Callable[[str, Any], Any] = lambda _, value: value,
) -> Any:
    """Copy a value with all its texts and all values of its keys changed."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, list):
        return [mapped(one, text, item) for one in value]
    if isinstance(value, dict):
        return {key: item(key, mapped(inner, text, item)) for key, inner in value.items()}
    return value


def _put(value: Any, way: list[str], change: Callable[[Any], Any]) -> Any:
    """Change what stands at the end of a way."""
    return changed(
        value,
        way[:-1],
        way[-1],
        lambda around, key: with_value_at(around, key, change(item(around, key, None))),
    )


def names_in(value: Any) -> list[str]:
    """List all ids and names of a document, of any shape."""
    held = (one.get(key) for one in objects_in(value) for key in ("id", "name"))
    return [name for name in held if isinstance(name, str)]


def objects_in(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects of a value, those outside before those within them."""
    waiting = deque([value])
    while waiting:
        one = waiting.popleft()
        if isinstance(one, dict):
            yield one
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def unused(name: str, taken: set[str], *, letters: bool = False) -> str:
    """Make a name that is not taken: with a number after it, or with letters alone."""
    stem, count = _NUMBERED.sub("", name) or name, 2
    made = name
    while made in taken:
        made = f"{stem}_{_letters(count) if letters else count}"
        count += 1
    taken.add(made)
    return made


def _letters(count: int) -> str:
    """Count in letters: B is the second, as ids of screens hold no digits."""
    text = ""
    while count:
        count, rest = divmod(count - 1, 26)
        text = chr(ord("A") + rest) + text
    return text


def copied(value: Any, document: Any) -> Any:
    """Copy a screen, component or option so that no id and no name stands twice."""
    return _copied(value, set(names_in(document)))


def _copied(value: Any, taken: set[str]) -> Any:
    if not isinstance(value, dict):
        return value
    made = dict(value)
    if isinstance(made.get("id"), str):
        made["id"] = unused(made["id"], taken, letters="layout" in made)
    elif isinstance(made.get("name"), str) and isinstance(made.get("type"), str):
        made["name"] = unused(made["name"], taken)
    if "layout" not in made:  # on a screen of their own the names of components may stay
        for key in ("children", "then", "else"):
            if isinstance(made.get(key), list):
                made[key] = [_copied(one, taken) for one in made[key]]
    return made
