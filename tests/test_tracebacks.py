"""Our errors keep no secret in the variables of their frames: such tracebacks are pasted."""

from __future__ import annotations

import secrets
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest
from bulk.applying import kept_at
from faultserver import FaultServer, answers, sends

import chatkit
from chatkit.api.secret import Secret, validate_access_token
from chatkit.cli import main
from chatkit.signature import Scheme, decode_secret, sign, verify

MARKER = f"tok-{secrets.token_hex(16)}"
UNUSUAL = f"{MARKER} \u00e9"  # neither a token nor a signing secret can hold this
HEX = Scheme("X-Sign", "", "hex", "hex")


def ours(error: BaseException) -> str:
    """A traceback with the variables of all frames, but those of this file."""
    view = traceback.TracebackException.from_exception(error, capture_locals=True, compact=False)
    chain: list[traceback.TracebackException] = []
    one: traceback.TracebackException | None = view
    while one is not None:
        chain.append(one)
        frames = [frame for frame in one.stack if frame.filename != __file__]
        one.stack = traceback.StackSummary.from_list(frames)
        one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
    assert any(frame.filename != __file__ for link in chain for frame in link.stack), "of ours"
    return "".join(view.format(chain=True)) + repr(error) + repr(vars(error))


def refused(attempt: Callable[[], object]) -> str:
    with pytest.raises(Exception) as caught:
        attempt()
    return ours(caught.value)


INBOX: dict[str, Callable[[chatkit.Inbox], object]] = {
    "serve": lambda inbox: inbox.serve(UNUSUAL),
    "serve with several": lambda inbox: inbox.serve([MARKER, UNUSUAL]),
    "accept": lambda inbox: inbox.serve().accept(MARKER, UNUSUAL),
    "verify": lambda inbox: inbox.verify(UNUSUAL),
    "verify under a scheme": lambda inbox: inbox.verify(MARKER, scheme=HEX),
}
ALONE: dict[str, Callable[[], object]] = {
    "client with an odd token": lambda: chatkit.Client("https://a.example", 1, UNUSUAL),
    "client with bytes": lambda: chatkit.Client("https://a.example", 1, MARKER.encode()),  # type: ignore[arg-type]
    "client at an odd address": lambda: chatkit.Client("ftp://a.example", 1, MARKER),
    "client of an odd account": lambda: chatkit.Client("https://a.example", "a/b", MARKER),
    "token": lambda: validate_access_token(UNUSUAL),
    "no text": lambda: Secret(MARKER.encode()),  # type: ignore[arg-type]
    "key": lambda: decode_secret(HEX, MARKER),
    "sign": lambda: sign(HEX, MARKER, "a", 1, b"{}"),
    "sign with an odd id": lambda: sign("standard_webhooks", MARKER, "a.b", 1, b"{}"),
    "sign with no scheme": lambda: sign("none", MARKER, "a", 1, b"{}"),
    "verify": lambda: verify(
        b"{}", {"X-Hub-Signature-256": "a"}, MARKER, scheme="sha256_hex", now=1
    ),
    "verify without a header": lambda: verify(b"{}", {}, [MARKER], scheme="sha256_hex", now=1),
    "verify with a quoted one": lambda: verify(b"{}", {}, f'"{MARKER}"'),
    "verify with bytes": lambda: verify(b"{}", {}, MARKER.encode()),  # type: ignore[arg-type]
    "sign with a quoted one": lambda: sign("sha256_hex", f"{MARKER}\n", "a", 1, b"{}"),
    "verify with an odd one": lambda: verify(
        b"{}", {}, [MARKER, UNUSUAL], scheme="sha256_hex", now=1
    ),
    "a database": lambda: chatkit.Inbox(f"postgresql://a:{MARKER}@127.0.0.1:9/none"),
    "no database": lambda: chatkit.Inbox(f"mysql://a:{MARKER}@127.0.0.1:9/none"),
}
HOME = f"postgresql://a:{MARKER}@127.0.0.1:9/none"  #: of journals
RUN, NEW = "20260101-000000-abcdef", {"number": "2025550143", "country_code": "+1"}
JOURNALS: dict[str, Callable[[chatkit.Client], object]] = {
    "apply": lambda client: kept_at(client.contacts.plan([NEW]), HOME).apply(),
    "apply for a fleet": lambda client: kept_at(
        chatkit.connect_all({"a": client}).contacts.plan([NEW | {"account": "a"}]), HOME
    ).apply(),
    "runs": lambda client: chatkit.runs(client, at=HOME),
    "journal": lambda client: chatkit.account.journal(RUN, at=HOME),
    "resume": lambda client: chatkit.resume(RUN, client, at=HOME),
    "undo": lambda client: chatkit.undo(RUN, client, at=HOME),
    "prune": lambda client: chatkit.account.prune(at=HOME),
    "prune of no days": lambda client: chatkit.account.prune(days=-1, at=HOME),
}


