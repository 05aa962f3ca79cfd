"""Every widget and every HTML report, each in its states, below each other in one notebook.

`gallery.txt` has its cells: the name of a state after `#`, and what shows it; the first cell sets
up what the others use, and notes for each of them which widgets it made.
"""

from __future__ import annotations

import re
from pathlib import Path

_TESTS = Path(__file__).parents[1]
_TEXT = (_TESTS / "browser/gallery.txt").read_text("utf-8").replace("TESTS", repr(str(_TESTS)))
_PARTS = re.split(r"^# (.+)\n", re.sub(r"^## .*\n", "", _TEXT, flags=re.M), flags=re.M)[1:]
_CELLS = {name: code.strip() for name, code in zip(_PARTS[::2], _PARTS[1::2], strict=True)}
START, WRITE_KINDS = _CELLS.pop("start"), _CELLS.pop("end")
#: The states of each widget by name; what a cell ends with is shown.
STATES = _CELLS
