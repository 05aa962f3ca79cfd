"""The list of facts, and that they hold whatever the open points are.

A profile never makes a service differ. Ids of text are the one exception: the document says
that they are integers.
"""

import re

import pytest
from contract import webhooks
from contract.facts import FACTS, PERMISSIONS
from contract.targets import whole
from profiles import SERVICES

import chatkit
from chatkit.sandbox.service import PERMISSIONS as SANDBOX_PERMISSIONS

IDS = {"flow_id", "content_id", "contact_id", "webhook_id"}


@pytest.mark.parametrize("service", SERVICES, ids=map(str, range(len(SERVICES))))
def test_only_ids_of_text_differ(service, monkeypatch):
    monkeypatch.setattr(webhooks, "DELIVERY_SECONDS", 0.2)
    profile = service.profile.model_copy(update={"rate_limit": None})  # it only takes longer
    # What carries no body, and no pagination, differs from the document.
    quirks = service.quirks - {"no_body", "no_pagination"}
    with (
        chatkit.Sandbox(profile=profile, quirks=quirks) as sandbox,
        chatkit.connect(sandbox) as client,
        whole(client, sandbox) as account,
    ):
        differing = {fact.name for fact in FACTS if fact.outcome(account)[0] == "differs"}
    assert differing == (IDS if "text_ids" in quirks else set())


def test_each_fact_is_a_sentence_of_its_own_from_a_section(shared):
    headings = re.findall(r"^#+ (.+)", (shared / "api.md").read_text(), re.MULTILINE)
    headings.append("Conventions")
    assert sorted(fact.number for fact in FACTS) == list(range(1, len(FACTS) + 1))
    assert set(SANDBOX_PERMISSIONS) == PERMISSIONS
    for fact in FACTS:
        assert re.fullmatch(r"\S.*\w.*\.", fact.sentence)
        section = fact.section.split(",")[0].lower()
        assert any(section in heading.lower() for heading in headings), fact
    assert len({fact.name for fact in FACTS}) == len(FACTS)
    assert len({fact.sentence + fact.section for fact in FACTS}) == len(FACTS)
