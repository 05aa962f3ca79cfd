"""Locks that do not outlive their process, and files that are never half written."""

from __future__ import annotations

import ast
import os
import platform
import re
import signal
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest
from bulk.journalling import (
    child,
    folder,  # noqa: F401
)
from filelock import FileLock

import chatkit
from chatkit.errors import AccountBusy, JournalError
from chatkit.util.files import hold_account_lock, make_folder, replace_file, rewrite_file

HOLDER = """
import sys
from pathlib import Path
from chatkit.util.files import hold_account_lock
with hold_account_lock(Path(sys.argv[1]), "https://api.example.com 1001", "20261120-101502-7f3a"):
    print("held", flush=True)
    sys.stdin.readline()
"""
ACCOUNT = "https://api.example.com 1001"


def test_a_second_process_is_refused_at_once_and_told_who_is_at_work(folder):
    with child(HOLDER, folder) as process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(AccountBusy) as caught, hold_account_lock(folder, ACCOUNT):
            raise AssertionError
        assert re.fullmatch(
            rf"Another apply is at work on this account: process {process.pid} on "
            rf"{re.escape(platform.node())}, since \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d UTC, "
            r"run 20261120-101502-7f3a\. Wait until it has ended, or stop it there\. "
            r"Nothing was sent\.",
            str(caught.value),
        )
        with hold_account_lock(folder, "another account"):
            process.communicate("\n")
    assert process.returncode == 0
    with hold_account_lock(folder, ACCOUNT):
        pass


def test_the_kernel_frees_the_lock_of_a_killed_process(folder):
    with child(HOLDER, folder) as process:
        assert process.stdout.readline() == "held\n"
        process.kill()
    assert process.returncode == -signal.SIGKILL
    named = pytest.raises(AccountBusy, match=f"process {os.getpid()} .*run 20261120-2")
    with hold_account_lock(folder, ACCOUNT, "20261120-2"), named:
        hold_account_lock(folder, ACCOUNT).__enter__()


def test_a_stopped_process_still_holds_its_lock(folder):
    with child(HOLDER, folder) as process:
        assert process.stdout.readline() == "held\n"
        process.send_signal(signal.SIGSTOP)
        with pytest.raises(AccountBusy):
            hold_account_lock(folder, ACCOUNT).__enter__()
        process.kill()


FORKED = """    import os
    seen, there = os.pipe()
    if os.fork() == 0:
        os.write(there, b"!")
        sys.stdin.read()
        os._exit(0)
    os.read(seen, 1)
    print("""


def test_a_fork_does_not_keep_the_lock_of_its_parent(folder):
    with child(HOLDER.replace("    print(", FORKED), folder) as process:
        assert process.stdout.readline() == "held\n"
        process.kill()
        process.wait()
        with hold_account_lock(folder, ACCOUNT):
            process.stdin.close()  # lets the fork go


def test_one_process_holds_it_once_also_from_several_threads(folder):
    refused = []

    def another():
        try:
            hold_account_lock(folder, ACCOUNT).__enter__()
        except AccountBusy as error:
            refused.append(error)

    with hold_account_lock(folder, ACCOUNT):
        another()
        thread = threading.Thread(target=another)
        thread.start()
        thread.join()
    assert len(refused) == 2
    with hold_account_lock(folder, ACCOUNT):
        pass


def test_it_may_be_let_go_by_another_thread_than_took_it(folder, monkeypatch):
    made = []  # kept, so that it is not let go by being forgotten

    def kept(*arguments, **options):
        made.append(FileLock(*arguments, **options))
        return made[-1]

    monkeypatch.setattr("chatkit.util.files.FileLock", kept)
    stack = ExitStack()
    thread = threading.Thread(
        target=stack.enter_context, args=(hold_account_lock(folder, ACCOUNT),)
    )
    thread.start()
    thread.join()
    with pytest.raises(AccountBusy):
        hold_account_lock(folder, ACCOUNT).__enter__()
    stack.close()
    with hold_account_lock(folder, ACCOUNT):
        pass


