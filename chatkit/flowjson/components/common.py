"""Properties that many components share."""

from __future__ import annotations

from typing import Any

from chatkit.flowjson.components.property import Kind, Property, Shape
from chatkit.flowjson.version import FIRST, Version

V4, V5, V5_1, V6 = Version(4, 0), Version(5, 0), Version(5, 1), Version(6, 0)
V6_1, V6_2, V6_3 = Version(6, 1), Version(6, 2), Version(6, 3)
V7, V7_1 = Version(7, 0), Version(7, 1)

EXCHANGE = (("data_exchange", FIRST),)
EXCHANGE_OR_UPDATE = (*EXCHANGE, ("update_data", V6))
UPDATE = (("update_data", V6),)
OPENING = (*EXCHANGE, ("navigate", FIRST), ("open_url", V6))

TYPE = Property("type", "name", "The name of the component.", required=FIRST, binding=False)
VISIBLE = Property("visible", "boolean", "Whether it is shown.", default=True)
ENABLED = Property("enabled", "boolean", "Whether a person may use it.", default=True)
REQUIRED = Property("required", "boolean", "Whether it must be filled in.", default=False)
#: Half of what is written about choices of a person: the other half is in each component.
LABEL_VARIANT = Property(
    "label-variant", "choice", "A larger label, over several lines.", since=V7, enum=("large",)
)


def name(about: str = "Its name: ${form.name} is what a person enters.") -> Property:
    """Make the name of a component."""
    return Property("name", "name", about, required=FIRST, binding=False)


def label(length: int, required: Version | None = FIRST, **more: Any) -> Property:
    """Make a label with its documented length."""
    return Property("label", "text", "What it says.", required=required, length=length, **more)


def helper(length: int = 80, **more: Any) -> Property:
    """Make a helper text with its documented length."""
    return Property("helper-text", "text", "A small line of help below.", length=length, **more)


def description(length: int = 300, **more: Any) -> Property:
    """Make a description with its documented length."""
    return Property("description", "text", "More words below the label.", length=length, **more)


def error_message(length: int | None = None, **more: Any) -> Property:
    """Make the error message of an input that stands outside a Form."""
    about = "What is wrong with the value; inside a Form use its error-messages."
    return Property(
        "error-message", "text", about, since=V4, place="outside Form", length=length, **more
    )


def init_value(kind: Kind, *also: Kind, **more: Any) -> Property:
    """Make the first value of an input that stands outside a Form."""
    about = "The value at the start; inside a Form use its init-values."
    others = tuple((each, FIRST) for each in also)
    return Property(
        "init-value", kind, about, since=V4, place="outside Form", also=others, **more,
    )  # fmt: skip


def on_select(
    actions: tuple[tuple[str, Version], ...] = EXCHANGE_OR_UPDATE, since: Version = FIRST
) -> Property:
    """Make the action of choosing."""
    about = "What happens when it is chosen."
    return Property("on-select-action", "action", about, since=since, actions=actions)


def on_unselect(since: Version = V6) -> Property:
    """Make the action of taking a choice back."""
    about = "What happens when the choice is taken back."
    return Property("on-unselect-action", "action", about, since=since, actions=UPDATE)


def on_click(actions: tuple[tuple[str, Version], ...], required: Version | None = None) -> Property:
    """Make the action of a tap."""
    about = "What happens on a tap."
    return Property("on-click-action", "action", about, required=required, actions=actions)


def data_source(item: Shape, least: int, most: int) -> Property:
    """Make the list of options: written out, or one array of the data model."""
    return Property(
        "data-source", "items", "The options.", required=FIRST, item=item, least=1,
        advised_least=least, advised=most,
    )  # fmt: skip
