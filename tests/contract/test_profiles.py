"""Whatever the open points are, the facts hold: a profile never makes a service differ.

Ids of text are the one exception: the document says that they are integers.
"""

import pytest
from contract import webhooks
from contract.facts import FACTS
from contract.targets import whole
from profiles import SERVICES

import chatkit

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
