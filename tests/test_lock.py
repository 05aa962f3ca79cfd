"""Locks that do not outlive their process, and files that are never half written."""

from __future__ import annotations

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

from chatkit.errors import AccountBusy, JournalError
from chatkit.lock import lock, make_folder, replacing

HOLDER = """
import sys
from pathlib import Path
from chatkit.lock import lock
with lock(Path(sys.argv[1]), "https://api.example.com 1001", "20261120-101502-7f3a"):
    print("held", flush=True)
    sys.stdin.readline()
"""
ACCOUNT = "https://api.example.com 1001"


def test_a_second_process_is_refused_at_once_and_told_who_is_at_work(folder):
    with child(HOLDER, folder) as process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(AccountBusy) as caught, lock(folder, ACCOUNT):
            raise AssertionError
        assert re.fullmatch(
            rf"Another apply is at work on this account: process {process.pid} on "
            rf"{re.escape(platform.node())}, since \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d UTC, "
            r"run 20261120-101502-7f3a\. Wait until it has ended, or stop it there\. "
            r"Nothing was sent\.",
            str(caught.value),
        )
        with lock(folder, "another account"):
            process.communicate("\n")
    assert process.returncode == 0
    with lock(folder, ACCOUNT):
        pass


def test_the_kernel_frees_the_lock_of_a_killed_process(folder):
    with child(HOLDER, folder) as process:
        assert process.stdout.readline() == "held\n"
        process.kill()
    assert process.returncode == -signal.SIGKILL
    named = pytest.raises(AccountBusy, match=f"process {os.getpid()} .*run 20261120-2")
    with lock(folder, ACCOUNT, "20261120-2"), named:
        lock(folder, ACCOUNT).__enter__()


def test_a_stopped_process_still_holds_its_lock(folder):
    with child(HOLDER, folder) as process:
        assert process.stdout.readline() == "held\n"
        process.send_signal(signal.SIGSTOP)
        with pytest.raises(AccountBusy):
            lock(folder, ACCOUNT).__enter__()
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
        with lock(folder, ACCOUNT):
            process.stdin.close()  # lets the fork go


def test_one_process_holds_it_once_also_from_several_threads(folder):
    refused = []

    def another():
        try:
            lock(folder, ACCOUNT).__enter__()
        except AccountBusy as error:
            refused.append(error)

    with lock(folder, ACCOUNT):
        another()
        thread = threading.Thread(target=another)
        thread.start()
        thread.join()
    assert len(refused) == 2
    with lock(folder, ACCOUNT):
        pass


def test_it_may_be_let_go_by_another_thread_than_took_it(folder, monkeypatch):
    made = []  # kept, so that it is not let go by being forgotten

    def kept(*arguments, **options):
        made.append(FileLock(*arguments, **options))
        return made[-1]

    monkeypatch.setattr("chatkit.lock.FileLock", kept)
    stack = ExitStack()
    thread = threading.Thread(target=stack.enter_context, args=(lock(folder, ACCOUNT),))
    thread.start()
    thread.join()
    with pytest.raises(AccountBusy):
        lock(folder, ACCOUNT).__enter__()
    stack.close()
    with lock(folder, ACCOUNT):
        pass


def test_it_is_let_go_when_the_work_fails(folder):
    with pytest.raises(ZeroDivisionError) as caught, lock(folder, ACCOUNT):
        1 / 0  # noqa: B018
    assert caught.value.__traceback__  # as IPython keeps the last error, with all its variables
    with lock(folder, ACCOUNT):
        assert sorted(path.suffix for path in folder.iterdir()) == [".holder", ".lock"]
    assert [path.suffix for path in folder.iterdir()] == [".lock"]


def test_no_name_of_a_file_tells_the_account(folder):
    with lock(folder, ACCOUNT):
        assert all(re.fullmatch(r"[0-9a-f]{32}\.\w+", path.name) for path in folder.iterdir())


def test_a_holder_that_has_not_said_who_it_is_is_still_respected(folder):
    with lock(folder, ACCOUNT):
        (holder,) = folder.glob("*.holder")
        holder.unlink()
        with pytest.raises(AccountBusy, match="a process that has just begun"):
            lock(folder, ACCOUNT).__enter__()


def test_a_folder_where_nothing_can_be_locked_says_what_to_do(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match="CHATKIT_DATA"), lock(tmp_path / "file", ACCOUNT):
        raise AssertionError


def test_a_file_that_cannot_be_written_to_its_end_is_as_it_was(tmp_path):
    path = tmp_path / "plan.json"
    path.write_bytes(b"before")
    with pytest.raises(KeyError), replacing(path) as file:
        file.write(b"half of what was to be wri")
        raise KeyError
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_made_is_called_by_its_own_name(tmp_path):
    path = tmp_path / "not there" / "plan.json"
    with pytest.raises(FileNotFoundError) as caught, replacing(path):
        raise AssertionError
    assert caught.value.filename == str(path)
    path = tmp_path / "file" / "plan.json"
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError) as caught, replacing(path):
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
        with replacing(path, mode) as file:
            file.write(b"after")
    finally:
        os.umask(before)
    assert path.read_bytes() == b"after"
    assert path.stat().st_mode & 0o777 == rights


def test_what_a_killed_process_left_beside_a_file_is_written_over(tmp_path):
    path, beside = tmp_path / "part-000000.parquet", tmp_path / ".part-000000.parquet"
    beside.write_bytes(b"half of a part, and longer than the next")
    with replacing(path, beside=beside) as file:
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
    with replacing(tmp_path / "a" / "plan.json", beside=tmp_path / "a" / "new") as file:
        file.write(b"{}")
    assert list(map(str, synced)) == ["a/new", "a"]
