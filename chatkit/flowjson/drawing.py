"""The graph of a flow as an SVG that needs nothing else, light or dark as what is around it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape, unescape
from itertools import pairwise
from typing import TYPE_CHECKING

from chatkit.display import cut

if TYPE_CHECKING:
    from chatkit.flowjson.graph import Edge, Graph, Node


_SWEEPS = 6  # more change little

Way = tuple[str, str]


@dataclass(frozen=True)
class Layers:
    """The rows of a picture, each from left to right, and the bends of ways over many rows.

    A bend is a place that a long way takes in a row between, so that no node stands in it:
    (source, target, row).
    """

    rows: list[list[str | tuple[str, str, int]]]
    row: dict[str, int]


def layers(nodes: Sequence[str], ways: Iterable[Way]) -> Layers:
    """Put nodes into rows: each below all from which a way leads to it, cycles apart."""
    forward = _without_cycles(nodes, dict.fromkeys(way for way in ways if way[0] != way[1]))
    row = dict.fromkeys(nodes, 0)
    for _ in nodes:  # a longest path has fewer steps than there are nodes
        moved = False
        for source, target in forward:
            if row[target] <= row[source]:
                row[target], moved = row[source] + 1, True
        if not moved:
            break
    rows: list[list[str | tuple[str, str, int]]] = [
        [] for _ in range(max(row.values(), default=-1) + 1)
    ]
    for node in nodes:
        rows[row[node]].append(node)
    above: dict[object, list[object]] = {}
    below: dict[object, list[object]] = {}
    for source, target in forward:
        path: list[object] = [source]
        for n in range(row[source] + 1, row[target]):
            rows[n].append((source, target, n))
            path.append((source, target, n))
        path.append(target)
        for upper, lower in pairwise(path):
            below.setdefault(upper, []).append(lower)
            above.setdefault(lower, []).append(upper)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        order = range(1, len(rows)) if down else range(len(rows) - 2, -1, -1)
        for n in order:
            beside = rows[n - 1] if down else rows[n + 1]
            place = {one: i for i, one in enumerate(beside)}
            near = above if down else below
            now = {one: i for i, one in enumerate(rows[n])}

            def middle(one: object, near=near, place=place, now=now) -> float:  # type: ignore[no-untyped-def]
                known = [place[other] for other in near.get(one, ()) if other in place]
                return sum(known) / len(known) if known else float(now[one])

            rows[n].sort(key=middle)
    return Layers(rows, row)


def _without_cycles(nodes: Sequence[str], ways: dict[Way, None]) -> list[Way]:
    """Leave out the ways that lead back, seen from the first nodes."""
    after: dict[str, list[str]] = {}
    for source, target in ways:
        after.setdefault(source, []).append(target)
    back: set[Way] = set()
    state: dict[str, str] = {}
    for start in nodes:
        if start in state:
            continue
        state[start] = "open"
        stack = [(start, iter(after.get(start, ())))]
        while stack:
            node, targets = stack[-1]
            for target in targets:
                if state.get(target) == "open":
                    back.add((node, target))
                elif target not in state:
                    state[target] = "open"
                    stack.append((target, iter(after.get(target, ()))))
                    break
            else:
                state[node] = "done"
                stack.pop()
    return [way for way in ways if way not in back]


WIDTH, HEIGHT = 190, 58  #: of a screen
BESIDE, BELOW = 34, 62  #: between two of a row, and between two rows
EDGE = 20  #: around everything
BEND = 26  #: the width that a way takes which passes a row

# In a page of Jupyter the drawing is dark where the page is, at once; a picture of its own asks
# the system.
_DARK = """
  --paper: #202832; --edge: #77849a; --ink: #e8edf4; --pale: #aab4c2; --line: #93a0b3;
  --pill: #2d3744; --good: #1d3a2a; --good-edge: #6cc28b; --bad: #44211f; --bad-edge: #ff8a80;
  --entry: #6db1ff;
