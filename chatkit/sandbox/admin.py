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
from hmac import compare_digest
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import ConfigDict, Field, ValidationError, validate_call

from chatkit.errors import StoreError
from chatkit.sandbox.delivery import OutboxFull, PublishedEvent
from chatkit.sandbox.faults import BadFaults
from chatkit.sandbox.replies import JSON_TYPE, Reason, RefusedRequest, ServiceAnswer, dumps
from chatkit.sandbox.request import PERMISSIONS, Request, read_object
from chatkit.sandbox.service import UnknownPermission
from chatkit.util.webhook_sender import BadReceiver

if TYPE_CHECKING:
    from chatkit.sandbox.middleware import Middleware

ROOT = "/_sandbox/"
_STATUSES: Mapping[Reason, int] = {
    "malformed": 400,
    "unauthenticated": 401,
    "no_path": 404,
    "wrong_method": 405,
    "too_large": 413,
    "media_type": 415,
}

Json = dict[str, Any]
_checked = validate_call(config=ConfigDict(strict=True))


class Admin:
    """The admin API of one sandbox; `answer` may be called from any thread.

    Each action takes the fields of a body as its arguments.
    """

    def __init__(self, middleware: "Middleware", token: str, reset: Callable[[], None]) -> None:
        self._middleware, self._token, self._restart = middleware, token.encode(), reset
        self._receivers, self._faults = middleware.service.receivers, middleware.faults
        self._actions: dict[str, dict[str, Callable[..., Json]]] = {
            "tokens": {"POST": self._make_token},
            "events": {"POST": self._send_event},
            "receivers": {"GET": self._show_receivers, "POST": self._add_receiver},
            "faults": {"GET": self._faults.shown, "POST": self._set_faults},
            "reset": {"POST": self._reset},
            "requests": {"GET": self._show_requests},
        }

    def answer(self, request: Request) -> ServiceAnswer:
        """Answer one call; waits for the receivers of an event."""
        headers, body, status = {"content-type": JSON_TYPE}, Json(), 200
        try:
            body = self._answer(request)
        except RefusedRequest as refusal:
            status, body = _STATUSES[refusal.reason], {"error": refusal.message}
            headers |= refusal.headers
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            status, body = 422, {"error": f"{first['loc'][0]}: {first['msg']}"}
        except UnknownPermission as error:
            status, body = 422, {"error": str(error), "permissions": PERMISSIONS}
        except (BadFaults, BadReceiver) as error:
            noun = "fault" if isinstance(error, BadFaults) else "receiver"
            status, body = 422, {"error": f"Not a {noun}: {error}"}
        except OutboxFull as error:
            status, body = 503, {"error": str(error)}
        except (StoreError, sqlite3.Error) as error:
            status, body = 503, {"error": f"Nothing was saved: {error}"}
        return ServiceAnswer(status, dumps(body).encode(), headers)

    def _answer(self, request: Request) -> Json:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        right = compare_digest(token.encode(errors="replace"), self._token)
        if scheme.lower() != "bearer" or not right:
            raise RefusedRequest(
                "unauthenticated", "The admin token is required; the access token is another"
            )
        actions = self._actions.get(request.path.removeprefix(ROOT))
        if actions is None:
            names = ", ".join(self._actions)
            raise RefusedRequest("no_path", f"There is no such path; there are: {names}")
        if request.method not in actions:
            allow = ", ".join(actions)
            raise RefusedRequest(
                "wrong_method", f"This path allows {allow}", headers={"allow": allow}
            )
        has_body = request.method == "POST" and request.body
        fields = read_object(request.headers, request.body) if has_body else {}
        return actions[request.method](**fields)

    @_checked
    def _make_token(
        self, permissions: list[str], account_id: str | None = None, actor: str | None = None
    ) -> Json:
        with self._middleware.alone() as service:
            return {"token": service.make_token(permissions, account_id, actor)}

    @_checked
    def _send_event(
        self, kind: Annotated[str, Field(min_length=1, max_length=200)], payload: Any
    ) -> Json:
        deliveries = self._middleware.deliver([PublishedEvent(kind, payload)])
        return {"deliveries": [delivery._asdict() for delivery in deliveries]}

    def _show_receivers(self) -> Json:
        return {"receivers": self._receivers.shown()}

    @_checked
    def _add_receiver(self, url: str, to: str | None = None, authority: str | None = None) -> Json:
        self._middleware.allow(url, to, authority)
        return self._show_receivers()

    @_checked
    def _set_faults(self, **faults: Any) -> Json:
        self._faults.set(faults)
        return self._faults.shown()

    @_checked
    def _reset(self, **_: Any) -> Json:
        self._restart()
        self._faults.set({})
        self._middleware.log.clear()
        self._middleware.delivery_worker.log.clear()
        self._receivers.clear()
        return {}

    def _show_requests(self) -> Json:
        return {"requests": [call._asdict() for call in list(self._middleware.log)]}
