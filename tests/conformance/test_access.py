"""Facts about access: a permission that is forgotten, or too many that are asked for."""

import pytest
from bent import ALL_TOKEN, Exchange, broken, differing, unlocked

from chatkit.conformance.service import PERMISSIONS
from chatkit.sandbox.request import PERMISSIONS as SANDBOX_PERMISSIONS


def no_token_needed(x: Exchange) -> None:
    if "chatkit-conformance" in x.headers["authorization"]:
        x.headers["authorization"] = ALL_TOKEN


def locked(room: str, verb: str):
    """Refuse an operation to everybody who has only the one permission that it needs."""
    seen: list[str] = []

    def after(x: Exchange) -> None:
        token = x.headers["authorization"]
        if x.of(room, verb) and x.status == 403:
            seen.append(token)
        elif x.of(room, verb) and seen and token not in seen and x.envelope:
            x.status, x.envelope, x.body = 403, {}, b""

    return after


@pytest.mark.one_of(3)
@pytest.mark.parametrize(
    ("facts", "before", "after"),
    [
        broken("any token will do", "bearer_token", before=no_token_needed),
        broken("languages are for all", "needs_chat_templates_view",
               before=unlocked("templates", "languages")),
        broken("flows are for all", "needs_chat_flows_view", before=unlocked("flows", "get")),
        broken("webhooks are listed for all", "needs_chat_detail_view bearer_token",
               before=unlocked("webhooks", "list")),
        broken("all may create", "needs_chat_flows_add needs_chat_templates_add "
               "needs_chat_contacts_add needs_chat_detail_edit", before=unlocked("any", "create")),
        broken("all may update webhooks", "needs_chat_detail_edit",
               before=unlocked("webhooks", "update")),
        broken("all may update", "needs_chat_flows_edit needs_chat_templates_edit "
               "needs_chat_contacts_edit needs_chat_detail_edit", before=unlocked("any", "update")),
        broken("all may delete", "needs_chat_flows_delete needs_chat_templates_delete "
               "needs_chat_contacts_delete needs_chat_detail_delete",
               before=unlocked("any", "delete")),
        broken("creating a flow needs more", "needs_chat_flows_add",
               after=locked("flows", "create")),
        broken("deleting a contact needs more", "needs_chat_contacts_delete",
               after=locked("contacts", "delete")),
    ],
)  # fmt: skip
def test_a_broken_fact_is_found(facts, before, after):
    assert differing(before, after) == facts


def test_client_and_sandbox_read_the_same_permissions():
    assert set(SANDBOX_PERMISSIONS) == PERMISSIONS
