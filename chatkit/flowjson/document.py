"""Read flow documents: from a value, JSON text, bytes, a file, or an object that holds one."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from chatkit.errors import InputError
from chatkit.util.json import JsonFault, escape_key, is_deeper, read_json, split_pointer

#: Levels of nesting that are read: a flow document has some 20.
DEEPEST = 60


def read_document(document: object) -> Any:
    """Read a flow document, and return a copy of it that may be changed.

    Raises:
        InputError: It is no JSON, or nothing that can be read.
    """
    try:
        source = read_source(document)
        if source.fault:
            raise InputError(source.describe_fault())
        value = json.loads(json.dumps(source.value))  # tuples become lists, and keys texts
        deep = is_deeper(value, DEEPEST)
    except RecursionError:
        deep = True
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"The flow document is not valid JSON: {error}") from None
    if deep:
        raise InputError(f"The flow document is nested more than {DEEPEST} levels deep.")
    return value


_FILE_NAME = re.compile(r".*\.json|[\w .:~()/\\-]{1,200}\.[A-Za-z]\w{1,9}")  # no number, like 1.5
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]|[^\s{}\[\],:"]+', re.DOTALL)


class LineColumn(NamedTuple):
    """A line and a column of a text, both counted from 1."""

    line: int
    column: int


@dataclass
class DocumentSource:
    """A document as it was passed, with the positions in its text.

    `text` is None when a value was passed.
    """

    value: Any = None
    text: str | None = None
    size: int = 0  # bytes of the text
    fault: str = ""  # why it cannot be read; empty when it can
    at: LineColumn | None = None  # where it cannot be read
    has_duplicates: bool = False  # an object has a key twice
    _starts: list[int] = field(default_factory=list, repr=False)
    _offsets: dict[tuple[str, ...], int] = field(default_factory=dict, repr=False)

    def describe_fault(self) -> str:
        """Return why the document cannot be read, and where."""
        where = f" at line {self.at.line}, column {self.at.column}" if self.at else ""
        return f"The flow document is not valid JSON: {self.fault}{where}."

    def locate_offset(self, offset: int) -> LineColumn:
        """Return line and column of an offset in the text."""
        text = self.text or ""
        if not self._starts:
            self._starts = [0, *(end.end() for end in re.finditer(r"\r\n|\n|\r", text))]
        line = bisect_right(self._starts, offset)
        return LineColumn(line, offset - self._starts[line - 1] + 1)

    def find(self, pointer: str) -> LineColumn:
        """Return the position of a JSON pointer: of its key, or of its value in an array.

        The position of what is missing is that of the object or array around it.
        """
        text = self.text or ""
        path = tuple(split_pointer(pointer))
        if path and not self._offsets:  # a text that is no JSON has findings only at the top
            self._offsets = {path: offset for path, offset, _ in _scan_positions(text)}
        while path and path not in self._offsets:
            path = path[:-1]
        return self.locate_offset(self._offsets.get(path, len(text) - len(text.lstrip())))

    def find_duplicate_keys(self) -> Iterator[tuple[str, LineColumn]]:
        """Yield each repeated key of an object: its JSON pointer and its position."""
        positions = _scan_positions(self.text or "") if self.has_duplicates else ()
        for path, offset, is_repeated in positions:
            if is_repeated:
                yield "".join(f"/{escape_key(step)}" for step in path), self.locate_offset(offset)


def read_source(document: object) -> DocumentSource:
    """Read a document: a value, a record of an account, a built Flow, text, bytes or a file.

    Raises:
        InputError: A file cannot be opened, or it is nothing of all these.
    """
    document = _unwrap_document(document)
    if isinstance(document, str):
        inside = document.lstrip("\ufeff \t\r\n")
        if inside[:1] not in ("{", "[", '"') and _FILE_NAME.fullmatch(inside):
            document = Path(inside)
    if isinstance(document, PathLike):
        path = Path(document)
        try:
            document = path.read_bytes()
        except OSError as error:
            others = [each.name for each in path.parent.glob("*") if each.name != path.name]
            close = get_close_matches(path.name, others, 1)
            hint = f" Did you mean {path.with_name(close[0])}?" if close else ""
            raise InputError(f"The file {path} cannot be read: {error.strerror}.{hint}") from None
    if isinstance(document, bytes | bytearray):
        return _read_bytes(bytes(document))
    if isinstance(document, str):
        return _read_text(document.removeprefix("\ufeff"), len(document.encode(errors="replace")))
    if isinstance(document, Mapping):
        return DocumentSource(dict(document))
    if isinstance(document, list | tuple):
        return DocumentSource(list(document))
    kind = type(document).__name__
    raise InputError(f"A flow document is a dict, text or a file, not {kind}.")


def _unwrap_document(value: object) -> object:
    """Take the document out of a built Flow or a record; return other values as they are."""
    built = None if isinstance(value, type) else getattr(value, "to_json", None)
    if callable(built):
        return built()
    if isinstance(value, Mapping):
        if "flow_json" not in value or "screens" in value:
            return value
        inner = value["flow_json"]
    elif hasattr(value, "flow_json"):
        inner = value.flow_json
    else:
        return value
    if inner is None:
        raise InputError("This record shows no flow_json: read it again by its id, with get.")
    return inner


def _read_bytes(data: bytes) -> DocumentSource:
    encoding = json.detect_encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        text = data.decode(encoding, errors="replace")
        source = DocumentSource(text=text, size=len(data), fault=f"a byte that is not {encoding}")
        before = data[: error.start].decode(encoding, errors="replace")
        source.at = source.locate_offset(len(before.removeprefix("\ufeff")))
        return source
    return _read_text(text.removeprefix("\ufeff"), len(data))


def _read_text(text: str, size: int) -> DocumentSource:
    source = DocumentSource(text=text, size=size)

    def note_duplicate(_key: str) -> None:
        source.has_duplicates = True

    try:
        source.value = read_json(text, on_duplicate=note_duplicate, surrogates=True)
    except JsonFault as fault:
        source.fault = str(fault)
        source.at = None if fault.offset is None else source.locate_offset(fault.offset)
    return source


def _scan_positions(text: str) -> Iterator[tuple[tuple[str, ...], int, bool]]:
    """Yield the path and offset of each value in a JSON text; True for a repeated key.

    The text was read as JSON before, so brackets and quotes match.
    """
    stack: list[_Level] = []
    for token in _TOKEN.finditer(text):
        mark = token[0]
        level = stack[-1] if stack else None
        if mark in "}]":
            stack.pop()
        elif mark == ",":
            if level is not None:
                level.next()
        elif level is not None and level.wants_key:
            key = json.loads(mark, strict=False) if "\\" in mark else mark[1:-1]
            level.path = (*level.base, key)
            level.wants_key = False
            yield level.path, token.start(), key in level.keys
            level.keys.add(key)
        else:
            if level is not None and level.array:
                level.path = (*level.base, str(level.index))
                yield level.path, token.start(), False
            if mark in "{[":
                stack.append(_Level(level.path if level else (), array=mark == "["))


class _Level:
    """An object or array while its text is read."""

    def __init__(self, base: tuple[str, ...], *, array: bool) -> None:
        self.base = self.path = base
        self.array = array
        self.index = 0
        self.keys: set[str] = set()
        self.wants_key = not array

    def next(self) -> None:
        self.index += 1
        self.wants_key = not self.array
