"""Contents: the texts of one message template in its languages (API document, Template content)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import AfterValidator, Field

from chatkit.api.call import Call, find_segment_fault
from chatkit.api.record import Body, Id, Record
from chatkit.api.transport import Transport
from chatkit.bulk.changes import Change
from chatkit.bulk.endpoints import Endpoints, Key, ReadFull, Undo
from chatkit.errors import BadAnswer, CallError, InputError, NotFound, Problem, Refused
from chatkit.frames.snapshot import Snapshot, get_snapshot
from chatkit.resource import Resource
from chatkit.util.display import values
from chatkit.util.json import find_value
from chatkit.util.progress import print_line

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.api.connection import Connection
    from chatkit.localization.audit import Audit
    from chatkit.localization.content import Contents as Checked
    from chatkit.localization.glossary import Glossary
    from chatkit.localization.ledger import Ledger, WrittenText
    from chatkit.localization.rules import ContentFinding
    from chatkit.report import Finding, Severity


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


def _validate_language(code: str) -> str:
    """Return a language code; raise an error if it could not be a part of an address."""
    if reason := find_segment_fault(code):
        raise ValueError(reason)
    return code


class ContentBody(Body):
    """The fields that may be sent of a content; which an update requires is not documented."""

    lang_code: Annotated[
        str,
        Field(min_length=1, description="The language, like 'en' or 'en_US'."),
        AfterValidator(_validate_language),
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
        False, description="Whether validity_period_seconds counts."
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
    """The checks of an account: the rules and its glossary, without what is silenced.

    Whatever checks contents of an account uses these, so that all have the same findings.

    Args:
        transport: Of the account.
    """

    def __init__(self, transport: Transport) -> None:
        self.glossary: Glossary | None = None  #: what translations say and never say
        self.languages = KnownLanguages(transport)
        self._connection = transport.connection

    def check(
        self, contents: Checked, source: str = "en", *, glossary: Glossary | None = None
    ) -> Audit:
        """Check contents, each language beside the source language.

        Args:
            contents: A frame of contents, one content, or several.
            source: The language that the others are translated from.
            glossary: A glossary in place of that of the account.
        """
        from chatkit.localization.audit import check_contents

        words = self.glossary if glossary is None else glossary
        return check_contents(contents, source, glossary=words, ledger=self._read_ledger())

    def _read_ledger(self) -> Ledger:
        """Read the ledger of silenced findings; an unreadable one counts as empty."""
        from chatkit.localization.ledger import Ledger, LedgerFile

        try:
            return LedgerFile(self._connection).read()
        except (OSError, InputError) as error:
            print_line(f"The silenced findings cannot be read, so all findings are listed: {error}")
            return Ledger()


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
    refuses = (
        "Contents that break the API document are refused, and so are live contents that the "
        "platform rejects."
    )

    def __init__(self, transport: Transport, code: str, checks: AccountChecks) -> None:
        super().__init__(transport)
        self.code: str = code
        self.checks = checks
        self.source = "en"  #: the language that plans hold the others against
        self.expected: Collection[str] = ()  #: codes of findings that are no news to who plans
        self.how = "apply"  #: what plans write translations with, for the ledger
        self.by_rule = False  #: whether they only replace texts, and translate nothing
        self.path = ("templates", code, "contents")

    def check_record(
        self, fields: Mapping[str, Any], live: Mapping[str, Any] | None
    ) -> list[Finding]:
        """Return the findings that would stop one content, as it would be after these fields."""
        findings = check_edit(fields, live)
        if live is not None and not live and (lang := fields.get("lang_code")):
            findings[:0] = self.checks.languages.find_unknown(lang, self.code)
        return findings

    def needs_live_record(self, fields: Mapping[str, Any]) -> bool:
        """Return whether these fields can make a content live that the platform refuses."""
        return fields.get("is_draft") is not True

    def check_changes(
        self, changes: Sequence[Change], base: pd.DataFrame, full: ReadFull
    ) -> Mapping[int, Sequence[Finding]]:
        """Check all contents as a plan would leave them, each beside the other languages.

        Lists show a text without its buttons and samples: what a change leaves live, or makes
        live, is read in full, as for the update of one content.
        """
        findings = check_plan(
            *(changes, base, full),
            source=self.source,
            expected=self.expected,
            check=self.checks.check,
        )
        for n, finding in self.checks.languages.check(changes, base).items():
            findings.setdefault(n, []).insert(0, finding)
        return findings

    def make_texts_to_keep(
        self, changes: Sequence[Change], base: pd.DataFrame, full: ReadFull
    ) -> list[WrittenText]:
        """Return the translated texts that changes write, each with its source text.

        That is the source as it will be: as it was read, with what changes in it. A list shows no
        footers, headers and buttons: where those are written too, the source is read in full.
        """
        from chatkit.localization import language
        from chatkit.localization.content import texts_in
        from chatkit.localization.ledger import WrittenText, text_digest

        contents = _PlannedContents(changes, base, full)
        languages: dict[str, list[str]] = {}
        for code, lang in dict.fromkeys([*contents.before, *contents.edits]):
            languages.setdefault(code, []).append(lang)
        new: dict[Place, dict[str, str]] = {}
        originals: dict[Place, Place] = {}
        for place, (_, change) in contents.edits.items():
            original = language.find(self.source, languages[place[0]])
            before, after = map(texts_in, (change.before, change.after))
            texts = {field: text for field, text in after.items() if before.get(field) != text}
            if texts and original and original != place[1]:
                new[place], originals[place] = texts, (place[0], original)
        unread = (
            originals[place]
            for place, texts in new.items()
            if texts.keys() - {"text"}
            and _TEXTS - contents.before.get(originals[place], dict.fromkeys(_TEXTS)).keys()
        )
        contents.read_in_full(dict.fromkeys(unread))
        written = []
        for place, texts in new.items():
            source_place = originals[place]
            sources = texts_in(contents.after(source_place))
            # where texts are only replaced, each is as up to date as the one before
            before = texts_in(contents.edits[place][1].before) if self.by_rule else {}
            first = texts_in(contents.before.get(source_place, {}))
            written += [
                WrittenText(
                    *(place[0], language.normal(place[1]), field, language.normal(source_place[1])),
                    *(text_digest(text), sources[field], self.how),
                    *(
                        map(text_digest, (before[field], first[field]))
                        if field in before and field in first
                        else ()
                    ),
                )
                for field, text in texts.items()
                if sources.get(field)
            ]
        return written

    def keep(self, written: Sequence[Sequence[str]], run: str) -> None:
        """Record in the ledger the source that each translation was made from."""
        record_sources(self.transport.connection, written, run)

    def base(self, frame: pd.DataFrame | None, *, now: bool = False) -> Snapshot:
        """Return the contents to compare a frame with; none where the service has no such code."""
        try:
            return super().base(frame, now=now)
        except NotFound:
            from chatkit.frames.frame import Columns, choose_column_kinds

            empty = Columns(choose_column_kinds(self.record, self.record.listed)).frame(self.key)
            return Snapshot(empty, whole=True, now=True)

    def snapshot(self, frame: pd.DataFrame) -> Snapshot | None:
        """Return the snapshot of a frame from when it was read, also of one of many templates."""
        kept = super().snapshot(frame)
        if kept is None and (every := get_snapshot(frame, snapshot_origin(self.transport))):
            rows = every.frame[every.frame.index.get_level_values(0) == self.code]
            kept = Snapshot(rows.droplevel(0), whole=True) if len(rows) else None
        return kept

    @property
    def place(self) -> str:
        """The Python expression that opens these records."""
        return f"client.templates({self.code!r})"

    def next_step(self, error: Refused, key: Key | None, body: Mapping[str, Any]) -> str:
        """Return the next step of an error: the API's spelling of a language, and known ones."""
        asked = str(body.get("lang_code", "") if key is None else key)
        written = asked.replace("-", "_")
        if error.status in (409, self.profile.clash_status) and key is not None:
            other = body.get("lang_code")
            return (
                f"A content keeps its language: {self.place}.create(lang_code={other!r:.60}, …) "
                f"makes one in that language, and {self.place}.delete({asked!r:.60}) removes this "
                "one. Or leave lang_code out."
            )
        if error.status == 409 and key is None:
            return f"It exists: {self.place}.update({asked!r}, …) changes it."
        if isinstance(error, NotFound):
            languages = self._languages_in_use()
        elif key is None and (written != asked or any("lang_code" in f for f in error.fields)):
            languages = []
        else:
            return super().next_step(error, key, body)
        step = f"Write {written!r}: the API writes an underscore. " if written != asked else ""
        if languages:
            step += f"{self.code} has contents in {', '.join(languages)}."
        elif isinstance(error, NotFound):
            step += f"{self.code} has no content; its code may be misspelt."
        else:
            step += f"{self.place}.languages() lists the codes."
        return step

    def _languages_in_use(self) -> list[str]:
        call = self.list_call()
        try:
            return [
                one.lang_code for one in self.parse_records(call, self.transport.send(call).data)
            ]
        except CallError:
            return []

    def required(self) -> list[str]:
        """Return the fields that a create requires, by the profile."""
        return list(dict.fromkeys(("lang_code", *self.profile.content_requires)))

    def undo(self, kind: str, known: Mapping[str, Any], after: Mapping[str, Any]) -> Undo:
        """Return how exactly a change can be undone: a deleted content gets another id."""
        if kind == "delete":
            return "not exactly", "if created again, it has another id"
        return super().undo(kind, known, after)


