"""Command line interface of chatkit.

Each command is a function under `@_command`, which lists its arguments. Its docstring is its help,
with those arguments that it alone has; those that several commands have are listed here. Standard
output holds the answer; notes, questions and errors go to standard error. No command asks anything
where there is no terminal, so all of them run in continuous integration. A folder, file or run is
the first argument, and the connection that it goes with the second.

Exit status: 0 done, and nothing differs; 1 something differs, is wrong or was not applied; 2 it
could not be done, and standard error says why; 130 interrupted.

    Options:
        folder: the folder, or a git revision of it: shop/@HEAD~3
        name: a connection (`chatkit connections` lists them), `environment` for CHATKIT_BASE_URL,
            CHATKIT_ACCOUNT_ID and CHATKIT_TOKEN, or the access file of a sandbox
        run: as `chatkit runs` lists it; its beginning is enough
        --broken: take what the platform would refuse, too
        --contacts: contacts, too, or not: personal data, which the .gitignore of a folder names.
            Without either: if the folder has a contacts.csv
        --delete: also delete these, which the folder does not hold, each by resource and name as
            diff shows them: --delete "flow Order survey" "content order_ready/de"
        --irreversible: allow what has no undo
        --json: the answer, or its first line, as JSON
        --many: allow to delete over 100 or to change over 30 %
        --moved: the account of the run is this one, although it has another address now
        --port: 0: any that is free
        --profile: what the service does where the API document is silent, TOML or JSON
        --secrets: write the signing secrets of new webhooks into a new file that only you can
            read; else they are shown once, in a terminal alone
        --skip-invalid: leave out what cannot be planned, and go on
        --templates: template codes; without it those in the folder, and those remembered with
            the connection: an account cannot list them
        --yes: ask nothing
"""

from __future__ import annotations

import argparse
import getpass
import hashlib
import io
import json
import os
import re
import shlex
import shutil
import sys
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, redirect_stdout, suppress
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn, TypeAlias

import chatkit
from chatkit import errors
from chatkit.errors import explain_missing_part, format_command
from chatkit.util.display import cut, many, visible

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.account.fleet_plan import FleetPlan
    from chatkit.api.secret import Secret
    from chatkit.bulk.plan import Plan
    from chatkit.settings import TokenPlace

DONE, DIFFERENT, TROUBLE, INTERRUPTED = 0, 1, 2, 130
#: Stands for the CHATKIT_ variables in place of the name of a connection.
ENVIRONMENT = "environment"

#: Rows that were not applied; and lines on why a plan is outdated.
_MAX_ROWS, _MAX_LINES = 40, 8


class _Arguments(argparse.Namespace):
    """The arguments that were typed, and the stream for the answer."""

    def show(self, text: object) -> None:
        """Write a part of the answer for a person, with commands where the text names Python."""
        self.write(_as_commands(str(text)).rstrip())

    def write(self, text: str) -> None:
        """Write a part of the answer as it is."""
        print(text, file=self.output, flush=True)


class _Notes(io.TextIOBase):
    """Redirection of what is printed, here and by the package, to standard error."""

    def write(self, text: str) -> int:
        return sys.stderr.write(_as_commands(text))


def main(argv: list[str] | None = None) -> int:
    """Run one command, and return its exit status."""
    arguments = _Arguments(output=sys.stdout, rehearsed=False)
    try:
        _make_parser().parse_args(argv, arguments)
        with redirect_stdout(_Notes()):
            status = arguments.run_command(arguments) or DONE
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # its reader, like `head`, has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except (chatkit.ChatkitError, OSError) as error:
        message = _as_commands(f"chatkit: {error}")
        if name := getattr(arguments, "name", None):
            for command in ("doctor", "plan FOLDER"):
                message = message.replace(f"{command} NAME", f"{command} {shlex.quote(name)}")
        print(message, file=sys.stderr)
        return TROUBLE
    except KeyboardInterrupt:
        return INTERRUPTED


def _ask_line(question: str) -> str:
    print(f"{question}: ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()


# --- Python in messages, as commands --------------------------------------------------------


def _format_run_command(match: re.Match[str]) -> str:
    home = f"CHATKIT_RUNS={shlex.quote(match[3])} " if match[3] else ""
    return f"`{home}{format_command(f'{match[1]} {match[2]}')}`"


#: Advice in messages of the package, as regular expressions, and the command for each.
_ADVICE: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (r"chatkit\.(resume|undo)\('([^']+)'(?:, at='([^']+)')?\)", _format_run_command),
    (r"chatkit\.runs\((?:at=…)?\)", lambda _: f"`{format_command('runs')}`"),
    (r"chatkit\.doctor\(client\)", lambda _: f"`{format_command('doctor NAME')}`"),
    (r"chatkit\.compare shows", "`chatkit diff` shows"),
    (r"chatkit\.rehearse\(plan\) applies", "plan --rehearse applies"),
    (r" The column 'reason' says why\.", ""),
    (r"plan again with this client", lambda _: f"`{format_command('plan FOLDER NAME')}`"),
    (r"plan\.save\(path\) writes", "plan --out FILE writes"),
    (r"plan\.apply\(rehearsed=True\)", "`chatkit apply FILE --rehearsed`"),
    (r"plan\.apply\(\) does it\.|: plan\.left_out shows them", ""),
    (r"plan\.(?:frame\(\)|refused) has them all", "the file of the plan has them all (--out FILE)"),
    (r" \(plan\.refused shows where\)", " (shown above)"),
    (r"plan\.secrets holds it once", "--secrets FILE keeps it once"),
    (r" plan\.secrets holds them by id, or the dict .*? keeps one in the keyring\.", ""),
    (r"(?:apply|plan)\((?:…, )?(many|irreversible|broken)=True\)", r"--\1"),
    (r"undo\(…, include_adopted=True\)", "--include-adopted"),
    (r"pass other_account=True", "use --other-account"),
    (r"\b(broken|moved)=True", r"--\1"),
    (r"plan\(…, skip_invalid=True\)|skip_invalid=True", "--skip-invalid"),
    (r"plan\(…, restore=True\)", "`chatkit restore`"),
    (r"\bconflicts='(\w+)'", r"--conflicts \1"),
    (r"\('flow', 'Order survey'\) or ", ""),
    (r"\bdelete=(?![\w(\['\"])", "--delete"),
    (r", or plan the one that is meant by its id: client\..*?\}\]\)", ""),
    (
        r"Pass their codes with codes=, .*?remember\(codes\)",
        "Name them with --templates CODE …, or keep them: `chatkit templates remember CODE … NAME`",
    ),
    (r"\(codes=…\)", "(--templates CODE …)"),
    (r": fleet\.load_plan\(path\) reads it", ", and this command applies plans of one account"),
    (r" \S+\.frame\(\) (?:lists|shows) [^.]*\.", ""),
    (r"\S+\.languages\(\) (?:lists|has) [^.\n]*", "a code is written like de or pt_BR"),
    (r"; what client\.contacts\.to_parquet[^.]*", ""),
    (r"pass (?:its client|the client of the first)", "name its connection after the run"),
]
_PATTERNS = [(re.compile(text.replace(" ", r"\s+"), re.DOTALL), does) for text, does in _ADVICE]


