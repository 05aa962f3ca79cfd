"""Actions: what happens when a person taps or chooses."""

from typing import Any, ClassVar, Self

from chatkit.flowjson.build.kinds import Payload, Target
from chatkit.flowjson.build.piece import Nest, Piece, Place, piece, write
from chatkit.flowjson.components import ACTIONS


class Action(Piece):
    """What happens when a person taps or chooses.

    A payload may hold inputs of the flow: `Complete({"email": email})` sends what a person
    enters in the TextInput `email`, on whichever screen it stands.
    """

    kinds: ClassVar[dict[str, type["Action"]]] = {}

    @classmethod
    def called(cls) -> str:
        """Say what it is."""
        return "an action" if cls is Action else super().called()

    @classmethod
    def read(cls, raw: dict[str, Any]) -> Self | dict[str, Any]:
        """Read the JSON of an action; an unknown one stays the dict it is."""
        if cls is not Action:
            return super().read(raw)
        name = raw.get("name")
        found = Action.kinds.get(name) if isinstance(name, str) else None
        return found.read(raw) if found else raw  # type: ignore[return-value]

    def put(self, name: str, value: Any, place: Place) -> Any:
        """Write the value of one property; an input in a payload is written as a reference."""
        if name != "payload" or not isinstance(value, dict):
            return write(value, place)
        return {key: _referred(item, place) for key, item in value.items()}


def _referred(item: Any, place: Place) -> Any:
    entered = getattr(item, "entered", None)
    if entered is None:
        return write(item, place)
    home = place.homes.get(id(item), place.screen)
    return f"${{form.{entered}}}" if home == place.screen else f"${{screen.{home}.form.{entered}}}"


@piece(ACTIONS["navigate"])
class Navigate(Action):
    """Shows another screen, which is named by its id or by itself.

    >>> Navigate("DONE").to_json()
    {'name': 'navigate', 'next': {'type': 'screen', 'name': 'DONE'}}
    """

    says: ClassVar = {"name": "navigate"}
    nests: ClassVar = {"next": Nest("next", "name", {"type": "screen"})}

    next: Target
    payload: Payload | None = None


@piece(ACTIONS["complete"])
class Complete(Action):
    """Ends the flow and sends what was entered."""

    says: ClassVar = {"name": "complete"}

    payload: Payload | None = None


@piece(ACTIONS["data_exchange"])
class DataExchange(Action):
    """Asks your endpoint what comes next."""

    says: ClassVar = {"name": "data_exchange"}

    payload: Payload | None = None


@piece(ACTIONS["update_data"])
class UpdateData(Action):
    """Changes the data of the screen that is shown."""

    says: ClassVar = {"name": "update_data"}

    payload: Payload


@piece(ACTIONS["open_url"])
class OpenUrl(Action):
    """Opens a web page."""

    says: ClassVar = {"name": "open_url"}

    url: str


Action.kinds.update(
    {each.shape.name: each for each in (Navigate, Complete, DataExchange, UpdateData, OpenUrl)}
)
