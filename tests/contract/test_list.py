"""The list of facts: numbered without a gap, a sentence each, from a section of the document."""

import re

from contract.facts import FACTS, PERMISSIONS

from chatkit.sandbox.service import PERMISSIONS as SANDBOX_PERMISSIONS


def test_numbers_have_no_gap():
    assert sorted(fact.number for fact in FACTS) == list(range(1, len(FACTS) + 1))


def test_each_fact_is_a_sentence_of_its_own_from_a_section(shared):
    headings = re.findall(r"^#+ (.+)", (shared / "api.md").read_text(), re.MULTILINE)
    headings.append("Conventions")
    for fact in FACTS:
        assert re.fullmatch(r"\S.*\w.*\.", fact.sentence)
        section = fact.section.split(",")[0].lower()
        assert any(section in heading.lower() for heading in headings), fact
    assert len({fact.name for fact in FACTS}) == len(FACTS)
    assert len({fact.sentence + fact.section for fact in FACTS}) == len(FACTS)


def test_client_and_sandbox_have_the_same_permissions():
    assert set(SANDBOX_PERMISSIONS) == PERMISSIONS
