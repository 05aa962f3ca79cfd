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
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
from pydantic import BaseModel, ValidationError, create_model

from chatkit.account.reading import CONTACT_COLUMNS, Fields, canonical
from chatkit.api.record import Body
from chatkit.errors import InputError, Problem
from chatkit.flowjson.document import DocumentSource, LineColumn, read_source
from chatkit.flows import FlowBody
from chatkit.frames.frame import frame_of_texts
from chatkit.imports.tables import guarded, unguarded
from chatkit.localization.ledger import Ledger
from chatkit.templates import ContentBody
from chatkit.templates.codes import template_codes
from chatkit.util.display import many, values, visible
from chatkit.util.json_pointer import escape
from chatkit.util.json_reader import is_deeper
from chatkit.webhooks import WebhookBody

if TYPE_CHECKING:
    import pandas as pd

ACCOUNT, WEBHOOKS, CONTACTS = "account.toml", "webhooks.toml", "contacts.csv"
LEDGER = "translations.jsonl"
FLOWS, TEMPLATES, OURS = "flows", "templates", ".chatkit"
BASE, BASE_CONTACTS = f"{OURS}/base.json", f"{OURS}/contacts.csv"
#: The version of this layout; a later chatkit may write another one.
FORMAT = 1
#: The columns of contacts that a person edits; the parts of a name are the service's.
EDITED = CONTACT_COLUMNS[:3]

#: Where each record stands, by its noun and its name.
Paths: TypeAlias = dict[tuple[str, Any], str]
Records: TypeAlias = dict[str, dict[Any, dict[str, Any]]]
NOUNS = ("flow", "content", "webhook")

#: What checks a record, which field names it, and what it must say.
_BODIES: dict[str, tuple[type[Body], str, Sequence[str]]] = {
    "flow": (FlowBody, "name", ("name",)),
    "content": (ContentBody, "lang_code", ("lang_code",)),
    "webhook": (WebhookBody, "url", ("url", "events")),
}
#: Tells where a field stands in a file.
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
#: A cell that could begin a formula, or that looks as if it was kept from that.
_RISKY = "^$|[=+\\-@＝＋－＠'\\x00-\\x1f]"
#: Files that other programs put into folders: beginnings and ends of their names.
_HIDDEN = (".", "~$")

_HEAD = """\
# A business messaging account as files: flows/, templates/, webhooks.toml and contacts.csv.
# Edit these and see `chatkit plan`; `chatkit pull` brings what has moved in the account.
"""


