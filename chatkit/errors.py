"""Every exception of chatkit.

```
ChatkitError
├── SettingsError          half a configuration, an unknown connection, a bad address
├── InputError             what you passed cannot be sent; nothing was sent
├── PlanRefused            the plan would do more than was allowed, or is not what was reviewed
├── JournalError           what a run does cannot be recorded, or its journal cannot be trusted
├── AccountBusy            another apply is at work on the account; nothing was sent
├── BadSignature           a delivery or a signing secret is not what it should be
├── StoreError             the inbox, a Parquet folder or a sandbox's file cannot be read or written
├── PartMissing            a part of chatkit is needed that is not installed here
└── CallError              a call failed (.call, .status)
    ├── Refused            the service said no; nothing changed
    │   ├── NotAuthenticated   the token is missing, wrong or of another account
    │   ├── NotPermitted       the token lacks the permission
    │   ├── NotFound           no record with that key
    │   ├── Conflict           it exists already
    │   └── RateLimited        too many calls (.retry_after seconds)
    ├── Unreachable        the call never left this machine; nothing changed
    └── UnknownOutcome     no answer that can be trusted: a write may have taken effect
        ├── DeadlinePassed     no answer in time
        ├── ServerFault        the service failed (5xx)
        └── BadAnswer          HTML, truncated, empty, too large, wrongly typed …
```
Warnings: `ListMoved` says that a list changed while it was read.

In a notebook each shows as its message, without the forty lines of a traceback.

>>> try:
...     client.contacts.get(1)
... except chatkit.errors.NotFound as error:
...     print(error.status)
404
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.api.call import Call


def safe_repr(method: Callable[[Any], str]) -> Callable[[Any], str]:
    """Decorate a `__repr__` so that it never raises.

    Debuggers, and tracebacks that print variables, show objects that are half made, or whose
    database is gone: an error there would hide the one that is looked for.
    """

    @wraps(method)
    def safe_repr(self: Any) -> str:
        try:
            return method(self)
        except Exception as error:  # noqa: BLE001  whatever it is, it is named
            return f"<{type(self).__name__}, cannot be shown ({type(error).__name__})>"

    return safe_repr


class HelpPage(type):
    """A class whose `help()` lists only its own methods."""

    def __dir__(cls) -> list[str]:
        ours = [vars(base) for base in cls.__mro__ if base.__module__.startswith("chatkit.")]
        names = {name for each in ours for name in each}
        return sorted(name for name in names if not name.startswith(("_", "model_")))


class ChatkitError(Exception, metaclass=HelpPage):
    """Base of all errors of chatkit.

    >>> try:
    ...     client.contacts.get(7)
    ... except chatkit.ChatkitError as error:
    ...     print(error)
    GET contacts/7: 404 Contact not found
    client.contacts.frame() lists the id of each contact.
    """

    def _render_traceback_(self) -> list[str]:
        """Show only the message in IPython, without the traceback."""
        return [f"{type(self).__name__}: {self}"]


class SettingsError(ChatkitError):
    """The base address, the account or the token is missing or wrong."""


class BadSignature(ChatkitError, ValueError):
    """A signature cannot be verified, or a signing secret cannot be used.

    >>> try:
    ...     chatkit.verify(b"{}", {}, "a secret")
    ... except chatkit.errors.BadSignature as error:
    ...     print(error)
    the header webhook-signature is missing
    """


class Problem(NamedTuple):
    """A problem of one field: its name, its value shown short, the reason and the next step."""

    field: str
    value: str
    reason: str
    next_step: str = ""  #: empty where the reason ends with it, as in "is empty: write a name"


def get_first_line(error: BaseException) -> str:
    """Return the first line of an error, without the list of its problems."""
    return str(error).partition("\n")[0]


def format_problem(problem: Problem) -> str:
    """Return a problem as a line, with the next step in a line below."""
    value = f" = {problem.value}" if problem.value else ""
    step = f"\n    -> {problem.next_step}" if problem.next_step else ""
    return f"  {problem.field}{value}: {problem.reason}{step}"


#: Where the reason of a problem turns into what to do: "is a decimal: write it again as text".
_STEP = re.compile(
    "[:;,] (?=(?:so )?(?:write|leave|pass|read|use|keep|take|put|say|name|make|choose|type|set|"
    "correct|remove|unpack|save|allow|did you mean)\\b)"
)


def split_reason(text: str) -> tuple[str, str]:
    """Split what is wrong with a field into the reason and the next step, "" if there is none."""
    reason, *step = _STEP.split(text, maxsplit=1)
    return reason, step[0].removeprefix("so ") if step else ""


def split_problem_place(field: str) -> tuple[str | None, str]:
    """Split "row 7, number" into row and column; a field of one record has no row."""
    match = re.fullmatch(r"row ([^,]+)(?:, (.*))?", field, re.DOTALL)
    return (match[1], match[2] or "") if match else (None, field)


class InputError(ChatkitError, ValueError):
    """An input that cannot be sent. Nothing was sent.

    `problems` lists every field that is wrong, not only the first; `frame()` shows them as a
    table.

    >>> import chatkit
    >>> try:
    ...     chatkit.ServiceProfile(putt="merge")
    ... except chatkit.errors.InputError as error:
    ...     error.frame()[["column", "reason", "next_step"]]
      column           reason          next_step
    0   putt  no such setting  did you mean put?
    """

    #: What to do about each problem that does not say it.
    next_step = "correct it, and call again"

    def __init__(self, what: str, problems: Sequence[Problem] = ()) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join([what, *map(format_problem, self.problems)]))

    def frame(self) -> pd.DataFrame:
        """Return the problems as a table, also those of rows that were left out.

        Its columns are `row` (of the table or file that was passed, empty for a single
        record), `column`, `value`, `reason` and `next_step`, which says what to do about
        that row.
        """
        import pandas as pd

        rows = []
        for problem in self.problems:
            row, column = split_problem_place(problem.field)
            reason, step = problem.reason, problem.next_step
            if not step:
                reason, step = split_reason(reason)
            rows.append((row, column, problem.value, reason, step or self.next_step))
        names = ["row", "column", "value", "reason", "next_step"]
        return pd.DataFrame(rows, columns=names, dtype="str")


class PlanRefused(ChatkitError):
    """The plan would do more than was allowed, or is not what was reviewed."""


class JournalError(ChatkitError):
    """A run that cannot be recorded, or whose journal cannot be trusted."""


class AccountBusy(ChatkitError):
    """Another apply is at work on the account. Nothing was sent."""


class StoreError(ChatkitError):
    """The inbox, a Parquet folder, or the file of a sandbox cannot be read or written.

    A delivery that was not acknowledged will be sent again by the service.

    `of_one` tells that a value of one delivery was refused: others may be stored.
    """

    of_one = False


class PartMissing(ChatkitError, ImportError):
    """A part of chatkit is needed that is not installed here, like the widgets or the sandbox."""


@contextmanager
def explain_missing_part(what: str) -> Iterator[None]:
    """Raise `PartMissing` for an import in the block that finds no such module.

    Widgets, inbox, sandbox and files can each be left out: the rest works.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        part = ".".join((error.name or "").split(".")[:2])
        if not part.startswith("chatkit."):
            raise
        raise PartMissing(f"{what} needs {part}, which is not installed here.") from None


