"""Every fact of the API document, one test each, against the sandbox and any other service.

CHATKIT_CONTRACT_BASE_URL, _ACCOUNT_ID and _TOKEN name another service to hold against the
facts; CHATKIT_CONTRACT_ALLOW_WRITES=1 lets marked records be created there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from bent import hooks

import chatkit
from chatkit.conformance import FACTS, Fact, Outcome, run

BODILESS = {
    "update_flow", "delete_flow", "update_content", "delete_content",
    "update_contact", "delete_contact", "update_webhook", "delete_webhook",
}  # fmt: skip

#: Profiles that leave every stated fact true, with the facts that cannot be told under them.
PROFILES: dict[str, tuple[chatkit.ServiceProfile, set[str]]] = {
    "usual": (chatkit.ServiceProfile(), set()),
    "bodiless": (chatkit.ServiceProfile(update_status=204, delete_status=204), BODILESS),
    "replacing": (
        chatkit.ServiceProfile(
            put="replace",
            put_requires="create_fields",
            unknown_fields="refuse",
            error_body="text",
            page_base=0,
            name_split="first_last",
            duplicate_content="replace",
            number_input="refuse",
            contact_key="country_code_and_number",
            search_param="q",
            status_param="wa_status",
            restore_keeps="nothing",
            inactive_in_lists=True,
            inactive_readable=True,
            second_delete="ok",
            patch_echoes_secret=True,
            duplicate_webhook_url="allow",
        ),
        set(),
    ),
    "terse": (
        chatkit.ServiceProfile(
            error_body="empty",
            unauthenticated_status=403,
            forbidden_status=404,
            not_found_status=410,
            validation_status=400,
            update_status=201,
            status_code_in_body=False,
            eleventh_webhook_status=403,
            duplicate_content="invalid",
            unknown_template="not_found",
            duplicate_flow_name="refuse",
            timestamps="second",
            updated_at_moves=False,
            name_split="first_only",
            tags="objects",
            flow_json_in_get=False,
            page_past_end="refuse",
        ),
        {"status_code", "update_changes_the_document"},
    ),
    "nameless": (
        chatkit.ServiceProfile(search_param=None, status_param=None, error_body="html"),
        {"status_filter", "search_contents", "search_by_number", "search_by_name"},
    ),
}
ELSEWHERE = os.environ.get("CHATKIT_CONTRACT_BASE_URL")
TARGETS = [
    *(f"{name}, in process" for name in PROFILES),
    "usual, over HTTP",
    *(["elsewhere"] if ELSEWHERE else []),
]
#: Outcomes by number, and the states that are right for a fact, if not only "holds".
Found = tuple[dict[int, Outcome], dict[str, tuple[str, ...]]]


@pytest.fixture(scope="session", params=TARGETS)
def found(request: pytest.FixtureRequest) -> Iterator[Found]:
    """What one run found, and what is right there."""
    if request.param == "elsewhere":
        account_id, token = (os.environ[f"CHATKIT_CONTRACT_{n}"] for n in ("ACCOUNT_ID", "TOKEN"))
        writes = os.environ.get("CHATKIT_CONTRACT_ALLOW_WRITES") == "1"
        with chatkit.Client(str(ELSEWHERE), account_id, token) as client:
            outcomes = run(client, allow_writes=writes).outcomes
        yield (
            {o.fact.number: o for o in outcomes},
            {fact.name: ("holds", "not told") for fact in FACTS},
        )
        return
    profile, untold = PROFILES[request.param.split(",")[0]]
    with chatkit.Sandbox(profile=profile) as sandbox:
        if request.param.endswith("HTTP"):
            with (
                sandbox.serve() as base_url,
                chatkit.Client(base_url, sandbox.account_id, sandbox.token) as client,
            ):
                report = run(client, **hooks(sandbox))
        else:
            with chatkit.connect(sandbox) as client:
                report = run(client, **hooks(sandbox))
    assert not report.left
    yield {o.fact.number: o for o in report.outcomes}, dict.fromkeys(untold, ("not told",))


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: f"{fact.number:03}-{fact.name}")
def test_fact(fact: Fact, found: Found) -> None:
    outcomes, expected = found
    outcome = outcomes[fact.number]
    states = expected.get(fact.name, ("holds",))
    assert outcome.state in states, f"{fact.statement} ({fact.section}): {outcome.seen}"
