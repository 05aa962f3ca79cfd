"""Rules of data models, and of the references to data fields and inputs.

Each data field is a JSON Schema with a `type` and an `__example__` beside it;
`find_schema_mismatches` compares a value with such a schema, also for the payloads of actions.
Expressions in backticks and the conditions of If belong to `expression`, the payloads of actions to
`action`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from chatkit.flowjson.components import RECOMMENDED, Property, Shape
from chatkit.flowjson.nodes import (
    ALIKE,
    MAX_DEPTH,
    ActionNode,
    Binding,
    ComponentNode,
    FlowNode,
    ScreenNode,
    Types,
    correct_references,
    find_closest_name,
    find_reference_faults,
    find_references,
    is_compatible,
    is_misspelled_reference,
    join_type_names,
    parse_reference,
    read_schema_types,
)
from chatkit.flowjson.rules import Patch, error, rule, warning
from chatkit.flowjson.rules.expression import (
    COMPARISONS,
    EQUALITIES,
    LOGIC,
    MATHS,
    ExpressionError,
    parse_expression,
)
from chatkit.flowjson.rules.shape import is_binding, mend_word, patch_key
from chatkit.report import Finding, Severity
from chatkit.util.display import cut
from chatkit.util.json import PatchOperation, append_to_pointer, escape_key, unescape_key

EXAMPLE = "__example__"
SCHEMA_TYPES = frozenset(("string", "number", "integer", "boolean", "object", "array", "null"))


_JSON_TYPES: dict[type, Types] = {
    **{type(None): frozenset(("null",)), bool: frozenset(("boolean",))},
    **{int: frozenset(("integer", "number")), str: frozenset(("string",))},
    **dict.fromkeys((list, tuple), frozenset(("array",))),
    dict: frozenset(("object",)),
}


def find_json_types(value: object) -> Types:
    """Return the names that a schema may give the JSON type of a value."""
    if isinstance(value, float):
        return frozenset(("integer", "number") if value.is_integer() else ("number",))
    return _JSON_TYPES.get(type(value), frozenset())


def find_schema_mismatches(
    value: object, schema: object, *, bindings: bool = False, pointer: str = ""
) -> Iterator[tuple[str, str]]:
    """Compare a value with a schema: yield the pointer of each mismatch and its description.

    Args:
        value: The value.
        schema: The schema.
        bindings: Accept a text that is one reference, or an expression, for any value.
        pointer: The pointer of the value.
    """
    if not isinstance(schema, dict) or pointer.count("/") > MAX_DEPTH:
        return
    if bindings and isinstance(value, str) and (parse_reference(value) or value[:1] == "`"):
        return
    stated, types = schema.get("type"), find_json_types(value)
    names = stated if isinstance(stated, list) else [stated]
    expected = frozenset(each for each in names if isinstance(each, str))
    if expected & SCHEMA_TYPES and types.isdisjoint(expected):
        kind = "an integer" if "integer" in types else join_type_names(types)
        yield pointer, f"expected {join_type_names(expected)}, found {kind}"
    else:
        required = schema.get("required")
        if isinstance(value, dict) and isinstance(required, list):
            missing = [key for key in required if isinstance(key, str) and key not in value]
            yield from ((pointer, f"{key} is missing") for key in missing[:1])
        for inner_pointer, inner, declared in _select_declared_values(pointer, value, schema):
            yield from find_schema_mismatches(
                inner, declared, bindings=bindings, pointer=inner_pointer
            )
    allowed = schema.get("enum")
    if isinstance(allowed, list) and isinstance(value, _SCALAR) and value not in allowed:
        yield pointer, "it is not one of the values in enum"


_SCALAR = (str, int, float, type(None))


def _select_declared_values(
    pointer: str, value: object, schema: dict[str, Any]
) -> Iterator[tuple[str, object, object]]:
    """Yield the pointer, value and schema of each property or item that a schema declares."""
    if isinstance(value, dict):
        properties: Any = schema.get("properties")
        for key, inner in value.items() if isinstance(properties, dict) else ():
            if isinstance(key, str) and key in properties:
                yield f"{pointer}/{escape_key(key)}", inner, properties[key]
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield f"{pointer}/{index}", inner, schema.get("items")


@rule("screen")
def check_data_model(flow: FlowNode, screen: ScreenNode) -> Iterator[Finding]:
    """Check the data model of a screen."""
    for name, schema in screen.data.items():
        pointer = f"{screen.pointer}/data/{escape_key(name)}"
        if not isinstance(schema, dict):
            message = f"The data field {name} must be an object with type and {EXAMPLE}."
            hint = f'Write {{"type": "string", "{EXAMPLE}": "…"}}.'
            yield error("INVALID_PROPERTY_TYPE", pointer, message, hint)
            continue
        yield from _check_schemas(name, pointer, schema)
        if EXAMPLE not in schema:
            message = f"The data field {name} has no {EXAMPLE}."
            hint = "Give a value of its type: the preview shows it."
            patch = _patch_misspelled_key(pointer, schema, EXAMPLE)
            yield error("MISSING_REQUIRED_PROPERTY", f"{pointer}/{EXAMPLE}", message, hint, patch)
        else:
            yield from _check_example(name, pointer, schema)


def _check_schemas(name: str, pointer: str, schema: dict[str, Any]) -> Iterator[Finding]:
    """Check the schema of a data field and those in it: their types, items and examples."""
    for schema_pointer, declared, is_value in _iterate_schemas(pointer, schema):
        if is_value and not isinstance(declared, dict | bool):
            hint = 'For example {"type": "string"}.'
            yield error(_DATA_CODE, schema_pointer, f"items of {name} must be an object.", hint)
        if not isinstance(declared, dict):
            continue
        if EXAMPLE in declared and schema_pointer != pointer:
            message = f"An {EXAMPLE} inside {name}: it stands only at the top of a field."
            hint = "Move its value into the example of the field."
            yield error(_DATA_CODE, f"{schema_pointer}/{EXAMPLE}", message, hint)
        if "type" in declared:
            yield from _check_stated_type(name, schema_pointer, declared, is_value=is_value)
        elif is_value:
            message = f"The data field {name} has no type."
            patch = _patch_misspelled_key(schema_pointer, declared, "type")
            yield error(_DATA_CODE, schema_pointer, message, _TYPE_HINT, patch)


def _iterate_schemas(pointer: str, schema: Any) -> Iterator[tuple[str, Any, bool]]:
    """Yield the pointer of a schema and of each in it; True for that of the field or an item."""
    deepest = pointer.count("/") + MAX_DEPTH
    waiting: list[tuple[str, Any, bool]] = [(pointer, schema, True)]
    while waiting:
        place, declared, is_value = waiting.pop()
        if place.count("/") >= deepest:
            continue
        yield place, declared, is_value
        is_list = is_value and isinstance(declared, dict) and declared.get("type") == "array"
        for key, inner in reversed(declared.items()) if isinstance(declared, dict) else ():
            at = append_to_pointer(place, str(key))
            if key == "items" and is_list and inner is not None:
                waiting.append((at, inner, True))
            elif key == "properties" and isinstance(inner, dict):
                waiting += [
                    (append_to_pointer(at, name), inner[name], False) for name in reversed(inner)
                ]
            elif isinstance(inner, list) and key not in _VALUE_KEYS:
                waiting += [(f"{at}/{n}", part, False) for n, part in enumerate(inner)]
            elif key not in _VALUE_KEYS:
                waiting.append((at, inner, False))


def _check_stated_type(
    name: str, schema_pointer: str, declared: dict[str, Any], *, is_value: bool
) -> Iterator[Finding]:
    stated, at = declared["type"], f"{schema_pointer}/type"
    names = stated if isinstance(stated, list) and stated and not is_value else [stated]
    if is_value and not isinstance(stated, str):
        yield error(_DATA_CODE, at, f"The type of {name} must be a text.", _TYPE_HINT)
    elif not all(isinstance(each, str) and each in SCHEMA_TYPES for each in names):
        word = str(stated)[:40]
        mend = mend_word(at, word, SCHEMA_TYPES, _TYPE_HINT)
        yield error(_DATA_CODE, at, f"{name}: there is no type {word}.", *mend)
    elif is_value and stated == "array" and declared.get("items") is None:
        message = f"The array {name} does not say what its items are."
        hint = 'Add items, for example {"type": "string"}.'
        yield error(_DATA_CODE, schema_pointer, message, hint)


_VALUE_KEYS = (EXAMPLE, "enum", "const", "default", "examples")  # keys whose values are no schemas
_DATA_CODE = "INVALID_SCREEN_DATA"


def _patch_misspelled_key(pointer: str, schema: dict[str, Any], key: str) -> Patch:
    """Return the patch that renames a misspelled key of a schema; empty without one."""
    strange = [name for name in schema if name not in (EXAMPLE, "type", "items", "properties")]
    like = find_closest_name(key, strange, ALIKE)
    return patch_key(f"{pointer}/{escape_key(like)}", {}, (key,)) if like else ()


_TYPE_HINT = "Use string, number, integer, boolean, object or array."


def _check_example(name: str, pointer: str, schema: dict[str, Any]) -> Iterator[Finding]:
    for below, problem in find_schema_mismatches(schema[EXAMPLE], schema):
        if read_schema_types(schema) - SCHEMA_TYPES:
            return  # the type itself is wrong, which has its own finding
        where = f" at {below}" if below else ""
        message = f"The {EXAMPLE} of {name} does not fit{where}: {problem}."
        hint = "Correct the example, or the type."
        yield error(_DATA_CODE, f"{pointer}/{EXAMPLE}{below}" if below else pointer, message, hint)


_OPERATORS = COMPARISONS | EQUALITIES | LOGIC | MATHS | {"not"}
MOST_FILES = 10  #: in an answer
_FORM_MAPS = ("init-values", "error-messages")


@rule("binding")
def check_binding(flow: FlowNode, binding: Binding) -> Iterator[Finding]:
    """Find references in components that have no target, or one of the wrong type."""
    if binding.is_fixed or (binding.owner.type, binding.property) == ("If", "condition"):
        return
    action = binding.action
    if action is None:
        yield from _check_property(flow, binding)
    elif binding.pointer.startswith(f"{action.pointer}/payload"):
        return  # for the rules of `action`
    elif flow.version < (6, 0) or not binding.is_expression:
        yield from _check_references(flow, binding, frozenset(("string",)))


@rule("Switch", "early Switch")
def check_switch(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check that a Switch depends on a reference."""
    asked = component.value.get("value")
    if isinstance(asked, str) and "${" not in asked and "`" not in asked:
        message = "value takes one reference and nothing around it."
        hint = "Write it as ${data.name} or ${form.name}."
        yield error("PATTERN_MISMATCH", f"{component.pointer}/value", message, hint)