@dataclass
class FolderContents:
    """What the files of a folder hold.

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
    """Whether a file, by its path in the folder, is one that this module reads."""
    parts = path.split("/")
    if any(part.startswith(_HIDDEN) for part in parts if part != OURS):
        return False
    if path in (ACCOUNT, WEBHOOKS, CONTACTS, LEDGER, BASE, BASE_CONTACTS):
        return True
    deep = {FLOWS: 2, TEMPLATES: 3}.get(parts[0])
    return len(parts) == deep and parts[-1].endswith(".json")


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
    """Whether a system keeps a name for itself, whatever follows the dot."""
    return _RESERVED.fullmatch(stem.casefold()) is not None


class PathNames:
    """Gives each record that has no file a path that no system takes for another one.

    Args:
        paths: The paths of the records that have one.
        there: All paths of the folder.
    """

    def __init__(self, paths: Paths, there: Iterable[str]) -> None:
        self._taken: set[str] = set()
        for path in (*there, *paths.values()):
            self._take(path)
        self._folders = {
            name[0]: path.rpartition("/")[0]
            for (noun, name), path in paths.items()
            if noun == "content"
        }

    def _take(self, path: str) -> None:
        folder, _, _ = path.rpartition("/")
        self._taken |= {path.casefold(), folder.casefold()}

    def new(self, noun: str, name: Any) -> str:
        """Make the path of a flow or a content."""
        if noun == "flow":
            path = self._free(f"{FLOWS}/", name, noun, ".json")
        else:
            code, lang = name
            if code not in self._folders:
                self._folders[code] = self._free(f"{TEMPLATES}/", code, "template", "")
            path = self._free(f"{self._folders[code]}/", lang, "language", ".json")
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
    """Write a flow or a content as the text of its file."""
    said = dict(fields)
    if noun == "flow":
        return json_text(said | {"name": name})
    code, lang = name
    _, folder, file = path.split("/")
    if folder != code:
        said["template_code"] = code
    if file.removesuffix(".json") != lang:
        said["lang_code"] = lang
    if "\n" in said.get("text", ""):
        said["text"] = said["text"].split("\n")
    return json_text(said)


def account_text(account: str, codes: Iterable[str]) -> bytes:
    """Write `account.toml`."""
    lines = [f"account = {_toml(account)}", f"format = {FORMAT}"]
    listed = [f"  {_toml(code)}," for code in sorted(codes)]
    lines += ["templates = [", *listed, "]"] if listed else ["templates = []"]
    return (_HEAD + "\n".join([*lines, ""])).encode()


def webhooks_text(webhooks: Mapping[str, Fields]) -> bytes:
    """Write `webhooks.toml`."""
    blocks = []
    for url, fields in sorted(webhooks.items()):
        events = ", ".join(_toml(kind) for kind in fields.get("events", ()))
        active = "true" if fields.get("is_active", True) else "false"
        lines = ["[[webhook]]", f"url = {_toml(url)}", f"events = [{events}]"]
        blocks.append("\n".join([*lines, f"is_active = {active}", ""]))
    return "\n".join(blocks).encode()


def _toml(text: str) -> str:
    """Write a text as TOML has it: as JSON, and the last control character as an escape."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def base_text(account: str, codes: Iterable[str], records: Records) -> bytes:
    """Write the account as it was pulled: what the next pull tells edits by."""
    contents: dict[str, dict[str, Any]] = {}
    for (code, lang), fields in records["content"].items():
        contents.setdefault(code, {})[lang] = fields
    said = {"account": account, "templates": sorted(codes), "contents": contents}
    said |= {"flows": records["flow"], "webhooks": records["webhook"]}
    return json_text(said)


def write_contacts(contacts: pd.DataFrame, columns: Sequence[str], target: Any) -> None:
    """Write contacts as CSV into what takes bytes: no cell of it can run as a formula."""
    table = pa.table(
        {name: pc.fill_null(pa.array(contacts[name], pa.large_string()), "") for name in columns}
    )
    for place, name in enumerate(columns):
        cells = pa.chunked_array(table[name]).combine_chunks()
        risky = pc.and_(pc.match_substring_regex(cells, _RISKY), pc.not_equal(cells, ""))
        rows = pc.indices_nonzero(risky)
        if len(rows):
            encoded = cells.take(rows).dictionary_encode()
            texts = pa.array(map(guarded, encoded.dictionary.to_pylist()), pa.large_string())
            table = table.set_column(
                place, name, pc.replace_with_mask(cells, risky, texts.take(encoded.indices))
            )
    pa_csv.write_csv(table, target, pa_csv.WriteOptions(quoting_style="needed", batch_size=4096))


# --- read -------------------------------------------------------------------------------


