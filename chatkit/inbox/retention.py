"""Retention: deletes deliveries of an inbox by age, or those about one person.

Told in numbers first, and deleted by `apply` alone. What is deleted leaves the file of an inbox
too: its bytes are overwritten, and its log is emptied.
"""

from __future__ import annotations

import base64
import html
import json
import re
import unicodedata
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Self

from chatkit.errors import PlanRefused
from chatkit.inbox.delivery import Delivery, Selection, find_contact_of_body
from chatkit.inbox.events import parse_events
from chatkit.inbox.store import InboxStore
from chatkit.profile import ServiceProfile
from chatkit.report import Report, ReportPart, html_heading, html_list, paragraph, wrapped
from chatkit.util.display import many, visible
from chatkit.util.progress import Progress

if TYPE_CHECKING:
    import pandas as pd

_CHUNK = 500  # deliveries that one transaction deletes: a receiver waits for no more


class Deletion(Report):
    """A deletion by `Inbox.prune` or `Inbox.forget`, in numbers; nothing is deleted before `apply`.

    `frame()` is the table of the deliveries.

    >>> deletion = inbox.prune(before="90 days")
    >>> deletion.apply()
    0 deliveries received before ...
    """

    def __init__(self, store: InboxStore, what: str, *, rewrites: bool = False) -> None:
        self._store, self._what = store, what
        self._rewrites = rewrites  # whether nothing of it may be left in any page of the file
        self.deliveries = 0  #: how many are deleted, repeats and unverified ones too
        self.bytes = 0  #: how large their bodies are together
        self.first: datetime | None = None  #: when the first of them was received
        self.last: datetime | None = None  #: when the last of them was received
        self.contacts = 0  #: how many contacts they are about
        self.others = 0  #: how many other contacts are in those that are not about one alone
        self.mixed = 0  #: how many are about other contacts too, or only mention this one
        self.deleted = 0  #: how many have been deleted so far
        self._ids: list[int] = []  # of what is about these contacts alone
        self._mixed_ids: list[int] = []
        self._complete = False

    def apply(self, *, mixed: bool | None = None) -> Self:
        """Delete the deliveries for good; a call that was stopped is resumed by the next.

        What has come since this report was made is not deleted.

        Args:
            mixed: True deletes too what is about other contacts as well; False keeps that.
                Without it nothing is deleted while there is any.

        Raises:
            PlanRefused: Some are about other contacts as well, and `mixed` does not say whether
                those are deleted.
            StoreError: The inbox cannot be written; or all are deleted, but the file may still
                hold them because another process reads it: the text says which.
        """
        if self.mixed and mixed is None:
            raise PlanRefused(
                f"Nothing was deleted: {self._describe_others()}. It needs apply(mixed=True), "
                "which deletes them too, or apply(mixed=False), which keeps them."
            )
        with Progress("deliveries", self.deliveries - self.deleted) as progress:
            for ids in (self._ids, self._mixed_ids if mixed else []):
                while ids:
                    count = self._store.delete_deliveries(ids[:_CHUNK])
                    del ids[:_CHUNK]
                    self.deleted += count
                    progress.add(count)
        self._store.purge_deleted(rewrite=self._rewrites)
        self._complete = True
        return self

    def frame(self) -> pd.DataFrame:
        """Return the deliveries to delete that are still there, a row each.

        It is indexed by `delivery`, the id. The columns are `received_at` (UTC), `kind`,
        `contact` (missing for what is about nobody or about several), `verified`, `size` (of
        the body, in bytes) and `mixed` (it is about other contacts too, or only mentions this
        one). `inbox.delivery(id)` reads the body.
        """
        from chatkit.inbox import frames

        mixed = {*self._mixed_ids}
        heads = self._store.read_summaries(sorted([*self._ids, *self._mixed_ids]))
        return frames.DELETIONS.make_frame(
            head._replace(mixed=head.delivery in mixed) for head in heads
        )

    def _count_delivery(self, received_at: datetime, size: int) -> None:
        """Add a delivery to the counts, the size and the span of time."""
        self.deliveries += 1
        self.bytes += size
        self.first = min(self.first or received_at, received_at)
        self.last = max(self.last or received_at, received_at)

    # --- showing ---

    def _describe_others(self) -> str:
        """Return how many deliveries are about other contacts, too."""
        whom = many(self.others, "other contact")
        are = "is" if self.mixed == 1 else "are"
        return (
            f"{self.mixed:,} of {_format_count(self.deliveries)} {are} about others too ({whom}), "
            "or only mention this contact"
        )

    def _parts(self) -> list[ReportPart]:
        """Return the headline with the span, size and mixed ones, and the progress."""
        heading = f"{_format_count(self.deliveries)} {self._what}"
        details = []
        if self.first and self.last:
            span = " to ".join(f"{time:%Y-%m-%d %H:%M}" for time in (self.first, self.last))
            about = f"about {many(self.contacts, 'contact')}"
            details.append(f"received from {span} UTC, {about}, {_format_size(self.bytes)}")
        if self.mixed:
            choice = "apply(mixed=True) deletes them too, apply(mixed=False) keeps them"
            details.append(f"{self._describe_others()}: {choice}")
        lines = [line for text in details for line in wrapped("  ", text)]
        html = html_heading(heading) + html_list("", "", details)
        if self._complete:
            footer = f"{_format_count(self.deleted)} deleted. A repeat of one that comes from now "
            footer += "on is a new delivery."
        elif self.deleted:
            footer = f"Stopped: {self.deleted:,} of them deleted; apply() goes on."
        elif self.deliveries:
            footer = "Nothing is deleted yet: apply() deletes them, and that cannot be undone."
        else:
            footer = "There is nothing to delete."
        return [ReportPart([heading, *lines], html), paragraph(footer)]


