"""`chatkit inbox serve`: as another program would use it."""

import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

import processes
import pytest
from inbox.senders import OTHER, SECRET, post, signed

from chatkit.cli import main
from chatkit.inbox import Inbox

BODY = b'{"event":"a","data":{}}'


@contextmanager
def served(*flags: str | Path, stdin: str = "", **environment: str) -> Iterator[dict]:
    """Run the command until the block ends; what it told at first."""
    process = processes.Popen(
        [sys.executable, "-m", "chatkit", "inbox", "serve", "--json", *map(str, flags)],
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


def test_it_serves_until_it_is_ended(tmp_path: Path) -> None:
    file = tmp_path / "inbox.sqlite"
    with served("--db", file, CHATKIT_SIGNING_SECRETS=SECRET) as access:
        assert post(access["url"], BODY, signed(BODY)) == 200
        assert SECRET not in str(access)
    with Inbox(file) as inbox:
        assert inbox.raw()["verified"].tolist() == [True]


def test_it_refuses_what_is_not_verified_and_takes_both_secrets_of_a_change(
    tmp_path: Path,
) -> None:
    flags = ["--refuse-unverified", "--secret-stdin"]
    url = f"sqlite:///{tmp_path / 'inbox.sqlite'}"
    with served(*flags, stdin=f"{SECRET}\n{OTHER}\n", CHATKIT_INBOX=url) as message:
        assert message["secrets"] == 2
        assert post(message["url"], BODY, signed(BODY, "a")) == 200
        assert post(message["url"], BODY, signed(BODY, "b", OTHER)) == 200
        assert post(message["url"], BODY, signed(BODY, "c", "e" * 64)) == 401


@pytest.mark.parametrize(
    ("flags", "secrets", "message"),
    [
        (["--refuse-unverified"], "", "CHATKIT_SIGNING_SECRETS"),
        (["--host", "192.0.2.1"], "", "cannot be served"),
        ([], "Ünusable", "signing secret"),
        ([], '"nusable"', "a quotation mark at its beginning"),
        ([], "nusable\ufeff", "at its end"),
    ],
)
def test_what_cannot_be_served_is_refused_without_a_secret(
    flags: list[str],
    secrets: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CHATKIT_DATA", str(tmp_path))
    monkeypatch.setenv("CHATKIT_INBOX", "")  # empty is unset: the inbox of this user
    monkeypatch.setenv("CHATKIT_SIGNING_SECRETS", secrets)
    before = signal.getsignal(signal.SIGTERM)
    assert main(["inbox", "serve", *flags]) == 2
    err = capsys.readouterr().err
    assert message in err and "nusable" not in err and err.count("\n") == 1
    assert signal.getsignal(signal.SIGTERM) is before


class Ended(io.StringIO):
    """Ends the process of whoever prints, as a service manager would."""

    ended = False

    def flush(self) -> None:
        if not self.ended:
            self.ended = True
            os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.parametrize("flags", [[], ["--profile"]])
def test_it_shows_its_address_until_a_signal_ends_it(
    flags: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHATKIT_SIGNING_SECRETS", f"{SECRET} {OTHER}")
    file, named = tmp_path / "a.sqlite", tmp_path / "named.toml"
    if flags == ["--profile"]:
        named.write_text('signature_scheme = "sha256_hex"\n')
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    more = [*flags, str(named)] if flags else flags
    with redirect_stdout(Ended()) as out:
        assert main(["inbox", "serve", "--db", str(file), *more]) == 0
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before
    text = out.getvalue()
    assert text.startswith("The receiver is up. Ctrl-C stops it.\n")
    assert re.search(r"Address   http://localhost:[1-9][0-9]+", text)
    assert str(file) in text and "Secrets   2\n" in text and SECRET not in text
