"""Whatever the open points are, the facts hold: a profile never makes a service differ.

Ids of text are the one exception: the document says that they are integers.
"""

import pytest
from contract import webhooks
from contract.facts import FACTS
from contract.targets import whole
from profiles import PROFILES

import chatkit

IDS = {"flow_id", "content_id", "contact_id", "webhook_id"}


@pytest.mark.parametrize("profile", PROFILES, ids=map(str, range(len(PROFILES))))
def test_only_ids_of_text_differ(profile, monkeypatch):
    monkeypatch.setattr(webhooks, "DELIVERY_SECONDS", 0.2)
    profile = profile.model_copy(
        update={
            "rate_limit": None,  # it would only take longer
            "update_status": 200,  # a 204 carries no body
            "delete_status": 200,
            # A list without pageSize would be refused for its own default.
            "default_page_size": min(profile.default_page_size, profile.max_page_size),
        }
    )
    with (
        chatkit.Sandbox(profile=profile) as sandbox,
        chatkit.connect(sandbox) as client,
        whole(client, sandbox) as account,
    ):
        differing = {fact.name for fact in FACTS if fact.outcome(account)[0] == "differs"}
    assert differing == (IDS if profile.id_type == "string" else set())
