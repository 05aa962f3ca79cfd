"""Components that hold others."""

from __future__ import annotations

from chatkit.flowjson.components.common import TYPE, V4, V6_1, V6_2, V7, V7_1, name
from chatkit.flowjson.components.property import Component, Property
from chatkit.flowjson.version import FIRST, Version

_EVERYWHERE = (
    *("TextHeading", "TextSubheading", "TextBody", "TextCaption", "Image", "EmbeddedLink"),
    *("TextInput", "TextArea", "OptIn", "CheckboxGroup", "RadioButtonsGroup", "Dropdown"),
    *("DatePicker", "Footer"),
)
_IN_ALL = dict.fromkeys(_EVERYWHERE, FIRST) | {
    "PhotoPicker": V4,
    "DocumentPicker": V4,
    "CalendarPicker": V6_1,
}
_IN_FORM: dict[str, Version] = _IN_ALL | {
    "If": V4,
    "Switch": V4,
    "NavigationList": V6_2,
    "ChipsSelector": V6_2,
    "ImageCarousel": V7_1,
}
_IN_SWITCH: dict[str, Version] = _IN_ALL | {"ChipsSelector": V7_1}
_IN_IF: dict[str, Version] = _IN_SWITCH | {"If": V4, "Switch": V4}

CONTAINERS = (
    Component(
        "Form",
        "Inputs that belong together.",
        (
            TYPE,
            name("Its name."),
            Property(
                "children", "components", "What stands in it.", required=FIRST, binding=False
            ),
            Property("init-values", "map", "First values by the names of its inputs."),
            Property("error-messages", "map", "What is wrong, by the names of its inputs."),
        ),
        group="container",
        per_screen=1,
        per_screen_since=V7,
        children=_IN_FORM,
        rules=(
            "Before 4.0 every input stands in a Form.",
            "On a screen with a Form no input stands outside it.",
        ),
    ),
    Component(
        "If",
        "What stands here only when something holds.",
        (
            TYPE,
            Property(
                "condition", "condition", "What must hold: it names at least one ${…}.",
                required=FIRST,
            ),
            Property(
                "then", "components", "What stands here when it holds.", required=FIRST,
                least=1, binding=False,
            ),
            Property(
                "else", "components", "What stands here when it does not.", binding=False
            ),
        ),
        group="container",
        since=V4,
        children=_IN_IF,
        rules=(
            "At most three levels of If.",
            "A Footer in one branch means a Footer in both, and none outside.",
        ),
    ),
    Component(
        "Switch",
        "What stands here depends on a value.",
        (
            TYPE,
            Property("value", "reference", "The value, one ${…}.", required=FIRST),
            Property(
                "cases", "cases", "What stands here for each value.", required=FIRST,
                binding=False,
            ),
        ),
        group="container",
        since=V4,
        children=_IN_SWITCH,
        rules=("A Footer in one case means a Footer in every case.",),
    ),
)  # fmt: skip
