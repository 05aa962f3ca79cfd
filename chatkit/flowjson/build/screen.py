"""Screen: one screen of a flow as an object."""

from copy import copy
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from chatkit.flowjson.build.block import Block, walk
from chatkit.flowjson.build.blocks.container import Form
from chatkit.flowjson.build.kinds import Items, Map
from chatkit.flowjson.build.piece import Nest, Piece, Place, piece, write
from chatkit.flowjson.components import SCREEN
from chatkit.flowjson.show import many

_OF_FORM = {"init_value": "init_values", "error_message": "error_messages"}


@piece(SCREEN)
class Screen(Piece):
    """A screen.

    `screen["email"]` is the component of that name.

    >>> from chatkit.flowjson import Complete, Footer, TextInput
    >>> email = TextInput("email", "Your e-mail", input_type="email")
    >>> done = Footer("Send", Complete({"email": email}))
    >>> Screen("CONTACT", "Contact", [email, done], terminal=True)
    <Screen CONTACT: 2 components>
    """

    nests: ClassVar = {"children": Nest("layout", "children", {"type": "SingleColumnLayout"})}
    order: ClassVar = (
        *("id", "title", "terminal", "success", "refresh_on_back", "sensitive"),
        *("data", "children"),
    )

    id: str
    title: str
    children: Items[Block]
    _: KW_ONLY
    terminal: bool | None = None
    success: bool | None = None
    refresh_on_back: bool | None = None
    sensitive: list[str] | None = None
    data: Map | None = None

    def __getitem__(self, name: str) -> Block:
        for block in self.blocks():
            if getattr(block, "name", None) == name:
                return block
        raise KeyError(f"The screen {self.id} has no component {name!r}.")

    def blocks(self) -> list[Block]:
        """List all its components, also those in others, in the order of the document."""
        return list(walk(self.children))

    def written(self, place: Place) -> dict[str, Any]:
        """Write it as JSON; its version may want the inputs of a built screen in a Form."""
        return super().written(place._replace(screen=self.id))

    def put(self, name: str, value: Any, place: Place) -> Any:
        """Write one property."""
        if name == "children" and place.forms and self._memory is None:
            return [write(block, place) for block in in_form(self.children)]
        return super().put(name, value, place)

    def __repr__(self) -> str:
        return f"<Screen {self.id}: {many(len(self.blocks()), 'component')}>"


def in_form(blocks: list[Block]) -> list[Block]:
    """Put components into a Form if there are inputs outside of one.

    What an input says of its start and its error is said by the Form then.
    """
    inside = [copy(each) for each in blocks]
    inputs = [each for each in inside if isinstance(each, Block) and each.entered]
    if not inputs or any(isinstance(each, Form) for each in blocks):
        return blocks
    form = Form("form", inside)
    for own, of_all in _OF_FORM.items():
        told = {}
        for each in inputs:
            if (value := getattr(each, own, None)) is not None:
                told[each.entered] = value
                setattr(each, own, None)
        setattr(form, of_all, write(told, Place()) or None)
    return [form]
