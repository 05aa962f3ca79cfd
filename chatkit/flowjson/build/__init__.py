"""Build flow documents from Python objects, read them, and write the code that builds them.

The classes of components are made from their table. Editors and type checkers read `classes.pyi`,
which `python tests/flowjson/build/classes.py` writes from the same table.
"""

import builtins
import keyword
import re
from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY
from itertools import count
from types import new_class
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Union, cast

from chatkit.errors import InputError
from chatkit.flowjson.build.piece import (
    Action,
    Base64,
    Block,
    CodeWriter,
    Date,
    Flag,
    Integer,
    Items,
    Map,
    Nest,
    Node,
    Number,
    One,
    Payload,
    Piece,
    Reference,
    Target,
    WriteContext,
    all_blocks,
    attribute_name,
    format_node,
    list_node,
    piece_of,
    quote_text,
    rebuild_json,
    suggest_name,
)
from chatkit.flowjson.components import (
    ACTIONS,
    COMPONENTS,
    DOCUMENT,
    RECOMMENDED,
    SCREEN,
    ComponentShape,
    Kind,
    Property,
    Shape,
)
from chatkit.flowjson.document import read_document
from chatkit.util.display import cut, escaped, format_short_json, many

if TYPE_CHECKING:
    from chatkit.flowjson.lint import Findings

# --- actions and components -----------------------------------------------------------------


@piece_of(ACTIONS["navigate"])
class Navigate(Action):
    """Action that shows another screen, named by its id or by itself.

    >>> Navigate("DONE").to_json()
    {'name': 'navigate', 'next': {'type': 'screen', 'name': 'DONE'}}
    """

    nests: ClassVar = {"next": Nest("next", "name", {"type": "screen"})}

    next: Target
    payload: Payload | None = None


@piece_of(ACTIONS["complete"])
class Complete(Action):
    """Action that ends the flow and sends what was entered."""

    payload: Payload | None = None


@piece_of(ACTIONS["data_exchange"])
class DataExchange(Action):
    """Action that asks your endpoint what comes next."""

    payload: Payload | None = None


@piece_of(ACTIONS["update_data"])
class UpdateData(Action):
    """Action that changes the data of the current screen."""

    payload: Payload


@piece_of(ACTIONS["open_url"])
class OpenUrl(Action):
    """Action that opens a web page."""

    url: str


RANGE = Shape(
    "range",
    "One value for the first day and one for the last.",
    (
        Property("start-date", "text", "For the first day."),
        Property("end-date", "text", "For the last day."),
    ),
)


@piece_of(RANGE)
class Range(Piece):
    """One value for the first day of a stay and one for the last.

    >>> Range("Arrival", "Departure").to_json()
    {'start-date': 'Arrival', 'end-date': 'Departure'}
    """

    start_date: str | Flag
    end_date: str | Flag


_TEXTS: tuple[Kind, ...] = ("text", "name", "url", "regex", "color", "condition")
_TYPES: dict[Kind, Any] = {
    **dict.fromkeys(_TEXTS, str),
    "base64": Base64,
    "date": Date,
    "reference": Reference,
    "boolean": Flag,
    "integer": Integer,
    "number": Number,
    "dates": list[Date],
    "strings": list[str],
    "map": Map,
    "range": One[Range],
    "action": One[Action],
    "components": Items[Block],
    "cases": dict[str, Items[Block]],
}
#: Kinds whose type holds a reference already, or never one.
_COMPLETE = {*_TEXTS, "base64", "date", "boolean", "integer", "number", "reference", "action"}


