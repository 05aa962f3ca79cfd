"""Contacts: telephone numbers with names (API document, Contacts)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import AfterValidator, Field

from chatkit.api.answer import Envelope
from chatkit.api.call import Call
from chatkit.api.record import Body, Id, Record
from chatkit.bulk.changes import Change
from chatkit.bulk.endpoints import Endpoints, Key, ReadFull, Undo
from chatkit.errors import CallError, Refused
from chatkit.resource import Resource

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.imports.quality import Quality
    from chatkit.numbers import Plus
    from chatkit.report import Finding

_NAME_PARTS = ("first_name", "middle_name", "last_name")


class Contact(Record):
    """A telephone number with a name. `name` joins the three parts that the service keeps."""

    listed: ClassVar[tuple[str, ...]] = (
        "id", "first_name", "middle_name", "last_name", "meta_name", "number", "country_code",
        "wa_phone_id", "created_at", "updated_at", "created_by", "updated_by", "ai_mode", "tags",
    )  # fmt: skip

    id: Id
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


def _validate_number(text: str) -> str:
    """Refuse a number that is not digits only, with the number to write."""
    from chatkit.numbers import NO_NUMBERS, split

    if not re.search("[0-9]", text):
        raise ValueError("must be digits only: not a telephone number")
    if re.fullmatch("[0-9]+", text):
        return text
    step = "leave out spaces and signs; the country code goes into country_code"
    number = split(text)
    if number.e164:  # certain
        step = f"write country_code={number.country_code!r}, number={number.number!r}"
    elif number.verdict in NO_NUMBERS:
        step = "; it may be ".join(filter(None, (number.reason, number.suggestion)))
    raise ValueError(f"must be digits only (Contacts, rule 1): {step}")


def _validate_country_code(text: str) -> str:
    """Refuse a country code that is not a + and digits."""
    if not re.fullmatch("[+][0-9]+", text):
        digits = text.strip().removeprefix("00")
        whole = re.fullmatch("[1-9][0-9]{0,2}", digits)
        step = f": write '+{digits}'" if whole else ", like '+91'"
        raise ValueError(f"must be a + and digits (Contacts, rule 1){step}")
    return text


def _strip_country_code(number: str, country_code: str) -> str:
    """Return a number without the digits of its country code, if it begins with them."""
    return number.removeprefix(country_code.removeprefix("+")) or number


def _strip_country_codes(numbers: Sequence[Any], codes: Sequence[Any]) -> list[Any]:
    """Return numbers without the digits of their country codes; other types stay."""
    return [
        _strip_country_code(number, code)
        if isinstance(number, str) and isinstance(code, str)
        else number
        for number, code in zip(numbers, codes, strict=True)
    ]


class ContactBody(Body):
    """The fields that may be sent of a contact."""

    number: Annotated[str, AfterValidator(_validate_number)] = Field(
        description="The number without its country code: digits only."
    )
    country_code: Annotated[str, AfterValidator(_validate_country_code)] = Field(
        description="The country code with its +, like '+91'."
    )
    name: str = Field(
        "", description="The whole name. The service splits it into first, middle and last name."
    )


class ContactEndpoints(Endpoints[Contact]):
    """The endpoints of contacts: numbers with country codes, and names of three parts."""

    path = ("contacts",)
    noun, attribute = "contact", "contacts"
    record = Contact
    body = ContactBody
    unique = True
    restores = True
    natural_key = account_key = ("country_code", "number")
    separator = " "
    file, personal = "contacts.csv", True
    lossy_fields = _NAME_PARTS
    refuses = "No country can have such a number."
    when_long = (
        "The stop button ends it, and nothing is left of it; what "
        "client.contacts.to_parquet(folder) has read stays, and it goes on from there."
    )
    file_call = "chatkit.read_contacts({})"
    as_text_advice = "read the file with chatkit.read_contacts(path), which keeps every digit"
    labels: ClassVar[Mapping[str, str]] = {
        "number": "Phone number",
        "ref_id": "Reference",
        "meta_name": "Platform name",
        "wa_phone_id": "Platform ID",
    }
    instead: ClassVar[Mapping[str, str]] = dict.fromkeys(
        _NAME_PARTS,
        "edit name, the whole of it: the service splits it (Contacts, rule 2)",
    )

    def redirect_text(self, name: str, text: str) -> Mapping[str, Any]:
        """Split a whole number, like '+49 151 2345678', into country code and number."""
        from chatkit.numbers import split

        if name not in self.natural_key or not re.search("[+＋].*[0-9]{3}", text):
            return {}
        parts = split(text)
        if parts.verdict not in ("valid", "reserved") or parts.e164 is None:
            return {}
        return {"country_code": parts.country_code, "number": parts.number}

    def next_step(self, error: Refused, key: Key | None, body: Mapping[str, Any]) -> str:
        """Name the contact that has the number."""
        if error.status not in (409, self.profile.clash_status) or "number" not in body:
            return super().next_step(error, key, body)
        holder = self._find_holder(body)
        if holder is None:
            return "client.contacts.frame() shows who has the number."
        named = f", {holder.name!r:.60}," if holder.name else ""
        return (
            f"Contact {holder.id}{named} has {holder.country_code} {holder.number}: change that "
            f"one with client.contacts.update({holder.id}, …), or update it by a plan: "
            'client.contacts.plan([{…}], existing="update").'
        )

    def _find_holder(self, body: Mapping[str, Any]) -> Contact | None:
        """Search for the contact with the number of a body; None if the list cannot show it."""
        if self.profile.search_param is None:
            return None
        call = self.list_call(filters=self.search(str(body["number"])))
        named = [name for name in self.list_name_fields() if name in body]
        with suppress(CallError):
            for one in self.parse_records(call, self.transport.send(call).data):
                if all(getattr(one, name) == body[name] for name in named):
                    return one
        return None

    # --- the form of a number -------------------------------------------------------

    @property
    def _is_international(self) -> bool:
        """True if numbers of this service begin with the digits of their country code."""
        return self.profile.number_form == "international"

    def _convert_from_service(self, records: list[Contact]) -> list[Contact]:
        """Strip the country codes from the numbers of a service that has them there."""
        if not self._is_international:
            return records
        return [
            one.model_copy(update={"number": _strip_country_code(one.number, one.country_code)})
            if one.number and one.country_code
            else one
            for one in records
        ]

    def _normalize(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Strip the country codes from the column of numbers, where the service has them there."""
        if not self._is_international or not {"number", "country_code"} <= {*frame.columns}:
            return frame
        numbers = _strip_country_codes(frame["number"].tolist(), frame["country_code"].tolist())
        cells = frame["number"].array
        return frame.assign(number=type(cells)._from_sequence(numbers, dtype=cells.dtype))

    def _format_body(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Put the country code before the number, where the service has it there."""
        if not self._is_international or not {"number", "country_code"} <= {*body}:
            return body
        return {**body, "number": body["country_code"].removeprefix("+") + body["number"]}

    @cached_property
    def repeats(self) -> bool:
        """Return whether an update repeats fields: a whole number needs its country code."""
        return self.puts_whole or self._is_international

    def check_record(
        self, fields: Mapping[str, Any], live: Mapping[str, Any] | None
    ) -> list[Finding]:
        """Check the name and the number of a contact, if they are sent."""
        from chatkit.imports.quality import find_unusual_contacts

        code, number = ({**(live or {}), **fields}.get(name) for name in self.natural_key)
        pairs = {}
        if not fields.keys().isdisjoint(self.natural_key) and code and number:
            pairs[0] = code, number
        return find_unusual_contacts({0: fields.get("name")}, pairs).get(0, [])

    def needs_live_record(self, fields: Mapping[str, Any]) -> bool:
        """Return whether a number is sent without its country code, or a country code alone."""
        return len(fields.keys() & {*self.natural_key}) == 1

    def check_changes(
        self, changes: Sequence[Change], base: pd.DataFrame, full: ReadFull
    ) -> Mapping[int, Sequence[Finding]]:
        """Check the names and numbers of all contacts that are sent, column by column."""
        from chatkit.imports.quality import find_similar_numbers, find_unusual_contacts

        sent = {n: each.after for n, each in enumerate(changes) if each.kind != "delete"}
        names = {n: after["name"] for n, after in sent.items() if "name" in after}
        halves = [n for n, after in sent.items() if self.needs_live_record(after)]
        live: dict[int, Mapping[Any, Any]] = {}
        if halves:
            keys: Any = [changes[n].key for n in halves]
            cells = base[list(self.natural_key)].iloc[base.index.get_indexer_for(keys)]
            live = dict(zip(halves, cells.to_dict("records"), strict=True))
        numbers: dict[int, tuple[str, str]] = {}
        for n, after in sent.items():
            if not after.keys().isdisjoint(self.natural_key):
                code, number = ({**live.get(n, {}), **after}[name] for name in self.natural_key)
                if isinstance(code, str) and isinstance(number, str):
                    numbers[n] = code, number
        findings = find_unusual_contacts(names, numbers)
        ids = {n: changes[n].key for n in numbers if changes[n].kind == "update"}
        for place, finding in find_similar_numbers(numbers, ids, base, self.list_name_fields()):
            findings.setdefault(place, []).append(finding)
        return findings

    def _finish_frame(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Add the joined name, unless the service shows one."""
        from chatkit.frames.frame import join_name_columns

        if "name" in frame:
            return frame
        frame.insert(0, "name", join_name_columns(frame, _NAME_PARTS))
        return frame

    def sendable(self, live: Contact) -> dict[str, Any]:
        """Return what an update sends; a replacing one must repeat the joined name."""
        has_name = not {*_NAME_PARTS, "name"}.isdisjoint(live.model_fields_set)
        return super().sendable(live) | ({"name": live.name} if has_name else {})

    def select_fields_to_repeat(self, live: Contact) -> dict[str, Any]:
        """Leave out an absent name, which cannot be sent as null."""
        return {n: v for n, v in super().select_fields_to_repeat(live).items() if v is not None}

    def make_existence_call(self, key: Key, live: Mapping[str, Any]) -> Call:
        """Make a call for the list where an inactive contact can still be read."""
        profile = self.profile
        listed = profile.search_param is not None and not profile.inactive_in_lists
        if not (profile.inactive_readable and listed) or "number" not in live:
            return super().make_existence_call(key, live)
        return self.list_call(filters=self.search(str(live["number"])))

    def record_exists(self, call: Call, envelope: Envelope, key: Key) -> bool | None:
        """Return whether a contact is active; None where deleted ones look the same."""
        if call.segments == self.path:  # it was searched for
            listed = any(contact.id == key for contact in self.parse_records(call, envelope.data))
            more = envelope.pagination is not None and envelope.pagination.total_pages > 1
            return listed or (None if more else False)
        super().record_exists(call, envelope, key)
        return None if self.reads_deleted else True

    @property
    def lists_deleted(self) -> bool:  # type: ignore[override]
        """True if the list shows inactive contacts too, as the profile says."""
        return self.profile.inactive_in_lists

    @property
    def reads_deleted(self) -> bool:  # type: ignore[override]
        """True if an inactive contact can still be read, as the profile says."""
        return self.profile.inactive_readable

    def list_name_fields(self) -> tuple[str, ...]:
        """Return the fields that identify a contact; the country code if the service uses it."""
        apart = self.profile.contact_key == "number" and not self._is_international
        return ("number",) if apart else self.natural_key

    def undo(self, kind: str, known: Mapping[str, Any], after: Mapping[str, Any]) -> Undo:
        """Return how well a change can be undone: names are split, deletions make inactive."""
        if kind == "create":
            return "not exactly", "a contact cannot be removed: undoing makes it inactive"
        repeated = kind == "delete" or "name" in after or self.puts_whole
        if repeated and self.split_name_again(known) is not None:
            return "not exactly", "its name would be split into other parts than it has now"
        if kind == "delete" and self.profile.restore_keeps == "nothing":
            return "not exactly", "restoring keeps its number and name, but no tags and no ai_mode"
        return super().undo(kind, known, after)

    def explain_immutable(
        self, fields: Mapping[str, Any], live: Mapping[str, Any] | None
    ) -> tuple[str, str] | None:
        """Return why the name parts in `fields` cannot be set, and the name (Contacts, rule 2)."""
        if not {*_NAME_PARTS} <= fields.keys():
            return None
        name = fields.get("name")
        if live is None:
            if not name or not (then := self.split_name_again(fields)):
                return None
            why = "Names that the service splits into other parts than they have"
            return why, f"{name} ({' | '.join(filter(None, then))})"
        parts = [[record.get(part) or None for part in _NAME_PARTS] for record in (fields, live)]
        pairs = zip((fields, live), parts, strict=True)
        if parts[0] == parts[1] or any(each.get("name") and not any(own) for each, own in pairs):
            return None
        why = "Names that the account has in other parts; no call can set these, so they stay"
        return why, str(name)

    def split_name_again(self, parts: Mapping[str, Any]) -> tuple[str, ...] | None:
        """Return the parts that a name would get if it was sent again; None for the same."""
        get = parts.get  # asked for each of a million rows
        now = (get("first_name") or "", get("middle_name") or "", get("last_name") or "")
        first, middle, last = now
        plain = first and not middle and " " not in first + last
        if plain and self.profile.name_split != "first_only":  # most are
            return None
        words = " ".join(filter(None, now)).split(" ")
        match self.profile.name_split:
            case "first_only":
                then = (" ".join(words), "", "")
            case "first_last":
                then = (words[0], "", " ".join(words[1:]))
            case _:
                end = words[-1] if len(words) > 1 else ""
                then = (words[0], " ".join(words[1:-1]), end)
        return None if then == now else then


class Contacts(Resource[Contact], endpoints=ContactEndpoints):
    """The contacts of the account.

    Deleting makes a contact inactive; creating the same number again restores it.

    Each number and name is checked before it is sent, as `check` does. A number that no country
    can have is not sent, unless you say `broken=True`; all else is told.

    >>> frame = client.contacts.frame(search="Oliver")
    >>> frame.loc[50001, "name"] = "Oliver Jones"
    >>> client.contacts.plan(frame).counts
    {'create': 0, 'update': 1, 'delete': 0}
    """

    _endpoints: ContactEndpoints

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
        return self._frame(self._endpoints.search(search), full=full)

    def to_parquet(self, folder: str | PathLike[str]) -> int:
        """Read all contacts into a folder of Parquet files, and return how many they are.

        The memory that it takes does not grow with the account. Stopped or killed, it goes on
        where it was when it is called again; a folder that is complete is left as it is. The files
        are for you alone, and hidden until all contacts are there.

        `pandas.read_parquet(folder)` has the columns and types of `frame()`, indexed by id, and
        can be edited and planned like it. DuckDB, Polars and Dask read `folder/*.parquet`. `tags`
        are a list of texts; fields that the API does not document are JSON texts.

        Args:
            folder: A new folder, or one in which this was stopped.

        Raises:
            InputError: The folder holds other files or another account; or the list has changed
                since it was stopped, so that contacts would be missing or doubled.
            StoreError: A part is damaged or missing, or cannot be written.
            BadAnswer: The list is not as documented.

        >>> client.contacts.to_parquet("contacts")
        250
        >>> import pandas
        >>> pandas.read_parquet("contacts", filters=[("country_code", "==", "+33")]).shape
        (29, 14)
        """
        from chatkit.imports.parquet import write_parquet

        return write_parquet(self._endpoints, folder)

    def check(
        self, frame: pd.DataFrame, *, region: str | None = None, plus: Plus | None = None
    ) -> Quality:
        """Look for what is wrong in a frame of contacts; nothing is changed or sent.

        It finds numbers that are none, or not written as they are sent; duplicates in the
        frame and in the account; names with characters that are not seen or not what they
        seem. The account is read once at most. `fix()` of the result takes the safe suggestions.

        Args:
            frame: What `chatkit.read_contacts` or `frame()` gave, edited or not.
            region: Where numbers without a country code are dialled: 'IN', '+91', or a column
                of the frame that names a country in each row, like 'Country'.
            plus: What is so of all numbers without a +: "lost", they are international, and a
                spreadsheet took their +; "unused", they are as people at home dial them, though
                the 0 at their beginning may be lost. Without it a number that can be both is
                shown with both readings and left as it is.

        Raises:
            InputError: It is no frame of contacts, or there is no such region.
        """
        from chatkit.imports.quality import check_contacts

        return check_contacts(self._endpoints, frame, region, plus)
