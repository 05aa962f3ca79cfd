"""The command `chatkit`: what it takes, and the commands that are of no part of the package."""

from __future__ import annotations

import argparse
import getpass
import hashlib
import json
import os
import re
import shlex
import shutil
import sys
import tomllib
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from chatkit.account import command as account_command
from chatkit.errors import (
    ChatkitError,
    InputError,
    PartMissing,
    SettingsError,
    StoreError,
    command,
    command_folders,
    needed_by,
)

if TYPE_CHECKING:
    from chatkit.profile import ServiceProfile
    from chatkit.sandbox import Sandbox
    from chatkit.secret import Secret
    from chatkit.settings import TokenPlace

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0, 1 failed, 2 usage, 130 interrupted."""
    arguments = _parser().parse_args(argv)
    try:
        status: int = arguments.run(arguments)
    except (SettingsError, InputError) as error:
        return _complain(error, USAGE)
    except ChatkitError as error:
        return _complain(error, FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


def _complain(error: object, status: int) -> int:
    print(f"chatkit: {error}", file=sys.stderr)
    return status


class _Parser(argparse.ArgumentParser):
    """argparse that does not repeat what was typed: it may be a token."""

    _TYPED = re.compile(
        r"((?:unrecognized argument|invalid choice|invalid \w+ value|ignored explicit argument)s?)"
        r":? .*?(?= \(choose from |$)",
        re.DOTALL,
    )

    def __init__(self, **options: object) -> None:
        # Abbreviations would read `--token X` as `--token-stdin`.
        super().__init__(allow_abbrev=False, **options)  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        said = self._TYPED.sub(r"\1", message)
        if said == "unrecognized arguments":
            said += ". A token is never one: login asks for it, or reads it with --token-stdin."
        super().error(said)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="chatkit", description="Your business messaging account from the command line."
    )
    version = sys.modules[__package__].__version__
    parser.add_argument("--version", action="version", version=f"chatkit {version}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    lab = commands.add_parser(
        "lab",
        help="open the guided notebooks in JupyterLab",
        description="Open JupyterLab with the guided notebooks. In its terminals (File > New > "
        "Terminal) the command `chatkit` works.",
    )
    lab.add_argument(
        "folder",
        nargs="?",
        type=Path,
        metavar="FOLDER",
        help="put the notebooks here, and open them here; what you have edited is never "
        "overwritten. Without it: ~/chatkit-notebooks (in a clone: its own notebooks)",
    )
    _port_of(lab, 8888)
    lab.add_argument("--no-browser", action="store_true", help="print the address instead")
    lab.set_defaults(run=_lab)

    sandbox = commands.add_parser(
        "sandbox",
        help="serve the whole service on this machine",
        description="Serve the whole service over HTTP until Ctrl-C, to practise going live: it "
        "says how to log in to it from a second terminal.",
    )
    sandbox.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="who can reach it: this machine alone (127.0.0.1, as long as nothing is given), or "
        "an address of this machine, for those who can reach that; they must use this very name",
    )
    _port_of(sandbox, 0)
    sandbox.add_argument(
        "--db",
        type=Path,
        metavar="FILE",
        help="keep everything in this file, and its port "
        "and token beside it in FILE.access: what logged in once works the next day",
    )
    sandbox.add_argument(
        "--seed",
        choices=["demo", "empty"],
        help="what to begin with: a small business, or nothing (as without it)",
    )
    _profile_of(sandbox)
    sandbox.add_argument(
        "--latency",
        type=float,
        metavar="MS",
        help="every API call waits so many "
        "milliseconds before it is answered, as a service far away does: --latency 80",
    )
    sandbox.add_argument(
        "--faults",
        type=_faults,
        metavar="KIND=RATE,…",
        help="what goes wrong with API calls: 429, 5xx, dropped, truncated, each with a rate from "
        "0 to 1; retry_after=SECONDS of a 429; seed=N for the same faults each time. "
        "One call in ten refused and some lost: --faults 429=0.1,dropped=0.02,retry_after=2",
    )
    sandbox.add_argument(
        "--allow",
        action="append",
        nargs="+",
        metavar="URL",
        help="deliver to webhooks of this address and below it, or to a second address on this "
        "machine in its place; may be repeated. Without it nothing is delivered. "
        "--allow https://hooks.shop.example/ https://127.0.0.1:8443/",
    )
    sandbox.add_argument(
        "--authority",
        type=Path,
        metavar="FILE",
        help="the certificate (PEM) that those of the --allow addresses are signed with",
    )
    sandbox.add_argument("--json", action="store_true", help="the first line tells all, as JSON")
    sandbox.set_defaults(run=_sandbox)

    doctor = commands.add_parser("doctor", help="check address, token and permissions; read-only")
    _connection(doctor)
    doctor.set_defaults(run=_doctor)

    login = commands.add_parser(
        "login",
        help="keep a connection, its token in the keyring",
        description="Keep base address, account and token under a name, once the doctor has found "
        "no problem: chatkit.connect(NAME) opens it. The token goes into the keyring of the "
        "system, or into a file that only you can read (--token-file). Where neither is wanted, "
        "the variable CHATKIT_TOKEN gives it, or a file that CHATKIT_TOKEN_FILE names.",
    )
    login.add_argument("name", metavar="NAME", help="how you will call it, like production")
    login.add_argument("--base-url", help="asked for when not given")
    login.add_argument("--account-id", help="asked for when not given")
    login.add_argument("--token-stdin", action="store_true", help="read the token from a pipe")
    login.add_argument(
        "--access",
        type=Path,
        metavar="FILE",
        help="take address, account and token from the file in which a served sandbox keeps "
        "them, and ask nothing",
    )
    login.add_argument(
        "--token-file",
        nargs="?",
        type=Path,
        const=Path(),
        metavar="FILE",
        help="keep the token in a file that only you can read, in place of the keyring; "
        "without FILE: beside the kept connections",
    )
    _profile_of(login)
    login.set_defaults(run=_login)

    logout = commands.add_parser("logout", help="forget a connection and its token")
    logout.add_argument("name", metavar="NAME", help="as `connections` lists it")
    logout.set_defaults(run=_logout)

    connections = commands.add_parser("connections", help="list the connections that are kept")
    connections.set_defaults(run=_connections)

    try:
        with needed_by("chatkit inbox"):
            from chatkit.inbox import command as inbox_command
    except PartMissing as missing:
        reason = str(missing)
        inbox = commands.add_parser("inbox", help=reason)
        inbox.add_argument("arguments", nargs=argparse.REMAINDER)
        inbox.set_defaults(run=lambda _: _complain(reason, FAILED))
    else:
        inbox_command.add(commands, _port, _read_profile)
    account_command.add(commands)
    return parser


def _connection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="a connection")


def _profile_of(parser: argparse.ArgumentParser) -> None:
    said = "what the service does where the API document is silent, TOML or JSON"
    parser.add_argument("--profile", type=Path, metavar="FILE", help=said)


def _port_of(parser: argparse.ArgumentParser, default: int) -> None:
    parser.add_argument("--port", type=_port, default=default, help="0: any that is free")


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) < 65536):
        raise argparse.ArgumentTypeError("a port is a number from 0 to 65535")
    return int(text)


def _faults(text: str) -> dict[str, float]:
    try:
        pairs = [part.split("=") for part in text.split(",")]
        return {
            name.strip(): int(value) if name.strip() == "seed" else float(value)
            for name, value in pairs
        }
    except ValueError:
        raise argparse.ArgumentTypeError("write faults like 429=0.1,5xx=0.05") from None


def _lab(arguments: argparse.Namespace) -> int:
    from jupyterlab.labapp import main as jupyterlab  # type: ignore[import-untyped]

    package = Path(__file__).resolve().parent
    clone = package.parent / "notebooks"
    source = clone if (package.parent / "pyproject.toml").exists() else package / "notebooks"
    folder = clone
    if not source.is_dir():  # a part of the package, taken out of it
        folder = arguments.folder or Path.cwd()
    elif source != clone or arguments.folder is not None:
        folder = (arguments.folder or Path.home() / "chatkit-notebooks").expanduser().resolve()
        try:
            kept = _put_notebooks(source, folder)
        except OSError as error:
            raise SettingsError(f"{folder} cannot be filled with the notebooks: {error}") from None
        print(f"The guided notebooks are in {folder}.")
        if kept:
            print(
                f"Changed by you, so kept as they are: {', '.join(kept)}. There are newer ones: "
                "rename yours, and they come with the next `chatkit lab`."
            )
    flags = ["--ip=127.0.0.1", f"--port={arguments.port}", "--allow-root"]
    flags.append("--Application.log_level=WARN")  # the address once, not a screen of notes
    if arguments.no_browser:
        flags.append("--no-browser")
    if (folder / "0_start.ipynb").exists():
        flags.append("--LabApp.default_url=/lab/tree/0_start.ipynb")
    jupyterlab([str(folder), *flags, *_terminals()])
    return OK


#: In the folder of the notebooks: the digest of each as it was put there.
_AS_PUT = ".chatkit-notebooks.json"


def _put_notebooks(source: Path, folder: Path) -> list[str]:
    """Copy the notebooks and their data, except over what a person has changed.

    Returns:
        The names of those that were changed, and of which there is a newer one.
    """
    from chatkit.lock import replacing

    folder.mkdir(parents=True, exist_ok=True)
    try:
        before = json.loads((folder / _AS_PUT).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError, RecursionError):
        before = {}
    as_put = dict(before) if isinstance(before, dict) else {}
    kept = []
    for file in sorted(source.iterdir()):
        if not file.is_file() or file.name.startswith("."):
            continue
        there, content = folder / file.name, file.read_bytes()
        new = hashlib.sha256(content).hexdigest()
        if there.exists():
            found = hashlib.sha256(there.read_bytes()).hexdigest()
            if found not in (new, as_put.get(file.name)):
                if as_put.get(file.name) != new:
                    kept.append(file.name)
                continue
        with replacing(there, 0o644) as out:
            out.write(content)
        as_put[file.name] = new
    with replacing(folder / _AS_PUT, 0o644) as out:
        out.write(json.dumps(as_put, indent=1).encode())
    return kept


def _terminals() -> list[str]:
    """Put the command on the PATH of JupyterLab's terminals, and return the flags for it.

    Without a terminal of its own, JupyterLab starts login shells, whose profile may set PATH
    anew: there the folder is put in front once the profile has been read.
    """
    name = "chatkit.exe" if os.name == "nt" else "chatkit"
    folder = next((one for one in command_folders() if os.path.exists(f"{one}/{name}")), None)
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


@needed_by("chatkit sandbox")
def _sandbox(arguments: argparse.Namespace) -> int:
    from chatkit.sandbox import Sandbox
    from chatkit.sandbox.server import run

    profile = None if arguments.profile is None else _read_profile(arguments.profile)
    passing = None  # the access file of a sandbox in memory goes with it
    try:
        with Sandbox(arguments.db, seed=arguments.seed, profile=profile) as sandbox:
            _misbehave(sandbox, arguments)

            def tell(base_url: str) -> None:
                nonlocal passing
                said = {
                    "base_url": base_url,
                    "account_id": sandbox.account_id,
                    "token": sandbox.token,
                    "admin_token": sandbox.admin_token,
                    "search_param": sandbox.profile.search_param,
                    "status_param": sandbox.profile.status_param,
                }
                if arguments.json:
                    print(json.dumps(said), flush=True)
                    return
                file = sandbox.access_file
                if file is None:
                    file = passing = _passing_file(base_url)
                    sandbox.keep_access(base_url, file)
                login = command(f"login practice --access {_quoted(file)}")
                print(_WELCOME.format(**said, file=file, login=login), flush=True)

            run(sandbox, arguments.host, arguments.port, tell)
    except (OSError, StoreError) as error:
        return _complain(f"the sandbox cannot be served: {error}", FAILED)
    finally:
        if passing is not None:
            passing.unlink(missing_ok=True)
    return OK


def _passing_file(base_url: str) -> Path:
    """Name the access file of a sandbox in memory: in the folder of the user's data."""
    from chatkit.bulk.stores import journal_folder

    folder = journal_folder(False).with_name("sandboxes")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / f"{base_url.rpartition(':')[2]}.access"


