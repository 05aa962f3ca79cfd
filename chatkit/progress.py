"""Progress: a bar for work that takes more than a second, and nothing for the rest."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, Self

#: Seconds of work before there is a bar.
PATIENCE = 1.0


class Progress:
    """Counts work done; shows a bar once it lasts, live in JupyterLab, text in a terminal."""

    def __init__(self, noun: str, total: int | None = None) -> None:
        self.total = total
        self._noun = noun
        self._done = 0
        self._began = time.monotonic()
        self._bar: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def add(self, count: int) -> None:
        """Say that `count` more are done."""
        self._done += count
        if self._bar is not None:
            self._bar.update(count)
        elif time.monotonic() - self._began > PATIENCE:
            from tqdm.auto import tqdm

            self._bar = tqdm(total=self.total, initial=self._done, unit=f" {self._noun}")
