"""Block: a component of a screen as an object; what all 24 classes share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

from chatkit.flowjson.build.actions import Action
from chatkit.flowjson.build.piece import Piece
from chatkit.flowjson.property import Component


class Block(Piece):
    """A component of a screen: a text, an input, a picture, a button, or a container."""

    shape: ClassVar[Component]
    kinds: ClassVar[dict[str, type[Block]]] = {}

    def __init_subclass__(cls) -> None:
        """Know the class by its name, which is its type in JSON."""
        super().__init_subclass__()
        cls.says = {"type": cls.__name__}
        Block.kinds[cls.__name__] = cls

    @classmethod
    def called(cls) -> str:
        """Say what it is."""
        return "a component" if cls is Block else super().called()

    @classmethod
    def read(cls, raw: dict[str, Any]) -> Self | dict[str, Any]:
        """Read the JSON of a component; an unknown one stays the dict it is."""
        if cls is not Block:
            return super().read(raw)
        kind = raw.get("type")
        found = Block.kinds.get(kind) if isinstance(kind, str) else None
        return found.read(raw) if found else raw  # type: ignore[return-value]

    @property
    def entered(self) -> str | None:
        """The name under which a person's entry is known, if it is an input."""
        return getattr(self, "name", None) if self.shape.is_input else None

    def branches(self) -> Iterator[tuple[str, object]]:
        """Yield the lists of components in it, each with its name: then, else, or a case."""
        for name, key in self.keys.items():
            about = self.shape.property(key)
            value = getattr(self, name)
            if about is None or not value:
                continue
            if about.kind == "components":
                yield "" if key == "children" else key, value
            elif about.kind == "cases":
                yield from value.items()

    def actions(self) -> Iterator[tuple[str, Action]]:
        """Yield its actions and those of its options, each with the key it stands under."""
        yield from _actions(self)


def _actions(owner: Piece) -> Iterator[tuple[str, Action]]:
    for name, key in owner.keys.items():
        value = getattr(owner, name)
        if isinstance(value, Action):
            yield key, value
        for item in value if isinstance(value, list) else ():
            if isinstance(item, Piece) and not isinstance(item, Block):
                yield from _actions(item)


def walk(blocks: object) -> Iterator[Block]:
    """Yield all components of a list, each before those in it."""
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, Block):
            yield block
            for _, inside in block.branches():
                yield from walk(inside)
