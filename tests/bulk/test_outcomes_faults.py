"""Outcomes: broken, false and throttled answers, byte by byte, to each of the twelve writes.

Each test makes all of them at once, each in an account of its own, and compares the outcome of
each with the expected one.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from email.utils import formatdate
from functools import partial
from typing import Any

import pytest
from bulk.operations import Operation
from bulk.raw import Case, Outcome, after, applied, at_once, before, each, of_each, share, these
from bulk.wayward import Answer
from faultserver import (
    OK,
    Asked,
    Line,
    Script,
    answers,
    drip,
    drop,
    half_of_the_head,
    http,
    reset_in_the_middle,
    sends,
)

from chatkit.frames.snapshot import read_origin


def proof(operation: Operation) -> str:
    return "read back" if operation.verb == "update" else "answered"


ADOPTED = of_each(lambda operation: Outcome("applied", "adopted", 1, 1, True))
ADOPTED_ON_RETRY = of_each(lambda operation: Outcome("applied", "adopted", 2, 2, True))
SENT_AGAIN = of_each(lambda operation: Outcome("applied", proof(operation), 2, 2, True))
WAITED = of_each(lambda operation: Outcome("applied", proof(operation), 1, 2, True))

# --- answers that say nothing -----------------------------------------------------------------

BROKE = b'{"success":false,"message":"Something broke"}'
PAGE = b"<html><h1>Please sign in</h1></html>"
GZIP = zlib.compress(OK, wbits=31)
#: Answers after which it is unknown whether the write was done.
DOUBTFUL: dict[str, Script] = {
    "500": answers(500, BROKE),
    "500 empty": answers(500, b""),
    "502 HTML": answers(502, b"<html>Bad gateway</html>", kind="text/html"),
    "503 come back": answers(503, BROKE, "retry-after: 0"),
    "504": answers(504, b"", kind=None),
    "520": answers(520, BROKE),
    "408": answers(408, BROKE),
    "redirect": answers(307, b"", "location: /elsewhere"),
    "HTML": answers(200, PAGE, kind="text/html"),
    "HTML with 201": answers(201, PAGE, kind="text/html; charset=utf-8"),
    "HTML called JSON": answers(200, PAGE),
    "JSON called HTML": answers(200, OK, kind="text/html"),
    "no type": answers(200, OK, kind=None),
    "empty": answers(200, b""),
    "no envelope": answers(200, b'{"id":17}'),
    "a list": answers(200, b'[{"id":17}]'),
    "truncated": sends(http(200, OK)[:-10], end=True),
    "truncated, no length": sends(
        b"HTTP/1.1 200 X\r\ncontent-type: application/json\r\n\r\n" + OK[:-10], end=True
    ),
    "chunks without an end": sends(
        b"HTTP/1.1 200 X\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
        + b"%x\r\n%b\r\n" % (len(OK), OK),
        end=True,
    ),
    "gzip cut short": sends(http(200, GZIP[:-9], "content-encoding: gzip"), end=True),
    "gzip that is none": sends(http(200, OK, "content-encoding: gzip"), end=True),
    "reset in the body": reset_in_the_middle,
    "closed": drop,
    "no HTTP": sends(b"\x16\x03\x01 whatever\r\n\r\n", end=True),
}


@pytest.mark.parametrize("fault", DOUBTFUL)
def test_behind_an_answer_that_says_nothing_it_is_looked_for_and_only_then_sent_again(
    fault: str,
) -> None:
    """The first write has no effect, the second one has."""
    script = DOUBTFUL[fault]
    report = applied(before(script), after(script), operations=share(fault))
    assert report == these(ADOPTED_ON_RETRY, report)


def test_an_answer_that_is_not_whole_at_the_deadline_says_nothing() -> None:
    """One byte at a time: between two of them there is always little time."""
    outcome = at_once(
        {
            f"{where.__name__} {slow.__name__}": partial(applied, where(slow), deadline=2.0)
            for slow in (drip, half_of_the_head)
            for where in (after, before)
        }
    )
    assert outcome == {
        "after drip": ADOPTED,
        "before drip": SENT_AGAIN,
        "after half_of_the_head": ADOPTED,
        "before half_of_the_head": SENT_AGAIN,
    }


def test_an_answer_that_comes_byte_by_byte_before_the_deadline_is_one() -> None:
    def trickling(line: Line, asked: Asked, do: Callable[[], Answer]) -> None:
        status, fields, body = do()
        whole = http(status, body, kind=fields.get("content-type"))
        for n in range(len(whole)):
            line.send(whole[n : n + 1])
            line.wait(0.0002)

    expected = of_each(lambda operation: Outcome("applied", proof(operation), 1, 1, True))
    assert applied(trickling) == expected


def test_what_fails_again_and_again_is_never_sent_twice_where_it_took_effect() -> None:
    """Three answers are lost, and the third write took effect."""
    lost = before(answers(502, b""))
    expected = of_each(lambda operation: Outcome("applied", "adopted", 3, 3, True))
    assert applied(lost, before(drop), after(reset_in_the_middle)) == expected


# --- answers that look like a success ---------------------------------------------------------

#: Only the answer tells the key of what they make.
KEYLESS = ("create contact", "create flow", "create webhook")


def test_a_204_is_believed_where_no_id_is_missing_and_looked_at_where_one_is() -> None:
    report = applied(after(answers(204, b"", kind=None)))
    expected = of_each(
        lambda o: Outcome("applied", "adopted" if str(o) in KEYLESS else proof(o), 1, 1, True)
    )
    assert report == expected


#: Successes whose data hold no id that can be used.
WITHOUT_ID = {
    "none": b'{"success":true}',
    "null": b'{"success":true,"data":null}',
    "empty": b'{"success":true,"data":{}}',
    "null id": b'{"success":true,"data":{"id":null,"lang_code":null}}',
    "text": b'{"success":true,"data":{"id":"abc","lang_code":1}}',
    "half": b'{"success":true,"data":{"id":1.5,"lang_code":[]}}',
    "true": b'{"success":true,"data":{"id":true,"lang_code":true}}',
    "a list": b'{"success":true,"data":[]}',
    "a number": b'{"success":true,"data":17}',
    "a word": b'{"success":true,"data":"created"}',
}


@pytest.mark.parametrize("body", WITHOUT_ID)
def test_a_success_without_a_usable_id_is_looked_for_and_never_sent_again(body: str) -> None:
    status = (200, 201, 202)[list(WITHOUT_ID).index(body) % 3]
    report = applied(after(answers(status, WITHOUT_ID[body])), operations=share(body))
    unusual = {
        name: outcome for name, outcome in report.items() if outcome[0::2] != ("applied", 1, True)
    }
    assert unusual == {}
    assert {outcome.arrived for outcome in report.values()} == {1}
    proved = {outcome.evidence for name, outcome in report.items() if not name.startswith("delete")}
    assert proved <= {"adopted", "read back", "answered"}
    assert {report[name].evidence for name in report if name in KEYLESS} <= {"adopted"}


@pytest.mark.parametrize("body", WITHOUT_ID)
def test_a_success_that_made_nothing_and_names_nothing_is_sent_again(body) -> None:
    report = applied(before(answers(200, WITHOUT_ID[body])), operations=share(body))
    made = {name: outcome for name, outcome in report.items() if name in KEYLESS}
    assert made == these(SENT_AGAIN, made)
    for name, outcome in report.items():
        if name.startswith("update"):  # it was read back
            assert (outcome.state == "applied") == outcome.true, (name, outcome)


def test_an_update_that_is_answered_and_not_done_is_never_told_as_applied() -> None:
    report = applied(before(answers(204, b"", kind=None)))
    states = {name: outcome.state for name, outcome in report.items() if name.startswith("update")}
    assert set(states.values()) == {"differs"}


def test_success_false_is_a_refusal_and_changes_nothing() -> None:
    report = applied(before(answers(200, BROKE)))
    assert report == of_each(lambda operation: Outcome("failed", "", 1, 1, False))


# --- looking goes wrong too -------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["HTML", "closed"])
def test_while_it_cannot_be_looked_for_it_is_unknown_and_never_sent_again(fault: str) -> None:
    """The faults meet the first looks; what is left open is found when the run is resumed."""

    def work(case: Case) -> tuple[bool, Outcome]:
        result = case.apply(5.0)
        honest = set(result.state) <= {"applied", "unknown"}
        case.looks = iter(())
        return honest, case.outcome(case.resume(result))

    looks = [before(DOUBTFUL[fault])] * 2
    outcome = each(work, after(drop), looks=looks, operations=share(fault))
    assert outcome == {name: (True, report) for name, report in these(ADOPTED, outcome).items()}


# --- 429 --------------------------------------------------------------------------------------

NOW = 1_795_000_000
DATE = f"date: {formatdate(NOW, usegmt=True)}"


def then(seconds: float) -> str:
    return formatdate(NOW + seconds, usegmt=True)


#: How a service says when to come back, and the least to wait for it.
RETRY_AFTER: dict[str, tuple[float, tuple[str, ...]]] = {
    "nothing": (0, ()),
    "nothing in it": (0, ("retry-after:",)),
    "0": (0, ("retry-after: 0",)),
    "a part of a second": (0.3, ("retry-after: 0.3",)),
    "a second, among spaces": (1.0, ("Retry-After:   1  ",)),
    "below nothing": (0, ("retry-after: -5",)),
    "a word": (0, ("retry-after: soon",)),
    "more than there is time": (0, ("retry-after: 99999999999999999999",)),
    "no number": (0, ("retry-after: NaN",)),
    "a date": (1.0, (DATE, f"retry-after: {then(1)}")),
    "a date of the past": (0, (DATE, f"retry-after: {then(-3600)}")),
    "a date, and no clock to hold it against": (0, (f"retry-after: {then(86400)}",)),
    "an old date": (1.0, (DATE, f"retry-after: {time.asctime(time.gmtime(NOW + 1))}")),
    "no date": (0, (DATE, "retry-after: Tue, 99 Foo 2026 99:99:99 GMT")),
    "a span until the reset": (0.3, ("x-ratelimit-reset: 0.3",)),
    "the moment of the reset": (0.3, (DATE, f"x-ratelimit-reset: {NOW}.3")),
    "its milliseconds": (0.3, (DATE, f"x-ratelimit-reset: {NOW}300")),
    "both": (0.3, (DATE, "retry-after: 0.3", f"x-ratelimit-reset: {NOW + 3600}")),
}


#: A call of 3 s cannot wait for it: the run does. A busy machine has its time for all other calls.
BEYOND = ("retry-after: 3.1", "x-ratelimit-reset: 3.1")


def waited(case: Case, deadline: float, least: float) -> tuple[Outcome, bool]:
    """Return the outcome of a row whose first write was refused, and if the second was late."""
    report = case.outcome(case.apply(deadline))
    one, two = (asked.at for asked in case.arrived)
    return report, two - one >= least


@pytest.fixture(scope="module")
def throttled() -> dict[str, dict[str, tuple[Outcome, bool]]]:
    """Return the outcome of each operation that meets a 429 of each form; all wait at once."""
    works: dict[str, Callable[[], Any]] = {}
    for form, (least, fields) in RETRY_AFTER.items():
        slow_down = before(answers(429, b"<html>Slow down</html>", *fields, kind="text/html"))
        work = partial(waited, deadline=30.0, least=least)
        works[form] = partial(each, work, slow_down, operations=share(form))
    return at_once(works)


@pytest.mark.parametrize("form", RETRY_AFTER)
def test_a_429_is_waited_out_as_told_and_is_no_attempt(
    throttled: dict[str, dict[str, tuple[Outcome, bool]]], form: str
) -> None:
    outcome = throttled[form]
    assert outcome == {name: (report, True) for name, report in these(WAITED, outcome).items()}


def test_a_wait_beyond_the_deadline_of_a_call_is_waited_out_by_the_run() -> None:
    work = partial(waited, deadline=3.0, least=3.1)
    outcome = at_once({one: partial(each, work, before(answers(429, b"", one))) for one in BEYOND})
    expected = {name: (report, True) for name, report in WAITED.items()}
    assert outcome == dict.fromkeys(BEYOND, expected)


@pytest.mark.parametrize(
    "fields",
    [
        ("retry-after: 3600",),
        (DATE, f"retry-after: {then(3600)}"),
        (DATE, f"x-ratelimit-reset: {NOW + 3600}"),
        (DATE, f"x-ratelimit-reset: {NOW + 3600}000"),
    ],
)
def test_a_wait_of_an_hour_ends_the_run_and_says_so(fields) -> None:
    def work(case: Case) -> tuple[str, bool, Outcome]:
        result = case.apply(5.0)
        output = read_origin(result)["stopped"]
        return result.state.iloc[0], "3600 s" in output, case.outcome(case.resume(result))

    outcome = each(work, before(answers(429, b"", *fields)))
    assert outcome == {name: ("not sent", True, report) for name, report in WAITED.items()}


def test_a_429_to_a_look_is_waited_out() -> None:
    def work(case: Case) -> Outcome:
        return case.outcome(case.apply(5.0))

    looks = [before(answers(429, b"", "retry-after: 0.1"))] * 2
    assert each(work, after(drop), looks=looks) == ADOPTED
