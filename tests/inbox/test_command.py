"""`chatkit inbox serve`: as another program would use it."""

import argparse
import io
import json
import os
import re
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

import processes
import pytest
from inbox.senders import OTHER, SECRET, post, signed

from chatkit.errors import SettingsError
from chatkit.inbox.command import add
from chatkit.inbox.inbox import Inbox
from chatkit.profile import ServiceProfile

BODY = b'{"event":"a","data":{}}'
RUN = """
import argparse, sys
from pathlib import Path
from chatkit.inbox.command import add
from chatkit.profile import ServiceProfile
parser = argparse.ArgumentParser()
read = lambda path: ServiceProfile(signature_scheme=path.read_text())
add(parser.add_subparsers(), int, read)
arguments = parser.parse_args()
sys.exit(arguments.run(arguments))
"""


@contextmanager
def served(*flags: str | Path, stdin: str = "", **environment: str) -> Iterator[dict]:
    """Run the command until the block ends; what it told at first."""
    process = processes.Popen(
        [sys.executable, "-c", RUN, "inbox", "serve", "--json", *map(str, flags)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | environment,
    )  # fmt: skip
    assert process.stdin and process.stdout
    with process:
        process.stdin.write(stdin)
        process.stdin.close()
        yield json.loads(process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


def test_it_serves_tls_until_it_is_told_to_end(tmp_path: Path) -> None:
    file, certificate = tmp_path / "inbox.sqlite", tmp_path / "authority.pem"
    with served("--db", file, "--authority", certificate, CHATKIT_SIGNING_SECRETS=SECRET) as said:
        tls = ssl.create_default_context(cafile=certificate)
        assert post(said["url"], BODY, signed(BODY), tls) == 200
        assert said["authority"] == certificate.read_text()
        assert SECRET not in str(said)
    with Inbox(file) as inbox:
        assert inbox.raw()["verified"].tolist() == [True]


def test_it_refuses_what_is_not_verified_and_takes_both_secrets_of_a_change(
    tmp_path: Path,
) -> None:
    flags = ["--plain", "--refuse-unverified", "--secret-stdin"]
    url = f"sqlite:///{tmp_path / 'inbox.sqlite'}"
    with served(*flags, stdin=f"{SECRET}\n{OTHER}\n", CHATKIT_INBOX=url) as said:
        assert said["secrets"] == 2 and said["authority"] is None
        assert post(said["url"], BODY, signed(BODY, "a")) == 200
        assert post(said["url"], BODY, signed(BODY, "b", OTHER)) == 200
        assert post(said["url"], BODY, signed(BODY, "c", "e" * 64)) == 401


def called(*flags: str) -> int:
    parser = argparse.ArgumentParser()
    add(parser.add_subparsers(), int, lambda path: ServiceProfile())
    arguments = parser.parse_args(["inbox", "serve", *flags])
    status: int = arguments.run(arguments)
    return status


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--refuse-unverified"], "CHATKIT_SIGNING_SECRETS"),
        (["--plain", "--authority", "x.pem"], "leave out --authority"),
        (["--host", "192.0.2.1"], "cannot be served"),
    ],
)
def test_what_cannot_be_is_told(
    flags: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHATKIT_DATA", str(tmp_path))
    monkeypatch.setenv("CHATKIT_INBOX", "")  # empty is unset: the inbox of this user
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SettingsError, match=said):
        called(*flags)
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_secret_that_cannot_be_used_is_told_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHATKIT_DATA", str(tmp_path))
    monkeypatch.setenv("CHATKIT_SIGNING_SECRETS", "Ünusable")
    with pytest.raises(SettingsError, match="signing secret") as caught:
        called()
    assert "nusable" not in str(caught.value)


def test_a_secret_is_never_an_argument(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        called("--secret", SECRET)


class Ended(io.StringIO):
    """Ends the process of whoever prints, as a service manager would."""

    def flush(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.parametrize(
    ("flags", "scheme"),
    [([], "https"), (["--plain"], "http"), (["--authority"], "https"), (["--profile"], "https")],
)
def test_it_tells_where_it_is_until_a_signal_ends_it(
    flags: list[str], scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHATKIT_SIGNING_SECRETS", f"{SECRET} {OTHER}")
    file, given, asked = tmp_path / "a.sqlite", tmp_path / "given", list[Path]()
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    parser = argparse.ArgumentParser()
    add(parser.add_subparsers(), int, lambda path: asked.append(path) or ServiceProfile())
    more = [*flags, str(given)] if flags and flags != ["--plain"] else flags
    arguments = parser.parse_args(["inbox", "serve", "--db", str(file), *more])
    with redirect_stdout(Ended()) as out:
        assert arguments.run(arguments) == 0
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before
    text = out.getvalue()
    assert text.startswith("The receiver is up. Ctrl-C stops it.\n")
    assert re.search(rf"Address   {scheme}://localhost:[1-9][0-9]+", text)
    assert str(file) in text and "Secrets   2\n" in text and SECRET not in text
    assert given.exists() is (flags == ["--authority"])
    assert asked == ([given] if flags == ["--profile"] else [])
