"""Fixtures of the four resources: a client of an empty sandbox under many profiles.

Each test meets the default profile and a share of the others, another one for each test, so
that a resource meets them all; `make full` has each test meet all of them (tests/conftest.py).
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from caller import client_through
from profiles import SERVICES

import chatkit
from chatkit.client import Client


@pytest.fixture(params=range(len(SERVICES)), ids=[f"profile{n}" for n in range(len(SERVICES))])
def sandbox(request: pytest.FixtureRequest) -> Iterator[chatkit.Sandbox]:
    with SERVICES[request.param].sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def client(sandbox: chatkit.Sandbox) -> Iterator[Client]:
    with chatkit.connect(sandbox) as client:
        yield client


#: Status, and data or body, by method, path below the account (with its query) and what was sent.
Script = Callable[[str, str, Any], tuple[int, Any]]


def scripted(script: Script, **points: Any) -> Client:
    """A client of a service that answers as a function says; a list or dict below 300 is data."""

    def answer(method: str, target: str, headers: Any, body: bytes) -> Any:
        path = target.split("/accounts/1001/")[1]
        status, data = script(method, path, json.loads(body) if body else None)
        if isinstance(data, bytes):
            return status, {"content-type": "application/json"}, data
        whole: Any = {"success": True, "data": data} if status < 300 else data
        if isinstance(data, list) and status < 300 and not path.startswith(("webhooks", "templ")):
            count = len(data)
            pages = {"page": 1, "pageSize": 100, "totalCount": count, "totalPages": 1}
            whole |= {"pagination": pages}
        return status, {"content-type": "application/json"}, json.dumps(whole).encode()

    profile = chatkit.ServiceProfile(**points)
    return client_through(answer, account_id="1001", token="a-token-of-tests", profile=profile)