def _misbehave(sandbox: Sandbox, arguments: argparse.Namespace) -> None:
    """Set the faults and receivers that the command line names."""
    from chatkit.sandbox.faults import BadFaults
    from chatkit.webhook_sender import BadReceiver

    wanted: dict[str, float] = dict(arguments.faults or {})
    if arguments.latency is not None:
        wanted["latency"] = arguments.latency / 1000
    try:
        sandbox.middleware.faults.set(wanted)
        authority = None if arguments.authority is None else arguments.authority.read_bytes()
        for addresses in arguments.allow or ():
            if len(addresses) > 2:
                raise BadReceiver("--allow takes an address, and perhaps one to deliver to instead")
            sandbox.allow(*addresses, authority=authority)
    except (BadFaults, BadReceiver) as error:
        raise InputError(f"The sandbox cannot be set up so: {error}.") from None


_WELCOME = """\
The sandbox is up: the whole service, on this machine only. Ctrl-C stops it.

  Base address   {base_url}
  Account        {account_id}
  Access token   in {file}, which only you can read

To practise going live, in a second terminal:

  {login}

Then in a notebook: client = chatkit.connect("practice")
"""


def _quoted(path: Path) -> str:
    return shlex.quote(str(path)) if os.name == "posix" else f'"{path}"'


