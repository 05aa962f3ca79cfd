"""Quality: all that was found in a frame of contacts, and the frame with the safe part mended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from chatkit.bulk.value import values
from chatkit.checks import shown
from chatkit.checks.characters import mended
from chatkit.checks.findings import Finding
from chatkit.checks.names import NAME
from chatkit.checks.numbers import parts
from chatkit.errors import InputError
from chatkit.frame import collector_paused

#: What can be mended without a look at each cell.
FIXABLE = (
    *("garbled", "control characters", "direction marks", "invisible", "look-alike"),
    *("styled letters", "decomposed", "spaces", "not split", "country code twice"),
)
_PAIR = ("country_code", "number")


class Fixed:
    """A frame in which the safe suggestions were taken, and the list of what was done.

    Args:
        frame: The new frame.
        done: A row for each changed cell: `row`, `column`, `code`, `before` and `after`.
    """

    def __init__(self, frame: pd.DataFrame, done: pd.DataFrame) -> None:
        self.frame = frame
        self.done = done

    def __repr__(self) -> str:
        return shown.fixed_text(self)

    def _repr_html_(self) -> str:
        return shown.fixed_html(self)


class Quality:
    """What is wrong, or odd, in a frame of contacts: errors first, then warnings and notes.

    Args:
        frame: What was checked.
        findings: What was found, in the order in which it is told.
        notes: What else is to be known.
    """

    def __init__(
        self, frame: pd.DataFrame, findings: Sequence[Finding], notes: Sequence[str]
    ) -> None:
        self.findings = tuple(findings)
        self.notes = tuple(notes)
        self.rows = len(frame)
        self._frame = frame.copy(deep=False)  # what is edited later is not what was checked

    def __len__(self) -> int:
        return len(self.findings)

    def __repr__(self) -> str:
        return shown.text(self)

    def _repr_html_(self) -> str:
        return shown.html(self)

    @collector_paused()
    def frame(self) -> pd.DataFrame:
        """Make a table of all findings.

        The columns are `row` (what your frame calls it), `column`, `severity` (error, warning
        or note), `code`, `reason`, `value`, `suggestion` and `safe`: whether `fix()` takes the
        suggestion. That of a number is its country code, a space, and its digits.
        """
        columns = ("row", "column", "severity", "code", "reason", "value", "suggestion", "safe")
        cells: dict[str, list[Any]] = {
            name: [getattr(found, name) for found in self.findings] for name in columns
        }
        cells["value"] = [
            value if value is None or isinstance(value, str) else values(value)
            for value in cells["value"]
        ]
        texts = {name: _texts(cells[name]) for name in columns[1:-1]}
        row = pd.Series(pd.Index(cells["row"], tupleize_cols=False))
        return pd.DataFrame({"row": row, **texts, "safe": pd.Series(cells["safe"], dtype=bool)})

    def fix(self, codes: str | Iterable[str] | None = None) -> Fixed:
        """Take the safe suggestions in a new frame; the one that was checked stays as it is.

        No row is dropped, not even a duplicate. `client.contacts.plan(quality.fix().frame)`
        goes on from there.

        Args:
            codes: Only those of these codes, like "spaces".

        Raises:
            InputError: A code cannot be fixed so.
        """
        chosen = _chosen(codes)
        safe = [found for found in self.findings if found.safe and found.code in chosen]
        done: list[tuple[int, str, str, Any, Any]] = []
        frame = self._frame.copy(deep=False)
        self._fix_names(frame, [found for found in safe if found.column == "name"], chosen, done)
        self._fix_numbers(frame, [found for found in safe if found.column in _PAIR], done)
        done.sort(key=lambda change: change[0])
        labels = frame.index.take([place for place, *_ in done]).tolist()
        table = {"row": pd.Series(pd.Index(labels, tupleize_cols=False))}
        for n, name in enumerate(("column", "code", "before", "after"), 1):
            table[name] = _texts(
                [str(c) if (c := change[n]) is not None else None for change in done]
            )
        return Fixed(frame, pd.DataFrame(table))

    def _fix_names(
        self, frame: pd.DataFrame, safe: list[Finding], chosen: set[str], done: list[Any]
    ) -> None:
        codes: dict[int, list[str]] = {}
        before: dict[int, str] = {}
        for found in safe:
            codes.setdefault(found.place, []).append(found.code)
            before[found.place] = found.value
        after = {place: mended(name, NAME, chosen) for place, name in before.items()}
        _put(frame, "name", after)
        for place, name in after.items():
            done.append((place, "name", ", ".join(codes[place]), before[place], name))

    def _fix_numbers(self, frame: pd.DataFrame, safe: list[Finding], done: list[Any]) -> None:
        pairs = {found.place: parts(found.suggestion or "") for found in safe}
        codes = {found.place: found.code for found in safe}
        for n, column in enumerate(_PAIR):
            held = dict.fromkeys(pairs)
            if column in frame.columns:
                cells = frame[column].astype(object).take(list(pairs)).tolist()
                held = dict(zip(pairs, cells, strict=True))
            elif pairs:
                frame.insert(
                    frame.columns.tolist().index("number"),
                    column,
                    pd.Series(None, frame.index, dtype="str"),
                )
            after = {
                place: pair[n] for place, pair in pairs.items() if not _equal(held[place], pair[n])
            }
            _put(frame, column, after)
            for place, text in after.items():
                before = held[place] if isinstance(held[place], str) else None
                done.append((place, column, codes[place], before, text))


def _equal(cell: Any, text: str) -> bool:
    return isinstance(cell, str) and cell == text


def _chosen(codes: str | Iterable[str] | None) -> set[str]:
    if codes is None:
        return {*FIXABLE}
    chosen = {codes} if isinstance(codes, str) else {*codes}
    if wrong := sorted(map(repr, chosen - {*FIXABLE})):
        can = ", ".join(FIXABLE)
        raise InputError(f"{', '.join(wrong)} cannot be fixed by itself. What can be: {can}.")
    return chosen


def _put(frame: pd.DataFrame, column: str, values: dict[int, str]) -> None:
    """Put texts into some rows of a column, of which nobody else has a part."""
    if not values:
        return
    cells = frame[column]
    dtype: Any = cells.dtype if isinstance(cells.dtype, pd.StringDtype) else object
    objects = cells.astype(object).tolist()
    for place, text in values.items():
        objects[place] = text
    frame[column] = pd.Series(objects, frame.index, dtype=dtype)


def _texts(cells: Sequence[str | None]) -> pd.Series[Any]:
    """Make a column of texts; half a character would not fit into one."""
    whole = [None if c is None else c.encode("utf-8", "replace").decode() for c in cells]
    return pd.Series(whole, dtype="str")
