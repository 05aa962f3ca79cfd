"""Tests of the first call of a row: records are read before a write, new ones sent at once."""

from __future__ import annotations

import pytest
from bulk.operations import OPERATIONS, Operation
from bulk.wayward import plan_of, wayward


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_all_is_read_before_it_is_written_but_what_has_no_key_yet(operation: Operation) -> None:
    """A content is called by its language, so it can be read before it is made."""
    with wayward() as service, service.client() as client:
        change = operation.begin(service)
        service.sent.clear()
        plan_of(operation.endpoints(client), [change]).apply(irreversible=True)
    new = operation.verb == "create" and operation.noun != "content"
    assert service.sent[0].method == (operation.method if new else "GET")