@rule("screen")
def check_title(flow: FlowNode, screen: ScreenNode) -> Iterator[Finding]:
    """Find references without a target in the title of a screen."""
    title = screen.value.get("title")
    if isinstance(title, str):
        code = "INVALID_SCREEN_DYNAMIC_DATA"
        yield from report_faults(flow, screen, title, f"{screen.pointer}/title", code, "warning")


def report_faults(
    flow: FlowNode, screen: ScreenNode, text: str, pointer: str, code: str, severity: Severity
) -> Iterator[Finding]:
    """Report the faulty references of a text, with a patch for those that can be corrected."""
    faults = find_reference_faults(flow, screen, text)
    is_computed = parse_reference(text) is None and _BRACED.fullmatch(text.strip()) is not None
    expression = _suggest_backticks(flow, text, _OPERATORS) if is_computed else ""
    patch = (PatchOperation("replace", pointer, correct_references(text, faults)),)
    for fault in faults:
        is_elsewhere = code == "INVALID_SCREEN_DYNAMIC_DATA" and fault.text.startswith("${screen.")
        where = "INVALID_SCREEN_DATA" if is_elsewhere and parse_reference(fault.text) else code
        hint = expression or fault.hint
        mend = patch if fault.correction else ()
        yield Finding(where, severity, pointer, fault.message, hint, patch=mend)