def plan_pruning(store: InboxStore, profile: ServiceProfile, before: datetime) -> Deletion:
    """Plan the deletion of the deliveries received before a time."""
    deletion = Deletion(store, f"received before {before:%Y-%m-%d %H:%M} UTC")
    contacts: set[str] = set()
    with Progress("deliveries", store.read_last_id()) as progress:
        for head in store.read_summaries_before(before, progress.add):
            deletion._ids.append(head.delivery)
            deletion._count_delivery(head.received_at, head.size)
            contacts |= {head.contact} if head.contact else set()
    # Of nobody, or of several: the bodies tell.
    for delivery in store.select(Selection(until=before, verified=None, contact="", repeats=True)):
        contacts |= _find_contacts(delivery, profile)
    deletion.contacts = len(contacts)
    return deletion


def plan_forgetting(store: InboxStore, profile: ServiceProfile, contact: str) -> Deletion:
    """Plan the deletion of the deliveries about one contact; all bodies are searched."""
    deletion = Deletion(store, f"about {visible(contact)}", rewrites=True)
    others: set[str] = set()
    last_id, pattern = store.read_last_id(), _build_contact_pattern(contact)
    selection = Selection(until=last_id, verified=None, repeats=True)
    with Progress("deliveries", last_id) as progress:
        for delivery in store.select(selection, progress.add):
            if find_contact_of_body(delivery.body) == contact:
                deletion._ids.append(delivery.id)
            elif _mentions_contact(delivery, pattern):
                deletion._mixed_ids.append(delivery.id)
                others |= _find_contacts(delivery, profile) - {contact}
                deletion.mixed += 1
            else:
                continue
            deletion._count_delivery(delivery.received_at, len(delivery.body))
    deletion.others = len(others)
    deletion.contacts = len(others) + 1 if deletion.deliveries else 0
    return deletion


def _find_contacts(delivery: Delivery, profile: ServiceProfile) -> set[str]:
    """Return the contacts that the events of a delivery are about."""
    return {event.contact for event in parse_events(delivery, profile) if event.contact}


# --- how a number may be written --------------------------------------------------------------

_SEPARATOR = r"(?:\(0\)|[\s().·/\u00ad\u200b-\u200f\u2010-\u2015\u202a-\u202e\u2060-\u2069-]){0,3}"
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\([\"\\/])|\\[bfnrt]|%([0-9A-Fa-f]{2})")
_EXPONENT = re.compile(r"[0-9]+(?:\.[0-9]+)?[eE]\+?[0-9]{1,2}(?![0-9])")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}")
_DEEPEST = 8  #: so often escapes are undone: each time that JSON stands in a text of JSON


def _build_contact_pattern(contact: str) -> re.Pattern[str]:
    """Build a pattern that matches the number of a contact, but no longer number."""
    digits = contact.removeprefix("+")
    if not (digits.isascii() and digits.isdigit()):
        return re.compile(re.escape(contact))
    more = r"[0-9]|\\+u003[0-9]|%3[0-9]|[eE]\+?[0-9]"  # of digits, escaped or in an exponent
    return re.compile(rf"(?:(?<![0-9])|(?<=0)){_SEPARATOR.join(digits)}(?!{more})")


def _mentions_contact(delivery: Delivery, pattern: re.Pattern[str]) -> bool:
    """Check if body, path or headers mention a contact, in any usual encoding."""
    body = delivery.content.decode(json.detect_encoding(delivery.content), "replace")
    text = "\n".join([body, delivery.path, *(value for _, value in delivery.headers)])
    for _ in range(_DEEPEST):
        if not text.isascii():  # other digits than 0 to 9
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            text = "".join(str(unicodedata.decimal(c, c)) for c in text)
        encoded = (base64.b64decode(f"{run}==", b"-_") for run in _find_base64_runs(text))
        whole = _EXPONENT.sub(lambda match: f"{Decimal(match[0]):.0f}", text)
        texts = [text, whole, *(e.decode("latin-1") for e in encoded)]
        if any(map(pattern.search, texts)):
            return True
        before, text = text, html.unescape(_ESCAPE.sub(_unescape_match, text))
        if text == before:
            break
    return False


def _find_base64_runs(text: str) -> Iterator[str]:
    """Yield the parts of a text that may be base64, in a form that can be decoded."""
    for run in _BASE64.findall(text):
        yield run.replace("+", "-").replace("/", "_")[: len(run) - (len(run) % 4 == 1)]


def _unescape_match(match: re.Match[str]) -> str:
    """Return the character that an escape stands for."""
    code, plain, percent = match.groups()
    return plain or (chr(int(code or percent, 16)) if code or percent else " ")


def _format_count(count: int) -> str:
    """Format a number of deliveries."""
    return f"{count:,} deliver{'y' if count == 1 else 'ies'}"


def _format_size(count: int) -> str:
    """Format a number of bytes in a suitable unit."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return many(count, "byte")
