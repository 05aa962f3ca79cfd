"""Claims: contacts that a trial creates under numbers reserved for fiction."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from chatkit.conformance.fact import not_told
from chatkit.conformance.reply import Reply
from chatkit.conformance.trial import MARK, Caller, Trial

PATH = ("contacts",)
CODE = "+1"
# Within each of these area codes, 555-0100 to 555-0199 belong to nobody.
_AREAS = (
    201, 202, 206, 212, 213, 215, 303, 305, 312, 313, 314, 404, 410, 412, 415, 416, 503, 504, 512,
    513, 514, 602, 604, 612, 613, 614, 615, 617, 619, 702, 703, 713, 718, 786, 801, 802, 804, 808,
    816, 818, 901, 902, 904, 907, 916, 917, 919, 971, 972, 985,
)  # fmt: skip
_TRIES = 8


def fiction_numbers() -> Iterator[str]:
    """Numbers reserved for fiction, in an order by chance."""
    chance = random.SystemRandom()
    while True:
        yield f"{chance.choice(_AREAS)}55501{chance.randrange(100):02}"


def body(number: str, code: str = CODE, **more: str) -> dict[str, Any]:
    """The body of a create or an update."""
    return {"number": number, "country_code": code, **more}


def name_of(contact: dict[str, Any]) -> str:
    """The parts of a contact's name, joined."""
    parts = [contact.get(f) for f in ("first_name", "middle_name", "last_name")]
    return " ".join([part for part in parts if type(part) is str and part])


class Claim(NamedTuple):
    """A contact that a trial created, and so may change. No id: the create brought none."""

    reply: Reply
    number: str
    id: Any

    def sure(self) -> Claim:
        """The claim itself; `NotTold` when there is no contact."""
        return self if self.id is not None else not_told(self.reply.outcome)


class Claims:
    """Makes contacts for a trial, under numbers that nobody has."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._call = trial.caller
        self._search = trial.profile.search_param

    def new(self, style: str = "{}{}{}", code: str = CODE, by: Caller | None = None) -> Claim:
        """Create a contact under a number that nobody had.

        It is named only when it is there: a create restores an inactive contact of the number,
        and a name would change it. One of somebody else is made inactive again at once.
        """
        for _ in range(_TRIES):
            number = self.free_number()
            sent = style.format(number[:3], number[3:6], number[6:])
            reply = (by or self._call).create(PATH, body(sent, code))
            if reply.status == 409:
                continue  # somebody's, and the search did not show it
            claim = Claim(reply, number, reply.data.get("id") if reply.has_object else None)
            if claim.id is None:
                return claim
            if self._is_own(claim):
                named = body(sent, code, name=self._trial.marker)
                self._call.change("PUT", (*PATH, claim.id), named)
                return claim
            self._call.delete(*PATH, claim.id)
            self._trial.contacts.discard(claim.id)
            self._trial.notes.append(
                f"The inactive contact {claim.id} of somebody else was restored by a create with "
                "its number, and was made inactive again at once."
            )
        not_told("no number reserved for fiction was free")

    def free_number(self) -> str:
        """A number that no active contact has, as far as a search can tell."""
        whole = self._trial.profile.number_form == "international"
        digits = CODE.removeprefix("+") if whole else ""
        for _, free in zip(range(_TRIES), fiction_numbers(), strict=False):
            number = digits + free
            if not self._search or not self._call.get(*PATH, **{self._search: number}).data:
                return number
        not_told("no number reserved for fiction was free")

    def _is_own(self, claim: Claim) -> bool:
        """Whether a contact is new, or was left inactive by an earlier trial."""
        reply = self._call.get(*PATH, claim.id)
        if not reply.has_object:
            return True
        name = name_of(reply.data)
        born, touched = (_seconds(reply.data.get(f)) for f in ("created_at", "updated_at"))
        return name.startswith(MARK) or (not name and abs(touched - born) <= 2)


def _seconds(text: Any) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except (TypeError, ValueError):
        return 0.0
