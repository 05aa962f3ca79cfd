"""Components from whose options a person chooses."""

from chatkit.flowjson import (
    CheckboxGroup,
    Chip,
    ChipsSelector,
    Dropdown,
    Option,
    RadioButtonsGroup,
    UpdateData,
)


def test_options_are_written_out() -> None:
    group = CheckboxGroup(
        "days",
        "Days",
        [Option("mo", "Monday", color="#FF0000"), Option("tu", "Tuesday", enabled=False)],
        max_selected_items=2,
    )
    assert group.to_json() == {
        "type": "CheckboxGroup",
        "name": "days",
        "label": "Days",
        "data-source": [
            {"id": "mo", "title": "Monday", "color": "#FF0000"},
            {"id": "tu", "title": "Tuesday", "enabled": False},
        ],
        "max-selected-items": 2,
    }


def test_options_come_from_the_data() -> None:
    for made in (CheckboxGroup, Dropdown, RadioButtonsGroup, ChipsSelector):
        assert made("a", "A", "${data.all}").to_json()["data-source"] == "${data.all}"


def test_old_groups_have_no_label() -> None:
    group = RadioButtonsGroup("a", None, [Option("x", "X")])
    assert list(group.to_json()) == ["type", "name", "data-source"]


def test_an_option_that_is_chosen_changes_the_data() -> None:
    option = Option("a", "A", on_select_action=UpdateData({"shown": True}))
    assert option.to_json()["on-select-action"] == {
        "name": "update_data",
        "payload": {"shown": True},
    }


def test_chips_are_chips() -> None:
    chips = ChipsSelector("a", "A", [Chip("x", "X"), Chip("y", "Y", enabled=True)])
    assert chips.to_json()["data-source"] == [
        {"id": "x", "title": "X"},
        {"id": "y", "title": "Y", "enabled": True},
    ]


def test_options_are_read_as_options_with_what_nobody_knows() -> None:
    raw = {"type": "Dropdown", "data-source": [{"title": "A", "id": "a", "icon": 1}]}
    dropdown = Dropdown.read(raw)
    assert isinstance(dropdown, Dropdown) and isinstance(dropdown.data_source[0], Option)
    assert dropdown.data_source[0].more == {"icon": 1}
    assert str(dropdown.to_json()) == str(raw)
