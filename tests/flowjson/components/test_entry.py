"""Components into which a person writes, or which a person ticks."""

from chatkit.flowjson.components import COMPONENTS, Version

ENTRIES = [COMPONENTS[name] for name in ("TextInput", "TextArea", "OptIn")]


def test_a_tick_is_true_or_false_and_a_line_is_text() -> None:
    assert {each.name: each.value for each in ENTRIES} == {
        "TextInput": "string",
        "TextArea": "string",
        "OptIn": "boolean",
    }


def test_a_tick_opens_a_page_from_6_0() -> None:
    opt_in = ENTRIES[2].by_name["on-click-action"]
    assert opt_in.allowed_actions(Version(5, 1)) == ("data_exchange", "navigate")
    assert opt_in.allowed_actions(Version(6, 0)) == ("data_exchange", "navigate", "open_url")


def test_a_pattern_stands_as_it_is() -> None:
    assert ENTRIES[0].by_name["pattern"].binding is False
