"""Templates: the localized contents of message templates (API document, Template content)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from chatkit.call import Call
from chatkit.errors import BadAnswer
from chatkit.record import Body, Record
from chatkit.resource import Resource
from chatkit.transport import Transport

if TYPE_CHECKING:
    import pandas as pd


class Content(Record):
    """The text of a template in one language, with everything that belongs to it."""

    listed: ClassVar[tuple[str, ...]] = ("id", "lang_code", "text", "is_draft")

    id: int | None = None
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

    def __init__(self, transport: Transport, code: str) -> None:
        super().__init__(transport)
        self.code = code
        self.path = ("templates", code, "contents")

    def frame(self, *, search: str | None = None, full: bool = False) -> pd.DataFrame:
        """Read the contents into a DataFrame, one row a language, indexed by `lang_code`.

        Args:
            search: Only those that hold this text.
            full: Read each content on its own as well, for all its fields.

        Raises:
            BadAnswer: The list is not as documented.
        """
        return self._frame(self._search(search), full=full)

    def languages(self) -> pd.DataFrame:
        """Read the languages a content may have: `label`, indexed by `code`.

        Raises:
            BadAnswer: The lookup is not as documented.
        """
        from chatkit.frame import Columns, WrongRows

        call = Call("GET", (*self.path, "lookups", "languages"))
        columns = Columns({"code": "text", "label": "text"})
        data = self._transport.send(call).data
        try:
            columns.add(data)
            return columns.frame("code")
        except WrongRows as error:
            raise BadAnswer(call, f"the lookup is not as documented: {error}") from None

    def _required(self) -> list[str]:
        return list(dict.fromkeys(("lang_code", *self._profile.content_requires)))


class Templates:
    """The message templates of the account: `templates("order_ready")` opens one by its code."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def __call__(self, code: str) -> Contents:
        """Open the contents of one template by its code."""
        return Contents(self._transport, code)

    def __repr__(self) -> str:
        return '<templates of the account: templates("code").frame() shows one>'
