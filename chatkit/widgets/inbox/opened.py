"""Opened: one delivery as it came: its verdict, its headers, and its body as a tree."""

from __future__ import annotations

import json
from typing import Any

from chatkit.display import cut, many
from chatkit.inbox.delivery import Delivery
from chatkit.profile import ServiceProfile
from chatkit.widgets.inbox.line import verdict
from chatkit.widgets.inbox.testcase import testcase

_NODES = 3000  #: values of a tree that are shown; a body may have a million
_DEEP = 60  #: levels of it
_LONG = 4000  #: characters of a text in it
_BODY = 100_000  #: characters of a body that is no JSON


class _Digits(str):
    """A number as it was written: a page would round a long one."""


class _Pairs(list[tuple[str, Any]]):
    """An object as it was written, a name that comes twice too."""


def opened(delivery: Delivery, profile: ServiceProfile) -> dict[str, Any]:
    """Describe a delivery for a page."""
    kind = delivery.kind or "no kind"
    about = {"verified": delivery.verified, "reason": _shown(delivery.reason)}
    return {
        "id": delivery.id,
        "title": f"Delivery {delivery.id} · {_shown(kind)}",
        "about": f"{delivery.received_at.isoformat(sep=' ', timespec='milliseconds')}, "
        f"{many(len(delivery.body), 'byte')}, at {_shown(delivery.path)}",
        "verified": delivery.verified,
        "verdict": verdict(about),
        "headers": [[_shown(name), _shown(value)] for name, value in delivery.headers],
        "tree": tree(delivery.body),
        "test": testcase(delivery, profile),
    }


def tree(body: bytes) -> list[Any]:
    """Make a tree of a body; of one that is no JSON, a single text.

    A node is its sort and its content: `object` with pairs of a name and a node, `list` with
    nodes, `text`, or `value` (a number, true, false, null). What is too much is a `rest`.
    """
    try:
        value = json.loads(
            body,
            object_pairs_hook=_Pairs,
            parse_int=_Digits,
            parse_float=_Digits,
            parse_constant=_Digits,
        )
    except (ValueError, RecursionError):
        return ["text", _shown(body.decode("utf-8", "replace"), _BODY)]
    return _node(value, [_NODES], 0)


def _node(value: Any, left: list[int], depth: int) -> list[Any]:
    left[0] -= 1
    if isinstance(value, _Digits):
        return ["value", str(value)[:_LONG]]
    if isinstance(value, str):
        return ["text", _shown(value, _LONG)]
    if isinstance(value, list):
        if depth == _DEEP and value:
            return ["rest", "too deep to be shown"]
        nodes: list[Any] = []
        for one in value:
            if left[0] <= 0:
                nodes.append(["rest", f"{many(len(value) - len(nodes), 'more value')}, not shown"])
                break
            if isinstance(value, _Pairs):
                nodes.append([_shown(one[0]), _node(one[1], left, depth + 1)])
            else:
                nodes.append(_node(one, left, depth + 1))
        return ["object" if isinstance(value, _Pairs) else "list", nodes, len(value)]
    return ["value", json.dumps(value)]


def _shown(text: str, room: int = 500) -> str:
    return cut(text, room)
