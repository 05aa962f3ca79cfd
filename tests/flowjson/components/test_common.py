"""Properties that many components share."""

from chatkit.flowjson.components import COMPONENTS, FIRST, Version


def test_a_label_is_required_unless_a_component_does_without_one() -> None:
    assert COMPONENTS["TextInput"].by_name["label"].required == FIRST
    assert COMPONENTS["CheckboxGroup"].by_name["label"].is_required(Version(3, 1)) is False


def test_what_belongs_to_inputs_outside_a_form_is_placed_there() -> None:
    for each in COMPONENTS.values():
        for name in ("init-value", "error-message"):
            if (prop := each.property(name)) is not None:
                assert prop.place == "outside Form", each.name
    calendar = COMPONENTS["CalendarPicker"].by_name["init-value"]
    assert calendar.kinds(Version(7, 0)) == ("date", "range")


def test_choosing_asks_the_endpoint_and_from_6_0_changes_data() -> None:
    chosen = COMPONENTS["Dropdown"].by_name["on-select-action"]
    assert chosen.allowed_actions(Version(5, 1)) == ("data_exchange",)
    assert chosen.allowed_actions(Version(6, 0)) == ("data_exchange", "update_data")


def test_every_input_but_pickers_has_a_first_value_and_none_of_the_texts_has() -> None:
    for each in COMPONENTS.values():
        has = each.property("init-value") is not None
        assert has == (each.group == "input"), each.name
