"""Copies of single flows and contents from one account into another."""

import pytest

import chatkit


@pytest.fixture
def two():
    with (
        chatkit.connect(chatkit.Sandbox(seed="demo")) as here,
        chatkit.connect(chatkit.Sandbox(seed="empty")) as there,
    ):
        yield here, there


def test_a_flow_is_copied_into_another_account_under_its_name(two, capsys):
    here, there = two
    frame = here.flows.frame()
    key = int(frame.index[frame.wa_status == "PUBLISHED"][0])
    original = here.flows.get(key)
    there.flows.create(
        name="First", template_name="default", flow_json=original.flow_json, broken=True
    )
    capsys.readouterr()
    copy = here.flows.copy(key, to=there, broken=True)
    assert (copy.name, copy.flow_json) == (original.name, original.flow_json)
    assert copy.wa_status == "DRAFT"
    assert there.flows.get(copy.id) == copy
    assert here.flows.get(key) == original
    told = capsys.readouterr().out
    assert "do not have from the original: id, wa_flow_id, wa_status" in told
    here.flows.copy(key, "Another name", to=there.flows, broken=True)
    assert capsys.readouterr().out == ""  # told once
    assert sorted(there.flows.frame().name) == sorted(["First", original.name, "Another name"])


def test_a_name_that_the_other_account_has_is_asked_for_and_not_doubled(two):
    here, there = two
    key = int(here.flows.frame().index[0])
    here.flows.copy(key, to=there, broken=True)
    with pytest.raises(chatkit.InputError, match="a flow has it: take another"):
        here.flows.copy(key, to=there, broken=True)
    assert len(there.flows.frame()) == 1


def test_a_content_is_copied_into_another_account(two):
    here, there = two
    there.templates("order_ready").create(lang_code="en", text="Hello")
    copy = here.templates("order_ready").copy("de", to=there)
    original = here.templates("order_ready").get("de")
    for field in ("lang_code", "text", "footer", "headers", "buttons", "variables", "is_draft"):
        assert getattr(copy, field) == getattr(original, field)
    assert there.templates("order_ready").frame().index.tolist() == ["en", "de"]
    with pytest.raises(chatkit.Conflict):
        here.templates("order_ready").copy("de", to=there)


def test_the_catalog_of_one_account_does_not_go_into_another(two, capsys):
    here, there = two
    here.templates("order_ready").update(
        "de", is_catalog=True, connected_catalog_id="900", is_catalog_connected=True
    )
    capsys.readouterr()
    copy = here.templates("order_ready").copy("de", "order_copy", to=there)
    assert (copy.connected_catalog_id, copy.is_catalog_connected) == (None, False)
    assert "connected_catalog_id" in capsys.readouterr().out


def test_a_content_is_copied_to_another_template_of_the_account(two):
    here, _ = two
    copy = here.templates("order_ready").copy("de", "order_copy")
    assert copy.text == here.templates("order_copy").get("de").text
    with pytest.raises(chatkit.InputError, match="another place"):
        here.templates("order_ready").copy("de")


def test_copies_are_made_in_the_account_of_a_client_and_nowhere_else(two):
    here, _ = two
    with pytest.raises(chatkit.InputError, match="the client of another account, not str"):
        here.flows.copy(301, to="staging")
    with pytest.raises(chatkit.InputError, match="the client of another account, not str"):
        here.templates("order_ready").copy("de", to="staging")