def _make_component_classes() -> dict[str, Any]:
    """Make the classes of all components and of the objects in them, by name."""
    classes: dict[Shape, type[Piece]] = {}

    def hint(about: Property, *, optional: bool) -> Any:
        kinds = (about.kind, *(kind for kind, _ in about.other_kinds))
        hints = [item_type(about, kind) for kind in kinds]
        if about.binding and _COMPLETE.isdisjoint(kinds):
            hints.append(Reference)
        return Union[tuple([*hints, None] if optional else hints)]  # noqa: UP007  (of a list)

    def item_type(about: Property, kind: Kind) -> Any:
        if kind in ("choice", "choices"):
            choice: Any = Literal[about.enum]
            return choice if kind == "choice" else list[choice]
        if about.item is None:
            return _TYPES[kind]
        return (Items if kind == "items" else One)[make(about.item)]

    def make(shape: Shape) -> type[Piece]:
        if shape in classes:
            return classes[shape]
        base = Block if isinstance(shape, ComponentShape) else Piece
        annotations: dict[str, Any] = {}
        body: dict[str, Any] = {"__doc__": shape.about, "__module__": "chatkit.flowjson"}
        own = [each for each in shape.properties if base is Piece or each.name != "type"]
        for each in sorted(own, key=lambda each: each.required is None):
            if each.required is None:
                annotations["_"] = KW_ONLY
                body[attribute_name(each.name)] = None
            # what only later versions demand may be absent in earlier ones
            optional = each.required is None or each.required > each.since
            annotations[attribute_name(each.name)] = hint(each, optional=optional)
        name = "".join(word[0].upper() + word[1:] for word in re.split("[- ]", shape.name))
        body["__annotations__"] = annotations
        classes[shape] = piece_of(shape)(
            new_class(name, (base,), exec_body=lambda ns: ns.update(body))
        )
        return classes[shape]

    for shape in COMPONENTS.values():
        make(shape)
    return {each.__name__: each for each in classes.values()}


#: The classes by their names; `chatkit.flowjson` shows them.
CLASSES = _make_component_classes()


# --- screens and flows ----------------------------------------------------------------------


@piece_of(SCREEN)
class Screen(Piece):
    """A screen.

    `screen["email"]` is the component of that name.

    >>> from chatkit.flowjson import Complete, Footer, TextInput
    >>> email = TextInput("email", "Your e-mail", input_type="email")
    >>> done = Footer("Send", Complete({"email": email}))
    >>> Screen("CONTACT", "Contact", [email, done], terminal=True)
    <Screen CONTACT: 2 components>
    """

    nests: ClassVar = {"children": Nest("layout", "children", {"type": "SingleColumnLayout"})}
    order: ClassVar = (
        *("id", "title", "terminal", "success", "refresh_on_back", "sensitive"),
        *("data", "children"),
    )

    id: str
    title: str
    children: Items[Block]
    _: KW_ONLY
    terminal: bool | None = None
    success: bool | None = None
    refresh_on_back: bool | None = None
    sensitive: list[str] | None = None
    data: Map | None = None

    def __getitem__(self, name: str) -> Block:
        for block in self.blocks():
            if getattr(block, "name", None) == name:
                return block
        names = [block.entered for block in self.blocks() if block.entered]
        better = suggest_name(name, names) or "."
        raise KeyError(f"The screen {self.id} has no component {name!r}{better}")

    def blocks(self) -> list[Block]:
        """List all its components, also those in others, in the order of the document."""
        return list(all_blocks(self.children))

    def write_json(self, context: WriteContext) -> dict[str, Any]:
        """Write it as JSON; references in its components are relative to this screen."""
        return super().write_json(context._replace(screen=self.id))

    def __repr__(self) -> str:
        return f"<Screen {self.id}: {many(len(self.blocks()), 'component')}>"


