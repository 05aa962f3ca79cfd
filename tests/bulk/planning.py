"""Helpers for tests of plans: small accounts of a sandbox in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pytest
from caller import Handler, client_through
from documents import DOCUMENT
from internals import identity_of, store_of
from profiles import Service

import chatkit
from chatkit.client import Client

ENGLISH: dict[str, Any] = {
    "lang_code": "en",
    "text": "Hello {{1}}!",
    "variables": {"1": "Ana"},
    "footer": "Thank you",
    "is_draft": True,
    "headers": [{"type": "text", "text": "Ready"}],
}
#: What a write moves beside what it was asked to.
STAMPS = {"updated_at", "updated_by"}


class _AnyBody:
    """A body of any fields, whose cells can all be sent."""

    class _Everything:
        def __contains__(self, name: object) -> bool:
            return True

    model_fields = _Everything()

    @staticmethod
    def column(name: str, texts: list[Any]) -> tuple[dict[int, Any], dict[int, Any]]:
        return {}, {}


@dataclass
class Things:
    """Endpoints of records that hold anything, where only rows and cells are matched."""

    noun: str = "thing"
    natural_key: tuple[str, ...] = ("no such column",)
    chosen: bool = False
    single = restores = False
    body = _AnyBody

    def list_name_fields(self) -> tuple[str, ...]:
        return self.natural_key


@pytest.fixture
def sandbox() -> Iterator[chatkit.Sandbox]:
    with chatkit.Sandbox(seed="empty") as sandbox:
        yield sandbox


@pytest.fixture
def client(sandbox: chatkit.Sandbox) -> Iterator[Client]:
    with chatkit.connect(sandbox) as client:
        yield client


@contextmanager
def account(**points: Any) -> Iterator[tuple[chatkit.Sandbox, Client]]:
    """Open an empty account of a service that differs from the default in these points."""
    with (
        Service.of(**points).sandbox() as sandbox,
        chatkit.connect(sandbox) as client,
    ):
        yield sandbox, client


def call(sandbox: chatkit.Sandbox, method: str, path: str, **body: Any) -> Any:
    """Call the service past the client, as somebody else would; return the data."""
    target = f"/api/business/public/channels/chat/accounts/{sandbox.account_id}/{path}"
    headers = {"authorization": f"Bearer {sandbox.token}", "content-type": "application/json"}
    content = b"" if method in ("GET", "DELETE") else json.dumps(body).encode()
    status, _, answer = sandbox.answer(method, target, headers, content)
    assert 200 <= status < 300, (status, answer)
    return json.loads(answer)["data"] if answer else None


def contacts(sandbox: chatkit.Sandbox, count: int = 3, name: str | None = "Ana Cruz") -> list[int]:
    """Make contacts with the numbers 2025550100, …, and return their ids."""
    return [contact(sandbox, n, name) for n in range(count)]


def contact(sandbox: chatkit.Sandbox, n: int, name: str | None = None) -> int:
    """Make a contact with one of the numbers and return its id."""
    named = {} if name is None else {"name": name}
    made = call(sandbox, "POST", "contacts", number=number(n), country_code="+1", **named)
    return int(made["id"])


def number(n: int) -> str:
    """Return a number that nobody has: the whole range is reserved for fiction."""
    return f"20255501{n:02}" if n < 100 else f"2025{n:06}"


def flow(sandbox: chatkit.Sandbox, name: str = "Order", **more: Any) -> int:
    """Make a flow and return its id."""
    body = {"name": name, "template_name": "default", "flow_json": DOCUMENT, **more}
    return int(call(sandbox, "POST", "flows", **body)["id"])


def content(sandbox: chatkit.Sandbox, code: str = "order_ready", **more: Any) -> None:
    """Make a content of a template."""
    call(sandbox, "POST", f"templates/{code}/contents", **{**ENGLISH, **more})


def webhook(sandbox: chatkit.Sandbox, n: int = 0, **more: Any) -> int:
    """Make a webhook and return its id."""
    url = f"https://shop.example/hook/{n}"
    return int(call(sandbox, "POST", "webhooks", **{"url": url, "events": ["*"], **more})["id"])


def admin(sandbox: chatkit.Sandbox, method: str, path: str, **body: Any) -> Any:
    """Call the admin API of a sandbox."""
    headers = {
        "authorization": f"Bearer {sandbox.admin_token}",
        "content-type": "application/json",
    }
    content = json.dumps(body).encode() if method == "POST" else b""
    status, _, answer = sandbox.answer(method, f"/_sandbox/{path}", headers, content)
    assert status == 200, answer
    return json.loads(answer)


def log(sandbox: chatkit.Sandbox) -> list[tuple[str, str]]:
    """Return the calls that the service has got, oldest first: method and path in the account."""
    requests = admin(sandbox, "GET", "requests")["requests"]
    return [(r["method"], r["path"].split("/accounts/")[1].partition("/")[2]) for r in requests]


def writes(sandbox: chatkit.Sandbox) -> list[tuple[str, str]]:
    """Return the calls that the service has got and that could change something."""
    return [(method, path) for method, path in log(sandbox) if method != "GET"]


@contextmanager
def untouched(sandbox: chatkit.Sandbox) -> Iterator[None]:
    """Make sure that a block sends nothing that could change something."""
    before = len(writes(sandbox))
    yield
    assert writes(sandbox)[before:] == []


def stored(sandbox: chatkit.Sandbox, resource: str) -> dict[int, dict[str, Any]]:
    """Return the stored records of one resource by id, with deleted ones and hidden fields."""
    query = f"SELECT id, scope, active, item, more FROM {resource} ORDER BY id"
    return {
        record_id: {
            **json.loads(item),
            **json.loads(more),
            "scope": scope.partition("/")[2],
            "active": bool(active),
        }
        for record_id, scope, active, item, more in store_of(sandbox).run(query)
    }


def held(sandbox: chatkit.Sandbox) -> dict[str, dict[int, dict[str, Any]]]:
    """Return everything that the service stores, by resource, to prove that nothing was written."""
    resources = ("contacts", "flows", "contents", "webhooks")
    return {resource: stored(sandbox, resource) for resource in resources}


def active(sandbox: chatkit.Sandbox, resource: str) -> dict[int, dict[str, Any]]:
    """Return the active records of one resource that the service stores, without write times."""
    return {
        record_id: {n: v for n, v in record.items() if n not in STAMPS}
        for record_id, record in stored(sandbox, resource).items()
        if record["active"]
    }


def limited(sandbox: chatkit.Sandbox, *permissions: str) -> Client:
    """Open a client whose token has these permissions only."""
    return through(sandbox, sandbox.answer, sandbox.make_token(*permissions))


#: What `answering` asks about an answer: another status and body in its place, or None.
Change = Callable[[str, str, int, bytes], "tuple[int, bytes] | None"]
JSON = {"content-type": "application/json"}


def through(sandbox: chatkit.Sandbox, handler: Handler, token: str | None = None) -> Client:
    """Open a client whose calls this handler answers; it may pass them on to the sandbox."""
    return client_through(
        handler,
        name="the sandbox",
        account_id=sandbox.account_id,
        token=token or sandbox.token,
        profile=sandbox.profile,
        sandbox=identity_of(sandbox),
        passing=True,
    )


def answering(sandbox: chatkit.Sandbox, change: Change) -> Client:
    """Open a client whose answers `change(method, target, status, body)` may replace.

    What was asked for has happened by then.
    """

    def handler(method: str, target: str, headers: Any, body: bytes) -> Any:
        status, _, answer = sandbox.answer(method, target, headers, body)
        status, answer = change(method, target, status, answer) or (status, answer)
        return status, JSON, answer

    return through(sandbox, handler)


def cells(plan: chatkit.Plan) -> list[tuple[Any, str, str]]:
    """Return the refused cells of a plan: row, column and reason."""
    return list(zip(*(plan.refused[name] for name in ("row", "column", "reason")), strict=True))


def edits(plan: chatkit.Plan) -> dict[Any, dict[str, Any]]:
    """Return the bodies that the updates of a plan send, by key."""
    return {c.key: dict(c.after) for c in plan.changes if c.kind == "update"}


def states(result: pd.DataFrame) -> list[str]:
    """Return the states of a result, in its order."""
    return result["state"].tolist()
