"""Layout: the files of an account, what each holds, and how it is written.

```
account.toml                    which account this is, and the template codes
flows/<name>.json               a flow: its name, its template and its document
templates/<code>/<lang>.json    a content: the message in one language
webhooks.toml                   the webhooks
contacts.csv                    the contacts, where they were asked for
translations.jsonl              from which source text each translation was made
.chatkit/                       the account as it was when it was pulled
```

What is as it is by itself is left out, keys are in the order of the alphabet, and a text of
several lines is a list of them: a small edit is a small difference. All is text in UTF-8.
"""

from __future__ import annotations

import csv
import io
import json
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from hashlib import sha256
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from pydantic import BaseModel, ValidationError, create_model

from chatkit.account.reading import (
    CONTACT,
    CONTACT_COLUMNS,
    DECLARED,
    FIELDS,
    NAME_PARTS,
    NOUNS,
    Fields,
    canonical,
    contact_keys,
    default_of,
    named_cells,
)
from chatkit.api.record import Body
from chatkit.errors import InputError, Problem
from chatkit.flowjson.document import DocumentSource, LineColumn, read_source
from chatkit.frames.frame import frame_of_texts, listed
from chatkit.imports.tables import guarded, unguarded
from chatkit.localization.ledger import Ledger
from chatkit.templates.codes import template_codes
from chatkit.util.display import many, values, visible
from chatkit.util.json import escape, is_deeper

if TYPE_CHECKING:
    import pandas as pd

ACCOUNT, LEDGER, OURS = "account.toml", "translations.jsonl", ".chatkit"
#: The files of the records that have one each, and the file of those that are tables of one.
RECORD_FILES = {n: DECLARED[n].file for n in NOUNS if DECLARED[n].file.endswith(".json")}
TABLE_FILES = {n: DECLARED[n].file for n in NOUNS if n not in RECORD_FILES}
[CONTACTS] = (declared.file for declared in DECLARED.values() if declared.personal)
BASE, BASE_CONTACTS = f"{OURS}/base.json", f"{OURS}/contacts.csv"
#: The version of this layout; a later chatkit may write another one.
FORMAT = 1
#: The columns of contacts that a person edits; the parts of a name are the service's.
EDITED = tuple(name for name in CONTACT_COLUMNS if name not in NAME_PARTS)

#: Where each record stands, by its noun and its name.
Paths: TypeAlias = dict[tuple[str, Any], str]
Records: TypeAlias = dict[str, dict[Any, dict[str, Any]]]
#: Finds where a field stands in a file.
Place: TypeAlias = Callable[[str], "LineColumn | None"]

#: Names that Windows keeps for itself, whatever follows the dot.
_RESERVED = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]")
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}")
_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)|\(at end of document\)")
_MOST = 50  #: wrong rows of one table that are told one by one
#: The levels of a record's file; a flow document may have 60. The base holds records 3 deeper.
_DEEPEST = 96
#: Bytes of a file that is read, at most.
LARGEST_OTHER = 8 << 20
LARGEST = {CONTACTS: 512 << 20, BASE_CONTACTS: 512 << 20, BASE: 64 << 20, LEDGER: 64 << 20}
#: The form of what names a contact.
_FORMS = (
    (CONTACT[0], re.compile("[+][0-9]+"), "must be a + and digits, like +91"),
    (CONTACT[1], re.compile("[0-9]+"), "must be digits only, without the country code"),
)
#: Rows of contacts that are written at a time.
_BATCH = 4096
#: Files that other programs put into folders: beginnings and ends of their names.
_HIDDEN = (".", "~$")

_HEAD = """\
# A business messaging account as files: flows/, templates/, webhooks.toml and contacts.csv.
# Edit these and see `chatkit plan`; `chatkit pull` brings what has moved in the account.
"""


