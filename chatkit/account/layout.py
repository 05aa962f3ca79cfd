"""Layout: the files of an account, what each holds, and how it is written.

```
account.json                    which account this is, and the template codes
flows/<name>.json               a flow: its name, its template and its document
templates/<code>/<lang>.json    a content: the message in one language
webhooks/<address>.json         a webhook: its address and its events
contacts.csv                    the contacts, where they were asked for
translations.jsonl              from which source text each translation was made
.chatkit/                       the account as it was when it was pulled
```

Each record is a file of its own. What is as it is by itself is left out, keys are in the order of
the alphabet, and a text of several lines is a list of them: a small edit is a small difference.
All is text in UTF-8.
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from itertools import islice
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, create_model

from chatkit.account import reading
from chatkit.account.reading import Fields
from chatkit.api.record import Body
from chatkit.errors import InputError, Problem
from chatkit.flowjson.document import DocumentSource, LineColumn, read_source
from chatkit.imports.tables import guard_cell, remove_guard
from chatkit.localization.ledger import Ledger
from chatkit.templates.codes import template_codes
from chatkit.util.display import many, values, visible
from chatkit.util.json import escape_key, is_deeper

ACCOUNT, LEDGER, PRIVATE_FOLDER = "account.json", "translations.jsonl", ".chatkit"
#: Where the file of each record is, by its noun.
RECORD_FILES = {noun: reading.DECLARED[noun].file for noun in reading.NOUNS}
_RECORD_FILE = re.compile(
    "|".join(
        f"(?P<{noun}>{re.escape(path)})".replace(r"\*", "[^/]+")
        for noun, path in RECORD_FILES.items()
    )
)
CONTACTS = reading.DECLARED[reading.CONTACT].file
BASE, BASE_CONTACTS = f"{PRIVATE_FOLDER}/base.json", f"{PRIVATE_FOLDER}/contacts.csv"
#: The version of this layout; a later chatkit may write another one.
FORMAT = 1
#: The columns of contacts that a person edits; the parts of a name are the service's.
EDITABLE = tuple(name for name in reading.CONTACT_COLUMNS if name not in reading.NAME_PARTS)

#: Where each record stands, by its noun and its name.
Paths: TypeAlias = dict[tuple[str, Any], str]
Records: TypeAlias = dict[str, dict[Any, dict[str, Any]]]

#: Names that Windows keeps for itself, whatever follows the dot.
_RESERVED = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]")
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}")
_MAX_PROBLEMS = 50  #: wrong places of one file that are named one by one
#: The levels of a record's file; a flow document may have 60. The base holds records 3 deeper.
_MAX_DEPTH = 96
#: Bytes of a file that is read, at most.
MAX_SIZE = 8 << 20
MAX_SIZES = {CONTACTS: 512 << 20, BASE_CONTACTS: 512 << 20, BASE: 64 << 20, LEDGER: 64 << 20}
#: Files that other programs put into folders: beginnings and ends of their names.
_HIDDEN_MARKS = (".", "~$")


class _AccountFile(BaseModel):
    """The entries of `account.json`."""

    model_config = ConfigDict(extra="allow")  # of a later format

    account: str | None = None
    format: int = FORMAT
    templates: list[str] = []
    flows_only: bool | None = None


@dataclass
class FolderContents:
    """The records and settings in the files of a folder.

    Attributes:
        account: The account, as in `Connection.account`; None if no file names it.
        codes: The template codes, sorted.
        records: By noun and name; contacts if they are here and were asked for.
        paths: The file of each record, by noun and name.
        ledger: The source text of each translation, if it was asked for.
        base: The account as it was pulled.
        pulled: Of the base: when the account was read; None if an earlier chatkit wrote it.
        flows_only: Whether the folder holds flows only.
        files: The bytes of its files.
    """

    account: str | None = None
    codes: tuple[str, ...] = ()
    records: Records = field(default_factory=lambda: {noun: {} for noun in reading.NOUNS})
    paths: Paths = field(default_factory=dict)
    ledger: Ledger = field(default_factory=Ledger)
    base: FolderContents | None = None
    pulled: datetime | None = None
    flows_only: bool = False
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass
class FolderFiles:
    """The bytes of the files of a folder.

    Attributes:
        name: The name of the folder, for messages.
        files: The bytes of each file by its path.
        problems: The files that could not be read.
    """

    name: str
    files: dict[str, bytes] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def read_file(self, path: str, read: Callable[[str, int], bytes]) -> None:
        """Read a file; skip one that is missing, and add a problem for one that cannot be read."""
        try:
            self.files[path] = read(path, MAX_SIZES.get(path, MAX_SIZE))
        except FileNotFoundError:
            pass  # removed since it was listed
        except OSError as error:
            self.add_problem(path, error)

    def add_problem(self, path: str, error: OSError) -> None:
        """Add the error of a file or folder to the problems."""
        self.problems.append(Problem(visible(path), "", error.strerror or type(error).__name__))


# --- names ------------------------------------------------------------------------------


def is_folder_file(path: str) -> bool:
    """Return whether a path in a folder names a file that this module reads."""
    parts = path.split("/")
    if any(part.startswith(_HIDDEN_MARKS) for part in parts if part != PRIVATE_FOLDER):
        return False
    known = path in (ACCOUNT, CONTACTS, LEDGER, BASE, BASE_CONTACTS)
    return known or _find_noun(path) is not None


def _find_noun(path: str) -> str | None:
    """Return the noun of the record that a path names; None for other files."""
    match = _RECORD_FILE.fullmatch(path)
    return match.lastgroup if match else None


def _parse_name_cells(noun: str, path: str) -> dict[str, Any]:
    """Return the name cells in the path of a record's file; empty if it has none."""
    parts = path.removesuffix(".json").split("/")[1:]
    return reading.make_name_cells(reading.DECLARED[noun], tuple(parts)) if len(parts) > 1 else {}


