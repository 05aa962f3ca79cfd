"""Code: the Python that builds a flow document."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields
from itertools import count
from typing import Any, cast

from chatkit.errors import InputError
from chatkit.flowjson.build.example import example
from chatkit.flowjson.build.flow import Flow, parse
from chatkit.flowjson.build.piece import Piece
from chatkit.flowjson.build.printer import Node, call, constant, laid_out, listing, mapping, quoted
from chatkit.flowjson.build.screen import Screen, in_form
from chatkit.flowjson.version import Version

_LONG = 200  # characters of a text without a blank: a picture, which gets a name of its own
#: Names that no variable may have.
_TAKEN = {"example", "flow", "parse", *keyword.kwlist, *keyword.softkwlist, *dir(builtins)}


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
    return _Writer().module(parse(document))


def expression(piece: Piece) -> str:
    """Write the Python that builds one piece, long texts cut short."""
    return laid_out(_Writer(cut=True).piece(piece))


class _Writer:
    """Writes pieces, and notes which names they need."""

    def __init__(self, cut: bool = False) -> None:
        self.cut = cut
        self.imported: set[str] = set()
        self.pictures: dict[str, str] = {}

    def module(self, flow: Flow) -> str:
        """Write a whole module: imports, pictures, one statement a screen, the flow."""
        whole = flow.to_json()
        lines = []
        if _rebuilt(flow) != whole:
            lines.append(self.statement("flow", self.called("parse", [self.json(whole)])))
        else:
            names = _names([screen.id for screen in flow.screens])
            for name, screen in zip(names, flow.screens, strict=True):
                lines.append(self.statement(name, self.screen(screen, flow)))
            given = [node for node in self.arguments(flow) if node[0] != "screens"]
            lines.append(self.statement("flow", self.called("Flow", [listing(names)], given)))
        pictures = [f"{name} = {quoted(text)}\n" for text, name in self.pictures.items()]
        return "\n".join([self.imports(), *(["".join(pictures)] if pictures else []), *lines])

    def statement(self, name: str, node: Node) -> str:
        """Write an assignment."""
        return f"{name} = {laid_out(node, len(name) + 3)}\n"

    def imports(self) -> str:
        """Write the line of imports, sorted as a formatter sorts them."""
        names = sorted(self.imported, key=lambda name: (not name[0].isupper(), name))
        line = f"from chatkit.flowjson import {', '.join(names)}\n"
        if len(line) <= 89:
            return line
        return "".join(
            ["from chatkit.flowjson import (\n", *(f"    {name},\n" for name in names), ")\n"]
        )

    def screen(self, screen: Screen, flow: Flow) -> Node:
        """Write a screen; one whose inputs a built flow would put into a Form as JSON."""
        version = Version.parse(flow.version)
        if version and version < (4, 0) and in_form(screen.children) is not screen.children:
            return self.json(screen.to_json())
        return self.piece(screen)

    def piece(self, piece: Piece) -> Node:
        """Write a piece: the call that builds it, or its JSON if its class refuses it."""
        whole = piece.to_json()
        if _rebuilt(piece) != whole:
            return self.json(whole)
        keyed = {f.name for f in fields(cast(Any, piece)) if f.kw_only}
        given = dict(self.arguments(piece))
        last = [name for name in given if name not in keyed]
        placed = [f.name for f in fields(cast(Any, piece)) if f.name not in keyed]
        while placed and placed[-1] not in last:
            placed.pop()
        return self.called(
            type(piece).__name__,
            [given.pop(name, "None") for name in placed],
            given.items(),
        )

    def arguments(self, piece: Piece) -> Iterator[tuple[str, Node]]:
        """Write what a piece is made of."""
        for name in [*(f.name for f in fields(cast(Any, piece)) if f.name != "more"), "more"]:
            value = getattr(piece, name)
            if value is None or (name == "more" and not value):
                continue
            if isinstance(piece, Screen) and name == "data":
                yield name, mapping((key, self.field(item)) for key, item in value.items())
            else:
                yield name, self.value(value)

    def value(self, value: Any) -> Node:
        """Write a value in which pieces may stand."""
        if isinstance(value, Piece):
            return self.piece(value)
        if isinstance(value, list):
            return listing(map(self.value, value))
        if isinstance(value, dict):
            return mapping((key, self.value(item)) for key, item in value.items())
        return self.json(value)

    def field(self, declared: Any) -> Node:
        """Write a field of the data model: by its example if that tells all."""
        try:
            told = isinstance(declared, dict) and example(declared["__example__"]) == declared
        except (KeyError, InputError):
            told = False
        if not told:
            return self.json(declared)
        return self.called("example", [self.json(declared["__example__"])])

    def json(self, value: Any) -> Node:
        """Write JSON; pictures by name."""
        if isinstance(value, list):
            return listing(map(self.json, value))
        if isinstance(value, dict):
            return mapping((key, self.json(item)) for key, item in value.items())
        if not (isinstance(value, str) and len(value) > _LONG and re.fullmatch(r"\S+", value)):
            return constant(value)
        if self.cut:
            return quoted(f"{value[:40]}…")
        return self.pictures.setdefault(value, f"PICTURE_{len(self.pictures) + 1}")

    def called(
        self, name: str, arguments: Iterable[Node], named: Iterable[tuple[str, Node]] = ()
    ) -> Node:
        """Write a call of one of our names."""
        self.imported.add(name)
        return call(name, arguments, named)


def _rebuilt(piece: Piece) -> dict[str, Any] | None:
    """Build a piece once more, as its code would; None if its class refuses that."""
    given = {name: getattr(piece, name) for name in [*piece.keys, "more"]}
    try:
        return type(piece)(**given).to_json()
    except InputError:
        return None


def _names(ids: Iterable[object]) -> list[str]:
    """Make a variable of each screen's id: WELCOME, welcome."""
    taken = set(_TAKEN)
    names = []
    for id in ids:
        base = re.sub(r"[^a-z0-9]+", "_", str(id).lower()).strip("_") or "screen"
        base = base if base[0].isalpha() and base not in _TAKEN else f"screen_{base}"
        name = next(n for i in count(1) if (n := base if i == 1 else f"{base}_{i}") not in taken)
        taken.add(name)
        names.append(name)
    return names