@piece_of(DOCUMENT)
class Flow(Piece):
    """A flow.

    `flow["CONTACT"]` is the screen of that id. A flow with an endpoint (`data_api_version`) needs a
    `routing_model`: `flow.lint().fix()` adds that of its navigate actions.

    >>> from chatkit.flowjson import Complete, Footer, TextBody
    >>> done = Screen("DONE", "Done", [TextBody("Bye"), Footer("OK", Complete())], terminal=True)
    >>> flow = Flow([done])
    >>> flow
    <Flow 7.3: 1 screen, 2 components>
    >>> list(flow.to_json()["screens"][0])
    ['id', 'title', 'terminal', 'layout']
    """

    order: ClassVar = (
        *("version", "data_api_version", "data_channel_uri", "routing_model", "meta", "screens"),
    )

    screens: Items[Screen]
    _: KW_ONLY
    version: str = str(RECOMMENDED)
    data_api_version: str | None = None
    routing_model: Map | None = None
    data_channel_uri: str | None = None
    meta: Map | None = None

    def __getitem__(self, id: str) -> Screen:
        for screen in self.screens:
            if screen.id == id:
                return screen
        ids = [screen.id for screen in self.screens]
        better = suggest_name(id, ids) or "."
        raise KeyError(f"There is no screen {id!r}{better}")

    def blocks(self) -> Iterator[tuple[Screen, Block]]:
        """Yield every component with its screen, in the order of the document."""
        for screen in self.screens:
            for block in all_blocks(screen.children):
                yield screen, block

    def to_json(self) -> dict[str, Any]:
        """Write the flow document as a dict: `json.dumps(flow.to_json())` is its JSON text."""
        return self.write_json(WriteContext(homes=self.find_homes()))

    def find_homes(self) -> dict[int, str]:
        """Return the id of the screen of each component, by the identity of the object.

        Raises:
            InputError: One object stands on two screens.
        """
        screen_ids: dict[int, str] = {}
        for screen, block in self.blocks():
            screen_id = screen_ids.setdefault(id(block), screen.id)
            if screen_id != screen.id:
                raise InputError(
                    f"One {type(block).__name__} object stands on two screens, {screen_id} and "
                    f"{screen.id}: make another one for the second, for example with copy.copy()."
                )
        return screen_ids

    def _validate(self) -> None:
        self.find_homes()

    def lint(self, version: str | None = None) -> "Findings":
        """Check it as the platform would: see `flowjson.lint`."""
        from chatkit.flowjson.lint import lint

        return lint(self, version)

    def __repr__(self) -> str:
        counts = (len(self.screens), "screen"), (len(list(self.blocks())), "component")
        return f"<Flow {self.version}: {', '.join(many(*count) for count in counts)}>"

    def _repr_html_(self) -> str:
        screens = []
        for each in (one for one in self.screens if isinstance(one, Screen)):
            end = " <i>(terminal)</i>" if each.terminal is True else ""
            title = f"<b>{escaped(cut(str(each.id)))}</b> {escaped(cut(str(each.title or '')))}"
            screens.append(title + end + _blocks_html(each.children))
        head = f"<b>Flow</b> {escaped(str(self.version))}, {many(len(self.screens), 'screen')}"
        return f'<div class="chatkit-flow">{head}{_list_html(screens)}</div>'


def parse(document: object) -> Flow:
    """Read a flow document: a dict, JSON text, a file, or a flow of your account.

    Nothing gets lost: `parse(document).to_json()` is the document again, in the same order. What
    does not fit is kept as it is: `lint` says what is wrong with it.

    Raises:
        InputError: It is no JSON object.
    """
    value = read_document(document)
    if not isinstance(value, dict):
        raise InputError(f"A flow document is an object, and not {format_short_json(value)}.")
    return cast(Flow, Flow.read(value))


# --- as code ----------------------------------------------------------------------------

#: Names that no variable of the written code may have.
_RESERVED_NAMES = {"example", "flow", "parse", *keyword.kwlist, *keyword.softkwlist, *dir(builtins)}


