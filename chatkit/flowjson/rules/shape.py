"""Check objects against their shapes: required keys, unknown keys, and the value of each.

Then the rules between the properties of a component: bounds, captions, first values.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any, NamedTuple

from chatkit.flowjson.components import (
    COMPONENTS,
    JSON_TYPES,
    RECOMMENDED,
    STRICT,
    Kind,
    Property,
    Shape,
    Version,
)
from chatkit.flowjson.nodes import (
    ALIKE,
    ComponentNode,
    FlowNode,
    find_closest_name,
    find_possible_values,
    parse_reference,
    read_option_titles,
    suggest_id,
)
from chatkit.flowjson.rules import Patch, error, rule, warning
from chatkit.report import Finding, Severity
from chatkit.util.display import many
from chatkit.util.json import PatchOperation, escape_key, make_removal_patch, unescape_key

# --- one value ----------------------------------------------------------------------------

BINDING = re.compile(r"\s*(\$\{.*\}|`.*`)\s*", re.DOTALL)
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]*={0,2}\s*")
_LIKE_BASE64 = re.compile(r"[A-Za-z0-9+/=_.\-\s]*|data:image/[a-z+]+;base64,.*", re.DOTALL)
_COLOR = re.compile(r"#[0-9A-Fa-f]{6}")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://[^\s/]+\S*")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DAYS_SINCE = Version(5, 0)  # dates are YYYY-MM-DD from here on
#: The kinds of values that JSON writes without quotes, and what a quoted one can only mean.
_UNQUOTED: tuple[Kind, ...] = ("boolean", "integer", "number")
_FLAGS = {**dict.fromkeys(("true", "yes", "1"), True), **dict.fromkeys(("false", "no", "0"), False)}
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,15})(\.[0-9]{1,9})?")
#: Faults of a regular expression in every dialect, in the words of Python's own.
_FAULTS = ("unterminated", "unbalanced", "nothing to repeat", "multiple repeat", "bad escape (end")

_KIND_WORDS: dict[Kind, str] = {
    "dates": "a list of days",
    "choices": "a list",
    "strings": "a list of texts",
    "items": "a list of objects",
    "components": "a list of components",
    "object": "an object",
    "map": "an object",
    "range": "an object",
    "action": "an object",
    "cases": "an object of lists",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
}
_TYPE_WORDS = {str: "text", bool: "true or false", int: "a number", float: "a number"}
_TYPE_WORDS |= {list: "a list", dict: "an object", type(None): "null"}


def describe_type(value: object) -> str:
    """Return the JSON type of a value in words."""
    return _TYPE_WORDS.get(type(value), type(value).__name__)


def is_binding(value: object) -> bool:
    """Return whether a value is one ${…} or one expression, and nothing else."""
    return isinstance(value, str) and BINDING.fullmatch(value) is not None


def has_binding(text: str) -> bool:
    """Return whether a text holds a ${…} or an expression."""
    return "${" in text or "`" in text


def suggest_word(word: str, known: Collection[str]) -> str:
    """Return a hint: the known word similar to a word, or a list of the known ones."""
    if like := find_closest_name(word, known):
        return f"Did you mean {like}?"
    return f"Use one of {', '.join(known)}." if 0 < len(known) <= 24 else ""


def patch_spelling(pointer: str, word: str, known: Iterable[str]) -> Patch:
    """Return the patch that replaces a word by a known one, if one is very similar."""
    like = find_closest_name(word, known, ALIKE)
    return (PatchOperation("replace", pointer, like),) if like else ()


def mend_word(
    pointer: str, word: str, known: Collection[str], otherwise: str = ""
) -> tuple[str, Patch]:
    """Return the hint and the patch for a word that should be a known one.

    Without a very similar one the hint is `otherwise`, if there is that.
    """
    patch = patch_spelling(pointer, word, known)
    return (suggest_word(word, known) if patch or not otherwise else otherwise), patch


def patch_key(pointer: str, value: Mapping[str, Any], known: Iterable[str]) -> Patch:
    """Return the patch that renames a key to a known one, if one is very similar and free."""
    parent, _, last = pointer.rpartition("/")
    like = find_closest_name(unescape_key(last), known, ALIKE)
    if not like or like in value:
        return ()
    return (PatchOperation("move", f"{parent}/{escape_key(like)}", pointer),)


Check = Callable[[Property, Any, str, Version], Iterator[Finding]]


_PYTHON_TYPES: dict[str, type | tuple[type, ...]] = {
    "number": (int, float), "array": list, "object": dict, "string": str,
}  # fmt: skip


def is_of_kind(kind: Kind, value: object) -> bool:
    """Return whether a value has the JSON type of a kind."""
    expected = JSON_TYPES.get(kind, "string")
    if expected == "boolean" or isinstance(value, bool):
        return expected == "boolean" and isinstance(value, bool)
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _PYTHON_TYPES[expected])


def report_wrong_type(prop: Property, kind: Kind, value: object, pointer: str) -> Iterator[Finding]:
    """Report a value of a wrong type; a quoted flag or number is unquoted by the patch."""
    words = _KIND_WORDS.get(kind, "text")
    message = f"{prop.name} takes {words}, not {describe_type(value)}."
    hint = ""
    patch: Patch = ()
    # of a text with a binding the rules of `reference` report more
    if kind in _UNQUOTED and isinstance(value, str) and not has_binding(value):
        hint = f"Write {words}, without quotes."
        meant: Any = _FLAGS.get(value.lower())
        if kind != "boolean":
            meant = json.loads(value) if _NUMBER.fullmatch(value) else None
        if is_of_kind(kind, meant):
            patch = (PatchOperation("replace", pointer, meant),)
    yield error("INVALID_PROPERTY_TYPE", pointer, message, hint, patch)


def _check_text(prop: Property, value: str, pointer: str, version: Version) -> Iterator[Finding]:
    """Check a text for people: not blank, not longer than documented."""
    if not value.strip():
        if prop.not_blank is not None and prop.not_blank <= version:
            choice = "" if prop.is_required(version) else f" or leave {prop.name} out"
            hint = f"Write a text{choice}."
            yield error("PATTERN_MISMATCH", pointer, f"{prop.name} is blank.", hint)
    else:
        yield from _check_text_length(prop, value, pointer, version)


def _check_text_length(
    prop: Property, value: str, pointer: str, version: Version
) -> Iterator[Finding]:
    """Check that a text is not longer than documented."""
    if prop.length is not None and len(value) > prop.length and not has_binding(value):
        message = f"{prop.name} has {len(value)} characters; {prop.length} are documented."
        hint = "Shorten it: the rest may not be shown."
        yield warning("TEXT_LONGER_THAN_DOCUMENTED", pointer, message, hint)


def _check_name(prop: Property, value: str, pointer: str, version: Version) -> Iterator[Finding]:
    """Check a name: from 6.0 it stands as it is and is not blank."""
    if version >= STRICT and (not value.strip() or has_binding(value)):
        what = "blank" if not value.strip() else "not fixed"
        message = f"{prop.name} is {what}: it takes text as it stands."
        yield error("PATTERN_MISMATCH", pointer, message, "Write a name without ${…}.")


def _check_number(
    prop: Property, value: float, pointer: str, version: Version
) -> Iterator[Finding]:
    """Check that a number is within its bounds."""
    if prop.low is not None and value < prop.low:
        message = f"{prop.name} is {value}; {prop.low:g} is the least."
        yield error("MINIMUM_VALUE_REQUIRED", pointer, message)
    if prop.high is not None and value > prop.high:
        message = f"{prop.name} is {value}; {prop.high:g} is the most."
        yield error("MAXIMUM_VALUE_REQUIRED", pointer, message)


def parse_day(value: object) -> date | None:
    """Parse a date written YYYY-MM-DD; None for any other value."""
    if not isinstance(value, str) or not _DAY.fullmatch(value):
        return None
    try:
        return date.fromisoformat(value)
    except ValueError:
        return None


def _check_date(prop: Property, value: str, pointer: str, version: Version) -> Iterator[Finding]:
    """Check a date: a day from 5.0, milliseconds as text before."""
    if is_binding(value):
        return
    if version < _DAYS_SINCE:
        if not value.isdecimal():
            message = f"{prop.name} takes milliseconds since 1970 as text before version 5.0."
            yield warning("INVALID_DATE_RANGE", pointer, message)
        return
    if parse_day(value) is None:
        message = f"{prop.name} takes a day like 2026-12-31, not {value[:40]!r}."
        first = prop.name == "init-value" and prop.part == "date"
        code = "INVALID_DATE_SINGLE_INIT_VALUE_FORMAT" if first else "INVALID_DATE_RANGE"
        report = warning if _DAY.fullmatch(value) else error  # of 2026-02-30 only the form counts
        yield report(code, pointer, message)


def _check_image(prop: Property, value: str, pointer: str, version: Version) -> Iterator[Finding]:
    """Check an image: base64, and not larger than it may be."""
    if is_binding(value):
        return
    if not value.strip() and version >= STRICT:
        yield from _check_text(prop, value, pointer, version)
        return
    if not value.strip() or not _BASE64.fullmatch(value):
        message = f"{prop.name} is not base64."
        hint = "Put the picture itself here, JPEG or PNG in base64, without an address or prefix."
        report = warning if _LIKE_BASE64.fullmatch(value) else error
        yield report("INVALID_PROPERTY_VALUE_FORMAT", pointer, message, hint)
    sizes = [size for since, size in prop.kilobytes if since <= version]
    size = len(value) * 3 // 4096
    if sizes and size > sizes[-1]:
        message = f"{prop.name} holds about {size} KB; {sizes[-1]} KB are documented."
        yield warning("IMAGE_TOO_LARGE", pointer, message, "Use a smaller picture.")


def _check_url(prop: Property, value: str, pointer: str, version: Version) -> Iterator[Finding]:
    """Check an address."""
    if not _URL.fullmatch(value):
        message = f"{prop.name} is not a web address."
        hint = "Write it in full: https://…"
        yield error("INVALID_PROPERTY_VALUE_FORMAT", pointer, message, hint)


def _check_regex(prop: Property, value: str, pointer: str, version: Version) -> Iterator[Finding]:
    """Check a regular expression, as far as the dialects agree."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(value)
    except (re.error, OverflowError, RecursionError) as exception:
        message = f"{prop.name} is not a regular expression: {exception}."
        report = error if any(words in str(exception) for words in _FAULTS) else warning
        yield report("INVALID_PROPERTY_VALUE_FORMAT", pointer, message)


