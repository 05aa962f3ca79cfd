"""The loop behind the synchronous face: notebooks, threads, forks, interrupts, the end."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import processes
import pytest
from faultserver import (
    FaultServer,
    Line,
    Script,
    after,
    connection,
    drop,
    half_of_the_head,
    ok,
    reset,
    sends,
    silence,
)

from chatkit.api.call import Call
from chatkit.api.transport import Transport
from chatkit.errors import CallError

GET = Call("GET", ("contacts", 17))

START = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from faultserver import connection
from chatkit.api.transport import Transport
from chatkit.api.call import Call
GET = Call("GET", ("contacts", 17))
POST = Call("POST", ("contacts",), body={{}})
transport = Transport(connection(BASE_URL))
"""


def script(server: FaultServer, text: str) -> str:
    return f"BASE_URL = {server.base_url!r}\n{START}{textwrap.dedent(text)}"


def run(server: FaultServer, text: str, *options: str) -> str:
    """Run a script to its end; it must be quick and silent about what it leaves open."""
    start = subprocess.run if options else processes.run
    done = start(
        [sys.executable, *options, "-c", script(server, text)],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.stderr == ""
    assert done.returncode == 0
    return done.stdout


def until(true: Callable[[], bool], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.005)
    assert true()


# --- where it works -------------------------------------------------------------------


def test_it_works_inside_a_running_loop_as_that_of_a_notebook() -> None:
    async def main() -> int:
        return server.transport().send_raw(GET).status

    with FaultServer(ok) as server:
        assert asyncio.run(main()) == 200


def test_it_works_in_twenty_threads_at_once() -> None:
    with FaultServer(ok) as server:
        transport = server.transport()
        with ThreadPoolExecutor(20) as pool:
            one = pool.map(lambda _: transport.send_raw(GET).status, range(200))
            many = pool.map(lambda _: len(list(transport.send_all([GET] * 10))), range(20))
            assert set(one) == {200}
            assert set(many) == {10}
        assert len(server.asked) == 400


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_it_works_after_a_fork_on_both_sides() -> None:
    with FaultServer(ok) as server:
        message = run(
            server,
            """
            import warnings
            warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of any fork
            assert len(list(transport.send_all([GET] * 8))) == 8
            for leave in os._exit, sys.exit:
                child = os.fork()
                if not child:
                    assert transport.send_raw(GET).status == 200
                    assert len(list(transport.send_all([GET] * 8))) == 8
                    leave(0)
                assert os.waitpid(child, 0)[1] == 0
            assert len(list(transport.send_all([GET] * 8))) == 8
            print("both")
            """,
        )
        assert message == "both\n"
        assert len(server.asked) == 34
        assert server.connections <= 24, "the parent's connections outlive the child"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_it_works_in_a_fork_made_while_calls_were_under_way() -> None:
    with FaultServer(after(0.3, ok)) as server:
        run(
            server,
            """
            import threading, time, warnings
            warnings.simplefilter("ignore", DeprecationWarning)
            threads = [threading.Thread(target=transport.send_raw, args=[GET]) for _ in range(4)]
            for thread in threads: thread.start()
            time.sleep(0.1)
            child = os.fork()
            if not child:
                assert transport.send_raw(GET).status == 200
                os._exit(0)
            for thread in threads: thread.join()
            assert os.waitpid(child, 0)[1] == 0
            """,
        )
        assert len(server.asked) == 5


# --- how it ends ----------------------------------------------------------------------


ENDINGS = {
    "open": "",
    "in the middle": "outcomes = transport.send_all([GET] * 20); next(outcomes)",
    "by an exit in the middle": "for _ in transport.send_all([GET] * 20): sys.exit()",
}


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
def test_a_script_ends_by_itself_and_silently(ending: str) -> None:
    """With a closed transport, a deleted one, one whose thread waits for an answer, and this."""
    with FaultServer(ok) as server, FaultServer(silence) as silent:
        message = run(
            server,
            f"""
            import threading
            closed, deleted = (Transport(connection(BASE_URL)) for _ in range(2))
            for each in (closed, deleted):
                each.send_raw(GET)
            closed.close()
            del each, deleted
            waiting = Transport(connection({silent.base_url!r}))
            threading.Thread(target=waiting.send_raw, args=[GET], daemon=True).start()
            transport.send_raw(POST)
            assert len(list(transport.send_all([GET] * 20, concurrency=8))) == 20
            print("done", flush=True)
            {ending}
            """,
            "-W",
            "default::ResourceWarning",
        )
        assert message == "done\n"


def test_an_error_leaves_only_its_own_traceback() -> None:
    with FaultServer(drop) as server:
        done = processes.run(
            [sys.executable, "-c", script(server, "transport.send_raw(POST)")],
            capture_output=True,
            text=True,
            timeout=30,
        )
    assert "aiohttp" not in done.stderr
    assert "asyncio" not in done.stderr
    assert done.stderr.count("Traceback") == 1
    assert done.stderr.splitlines()[-2].startswith("chatkit.errors.UnknownOutcome: POST contacts: ")


def test_a_forgotten_transport_closes_its_connections() -> None:
    closed = threading.Event()

    def greet(line: Line) -> None:
        while asked := line.ask():
            ok(line, asked)
        closed.set()

    with FaultServer(ok, greet=greet) as server:
        Transport(connection(server.base_url)).send_raw(GET)
        gc.collect()
        assert closed.wait(5)


def test_a_closed_transport_opens_again() -> None:
    with FaultServer(ok) as server:
        transport = server.transport()
        transport.close()
        for _ in range(3):
            assert transport.send_raw(GET).status == 200
            transport.close()
            transport.close()
        assert server.connections == 3


def test_closing_in_another_thread_never_raises_anything_odd() -> None:
    with FaultServer(ok) as server:
        transport = server.transport()
        over = threading.Event()

        def close() -> None:
            while not over.is_set():
                transport.close()
                time.sleep(0.001)

        closing = threading.Thread(target=close)
        closing.start()
        try:
            for _ in range(300):
                try:
                    transport.send_raw(Call("POST", ("x",), body={}))
                except CallError:
                    continue
        finally:
            over.set()
            closing.join()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="/proc tells of open files")
