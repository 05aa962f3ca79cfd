"""Components into which a person writes, or which a person ticks."""

from __future__ import annotations

from chatkit.flowjson.components.common import (
    ENABLED,
    LABEL_VARIANT,
    OPENING,
    REQUIRED,
    TYPE,
    UPDATE,
    V6,
    V6_2,
    VISIBLE,
    error_message,
    helper,
    init_value,
    label,
    name,
    on_click,
    on_select,
    on_unselect,
)
from chatkit.flowjson.components.property import Component, Property

ENTRIES = (
    Component(
        "TextInput",
        "One line that a person writes.",
        (
            TYPE,
            name(),
            label(20),
            Property(
                "input-type", "choice", "Which keyboard is shown, and what is accepted.",
                enum=("text", "number", "email", "password", "passcode", "phone"), default="text",
            ),
            Property(
                "pattern", "regex", "A regular expression that the value must match.",
                since=V6_2, binding=False,
            ),
            helper(),
            REQUIRED,
            Property("min-chars", "number", "The fewest characters."),
            Property("max-chars", "number", "The most characters.", default=80),
            LABEL_VARIANT,
            init_value("text"),
            error_message(30),
            ENABLED,
            VISIBLE,
        ),
        group="input",
        value="string",
        rules=(
            "pattern needs helper-text, and input-type text, number, password or passcode.",
            "min-chars is not above max-chars.",
        ),
    ),
    Component(
        "TextArea",
        "Several lines that a person writes.",
        (
            TYPE,
            name(),
            label(20),
            helper(),
            REQUIRED,
            Property("max-length", "integer", "The most characters.", default=600),
            LABEL_VARIANT,
            init_value("text"),
            error_message(),
            ENABLED,
            VISIBLE,
        ),
        group="input",
        value="string",
    ),
    Component(
        "OptIn",
        "A box to tick, with a link to what is agreed to.",
        (
            TYPE,
            name(),
            label(120),
            REQUIRED,
            on_click(OPENING),
            on_select(UPDATE, since=V6),
            on_unselect(),
            init_value("boolean"),
            VISIBLE,
        ),
        group="input",
        value="boolean",
        per_screen=5,
    ),
)  # fmt: skip
