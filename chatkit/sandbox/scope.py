"""Scopes: which records a list shows and which key each has, kept in memory."""

from array import array
from bisect import bisect_left


class Scope:
    """The list of one account, or of one template of an account.

    `ids` are those that lists show, ascending. Keys are looked up here and not in an
    index of the database: keys come in no order, so every create would change another
    page of such an index, and a create among a million would cost twice what one among
    ten thousand does.
    """

    __slots__ = ("_active", "_deleted", "ids")

    def __init__(self) -> None:
        self.ids: array[int] = array("q")
        self._active: dict[str, int] = {}
        self._deleted: dict[str, list[int]] = {}

    def add(self, record_id: int, key: str) -> None:
        """Take in a record that is newer than all others."""
        self.ids.append(record_id)
        self._active[key] = record_id

    def add_deleted(self, record_id: int, key: str, *, listed: bool) -> None:
        """Take in a record that is newer than all others and was deleted."""
        if listed:
            self.ids.append(record_id)
        self._deleted.setdefault(key, []).append(record_id)

    def rekey(self, record_id: int, before: str, after: str) -> None:
        """Give an active record another key."""
        if before != after:
            self._release(record_id, before)
            self._active[after] = record_id

    def retire(self, record_id: int, key: str, *, listed: bool) -> None:
        """Make a record inactive; it stays in the list if deleted ones are listed."""
        if not listed:
            del self.ids[bisect_left(self.ids, record_id)]
        self._release(record_id, key)
        self._deleted.setdefault(key, []).append(record_id)

    def restore(self, record_id: int, key: str, *, listed: bool) -> None:
        """Make an inactive record active again."""
        if not listed:
            self.ids.insert(bisect_left(self.ids, record_id), record_id)
        self._deleted[key].remove(record_id)
        if not self._deleted[key]:
            del self._deleted[key]
        self._active[key] = record_id

    def find(self, key: str) -> int | None:
        """The active record of a key, else the newest of the deleted ones."""
        active = self._active.get(key)
        if active is not None:
            return active
        return max(self._deleted.get(key, ()), default=None)

    def _release(self, record_id: int, key: str) -> None:
        # Where keys may be shared, the newest record has it and an older one does not.
        if self._active.get(key) == record_id:
            del self._active[key]
