"""The place of a value in a JSON document (RFC 6901)."""

from __future__ import annotations

from typing import Any


def escape(key: str | int) -> str:
    """Write one key as a step of a JSON pointer."""
    return str(key).replace("~", "~0").replace("/", "~1")


def unescape(step: str) -> str:
    """Read the key that one step of a JSON pointer stands for."""
    return step.replace("~1", "/").replace("~0", "~")


def steps(pointer: str) -> list[str]:
    """Take a JSON pointer apart."""
    return [unescape(step) for step in pointer.split("/")[1:]]


def at(value: Any, pointer: str) -> Any:
    """Return what a JSON pointer points at. Raises `LookupError` if there is nothing."""
    for step in steps(pointer):
        if isinstance(value, list):
            if not step.isdecimal():
                raise LookupError(pointer)
            value = value[int(step)]
        elif isinstance(value, dict):
            value = value[step]
        else:
            raise LookupError(pointer)
    return value
