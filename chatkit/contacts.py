"""Contacts: telephone numbers with names (API document, Contacts)."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import AfterValidator, Field

from chatkit.record import Body, Record
from chatkit.resource import Resource

if TYPE_CHECKING:
    import pandas as pd


class Contact(Record):
    """A telephone number with a name. `name` joins the three parts that the service keeps."""

    listed: ClassVar[tuple[str, ...]] = (
        "id", "first_name", "middle_name", "last_name", "meta_name", "number", "country_code",
        "wa_phone_id", "created_at", "updated_at", "created_by", "updated_by", "ai_mode", "tags",
    )  # fmt: skip

    id: int
    ref_id: Any = None
    first_name: str | None = None
    middle_name: str | None = None
    last_name: str | None = None
    meta_name: str | None = None
    number: str | None = None
    country_code: str | None = None
    wa_phone_id: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    created_by: str | None = None
    updated_by: str | None = None
    ai_mode: str | None = None
    tags: Any = None

    @property
    def name(self) -> str | None:
        """The parts of the name joined by spaces, or None without a name."""
        if whole := (self.model_extra or {}).get("name"):  # a service that shows it whole
            return str(whole)
        return " ".join(filter(None, (self.first_name, self.middle_name, self.last_name))) or None


def _digits(text: str) -> str:
    if not re.fullmatch("[0-9]+", text):
        raise ValueError("must be digits only, without the country code (Contacts, rule 1)")
    return text


def _country_code(text: str) -> str:
    if not re.fullmatch("[+][0-9]+", text):
        raise ValueError("must be a + and digits, like '+91' (Contacts, rule 1)")
    return text


class ContactBody(Body):
    """What may be sent of a contact."""

    number: Annotated[str, AfterValidator(_digits)] = Field(
        description="The number without its country code: digits only."
    )
    country_code: Annotated[str, AfterValidator(_country_code)] = Field(
        description="The country code with its +, like '+91'."
    )
    name: str = Field(
        "", description="The whole name. The service splits it into first, middle and last name."
    )


class Contacts(Resource[Contact]):
    """The contacts of the account.

    Deleting makes a contact inactive; creating the same number again restores it.
    """

    path = ("contacts",)
    noun = "contact"
    record = Contact
    body = ContactBody

    def frame(self, *, search: str | None = None, full: bool = False) -> pd.DataFrame:
        """Read the contacts into a DataFrame, one row each, indexed by id.

        Texts are `str`, times are UTC, `tags` are Python objects. `name` joins the three
        parts of the name.

        Args:
            search: Only those whose name or number holds this text.
            full: Read each contact on its own as well, for `ref_id`.

        Raises:
            BadAnswer: The list is not as documented.
        """
        return self._frame(self._search(search), full=full)

    def _finished(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Join the parts of the name, unless the service begins to do so itself."""
        from chatkit.frame import join_words

        if "name" in frame:
            return frame
        parts = ("first_name", "middle_name", "last_name")
        whole = frame.pop("name") if "name" in frame else join_words(frame, parts)
        frame.insert(0, "name", whole)
        return frame

    def _sendable(self, live: Contact) -> dict[str, Any]:
        """A replacing update must repeat the name, and only the joined name can be sent."""
        return super()._sendable(live) | ({"name": live.name} if live.name else {})