def _suggest_backticks(flow: FlowNode, text: str, operators: frozenset[str]) -> str:
    """Return a hint for an expression that lacks its backticks; empty for any other text."""
    if braced := _BRACED.fullmatch(text.strip()):
        text = _UNBRACED.sub(_correct_syntax, braced[1].strip())
    try:
        steps = parse_expression(text)
    except ExpressionError:
        return ""
    used = {step.value for step in steps if step.kind != "value"}
    if "${" not in text or operators.isdisjoint(used):
        return ""
    if flow.version >= (6, 0):
        return f"Put it in backticks: `{text}`."
    hint = f'Expressions are known from version 6.0: write "version": "{RECOMMENDED}"'
    return f"{hint}, and put it in backticks: `{text}`."


#: An expression with one pair of braces around all of it, as other languages write it.
_BRACED = re.compile(r"(?:\$\{|\{\{)([^{}]*)\}{1,2}")
_UNBRACED = re.compile(
    r"""'[^']*' | "[^"]*" | (?P<name>\b(?:screen\.\w+\.)?(?:data|form)\.[\w.]+) | [!=]==""",
    re.VERBOSE,
)


def _correct_syntax(match: re.Match[str]) -> str:
    """Rewrite a name or an operator of another language as the platform reads it."""
    if match["name"]:
        return f"${{{match[0]}}}"
    return {"===": "==", "!==": "!="}.get(match[0], match[0])


