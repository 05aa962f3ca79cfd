"""Each of five parts can be missing, and everything else works.

Each test runs a whole session in an interpreter of its own, in which one part of chatkit cannot
be imported: an account over HTTP is read, edited, undone and checked. What is missing says so in
one sentence.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import processes
import pytest

#: What stands in each session before anything is imported.
BLOCKER = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if (name + ".").startswith(f"chatkit.{MISSING}."):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

MISSING, FOLDER, ACCOUNT = sys.argv[1:]
sys.meta_path.insert(0, Blocker())
"""

#: A session with an account: read, plan, apply, undo, check, translate, and the doctor.
SESSION = """
import contextlib, io, json
from pathlib import Path
import chatkit

def work(client):
    contacts = client.contacts.frame()
    flows = client.flows.frame()
    webhooks = client.webhooks.frame()
    contents = client.templates("order_ready").frame(full=True)
    assert not contacts.empty and not flows.empty and not contents.empty
    assert list(webhooks.columns)

    edited = contacts.copy()
    edited.iloc[0, edited.columns.get_loc("name")] = "Ana Cruz"
    plan = client.contacts.plan(edited)
    result = plan.apply()
    key = contacts.index[0]
    assert result["state"].tolist() == ["applied"], result
    assert client.contacts.get(key).first_name == "Ana"
    undone = chatkit.undo(result).apply()
    assert undone["state"].tolist() == ["applied"], undone
    assert client.contacts.get(key).first_name == contacts.loc[key, "first_name"]
    assert len(chatkit.runs()) == 2

    assert not client.flows.check_all().empty
    assert len(chatkit.flowjson.lint({"version": "7.1", "screens": []}))
    assert client.contacts.check(contacts).frame().columns.tolist()
    assert client.templates.check(["order_ready"]).frame().columns.tolist()

    for name in ("texts.csv", "texts.xlsx"):
        written = client.templates.export(Path(FOLDER) / name, ["order_ready"], only="all")
        assert len(written)
        files = sorted(Path(FOLDER).glob(f"texts*{Path(name).suffix}"))
        taken = client.templates.read_translations(files)
        assert taken.rejected.empty, taken.rejected

    target = io.BytesIO()
    contacts.chatkit.to_csv(target)
    contacts.chatkit.to_xlsx(Path(FOLDER) / "contacts.xlsx")
    assert len(target.getvalue().splitlines()) == len(contacts) + 1

    report = chatkit.doctor(client)
    assert report.status == 0, report

with contextlib.ExitStack() as stack:
    if MISSING == "sandbox":
        told = json.loads(ACCOUNT)
    else:
        sandbox = stack.enter_context(chatkit.Sandbox(seed="demo"))
        base_url = stack.enter_context(sandbox.serve())
        told = {"base_url": base_url, "account_id": sandbox.account_id, "token": sandbox.token,
                "search_param": sandbox.profile.search_param,
                "status_param": sandbox.profile.status_param}
    profile = chatkit.ServiceProfile(
        search_param=told["search_param"], status_param=told["status_param"]
    )
    client = chatkit.Client(
        told["base_url"], told["account_id"], told["token"], profile=profile
    )
    work(stack.enter_context(client))
"""

#: All other parts are used, and the commands run.
OTHERS = """
from chatkit import cli

if MISSING != "widgets":
    assert chatkit.Grid and chatkit.Form and chatkit.Editor and chatkit.widgets.PlanView
if MISSING != "inbox":
    with chatkit.Inbox() as inbox:
        assert inbox.frame().empty
if MISSING not in ("widgets", "inbox"):
    assert chatkit.widgets.Tail and chatkit.widgets.funnel
assert len(chatkit.read_contacts("number,name\\n+4915123456789,Ana\\n")) == 1
try:
    cli.main(["--help"])
except SystemExit as end:
    assert end.code == 0
assert not [name for name in sys.modules if (name + ".").startswith(f"chatkit.{MISSING}.")]
"""

PARTS = ("widgets", "inbox", "sandbox")
#: What needs the part says so in one sentence.
MISSED = """
asked, message = {
    "widgets": ("chatkit.Grid", "chatkit.Grid needs chatkit.widgets"),
    "inbox": ("chatkit.Inbox", "chatkit.Inbox needs chatkit.inbox"),
    "sandbox": (
        "chatkit.connect()", "chatkit.connect() without a connection needs chatkit.sandbox"
    ),
}[MISSING]
try:
    eval(asked)
except ImportError as error:
    assert str(error).startswith(message) and "\\n" not in str(error), error
else:
    raise AssertionError(asked)
if MISSING != "widgets":
    printed, errors = io.StringIO(), io.StringIO()
    arguments = {"inbox": ["inbox", "serve", "--port", "0"]}.get(MISSING, [MISSING])
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(errors):
        assert cli.main(arguments) == 2
    assert (printed.getvalue(), errors.getvalue()) == (
        "", f"chatkit: chatkit {MISSING} needs chatkit.{MISSING}, which is not installed here.\\n"
    )
"""


def environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CHATKIT_")}
    return {
        **kept,
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_CONFIG_HOME": str(folder / "config"),
    }


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A sandbox that another process serves, as JSON."""
    command = [sys.executable, "-m", "chatkit", "sandbox", "--json", "--seed", "demo"]
    folder = tmp_path_factory.mktemp("served")
    with processes.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment(folder)
    ) as server:
        try:
            assert server.stdout is not None
            notes = server.stdout.readline()
            assert notes
            yield notes
        finally:
            server.send_signal(signal.SIGTERM)


@pytest.mark.parametrize("part", PARTS)
def test_without_it_everything_else_works_and_what_is_missing_says_so(
    part: str, tmp_path: Path, account: str
) -> None:
    done = processes.run(
        [sys.executable, "-c", BLOCKER + SESSION + OTHERS + MISSED, part, str(tmp_path), account],
        anew=True,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr[-3000:]
