import asyncio
import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import keyrings
import processes
import pytest
from documents import DOCUMENT
from listening import listening
from ports import reserved
from terminals import answered

from chatkit import settings
from chatkit.cli import _copy_notebooks, main
from chatkit.errors import SettingsError
from chatkit.sandbox import Sandbox

MARKER = "tok_5f3a9c1e77"
COMMANDS = {
    *("lab", "sandbox", "inbox", "doctor", "login", "logout", "connections", "pull", "diff"),
    *("plan", "apply", "restore", "runs", "resume", "undo", "templates"),
}
LOOPBACK = urllib.request.build_opener(urllib.request.ProxyHandler({}))
PREFIX = "/api/business/public/channels/chat/accounts"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment of a process of its own: own settings, a keyring in a file."""
    return os.environ | {
        "CHATKIT_CONFIG": str(tmp_path / "connections.toml"),
        "PYTHON_KEYRING_BACKEND": "keyrings.FileKeyring",
        "PYTHONPATH": str(Path(keyrings.__file__).parent),
        "KEYRING_FILE": str(tmp_path / "keyring.json"),
        "MARKER_TOKEN": MARKER,
        "COLUMNS": "100",
    }


def chatkit(
    *arguments: str, env: dict[str, str], stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    return processes.run(
        [sys.executable, "-m", "chatkit", *arguments],
        input=stdin, env=env, capture_output=True, text=True, timeout=60,
    )  # fmt: skip


@contextmanager
def started(
    *arguments: str, env: dict[str, str], **options: Any
) -> Iterator["subprocess.Popen[str]"]:
    """The command in a process of its own, ended with the block whatever happens in it."""
    with processes.Popen(
        [sys.executable, "-m", "chatkit", *arguments],
        env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        **options,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def serving(*arguments: str, env: dict[str, str]) -> Iterator[dict[str, Any]]:
    """`chatkit sandbox --json`, and what its first line tells."""
    with started("sandbox", "--json", *arguments, env=env) as process:
        assert process.stdout is not None and process.stderr is not None
        line = process.stdout.readline()
        assert line, process.stderr.read()
        yield json.loads(line)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=20)
        assert (process.returncode, out, err) == (0, "", "")


def ask(report: dict[str, Any], method: str, path: str, body: object = None) -> tuple[int, Any]:
    """Call a served sandbox: its API, or what begins with /_sandbox."""
    own = path.startswith("/_sandbox/")
    request = urllib.request.Request(
        report["base_url"] + (path if own else f"{PREFIX}/{report['account_id']}/{path}"),
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Authorization": f"Bearer {report['admin_token' if own else 'token']}",
            "Content-Type": "application/json",
        },
    )
    try:
        with LOOPBACK.open(request, timeout=20) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


# --- sandbox ------------------------------------------------------------------------


def test_the_sandbox_tells_all_in_its_first_line_and_serves_each_resource_until_sigterm(
    environment: dict[str, str],
) -> None:
    with serving("--seed", "empty", env=environment) as report:
        assert list(report) == [
            "base_url", "account_id", "token", "admin_token", "search_param", "status_param",
        ]  # fmt: skip
        assert report["base_url"].startswith("http://127.0.0.1:")
        made = {
            "contacts": {"number": "5550100", "country_code": "+1"},
            "flows": {"name": "f", "template_name": "default", "flow_json": DOCUMENT},
            "templates/hello/contents": {"lang_code": "en", "text": "Hello"},
            "webhooks": {"url": "https://hooks.example.com/a", "events": ["*"]},
        }
        for path, fields in made.items():
            status, answer = ask(report, "POST", path, fields)
            assert status in (200, 201), answer
            status, listed = ask(report, "GET", path)
            assert (status, len(listed["data"])) == (200, 1)
        assert len(answer["data"]["webhook_secret"]) == 64


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("p.toml", 'search_param = "q"\nstatus_param = ""\nnot_found_status = 410'),
        ("p.json", '{"search_param": "q", "status_param": null, "not_found_status": 410}'),
    ],
)
def test_a_profile_file_sets_the_open_points(
    file: str, text: str, environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / file).write_text(text)
    with serving("--profile", str(tmp_path / file), env=environment) as report:
        assert (report["search_param"], report["status_param"]) == ("q", None)
        assert ask(report, "GET", "contacts/77")[0] == 410


def welcomed(process: "subprocess.Popen[str]") -> tuple[str, Path]:
    """Return the output of a served sandbox, and the access file that it names."""
    assert process.stdout is not None and process.stderr is not None
    output = ""
    while "Then in a notebook" not in output:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        output += line
    return output, Path(shlex.split(output.partition("--access ")[2].partition("\n")[0])[0])


@pytest.mark.parametrize("kept", [False, True])
def test_the_sandbox_says_how_to_log_in_and_shows_no_token(
    kept: bool, environment: dict[str, str], tmp_path: Path
) -> None:
    environment["CHATKIT_DATA"] = str(tmp_path / "data")
    arguments = ("--db", str(tmp_path / "shop.db")) if kept else ()
    with started("sandbox", *arguments, env=environment) as process:
        output, file = welcomed(process)
        opened = settings.read_access_file(str(file))
        assert file.stat().st_mode & 0o777 == 0o600
        assert opened.base_url in output and opened.token.reveal() not in output
        login = next(line for line in output.splitlines() if "login practice" in line).strip()
        done = subprocess.run(
            ["/bin/sh", "-c", login], env=environment, capture_output=True, text=True, timeout=60
        )
        assert "chatkit.connect('practice')" in done.stdout, done.stderr
        assert opened.token.reveal() not in done.stdout + done.stderr
        code = "import chatkit; print(len(chatkit.connect('practice').contacts.frame()))"
        done = processes.run(
            [sys.executable, "-c", code],
            env=environment, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert done.stdout.splitlines()[1:] == ["0"], done.stderr
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=20)[1] == ""
        assert process.returncode == 0
    assert "http://127.0.0.1:" in output and "1001" in output and "Ctrl-C" in output
    assert file.exists() == kept and (file == tmp_path / "shop.db.access") == kept


@pytest.mark.parametrize("name", sorted(COMMANDS - {"connections"}))
def test_every_argument_of_a_command_is_explained(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([name, "--help"])
    listed = capsys.readouterr().out.partition("\n\n")[2]
    entries = re.findall(r"^  (-?\S.*(?:\n {4,}.*)*)", listed, re.MULTILINE)
    assert entries
    bare = [entry for entry in entries if len(re.split(r"\s{2,}", entry.strip())) < 2]
    assert not bare


def test_a_sandbox_in_a_file_keeps_its_port_and_its_token(
    environment: dict[str, str], tmp_path: Path
) -> None:
    arguments = ("--db", str(tmp_path / "shop.db"))
    with serving(*arguments, env=environment) as first:
        assert ask(first, "POST", "contacts", {"number": "5550100", "country_code": "+1"})[0] == 201
    port = int(first["base_url"].rpartition(":")[2])
    with reserved(port), serving(*arguments, env=environment) as second:
        assert [second[n] for n in ("base_url", "token")] == [
            first[n] for n in ("base_url", "token")
        ]
        assert ask(first, "GET", "contacts")[1]["pagination"]["totalCount"] == 1
    with (
        socket.create_server(("127.0.0.1", port)),
        started("sandbox", "--json", *arguments, env=environment) as process,
    ):
        assert process.stdout is not None
        third = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        err = process.communicate(timeout=20)[1]
    assert err == (
        f"Port {port}, which this sandbox had before, is taken: it has another address now.\n"
    )
    assert third["token"] == first["token"] and third["base_url"] != first["base_url"]


@pytest.mark.parametrize("damage", ["", "[]", "{}", '{"token": 5, "base_url": "http://x:y"}'])
def test_a_damaged_access_file_is_told_and_made_new(damage: str, tmp_path: Path) -> None:
    file = tmp_path / "shop.db.access"
    with Sandbox(tmp_path / "shop.db") as sandbox, sandbox.serve():
        token = sandbox.token
    file.write_text(damage)
    with pytest.raises(SettingsError, match="damaged"):
        settings.resolve(str(file))
    with Sandbox(tmp_path / "shop.db") as sandbox, sandbox.serve() as base_url:
        assert sandbox.token != token
        opened = settings.resolve(str(file))
        assert opened is not None
        assert (opened.base_url, opened.token.reveal()) == (base_url, sandbox.token)
    with pytest.raises(SettingsError, match="there is no such file"):
        settings.resolve(str(tmp_path / "no.access"))


def test_a_token_of_another_file_is_not_taken(tmp_path: Path) -> None:
    with Sandbox(tmp_path / "a.db") as one, one.serve():
        weak = one.make_token("Chat Contacts, View")
    file = tmp_path / "a.db.access"
    kept = json.loads(file.read_text())
    for token in (weak, "somebody's"):
        file.write_text(json.dumps(kept | {"token": token}))
        with Sandbox(tmp_path / "a.db") as sandbox:
            assert sandbox.token not in (token, kept["token"])


def test_a_served_sandbox_misbehaves_and_delivers_as_it_is_told(
    environment: dict[str, str],
) -> None:
    with listening() as listener:
        arguments = ("--seed", "demo", "--faults", "429=1, retry_after=7,seed=3", "--latency", "5",
                     "--allow", "https://hooks.larkspur-cycles.example/", listener.url,
                     "--allow", "http://127.0.0.1:1/")  # fmt: skip
        with serving(*arguments, env=environment) as report:
            assert ask(report, "GET", "/_sandbox/faults")[1] == {
                "429": 1, "retry_after": 7, "seed": 3, "latency": 0.005,
            }  # fmt: skip
            assert ask(report, "GET", "contacts")[0] == 429
            _, allowed = ask(report, "GET", "/_sandbox/receivers")
            assert [r["url"] for r in allowed["receivers"]] == [
                "https://hooks.larkspur-cycles.example/", "http://127.0.0.1:1/",
            ]  # fmt: skip
            event = {"kind": "chat.message.status", "payload": {}}
            _, answer = ask(report, "POST", "/_sandbox/events", event)
            came = [delivery["status"] for delivery in answer["deliveries"]]
            assert sorted(came) == ["delivered", "refused"]  # nobody has allowed the other
        assert len(listener.requests) == 1


def test_a_sandbox_that_cannot_be_served_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert main(["sandbox", "--port", str(taken.getsockname()[1])]) == 2
    (tmp_path / "notes.txt").write_text("these are only my notes, and no database\n" * 100)
    assert main(["sandbox", "--db", str(tmp_path / "notes.txt")]) == 2
    assert main(["sandbox", "--db", str(tmp_path / "notes.txt" / "x.db")]) == 2
    output, log = capsys.readouterr()
    assert output == ""
    assert log.count("chatkit: The sandbox cannot be served: ") == log.count("\n") == 3


# --- usage --------------------------------------------------------------------------


#: What cannot be done, and what standard error says then; it never repeats what may be a token.
REFUSED = [
    ("", "usage: chatkit"),
    (MARKER, "usage: chatkit"),
    (f"login staging --token {MARKER}", "login asks for it"),
    (f"login staging --token={MARKER}", "login asks for it"),
    (f"login staging {MARKER}", "login asks for it"),
    (f"login staging --token-stdin={MARKER}", "ignored explicit argument"),
    (f"login staging --base-url x --account-id 1 {MARKER}", "login asks for it"),
    (f"inbox serve --secret {MARKER}", "unrecognized arguments"),
    (f"sandbox --port {MARKER}", "a port is a number from 0 to 65535"),
    (f"sandbox --port=65536 {MARKER}", "a port is a number from 0 to 65535"),
    (f"sandbox --seed {MARKER}", "invalid choice"),
    (f"doctor staging {MARKER}", "chatkit doctor: error: unrecognized arguments, 1 more than"),
    (f"plan shop {MARKER} {MARKER} --what", "chatkit plan: error: unrecognized arguments, 2 more"),
    (f"logout {MARKER} {MARKER}", "unrecognized arguments"),
    ("sandbox --faults 429", "write faults like 429=0.1,5xx=0.05"),
    ("sandbox --faults 429=often", "write faults like"),
    ("sandbox --faults seed=1.5", "write faults like"),
    ("sandbox --faults a=b=c", "write faults like"),
    ("sandbox --faults 429=2", "429 must be a number from 0 to 1"),
    ("sandbox --faults 501=0.1", "no such fault: 501"),
    ("sandbox --latency=-1", "latency must be"),
    ("sandbox --allow ftp://127.0.0.1/", "https:// or http://"),
    ("sandbox --allow http://a.example http://b.example http://c.example", "and perhaps"),
    ("sandbox --profile named.toml", "no such setting; did you mean search_param?"),
    ("sandbox --profile value.toml", "put: must be 'merge' or 'replace'"),
    ("sandbox --profile broken.toml", "cannot be read"),
    ("login staging --profile none.toml", "none.toml cannot be read"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_what_cannot_be_done_is_said_without_what_was_typed(
    arguments: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("named", "serch_param = 'q'"), ("value", "put = 'q'"), ("broken", "put")):
        Path(f"{name}.toml").write_text(text)
    try:
        status: object = main(arguments.split())
    except SystemExit as end:
        status = end.code
    report = capsys.readouterr()
    assert (status, report.out) == (2, "")
    assert message in report.err and MARKER not in report.err
    assert "usage: chatkit" in report.err or report.err.count("\n") == 1


def test_help_is_there_for_every_command_and_loads_nothing_heavy() -> None:
    code = (
        "import sys; from chatkit.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'pandas', 'httpx', 'pydantic', 'keyring', 'uvicorn', 'jupyterlab'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    for name in COMMANDS:
        assert f"\n    {name} " in done.stdout or f"\n    {name}\n" in done.stdout
    assert done.stdout.endswith("[]\n")


# --- connections --------------------------------------------------------------------


def test_login_keeps_what_works_and_logout_forgets_it(environment: dict[str, str]) -> None:
    with Sandbox(seed="demo") as sandbox, sandbox.serve() as base_url:
        flags = ("--base-url", base_url + "/", "--account-id", sandbox.account_id, "--token-stdin")
        runs = [chatkit("connections", env=environment)]
        runs.append(chatkit("login", "shop", *flags, env=environment, stdin=sandbox.token + "\n"))
        runs.append(chatkit("connections", env=environment))
        runs.append(chatkit("doctor", "shop", env=environment))
        kept = Path(environment["KEYRING_FILE"]).read_text()
        again = chatkit("login", "shop", "--token-stdin", env=environment, stdin=sandbox.token)
        runs.append(again)
        runs.append(chatkit("logout", "shop", env=environment))
        runs.append(chatkit("connections", env=environment))
        token = sandbox.token
    assert [run.returncode for run in runs] == [0] * 7, [run.stderr for run in runs]
    assert 'chatkit.connect("shop")' in runs[1].stdout.replace("'", '"')
    assert runs[2].stdout == f"shop  account 1001 at {base_url}\n"
    assert "Chat Contacts, View" in runs[3].stdout
    assert runs[6].stdout == runs[0].stdout
    assert json.loads(kept) == {"chatkit/shop": token}
    assert json.loads(Path(environment["KEYRING_FILE"]).read_text()) == {}
    assert token not in Path(environment["CHATKIT_CONFIG"]).read_text()
    assert not [run for run in runs if token in run.stdout + run.stderr]


def test_login_keeps_nothing_that_does_not_work(environment: dict[str, str]) -> None:
    with Sandbox(seed="empty") as sandbox, sandbox.serve() as base_url:
        known = ("--base-url", base_url, "--account-id", sandbox.account_id)
        unusual = ("--base-url", "http://shop.example.com", "--account-id", "1")
        gone = ("--base-url", "http://127.0.0.1:9", "--account-id", "1")
        runs = [
            chatkit("login", "shop", *flags, "--token-stdin", env=environment, stdin=text)
            for flags, text in [
                (known, MARKER),
                (known, f"{MARKER} {MARKER}"),
                (known, ""),
                (unusual, MARKER),
                (gone, MARKER),
                (known[:2], MARKER),
            ]
        ]
    assert [run.returncode for run in runs] == [2] * 6
    assert "Nothing was kept. Access token: refused (401)" in runs[0].stderr
    assert [run.stderr.count("\n") for run in runs] == [1] * 6
    assert "does not answer" in runs[4].stderr
    assert "account id is missing: give it as --account-id." in runs[5].stderr
    assert json.loads(Path(environment["KEYRING_FILE"]).read_text()) == {}
    assert not Path(environment["CHATKIT_CONFIG"]).exists()
    _assert_clean(runs)


@pytest.mark.parametrize(
    ("backend", "fault"),
    [
        ("keyring.backends.fail.Keyring", "This machine has no keyring."),
        ("keyrings.LoudKeyring", "The keyring failed (ValueError)."),
        ("keyrings.ForgetfulKeyring", "The keyring of this machine stores nothing."),
        ("keyrings.NoSuchThing", "The keyring failed"),
    ],
)
def test_without_a_keyring_address_and_account_are_kept_and_what_to_export_is_printed(
    backend: str, fault: str, environment: dict[str, str]
) -> None:
    environment["PYTHON_KEYRING_BACKEND"] = backend
    with Sandbox(seed="empty") as sandbox, sandbox.serve() as base_url:
        environment["MARKER_TOKEN"] = sandbox.token
        flags = ("--base-url", base_url, "--account-id", sandbox.account_id, "--token-stdin")
        run = chatkit("login", "shop", *flags, env=environment, stdin=sandbox.token)
        assert (run.returncode, run.stderr) == (0, "")
        assert fault in run.stdout and "login shop --token-file" in run.stdout
        assert sandbox.token not in run.stdout
        # the very line that is printed, with the token in it
        line = run.stdout.partition("  export")[2].partition("\n")[0].replace("…", sandbox.token)
        shell = f"export{line}\n{sys.executable} -m chatkit doctor shop"
        done = subprocess.run(
            ["/bin/sh", "-c", shell], env=environment, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0 and "Account" in done.stdout, done.stderr
    assert not Path(environment["KEYRING_FILE"]).exists()


def test_login_keeps_the_token_in_a_file_that_only_its_owner_reads(
    environment: dict[str, str], tmp_path: Path
) -> None:
    environment["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    with Sandbox(seed="empty") as sandbox, sandbox.serve() as base_url:
        where = ("--base-url", base_url, "--account-id", sandbox.account_id, "--token-stdin")
        runs = [
            chatkit("login", "shop", "--token-file", *where, env=environment, stdin=sandbox.token),
            chatkit("login", "shop", "--token-stdin", env=environment, stdin=sandbox.token),
            chatkit("doctor", "shop", env=environment),
        ]
        file = tmp_path / "shop.token"
        assert [run.returncode for run in runs] == [0, 0, 0], runs
        assert f"the token in {file}, which only you can read" in runs[1].stdout
        assert file.stat().st_mode & 0o777 == 0o600
        assert file.read_text() == f"{sandbox.token}\n"
        file.chmod(0o644)
        refused = chatkit("doctor", "shop", env=environment)
        assert refused.returncode == 2 and f"chmod 600 {file}" in refused.stderr
        assert chatkit("logout", "shop", env=environment).returncode == 0
        assert not file.exists()
        assert not [run for run in [*runs, refused] if sandbox.token in run.stdout + run.stderr]


def test_a_token_in_the_environment_is_never_shown(environment: dict[str, str]) -> None:
    environment["CHATKIT_TOKEN"] = MARKER
    Path(environment["CHATKIT_CONFIG"]).write_text(
        '[shop]\nbase_url = "http://127.0.0.1:9"\naccount_id = "1"\n'
    )
    runs = [
        chatkit("doctor", env=environment),
        chatkit("doctor", "nobody", env=environment),
        chatkit("doctor", "shop", env=environment),
        chatkit("logout", "nobody", env=environment),
        chatkit("connections", env=environment),
    ]
    environment["CHATKIT_TOKEN"] = f"{MARKER}\n{MARKER}"
    runs.append(chatkit("doctor", "shop", env=environment))
    assert [run.returncode for run in runs] == [2, 2, 1, 2, 0, 2]
    assert runs[2].stdout.splitlines()[1].strip().startswith("problem  Base address")
    _assert_clean(runs)


def _assert_clean(runs: list[subprocess.CompletedProcess[str]]) -> None:
    for run in runs:
        assert MARKER not in run.stdout + run.stderr
        assert "Traceback" not in run.stderr


LOGIN = [sys.executable, "-m", "chatkit", "login", "shop"]
QUESTIONS = "Base address", "Account id", "Access token (stays hidden)"


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of POSIX")
def test_login_asks_and_hides_the_token(environment: dict[str, str]) -> None:
    with Sandbox(seed="empty") as sandbox, sandbox.serve() as base_url:
        answers = list(zip(QUESTIONS, (base_url, sandbox.account_id, sandbox.token), strict=True))
        status, seen = answered(LOGIN, *answers, env=environment)
    assert status == 0, seen
    assert "Kept." in seen and "Access token (stays hidden): " in seen
    assert sandbox.token not in seen
    kept = json.loads(Path(environment["KEYRING_FILE"]).read_text())
    assert kept == {"chatkit/shop": sandbox.token}


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of POSIX")
@pytest.mark.parametrize("file", [True, False])
def test_login_offers_a_file_before_the_token_where_there_is_no_keyring(
    file: bool, environment: dict[str, str], tmp_path: Path
) -> None:
    environment["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    with Sandbox(seed="empty") as sandbox, sandbox.serve() as base_url:
        answers = [*zip(QUESTIONS, (base_url, sandbox.account_id), strict=False)]
        answers += [("[Y/n]", ""), (QUESTIONS[2], sandbox.token)] if file else [("[Y/n]", "n")]
        status, seen = answered(LOGIN, *answers, env=environment)
    assert status == 0, seen
    offer = seen.partition("Account id")[2].partition("Access token")[0]
    assert "This machine has no keyring." in offer and "shop.token" in offer
    assert (tmp_path / "shop.token").exists() is file
    assert ("Access token" in seen) is file
    assert ("export CHATKIT_TOKEN=" in seen) is not file
    assert base_url in Path(environment["CHATKIT_CONFIG"]).read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is SIGINT on POSIX only")
def test_ctrl_c_ends_quietly(environment: dict[str, str]) -> None:
    with started("login", "shop", env=environment) as process:
        assert process.stderr is not None
        assert process.stderr.read(14) == "Base address: "
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=20)[1] == ""
        assert process.returncode == 130


# --- lab ----------------------------------------------------------------------------


def lab_address(process: "subprocess.Popen[str]") -> str:
    """The address that a starting JupyterLab prints, with its token."""
    assert process.stderr is not None
    output = ""
    while not (result := re.search(r"http://127\.0\.0\.1:\S+", output)):
        line = process.stderr.readline()
        assert line, output
        output += line
    port = int(re.findall(r":(\d+)", result[0])[0])
    while process.poll() is None:  # it prints its address before it listens there
        with contextlib.suppress(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), 20).close()
            break
        time.sleep(0.02)
    return result[0]


def typed(address: str, command: str, end: str) -> str:
    """Return the output of a new terminal of JupyterLab up to a text, after a command was typed."""
    base, _, token = address.partition("/lab/tree/0_start.ipynb?token=")
    headers = {"Authorization": f"token {token}"}
    made = urllib.request.Request(f"{base}/api/terminals", method="POST", headers=headers)
    with LOOPBACK.open(made, timeout=20) as answer:
        name = json.load(answer)["name"]

    async def talk() -> str:
        view = ""
        url = f"{base}/terminals/websocket/{name}"
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.ws_connect(url) as socket,
        ):
            await socket.send_json(["stdin", f"{command}\r"])
            async for message in socket:
                kind, *text = message.json()
                view += text[0] if kind == "stdout" else ""
                if end in view:
                    break
        return view

    return asyncio.run(asyncio.wait_for(talk(), 60))


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
def test_lab_opens_the_notebooks_and_its_terminals_know_the_command_that_is_printed(
    tmp_path: Path,
) -> None:
    """In a shell that knows nothing: no PATH to the environment, no settings, no keyring."""
    clean = {
        "HOME": str(tmp_path),
        "PATH": "/usr/bin:/bin",
        "SHELL": shutil.which("bash") or "/bin/sh",
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
    }
    with started("lab", "--port=0", "--no-browser", env=clean, cwd=tmp_path) as process:
        address = lab_address(process)
        assert "/lab/tree/0_start.ipynb" in address
        view = typed(address, "chatkit connections", "login NAME")
    assert "None yet. Keep one with `chatkit login NAME" in view, view
    assert not (tmp_path / "chatkit-notebooks").exists()  # a clone has its own


def test_where_another_command_or_none_is_on_the_path_the_interpreter_is_printed(
    tmp_path: Path,
) -> None:
    (tmp_path / "chatkit").write_text("#!/bin/sh\n")
    (tmp_path / "chatkit").chmod(0o755)
    clean = {"HOME": str(tmp_path), "PATH": str(tmp_path)}
    assert "-m chatkit login NAME" in chatkit("connections", env=clean).stdout
    clean["PATH"] = "/usr/bin:/bin"
    output = chatkit("connections", env=clean).stdout
    report = output.partition("`")[2].partition("`")[0]
    assert report.endswith("-m chatkit login NAME")
    again = report.replace("login NAME", "connections")
    done = subprocess.run(["/bin/sh", "-c", again], env=clean, capture_output=True, text=True)
    assert done.stdout == output, done.stderr


def test_the_notebooks_are_put_into_a_folder_and_never_over_what_was_edited(
    tmp_path: Path,
) -> None:
    source, folder = tmp_path / "source", tmp_path / "mine"
    source.mkdir()
    for name in ("a.ipynb", "b.ipynb", "c.ipynb", ".hidden"):
        (source / name).write_text(f"{name} of version 1")
    folder.mkdir()
    (folder / "c.ipynb").write_text("my own, from before")
    assert _copy_notebooks(source, folder) == ["c.ipynb"]
    assert (folder / "a.ipynb").read_text() == "a.ipynb of version 1"
    assert not (folder / ".hidden").exists()

    (folder / "a.ipynb").write_text("edited")
    assert _copy_notebooks(source, folder) == ["c.ipynb"]  # of a.ipynb there is no newer one
    for name in ("a.ipynb", "b.ipynb", "d.ipynb"):
        (source / name).write_text(f"{name} of version 2")
    assert _copy_notebooks(source, folder) == ["a.ipynb", "c.ipynb"]
    assert {file.name: file.read_text() for file in folder.glob("*.ipynb")} == {
        "a.ipynb": "edited",
        "b.ipynb": "b.ipynb of version 2",
        "c.ipynb": "my own, from before",
        "d.ipynb": "d.ipynb of version 2",
    }
    (folder / "a.ipynb").rename(folder / "a_mine.ipynb")
    assert _copy_notebooks(source, folder) == ["c.ipynb"]
    assert (folder / "a.ipynb").read_text() == "a.ipynb of version 2"
    (folder / ".chatkit-notebooks.json").write_text("damaged")
    assert _copy_notebooks(source, folder) == ["c.ipynb"]


def test_a_reader_that_has_read_enough_ends_a_command_in_silence(tmp_path):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "chatkit", "connections"]
    env = os.environ | {"CHATKIT_CONFIG": str(tmp_path / "none.toml")}
    with open(write, "wb") as output:
        done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, env=env, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
