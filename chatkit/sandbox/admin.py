"""Admin API: the tokens, events, receivers and faults of a sandbox.

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
`GET /receivers`, `POST /receivers {"url": "https://…", "to"?: "http://127.0.0.1:8000/"}`
    The addresses that may be delivered to, none at first; both answer `{"receivers": […]}`.
    With `to`, what is addressed to the URL goes to that local address instead.
`GET /faults`, `POST /faults {"latency"?: 0.2, "429"?: 0.1, "retry_after"?: 1, "5xx"?:
{"before": 0.05, "after": 0.05}, "dropped"?: 0.1, "truncated"?: 0.1, "seed"?: 7}`
    What goes wrong with API calls, see `Faults`; `{}` ends all faults.
    Both answer what is in force.
`POST /reset`
    Back to the seed: records, faults, receivers and the log. The account's token and the
    admin token stay what they are; answers `{}`.
`GET /requests`
    The last 1,000 calls of the API, oldest first: `{"requests": [{"method", "path", "status",
    "ms", "time"}]}`. Status null: closed without an answer. Never a header, query or body.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Mapping
from hmac import compare_digest
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args

from pydantic import ConfigDict, Field, ValidationError, validate_call

from chatkit.errors import StoreError
from chatkit.sandbox.delivery import PublishedEvent, QueueFull
from chatkit.sandbox.interface import (
    JSON_TYPE,
    REFUSALS,
    RefusedRequest,
    Request,
    ServiceAnswer,
    dumps,
    read_object,
)
from chatkit.sandbox.service import PERMISSIONS, UnknownPermission
from chatkit.util.webhook_sender import BadReceiver

if TYPE_CHECKING:
    from chatkit.sandbox.middleware import Middleware

# --- faults ---------------------------------------------------------------------------

FaultKind = Literal["429", "5xx", "dropped", "truncated"]
KINDS: tuple[FaultKind, ...] = get_args(FaultKind)
_BEFORE_OR_AFTER: tuple[FaultKind, ...] = ("5xx", "dropped")
_SETTINGS = ("latency", "retry_after", "seed")
_SERVER_ERRORS = (500, 502, 503, 504)


class BadFaults(ValueError):
    """The faults asked for cannot be set."""


class Dropped(ConnectionError):
    """A closed connection, without an answer or in the middle of one, as a fault asks for."""

    def __init__(self, answer: ServiceAnswer | None = None) -> None:
        super().__init__("the sandbox closed the connection, as its faults ask for")
        self.answer = answer


class DrawnFault(NamedTuple):
    """A fault of one call, before or after its effect."""

    kind: FaultKind
    after: bool
    status: int


class Faults:
    """The active faults; none at first.

    `set` takes a mapping with any of these keys and forgets what was set before:

    - `latency`: seconds that each call waits before anything is done with it.
    - `429`: rate of refusals, which never have an effect.
    - `retry_after`: seconds that such a 429 asks to wait; 1 when left out.
    - `5xx`: rate of server errors, as `{"before": rate, "after": rate}` the effect.
    - `dropped`: rate of connections closed without an answer, as for `5xx`.
    - `truncated`: rate of answers that end early; the effect has happened.
    - `seed`: an integer; the same seed and calls meet the same faults. 0 when left out.

    A rate is a number from 0 to 1. For `5xx` and `dropped` one number stands for half
    of it before and half after the effect. All rates together are at most 1.
    """

    def __init__(self) -> None:
        self.apply({})

    def apply(self, settings: Mapping[str, object]) -> None:
        """Replace the active faults; `{}` ends all.

        Raises:
            BadFaults: A key, a rate or the sum of the rates is wrong; nothing was changed.
        """
        unknown = set(settings) - {*KINDS, *_SETTINGS}
        if unknown:
            known = ", ".join((*KINDS, *_SETTINGS))
            raise BadFaults(f"no such fault: {', '.join(sorted(unknown))}; there are: {known}")
        seed = settings.get("seed", 0)
        if not isinstance(seed, int) or isinstance(seed, bool):
            raise BadFaults("seed must be an integer")
        latency = _check_number("latency", settings.get("latency", 0), most=60)
        retry_after = _check_number("retry_after", settings.get("retry_after", 1), most=3600)
        rates = {
            (kind, after): rate
            for kind in KINDS
            for after, rate in _parse_rates(kind, settings.get(kind, 0))
        }
        if (total := sum(rates.values())) > 1 + 1e-9:
            raise BadFaults(f"the rates together are {total:g}, at most 1 is possible")
        self._settings = dict(settings)
        self._edges = list(zip(accumulate(rates.values()), rates, strict=True))
        self._random = random.Random(seed)  # noqa: S311  repeatable, not secret
        self.latency, self.retry_after = latency, retry_after

    def get_settings(self) -> dict[str, object]:
        """Return the active faults, as they were set."""
        return dict(self._settings)

    def draw_fault(self) -> DrawnFault | None:
        """Draw the fault of the next call; None for no fault."""
        drawn = self._random.random()
        for edge, (kind, after) in self._edges:
            if drawn < edge:
                status = 429 if kind == "429" else self._random.choice(_SERVER_ERRORS)
                return DrawnFault(kind, after, status)
        return None


def _parse_rates(kind: FaultKind, value: object) -> list[tuple[bool, float]]:
    """Parse the rates of a fault into pairs of (after the effect, rate)."""
    if kind not in _BEFORE_OR_AFTER:
        return [(kind == "truncated", _check_number(kind, value))]
    if not isinstance(value, Mapping):
        rate = _check_number(kind, value)
        return [(False, rate / 2), (True, rate / 2)]
    if set(value) - {"before", "after"}:
        raise BadFaults(f"{kind} must be a rate, or have the keys before and after")
    moments = ((False, "before"), (True, "after"))
    return [(after, _check_number(f"{kind} {name}", value.get(name, 0))) for after, name in moments]


def _check_number(name: str, value: object, most: float = 1) -> float:
    """Return a number from 0 to `most`; raise `BadFaults` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise BadFaults(f"{name} must be a number from 0 to {most:g}")
    return value