def to_code(document: object) -> str:
    r"""Write the Python that builds a flow document.

    What the classes refuse is written as the JSON that it is, so that the code always builds an
    equal document.

    >>> from chatkit.flowjson import Complete, Flow, Footer, Screen
    >>> done = Screen("BYE", "Good-bye", [Footer("Done", Complete())], terminal=True)
    >>> print(to_code(Flow([done])), end="")
    from chatkit.flowjson import Complete, Flow, Footer, Screen
    <BLANKLINE>
    bye = Screen("BYE", "Good-bye", [Footer("Done", Complete())], terminal=True)
    <BLANKLINE>
    flow = Flow([bye], version="7.3")

    Args:
        document: A Flow, a dict, JSON text, or a file.

    Raises:
        InputError: It is no JSON object.
    """
    flow, writer = parse(document), CodeWriter()
    whole, lines = flow.to_json(), []
    writer.context = WriteContext(homes=flow.find_homes())
    if rebuild_json(flow, writer.context) != whole:
        flow_node = writer.imported_call("parse", [writer.value_node(whole)])
    else:
        names = _make_variable_names([screen.id for screen in flow.screens])
        for name, screen in zip(names, flow.screens, strict=True):
            writer.context = writer.context._replace(screen=screen.id)
            lines.append(_write_assignment(name, writer.piece_node(screen)))
        arguments = [node for node in writer.argument_nodes(flow) if node[0] != "screens"]
        flow_node = writer.imported_call("Flow", [list_node(names)], arguments)
    lines.append(_write_assignment("flow", flow_node))
    pictures = [f"{name} = {quote_text(text)}\n" for text, name in writer.pictures.items()]
    return "\n".join(
        [_write_imports(writer.imported), *(["".join(pictures)] if pictures else []), *lines]
    )


def _write_assignment(name: str, node: Node) -> str:
    return f"{name} = {format_node(node, len(name) + 3)}\n"


def _write_imports(names: Iterable[str]) -> str:
    """Write the line of imports, sorted as a formatter sorts them."""
    ordered = sorted(names, key=lambda name: (not name[0].isupper(), name))
    line = f"from chatkit.flowjson import {', '.join(ordered)}\n"
    if len(line) <= 89:
        return line
    several = "".join(f"    {name},\n" for name in ordered)
    return f"from chatkit.flowjson import (\n{several})\n"


def _make_variable_names(ids: Iterable[object]) -> list[str]:
    """Make a variable name from the id of each screen: welcome from WELCOME."""
    taken = set(_RESERVED_NAMES)
    names = []
    for id in ids:
        base = re.sub(r"[^a-z0-9]+", "_", str(id).lower()).strip("_") or "screen"
        base = base if base[0].isalpha() and base not in _RESERVED_NAMES else f"screen_{base}"
        name = next(n for i in count(1) if (n := base if i == 1 else f"{base}_{i}") not in taken)
        taken.add(name)
        names.append(name)
    return names


# --- as a picture in a notebook ---------------------------------------------------------

_TEXT_KEYS = ("label", "text", "condition", "value", "alt_text")


def _blocks_html(blocks: object) -> str:
    if not isinstance(blocks, list):
        return ""
    return _list_html(list(map(_block_html, blocks)))


def _block_html(block: object) -> str:
    if not isinstance(block, Block):
        kind = block.get("type") if isinstance(block, dict) else None
        return f"<i>{escaped(cut(str(kind or 'unknown')))}</i>"
    words = [type(block).__name__]
    if name := getattr(block, "name", None):
        words.append(f"<code>{escaped(cut(str(name)))}</code>")
    text = next((text for key in _TEXT_KEYS if (text := getattr(block, key, None))), None)
    if text is not None and not isinstance(text, Piece):
        words.append(f"“{escaped(cut(' '.join(text) if isinstance(text, list) else str(text)))}”")
    for _, action in block.actions():
        target = str(action.next) if isinstance(action, Navigate) else action.shape.name
        words.append(f"→ {escaped(cut(target))}")
    html = " ".join(words)
    for name, blocks in block.branches():
        inner = _blocks_html(blocks)
        html += f"<div><i>{escaped(cut(name))}</i>{inner}</div>" if name else inner
    return html


def _list_html(items: list[str]) -> str:
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>" if items else ""
