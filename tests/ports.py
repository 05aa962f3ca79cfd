"""Ports where nobody listens, in spite of the other processes of the suite.

The system gives a port that was closed to whoever asks next, and the suite asks often, in several
processes. So a test that a server has gone looks at its own process instead of connecting, and a
port at which nobody may answer yet is held meanwhile.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import psutil


def own_ports() -> set[int]:
    """The TCP ports at which this process listens now."""
    sockets = psutil.Process().net_connections("tcp")
    return {one.laddr.port for one in sockets if one.status == psutil.CONN_LISTEN}


@contextmanager
def reserved(port: int = 0) -> Iterator[int]:
    """A port that the system gives to nobody, at which nobody listens until a server names it."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", port))
        yield int(held.getsockname()[1])