def test_hundreds_of_failures_leave_nothing_open() -> None:
    def counts() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), threading.active_count()

    kinds: list[Script] = [drop, reset, ok, sends(b"hello\r\n\r\n", end=True), half_of_the_head]
    kinds += [silence, sends(b"HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\n1234", end=True)]

    def mixed(line: Line, asked: object) -> None:
        with lock:
            kinds.append(kinds.pop(0))
        kinds[-1](line, asked)

    lock = threading.Lock()
    with FaultServer(ok) as server:
        server.transport().send_raw(GET)  # the loop runs
    gc.collect()
    before = counts()
    with FaultServer(mixed) as server:
        transport = server.transport(deadline=0.2)
        calls = [Call("POST", ("x", n), body={}) for n in range(350)] + [GET] * 50
        assert len(list(transport.send_all(calls, concurrency=32))) == 400
    with FaultServer(ok) as server:
        pass
    away = server.transport(deadline=0.2)
    assert len(list(away.send_all([GET] * 100, concurrency=32))) == 100
    away.close()
    gc.collect()
    until(lambda: max(abs(a - b) for a, b in zip(counts(), before, strict=True)) <= 2)


# --- interrupts -----------------------------------------------------------------------

INTERRUPTED = """
print("ready", flush=True)
try:
    {work}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def interrupted(server: FaultServer, work: str, sent: int) -> Iterator[None]:
    """Interrupt a process once so many calls were sent; the block is run before it goes on."""
    command = [sys.executable, "-c", script(server, INTERRUPTED.format(work=work))]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with processes.Popen(command, text=True, **pipes) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            until(lambda: len(server.asked) >= sent)
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted\n"
            yield
            count = len(server.asked)
            _, message = process.communicate("go on\n", timeout=10)
            assert (message, process.returncode, len(server.asked)) == ("", 0, count)
        finally:
            process.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
@pytest.mark.parametrize(
    ("work", "under_way"),
    [
        ("transport.send_raw(POST)", 1),
        ("list(transport.send_all(iter(lambda: POST, None), concurrency=16))", 16),
    ],
)
def test_an_interrupt_ends_the_call_at_once_and_nothing_is_sent_after_it(
    work: str, under_way: int
) -> None:
    gone = threading.Semaphore(0)

    def wait_for_the_end(line: Line, asked: object) -> None:
        assert line.ask() is None
        gone.release()

    with FaultServer(wait_for_the_end) as server:
        with interrupted(server, work, under_way):
            assert all(gone.acquire(timeout=5) for _ in range(under_way)), "connections are closed"
            time.sleep(0.3)
        assert len(server.asked) == under_way


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_an_interrupt_in_the_middle_of_much_work_ends_it() -> None:
    """The server answers quickly: there is always a next call that could still go out."""
    work = "for _ in transport.send_all(iter(lambda: POST, None), concurrency=16): pass"
    with FaultServer(ok) as server, interrupted(server, work, 50):
        time.sleep(0.3)  # what was on its way arrives
        count = len(server.asked)
        time.sleep(0.5)
        assert len(server.asked) == count
