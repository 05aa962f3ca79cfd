"""Contents: the texts of message templates in their languages (API document, Template content)."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import accumulate, chain, product, repeat
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeAlias,
    Unpack,
    cast,
)

from pydantic import AfterValidator, Field

from chatkit.api.answer import Envelope
from chatkit.api.call import Call, find_segment_fault
from chatkit.api.listing import check_list_is_complete, send_in_order
from chatkit.api.record import Body, Id, Record
from chatkit.api.transport import Transport
from chatkit.bulk.changes import Change
from chatkit.bulk.endpoints import Endpoints, Key, ReadFull, Undo
from chatkit.errors import BadAnswer, CallError, InputError, NotFound, Problem, Refused
from chatkit.frames.snapshot import Snapshot, get_snapshot, keep_snapshot, read_origin
from chatkit.localization import language
from chatkit.localization.content import list_texts
from chatkit.report import Finding, Severity
from chatkit.resource import Resource
from chatkit.templates.codes import template_codes
from chatkit.util.display import many, values, visible
from chatkit.util.json import find_value
from chatkit.util.progress import Forecast, Progress, print_line

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.api.connection import Connection
    from chatkit.bulk.plan import Plan
    from chatkit.bulk.plan_input import PlanOptions
    from chatkit.frames.frame import Columns, WrongRows
    from chatkit.localization.audit import Audit
    from chatkit.localization.checks import ContentFinding
    from chatkit.localization.content import Contents as Checked
    from chatkit.localization.glossary import Glossary
    from chatkit.localization.ledger import How, WrittenText


CODE, LANG = "template_code", "lang_code"


class Content(Record):
    """The text of a template in one language, with everything that belongs to it."""

    listed: ClassVar[tuple[str, ...]] = ("id", "lang_code", "text", "is_draft")

    id: Id | None = None
    lang_code: str
    parameter_format: str | None = None
    text: str | None = None
    variables: dict[str, Any] | None = None
    footer: str | None = None
    is_draft: bool | None = None
    is_catalog: bool | None = None
    catalog_format: str | None = None
    connected_catalog_id: Any = None
    is_catalog_connected: bool | None = None
    is_custom_validity_period: bool | None = None
    validity_period_seconds: int | None = None
    auth_delivery_method: str | None = None
    auth_add_security_recommendation: bool | None = None
    auth_add_code_expiration: bool | None = None
    auth_code_expiration_seconds: int | None = None
    auth_apps: list[Any] | None = None
    headers: list[Any] | None = None
    buttons: list[Any] | None = None


class Header(Body):
    """The header of a content: a line of text, or a picture, film or document."""

    type: Literal["text", "image", "video", "document"]
    text: str | None = None
    text_variable: Any = None
    parameter: Any = None
    link: str | None = None
    file_name: str | None = None


class Button(Body):
    """A button under a content."""

    type: Literal["custom", "visit_website", "call_phone", "copy_offer_code", "view_catalog"]
    label: str | None = None
    value: str | None = None
    country_code: str | None = None
    url_type: str | None = None
    dynamic_url: Any = None


class App(Body):
    """An app that may read an authentication code by itself."""

    package_name: str | None = None
    signature_hash: str | None = None


def _validate_language_code(code: str) -> str:
    """Return a language code; raise an error if it cannot be part of a request path.

    Raises:
        ValueError: It is empty, has spaces at its ends, or would change the path.
    """
    if reason := find_segment_fault(code):
        raise ValueError(reason)
    return code


class ContentBody(Body):
    """The fields that may be sent of a content; which an update requires is not documented."""

    lang_code: Annotated[
        str,
        Field(min_length=1, description="The language, like 'en' or 'en_US'."),
        AfterValidator(_validate_language_code),
    ]
    text: str = Field("", description="The body, with placeholders {{1}}, {{2}}, …")
    parameter_format: str = Field("TEXT", description="How placeholders are written; 'TEXT'.")
    variables: dict[str, str] = Field(
        {}, description="Sample text for each placeholder: {'1': 'Ana'}."
    )
    footer: str | None = Field("", description="A small line under the text.")
    is_draft: bool = Field(False, description="Whether the content is a draft.")
    is_catalog: bool = Field(False, description="Whether it shows a catalog.")
    catalog_format: str | None = Field(None, description="How the catalog is shown.")
    connected_catalog_id: str | int | None = Field(None, description="Which catalog.")
    is_catalog_connected: bool = Field(False, description="Whether that catalog is connected.")
    is_custom_validity_period: bool = Field(
        False, description="Whether the validity period counts."
    )
    validity_period_seconds: int | None = Field(
        None, description="Seconds after which it is no longer delivered."
    )
    auth_delivery_method: str | None = Field(
        None, description="How an authentication code gets into the app, like 'copy_code'."
    )
    auth_add_security_recommendation: bool = Field(
        False, description="Whether a line asks not to share the code."
    )
    auth_add_code_expiration: bool = Field(
        False, description="Whether a line tells when the code expires."
    )
    auth_code_expiration_seconds: int | None = Field(
        None, description="Seconds until the code expires."
    )
    auth_apps: list[App] | None = Field(None, description="Apps that may read the code.")
    headers: list[Header] = Field([], description="The header: at most one.")
    buttons: list[Button] = Field([], description="The buttons under the text.")


class AccountChecks:
    """The checks of the contents of an account, with its glossary and its silenced findings.

    Every check of contents of an account uses these, so that all report the same findings.

    Args:
        transport: Sends the calls to the account.
    """

    def __init__(self, transport: Transport) -> None:
        self.glossary: Glossary | None = None  #: the terms that translations must or must not use
        self.languages = KnownLanguages(transport)
        self._connection = transport.connection

    def check(
        self, contents: Checked, source: str = "en", *, glossary: Glossary | None = None
    ) -> Audit:
        """Check contents by the rules, and compare each language with the source language.

        An unreadable ledger silences nothing, and a message reports it.

        Args:
            contents: A frame of contents, one content, or several.
            source: The language that the others are translated from.
            glossary: A glossary to use in place of that of the account.
        """
        from chatkit.localization.audit import check_contents
        from chatkit.localization.ledger import Ledger, LedgerFile

        try:
            ledger = LedgerFile(self._connection).read()
        except (OSError, InputError) as error:
            print_line(f"The silenced findings cannot be read, so all findings are listed: {error}")
            ledger = Ledger()
        glossary = self.glossary if glossary is None else glossary
        return check_contents(contents, source, glossary=glossary, ledger=ledger)


class ContentEndpoints(Endpoints[Content]):
    """The endpoints of the contents of one template.

    Args:
        transport: Sends the calls.
        code: The template code.
        checks: The checks of the account.
    """

    noun, attribute = "content", "templates"
    record = Content
    body = ContentBody
    key = "lang_code"
    paged = False
    unique = chosen = True
    existing = "update"
    version = ""
    natural_key = ("lang_code",)
    account_key = ("template_code", "lang_code")
    file = "templates/*/*.json"
    detailed = True
    labels: ClassVar[Mapping[str, str]] = {
        "lang_code": "Language",
        "variables": "Samples",
        "validity_period_seconds": "Validity period, seconds",
        "connected_catalog_id": "Connected catalog",
        "auth_delivery_method": "Code delivery",
        "auth_add_security_recommendation": "Security recommendation",
        "auth_add_code_expiration": "Code expiration",
        "auth_code_expiration_seconds": "Code expiration, seconds",
        "auth_apps": "Apps",
        "text_variable": "Sample",
        "link": "Address",
        "url_type": "Address type",
        "dynamic_url": "Sample address",
    }
    refuses = (
        "Contents that break the API document are refused, and so are live contents that the "
        "platform rejects."
    )

    def __init__(self, transport: Transport, code: str, checks: AccountChecks) -> None:
        super().__init__(transport)
        self.code: str = code
        self.checks = checks
        self.source = "en"  #: the language that plans compare the others with
        self.ignored_codes: Collection[str] = ()  #: codes of findings that plans do not report
        self.how: How = "apply"  #: how the ledger records the translations of a plan
        #: Whether an edited text keeps the recorded source of the text before.
        self.carries_sources = False
        self.path = ("templates", code, "contents")

    def check_record(
        self, fields: Mapping[str, Any], live: Mapping[str, Any] | None
    ) -> list[Finding]:
        """Return the findings that would stop one content, as it would be after these fields.

        Args:
            fields: The fields to send.
            live: The live content; empty for a new one, None if it is unknown.
        """
        from chatkit.localization.audit import check_contents

        before = {"lang_code": "en", **(live or {})}
        known = _identify_findings(check_contents([before])) if live else set()
        refused = check_contents([{**before, **fields}]).refused
        findings = [_set_severity(each, before, fields, known) for each in refused]
        if live is not None and not live and (lang := fields.get("lang_code")):
            findings[:0] = self.checks.languages.find_unknown_language(lang, self.code)
        return findings

    def needs_live_record(self, fields: Mapping[str, Any]) -> bool:
        """Return whether these fields can make a content live that the platform refuses."""
        return fields.get("is_draft") is not True

    def check_changes(
        self, changes: Sequence[Change], base: pd.DataFrame, full: ReadFull
    ) -> Mapping[int, Sequence[Finding]]:
        """Check all contents as a plan would leave them, and compare the languages.

        Lists show a text without its buttons and samples, so a content that will be live is read
        in full.

        Args:
            changes: Creates, updates and deletes of contents.
            base: The contents as they were read. A field that it lacks is not checked.
            full: Reads contents in full.

        Returns:
            The findings, by the position of the change.
        """
        from chatkit.localization.audit import check_contents

        contents = _PlannedContents(changes, base, full)
        if _REFUSAL_FIELDS - {*base.columns}:
            contents.read_in_full(
                key
                for key, (_, change) in contents.edits.items()
                if change.kind == "update"
                and contents.fields_after(key).get("is_draft") is not True
            )
        known = _identify_findings(check_contents(contents.before.values(), self.source))
        findings: dict[int, list[Finding]] = {}
        for each in self.checks.check(contents.iter_fields_after(), self.source):
            key = each.template_code, each.lang_code
            position, edit = contents.edits.get(key, (0, None))
            if edit and each.severity != "note" and each.code not in self.ignored_codes:
                finding = _set_severity(each, contents.before.get(key, {}), edit.after, known)
                findings.setdefault(position, []).append(finding)
        for position, finding in self.checks.languages.check_new_languages(changes, base).items():
            findings.setdefault(position, []).insert(0, finding)
        return findings

    def make_texts_to_keep(
        self, changes: Sequence[Change], base: pd.DataFrame, full: ReadFull
    ) -> list[WrittenText]:
        """Return the translated texts that changes write, each with its source text.

        The source text is the planned one. Lists show no footers, headers and buttons: where a
        change writes these, the source content is read in full.
        """
        from chatkit.localization.ledger import WrittenText, digest_text

        contents = _PlannedContents(changes, base, full)
        languages: dict[str, list[str]] = {}
        for code, lang in dict.fromkeys([*contents.before, *contents.edits]):
            languages.setdefault(code, []).append(lang)
        edited: dict[ContentKey, tuple[ContentKey, dict[str, str]]] = {}  # its source and new texts
        for key, (_, change) in contents.edits.items():
            code, lang = key
            source = code, language.find_code(self.source, languages[code]) or lang
            before, after = map(list_texts, (change.before, change.after))
            texts = {field: text for field, text in after.items() if before.get(field) != text}
            if texts and source != key:
                edited[key] = source, texts
        unread = (
            source
            for source, texts in edited.values()
            if texts.keys() - {"text"}
            and _TEXTS - contents.before.get(source, dict.fromkeys(_TEXTS)).keys()
        )
        contents.read_in_full(dict.fromkeys(unread))
        written = []
        for key, (source, texts) in edited.items():
            sources = list_texts(contents.fields_after(source))
            pair = (contents.edits[key][1].before, contents.before.get(source, {}))
            texts_before = [*map(list_texts, pair)] if self.carries_sources else []
            lang, source_lang = language.normalize(key[1]), language.normalize(source[1])
            for field, text in texts.items():
                if not sources.get(field):
                    continue
                carried = [digest_text(each[field]) for each in texts_before if field in each]
                row = key[0], lang, field, source_lang, digest_text(text), sources[field]
                both = carried if len(carried) == len(pair) else ()
                written.append(WrittenText(*row, self.how, *both))
        return written

    def keep(self, written: Sequence[Sequence[str]], run: str) -> None:
        """Record in the ledger the source that each translation was made from."""
        record_sources(self.transport.connection, written, run)

    def base(self, frame: pd.DataFrame | None, *, now: bool = False) -> Snapshot:
        """Return the snapshot that a frame holds; else read the contents as they are now.

        Where the service does not know the template it is empty.

        Args:
            frame: The edited frame.
            now: Read the contents although the frame holds a snapshot.
        """
        try:
            return super().base(frame, now=now)
        except NotFound:
            from chatkit.frames.frame import Columns, choose_column_kinds

            empty = Columns(choose_column_kinds(self.record, self.record.listed)).frame(self.key)
            return Snapshot(empty, whole=True, now=True)

    def snapshot(self, frame: pd.DataFrame) -> Snapshot | None:
        """Return these contents from the snapshot of a frame, of this or of many templates."""
        snapshot = super().snapshot(frame)
        if snapshot is None and (
            of_many := get_snapshot(frame, make_snapshot_origin(self.transport))
        ):
            rows = of_many.frame[of_many.frame.index.get_level_values(0) == self.code]
            snapshot = Snapshot(rows.droplevel(0), whole=True) if len(rows) else None
        return snapshot

    @property
    def place(self) -> str:
        """The Python expression that opens these records."""
        return f"client.templates({self.code!r})"

    def next_step(self, error: Refused, key: Key | None, body: Mapping[str, Any]) -> str:
        """Return advice on a refused call: the spelling of its language, and those in use.

        Args:
            error: The refusal.
            key: The language in the path of the call; None for a create.
            body: The fields that were sent.
        """
        lang = str(body.get("lang_code", "") if key is None else key)
        spelling = lang.replace("-", "_")
        if error.status in (409, self.profile.clash_status) and key is not None:
            other = body.get("lang_code")
            return (
                f"A content keeps its language: {self.place}.create(lang_code={other!r:.60}, …) "
                f"makes one in that language, and {self.place}.delete({lang!r:.60}) removes this "
                "one. Or leave lang_code out."
            )
        if error.status == 409:
            return f"It exists: {self.place}.update({lang!r}, …) changes it."
        step = f"Write {spelling!r}: the API writes an underscore. " if spelling != lang else ""
        if isinstance(error, NotFound):
            languages = ", ".join(self._read_languages_in_use())
            if languages:
                return f"{step}{self.code} has contents in {languages}."
            return f"{step}{self.code} has no content; its code may be misspelt."
        if key is None and (step or any("lang_code" in field for field in error.fields)):
            return f"{step}{self.place}.languages() lists the codes."
        return super().next_step(error, key, body)

    def _read_languages_in_use(self) -> list[str]:
        """Read the languages that have a content; empty if they cannot be read."""
        call = self.list_call()
        try:
            contents = self.parse_records(call, self.transport.send(call).data)
        except CallError:
            return []
        return [content.lang_code for content in contents]

    def required(self) -> list[str]:
        """Return the fields that a create requires, by the profile."""
        return list(dict.fromkeys(("lang_code", *self.profile.content_requires)))

    def undo(self, kind: str, known: Mapping[str, Any], after: Mapping[str, Any]) -> Undo:
        """Return how well a planned change can be undone; a deleted content gets another id.

        Args:
            kind: create, update or delete.
            known: The content as the plan knows it; empty for a create.
            after: The fields to send.
        """
        if kind == "delete":
            return "not exactly", "if created again, it has another id"
        return super().undo(kind, known, after)


class Contents(Resource[Content], endpoints=ContentEndpoints):
    """The contents of one template, one for each language, by language code.

    A code that has no contents yet is an empty list: the API has no list of templates.

    Each content is checked before it is sent, as it would then be. What breaks the API document
    is not sent, and what the platform rejects does not get live, unless you pass `broken=True`.
    All else is reported, for drafts too.

    >>> contents = client.templates("order_ready")
    >>> contents.frame().index.tolist()
    ['en', 'ar', 'de', 'es', 'fr', 'hi', 'ja', 'pt_BR']
    >>> contents.update("en", footer="Reply STOP to end").footer
    'Reply STOP to end'
    """

    _endpoints: ContentEndpoints

    def __init__(
        self, endpoints: ContentEndpoints, find_similar_code: Callable[[str], str]
    ) -> None:
        self._endpoints = endpoints
        self._find_similar_code = find_similar_code

    @property
    def code(self) -> str:
        """The template code."""
        return self._endpoints.code

    def frame(self, *, search: str | None = None, full: bool = False) -> pd.DataFrame:
        """Read the contents into a DataFrame, one row a language, indexed by `lang_code`.

        English comes first, then the others by their code.

        Args:
            search: Only those that hold this text.
            full: Read each content on its own as well, for all its fields.

        Raises:
            BadAnswer: The list is not as documented.
        """
        frame = sort_by_language(self._frame(self._endpoints.search(search), full=full))
        self._endpoints.checks.languages.add_used_languages(frame)
        if frame.empty and search is None and (similar := self._find_similar_code(self.code)):
            message = f"The template {self.code} has no content; did you mean {similar}?"
            warnings.warn(message, stacklevel=2)
        return frame

    def _note_written(self, before: Content | None, made: Content, sent: Mapping[str, Any]) -> None:
        """Record in the ledger the source of the texts that a single call wrote.

        A language in which no content was read is named, once: it may be a mistake.

        Args:
            before: The content before; None for a new one, or if it was not read.
            made: The content now.
            sent: The fields that were sent.
        """
        endpoints, names = self._endpoints, {*sent} & _TEXTS
        used, lang = endpoints.checks.languages.used, made.lang_code
        if "lang_code" in sent and used and lang not in used:
            print_line(f"{_describe_new_language(lang)}.")
            used.add(lang)
        old = before.model_dump(include=names, exclude_unset=True) if before else {}
        new = made.model_dump(include=names, exclude_unset=True)
        if old == new or language.is_same(made.lang_code, endpoints.source):
            return
        change = Change(
            row=0, kind="update", key=made.lang_code, label="",
            before=old, after=new, code=self.code,
        )  # fmt: skip
        try:
            written = endpoints.make_texts_to_keep(
                [change], self._frame(full=False), endpoints.full
            )
        except CallError as error:
            print_line(
                f"It is not recorded from which source this translation is made: {error.reason}."
            )
            return
        # without the texts before it is unknown which are new: earlier records stay
        record_sources(endpoints.transport.connection, written, "", add=before is None)

    # --- all contents of the template -----------------------------------------------

    def check(self, source: str = "en") -> Audit:
        """Check the contents by the rules, and compare each language with the source language.

        The findings are those of `client.templates.check`: `client.templates.glossary` counts,
        and what is silenced is left out.

        Args:
            source: The language that the others are translated from.

        Raises:
            NotFound: The service does not know the template.
        """
        contents = self.frame(full=True).assign(template_code=self.code)
        return self._endpoints.checks.check(contents, source)

    def languages(self) -> pd.DataFrame:
        """Read the languages a content may have: `label`, indexed by `code`.

        Raises:
            BadAnswer: The lookup is not as documented.
        """
        return read_languages(self._endpoints.transport, self.code)


def checks_of(contents: Contents) -> AccountChecks:
    """Return the checks of the account to which the contents of a template belong."""
    return contents._endpoints.checks


# --- languages --------------------------------------------------------------------------


def read_languages(transport: Transport, code: str) -> pd.DataFrame:
    """Read the languages that contents of a template may have: `label`, indexed by `code`.

    Raises:
        BadAnswer: The lookup is not as documented.
    """
    from chatkit.frames.frame import Columns, WrongRows

    call = Call("GET", ("templates", code, "contents", "lookups", "languages"))
    columns = Columns({"code": "text", "label": "text"})
    data = transport.send(call).data
    try:
        columns.add(data)
        return columns.frame("code")
    except WrongRows as error:
        raise BadAnswer(call, f"the lookup is not as documented: {error}") from None


def sort_by_language(frame: pd.DataFrame) -> pd.DataFrame:
    """Sort the contents of each template by language: English first, then by language code."""
    from chatkit.frames.frame import sort_by_key

    return sort_by_key(frame, language.sort_codes)


#: The fields that hold texts for customers.
_TEXTS = frozenset(("text", "footer", "headers", "buttons"))


def _describe_new_language(lang: str) -> str:
    """Describe a language that no content has yet: it may be a mistake."""
    name = language.name(lang)
    return f"{name} is new: no content that was read is in {name}"


class KnownLanguages:
    """The languages that an account knows: those in use, and those of the service's lookup.

    The lookup is read once, and only for a language in which no content was read. Where it cannot
    be read, every language passes.

    Args:
        transport: Sends the calls to the account.
    """

    def __init__(self, transport: Transport) -> None:
        self.used: set[str] = set()  #: languages in which a content was read
        self._lookup: list[str] | None = None
        self._transport = transport
        self._refuses_unknown = transport.connection.profile.unknown_language == "refuse"

    def add_used_languages(self, frame: pd.DataFrame) -> None:
        """Add the languages of a frame of contents to those in use."""
        self.used |= {str(lang) for lang in frame.index.unique(level=-1)}

    def find_unknown_language(self, lang: str, code: str) -> list[Finding]:
        """Return a finding if no content is in a language, and the lookup does not have it.

        Args:
            lang: The language.
            code: The template whose lookup is read, if none was read yet.
        """
        if lang in self.used:
            return []
        if self._lookup is None:
            try:
                self._lookup = list(read_languages(self._transport, code).index)
            except CallError:
                self._lookup = []
        if not self._lookup or lang in self._lookup:
            return []
        severity: Severity = "error" if self._refuses_unknown else "warning"
        message = f"the lookup of languages does not have {values(lang)}"
        suggestion = language.did_you_mean(lang, self._lookup)
        hint = suggestion[:1].upper() + suggestion[1:] or 'templates("code").languages() has all.'
        return [Finding("language", severity, "/lang_code", message, hint)]

    def check_new_languages(
        self, changes: Sequence[Change], base: pd.DataFrame
    ) -> dict[int, Finding]:
        """Check the languages of new contents: an unknown one, or one that no content has.

        Args:
            changes: Creates, updates and deletes of contents.
            base: The contents as they were read, of one template or of several.

        Returns:
            The findings, by the position of the change.
        """
        used = {str(lang) for lang in base.index.unique(level=-1)}
        # the languages of a single template are not all that an account uses
        reports_new = bool(used and self.used) and base.index.nlevels > 1
        findings = {}
        for position, change in enumerate(changes):
            lang = str(change.key)
            if change.kind != "create" or lang in used:
                continue
            if unknown := self.find_unknown_language(lang, str(change.code)):
                findings[position] = unknown[0]
            elif reports_new and lang not in self.used:
                used.add(lang)  # one finding for each language
                message = _describe_new_language(lang)
                findings[position] = Finding("language new", "warning", "/lang_code", message)
        return findings

    def require_known_languages(self, code: str, languages: Iterable[str]) -> None:
        """Raise an error for languages to translate into that the lookup does not have.

        Where the service accepts any language, a message names them.

        Args:
            code: A template that exists.
            languages: The languages to translate into.

        Raises:
            InputError: The lookup does not have some.
        """
        used = {language.normalize(lang) for lang in self.used}
        problems = [
            Problem("languages", values(lang), f"is not in the lookup of languages. {each.hint}")
            for lang in languages
            if language.normalize(lang) not in used
            for each in self.find_unknown_language(lang, code)
        ]
        if problems and self._refuses_unknown:
            raise InputError("The service does not have these languages:", problems)
        for each in problems:
            print_line(f"{each.value} {each.reason}")


# --- contents as they would be once they are sent ---------------------------------------


#: The key of a content among those of all templates: its template code and its language.
ContentKey: TypeAlias = tuple[str, str]


#: What identifies a finding: template code, language, code, field and message.
FindingKey: TypeAlias = tuple[str, str, str, str, str]
#: The fields by which the platform refuses a content; lists show none of them.
_REFUSAL_FIELDS = frozenset(("variables", "headers", "buttons"))
#: Codes of findings in a draft that lacks rejected texts, which the report lists.
MISSING = frozenset((
    *("text empty", "header empty", "button label", "placeholders differ", "header differs"),
    *("sample surplus",),
))  # fmt: skip


class _PlannedContents:
    """The contents of the templates that a plan changes, before and after its changes.

    Args:
        changes: Creates, updates and deletes of contents.
        base: The contents as they were read, of one template or of several.
        full: Reads contents in full.
    """

    def __init__(self, changes: Sequence[Change], base: pd.DataFrame, full: ReadFull) -> None:
        keys = [(change.code or "", str(change.key)) for change in changes]
        #: Creates and updates, each with its position.
        self.edits = {
            key: (position, change)
            for position, (key, change) in enumerate(zip(keys, changes, strict=True))
            if change.kind != "delete"
        }
        self._deleted = {*keys} - self.edits.keys()
        self._several, self._full = base.index.nlevels > 1, full
        self._codes = list(dict.fromkeys(code for code, _ in keys))
        self.before = self._index_contents(base)

    def read_in_full(self, keys: Iterable[ContentKey]) -> None:
        """Read some contents in full, of which lists show a part."""
        if unread := [key if self._several else key[1] for key in keys]:
            self.before |= self._index_contents(self._full(unread))

    def _index_contents(self, frame: pd.DataFrame) -> dict[ContentKey, dict[str, Any]]:
        """Return the fields of the contents of these templates in a frame, by their keys."""
        from chatkit.frames.frame import records

        labels = frame.index.tolist()
        keys = labels if self._several else [*product(self._codes, labels)]
        rows = [row for row, (code, _) in enumerate(keys) if code in self._codes]
        return {
            keys[row]: {**fields, CODE: keys[row][0], LANG: keys[row][1]}
            for row, fields in zip(rows, records(frame, rows), strict=True)
        }

    def fields_after(self, key: ContentKey) -> dict[str, Any]:
        """Return the fields of a content after the changes."""
        sent = self.edits[key][1].after if key in self.edits else {}
        return {**self.before.get(key, {}), CODE: key[0], LANG: key[1], **sent}

    def iter_fields_after(self) -> Iterator[dict[str, Any]]:
        """Yield the fields of all contents after the changes, new contents last."""
        keys = dict.fromkeys([*self.before, *self.edits])
        return (self.fields_after(key) for key in keys if key not in self._deleted)


def _set_severity(
    finding: ContentFinding,
    before: Mapping[str, Any],
    sent: Mapping[str, Any],
    known: Set[FindingKey],
) -> Finding:
    """Return a finding as an error if it stops a change of its content, else as a warning.

    It stops the change if the service refuses it, or if the platform refuses a live content with
    it. It does not stop a change of something else in a content that is live with it already.

    Args:
        finding: A finding in the content after the change.
        before: The content before the change.
        sent: The fields that change.
        known: The keys of the findings in the contents before the changes.
    """
    after = {**before, **sent}
    if finding.severity == "error":
        stops = finding.field.partition(".")[0] in sent
    else:
        live = after.get("is_draft") is not True
        new = "is_draft" in sent or not _identify_findings([finding]) & known
        both = (repr(find_value(fields, finding.pointer)) for fields in (before, after))
        stops = finding.refused and live and (new or len({*both}) > 1)
    return replace(finding, severity="error" if stops else "warning")


def _identify_findings(findings: Iterable[ContentFinding]) -> set[FindingKey]:
    """Return the keys of findings, to compare those before a change with those after it."""
    return {
        (each.template_code, each.lang_code, each.code, each.field, each.message)
        for each in findings
    }


# --- the ledger of sources --------------------------------------------------------------


def make_snapshot_origin(transport: Transport) -> dict[str, str]:
    """Return the origin that frames of several templates keep: the account and the noun."""
    return {"account": transport.connection.account, "noun": ContentEndpoints.noun}


def record_sources(
    connection: Connection, written: Sequence[Sequence[str]], run: str, *, add: bool = False
) -> None:
    """Record in the ledger the source texts of the translations that a run or a call writes.

    If the ledger cannot be written the run goes on, and a message reports it.

    Args:
        connection: The connection of the account.
        written: The texts, each a `WrittenText`.
        run: The name of the run; empty for a single call.
        add: Keep earlier records of the same translations.
    """
    from chatkit.localization.ledger import LedgerFile, record_written

    file = LedgerFile(connection)
    try:
        file.add(record_written(file.read(), written, run, add=add))
    except (OSError, InputError) as error:
        print_line(f"It is not recorded from which source these translations are made: {error}")


# --- the contents of many templates ------------------------------------------------------


class BulkTemplates:
    """The endpoints of all templates of an account, as one source and target of plans.

    Args:
        transport: Sends the calls.
    """

    place = "client.templates"

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.checks = AccountChecks(transport)
        self._opened: dict[str | None, ContentEndpoints] = {}

    def of(self, code: str | None, noun: str | None = None) -> ContentEndpoints:
        """Return the endpoints of a template.

        Args:
            code: The template code.
            noun: Without a meaning here: a plan for several resources passes it.

        Raises:
            InputError: It cannot be a code, like `' '` or `'..'`; nothing was sent.
        """
        if code not in self._opened:
            [valid] = template_codes(cast(list[str], [code]))  # refuses None, too
            self._opened[valid] = ContentEndpoints(self.transport, valid, self.checks)
        return self._opened[code]

    def list_used_codes(self) -> list[str]:
        """Return the codes of the templates that this client has used."""
        return [code for code in self._opened if code]

    def base(self, frame: pd.DataFrame | None, *, now: bool = False) -> Snapshot:
        """Return the snapshot that a frame holds; else read the contents as they are now.

        Args:
            frame: The edited frame.
            now: Read the contents although the frame holds a snapshot.

        Raises:
            InputError: The frame holds no snapshot and no template codes.
        """
        from chatkit.frames.frame import get_column_or_level

        snapshot = None if frame is None or now else self.snapshot(frame)
        if snapshot is not None:
            return snapshot
        column = None if frame is None else get_column_or_level(frame, CODE)
        if column is None or not column.notna().any():
            raise InputError(
                "A plan for several templates needs their codes, in a column or a level of the "
                'index called template_code; templates("code").plan(frame) is for one of them.'
            )
        codes = [code for code in dict.fromkeys(column) if isinstance(code, str) and code]
        return Snapshot(self.read_frame(codes), whole=True, now=True)

    def full(self, keys: Sequence[tuple[str, str]]) -> pd.DataFrame:
        """Read contents in full, by template code and language, without deleted ones.

        A field that no content shows is no column.
        """
        columns, frame = self.read_contents_in_full([(self.of(code), lang) for code, lang in keys])
        return frame.drop(columns=columns.missing)

    def read_contents_in_full(
        self, contents: Sequence[tuple[ContentEndpoints, str]]
    ) -> tuple[Columns, pd.DataFrame]:
        """Read contents in full, by template and language, without deleted ones.

        Returns:
            The columns, and the frame of them, indexed by template code and language.

        Raises:
            BadAnswer: One is not as documented, or an answer is about another content.
        """
        from chatkit.frames.frame import add_index_level

        columns, frame, reads = self._make_general_endpoints().read_records_in_full(contents)
        return columns, add_index_level(frame, CODE, [str(template.code) for template, _ in reads])

    def _make_general_endpoints(self) -> ContentEndpoints:
        """Make endpoints for the records of all templates, without calls of their own."""
        return ContentEndpoints(self.transport, "any", self.checks)

    def keep(self, written: Sequence[Sequence[str]], run: str) -> None:
        """Record in the ledger the source texts of the translations that a run writes."""
        record_sources(self.transport.connection, written, run)

    def read_frame(
        self,
        codes: Iterable[str],
        *,
        full: bool = False,
        find_similar: Callable[[str], str] | None = None,
        needed: bool = False,
    ) -> pd.DataFrame:
        """Read the contents of several templates, indexed by template code and language.

        Several calls are under way at once. Each answer goes into columns as it comes, so that
        the memory in use is about that of the frame.

        Args:
            codes: The template codes.
            full: Read each content on its own as well, for all its fields.
            find_similar: Returns a known code that is spelled alike, "" without one. With it, codes
                that the service does not know are an error, and those without a content a warning;
                else they have no rows.
            needed: Whether one content is needed, so that it is an error if there is none.

        Raises:
            BadAnswer: A list or a content is not as documented, or only a part of it came.
            NotFound: The service does not know some codes, or none has a needed content.
        """
        from chatkit.frames import frame as frames
        from chatkit.imports import accessor

        accessor.register()
        templates = {code: self.of(code) for code in dict.fromkeys(codes)}
        columns = frames.Columns(frames.choose_column_kinds(Content, Content.listed))
        counts: list[int] = []
        absent: dict[str, Refused] = {}
        try:
            for code, (call, answer) in zip(
                templates, self._read_lists(templates.values()), strict=True
            ):
                counts.append(0)
                if isinstance(answer, Refused):
                    absent[code] = answer
                    continue
                counts[-1] = columns.add(answer.data)
                check_list_is_complete(call, answer, counts[-1])
            contents = columns.frame(LANG)
        except frames.WrongRows as error:
            raise _make_list_error(error, [*templates.values()], counts) from None
        if find_similar is not None:
            call = next(iter(templates.values())).list_call()
            by_code = dict(zip(templates, counts, strict=True))
            _report_missing_codes(by_code, absent, call, find_similar, needed=needed)
        levels = list(chain.from_iterable(map(repeat, templates, counts)))
        frame = frames.add_index_level(contents, CODE, levels)
        endpoints = self._make_general_endpoints()
        if repeated := frames.count_repeated_keys(frame):
            endpoints.warn_of_list_changes([f"{repeated} rows came twice"])
        frame = sort_by_language(frames.drop_repeated_keys(frame))
        self.checks.languages.add_used_languages(frame)
        if full:
            count = len(frame)
            keys = [(templates[code], lang) for code, lang in frame.index]
            columns, frame = self.read_contents_in_full(keys)
            if deleted := count - len(frame):
                endpoints.warn_of_list_changes(
                    [f"{deleted} of {count} were gone when each was read"]
                )
        endpoints.warn_if_missing(columns.missing)
        return frame

    def _read_lists(
        self, templates: Collection[ContentEndpoints]
    ) -> Iterator[tuple[Call, Envelope | Refused]]:
        """Read the list of each template; yield calls and answers in order, with a bar."""
        total, calls = len(templates), [template.list_call() for template in templates]
        forecast, action = Forecast(), f"Reading {many(total, 'template')}"
        with Progress("templates", total) as progress:
            forecast.report(action, 0, total, self.transport.pace().rate)
            answers = send_in_order(self.transport, calls, kept=(NotFound,))
            for done, read in enumerate(zip(calls, answers, strict=True), 1):
                progress.add(1)
                forecast.report(action, done, total - done, self.transport.pace().rate)
                yield read

    def read_with_notes(self, codes: Iterable[str]) -> tuple[pd.DataFrame, list[str]]:
        """Read the contents of these templates in full; return them with notes.

        A note names the templates without contents.
        """
        codes = [*dict.fromkeys(codes)]
        frame = self.with_snapshot(self.read_frame(codes, full=True))
        present = {*frame.index.get_level_values(0)}
        without_contents = ", ".join(code for code in codes if code not in present)
        note = f"The account has no contents of these templates: {without_contents}."
        return frame, [note] if without_contents else []

    def each(self, codes: Iterable[str]) -> Mapping[str | None, ContentEndpoints]:
        """Return the endpoints of these templates, by code."""
        return {code: self.of(code) for code in codes}

    def read_contents_in_languages(
        self, codes: Iterable[str], languages: Iterable[str], source: str
    ) -> pd.DataFrame:
        """Read the contents of templates in some languages and in the source language, in full.

        Codes that the service does not know are left out.

        Args:
            codes: The template codes.
            languages: The languages, in any form: pt_BR or pt-BR.
            source: The language that the others are translated from.
        """
        selected = {*map(language.normalize, languages)}
        languages_of: dict[str, list[str]] = {}
        for code, lang in self.read_frame(codes).index:
            languages_of.setdefault(code, []).append(lang)
        contents = [
            (self.of(code), lang)
            for code, present in languages_of.items()
            for lang in present
            if language.normalize(lang) in selected or lang == language.find_code(source, present)
        ]
        return self.read_contents_in_full(contents)[1]

    def with_snapshot(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a frame that keeps its present cells as a snapshot, for the plan of its edits."""
        nested = ContentBody.list_updatable_fields()
        return keep_snapshot(frame, make_snapshot_origin(self.transport), whole=True, nested=nested)

    def snapshot(self, frame: pd.DataFrame) -> Snapshot | None:
        """Return the cells as they were when a frame was read; None if it does not hold them.

        A frame of one template counts if it has a column or a level of template codes.
        """
        from chatkit.frames.frame import add_index_level, get_column_or_level

        origin, code = make_snapshot_origin(self.transport), read_origin(frame).get("code")
        if code is None:
            return get_snapshot(frame, origin)
        snapshot = get_snapshot(frame, {**origin, "code": code})
        if snapshot is None or get_column_or_level(frame, CODE) is None:
            return None
        codes = [code] * len(snapshot.frame)
        return snapshot._replace(frame=add_index_level(snapshot.frame, CODE, codes))

    def plan_frame(
        self,
        frame: pd.DataFrame | Iterable[Mapping[str, Any]],
        *,
        notes: Sequence[str] = (),
        source: str = "en",
        ignored_codes: Collection[str] = (),
        how: How = "apply",
        carries_sources: bool = False,
        drawings: Mapping[str, str] | None = None,
        **options: Unpack[PlanOptions],
    ) -> Plan:
        """Plan an edited frame, with the findings of the rules in it.

        Args:
            frame: The edited frame.
            notes: Notes that the plan begins with.
            source: The language that the others are translated from.
            ignored_codes: Codes of findings to leave out.
            how: How the ledger records the translations.
            carries_sources: Whether an edited text keeps the recorded source of the text before.
            drawings: HTML to show in place of notes, by the note.
            **options: The options of `Resource.plan`.
        """
        from chatkit.bulk.planner import make_plan

        endpoints = self._make_general_endpoints()
        endpoints.source, endpoints.ignored_codes = source, ignored_codes
        endpoints.how, endpoints.carries_sources = how, carries_sources
        plan = make_plan(self, endpoints, frame, **options)
        plan.notes[:0] = notes
        plan._drawn |= drawings or {}
        return plan


