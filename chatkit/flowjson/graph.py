"""The screens of a flow document and the ways between them, as a picture."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal

from chatkit.display import cut, many
from chatkit.flowjson.document import read_document
from chatkit.flowjson.outline import Outline, ScreenNode, outline
from chatkit.flowjson.pointer import escape

Kind = Literal["navigate", "data_exchange", "routing_model"]

#: How the ways are drawn, in the order in which they explain themselves.
ARROWS: dict[Kind, str] = {"navigate": "-->", "data_exchange": "-.->", "routing_model": "-.->"}
_SIMPLE = re.compile(r"[^\w \-.,:()?!]")


@dataclass(frozen=True, slots=True)
class Node:
    """One screen; one that is only named by a way is not `known`."""

    id: str
    title: str
    pointer: str | None
    entry: bool
    terminal: bool
    known: bool = True


@dataclass(frozen=True, slots=True)
class Edge:
    """One way from a screen to another: by navigate, by the endpoint, or only permitted."""

    source: str
    target: str
    kind: Kind
    label: str  #: what a person taps, if it says something
    pointer: str


@dataclass(frozen=True)
class Graph:
    """The screens of a flow and the ways between them; in a notebook it shows a picture."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    _svg: list[str] = field(default_factory=list, repr=False, compare=False)

    def mermaid(self) -> str:
        """Return the graph as Mermaid text, which JupyterLab, GitHub and many wikis draw."""
        names = {node.id: f"s{n}" for n, node in enumerate(self.nodes)}
        lines = ["flowchart TD"]
        for node in self.nodes:
            label = "<br/>".join(_quoted(part) for part in heading(node))
            left, right = '(["', '"])'
            if not node.terminal:
                left, right = '["', '"]'
            lines.append(f"  {names[node.id]}{left}{label}{right}")
        for edge in self.edges:
            label = f'|"{_quoted(cut(edge.label, 30))}"|' if edge.label else ""
            arrow = ARROWS[edge.kind]
            lines.append(f"  {names[edge.source]} {arrow}{label} {names[edge.target]}")
        for style, look, chosen in (
            ("entry", "stroke-width:3px", [n for n in self.nodes if n.entry]),
            (
                "missing",
                "stroke-dasharray:4 3,stroke:#d32f2f",
                [n for n in self.nodes if not n.known],
            ),
        ):
            if chosen:
                lines.append(f"  classDef {style} {look}")
                lines.append(f"  class {','.join(names[n.id] for n in chosen)} {style}")
        return "\n".join(lines) + "\n"

    def svg(self) -> str:
        """Return the graph as a drawing that needs nothing else."""
        if not self._svg:
            from chatkit.flowjson.drawing import drawing

            self._svg.append(drawing(self))
        return self._svg[0]

    def __repr__(self) -> str:
        lines = [f"{many(len(self.nodes), 'screen')}, {many(len(self.edges), 'way')}."]
        for node in self.nodes:
            marks = ", ".join(marks_of(node))
            title = f' "{cut(node.title, 40)}"' if node.title else ""
            lines.append(f"  {cut(node.id, 40)}{title}" + (f" ({marks})" if marks else ""))
            for edge in self.edges:
                if edge.source == node.id:
                    label = f' "{cut(edge.label, 30)}"' if edge.label else ""
                    lines.append(f"    → {cut(edge.target, 40)}, {edge.kind}{label}")
        return "\n".join(lines)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Give a page the drawing as a part of it, which follows its theme, else a picture."""
        html = f'<div class="tex2jax_ignore mathjax_ignore">{self.svg()}</div>'
        return {"text/plain": repr(self), "text/html": html, "image/svg+xml": self.svg()}


def graph(document: object) -> Graph:
    """Draw the screens of a flow document and the ways between them.

    A way is what a tap does (`navigate`), what the endpoint may answer to a `data_exchange`,
    or what only the `routing_model` permits. A screen that is named but not there is drawn too.

    Args:
        document: A dict, JSON text, a file, or a built Flow.

    Raises:
        InputError: It is no JSON.
    """
    whole = outline(read_document(document))
    edges = tuple(_ways(whole))
    reached = {edge.target for edge in edges if edge.source != edge.target}
    screens = [screen for screen in whole.screens if whole.by_id.get(screen.id or "") is screen]
    free = [screen for screen in screens if screen.id not in reached]
    # a last screen to which only the endpoint leads is no beginning
    starts = [screen for screen in free if not screen.terminal] or free[:1] or screens[:1]
    nodes = [_node(screen, screen in starts) for screen in screens]
    named = [name for edge in edges for name in (edge.source, edge.target)]
    nodes += [
        Node(name, "", None, entry=False, terminal=False, known=False)
        for name in dict.fromkeys(named)
        if name not in whole.by_id
    ]
    return Graph(tuple(nodes), edges)


def heading(node: Node) -> list[str]:
    """Write what stands on a screen of the picture, line by line."""
    lines = [cut(node.title, 28)] if node.title.strip() else []
    return [*lines, cut(node.id, 28), *([", ".join(marks)] if (marks := marks_of(node)) else [])]


def marks_of(node: Node) -> list[str]:
    """Name what is special about a screen."""
    marks = [("entry", node.entry), ("terminal", node.terminal), ("missing", not node.known)]
    return [name for name, is_so in marks if is_so]


def _node(screen: ScreenNode, entry: bool) -> Node:
    title = screen.value.get("title")
    text = title if isinstance(title, str) else ""
    return Node(screen.id or "", text, screen.pointer, entry, screen.terminal)


def _ways(whole: Outline) -> list[Edge]:
    """Find all ways, each once: what a tap does says more than what is permitted."""
    found: dict[tuple[str, str, str], Edge] = {}
    asks: dict[str, str] = {}
    for action in whole.actions:
        source = action.screen.id
        if source is None:
            continue
        label = _label(action.owner.value)
        if action.name == "data_exchange":
            asks.setdefault(source, label)
        if action.name == "navigate" and action.target is not None:
            edge = Edge(source, action.target, "navigate", label, action.pointer)
            found.setdefault((source, action.target, label), edge)
    walked = {(edge.source, edge.target) for edge in found.values()}
    for source, targets in (whole.routing or {}).items():
        for n, target in enumerate(targets if isinstance(targets, list) else ()):
            if not isinstance(target, str) or (source, target) in walked:
                continue
            kind: Kind = "data_exchange" if source in asks else "routing_model"
            pointer = f"/routing_model/{escape(source)}/{n}"
            edge = Edge(source, target, kind, asks.get(source, ""), pointer)
            found.setdefault((source, target, ""), edge)
    return list(found.values())


def _label(component: dict[str, Any]) -> str:
    for key in ("label", "text"):
        if isinstance(text := component.get(key), str):
            return " ".join(text.split())
    return ""


def _quoted(text: str) -> str:
    """Write a text from a stranger so that Mermaid takes none of it for its own language."""
    return _SIMPLE.sub(lambda found: f"#{ord(found[0])};", text)
