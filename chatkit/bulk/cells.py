"""Cells: what the cells of an edited frame say, checked; and those that cannot be planned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from chatkit.bulk import findings
from chatkit.bulk.edits import Edits
from chatkit.bulk.keys import Rows
from chatkit.bulk.plan import Refused
from chatkit.display import values as shown
from chatkit.endpoints import Endpoints
from chatkit.errors import Problem
from chatkit.secret import MASK, SECRET

if TYPE_CHECKING:
    from chatkit.finding import Finding


class Cells:
    """The cells of an edited frame, column by column.

    `refused` are those that cannot be planned, `bad` the numbers of their rows, `doubts` what
    is to be known of documents in the others.

    Args:
        room: What the records are.
        edits: The edited frame.
        broken: Take documents although the platform will refuse them.
    """

    def __init__(self, room: Endpoints[Any], edits: Edits, *, broken: bool = False) -> None:
        self.refused: list[Refused] = []
        self.bad: set[int] = set()
        self.doubts: dict[int, list[Finding]] = {}
        self._room, self._edits, self._broken = room, edits, broken
        self._stopped = False
        for refusal in edits.refused:
            self.refuse(*refusal)

    def writable(self, name: str, rows: Rows, *, sent: bool = True) -> Iterator[tuple[int, Any]]:
        """Yield what may be sent of a field for each of these rows; refuse the others.

        Without `sent` documents are not checked: they are only shown.
        """
        body = self._room.body
        values = self._edits.values(name, rows)
        if not body.takes_text(name):  # empty text clears what cannot hold it, too
            values = [None if value == "" else value for value in values]
        good, wrong = body.column(name, values)
        numbers = rows.tolist()
        for place, problems in wrong.items():
            self.problems(numbers[place], problems)
        document = sent and name in self._room.documents
        for place, value in good.items():
            if not document or self._sound(numbers[place], name, value):
                yield numbers[place], value

    def _sound(self, row: int, name: str, document: Any) -> bool:
        """Whether a document may be sent; what else is to be known of it is kept."""
        found = self._room.findings(name, document)
        errors = findings.errors(found)
        if errors and not self._broken:
            self._stopped = True
            for finding in errors:
                problem = findings.problem(name, document, finding)
                self._refuse(row, *problem, finding.hint or "mend the document")
            return False
        if doubts := findings.doubts(found):
            self.doubts.setdefault(row, []).extend(doubts)
        return True

    def passes(self, row: int, fields: Mapping[str, Any], found: Sequence[Finding]) -> bool:
        """Whether a row may be sent with what was found in it; doubts are kept.

        Args:
            row: Its number.
            fields: What would be sent.
            found: Findings whose pointers lead into the record.
        """
        errors = [] if self._broken else findings.errors(found)
        for finding in errors:
            self._stopped = True
            hint = finding.hint or "correct it"
            self._refuse(row, *findings.cell(fields, finding), hint)
        if not errors and (doubts := findings.doubts(found)):
            self.doubts.setdefault(row, []).extend(doubts)
        return not errors

    def refuse_fixed(self, name: str, rows: Rows) -> None:
        """Refuse edits to a field that cannot be written, and tell the right way."""
        reason, step = why_fixed(self._room, name)
        for row, value in zip(rows.tolist(), self._edits.values(name, rows), strict=True):
            self.refuse(row, name, value, reason, step)

    def problems(self, row: int, problems: Sequence[Problem]) -> None:
        """Refuse cells of a row for what is wrong with them."""
        for problem in problems:
            field = self._room.body.model_fields.get(problem.field.partition(".")[0])
            step = (field and field.description) or "leave it out"
            self._refuse(row, problem.field, problem.value, problem.reason, step)

    def refuse(self, row: int, column: str, value: Any, reason: str, next_step: str) -> None:
        """Refuse one cell of a row."""
        text = MASK if SECRET.search(column) else shown(value)
        self._refuse(row, column, text, reason, next_step)

    def _refuse(self, row: int, column: str, text: str, reason: str, next_step: str) -> None:
        self.bad.add(row)
        self.refused.append(Refused(self.label(row), column, text, reason, next_step))

    def label(self, row: int) -> Any:
        """Return what the frame calls a row, as Python has it."""
        label = self._edits.labels[row]
        return label.item() if isinstance(label, np.generic) else label

    def told(self, labels: Mapping[int, str]) -> list[str]:
        """Say what was found in documents; `labels` has the names of the rows that are planned."""
        kept = [(labels[row], found) for row, found in self.doubts.items() if row in labels]
        said = findings.notes(self._room.noun, kept)
        if self._stopped:
            said.append(f"{self._room.refuses} plan(…, broken=True) plans it all the same.")
        return said

    def foreign(self) -> list[str]:
        """Say which columns are not looked at, and what may have been meant."""
        room = self._room
        known = {*room.record.model_fields, *room.body.model_fields}
        notes = []
        for name in self._edits.unknown:
            if name not in known:
                like = get_close_matches(name, room.body.model_fields, 1)
                hint = f"; did you mean {like[0]}?" if like else ""
                notes.append(f"The column {name} is not looked at: it is no field{hint}")
        return notes


def why_fixed(room: Endpoints[Any], name: str) -> tuple[str, str]:
    """Say why a field of a record cannot be written, and what to do about it."""
    if name in room.instead:
        return "cannot be written", room.instead[name]
    if name in room.body.create_only:
        return "can only be set when it is created", "leave it as it was, or make a new one"
    if name in room.record.model_fields:
        return "is set by the service", "leave it as it was"
    return "is not documented, so it is never sent", "leave it as it was"