def report_comparison(flow: FlowNode, binding: Binding, verb: str) -> Iterator[Finding]:
    """Find comparisons that lack their backticks, and so are sent or shown as text."""
    hint = _suggest_backticks(flow, binding.text, EQUALITIES | LOGIC)
    if hint and not _BRACED.fullmatch(binding.text.strip()):
        message = f"This comparison is {verb} as the text that it is."
        yield warning("INVALID_PROPERTY_VALUE", binding.pointer, message, hint)


def _check_property(flow: FlowNode, binding: Binding) -> Iterator[Finding]:
    owner, text, prop = binding.owner, binding.text, binding.about
    if owner.type == "RichText" and binding.property == "text":
        yield from _check_rich_text(flow, binding)
        return
    if binding.is_expression and flow.version >= (6, 0):
        return
    if not binding.is_direct or prop is None:
        yield from _check_references(flow, binding, _find_init_value_types(flow, binding))
        return
    expected = frozenset(prop.json_types(flow.version))
    is_alone = prop.kind == "reference" or "string" not in expected  # no text may stand there
    if is_alone and binding.sole_reference is None and ("${" in text or "`" in text):
        yield _report_mixed_text(flow, binding)
        return
    if prop.kind == "reference":
        expected = frozenset(("string", "number", "boolean"))
    yield from _check_references(flow, binding, expected, prop)


def _find_init_value_types(flow: FlowNode, binding: Binding) -> Types:
    """Return the types of the input whose init-value in a Form a text is; empty for other texts."""
    steps = binding.pointer.removeprefix(f"{binding.owner.pointer}/").split("/")
    if binding.property != "init-values" or len(steps) != 2:
        return frozenset()
    name = unescape_key(steps[1])
    component = binding.owner.screen.fields.get(name)
    declared = component.shape if component is not None else None
    prop = declared.property("init-value") if declared is not None else None
    return frozenset(prop.json_types(flow.version)) if prop is not None else frozenset()


def _report_mixed_text(flow: FlowNode, binding: Binding) -> Finding:
    """Report a text in a property that takes one reference and nothing else."""
    text = binding.text
    # Before 6.0 the platform reads the start of it only.
    begins = flow.version < (6, 0) and text.startswith(tuple(r.text for r in binding.references))
    is_value = binding.about is not None and binding.about.kind != "reference"
    is_read = begins and is_value and is_binding(text)
    better = correct_references(text, find_reference_faults(flow, binding.owner.screen, text))
    is_meant = better != text and parse_reference(better) is not None
    hint = f"Did you mean {better}?" if is_meant else _suggest_backticks(flow, text, _OPERATORS)
    if not hint:
        later = " Backticks are known from version 6.0." if binding.is_expression else ""
        hint = f"Write it as ${{data.name}} or ${{form.name}}.{later}"
    patch = (PatchOperation("replace", binding.pointer, better),) if is_meant else ()
    report = warning if is_read else error
    message = f"{binding.property} takes one reference and nothing around it."
    return report("PATTERN_MISMATCH", binding.pointer, message, hint, patch)


def _check_references(
    flow: FlowNode, binding: Binding, expected: Types, prop: Property | None = None
) -> Iterator[Finding]:
    """Check every reference of a text; the one that is the whole text must be of a type."""
    alone, screen = binding.sole_reference, binding.owner.screen
    code = "INVALID_SCREEN_DYNAMIC_DATA"
    is_text = not expected or "string" in expected
    is_looked_at = alone is not None or is_misspelled_reference(binding.text) or not is_text
    severity = _choose_severity(flow, binding) if is_looked_at else "warning"
    yield from report_faults(flow, screen, binding.text, binding.pointer, code, severity)
    if "string" in expected:
        yield from report_comparison(flow, binding, "shown")
    for reference, target in zip(binding.references, binding.targets, strict=True):
        if alone is not None and not target.problem:
            if not is_compatible(target.types, expected):
                message = f"{reference.text} is of type {join_type_names(target.types)}, "
                message += f"{binding.property} takes {join_type_names(expected)}."
                hint = "Bind a value of the right type, or change the type in the data model."
                yield Finding(code, severity, binding.pointer, message, hint)
            elif prop is not None and prop.item is not None:
                yield from _check_items(flow, binding, target.schema, prop.item)
        if reference.screen is not None and reference.screen == screen.id:
            hint = f"Write ${{{reference.store}.{'.'.join(reference.path)}}}."
            yield warning(code, binding.pointer, f"{reference.text} names its own screen.", hint)


