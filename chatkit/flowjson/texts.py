"""Read the texts of a flow document into a table, and put edited ones back."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chatkit.errors import InputError, Problem
from chatkit.flowjson.components import Shape
from chatkit.flowjson.document import read_document
from chatkit.flowjson.nodes import is_expression, read_nodes
from chatkit.report import make_object_frame
from chatkit.util.display import format_short_json, many
from chatkit.util.json import escape_key, get_value, split_pointer

if TYPE_CHECKING:
    import pandas as pd


#: Properties of a component, of an option, or of a part of one, that a customer reads.
WORDING = frozenset(
    {
        *("text", "label", "title", "description", "helper-text", "metadata"),
        *("left-caption", "center-caption", "right-caption"),
        *("error-message", "error-messages", "alt-text", "badge", "tags"),
    }
)
#: Properties that hold a list of options, items or images.
OPTIONS = frozenset({"data-source", "list-items", "images"})
_ITEM_PARTS = frozenset({"main-content", "start", "end"})  # what a list item is made of

_REFERENCE = re.compile(r"\$\{[^{}]*\}")
_CODE_TOKEN = re.compile(r"\$\{[^{}]*\}|\w+|[^\w\s]")
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'")


@dataclass(frozen=True, slots=True)
class DocumentText:
    """One text that a customer reads, and how long it should be at most."""

    pointer: str
    screen: str | None
    component: str  #: its type and name; empty for the title of a screen
    property: str
    text: str
    limit: int | None


def find_texts(document: Any) -> Iterator[DocumentText]:
    """Yield all texts that a customer reads, in the order of the document.

    A text that is one reference to data is left out; one with references among its words is not.
    """
    for screen in read_nodes(document).screens:
        title = screen.value.get("title")
        if isinstance(title, str) and _has_words(title):
            yield DocumentText(f"{screen.pointer}/title", screen.id, "", "title", title, None)
        for component in screen.components:
            shape = component.shape
            name = " ".join(part for part in (component.type, component.name) if part)
            for place, path, text, limit in _texts_in_object("", "", component.value, shape):
                yield DocumentText(component.pointer + place, screen.id, name, path, text, limit)


def count_references(text: str) -> Counter[str]:
    """Count the references `${…}` in a text."""
    return Counter(_REFERENCE.findall(text))


def count_code(expression: str) -> Counter[str]:
    """Count the tokens of an expression outside its texts in single quotes."""
    return Counter(_CODE_TOKEN.findall(_QUOTED.sub(" ", expression)))


def _has_words(text: str) -> bool:
    """Return whether a text holds words, besides references and the code of an expression."""
    if is_expression(text.strip()):
        return any(quoted[1:-1].strip() for quoted in _QUOTED.findall(text))
    return bool(_REFERENCE.sub("", text).strip())


#: The pointer, path, text and limit of each text.
_Texts = Iterator[tuple[str, str, str, int | None]]


def _texts_in_object(place: str, path: str, value: dict[str, Any], shape: Shape | None) -> _Texts:
    """Yield the texts in a component, an option or a part of one."""
    for key, inner in value.items():
        prop = shape.property(key) if shape else None
        here, name = f"{place}/{escape_key(key)}", f"{path}.{key}" if path else key
        item = prop.item if prop else None
        if key in WORDING:
            yield from _texts_in_property(here, name, inner, prop.length if prop else None)
        elif key in _ITEM_PARTS and isinstance(inner, dict):
            yield from _texts_in_object(here, name, inner, item)
        elif key in OPTIONS and isinstance(inner, list):
            for n, option in enumerate(inner):
                if isinstance(option, dict):
                    yield from _texts_in_object(f"{here}/{n}", f"{name}[{n}]", option, item)


def _texts_in_property(place: str, path: str, value: Any, limit: int | None) -> _Texts:
    """Yield the texts of a property: a text, a list of lines, or an object of texts."""
    if isinstance(value, str):
        if _has_words(value):
            yield place, path, value, limit
    elif isinstance(value, list):
        for n, line in enumerate(value):
            if isinstance(line, str):
                yield from _texts_in_property(f"{place}/{n}", f"{path}[{n}]", line, limit)
    elif isinstance(value, dict):
        for key, text in value.items():
            if isinstance(text, str):
                here = f"{place}/{escape_key(key)}"
                yield from _texts_in_property(here, f"{path}.{key}", text, limit)


COLUMNS = ("screen", "component", "property")  #: they must not change while a text is edited


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
    columns = ("pointer", "screen", "component", "property", "text", "limit")
    made = make_object_frame(list(find_texts(read_document(document))), columns, texts=columns[:5])
    made["length"] = [len(text) for text in made.text]
    return made.astype({"limit": "Int64", "length": "Int64"}).set_index("pointer")


def with_texts(document: object, table: pd.DataFrame, column: str = "text") -> Any:
    """Return a copy of a flow document with the texts of a table, edited or translated.

    Rows that are missing, and empty cells (NA), leave their text as it is. A text that is
    longer than documented is put in, with a warning.

    Args:
        document: The document whose `texts` were edited.
        table: The table of `texts`; the pointers are its index or a column `pointer`.
        column: The column that holds the new texts, such as one of several languages.

    Raises:
        InputError: A row cannot be put in; all such rows are named.
    """
    copy = read_document(document)
    known = {one.pointer: one for one in find_texts(copy)}
    edited, problems = _read_edits(table, column, known)
    if problems:
        rows = many(len(problems), "row")
        raise InputError(f"{rows} cannot be put into the flow document:", problems)
    long = []
    for pointer, text in edited.items():
        before = known[pointer]
        if before.limit is not None and max(before.limit, len(before.text)) < len(text):
            long.append(f"  {pointer}: {len(text)} characters, {before.limit} are documented")
        holder, last = get_value(copy, pointer.rpartition("/")[0]), split_pointer(pointer)[-1]
        holder[int(last) if isinstance(holder, list) else last] = text
    if long:
        head = f"{many(len(long), 'text')} may be cut on the phone:"
        warnings.warn("\n".join([head, *long]), stacklevel=2)
    return copy


def _read_edits(
    table: pd.DataFrame, column: str, known: dict[str, DocumentText]
) -> tuple[dict[str, str], list[Problem]]:
    """Return the edited texts of a table by their pointers, and the problems of its rows."""
    if "pointer" in table.columns:
        table = table.set_index("pointer")
    if column not in table.columns:
        raise InputError(
            f"The table of texts has no column {column!r}: pass the edited frame of texts()."
        )
    edited: dict[str, str] = {}
    problems = []
    columns = {name: list(table[name]) for name in COLUMNS if name in table.columns}
    empty = table[column].isna()
    for n, (pointer, text) in enumerate(zip(table.index, table[column], strict=True)):
        if empty.iloc[n]:
            continue
        row = {name: values[n] for name, values in columns.items()}
        reason = "; ".join(_row_problems(str(pointer), text, row, known, edited))
        if reason:
            value = format_short_json(text) if isinstance(text, str) else repr(text)
            problems.append(Problem(str(pointer), value, reason))
        elif text != known[pointer].text:
            edited[pointer] = text
    return edited, problems


def _row_problems(
    pointer: str,
    text: object,
    row: dict[str, Any],
    known: dict[str, DocumentText],
    edited: dict[str, str],
) -> Iterator[str]:
    """Yield the problems of one row."""
    if pointer not in known:
        yield "no text stands there: make the table anew with texts()"
        return
    before = known[pointer]
    for name, value in row.items():
        expected = getattr(before, name)
        if isinstance(value, str) and value != (expected or ""):
            now = format_short_json(expected or "")
            yield f"it is of {name} {now} now: make the table anew with texts()"
            return
    if not isinstance(text, str):
        yield "must be text"
    elif text != before.text:
        yield from _text_problems(before.text, text)
        if edited.get(pointer, text) != text:
            yield "stands in two rows that differ"


def _text_problems(before: str, text: str) -> Iterator[str]:
    if not text.strip():
        yield "is blank, which the platform refuses: leave the cell empty to keep the text"
        return
    was_expression, is_now = is_expression(before.strip()), is_expression(text.strip())
    if was_expression and is_now:
        outside = count_code(text)
        if "'" in outside:
            yield "has a single quote that does not end a text: write it as \\'"
        elif outside != count_code(before):
            yield "differs outside the single quotes, where the expression stands"
        return
    old_references, references = count_references(before), count_references(text)
    if lost := old_references - references:
        yield f"lacks {', '.join(sorted(lost))}"
    if new := references - old_references:
        yield f"has {', '.join(sorted(new))}, which the text before has not"
    if was_expression != is_now:
        yield "must stand between backticks" if was_expression else "is in backticks"
