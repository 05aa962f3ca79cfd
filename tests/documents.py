"""The smallest flow document that the platform takes, and others of its kind."""

from typing import Any


def document(title: str = "Danke", version: str = "7.3") -> dict[str, Any]:
    """Make a document of one screen, sound in all versions since 5.1."""
    done = {"name": "complete", "payload": {}}
    footer = {"type": "Footer", "label": "Done", "on-click-action": done}
    layout = {"type": "SingleColumnLayout", "children": [footer]}
    screen = {"id": "THANKS", "title": title, "terminal": True, "layout": layout}
    return {"version": version, "screens": [screen]}


DOCUMENT = document()
