"""Tests of the reads and writes of plans for many templates."""

import pytest
from bulk.planning import ENGLISH, account, call

from chatkit.errors import InputError
from chatkit.templates.bulk_templates import BulkTemplates


@pytest.fixture
def target():
    with account() as (sandbox, client):
        for code in ("a", "b"):
            call(sandbox, "POST", f"templates/{code}/contents", **ENGLISH)
        yield BulkTemplates(client.transport)


def test_each_template_has_endpoints_of_its_own(target):
    assert target.of("a") is target.of("a")
    assert target.of("a") is not target.of("b")
    with pytest.raises(ValueError, match="must be text"):
        target.of(None)


def test_a_frame_is_compared_with_itself_as_it_was_read_or_else_with_the_contents_now(target):
    frame = target.with_snapshot(target.read_frame(["a", "b"]))
    snapshot = target.base(frame)
    assert snapshot.whole and not snapshot.now and snapshot.frame.equals(frame)
    snapshot = target.base(target.read_frame(["b"]).reset_index())
    assert snapshot.whole and snapshot.now and list(snapshot.frame.index) == [("b", "en")]


def test_a_frame_without_codes_is_no_frame_of_many(target):
    frame = target.of("a").frame()
    with pytest.raises(InputError, match="a level of the index called template_code"):
        target.base(frame)
    named = target.base(frame.assign(template_code="a"))
    assert named.frame.index.names == ["template_code", "lang_code"] and not named.now


@pytest.mark.parametrize("unknown", [False, True])
def test_a_template_that_is_not_there_yet_has_no_contents(target, unknown):
    frame = target.read_frame(["a"]).rename({"a": "x"}, level="template_code")
    with account(unknown_template_404=unknown) as (_, client):
        assert BulkTemplates(client.transport).base(frame).frame.empty


def test_contents_are_read_in_full_and_those_that_are_gone_are_not(target):
    full = target.full([("b", "en"), ("a", "xx"), ("a", "en")])
    assert list(full.index) == [("b", "en"), ("a", "en")]
    assert full.footer.tolist() == ["Thank you"] * 2
    assert "parameter_format" in full


def test_notes_of_a_plan_come_before_its_findings(target):
    frame = target.with_snapshot(target.read_frame(["a"], full=True)).assign(
        text="{{1}}"
    )
    first, finding = target.plan_frame(frame, notes=["First."]).notes
    assert first == "First." and finding.startswith("a/en has ")
    ignored = {"placeholder edge", "placeholder ratio"}
    assert target.plan_frame(frame, ignored_codes=ignored).notes == []
