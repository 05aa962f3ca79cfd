"""Draw the screens of a flow document and the edges between them.

`graph` finds both, `assign_rows` puts the screens into rows, and `draw_svg` draws them as an SVG
that needs nothing else, and is light or dark as the page around it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape as html_escape
from html import unescape as html_unescape
from pathlib import Path
from typing import Any, Literal

from chatkit.flowjson.document import read_document
from chatkit.flowjson.nodes import FlowNode, read_nodes
from chatkit.util.display import cut, many
from chatkit.util.json import escape_key

Kind = Literal["navigate", "data_exchange", "routing_model"]


@dataclass(frozen=True, slots=True)
class Node:
    """A screen node; `known` is False if only an edge names it."""

    id: str
    title: str
    pointer: str | None
    entry: bool
    terminal: bool
    known: bool = True


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge between screens: by navigate, by the endpoint, or only permitted."""

    source: str
    target: str
    kind: Kind
    label: str  #: what a person taps, if it says something
    pointer: str


@dataclass(frozen=True)
class Graph:
    """The screens of a flow and the edges between them; in a notebook it shows a picture."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def svg(self) -> str:
        """Return the graph as a drawing that needs nothing else."""
        return draw_svg(self)

    def __repr__(self) -> str:
        lines = [f"{many(len(self.nodes), 'screen')}, {many(len(self.edges), 'edge')}."]
        for node in self.nodes:
            marks = ", ".join(_describe_node(node))
            title = f' "{cut(node.title, 40)}"' if node.title else ""
            lines.append(f"  {cut(node.id, 40)}{title}" + (f" ({marks})" if marks else ""))
            for edge in self.edges:
                if edge.source == node.id:
                    label = f' "{cut(edge.label, 30)}"' if edge.label else ""
                    lines.append(f"    → {cut(edge.target, 40)}, {edge.kind}{label}")
        return "\n".join(lines)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return the drawing as a part of a page, which follows its theme, and as a picture."""
        svg = self.svg()
        html = f'<div class="tex2jax_ignore mathjax_ignore">{svg}</div>'
        return {"text/plain": repr(self), "text/html": html, "image/svg+xml": svg}


def graph(document: object) -> Graph:
    """Draw the screens of a flow document and the edges between them.

    An edge is what a tap does (`navigate`), what the endpoint may answer to a `data_exchange`,
    or what only the `routing_model` permits. A screen that is named but not there is drawn too.

    Args:
        document: A dict, JSON text, a file, or a built Flow.

    Raises:
        InputError: It is no JSON.
    """
    flow = read_nodes(read_document(document))
    edges = tuple(_find_edges(flow))
    reached = {edge.target for edge in edges if edge.source != edge.target}
    screens = [screen for screen in flow.screens if flow.by_id.get(screen.id or "") is screen]
    free = [screen for screen in screens if screen.id not in reached]
    # a last screen to which only the endpoint leads is no beginning
    starts = [screen for screen in free if not screen.terminal] or free[:1] or screens[:1]
    nodes = []
    for screen in screens:
        title = text if isinstance(text := screen.value.get("title"), str) else ""
        entry = screen in starts
        nodes.append(Node(screen.id or "", title, screen.pointer, entry, screen.terminal))
    named = [name for edge in edges for name in (edge.source, edge.target)]
    nodes += [
        Node(name, "", None, entry=False, terminal=False, known=False)
        for name in dict.fromkeys(named)
        if name not in flow.by_id
    ]
    return Graph(tuple(nodes), edges)


def _describe_node(node: Node) -> list[str]:
    """Return the special properties of a screen in words."""
    marks = [("entry", node.entry), ("terminal", node.terminal), ("missing", not node.known)]
    return [name for name, is_so in marks if is_so]


