"""The commands `chatkit pull`, `diff`, `plan`, `apply` and `restore`: an account as a folder.

They ask nothing where there is no terminal, so that they run in continuous integration. What a
person is told goes to standard error; standard output holds what the command is for.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chatkit.errors import (
    ChatkitError,
    SettingsError,
)

if TYPE_CHECKING:
    from chatkit.client import Client

#: Exit statuses, as `diff` has them.
SAME, DIFFERENT, TROUBLE = 0, 1, 2
#: Stands for the CHATKIT_ variables in place of the name of a connection.
ENVIRONMENT = "environment"

_STATUS = "Exit status: {0}. 2: trouble, which standard error tells. 130: interrupted."
_NAME = (
    "a connection (`chatkit connections` lists them), `environment` for CHATKIT_BASE_URL, "
    "CHATKIT_ACCOUNT_ID and CHATKIT_TOKEN, or the access file of a sandbox"
)
_FOLDER = "the folder, or a git revision of it: shop/@HEAD~3"
_MOST = 40  #: changes that a comment shows
_LINES = 8  #: lines that it shows of one of them
_LONGEST = 60_000  #: characters of a comment; GitHub takes 65,536


def add(commands: Any) -> None:
    """Add the commands of an account as a folder to those of `chatkit`.

    Args:
        commands: The subparsers of `chatkit`.
    """
    diff = commands.add_parser(
        "diff",
        help="tell what differs between two accounts or folders",
        description="Tell what differs between two accounts, folders, or git revisions of a "
        "folder, by what things are called: - is left, + is right. Nothing is changed. A folder "
        "that is called as a connection is written ./NAME.",
        epilog=_STATUS.format("0: nothing differs. 1: something does"),
    )
    diff.add_argument("left", metavar="LEFT", help=f"{_FOLDER}; or {_NAME}")
    diff.add_argument("right", metavar="RIGHT", help="as LEFT")
    _contacts(diff, "compare contacts too")
    _codes(diff)
    diff.add_argument("--json", action="store_true", help="an array of the differences")
    diff.set_defaults(run=_diff)


def _contacts(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument("--contacts", action="store_true", help=text)


def _codes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--templates",
        nargs="+",
        metavar="CODE",
        help="template codes; without it those in the folder, and those that "
        "client.templates.remember(codes) keeps: an account cannot list them",
    )


# --- what the commands share ----------------------------------------------------------------


def _told(run: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """Have every trouble of a command told, with a status of its own."""

    @wraps(run)
    def told(arguments: argparse.Namespace) -> int:
        try:
            return run(arguments)
        except (ChatkitError, OSError) as error:
            _tell(f"chatkit: {error}")
            return TROUBLE

    return told


def _tell(text: str) -> None:
    """Tell a person something, beside what the command is for."""
    print(text, file=sys.stderr)  # noqa: T201


def _show(text: str) -> None:
    """Write what the command is for."""
    print(text, flush=True)  # noqa: T201


def _open(name: str) -> Client:
    """Open an account by its name.

    Raises:
        SettingsError: There is none of that name, or the variables do not name one.
    """
    from chatkit import settings
    from chatkit.client import connect

    if name == ENVIRONMENT and name not in settings.names():
        if settings.resolve(None) is None:
            raise SettingsError(
                "The variables name no account: set CHATKIT_BASE_URL, CHATKIT_ACCOUNT_ID and "
                "CHATKIT_TOKEN."
            )
        with redirect_stdout(sys.stderr):
            return connect(None)
    with redirect_stdout(sys.stderr):
        return connect(name)


def _is_folder(name: str) -> bool:
    """Tell a folder, or a revision of one, from the name of an account."""
    from chatkit import settings

    if name.endswith(".access") or name in (ENVIRONMENT, *settings.names()):
        return False
    return "@" in name or "/" in name or os.sep in name or Path(name).is_dir()


@contextmanager
def _sides(*names: str) -> Iterator[list[Any]]:
    """Open what is compared: accounts for as long as the block lasts."""
    found: list[Any] = []
    try:
        for name in names:
            found.append(name if _is_folder(name) else _open(name))
        yield found
    finally:
        for one in found:
            if not isinstance(one, str):
                one.close()


# --- pull and diff --------------------------------------------------------------------------


@_told
def _diff(arguments: argparse.Namespace) -> int:
    from chatkit.account.comparison import compare

    with _sides(arguments.left, arguments.right) as (left, right), redirect_stdout(sys.stderr):
        found = compare(left, right, contacts=arguments.contacts, codes=arguments.templates)
    _show(found.json() if arguments.json else found.text())
    return DIFFERENT if found else SAME
