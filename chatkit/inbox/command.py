"""The command `chatkit inbox serve`: a receiver that runs without a notebook."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chatkit.errors import SettingsError

if TYPE_CHECKING:
    from chatkit.inbox.receiver import Receiver
    from chatkit.profile import ServiceProfile

_SECRETS, _URL = "CHATKIT_SIGNING_SECRETS", "CHATKIT_INBOX"

_WELCOME = """\
The receiver is up. Ctrl-C stops it.

  Address   {url}
  Inbox     {inbox}
  Secrets   {secrets}
"""


def add(
    commands: Any,
    port: Callable[[str], int],
    read_profile: Callable[[Path], ServiceProfile],
) -> None:
    """Add `inbox serve` to the commands.

    Args:
        commands: The subparsers of `chatkit`.
        port: How a port is read from the command line.
        read_profile: How a profile is read from a file.
    """
    inbox = commands.add_parser("inbox", help="receive deliveries of webhooks")
    actions = inbox.add_subparsers(required=True, metavar="ACTION")
    serve = actions.add_parser(
        "serve",
        help="take deliveries, and keep each before it is acknowledged",
        description=f"Signing secrets come from {_SECRETS} (several parted by spaces) or from a "
        f"pipe; the database from {_URL} when it has a password. Neither is ever an argument.",
    )
    serve.add_argument("--host", default="127.0.0.1", help="who else may reach it: 0.0.0.0 is all")
    serve.add_argument("--port", type=port, default=0, help="0: any that is free")
    serve.add_argument("--db", type=Path, metavar="FILE", help="keep deliveries in this file")
    serve.add_argument("--secret-stdin", action="store_true", help="read secrets from a pipe")
    serve.add_argument(
        "--plain", action="store_true", help="HTTP, for behind a proxy that has a certificate"
    )
    serve.add_argument(
        "--authority", type=Path, metavar="FILE", help="write the certificate to trust here"
    )
    serve.add_argument(
        "--refuse-unverified",
        action="store_true",
        help="answer 401 to what is not signed rightly; else it is kept and marked",
    )
    serve.add_argument("--profile", type=Path, metavar="FILE", help="field names and scheme")
    serve.add_argument("--json", action="store_true", help="the first line tells all, as JSON")
    serve.set_defaults(run=lambda arguments: _serve(arguments, read_profile))


def _serve(arguments: argparse.Namespace, read_profile: Callable[[Path], ServiceProfile]) -> int:
    from chatkit.inbox.inbox import Inbox
    from chatkit.lock import replacing
    from chatkit.signature import BadSignature

    if arguments.plain and arguments.authority:
        raise SettingsError("--plain has no certificate to write: leave out --authority.")
    profile = None if arguments.profile is None else read_profile(arguments.profile)
    secrets = _secrets(arguments.secret_stdin)
    if arguments.refuse_unverified and not secrets:
        raise SettingsError(
            f"Without a signing secret everything would be refused: set {_SECRETS}, or use "
            "--secret-stdin."
        )
    stop = threading.Event()
    handled = (signal.SIGTERM, signal.SIGINT)
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in handled}
    try:
        with Inbox(arguments.db or os.environ.get(_URL) or None, profile=profile) as inbox:
            receiver = inbox.serve(
                secrets,
                host=arguments.host,
                port=arguments.port,
                tls=not arguments.plain,
                unverified="refuse" if arguments.refuse_unverified else "keep",
            )
            if arguments.authority and receiver.authority:
                with replacing(arguments.authority, 0o644) as file:
                    file.write(receiver.authority)
            _tell(receiver, inbox.shown, len(secrets), arguments.json)
            stop.wait()
    except (OSError, BadSignature) as error:
        raise SettingsError(f"The receiver cannot be served: {error}") from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return 0


def _tell(receiver: Receiver, inbox: str, secrets: int, as_json: bool) -> None:
    authority = receiver.authority
    said = {
        "url": receiver.url,
        "inbox": inbox,
        "secrets": secrets,
        "authority": authority.decode() if authority else None,
    }
    text = json.dumps(said) if as_json else _WELCOME.format(**said)
    print(text, flush=True)  # noqa: T201


def _secrets(from_stdin: bool) -> list[str]:
    """The signing secrets; never from the command line, which other users can read."""
    text = sys.stdin.read() if from_stdin else os.environ.get(_SECRETS, "")
    return text.split()