@dataclass
class FolderContents:
    """The records and settings in the files of a folder.

    Attributes:
        account: Which account it is, as `Connection.account` says it; None if no file tells.
        codes: The template codes, sorted.
        records: By noun and name; those of `NOUNS`.
        paths: The file of each record, by noun and name.
        contacts: The contacts, if they are here and were asked for.
        ledger: From which source text each translation was made, if it was asked for.
        base: The account as it was pulled.
        interrupted: Whether a pull that was interrupted has still to be ended.
        flows_only: Whether there is no place for anything else in it.
    """

    account: str | None = None
    codes: tuple[str, ...] = ()
    records: Records = field(default_factory=lambda: {noun: {} for noun in NOUNS})
    paths: Paths = field(default_factory=dict)
    contacts: pd.DataFrame | None = None
    ledger: Ledger = field(default_factory=Ledger)
    base: FolderContents | None = None
    interrupted: bool = False
    flows_only: bool = False


@dataclass
class FolderFiles:
    """The bytes of the files of a folder.

    Attributes:
        name: What the folder is called, for messages.
        files: The bytes of each file by its path.
        problems: What could not be read.
        interrupted: Whether a pull that was interrupted has still to be ended.
    """

    name: str
    files: dict[str, bytes] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    interrupted: bool = False

    def add(self, path: str, read: Callable[[str, int], bytes]) -> None:
        """Read a file; one that is missing is left out, and what is wrong with it is noted."""
        try:
            self.files[path] = read(path, LARGEST.get(path, LARGEST_OTHER))
        except FileNotFoundError:
            pass  # removed since it was listed
        except OSError as error:
            self.refuse(path, error)

    def refuse(self, path: str, error: OSError) -> None:
        """Note what is wrong with a file or folder."""
        self.problems.append(Problem(visible(path), "", error.strerror or type(error).__name__))


# --- names ------------------------------------------------------------------------------


def is_ours(path: str) -> bool:
    """Return whether a file, by its path in the folder, is one that this module reads."""
    parts = path.split("/")
    if any(part.startswith(_HIDDEN) for part in parts if part != OURS):
        return False
    if path in (ACCOUNT, *TABLE_FILES.values(), CONTACTS, LEDGER, BASE, BASE_CONTACTS):
        return True
    return _noun_of(path) is not None


def _noun_of(path: str) -> str | None:
    """Return what the record in a file is called; None for other files."""
    for noun, pattern in RECORD_FILES.items():
        same_folder = path.partition("/")[0] == pattern.partition("/")[0]
        if same_folder and path.count("/") == pattern.count("/") and path.endswith(".json"):
            return noun
    return None


def _names_in(noun: str, path: str) -> dict[str, Any]:
    """Return what the path of a file has of the name of its record: all of it, or nothing."""
    parts = path.removesuffix(".json").split("/")[1:]
    return named_cells(DECLARED[noun], tuple(parts)) if len(parts) > 1 else {}


def safe(name: str, noun: str = "flow") -> str:
    """Make of a name what every system takes for the name of a file; nothing of what has none.

    Args:
        name: Any text.
        noun: What is put behind a name that a system keeps for itself.

    >>> safe("Größe wählen / ändern?"), safe("../../etc/passwd"), safe("CON"), safe("予約")
    ('grosse-wahlen-andern', 'etc-passwd', 'con-flow', '')
    """
    plain = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    stem = re.sub("[^a-z0-9]+", "-", plain)[:60].strip("-")
    return f"{stem}-{noun}" if is_reserved(stem) else stem


def is_reserved(stem: str) -> bool:
    """Return whether a system keeps a name for itself, whatever follows the dot."""
    return _RESERVED.fullmatch(stem.casefold()) is not None