def _choose_severity(flow: FlowNode, binding: Binding) -> Severity:
    """Return the severity of a faulty reference: lists, and early maps, are not checked."""
    if binding.is_direct or binding.action is not None:
        return "error"
    since = (7, 0) if binding.property in _FORM_MAPS else (6, 0)
    below = binding.pointer.removeprefix(f"{binding.owner.pointer}/")
    shallow = below.count("/") == 1 and isinstance(binding.owner.value.get(binding.property), dict)
    return "error" if shallow and flow.version >= since else "warning"


def _check_items(
    flow: FlowNode, binding: Binding, schema: dict[str, Any] | None, shape: Shape
) -> Iterator[Finding]:
    """Compare the declared items of an array with those that the component takes."""
    items = schema.get("items") if schema is not None else None
    if not isinstance(items, dict):
        return
    properties = items.get("properties")
    types = read_schema_types(items)
    wrong: list[str] = []
    if types and "object" not in types:
        wrong.append(f"its items are of type {join_type_names(types)}, not object")
    elif isinstance(properties, dict):
        for prop in shape.properties:
            expected = frozenset(prop.json_types(flow.version))
            if prop.name not in properties:
                if prop.is_required(flow.version):
                    wrong.append(f"its items declare no {prop.name}")
            elif not is_compatible(read_schema_types(properties[prop.name]), expected):
                wrong.append(f"{prop.name} of its items is not {join_type_names(expected)}")
    for problem in wrong:
        message = f"{binding.text} does not fit {binding.property}: {problem}."
        hint = "Correct the items of that field in the data model."
        yield error("INVALID_SCREEN_DYNAMIC_DATA", binding.pointer, message, hint)


def _check_rich_text(flow: FlowNode, binding: Binding) -> Iterator[Finding]:
    """Check the text of a RichText: written out, or one reference."""
    if not binding.is_direct:
        if binding.references:
            message = "The lines of a RichText stand as they are: they hold no reference."
            hint = "Bind the whole text to one field of the data model."
            yield error("INVALID_TEXT_DYNAMIC_DATA", f"{binding.owner.pointer}/text", message, hint)
    elif binding.sole_reference is not None:
        yield from _check_references(flow, binding, frozenset(("string", "array")))
    elif binding.references:
        report = error if flow.version >= (6, 0) else warning
        message = "A RichText is written out, or is one reference: it mixes both."
        hint = "Bind the whole text to one field of the data model."
        yield report("INVALID_PROPERTY_VALUE", binding.pointer, message, hint)


@rule("flow")
def check_unused_fields(flow: FlowNode, _: FlowNode) -> Iterator[Finding]:
    """Find inputs and data fields that nothing uses, which the platform accepts.

    A consent is given by its tick, and an input that is not shown or disabled takes no answer.
    That no navigate action fills a field of the data model is for `action` to report.
    """
    used = _find_used_names(flow)
    lost = {  # the store of a screen that a wrong reference reads: one of its names may be meant
        (reference.screen or binding.owner.screen.id, reference.store)
        for binding in flow.bindings
        for reference, target in zip(binding.references, binding.targets, strict=True)
        if target.problem
    }
    for screen in flow.screens:
        for name in screen.data if (screen.id, "data") not in lost else ():
            if (screen.id, "data", name) not in used:
                hint = _suggest_use(screen, name)
                message = f"Nothing reads the data field {cut(name, 60)}."
                pointer = f"{screen.pointer}/data/{escape_key(name)}"
                yield warning("UNUSED_DATA", pointer, message, hint)
    for component, patch in find_unsent_inputs(flow):
        if component.type != "OptIn" and not _is_disabled(component):
            field, reference = component.name, f"${{form.{component.name}}}"
            read = parse_reference(reference)
            hint = (
                f'Send it: "{field}": "{reference}" in the payload of the action that leaves the '
            )
            hint += "screen. Or remove the input."
            if read is None or read.path != (field,):
                hint = "No reference reads this name: give it one of letters, digits, _ and -, and "
                hint, patch = f"{hint}send it. Or remove the input.", ()
            elif (component.screen.id, "form") in lost:
                hint = "A reference on this screen is wrong: correct that first, it may mean this "
                hint, patch = f"{hint}input.", ()
            message = f"What people enter in {field} is thrown away: nothing sends or reads it."
            yield warning("UNUSED_INPUT", f"{component.pointer}/name", message, hint, patch)


