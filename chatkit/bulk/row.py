"""Row: one change while it is applied: what its journal says of it, folded into a state."""

from __future__ import annotations

from typing import Any, Literal

from chatkit.bulk.change import Change
from chatkit.display import values

State = Literal[
    "applied", "differs", "unchanged", "skipped", "conflict", "failed", "unknown", "not sent"
]

#: Events after which nothing more is to be done for a row.
_LAST = frozenset(
    {"adopted", "verified", "unchecked", "doubled", "differs", "unchanged", "conflict", "failed"}
)


class Row:
    """One change of a run. The same fold serves a run that goes on and one that is read again.

    `open` says that something was sent whose outcome nobody knows: such a row is never sent
    again before somebody has looked. `doubted` says that this was ever so: a refusal may then
    be the echo of its own success.
    """

    __slots__ = (
        *("after", "attempts", "change", "done", "doubted", "evidence", "key", "live", "n"),
        *("open", "reason", "seen", "state", "twins"),
    )

    def __init__(self, n: int, change: Change) -> None:
        self.n = n
        self.change = change
        self.key = change.key
        self.attempts = 0
        self.state: State = "not sent"
        self.reason = ""
        self.evidence = ""  #: how we know that it landed: answered, read back, adopted
        self.live: dict[str, Any] | None = None  #: what could be sent, as it was before the write
        self.after: dict[str, Any] | None = None  #: what read back, where that is not what was sent
        self.seen: str | None = None  #: its updated_at just before the write
        self.twins: list[int] = []  #: records just like it that appeared beside its own
        self.open = False
        self.doubted = False
        self.done = False
        if change.kind == "skip":  # decided when it was planned: nothing is ever sent for it
            self.done, self.state, self.reason = True, "skipped", kept(change)

    def feed(self, what: str, detail: dict[str, Any]) -> None:
        """Take in one event of the journal."""
        self.reason = detail.get("reason", "")
        self.done = what in _LAST or (what == "answered" and self.change.kind != "update")
        match what:
            case "intent":
                self.attempts = detail["attempt"]
                self.live = detail.get("live", self.live)
                self.seen = detail.get("seen")
                self.open, self.state = True, "unknown"
                self.reason = "nobody has seen an answer"
            case "in doubt":
                self.open = self.doubted = True
                self.state = "unknown"
            case "clashed":  # refused as if it were there already: perhaps it came twice
                self.open, self.state = True, "unknown"
            case "not sent" | "absent":
                if what == "not sent" and self.open:  # the service has not seen it
                    self.attempts -= 1
                self.open, self.state = False, "not sent"
            case "answered" | "adopted":
                self.open, self.state = False, "applied"
                self.key = detail.get("key", self.key)
                self.evidence = what
            case "unchecked":
                pass
            case "doubled":
                self.twins = detail["also"]
            case "verified":
                self.state, self.evidence = "applied", "read back"
            case "differs" | "unchanged" | "conflict" | "failed":
                self.open, self.state = False, what
                self.after = detail.get("live")
            case _:
                raise ValueError(f"a journal of this version knows no {what!r}")

    def reopened(self) -> None:
        """Take note that the process which sent it has ended: an intent alone is a doubt."""
        self.doubted = self.doubted or self.open


def kept(change: Change) -> str:
    """Say what a skipped row leaves as it is, with both values."""
    said = [
        f"{name} is {values(change.before[name]) if name in change.before else 'not shown'}, "
        f"the row says {values(value)}"
        for name, value in change.after.items()
    ]
    return f"it exists and is kept: {'; '.join(said)}"