class PathNames:
    """Gives each record that has no file a path that no system takes for another one.

    Args:
        paths: The paths of the records that have one.
        existing: All paths of the folder.
    """

    def __init__(self, paths: Paths, existing: Iterable[str]) -> None:
        self._taken: set[str] = set()
        for path in (*existing, *paths.values()):
            self._take(path)
        self._folders = {
            name[0]: path.rpartition("/")[0]
            for (_, name), path in paths.items()
            if isinstance(name, tuple)
        }

    def _take(self, path: str) -> None:
        folder, _, _ = path.rpartition("/")
        self._taken |= {path.casefold(), folder.casefold()}

    def new(self, noun: str, name: Any) -> str:
        """Make the path of a record that has a file of its own."""
        folder = f"{RECORD_FILES[noun].partition('/')[0]}/"
        *outer, own = name if isinstance(name, tuple) else (name,)
        for code in outer:
            if code not in self._folders:
                self._folders[code] = self._free(folder, code, "template", "")
            folder = f"{self._folders[code]}/"
        path = self._free(folder, own, noun, ".json")
        self._take(path)
        return path

    def _free(self, before: str, name: str, noun: str, after: str) -> str:
        """Make the path of a file or a folder that none has, not even in other letters."""
        plain = _PLAIN.fullmatch(name) and not is_reserved(name)
        stem = name if plain else safe(name, noun)
        digest = sha256(name.encode(errors="surrogatepass")).hexdigest()
        stems = [stem] if stem else []
        stems += [f"{stem or noun}-{digest[:length]}" for length in (6, 12, 64)]
        paths = [f"{before}{each}{after}" for each in stems]
        return next(path for path in paths if path.casefold() not in self._taken)


# --- write ------------------------------------------------------------------------------


def json_text(value: Mapping[str, Any]) -> bytes:
    """Write JSON with each entry on a line of its own, and keys in their order at any depth."""
    with suppress(msgspec.MsgspecError, UnicodeEncodeError, OverflowError, RecursionError):
        plain = msgspec.json.encode(value, order="sorted")
        return bytes(msgspec.json.format(plain, indent=2)) + b"\n"
    for ascii_only in (False, True):  # half a character can only be written as an escape
        text = json.dumps(value, ensure_ascii=ascii_only, indent=2, sort_keys=True) + "\n"
        try:
            return text.encode()
        except UnicodeEncodeError:
            continue
    raise AssertionError("ASCII can be encoded")


def record_text(noun: str, name: Any, fields: Fields, path: str) -> bytes:
    """Write a record as the text of its file, without what its path has of its name."""
    known = _names_in(noun, path)
    named = named_cells(DECLARED[noun], name).items()
    row = {**fields, **{each: value for each, value in named if known.get(each) != value}}
    if isinstance(text := row.get("text"), str) and "\n" in text:
        row["text"] = text.split("\n")
    return json_text(row)


def account_text(account: str, codes: Iterable[str]) -> bytes:
    """Write `account.toml`."""
    lines = [f"account = {_toml(account)}", f"format = {FORMAT}"]
    listed = [f"  {_toml(code)}," for code in sorted(codes)]
    lines += ["templates = [", *listed, "]"] if listed else ["templates = []"]
    return (_HEAD + "\n".join([*lines, ""])).encode()


def table_text(noun: str, records: Mapping[str, Fields]) -> bytes:
    """Write all records of a resource as tables of one TOML file."""
    blocks = []
    for name, fields in sorted(records.items()):
        known = {each: fields.get(each, default_of(noun, each)) for each in FIELDS[noun]}
        cells = named_cells(DECLARED[noun], name) | known
        lines = [f"{each} = {_toml(value)}" for each, value in cells.items() if value is not None]
        blocks.append("\n".join([f"[[{noun}]]", *lines, ""]))
    return "\n".join(blocks).encode()