def _suggest_use(screen: ScreenNode, name: str) -> str:
    """Return a hint that shows how to use a data field."""
    if "error" in name.casefold():
        schema: Any = screen.data[name]
        parts = schema.get("properties") if isinstance(schema, dict) else None
        if screen.forms and read_schema_types(schema) == {"object"}:
            return f'Bind it to "error-messages" of the Form: ${{data.{name}}}.'
        if not screen.forms:
            path = f"{name}.{next(iter(parts))}" if isinstance(parts, dict) and parts else name
            return f'Bind it to "error-message" of its input: ${{data.{path}}}.'
    return f"Show it with ${{data.{name}}}, or remove it."


def _find_used_names(flow: FlowNode) -> set[tuple[str | None, str, str]]:
    """Return the screen, store and name of each reference in a flow."""
    texts = [(each.owner.screen, each.references) for each in flow.bindings]
    texts += [(screen, find_references(str(screen.value.get("title")))) for screen in flow.screens]
    return {
        (each.screen or screen.id, each.store, each.path[0])
        for screen, parts in texts
        for each in parts
    }


def find_unsent_inputs(flow: FlowNode) -> Iterator[tuple[ComponentNode, Patch]]:
    """Yield each input that nothing sends or reads, with the patch that sends it."""
    used, planned = _find_used_names(flow), set[str]()
    for screen in flow.screens:
        for name, component in screen.fields.items():
            is_input = component.shape is not None and component.shape.is_input
            if is_input and (screen.id, "form", name) not in used:
                yield component, tuple(_patch_payloads(flow, component, planned))


def _is_disabled(component: ComponentNode | None) -> bool:
    """Return whether a component, or one around it, is invisible or disabled."""
    if component is None:
        return False
    states = (component.value.get("visible"), component.value.get("enabled"))
    return any(each in (False, "`false`") for each in states) or _is_disabled(component.parent)


def _patch_payloads(
    flow: FlowNode, component: ComponentNode, planned: set[str]
) -> Iterator[PatchOperation]:
    """Yield the operations that send an input when its screen is left, or when the flow ends."""
    name, screen = component.name or "", component.screen
    is_late, senders = flow.version >= (4, 0), _find_sending_actions(flow)
    own = [each for each in senders if each.screen is screen]
    text, ends = f"${{form.{name}}}", own
    if own and not is_late and component.form is not own[0].owner.form:
        ends = []  # its Footer cannot read it
    elif not own:
        text = f"${{screen.{screen.id}.form.{name}}}"
        ends = [each for each in senders if each.screen.terminal and is_late]
    for action in ends if parse_reference(text) and _can_be_sent(component) else ():
        key = name
        while key in (action.payload or {}) or f"{action.pointer}/{key}" in planned:
            key = f"{screen.id}_{key}".lower() if key == name else f"{key}_2"
        planned.add(f"{action.pointer}/{key}")
        yield PatchOperation("add", f"{action.pointer}/payload/{escape_key(key)}", text)


def _can_be_sent(component: ComponentNode) -> bool:
    """Return whether an answer can hold the files that a picker takes; True for other inputs."""
    counts = [n for key, n in component.value.items() if key.startswith("max-uploaded-")]
    is_picker = component.shape is not None and component.shape.group == "media input"
    return not is_picker or any(isinstance(n, int) and n <= MOST_FILES for n in counts)


def _find_sending_actions(flow: FlowNode) -> list[ActionNode]:
    """Return the actions of Footers that send answers to the business."""
    return [
        action
        for action in flow.actions
        if action.owner.type == "Footer"
        and action.name in ("complete", "data_exchange")
        and isinstance(action.value.get("payload", {}), dict)
    ]
