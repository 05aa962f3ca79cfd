"""The commands `chatkit pull`, `diff`, `plan`, `apply` and `restore`: an account as a folder.

They ask nothing where there is no terminal, so that they run in continuous integration. What a
person is told goes to standard error; standard output holds what the command is for.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, redirect_stdout
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chatkit.display import cut, many, visible
from chatkit.errors import (
    ChatkitError,
    InputError,
    JournalError,
    PlanRefused,
    SettingsError,
    command,
    file_bytes,
)

if TYPE_CHECKING:
    from chatkit.account.rehearsal import Rehearsal
    from chatkit.bulk.plan import Plan
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
    pull = commands.add_parser(
        "pull",
        help="keep an account in a folder, as files for git",
        description="Read an account into a folder of small files. What you edited there is kept, "
        "what changed in the account is taken; where both changed nothing is written, and each "
        "such field is named. No token and no signing secret is ever written.",
        epilog=_STATUS.format("0: the folder is as the account, but for what you edited"),
    )
    pull.add_argument("name", metavar="NAME", help=_NAME)
    pull.add_argument("folder", type=Path, metavar="FOLDER", help="made if it is not there")
    _contacts(pull, "write contacts.csv too: personal data, which .gitignore then names")
    _codes(pull)
    pull.add_argument(
        "--conflicts",
        choices=["refuse", "files", "account"],
        default="refuse",
        help="what counts where both changed a field: the files, or the account",
    )
    _flag(pull, "--other-account", "the folder was pulled from another account")
    pull.set_defaults(run=_pull)

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
    _flag(diff, "--json", "an array of the differences")
    diff.set_defaults(run=_diff)

    plan = commands.add_parser(
        "plan",
        help="show what would make an account as a folder is",
        description="Show what would make an account as a folder is. Nothing is changed.",
        epilog=_STATUS.format("0: the plan can be applied. 1: something stops it, which it says"),
    )
    _what(plan)
    _flag(plan, "--markdown", "as a comment on a pull request: short, and safe")
    plan.add_argument(
        "--out", type=Path, metavar="FILE", help="write the plan here for `chatkit apply`; the "
        "file holds data of the account, and only you can read it",
    )  # fmt: skip
    _flag(
        plan,
        "--rehearse",
        "apply it to a copy of the account, and show what differs; the account itself is only read",
    )
    plan.set_defaults(run=_plan)

    apply = commands.add_parser(
        "apply",
        help="apply a plan that `plan --out` has written",
        description="Apply a plan that `chatkit plan --out FILE` has written: this plan only, and "
        "only if everything it changes is still as it was then. The run is journalled: the "
        "same command goes on after an interrupt, chatkit.undo(run) takes it back.",
        epilog=_STATUS.format("0: all is applied. 1: some is not, or the plan is outdated"),
    )
    apply.add_argument("plan", type=Path, metavar="FILE", help="what `plan --out` has written")
    apply.add_argument(
        "name", nargs="?", metavar="NAME", help=f"{_NAME}. Without it: the account of the plan is "
        "looked for in the variables and among the connections",
    )  # fmt: skip
    _flag(apply, "--rehearsed", "only if `plan --rehearse` of it went well")
    _how(apply)
    apply.set_defaults(run=_apply)

    restore = commands.add_parser(
        "restore",
        help="bring an account back to what a folder holds",
        description="Plan what brings an account back to what a folder or a git revision of it "
        "holds, show it, and apply it. In a terminal it asks first; without one it needs --yes.",
        epilog=_STATUS.format("0: all is as in the folder. 1: some is not"),
    )
    _what(restore)
    _how(restore)
    restore.set_defaults(run=_restore)


def _flag(parser: argparse.ArgumentParser, name: str, said: str) -> None:
    parser.add_argument(name, action="store_true", help=said)


def _contacts(parser: argparse.ArgumentParser, text: str) -> None:
    _flag(parser, "--contacts", text)


def _codes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--templates",
        nargs="+",
        metavar="CODE",
        help="template codes; without it those in the folder, and those that "
        "client.templates.remember(codes) keeps: an account cannot list them",
    )


def _what(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", help=_FOLDER)
    parser.add_argument("name", metavar="NAME", help=_NAME)
    _contacts(parser, "plan contacts too")
    parser.add_argument(
        "--delete",
        nargs="+",
        default=(),
        metavar="NAME",
        help="also delete these, which the folder does not hold, each by resource and name as "
        'diff shows them: --delete "flow Order survey" "content order_ready/de"',
    )
    _flag(parser, "--broken", "take what the platform would refuse, too")
    _flag(parser, "--skip-invalid", "leave out what cannot be planned, and go on")


def _how(parser: argparse.ArgumentParser) -> None:
    _flag(parser, "--yes", "ask nothing")
    _flag(parser, "--many", "allow to delete over 100 or to change over 30 %%")
    _flag(parser, "--irreversible", "allow what has no undo")
    parser.add_argument("--rate", type=float, metavar="N", help="at most N calls a second")
    parser.add_argument(
        "--secrets", type=Path, metavar="FILE", help="write the signing secrets of new webhooks "
        "into a new file that only you can read; else they are shown once, in a terminal alone",
    )  # fmt: skip


# --- what the commands share ----------------------------------------------------------------


def _told(run: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """Have every trouble of a command told, with a status of its own."""

    @wraps(run)
    def told(arguments: argparse.Namespace) -> int:
        try:
            return run(arguments)
        except (ChatkitError, OSError) as error:
            _tell(f"chatkit: {_flags(str(error))}")
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
def _pull(arguments: argparse.Namespace) -> int:
    from chatkit.account.folder import Folder

    with closing(_open(arguments.name)) as client, redirect_stdout(sys.stderr):
        done = Folder(arguments.folder).pull(
            client,
            contacts=arguments.contacts,
            codes=arguments.templates,
            conflicts=arguments.conflicts,
            other_account=arguments.other_account,
        )
    _show(str(done))
    return SAME


@_told
def _diff(arguments: argparse.Namespace) -> int:
    from chatkit.account.comparison import compare

    with _sides(arguments.left, arguments.right) as (left, right), redirect_stdout(sys.stderr):
        found = compare(left, right, contacts=arguments.contacts, codes=arguments.templates)
    _show(found.json() if arguments.json else found.text())
    return DIFFERENT if found else SAME


# --- plan -----------------------------------------------------------------------------------


def _made(arguments: argparse.Namespace, client: Client) -> Plan:
    """Make the plan that a command is about."""
    from chatkit.account.folder import state_of
    from chatkit.account.planning import plan_state

    with redirect_stdout(sys.stderr):
        state = state_of(arguments.folder, contacts=arguments.contacts)
        return plan_state(
            state,
            client,
            delete=arguments.delete,
            broken=arguments.broken,
            skip_invalid=arguments.skip_invalid,
        )


@_told
def _plan(arguments: argparse.Namespace) -> int:
    from chatkit.account.rehearsal import rehearse

    with closing(_open(arguments.name)) as client:
        plan = _made(arguments, client)
        stopped = plan.objections(many=True, irreversible=True)
        rehearsal = None
        if arguments.rehearse and len(plan) and not stopped:
            with redirect_stdout(sys.stderr):
                rehearsal = rehearse(plan)
            stopped = rehearsal.problems
        if arguments.out:
            plan.save(arguments.out)
        where = _where(client)
        if arguments.markdown:
            told = [] if rehearsal is None else _rehearsal_lines(rehearsal)
            _show(markdown(plan, where, told))
        else:
            _show("\n\n".join([_as_text(plan), *([] if rehearsal is None else [repr(rehearsal)])]))
    if arguments.out and not stopped and len(plan):
        _tell(f"Written. It is applied with: {command(f'apply {arguments.out}')}")
    return DIFFERENT if stopped else SAME


def _where(client: Client) -> str:
    from chatkit.connection import account_words

    return account_words(client.connection.account, client.connection.name)


def _as_text(plan: Plan) -> str:
    return _flags(repr(plan)).replace("plan.apply() does it.", "").strip()


def _flags(text: str) -> str:
    """Name the flag in place of the argument that allows something."""
    text = re.sub(r"\bconflicts='(\w+)'", r"--conflicts \1", text)
    text = text.replace("chatkit.rehearse(plan) applies", "plan --rehearse applies")
    text = re.sub(r"\bplan\(…, skip_invalid=True\)", "--skip-invalid", text)
    text = re.sub(r"\b(other_account|broken)=True", r"--\1", text).replace("--other_", "--other-")
    return re.sub(r"apply\((many|irreversible)=True\)", r"--\1", text)


def _rehearsal_lines(rehearsal: Rehearsal) -> list[str]:
    """Sum up a rehearsal in lines of a comment."""
    if not rehearsal.problems:
        went = (
            f"# rehearsed on a copy of the account: {many(len(rehearsal.result), 'row')} as planned"
        )
        return [went, *(f"# rehearsal: {cut(said, 200)}" for said in rehearsal.warnings[:_LINES])]
    return [f"! rehearsal: {cut(said, 200)}" for said in rehearsal.problems[:_LINES]]


def markdown(plan: Plan, where: str, told: Iterable[str] = ()) -> str:
    """Write a plan as a comment on a pull request.

    All that strangers wrote stands in one fenced block that none of it can end, where nobody is
    mentioned, no picture is loaded and nothing is a link.

    Args:
        plan: The plan.
        where: Its account, in words.
        told: Lines to add, like what a rehearsal found.
    """
    from chatkit.bulk import rendering

    counts = [many(count, kind) for kind, count in plan.counts.items() if count]
    lines = [line for change in plan.changes[:_MOST] for line in _change_lines(change)]
    if (more := len(plan.changes) - _MOST) > 0:
        lines.append(f"# … and {many(more, 'more change')}")
    for cell in rendering.refused_frame(plan_cells(plan), ("row",)).head(_MOST).itertuples():
        place = " ".join(filter(None, (str(cell.row), str(cell.column))))
        lines.append(f"! refused: {cut(place, 80)}: {cut(str(cell.reason), 200)}")
    lines += [f"# {cut(note, 300)}" for note in rendering.notes_of(plan)[:_MOST]]
    lines += [f"! blocked: {_flags(cut(said, 300))}" for said in plan.objections()]
    text = "\n".join(visible_lines([*lines, *told]))
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    cut_off = ""
    if len(text) > _LONGEST:
        text, cut_off = text[:_LONGEST].rpartition("\n")[0], "\n# … and more"
    heading = f"### Plan for {_plain(where)}: {', '.join(counts) or 'nothing to do'}"
    return heading if not text else f"{heading}\n\n{fence}diff\n{text}{cut_off}\n{fence}"


def plan_cells(plan: Plan) -> Sequence[Any]:
    """Return the cells of a plan that are refused."""
    from chatkit.bulk.plan import refused_cells

    return refused_cells(plan)


def visible_lines(lines: Iterable[str]) -> Iterator[str]:
    """Have no line break inside a line, and no character that is not seen."""
    return map(visible, lines)


def _plain(text: str) -> str:
    """Leave no character in a text that Markdown or HTML would read."""
    return re.sub(r"([^\w .:/-])", lambda found: f"&#{ord(found[1])};", visible(text))


def _change_lines(change: Any) -> list[str]:
    """Write a change as the lines of a difference."""
    from chatkit.bulk.rendering import change_label, change_lines

    sign = {"create": "+", "update": "!", "delete": "-"}.get(change.kind, " ")
    noun = getattr(change, "noun", None)
    found = [f"{sign} {change.kind} {f'{noun} ' if noun else ''}{change_label(change)}"]
    for line in change_lines(change)[:_LINES]:
        name = f"{cut(line.field, 60)}: " if line.field else ""
        if line.before is not None and line.after is not None:
            found += [f"-     {name}{line.before}", f"+     {name}{line.after}"]
        else:
            found.append(f"{sign}     {name}{line.after if line.before is None else line.before}")
    return found


# --- apply and restore ----------------------------------------------------------------------


@_told
def _apply(arguments: argparse.Namespace) -> int:
    with closing(_open(arguments.name or _name_of(arguments.plan))) as client:
        with redirect_stdout(sys.stderr):
            plan = client.load_plan(arguments.plan)
        if not _begun(plan) and (moved := changed_since(plan, client)):
            said = [f"\n  - {cut(line, 200)}" for line in moved[:_LINES]]
            if len(moved) > _LINES:
                said.append(f"\n  … and {len(moved) - _LINES:,} more")
            _tell(f"This plan is outdated, nothing was sent:{''.join(said)}")
            _tell("Make it again, and look at it.")
            return DIFFERENT
        return _carried_out(plan, client, arguments, needs_yes=False)


@_told
def _restore(arguments: argparse.Namespace) -> int:
    with closing(_open(arguments.name)) as client:
        plan = _made(arguments, client)
        return _carried_out(plan, client, arguments, needs_yes=True)


def _name_of(path: Path) -> str:
    """Find the account of a saved plan: that of the variables, or a connection's.

    Raises:
        PlanRefused: The file is no plan.
        SettingsError: Nothing that is known opens that account.
    """
    from chatkit import settings

    try:
        account = json.loads(file_bytes(path))["plan"]["setting"]["account"]
    except (ValueError, LookupError, TypeError, RecursionError):
        raise PlanRefused(f"{path} is not a saved plan: `plan --out` writes one.") from None
    if os.environ.get("CHATKIT_BASE_URL"):
        found = settings.resolve(None)
        if found is not None and found.account == account:
            return ENVIRONMENT
    for name in settings.names():
        kept = settings.stored(name)
        if f"{kept.base_url} account {kept.account_id}" == account:
            return name
    raise SettingsError(
        f"{path} is a plan for {cut(str(account), 100)}, which no connection and no variable "
        f"names: {command(f'apply {path} NAME')}"
    )


def _begun(plan: Plan) -> bool:
    """Whether the run of a plan has begun: then it goes on."""
    from chatkit.bulk.stores import find_run

    try:
        find_run(plan.id)
    except JournalError:
        return False
    return True


def _carried_out(
    plan: Plan, client: Client, arguments: argparse.Namespace, *, needs_yes: bool
) -> int:
    """Show a plan, ask where somebody can answer, apply it, and say what came of it."""
    from chatkit.bulk import rendering

    _show(_as_text(plan))
    if not any(plan.counts.values()) and not len(plan_cells(plan)):
        return SAME
    if objections := plan.objections(many=arguments.many, irreversible=arguments.irreversible):
        _tell("Blocked, nothing was sent:")
        for said in objections:
            _tell(f"  - {_flags(visible(said))}")
        return DIFFERENT
    asks = sys.stdin.isatty() and sys.stderr.isatty() and not arguments.yes
    if needs_yes and not arguments.yes and not asks:
        _tell("Nothing was sent: there is no terminal to ask in. --yes applies it.")
        return TROUBLE
    hooks = [c for c in plan.changes if c.kind == "create" and "events" in c.after]
    shows = sys.stderr.isatty() and sys.stdout.isatty()
    if hooks and arguments.secrets is None and not shows:
        _tell(
            f"Nothing was sent: the plan creates {many(len(hooks), 'webhook')}, whose signing "
            "secret is told once. There is no terminal to show it in: --secrets FILE keeps it."
        )
        return TROUBLE
    if asks and not _agreed(where := _where(client)):
        _tell(f"Nothing was sent to {where}.")
        return DIFFERENT
    kept = _new_file(arguments.secrets) if hooks and arguments.secrets else None
    try:
        with redirect_stdout(sys.stderr):
            result = plan.apply(
                many=arguments.many,
                irreversible=arguments.irreversible,
                rate=arguments.rate,
                rehearsed=getattr(arguments, "rehearsed", False),
            )
    except PlanRefused as error:
        _tell(f"chatkit: {_flags(str(error))}")
        if kept is not None:
            kept.close()
            os.unlink(kept.name)
        return DIFFERENT
    _hand_over(plan, result, kept)
    _show(rendering.result_summary(result))
    left = result[~result["state"].isin(["applied", "unchanged", "skipped"])]
    for row in left.head(_MOST).itertuples():
        _show(f"  {row.state}: {cut(str(row.label), 60)}: {visible(str(row.reason))}")
    if len(left) > _MOST:
        _show(f"  … and {len(left) - _MOST:,} more: chatkit.runs() opens the run")
    _tell(f"Run {plan.id}: chatkit.undo({plan.id!r}) takes it back.")
    return DIFFERENT if len(left) else SAME


def _agreed(where: str) -> bool:
    _tell(f"Apply this to {where}? [y/N]")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _new_file(path: Path) -> Any:
    """Make the file of the secrets before anything is sent: it can be written, and is new."""
    try:
        return open(path, "x", opener=lambda name, flags: os.open(name, flags, 0o600))
    except FileExistsError:
        raise InputError(f"{path} is there already: name a new file for the secrets.") from None


def _hand_over(plan: Plan, result: Any, kept: Any) -> None:
    """Give the signing secrets of new webhooks to who runs the command, once."""
    rows = zip(plan.changes, result["key"], strict=True)
    urls = {key: change.after["url"] for change, key in rows if "url" in change.after}
    if kept is not None:
        with kept:
            found = {urls.get(key, str(key)): one.reveal() for key, one in plan.secrets.items()}
            kept.write(json.dumps(found, indent=1) + "\n")
            kept.flush()
            os.fsync(kept.fileno())
        if not found:
            os.unlink(kept.name)
            return
        _tell(f"{many(len(found), 'signing secret')} in {kept.name}, which only you can read.")
        return
    for key, secret in plan.secrets.items():
        where = visible(str(urls.get(key, key)))
        _tell(f"Signing secret of {where}, shown only now: {secret.reveal()}")


# --- is what a plan saw still so ------------------------------------------------------------


def changed_since(plan: Plan, client: Client) -> list[str]:
    """Say what of a saved plan is not as it was when it was made; nothing if all is.

    Each row is compared again when it is sent. Here all are looked at before the first is sent, so
    that a plan that somebody has reviewed is applied as it was reviewed, or not at all.

    Args:
        plan: The plan.
        client: Its account.
    """
    from chatkit.bulk.plan import setting_of

    noun_of_plan = setting_of(plan).noun
    found = []
    live: dict[str, _Records] = {}
    for change in plan.changes:
        noun = getattr(change, "noun", None) or noun_of_plan
        if noun not in live:
            live[noun] = _Records(noun, plan, client, noun_of_plan)
        now = live[noun].of(change)
        label = f"{noun} {change.label}"
        if change.kind == "create":
            if now is not None:
                found.append(f"{label} is there already")
            continue
        if now is None:
            found.append(f"{label} is gone")
            continue
        for field, before in change.before.items():
            still = before, change.after.get(field, before)
            if field in now and not any(_same(noun, field, one, now[field]) for one in still):
                found.append(f"{label}: {field} has changed")
    return found


def _same(noun: str, field: str, one: Any, other: Any) -> bool:
    from chatkit.account.reading import same_field

    if noun == "contact":
        return (one or None) == (other or None)
    return same_field(noun, field, one, other)


class _Records:
    """The records of one resource as they are now, by key and by what they are called."""

    def __init__(self, noun: str, plan: Plan, client: Client, noun_of_plan: str) -> None:
        from chatkit.frame import records
        from chatkit.templates import bulk_templates

        changes = [c for c in plan.changes if (getattr(c, "noun", None) or noun_of_plan) == noun]
        self._noun = noun
        if noun == "content":
            codes = dict.fromkeys(str(change.code) for change in changes)
            frame = bulk_templates(client.templates).reader(codes).frame(full=True)
        elif noun == "flow":
            frame = client.flows.frame(full=client.profile.flow_json_in_get)
        else:
            frame = (client.webhooks if noun == "webhook" else client.contacts).frame()
        self._by_key: dict[Any, Mapping[str, Any]] = dict(
            zip(frame.index.tolist(), records(frame, range(len(frame))), strict=True)
        )
        self._named = {self._name(one) for one in self._by_key.values()}

    def of(self, change: Any) -> Mapping[str, Any] | None:
        """Return the record that a change is about; an empty one if a create meets it."""
        if self._noun == "content":
            return self._by_key.get((change.code, change.key))
        if change.kind == "create":
            return {} if self._name(change.after) in self._named else None
        return self._by_key.get(change.key)

    def _name(self, fields: Mapping[str, Any]) -> Any:
        names = {"flow": ("name",), "webhook": ("url",)}.get(self._noun, ("country_code", "number"))
        return tuple(fields.get(name) for name in names)