class FolderReader:
    """Reads the files of a folder; what is wrong is collected, so that all of it is told.

    Args:
        folder: The files.
    """

    def __init__(self, folder: FolderFiles) -> None:
        self._files, self._name = folder.files, folder.name
        self.problems = [*folder.problems]
        self.found = FolderContents(interrupted=folder.interrupted)
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
            kind = path.split("/")[0]
            if kind == FLOWS:
                self._flow(path)
            elif kind == TEMPLATES:
                self._content(path)
        if WEBHOOKS in self._files:
            self._webhooks()
        if contacts and CONTACTS in self._files:
            self.found.contacts = self.contacts(CONTACTS, EDITED)
        if ledger and LEDGER in self._files:
            self._ledger()
        contents = self.found.records["content"]
        self.found.codes = tuple(sorted({*codes, *(code for code, _ in contents)}))
        self.found.flows_only = WEBHOOKS not in self._files and not self.found.codes
        if self.problems:
            files = len({problem.field.partition(", line ")[0] for problem in self.problems})
            what = f"{many(len(self.problems), 'place')} in {many(files, 'file')} of {self._name}"
            raise InputError(f"{what} cannot be read; correct them all:", self.problems)
        if BASE in self._files:
            self.found.base = self.base
        return self.found

    def _tell(self, path: str, at: LineColumn | None, reason: str, value: str = "") -> None:
        place = f", line {at.line}, column {at.column}" if at else ""
        self.problems.append(Problem(f"{visible(path)}{place}", value, reason))

    # --- account.toml and webhooks.toml ---

    def _account(self) -> tuple[str, ...]:
        said = self._toml(ACCOUNT)
        if said is None:
            return ()
        kinds: dict[str, type] = {"account": str, "format": int, "templates": list}
        for name, value in said.items():
            if name not in kinds:
                self._tell(ACCOUNT, self._line(ACCOUNT, name), f"{values(name)} is not known here")
            elif not isinstance(value, kinds[name]) or isinstance(value, bool):
                needed = {str: "a text", int: "a whole number", list: "a list"}[kinds[name]]
                self._tell(ACCOUNT, self._line(ACCOUNT, name), f"{name} must be {needed}")
                return ()
        if (version := said.get("format", FORMAT)) > FORMAT:
            reason = f"a later chatkit has written this folder (format {version}): install that"
            self._tell(ACCOUNT, self._line(ACCOUNT, "format"), reason)
        self.found.account = said.get("account")
        codes = said.get("templates", [])
        try:
            return tuple(template_codes(codes)) if codes else ()
        except InputError as error:
            for problem in error.problems:
                at = self._line(ACCOUNT, problem.value.strip("'\"")) or LineColumn(1, 1)
                self._tell(ACCOUNT, at, problem.reason, problem.value)
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
            self._tell(path, LineColumn(1, 1), f"is more than {_DEEPEST} levels deep")
        except tomllib.TOMLDecodeError as error:
            found = _PLACE.search(str(error))
            lines = text.splitlines() or [""]
            end = LineColumn(len(lines), len(lines[-1]) + 1)
            at = LineColumn(int(found[1]), int(found[2])) if found and found[1] else end
            reason = _PLACE.sub("", str(error)).strip()
            self._tell(path, at, f"is not valid TOML: {reason[:1].lower()}{reason[1:]}")
        except RecursionError:
            self._tell(path, LineColumn(1, 1), "is nested too deeply")
        except ValueError:  # a number with too many digits, a date that is none
            self._tell(path, LineColumn(1, 1), "is not valid TOML: a value cannot be read")
        return None

    def _utf8(self, path: str) -> str | None:
        try:
            return self._files[path].decode("utf-8-sig")
        except UnicodeDecodeError as error:
            before = self._files[path][: error.start].decode("utf-8", "replace").split("\n")
            at = LineColumn(len(before), len(before[-1]) + 1)
            self._tell(path, at, "is not UTF-8 text: save it as UTF-8")
            return None

    def _ledger(self) -> None:
        if (text := self._utf8(LEDGER)) is not None:
            try:
                self.found.ledger = Ledger.of_text(text, "it")
            except (InputError, RecursionError) as error:
                self._tell(LEDGER, None, f"cannot be read: {error}")

    def _line(self, path: str, text: str, table: int | None = None) -> LineColumn | None:
        """Find a text in a file, in the n-th of its tables if that is said."""
        lines = self._files[path].decode("utf-8-sig").splitlines()
        first, last = 0, len(lines)
        if table is not None:
            heads = [n for n, line in enumerate(lines) if line.lstrip().startswith("[[")]
            if table < len(heads):
                first = heads[table]
                last = heads[table + 1] if table + 1 < len(heads) else last
        for n in range(first, last):
            if text in lines[n] and not lines[n].lstrip().startswith("#"):
                return LineColumn(n + 1, lines[n].index(text) + 1)
        return LineColumn(first + 1, 1)

    def _webhooks(self) -> None:
        said = self._toml(WEBHOOKS)
        if said is None:
            return
        for name in said:
            if name != "webhook":
                at = self._line(WEBHOOKS, name)
                self._tell(WEBHOOKS, at, f"{values(name)} is not known here: write [[webhook]]")
        tables = said.get("webhook", [])
        if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
            self._tell(WEBHOOKS, self._line(WEBHOOKS, "webhook"), "write [[webhook]], in brackets")
            return
        for number, fields in enumerate(tables):
            self._add(
                *("webhook", fields.get("url"), {"is_active": True, **fields}, WEBHOOKS),
                partial(self._in_table, number),
            )

    def _in_table(self, number: int, field_name: str) -> LineColumn | None:
        return self._line(WEBHOOKS, field_name.partition(".")[0], number)

    # --- .chatkit/base.json ---

    def _base(self) -> None:
        """Read the account as it was pulled."""
        if (read := self._json(BASE, _DEEPEST + 3)) is None:
            return
        source, found = read
        try:
            _base_model().model_validate(found, strict=True)
        except ValidationError as error:
            for each in error.errors(include_url=False, include_input=False)[:_MOST]:
                steps = [str(step) for step in each["loc"]]
                at = source.find("".join(f"/{escape(step)}" for step in steps))
                named = values(".".join(steps))
                reason = f"{named} is damaged ({each['msg']}): bring back a copy of the file; or "
                self._tell(BASE, at, f"{reason}delete it, and each difference is a conflict")
            return
        self.base.account, self.base.codes = found["account"], tuple(found.get("templates", ()))
        self.base.records = {
            "flow": found["flows"],
            "webhook": found["webhooks"],
            "content": {
                (code, lang): fields
                for code, languages in found["contents"].items()
                for lang, fields in languages.items()
            },
        }

    # --- flows/ and templates/ ---

    def _json(
        self, path: str, deepest: int = _DEEPEST
    ) -> tuple[DocumentSource, dict[str, Any]] | None:
        source = read_source(self._files[path])
        if not source.fault and is_deeper(source.value, deepest):
            source.fault = f"it is more than {deepest} levels deep"
        if source.fault:
            self._tell(path, source.at, f"is not valid JSON: {source.fault}")
            return None
        doubles = list(islice(source.doubles(), _MOST))
        for pointer, at in doubles:
            name = pointer.rpartition("/")[2]
            self._tell(path, at, f"{values(name)} stands here for a second time: leave one out")
        if doubles:
            return None
        if not isinstance(source.value, dict):
            self._tell(path, LineColumn(1, 1), "must be an object: write { … }")
            return None
        return source, source.value

    def _flow(self, path: str) -> None:
        if (read := self._json(path)) is None:
            return
        source, fields = read
        if "screens" in fields and "flow_json" not in fields:
            at = source.find("/screens")
            step = 'put it under "flow_json", beside "name"'
            self._tell(path, at, f"is a flow document and no flow: {step}")
            return
        if not isinstance(fields.get("flow_json", {}), dict):  # a text could name another file
            self._tell(path, source.find("/flow_json"), "flow_json must be an object: write { … }")
            return
        fields = {"template_name": "default", **fields}
        place = partial(_find, source)
        self._add("flow", fields.get("name"), fields, path, place)

    def _content(self, path: str) -> None:
        if (read := self._json(path)) is None:
            return
        source, fields = read
        _, folder, file = path.split("/")
        fields = {"lang_code": file.removesuffix(".json"), **fields}
        code = fields.pop("template_code", folder)
        lines = fields.get("text")
        if isinstance(lines, list) and all(isinstance(line, str) for line in lines):
            fields["text"] = "\n".join(lines)
        try:
            template_codes([code])
        except InputError as error:
            for problem in error.problems:
                self._tell(path, source.find("/template_code"), problem.reason, problem.value)
            return
        self._add("content", (code, fields["lang_code"]), fields, path, partial(_find, source))

    def _add(self, noun: str, name: Any, fields: dict[str, Any], path: str, place: Place) -> None:
        """Take a record, once what differs from the account as it was pulled is checked."""
        body, named, required = _BODIES[noun]
        fields = {each: value for each, value in fields.items() if value is not None}
        known = self.base.records[noun].get(name) if _is_name(name) else None
        sent = {each: value for each, value in fields.items() if each != named or known is None}
        if known is not None:
            same = canonical(noun, fields)
            sent = {n: v for n, v in sent.items() if n not in same or same[n] != known.get(n)}
            required = ()
        told = len(self.problems)
        if sent or required:
            self._check(body, sent, required, path, place)
        if len(self.problems) > told:
            return
        records = self.found.records[noun]
        if name in records:
            other = self.found.paths.get((noun, name), path)
            said = " in ".join(name) if isinstance(name, tuple) else name
            where = "in this file" if other == path else f"in {other}"
            reason = f"the {noun} {values(said)} stands {where} too: keep one of them"
            self._tell(path, place(named), reason)
            return
        records[name] = canonical(noun, fields)
        self.found.paths[noun, name] = path

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
                self._tell(path, place(each.field), reason)

    # --- contacts.csv ---

    def contacts(self, path: str, columns: Sequence[str]) -> pd.DataFrame | None:
        """Read the contacts of a file, sorted by their numbers."""
        if self._utf8(path) is None:
            return None
        wrong: list[int] = []

        def skip(row: Any) -> str:
            wrong.append(row.number)
            return "skip"

        try:
            table = pa_csv.read_csv(
                pa.BufferReader(self._files[path]),
                pa_csv.ReadOptions(use_threads=False),
                pa_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=skip),
                pa_csv.ConvertOptions(
                    column_types=dict.fromkeys(columns, pa.large_string()),
                    strings_can_be_null=False,
                ),
            )
        except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
            reason = str(error).removeprefix("CSV parse error: ")
            self._tell(path, LineColumn(1, 1), f"is not a table in CSV: {reason:.200}")
            return None
        named = table.column_names
        if doubled := [name for n, name in enumerate(named) if name in named[:n]]:
            reason = f"the column {values(doubled[0])} stands there twice: leave one out"
            self._tell(path, LineColumn(1, 1), reason)
            return None
        if lost := [name for name in columns[:2] if name not in named]:
            reason = f"the columns {', '.join(lost)} are missing: write {','.join(columns)}"
            self._tell(path, LineColumn(1, 1), reason, ", ".join(named)[:80])
            return None
        if odd := [name for name in named if name not in columns]:
            at = LineColumn(1, sum(len(each) + 1 for each in named[: named.index(odd[0])]) + 1)
            reason = f"{values(odd[0])} is not a column: the columns are {', '.join(columns)}"
            self._tell(path, at, reason)
        cells = {
            name: _bare(table[name].combine_chunks())
            if name in named
            else pa.nulls(len(table), pa.large_string())
            for name in columns
        }
        if wrong or (len(table) and path == CONTACTS):
            self._check_numbers(path, cells, wrong, len(named))
        return frame_of_texts(
            {name: _or_null(array) for name, array in cells.items()}, ["country_code", "number"]
        )

    def _check_numbers(
        self, path: str, cells: Mapping[str, Any], broken: Sequence[int], width: int
    ) -> None:
        code, number = cells["country_code"], cells["number"]
        keys = pc.binary_join_element_wise(code, number, pa.scalar(" ", pa.large_string()))
        found: dict[int, tuple[str, str]] = {}
        for name, array, form, said in (
            ("number", number, "^[0-9]+$", "must be digits only, without the country code"),
            ("country_code", code, "^[+][0-9]+$", "must be a + and digits, like +91"),
        ):
            wrong = pc.invert(pc.match_substring_regex(array, form))
            if pc.any(wrong).as_py():  # what a service has, it may have
                wrong = pc.and_(wrong, pc.invert(pc.is_in(keys, self._pulled())))
            bad = pc.indices_nonzero(wrong)
            for row in bad[:_MOST].to_pylist():
                found[row] = name, f"{name} {said}: {values(array[row].as_py())}"
            if len(bad) > _MOST:
                self._tell(path, None, f"{len(bad) - _MOST:,} more rows have such a {name}")
        if len(keys.unique()) < len(keys):
            count = pc.value_counts(keys)
            twice = count.field("values").filter(pc.greater(count.field("counts"), 1))
            seen: set[str] = set()
            rows = pc.indices_nonzero(pc.is_in(keys, twice))
            for row in rows.to_pylist():
                key = keys[row].as_py()
                if key in seen and len(found) < _MOST:
                    found.setdefault(row, ("country_code", f"{key} stands here a second time"))
                seen.add(key)
        if found or broken:
            self._tell_rows(path, found, width)

    def _pulled(self) -> Any:
        """Return the numbers, with country codes, of the contacts that were pulled."""
        base = self.base.contacts
        return pa.array([] if base is None else contact_keys(base), pa.large_string())

    def _tell_rows(self, path: str, found: Mapping[int, tuple[str, str]], width: int) -> None:
        """Tell what is wrong with rows, by the lines in which they end."""
        text = self._files[path].decode("utf-8-sig", "replace")
        reader, good = csv.reader(io.StringIO(text, newline="")), -1
        head = next(reader, [])
        before = reader.line_num
        while True:
            try:
                if (row := next(reader, None)) is None:
                    return
            except csv.Error as error:  # a cell of more than 131,072 characters
                self._tell(path, LineColumn(reader.line_num, 1), f"cannot be read: {error}")
                return
            line, before = before + 1, reader.line_num
            if not row:
                continue
            if len(row) != width:
                at = LineColumn(line, 1)
                reason = f"has {many(len(row), 'cell')}, and the first line {width}"
                self._tell(path, at, f"{reason}: put a text with a comma in it in quotes")
                continue
            good += 1
            if good in found:
                name, reason = found[good]
                column = sum(len(cell) + 1 for cell in row[: head.index(name)]) + 1
                self._tell(path, LineColumn(line, column), reason)


