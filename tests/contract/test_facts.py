"""Every fact of the API document, a test each.

`make test` checks them against sandboxes, `make contract NAME=staging` against an account.
"""

import pytest
from contract.account import Account
from contract.fact import Fact
from contract.facts import FACTS


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: f"{fact.number:03}-{fact.name}")
def test_fact(fact: Fact, account: Account, pytestconfig: pytest.Config) -> None:
    state, reason = fact.outcome(account)
    if state == "unknown" and pytestconfig.getoption("account", None):
        pytest.skip(reason)
    if state != "holds":
        pytest.fail(reason, pytrace=False)
