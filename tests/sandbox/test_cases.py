"""Calls in order, each with the answer that is expected: the tables in `cases/`.

A case has a title, perhaps points of the profile, quirks and a seed (`under`), and calls of the
form `METHOD PATH BODY -> STATUS ANSWER`. BODY is JSON. ANSWER may be JSON, which `data` must
hold (further fields of an object do not matter), `total N` of the pagination, or the fields that
`errors` names. `as NAME` goes on with a token of that actor, `as NAME of ACCOUNT` with one of
another account. Calls below `/_sandbox/` are made with the admin token. Sandboxes are seeded, so
that ids and times are always the same.
"""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from caller import Caller, Reply
from profiles import Service

from chatkit.sandbox import Sandbox
from chatkit.sandbox.service import PERMISSIONS

CALL = re.compile(r"([A-Z]+) (\S*)(?: (.+))? -> (\d+)(?: (.+))?")
ACTOR = re.compile(r"as (\w+)(?: of (\w+))?")


def read_cases() -> Iterator[Any]:
    for file in sorted(Path(__file__).with_name("cases").glob("*.toml")):
        for title, case in tomllib.loads(file.read_text("utf-8")).items():
            calls = case["calls"].strip().splitlines()
            yield pytest.param(case.get("under", {}), calls, id=f"{file.stem}: {title}")


def fits(expected: Any, actual: Any) -> bool:
    """Return whether a JSON value is the expected one, apart from further fields of objects."""
    if type(expected) is not type(actual):
        return False
    if isinstance(expected, dict):
        return all(name in actual and fits(expected[name], actual[name]) for name in expected)
    if isinstance(expected, list):
        return len(expected) == len(actual) and all(map(fits, expected, actual))
    return bool(expected == actual)


def has_answer(reply: Reply, status: int, answer: str) -> bool:
    """Return whether an answer of the service is the expected one."""
    if reply.status != status:
        return False
    if answer.startswith("total "):
        return reply.total == int(answer.removeprefix("total "))
    if status >= 400:
        fields = [error["field"] for error in reply.json.get("errors", [])]
        return not answer or fields == answer.split(", ")
    return not answer or fits(json.loads(answer), reply.data)


def assert_admin_answer(
    sandbox: Sandbox, method: str, path: str, body: str, status: str, answer: str
) -> None:
    bearer = {"authorization": f"Bearer {sandbox.admin_token}"}
    headers = {"content-type": "application/json", **bearer}
    actual, _, data = sandbox.answer(method, path, headers, body.encode())
    assert actual == int(status), f"{method} {path} {body}: {data!r}"
    read = json.loads(data)
    assert answer in read["error"] if actual >= 400 else read == json.loads(answer)


@pytest.mark.parametrize(("under", "calls"), list(read_cases()))
def test_each_call_has_the_expected_answer(under: dict[str, Any], calls: list[str]) -> None:
    account = token = None
    points = dict(under)
    seed = points.pop("seed", "empty")
    with Service.of(**points).sandbox(seed) as sandbox:
        call = Caller(sandbox)
        for line in calls:
            if actor := ACTOR.fullmatch(line):
                account = actor[2]
                token = sandbox.make_token(*PERMISSIONS, account_id=account, actor=actor[1])
                continue
            step = CALL.fullmatch(line)
            assert step, f"no call: {line}"
            method, path, body, status, answer = step.groups("")
            if path.startswith("/_sandbox/"):
                assert_admin_answer(sandbox, *step.groups(""))
                continue
            sent = json.loads(body) if body else None
            reply = call(method, path, sent, token=token, account=account)
            assert has_answer(reply, int(status), answer), f"{line}\n{reply.status} {reply.body!r}"