def make_file_name(name: str, noun: str = "flow") -> str:
    """Make a portable file name of any text; empty if nothing usable is left.

    Args:
        name: Any text.
        noun: The suffix of a name that a system reserves.

    >>> list(map(make_file_name, ["Größe wählen / ändern?", "../../etc/passwd", "CON", "予約"]))
    ['grosse-wahlen-andern', 'etc-passwd', 'con-flow', '']
    """
    plain = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    stem = re.sub("[^a-z0-9]+", "-", plain)[:60].strip("-")
    return f"{stem}-{noun}" if is_reserved_name(stem) else stem


def is_reserved_name(stem: str) -> bool:
    """Return whether Windows reserves a name, whatever follows the dot."""
    return _RESERVED.fullmatch(stem.casefold()) is not None


class PathNames:
    """Generator of unique record paths, safe on every file system.

    Args:
        paths: The paths of the records that have a file.
        existing: All paths of the folder.
    """

    def __init__(self, paths: Paths, existing: Iterable[str]) -> None:
        self._taken: set[str] = set()
        for path in (*existing, *paths.values()):
            self._reserve(path)
        self._folders = {
            name[0]: path.rpartition("/")[0]
            for (_, name), path in paths.items()
            if isinstance(name, tuple)
        }

    def _reserve(self, path: str) -> None:
        """Mark a path and its folder as taken, whatever their case."""
        folder, _, _ = path.rpartition("/")
        self._taken |= {path.casefold(), folder.casefold()}

    def make_path(self, noun: str, name: Any) -> str:
        """Make the path of a new record, and reserve it."""
        folder = f"{RECORD_FILES[noun].partition('/')[0]}/"
        *outer, own = name if isinstance(name, tuple) else (name,)
        for code in outer:
            if code not in self._folders:
                self._folders[code] = self._find_free_path(folder, code, "template", "")
            folder = f"{self._folders[code]}/"
        path = self._find_free_path(folder, own, noun, ".json")
        self._reserve(path)
        return path

    def _find_free_path(self, before: str, name: str, noun: str, after: str) -> str:
        """Return a free path of a file or folder; paths that differ in case alone are taken."""
        plain = _PLAIN.fullmatch(name) and not is_reserved_name(name)
        stem = name if plain else make_file_name(name.removeprefix("https://"), noun)
        digest = sha256(name.encode(errors="surrogatepass")).hexdigest()
        stems = [stem] if stem else []
        stems += [f"{stem or noun}-{digest[:length]}" for length in (6, 12, 64)]
        paths = [f"{before}{each}{after}" for each in stems]
        return next(path for path in paths if path.casefold() not in self._taken)


