"""Line: one delivery in so few words that many can be read as they come."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice
from typing import Any

from chatkit.display import cut, many
from chatkit.inbox.delivery import Delivery
from chatkit.inbox.events import Event, e164

_MOST = 1000  #: events of one delivery that are counted
_LONG = 140  #: characters of a text
START = 'style="text-align: start"'  #: exported notebooks would align cells to the right


def line(delivery: Delivery, events: Iterable[Event], contact: str | None = None) -> dict[str, Any]:
    """Say in one line what a delivery tells.

    Args:
        delivery: What came.
        events: What is in it; the line is about the first that is of the contact.
        contact: A number in E.164 form; None takes the first event of all.
    """
    found = list(islice(events, _MOST))
    first = next((event for event in found if contact in (None, event.contact)), None)
    sort = " ".join(filter(None, (first.family, first.type or first.field))) if first else ""
    return {
        "id": delivery.id,
        "at": delivery.received_at.strftime("%H:%M:%S.") + f"{delivery.received_at:%f}"[:3],
        "when": delivery.received_at.isoformat(sep=" ", timespec="milliseconds"),
        "kind": _text(delivery.kind),
        "what": _text(sort),
        "more": max(len(found) - 1, 0),
        "contact": _text(first and first.contact),
        "says": _text(first and first.text),
        "verified": delivery.verified,
        "reason": _text(delivery.reason),
    }


def contact_of(written: str) -> str:
    """A contact as a person writes it: a number in any notation, or what else they are called."""
    digits = re.sub(r"[\s().+-]", "", written)
    return e164(digits) or "" if digits.isascii() and digits.isdigit() else written.strip()


def concerns(events: Iterable[Event], contact: str | None) -> bool:
    """Whether one of these events is of a contact; without a contact always."""
    return contact is None or any(event.contact == contact for event in events)


def verdict(row: dict[str, Any]) -> str:
    """Say whether the signature was right, and why not."""
    words = "verified" if row["verified"] else "not verified"
    return f"{words}: {row['reason']}" if row["reason"] else words


def html(rows: Sequence[dict[str, Any]], about: str) -> str:
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
    texts = (row["id"], row["kind"], row["what"] + more, row["contact"], row["says"], verdict(row))
    cells = "".join(f'<td dir="auto" {START}>{escape(str(text))}</td>' for text in texts)
    return f"<tr>{cells}</tr>"


def _text(value: str | None) -> str:
    """A text that a page can show: what would not be seen is spelled out."""
    return cut(value or "", _LONG)