"""
STYLE = f"""
.chatkit-flow {{
  --paper: #f6f8fb; --edge: #8b95a5; --ink: #1c2430; --pale: #5f6673; --line: #667085;
  --pill: #e9edf3; --good: #e6f4ea; --good-edge: #4c9a66; --bad: #fdeceb; --bad-edge: #d64541;
  --entry: #2f7fd6;
  text {{ fill: var(--pale); font: 13px system-ui, sans-serif; text-anchor: middle; }}
  :is(.id, .legend, .says) {{ font-size: 10.5px; }}
  .title {{ fill: var(--ink); font-weight: 600; }}
  .box {{ fill: var(--paper); stroke: var(--edge); stroke-width: 1.2; }}
  .terminal .box {{ fill: var(--good); stroke: var(--good-edge); }}
  .missing .box {{ fill: var(--bad); stroke: var(--bad-edge); stroke-dasharray: 4 3; }}
  .entry .box {{ stroke: var(--entry); stroke-width: 2.4; }}
  .badge {{ font-size: 9.5px; letter-spacing: 0.04em; }}
  .way {{ fill: none; stroke: var(--line); stroke-width: 1.5; }}
  .tip {{ fill: var(--line); }}
  .data_exchange {{ stroke-dasharray: 6 4; }}
  .routing_model {{ stroke-dasharray: 1.5 4; stroke-linecap: round; }}
  .pill {{ fill: var(--pill); }}
  .says {{ fill: var(--ink); }}
  .legend {{ text-anchor: start; }}
}}
[data-jp-theme-light="false"] .chatkit-flow {{{_DARK}}}
@media (prefers-color-scheme: dark) {{ .chatkit-flow:root {{{_DARK}}} }}
"""
_LEGEND = {
    "navigate": "a tap leads there",
    "data_exchange": "the endpoint decides",
    "routing_model": "permitted only",
}

Place = tuple[float, float]


def drawing(graph: Graph) -> str:
    """Draw a graph from top to bottom."""
    ways = [(edge.source, edge.target) for edge in graph.edges]
    found = layers([node.id for node in graph.nodes], ways)
    places: dict[object, Place] = {}
    widths = [
        sum(WIDTH if isinstance(one, str) else BEND for one in row) + BESIDE * (len(row) - 1)
        for row in found.rows
    ]
    back = any(found.row[s] >= found.row[t] for s, t in ways)
    whole = max([*widths, 330.0])
    for n, row in enumerate(found.rows):
        x = EDGE + (whole - widths[n]) / 2
        for one in row:
            width = WIDTH if isinstance(one, str) else BEND
            places[one] = (x + width / 2, EDGE + n * (HEIGHT + BELOW) + HEIGHT / 2)
            x += width + BESIDE
    kinds = [kind for kind in _LEGEND if any(edge.kind == kind for edge in graph.edges)]
    height = 2 * EDGE + len(found.rows) * (HEIGHT + BELOW) - BELOW + (26 if kinds else 0)
    drawn = [_way(edge, places, found.row, whole) for edge in _once(graph)]
    parts = [way for way, _ in drawn] + [says for _, says in drawn]  # words above all lines
    parts += [_box(node, places[node.id]) for node in graph.nodes]
    parts.append(_legend(kinds, height - 14))
    size = whole + 2 * EDGE + (30 if back else 0)
    title = f"<title>{len(graph.nodes)} screens of a flow and the ways between them</title>"
    shape = f'width="{size:.0f}" height="{height:.0f}" viewBox="0 0 {size:.0f} {height:.0f}"'
    arrow = (
        '<defs><marker id="chatkit-flow-to" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto-start-reverse"><path class="tip" d="M0 0 8 4 0 8z"/>'
        "</marker></defs>"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chatkit-flow" role="img" {shape}>'
        f"{title}<style>{STYLE}</style>{arrow}{''.join(parts)}</svg>"
    )


def _once(graph: Graph) -> list[Edge]:
    """Draw one way where several taps lead to the same screen."""
    return list({(edge.source, edge.target): edge for edge in reversed(graph.edges)}.values())[::-1]


def _box(node: Node, place: Place) -> str:
    x, y = place
    marks = [("entry", node.entry), ("terminal", node.terminal), ("missing", not node.known)]
    names = [name for name, is_so in marks if is_so]
    radius = HEIGHT / 2 if node.terminal else 8
    title = node.title.strip() or node.id
    up = 7 if names else 3
    lines = [f'<text class="title" x="{x:.0f}" y="{y - up:.0f}">{_fit(title, 24)}</text>']
    lines.append(f'<text class="id" x="{x:.0f}" y="{y - up + 16:.0f}">{_fit(node.id, 26)}</text>')
    if names:
        badge = " · ".join(names)
        lines.append(f'<text class="badge" x="{x:.0f}" y="{y + 22:.0f}">{badge}</text>')
    hint = f"<title>{_safe(node.id)}: {_safe(cut(node.title, 200))}</title>"
    box = (
        f'<rect class="box" x="{x - WIDTH / 2:.0f}" y="{y - HEIGHT / 2:.0f}" width="{WIDTH}" '
        f'height="{HEIGHT}" rx="{radius:.0f}"/>'
    )
    return f'<g class="{" ".join(names)}">{hint}{box}{"".join(lines)}</g>'


def _way(
    edge: Edge, places: dict[object, Place], row: dict[str, int], whole: float
) -> tuple[str, str]:
    """Draw a way down through its bends, or along the side if it leads back; and its words."""
    first, last = row[edge.source], row[edge.target]
    (x, y), (u, v) = places[edge.source], places[edge.target]
    if first >= last:
        side = whole + EDGE + 22
        x, u = x + WIDTH / 2, u + WIDTH / 2
        if edge.source == edge.target:
            y, v = y - 12, v + 12
        path = f"M{x:.0f} {y:.0f}C{side:.0f} {y:.0f} {side:.0f} {v:.0f} {u + 2:.0f} {v:.0f}"
        at = (side - 6, (y + v) / 2)
    else:
        stops = [(x, y + HEIGHT / 2)]
        stops += [places[edge.source, edge.target, n] for n in range(first + 1, last)]
        stops.append((u, v - HEIGHT / 2 - 2))
        path = f"M{stops[0][0]:.0f} {stops[0][1]:.0f}"
        for (a, b), (c, d) in pairwise(stops):
            half = (b + d) / 2
            path += f"C{a:.0f} {half:.0f} {c:.0f} {half:.0f} {c:.0f} {d:.0f}"
        (a, b), (c, d) = stops[0], stops[1]
        at = (a + (c - a) * 0.5, b + (d - b) * 0.5)
    shown = edge.label and edge.kind != "routing_model" and first < last
    says = _pill(_fit(edge.label, 22), *at) if shown else ""
    hint = f"<title>{_safe(edge.source)} → {_safe(edge.target)} ({edge.kind})</title>"
    way = f'<path class="way {edge.kind}" d="{path}" marker-end="url(#chatkit-flow-to)"/>'
    return f"<g>{hint}{way}</g>", says


def _pill(text: str, x: float, y: float) -> str:
    """Write what a person taps, on its way."""
    width = 5.8 * len(unescape(text)) + 14
    box = f'<rect class="pill" x="{x - width / 2:.0f}" y="{y - 8:.0f}" width="{width:.0f}"'
    return (
        f'{box} height="16" rx="8"/><text class="says" x="{x:.0f}" y="{y + 3.5:.1f}">{text}</text>'
    )


def _legend(kinds: list[str], y: float) -> str:
    parts, x = [], float(EDGE)
    for kind in kinds:
        parts.append(f'<path class="way {kind}" d="M{x:.0f} {y - 4:.0f}h26"/>')
        parts.append(f'<text class="legend" x="{x + 32:.0f}" y="{y:.0f}">{_LEGEND[kind]}</text>')
        x += 52 + 6 * len(_LEGEND[kind])
    return "".join(parts)


def _fit(text: str, space: int) -> str:
    """Shorten a text to so many narrow characters; wide ones count twice."""
    shown, used = "", 0
    text = cut(text, 4 * space)
    for n, c in enumerate(text):
        used += 2 if unicodedata.east_asian_width(c) in "WF" else 1
        if used > space and n < len(text) - 1:
            return _safe(shown[:-1].rstrip() + "…")
        shown += c
    return _safe(shown)


def _safe(text: str) -> str:
    """Escape a text for XML, which cannot hold every character."""
    return escape(cut(text, 200))
