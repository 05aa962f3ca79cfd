"""No test ever reaches a live account or a person's own settings, whatever the shell exports.

This stands at the root because notebooks are tested too: `chatkit.connect()` in them would
follow CHATKIT_* variables to a real account and write to it.

What a run of the tests puts into the temporary folder goes with it, `tmp_path` too (keep it
with --basetemp), and a folder that a process of chatkit left there fails the run.
"""

import os
import sys
import tempfile
from pathlib import Path

import pytest

for name in [name for name in os.environ if name.startswith("CHATKIT_")]:
    if not name.startswith("CHATKIT_CONTRACT_"):  # an account that was made for tests
        del os.environ[name]

# Each process that a test starts would compile all of chatkit and its libraries anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

from chatkit import temporary  # noqa: E402  (what its module reads is right only now)

home = temporary.folder()  # removed by the next run if this one is killed
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


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail if a process that the tests started has left something of chatkit, or still runs."""
    temporary.sweep()  # of those that tests killed on purpose, as the next process does
    if left := sorted(Path(os.environ["TMPDIR"]).glob("chatkit-*")):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        names = ", ".join(place.name for place in left)
        terminal = session.config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None:
            terminal.write_line(f"\nProcesses of the tests left behind: {names}", red=True)