def _report_missing_codes(
    counts: Mapping[str, int],
    absent: Mapping[str, Refused],
    call: Call,
    find_similar: Callable[[str], str],
    *,
    needed: bool,
) -> None:
    """Raise or warn that templates have no content, each with a known code like it.

    Args:
        counts: The number of contents by template code.
        absent: The codes that the service does not know, with its refusals.
        call: The first call, for an error.
        find_similar: Returns a known code that is spelled alike, "" without one.
        needed: Raise also where the service gives no reason, and none has a content.

    Raises:
        NotFound: The service does not know some codes, or none has a needed content.
    """

    def listed(codes: Iterable[str]) -> str:
        """Name codes, each with the one that may be meant."""
        pairs = [(code, find_similar(code)) for code in codes]
        named = [f"{code} (did you mean {like}?)" if like else code for code, like in pairs]
        return visible(", ".join(named))

    if absent:
        refusal = list(absent.values())[-1]
        raise NotFound(
            refusal.call,
            f"the service does not know these codes: {listed(absent)}. A code may be misspelt, or "
            "its template has no content yet",
            status=refusal.status,
        )
    if empty := [code for code, count in counts.items() if not count]:
        message = (
            f"There is no content for {listed(empty)}: a code may be misspelt, or the template has "
            "none yet."
        )
        if needed and len(empty) == len(counts):
            raise NotFound(call, message)
        warnings.warn(message, stacklevel=5)


def _make_list_error(
    error: WrongRows, templates: Sequence[ContentEndpoints], counts: Sequence[int]
) -> BadAnswer:
    """Make the error for a list that has a row that is not as documented.

    Args:
        error: The error of the columns, which counts the rows of all lists as one.
        templates: The templates that are read.
        counts: The number of rows of each list that was read.
    """
    ends = list(accumulate(counts))
    number = bisect_right(ends, ends[-1] if error.row is None else min(error.row, ends[-1]))
    template = templates[min(number, len(counts) - 1)]
    counted = f" (row 0 is the first of {templates[0].code})" if len(ends) > 1 else ""
    return BadAnswer(template.list_call(), f"the list is not as documented: {error}{counted}")
