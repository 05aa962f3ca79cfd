"""A failing disk, a full one, and a power cut: a journal says what is true, or stops."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import processes
import pytest
from bulk.journalling import at_work, opened
from faults import disk
from volume import volume

from chatkit.bulk.changes import Change
from chatkit.bulk.journal import FolderStore, Journal, RunHeader
from chatkit.errors import JournalError

ROOT = Path(__file__).parents[3]
RUN = "20261120-1"
linux = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's own means, of Linux")

#: A child makes a journal with three groups of ten events, then the disk fails, then it goes on.
CHILD = """
import json, sys
from pathlib import Path
from faults import disk
from faults.test_power import group, new
from chatkit.errors import JournalError

journal = new(Path(sys.argv[1]))
for number in range(3):
    group(journal, number)
    journal.commit()
size = disk.log_of(journal).stat().st_size
exec(sys.argv[2])
errors = []
for number in range(3, 6):
    for step in (lambda: group(journal, number), journal.commit):
        try:
            step()
            errors.append("")
        except JournalError as error:
            errors.append(str(error))
committed = sum(1 for _ in journal.events())
journal.close()
print(json.dumps([errors, committed]))
"""


def new(folder: Path) -> Journal:
    header = RunHeader(RUN, "0" * 64, "here", None, "contact", ("id",), {}, 10)
    changes = [Change(n, "update", n, f"+1 20255501{n:02}", {}, {"name": "Ana"}) for n in range(10)]
    return at_work(FolderStore(folder), RUN, lambda held: held.create(header, changes))


def group(journal: Journal, number: int, size: int = 40) -> None:
    for n in range(10):
        journal.write(n, "intent", group=number, live={"name": "Zoë" * size})


def groups(journal: Journal) -> list[int]:
    """The numbers of the groups in a journal, each of which must be whole."""
    result = [(event.detail["group"], event.n) for event in journal.events()]
    assert result == [(number, n) for number in sorted({g for g, _ in result}) for n in range(10)]
    return sorted({number for number, _ in result})


def child(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests/qa"), str(ROOT / "tests")])
    return processes.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@linux
@pytest.mark.parametrize(
    ("failure", "message"),
    [
        ("disk.fail_fsync()", "disk I/O error"),
        ("disk.refuse_writes()", "database or disk is full"),
        ("disk.fill_disk(size)", "disk I/O error"),
        ("disk.fill_disk(size + 3000)", "disk I/O error"),  # it ends in the middle of a page
    ],
)
def test_after_a_failure_nothing_more_is_recorded(tmp_path, failure, message):
    done = child(CHILD, tmp_path, failure)
    assert done.returncode == 0, done.stderr
    (noted, *refused), committed = json.loads(done.stdout)
    assert noted == ""  # an event waits in memory: only the commit asks the disk
    assert len(refused) == 5
    assert all(f"cannot be written: {message}" in text for text in refused)
    assert all("chatkit.resume('20261120-1')" in text for text in refused)
    assert committed == 30
    with opened(tmp_path, RUN) as journal:  # the disk is well again
        # What was being written when the disk failed may have reached it.
        assert groups(journal) in ([0, 1, 2], [0, 1, 2, 3])
        group(journal, 4)
        journal.commit()
        assert groups(journal)[-1] == 4


@linux
@pytest.mark.parametrize("failure", ["fail_fsync()", "refuse_writes()", "fill_disk(5000)"])
def test_a_journal_that_cannot_be_made_leaves_nothing(tmp_path, failure):
    code = f"""
import sys
from pathlib import Path
from faults import disk
from faults.test_power import new
from chatkit.errors import JournalError

disk.{failure}
try:
    new(Path(sys.argv[1]) / "runs")
except JournalError as error:
    print(error)
