"""Ways to apply a plan in tests: at once, interrupted, or with a journal elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chatkit.api.retry import RetryPolicy
from chatkit.api.secret import Secret
from chatkit.bulk.apply import Interrupt
from chatkit.bulk.plan import set_journal_location


def settled(work: Callable[..., Any], *arguments: Any, settle: float | None, **options: Any) -> Any:
    """Call something while a lost write is believed lost after so many seconds."""
    with pytest.MonkeyPatch.context() as patch:
        if settle is not None:
            patch.setattr(RetryPolicy, "settle_window", lambda self, **_: settle)
        return work(*arguments, **options)


def stop_by(plan: Any, interrupt: Interrupt | None) -> Any:
    """Have the run of a plan stopped by an interrupt that a test holds."""
    plan._stop_by = interrupt
    return plan


def kept_at(plan: Any, place: str | Path) -> Any:
    """Have the journals of a plan kept where CHATKIT_RUNS would say, for accounts in memory too."""
    for each in getattr(plan, "plans", {"": plan}).values():
        set_journal_location(each, Secret(place) if isinstance(place, str) else place)
    return plan
