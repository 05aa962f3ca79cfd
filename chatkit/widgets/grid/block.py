"""Block: cells as a spreadsheet puts them on the clipboard, tabs between them.

Spreadsheets put quotes around a text that holds a tab or a line break, and only then; a name
in quotes stays a name in quotes. static/grid.js writes what this reads.
"""

from __future__ import annotations

import re

#: A text in quotes that needs them: up to a tab, a line break, or the end.
_QUOTED = re.compile(r'"((?:[^"]|"")*)"(?=[\t\r\n]|\Z)')
_END = re.compile("[\t\r\n]")
_NEEDED = re.compile('[\t\r\n]|""')


def read(text: str) -> list[list[str]]:
    r"""Read the rows of a block; one line break at its end ends the last row.

    >>> read('Ana\t+91\nBo\t"two\nlines"')
    [['Ana', '+91'], ['Bo', 'two\nlines']]
    """
    rows: list[list[str]] = [[]]
    place = 0
    while True:
        cell, place = _cell(text, place)
        rows[-1].append(cell)
        if place >= len(text):
            return rows
        line_ends = text[place] != "\t"
        place += 2 if text.startswith("\r\n", place) else 1
        if line_ends and place == len(text):
            return rows
        if line_ends:
            rows.append([])


def _cell(text: str, place: int) -> tuple[str, int]:
    """Read the cell that begins at a place, and where it ends."""
    quoted = _QUOTED.match(text, place)
    if quoted and _NEEDED.search(quoted[1]):
        return quoted[1].replace('""', '"'), quoted.end()
    end = _END.search(text, place)
    return (text[place:], len(text)) if end is None else (text[place : end.start()], end.start())
