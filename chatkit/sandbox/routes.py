"""Routes: from a method and a raw path to an operation and the values in the path."""

import re
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from chatkit.sandbox.operations import OPERATIONS, PREFIX, Operation
from chatkit.sandbox.refusal import Refusal

_PREFIX = PREFIX.split("/")[:-1]
_ACCOUNT = len(_PREFIX)
_ROOM = _ACCOUNT + 1
# Empty, this folder, the folder above: what a path is normalised by cannot be a value in it.
_NO_VALUES = frozenset({"", ".", ".."})
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


class Place(NamedTuple):
    """Where in the interface a request points: the operation, the account, the path's values."""

    operation: Operation
    account: str
    values: Sequence[str]


class _Path:
    """One path of the interface: its fixed segments, where its values are, its operations."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        segments = list(enumerate(operations[0].path.split("/")[1:], _ROOM))
        self._fixed = [(at, text) for at, text in segments if text[0] != ":"]
        self._valued = [at for at, text in segments if text[0] == ":"]
        self.operations = {operation.method: operation for operation in operations}
        self.allow = ", ".join(sorted(self.operations))

    def values(self, segments: Sequence[str]) -> list[str] | None:
        for at, text in self._fixed:
            if segments[at] != text:
                return None
        values = [segments[at] for at in self._valued]
        return None if _NO_VALUES.intersection(values) else values


def _paths() -> dict[tuple[str, int], _Path]:
    """All paths by room and number of segments, which tells them apart."""
    groups: dict[str, list[Operation]] = {}
    for operation in OPERATIONS:
        groups.setdefault(operation.path, []).append(operation)
    return {
        (operations[0].room, path.count("/")): _Path(operations)
        for path, operations in groups.items()
    }


_PATHS = _paths()


def route(method: str, path: str) -> Place:
    """Find the operation that a raw, still percent-encoded path and a method name.

    Raises:
        Refusal: There is no such path, it allows other methods only, or it is no text.
    """
    segments = path.split("/")
    if "%" in path or not path.isascii():
        segments = [decode(segment) for segment in segments]
    known = _PATHS.get((segments[_ROOM], len(segments) - _ROOM)) if len(segments) > _ROOM else None
    values = known.values(segments) if known and segments[:_ACCOUNT] == _PREFIX else None
    if known is None or values is None:
        raise Refusal("no_path", "There is no such path")
    operation = known.operations.get(method)
    if operation is None:
        raise Refusal(
            "wrong_method", f"This path allows {known.allow}", headers={"allow": known.allow}
        )
    return Place(operation, segments[_ACCOUNT], values)


def decode(text: str, *, plus: bool = False) -> str:
    """Undo percent-encoding, strictly.

    Raises:
        Refusal: An escape is broken, or the bytes are not UTF-8.
    """
    if _BROKEN_ESCAPE.search(text) or not text.isascii():
        raise Refusal("malformed", "The address has a broken percent-escape")
    try:
        return unquote_to_bytes(text.replace("+", " ") if plus else text).decode()
    except UnicodeDecodeError:
        raise Refusal("malformed", "The address is not UTF-8") from None
