"""What may happen when a person taps or chooses."""

from __future__ import annotations

from dataclasses import dataclass

from chatkit.flowjson.components.property import Property, Shape
from chatkit.flowjson.version import FIRST, Version


@dataclass(frozen=True, eq=False)
class Action(Shape):
    """An action: its keys, and since which version it is known."""

    since: Version = FIRST


_NAME = Property("name", "name", "The name of the action.", required=FIRST, binding=False)
NEXT = Shape(
    "next",
    "Where navigate goes.",
    (
        Property(
            "type", "choice", "Always screen.", required=FIRST, enum=("screen",), binding=False
        ),
        Property("name", "name", "The id of the screen.", required=FIRST, binding=False),
    ),
)


def _payload(about: str, required: Version | None = None) -> Property:
    """Make the payload of an action."""
    return Property("payload", "map", about, required=required, binding=False)


ACTIONS: dict[str, Action] = {
    each.name: each
    for each in (
        Action(
            "navigate",
            "Shows another screen.",
            (
                _NAME,
                Property(
                    "next", "object", "The screen to show.", required=FIRST, item=NEXT,
                    binding=False,
                ),
                _payload("What the screen's data model asks for."),
            ),
        ),
        Action(
            "complete",
            "Ends the flow and sends what was entered.",
            (_NAME, _payload("What the answer holds.")),
        ),
        Action(
            "data_exchange",
            "Asks your endpoint what comes next.",
            (_NAME, _payload("What your endpoint gets.")),
        ),
        Action(
            "update_data",
            "Changes the data of the screen.",
            (_NAME, _payload("The fields and their new values.", FIRST)),
            since=Version(6, 0),
        ),
        Action(
            "open_url",
            "Opens a web page.",
            (_NAME, Property("url", "url", "The address of the page.", required=FIRST)),
            since=Version(6, 0),
        ),
    )
}  # fmt: skip
