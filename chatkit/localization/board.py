"""Board: every template in every language, and the state of each content.

"Live" is what `is_draft` says: not a draft. Whether the platform has approved it, the API does
not show. "Out of date" is what can be seen of a source language that moved on: it was written
later than the translation, where the service shows `updated_at` (the API document does not name
that field), or placeholders, header or buttons are others than those of the source. So a source
whose words alone were changed is not seen without the times; with them, every write counts as a
change, the smallest one too, and a translation that was written later counts as up to date
whatever was written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from chatkit.errors import InputError
from chatkit.localization import language
from chatkit.localization.audit import Audit, check, source_of
from chatkit.localization.content import Contents, Entry, entries, grouped
from chatkit.localization.finding import Finding
from chatkit.localization.rules import STRUCTURE

if TYPE_CHECKING:
    import pandas as pd

State = Literal["missing", "draft", "live", "broken", "out of date"]
STATES: tuple[State, ...] = ("live", "draft", "out of date", "broken", "missing")
_COLUMNS = ("template_code", "lang_code", "state", "reason")


class Cell(NamedTuple):
    """One template in one language: its state, and why it is no better."""

    template_code: str
    lang_code: str  #: as the content has it; as the column says where there is none
    state: State
    reasons: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """Why, in one line."""
        return "; ".join(self.reasons)


class Board:
    """The states of all templates in all languages, by template code and language."""

    def __init__(
        self,
        cells: Mapping[tuple[str, str], Cell],
        codes: Sequence[str],
        languages: Sequence[str],
        source: str,
        audit: Audit,
    ) -> None:
        self._cells = dict(cells)
        self.codes = tuple(codes)
        #: The languages: the source first, then by code.
        self.languages = tuple(languages)
        self.source = source
        #: All that was found in the contents.
        self.audit = audit

    def __getitem__(self, place: tuple[str, str]) -> Cell:
        template_code, lang_code = place
        found = self._cells.get((template_code, lang_code))
        return found or self._cells[template_code, language.normal(lang_code)]

    def __iter__(self) -> Iterator[Cell]:
        return (self._cells[code, lang] for code in self.codes for lang in self.languages)

    def __len__(self) -> int:
        return len(self._cells)

    def counts(self) -> dict[State, int]:
        """Count the contents of each state."""
        count = Counter(cell.state for cell in self)
        return {state: count[state] for state in STATES}

    def frame(self) -> pd.DataFrame:
        """Return the states as a DataFrame: a row for each template, a column for each language."""
        from chatkit.localization.table import states_of

        states = {place: cell.state for place, cell in self._cells.items()}
        return states_of(states, self.codes, self.languages)

    def cells(self, *states: State) -> pd.DataFrame:
        """Return a DataFrame with a row for each content: its state, and why it is no better.

        Args:
            *states: Only those in these states.
        """
        from chatkit.localization.table import frame_of

        return frame_of([c for c in self if not states or c.state in states], _COLUMNS)

    def __repr__(self) -> str:
        from chatkit.localization.boardshow import text

        return text(self)

    def _repr_html_(self) -> str:
        from chatkit.localization.boardshow import html

        return html(self)


def board(
    contents: Contents,
    source: str = "en",
    *,
    codes: Iterable[str] = (),
    languages: Iterable[str] = (),
    audit: Audit | None = None,
) -> Board:
    """Put contents on a board: template × language, with the state of each.

    Args:
        contents: A frame of contents, read with `full=True` to see all that is broken; or
            several contents.
        source: The language that the others are translated from.
        codes: Templates to show although they have no content at all.
        languages: Languages to show although no template has them.
        audit: What `check` found in these contents, if it was asked already.

    Raises:
        InputError: They are no contents, or a frame does not tell their languages.
    """
    if isinstance(codes, str) or isinstance(languages, str):
        raise InputError("Pass codes and languages as lists: codes=['order_ready'].")
    found = entries(contents)
    audit = check(found, source) if audit is None else audit
    broken: dict[tuple[str, str], list[Finding]] = {}
    drifted: dict[tuple[str, str], list[Finding]] = {}
    for each in audit:
        if each.refused:
            broken.setdefault((each.template_code, each.lang_code), []).append(each)
        elif each.code in STRUCTURE:
            drifted.setdefault((each.template_code, each.lang_code), []).append(each)
    cells: dict[tuple[str, str], Cell] = {}
    members = grouped(found)
    for template, group in members.items():
        original = source_of(group, source)
        for entry in group:
            place = template, entry.lang_code
            late = [each.message for each in drifted.get(place, ())]
            if original is not None and entry is not original and _older(entry, original):
                late.insert(0, f"{original.lang_code} was written later")
            wrong = [f"{each.code}: {each.message}" for each in broken.get(place, ())]
            cell = _cell(entry, wrong, late)
            # of two that mean the same language the first counts; the audit tells of both
            cells.setdefault((template, language.normal(entry.lang_code)), cell)
    wanted = dict.fromkeys(language.normal(lang) for lang in languages)
    columns = _in_order({*wanted, *(lang for _, lang in cells)}, source)
    rows = list(dict.fromkeys((*members, *codes)))
    for code in rows:
        for lang in columns:
            cells.setdefault((code, lang), Cell(code, lang, "missing"))
    return Board(cells, rows, columns, source, audit)


def _cell(entry: Entry, wrong: list[str], late: list[str]) -> Cell:
    draft = entry.flag("is_draft") is True
    state: State = "draft" if draft else "live"
    reasons = ["it is a draft"] if draft else []
    if late:
        state, reasons = "out of date", [*late, *reasons]
    if wrong:
        state, reasons = "broken", [*wrong, *reasons]
    return Cell(entry.template_code, entry.lang_code, state, tuple(reasons))


def _in_order(languages: Iterable[str], source: str) -> list[str]:
    """Put the source language first, then its relatives, then all others by their code."""
    own, base = language.normal(source), language.base(source)
    return sorted(languages, key=lambda lang: (lang != own, language.base(lang) != base, lang))


def _older(entry: Entry, source: Entry) -> bool:
    """Whether a content was written before the source, as far as both tell."""
    mine, other = _moment(entry.given.get("updated_at")), _moment(source.given.get("updated_at"))
    return mine is not None and other is not None and mine < other


def _moment(value: Any) -> datetime | None:
    """Read a time; one without an offset is UTC, as the API writes all times."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)