"""
    done = child(code, tmp_path)
    assert re.match(
        r"The journals? .* cannot be (reached|written): .*(I/O|output|full)", done.stdout
    )
    assert done.stdout.endswith("Nothing was sent.\n")
    store = FolderStore(tmp_path / "runs")
    assert store.runs() == []
    with new(store.folder) as journal:  # the disk is well again
        assert groups(journal) == []
    assert store.runs() == [RUN]


def copied_to(folder):
    """Make the folder of a copy of the journal."""
    folder.mkdir(exist_ok=True)
    return folder


def test_a_torn_tail_is_only_the_group_that_was_being_written(tmp_path):
    """The log is cut to what was synced, with anything behind it: a part of the next, or dirt."""
    rng = random.Random(0)
    journal = new(tmp_path / "live")
    log, place = disk.log_of(journal), (tmp_path / "live", RUN)
    states = [disk.taken(*place)]
    for number in range(8):
        group(journal, number)
        journal.commit()
        states.append(disk.taken(*place))
    assert groups(journal) == list(range(8))
    journal.close()
    for n, synced in enumerate(states[:-1]):
        size, after = len(synced.get(".db-wal", b"")), states[n + 1][".db-wal"]
        part = after[size : rng.randrange(size + 1, len(after))]
        for tail in (b"", part, rng.randbytes(5000), bytes(4096), part[:24] + rng.randbytes(9000)):
            folder = copied_to(tmp_path / f"cut{n}-{len(tail)}")
            disk.put(synced, folder, RUN)
            disk.cut(folder / log.name, size, tail)
            with opened(folder, RUN) as cut:
                assert groups(cut) == list(range(n))
                group(cut, n)
                cut.commit()
                assert groups(cut) == list(range(n + 1))
    assert not log.exists()


def test_a_power_cut_at_any_moment_loses_only_the_group_that_was_being_committed(tmp_path):
    """Through many groups: the log is copied into the database and begun anew on the way."""
    rng = random.Random(1)
    journal = new(tmp_path / "live")
    place, kinds, lost = (tmp_path / "live", RUN), set(), set()
    before = disk.taken(*place)
    for number in range(70):
        group(journal, number, size=3000)
        journal.commit()
        after = disk.taken(*place)
        copied = before[".db"] != after[".db"]
        begun = before.get(".db-wal", b"")[:32] != after[".db-wal"][:32]
        kinds.add((copied, begun))
        for _ in range(volume(6, 120) if copied or begun else number % 3 == 0):
            folder = copied_to(tmp_path / "cut")
            disk.put(disk.power_cut(before, after, rng), folder, RUN)
            with opened(folder, RUN) as cut:
                result = groups(cut)
                assert result in (list(range(number)), list(range(number + 1)))
                lost.add(len(result) == number)
        before = after
    journal.close()
    assert kinds >= {(False, False), (True, False), (False, True)}
    assert lost == {True, False}  # both were seen


@linux
def test_power_that_goes_during_a_commit_takes_the_process_with_it(tmp_path):
    code = """
import sys
from pathlib import Path
from faults import disk
from faults.test_power import group, new

disk.cut_power_at(4, seed=int(sys.argv[2]))
journal = new(Path(sys.argv[1]))
for number in range(9):
    group(journal, number)
    journal.commit()
    print(number, flush=True)
"""
    result = set()
    for seed in range(6):
        folder = tmp_path / str(seed)
        done = child(code, folder, seed)
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert done.stdout.split() == ["0", "1", "2"]
        with opened(folder, RUN) as journal:
            result.add(tuple(groups(journal)))
    assert result <= {(0, 1, 2), (0, 1, 2, 3)}


def test_a_log_that_was_lost_is_not_taken_for_a_short_run(tmp_path):
    new(tmp_path / "live").close()
    with opened(tmp_path / "live", RUN) as journal:
        for number in range(3):
            group(journal, number)
            journal.commit()
        files = disk.taken(tmp_path / "live", RUN)
    del files[".db-wal"]
    folder = copied_to(tmp_path / "lost")
    disk.put(files, folder, RUN)
    with pytest.raises(JournalError, match="holds 0 events, and 30 were committed"):
        opened(folder, RUN)
