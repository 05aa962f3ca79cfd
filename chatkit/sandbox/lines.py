"""Lines: the small language in which a conversation is written, one line for each thing.

> Is my bike ready?             the customer writes
< Yes, since noon.              the account answers; it is sent, delivered and read
< Are you there? ~delivered     it comes no further than delivered (or sent)
< Hello? !131026                it fails with this error of the upstream platform
> [image] The scratch           a file: image, video, audio, voice, document, sticker
> [button] Yes, please          a button of a template is pressed
> +👍                            the customer reacts to the account's last message
> -                             and takes the reaction back
wait 2h                         time passes: s, min, h or d
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from chatkit.sandbox.changes import ERRORS, MEDIA, STATUSES

Kind = Literal["text", "button", "reaction", "wait"] | str
_UNITS = {"s": 1, "min": 60, "h": 3600, "d": 86_400}
_WAIT = re.compile(r"wait\s+([0-9]{1,4})\s*(s|min|h|d)")
_MARKED = re.compile(r"\[([a-z]+)\]\s*(.*)", re.DOTALL)
_ENDING = re.compile(r"(.*?)\s+(?:!([0-9]{4,7})|~([a-z]+))", re.DOTALL)


class BadScenario(ValueError):
    """A scenario that cannot be played; the text says what can."""


class Line(NamedTuple):
    """One line, read."""

    ours: bool  #: whether the account says it
    kind: Kind
    text: str
    until: str = "read"  #: how far a message of ours comes
    error: int | None = None
    seconds: int = 0


def read_lines(text: str | Sequence[str]) -> list[Line]:
    """Read a conversation; empty lines are left out.

    Raises:
        BadScenario: The first line that cannot be read, and how it may be written.
    """
    lines = text.splitlines() if isinstance(text, str) else text
    found = []
    for number, line in enumerate(lines, 1):
        if not isinstance(line, str):
            raise BadScenario(f"line {number} is no text")
        if line.strip():
            try:
                found.append(_read(line.strip()))
            except BadScenario as error:
                raise BadScenario(f"line {number} ({line.strip()[:40]}): {error}") from None
    if not found:
        raise BadScenario("a conversation has a line at least: > what the customer writes")
    return found


def _read(line: str) -> Line:
    if wait := _WAIT.fullmatch(line):
        return Line(True, "wait", "", seconds=int(wait[1]) * _UNITS[wait[2]])
    if line[0] not in "<>":
        raise BadScenario("it must begin with > (the customer), < (the account) or wait 5min")
    ours, said = line[0] == "<", line[1:].strip()
    if not said:
        raise BadScenario("nothing is said")
    return _ours(said) if ours else _theirs(said)


def _theirs(said: str) -> Line:
    if said == "-" or (said[0] == "+" and len(said) > 1 and not said[1].isalnum()):
        return Line(False, "reaction", said[1:].strip())
    marked = _MARKED.fullmatch(said)
    if marked is None:
        return Line(False, "text", said)
    if marked[1] not in (*MEDIA, "button"):
        raise BadScenario(f"there is no [{marked[1]}]; there are {', '.join(MEDIA)} and button")
    if marked[1] == "button" and not marked[2]:
        raise BadScenario("a button has a label: [button] Yes, please")
    return Line(False, marked[1], marked[2])


def _ours(said: str) -> Line:
    ending = _ENDING.fullmatch(said)
    if ending is None:
        return Line(True, "text", said)
    text, code, until = ending.groups()
    if until is not None and until not in STATUSES:
        raise BadScenario(f"there is no status {until}; there are {', '.join(STATUSES)}")
    if code is not None and int(code) not in ERRORS:
        raise BadScenario(f"the error {code} is not known; {', '.join(map(str, ERRORS))} are")
    return Line(True, "text", text, until or "failed", None if code is None else int(code))