def contact_keys(contacts: pd.DataFrame) -> pd.Series[str]:
    """Return what names each contact: country code and number as one text."""
    return contacts["country_code"] + " " + contacts["number"]


@cache
def _base_model() -> type[BaseModel]:
    """Return the model of the base: the types of all fields, without the rules of their values."""
    table: Any = dict
    models: dict[str, Any] = {}
    for noun, (body, _, _) in _BODIES.items():
        fields: dict[str, Any] = {}
        for name, each in body.model_fields.items():
            nested = "chatkit." in str(each.annotation)
            plain: Any = list[dict[str, Any]] if nested else each.annotation
            fields[name] = (plain | None, None)
        models[noun] = table[str, create_model(noun, **fields)]
    fields = {"account": (str, ...), "templates": (list[str], []), "flows": (models["flow"], ...)}
    fields |= {
        "webhooks": (models["webhook"], ...),
        "contents": (table[str, models["content"]], ...),
    }
    return create_model("Base", **fields)


def _is_name(name: Any) -> bool:
    parts = name if isinstance(name, tuple) else (name,)
    return all(isinstance(part, str) for part in parts)


def _find(source: DocumentSource, field_name: str) -> LineColumn:
    return source.find(_pointer(field_name))


def _pointer(field_name: str) -> str:
    """Write the name of a field, like buttons.0.type, as a JSON pointer."""
    return "".join(f"/{step}" for step in field_name.split("."))


def _bare(cells: Any) -> Any:
    """Take off the apostrophes that keep cells from being formulas."""
    marked = pc.match_substring(cells, "'")
    rows = pc.indices_nonzero(marked)
    if not len(rows):
        return cells
    encoded = cells.take(rows).dictionary_encode()
    texts = pa.array(map(unguarded, encoded.dictionary.to_pylist()), pa.large_string())
    return pc.replace_with_mask(cells, marked, texts.take(encoded.indices))


def _or_null(cells: Any) -> Any:
    return pc.if_else(pc.equal(cells, ""), pa.scalar(None, pa.large_string()), cells)