def _find_edges(flow: FlowNode) -> list[Edge]:
    """Find all edges, each once: as navigate if an action does it, not as only permitted."""
    edges: dict[tuple[str, str, str], Edge] = {}
    exchange_labels: dict[str, str] = {}
    for action in flow.actions:
        source = action.screen.id
        if source is None:
            continue
        label = _read_label(action.owner.value)
        if action.name == "data_exchange":
            exchange_labels.setdefault(source, label)
        if action.name == "navigate" and action.target is not None:
            edge = Edge(source, action.target, "navigate", label, action.pointer)
            edges.setdefault((source, action.target, label), edge)
    navigated = {(edge.source, edge.target) for edge in edges.values()}
    for source, targets in (flow.routing or {}).items():
        for n, target in enumerate(targets if isinstance(targets, list) else ()):
            if not isinstance(target, str) or (source, target) in navigated:
                continue
            kind: Kind = "data_exchange" if source in exchange_labels else "routing_model"
            pointer = f"/routing_model/{escape_key(source)}/{n}"
            edge = Edge(source, target, kind, exchange_labels.get(source, ""), pointer)
            edges.setdefault((source, target, ""), edge)
    return list(edges.values())


def _read_label(component: dict[str, Any]) -> str:
    for key in ("label", "text"):
        if isinstance(text := component.get(key), str):
            return " ".join(text.split())
    return ""


