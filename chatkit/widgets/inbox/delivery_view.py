"""One delivery on a page: as a line among many, and opened with headers, body and a test."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice
from typing import Any

from chatkit.display import cut, many
from chatkit.inbox.delivery import Delivery
from chatkit.inbox.events import Event, events
from chatkit.profile import ServiceProfile
from chatkit.widgets.assets import START

_MOST = 1000  #: events of one delivery that are counted
_LONG = 140  #: characters of a text
_RED = 'style="text-align: start; color: var(--jp-error-color1, #c62828)"'


def delivery_line(
    delivery: Delivery, events: Iterable[Event], contact: str | None = None
) -> dict[str, Any]:
    """Say in one line what a delivery tells.

    Args:
        delivery: What came.
        events: What is in it; the line is about the first that is of the contact, or about
            the first of these that has failed.
        contact: A number in E.164 form; None takes the first event of all.
    """
    found = list(islice(events, _MOST))
    about = [event for event in found if contact in (None, event.contact)]
    failed = next((event for event in about if is_failed(event)), None)
    first = failed or next(iter(about), None)
    sort = " ".join(filter(None, (first.family, first.type or first.field))) if first else ""
    return {
        "id": delivery.id,
        "at": delivery.received_at.strftime("%H:%M:%S.") + f"{delivery.received_at:%f}"[:3],
        "when": delivery.received_at.isoformat(sep=" ", timespec="milliseconds"),
        "kind": _text(delivery.kind),
        "what": _text(sort),
        "more": max(len(found) - 1, 0),
        "contact": _text(first and first.contact),
        "name": _text(first and first.name),
        "says": _text(first and first.text),
        "failed": _text(failed and failure_words(failed)),
        "verified": delivery.verified,
        "reason": _text(delivery.reason),
    }


def is_failed(event: Event) -> bool:
    """Whether an event says that a message of ours has failed."""
    return event.family == "status" and event.type == "failed"


def failure_words(event: Event) -> str:
    """Say why a message has failed, as the platform does."""
    return ": ".join(filter(None, event.error or ())) or "the platform gives no reason"


def body_holds(body: bytes, words: str) -> bool:
    """Whether a body has these words, in any case, however its JSON escapes them."""
    if not words:
        return True
    text, wanted = body.decode("utf-8", "replace").casefold(), words.casefold()
    if wanted in text:
        return True
    if "\\" not in text:
        return False
    try:
        text = json.dumps(json.loads(body), ensure_ascii=False).casefold()
    except (ValueError, RecursionError):
        return False
    return json.dumps(words, ensure_ascii=False)[1:-1].casefold() in text


def any_of_contact(events: Iterable[Event], contact: str | None) -> bool:
    """Whether one of these events is of a contact; without a contact always."""
    return contact is None or any(event.contact == contact for event in events)


def signature_words(row: dict[str, Any]) -> str:
    """Say whether the signature was right, and why not."""
    words = "verified" if row["verified"] else "not verified"
    return f"{words}: {row['reason']}" if row["reason"] else words


def lines_html(rows: Sequence[dict[str, Any]], about: str) -> str:
    """Write lines as a plain table; without the time of day, which is another at each run."""
    heads = "".join(
        f"<th {START}>{name}</th>"
        for name in ("Delivery", "Kind", "What", "Contact", "Says", "Signature")
    )
    body = "".join(_row(row) for row in rows)
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>" if rows else ""
    return f'<div class="tex2jax_ignore mathjax_ignore"><p>{escape(about)}</p>{table}</div>'


def _row(row: dict[str, Any]) -> str:
    more = f" (+ {many(row['more'], 'more event')})" if row["more"] else ""
    texts = (
        row["id"],
        row["kind"],
        row["what"] + more,
        f"{row['name']} {row['contact']}".strip(),
        row["failed"] or row["says"],
        signature_words(row),
    )
    red = _RED if row["failed"] else START
    cells = "".join(f'<td dir="auto" {red}>{escape(str(text))}</td>' for text in texts)
    return f"<tr>{cells}</tr>"


def _text(value: str | None) -> str:
    """A text that a page can show: what would not be seen is spelled out."""
    return cut(value or "", _LONG)


# --- opened: headers, and the body as a tree -----------------------------------------------

_NODES = 3000  #: values of a tree that are shown; a body may have a million
_DEEP = 60  #: levels of it
_SHORT = 500  #: characters of a name, a header or a reason
_LONG_TEXT = 4000  #: characters of a text in it
_BODY = 100_000  #: characters of a body that is no JSON


class _Digits(str):
    """A number as it was written: a page would round a long one."""


class _Pairs(list[tuple[str, Any]]):
    """An object as it was written, a name that comes twice too."""


def delivery_view(delivery: Delivery, profile: ServiceProfile) -> dict[str, Any]:
    """Describe a delivery for a page."""
    failed = next(filter(is_failed, islice(events(delivery, profile), _MOST)), None)
    kind = delivery.kind or "no kind"
    about = {"verified": delivery.verified, "reason": cut(delivery.reason, _SHORT)}
    return {
        "id": delivery.id,
        "title": f"Delivery {delivery.id} · {cut(kind, _SHORT)}",
        "about": f"{delivery.received_at.isoformat(sep=' ', timespec='milliseconds')}, "
        f"{many(len(delivery.body), 'byte')}, at {cut(delivery.path, _SHORT)}",
        "failed": cut(failure_words(failed), _SHORT) if failed else "",
        "verified": delivery.verified,
        "verdict": signature_words(about),
        "headers": [[cut(name, _SHORT), cut(value, _SHORT)] for name, value in delivery.headers],
        "tree": body_tree(delivery.body),
        "test": as_test_case(delivery, profile),
    }


def body_tree(body: bytes) -> list[Any]:
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
        return ["text", cut(body.decode("utf-8", "replace"), _BODY)]
    return _node(value, [_NODES], 0)


def _node(value: Any, left: list[int], depth: int) -> list[Any]:
    left[0] -= 1
    if isinstance(value, _Digits):
        return ["value", str(value)[:_LONG_TEXT]]
    if isinstance(value, str):
        return ["text", cut(value, _LONG_TEXT)]
    if isinstance(value, list):
        if depth == _DEEP and value:
            return ["rest", "too deep to be shown"]
        nodes: list[Any] = []
        for one in value:
            if left[0] <= 0:
                nodes.append(["rest", f"{many(len(value) - len(nodes), 'more value')}, not shown"])
                break
            if isinstance(value, _Pairs):
                nodes.append([cut(one[0], _SHORT), _node(one[1], left, depth + 1)])
            else:
                nodes.append(_node(one, left, depth + 1))
        return ["object" if isinstance(value, _Pairs) else "list", nodes, len(value)]
    return ["value", json.dumps(value)]


# --- as a test that can be pasted into a file ----------------------------------------------

_LARGEST = 50_000  #: bytes of a body that are readable in a test
_MOST_IN_TEST = 20  #: events that are compared
_WIDTH = 76
_NAMES = ("event_kind_field", "event_data_field", "signature_scheme")
_TEST = '''\
"""A delivery as a test.