def _check_color(prop: Property, value: str, pointer: str, version: Version) -> Iterator[Finding]:
    """Check a colour."""
    if not is_binding(value) and not _COLOR.fullmatch(value):
        message = f"{prop.name} takes a colour like #1A2B3C, not {value[:40]!r}."
        yield error("PATTERN_MISMATCH", pointer, message)


def _check_choice(prop: Property, value: str, pointer: str, version: Version) -> Iterator[Finding]:
    """Check that a value is one of those allowed."""
    # before 6.0 backticks are only text
    bound = prop.binding and is_binding(value) and (version >= STRICT or "${" in value)
    if value not in prop.enum and not bound:
        message = f"{prop.name} is {value[:40]!r}, which is not one of its values."
        yield error("INVALID_ENUM_VALUE", pointer, message, *mend_word(pointer, value, prop.enum))


def _check_each_text(
    check: Check, prop: Property, value: list[Any], pointer: str, version: Version
) -> Iterator[Finding]:
    """Check the number of texts in a list, and each of them."""
    yield from _check_length(prop, value, pointer)
    for index, each in enumerate(value):
        if isinstance(each, str):
            yield from check(prop, each, f"{pointer}/{index}", version)
        else:
            yield from report_wrong_type(prop, "text", each, f"{pointer}/{index}")