def _doctor(arguments: argparse.Namespace) -> int:
    from chatkit.checkup import doctor

    report = doctor(arguments.name)
    coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    print(report.painted() if coloured else report)
    return report.status


def _login(arguments: argparse.Namespace) -> int:
    from chatkit import settings
    from chatkit.checkup import keep_checked
    from chatkit.connection import Connection, StoredConnection

    name = settings.checked_name(arguments.name)
    known = settings.stored(name) if name in settings.names() else None
    served = None if arguments.access is None else settings.served(str(arguments.access))
    profile = {} if known is None else {"profile": known.profile}
    if arguments.profile is not None:
        profile = {"profile": _read_profile(arguments.profile)}
    elif served is not None:
        profile = {"profile": served.profile}
    ask = not arguments.token_stdin  # what is typed there would be taken for the token
    place, fault = _token_place(arguments, None if known is None else known.token_file)
    base_url, account_id = arguments.base_url, arguments.account_id
    if served is not None:
        base_url, account_id = served.base_url, served.account_id
    base_url = base_url or _ask("Base address", known.base_url if known else "", ask)
    account_id = account_id or _ask("Account id", known.account_id if known else "", ask)
    where = StoredConnection(base_url=base_url, account_id=account_id, **profile)
    if place == "nowhere" and ask:
        settings.save(name, where, place)
    else:
        token = served.token if served else _ask_token(arguments.token_stdin)
        keep_checked(name, Connection(**dict(where), token=token), place)
    open_it = f"In a notebook: chatkit.connect({name!r})"
    if place == "keyring":
        print(f"Kept. {open_it}")
    elif place == "nowhere":
        print(_KEPT_WITHOUT.format(
            fault=fault, line=settings.token_line(), open_it=open_it,
            file=command(f"login {name} --token-file"), doctor=command(f"doctor {name}"),
        ))  # fmt: skip
    else:
        print(f"Kept, the token in {place}, which only you can read. {open_it}")
    return OK


