"""Rules between the properties of one component: bounds, captions, days, first values."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from chatkit.flowjson.components import COMPONENTS, Version
from chatkit.flowjson.nodes import (
    ComponentNode,
    FlowNode,
    id_hint,
    options,
    possible_values,
    whole,
)
from chatkit.flowjson.rules import error, rule, warning
from chatkit.flowjson.rules.shape import (
    Around,
    check_value,
    close,
    day,
    fits,
    has_binding,
    is_binding,
    named,
    renamed,
)
from chatkit.report import Finding
from chatkit.util.display import many
from chatkit.util.json import escape, removing

_TYPED = Version(7, 0)  # from here init-values are checked against the fields
_PATTERN_TYPES = ("text", "number", "password", "passcode")
_MOST_WITH_PICTURES = 100
_MOST_CHARS = 80  # of a TextInput that does not state more
_BOUNDS = (
    ("min-chars", "max-chars"),
    ("min-selected-items", "max-selected-items"),
    ("min-uploaded-photos", "max-uploaded-photos"),
    ("min-uploaded-documents", "max-uploaded-documents"),
)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value


@rule("component")
def check_bounds(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check that the least is not above the most, nor above what there is."""
    value, at, code = component.value, component.pointer, "MIN_VALUE_GREATER_THAN_MAX"
    for least, most in _BOUNDS:
        low, high = _number(value.get(least)), _number(value.get(most))
        if low is not None and high is not None and low > high:
            yield error(code, at, f"{least} is {low}, above {most}, {high}.", "Swap them.")
    least, low = "min-selected-items", _number(value.get("min-selected-items")) or 0
    source, high = value.get("data-source"), _number(value.get("max-selected-items"))
    if isinstance(source, list) and (high is None or low <= high):
        off = sum(isinstance(each, dict) and each.get("enabled") is False for each in source)
        if low > len(source) - off:
            message = f"{least} is {low}; {many(len(source) - off, 'option')} can be chosen."
            hint = f"Nobody can answer this: lower {least}, or add options."
            yield warning(code, f"{at}/{least}", message, hint)
    low = _number(value.get("min-chars")) or 0
    if low > _MOST_CHARS and "max-chars" not in value:
        message = f"min-chars is {low}; without max-chars at most {_MOST_CHARS} can be written."
        yield warning(code, f"{at}/min-chars", message, "Add max-chars.")


