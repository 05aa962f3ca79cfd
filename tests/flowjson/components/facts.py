"""The facts about components as they were handed over, read for comparison with our table."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from chatkit.flowjson.components import FIRST, Version


class Fact(NamedTuple):
    """One property as the facts name it: "label(>=4.0)", "title (range mode)"."""

    name: str
    since: Version
    where: str


def fact(text: str) -> Fact:
    """Parse the name of a property in the facts."""
    result = re.fullmatch(r"([\w.\-]+)\s*(?:\((.*)\))?", text)
    assert result, text
    inside = result[2] or ""
    version = re.search(r">=(\d+\.\d+)", inside)
    where = next((w for w in ("outside Form", "range mode") if w in inside), "anywhere")
    since = Version.parse(version[1]) if version else None
    return Fact(result[1], since or FIRST, where)


def facts(shared: Path) -> dict[str, dict[str, Any]]:
    """Read the facts of all components by name."""
    result: dict[str, dict[str, Any]] = json.loads((shared / "facts/flow_rules.json").read_text())[
        "components"
    ]
    return result
