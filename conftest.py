"""No test ever reaches a live account or a person's own settings, whatever the shell exports.

This stands at the root because notebooks are tested too: `chatkit.connect()` in them would
follow CHATKIT_* variables to a real account and write to it.

What a run of the tests puts into the temporary folder goes with it, `tmp_path` too (keep it
with --basetemp), and a folder that a process of chatkit left there fails the run. Where nobody
names a folder in TMPDIR it is one in memory, if there is room: a run of the tests writes
thousands of journals, and each waits for the disk again and again.
"""

import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

for name in [name for name in os.environ if name.startswith("CHATKIT_")]:
    if not name.startswith("CHATKIT_CONTRACT_"):  # an account that was made for tests
        del os.environ[name]

# A shell lets its jobs in the background ignore Ctrl-C, and so would all processes of the tests,
# some of which are about an interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Each process that a test starts would compile all of chatkit and its libraries anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

from chatkit.util import files  # noqa: E402  (what its module reads is right only now)

IN_MEMORY = Path("/dev/shm")  # noqa: S108  (a folder of its own is made in it)
ENOUGH = 2 << 30  #: bytes; a run has needed a hundredth of them


def has_room(folder: Path) -> bool:
    """Return whether there is such a folder, with room, where programs can be started."""
    try:
        found = os.statvfs(folder)
    except (OSError, AttributeError):  # no such folder; no such system
        return False
    return found.f_bavail * found.f_frsize > ENOUGH and not found.f_flag & os.ST_NOEXEC


if "TMPDIR" not in os.environ and has_room(IN_MEMORY) and os.access(IN_MEMORY, os.W_OK):
    tempfile.tempdir = str(IN_MEMORY)
inherited = Path(tempfile.gettempdir())
if "PYTEST_XDIST_WORKER" in os.environ and inherited.parent.name.startswith(files.TEMPORARY_PREFIX):
    # One of several processes of a run: its folder stands beside the run's, not deep within it.
    tempfile.tempdir = str(inherited.parents[1])
home = files.get_temporary_folder()  # removed by the next run if this one is killed
home.chmod(0o711)  # a database server of the tests runs as another user
for name in (
    *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"),  # chatkit's own files
    *("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"),
):
    os.environ[name] = os.path.join(home, name.lower())
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"

# Named short: a Unix socket in it may have a path of some 100 bytes at most.
os.environ["TMPDIR"] = tempfile.tempdir = str(home / "t")
(home / "t").mkdir(mode=0o711)


LEFT = pytest.StashKey[list[str]]()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail if a process that the tests started has left something of chatkit, or still runs."""
    files.sweep_temporary_folders()  # of processes that tests killed on purpose
    left = session.config.stash.get(LEFT, [])
    left += sorted(place.name for place in Path(os.environ["TMPDIR"]).glob("chatkit-*"))
    told = getattr(session.config, "workeroutput", None)  # of one of several processes of a run
    if told is not None:
        told["left"] = left
    elif left:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        terminal = session.config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None:
            names = ", ".join(left)
            terminal.write_line(f"\nProcesses of the tests left behind: {names}", red=True)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Return how many cores there are: each process more collects all tests once more."""
    return None if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else os.cpu_count() or 1


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take what one of several processes of a run has found at its end."""
    node.config.stash.setdefault(LEFT, []).extend(getattr(node, "workeroutput", {}).get("left", []))
