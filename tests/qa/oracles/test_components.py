"""The table of the format, read from its lines."""

from oracles.flows.components import ACTION_SINCE, COMPONENTS, PARTS


def test_every_component_has_its_properties() -> None:
    assert COMPONENTS.keys() - PARTS.keys() == set()


def test_every_part_that_a_property_names_is_there() -> None:
    named = {prop.items for part in PARTS.values() for prop in part.values() if prop.items}
    assert named - PARTS.keys() == set()


def test_every_action_that_a_property_names_is_there() -> None:
    events = [prop for part in PARTS.values() for prop in part.values() if prop.kind == "action"]
    assert {name for prop in events for name in prop.values} - PARTS.keys() == set()
    assert ACTION_SINCE.keys() - PARTS.keys() == set()


def test_a_line_says_what_a_property_is() -> None:
    label = PARTS["TextInput"]["label"]
    assert (label.kind, label.required, label.chars) == ("text", "2.1", 20)
    assert PARTS["CheckboxGroup"]["label"].required == "4.0"
    assert PARTS["TextInput"]["pattern"].since == "6.2"
    assert PARTS["DOCUMENT"]["data_channel_uri"].until == "3.0"
    photos = PARTS["PhotoPicker"]["max-uploaded-photos"]
    assert (photos.low, photos.high) == (1, 30)
    options = PARTS["ChipsSelector"]["data-source"]
    assert (options.low, options.high, options.items) == (2, 20, "CHIP")
    assert PARTS["ImageCarousel"]["aspect-ratio"].values == ("4:3", "16:9")
