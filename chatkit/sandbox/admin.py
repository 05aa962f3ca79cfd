"""The admin API: what a test or a notebook does to a sandbox that no service lets you do.

Every call is under `{base_url}/_sandbox` with `Authorization: Bearer <admin_token>`, and
can also be made in process through `Sandbox.answer`. Bodies and answers are plain JSON
objects, without the envelope. A refusal is `{"error": "why"}`.

`POST /tokens {"permissions": ["Chat Contacts, View"], "account_id"?: "1001", "actor"?: "Ada"}`
    Make an access token: `{"token": "…"}`.
`POST /events {"kind": "chat.message.status", "payload": {…}}`
    Deliver to the active webhooks whose events hold the kind or `*`; any kind will do.
    Waits for the receivers: `{"deliveries": [{"webhook_id", "status", "http_status",
    "error"}]}`, where status is `delivered`, `failed`, `refused` (not connected to) or
    `waiting` (the receiver is busy). What failed is tried again later.
`GET /receivers`, `POST /receivers {"url": "https://…", "to"?: "http://127.0.0.1:8000/",
"authority"?: "-----BEGIN CERTIFICATE…"}`
    The addresses that may be delivered to, none at first; both answer `{"receivers": […]}`.
    With `to`, what is addressed to the URL goes to that local address instead; with
    `authority`, its certificate must be signed with that one.
`GET /faults`, `POST /faults {"latency"?: 0.2, "429"?: 0.1, "retry_after"?: 1, "5xx"?:
{"before": 0.05, "after": 0.05}, "dropped"?: 0.1, "truncated"?: 0.1, "seed"?: 7}`
    What goes wrong with API calls, see `chatkit.sandbox.faults`; `{}` ends all faults.
    Both answer what is in force.
`POST /reset`
    Back to the seed: records, faults, receivers and the log. The account's token and the
    admin token stay what they are; answers `{}`.
`GET /requests`
    The last 1,000 calls of the API, oldest first: `{"requests": [{"method", "path", "status",
    "ms", "time"}]}`. Status null: closed without an answer. Never a header, query or body.
"""

import sqlite3
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from hmac import compare_digest
from typing import TYPE_CHECKING, Any

from chatkit.errors import StoreError
from chatkit.sandbox.delivery import OutboxFull, PublishedEvent
from chatkit.sandbox.faults import BadFaults
from chatkit.sandbox.replies import RefusedRequest, ServiceAnswer, dumps
from chatkit.sandbox.request import PERMISSIONS, Request, read_object
from chatkit.util.webhook_sender import BadReceiver

if TYPE_CHECKING:
    from chatkit.sandbox.middleware import Middleware

ROOT = "/_sandbox/"
_STATUSES = {"malformed": 400, "too_large": 413, "media_type": 415}
_LONGEST_KIND = 200

Body = Mapping[str, Any]
AdminAction = Callable[[Body], dict[str, object]]


class RefusedAdminCall(Exception):
    """A call of the admin API that is refused."""

    def __init__(self, status: int, error: str, **more: object) -> None:
        super().__init__(error)
        self.status, self.body = status, {"error": error, **more}