def _check_length(prop: Property, value: list[Any], pointer: str) -> Iterator[Finding]:
    """Check the number of items in a list."""
    count = len(value)
    severity: Severity = "error"
    if prop.least is not None and count < prop.least:
        code, bound = "MIN_ITEMS_REQUIRED", f"it needs at least {prop.least}"
    elif prop.most is not None and count > prop.most:
        code, bound = "MAX_ITEMS_REQUIRED", f"it takes at most {prop.most}"
    elif prop.advised_least is not None and count < prop.advised_least:
        code, bound = "MIN_ITEMS_REQUIRED", f"at least {prop.advised_least} are documented"
        severity = "warning"
    elif prop.advised is not None and count > prop.advised:
        code, bound = "MAX_ITEMS_REQUIRED", f"at most {prop.advised} are documented"
        severity = "warning"
    else:
        return
    yield Finding(code, severity, pointer, f"{prop.name} has {many(count, 'item')}; {bound}.")


def _check_components(
    prop: Property, value: list[Any], pointer: str, version: Version
) -> Iterator[Finding]:
    """Check that a list of components is not empty where it must not be."""
    if prop.least is not None and len(value) < prop.least:
        message = f"{prop.name} holds no component."
        yield error("INVALID_PROPERTY_VALUE", pointer, message, "Add one.")


def _check_cases(
    prop: Property, value: dict[str, Any], pointer: str, version: Version
) -> Iterator[Finding]:
    """Check the cases of a Switch: their names, and that each holds a list."""
    if not value:
        yield error("INVALID_PROPERTY_VALUE", pointer, "A Switch needs at least one case.")
    for case, inner in value.items():
        inner_pointer = f"{pointer}/{escape_key(str(case))}"
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_\-]*", str(case)):
            message = f"The case {str(case)[:40]!r} needs a name of letters, digits, - and _."
            yield error("PROPERTY_NAME_MISMATCH", inner_pointer, message, "Begin it with a letter.")
        if not isinstance(inner, list):
            yield from report_wrong_type(prop, "components", inner, inner_pointer)


