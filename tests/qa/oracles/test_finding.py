"""Pointers of findings."""

from oracles.finding import Finding, Findings, step


def test_a_pointer_escapes_what_it_must() -> None:
    assert step("/a", "b/c", "d~e", 0) == "/a/b~1c/d~0e/0"


def test_findings_keep_their_order_and_severity() -> None:
    findings = Findings()
    findings.warning("B", "/b", "later refused")
    findings.error("A", "/a", "refused")
    assert findings == [
        Finding("B", "warning", "/b", "later refused"),
        Finding("A", "error", "/a", "refused"),
    ]
