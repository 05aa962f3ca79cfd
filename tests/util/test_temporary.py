"""The temporary folder of a process: gone with it, whether it ends or is killed."""

from __future__ import annotations

import os
import signal
import stat
from contextlib import ExitStack

import pytest
from bulk.journalling import child

from chatkit.errors import ChatkitError
from chatkit.util import files

OWNER = """
import sys
from chatkit.util import files
folder = files.get_temporary_folder()
(folder / "runs").mkdir()
(folder / "runs" / "a.db").write_text("a")
print(folder, flush=True)
sys.stdin.readline()
"""
APPLYING = """
import sys
import chatkit
client = chatkit.connect()
contacts = client.contacts.frame()
contacts.loc[contacts.index[0], "name"] = "Zoë"
client.contacts.plan(contacts).apply()
inbox = chatkit.Inbox(sys.argv[1])
inbox.serve("s" * 32)
print("done", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def here(tmp_path):
    """A temporary folder of the machine, for the children of one test alone."""
    place = tmp_path / "temporary"
    place.mkdir()
    return place


def owner(here, code=OWNER, *arguments, **options):
    return child(code, *arguments, env=os.environ | {"TMPDIR": str(here)}, **options)


def test_it_is_one_for_each_process_for_its_owner_alone_and_goes_with_it(here):
    (here / f"{files.TEMPORARY_PREFIX}half").mkdir()  # left before there was a lock: of nobody
    with owner(here) as one, owner(here) as other:
        folders = {one.stdout.readline().strip(), other.stdout.readline().strip()}
        assert folders == {str(place) for place in here.iterdir()} and len(folders) == 2
        assert all(stat.S_IMODE(place.stat().st_mode) == 0o700 for place in here.iterdir())
    assert one.returncode == other.returncode == 0
    assert not any(here.iterdir())
    own = files.get_temporary_folder()
    assert own == files.get_temporary_folder() == files.find_temporary_folder()


def test_what_a_killed_process_left_is_removed_by_the_next_and_only_that(here):
    with ExitStack() as stack:
        living, killed = (stack.enter_context(owner(here)) for _ in range(2))
        of_living, of_killed = (p.stdout.readline().strip() for p in (living, killed))
        killed.kill()
        killed.wait()
        living.send_signal(signal.SIGSTOP)  # a stopped process is not a dead one
        assert {str(place) for place in here.iterdir()} == {of_living, of_killed}
        with owner(here) as following:
            of_following = following.stdout.readline().strip()
            assert {str(place) for place in here.iterdir()} == {of_living, of_following}
        assert {str(place) for place in here.iterdir()} == {of_living}
        living.send_signal(signal.SIGCONT)


@pytest.mark.parametrize("instant", ["tempfile.mkdtemp", "os.open"])
def test_a_folder_that_is_taken_away_before_it_is_locked_is_made_again(here, monkeypatch, instant):
    monkeypatch.setattr("tempfile.tempdir", str(here))
    module, name = instant.split(".")
    real, swept = getattr(__import__(module), name), []

    def swept_after(*arguments, **options):
        done = real(*arguments, **options)
        if not swept:
            swept.extend(here.iterdir())
            files.sweep_temporary_folders()
            assert not any(here.iterdir())
        return done

    monkeypatch.setattr(instant, swept_after)
    held = files._make_temporary_folder()
    assert len(swept) == 1 and [*here.iterdir()] == [held.folder] != swept
    assert stat.S_IMODE(held.folder.stat().st_mode) == 0o700
    files._remove_temporary_folder(held)
    assert not any(here.iterdir())


def test_links_and_what_has_another_name_are_left_alone(here, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter").write_text("dear")
    (here / f"{files.TEMPORARY_PREFIX}link").symlink_to(tmp_path / "mine")
    (here / f"{files.TEMPORARY_PREFIX}file").write_text("")
    (here / "chatkit-notes").mkdir()
    with owner(here) as process:
        process.stdout.readline()
    assert (tmp_path / "mine" / "letter").read_text() == "dear"
    assert len([*here.iterdir()]) == 3


FORKING = OWNER.replace(
    "print(",
    """import os
if os.fork() == 0:
    assert files.find_temporary_folder() is None
    assert files.get_temporary_folder() != folder
    raise SystemExit
assert os.wait()[1] == 0
assert (folder / "runs" / "a.db").exists()
print(""",
)


def test_a_fork_has_its_own_and_leaves_that_of_its_parent(here):
    with owner(here, FORKING) as process:
        folder = process.stdout.readline().strip()
        assert [str(place) for place in here.iterdir()] == [folder]
        with owner(here) as following:  # the lock is still the parent's
            following.stdout.readline()
        assert [str(place) for place in here.iterdir()] == [folder]
    assert not any(here.iterdir())


@pytest.mark.parametrize("end", ["ended", "killed"])
def test_an_apply_and_a_receiver_leave_nothing(here, tmp_path, end):
    inbox = tmp_path / "inbox.sqlite"
    with owner(here, APPLYING, inbox) as process:
        assert "done\n" in iter(process.stdout.readline, "")
        (folder,) = here.iterdir()
        assert [place.suffix for place in folder.glob("runs/*.db")] == [".db"]
        assert not [*folder.rglob("*.pem")], "a private key stays no longer than it is read"
        if end == "killed":
            process.kill()
            process.wait()
            with owner(here) as following:
                following.stdout.readline()
                assert folder not in here.iterdir()
    assert not any(here.iterdir())


def test_where_no_folder_can_be_made_it_is_said_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr(files, "_temporary", None)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(ChatkitError, match="Set TMPDIR"):
        files.get_temporary_folder()
