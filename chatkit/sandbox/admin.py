"""The admin door: what a test or a notebook does to a sandbox that no service lets you do.

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
`POST /play {"scenario": "campaign", "options": {…}, "seed"?: 7, "wait"?: 60}`
    Play what customers do, see `chatkit.sandbox.scenario`: `{"events", "deliveries"}`, how
    many events there were and how many deliveries of each status.
`GET /deliveries`
    The last 10,000 attempts, oldest first, and how many deliveries wait:
    `{"attempts": [{"webhook_id", "message_id", "kind", "attempt", "status", "http_status",
    "error", "again_in"}], "waiting"}`.
`GET /receivers`, `POST /receivers {"url": "https://…", "to"?: "http://127.0.0.1:8000/",
"authority"?: "-----BEGIN CERTIFICATE…"}`
    The addresses that may be delivered to, none at first; both answer `{"receivers": […]}`.
    With `to`, what is addressed to the URL is heard at that local address instead; with
    `authority`, its certificate must be signed with that one.
`GET /faults`, `POST /faults {"latency"?: 0.2, "429"?: 0.1, "retry_after"?: 1, "5xx"?:
{"before": 0.05, "after": 0.05}, "dropped"?: 0.1, "truncated"?: 0.1, "seed"?: 7}`
    What goes wrong with API calls, see `chatkit.sandbox.faults`; `{}` ends all faults.
    Both answer what is in force.
`GET /clock`, `POST /clock {"to"?: "2031-03-01T09:00:00Z", "forward"?: 3600}`
    The service's clock, which stamps records and the `Date` of answers: set it, or move it
    forward by so many seconds; both answer `{"now": "2031-03-01T10:00:00+00:00"}`.
`POST /reset`
    Back to the seed: records, faults, receivers, clock and the log. The account's token and the
    admin token stay what they are; answers `{}`.
`GET /requests`
    The last 1,000 calls of the API, oldest first: `{"requests": [{"method", "path", "status",
    "ms", "time"}]}`. Status null: closed without an answer. Never a header, query or body.
`GET /flows/{id}/findings`, `GET /templates/{id}/findings`
    What the upstream platform finds in a flow's document or in a template content, as
    `chatkit.flowjson` and `chatkit.localization` know its published rules; it refuses what has
    the severity `error`: `{"findings": [{"code", "severity", "pointer", "message"}]}`.
`POST /flows/{id}/publish`
    Move a flow from DRAFT to PUBLISHED, as upstream does when it is published there:
    `{"wa_status": "PUBLISHED"}`; 409 with the findings when one of them is an error.
"""

import sqlite3
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from hmac import compare_digest
from numbers import Real
from typing import TYPE_CHECKING, Any

from chatkit.errors import StoreError
from chatkit.sandbox.delivery import OutboxFull, PublishedEvent
from chatkit.sandbox.faults import BadFaults
from chatkit.sandbox.replies import RefusedRequest, ServiceAnswer, dumps
from chatkit.sandbox.request import PERMISSIONS, Request, read_object
from chatkit.sandbox.resource import read_id
from chatkit.sandbox.scenario import BadScenario, play
from chatkit.webhook_sender import BadReceiver

if TYPE_CHECKING:
    from chatkit.sandbox.middleware import Middleware

ROOT = "/_sandbox/"
_STATUSES = {"malformed": 400, "too_large": 413, "media_type": 415}
_NOT = {BadFaults: "Not a fault", BadReceiver: "Not a receiver", BadScenario: "Not a scenario"}
_LONGEST_KIND = 200
LONGEST_PLAY = 60.0

Body = Mapping[str, Any]
AdminAction = Callable[[Body], dict[str, object]]


class RefusedAdminCall(Exception):
    """A call of the admin door that is refused."""

    def __init__(self, status: int, error: str, **more: object) -> None:
        super().__init__(error)
        self.status, self.body = status, {"error": error, **more}