def read_file_bytes(path: str | os.PathLike[str]) -> bytes:
    """Read a file that a person has named.

    Raises:
        FileNotFoundError: It is not there; the text says what is.
        OSError: It cannot be read.
    """
    from difflib import get_close_matches
    from pathlib import Path

    path = Path(path).expanduser()
    try:
        return path.read_bytes()
    except IsADirectoryError:
        raise IsADirectoryError(f"{path} is a folder: name a file in it.") from None
    except FileNotFoundError:
        folder = path.absolute().parent
        if not folder.is_dir():
            raise FileNotFoundError(f"There is no folder {folder}.") from None
        names = [each.name for each in folder.iterdir() if not each.name.startswith(".")]
        near = get_close_matches(path.name, names, 1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise FileNotFoundError(f"There is no file {path.name!r} in {folder}{hint}") from None


def format_command(arguments: str) -> str:
    """Return a command of chatkit as it works in the terminal of the reader.

    That is `chatkit …` where the command on PATH is the one of this environment, as in a terminal
    of a JupyterLab that `chatkit lab` or `make lab` has started; else this interpreter, in full.

    Args:
        arguments: What stands after `chatkit`, as one types it.
    """
    import shlex
    import shutil

    path = shutil.which("chatkit")
    if path is not None and any(
        os.path.isdir(folder) and os.path.samefile(os.path.dirname(os.path.realpath(path)), folder)
        for folder in list_command_folders()
    ):
        return f"chatkit {arguments}"
    python = sys.executable or "python"
    quoted = shlex.quote(python) if os.name == "posix" else f'"{python}"'
    return f"{quoted} -m chatkit {arguments}"


def list_command_folders() -> list[str]:
    """Return the folders in which installations of this interpreter put commands."""
    import sysconfig

    folders = [os.path.dirname(sys.executable), sysconfig.get_path("scripts")]
    if sys.prefix == sys.base_prefix:  # else what `pip install --user` put there is another one's
        folders.append(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")))
    return list(dict.fromkeys(folders))


class CallError(ChatkitError):
    """A call failed. `call` is what was sent, `status` the HTTP status if there was one.

    >>> try:
    ...     client.flows.delete(301)
    ... except chatkit.errors.CallError as error:
    ...     print(error.call, error.status)
    DELETE flows/301 409
    """

    advice = ""

    def __init__(self, call: Call, reason: str, *, status: int | None = None) -> None:
        self.call = call
        self.status = status
        self.reason = reason
        text = f"{call}: {reason}"
        super().__init__(f"{text}\n{self.advice}" if self.advice else text)

    def advise(self, next_step: str) -> None:
        """Replace the advice of this kind of error by another next step."""
        self.advice = next_step
        self.args = (f"{self.call}: {self.reason}\n{next_step}",)


class Refused(CallError):
    """The service refused the call; nothing changed. `fields` has the refused ones, if known."""

    def __init__(
        self,
        call: Call,
        reason: str,
        *,
        status: int | None = None,
        fields: Sequence[tuple[str, str]] = (),
    ) -> None:
        self.fields = tuple(fields)
        super().__init__(call, reason, status=status)


class NotAuthenticated(Refused):
    """The token is missing, wrong, or belongs to another account."""

    advice = "Make a token in the business application under Profile, API access token."


class NotPermitted(Refused):
    """The token is known, but its user lacks the permission for this operation."""

    advice = "chatkit.doctor(client) shows which permissions the token has."


class NotFound(Refused, LookupError):
    """No record with that key in this account."""


class Conflict(Refused):
    """A record with that key exists already (for contacts: API document, Errors, 1)."""


class RateLimited(Refused):
    """Too many calls. `retry_after` is the seconds that the service asks to wait, if known."""

    def __init__(self, call: Call, reason: str, *, status: int, retry_after: float | None) -> None:
        self.retry_after = retry_after
        when = "later" if retry_after is None else f"in {retry_after:,.0f} s"
        self.advice = f"Nothing was changed: call again {when}."
        super().__init__(call, reason, status=status)


class Unreachable(CallError):
    """The call never left: no such host, nobody listens, TLS failed. Nothing changed.

    `passing` tells whether it may be otherwise in a moment.
    """

    advice = "chatkit.doctor(client) checks address, TLS and token one by one."

    def __init__(self, call: Call, reason: str, *, passing: bool = True) -> None:
        self.passing = passing
        super().__init__(call, reason)


class UnknownOutcome(CallError):
    """There is no answer that can be trusted. A write may or may not have taken effect.

    Look before you repeat it: a second create may be a duplicate.
    """

    def __init__(self, call: Call, reason: str, *, status: int | None = None) -> None:
        if call.writes:
            reason += (
                "\nThe change may or may not have taken effect: read it back before you repeat it."
            )
        elif not self.advice:
            self.advice = (
                "Nothing was changed: call again, or see what chatkit.doctor(client) finds."
            )
        super().__init__(call, reason, status=status)


class DeadlinePassed(UnknownOutcome, TimeoutError):
    """No whole answer arrived before the deadline."""


class ServerFault(UnknownOutcome):
    """The service answered with a failure of its own (5xx)."""


class BadAnswer(UnknownOutcome):
    """The answer is not what the API document describes."""


class ListMoved(UserWarning, metaclass=HelpPage):
    """The list changed while it was read: rows may be missing. Read it again.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", chatkit.errors.ListMoved)  # rather stop than miss a row
    ...     frame = client.contacts.frame()
    """


@dataclass(frozen=True)
class Fault:
    """A failed call as a value: `Transport.send_all` yields it in place of an answer."""

    call: Call
    error: CallError
