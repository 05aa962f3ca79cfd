"""Tests of the reads and writes of plans for many templates."""

import pytest
from bulk.planning import ENGLISH, account, call

import chatkit
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


def test_a_frame_that_was_read_is_its_own_base(target):
    frame = target.with_snapshot(target.reader(["a", "b"]).frame())
    snapshot = target.base(frame)
    assert snapshot.whole
    assert not snapshot.now
    assert snapshot.frame.equals(frame)


def test_a_frame_of_ones_own_is_held_against_what_is_there_now(target):
    own = chatkit.connect(chatkit.Sandbox(seed="empty")).templates
    frame = target.reader(["b"]).frame().reset_index()
    assert list(target.base(frame).frame.index) == [("b", "en")]
    assert target.base(frame).now and target.base(frame).whole
    with pytest.warns(UserWarning, match="There is no content for a"):
        assert own.frame("a").empty


def test_a_frame_without_codes_is_no_frame_of_many(target):
    frame = target.of("a").frame()
    with pytest.raises(
        chatkit.errors.InputError, match="a level of the index called template_code"
    ):
        target.base(frame)
    named = target.base(frame.assign(template_code="a"))
    assert named.frame.index.names == ["template_code", "lang_code"] and not named.now


@pytest.mark.parametrize("unknown", [False, True])
def test_a_template_that_is_not_there_yet_has_no_contents(target, unknown):
    frame = target.reader(["a"]).frame().rename({"a": "x"}, level="template_code")
    with account(unknown_template_404=unknown) as (_, client):
        assert BulkTemplates(client.transport).base(frame).frame.empty


def test_contents_are_read_in_full_and_those_that_are_gone_are_not(target):
    full = target.full([("b", "en"), ("a", "xx"), ("a", "en")])
    assert list(full.index) == [("b", "en"), ("a", "en")]
    assert full.footer.tolist() == ["Thank you"] * 2
    assert "parameter_format" in full


def test_what_else_is_to_be_said_comes_before_what_the_rules_say(target):
    frame = target.with_snapshot(target.reader(["a"]).frame(full=True)).assign(text="{{1}}")
    plan = target.plan_frame(frame, notes=["First."])
    assert plan.notes[0] == "First."
    assert plan.notes[1].startswith("a/en has ")
    quiet = target.plan_frame(frame, expected={"placeholder edge", "placeholder ratio"})
    assert quiet.notes == []