def test_it_is_let_go_when_the_work_fails(folder):
    with pytest.raises(ZeroDivisionError) as caught, hold_account_lock(folder, ACCOUNT):
        1 / 0  # noqa: B018
    assert caught.value.__traceback__  # as IPython keeps the last error, with all its variables
    with hold_account_lock(folder, ACCOUNT):
        assert sorted(path.suffix for path in folder.iterdir()) == [".holder", ".lock"]
    assert [path.suffix for path in folder.iterdir()] == [".lock"]


def test_no_name_of_a_file_tells_the_account(folder):
    with hold_account_lock(folder, ACCOUNT):
        assert all(re.fullmatch(r"[0-9a-f]{32}\.\w+", path.name) for path in folder.iterdir())


def test_a_holder_that_has_not_said_who_it_is_is_still_respected(folder):
    with hold_account_lock(folder, ACCOUNT):
        (holder,) = folder.glob("*.holder")
        holder.unlink()
        with pytest.raises(AccountBusy, match="a process that has just begun"):
            hold_account_lock(folder, ACCOUNT).__enter__()


def test_a_folder_where_nothing_can_be_locked_says_what_to_do(tmp_path):
    (tmp_path / "file").write_text("")
    file = tmp_path / "file"
    with pytest.raises(JournalError, match="CHATKIT_DATA"), hold_account_lock(file, ACCOUNT):
        raise AssertionError


def test_a_file_that_cannot_be_written_to_its_end_is_as_it_was(tmp_path):
    path = tmp_path / "plan.json"
    path.write_bytes(b"before")
    with pytest.raises(KeyError), replace_file(path) as file:
        file.write(b"half of what was to be wri")
        raise KeyError
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_made_is_called_by_its_own_name(tmp_path):
    path = tmp_path / "not there" / "plan.json"
    with pytest.raises(FileNotFoundError) as caught, replace_file(path):
        raise AssertionError
    assert caught.value.filename == str(path)
    path = tmp_path / "file" / "plan.json"
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError) as caught, replace_file(path):
        raise AssertionError
    assert caught.value.filename == str(path)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights")
@pytest.mark.parametrize(("mode", "rights"), [(0o600, 0o600), (0o666, 0o644)])
def test_a_file_that_is_written_anew_has_the_rights_of_its_kind(tmp_path, mode, rights):
    path = tmp_path / "plan.json"
    path.write_bytes(b"before")
    path.chmod(0o640)
    before = os.umask(0o022)
    try:
        with replace_file(path, mode) as file:
            file.write(b"after")
    finally:
        os.umask(before)
    assert path.read_bytes() == b"after"
    assert path.stat().st_mode & 0o777 == rights


