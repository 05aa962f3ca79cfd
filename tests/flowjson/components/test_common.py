"""Properties that many components share."""

from chatkit.flowjson.components import COMPONENTS, error_message, init_value, label, on_select
from chatkit.flowjson.version import FIRST, Version


def test_a_label_is_required_unless_it_is_said_otherwise() -> None:
    assert label(20).required == FIRST
    assert label(20, required=None).required is None
    assert label(20, required=Version(4, 0)).needed(Version(3, 1)) is False


def test_what_belongs_to_inputs_outside_a_form_says_so() -> None:
    assert error_message(30).place == init_value("text").place == "outside Form"
    assert init_value("date", "range").kinds(Version(7, 0)) == ("date", "range")


def test_choosing_asks_the_endpoint_and_from_6_0_changes_data() -> None:
    assert on_select().allowed_actions(Version(5, 1)) == ("data_exchange",)
    assert on_select().allowed_actions(Version(6, 0)) == ("data_exchange", "update_data")


def test_every_input_but_pickers_has_a_first_value_and_none_of_the_texts_has() -> None:
    for each in COMPONENTS.values():
        has = each.property("init-value") is not None
        assert has == (each.group == "input"), each.name
