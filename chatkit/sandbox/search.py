"""Search: contacts whose name or number holds a term, as fast among a million as among a few.

A term is literal and its case does not matter. An index proposes contacts and the store
is asked which of them truly fit, so an index that is behind never makes a wrong hit.
"""

# ruff: noqa: S608  (what is put into statements is names of our own, values never are)

import sqlite3
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from itertools import islice

from chatkit.sandbox.table import Table

_WINDOW = 6
_SHORTEST = 3
_MEMO = 16
_FITS = "(instr(name, ?) OR instr(phone, ?))"


class ContactSearch:
    """Finds contacts by a part of their name, or of their number with its country code.

    The table has two columns for it: `name`, the whole name with its case folded, and
    `phone`, the country code and the number. The index is made at the first search.
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self._index: _Index | None = None
        self._memo: OrderedDict[tuple[str, str], tuple[int, Sequence[int]]] = OrderedDict()

    def ids(self, scope: str, term: str) -> Sequence[int]:
        """The ids of the listed contacts that hold the term, ascending."""
        folded = term.casefold()
        version, ids = self._memo.get((scope, folded), (None, ()))
        if version != self._table.version:
            ids = array("q", self._find(scope, folded))
            self._memo[scope, folded] = self._table.version, ids
            if len(self._memo) > _MEMO:
                self._memo.popitem(last=False)
        return ids

    def _find(self, scope: str, folded: str) -> Sequence[int]:
        among = None if len(folded) < _SHORTEST else self._current_index().propose(folded)
        return self._table.ids(scope, _FITS, (folded, folded), among)

    def _current_index(self) -> "_Index":
        rewritten = self._table.rewritten
        if self._index is None or rewritten is None or self._index.is_stale:
            self._index = _Index()
            rewritten = None
        self._index.add(self._table.texts(("name", "phone"), self._index.last_id, rewritten or ()))
        self._table.rewritten = set()
        return self._index


class _Index:
    """Two full-text tables in memory: names by three letters, numbers by six digits.

    What is added is never taken out again: a contact that changed is added once more
    under a new entry, and entries that no longer fit are found out by the store.
    """

    def __init__(self) -> None:
        self.last_id = 0
        self._ids = array("q")  # the contact of each entry
        self._repeated = 0
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._cursor = connection.cursor()
        for table, tokens in (("names", "trigram case_sensitive 1"), ("phones", "ascii")):
            self._cursor.execute(
                f"CREATE VIRTUAL TABLE {table} USING fts5(text, content='', columnsize=0,"
                f" detail=none, tokenize='{tokens}')"
            )

    @property
    def is_stale(self) -> bool:
        """Whether more was added again than for the first time."""
        return 2 * self._repeated > len(self._ids) + 100

    def add(self, contacts: Iterable[tuple[int, str, str]]) -> None:
        """Take in contacts: id, folded name, number with its country code."""
        contacts = iter(contacts)
        while part := list(islice(contacts, 5000)):
            entry = len(self._ids) + 1
            self._ids.extend(contact[0] for contact in part)
            self._repeated += sum(contact[0] <= self.last_id for contact in part)
            self.last_id = max(self.last_id, max(contact[0] for contact in part))
            self._cursor.execute("BEGIN")
            self._cursor.executemany(
                "INSERT INTO names (rowid, text) VALUES (?, ?)",
                [(at, _plain(contact[1])) for at, contact in enumerate(part, entry)],
            )
            self._cursor.executemany(
                "INSERT INTO phones (rowid, text) VALUES (?, ?)",
                [(at, _windows(contact[2])) for at, contact in enumerate(part, entry)],
            )
            self._cursor.execute("COMMIT")

    def propose(self, folded: str) -> list[int] | None:
        """The contacts that may hold the term; None when they are too many to name."""
        limit = len(self._ids) // 20 + 500
        entries = self._entries("names", _all_of(_plain(folded), _SHORTEST), limit)
        digits = folded.removeprefix("+")
        if digits.isascii() and digits.isdigit():
            # A shorter term is the beginning of some window.
            wanted = f'"{digits}"*' if len(digits) < _WINDOW else _all_of(digits, _WINDOW)
            entries += self._entries("phones", wanted, limit)
        if len(entries) >= limit:
            return None
        return sorted({self._ids[entry - 1] for entry in entries})

    def _entries(self, table: str, wanted: str, limit: int) -> list[int]:
        found = self._cursor.execute(
            f"SELECT rowid FROM {table} WHERE {table} MATCH ? LIMIT ?", (wanted, limit)
        )
        return [entry for (entry,) in found]


def _plain(text: str) -> str:
    """The text without the character that ends texts in C; the index may be that vague."""
    return text.replace("\0", " ")


def _windows(phone: str) -> str:
    digits = phone.removeprefix("+")
    return " ".join([digits[at : at + _WINDOW] for at in range(len(digits))])


def _all_of(term: str, size: int) -> str:
    """A query for entries that have every part of the term of this size, at most 40 of them."""
    parts = dict.fromkeys(term[at : at + size] for at in range(len(term) - size + 1))
    return " AND ".join('"' + part.replace('"', '""') + '"' for part in islice(parts, 40))
