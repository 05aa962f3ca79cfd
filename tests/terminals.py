"""A command in a terminal: its questions are answered, and all that it shows is returned."""

from __future__ import annotations

import contextlib
import os
import select
from typing import Any

import processes


def answered(command: list[str], *answers: tuple[str, str], **options: Any) -> tuple[int, str]:
    """Run a command in a terminal, and type each answer once its question is shown.

    Args:
        command: The command.
        answers: Texts of its questions, in their order, each with the answer; one that speaks
            of `hidden` gets it once the terminal shows no more what is typed.
        options: As for `subprocess.Popen`.

    Returns:
        Its exit status, and what it has shown.
    """
    import pty
    import termios

    terminal, others = pty.openpty()
    seen = b""
    with processes.Popen(
        command, stdin=others, stdout=others, stderr=others, start_new_session=True, **options
    ) as process:
        os.close(others)
        try:
            for question, answer in answers:
                while question.encode() not in seen:
                    ready, _, _ = select.select([terminal], [], [], 60)
                    assert ready, f"asked nothing more after: {seen!r}"
                    try:
                        seen += os.read(terminal, 4096)
                    except OSError:  # its end, on Linux
                        raise AssertionError(f"ended after: {seen!r}") from None
                while "hidden" in question and termios.tcgetattr(terminal)[3] & termios.ECHO:
                    assert process.poll() is None, seen
                os.write(terminal, answer.encode() + b"\n")
            with contextlib.suppress(OSError):
                while more := os.read(terminal, 4096):
                    seen += more
            status = process.wait(60)
        finally:
            process.kill()
            os.close(terminal)
    return status, seen.decode()
