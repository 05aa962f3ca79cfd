"""The retry policy is one value, and its numbers are in one file."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from bulk.applying import settled
from bulk.planning import number
from bulk.wayward import answers, dropped, wayward

import chatkit
from chatkit.api.retry import DEFAULT, RetryPolicy

PACKAGE = Path(chatkit.__file__).parent
#: A number with a name of this field. The sandbox delivers webhooks as the service does.
CONSTANT = re.compile(
    r"^\s*_?[A-Za-z_]*(TRIES|ATTEMPTS|RETR|SETTLE|BACKOFF|PAUSES|PATIENT|tries|retries|backoff)"
    r"[A-Za-z_]*(: [^=]+)? = [-(\d.]",
    re.MULTILINE,
)


def test_the_numbers_of_the_policy_are_in_one_file() -> None:
    files = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if CONSTANT.search(path.read_text(encoding="utf-8"))
    }
    assert {name for name in files if not name.startswith("sandbox/")} == {"api/retry.py"}


@pytest.mark.parametrize(("retry", "sent"), [(None, 1), (RetryPolicy(tries=3, base=0), 3)])
def test_a_client_sends_a_read_as_often_as_its_policy_says(retry, sent) -> None:
    with wayward() as service, service.client(retry=retry) as client:
        service.on("GET", "flows/1", *[answers(503)] * 9)
        with pytest.raises(chatkit.errors.ServerFault):
            client.flows.get(1)
    assert len(service.sent) == sent


@pytest.mark.parametrize(("retry", "sent"), [(None, 1), (RetryPolicy(row_tries=2), 2)])
def test_a_run_sends_a_row_as_often_as_the_policy_of_its_client_says(retry, sent) -> None:
    with wayward() as service, service.client(retry=retry) as client:
        service.on("POST", number(1), *[dropped] * 9)
        result = settled(
            client.contacts.plan([{"number": number(1), "country_code": "+1"}]).apply, settle=0
        )
        assert result.state.tolist() == ["failed"]
        times = "once" if sent == 1 else f"{sent} times"
        assert result.reason.tolist() == [f"sent {times}, and it never took effect"]


def test_pauses_grow_up_to_a_cap_and_are_never_shorter_than_asked(monkeypatch) -> None:
    monkeypatch.setattr("chatkit.api.retry.random", random)
    policy = RetryPolicy(tries=9, base=1, cap=4)
    for tried, longest in ((1, 1), (2, 2), (3, 4), (8, 4)):
        pauses = [policy.pause(tried) for _ in range(200)]
        assert 0.8 * longest < max(pauses) <= longest
    assert policy.pause(1, asked=7) == 7
    assert policy.pause(9) is None


def test_a_number_that_cannot_be_and_what_is_no_policy_are_refused() -> None:
    for name, value in (("tries", 0), ("deadline", 0), ("base", -1), ("row_tries", 0)):
        with pytest.raises(ValueError, match=f"{name}= must be a number"):
            RetryPolicy(**{name: value})
    with pytest.raises(TypeError, match=r"retry= takes a chatkit.RetryPolicy, or None"):
        chatkit.connect(chatkit.Sandbox(seed="empty"), retry=3)
    assert RetryPolicy() == DEFAULT