ROOT = "/_sandbox/"
Json = dict[str, Any]
_checked = validate_call(config=ConfigDict(strict=True))


class Admin:
    """The admin API of one sandbox; `answer` may be called from any thread.

    Each action takes the fields of a body as its arguments.
    """

    def __init__(self, middleware: Middleware, token: str, reset: Callable[[], None]) -> None:
        self._middleware, self._token, self._restart = middleware, token.encode(), reset
        self._receivers, self._faults = middleware.service.receivers, middleware.faults
        self._actions: dict[str, dict[str, Callable[..., Json]]] = {
            "tokens": {"POST": self._make_token},
            "events": {"POST": self._send_event},
            "receivers": {"GET": self._show_receivers, "POST": self._add_receiver},
            "faults": {"GET": self._faults.get_settings, "POST": self._set_faults},
            "reset": {"POST": self._reset},
            "requests": {"GET": self._show_requests},
        }

    def answer(self, request: Request) -> ServiceAnswer:
        """Answer one call, after the first attempts to deliver an event."""
        headers, body, status = {"content-type": JSON_TYPE}, Json(), 200
        try:
            body = self._dispatch(request)
        except RefusedRequest as refusal:
            fixed = REFUSALS[refusal.reason][0]
            status, body = fixed if isinstance(fixed, int) else 401, {"error": refusal.message}
            headers |= refusal.headers
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            status, body = 422, {"error": f"{first['loc'][0]}: {first['msg']}"}
        except UnknownPermission as error:
            status, body = 422, {"error": str(error), "permissions": PERMISSIONS}
        except (BadFaults, BadReceiver) as error:
            noun = "fault" if isinstance(error, BadFaults) else "receiver"
            status, body = 422, {"error": f"Not a {noun}: {error}"}
        except QueueFull as error:
            status, body = 503, {"error": str(error)}
        except (StoreError, sqlite3.Error) as error:
            status, body = 503, {"error": f"Nothing was saved: {error}"}
        return ServiceAnswer(status, dumps(body).encode(), headers)

    def _dispatch(self, request: Request) -> Json:
        """Authorise an admin call, and run the action of its path and method."""
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
        """Make an access token with these permissions."""
        with self._middleware.transaction() as service:
            return {"token": service.make_token(permissions, account_id, actor)}

    @_checked
    def _send_event(
        self, kind: Annotated[str, Field(min_length=1, max_length=200)], payload: Any
    ) -> Json:
        """Deliver an event, and return the outcomes of the first attempts."""
        deliveries = self._middleware.deliver([PublishedEvent(kind, payload)])
        return {"deliveries": [delivery._asdict() for delivery in deliveries]}

    def _show_receivers(self) -> Json:
        """Return the addresses that may be delivered to."""
        return {"receivers": self._receivers.list_entries()}

    @_checked
    def _add_receiver(self, url: str, to: str | None = None) -> Json:
        """Allow deliveries to an address."""
        self._middleware.allow(url, to)
        return self._show_receivers()

    @_checked
    def _set_faults(self, **faults: Any) -> Json:
        """Replace the active faults, and return them."""
        self._faults.apply(faults)
        return self._faults.get_settings()

    @_checked
    def _reset(self, **_: Any) -> Json:
        """Reset records, faults, receivers and logs to the seed."""
        self._restart()
        self._faults.apply({})
        self._middleware.log.clear()
        self._middleware.delivery_worker.log.clear()
        self._receivers.clear()
        return {}

    def _show_requests(self) -> Json:
        """Return the latest calls of the API, oldest first."""
        return {"requests": [call._asdict() for call in list(self._middleware.log)]}
