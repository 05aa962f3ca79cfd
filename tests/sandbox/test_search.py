"""Search and pages: whatever was written, they show what a plain list would."""

import random
from urllib.parse import quote

import pytest
from caller import Caller
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from internals import store_of
from volume import volume

from chatkit.sandbox import Sandbox

LETTERS = st.text(st.sampled_from("abAB ßẞİıéÉ%_\"'*\0\n-+19۱山"), max_size=8)
DIGITS = st.text(st.sampled_from("0123"), min_size=1, max_size=12)
TERMS = LETTERS.filter(bool) | DIGITS | DIGITS.map("+1".__add__)


class Contact:
    def __init__(self, name: str, number: str) -> None:
        self.name, self.number, self.active = name, number, True

    def holds(self, term: str) -> bool:
        folded = term.casefold()
        return folded in self.name.casefold() or folded in "+1" + self.number


class Account(RuleBasedStateMachine):
    """Contacts in a sandbox, and the same in a dictionary."""

    @initialize()
    def begin(self) -> None:
        self.sandbox = Sandbox(seed="empty")
        self.call = Caller(self.sandbox)
        self.contacts: dict[int, Contact] = {}

    def teardown(self) -> None:
        if hasattr(self, "sandbox"):
            self.sandbox.close()

    def listed(self) -> list[int]:
        return sorted(at for at, contact in self.contacts.items() if contact.active)

    def active(self, number: str, but: int | None = None) -> bool:
        return any(
            contact.number == number and contact.active and at != but
            for at, contact in self.contacts.items()
        )

    @rule(name=LETTERS, number=DIGITS)
    def create(self, name: str, number: str) -> None:
        taken = self.active(number)
        body = {"number": number, "country_code": "+1", "name": name}
        reply = self.call("POST", "/contacts", body)
        assert reply.status == (409 if taken else 201)
        if not taken:
            known = self.contacts.get(reply.data["id"])
            assert known is None or (known.number == number and not known.active)
            self.contacts[reply.data["id"]] = Contact(name, number)

    @rule(data=st.data(), name=st.none() | LETTERS, number=st.none() | DIGITS)
    def update(self, data: st.DataObject, name: str | None, number: str | None) -> None:
        if not self.listed():
            return
        at = data.draw(st.sampled_from(self.listed()))
        taken = number is not None and self.active(number, but=at)
        sent = {"name": name, "number": number}
        body = {field: value for field, value in sent.items() if value is not None}
        assert self.call("PUT", f"/contacts/{at}", body).status == (409 if taken else 200)
        if not taken:
            contact = self.contacts[at]
            contact.name = contact.name if name is None else name
            contact.number = number or contact.number

    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        if self.listed():
            at = data.draw(st.sampled_from(self.listed()))
            assert self.call("DELETE", f"/contacts/{at}").status == 200
            self.contacts[at].active = False

    @rule()
    def lose_what_is_not_committed(self) -> None:
        store_of(self.sandbox).rollback()

    @rule(term=TERMS, size=st.integers(1, 4))
    def search(self, term: str, size: int) -> None:
        expected = [at for at in self.listed() if self.contacts[at].holds(term)]
        result = self.pages(f"&search={quote(term)}", size, len(expected))
        assert result == expected

    @rule(size=st.integers(1, 4))
    def read_all_pages(self, size: int) -> None:
        assert self.pages("", size, len(self.contacts)) == self.listed()

    def pages(self, query: str, size: int, most: int) -> list[int]:
        result: list[int] = []
        for page in range(1, most // size + 2):
            reply = self.call("GET", f"/contacts?page={page}&pageSize={size}{query}")
            result += [contact["id"] for contact in reply.data]
        assert reply.total == len(result)
        return result

    @invariant()
    def the_total_is_true(self) -> None:
        if hasattr(self, "contacts"):
            assert self.call("GET", "/contacts").total == len(self.listed())


TestAccount = Account.TestCase
TestAccount.settings = settings(
    max_examples=volume(40),
    stateful_step_count=30,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def call():
    """A thousand contacts whose numbers share long parts, among them one with a rare name."""
    choice = random.Random(7)
    first, last = ["Ana", "Bo", "Cem", "Dörte", "Eva"], ["Ruiz", "Straße", "Kaya", "O'Neil"]
    with Sandbox(seed="empty") as sandbox:
        call = Caller(sandbox)
        for at in range(1000):
            name = f"{choice.choice(first)} {choice.choice(last)}" if at != 700 else "Zyxw Qvu"
            call.contact(f"90000{at:05}", "+44", name=name)
        yield call


@pytest.mark.parametrize(
    ("term", "hits"),
    [
        ("zyxw", 1), ("ZYXW Q", 1), ("yxw", 1), ("xw q", 1), ("xw  q", 0), ("Zyxw_Qvu", 0),
        ("%", 0), ("9000000700", 1), ("449000000700", 1), ("+449000000700", 1), ("+44 9000", 0),
        ("00700", 1), ("700", 1), ("+44", 1000), ("44", 1000), ("4", 1000), ("90000007", 100),
        ("449000", 1000), ("9000000700 ", 0), ("+9000000700", 0), ("0" * 30, 0),
        ("z" * 10_000, 0), ("a b", 0), ("", 1000), ("straße", 256), ("STRASSE", 256),
        ("DÖRTE STRASSE", 48),
    ],
)  # fmt: skip
def test_terms_are_literal_and_their_case_does_not_matter(call, term, hits):
    assert call("GET", f"/contacts?search={quote(term)}").total == hits