@pytest.mark.parametrize("name", ALONE)
def test_a_secret_is_in_no_frame_of_an_error(name: str) -> None:
    assert MARKER not in refused(ALONE[name])


def test_a_secret_is_in_no_frame_of_an_error_of_an_inbox_and_of_journals(tmp_path: Path) -> None:
    with chatkit.Inbox(tmp_path / "inbox.sqlite") as inbox:
        for name, attempt in INBOX.items():
            assert MARKER not in refused(lambda attempt=attempt: attempt(inbox)), name
    with chatkit.connect(chatkit.Sandbox(seed="empty")) as client:
        for name, work in JOURNALS.items():
            assert MARKER not in refused(lambda work=work: work(client)), name


@pytest.mark.parametrize(
    "script",
    [
        answers(401, b'{"message":"no"}'),
        answers(403, f"<p>{MARKER}".encode(), kind="text/html"),
        answers(200, b"<p>hello", kind=f"text/{MARKER}"),
        answers(200, b'{"success":true,"data":{"id":"x"}}'),
        sends(b"nonsense", end=True),
        sends(b"", end=True),
    ],
)
def test_a_token_is_in_no_frame_of_an_error_of_a_call(script: object) -> None:
    """From a resource of a client, as a person calls it."""
    with (
        FaultServer(script) as server,  # type: ignore[arg-type]
        chatkit.Client(server.base_url, 1001, MARKER, deadline=0.5) as client,
    ):
        for attempt in (
            lambda: client.contacts.get(17),
            lambda: client.contacts.create(number="2025550143", country_code="+1"),
            lambda: client.webhooks.create(url="https://a.example", events=["*"]),
            client.flows.frame,
        ):
            assert MARKER not in refused(attempt)


def test_a_token_in_the_environment_or_in_a_file_is_in_no_frame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "connections.toml"
    monkeypatch.setenv("CHATKIT_CONFIG", str(file))
    monkeypatch.setenv("CHATKIT_TOKEN", UNUSUAL)
    assert MARKER not in refused(chatkit.connect)
    monkeypatch.setenv("CHATKIT_TOKEN", MARKER)
    assert MARKER not in refused(chatkit.connect), "half a configuration"
    monkeypatch.delenv("CHATKIT_TOKEN")
    for text in (f'[shop]\ntoken = "{MARKER}"', f'token = "{MARKER}"', f"[shop\n{MARKER}"):
        file.write_text(text, encoding="utf-8")
        assert MARKER not in refused(lambda: chatkit.connect("shop"))


def test_login_says_nothing_of_a_token(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO(UNUSUAL))
    about = ["--base-url", "https://a.example", "--account-id", "1", "--token-stdin"]
    assert main(["login", "shop", *about]) != 0
    output = capsys.readouterr()
    assert MARKER not in output.out + output.err


def test_a_sandbox_keeps_no_token_in_the_frames_of_its_errors() -> None:
    with chatkit.Sandbox(seed="empty") as sandbox:
        report = refused(lambda: sandbox.make_token("Chat Nothing, View"))
        report += refused(lambda: sandbox.play("nothing"))
        report += refused(lambda: sandbox.allow("ftp://a"))
        for token in (sandbox.token, sandbox.admin_token):
            assert token not in report
