"""Components that hold others."""

from chatkit.flowjson import Form, If, Switch, TextBody, TextInput

HI = {"type": "TextBody", "text": "Hi"}


def test_a_form_with_its_first_values() -> None:
    form = Form("f", [TextInput("n", "N")], init_values={"n": "Ann"}, error_messages="${data.all}")
    assert form.to_json() == {
        "type": "Form",
        "name": "f",
        "children": [{"type": "TextInput", "name": "n", "label": "N"}],
        "init-values": {"n": "Ann"},
        "error-messages": "${data.all}",
    }


def test_an_if_with_and_without_an_else() -> None:
    assert If("${data.x}", [TextBody("Hi")]).to_json() == {
        "type": "If",
        "condition": "${data.x}",
        "then": [HI],
    }
    assert If("${data.x}", [TextBody("Hi")], else_=[]).to_json()["else"] == []


def test_a_switch_with_its_cases() -> None:
    switch = Switch("${data.x}", {"a": [TextBody("Hi")], "default": []})
    assert switch.to_json() == {
        "type": "Switch",
        "value": "${data.x}",
        "cases": {"a": [HI], "default": []},
    }
