"""Marked records: what a trial created, and how it is found and removed again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from chatkit.conformance.reply import Reply

if TYPE_CHECKING:
    from chatkit.conformance.trial import Caller

#: How often a delete that got no trustworthy answer is sent.
_TRIES = 3
#: How many pages of a list are looked through for a record whose create got no answer.
_MOST_PAGES = 1000


class Made:
    """One create that was sent: where its record is, as far as the answer told."""

    def __init__(self, path: tuple[str, ...], body: Mapping[str, Any]) -> None:
        self.path = path
        self.body = body
        self.key: str | int | None = None
        if path[0] == "templates":
            self.key = str(body["lang_code"])  # known before the answer

    def landed(self, reply: Reply) -> None:
        """Take the key from the answer to the create, if it told one."""
        key = reply.data.get("id") if type(reply.data) is dict else None
        if self.key is None and type(key) in (int, str) and re.fullmatch(r"\d+", str(key)):
            self.key = key

    @property
    def mark(self) -> tuple[str, Any]:
        """The field and the value by which the record is told from all others."""
        field = {"flows": "name", "contacts": "number", "webhooks": "url"}[self.path[0]]
        value = self.body.get(field)
        return field, re.sub(r"\D", "", value) if field == "number" and value else value

    @property
    def place(self) -> tuple[str | int, ...]:
        """The path of the record."""
        return (*self.path, "?" if self.key is None else self.key)

    def __str__(self) -> str:
        return "/".join(map(str, self.place))


def remove_all(made: list[Made], caller: Caller, left: dict[Made, str], notes: list[str]) -> None:
    """Remove every record, the latest first; `left` then says which could not be, and why.

    A record whose removal fails, or is interrupted, does not stop that of the others. One
    whose create got no answer, and that cannot be found, is only noted.
    """
    left.update((record, f"{record}: its removal was stopped") for record in made)
    with ExitStack() as stack:
        for record in made:
            stack.callback(_remove, record, caller, left, notes)


def _remove(record: Made, caller: Caller, left: dict[Made, str], notes: list[str]) -> None:
    if record.key is None:
        if not _can_be_found(record, caller):
            left[record] = f"{record}: its create got no answer, and it cannot be looked for"
            return
        record.key = _find(record, caller)
    if record.key is None:
        del left[record]
        notes.append(f"{record}: a create got no answer, and nothing of it is listed.")
        return
    for _ in range(_TRIES):
        reply = caller.delete(*record.place)
        if reply.ok or reply.status in (404, 410, caller.profile.not_found_status):
            del left[record]
            return
        if reply.refused:
            break
    left[record] = f"{record}: {reply.outcome}"


def _can_be_found(record: Made, caller: Caller) -> bool:
    """Whether a record whose create got no answer is told from all others by what was sent.

    A contact is, if the trial had searched for its number before: what is found now is its
    own. Without a search it may be somebody's.
    """
    known = record.mark[1] is not None
    return known and (record.path[0] != "contacts" or caller.profile.search_param is not None)


def _find(record: Made, caller: Caller) -> str | int | None:
    field, value = record.mark
    for row in _rows(record.path[0], value, caller):
        if row.get(field) == value and type(row.get("id")) in (int, str):
            key: str | int = row["id"]
            return key
    return None


def _rows(room: str, number: str, caller: Caller) -> Iterator[dict[str, Any]]:
    profile = caller.profile
    if room == "webhooks":
        yield from _told(caller.get(room))
    elif room == "contacts":
        yield from _told(caller.get(room, **{str(profile.search_param): number}))
    else:
        for page in range(profile.page_base, profile.page_base + _MOST_PAGES):
            rows = _told(caller.get(room, page=page, pageSize=profile.max_page_size))
            yield from rows
            if not rows:
                return


def _told(reply: Reply) -> list[dict[str, Any]]:
    return reply.rows() if reply.ok and type(reply.data) is list else []
