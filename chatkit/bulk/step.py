"""Step: a row, and what is sent for it next."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from chatkit.bulk.row import Row

#: A row is read, written, and checked if the answer proves nothing. A write that met a 404
#: looks again: some services say 404 for what a token may not do. So does a delete whose
#: record was read where the service shows deleted ones too.
Stage = Literal["read", "write", "check", "look"]


class Step(NamedTuple):
    """A row and what is sent for it next."""

    row: Row
    stage: Stage
    record: Any = None  #: what was read, for a write, or for a look before it


def first_step(row: Row) -> Step:
    """Tell where a row begins: a create is sent at once, unless its key can be read before."""
    if row.state == "applied":
        return Step(row, "check")
    new = row.change.kind == "create" and row.change.key is None
    return Step(row, "write" if new else "read")


def known(key: int | str | None) -> int | str:
    """Return a key that must be there: only a record that is still to be made has none."""
    if key is None:
        raise LookupError("a record that was never made cannot be read")
    return key
