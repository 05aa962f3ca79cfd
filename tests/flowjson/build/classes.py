"""Writes `chatkit/flowjson/build/classes.pyi`, the stub of the components' classes.

An editor completes the classes and a type checker knows them by this file. After a change of the
table: `python tests/flowjson/build/classes.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from chatkit.flowjson.build import RANGE, piece
from chatkit.flowjson.build.piece import attribute_name
from chatkit.flowjson.components import COMPONENTS, ComponentShape, Property, Shape

FILE = Path(piece.__file__).with_name("classes.pyi")
_TEXT = ("text", "name", "url", "regex", "color", "condition")
_HINTS = {
    **dict.fromkeys(_TEXT, "str"),
    "base64": "Base64",
    "date": "Date",
    "reference": "Reference",
    "boolean": "Flag",
    "integer": "Integer",
    "number": "Number",
    "dates": "list[Date]",
    "strings": "list[str]",
    "map": "Map",
    "range": "One[Range]",
    "action": "One[Action]",
    "components": "Items[Block]",
    "cases": "dict[str, Items[Block]]",
}
#: Types that hold a reference already, or never one.
_BOUND = ("str", "Base64", "Date", "Flag", "Integer", "Number", "Reference", "One[Action]")
_HEAD = """# Written by `python tests/flowjson/build/classes.py` from the table of components.

from dataclasses import KW_ONLY
from typing import Literal

from chatkit.flowjson import components
from chatkit.flowjson.build import Range
from chatkit.flowjson.build.piece import (
    Action,
    Base64,
    Block,
    Date,
    Flag,
    Integer,
    Items,
    Map,
    Number,
    One,
    Piece,
    Reference,
    piece_of,
)
"""


def source() -> str:
    """Write the stub of the classes."""
    shapes = list({id(each): each for each in _with_items([*COMPONENTS.values()])}.values())
    classes = [_class(each) for each in shapes if each is not RANGE]
    choices = {_title(each.name): each.enum for shape in shapes for each in _enums(shape)}
    aliases = "\n".join([_alias(name, values) for name, values in sorted(choices.items())])
    made = sorted(_class_name(each) for each in shapes if each is not RANGE)
    public = "".join([f'    "{name}",\n' for name in made])
    return "\n\n".join([f"{_HEAD}\n__all__ = [\n{public}]\n\n{aliases}", *classes]) + "\n"


def main() -> None:
    """Write the stub of the classes."""
    FILE.write_text(source(), "utf-8")


def _with_items(shapes: Sequence[Shape]) -> Iterator[Shape]:
    """Yield shapes, each after those of its items."""
    for shape in shapes:
        yield from _with_items([each.item for each in shape.properties if each.item])
        yield shape


def _enums(shape: Shape) -> list[Property]:
    return [each for each in shape.properties if each.enum]


def _alias(name: str, values: tuple[str, ...]) -> str:
    """Name the values that one may choose among."""
    line = f"{name} = Literal[{', '.join(_quoted(value) for value in values)}]"
    if len(line) <= 100:
        return line
    return "\n".join([f"{name} = Literal[", *(f"    {_quoted(value)}," for value in values), "]"])


def _class(shape: Shape) -> str:
    block = isinstance(shape, ComponentShape)
    own = [each for each in shape.properties if not (block and each.name == "type")]
    needed = [each for each in own if each.required]
    others = [each for each in own if not each.required]
    lines = [
        f"@piece_of(components.{'COMPONENTS' if block else 'SHAPES'}[{_quoted(shape.name)}])",
        f"class {_class_name(shape)}({'Block' if block else 'Piece'}):",
        f'    """{shape.about}"""',
        "",
        *(f"    {attribute_name(each.name)}: {_hint(each)}" for each in needed),
        *(["    _: KW_ONLY"] if others else []),
        *(f"    {attribute_name(each.name)}: {_hint(each, none=True)} = None" for each in others),
    ]
    return "\n".join(lines)


def _class_name(shape: Shape) -> str:
    return shape.name if isinstance(shape, ComponentShape) else _title(shape.name)


def _hint(about: Property, none: bool = False) -> str:
    """Write the type of a property."""
    kinds = (about.kind, *(kind for kind, _ in about.other_kinds))
    hints = dict.fromkeys(_kind(about, kind) for kind in kinds)
    if about.binding and not hints.keys() & {*_BOUND}:
        hints["Reference"] = None
    # a label that only later versions demand may be absent in earlier ones
    if none or (about.required and about.required > about.since):
        hints["None"] = None
    return " | ".join(hints)


def _kind(about: Property, kind: str) -> str:
    if kind == "choice":
        return _title(about.name)
    if kind == "choices":
        return f"list[{_title(about.name)}]"
    if about.item and kind in ("items", "object"):
        return f"{'Items' if kind == 'items' else 'One'}[{_title(about.item.name)}]"
    return _HINTS[kind]


def _title(name: str) -> str:
    """Turn a key or the name of a shape into the name of a class."""
    return "".join(part.capitalize() for part in re.split("[- ]", name))


def _quoted(text: str) -> str:
    return f'"{text}"'


if __name__ == "__main__":
    main()
