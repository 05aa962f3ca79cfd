"""A flow without a fault, and what the check says once something in it is changed."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from oracles.flows.document import check_flow

Codes = Callable[..., list[tuple[str, str]]]

SOUND: dict[str, Any] = {
    "version": "7.3",
    "screens": [
        {
            "id": "ASK",
            "title": "Ask",
            "data": {"greeting": {"type": "string", "__example__": "Hello"}},
            "layout": {
                "type": "SingleColumnLayout",
                "children": [
                    {"type": "TextHeading", "text": "${data.greeting}"},
                    {"type": "TextInput", "name": "bike", "label": "Your bike"},
                    {
                        "type": "Footer",
                        "label": "Next",
                        "on-click-action": {
                            "name": "navigate",
                            "next": {"type": "screen", "name": "DONE"},
                            "payload": {"bike": "${form.bike}"},
                        },
                    },
                ],
            },
        },
        {
            "id": "DONE",
            "title": "Done",
            "terminal": True,
            "success": True,
            "data": {"bike": {"type": "string", "__example__": "Tandem"}},
            "layout": {
                "type": "SingleColumnLayout",
                "children": [
                    {"type": "TextBody", "text": "${data.bike}"},
                    {
                        "type": "Footer",
                        "label": "Send",
                        "on-click-action": {
                            "name": "complete",
                            "payload": {"bike": "${data.bike}"},
                        },
                    },
                ],
            },
        },
    ],
}


@pytest.fixture
def sound() -> dict[str, Any]:
    """A flow of two screens that the platform takes."""
    return copy.deepcopy(SOUND)


@pytest.fixture
def errors(sound: dict[str, Any]) -> Codes:
    """The codes and pointers of the errors after changes to the sound flow.

    A change is `("screens/0/title", value)`: `-` puts the value first in a list, `DROP`
    as value deletes.
    """

    def check(*changes: tuple[str, object]) -> list[tuple[str, str]]:
        document = copy.deepcopy(sound)
        for path, value in changes:
            *parents, last = path.split("/")
            place: Any = document
            for key in parents:
                place = place[int(key) if isinstance(place, list) else key]
            if value == "DROP":
                del place[int(last) if isinstance(place, list) else last]
            elif last == "-":
                place.insert(0, value)
            else:
                place[int(last) if isinstance(place, list) else last] = value
        result = check_flow(document)
        return [(one.code, one.pointer) for one in result if one.severity == "error"]

    return check
