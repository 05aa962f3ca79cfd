"""Interrupt: the stop button ends a run soon, with the truth, and nothing happens after it."""

from __future__ import annotations

import os
import signal
import time

import pytest
from bulk.wayward import contact, dropped, flow, interrupting, plan_of, wayward

from chatkit.bulk import apply, table


@pytest.mark.parametrize("times", [1, 2])
def test_looking_for_what_is_in_doubt_ends_soon_too(times: int) -> None:
    """A list may have hundreds of pages; deadline 0.5 s, each page takes 0.1 s."""
    with wayward(max_page_size=7) as service, service.client(deadline=0.5) as client:
        for n in range(490):
            service.caller.flow(f"Old {n}")
        service.on("POST", "flows", dropped)
        pages: list[float] = []

        def arrive(sent):
            if sent.method == "GET":
                pages.append(time.monotonic())
                if len(pages) <= times:
                    os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.1)

        service.arrival = arrive
        result = plan_of(client.flows, [flow(1)]).apply(settle=0)
        took = time.monotonic() - pages[0]
        assert took < (1.0 if times == 1 else 0.5)
        assert list(result.state) == ["unknown"]


@pytest.mark.parametrize(
    ("place", "name"), [(table, "result"), (apply.Journal, "commit"), (apply.Run, "_close")]
)
def test_an_interrupt_as_the_run_ends_does_not_cost_the_result(monkeypatch, place, name) -> None:
    """Whoever presses stop twice, or late, still gets the frame."""
    with wayward() as service, service.client() as client:
        original = getattr(place, name)

        def interrupted(*args, **kwargs):
            value = original(*args, **kwargs)
            os.kill(os.getpid(), signal.SIGINT)
            return value

        monkeypatch.setattr(place, name, interrupted)
        service.on("POST", "contacts", interrupting())
        try:
            result = plan_of(client.contacts, [contact(n) for n in range(3)]).apply(concurrency=1)
        except KeyboardInterrupt:
            pytest.fail(f"the result is lost: KeyboardInterrupt after {name}")
        assert len(result) == 3
