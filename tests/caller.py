"""Calls to a sandbox in process, short enough to read in a test."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import quote

from documents import DOCUMENT

from chatkit.api.connection import Connection
from chatkit.api.retry import DEFAULT, RetryPolicy
from chatkit.api.transport import Transport
from chatkit.client import Client
from chatkit.sandbox import Sandbox

ROOT = "/api/business/public/channels/chat/accounts/"


Handler = Callable[[str, str, Any, bytes], "tuple[int, dict[str, str], bytes]"]


def client_through(
    handler: Handler | None,
    connection: Connection | None = None,
    *,
    deadline: float = 30.0,
    retry: RetryPolicy | None = DEFAULT,
    **fields: Any,
) -> Client:
    """Return a client whose calls are answered by a handler, if there is one, not by the network.

    Args:
        handler: A function with the parameters of `Sandbox.answer`.
        connection: Where it believes to be; or the fields of one that is on this machine.
        deadline: Seconds for a whole call.
        retry: The policy of retries.
        fields: See `connection`.
    """
    if connection is None:
        connection = Connection(**{"base_url": "http://localhost", **fields})
    transport = Transport(connection, handler=handler, retry=retry, deadline=deadline)
    return Client._from_transport(connection, transport)


class Reply(NamedTuple):
    """An answer: the status, the body (decoded if it is JSON), all headers, the bytes."""

    status: int
    json: Any
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        return self.json["data"]

    @property
    def total(self) -> int:
        return self.json["pagination"]["totalCount"]


class Caller:
    """Makes calls to the account of a sandbox; paths are those after the account."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox

    def __call__(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        token: str | None = None,
        account: str | None = None,
        **headers: str | None,
    ) -> Reply:
        sent: dict[str, str | None] = {
            "authorization": f"Bearer {token or self.sandbox.token}",
            "content-type": None if body is None else "application/json",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        data = body if isinstance(body, bytes) else b"" if body is None else _json(body)
        status, received, answer = self.sandbox.answer(
            method,
            f"{ROOT}{account or self.sandbox.account_id}{path}",
            {name: value for name, value in sent.items() if value is not None},
            data,
        )
        is_json = received.get("content-type", "").startswith("application/json")
        return Reply(status, json.loads(answer) if is_json else None, received, answer)

    def contact(self, number: str = "2025550143", code: str = "+1", **fields: object) -> int:
        """Create a contact and give its id."""
        reply = self("POST", "/contacts", {"number": number, "country_code": code, **fields})
        assert reply.status == 201, reply
        return int(reply.data["id"])

    def flow(self, name: str = "Order", **fields: object) -> int:
        """Create a flow and give its id."""
        reply = self("POST", "/flows", {"name": name, "template_name": "default", **FLOW, **fields})
        assert reply.status == 201, reply
        return int(reply.data["id"])

    def content(self, lang_code: str = "en", code: str = "greeting", **fields: object) -> Reply:
        """Create a template content."""
        path = f"/templates/{quote(code, safe='')}/contents"
        return self("POST", path, {"lang_code": lang_code, "text": "Hello", **fields})

    def webhook(self, url: str = "https://hooks.example/a", **fields: object) -> Reply:
        """Create a webhook."""
        return self("POST", "/webhooks", {"url": url, "events": ["*"], **fields})


FLOW = {"flow_json": DOCUMENT}


def _json(body: object) -> bytes:
    return json.dumps(body).encode()
