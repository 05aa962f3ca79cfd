"""Templates: the localized contents of message templates (API document, Template content)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from chatkit.call import Call
from chatkit.endpoints import Undo
from chatkit.errors import BadAnswer, InputError, NotFound
from chatkit.record import Body, Id, Record
from chatkit.resource import Resource
from chatkit.snapshot import Snapshot, Snapshots
from chatkit.transport import Transport

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.bulk.plan import Plan


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


class ContentBody(Body):
    """What may be sent of a content. Which fields an update requires is not documented."""

    lang_code: Annotated[
        str, Field(min_length=1, description="The language, like 'en' or 'en_US'.")
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


class Contents(Resource[Content]):
    """The contents of one template, one for each language, by language code.

    A code that has no contents yet is an empty list: the API has no list of templates.
    """

    noun = "content"
    record = Content
    body = ContentBody
    key = "lang_code"
    paged = False
    unique = chosen = True
    natural_key = ("lang_code",)

    def __init__(self, transport: Transport, code: str) -> None:
        super().__init__(transport)
        self.code: str = code
        self.path = ("templates", code, "contents")

    def frame(self, *, search: str | None = None, full: bool = False) -> pd.DataFrame:
        """Read the contents into a DataFrame, one row a language, indexed by `lang_code`.

        Args:
            search: Only those that hold this text.
            full: Read each content on its own as well, for all its fields.

        Raises:
            BadAnswer: The list is not as documented.
        """
        return self._frame(self.search(search), full=full)

    def base(self, frame: pd.DataFrame | None, *, now: bool = False) -> Snapshot:
        """Return what a frame was when it was read; a code that nobody knows has no contents."""
        try:
            return super().base(frame, now=now)
        except NotFound:
            from chatkit.frame import Columns, kinds

            empty = Columns(kinds(self.record, self.record.listed)).frame(self.key)
            return Snapshot(empty, whole=True, now=True)

    def languages(self) -> pd.DataFrame:
        """Read the languages a content may have: `label`, indexed by `code`.

        Raises:
            BadAnswer: The lookup is not as documented.
        """
        from chatkit.frame import Columns, WrongRows

        call = Call("GET", (*self.path, "lookups", "languages"))
        columns = Columns({"code": "text", "label": "text"})
        data = self.transport.send(call).data
        try:
            columns.add(data)
            return columns.frame("code")
        except WrongRows as error:
            raise BadAnswer(call, f"the lookup is not as documented: {error}") from None

    def required(self) -> list[str]:
        """Name the fields that a create requires, as the profile says."""
        return list(dict.fromkeys(("lang_code", *self.profile.content_requires)))

    def undo(self, kind: str, known: Mapping[str, Any], after: Mapping[str, Any]) -> Undo:
        """Tell that a deleted content comes back under its language, with another id."""
        if kind == "delete":
            return "with loss", "made again it has another id"
        return super().undo(kind, known, after)


class Templates:
    """The message templates of the account: `templates("order_ready")` opens one by its code.

    The API has no list of templates, so codes are yours to know.
    """

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self._opened: dict[str, Contents] = {}
        self._snapshots = Snapshots(transport.connection.account, Contents.noun)

    def __call__(self, code: str) -> Contents:
        """Open the contents of one template by its code."""
        return self._opened.setdefault(code, Contents(self.transport, code))

    def __repr__(self) -> str:
        return '<templates of the account: templates("code").frame() shows one>'

    def frame(self, codes: Iterable[str], *, full: bool = False) -> pd.DataFrame:
        """Read the contents of several templates, indexed by `template_code` and `lang_code`.

        Args:
            codes: The template codes.
            full: Read each content on its own as well, for all its fields.

        Raises:
            InputError: No code is named.
            BadAnswer: A list is not as documented.
        """
        from chatkit.frame import beside

        codes = list(dict.fromkeys(codes))
        if not codes:
            raise InputError("Name the codes of some templates: the API has no list of them.")
        frame = beside(codes, [self(code).frame(full=full) for code in codes], "template_code")
        return self._snapshots.keep(frame, whole=True, nested=ContentBody.updatable())

    def plan(
        self,
        frame: pd.DataFrame,
        *,
        skip_invalid: bool = False,
        other_account: bool = False,
    ) -> Plan:
        """Show what an edited frame of several templates would change.

        It is as `frame(codes)` gave it, or has columns `template_code` and `lang_code`. All
        else is as for one template: `templates("code").plan`.

        Raises:
            InputError: The frame as a whole cannot be planned.
        """
        from chatkit.bulk.draft import draft

        return draft(
            self,
            Contents(self.transport, "any"),
            frame,
            skip_invalid=skip_invalid,
            other_account=other_account,
        )

    def of(self, code: str | None) -> Contents:
        """Return the contents of a template code."""
        if code is None:
            raise ValueError("a content belongs to a template code")
        return self(code)

    def base(self, frame: pd.DataFrame | None, *, now: bool = False) -> Snapshot:
        """Return what a frame was when it was read, or else what is there now."""
        from chatkit.frame import beside, column_or_level

        kept = None if frame is None or now else self._snapshots.of(frame)
        if kept is not None:
            return kept
        named = None if frame is None else column_or_level(frame, "template_code")
        if named is None or not named.notna().any():
            raise InputError(
                "A plan for several templates needs their codes, in a column or a level of the "
                'index called template_code; templates("code").plan(frame) is for one of them.'
            )
        codes = [code for code in dict.fromkeys(named) if isinstance(code, str) and code]
        parts = [self(code).base(None).frame for code in codes]
        return Snapshot(beside(codes, parts, "template_code"), whole=True, now=True)

    def full(self, keys: Sequence[tuple[str, str]]) -> pd.DataFrame:
        """Read these contents in full."""
        from chatkit.frame import beside

        codes = list(dict.fromkeys(code for code, _ in keys))
        parts = [self(c).full([lang for code, lang in keys if code == c]) for c in codes]
        return beside(codes, parts, "template_code")
