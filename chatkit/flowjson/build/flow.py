"""Flow: a flow document as an object: built in Python, or read and changed."""

import json
from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar, cast

from chatkit.errors import InputError
from chatkit.flowjson.build.actions import Action, DataExchange, Navigate
from chatkit.flowjson.build.block import Block, walk
from chatkit.flowjson.build.kinds import Items, Map
from chatkit.flowjson.build.piece import Piece, Place, piece
from chatkit.flowjson.build.screen import Screen
from chatkit.flowjson.components import DOCUMENT
from chatkit.flowjson.document import read
from chatkit.flowjson.show import many, short
from chatkit.flowjson.version import RECOMMENDED, Version

if TYPE_CHECKING:
    from chatkit.flowjson.finding import Findings

_FORMLESS = Version(4, 0)  # the first version in which inputs may stand outside a Form


@piece(DOCUMENT)
class Flow(Piece):
    """A flow.

    `flow["CONTACT"]` is the screen of that id. A flow with an endpoint (`data_api_version`) gets
    its `routing_model` from its actions if you give none; before version 4.0 the inputs of a
    screen are put into a Form. Neither touches what was read from a document.

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
        raise KeyError(f"There is no screen {id!r}.")

    def blocks(self) -> Iterator[tuple[Screen, Block]]:
        """Yield every component with its screen, in the order of the document."""
        for screen in self.screens:
            for block in walk(screen.children):
                yield screen, block

    def to_json(self) -> dict[str, Any]:
        """Write the flow document as a dict."""
        homes = {id(block): screen.id for screen, block in reversed(list(self.blocks()))}
        version = Version.parse(self.version)
        return self.written(Place(homes=homes, forms=bool(version and version < _FORMLESS)))

    def put(self, name: str, value: Any, place: Place) -> Any:
        """Write one property; a built flow with an endpoint needs a routing model."""
        if name == "routing_model" and value is None and self.data_api_version:
            return self.route() if self._memory is None else None
        return super().put(name, value, place)

    def text(self) -> str:
        """Write the flow document as JSON text, indented."""
        return json.dumps(self.to_json(), ensure_ascii=False, indent=2)

    def route(self) -> dict[str, list[str]]:
        """Derive the routing model: which screens follow each screen.

        `navigate` leads to its target, and on a tap `data_exchange` is taken to lead to the
        screen that follows. Where your endpoint decides otherwise, change what you get here and
        set `flow.routing_model`.
        """
        screens = [screen for screen in self.screens if screen.id]
        routes: dict[str, list[str]] = {screen.id: [] for screen in screens}
        for screen, after in zip(screens, [*screens, None][1:], strict=True):
            for key, action in _actions(screen):
                if isinstance(action, Navigate):
                    target = str(action.next)
                elif isinstance(action, DataExchange) and key == "on-click-action" and after:
                    target = screen.id if screen.terminal else after.id
                else:
                    continue
                # only forward: the way back needs no route, and may have none
                known = target in routes and target not in (screen.id, *routes[screen.id])
                if known and screen.id not in routes[target]:
                    routes[screen.id].append(target)
        return routes

    def lint(self, version: str | None = None) -> "Findings":
        """Check it as the platform would: see `flowjson.lint`."""
        from chatkit.flowjson.lint import lint

        return lint(self, version)

    def to_code(self) -> str:
        """Write the Python that builds it: see `flowjson.to_code`."""
        from chatkit.flowjson.build.code import to_code

        return to_code(self)

    def __repr__(self) -> str:
        counts = (len(self.screens), "screen"), (len(list(self.blocks())), "component")
        return f"<Flow {self.version}: {', '.join(many(*count) for count in counts)}>"

    def _repr_html_(self) -> str:
        from chatkit.flowjson.build.tree import tree

        return tree(self)


def parse(document: object) -> Flow:
    """Read a flow document: a dict, JSON text, a file, or a flow of your account.

    Nothing gets lost: `parse(document).to_json()` is the document again, in the same order. What
    does not fit is kept as it is: `lint` says what is wrong with it.

    Raises:
        InputError: It is no JSON object.
    """
    value = read(document)
    if not isinstance(value, dict):
        raise InputError(f"A flow document is an object, and not {short(value)}.")
    return cast(Flow, Flow.read(value))


def _actions(screen: Screen) -> Iterator[tuple[str, Action]]:
    for block in screen.blocks():
        yield from block.actions()