def test_what_a_killed_process_left_beside_a_file_is_written_over(tmp_path):
    path, sibling = tmp_path / "part-000000.parquet", tmp_path / ".part-000000.parquet"
    sibling.write_bytes(b"half of a part, and longer than the next")
    with replace_file(path, first=sibling) as file:
        file.write(b"a part")
    assert path.read_bytes() == b"a part"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux tells which file a descriptor is of"
)
def test_a_file_its_name_and_new_folders_are_made_durable(tmp_path, monkeypatch):
    """A power cut takes what was not synced: the bytes first, then the name in its folder."""
    synced, fsync = [], os.fsync

    def noted(descriptor):
        synced.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).relative_to(tmp_path))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    make_folder(tmp_path / "a" / "b")
    assert sorted(map(str, synced)) == [".", "a"]
    synced.clear()
    with replace_file(tmp_path / "a" / "plan.json", first=tmp_path / "a" / "new") as file:
        file.write(b"{}")
    assert list(map(str, synced)) == ["a/new", "a"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights")
@pytest.mark.parametrize(("before", "after"), [(None, 0o600), (0o600, 0o600), (0o664, 0o600)])
def test_a_file_that_is_changed_is_for_its_owner_alone_and_keeps_its_link(tmp_path, before, after):
    path, link = tmp_path / "new" / "kept.toml", tmp_path / "link.toml"
    link.symlink_to(path)
    if before is not None:
        path.parent.mkdir()
        path.write_bytes(b"a")
        path.chmod(before)
    rewrite_file(link, lambda content: content + b"b")
    assert link.is_symlink()
    assert path.read_bytes() == (b"b" if before is None else b"ab")
    assert path.stat().st_mode & 0o777 == after
    with pytest.raises(KeyError):
        rewrite_file(path, lambda content: {}[content])
    assert path.read_bytes().endswith(b"b")
    assert not [p for p in path.parent.iterdir() if p.name not in ("kept.toml", "kept.toml.lock")]


# --- files that are kept ------------------------------------------------------------------

CONNECTION = (
    "from chatkit.api.connection import Connection; from chatkit import settings; "
    "c = Connection(base_url='https://a.example', account_id='1', token='t')"
)
#: Every file that chatkit keeps and that several processes may write at a time, with what one
#: process (number `n`) adds to it, and how all of that is read again. The first line is run once.
KEPT = {
    "connections: logins": (
        "",
        f"{CONNECTION}; settings.save(f'n{{n}}', c, 'nowhere')",
        f"{CONNECTION}; found = {{int(name[1:]) for name in settings.names()}}",
    ),
    "connections: template codes": (
        f"{CONNECTION}; [settings.save(f'n{{n}}', c, 'nowhere') for n in range(COUNT)]",
        f"{CONNECTION}; settings.save_templates(f'n{{n}}', [f'code{{n}}'])",
        f"{CONNECTION}; found = {{n for n in range(COUNT)"
        " if settings.stored(f'n{n}').templates == (f'code{n}',)}",
    ),
    "connections: forgotten": (
        f"{CONNECTION}; [settings.save(f'n{{n}}', c, 'nowhere') for n in range(COUNT)]",
        f"{CONNECTION}; settings.forget(f'n{{n}}')",
        f"{CONNECTION}; known = settings.names(); "
        "found = {n for n in range(COUNT) if f'n{n}' not in known}",
    ),
    "ledger": (
        "",
        f"{CONNECTION}; from chatkit.localization.ledger import Ledger, LedgerFile; "
        "new = Ledger(); new.comment((f'code{n}', 'de', 'text'), 'short'); LedgerFile(c).add(new)",
        f"{CONNECTION}; from chatkit.localization.ledger import LedgerFile; "
        "found = {int(code[4:]) for code, *_ in LedgerFile(c).read().comments}",
    ),
    "journals": (
        "",
        "from bulk.journalling import created; from chatkit.bulk import stores; "
        "created(stores.open_store(), run=f'r-{n}').close()",
        "import chatkit; found = {int(run[2:]) for run in chatkit.runs().index}",
    ),
    "inbox": (
        "",
        "from inbox.bodies import entry; from chatkit.inbox.store import InboxStore; "
        "store = InboxStore(); store.write_deliveries([entry(n)]); store.close()",
        "import chatkit; inbox = chatkit.Inbox(); "
        "found = {int(inbox.delivery(n).identity[3:]) for n in range(1, inbox.last + 1)}",
    ),
}  # fmt: skip
COUNT = 16


@pytest.mark.parametrize("name", KEPT)
def test_what_sixteen_processes_write_at_once_is_all_kept(name, tmp_path):
    first, add, read = (f"COUNT = {COUNT}; " + line for line in KEPT[name])
    env = os.environ | {
        "CHATKIT_CONFIG": str(tmp_path / "config" / "connections.toml"),
        "CHATKIT_DATA": str(tmp_path / "data"),
        "CHATKIT_RUNS": "",
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
    }
    with child(first, env=env) as begun:
        assert begun.wait() == 0
    with ExitStack() as stack:
        go = "import sys; n = int(sys.argv[1]); sys.stdin.readline(); "
        writers = [stack.enter_context(child(go + add, n, env=env)) for n in range(COUNT)]
        for writer in writers:
            writer.stdin.write("\n")
            writer.stdin.flush()
        assert [writer.wait() for writer in writers] == [0] * COUNT
    with child(read + "; print(*sorted(found))", env=env) as reader:
        assert reader.stdout.read().split() == [str(n) for n in range(COUNT)]
    if os.name == "posix":
        for path in [tmp_path / "config", tmp_path / "data", *tmp_path.rglob("*")]:
            if path.exists():
                assert path.stat().st_mode & 0o077 == 0, path


#: The modules that open, make, rename or remove files, and why the path is safe there.
FILES = {
    "util/files": "the one way to replace a file, locks, and the temporary folder of this process",
    "account/directory": "names without `..`, opened below a folder without following links",
    "account/pending": "members of an archive in the data folder of the user",
    "bulk/journal": "named by the run, whose name is checked, in the folder of journals",
    "cli": "files that the user named; a new file for secrets is never one that is there",
    "errors": "a file that the user named, only read",
    "flowjson/build/piece": "a picture that the user named, only read",
    "flowjson/document": "a document that the user named, only read",
    "imports/parquet": "parts below the folder that the user named, by names of its own",
    "imports/tables/__init__": "a device or a pipe that the user named is written, not replaced",
    "inbox/store": "the file of the inbox that the user named, made where it is missing",
    "localization/ledger": "the ledger of the account in the data folder, or a file that is named",
    "sandbox/__init__": "the access file beside the database that the user named",
    "sandbox/store": "the file of the sandbox that the user named, made where it is missing",
    "settings": "connections and token files in the configuration folder of the user",
    **dict.fromkeys(
        ("flowjson/components", "flowjson/graph", "imports/accessor", "imports/characters",
         "imports/columns", "imports/quality", "imports/tables/delimited", "localization/audit",
         "localization/board", "localization/language", "localization/rules", "numbers",
         "sandbox/scenario", "sandbox/templates", "widgets/controls"),
        "a file of the package itself, only read",
    ),
}  # fmt: skip
TOUCHING = {
    *("write_text", "write_bytes", "read_text", "read_bytes", "unlink", "rmtree", "rmdir"),
    *("mkstemp", "mkdtemp", "symlink_to", "hardlink_to"),
}


def touches_a_file(node: ast.Call) -> bool:
    """Return whether a call opens, makes, renames or removes a file."""
    match node.func:
        case ast.Attribute(attr="rename" | "replace", value=ast.Name(id="os")):
            return True
        case ast.Attribute(attr="rename" | "replace"):
            return len(node.args) == 1 and not node.keywords
        case ast.Attribute(attr="open", value=ast.Name(id="os")):
            return True
        case ast.Name(id="open") | ast.Attribute(attr="open"):
            texts = [str(a.value) for a in node.args if isinstance(a, ast.Constant)]
            return any(re.fullmatch("[rwxab+]{1,3}", text) for text in texts)
        case ast.Attribute(attr=name):
            return name in TOUCHING
    return False


def test_files_are_touched_in_the_modules_that_are_listed_with_a_reason():
    root = Path(chatkit.__file__).parent
    modules = {
        path.relative_to(root).with_suffix("").as_posix()
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and touches_a_file(node)
    }
    assert modules == FILES.keys()


#: What writes a file that the user names, and may name people.
EXPORTS = {
    "contacts.csv": lambda client, path: client.contacts.frame().chatkit.to_csv(path),
    "contacts.xlsx": lambda client, path: client.contacts.frame().chatkit.to_xlsx(path),
    "texts.csv": lambda client, path: client.templates.export(
        path, ["order_ready"], only="all", replace=True
    ),
    "plan.json": lambda client, path: client.contacts.plan(delete=[50002]).save(path),
    "ledger.jsonl": lambda client, path: client.templates.ledger.save(path),
}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights")
@pytest.mark.parametrize("name", EXPORTS)
def test_a_file_that_may_name_people_is_for_its_owner_alone(tmp_path, name):
    tmp_path.chmod(0o755)
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
        EXPORTS[name](client, tmp_path / name)
        assert [(p.name, p.stat().st_mode & 0o777) for p in tmp_path.iterdir()] == [(name, 0o600)]
        if name.startswith(("contacts", "texts")):  # of a table the user may have said otherwise
            (tmp_path / name).chmod(0o640)
            EXPORTS[name](client, tmp_path / name)
            assert (tmp_path / name).stat().st_mode & 0o777 == 0o640
    assert tmp_path.stat().st_mode & 0o777 == 0o755