def _as_commands(text: str) -> str:
    """Replace advice about Python in a text by the command or the flag that does the same."""
    for pattern, does in _PATTERNS:
        text = pattern.sub(does, text)
    return text


# --- arguments ------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    """Argument parser whose errors do not repeat the input, which may be a token."""

    _TYPED = re.compile(
        r"((?:unrecognized argument|invalid choice|invalid \w+ value|ignored explicit argument)s?)"
        r":?(?s: .*?)(?= \(choose from |$)"
    )

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments; refuse those that are left in the command that does not take them."""
        namespace, left = super().parse_known_args(args, namespace)
        if left:
            more = f"unrecognized arguments, {len(left):,} more than the usage above shows."
            if self.prog.endswith(" login"):
                more += " A token is never one: login asks for it, or reads it with --token-stdin."
            self.error(more)
        return namespace, left

    def error(self, message: str) -> NoReturn:
        super().error(self._TYPED.sub(r"\1", message))


def _parse_port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) < 65536):
        raise argparse.ArgumentTypeError("a port is a number from 0 to 65535")
    return int(text)


def _parse_faults(text: str) -> dict[str, float]:
    try:
        rates = dict(part.split("=") for part in text.replace(" ", "").split(","))
        return {name: (int if name == "seed" else float)(rate) for name, rate in rates.items()}
    except ValueError:
        raise argparse.ArgumentTypeError("write faults like 429=0.1,5xx=0.05") from None


def _read_profile(name: str) -> chatkit.ServiceProfile:
    from pydantic import ValidationError

    from chatkit.profile import ServiceProfile
    from chatkit.settings import explain_error

    path = Path(name)
    try:
        text = path.read_text(encoding="utf-8")
        values = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        return ServiceProfile.model_validate(values)
    except ValidationError as error:
        raise errors.SettingsError(f"{path}: {explain_error(error)}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise errors.SettingsError(f"{path} cannot be read: {error}. Correct it.") from None


_FILE = {"type": Path, "metavar": "FILE"}
#: The options of argparse for an argument; any other option is a flag, any word required.
_ARGUMENT_KINDS: dict[str, dict[str, Any]] = {
    "codes": {"nargs": "*", "metavar": "CODE"},
    "remember": {"choices": ["remember"], "metavar": "remember"},
    "serve": {"choices": ["serve"], "metavar": "serve"},
    "source": {"metavar": "FOLDER|FILE"},
    "--account-id": {"metavar": "ID"},
    "--allow": {"action": "append", "nargs": "+", "metavar": "URL", "default": []},
    "--base-url": {"metavar": "URL"},
    "--contacts": {"action": argparse.BooleanOptionalAction},
    "--conflicts": {"choices": ["refuse", "files", "account"], "default": "refuse"},
    "--delete": {"nargs": "+", "metavar": "NAME", "default": []},
    "--faults": {"type": _parse_faults, "metavar": "KIND=RATE,…", "default": {}},
    "--host": {"default": "127.0.0.1", "metavar": "ADDRESS"},
    "--latency": {"type": float, "metavar": "MS"},
    "--port": {"type": _parse_port, "default": 0},
    "--seed": {"choices": ["demo", "empty"]},
    "--templates": {"nargs": "+", "metavar": "CODE"},
    "--token-file": {**_FILE, "nargs": "?", "const": Path()},
    "--profile": {"type": _read_profile, "metavar": "FILE"},
    **dict.fromkeys(("--access", "--db", "--out", "--secrets"), _FILE),
}
_PLAN_OPTIONS = "--contacts --delete --broken --skip-invalid"
_APPLY_OPTIONS = "--yes --many --irreversible --secrets"

_Command: TypeAlias = Callable[[Any], int | None]
_COMMANDS: list[tuple[_Command, str, dict[str, Any]]] = []


def _command(arguments: str = "", **defaults: Any) -> Callable[[_Command], _Command]:
    """Register a function as a command, with its name, its docstring and these arguments."""

    def register(run: _Command) -> _Command:
        _COMMANDS.append((run, arguments, defaults))
        return run

    return register


def _split_help(doc: str | None) -> tuple[str, dict[str, str]]:
    """Split a docstring into the text before its options, and the help of each option."""
    about, _, options = (doc or "").partition("    Options:\n")
    return about.rstrip(), dict(re.findall(r"^ {8}(\S+): (.*(?:\n {12}.*)*)", options, re.M))


def _make_parser() -> argparse.ArgumentParser:
    about, shared = _split_help(__doc__)
    # Abbreviations would read `--token X` as `--token-stdin`.
    options: dict[str, Any] = {"allow_abbrev": False, "epilog": about.rpartition("\n\n")[2]}
    about = "Your business messaging account from the command line."
    parser = _Parser(prog="chatkit", description=about, **options)
    parser.add_argument("--version", action="version", version=f"chatkit {chatkit.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for run, arguments, defaults in _COMMANDS:
        about, texts = _split_help(run.__doc__)
        texts = shared | texts
        title = about.partition("\n")[0].rstrip(".")
        subparser = commands.add_parser(
            run.__name__[1:], help=title[:1].lower() + title[1:], description=about, **options
        )
        for each in arguments.split():
            word = each.removesuffix("?")
            how = _ARGUMENT_KINDS.get(word) or ({"action": "store_true"} if word[0] == "-" else {})
            if word[0] != "-":
                how = {"metavar": word.upper(), **how} | ({"nargs": "?"} if word != each else {})
            subparser.add_argument(word, help=texts[word].replace("%", "%%"), **how)
        subparser.set_defaults(run_command=run, **defaults)
    return parser


# --- notebooks, sandbox and inbox -----------------------------------------------------------


@_command("folder? --port --no-browser", port=8888)
def _lab(args: _Arguments) -> None:
    """Open the guided notebooks in JupyterLab.

    In its terminals (File > New > Terminal) the command `chatkit` works.

    Options:
        folder: put the notebooks here, and open them here; what you have edited is never
            overwritten. Without it: ~/chatkit-notebooks (in a clone: its own notebooks)
        --no-browser: print the address instead
    """
    from jupyterlab.labapp import main as jupyterlab  # type: ignore[import-untyped]

    package = Path(__file__).resolve().parent
    clone = package.parent / "notebooks"
    source = clone if (package.parent / "pyproject.toml").exists() else package / "notebooks"
    folder = clone
    if not source.is_dir():  # a part of the package, taken out of it
        folder = Path(args.folder or "")
    elif source != clone or args.folder is not None:
        folder = Path(args.folder or "~/chatkit-notebooks").expanduser().resolve()
        edited = _copy_notebooks(source, folder)
        args.write(f"The guided notebooks are in {folder}.")
        if edited:
            args.write(
                f"Changed by you, so kept as they are: {', '.join(edited)}. There are newer ones: "
                "rename yours, and they come with the next `chatkit lab`."
            )
    # the address once, not a screen of notes; Ctrl-C ends it without a question
    flags = ["--ip=127.0.0.1", "--allow-root", "--Application.log_level=WARN", "-y"]
    flags += [f"--port={args.port}", *["--no-browser"] * args.no_browser]
    if (folder / "0_start.ipynb").exists():
        flags.append("--LabApp.default_url=/lab/tree/0_start.ipynb")
    with redirect_stdout(args.output):
        jupyterlab([str(folder), *flags, *_set_up_terminals()])


#: In the folder of the notebooks: the digest of each as it was put there.
_DIGESTS = ".chatkit-notebooks.json"


def _copy_notebooks(source: Path, folder: Path) -> list[str]:
    """Copy the notebooks and their data, but not over files that a person has changed.

    Returns:
        The names of changed files of which there is a newer one.
    """
    from chatkit.util.files import replace_file

    folder.mkdir(parents=True, exist_ok=True)
    try:
        digests = dict(json.loads((folder / _DIGESTS).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError, RecursionError):
        digests = {}
    edited = []
    for file in sorted(source.iterdir()):
        if not file.is_file() or file.name.startswith("."):
            continue
        copy, content = folder / file.name, file.read_bytes()
        new, before = hashlib.sha256(content).hexdigest(), digests.get(file.name)
        if copy.exists() and hashlib.sha256(copy.read_bytes()).hexdigest() not in (new, before):
            if before != new:
                edited.append(file.name)
            continue
        with replace_file(copy, 0o644) as out:
            out.write(content)
        digests[file.name] = new
    with replace_file(folder / _DIGESTS, 0o644) as out:
        out.write(json.dumps(digests, indent=1).encode())
    return edited


def _set_up_terminals() -> list[str]:
    """Put the command on the PATH of JupyterLab's terminals, and return the flags for it.

    Without a terminal of its own, JupyterLab starts login shells, whose profile may set PATH
    anew: there the folder is put in front once the profile has been read.
    """
    name = "chatkit.exe" if os.name == "nt" else "chatkit"
    folder = next(
        (one for one in errors.list_command_folders() if os.path.exists(f"{one}/{name}")), None
    )
    if folder is None:
        return []
    os.environ["PATH"] = os.pathsep.join([folder, os.environ.get("PATH", os.defpath)])
    shell = os.environ.get("SHELL") or shutil.which("sh") or "/bin/sh"
    known = os.path.basename(shell) in ("sh", "ash", "dash", "bash", "ksh", "zsh", "fish")
    if os.name == "nt" or sys.stdout.isatty() or not known:
        return []
    script = f'exec env PATH={shlex.quote(folder)}:"$PATH" {shlex.quote(shell)}'
    settings = {"shell_command": [shell, "-l", "-c", script]}
    return [f"--ServerApp.terminado_settings={settings}"]


@contextmanager
def _serving(server: str, *kinds: type[Exception]) -> Iterator[None]:
    """Convert errors in starting a server to a SettingsError."""
    try:
        yield
    except kinds as error:
        raise errors.SettingsError(f"The {server} cannot be served: {error}") from None


@_command("--host --port --db --seed --profile --latency --faults --allow --json")
@explain_missing_part("chatkit sandbox")
def _sandbox(args: _Arguments) -> None:
    """Serve the whole service on this machine.

    Serves over HTTP until Ctrl-C, to practise going live: it says how to log in to it from a
    second terminal.

    Options:
        --host: who can reach it: this machine alone (127.0.0.1, as long as nothing is given), or an
            address of this machine, for those who can reach that; they must use this very name
        --db: keep everything in this file, and its port and token beside it in FILE.access: what
            logged in once works the next day
        --seed: what to begin with: a small business, or nothing (as without it)
        --latency: every API call waits so many milliseconds before it is answered, as a service
            far away does: --latency 80
        --faults: what goes wrong with API calls: 429, 5xx, dropped, truncated, each with a rate
            from 0 to 1; retry_after=SECONDS of a 429; seed=N for the same faults each time. One
            call in ten refused and some lost: --faults 429=0.1,dropped=0.02,retry_after=2
        --allow: deliver to webhooks of this address and below it, or to a second address on this
            machine in its place; may be repeated. Without it nothing is delivered.
            --allow https://hooks.shop.example/ http://127.0.0.1:8000/
    """
    from chatkit.sandbox import Sandbox
    from chatkit.sandbox.admin import BadFaults
    from chatkit.util.background import catch_stop_signals
    from chatkit.util.webhook_sender import BadReceiver

    latency = {} if args.latency is None else {"latency": args.latency / 1000}
    with ExitStack() as stack:
        stack.enter_context(_serving("sandbox", OSError, errors.StoreError, BadFaults, BadReceiver))
        sandbox = stack.enter_context(Sandbox(args.db, seed=args.seed, profile=args.profile))
        sandbox._middleware.faults.apply(args.faults | latency)
        for addresses in args.allow:
            if len(addresses) > 2:
                raise BadReceiver("--allow takes an address, and perhaps one to deliver to instead")
            sandbox.allow(*addresses)

        def show_access(base_url: str) -> None:
            access = {
                "base_url": base_url, "account_id": sandbox.account_id, "token": sandbox.token,
                "admin_token": sandbox.admin_token, "search_param": sandbox.profile.search_param,
                "status_param": sandbox.profile.status_param,
            }  # fmt: skip
            if args.json:
                args.write(json.dumps(access))
                return
            file = sandbox._access_file
            if file is None:  # a sandbox in memory: its access file goes with it
                from chatkit.bulk.stores import get_journal_folder

                file = get_journal_folder(passing=False).with_name("sandboxes")
                file.mkdir(mode=0o700, parents=True, exist_ok=True)
                file /= f"{base_url.rpartition(':')[2]}.access"
                stack.callback(file.unlink, missing_ok=True)
                sandbox._write_access_file(base_url, file)
            quoted = shlex.quote(str(file)) if os.name == "posix" else f'"{file}"'
            login = format_command(f"login practice --access {quoted}")
            args.write(_SANDBOX_IS_UP.format(**access, file=file, login=login))

        with catch_stop_signals() as stop, sandbox.serve(args.host, args.port) as base_url:
            show_access(base_url)
            stop.wait()


_SANDBOX_IS_UP = """\
The sandbox is up: the whole service, on this machine only. Ctrl-C stops it.

  Base address   {base_url}
  Account        {account_id}
  Access token   in {file}, which only you can read