def _toml(value: Any) -> str:
    """Write a value as TOML has it: as JSON, and the last control character as an escape."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def base_text(account: str, codes: Iterable[str], records: Records) -> bytes:
    """Write the account as it was pulled: what the next pull tells edits by."""
    base: dict[str, Any] = {"account": account, "templates": sorted(codes)}
    for noun in NOUNS:
        nested = base[f"{noun}s"] = {}
        for name, fields in records[noun].items():
            *outer, own = name if isinstance(name, tuple) else (name,)
            place: dict[str, Any] = nested
            for part in outer:
                place = place.setdefault(part, {})
            place[own] = fields
    return json_text(base)


def write_contacts(contacts: pd.DataFrame, columns: Sequence[str], target: Any) -> None:
    """Write contacts as CSV into what takes bytes: no cell of it can run as a formula."""
    cells = [[guarded(text or "") for text in listed(contacts[name])] for name in columns]
    rows = chain([columns], zip(*cells, strict=True))
    while batch := list(islice(rows, _BATCH)):
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(batch)
        target.write(text.getvalue().encode())


# --- read -------------------------------------------------------------------------------


class FolderReader:
    """Reads the files of a folder; what is wrong is collected, so that all of it is told.

    Args:
        folder: The files.
    """

    def __init__(self, folder: FolderFiles) -> None:
        self._files, self._name = folder.files, folder.name
        #: By file its lines, and the numbers of those that begin a table: places are looked for in
        #: them once a record.
        self._lines: dict[str, tuple[list[str], list[int]]] = {}
        self.problems = [*folder.problems]
        self.contents = FolderContents(interrupted=folder.interrupted)
        #: The account as it was pulled: what a service has, it may have.
        self.base = FolderContents()

    def read(self, *, contacts: bool = False, ledger: bool = False) -> FolderContents:
        """Read all of it.

        Raises:
            InputError: Some files cannot be read, or say what cannot be: `problems` has all.
        """
        if BASE in self._files:
            self._base()
        if contacts and BASE_CONTACTS in self._files:
            self.base.contacts = self.contacts(BASE_CONTACTS, CONTACT_COLUMNS)
        codes = self._account()
        for path in sorted(self._files):
            if noun := _noun_of(path):
                self._record(noun, path)
        for noun, path in TABLE_FILES.items():
            if path in self._files:
                self._table(noun, path)
        if contacts and CONTACTS in self._files:
            self.contents.contacts = self.contacts(CONTACTS, EDITED)
        if ledger and LEDGER in self._files:
            self._ledger()
        named = (name for several in self.contents.records.values() for name in several)
        outer = (name[0] for name in named if isinstance(name, tuple))
        self.contents.codes = tuple(sorted({*codes, *outer}))
        tables = not self._files.keys().isdisjoint(TABLE_FILES.values())
        self.contents.flows_only = not tables and not self.contents.codes
        if self.problems:
            files = len({problem.field.partition(", line ")[0] for problem in self.problems})
            what = f"{many(len(self.problems), 'place')} in {many(files, 'file')} of {self._name}"
            raise InputError(f"{what} cannot be read; correct them all:", self.problems)
        if BASE in self._files:
            self.contents.base = self.base
        return self.contents

    def _refuse(self, path: str, at: LineColumn | None, reason: str, value: str = "") -> None:
        place = f", line {at.line}, column {at.column}" if at else ""
        self.problems.append(Problem(f"{visible(path)}{place}", value, reason))

    # --- account.toml and webhooks.toml ---

    def _account(self) -> tuple[str, ...]:
        content = self._toml(ACCOUNT)
        if content is None:
            return ()
        kinds: dict[str, type] = {"account": str, "format": int, "templates": list}
        for name, value in content.items():
            if name not in kinds:
                self._refuse(
                    ACCOUNT, self._line(ACCOUNT, name), f"{values(name)} is not known here"
                )
            elif not isinstance(value, kinds[name]) or isinstance(value, bool):
                needed = {str: "a text", int: "a whole number", list: "a list"}[kinds[name]]
                self._refuse(ACCOUNT, self._line(ACCOUNT, name), f"{name} must be {needed}")
                return ()
        if (version := content.get("format", FORMAT)) > FORMAT:
            reason = f"a later chatkit has written this folder (format {version}): install that"
            self._refuse(ACCOUNT, self._line(ACCOUNT, "format"), reason)
        self.contents.account = content.get("account")
        codes = content.get("templates", [])
        try:
            return tuple(template_codes(codes)) if codes else ()
        except InputError as error:
            for problem in error.problems:
                at = self._line(ACCOUNT, problem.value.strip("'\"")) or LineColumn(1, 1)
                self._refuse(ACCOUNT, at, problem.reason, problem.value)
        return ()

    def _toml(self, path: str) -> dict[str, Any] | None:
        if path not in self._files:
            return None
        if (text := self._utf8(path)) is None:
            return None
        try:
            value = tomllib.loads(text.replace("\r\n", "\n"))
            if not is_deeper(value, _DEEPEST):
                return value
            self._refuse(path, LineColumn(1, 1), f"is more than {_DEEPEST} levels deep")
        except tomllib.TOMLDecodeError as error:
            match = _PLACE.search(str(error))
            lines = text.splitlines() or [""]
            end = LineColumn(len(lines), len(lines[-1]) + 1)
            at = LineColumn(int(match[1]), int(match[2])) if match and match[1] else end
            reason = _PLACE.sub("", str(error)).strip()
            self._refuse(path, at, f"is not valid TOML: {reason[:1].lower()}{reason[1:]}")
        except RecursionError:
            self._refuse(path, LineColumn(1, 1), "is nested too deeply")
        except ValueError:  # a number with too many digits, a date that is none
            self._refuse(path, LineColumn(1, 1), "is not valid TOML: a value cannot be read")
        return None

    def _utf8(self, path: str) -> str | None:
        try:
            return self._files[path].decode("utf-8-sig")
        except UnicodeDecodeError as error:
            before = self._files[path][: error.start].decode("utf-8", "replace").split("\n")
            at = LineColumn(len(before), len(before[-1]) + 1)
            self._refuse(path, at, "is not UTF-8 text: save it as UTF-8")
            return None

    def _ledger(self) -> None:
        if (text := self._utf8(LEDGER)) is not None:
            try:
                self.contents.ledger = Ledger.of_text(text, "it")
            except (InputError, RecursionError) as error:
                self._refuse(LEDGER, None, f"cannot be read: {error}")

    def _line(self, path: str, text: str, table: int | None = None) -> LineColumn | None:
        """Find a text in a file, in the n-th of its tables if that is said."""
        if path not in self._lines:
            lines = self._files[path].decode("utf-8-sig").splitlines()
            heads = [n for n, line in enumerate(lines) if line.lstrip().startswith("[[")]
            self._lines[path] = lines, heads
        lines, heads = self._lines[path]
        first, last = 0, len(lines)
        if table is not None and table < len(heads):
            first = heads[table]
            last = heads[table + 1] if table + 1 < len(heads) else last
        for n in range(first, last):
            if text in lines[n] and not lines[n].lstrip().startswith("#"):
                return LineColumn(n + 1, lines[n].index(text) + 1)
        return LineColumn(first + 1, 1)

    def _table(self, noun: str, path: str) -> None:
        """Read the tables of a file, one for each record."""
        content = self._toml(path)
        if content is None:
            return
        for name in content:
            if name != noun:
                at = self._line(path, name)
                self._refuse(path, at, f"{values(name)} is not known here: write [[{noun}]]")
        tables = content.get(noun, [])
        if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
            self._refuse(path, self._line(path, noun), f"write [[{noun}]], in brackets")
            return
        for number, fields in enumerate(tables):
            self._add(noun, fields, path, partial(self._in_table, path, number))

    def _in_table(self, path: str, number: int, field_name: str) -> LineColumn | None:
        return self._line(path, field_name.partition(".")[0], number)

    # --- .chatkit/base.json ---

    def _base(self) -> None:
        """Read the account as it was pulled."""
        if (read := self._json(BASE, _DEEPEST + 3)) is None:
            return
        source, document = read
        try:
            _base_model().model_validate(document, strict=True)
        except ValidationError as error:
            for each in error.errors(include_url=False, include_input=False)[:_MOST]:
                steps = [str(step) for step in each["loc"]]
                at = source.find("".join(f"/{escape(step)}" for step in steps))
                named = values(".".join(steps))
                reason = f"{named} is damaged ({each['msg']}): bring back a copy of the file; or "
                self._refuse(BASE, at, f"{reason}delete it, and each difference is a conflict")
            return
        self.base.account, self.base.codes = (
            document["account"],
            tuple(document.get("templates", ())),
        )
        for noun in NOUNS:
            kept = document[f"{noun}s"]
            if len(DECLARED[noun].account_key) > 1:
                kept = {
                    (code, own): each for code, some in kept.items() for own, each in some.items()
                }
            self.base.records[noun] = kept

    # --- flows/ and templates/ ---

    def _json(
        self, path: str, deepest: int = _DEEPEST
    ) -> tuple[DocumentSource, dict[str, Any]] | None:
        source = read_source(self._files[path])
        if not source.fault and is_deeper(source.value, deepest):
            source.fault = f"it is more than {deepest} levels deep"
        if source.fault:
            self._refuse(path, source.at, f"is not valid JSON: {source.fault}")
            return None
        doubles = list(islice(source.doubles(), _MOST))
        for pointer, at in doubles:
            name = pointer.rpartition("/")[2]
            self._refuse(path, at, f"{values(name)} stands here for a second time: leave one out")
        if doubles:
            return None
        if not isinstance(source.value, dict):
            self._refuse(path, LineColumn(1, 1), "must be an object: write { … }")
            return None
        return source, source.value

    def _record(self, noun: str, path: str) -> None:
        """Read the file of a record."""
        if (read := self._json(path)) is None:
            return
        source, fields = read
        if fault := DECLARED[noun].file_fault(fields):
            self._refuse(path, source.find(fault[0]), fault[1])
            return
        fields = {**_names_in(noun, path), **fields}
        lines = fields.get("text")
        if isinstance(lines, list) and all(isinstance(line, str) for line in lines):
            fields["text"] = "\n".join(lines)
        try:
            template_codes([fields["template_code"]] if "template_code" in fields else ["any"])
        except InputError as error:
            for problem in error.problems:
                self._refuse(path, source.find("/template_code"), problem.reason, problem.value)
            return
        self._add(noun, fields, path, partial(_find, source))

    def _add(self, noun: str, fields: dict[str, Any], path: str, place: Place) -> None:
        """Take a record, once what differs from the account as it was pulled is checked."""
        declared = DECLARED[noun]
        fields = {**declared.file_defaults, **fields}
        parts = tuple(fields.get(each) for each in declared.account_key)
        name: Any = parts if len(parts) > 1 else parts[0]
        *outer, named = declared.account_key
        fields = {n: v for n, v in fields.items() if v is not None and n not in outer}
        required = [n for n in declared.body.required() if n not in declared.hidden]
        is_name = all(isinstance(part, str) for part in parts)
        known = self.base.records[noun].get(name) if is_name else None
        sent = {each: value for each, value in fields.items() if each != named or known is None}
        if known is not None:
            same = canonical(noun, fields)
            sent = {n: v for n, v in sent.items() if n not in same or same[n] != known.get(n)}
            required = []
        before = len(self.problems)
        if sent or required:
            self._check(declared.body, sent, required, path, place)
        if len(self.problems) > before:
            return
        records = self.contents.records[noun]
        if name in records:
            other = self.contents.paths.get((noun, name), path)
            label = " in ".join(name) if isinstance(name, tuple) else name
            where = "in this file" if other == path else f"in {other}"
            reason = f"the {noun} {values(label)} stands {where} too: keep one of them"
            self._refuse(path, place(named), reason)
            return
        records[name] = canonical(noun, fields)
        self.contents.paths[noun, name] = path

    def _check(
        self,
        body: type[Body],
        fields: dict[str, Any],
        required: Sequence[str],
        path: str,
        place: Place,
    ) -> None:
        """Check fields as they would be sent; what is wrong is told with its place."""
        try:
            body.whole(fields, "", required)
        except InputError as error:
            for each in error.problems:
                if each.reason == "is required":
                    reason = f"{each.field} is missing: write {json.dumps(each.field)}: …"
                else:
                    named = f"{each.field} = {each.value}" if each.value else each.field
                    step = f": {each.next_step}" if each.next_step else ""
                    reason = f"{named}: {each.reason}{step}"
                self._refuse(path, place(each.field), reason)

    # --- contacts.csv ---

    def contacts(self, path: str, columns: Sequence[str]) -> pd.DataFrame | None:
        """Read the contacts of a file, sorted by their numbers."""
        if (text := self._utf8(path)) is None:
            return None
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        try:
            head = next(filter(None, reader), [])
            if self._wrong_head(path, head, columns):
                return None
            cells: dict[str, list[str | None]] = {name: [] for name in columns}
            for row in self._contact_rows(path, reader, head):
                for name, column in cells.items():
                    column.append(row.get(name) or None)
        except csv.Error as error:  # a cell of more than 131,072 characters
            self._refuse(path, LineColumn(reader.line_num, 1), f"cannot be read: {error}")
            return None
        return frame_of_texts(cells, CONTACT)

    @cached_property
    def _pulled(self) -> set[str]:
        """The numbers, with country codes, of the contacts that were pulled: they are valid."""
        base = self.base.contacts
        return set() if base is None else {*contact_keys(base)}

    def _wrong_head(self, path: str, head: Sequence[str], columns: Sequence[str]) -> bool:
        """Note what is wrong with the names of the columns; return whether nothing can be read."""
        at = LineColumn(1, 1)
        if doubled := [name for n, name in enumerate(head) if name in head[:n]]:
            reason = f"the column {values(doubled[0])} stands there twice: leave one out"
            self._refuse(path, at, reason)
        elif lost := [name for name in CONTACT if name not in head]:
            reason = f"the columns {', '.join(lost)} are missing: write {','.join(columns)}"
            self._refuse(path, at, reason, ", ".join(head)[:80])
        elif unknown := [name for name in head if name not in columns]:
            at = LineColumn(1, _column(head, unknown[0], head))
            reason = f"{values(unknown[0])} is not a column: the columns are {', '.join(columns)}"
            self._refuse(path, at, reason)
            return False
        else:
            return False
        return True

    def _contact_rows(
        self, path: str, reader: Any, head: Sequence[str]
    ) -> Iterator[Mapping[str, str]]:
        """Yield the cells of each row; note what is wrong with rows, by the lines that they end."""
        seen: set[str] = set()
        wrong: Counter[str] = Counter()
        before = reader.line_num
        for row in reader:
            line, before = before + 1, reader.line_num
            if not row:
                continue
            if len(row) != len(head):
                reason = f"has {many(len(row), 'cell')}, and the first line {len(head)}"
                reason += ": put a text with a comma in it in quotes"
                self._refuse(path, LineColumn(line, 1), reason)
                continue
            cells = dict(zip(head, map(unguarded, row), strict=True))
            yield cells
            if path != CONTACTS:
                continue
            key = " ".join(cells[name] for name in CONTACT)
            name, reason = CONTACT[0], f"{key} stands here a second time" if key in seen else ""
            for column, form, rule in _FORMS:
                if not form.fullmatch(cells[column]) and key not in self._pulled:
                    name, reason = column, f"{column} {rule}: {values(cells[column])}"
                    break
            seen.add(key)
            wrong[name] += bool(reason)
            if reason and wrong[name] <= _MOST:
                self._refuse(path, LineColumn(line, _column(head, name, row)), reason)
        for name, count in wrong.items():
            if count > _MOST:
                self._refuse(path, None, f"{count - _MOST:,} more rows have such a {name}")


def _column(head: Sequence[str], name: str, row: Sequence[str]) -> int:
    """Return the column of the line in which a cell begins, were nothing in quotes."""
    return sum(len(cell) + 1 for cell in row[: head.index(name)]) + 1


@cache
def _base_model() -> type[BaseModel]:
    """Return the model of the base: the types of all fields, without the rules of their values."""
    table: Any = dict
    fields: dict[str, Any] = {"account": (str, ...), "templates": (list[str], [])}
    for noun in NOUNS:
        known: dict[str, Any] = {}
        for name, each in DECLARED[noun].body.model_fields.items():
            nested = "chatkit." in str(each.annotation)
            plain: Any = list[dict[str, Any]] if nested else each.annotation
            known[name] = (plain | None, None)
        model = table[str, create_model(noun, **known)]
        if len(DECLARED[noun].account_key) > 1:
            model = table[str, model]
        fields[f"{noun}s"] = (model, ...)
    return create_model("Base", **fields)


def _find(source: DocumentSource, field_name: str) -> LineColumn:
    return source.find(_pointer(field_name))


def _pointer(field_name: str) -> str:
    """Write the name of a field, like buttons.0.type, as a JSON pointer."""
    return "".join(f"/{step}" for step in field_name.split("."))
