"""Document: a flow document however it is given, as a plain value of its own."""

from __future__ import annotations

import json
from typing import Any

from chatkit.errors import InputError
from chatkit.flowjson import source

#: Levels of nesting that are read: a flow document has some 20; `outline` looks no deeper than 64.
DEEPEST = 60


def read(document: object) -> Any:
    """Read a flow document however it is given, and refuse what is no JSON.

    What comes back is a copy, which may be changed: the caller's own stays as it is.

    Raises:
        InputError: It is no JSON, or nothing that can be read.
    """
    try:
        given = source.read(document)
        if given.fault:
            raise InputError(f"The flow document is no JSON: {given.fault}.")
        value = json.loads(json.dumps(given.value))  # tuples become lists, and keys texts
        deep = _deeper(value, DEEPEST)
    except RecursionError:
        deep = True
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"The flow document is no JSON: {error}") from None
    if deep:
        raise InputError(f"The flow document is nested more than {DEEPEST} levels deep.")
    return value


def _deeper(value: Any, levels: int) -> bool:
    """Whether a value is nested more deeply than so many levels."""
    level = [value]
    for _ in range(levels):
        nested = [item for item in level if isinstance(item, dict | list)]
        level = [
            child
            for item in nested
            for child in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return False
    return any(isinstance(item, dict | list) for item in level)
