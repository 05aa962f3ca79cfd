"""Components into which a person writes, and the box to tick."""

import pytest

from chatkit.errors import InputError
from chatkit.flowjson import OpenUrl, OptIn, TextArea, TextInput


def test_an_input_of_one_line() -> None:
    pin = TextInput(
        "pin", "PIN", input_type="passcode", pattern="[0-9]{4}", helper_text="4 digits", max_chars=4
    )
    assert pin.to_json() == {
        "type": "TextInput",
        "name": "pin",
        "label": "PIN",
        "input-type": "passcode",
        "pattern": "[0-9]{4}",
        "helper-text": "4 digits",
        "max-chars": 4,
    }


def test_an_input_of_several_lines() -> None:
    area = TextArea("why", "Why?", max_length="${data.room}", label_variant="large")
    assert area.to_json() == {
        "type": "TextArea",
        "name": "why",
        "label": "Why?",
        "max-length": "${data.room}",
        "label-variant": "large",
    }


def test_a_box_to_tick() -> None:
    terms = OptIn(
        "terms", "I agree", on_click_action=OpenUrl("https://x.example"), init_value=False
    )
    assert terms.to_json() == {
        "type": "OptIn",
        "name": "terms",
        "label": "I agree",
        "on-click-action": {"name": "open_url", "url": "https://x.example"},
        "init-value": False,
    }
    with pytest.raises(InputError, match="enabled = True: is not a property of OptIn"):
        OptIn("terms", "I agree", enabled=True)  # type: ignore[call-arg]
