"""Plan rows: the rows of a plan, and of what came of it, as they are drawn and searched."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING

from chatkit.bulk import show
from chatkit.bulk.change import Change
from chatkit.display import visible
from chatkit.widgets.plan.rows import Item

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.bulk.plan import Plan, Refused

LANDED = ("applied", "differs", "unchanged")  #: states of rows with which nothing is wrong
OPEN = ("not sent", "unknown")  #: states of rows with which a run can go on

#: What a person looks for among the changes that cannot be undone exactly.
_UNDO = {"with loss": "undone with loss", "never": "never undone"}


def planned(plan: Plan) -> tuple[Mapping[str, int], Sequence[Item]]:
    """Make the rows of a plan, and of what it refuses."""
    losses = show.losses_of(plan)
    noun = plan.setting.noun

    def drawn(change: Change) -> str:
        return show.html_changes([change], losses, show.MANY)[0]

    items = [
        Item(
            (change.kind, *([] if change.undo == "exactly" else [_UNDO[change.undo]])),
            _searched(change),
            partial(drawn, change),
        )
        for kind in show.by_kind(plan)
        for change in kind
    ]
    items += [
        Item(("refused",), " ".join(map(str, cell)), partial(_refused, cell)) for cell in plan.cells
    ]
    return {"change": 10, noun: 22, "field": 16, "before": 26, "after": 26}, items


def _searched(change: Change) -> str:
    values = json.dumps([dict(change.before), dict(change.after)], ensure_ascii=False, default=str)
    return f"{change.row} {change.key} {change.code or ''} {change.label} {values}"


def _refused(cell: Refused) -> str:
    """Draw a cell that cannot be planned below the columns of a change."""
    row, column, value, *said = (visible(str(part)) for part in cell)
    where = f'<td>refused</td><th scope="rowgroup" dir="auto">row {escape(row)}</th>'
    what = f'<td dir="auto">{escape(column)}</td><td dir="auto">{escape(value)}</td>'
    return f'<tbody><tr>{where}{what}<td dir="auto">{escape(": ".join(said))}</td></tr></tbody>'


def happened(plan: Plan, result: pd.DataFrame) -> tuple[Mapping[str, int], Sequence[Item]]:
    """Make the rows of a result."""
    columns = {"state": 12, "change": 10, plan.setting.noun: 32, "reason": 46}
    items = []
    fields = zip(result["state"], result["change"], result["label"], result["reason"], strict=True)
    for state, change, label, reason in fields:
        kinds = (state,) if state in (*LANDED, "skipped") else ("not applied", state)
        parts = [visible(str(part)) for part in (state, change, label, reason)]
        fine = state in (*LANDED, "skipped")
        kind = "fine" if fine else "open" if state in OPEN else "bad"
        cells = "".join(f'<td dir="auto">{escape(part)}</td>' for part in parts)
        body = f'<tbody class="{kind}"><tr>{cells}</tr></tbody>'
        items.append(Item(kinds, " ".join(parts), partial(str, body)))
    return columns, items
