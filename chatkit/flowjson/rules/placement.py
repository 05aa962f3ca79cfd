"""Rules of where components stand: in which container, how many, and beside which others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from chatkit.finding import Finding, Severity
from chatkit.flowjson.components import ADVISED_COMPONENTS, COMPONENTS, MOST_COMPONENTS, MOST_NESTED
from chatkit.flowjson.nodes import ComponentNode, FlowNode, ScreenNode, by_slot
from chatkit.flowjson.version import STRICT, Version
from chatkit.flowjson.visitor import rule
from chatkit.util.json_pointer import escape

_FREE_FORM = Version(4, 0)  # before, every input stands in a Form
_RICH_FOOTER = Version(6, 3)  # from here a Footer may stand beside RichText
_UNSEEN = ("CalendarPicker", "ChipsSelector")  # documented so, but the platform does not look
_PICKERS = ("PhotoPicker", "DocumentPicker")


# --- containers -------------------------------------------------------------------------


@rule("component")
def check_container(flow: FlowNode, component: ComponentNode) -> Iterator[Finding]:
    """Check that a component may stand in its parent."""
    shape, version = component.shape, flow.version
    if component.parent is None or shape is None or version < shape.since:
        return
    parent = component.parent.shape
    if parent is None or not parent.children:
        return
    since = parent.children.get(shape.name)
    at = f"{component.pointer}/type"
    if since is None or since > version:
        said = f"{shape.name} may not stand in {parent.name}"
        said += f" before version {since}; this is {version}." if since else "."
        yield Finding("INVALID_PROPERTY_VALUE", "error", at, said, "Move it out.")
    elif shape.name == "Footer" and _branches(component) > 1:
        said = "A Footer stands in an If or Switch of the first level only."
        yield Finding("INVALID_PROPERTY_VALUE", "error", at, said, "Move it out.")


@rule("screen")
def check_nesting(flow: FlowNode, screen: ScreenNode) -> Iterator[Finding]:
    """Find each If with too many levels of If in it, and what is nested too deeply at all."""
    for pointer in screen.too_deep:
        said = "This is nested more deeply than a flow can be."
        yield Finding("NESTED_TOO_DEEPLY", "error", pointer, said)
    found: dict[str, ComponentNode] = {}
    for component in screen.components:
        if component.type != "If" or component.if_depth < MOST_NESTED:
            continue
        outer = component
        for _ in range(MOST_NESTED):
            parent = outer.parent
            while parent is not None and parent.type != "If":
                parent = parent.parent
            outer = parent or outer
        found[outer.pointer] = outer
    for at in found:
        said = f"More than {MOST_NESTED} If stand in each other."
        hint = "Join conditions with &&, or use a Switch."
        yield Finding("MAXIMUM_IF_NESTING", "error", at, said, hint)


def _branches(component: ComponentNode) -> int:
    """Count the If and Switch around a component."""
    count, around = 0, component.branch
    while around is not None:
        count, around = count + 1, around.branch
    return count


@rule("screen")
def check_forms(flow: FlowNode, screen: ScreenNode) -> Iterator[Finding]:
    """Find inputs outside a Form where they need one."""
    version = flow.version
    if not screen.forms and version >= _FREE_FORM:
        return
    for component in screen.components:
        shape = component.shape
        if shape is None or not shape.is_input or component.form is not None:
            continue
        if version < _FREE_FORM:
            said = f"Before 4.0 {shape.name} stands in a Form only."
            yield Finding("KEYWORD_ONE_OF", "error", component.pointer, said, "Move it in.")
        else:
            said = f"{shape.name} stands outside the Form of its screen."
            hint = "Move it into the Form, or do without a Form."
            severity: Severity = "warning" if shape.name in _UNSEEN else "error"
            yield Finding("COMPONENTS_OUTSIDE_FORM", severity, component.pointer, said, hint)


@rule("screen")
def check_names(flow: FlowNode, screen: ScreenNode) -> Iterator[Finding]:
    """Find names that several components of a screen have."""
    named: dict[str, list[ComponentNode]] = {}
    for component in screen.components:
        shape = component.shape
        if component.name is None or shape is None:
            continue
        if "name" in shape.by_name and shape.name != "Form":
            named.setdefault(component.name, []).append(component)
    for name, found in named.items():
        for component in found if len(found) > 1 else ():
            said = f"{len(found)} components of the screen have the name {name[:60]!r}."
            at = f"{component.pointer}/name"
            hint = "Names are unique on a screen, in all branches."
            yield Finding("DUPLICATE_FORM_COMPONENT_NAMES", "error", at, said, hint)


# --- counts -----------------------------------------------------------------------------


def _at_once(components: list[ComponentNode]) -> Counter[str]:
    """Count what may be seen at once: of branches only the fuller one."""
    total: Counter[str] = Counter()
    for component in components:
        total[component.type or ""] += 1
        if component.type in ("If", "Switch"):
            most: Counter[str] = Counter()
            for branch in by_slot(component.children).values():
                most |= _at_once(branch)
            total += most
        elif component.children:
            total += _at_once(component.children)
    return total


@rule("screen")
def check_counts(flow: FlowNode, screen: ScreenNode) -> Iterator[Finding]:
    """Find more components on a screen than may be seen there at once."""
    counts = _at_once(screen.top)
    code, at = "COMPONENT_TYPE_MAX_NUMBER_PER_SCREEN", screen.pointer
    for name, count in counts.items():
        shape = COMPONENTS.get(name)
        if shape is None or shape.per_screen is None or flow.version < shape.per_screen_since:
            continue
        if count > shape.per_screen:
            said = f"The screen has {count} {name}; {shape.per_screen} is the most."
            yield Finding(code, "error", at, said, "Remove one, or use another screen.")
    if all(counts[name] for name in _PICKERS):
        said = "PhotoPicker and DocumentPicker exclude each other on a screen."
        yield Finding(code, "error", at, said, "Move one of them to another screen.")
    total = sum(component.type != "Form" for component in screen.components)
    code = "MAX_ALLOWED_COMPONENTS_PER_SCREEN"
    if total > MOST_COMPONENTS:
        said = f"The screen has {total} components; {MOST_COMPONENTS} are the most."
        yield Finding(code, "error", at, said, "Split the screen.")
    elif total > ADVISED_COMPONENTS:
        said = f"The screen has {total} components; {ADVISED_COMPONENTS} are documented."
        yield Finding(code, "warning", at, said, "Split the screen.")


@rule("flow")
def check_per_flow(flow: FlowNode, _: FlowNode) -> Iterator[Finding]:
    """Find more components of a type than a flow may hold."""
    so_far: Counter[str] = Counter()
    for component in flow.components:
        shape = component.shape
        if shape is None or shape.per_flow is None:
            continue
        so_far[shape.name] += 1
        if so_far[shape.name] == shape.per_flow + 1:
            said = f"The flow has more than {shape.per_flow} {shape.name}."
            code = "COMPONENT_TYPE_MAX_NUMBER_PER_SCREEN"
            yield Finding(code, "error", component.screen.pointer, said, "Remove one.")
            at = component.pointer  # the platform's checker gives it this code
            yield Finding("INVALID_PROPERTY_VALUE", "error", at, said, "Remove one.")


# --- Footers in branches, and those that stand alone --------------------------------------


@rule("screen")
def check_footers(flow: FlowNode, screen: ScreenNode) -> Iterator[Finding]:
    """Find branches without a Footer beside others with one."""
    branching = []
    for component in screen.components:
        if component.type not in ("If", "Switch"):
            continue
        with_footer = {child.slot for child in component.children if child.type == "Footer"}
        if not with_footer:
            continue
        branching.append(component)
        at = component.pointer.rpartition("/")[0]
        if component.type == "If":
            if with_footer != {"/then", "/else"}:
                missing = "else" if "/then" in with_footer else "then"
                said = f"One branch of the If has a Footer, {missing} has none."
                code = "MISSING_FOOTER_IN_IF_ELSE_BRANCHES"
                yield Finding(code, "error", at, said, f"Add a Footer to {missing}.")
        else:
            cases = component.value.get("cases")
            names = [str(case) for case in cases] if isinstance(cases, dict) else []
            without = [case for case in names if f"/cases/{escape(case)}" not in with_footer]
            if without:
                said = f"Some cases of the Switch have a Footer, {without[0][:60]!r} has none."
                code = "MISSING_FOOTER_IN_SWITCH_BRANCHES"
                yield Finding(code, "error", at, said, "Add a Footer to each case.")
    outside = [c for c in screen.components if c.type == "Footer" and c.branch is None]
    if branching and (outside or len(branching) > 1):
        said = "A Footer stands in branches, and another outside of them."
        at = branching[0].pointer.rpartition("/")[0]
        yield Finding("MORE_THAN_ONE_FOOTER", "error", at, said, "Keep those in the branches.")


@rule("screen")
def check_alone(flow: FlowNode, screen: ScreenNode) -> Iterator[Finding]:
    """Check components that stand alone on their screen."""
    types = {component.type for component in screen.components if component.type in COMPONENTS}
    at = screen.pointer
    if "RichText" in types:
        beside = {"Footer"} if flow.version >= _RICH_FOOTER else set()
        rich = sum(component.type == "RichText" for component in screen.components)
        if types - {"RichText"} - beside or rich > 1:
            said = "RichText stands alone on its screen"
            said += ", at most beside a Footer." if beside else "."
            code = "INVALID_COMPONENT_PLACEMENT"
            if flow.version < STRICT:
                code = "INVALID_RICHTEXT_PLACEMENT"
            yield Finding(code, "error", at, said, "Move the others to another screen.")
    if "NavigationList" in types:
        if types - {"NavigationList", "Form"}:
            said = "NavigationList stands alone on its screen."
            hint = "Move the others to another screen."
            yield Finding("INVALID_COMPONENT_PLACEMENT", "error", at, said, hint)
        if screen.terminal:
            said = "A screen with a NavigationList cannot be terminal."
            hint = "Remove terminal."
            yield Finding("INVALID_PROPERTY_KEY", "error", f"{at}/terminal", said, hint)
