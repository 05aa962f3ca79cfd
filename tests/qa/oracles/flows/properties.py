"""The values of properties, each checked by the kind that the table gives it."""

import re
from datetime import date
from typing import Any

from oracles.finding import DOCUMENTED_LIMIT, step
from oracles.flows import components as table
from oracles.flows.components import Prop
from oracles.flows.flow import RANGE, Action, Flow, Node, Screen
from oracles.flows.references import (
    Reference,
    condition_problem,
    declared_type,
    is_expression,
    json_type,
    references,
    whole,
)

_BASE64 = re.compile(r"(?:data:[\w/+.;-]+,)?[A-Za-z0-9+/\s]+={0,2}")
_COLOR = re.compile(r"#[0-9A-Fa-f]{6}")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
# The JSON types a kind takes. Kinds of the second table take no reference; those not named here
# take any type.
_TYPES: dict[str, tuple[str, ...]] = {
    kind: tuple(types.split())
    for types, kinds in {
        "string": "text image listed_image date start_date color uri choice",
        "string array": "words static_words",
        "string object": "message",
        "boolean": "flag",
        "number": "number",
        "array": "objects texts dates choices mime_types",
        "object": "object",
    }.items()
    for kind in kinds.split()
}
_STATIC = {
    **dict.fromkeys(("string", "name", "regex", "condition", "reference"), ("string",)),
    **{"bool": ("boolean",), "list": ("array",), "map": ("object",), "action": ("object",)},
}


