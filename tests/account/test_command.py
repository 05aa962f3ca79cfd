"""`chatkit pull`, `diff`, `plan`, `apply` and `restore`, as a person and a pipeline call them."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import processes
import pytest

import chatkit
from chatkit.cli import main

CODES = ["order_ready", "rental_reminder"]
VARIABLES = ("BASE_URL", "ACCOUNT_ID", "TOKEN", "TOKEN_FILE", "CONNECTION", "DATA")


class Served(NamedTuple):
    """A sandbox that is served over HTTP, and how a command finds it."""

    sandbox: chatkit.Sandbox
    access: str
    base_url: str

    def client(self) -> Any:
        return chatkit.connect(self.access)

    def writes(self) -> list[str]:
        """The calls that change something, which it has answered."""
        log = self.sandbox.middleware.log
        return [f"{one.method} {one.path}" for one in log if one.method != "GET"]


@pytest.fixture
def accounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Served, Served]]:
    for name in VARIABLES:
        monkeypatch.delenv(f"CHATKIT_{name}", raising=False)
    monkeypatch.setenv("CHATKIT_CONFIG", str(tmp_path / "connections.toml"))
    monkeypatch.setenv("CHATKIT_DATA", str(tmp_path / "data"))
    with ExitStack() as stack:
        found = []
        for name in ("left", "right"):
            sandbox = stack.enter_context(chatkit.Sandbox(seed="demo"))
            base_url = stack.enter_context(sandbox.serve())
            file = tmp_path / f"{name}.access"
            sandbox.keep_access(base_url, file)
            found.append(Served(sandbox, str(file), base_url))
        yield found[0], found[1]


def environment(one: Served) -> dict[str, str]:
    return os.environ | {
        "CHATKIT_BASE_URL": one.base_url,
        "CHATKIT_ACCOUNT_ID": one.sandbox.account_id,
        "CHATKIT_TOKEN": one.sandbox.token,
    }


def run(*arguments: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, without a terminal."""
    return processes.run(
        [sys.executable, "-m", "chatkit", *arguments],
        input="", env=env, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


# --- diff -----------------------------------------------------------------------------------


def test_diff_ends_as_diff_does(
    accounts: tuple[Served, Served], capsys: pytest.CaptureFixture[str]
) -> None:
    left, right = accounts
    arguments = ["diff", left.access, right.access, "--templates", *CODES]
    assert main(arguments) == 0
    assert capsys.readouterr().out.startswith("No difference between ")
    with right.client() as client:
        client.templates("order_ready").update("de", footer="Bis bald")
    capsys.readouterr()
    assert main(arguments) == 1
    out, err = capsys.readouterr()
    assert '"Larkspur Cycles" → "Bis bald"' in out
    assert "Connected to" not in out and "Connected to" in err
    assert main([*arguments, "--json"]) == 1
    [row] = json.loads(capsys.readouterr().out)
    assert row == {
        "resource": "content", "key": "order_ready/de", "field": "footer", "what": "changed",
        "left": "Larkspur Cycles", "right": "Bis bald",
    }  # fmt: skip


@pytest.mark.parametrize("other", ["no/such/folder", "staging", "environment", "no.access"])
def test_trouble_is_told_in_a_line_and_has_a_status_of_its_own(
    accounts: tuple[Served, Served], other: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", accounts[0].access, other]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "chatkit: " in err and "Traceback" not in err


def test_contacts_are_compared_when_they_are_asked_for(
    accounts: tuple[Served, Served], capsys: pytest.CaptureFixture[str]
) -> None:
    left, right = accounts
    with right.client() as client:
        client.contacts.update(50002, name="Zoe Quinn")
    assert main(["diff", left.access, right.access]) == 0
    assert main(["diff", left.access, right.access, "--contacts"]) == 1
    assert "Zoe Quinn" in capsys.readouterr().out


# --- apply ----------------------------------------------------------------------------------


def saved(one: Served, folder: Path, rows: list[dict[str, Any]], **options: Any) -> str:
    """A plan for contacts, in a file."""
    with one.client() as client:
        return str(client.contacts.plan(rows, **options).save(folder / "plan.json"))


def test_a_saved_plan_is_applied_and_taken_back_and_nothing_is_sent_twice(
    accounts: tuple[Served, Served], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, _ = accounts
    with left.client() as client:
        before = client.contacts.get(50002).name
    file = saved(left, tmp_path, [{"id": 50002, "name": "Zoe Quinn"}])
    assert main(["apply", file, left.access]) == 0
    out, err = capsys.readouterr()
    assert "1 change: 1 applied." in out
    run_id = re.search(r"chatkit undo (\S+)` takes it back", err)
    assert run_id
    assert len(left.writes()) == 1
    assert main(["apply", file, left.access]) == 0  # the run has begun: it goes on, and is done
    assert len(left.writes()) == 1
    with left.client() as client:
        assert client.contacts.get(50002).name == "Zoe Quinn"
        assert chatkit.undo(run_id[1], client).apply().state.tolist() == ["applied"]
        assert client.contacts.get(50002).name == before


def test_an_outdated_plan_is_not_applied_at_all(
    accounts: tuple[Served, Served], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, _ = accounts
    new = {"country_code": "+1", "number": "2025550999", "name": "New"}
    file = saved(left, tmp_path, [{"id": 50002, "name": "Zoe"}, {"id": 50003, "name": "Bo"}, new])
    with left.client() as client:
        client.contacts.update(50003, name="Somebody was quicker")
        client.contacts.create(**new)
    wrote = left.writes()
    assert main(["apply", file, left.access]) == 1
    err = capsys.readouterr().err
    assert "outdated, nothing was sent" in err
    assert "name has changed" in err and "is there already" in err
    assert left.writes() == wrote
    with left.client() as client:
        client.contacts.delete(50002)
    assert main(["apply", file, left.access]) == 1
    assert "is gone" in capsys.readouterr().err


def test_what_is_as_the_plan_wants_it_already_does_not_make_it_outdated(
    accounts: tuple[Served, Served], tmp_path: Path
) -> None:
    left, _ = accounts
    file = saved(left, tmp_path, [{"id": 50002, "name": "Zoe"}, {"id": 50003, "name": "Bo"}])
    with left.client() as client:
        client.contacts.update(50003, name="Bo")
    assert main(["apply", file, left.access]) == 0


def test_a_blocked_plan_names_the_flag_that_allows_it(
    accounts: tuple[Served, Served], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, _ = accounts
    with left.client() as client:
        client.contacts.plan(delete=client.contacts.frame().head(120)).save(tmp_path / "p.json")
    assert main(["apply", str(tmp_path / "p.json"), left.access]) == 1
    assert "needs --many: it deletes 120 contacts" in capsys.readouterr().err
    assert left.writes() == []
    assert main(["apply", str(tmp_path / "p.json"), left.access, "--many"]) == 0
    assert len(left.writes()) == 120


def test_it_is_the_plan_of_one_account_and_nobody_has_edited_it(
    accounts: tuple[Served, Served], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, right = accounts
    file = saved(left, tmp_path, [{"id": 50002, "name": "Zoe"}])
    assert main(["apply", file, right.access]) == 2
    assert "another account" in capsys.readouterr().err
    assert main(["apply", file]) == 2  # nothing says which account that is
    assert "which no connection and no variable names" in capsys.readouterr().err
    text = Path(file).read_text(encoding="utf-8")
    Path(file).write_text(text.replace("Zoe", "Eve"), encoding="utf-8")
    assert main(["apply", file, left.access]) == 2
    assert "was edited" in capsys.readouterr().err
    assert main(["apply", str(tmp_path / "left.access"), left.access]) == 2
    assert main(["apply", str(tmp_path / "none.json"), left.access]) == 2
    assert left.writes() == right.writes() == []


def test_variables_name_the_account_and_its_token_in_a_pipeline(
    accounts: tuple[Served, Served], tmp_path: Path
) -> None:
    left, right = accounts
    file = saved(left, tmp_path, [{"id": 50002, "name": "Zoe"}])
    for arguments in (["apply", file], ["apply", file, "environment"]):
        done = run(*arguments, env=environment(left))
        assert (done.returncode, "1 applied" in done.stdout) == (0, True), done.stderr
        assert left.sandbox.token not in done.stdout + done.stderr
    assert run("apply", file, env=environment(right)).returncode == 2
    assert len(left.writes()) == 1


def test_a_kept_connection_of_the_account_is_found(
    accounts: tuple[Served, Served], tmp_path: Path
) -> None:
    left, _ = accounts
    token = tmp_path / "staging.token"
    login = ["login", "staging", "--access", left.access, "--token-file", str(token)]
    assert main(login) == 0
    file = saved(left, tmp_path, [{"id": 50002, "name": "Zoe"}])
    assert main(["apply", file]) == 0
    assert len(left.writes()) == 1


def test_a_signing_secret_goes_into_a_file_for_the_owner_and_never_into_a_log(
    accounts: tuple[Served, Served], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, _ = accounts
    url, kept = "https://hooks.example.com/new", tmp_path / "secrets.json"
    with left.client() as client:
        plan = client.webhooks.plan([{"url": url, "events": ["*"]}])
        file = str(plan.save(tmp_path / "plan.json"))
    assert main(["apply", file, left.access]) == 2
    assert "--secrets FILE keeps it" in capsys.readouterr().err
    assert left.writes() == []
    assert main(["apply", file, left.access, "--secrets", str(kept)]) == 0
    out, err = capsys.readouterr()
    [(where, secret)] = json.loads(kept.read_text(encoding="utf-8")).items()
    assert where == url and len(secret) >= 32
    assert secret not in out + err
    if os.name == "posix":
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    other = tmp_path / "other.json"
    assert main(["apply", file, left.access, "--secrets", str(kept)]) == 2  # never written over
    assert main(["apply", file, left.access, "--secrets", str(other)]) == 0  # all is done already
    assert not other.exists()
    assert len(left.writes()) == 1


def test_after_a_kill_the_same_command_goes_on(
    accounts: tuple[Served, Served], tmp_path: Path
) -> None:
    left, _ = accounts
    with left.client() as client:
        frame = client.contacts.frame().head(40)[["name"]].assign(name="Zoe Quinn")
        file = str(client.contacts.plan(frame).save(tmp_path / "plan.json"))
    left.sandbox.faults(latency=0.05)
    with processes.Popen(
        [sys.executable, "-m", "chatkit", "apply", file, left.access],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=dict(os.environ),
    ) as process:  # fmt: skip
        while len(left.writes()) < 5 and process.poll() is None:
            time.sleep(0.01)
        process.kill()
    left.sandbox.faults()
    assert 5 <= len(left.writes()) < 40
    assert main(["apply", file, left.access]) == 0
    with left.client() as client:
        assert client.contacts.frame().head(40).name.eq("Zoe Quinn").all()


# --- an account as a folder -----------------------------------------------------------------


def test_from_pull_to_restore(
    accounts: tuple[Served, Served], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, right = accounts
    shop, plan = str(tmp_path / "shop"), str(tmp_path / "plan.json")

    assert main(["pull", left.access, shop, "--templates", *CODES]) == 0
    assert "Pulled account 1001" in capsys.readouterr().out
    assert main(["diff", shop, left.access]) == 0
    file = tmp_path / "shop" / "templates" / "order_ready" / "de.json"
    file.write_text(file.read_text("utf-8").replace("Larkspur Cycles", "Bis bald"), "utf-8")
    capsys.readouterr()
    assert main(["diff", shop, left.access]) == 1
    assert "~ order_ready/de" in capsys.readouterr().out

    assert main(["plan", shop, left.access, "--markdown", "--out", plan]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("### Plan for left.access: 1 update\n\n```diff\n")
    assert '-     footer: "Larkspur Cycles"\n+     footer: "Bis bald"\n' in out
    assert "apply" in err
    assert left.writes() == []
    assert main(["apply", plan, left.access]) == 0
    assert len(left.writes()) == 1
    assert main(["diff", shop, left.access]) == 0

    with left.client() as client:
        client.templates("order_ready").delete("de")
        client.contacts.update(50002, name="Not of this")
    capsys.readouterr()
    assert main(["restore", shop, left.access]) == 2  # nobody there to ask
    assert "--yes applies it" in capsys.readouterr().err
    assert main(["diff", shop, left.access]) == 1
    assert main(["restore", shop, left.access, "--yes"]) == 0
    assert main(["diff", shop, left.access]) == 0
    assert main(["restore", shop, left.access, "--yes"]) == 0  # nothing is left to do
    assert right.writes() == []


def test_a_plan_for_all_resources_is_outdated_when_one_of_them_has_moved(
    accounts: tuple[Served, Served], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, right = accounts
    shop, plan = str(tmp_path / "shop"), str(tmp_path / "plan.json")
    with right.client() as client:
        key = int(client.flows.frame().index[0])
        document = client.flows.get(key).flow_json
        document["screens"][0]["title"] = "Another"
        client.flows.update(key, flow_json=document, broken=True)
        client.flows.create(
            name="New flow", template_name="default", flow_json=document, broken=True
        )
        client.templates("order_ready").update("de", footer="Bis bald")
        client.webhooks.create(url="https://hooks.example.com/new", events=["*"])
        client.contacts.update(50002, name="Zoe Quinn")
    arguments = ["--contacts", "--templates", *CODES]
    assert main(["pull", right.access, shop, *arguments]) == 0
    assert main(["plan", shop, left.access, "--contacts", "--broken", "--out", plan]) == 0
    capsys.readouterr()
    with left.client() as client:
        client.templates("order_ready").update("de", footer="Somebody was quicker")
    wrote = left.writes()
    secrets = ["--secrets", str(tmp_path / "secrets.json")]
    assert main(["apply", plan, left.access, *secrets]) == 1
    assert "footer has changed" in capsys.readouterr().err
    assert left.writes() == wrote
    with left.client() as client:
        client.templates("order_ready").update("de", footer="Larkspur Cycles")
    assert main(["apply", plan, left.access, *secrets]) == 0
    assert "All 5 changes applied." in capsys.readouterr().out
    [(where, _)] = json.loads(Path(secrets[1]).read_text("utf-8")).items()
    assert where == "https://hooks.example.com/new"
    assert main(["diff", left.access, right.access, *arguments]) == 0


def test_what_stops_a_plan_is_its_exit_status(
    accounts: tuple[Served, Served], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, _ = accounts
    shop = tmp_path / "shop"
    assert main(["pull", left.access, str(shop), "--templates", *CODES]) == 0
    [file] = [f for f in (shop / "flows").glob("*.json") if "rent" in f.name][:1]
    document = json.loads(file.read_text("utf-8"))
    capsys.readouterr()
    assert main(["plan", str(shop), left.access, "--delete", "flow No such"]) == 1
    assert "does not have a flow of this name" in capsys.readouterr().out
    some = ["plan", str(shop), left.access, "--delete", "flow No such", "--skip-invalid"]
    assert main(some) == 0
    assert main(["plan", str(shop), left.access, "--delete", "No such"]) == 2
    file.write_text(json.dumps(document)[:-9], "utf-8")
    assert main(["plan", str(shop), left.access]) == 2
    err = capsys.readouterr().err
    assert file.name in err and "line" in err


def test_a_revision_of_the_folder_is_compared_and_restored(
    accounts: tuple[Served, Served], tmp_path: Path
) -> None:
    left, _ = accounts
    shop = tmp_path / "shop"
    assert main(["pull", left.access, str(shop), "--templates", *CODES]) == 0
    for command in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=A", "-c", "user.email=a@b.example", "commit", "-qm", "as it was"],
    ):
        subprocess.run(["git", "-C", str(shop), *command], check=True, timeout=60)
    with left.client() as client:
        client.templates("order_ready").update("de", footer="Bis bald")
    assert main(["pull", left.access, str(shop)]) == 0
    assert main(["diff", str(shop), left.access]) == 0
    assert main(["diff", f"{shop}/@HEAD", str(shop)]) == 1
    assert main(["restore", f"{shop}/@HEAD", left.access, "--yes"]) == 0
    assert main(["diff", f"{shop}/@HEAD", left.access]) == 0


def test_both_sides_changed_is_told_with_what_to_write(
    accounts: tuple[Served, Served], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, _ = accounts
    shop = tmp_path / "shop"
    assert main(["pull", left.access, str(shop), "--templates", *CODES]) == 0
    file = shop / "templates" / "order_ready" / "de.json"
    file.write_text(file.read_text("utf-8").replace("Larkspur Cycles", "Meins"), "utf-8")
    with left.client() as client:
        client.templates("order_ready").update("de", footer="Deins")
    assert main(["pull", left.access, str(shop)]) == 2
    assert "--conflicts files" in capsys.readouterr().err
    assert main(["pull", left.access, str(shop), "--conflicts", "files"]) == 0
    assert "Meins" in file.read_text("utf-8")


# --- in a terminal --------------------------------------------------------------------------


def answered(answer: bytes, *arguments: str) -> tuple[int, str]:
    """Run the command in a terminal, and type an answer to what it asks."""
    ours, theirs = os.openpty()
    with processes.Popen(
        [sys.executable, "-m", "chatkit", *arguments],
        stdin=theirs, stdout=theirs, stderr=theirs, env=os.environ | {"COLUMNS": "100"},
    ) as process:  # fmt: skip
        os.close(theirs)
        said = b""
        try:
            while part := os.read(ours, 4096):
                said += part
                if said.endswith(b"[y/N]: "):
                    os.write(ours, answer)
        except OSError:  # the other end is closed
            process.wait(60)
        finally:
            os.close(ours)
    return process.returncode, said.decode()


@pytest.mark.skipif(os.name != "posix", reason="a terminal of POSIX")
def test_in_a_terminal_it_asks_and_shows_a_signing_secret_once(
    accounts: tuple[Served, Served], tmp_path: Path
) -> None:
    left, right = accounts
    with right.client() as client:
        client.webhooks.create(url="https://hooks.example.com/new", events=["*"])
    shop = str(tmp_path / "shop")
    assert main(["pull", right.access, shop]) == 0
    status, said = answered(b"n\n", "restore", shop, left.access)
    assert (status, left.writes()) == (1, [])
    assert "Apply this to left.access? [y/N]: " in said
    status, said = answered(b"y\n", "restore", shop, left.access)
    assert (status, len(left.writes())) == (0, 1)
    assert re.search(
        r"Signing secret of https://hooks\.example\.com/new, shown only now: \w+", said
    )
    assert main(["diff", shop, left.access]) == 0


def test_a_plan_is_rehearsed_before_it_is_applied(
    accounts: tuple[Served, Served], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, _ = accounts
    shop, plan = tmp_path / "shop", str(tmp_path / "plan.json")
    assert main(["pull", left.access, str(shop), "--templates", "order_ready"]) == 0
    file = shop / "templates" / "order_ready" / "de.json"
    file.write_text(file.read_text("utf-8").replace("Larkspur Cycles", "Bis bald"), "utf-8")
    assert main(["plan", str(shop), left.access, "--out", plan]) == 0
    assert main(["apply", plan, left.access, "--rehearsed"]) == 1
    assert "plan --rehearse applies it to a copy" in capsys.readouterr().err
    made = ["plan", str(shop), left.access, "--out", plan, "--rehearse"]
    assert main(made) == 0
    assert main([*made, "--markdown"]) == 0
    assert "# rehearsal: 1 row as planned, in a copy of the account" in capsys.readouterr().out
    assert left.writes() == []
    assert main(["apply", plan, left.access, "--rehearsed"]) == 0
    assert len(left.writes()) == 1