@rule("component")
def check_first_choice(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check that what is chosen at first is an option, by its id."""
    ids, at = options(component), f"{component.pointer}/init-value"
    values, form = component.value.get("init-value"), component.form
    if form is not None and component.name is not None:
        of_all = form.value.get("init-values")
        at = f"{form.pointer}/init-values/{escape(component.name)}"
        values = of_all.get(component.name) if isinstance(of_all, dict) else None
    places = (
        [(f"{at}/{n}", each) for n, each in enumerate(values)] if isinstance(values, list) else []
    )
    for place, value in places or [(at, values)]:
        if ids and isinstance(value, str) and value and value not in ids and not has_binding(value):
            message = f"{value[:60]!r} is not the id of an option: nothing is chosen at first."
            yield warning("INVALID_PROPERTY_VALUE", place, message, id_hint(value, ids))


@rule("Switch")
def check_cases(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check that a Switch on a list has cases for its ids."""
    asked, cases = component.value.get("value"), component.value.get("cases")
    reference = whole(asked) if isinstance(asked, str) else None
    ids = possible_values(flow, component.screen, reference) if reference else {}
    for case in cases if ids and isinstance(cases, dict) else ():
        if case not in ids and case != "default":
            message = f"{asked} is never {case[:60]!r}: this case is never shown."
            at = f"{component.pointer}/cases/{escape(case)}"
            yield warning("INVALID_PROPERTY_VALUE", at, message, id_hint(case, ids))


@rule("TextInput")
def check_text_input(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check what a pattern goes with."""
    value, at = component.value, component.pointer
    if "pattern" not in value or flow.version < (6, 2):
        return
    if "helper-text" not in value:
        message = "pattern goes with helper-text: a person must know what is asked for."
        yield warning("INVALID_DEPENDENCIES", at, message, "Add helper-text.")
    kind = value.get("input-type", "text")
    if isinstance(kind, str) and not is_binding(kind) and kind not in _PATTERN_TYPES:
        message = f"pattern does not go with input-type {kind[:40]!r}."
        hint = f"Use {', '.join(_PATTERN_TYPES)}, or remove pattern."
        yield error("INVALID_ENUM_VALUE", f"{at}/input-type", message, hint)


@rule("CheckboxGroup", "RadioButtonsGroup", "Dropdown", "ChipsSelector")
def check_options(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check the options of a list: pictures or colours, ids, how many with pictures."""
    source = component.value.get("data-source")
    if not isinstance(source, list):
        return
    at = f"{component.pointer}/data-source"
    options = [each for each in source if isinstance(each, dict)]
    pictures = sum("image" in each for each in options)
    if pictures and any("color" in each for each in options):
        message = "Some options have an image, others a color."
        code = "DATA_SOURCE_ITEMS_HAVE_BOTH_IMAGE_AND_COLOR"
        yield error(code, at, message, "Use one of both for all.")
    if component.type == "Dropdown" and pictures and len(options) > _MOST_WITH_PICTURES:
        message = f"{len(options)} options with pictures; {_MOST_WITH_PICTURES} are documented."
        yield warning("MAX_ITEMS_REQUIRED", at, message)
    seen: set[str] = set()
    for index, each in enumerate(source):
        id = each.get("id") if isinstance(each, dict) else None
        if isinstance(id, str):
            if id in seen and not has_binding(id):
                message = f"There is an option {id[:60]!r} already: answers cannot be told apart."
                yield warning("DUPLICATE_OPTION_IDS", f"{at}/{index}/id", message)
            seen.add(id)


@rule("Footer")
def check_captions(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check which captions stand together."""
    value, at = component.value, component.pointer
    left, center, right = (f"{place}-caption" in value for place in ("left", "center", "right"))
    if left != right:
        present, missing = ("left", "right") if left else ("right", "left")
        message = f"{present}-caption comes together with {missing}-caption."
        yield error("INVALID_DEPENDENCIES", at, message, f"Add {missing}-caption.")
    if center and (left or right):
        message = "center-caption stands without left-caption and right-caption."
        code = "NOT_KEYWORD_SCHEMA_VALIDATION_FAILED"
        yield error(code, at, message, "Remove one or the others.")


# --- days -------------------------------------------------------------------------------


def _dates(value: object) -> Iterator[tuple[str, date]]:
    """Yield the days written in a value, each with the rest of its pointer."""
    if isinstance(value, list):
        parts = [(f"/{index}", each) for index, each in enumerate(value)]
    elif isinstance(value, dict):
        parts = [(f"/{escape(str(key))}", each) for key, each in value.items()]
    else:
        parts = [("", value)]
    for rest, each in parts:
        written = day(each)
        if written is not None:
            yield rest, written


@rule("DatePicker", "CalendarPicker")
def check_days(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check that days stand within their bounds."""
    value, at = component.value, component.pointer
    first, last = day(value.get("min-date")), day(value.get("max-date"))
    if first is not None and last is not None and first > last:
        message = f"min-date {first} is after max-date {last}."
        for key in ("min-date", "max-date"):
            yield error("INVALID_DATE_RANGE", f"{at}/{key}", message, "Swap them.")
        return
    for key in ("init-value", "unavailable-dates"):
        for rest, written in _dates(value.get(key)):
            if (first is not None and written < first) or (last is not None and written > last):
                message = f"{written} is not between min-date and max-date."
                yield error("INVALID_DATE_RANGE", f"{at}/{key}{rest}", message)


@rule("CalendarPicker")
def check_calendar(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check the bounds of a stay."""
    value, at = component.value, component.pointer
    least, most = _number(value.get("min-days")), _number(value.get("max-days"))
    if least is not None and most is not None and least > most:
        message = f"min-days is {least}, above max-days, {most}."
        for key in ("min-days", "max-days"):
            yield error("INVALID_MIN_MAX_DAYS", f"{at}/{key}", message, "Swap them.")
    ends = value.get("init-value")
    if isinstance(ends, dict):
        start, end = day(ends.get("start-date")), day(ends.get("end-date"))
        if start is not None and end is not None and start > end:
            message = f"start-date {start} is after end-date {end}."
            yield error("INVALID_DATE_RANGE", f"{at}/init-value", message, "Swap them.")


# --- Form and NavigationList --------------------------------------------------------------


def _inputs(form: ComponentNode) -> dict[str, ComponentNode]:
    """Return the inputs in a Form by their names; the first one of a name counts."""
    return {
        each.name: each
        for each in reversed(form.screen.components)
        if each.form is form and each.shape is not None and each.shape.is_input and each.name
    }


@rule("Form")
def check_form_names(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Find misspelled names of inputs in what a Form states for them."""
    fields = _inputs(component)
    for key in ("init-values", "error-messages"):
        values = component.value.get(key)
        is_error = key == "init-values" and flow.version >= _TYPED
        for name in values if isinstance(values, dict) else ():
            at = f"{component.pointer}/{key}/{escape(str(name))}"
            if str(name) not in fields and (patch := renamed(at, values or {}, fields)):
                message = f"The Form has no input {str(name)[:60]!r}."
                report = error if is_error else warning
                yield report("INVALID_PROPERTY_VALUE", at, message, close(str(name), fields), patch)


@rule("Form")
def check_first_values(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check that first values belong to inputs of the Form, and have their types."""
    fields, values = _inputs(component), component.value.get("init-values")
    wrong: list[str] = []
    for name, value in values.items() if isinstance(values, dict) else ():
        at = f"{component.pointer}/init-values/{escape(str(name))}"
        field = fields.get(str(name))
        if field is None:
            wrong.append(f"the Form has no input {str(name)[:60]!r}")
        elif COMPONENTS[field.type or ""].group == "media input":
            code = "NATIVE_COMPONENT_IN_FORM_INIT_VALUES"
            yield error(code, at, f"{field.type} takes no first value.", "Remove it.", removing(at))
        elif not _fits_field(field, value, flow.version):
            wrong.append(f"{str(name)[:60]!r} is {named(value)}, which {field.type} does not take")
        elif field.type == "CalendarPicker":
            prop = COMPONENTS["CalendarPicker"].by_name["init-value"]
            mode = field.value.get("mode", "single")
            around = Around(flow.version, range_mode=None if is_binding(mode) else mode == "range")
            yield from check_value(prop, prop.kinds(flow.version), value, at, around)
    if wrong:  # the platform tells it of all of them together, at init-values
        at, message = f"{component.pointer}/init-values", f"{'; '.join(wrong)}."
        message = message[0].upper() + message[1:]
        report = error if flow.version >= _TYPED else warning
        yield report("INVALID_PROPERTY_VALUE", at, message, "Check names and values.")


def _fits_field(field: ComponentNode, value: Any, version: Version) -> bool:
    """Return whether an input takes a first value of that type."""
    prop = COMPONENTS[field.type or ""].by_name["init-value"]
    if isinstance(value, str) and has_binding(value):
        return True
    if field.type == "TextInput" and field.value.get("input-type") in ("number", "passcode"):
        return fits("number", value) or fits("text", value)
    return any(fits(kind, value) for kind in prop.kinds(version))


@rule("ImageCarousel")
def check_carousel(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Report too many pictures by the platform's own code too: its checker has no other for it."""
    images = component.value.get("images")
    most = COMPONENTS["ImageCarousel"].by_name["images"].most or 0
    if isinstance(images, list) and len(images) > most:
        message = f"An ImageCarousel shows at most {most} pictures."
        at = f"{component.pointer}/images"
        yield error("INVALID_PROPERTY_VALUE", at, message, "Remove some.")


@rule("NavigationList")
def check_item_actions(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check that on-click-action stands on the list, or on every item."""
    at, items = component.pointer, _items(component)
    own = [place for place, item in items if "on-click-action" in item]
    if "on-click-action" in component.value:
        message = "on-click-action stands on the list and on its items."
        code = "DUPLICATE_PROPETY_FOR_CONDITION"
        for place in (at, *own) if own else ():
            yield error(code, f"{place}/on-click-action", message, "Keep it in one of both places.")
    elif len(own) < len(items):
        place = next(place for place, _ in items if place not in own) if own else at
        message = "on-click-action stands on the list, or on every item."
        yield error("MISSING_REQUIRED_PROPERTY", f"{place}/on-click-action", message, "Add it.")


@rule("NavigationList")
def check_items(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check the badges and the ends of the items of a NavigationList."""
    at, items = component.pointer, _items(component)
    badges = [place for place, item in items if "badge" in item]
    if len(badges) > 1:
        hint = f"Keep that of {badges[0].removeprefix(f'{at}/')}."
        yield error("MAX_ITEMS_REQUIRED", at, f"{len(badges)} items have a badge; one may.", hint)
    ends = [(place, item["end"]) for place, item in items if "end" in item]
    if ends and component.value.get("media-size") == "large":
        message = "media-size large leaves no space for the end of an item."
        code = "INVALID_PROPERTY_VALUE_FOR_CONDITION"
        yield error(code, at, message, "Use regular, or remove end.")
    for place, end in ends:
        if isinstance(end, dict) and not 1 <= len(end) <= 2:
            message = "end holds one or two of title, description and metadata."
            yield error("DUPLICATE_PROPETY_FOR_CONDITION", f"{place}/end", message)


def _items(component: ComponentNode) -> list[tuple[str, dict[str, Any]]]:
    """Return the items of a NavigationList that are objects, with their pointers."""
    items = component.value.get("list-items")
    return [
        (f"{component.pointer}/list-items/{index}", item)
        for index, item in enumerate(items if isinstance(items, list) else ())
        if isinstance(item, dict)
    ]
