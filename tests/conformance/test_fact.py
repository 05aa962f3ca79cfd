"""The list of facts: numbered without a gap, stated in full, told one by one."""

import re

import pytest

from chatkit.conformance import FACTS, contacts, flows, service, templates, webhooks
from chatkit.conformance.fact import Differs, Fact, Facts, NotTold, expect, not_told


def test_facts_are_numbered_from_one_without_a_gap():
    assert [fact.number for fact in FACTS] == list(range(1, len(FACTS) + 1))


def test_each_part_states_its_facts_in_the_order_of_their_numbers():
    resources = (flows, templates, contacts, webhooks)
    for facts in (service.answers, service.access, *(each.facts for each in resources)):
        numbers = [fact.number for fact in facts.all]
        assert numbers == sorted(numbers)


def test_names_and_statements_are_each_their_own():
    assert len({fact.name for fact in FACTS}) == len(FACTS)
    assert len({(fact.section, fact.statement) for fact in FACTS}) == len(FACTS)


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact.name)
def test_each_fact_is_a_sentence_from_a_section(fact, shared):
    assert re.fullmatch(r"\S.*\w.*\.", fact.statement)
    section = fact.section.split(",")[0]
    headings = re.findall(r"^#+ (.+)", (shared / "api.md").read_text(), re.MULTILINE)
    assert any(section.lower() in heading.lower() for heading in headings) or (
        section == "Conventions"
    )


@pytest.mark.parametrize(
    ("check", "state", "seen"),
    [
        (lambda trial: None, "holds", ""),
        (lambda trial: expect(True, "x"), "holds", ""),
        (lambda trial: expect([], "saw none"), "differs", "saw none"),
        (lambda trial: not_told("too dark"), "not told", "too dark"),
    ],
)
def test_an_outcome_is_one_of_three(check, state, seen):
    outcome = Fact(1, "x", "Flow", "X.", check).outcome(None)
    assert (outcome.state, outcome.seen) == (state, seen)


def test_a_bug_in_a_check_is_no_outcome():
    with pytest.raises(ZeroDivisionError):
        Fact(1, "x", "Flow", "X.", lambda trial: 1 / 0).outcome(None)


def test_a_function_is_a_fact():
    class Trial:
        def evidence(self, kind):
            return kind(self)

    facts = Facts(lambda trial: 17)

    @facts(3, "Limits")
    def odd_number(seen: int) -> None:
        """A number
        that is odd."""
        expect(seen % 2, "it is even")

    [fact] = facts.all
    assert (fact.number, fact.name, fact.section) == (3, "odd_number", "Limits")
    assert fact.statement == "A number that is odd."
    assert fact.outcome(Trial()).state == "holds"
    assert issubclass(Differs, Exception)
    assert issubclass(NotTold, Exception)
