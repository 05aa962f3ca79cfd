"""Search: contacts whose name or number holds a term, as fast among a million as among a few.

A term is literal and its case does not matter. An index proposes contacts and the store
is asked which of them truly fit, so an index that is behind never makes a wrong hit.
"""

# ruff: noqa: S608  (what is put into statements is names of our own, values never are)

import sqlite3
import weakref
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from itertools import islice

from chatkit.sandbox.store import ResourceTable

_SHORTEST = 3  # shorter terms are in too many contacts for an index to help
_PART, _STEP = 6, 3
_PROBES = 40
_SURE, _FEW = 16, 1000
_MEMO = 8
_BULK = 5000
_FITS = "(instr(name, ?) OR instr(phone, ?))"


class ContactSearch:
    """Finds contacts by a part of their name, or of their number with its country code.

    The table has two columns for it: `name`, the whole name with its case folded, and
    `phone`, the country code and the number. The index is made at the first search.
    """

    def __init__(self, table: ResourceTable) -> None:
        self._table = table
        self._index: _SearchIndex | None = None
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

    def _current_index(self) -> "_SearchIndex":
        rewritten = self._table.rewritten
        if self._index is None or rewritten is None or self._index.is_stale:
            self._index = _SearchIndex()
            rewritten = None
        self._index.add(self._table.texts(("name", "phone"), self._index.last_id, rewritten or ()))
        self._table.rewritten = set()
        return self._index


class _SearchIndex:
    """Two full-text tables in memory: all triples of characters, and parts of six.

    Parts begin at every third character, so a term of eight or more holds whole parts
    however it lies in a text. The rarest part of a term names a handful of contacts
    also where each of its triples stands in thousands.

    What is added is never taken out: a contact that changed is added once more under a
    new entry, and entries that no longer fit are found out by the store.
    """

    def __init__(self) -> None:
        self.last_id = 0
        self._ids = array("q")  # the contact of each entry
        self._repeated = 0
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, connection.close)
        self._run, self._run_many = connection.execute, connection.executemany
        for table, tokens in (("triples", "trigram case_sensitive 1"), ("parts", "ascii")):
            self._run(
                f"CREATE VIRTUAL TABLE {table} USING fts5(text, content='', columnsize=0,"
                f" detail=none, tokenize='{tokens}')"
            )

    @property
    def is_stale(self) -> bool:
        """Whether more was added again than for the first time."""
        return 2 * self._repeated > len(self._ids) + 100

    def add(self, contacts: Iterable[tuple[int, str, str]]) -> None:
        """Take in contacts: id, folded name, number with its country code."""
        contacts, before = iter(contacts), len(self._ids)
        self._run("BEGIN")
        while some := list(islice(contacts, _BULK)):
            entries = list(enumerate(some, len(self._ids) + 1))
            self._ids.extend(contact[0] for contact in some)
            self._repeated += sum(contact[0] <= self.last_id for contact in some)
            self.last_id = max(self.last_id, *(contact[0] for contact in some))
            self._run_many(
                "INSERT INTO triples (rowid, text) VALUES (?, ?)",
                [(entry, _plain(f"{name}\n{phone}")) for entry, (_, name, phone) in entries],
            )
            self._run_many(
                "INSERT INTO parts (rowid, text) VALUES (?, ?)",
                [(entry, f"{_parts(name)} {_parts(phone)}") for entry, (_, name, phone) in entries],
            )
        self._run("COMMIT")
        if len(self._ids) - before >= _BULK:
            for table in ("triples", "parts"):
                self._run(f"INSERT INTO {table} ({table}) VALUES ('optimize')")

    def propose(self, folded: str) -> list[int] | None:
        """The contacts that may hold the term; None when they are too many to name."""
        if len(folded) <= _PART:
            triples = [_plain(folded[at : at + 3]) for at in range(len(folded) - 2)]
            ways = [self._way("triples", [_phrase(triple) for triple in triples])]
        else:
            ways = [self._way("parts", _pieces(folded[shift:])) for shift in range(_STEP)]
        named = set[int]()
        for entries in ways:
            if entries is None:
                return None
            named.update(self._ids[entry - 1] for entry in entries)
        return sorted(named)

    def _way(self, table: str, wanted: Sequence[str]) -> list[int] | None:
        """The entries that have the rarest of some tokens, or if none is rare, all of them."""
        fewest: list[int] | None = None
        for token in wanted:
            found = self._entries(table, token, _FEW)
            if fewest is None or len(found) < len(fewest):
                fewest = found
            if len(found) <= _SURE:
                return found
        if fewest is not None and len(fewest) < _FEW:
            return fewest
        limit = len(self._ids) // 20 + _FEW
        found = self._entries(table, " AND ".join(wanted), limit)
        return found if len(found) < limit else None

    def _entries(self, table: str, wanted: str, limit: int) -> list[int]:
        found = self._run(
            f"SELECT rowid FROM {table} WHERE {table} MATCH ? LIMIT ?", (wanted, limit)
        )
        return [entry for (entry,) in found]


def _plain(text: str) -> str:
    """The text without the character that ends texts in C; the index may be that vague."""
    return text.replace("\0", " ")


def _phrase(token: str) -> str:
    return '"' + token.replace('"', '""') + '"'


def _token(part: str) -> str:
    """A part as letters and digits, whatever its characters are."""
    return part.encode().hex()


def _parts(text: str) -> str:
    return " ".join([_token(text[at : at + _PART]) for at in range(0, len(text), _STEP)])


def _pieces(term: str) -> list[str]:
    """Queries for the parts of a term that begins where a part does; the beginning of one."""
    last = min(len(term) - _PART, _PROBES * _STEP)
    whole = [_phrase(_token(term[at : at + _PART])) for at in range(0, last + 1, _STEP)]
    return whole or [_phrase(_token(term)) + "*"]