class Admin:
    """The admin door of one sandbox; `answer` may be called from any thread."""

    def __init__(self, middleware: "Middleware", token: str, reset: Callable[[], None]) -> None:
        self._middleware, self._token, self._restart = middleware, token.encode(), reset
        self._receivers = middleware.service.receivers
        self._actions: dict[str, dict[str, AdminAction]] = {
            "tokens": {"POST": self._make_token},
            "events": {"POST": self._send_event},
            "play": {"POST": self._play},
            "deliveries": {"GET": self._show_deliveries},
            "receivers": {"GET": self._show_receivers, "POST": self._add_receiver},
            "faults": {"GET": self._show_faults, "POST": self._set_faults},
            "clock": {"GET": self._show_clock, "POST": self._set_clock},
            "reset": {"POST": self._reset},
            "requests": {"GET": self._show_requests},
        }

    @property
    def _wait(self) -> float:
        """Seconds to wait for the receivers of an event: longer than any takes by itself."""
        return self._middleware.delivery_worker.timeout + 5

    def answer(self, request: Request) -> ServiceAnswer:
        """Answer one call; waits for the receivers of an event."""
        headers = {"content-type": "application/json"}
        try:
            self._check_token(request.headers.get("authorization", ""))
            actions = self._find(request.path)
            action = actions.get(request.method)
            if action is None:
                headers["allow"] = ", ".join(actions)
                raise RefusedAdminCall(405, f"This path allows {headers['allow']}")
            status, told = 200, action(self._body(request))
        except RefusedAdminCall as refused:
            status, told = refused.status, refused.body
        except (BadFaults, BadReceiver, BadScenario) as wrong:
            status, told = 422, {"error": f"{_NOT[type(wrong)]}: {wrong}"}
        except OutboxFull as full:
            status, told = 503, {"error": str(full)}
        except (StoreError, sqlite3.Error) as error:
            status, told = 503, {"error": f"Nothing was saved: {error}"}
        return ServiceAnswer(status, dumps(told).encode(), headers)

    def _check_token(self, authorization: str) -> None:
        scheme, _, token = authorization.partition(" ")
        right = compare_digest(token.encode(errors="replace"), self._token)
        if scheme.lower() != "bearer" or not right:
            raise RefusedAdminCall(401, "The admin token is required; the access token is another")

    def _find(self, path: str) -> dict[str, AdminAction]:
        name, *rest = path.removeprefix(ROOT).split("/")
        if name in ("flows", "templates") and len(rest) == 2:
            record_id = read_id(rest[0])
            if record_id is None:
                raise RefusedAdminCall(404, "There is no such record")
            if rest[1] == "findings":
                return {"GET": lambda _: {"findings": self._findings(name, record_id)}}
            if rest[1] == "publish" and name == "flows":
                return {"POST": lambda _: self._publish(record_id)}
        if rest or name not in self._actions:
            raise RefusedAdminCall(
                404, f"There is no such path; there are: {', '.join(self._actions)}"
            )
        return self._actions[name]

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
        deliveries = self._middleware.tell([PublishedEvent(kind, body["payload"])], self._wait)
        return {"deliveries": [delivery._asdict() for delivery in deliveries]}

    def _play(self, body: Body) -> dict[str, object]:
        name = _take(body, "scenario", str, options=dict, seed=int, wait=Real)
        played = play(
            self._middleware,
            name,
            body.get("options", {}),
            seed=body.get("seed", 0),
            wait=min(body.get("wait", LONGEST_PLAY), LONGEST_PLAY),
        )
        return {"events": len(played.events), "deliveries": played.counts}

    def _show_deliveries(self, body: Body) -> dict[str, object]:
        """The attempts that were made, and how many deliveries wait for one."""
        attempts = [attempt._asdict() for attempt in list(self._middleware.delivery_worker.log)]
        with self._middleware.alone() as service:
            waiting = service.outbox.count()
        return {"attempts": attempts, "waiting": waiting}

    def _show_receivers(self, body: Body) -> dict[str, object]:
        return {"receivers": self._receivers.shown()}

    def _add_receiver(self, body: Body) -> dict[str, object]:
        url = _take(body, "url", str, to=str, authority=str)
        self._middleware.allow(url, body.get("to"), body.get("authority"))
        return self._show_receivers(body)

    def _show_faults(self, body: Body) -> dict[str, object]:
        return self._middleware.faults.shown()

    def _set_faults(self, body: Body) -> dict[str, object]:
        self._middleware.faults.set(body)
        return self._show_faults(body)

    def _show_clock(self, body: Body) -> dict[str, object]:
        return {"now": self._middleware.clock().isoformat()}

    def _set_clock(self, body: Body) -> dict[str, object]:
        to, forward = _optional(body, to=str, forward=Real)
        try:
            moment = None if to is None else datetime.fromisoformat(to)
            return {
                "now": self._middleware.clock(moment, timedelta(seconds=forward or 0)).isoformat()
            }
        except (ValueError, OverflowError) as error:
            raise RefusedAdminCall(422, f"Not a time: {error}") from None

    def _reset(self, body: Body) -> dict[str, object]:
        self._restart()
        self._middleware.faults.set({})
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

    def _findings(self, resource: str, record_id: int) -> list[dict[str, Any]]:
        with self._middleware.alone() as service:
            try:
                return service.findings(resource, record_id)
            except KeyError:
                raise RefusedAdminCall(404, "There is no such record") from None

    def _publish(self, flow_id: int) -> dict[str, object]:
        with self._middleware.alone() as service:
            findings = self._findings("flows", flow_id)
            if any(finding["severity"] == "error" for finding in findings):
                raise RefusedAdminCall(
                    409, "A flow with errors cannot be published", findings=findings
                )
            service.flows.move(flow_id, service.account_id, "PUBLISHED")
        return {"wa_status": "PUBLISHED"}


def _take(body: Body, name: str, kind: type, **optional: type) -> Any:
    """The required field of a body, once all its fields are known to be right."""
    _optional(body, **{name: kind, **optional})
    if name not in body:
        raise RefusedAdminCall(422, f"{name} is required")
    return body[name]


def _optional(body: Body, **allowed: type) -> list[Any]:
    """The fields of a body, in the order of `allowed`; None for one that is absent."""
    for field, value in body.items():
        if field not in allowed:
            raise RefusedAdminCall(422, f"No such field: {field}; there are: {', '.join(allowed)}")
        if not isinstance(value, allowed[field]) or (
            isinstance(value, bool) and allowed[field] is Real
        ):
            raise RefusedAdminCall(422, f"{field} must be a {allowed[field].__name__}")
    return [body.get(field) for field in allowed]