# --- write ------------------------------------------------------------------------------


def format_json(value: Mapping[str, Any]) -> bytes:
    """Write JSON with each entry on its own line, and keys sorted at any depth."""
    try:
        return (json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()
    except UnicodeEncodeError:  # half a character can only be written as an escape
        return (json.dumps(value, indent=2, sort_keys=True) + "\n").encode()


def format_record(noun: str, name: Any, fields: Fields, path: str) -> bytes:
    """Format a record as the JSON of its file, without the name cells in its path."""
    known = _parse_name_cells(noun, path)
    named = reading.make_name_cells(reading.DECLARED[noun], name).items()
    row = {**fields, **{each: value for each, value in named if known.get(each) != value}}
    if isinstance(text := row.get("text"), str) and "\n" in text:
        row["text"] = text.split("\n")
    return format_json(row)


def format_account(account: str, codes: Iterable[str], *, flows_only: bool) -> bytes:
    """Format `account.json`: the account and its template codes."""
    about: dict[str, Any] = {"account": account, "format": FORMAT, "templates": sorted(codes)}
    return format_json(about | ({"flows_only": True} if flows_only else {}))


def format_base(
    account: str, codes: Iterable[str], records: Records, pulled: datetime
) -> dict[str, bytes]:
    """Format the files of the base: the records as pulled, with which the next pull compares."""
    base: dict[str, Any] = {
        "account": account, "pulled": pulled.isoformat(timespec="milliseconds"),
        "templates": sorted(codes),
    }  # fmt: skip
    for noun in reading.NOUNS:
        nested = base[f"{noun}s"] = {}
        for name, fields in records[noun].items():
            *outer, last_part = name if isinstance(name, tuple) else (name,)
            level: dict[str, Any] = nested
            for part in outer:
                level = level.setdefault(part, {})
            level[last_part] = fields
    texts = {BASE: format_json(base)}
    if reading.CONTACT in records:
        texts[BASE_CONTACTS] = format_contacts(records[reading.CONTACT], reading.CONTACT_COLUMNS)
    return texts


def format_contacts(contacts: Mapping[Any, Fields], columns: Sequence[str]) -> bytes:
    """Format contacts as CSV, sorted by number; no cell can run as a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(columns)
    for name, fields in sorted(contacts.items()):
        cells = {**reading.make_name_cells(reading.DECLARED[reading.CONTACT], name), **fields}
        writer.writerow([guard_cell(cells.get(each) or "") for each in columns])
    return text.getvalue().encode()


# --- read -------------------------------------------------------------------------------


@dataclass
class _JsonFile:
    """A file that was parsed as a JSON object, with the problems in it."""

    path: str
    source: DocumentSource
    problems: list[Problem] = field(default_factory=list)

    def add_problem(self, pointer: str, reason: str, value: str = "") -> None:
        """Add a problem at the place that a JSON pointer names."""
        self.problems.append(_make_problem(self.path, self.source.find(pointer), reason, value))

    def check_template_code(self, code: Any, pointer: str) -> None:
        """Add a problem if a value is not a template code."""
        try:
            template_codes([code])
        except InputError as error:
            for problem in error.problems:
                self.add_problem(pointer, problem.reason, problem.value)


def _make_problem(path: str, location: LineColumn | None, reason: str, value: str = "") -> Problem:
    """Make a problem of a file, with its line and column if they are known."""
    position = f", line {location.line}, column {location.column}" if location else ""
    return Problem(f"{visible(path)}{position}", value, reason)


class FolderReader:
    """Reader of the files of a folder, which collects all their problems.

    Args:
        folder: The files.
    """

    def __init__(self, folder: FolderFiles) -> None:
        self._files, self._name = folder.files, folder.name
        self.problems = [*folder.problems]
        self.contents = FolderContents(files=folder.files)
        #: The account as it was pulled: what a service has, it may have.
        self.base = FolderContents()

    def read(self, *, ledger: bool = False) -> FolderContents:
        """Read all passed files of the folder, and its ledger if `ledger` is True.

        Raises:
            InputError: Some files cannot be read, or hold errors: `problems` has all.
        """
        if BASE in self._files:
            self._read_base()
        if BASE_CONTACTS in self._files:
            self.base.records[reading.CONTACT] = self._read_contacts(
                BASE_CONTACTS, reading.CONTACT_COLUMNS
            )
        about = self._read_account_file() if ACCOUNT in self._files else {}
        self.contents.account = about.get("account")
        for path in sorted(self._files):
            if noun := _find_noun(path):
                self._read_record(noun, path)
        if CONTACTS in self._files:
            self.contents.records[reading.CONTACT] = self._read_contacts(CONTACTS, EDITABLE)
        if ledger and LEDGER in self._files:
            self._read_ledger()
        named = (name for noun in reading.NOUNS for name in self.contents.records[noun])
        outer = (name[0] for name in named if isinstance(name, tuple))
        self.contents.codes = tuple(sorted({*about.get("templates", ()), *outer}))
        only_flows = {noun for noun, _ in self.contents.paths} <= {*reading.FLOWS_ONLY}
        self.contents.flows_only = about.get("flows_only", not about and only_flows)
        if self.problems:
            files = len({problem.field.partition(", line ")[0] for problem in self.problems})
            what = f"{many(len(self.problems), 'place')} in {many(files, 'file')} of {self._name}"
            raise InputError(f"{what} cannot be read; correct them all:", self.problems)
        if BASE in self._files:
            self.contents.base = self.base
        return self.contents

    def _add_problem(self, path: str, location: LineColumn | None, reason: str) -> None:
        """Add a problem of a file, with its line and column if they are known."""
        self.problems.append(_make_problem(path, location, reason))

    def _read_account_file(self) -> dict[str, Any]:
        """Read `account.json`: the account and its template codes; empty if it has errors."""
        file = self._read_json(ACCOUNT, _AccountFile)
        if file is None:
            return {}
        about: dict[str, Any] = file.source.value
        if about.get("format", FORMAT) > FORMAT:
            reason = f"a later chatkit has written this folder (format {about['format']})"
            file.add_problem("/format", f"{reason}: install that")
        else:
            for name in about.keys() - _AccountFile.model_fields:
                file.add_problem(f"/{name}", f"{values(name)} is not known here")
        for n, code in enumerate(about.get("templates", ())):
            file.check_template_code(code, f"/templates/{n}")
        self.problems += file.problems
        return {} if file.problems else about

    def _decode_utf8(self, path: str) -> str | None:
        """Decode a file as UTF-8; add a problem and return None if it is not."""
        try:
            return self._files[path].decode("utf-8-sig")
        except UnicodeDecodeError as error:
            lines_before = self._files[path][: error.start].decode("utf-8", "replace").split("\n")
            location = LineColumn(len(lines_before), len(lines_before[-1]) + 1)
            self._add_problem(path, location, "is not UTF-8 text: save it as UTF-8")
            return None

    def _read_ledger(self) -> None:
        """Read the ledger of translations into the contents; add a problem if it is damaged."""
        if (text := self._decode_utf8(LEDGER)) is not None:
            try:
                self.contents.ledger = Ledger.from_text(text, "it")
            except (InputError, RecursionError) as error:
                self._add_problem(LEDGER, None, f"cannot be read: {error}")

    # --- .chatkit/base.json ---

    def _read_base(self) -> None:
        """Read the base: the account as it was pulled."""
        file = self._read_json(BASE, _build_base_model(), _MAX_DEPTH + 3)
        if file is None:
            return
        document = file.source.value
        self.base.account = document["account"]
        self.base.codes = tuple(document.get("templates", ()))
        if "pulled" in document:
            self.base.pulled = datetime.fromisoformat(document["pulled"]).astimezone(UTC)
        for noun in reading.NOUNS:
            base_records = document[f"{noun}s"]
            if len(reading.DECLARED[noun].account_key) > 1:
                base_records = {
                    (code, own): each
                    for code, contents in base_records.items()
                    for own, each in contents.items()
                }
            self.base.records[noun] = base_records

    # --- flows/ and templates/ ---

    def _read_json(
        self, path: str, model: type[BaseModel] | None = None, deepest: int = _MAX_DEPTH
    ) -> _JsonFile | None:
        """Parse a file as a JSON object, of a model if there is one; None if it has problems."""
        source = read_source(self._files[path])
        file = _JsonFile(path, source)
        if not source.fault and is_deeper(source.value, deepest):
            source.fault = f"it is more than {deepest} levels deep"
        if source.fault:
            self._add_problem(path, source.at, f"is not valid JSON: {source.fault}")
            return None
        for pointer, location in islice(source.find_duplicate_keys(), _MAX_PROBLEMS):
            name = pointer.rpartition("/")[2]
            reason = f"{values(name)} stands here for a second time: leave one out"
            file.problems.append(_make_problem(path, location, reason))
        if not isinstance(source.value, dict):
            file.problems.append(
                _make_problem(path, LineColumn(1, 1), "must be an object: write { … }")
            )
        elif model is not None:
            try:
                model.model_validate(source.value, strict=True)
            except ValidationError as error:
                for each in error.errors(include_url=False, include_input=False)[:_MAX_PROBLEMS]:
                    keys = [str(key) for key in each["loc"]]
                    reason = f"{values('.'.join(keys))} is damaged ({each['msg']}): "
                    reason += "correct it, or bring back a copy of the file"
                    file.add_problem("".join(f"/{escape_key(key)}" for key in keys), reason)
        self.problems += file.problems
        return None if file.problems else file

    def _read_record(self, noun: str, path: str) -> None:
        """Read the file of one record, check it, and add it to the contents."""
        file = self._read_json(path)
        if file is None:
            return
        fields: dict[str, Any] = file.source.value
        if fault := reading.DECLARED[noun].find_file_fault(fields):
            file.add_problem(*fault)
        else:
            fields = {**_parse_name_cells(noun, path), **fields}
            lines = fields.get("text")
            if isinstance(lines, list) and all(isinstance(line, str) for line in lines):
                fields["text"] = "\n".join(lines)
            if "template_code" in fields:
                file.check_template_code(fields["template_code"], "/template_code")
            if not file.problems:
                self._add_record(noun, fields, file)
        self.problems += file.problems

    def _add_record(self, noun: str, fields: dict[str, Any], file: _JsonFile) -> None:
        """Add a record to the contents; only what differs from the base is checked."""
        declared = reading.DECLARED[noun]
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
            same = reading.canonicalize_fields(noun, fields)
            sent = {n: v for n, v in sent.items() if n not in same or same[n] != known.get(n)}
            required = []
        if sent or required:
            _check_fields(declared.body, sent, required, file)
        if file.problems:
            return
        records = self.contents.records[noun]
        if name in records:
            other = self.contents.paths[noun, name]
            label = " in ".join(name) if isinstance(name, tuple) else name
            reason = f"the {noun} {values(label)} stands in {other} too: keep one of them"
            file.add_problem(f"/{named}", reason)
            return
        records[name] = reading.canonicalize_fields(noun, fields)
        self.contents.paths[noun, name] = file.path

    # --- contacts.csv ---

    def _read_contacts(self, path: str, columns: Sequence[str]) -> dict[Any, dict[str, Any]]:
        """Read a CSV file of contacts by their keys; without what cannot be read."""
        contacts: dict[Any, dict[str, Any]] = {}
        if (text := self._decode_utf8(path)) is None:
            return contacts
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        wrong: list[tuple[int, str]] = []
        try:
            header = next(filter(None, reader), [])
            if fault := _find_header_fault(header, columns):
                self._add_problem(path, LineColumn(1, 1), fault)
                return contacts
            before = reader.line_num
            for row in reader:
                line, before = before + 1, reader.line_num
                if not row:
                    continue
                cells = dict(zip(header, map(remove_guard, row), strict=False))
                name = tuple(cells.get(each, "") for each in reading.CONTACT_KEY)
                if len(row) != len(header):
                    reason = f"has {many(len(row), 'cell')}, and the first line {len(header)}"
                    wrong.append((line, f"{reason}: put a text with a comma in it in quotes"))
                elif name in contacts:
                    wrong.append((line, f"{' '.join(name)} stands here a second time"))
                else:
                    contacts[name] = reading.canonicalize_fields(reading.CONTACT, cells)
        except csv.Error as error:  # a cell of more than 131,072 characters
            wrong.append((reader.line_num, f"cannot be read: {error}"))
        for line, reason in wrong[:_MAX_PROBLEMS]:
            self._add_problem(path, LineColumn(line, 1), reason)
        if (more := len(wrong) - _MAX_PROBLEMS) > 0:
            self._add_problem(path, None, f"{more:,} more rows cannot be read")
        return contacts


def _find_header_fault(header: Sequence[str], columns: Sequence[str]) -> str:
    """Return why rows under a CSV header cannot be read; empty if they can."""
    if doubled := [name for n, name in enumerate(header) if name in header[:n]]:
        return f"the column {values(doubled[0])} stands there twice: leave one out"
    if missing := [name for name in reading.CONTACT_KEY if name not in header]:
        return f"the columns {', '.join(missing)} are missing: write {','.join(columns)}"
    if unknown := [name for name in header if name not in columns]:
        return f"{values(unknown[0])} is not a column: the columns are {', '.join(columns)}"
    return ""


@cache
def _build_base_model() -> type[BaseModel]:
    """Build the pydantic model of the base file, which checks types only."""
    table: Any = dict
    time = Annotated[str, AfterValidator(datetime.fromisoformat)]
    fields: dict[str, Any] = {
        "account": (str, ...), "pulled": (time, ""), "templates": (list[str], []),
    }  # fmt: skip
    for noun in reading.NOUNS:
        known: dict[str, Any] = {}
        for name, each in reading.DECLARED[noun].body.model_fields.items():
            nested = "chatkit." in str(each.annotation)
            plain: Any = list[dict[str, Any]] if nested else each.annotation
            known[name] = (plain | None, None)
        model = table[str, create_model(noun, **known)]
        if len(reading.DECLARED[noun].account_key) > 1:
            model = table[str, model]
        fields[f"{noun}s"] = (model, ...)
    return create_model("Base", **fields)


def _check_fields(
    body: type[Body], fields: dict[str, Any], required: Sequence[str], file: _JsonFile
) -> None:
    """Check fields as they would be sent; add a problem for each error."""
    try:
        body.validate_create(fields, "", required)
    except InputError as error:
        for each in error.problems:
            if each.reason == "is required":
                reason = f"{each.field} is missing: write {json.dumps(each.field)}: …"
            else:
                named = f"{each.field} = {each.value}" if each.value else each.field
                step = f": {each.next_step}" if each.next_step else ""
                reason = f"{named}: {each.reason}{step}"
            file.add_problem(f"/{each.field.replace('.', '/')}", reason)
