"""Texts: all wording of a flow document as a table, and back."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from chatkit.errors import InputError, Problem
from chatkit.flowjson.document import read
from chatkit.flowjson.pointer import at, steps
from chatkit.flowjson.show import many, short
from chatkit.flowjson.wording import Text, code, is_expression, references, wording

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("screen", "component", "property")  #: what tells whether a text is still the same


def texts(document: object) -> pd.DataFrame:
    """Return everything a customer reads in a flow document, to be edited or translated.

    Examples in data models, and texts that come whole from data, are left out. Put the texts
    back with `with_texts`.

    Args:
        document: A dict, JSON text, a file, or a built Flow.

    Returns:
        A row for each text, indexed by its JSON pointer: screen, component, property, text,
        limit (documented characters, if any) and length.
    """
    from chatkit.flowjson.rows import frame

    columns = ("pointer", "screen", "component", "property", "text", "limit")
    made = frame(list(wording(read(document))), columns, texts=columns[:5])
    made["length"] = [len(text) for text in made.text]
    return made.astype({"limit": "Int64", "length": "Int64"}).set_index("pointer")


def with_texts(document: object, table: pd.DataFrame, column: str = "text") -> Any:
    """Return a copy of a flow document with the texts of a table, edited or translated.

    Rows that are missing, and empty cells (NA), leave their text as it is. A text that is
    longer than documented is put in, with a warning.

    Args:
        document: The document whose `texts` were edited.
        table: What `texts` gave; the pointers are its index or a column `pointer`.
        column: The column that holds the new texts, such as one of several languages.

    Raises:
        InputError: A row cannot be put in; all such rows are named.
    """
    copy = read(document)
    known = {one.pointer: one for one in wording(copy)}
    wanted, problems = _wanted(table, column, known)
    if problems:
        rows = many(len(problems), "row")
        raise InputError(f"{rows} cannot be put into the flow document:", problems)
    long = []
    for pointer, text in wanted.items():
        before = known[pointer]
        if before.limit is not None and max(before.limit, len(before.text)) < len(text):
            long.append(f"  {pointer}: {len(text)} characters, {before.limit} are documented")
        _put(copy, pointer, text)
    if long:
        head = f"{many(len(long), 'text')} may be cut on the phone:"
        warnings.warn("\n".join([head, *long]), stacklevel=2)
    return copy


def _wanted(
    table: pd.DataFrame, column: str, known: dict[str, Text]
) -> tuple[dict[str, str], list[Problem]]:
    """Take the texts that differ out of a table, and tell what is wrong with the others."""
    from chatkit.flowjson.rows import is_empty

    if "pointer" in table.columns:
        table = table.set_index("pointer")
    if column not in table.columns:
        raise InputError(f"The table of texts has no column {column!r}.")
    wanted: dict[str, str] = {}
    problems = []
    given = {name: list(table[name]) for name in COLUMNS if name in table.columns}
    for n, (pointer, text) in enumerate(zip(table.index, table[column], strict=True)):
        if is_empty(text):
            continue
        row = {name: values[n] for name, values in given.items()}
        reason = "; ".join(_wrong(str(pointer), text, row, known, wanted))
        if reason:
            problems.append(Problem(str(pointer), _shown(text), reason))
        elif text != known[pointer].text:
            wanted[pointer] = text
    return wanted, problems


def _wrong(
    pointer: str, text: object, row: dict[str, Any], known: dict[str, Text], wanted: dict[str, str]
) -> Iterator[str]:
    """Tell what is wrong with one row."""
    if pointer not in known:
        yield "no text stands there: make the table anew with texts()"
        return
    before = known[pointer]
    for name, value in row.items():
        expected = getattr(before, name)
        if isinstance(value, str) and value != (expected or ""):
            yield f"it is of {name} {short(expected or '')} now: make the table anew with texts()"
            return
    if not isinstance(text, str):
        yield "is no text"
    elif text != before.text:
        yield from _wrong_text(before.text, text)
        if wanted.get(pointer, text) != text:
            yield "stands in two rows that differ"


def _wrong_text(before: str, text: str) -> Iterator[str]:
    if not text.strip():
        yield "is blank, which the platform refuses: leave the cell empty to keep the text"
        return
    if is_expression(before) and is_expression(text):
        outside = code(text)
        if "'" in outside:
            yield "has a single quote that is no end of a text: write it as \\'"
        elif outside != code(before):
            yield "differs outside the single quotes, where the expression stands"
        return
    lost, new = references(before) - references(text), references(text) - references(before)
    if lost:
        yield f"lacks {', '.join(sorted(lost))}"
    if new:
        yield f"has {', '.join(sorted(new))}, which the text before has not"
    if is_expression(before) != is_expression(text):
        yield "must stand between backticks" if is_expression(before) else "is in backticks"


def _shown(text: object) -> str:
    return short(text) if isinstance(text, str) else repr(text)


def _put(value: Any, pointer: str, text: str) -> None:
    holder = at(value, pointer.rpartition("/")[0])
    last = steps(pointer)[-1]
    holder[int(last) if isinstance(holder, list) else last] = text