#: The check of each kind, for a value of its JSON type.
CHECKS: dict[Kind, Check] = {
    "text": _check_text,
    "name": _check_name,
    "integer": _check_number,
    "number": _check_number,
    "date": _check_date,
    "dates": partial(_check_each_text, _check_date),
    "base64": _check_image,
    "url": _check_url,
    "regex": _check_regex,
    "color": _check_color,
    "choice": _check_choice,
    "choices": partial(_check_each_text, _check_choice),
    "strings": partial(_check_each_text, _check_text_length),
    "components": _check_components,
    "cases": _check_cases,
}


# --- an object ----------------------------------------------------------------------------

_RANGE_KEYS = ("start-date", "end-date")
_RANGE_HINT = 'Write {"start-date": …, "end-date": …}.'


class Context(NamedTuple):
    """The version and the surroundings by which a property is checked."""

    version: Version
    in_form: bool = False
    range_mode: bool | None = None  # None: a binding decides


def is_in_range_mode(component: ComponentNode) -> bool | None:
    """Return whether a component picks a range of days; None if a binding decides."""
    mode = component.value.get("mode")
    return None if is_binding(mode) else mode == "range"


def check_shape(
    shape: Shape, value: dict[str, Any], pointer: str, context: Context
) -> Iterator[Finding]:
    """Check all keys of an object."""
    version = context.version
    for prop in shape.properties:
        if prop.is_required(version) and prop.name not in value and prop.name != "type":
            message = f"{_format_shape_label(shape)} needs {prop.name}."
            yield error("MISSING_REQUIRED_PROPERTY", f"{pointer}/{prop.name}", message, prop.about)
    taken = dict(value)  # and the names to which misspelled keys are corrected
    for key, inner in value.items():
        known = shape.property(key)
        if known is None or not known.is_known(version):
            inner_pointer = f"{pointer}/{escape_key(key)}"
            finding = _report_unknown_key(shape, str(key), taken, inner_pointer, version)
            taken |= {op.path.rpartition("/")[2]: None for op in finding.patch if op.op == "move"}
            yield finding
            continue
        if key == "type":
            continue
        inner_pointer = f"{pointer}/{key}"
        refusal = _check_place(shape, known, inner_pointer, context)
        if refusal is not None:
            yield refusal
            if refusal.severity == "error":
                continue
        yield from check_value(known, known.kinds(version), inner, inner_pointer, context)


def check_value(
    prop: Property, kinds: tuple[Kind, ...], value: Any, pointer: str, context: Context
) -> Iterator[Finding]:
    """Check the value of a property, as the first of its kinds that is of its JSON type."""
    if isinstance(value, str) and prop.binding and is_binding(value) and kinds[0] != "choice":
        return
    for kind in kinds:
        if is_of_kind(kind, value):
            break
    else:
        yield from _report_wrong_kind(prop, kinds[0], value, pointer, context.version)
        return
    if context.range_mode and kind != "range" and "range" in kinds:
        message = f"{prop.name} takes start-date and end-date in range mode."
        severity: Severity = "error" if prop.part == "date" else "warning"  # sources disagree
        yield Finding("INVALID_TYPE", severity, pointer, message, _RANGE_HINT)
    check = CHECKS.get(kind)
    if check is not None:
        yield from check(prop, value, pointer, context.version)
    elif kind == "items":
        yield from _check_items(prop, value, pointer, context)
    elif kind == "object" and prop.item is not None:
        yield from check_shape(prop.item, value, pointer, context)
    elif kind == "range":
        yield from _check_range(prop, value, pointer, context)


def _report_wrong_kind(
    prop: Property, kind: Kind, value: Any, pointer: str, version: Version
) -> Iterator[Finding]:
    for finding in report_wrong_type(prop, kind, value, pointer):
        later = [since for k, since in prop.other_kinds if since > version and is_of_kind(k, value)]
        if later:
            hint = f'From version {later[0]} it does: write "version": "{later[0]}".'
            finding = replace(finding, hint=hint)
        yield finding


def _format_shape_label(shape: Shape) -> str:
    """Return the name of a shape for the beginning of a sentence."""
    return shape.name if shape.name[0].isupper() else f"This {shape.name}"