def assign_rows(nodes: Sequence[str], pairs: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Put nodes into rows, by the fewest edges that lead to them from a node without any."""
    reached = {target for source, target in pairs if source != target}
    row = [node for node in nodes if node not in reached]
    remaining, rows = dict.fromkeys(nodes), []
    while remaining:
        row = [node for node in row if node in remaining] or [next(iter(remaining))]  # of a cycle
        rows.append(row)
        remaining = {node: None for node in remaining if node not in row}
        below = {target for source, target in pairs if source in row}
        row = [node for node in remaining if node in below]
    return rows


WIDTH, HEIGHT = 190, 58  #: of a screen
_COLUMN_GAP, _ROW_GAP = 34, 62  #: between two of a row, and between two rows
_MARGIN = 20  #: around everything

#: In a page of Jupyter the drawing is dark where the page is, at once; a picture of its own asks
#: the system.
_STYLE = Path(__file__).with_suffix(".css").read_text("utf-8")
_LEGEND = {
    "navigate": "a tap leads there",
    "data_exchange": "the endpoint decides",
    "routing_model": "permitted only",
}

Point = tuple[float, float]


def draw_svg(picture: Graph) -> str:
    """Draw a graph as an SVG that needs nothing else, from top to bottom."""
    pairs = [(edge.source, edge.target) for edge in picture.edges]
    rows = assign_rows([node.id for node in picture.nodes], pairs)
    row_of = {id: n for n, row in enumerate(rows) for id in row}
    centers: dict[str, Point] = {}
    widths = [(WIDTH + _COLUMN_GAP) * len(row) - _COLUMN_GAP for row in rows]
    needs_margin = any(row_of[target] != row_of[source] + 1 for source, target in pairs)
    inner_width = max([*widths, 330.0])
    for n, row in enumerate(rows):
        x = _MARGIN + (inner_width - widths[n]) / 2
        for id in row:
            centers[id] = (x + WIDTH / 2, _MARGIN + n * (HEIGHT + _ROW_GAP) + HEIGHT / 2)
            x += WIDTH + _COLUMN_GAP
    kinds = [kind for kind in _LEGEND if any(edge.kind == kind for edge in picture.edges)]
    height = 2 * _MARGIN + len(rows) * (HEIGHT + _ROW_GAP) - _ROW_GAP + (26 if kinds else 0)
    # one edge where several taps lead to the same screen
    once = {(edge.source, edge.target): edge for edge in reversed(picture.edges)}
    drawn = [_draw_edge(edge, centers, row_of, inner_width) for edge in reversed(once.values())]
    parts = [line for line, _ in drawn] + [words for _, words in drawn]  # words above all lines
    parts += [_draw_node(node, centers[node.id]) for node in picture.nodes]
    parts.append(_draw_legend(kinds, height - 14))
    size = inner_width + 2 * _MARGIN + (30 if needs_margin else 0)
    title = f"<title>{len(picture.nodes)} screens of a flow and the edges between them</title>"
    shape = f'width="{size:.0f}" height="{height:.0f}" viewBox="0 0 {size:.0f} {height:.0f}"'
    arrow = (
        '<defs><marker id="chatkit-flow-to" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto-start-reverse"><path class="tip" d="M0 0 8 4 0 8z"/>'
        "</marker></defs>"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chatkit-flow" role="img" {shape}>'
        f"{title}<style>{_STYLE}</style>{arrow}{''.join(parts)}</svg>"
    )


def _draw_node(node: Node, center: Point) -> str:
    x, y = center
    names = _describe_node(node)
    radius = HEIGHT / 2 if node.terminal else 8
    title = node.title.strip() or node.id
    up = 7 if names else 3
    lines = [f'<text class="title" x="{x:.0f}" y="{y - up:.0f}">{_shorten(title, 24)}</text>']
    id = _shorten(node.id, 26)
    lines.append(f'<text class="id" x="{x:.0f}" y="{y - up + 16:.0f}">{id}</text>')
    if names:
        badge = " · ".join(names)
        lines.append(f'<text class="badge" x="{x:.0f}" y="{y + 22:.0f}">{badge}</text>')
    hint = f"<title>{_escape_xml(node.id)}: {_escape_xml(cut(node.title, 200))}</title>"
    box = (
        f'<rect class="box" x="{x - WIDTH / 2:.0f}" y="{y - HEIGHT / 2:.0f}" width="{WIDTH}" '
        f'height="{HEIGHT}" rx="{radius:.0f}"/>'
    )
    return f'<g class="{" ".join(names)}">{hint}{box}{"".join(lines)}</g>'


def _draw_edge(
    edge: Edge, centers: dict[str, Point], row: dict[str, int], inner_width: float
) -> tuple[str, str]:
    """Return the SVG of an edge and of its label; all but those to the next row run at the side."""
    is_next = row[edge.target] == row[edge.source] + 1
    (x, y), (u, v) = centers[edge.source], centers[edge.target]
    if is_next:
        y, v = y + HEIGHT / 2, v - HEIGHT / 2 - 2
        half = (y + v) / 2
        path = f"M{x:.0f} {y:.0f}C{x:.0f} {half:.0f} {u:.0f} {half:.0f} {u:.0f} {v:.0f}"
    else:
        far = inner_width + _MARGIN + 22
        x, u = x + WIDTH / 2, u + WIDTH / 2
        if edge.source == edge.target:
            y, v = y - 12, v + 12
        path = f"M{x:.0f} {y:.0f}C{far:.0f} {y:.0f} {far:.0f} {v:.0f} {u + 2:.0f} {v:.0f}"
    has_words = edge.label and edge.kind != "routing_model" and is_next
    words = _draw_label(_shorten(edge.label, 22), (x + u) / 2, (y + v) / 2) if has_words else ""
    hint = f"<title>{_escape_xml(edge.source)} → {_escape_xml(edge.target)} ({edge.kind})</title>"
    line = f'<path class="edge {edge.kind}" d="{path}" marker-end="url(#chatkit-flow-to)"/>'
    return f"<g>{hint}{line}</g>", words


def _draw_label(text: str, x: float, y: float) -> str:
    """Return the SVG of a label on an edge."""
    width = 5.8 * len(html_unescape(text)) + 14
    box = f'<rect class="pill" x="{x - width / 2:.0f}" y="{y - 8:.0f}" width="{width:.0f}"'
    return (
        f'{box} height="16" rx="8"/><text class="label" x="{x:.0f}" y="{y + 3.5:.1f}">{text}</text>'
    )


def _draw_legend(kinds: list[str], y: float) -> str:
    parts, x = [], float(_MARGIN)
    for kind in kinds:
        parts.append(f'<path class="edge {kind}" d="M{x:.0f} {y - 4:.0f}h26"/>')
        parts.append(f'<text class="legend" x="{x + 32:.0f}" y="{y:.0f}">{_LEGEND[kind]}</text>')
        x += 52 + 6 * len(_LEGEND[kind])
    return "".join(parts)


def _shorten(text: str, space: int) -> str:
    """Shorten a text to a number of narrow characters, wide ones counting twice, and escape it."""
    fitted, used = "", 0
    text = cut(text, 4 * space)
    for n, c in enumerate(text):
        used += 2 if unicodedata.east_asian_width(c) in "WF" else 1
        if used > space and n < len(text) - 1:
            return _escape_xml(fitted[:-1].rstrip() + "…")
        fitted += c
    return _escape_xml(fitted)


def _escape_xml(text: str) -> str:
    """Escape a text for XML, which cannot hold every character."""
    return html_escape(cut(text, 200))