To practise going live, in a second terminal:

  {login}

Then in a notebook: client = chatkit.connect("practice")
"""


@_command("serve --host --port --db --secret-stdin --refuse-unverified --profile --json")
@explain_missing_part("chatkit inbox")
def _inbox(args: _Arguments) -> None:
    """Receive deliveries of webhooks, and keep each before it is acknowledged.

    It listens over HTTP, behind a proxy or a tunnel that has a certificate. Signing secrets come
    from CHATKIT_SIGNING_SECRETS (several parted by spaces) or from a pipe, the database from
    CHATKIT_INBOX when it has a password. Neither is ever an argument.

    Options:
        serve: the one thing that it does
        --host: who else may reach it: 0.0.0.0 is all
        --db: keep deliveries in this file
        --secret-stdin: read secrets from a pipe
        --refuse-unverified: answer 401 to what is not signed rightly; else it is kept, and marked
    """
    from chatkit.errors import BadSignature
    from chatkit.inbox import Inbox
    from chatkit.util.background import catch_stop_signals

    text = sys.stdin.read() if args.secret_stdin else os.environ.get("CHATKIT_SIGNING_SECRETS", "")
    secrets = text.split()
    if args.refuse_unverified and not secrets:
        raise errors.SettingsError(
            "Without a signing secret everything would be refused: set CHATKIT_SIGNING_SECRETS, "
            "or use --secret-stdin."
        )
    with (
        catch_stop_signals() as stop,
        _serving("receiver", OSError, errors.StoreError, BadSignature),
        Inbox(args.db or os.environ.get("CHATKIT_INBOX") or None, profile=args.profile) as inbox,
    ):
        receiver = inbox.serve(
            secrets, host=args.host, port=args.port,
            unverified="refuse" if args.refuse_unverified else "keep",
        )  # fmt: skip
        access = {"url": receiver.url, "inbox": inbox._store.address, "secrets": len(secrets)}
        args.write(json.dumps(access) if args.json else _RECEIVER_IS_UP.format(**access))
        stop.wait()


_RECEIVER_IS_UP = (
    "The receiver is up. Ctrl-C stops it.\n\n"
    "  Address   {url}\n  Inbox     {inbox}\n  Secrets   {secrets}\n"
)


# --- connections ----------------------------------------------------------------------------


@_command("name?")
def _doctor(args: _Arguments) -> int:
    """Check address, token and permissions; read-only."""
    report = chatkit.doctor(None if args.name == ENVIRONMENT else args.name)
    args.show(report)
    return report.status


@_command("name --base-url --account-id --token-stdin --access --token-file --profile")
def _login(args: _Arguments) -> None:
    """Keep a connection, its token in the keyring.

    Keeps base address, account and token under a name, once the doctor has found no problem:
    chatkit.connect(NAME) opens it. The token goes into the keyring of the system, or into a file
    that only you can read (--token-file). Where neither is wanted, the variable CHATKIT_TOKEN
    gives it, or a file that CHATKIT_TOKEN_FILE names.

    Options:
        name: how you will call it, like production
        --base-url: asked for when not given
        --account-id: asked for when not given
        --token-stdin: read the token from a pipe
        --access: take address, account and token from the file in which a served sandbox keeps
            them, and ask nothing
        --token-file: keep the token in a file that only you can read, in place of the keyring;
            without FILE: beside the kept connections
    """
    from chatkit import settings
    from chatkit.account.doctor import save_if_healthy
    from chatkit.api.connection import Connection, StoredConnection

    name = settings.validate_name(args.name)
    before = settings.stored(name) if name in settings.names() else None
    served = None if args.access is None else settings.read_access_file(str(args.access))
    fields: dict[str, Any] = {}
    for field, label in (("base_url", "Base address"), ("account_id", "Account id")):
        kept = getattr(before, field, "")
        value = getattr(served, field, None) or getattr(args, field)
        if not value and not args.token_stdin:  # else what is typed there would be the token
            value = _ask_line(f"{label} [{kept}]" if kept else label)
        fields[field] = value or kept
        if not fields[field]:
            flag = f"--{field.replace('_', '-')}"
            raise errors.SettingsError(f"The {label.lower()} is missing: give it as {flag}.")
    if known := args.profile or getattr(served or before, "profile", None):
        fields["profile"] = known
    where = StoredConnection(**fields)
    place, fault = _token_place(args, None if before is None else before.token_file)
    if place == "nowhere" and not args.token_stdin:
        settings.save(name, where, place)
    else:
        token = served.token if served else _read_token(from_stdin=args.token_stdin)
        save_if_healthy(name, Connection(**dict(where), token=token), place)
    if place == "nowhere":
        args.write(
            f"{fault} Kept: the base address and the account, without the token.\n"
            "Before you start Python or JupyterLab, name it, with the token in place of the dots:\n"
            f"\n  {settings.make_token_line()}\n\n"
            "Or keep it in a file that only you can read: "
            f"{format_command(f'login {name} --token-file')}\n"
            f"Whether all is well: {format_command(f'doctor {name}')}"
        )
    else:
        file = "" if place == "keyring" else f", the token in {place}, which only you can read"
        args.write(f"Kept{file}.")
    args.write(f"In a notebook: chatkit.connect({name!r})")


def _token_place(args: _Arguments, before: Path | None) -> tuple[TokenPlace, str]:
    """Return where to keep the token, before it is typed, and why not in the keyring."""
    from chatkit import settings

    file = before or settings.get_token_file(args.name)
    if args.token_file is not None:
        return (file if args.token_file == Path() else args.token_file), ""
    if not (fault := settings.find_keyring_fault()):
        return "keyring", ""
    if before is not None or args.access is not None:  # that token lies in a file already
        return file, fault
    if args.token_stdin or not sys.stdin.isatty():
        return "nowhere", fault
    question = f"{fault}\nKeep the token in {file}, which only you can read? [Y/n]"
    while (answer := _ask_line(question).lower()) not in ("", "y", "yes", "n", "no"):
        question = f"Answer y or n: keep the token in {file}? [Y/n]"
    return ("nowhere" if answer.startswith("n") else file), fault


def _read_token(*, from_stdin: bool) -> Secret:
    from chatkit.api.secret import validate_access_token

    if from_stdin:
        return validate_access_token(sys.stdin.read())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", getpass.GetPassWarning)
            return validate_access_token(getpass.getpass("Access token (stays hidden): "))
    except (getpass.GetPassWarning, EOFError):
        raise errors.SettingsError("No terminal can hide the token: use --token-stdin.") from None


@_command("name")
def _logout(args: _Arguments) -> None:
    """Forget a connection and its token.

    Options:
        name: as `connections` lists it
    """
    from chatkit import settings

    settings.forget(args.name)
    args.write(f"Forgotten: {args.name} and its token.")


@_command()
def _connections(args: _Arguments) -> None:
    """List the connections that are kept."""
    from chatkit import settings

    for name in settings.names():
        kept = settings.stored(name)
        args.write(f"{name}  account {kept.account_id} at {kept.base_url}")
    if not settings.names():
        args.write(f"None yet. Keep one with `{format_command('login NAME')}`.")


@_command("remember codes name")
def _templates(args: _Arguments) -> None:
    """Replace the template codes stored with a connection.

    Every command takes them where --templates names none. Without a code: shows those kept.

    Options:
        remember: the one thing that it does
        codes: template codes, or one file of them (.txt)
        name: as `connections` lists it
    """
    from chatkit import settings
    from chatkit.templates.codes import template_codes

    words = [*args.codes, args.name]
    if words[-1] not in settings.names() and words[0] in settings.names():
        words.append(words.pop(0))
    *codes, name = words
    if codes:
        settings.save_templates(name, template_codes(codes if len(codes) > 1 else codes[0]))
    kept = settings.stored(name).templates
    args.write(f"{name} remembers {many(len(kept), 'template code')}: {', '.join(kept) or 'none'}.")


# --- an account as a folder -----------------------------------------------------------------


def _is_connection(text: str) -> bool:
    """Return whether a word of the command line names a connection."""
    from chatkit import settings

    return text == ENVIRONMENT or text.endswith(".access") or text in settings.names()


def _is_path(text: str) -> bool:
    """Return whether a word names a folder, its revision, or a file, and no connection."""
    path_like = re.search(r"[@/\\]", text) or (text and Path(text).expanduser().exists())
    return bool(path_like) and not _is_connection(text)


def _check_order(verb: str, first: str, second: str, place: str = "FOLDER") -> None:
    """Refuse swapped arguments: a connection in place of the folder or the file.

    Raises:
        InputError: They are swapped; the text has the command to type.
    """
    no_place = _is_connection(first) and not Path(first).is_dir()
    if no_place and (_is_path(second) or (verb != "diff" and not _is_connection(second))):
        known = Path(second).exists() or re.fullmatch(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{6}", second)
        short = second if known or len(second) <= 16 else ""  # it may be a token
        typed = f"{verb} {shlex.quote(short) if short else place} {shlex.quote(first)}"
        raise errors.InputError(f"The connection comes second: `{format_command(typed)}`.")
    if verb != "diff" and _is_path(second):
        raise errors.InputError(
            "The second argument is a connection, and this one is a folder or a file: "
            f"`{format_command(f'{verb} {place} NAME')}`. "
            f"`{format_command('connections')}` lists connections."
        )


def _open_account(name: str) -> chatkit.Client:
    """Open an account by its name, which the caller closes."""
    from chatkit import settings

    to = None if name == ENVIRONMENT and name not in settings.names() else name
    if to is None and settings.resolve(None) is None:
        raise errors.SettingsError(
            "The variables name no account: set CHATKIT_BASE_URL, CHATKIT_ACCOUNT_ID and "
            "CHATKIT_TOKEN."
        )
    return chatkit.connect(to)


@_command("folder name --contacts --templates --conflicts --other-account")
def _pull(args: _Arguments) -> None:
    """Keep an account in a folder, as files for git.

    What you edited there is kept, what changed in the account is taken; where both changed
    nothing is written, and each such field is named. No token and no signing secret is ever
    written.

    Options:
        folder: made if it is not there
        --conflicts: what counts where both changed a field: the files, or the account
        --other-account: the folder was pulled from another account
    """
    if _is_connection(args.folder) and not Path(args.folder).is_dir() and _is_path(args.name):
        args.folder, args.name = args.name, args.folder  # nothing else can be meant or changed
        typed = format_command(shlex.join(["pull", args.folder, args.name]))
        print(f"The folder comes first: this is read as `{typed}`.")
    _check_order("pull", args.folder, args.name)
    with _open_account(args.name) as client:
        report = chatkit.Folder(args.folder).pull(
            client, contacts=args.contacts, codes=args.templates, conflicts=args.conflicts,
            other_account=args.other_account,
        )  # fmt: skip
    args.show(report)


@_command("left right --contacts --templates --json")
def _diff(args: _Arguments) -> int:
    """Show what differs between two accounts or folders.

    Compares accounts, folders, or git revisions of a folder by what things are called: - is left,
    + is right. Of a folder and an account the folder comes first. Nothing is changed. A folder that
    is called as a connection is written ./NAME.

    Options:
        left: a folder, a git revision of it (shop/@HEAD~3), or an account, as NAME elsewhere
        right: an account, or a folder to compare with another one
    """
    _check_order("diff", args.left, args.right)
    with ExitStack() as stack:
        sources: list[Any] = [
            each if _is_path(each) else stack.enter_context(_open_account(each))
            for each in (args.left, args.right)
        ]
        comparison: Any = chatkit.compare(*sources, contacts=args.contacts, codes=args.templates)
    if args.json:
        args.write(comparison.frame().to_json(orient="records", default_handler=str))
    else:
        args.show(comparison.text())
    return DIFFERENT if comparison else DONE


@_command(f"folder name {_PLAN_OPTIONS} --markdown --out --rehearse")
def _plan(args: _Arguments) -> int:
    """Show the changes that would make an account equal to a folder.

    Options:
        --markdown: as a comment on a pull request: short, and safe
        --out: write the plan here for `chatkit apply`; the file holds data of the account, and only
            you can read it
        --rehearse: apply it to a copy of the account, and show what differs; the account itself is
            only read
    """
    _check_order("plan", args.folder, args.name)
    with _open_account(args.name) as client:
        plan = _plan_of_folder(args, client)
        stopped = plan.objections(many=True, irreversible=True)
        reports: list[Any] = [plan]
        if args.rehearse and len(plan) and not stopped:
            reports.append(rehearsal := chatkit.rehearse(plan))
            stopped = rehearsal.problems
        if args.out:
            plan.save(args.out)
        texts = (each.markdown() if args.markdown else str(each) for each in reports)
        args.show("\n\n".join(texts))
    if args.out and stopped:
        print(f"{args.out} is written, but the plan is blocked: no `apply` takes it. Plan again.")
    elif args.out:
        _print_apply_command(plan, args)
    return DIFFERENT if stopped else DONE


def _print_apply_command(plan: Plan | FleetPlan, args: _Arguments) -> int:
    """Print the command that applies a written plan, with the flags that it needs."""
    objections, names = plan.objections(), ("many", "irreversible")
    flags = [f"--{n}" for n in names if len(plan.objections(**{n: True})) < len(objections)]
    words = ["apply", str(args.out), *filter(None, [args.name]), *flags]
    step = "It is blocked, as shown above. If it is right, apply it" if flags else "Apply it"
    if len(plan):
        print(f"Written. {step}: {format_command(shlex.join(words))}")
    return DONE


def _plan_of_folder(args: _Arguments, client: chatkit.Client, *, restore: bool = False) -> Plan:
    from chatkit.account.folder import split_folder_revision

    folder, revision = split_folder_revision(args.folder)
    return folder.plan(
        client, revision, contacts=args.contacts, delete=args.delete, restore=restore,
        broken=args.broken, skip_invalid=args.skip_invalid,
    )  # fmt: skip


# --- apply, and what has been applied -------------------------------------------------------


@_command(f"source name? --rehearsed {_PLAN_OPTIONS} {_APPLY_OPTIONS}")
def _apply(args: _Arguments) -> int | None:
    """Apply a plan that `plan --out FILE` has written, or bring an account to what a folder holds.

    Applies this plan only, and only if everything it changes is still as it was then. The run is
    journalled: the same command goes on after an interrupt, `chatkit undo RUN` takes it back. A
    folder is planned first, and what others changed since the last pull is left as it is. In a
    terminal it asks; without one it needs --yes.

    Options:
        source: what `plan --out` has written, a folder, or a git revision of one: shop/@HEAD~3
        name: a connection, `environment`, or the access file of a sandbox. Without it: the account
            of the plan is looked for in the variables and among the connections
        --rehearsed: only if `plan --rehearse` of it went well
    """
    from chatkit.account.planning import describe_changed_records

    _check_order("apply", args.source, args.name or "")
    file = Path(args.source)
    if file.is_dir() or (_is_path(args.source) and "@" in args.source and not file.exists()):
        if args.name is None:
            typed = format_command(f"apply {shlex.quote(args.source)} NAME")
            raise errors.InputError(f"Name the connection of the account: `{typed}`.")
        args.folder = args.source
        with _open_account(args.name) as client:
            return _apply_after_review(_plan_of_folder(args, client), args)
    if args.contacts is not None or args.delete or args.broken or args.skip_invalid:
        raise errors.InputError(
            "A saved plan is applied as it was reviewed: give --contacts, --delete, --broken and "
            "--skip-invalid to `chatkit plan`."
        )
    args.name = args.name or _find_connection(file)
    with _open_account(args.name) as client:
        plan = client.load_plan(file)
        begun = chatkit.runs().query("index == @plan.id")
        if begun.empty:  # so the account has to be as it was reviewed
            if moved := describe_changed_records(plan):
                more = [f"… and {len(moved) - _MAX_LINES:,} more"] if moved[_MAX_LINES:] else []
                lines = [*(cut(line, 200) for line in moved[:_MAX_LINES]), *more]
                heading = "The plan is outdated, nothing was sent. Plan again:"
                print("\n  - ".join([heading, *lines]))
                return DIFFERENT
        elif (state := begun["state"].iloc[0]) not in ("open", "damaged"):
            when = f"{begun['started'].iloc[0]:%Y-%m-%d %H:%M} UTC, run {plan.id}"
            step = f"It is {state}."
            if state == "finished":
                step = f"`{format_command(f'undo {plan.id}')}` takes it back."
            args.show(f"This plan was already applied on {when}: nothing was sent. {step}")
            return DONE if state == "finished" else DIFFERENT
        return _apply_after_review(plan, args)


@_command(f"folder name {_PLAN_OPTIONS} {_APPLY_OPTIONS}", rehearsed=False)
def _restore(args: _Arguments) -> int:
    """Restore an account from a folder.

    Plans what brings an account back to what a folder or a git revision of it holds, shows it,
    and applies it; what others changed in the account since the last pull is set back, too, which
    `apply` leaves. In a terminal it asks first; without one it needs --yes.
    """
    _check_order("restore", args.folder, args.name)
    with _open_account(args.name) as client:
        return _apply_after_review(_plan_of_folder(args, client, restore=True), args)


@_command("--json")
def _runs(args: _Arguments) -> None:
    """List what was applied from this machine, the latest first."""
    runs = chatkit.runs()
    if args.json:
        args.write(runs.reset_index().to_json(orient="records", date_format="iso"))
    elif runs.empty:
        args.write("No runs yet.")
    else:
        columns = ["state", "account", "noun", "changes", "applied", "unknown", "not_sent"]
        args.write(runs[[*columns, "undoes"]].to_string())
        if len(begun := runs.index[runs["state"] == "open"]):
            print(f"Go on with an open run: {format_command(f'resume {begun[0]}')}")


@_command("run name? --moved --secrets")
def _resume(args: _Arguments) -> int:
    """Go on with a run that was interrupted.

    What is in doubt is looked at first; what was not sent is sent. A finished run sends nothing.
    """
    from chatkit.bulk.stores import find_run
    from chatkit.client import RESOURCES

    _check_order("resume", args.run, args.name or "", "RUN")
    secret = {noun for noun, kind in RESOURCES.items() if kind._declaration.lost}
    created: set[str] = set()
    for run in chatkit.runs().query("index.str.startswith(@args.run)").index:
        with suppress(errors.JournalError), find_run(run).read() as kept:
            nouns = ((each.noun or kept.header.noun, each.kind) for each in kept.changes())
            created |= {noun for noun, kind in nouns if kind == "create"}
    with (
        _open_account(args.name) if args.name else nullcontext() as client,
        _secrets_file(args, needed=bool(created & secret)) as file,
    ):
        secrets: dict[Any, Any] = {}
        result = chatkit.resume(args.run, client, moved=args.moved, secrets=secrets)
        return _report_run(result, secrets, file, args)


@_command(f"run name? --moved --include-adopted --out {_APPLY_OPTIONS}")
def _undo(args: _Arguments) -> int:
    """Take a run back.

    Plans what takes it back, shows it, and applies it; a row that somebody has changed since
    stays as it is. In a terminal it asks first; without one it needs --yes.

    Options:
        --include-adopted: delete also what was found after a lost answer to a create
        --out: write the plan here for `chatkit apply`, and send nothing
    """
    _check_order("undo", args.run, args.name or "", "RUN")
    with _open_account(args.name) if args.name else nullcontext() as client:
        plan = chatkit.undo(
            args.run, client, moved=args.moved, include_adopted=args.include_adopted
        )
        if args.out:
            plan.save(args.out)
            args.show(plan)
            return _print_apply_command(plan, args)
        status = _apply_after_review(plan, args)
        if status == DONE and (left := len(plan.refused)):
            print(f"{many(left, 'row')} of the run not taken back: listed above.")
            return DIFFERENT
        return status


def _find_connection(path: Path) -> str:
    """Return the connection of the account of a saved plan, or ENVIRONMENT.

    Raises:
        PlanRefused: The file is no plan.
        SettingsError: Nothing that is known opens that account.
    """
    from chatkit import settings

    try:
        account = json.loads(errors.read_file_bytes(path))["plans"][0]["setting"]["account"]
    except (ValueError, LookupError, TypeError, RecursionError):
        raise errors.PlanRefused(f"{path} is not a saved plan: `plan --out` writes one.") from None
    known = settings.resolve(None) if os.environ.get("CHATKIT_BASE_URL") else None
    stored = ((name, settings.stored(name)) for name in settings.names())
    for name, kept in chain([(ENVIRONMENT, known)], stored):
        if kept is not None and f"{kept.base_url} account {kept.account_id}" == account:
            return name
    raise errors.SettingsError(
        f"{path} is a plan for {cut(str(account), 100)}, which no connection and no variable "
        f"names: {format_command(f'apply {path} NAME')}"
    )


def _apply_after_review(plan: Plan | FleetPlan, args: _Arguments) -> int:
    """Show a plan, ask in a terminal, apply it, and report its result."""
    from chatkit.bulk.plan import get_target

    args.show(plan)
    if not any(plan.counts.values()) and not plan.objections():
        return DONE if plan.refused.empty else DIFFERENT
    if objections := plan.objections(many=args.many, irreversible=args.irreversible):
        print("\n  - ".join(["Blocked, nothing was sent:", *map(visible, objections)]))
        return DIFFERENT
    asks = sys.stdin.isatty() and sys.stderr.isatty() and not args.yes
    if not args.yes and not asks:
        raise errors.InputError("Nothing was sent: no terminal to confirm in. --yes applies it.")
    creates = {(c.code, c.noun) for c in getattr(plan, "changes", ()) if c.kind == "create"}
    secret = any(get_target(plan).of(*each).lost for each in creates)  # type: ignore[arg-type]
    with _secrets_file(args, needed=secret) as file:
        where = Path(args.name or "the account of the run").name
        if asks and _ask_line(f"Apply this to {where}? [y/N]").lower() not in ("y", "yes"):
            print(f"Nothing was sent to {where}.")
            return DIFFERENT
        try:
            rehearsed: Any = {"rehearsed": True} if args.rehearsed else {}
            result = plan.apply(many=args.many, irreversible=args.irreversible, **rehearsed)
        except errors.PlanRefused as error:
            print(f"chatkit: {error}")
            return DIFFERENT
        return _report_run(result, plan.secrets, file, args)


@contextmanager
def _secrets_file(args: _Arguments, *, needed: bool) -> Iterator[IO[str] | None]:
    """Open the file of signing secrets before anything is sent; remove it if it stays empty.

    Raises:
        InputError: The file is there, or secrets would be shown where no terminal is.
    """
    if not needed or args.secrets is None:
        if needed and not (sys.stderr.isatty() and args.output.isatty()):
            raise errors.InputError(
                "Nothing was sent: webhooks are created, whose signing secret is shown once. There "
                "is no terminal to show it in: --secrets FILE keeps it."
            )
        yield None
        return
    try:
        file = os.fdopen(os.open(args.secrets, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w")
    except FileExistsError:
        raise errors.InputError(f"{args.secrets} exists: name a new file.") from None
    try:
        with file:
            yield file
    finally:
        if not args.secrets.stat().st_size:
            args.secrets.unlink()


def _report_run(
    result: pd.DataFrame, secrets: Mapping[Any, Any], file: IO[str] | None, args: _Arguments
) -> int:
    """Hand over the signing secrets of new webhooks, and show the result of a run."""
    from chatkit.bulk.rendering import get_result_run

    flat: dict[Any, Secret] = {}
    for key, value in secrets.items():  # of a fleet by account, then by id
        flat |= value if isinstance(value, Mapping) else {key: value}
    labels = dict(zip(result["key"], result["label"], strict=True))
    urls = {str(labels.get(key, key)): secret.reveal() for key, secret in flat.items()}
    if file is not None and urls:
        file.write(json.dumps(urls, indent=1) + "\n")
        file.flush()
        os.fsync(file.fileno())
        print(f"{many(len(urls), 'signing secret')} in {file.name}, which only you can read.")
    for url, secret in urls.items() if file is None else ():
        print(f"Signing secret of {visible(url)}, shown only now: {secret}")
    args.show(result.chatkit.summary())
    left = result[~result["state"].isin(["applied", "unchanged", "skipped"])]
    for row in left.head(_MAX_ROWS).itertuples():
        args.show(f"  {row.state}: {cut(str(row.label), 60)}: {visible(str(row.reason))}")
    if len(left) > _MAX_ROWS:
        args.write(f"  … and {len(left) - _MAX_ROWS:,} more")
    run = get_result_run(result)
    print(f"Run {run}: `{format_command(f'undo {run}')}` takes it back.")
    return DIFFERENT if len(left) else DONE