class Contents(Resource[Content], endpoints=ContentEndpoints):
    """The contents of one template, one for each language, by language code.

    A code that has no contents yet is an empty list: the API has no list of templates.

    Each content is checked before it is sent, as it would then be. What breaks the API document
    is not sent, and what the platform rejects does not get live, unless you say `broken=True`.
    All else is reported, also what is wrong with a draft.

    >>> contents = client.templates("order_ready")
    >>> contents.frame().index.tolist()
    ['en', 'ar', 'de', 'es', 'fr', 'hi', 'ja', 'pt_BR']
    >>> contents.update("en", footer="Reply STOP to end").footer
    'Reply STOP to end'
    """

    _endpoints: ContentEndpoints

    def __init__(
        self, endpoints: ContentEndpoints, known: Callable[[str], str] = lambda code: ""
    ) -> None:
        self._endpoints = endpoints
        self._similar_code = known

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
        frame = sorted_by_language(self._frame(self._endpoints.search(search), full=full))
        self._endpoints.checks.languages.add_used(frame)
        if frame.empty and search is None and (known := self._similar_code(self.code)):
            warnings.warn(
                f"The template {self.code} has no content; did you mean {known}?", stacklevel=2
            )
        return frame

    # --- one content ----------------------------------------------------------------

    def create(self, *, broken: bool = False, **fields: Any) -> Content:
        """Create a content and return it as the service now has it (read back).

        It is checked before it is sent, its language too: what has errors is sent with
        `broken=True` only. A language in which no content was read is reported, once.

        Raises:
            InputError: A field is missing, unknown or wrong, or has errors; nothing was sent.
            Conflict: The template has a content in that language.
            UnknownOutcome: The answer was lost; the content may exist.
        """
        known, lang = self._endpoints.checks.languages, str(fields.get("lang_code", ""))
        new = known.new_language_note(lang)
        made = super().create(broken=broken, **fields)
        if new:
            known.reported.add(lang)
            print_line(f"{new}.")
        return made

    def _note_written(self, before: Content | None, made: Content, sent: Mapping[str, Any]) -> None:
        """Record in the ledger the source of the written texts, as a plan does."""
        from chatkit.localization import language

        endpoints, own = self._endpoints, [name for name in sent if name in _TEXTS]
        known, now = (
            {} if each is None else each.model_dump(include={*own}, exclude_unset=True)
            for each in (before, made)
        )
        if known == now or language.same(made.lang_code, endpoints.source):
            return
        change = Change(
            row=0, kind="update", key=made.lang_code, label="",
            before=known, after=now, code=self.code,
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
        # without the texts before it is not known which are new: what is recorded of them stays
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
    """Return the checks of the account of these contents."""
    return contents._endpoints.checks


# --- languages --------------------------------------------------------------------------


def read_languages(transport: Transport, code: str) -> pd.DataFrame:
    """Read the languages that contents of a template may have.

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


def sorted_by_language(frame: pd.DataFrame) -> pd.DataFrame:
    """Sort the contents of each template by language, in the common order."""
    from chatkit.frames.frame import sort_by_key
    from chatkit.localization import language

    return sort_by_key(frame, language.sort_codes)


#: The fields that hold texts for customers.
_TEXTS = frozenset(("text", "footer", "headers", "buttons"))


class KnownLanguages:
    """The languages that a client knows: those of the lookup, those in use, and reported ones.

    The lookup is read once, and only for a language that no content has that was read. Where it
    cannot be read, the service has the last word.

    Args:
        transport: Of the account.
    """

    def __init__(self, transport: Transport) -> None:
        self.used: set[str] = set()
        self.reported: set[str] = set()
        self._lookup: list[str] | None = None
        self._transport = transport
        self._refuses_unknown = transport.connection.profile.unknown_language == "refuse"

    def add_used(self, frame: pd.DataFrame) -> None:
        """Add the languages of a frame of contents to those in use."""
        self.used |= {str(lang) for lang in frame.index.unique(level=-1)}

    def find_unknown(self, lang: str, code: str) -> list[Finding]:
        """Return a finding if no content is in a language, and the lookup does not have it.

        Args:
            lang: The language.
            code: The template whose lookup is read, unless one was read.
        """
        from chatkit.localization import language
        from chatkit.report import Finding

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
        near = language.did_you_mean(lang, self._lookup)
        hint = near[:1].upper() + near[1:] or 'templates("code").languages() has all.'
        return [Finding("language", severity, "/lang_code", message, hint)]

    def new_language_note(self, lang: str) -> str:
        """Return a note that no content is in a language yet; empty if one is, or if reported."""
        from chatkit.localization import language

        if not self.used or lang in self.used or lang in self.reported:
            return ""
        name = language.name(lang)
        return f"{name} is new: no content that was read is in {name}"

    def check(self, changes: Sequence[Change], base: pd.DataFrame) -> dict[int, Finding]:
        """Check that the languages of new contents exist, and warn of those that are new.

        Args:
            changes: Creates, updates and deletes of contents.
            base: The contents as they were read.

        Returns:
            The findings, by the place of the change.
        """
        from chatkit.report import Finding

        used = {str(lang) for lang in base.index.unique(level=-1)}
        new = {
            n: each
            for n, each in enumerate(changes)
            if each.kind == "create" and str(each.key) not in used
        }
        several = bool(used) and base.index.nlevels > 1  # one template does not tell what is in use
        findings = {}
        for n, each in new.items():
            if wrong := self.find_unknown(lang := str(each.key), str(each.code)):
                findings[n] = wrong[0]
            elif several and (message := self.new_language_note(lang)):
                self.reported.add(lang)
                findings[n] = Finding("language new", "warning", "/lang_code", message)
        return findings

    def require_known(self, code: str, languages: Iterable[str]) -> None:
        """Raise an error for languages to translate into that the lookup does not have.

        Where the service accepts any language, a message names them.

        Args:
            code: A template that exists.
            languages: The languages to translate into.

        Raises:
            InputError: The lookup does not have some.
        """
        from chatkit.localization import language

        used = {language.normal(lang) for lang in self.used}
        problems = [
            Problem("languages", values(lang), f"is not in the lookup of languages. {each.hint}")
            for lang in languages
            if language.normal(lang) not in used
            for each in self.find_unknown(lang, code)
        ]
        if problems and self._refuses_unknown:
            raise InputError("The service does not have these languages:", problems)
        for each in problems:
            print_line(f"{each.value} {each.reason}")


# --- contents as they would be once they are sent ---------------------------------------

#: The place of a content: its template code and its language.
Place: TypeAlias = tuple[str, str]
#: The code, the field and the message of a finding, by which it is known in a content.
FindingKey: TypeAlias = tuple[str, str, str]
#: The fields by which the platform refuses a content; lists show none of them.
_REFUSAL_FIELDS = frozenset(("variables", "headers", "buttons"))
#: Codes of findings in a draft that is meant to hold the words of its source.
COPIED = frozenset((
    *("untranslated", "same as source", "wrong script", "other script", "glossary", "quotes"),
    *("punctuation", "number form", "date form"),
))  # fmt: skip


#: Codes of findings in a draft that lacks rejected texts, which the report lists.
MISSING = frozenset((
    *("text empty", "header empty", "button label", "placeholders differ", "header differs"),
    *("sample surplus",),
))  # fmt: skip


def check_edit(fields: Mapping[str, Any], live: Mapping[str, Any] | None) -> list[Finding]:
    """Check one content as it would be once these fields are sent; return what is refused.

    Args:
        fields: What is sent.
        live: The content as it is; empty for a new one, None if that is not known.
    """
    from chatkit.localization.audit import check_contents

    before = {"lang_code": "en", **(live or {})}
    known = {_finding_key(each) for each in check_contents([before])} if live else set()
    refused = check_contents([{**before, **fields}]).refused
    return [_with_severity(each, before, fields, known) for each in refused]


class _PlannedContents:
    """The contents that a plan changes, as they were read and as they would be, by place."""

    def __init__(
        self, changes: Sequence[Change], base: pd.DataFrame, full: ReadFull | None
    ) -> None:
        places = [(change.code or "", str(change.key)) for change in changes]
        self.edits = {
            place: (n, change)
            for n, (place, change) in enumerate(zip(places, changes, strict=True))
            if change.kind != "delete"
        }
        self._deleted = {*places} - self.edits.keys()
        self._several, self._full = base.index.nlevels > 1, full
        self._codes = {change.code or "" for change in changes}
        self.before = _contents_by_place(base, self._codes)

    def read_in_full(self, places: Iterable[Place]) -> None:
        """Read some contents in full, of which lists show a part."""
        keys = [place if self._several else place[1] for place in places]
        if keys and self._full is not None:
            self.before |= _contents_by_place(self._full(keys), self._codes)

    def after(self, place: Place) -> dict[str, Any]:
        """Return a content as it would be."""
        own = {"template_code": place[0], "lang_code": place[1]}
        sent = self.edits[place][1].after if place in self.edits else {}
        return {**self.before.get(place, {}), **own, **sent}

    def iter_after(self) -> Iterator[dict[str, Any]]:
        """Yield all contents as they would be, new ones last."""
        places = dict.fromkeys([*self.before, *self.edits])
        return (self.after(place) for place in places if place not in self._deleted)


def check_plan(
    changes: Sequence[Change],
    base: pd.DataFrame,
    full: ReadFull | None = None,
    *,
    source: str = "en",
    expected: Collection[str] = (),
    check: Callable[[Iterable[Mapping[str, Any]], str], Audit] | None = None,
) -> dict[int, list[Finding]]:
    """Check all contents of a plan as they would be once it is applied.

    Args:
        changes: Creates, updates and deletes of contents.
        base: The contents as they were read. What a list does not show is not checked.
        full: Reads those of them in full that will be live, and of which lists show a part.
        source: The language that the others are translated from.
        expected: Codes of findings to leave out.
        check: Checks the contents as they would be, as the account does; else by the rules alone.

    Returns:
        The findings, by the place of the change.
    """
    from chatkit.localization.audit import check_contents

    contents = _PlannedContents(changes, base, full)
    if _REFUSAL_FIELDS - {*base.columns}:
        contents.read_in_full(
            place
            for place, (_, change) in contents.edits.items()
            if change.kind == "update" and contents.after(place).get("is_draft") is not True
        )
    known: dict[Place, set[FindingKey]] = {}
    if contents.edits.keys() & contents.before.keys():
        for each in check_contents(contents.before.values(), source):
            place = each.template_code, each.lang_code
            known.setdefault(place, set()).add(_finding_key(each))
    findings: dict[int, list[Finding]] = {}
    for each in (check or check_contents)(contents.iter_after(), source):
        place = each.template_code, each.lang_code
        if place in contents.edits and each.severity != "note" and each.code not in expected:
            n, change = contents.edits[place]
            before, own = contents.before.get(place, {}), known.get(place, set())
            findings.setdefault(n, []).append(_with_severity(each, before, change.after, own))
    return findings


def _with_severity(
    finding: ContentFinding,
    before: Mapping[str, Any],
    sent: Mapping[str, Any],
    known: Collection[FindingKey],
) -> Finding:
    """Return a finding as an error if it stops the change, and else as a warning.

    It stops the change if the service refuses it, or the platform a live content with it; but
    not if the content is live with it already and something else is edited.

    Args:
        finding: In the content as it would be.
        before: The content as it is.
        sent: The fields that change.
        known: The findings in the content as it is.
    """
    after = {**before, **sent}
    if finding.severity == "error":
        stops = finding.field.partition(".")[0] in sent
    else:
        live = after.get("is_draft") is not True
        new = "is_draft" in sent or _finding_key(finding) not in known
        both = (repr(find_value(each, finding.pointer)) for each in (before, after))
        stops = finding.refused and live and (new or len({*both}) > 1)
    return replace(finding, severity="error" if stops else "warning")


def _finding_key(finding: ContentFinding) -> FindingKey:
    return finding.code, finding.field, finding.message


def _contents_by_place(base: pd.DataFrame, codes: Collection[str]) -> dict[Place, dict[str, Any]]:
    """Return the contents of some templates in a frame, by code and language.

    A frame of one template does not have its code.
    """
    from chatkit.frames.frame import records

    one = next(iter(codes), "")
    several = base.index.nlevels > 1
    places = [(key[0], key[1]) if several else (one, str(key)) for key in base.index.tolist()]
    rows = [row for row, place in enumerate(places) if place[0] in codes]
    return {
        places[row]: {**fields, "template_code": places[row][0], "lang_code": places[row][1]}
        for row, fields in zip(rows, records(base, rows), strict=True)
    }


# --- from which source translations are made ---------------------------------------------


def snapshot_origin(transport: Transport) -> dict[str, str]:
    """Return the origin by which frames of several templates find their snapshot."""
    return {"account": transport.connection.account, "noun": ContentEndpoints.noun}


def record_sources(
    connection: Connection, written: Sequence[Sequence[str]], run: str, *, add: bool = False
) -> None:
    """Record in the ledger the sources that the translations of a run are made from.

    If that fails the run goes on, and its translations are unknown on the board. With `add` an
    earlier record of a translation stays.
    """
    from chatkit.localization.ledger import Ledger, LedgerFile, record_written

    file = LedgerFile(connection)
    try:
        new = Ledger()
        record_written(new, file.read(), written, run, add=add)
        file.add(new)
    except (OSError, InputError) as error:
        print_line(f"It is not recorded from which source these translations are made: {error}")
