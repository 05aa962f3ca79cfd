"""Checks an object against its shape: keys it may have, keys it must have, what they hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from chatkit.finding import Finding, Severity
from chatkit.flowjson.pointer import escape
from chatkit.flowjson.property import Kind, Property, Shape
from chatkit.flowjson.rules.value import CHECKS, close, fits, is_binding, length, wrong_type
from chatkit.flowjson.version import Version

_ENDS = ("start-date", "end-date")
_RANGE_HINT = 'Write {"start-date": …, "end-date": …}.'


class Around(NamedTuple):
    """What decides whether a property may stand where it stands."""

    version: Version
    in_form: bool = False
    range_mode: bool | None = None  # None: nobody knows before the flow runs


class _Plan(NamedTuple):
    """A shape as one version knows it."""

    known: dict[str, tuple[Property, tuple[Kind, ...]]]
    needed: tuple[Property, ...]


@cache
def _plan(shape: Shape, version: Version) -> _Plan:
    known = {p.name: (p, p.kinds(version)) for p in shape.properties if p.known(version)}
    return _Plan(known, tuple(p for p in shape.properties if p.needed(version)))


def check_shape(
    shape: Shape, value: dict[str, Any], pointer: str, around: Around
) -> Iterator[Finding]:
    """Check all keys of an object."""
    plan = _plan(shape, around.version)
    for prop in plan.needed:
        if prop.name not in value and prop.name != "type":
            said = f"{_called(shape)} needs {prop.name}."
            place = f"{pointer}/{prop.name}"
            yield Finding("MISSING_REQUIRED_PROPERTY", "error", place, said, prop.about)
    for key, inner in value.items():
        if key == "type" and key in plan.known:
            continue
        found = plan.known.get(key)
        place = f"{pointer}/{escape(str(key))}"
        if found is None:
            yield _unknown(shape, str(key), place, around.version)
            continue
        prop, kinds = found
        if prop.place != "anywhere" or prop.doubtful:
            refusal = _misplaced(shape, prop, place, around)
            if refusal is not None:
                yield refusal
                if refusal.severity == "error":
                    continue
        yield from check_value(prop, kinds, inner, place, around)


def check_value(
    prop: Property, kinds: tuple[Kind, ...], value: Any, pointer: str, around: Around
) -> Iterator[Finding]:
    """Check the value of a property: the first kind whose JSON type it has decides."""
    if isinstance(value, str) and prop.binding and is_binding(value) and kinds[0] != "choice":
        return
    for kind in kinds:
        if fits(kind, value):
            break
    else:
        yield from _wrong_kind(prop, kinds[0], value, pointer, around.version)
        return
    if around.range_mode and kind != "range" and "range" in kinds:
        said = f"{prop.name} takes start-date and end-date in range mode."
        severity: Severity = "error" if prop.part == "date" else "warning"  # sources disagree
        yield Finding("INVALID_TYPE", severity, pointer, said, _RANGE_HINT)
    check = CHECKS.get(kind)
    if check is not None:
        yield from check(prop, value, pointer, around.version)
    elif kind == "items":
        yield from _items(prop, value, pointer, around)
    elif kind == "object" and prop.item is not None:
        yield from check_shape(prop.item, value, pointer, around)
    elif kind == "range":
        yield from _range(prop, value, pointer, around)


def _wrong_kind(
    prop: Property, kind: Kind, value: Any, pointer: str, version: Version
) -> Iterator[Finding]:
    for found in wrong_type(prop, kind, value, pointer):
        later = next((str(v) for k, v in prop.also if v > version and fits(k, value)), "")
        hint = f'From version {later} it does: write "version": "{later}".' if later else found.hint
        yield replace(found, hint=hint)


def _called(shape: Shape) -> str:
    """Name a shape at the beginning of a sentence."""
    return shape.name if shape.name[0].isupper() else f"This {shape.name}"


def _items(prop: Property, value: list[Any], pointer: str, around: Around) -> Iterator[Finding]:
    yield from length(prop, value, pointer)
    if prop.item is None:
        return
    for index, each in enumerate(value):
        if isinstance(each, dict):
            yield from check_shape(prop.item, each, f"{pointer}/{index}", around)
        else:
            yield from wrong_type(prop, "object", each, f"{pointer}/{index}")


def _range(
    prop: Property, value: dict[str, Any], pointer: str, around: Around
) -> Iterator[Finding]:
    """Check an object of start-date and end-date, which only range mode knows."""
    if around.range_mode is False:
        said = f'{prop.name} takes start-date and end-date only with "mode": "range".'
        yield Finding("INVALID_TYPE", "error", pointer, said)
        return
    needed = _ENDS if prop.name in ("label", "init-value") else _ENDS[:1]
    for end in needed:
        if end not in value:
            said = f"{prop.name} has no {end}."
            code = "MISSING_CALENDAR_PICKER_RANGE_MODE_PROP"
            yield Finding(code, "error", pointer, said, f"Add {end}.")
    for key, inner in value.items():
        place = f"{pointer}/{escape(str(key))}"
        if key not in _ENDS:
            said = f"{prop.name} takes only start-date and end-date."
            yield Finding("UNEXPECTED_CALENDAR_PICKER_RANGE_MODE_PROP", "error", place, said)
        elif not is_binding(inner):
            if not fits(prop.part, inner):
                yield from wrong_type(prop, prop.part, inner, place)
            elif (check := CHECKS.get(prop.part)) is not None:
                yield from check(prop, inner, place, around.version)


def _unknown(shape: Shape, key: str, pointer: str, version: Version) -> Finding:
    prop = shape.property(key)
    if prop is None:
        known = tuple(p.name for p in shape.properties if p.known(version))
        said = f"{_called(shape)} has no {key[:60]}."
        return Finding("INVALID_PROPERTY_KEY", "error", pointer, said, close(key, known))
    if prop.until is not None and prop.until <= version:
        said = f"{key} is not known any more since version {prop.until}; this is {version}."
        return Finding("INVALID_PROPERTY_KEY", "error", pointer, said, "Remove it.")
    said = f"{key} is known from version {prop.since}; this is {version}."
    hint = f'Remove it, or write "version": "{prop.since}" or later.'
    return Finding("INVALID_PROPERTY_KEY", "error", pointer, said, hint)


def _misplaced(shape: Shape, prop: Property, pointer: str, around: Around) -> Finding | None:
    """Tell why a known property may not stand here."""
    if prop.doubtful:
        said = f"Whether {shape.name} knows {prop.name} is not certain."
        return Finding(
            "INVALID_PROPERTY_KEY", "warning", pointer, said, "Try it before you publish."
        )
    if prop.place == "outside Form" and around.in_form:
        said = f"{prop.name} stands on inputs outside a Form; this one is inside."
        hint = f"Put it into {prop.name}s of the Form."
        return Finding("INVALID_PROPERTY_KEY", "error", pointer, said, hint)
    if prop.place == "range mode" and around.range_mode is False:
        said = f'{prop.name} is known only with "mode": "range".'
        code = "INVALID_PROPERTY_NAME_FOR_CONDITION"
        return Finding(code, "error", pointer, said, "Remove it.")
    return None
