"""Tables: the records of one room in SQLite, each kept as the JSON text it is answered with.

All rooms have tables of one shape. A page is its ids, cut from an array in memory, and
their texts, joined: nothing is parsed or printed again, and a page of a million records
costs what a page of ten thousand does. Pages read since the last write are kept.
"""

# ruff: noqa: S608  (what is put into statements is names of our own, values never are)

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from chatkit.sandbox.scope import Scope

if TYPE_CHECKING:
    from chatkit.sandbox.store import Store

_MOST_KEPT = 256  # pages: some 10 MB
_COLUMNS = "id, scope, key, active, item, more, hidden"


class Row(NamedTuple):
    """One record: whose it is, its natural key, and its fields as JSON texts.

    `item` holds what lists show, `more` what only a get adds, `hidden` what the API
    never shows. `active` is 1, or None once deleted: a deleted record stays stored.
    """

    id: int
    scope: str
    key: str
    active: int | None
    item: str
    more: str
    hidden: str

    @property
    def shown(self) -> str:
        """The JSON text of a get: what lists show and the rest."""
        return self.item if self.more == "{}" else f"{self.item[:-1]},{self.more[1:]}"


class Table:
    """The records of one room.

    A scope is the list a record stands in: an account, or a template of an account; its
    ids and keys are in memory. `extra` names text columns that the room searches by.
    With `lists_deleted` the lists show deleted records too.
    """

    def __init__(
        self,
        store: "Store",
        name: str,
        *,
        first_id: int,
        extra: Sequence[str] = (),
        lists_deleted: bool = False,
    ) -> None:
        self._store, self.name, self._first_id = store, name, first_id
        self._lists_deleted = lists_deleted
        self._run = store.run
        self.version = 0  # another number after each write
        # The short columns first: SQLite reads a record from its beginning.
        extras = "".join(f" {column} TEXT NOT NULL," for column in extra)
        self._run(
            f"CREATE TABLE IF NOT EXISTS {name} (id INTEGER PRIMARY KEY, scope TEXT NOT NULL,"
            f" key TEXT NOT NULL, active INTEGER,{extras} item TEXT NOT NULL,"
            f" more TEXT NOT NULL, hidden TEXT NOT NULL)"
        )
        marks, sets = "?, " * len(extra), "".join(f"{column} = ?, " for column in extra)
        self._insert = f"INSERT INTO {name} VALUES (?, ?, ?, 1, {marks}?, ?, ?)"
        self._rewrite = (
            f"UPDATE {name} SET key = ?, active = 1, {sets}item = ?, more = ?, hidden = ?"
            f" WHERE id = ?"
        )
        self._get = f"SELECT {_COLUMNS} FROM {name} WHERE id = ?"
        some = "id IN (SELECT value FROM json_each(?))"
        joined = "SELECT CAST(group_concat(item, ',') AS BLOB) FROM"
        # A range of ids is read along the table, and so in order.
        self._range = f"{joined} {name} WHERE id BETWEEN ? AND ?"
        self._several = f"{joined} (SELECT item FROM {name} WHERE {some} ORDER BY id)"
        self._rows = f"SELECT {_COLUMNS} FROM {name} WHERE {some} ORDER BY id"
        self.forget()

    def forget(self) -> None:
        """Drop what is kept in memory; it is read again when next needed."""
        self._scopes: dict[str, Scope] | None = None
        self._last_id = 0
        # The ids rewritten since a search index was made; None: there is none, or it is void.
        self.rewritten: set[int] | None = None
        self.version += 1
        self._kept: dict[tuple[int, int], bytes] = {}  # pages read since the last write
        self._kept_version = self.version

    def _loaded(self) -> dict[str, Scope]:
        """All scopes by name."""
        if self._scopes is None:
            scopes: dict[str, Scope] = {}
            self._last_id = self._first_id - 1
            for record_id, scope_name, key, active in self._run(
                f"SELECT id, scope, key, active FROM {self.name} ORDER BY id"
            ):
                scope = scopes.get(scope_name) or scopes.setdefault(scope_name, Scope())
                if active:
                    scope.add(record_id, key)
                else:
                    scope.add_deleted(record_id, key, listed=self._lists_deleted)
                self._last_id = record_id
            self._scopes = scopes
        return self._scopes

    def next_id(self) -> int:
        """The id of the next new record."""
        self._loaded()
        return self._last_id + 1

    def insert(
        self, record_id: int, scope: str, key: str, item: str, more: str, hidden: str, *extra: str
    ) -> None:
        """Store a new record under the id that `next_id` gave."""
        scopes = self._loaded()
        self._store.write(self._insert, (record_id, scope, key, *extra, item, more, hidden))
        self._last_id = record_id
        self.version += 1
        (scopes.get(scope) or scopes.setdefault(scope, Scope())).add(record_id, key)

    def rewrite(self, row: Row, key: str, item: str, more: str, hidden: str, *extra: str) -> None:
        """Store a record anew, active from now on."""
        scope = self._loaded()[row.scope]
        self._store.write(self._rewrite, (key, *extra, item, more, hidden, row.id))
        self.version += 1
        if self.rewritten is not None:
            self.rewritten.add(row.id)
        if row.active is None:
            scope.restore(row.id, row.key, listed=self._lists_deleted)
        scope.rekey(row.id, row.key, key)

    def retire(self, row: Row) -> None:
        """Make a record inactive; it stays stored."""
        scope = self._loaded()[row.scope]
        self._store.write(f"UPDATE {self.name} SET active = NULL WHERE id = ?", (row.id,))
        self.version += 1
        scope.retire(row.id, row.key, listed=self._lists_deleted)

    def get(self, record_id: int, scope: str | None = None) -> Row | None:
        """The record of that id, in that scope or in any; active or not."""
        found = self._run(self._get, (record_id,)).fetchone()
        return Row(*found) if found is not None and scope in (None, found[1]) else None

    def find(self, scope: str, key: str) -> Row | None:
        """The active record of that natural key, else the inactive one that is newest."""
        known = self._loaded().get(scope)
        record_id = known.find(key) if known else None
        return None if record_id is None else self.get(record_id)

    def knows(self, scope: str) -> bool:
        """Whether the scope has or ever had a record."""
        return scope in self._loaded()

    def listed(self, scope: str) -> Sequence[int]:
        """The ids that lists of the scope show, ascending."""
        known = self._loaded().get(scope)
        return known.ids if known else ()

    def ids(
        self, scope: str, where: str, values: Sequence[str], among: Sequence[int] | None = None
    ) -> list[int]:
        """The listed ids of the scope that a condition holds for, ascending.

        Looks at all records, or only `among` some.
        """
        conditions = ["scope = ?", where]
        if not self._lists_deleted:
            conditions.append("active = 1")
        if among is not None:
            conditions.append("id IN (SELECT value FROM json_each(?))")
            values = (*values, json.dumps(list(among)))
        found = self._run(
            f"SELECT id FROM {self.name} WHERE {' AND '.join(conditions)} ORDER BY id",
            (scope, *values),
        )
        return [record_id for (record_id,) in found]

    def items(self, ids: Sequence[int]) -> bytes:
        """The list items of ascending ids: their JSON texts, joined by commas."""
        if not ids:
            return b""
        if ids[-1] - ids[0] != len(ids) - 1:
            return bytes(self._run(self._several, (json.dumps(list(ids)),)).fetchone()[0])
        if self._kept_version != self.version or len(self._kept) >= _MOST_KEPT:
            self._kept, self._kept_version = {}, self.version
        place = ids[0], ids[-1]
        texts = self._kept.get(place)
        if texts is None:
            texts = self._kept[place] = self._run(self._range, place).fetchone()[0]
        return texts

    def rows(self, scope: str) -> list[Row]:
        """The records that lists of the scope show, ascending by id."""
        ids = list(self.listed(scope))
        return [Row(*row) for row in self._run(self._rows, (json.dumps(ids),))]

    def texts(
        self, columns: Sequence[str], after: int, also: Iterable[int]
    ) -> Iterator[tuple[Any, ...]]:
        """Ids and these columns of the records after an id, and of some others, in that order.

        To be read to its end at once.
        """
        select = f"SELECT id, {', '.join(columns)} FROM {self.name} WHERE id"
        yield from self._run(
            f"{select} <= ? AND id IN (SELECT value FROM json_each(?))",
            (after, json.dumps(list(also))),
        )
        yield from self._run(f"{select} > ? ORDER BY id", (after,))