class Properties:
    """Checks the properties of a component, or of a screen or document when there is none."""

    def __init__(self, flow: Flow, screen: Screen, node: Node | None = None) -> None:
        self.flow, self.screen, self.node, self.version = flow, screen, node, flow.version
        self.error, self.warning = flow.findings.error, flow.findings.warning
        self.ranged = node is not None and node.component.get("mode") == "range"

    def check(self, raw: dict[str, Any], part: str, pointer: str) -> None:
        """Check an object against a part of the table: unknown, required, and each value."""
        known = table.PARTS[part]
        for key, value in raw.items():
            prop, at = known.get(key), step(pointer, key)
            if prop is None or not prop.since <= self.version < prop.until:
                if key != "type" or part not in table.COMPONENTS:
                    self.error("INVALID_PROPERTY_KEY", at, f"{part} has no {key} here")
            elif "~" in prop.marks and self.node is not None and self.node.in_form:
                self.error("INVALID_PROPERTY_KEY", at, f"inside a Form, the Form has the {key}s")
            elif "*" in prop.marks and not self.ranged:
                self.error("INVALID_PROPERTY_NAME_FOR_CONDITION", at, f"{key} needs mode range")
            else:
                self.value(prop, value, at)
        for key, prop in known.items():
            if prop.required and prop.required <= self.version and key not in raw:
                self.error("MISSING_REQUIRED_PROPERTY", step(pointer, key), f"{key} is required")

    def value(self, prop: Prop, value: Any, at: str) -> None:
        """Check one value: a span, something computed, or what its kind says."""
        if "&" in prop.marks and isinstance(value, dict):
            self.span(prop, value, at)
            return
        if isinstance(value, str) and prop.kind not in _STATIC and self.computed(prop, value, at):
            return
        expected = _TYPES.get(prop.kind) or _STATIC.get(prop.kind)
        if expected and json_type(value) not in expected:
            # a word where a number or a reference belongs has a code of its own
            word = prop.kind == "number" and isinstance(value, str)
            code = "PATTERN_MISMATCH" if word else "INVALID_PROPERTY_TYPE"
            self.error(code, at, f"must be {' or '.join(expected)}, is {json_type(value)}")
        elif check := getattr(self, f"_{prop.kind}", None):
            check(prop, value, at)

    def span(self, prop: Prop, value: dict[str, Any], at: str) -> None:
        """Check what a property says for the start and for the end of a range."""
        if not self.ranged:
            self.error("INVALID_TYPE", at, "an object needs mode range")
            return
        for key in value.keys() - set(RANGE):
            code = "UNEXPECTED_CALENDAR_PICKER_RANGE_MODE_PROP"
            self.error(code, step(at, key), f"a range has no {key}")
        for key in RANGE:
            if key in value:
                self.value(prop._replace(marks=""), value[key], step(at, key))
            else:
                code = "MISSING_CALENDAR_PICKER_RANGE_MODE_PROP"
                self.error(code, step(at, key), f"{key} is required")

    def computed(self, prop: Prop, text: str, at: str) -> bool:
        """Look up the references of a text; true when the whole value is computed."""
        only, expected = whole(text), _TYPES.get(prop.kind)
        for reference in references(text):
            if self.node is None:  # the sources speak of the properties of components
                continue
            schema = self.resolve(reference, at, "INVALID_SCREEN_DYNAMIC_DATA")
            declared = declared_type(schema)
            # what an input answers is not held against a property: sources name the data model
            if schema is None or only is None or reference.scope != "data":
                continue
            if expected and declared and declared not in expected:
                text = f"{reference.text} is {declared}, not {' or '.join(expected)}"
                self.error("INVALID_SCREEN_DYNAMIC_DATA", at, text)
            elif prop.items:
                self.items(prop.items, schema, at)
        return only is not None or is_expression(text, self.version)

    def resolve(self, reference: Reference, at: str, missing: str) -> dict[str, Any] | None:
        """The schema of what a reference points to; None, and a finding, when it is not there."""
        if not reference.scope or (reference.screen is not None and self.version < "4.0"):
            self.error("PATTERN_MISMATCH", at, f"{reference.text} is not a reference")
            return None
        schema = self.flow.find(self.screen, reference)
        if schema is None:
            present = self.flow.by_id.get(reference.screen or "")
            data = present.data if present is not None and reference.scope == "data" else {}
            if reference.screen is not None and reference.path[0] not in data:
                missing = "INVALID_SCREEN_DATA"  # else it goes wrong further down the path
            self.error(missing, at, f"{reference.text} points to nothing")
        return schema

    def items(self, part: str, schema: dict[str, Any], at: str) -> None:
        """An array that declares the fields of its items must declare the required ones."""
        inner = schema.get("items")
        fields = inner.get("properties") if isinstance(inner, dict) else None
        for key, prop in table.PARTS[part].items():
            if prop.required and isinstance(fields, dict) and key not in fields:
                self.error("INVALID_SCREEN_DYNAMIC_DATA", at, f"the items declare no {key}")

    def count(self, prop: Prop, items: int, at: str) -> None:
        """Check how many items there are."""
        if prop.low is not None and items < prop.low:
            self.error("MIN_ITEMS_REQUIRED", at, f"{items} items, at least {prop.low}")
        if prop.high is not None and items > prop.high:
            self.error("MAX_ITEMS_REQUIRED", at, f"{items} items, at most {prop.high}")

    def each(self, prop: Prop, kind: str, values: list[Any], at: str) -> None:
        """Check every item of an array as one value."""
        for index, value in enumerate(values):
            self.value(prop._replace(kind=kind), value, step(at, index))

    # --- one method for each kind that has more to say than its JSON type -------------

    def _text(self, prop: Prop, text: str, at: str) -> None:
        if not text.strip() and ("." in prop.marks or self.version >= "6.0"):
            self.error("PATTERN_MISMATCH", at, "must not be blank")
        if prop.chars is not None and len(text) > prop.chars:
            # the validator does not look at lengths: clients cut what is too long
            self.warning(DOCUMENTED_LIMIT, at, f"{len(text)} characters of {prop.chars}")

    def _words(self, prop: Prop, value: Any, at: str) -> None:
        if isinstance(value, str):
            self._text(prop, value, at)
            return
        if self.version < "5.1":
            self.error("INVALID_PROPERTY_TYPE", at, "an array of texts exists since 5.1")
        self.each(prop, "text", value, at)

    def _static_words(self, prop: Prop, value: Any, at: str) -> None:
        texts = [text for text in value if isinstance(text, str)]
        if isinstance(value, list) and any(any(references(text)) for text in texts):
            self.error("INVALID_TEXT_DYNAMIC_DATA", at, "an item must not hold a reference")
        else:
            self._words(prop, value, at)

    def _texts(self, prop: Prop, value: list[Any], at: str) -> None:
        self.count(prop, len(value), at)
        self.each(prop, "text", value, at)

    def _name(self, prop: Prop, name: str, at: str) -> None:
        if self.version >= "6.0" and ("${" in name or "`" in name or not name.strip()):
            self.error("PATTERN_MISMATCH", at, "a name is fixed text and not blank")

    def _choice(self, prop: Prop, value: str, at: str) -> None:
        if value not in prop.values:
            self.error("INVALID_ENUM_VALUE", at, f"must be one of {', '.join(prop.values)}")

    def _choices(self, prop: Prop, value: list[Any], at: str) -> None:
        self.each(prop, "choice", value, at)

    def _mime_types(self, prop: Prop, value: list[Any], at: str) -> None:
        self.each(prop._replace(values=table.MIME_TYPES), "choice", value, at)

    def _number(self, prop: Prop, value: float, at: str) -> None:
        if prop.low is not None and value < prop.low:
            self.error("MINIMUM_VALUE_REQUIRED", at, f"must be at least {prop.low}")
        if prop.high is not None and value > prop.high:
            self.error("MAXIMUM_VALUE_REQUIRED", at, f"must be at most {prop.high}")

    def _image(self, prop: Prop, value: str, at: str, most: int = 300) -> None:
        if not _BASE64.fullmatch(value.strip()):
            self.error("INVALID_PROPERTY_VALUE_FORMAT", at, "must be base64")
        elif len(value) * 3 // 4 > most * 1024:
            self.warning(DOCUMENTED_LIMIT, at, f"more than {most} KB")

    def _listed_image(self, prop: Prop, value: str, at: str) -> None:
        self._image(prop, value, at, most=100 if self.version >= "6.0" else 300)

    def _color(self, prop: Prop, value: str, at: str) -> None:
        if not _COLOR.fullmatch(value):
            self.error("PATTERN_MISMATCH", at, "must be #RRGGBB")

    def _uri(self, prop: Prop, value: str, at: str) -> None:
        if not _URI.fullmatch(value):
            self.error("INVALID_PROPERTY_VALUE_FORMAT", at, "must be a URI")

    def _regex(self, prop: Prop, value: str, at: str) -> None:
        # the platform speaks JavaScript's dialect: only what no dialect takes is refused
        depth, in_class, escaped = 0, False, False
        for character in value:
            if escaped or character == "\\":
                escaped = not escaped
            elif in_class or character == "[":
                in_class = character != "]"
            else:
                depth += (character == "(") - (character == ")")
            if depth < 0:
                break
        if depth or in_class or escaped or value[:1] in ("*", "+", "?"):
            self.error("INVALID_PROPERTY_VALUE_FORMAT", at, "must be a regular expression")

    def _date(
        self, prop: Prop, value: str, at: str, code: str = "INVALID_PROPERTY_VALUE_FORMAT"
    ) -> None:
        if self.version >= "5.0" and not is_date(value):
            self.error(code, at, "must be a date as YYYY-MM-DD")

    def _start_date(self, prop: Prop, value: str, at: str) -> None:
        self._date(prop, value, at, "INVALID_DATE_SINGLE_INIT_VALUE_FORMAT")

    def _dates(self, prop: Prop, value: list[Any], at: str) -> None:
        self.each(prop, "date", value, at)

    def _initial(self, prop: Prop, value: Any, at: str) -> None:
        if self.node is not None and not self.node.takes(value):
            self.error("INVALID_PROPERTY_TYPE", at, f"does not fit {self.node.type}")

    def _object(self, prop: Prop, value: dict[str, Any], at: str) -> None:
        self.count(prop, len(value), at)
        if prop.items:
            self.check(value, prop.items, at)

    _map = _object

    def _objects(self, prop: Prop, value: list[Any], at: str) -> None:
        self.count(prop, len(value), at)
        self.each(prop._replace(low=None, high=None), "map", value, at)
        items = [item for item in value if isinstance(item, dict)]
        if any("image" in item for item in items) and any("color" in item for item in items):
            code = "DATA_SOURCE_ITEMS_HAVE_BOTH_IMAGE_AND_COLOR"
            self.error(code, at, "all items use images or all use colors")

    def _condition(self, prop: Prop, text: str, at: str) -> None:
        problem: str | None = None
        if not is_expression(text, self.version):
            problem = condition_problem(text, self.type_of)
        elif "${" not in text:
            problem = "at least one operand must be a reference"
        if problem is not None:
            self.error("INVALID_PROPERTY_VALUE", at, problem)
        for reference in references(text):
            self.resolve(reference, at, "INVALID_SCREEN_DYNAMIC_DATA")

    def type_of(self, text: str) -> str | None:
        """The type of a reference, None where that is not known."""
        reference = whole(text)
        if reference is None or not reference.scope:
            return None
        return declared_type(self.flow.find(self.screen, reference))

    def _reference(self, prop: Prop, text: str, at: str) -> None:
        reference = whole(text)
        if reference is None:
            self.error("PATTERN_MISMATCH", at, "must be one reference")
        else:
            self.resolve(reference, at, "INVALID_SCREEN_DYNAMIC_DATA")

    def _action(self, prop: Prop, value: dict[str, Any], at: str) -> None:
        allowed = [name for name in prop.values if table.ACTION_SINCE.get(name, "") <= self.version]
        name, here = value.get("name"), step(at, "name")
        if "name" not in value:
            self.error("MISSING_REQUIRED_PROPERTY", here, "an action needs a name")
        elif name not in allowed:
            self.error("INVALID_ENUM_VALUE", here, f"must be one of {', '.join(allowed)}")
        elif self.node is not None:
            rest = {key: one for key, one in value.items() if key != "name"}
            self.check(rest, name, at)
            self.flow.actions.append(Action(self.screen, self.node, value, at))


def is_date(value: Any) -> bool:
    """Return whether a value is a date as YYYY-MM-DD."""
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True