def _check_items(
    prop: Property, value: list[Any], pointer: str, context: Context
) -> Iterator[Finding]:
    yield from _check_length(prop, value, pointer)
    if prop.item is None:
        return
    for index, each in enumerate(value):
        if isinstance(each, dict):
            yield from check_shape(prop.item, each, f"{pointer}/{index}", context)
        else:
            yield from report_wrong_type(prop, "object", each, f"{pointer}/{index}")


def _check_range(
    prop: Property, value: dict[str, Any], pointer: str, context: Context
) -> Iterator[Finding]:
    """Check an object of start-date and end-date, which only range mode knows."""
    if context.range_mode is False:
        message = f'{prop.name} takes start-date and end-date only with "mode": "range".'
        yield error("INVALID_TYPE", pointer, message)
        return
    needed = _RANGE_KEYS if prop.name in ("label", "init-value") else _RANGE_KEYS[:1]
    for end in needed:
        if end not in value:
            message = f"{prop.name} has no {end}."
            yield error("MISSING_CALENDAR_PICKER_RANGE_MODE_PROP", pointer, message, f"Add {end}.")
    for key, inner in value.items():
        inner_pointer = f"{pointer}/{escape_key(str(key))}"
        if key not in _RANGE_KEYS:
            message = f"{prop.name} takes only start-date and end-date."
            yield error("UNEXPECTED_CALENDAR_PICKER_RANGE_MODE_PROP", inner_pointer, message)
        elif not is_binding(inner):
            if not is_of_kind(prop.part, inner):
                yield from report_wrong_type(prop, prop.part, inner, inner_pointer)
            elif (check := CHECKS.get(prop.part)) is not None:
                yield from check(prop, inner, inner_pointer, context.version)


def _report_unknown_key(
    shape: Shape, key: str, taken: Mapping[str, Any], pointer: str, version: Version
) -> Finding:
    prop = shape.property(key)
    if prop is None:
        known = tuple(p.name for p in shape.properties if p.is_known(version))
        message = f"{_format_shape_label(shape)} has no {key[:60]}."
        hint, patch = suggest_word(key, known), patch_key(pointer, taken, known)
        return error("INVALID_PROPERTY_KEY", pointer, message, hint, patch)
    if prop.until is not None and prop.until <= version:
        message = f"{key} is not known any more since version {prop.until}; this is {version}."
        patch = make_removal_patch(pointer)
        return error("INVALID_PROPERTY_KEY", pointer, message, "Remove it.", patch)
    message = f"{key} is known from version {prop.since}; this is {version}."
    hint = f'Remove it, or write "version": "{max(prop.since, RECOMMENDED)}".'
    return error("INVALID_PROPERTY_KEY", pointer, message, hint)


def _check_place(shape: Shape, prop: Property, pointer: str, context: Context) -> Finding | None:
    """Return the finding of a property that may not stand in its place, or None."""
    if prop.doubtful:
        message = f"Whether {shape.name} knows {prop.name} is not certain."
        return warning("INVALID_PROPERTY_KEY", pointer, message, "Try it before you publish.")
    if prop.place == "outside Form" and context.in_form:
        message = f"{prop.name} stands on inputs outside a Form; this one is inside."
        hint = f"Put it into {prop.name}s of the Form."
        return error("INVALID_PROPERTY_KEY", pointer, message, hint)
    if prop.place == "range mode" and context.range_mode is False:
        message = f'{prop.name} is known only with "mode": "range".'
        code = "INVALID_PROPERTY_NAME_FOR_CONDITION"
        return error(code, pointer, message, "Remove it.", make_removal_patch(pointer))
    return None


# --- between the properties of one component --------------------------------------------------

_TYPED_SINCE = Version(7, 0)  # from here init-values are checked against the fields
_PATTERN_TYPES = ("text", "number", "password", "passcode")
_MOST_WITH_PICTURES = 100
_MOST_CHARS = 80  # of a TextInput that does not state more
_BOUNDS = (
    ("min-chars", "max-chars"),
    ("min-selected-items", "max-selected-items"),
    ("min-uploaded-photos", "max-uploaded-photos"),
    ("min-uploaded-documents", "max-uploaded-documents"),
)


def _read_number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value