Its body holds what a customer wrote: replace names, numbers and words before you share it.
The signature that it came with is not here, nor is a secret: the test signs with one of its own.
"""

from datetime import UTC, datetime
from pathlib import Path

from chatkit import Inbox, ServiceProfile
from chatkit.inbox.delivery import Delivery
from chatkit.inbox.events import events
from chatkit.inbox.inbox import send_again
from chatkit.secret import Secret

SECRET = "5a" * 32  # made up, for this test alone
PROFILE = ServiceProfile({profile})
BODY = (
{body})
# {size}, {verdict} when it came
DELIVERY = Delivery(
    {id}, datetime({when}, tzinfo=UTC), {identity!a},
    {kind!a}, {verified}, {reason!a},
    {is_json}, "/", {headers!a}, BODY,
)  # fmt: skip


def test_delivery_{id}_is_read() -> None:
    told = [(e.family, e.type, e.contact, e.text) for e in events(DELIVERY, PROFILE)]
    assert told[:{most}] == [
{expected}    ]


def test_delivery_{id}_is_received(tmp_path: Path) -> None:
    # To test a receiver of your own: its address in place of receiver.url, and SECRET as the
    # signing secret that it knows.
    with Inbox(tmp_path / "inbox.sqlite", profile=PROFILE) as inbox:
        receiver = inbox.serve(SECRET, tls=False)
        answer = send_again(DELIVERY, receiver.url, PROFILE, Secret(SECRET))
        assert answer.status == 200, answer
        assert [(one.body, one.verified) for one in inbox.deliveries()] == [(BODY, True)]
'''


def as_test_case(delivery: Delivery, profile: ServiceProfile) -> str:
    """Write a file of tests: a delivery is read, and received, as it was here.

    It holds what a customer wrote: take out what does not belong into a repository. It does
    not hold how the delivery was signed, nor its headers and address, which may be secret.
    Empty if the body is too large.
    """
    if len(delivery.body) > _LARGEST:
        return ""
    found = [*islice(events(delivery, profile), _MOST_IN_TEST)]
    expected = "".join(
        f"        {(event.family, event.type, event.contact, event.text)!a},\n" for event in found
    )
    plain = ServiceProfile()
    changed = ", ".join(
        f"{name}={getattr(profile, name)!a}"
        for name in _NAMES
        if getattr(profile, name) != getattr(plain, name)
    )
    return _TEST.format(
        profile=changed,
        body=_lines(delivery.body),
        size=many(len(delivery.body), "byte"),
        verdict="verified" if delivery.verified else "not verified",
        id=delivery.id,
        when=_when(delivery),
        identity=delivery.identity,
        kind=delivery.kind,
        verified=delivery.verified,
        reason=delivery.reason,
        is_json=delivery.is_json,
        headers=tuple(pair for pair in delivery.headers if pair[0].lower() == "content-type"),
        most=_MOST_IN_TEST,
        expected=expected,
    )


def _lines(body: bytes) -> str:
    """A body as several literals, one below the other."""
    pieces = [body[n : n + _WIDTH] for n in range(0, len(body), _WIDTH)] or [b""]
    return "".join(f"    {piece!r}\n" for piece in pieces)


def _when(delivery: Delivery) -> str:
    at = delivery.received_at
    return f"{at.year}, {at.month}, {at.day}, {at.hour}, {at.minute}, {at.second}"
