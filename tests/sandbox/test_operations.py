"""The table of operations is that of the API document."""

import re

from chatkit.sandbox.service import OPERATIONS, PERMISSIONS


def test_the_operations_are_those_of_the_document(shared):
    document = (shared / "api.md").read_text()
    rows = re.findall(r"^\| (GET|POST|PUT|PATCH|DELETE) \| `<P>(\S+)` \|", document, re.MULTILINE)
    assert len(rows) == 20
    assert sorted((o.method, o.path) for o in OPERATIONS) == sorted(rows)


def test_the_permissions_are_those_of_the_document(shared):
    document = (shared / "api.md").read_text()
    rows = re.findall(r"^\| .* \| (Chat [A-Z]\w+, [A-Z]\w+) \|$", document, re.MULTILINE)
    assert sorted(set(rows)) == sorted(PERMISSIONS)


def test_creates_and_updates_carry_a_body():
    with_body = {operation.method for operation in OPERATIONS if operation.takes_body}
    without = {operation.method for operation in OPERATIONS if not operation.takes_body}
    assert (with_body, without) == ({"POST", "PUT", "PATCH"}, {"GET", "DELETE"})