class Admin:
    """The admin API of one sandbox; `answer` may be called from any thread."""

    def __init__(self, middleware: "Middleware", token: str, reset: Callable[[], None]) -> None:
        self._middleware, self._token, self._restart = middleware, token.encode(), reset
        self._receivers, self._faults = middleware.service.receivers, middleware.faults
        self._actions: dict[str, dict[str, AdminAction]] = {
            "tokens": {"POST": self._make_token},
            "events": {"POST": self._send_event},
            "receivers": {"GET": self._show_receivers, "POST": self._add_receiver},
            "faults": {"GET": lambda _: self._faults.shown(), "POST": self._set_faults},
            "reset": {"POST": self._reset},
            "requests": {"GET": self._show_requests},
        }

    def answer(self, request: Request) -> ServiceAnswer:
        """Answer one call; waits for the receivers of an event."""
        headers = {"content-type": "application/json"}
        try:
            self._check_token(request.headers.get("authorization", ""))
            actions = self._actions.get(request.path.removeprefix(ROOT))
            if actions is None:
                names = ", ".join(self._actions)
                raise RefusedAdminCall(404, f"There is no such path; there are: {names}")
            action = actions.get(request.method)
            if action is None:
                headers["allow"] = ", ".join(actions)
                raise RefusedAdminCall(405, f"This path allows {headers['allow']}")
            status, body = 200, action(self._body(request))
        except RefusedAdminCall as refused:
            status, body = refused.status, refused.body
        except BadFaults as error:
            status, body = 422, {"error": f"Not a fault: {error}"}
        except BadReceiver as error:
            status, body = 422, {"error": f"Not a receiver: {error}"}
        except OutboxFull as error:
            status, body = 503, {"error": str(error)}
        except (StoreError, sqlite3.Error) as error:
            status, body = 503, {"error": f"Nothing was saved: {error}"}
        return ServiceAnswer(status, dumps(body).encode(), headers)

    def _check_token(self, authorization: str) -> None:
        scheme, _, token = authorization.partition(" ")
        right = compare_digest(token.encode(errors="replace"), self._token)
        if scheme.lower() != "bearer" or not right:
            raise RefusedAdminCall(401, "The admin token is required; the access token is another")

    def _body(self, request: Request) -> Body:
        if request.method == "GET" or not request.body:
            return {}
        try:
            return read_object(request.headers, request.body)
        except RefusedRequest as refusal:
            raise RefusedAdminCall(_STATUSES[refusal.reason], refusal.message) from None

    def _make_token(self, body: Body) -> dict[str, object]:
        permissions = _take(body, "permissions", list, account_id=str, actor=str)
        unknown = [name for name in permissions if name not in PERMISSIONS]
        if unknown:
            shown = ", ".join(map(str, unknown))
            raise RefusedAdminCall(422, f"No such permission: {shown}", permissions=PERMISSIONS)
        with self._middleware.alone() as service:
            token = service.make_token(permissions, body.get("account_id"), body.get("actor"))
        return {"token": token}

    def _send_event(self, body: Body) -> dict[str, object]:
        kind = _take(body, "kind", str, payload=object)
        if not 0 < len(kind) <= _LONGEST_KIND or "payload" not in body:
            raise RefusedAdminCall(422, "An event has a kind and a payload")
        deliveries = self._middleware.deliver([PublishedEvent(kind, body["payload"])])
        return {"deliveries": [delivery._asdict() for delivery in deliveries]}

    def _show_receivers(self, body: Body) -> dict[str, object]:
        return {"receivers": self._receivers.shown()}

    def _add_receiver(self, body: Body) -> dict[str, object]:
        url = _take(body, "url", str, to=str, authority=str)
        self._middleware.allow(url, body.get("to"), body.get("authority"))
        return self._show_receivers(body)

    def _set_faults(self, body: Body) -> dict[str, object]:
        self._faults.set(body)
        return self._faults.shown()

    def _reset(self, body: Body) -> dict[str, object]:
        self._restart()
        self._faults.set({})
        self._middleware.log.clear()
        self._middleware.delivery_worker.log.clear()
        self._receivers.clear()
        return {}

    def _show_requests(self, body: Body) -> dict[str, object]:
        return {
            "requests": [
                {
                    "method": entry.method,
                    "path": entry.path,
                    "status": entry.status,
                    "ms": round(entry.milliseconds, 3),
                    "time": datetime.fromtimestamp(entry.time, UTC).isoformat(),
                }
                for entry in list(self._middleware.log)
            ]
        }


def _take(body: Body, name: str, kind: type, **optional: type) -> Any:
    """Return the required field of a body, once all its fields are known to be valid."""
    allowed = {name: kind, **optional}
    for field, value in body.items():
        if field not in allowed:
            raise RefusedAdminCall(422, f"No such field: {field}; there are: {', '.join(allowed)}")
        if not isinstance(value, allowed[field]):
            raise RefusedAdminCall(422, f"{field} must be a {allowed[field].__name__}")
    if name not in body:
        raise RefusedAdminCall(422, f"{name} is required")
    return body[name]
