"""Retention: what of an inbox is deleted, by its age or since it is about one person.

Told in numbers first, and deleted by `apply` alone. What is deleted leaves the file of an inbox
too: its bytes are overwritten, and its log is emptied.
"""

from __future__ import annotations

import base64
import html
import json
import re
import unicodedata
from abc import abstractmethod
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Self

from chatkit.errors import PlanRefused
from chatkit.inbox.delivery import Delivery, Selection, contact_of_body
from chatkit.inbox.events import events
from chatkit.inbox.store import Head, InboxStore, spans
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

    def __init__(self, store: InboxStore, profile: ServiceProfile) -> None:
        self._store, self._profile = store, profile
        self.deliveries = 0  #: how many are deleted, repeats and unverified ones too
        self.bytes = 0  #: how large their bodies are together
        self.first: datetime | None = None  #: when the first of them was received
        self.last: datetime | None = None  #: when the last of them was received
        self.mixed = 0  #: how many are about other contacts too, or only mention this one
        self.repeats = 0  #: how many have a repeat that came later and stays
        self.deleted = 0  #: how many have been deleted so far
        self._contacts: set[str] = set()
        self._others: set[str] = set()
        self._complete = False

    @property
    def contacts(self) -> int:
        """The number of contacts that the deliveries are about."""
        return len(self._contacts)

    @property
    def others(self) -> int:
        """The number of other contacts in deliveries that are not about one alone."""
        return len(self._others)

    def apply(self, *, mixed: bool | None = None) -> Self:
        """Delete them; stopped half-way, it goes on at the next call. Nothing brings them back.

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
                f"Nothing was deleted: {self._about_others()}. It needs apply(mixed=True), which "
                "deletes them too, or apply(mixed=False), which keeps them."
            )
        with Progress("deliveries", self.deliveries - self.deleted) as progress:
            for count in self._delete(mixed is not False):
                self.deleted += count
                progress.add(count)
        self._store.wipe(rewrite=self._rewrites)
        self._complete = True
        return self

    def frame(self) -> pd.DataFrame:
        """Return what `apply` deletes as a DataFrame, a row for each delivery that is still there.

        It is indexed by `delivery`, the id. The columns are `received_at` (UTC), `kind`,
        `contact` (missing for what is about nobody or about several), `verified`, `size` (of
        the body, in bytes) and `mixed` (it is about other contacts too, or only mentions this
        one). `inbox.delivery(id)` reads the body.
        """
        from chatkit.inbox import frames

        return frames.deletions(head._asdict() for head in self._heads())

    # --- what a subclass has of its own ---

    _rewrites = False  # whether nothing of it may be left in any page of the file

    @abstractmethod
    def _what(self) -> str:
        """Return the first line."""

    @abstractmethod
    def _delete(self, mixed: bool) -> Iterator[int]:
        """Delete them, some at a time; yield how many each time."""

    @abstractmethod
    def _heads(self) -> Iterator[Head]:
        """Read them without their bodies."""

    # --- counting ---

    def _count(self, received_at: datetime, size: int) -> None:
        self.deliveries += 1
        self.bytes += size
        self.first = min(self.first or received_at, received_at)
        self.last = max(self.last or received_at, received_at)

    def _contacts_of(self, delivery: Delivery) -> set[str]:
        return {event.contact for event in events(delivery, self._profile) if event.contact}

    # --- showing ---

    def _about_others(self) -> str:
        whom = many(self.others, "other contact")
        are = "is" if self.mixed == 1 else "are"
        return (
            f"{self.mixed:,} of {_deliveries(self.deliveries)} {are} about others too ({whom}), "
            "or only mention this contact"
        )

    def _lines(self) -> list[str]:
        lines = []
        if self.first and self.last:
            span = " to ".join(f"{at:%Y-%m-%d %H:%M}" for at in (self.first, self.last))
            whom = many(self.contacts, "contact")
            lines.append(f"received from {span} UTC, about {whom}, {_size(self.bytes)}")
        if self.mixed:
            lines.append(
                f"{self._about_others()}: apply(mixed=True) deletes them too, apply(mixed=False) "
                "keeps them"
            )
        if self.repeats:
            have = "has" if self.repeats == 1 else "have"
            lines.append(
                f"{self.repeats:,} of them {have} a repeat that came later and stays: frames show "
                "that in its place"
            )
        return lines

    def _end(self) -> str:
        if self._complete:
            return (
                f"{_deliveries(self.deleted)} deleted. A repeat of one that comes from now on is "
                "a new delivery."
            )
        if self.deleted:
            return f"Stopped: {self.deleted:,} of them deleted; apply() goes on."
        if not self.deliveries:
            return "There is nothing to delete."
        return "Nothing is deleted before apply(), and nothing brings it back after."

    def _parts(self) -> list[ReportPart]:
        lines = [line for text in self._lines() for line in wrapped("  ", text)]
        html = html_heading(self._what()) + html_list("", "", self._lines())
        return [ReportPart([self._what(), *lines], html), paragraph(self._end())]


class Pruning(Deletion):
    """The deletion of everything that was received before a time."""

    def __init__(self, store: InboxStore, profile: ServiceProfile, before: datetime) -> None:
        super().__init__(store, profile)
        self._before = before
        self._low, self._top = store.ids_before(before)
        with Progress("deliveries", self._top - self._low) as progress:
            for begin, end in spans(self._low, self._top):
                early = store.early(before, begin, end)
                for head in store.heads(early):
                    self._count(head.received_at, head.size)
                    self._contacts |= {head.contact} if head.contact else set()
                self.repeats += store.repeated_since(early, before)
                progress.add(end - begin)
        # Of nobody, or of several: the bodies tell.
        unclear = Selection(self._low, self._top, verified=None, contact="", repeats=True)
        for delivery in store.read(unclear):
            if delivery.received_at < before:
                self._contacts |= self._contacts_of(delivery)

    def _what(self) -> str:
        return f"{_deliveries(self.deliveries)} received before {self._before:%Y-%m-%d %H:%M} UTC"

    def _delete(self, mixed: bool) -> Iterator[int]:
        for begin, end in spans(self._low, self._top, _CHUNK):
            yield self._store.delete(self._store.early(self._before, begin, end))

    def _heads(self) -> Iterator[Head]:
        for begin, end in spans(self._low, self._top):
            yield from self._store.heads(self._store.early(self._before, begin, end))


class Forgetting(Deletion):
    """The deletion of everything that is about one contact; all bodies are searched."""

    _rewrites = True

    def __init__(self, store: InboxStore, profile: ServiceProfile, contact: str) -> None:
        super().__init__(store, profile)
        self._contact = contact
        self._own: list[int] = []  # ids of what is about this contact alone
        self._shared: list[int] = []
        top, pattern = store.last(), _pattern(contact)
        every = Selection(until=top, verified=None, repeats=True)
        with Progress("deliveries", top) as progress:
            for one in store.read(every, progress.add):
                if contact_of_body(one.body) == contact:
                    self._own.append(one.id)
                elif _mentions(one, pattern):
                    self._shared.append(one.id)
                    self._others |= self._contacts_of(one) - {contact}
                    self.mixed += 1
                else:
                    continue
                self._count(one.received_at, len(one.body))
        self._contacts = {contact, *self._others} if self.deliveries else set()

    def _what(self) -> str:
        return f"{_deliveries(self.deliveries)} about {visible(self._contact)}"

    def _delete(self, mixed: bool) -> Iterator[int]:
        for ids in (self._own, self._shared if mixed else []):
            while ids:
                yield self._store.delete(self._store.named(ids[-_CHUNK:]))
                del ids[-_CHUNK:]

    def _heads(self) -> Iterator[Head]:
        shared, ids = {*self._shared}, sorted([*self._own, *self._shared])
        for begin in range(0, len(ids), _CHUNK):
            for head in self._store.heads(self._store.named(ids[begin : begin + _CHUNK])):
                yield head._replace(mixed=head.delivery in shared)


# --- how a number may be written --------------------------------------------------------------

_SEPARATOR = r"(?:\(0\)|[\s().·/\u00ad\u200b-\u200f\u2010-\u2015\u202a-\u202e\u2060-\u2069-]){0,3}"
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\([\"\\/])|\\[bfnrt]|%([0-9A-Fa-f]{2})")
_EXPONENT = re.compile(r"[0-9]+(?:\.[0-9]+)?[eE]\+?[0-9]{1,2}(?![0-9])")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}")
_DEEPEST = 8  #: so often escapes are undone: each time that JSON stands in a text of JSON


def _pattern(contact: str) -> re.Pattern[str]:
    """Match a contact in a text: a number not within a longer one, but 00 may stand before it."""
    digits = contact.removeprefix("+")
    if not (digits.isascii() and digits.isdigit()):
        return re.compile(re.escape(contact))
    more = r"[0-9]|\\+u003[0-9]|%3[0-9]|[eE]\+?[0-9]"  # of digits, escaped or in an exponent
    return re.compile(rf"(?:(?<![0-9])|(?<=0)){_SEPARATOR.join(digits)}(?!{more})")


def _mentions(delivery: Delivery, pattern: re.Pattern[str]) -> bool:
    """Search body, path and headers of a delivery, however a program has written them down."""
    body = delivery.content.decode(json.detect_encoding(delivery.content), "replace")
    text = "\n".join([body, delivery.path, *(value for _, value in delivery.headers)])
    for _ in range(_DEEPEST):
        if not text.isascii():  # other digits than 0 to 9
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            text = "".join(str(unicodedata.decimal(c, c)) for c in text)
        encoded = (base64.b64decode(f"{run}==", b"-_") for run in _runs(text))
        whole = _EXPONENT.sub(lambda match: f"{Decimal(match[0]):.0f}", text)
        texts = [text, whole, *(e.decode("latin-1") for e in encoded)]
        if any(map(pattern.search, texts)):
            return True
        before, text = text, html.unescape(_ESCAPE.sub(_character, text))
        if text == before:
            break
    return False


def _runs(text: str) -> Iterator[str]:
    """Yield what may be base64, of either alphabet, in a form that can be decoded."""
    for run in _BASE64.findall(text):
        yield run.replace("+", "-").replace("/", "_")[: len(run) - (len(run) % 4 == 1)]


def _character(match: re.Match[str]) -> str:
    code, plain, percent = match.groups()
    return plain or (chr(int(code or percent, 16)) if code or percent else " ")


def _deliveries(count: int) -> str:
    return f"{count:,} deliver{'y' if count == 1 else 'ies'}"


def _size(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return many(count, "byte")