_KEPT_WITHOUT = """\
{fault} Kept: the base address and the account, without the token.
Before you start Python or JupyterLab, tell it with the token in place of the dots:

  {line}

Or keep it in a file that only you can read: {file}
Whether all is well: {doctor}
{open_it}"""


def _token_place(arguments: argparse.Namespace, before: Path | None) -> tuple[TokenPlace, str]:
    """Find out where the token can be kept before it is typed, and why not in the keyring."""
    from chatkit import settings

    file = before or settings.token_file(arguments.name)
    if arguments.token_file is not None:
        return (file if arguments.token_file == Path() else arguments.token_file), ""
    if not (fault := settings.keyring_fault()):
        return "keyring", ""
    if before is not None or arguments.access is not None:  # that token lies in a file already
        return file, fault
    if arguments.token_stdin or not sys.stdin.isatty():
        return "nowhere", fault
    print(fault)
    answer = input(f"Keep the token in {file}, which only you can read? [Y/n]: ")
    return (file if answer.strip().lower() in ("", "y", "yes") else "nowhere"), fault


def _ask(what: str, default: str, ask: bool) -> str:
    missing = SettingsError(f"The {what.lower()} is missing: give it as a flag.")
    shown = f" [{default}]" if default else ""
    try:
        given = input(f"{what}{shown}: ").strip() if ask else ""
    except EOFError:
        raise missing from None
    if not given and not default:
        raise missing
    return given or default


def _ask_token(from_stdin: bool) -> Secret:
    from chatkit.secret import access_token

    if from_stdin:
        return access_token(sys.stdin.read())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", getpass.GetPassWarning)
            return access_token(getpass.getpass("Access token (stays hidden): "))
    except (getpass.GetPassWarning, EOFError):
        raise SettingsError("No terminal can hide the token: use --token-stdin.") from None


def _logout(arguments: argparse.Namespace) -> int:
    from chatkit import settings

    settings.forget(arguments.name)
    print(f"Forgotten: {arguments.name} and its token.")
    return OK


def _connections(arguments: argparse.Namespace) -> int:
    from chatkit import settings

    names = settings.names()
    for name in names:
        place = settings.stored(name)
        print(f"{name}  account {place.account_id} at {place.base_url}")
    if not names:
        print(f"None yet. Keep one with `{command('login NAME')}`.")
    return OK


def _read_profile(path: Path) -> ServiceProfile:
    from pydantic import ValidationError

    from chatkit.profile import ServiceProfile
    from chatkit.settings import explain

    try:
        text = path.read_text(encoding="utf-8")
        values = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        return ServiceProfile.model_validate(values)
    except ValidationError as error:
        raise SettingsError(f"{path}: {explain(error)}") from None
    except RecursionError:
        reason = "it is nested too deeply"
    except (OSError, ValueError) as error:
        reason = str(error)
    raise SettingsError(f"{path} cannot be read: {reason}. Correct it.")
