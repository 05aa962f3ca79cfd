"""Copies of single contents from one account into another."""

import pytest

import chatkit


@pytest.fixture
def two():
    with (
        chatkit.connect(chatkit.Sandbox(seed="demo")) as here,
        chatkit.connect(chatkit.Sandbox(seed="empty")) as there,
    ):
        yield here, there


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
        here.templates("order_ready").copy("de", to="staging")