@rule("component")
def check_bounds(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check that a minimum is not above its maximum, nor above the number of options."""
    value, pointer, code = component.value, component.pointer, "MIN_VALUE_GREATER_THAN_MAX"
    for least, most in _BOUNDS:
        low, high = _read_number(value.get(least)), _read_number(value.get(most))
        if low is not None and high is not None and low > high:
            yield error(code, pointer, f"{least} is {low}, above {most}, {high}.", "Swap them.")
    least, low = "min-selected-items", _read_number(value.get("min-selected-items")) or 0
    source, high = value.get("data-source"), _read_number(value.get("max-selected-items"))
    if isinstance(source, list) and (high is None or low <= high):
        disabled = sum(isinstance(each, dict) and each.get("enabled") is False for each in source)
        if low > len(source) - disabled:
            message = f"{least} is {low}; {many(len(source) - disabled, 'option')} can be chosen."
            hint = f"Nobody can answer this: lower {least}, or add options."
            yield warning(code, f"{pointer}/{least}", message, hint)
    low = _read_number(value.get("min-chars")) or 0
    if low > _MOST_CHARS and "max-chars" not in value:
        message = f"min-chars is {low}; without max-chars at most {_MOST_CHARS} can be written."
        yield warning(code, f"{pointer}/min-chars", message, "Add max-chars.")


@rule("component")
def check_initial_choice(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check that init-value names the ids of options."""
    ids, pointer = read_option_titles(component), f"{component.pointer}/init-value"
    values, form = component.value.get("init-value"), component.form
    if form is not None and component.name is not None:
        of_all = form.value.get("init-values")
        pointer = f"{form.pointer}/init-values/{escape_key(component.name)}"
        values = of_all.get(component.name) if isinstance(of_all, dict) else None
    places = [(pointer, values)]
    if isinstance(values, list):
        places = [(f"{pointer}/{n}", each) for n, each in enumerate(values)]
    for value_pointer, value in places:
        if ids and isinstance(value, str) and value and value not in ids and not has_binding(value):
            message = f"{value[:60]!r} is not the id of an option: nothing is chosen at first."
            yield warning("INVALID_PROPERTY_VALUE", value_pointer, message, suggest_id(value, ids))


@rule("Switch")
def check_switch_cases(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check that the cases of a Switch are values that its reference can have."""
    switched, cases = component.value.get("value"), component.value.get("cases")
    reference = parse_reference(switched) if isinstance(switched, str) else None
    ids = find_possible_values(flow, component.screen, reference) if reference else {}
    for case in cases if ids and isinstance(cases, dict) else ():
        if case not in ids and case != "default":
            message = f"{switched} is never {case[:60]!r}: this case is never shown."
            pointer = f"{component.pointer}/cases/{escape_key(case)}"
            yield warning("INVALID_PROPERTY_VALUE", pointer, message, suggest_id(case, ids))


@rule("TextInput")
def check_text_input(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check the properties that go with a pattern."""
    value, pointer = component.value, component.pointer
    if "pattern" not in value or flow.version < (6, 2):
        return
    if "helper-text" not in value:
        message = "pattern goes with helper-text: a person must know what is asked for."
        yield warning("INVALID_DEPENDENCIES", pointer, message, "Add helper-text.")
    kind = value.get("input-type", "text")
    if isinstance(kind, str) and not is_binding(kind) and kind not in _PATTERN_TYPES:
        message = f"pattern does not go with input-type {kind[:40]!r}."
        hint = f"Use {', '.join(_PATTERN_TYPES)}, or remove pattern."
        yield error("INVALID_ENUM_VALUE", f"{pointer}/input-type", message, hint)


@rule("CheckboxGroup", "RadioButtonsGroup", "Dropdown", "ChipsSelector")
def check_options(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check the options of a list: pictures or colours, ids, how many with pictures."""
    source = component.value.get("data-source")
    if not isinstance(source, list):
        return
    pointer = f"{component.pointer}/data-source"
    options = [each for each in source if isinstance(each, dict)]
    pictures = sum("image" in each for each in options)
    if pictures and any("color" in each for each in options):
        message = "Some options have an image, others a color."
        code = "DATA_SOURCE_ITEMS_HAVE_BOTH_IMAGE_AND_COLOR"
        yield error(code, pointer, message, "Use one of both for all.")
    if component.type == "Dropdown" and pictures and len(options) > _MOST_WITH_PICTURES:
        message = f"{len(options)} options with pictures; {_MOST_WITH_PICTURES} are documented."
        yield warning("MAX_ITEMS_REQUIRED", pointer, message)
    known_ids: set[str] = set()
    for index, each in enumerate(source):
        id = each.get("id") if isinstance(each, dict) else None
        if isinstance(id, str):
            if id in known_ids and not has_binding(id):
                message = f"There is an option {id[:60]!r} already: answers cannot be told apart."
                yield warning("DUPLICATE_OPTION_IDS", f"{pointer}/{index}/id", message)
            known_ids.add(id)


@rule("Footer")
def check_captions(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check the combination of captions."""
    value, pointer = component.value, component.pointer
    left, center, right = (f"{place}-caption" in value for place in ("left", "center", "right"))
    if left != right:
        present, missing = ("left", "right") if left else ("right", "left")
        message = f"{present}-caption comes together with {missing}-caption."
        yield error("INVALID_DEPENDENCIES", pointer, message, f"Add {missing}-caption.")
    if center and (left or right):
        message = "center-caption stands without left-caption and right-caption."
        code = "NOT_KEYWORD_SCHEMA_VALIDATION_FAILED"
        yield error(code, pointer, message, "Remove one or the others.")


# --- days -------------------------------------------------------------------------------


def _find_dates(value: object) -> Iterator[tuple[str, date]]:
    """Yield the dates in a value, each with its pointer below it."""
    if isinstance(value, list):
        parts = [(f"/{index}", each) for index, each in enumerate(value)]
    elif isinstance(value, dict):
        parts = [(f"/{escape_key(str(key))}", each) for key, each in value.items()]
    else:
        parts = [("", value)]
    for inner_pointer, each in parts:
        day = parse_day(each)
        if day is not None:
            yield inner_pointer, day


def _report_swapped(
    code: str, pointer: str, keys: Iterable[str], message: str
) -> Iterator[Finding]:
    """Report a minimum above its maximum, at each of these properties."""
    return (error(code, f"{pointer}/{key}", message, "Swap them.") for key in keys)


@rule("DatePicker", "CalendarPicker")
def check_date_bounds(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check that dates are within their bounds."""
    value, pointer = component.value, component.pointer
    first, last = parse_day(value.get("min-date")), parse_day(value.get("max-date"))
    if first is not None and last is not None and first > last:
        message = f"min-date {first} is after max-date {last}."
        yield from _report_swapped("INVALID_DATE_RANGE", pointer, ("min-date", "max-date"), message)
        return
    for key in ("init-value", "unavailable-dates"):
        for inner_pointer, day in _find_dates(value.get(key)):
            if (first is not None and day < first) or (last is not None and day > last):
                message = f"{day} is not between min-date and max-date."
                yield error("INVALID_DATE_RANGE", f"{pointer}/{key}{inner_pointer}", message)


@rule("CalendarPicker")
def check_date_range(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check the number of days and the order of the two dates of a range."""
    value, pointer = component.value, component.pointer
    least, most = _read_number(value.get("min-days")), _read_number(value.get("max-days"))
    if least is not None and most is not None and least > most:
        message = f"min-days is {least}, above max-days, {most}."
        yield from _report_swapped(
            "INVALID_MIN_MAX_DAYS", pointer, ("min-days", "max-days"), message
        )
    ends = value.get("init-value")
    if isinstance(ends, dict):
        start, end = parse_day(ends.get("start-date")), parse_day(ends.get("end-date"))
        if start is not None and end is not None and start > end:
            message = f"start-date {start} is after end-date {end}."
            yield from _report_swapped("INVALID_DATE_RANGE", pointer, ("init-value",), message)


# --- Form and NavigationList --------------------------------------------------------------


def _find_form_inputs(form: ComponentNode) -> dict[str, ComponentNode]:
    """Return the inputs in a Form by their names; the first one of each name."""
    return {
        each.name: each
        for each in reversed(form.screen.components)
        if each.form is form and each.shape is not None and each.shape.is_input and each.name
    }


@rule("Form")
def check_form_keys(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Find misspelled names of inputs in the init-values and error-messages of a Form."""
    fields = _find_form_inputs(component)
    for key in ("init-values", "error-messages"):
        values = component.value.get(key)
        is_error = key == "init-values" and flow.version >= _TYPED_SINCE
        for name in values if isinstance(values, dict) else ():
            pointer = f"{component.pointer}/{key}/{escape_key(str(name))}"
            if str(name) not in fields and (patch := patch_key(pointer, values or {}, fields)):
                message = f"The Form has no input {str(name)[:60]!r}."
                report, hint = error if is_error else warning, suggest_word(str(name), fields)
                yield report("INVALID_PROPERTY_VALUE", pointer, message, hint, patch)


@rule("Form")
def check_init_values(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check that init-values are of inputs in the Form, and of their types."""
    fields, values = _find_form_inputs(component), component.value.get("init-values")
    wrong: list[str] = []
    for name, value in values.items() if isinstance(values, dict) else ():
        pointer = f"{component.pointer}/init-values/{escape_key(str(name))}"
        field = fields.get(str(name))
        if field is None:
            wrong.append(f"the Form has no input {str(name)[:60]!r}")
        elif COMPONENTS[field.type or ""].group == "media input":
            code, message = "NATIVE_COMPONENT_IN_FORM_INIT_VALUES", "takes no first value."
            patch = make_removal_patch(pointer)
            yield error(code, pointer, f"{field.type} {message}", "Remove it.", patch)
        elif not _is_init_value(field, value, flow.version):
            kind = describe_type(value)
            wrong.append(f"{str(name)[:60]!r} is {kind}, which {field.type} does not take")
        elif field.type == "CalendarPicker":
            prop = COMPONENTS["CalendarPicker"].by_name["init-value"]
            context = Context(flow.version, range_mode=is_in_range_mode(field))
            yield from check_value(prop, prop.kinds(flow.version), value, pointer, context)
    if wrong:  # the platform tells it of all of them together, at init-values
        pointer, message = f"{component.pointer}/init-values", f"{'; '.join(wrong)}."
        message = message[0].upper() + message[1:]
        report = error if flow.version >= _TYPED_SINCE else warning
        yield report("INVALID_PROPERTY_VALUE", pointer, message, "Check names and values.")


def _is_init_value(field: ComponentNode, value: Any, version: Version) -> bool:
    """Return whether an input takes a value of this type as its first one."""
    prop = COMPONENTS[field.type or ""].by_name["init-value"]
    if isinstance(value, str) and has_binding(value):
        return True
    if field.type == "TextInput" and field.value.get("input-type") in ("number", "passcode"):
        return is_of_kind("number", value) or is_of_kind("text", value)
    return any(is_of_kind(kind, value) for kind in prop.kinds(version))


@rule("ImageCarousel")
def check_carousel_images(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Report too many pictures a second time, by the code of the platform's own checker."""
    images = component.value.get("images")
    most = COMPONENTS["ImageCarousel"].by_name["images"].most or 0
    if isinstance(images, list) and len(images) > most:
        message = f"An ImageCarousel shows at most {most} pictures."
        pointer = f"{component.pointer}/images"
        yield error("INVALID_PROPERTY_VALUE", pointer, message, "Remove some.")


@rule("NavigationList")
def check_item_actions(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check that on-click-action stands on the list, or on every item."""
    pointer, items = component.pointer, _list_items(component)
    own = [item_pointer for item_pointer, item in items if "on-click-action" in item]
    if "on-click-action" in component.value:
        message = "on-click-action stands on the list and on its items."
        code = "DUPLICATE_PROPETY_FOR_CONDITION"
        for place in (pointer, *own) if own else ():
            hint = "Keep it in one of both places."
            yield error(code, f"{place}/on-click-action", message, hint)
    elif len(own) < len(items):
        without = [item_pointer for item_pointer, _ in items if item_pointer not in own]
        place = f"{without[0] if own else pointer}/on-click-action"
        message = "on-click-action stands on the list, or on every item."
        yield error("MISSING_REQUIRED_PROPERTY", place, message, "Add it.")


@rule("NavigationList")
def check_list_items(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check the badges and the ends of the items of a NavigationList."""
    pointer, items = component.pointer, _list_items(component)
    badges = [item_pointer for item_pointer, item in items if "badge" in item]
    if len(badges) > 1:
        hint = f"Keep that of {badges[0].removeprefix(f'{pointer}/')}."
        message = f"{len(badges)} items have a badge; one may."
        yield error("MAX_ITEMS_REQUIRED", pointer, message, hint)
    ends = [(item_pointer, item["end"]) for item_pointer, item in items if "end" in item]
    if ends and component.value.get("media-size") == "large":
        message = "media-size large leaves no space for the end of an item."
        code = "INVALID_PROPERTY_VALUE_FOR_CONDITION"
        yield error(code, pointer, message, "Use regular, or remove end.")
    for item_pointer, end in ends:
        if isinstance(end, dict) and not 1 <= len(end) <= 2:
            message = "end holds one or two of title, description and metadata."
            yield error("DUPLICATE_PROPETY_FOR_CONDITION", f"{item_pointer}/end", message)


def _list_items(component: ComponentNode) -> list[tuple[str, dict[str, Any]]]:
    """Return the items of a NavigationList that are objects, with their pointers."""
    items = component.value.get("list-items")
    return [
        (f"{component.pointer}/list-items/{index}", item)
        for index, item in enumerate(items if isinstance(items, list) else ())
        if isinstance(item, dict)
    ]
