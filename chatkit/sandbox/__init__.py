"""The sandbox: the whole service on this machine, in memory or in a file."""

import json
import secrets
import time
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast
from urllib.parse import urlsplit
from uuid import uuid4

from chatkit.profile import ServiceProfile
from chatkit.sandbox.delivery import Attempt, DeliveryOutcome, PublishedEvent
from chatkit.sandbox.interface import QUIRKS, Quirk, Request
from chatkit.sandbox.middleware import API, Middleware
from chatkit.sandbox.service import PERMISSIONS, Service
from chatkit.sandbox.store import Clock, SandboxStore, SeededClock
from chatkit.util.files import replace_file

if TYPE_CHECKING:
    from chatkit.sandbox.scenario import AccountRecords, ScenarioResult, Seed

__all__ = ["Sandbox"]

_GRACE = 2.0  # seconds for the attempts under way when a sandbox ends


class Sandbox:
    """An offline stand-in for the messaging service, with all its operations.

    Without a path it lives in memory. With a seed, ids, secrets and times are the same
    at every run: `"empty"` begins with nothing, `"demo"` with a small business. A client as the
    seed makes a copy of its account: the same ids, profile and clock, new signing secrets. With a
    path everything is kept in that file; the clock and the secrets are then real ones,
    and a seed fills the file only when it is empty. When such a sandbox is served again, it
    takes its port again if that is free, and has its token: both are kept beside the file, in
    `FILE.access`, and `chatkit.connect("FILE.access")` opens it.

    A profile says what the client is told of the service. Quirks are what a client must stand
    without being told, for tests: `no_body` (updates and deletes answer 204), `no_pagination`,
    `html_errors` (errors are pages of HTML), `text_ids`,
    `text_flow_json` (flow_json is shown as JSON text), `raw_flow_json` (it is null, and
    flow_json_raw has the text), `constant_updated_at` (updates leave it), `repeated_deletes` (a
    second delete succeeds), `secret_in_update` (an update of a webhook shows its secret),
    `unknown_template_404` (a template without contents is not found).

    Events are delivered to the addresses of `allow`, and to all paths below them: a list, or a
    mapping from the address of a webhook to the one on this machine that hears it.

    >>> sandbox = Sandbox(seed="empty")
    >>> path = f"/api/business/public/channels/chat/accounts/{sandbox.account_id}/contacts"
    >>> headers = {"authorization": f"Bearer {sandbox.token}"}
    >>> sandbox.answer("GET", path, headers, b"")[0]
    200

    Raises:
        StoreError: The file is no sandbox file, is in use, or has another profile.
        ValueError: The seed cannot be one, or there is no such quirk.
        BadReceiver: An address of `allow` is not a plain http or https address.
        CallError: The account of a client cannot be read.
    """

    account_id = "1001"

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        seed: "Literal['demo', 'empty'] | Seed | AccountRecords | None" = None,
        profile: ServiceProfile | None = None,
        quirks: Iterable[Quirk] = (),
        allow: Iterable[str] | Mapping[str, str] = (),
    ) -> None:
        self._quirks = frozenset(quirks)
        allow = [allow] if isinstance(allow, str) else allow
        if unknown := self._quirks - QUIRKS:
            raise ValueError(
                f"no such quirk: {', '.join(sorted(unknown))}; there are: "
                + ", ".join(sorted(QUIRKS))
            )
        self._records = _read_seed_records(seed)
        self.profile = profile or self._records.get("profile") or ServiceProfile()
        self.account_id = self._records.get("account_id") or type(self).account_id
        self._identity = uuid4().hex if path is None else str(Path(path).resolve())
        self._seed = seed if isinstance(seed, str) else None
        clock = Clock()
        if seed is not None and path is None:
            # What a copy holds is somebody's: who knows the code must not know its token.
            clock = SeededClock(self._seed or secrets.token_hex(16))
        self._in_memory = path is None
        self._store = SandboxStore(None if path is None else Path(path))
        self._service = Service(self._store, self.profile, clock, self.account_id, self._quirks)
        self.admin_token = clock.make_token()
        self._middleware = Middleware(self._service, self.admin_token, self.reset)
        #: Beside the file: where it was served last, and its token, for its owner alone.
        self._access_file = None if path is None else Path(f"{Path(path).resolve()}.access")
        saved = self._read_access_file().get("token")
        opens = isinstance(saved, str) and self._service.access.is_token_of(saved, self.account_id)
        self.token = str(saved) if opens else self.make_token(*PERMISSIONS)
        self._fill_store()
        for url in allow:
            self.allow(url, to=allow[url] if isinstance(allow, Mapping) else None)

    def _read_access_file(self) -> dict[str, Any]:
        """Read the access file; {} if it is missing or damaged."""
        if self._access_file is None:
            return {}
        try:
            settings = json.loads(self._access_file.read_bytes())
        except (FileNotFoundError, ValueError, RecursionError):
            return {}
        return settings if isinstance(settings, dict) else {}

    def _read_last_port(self) -> int:
        """Return the port on which this sandbox was served last, 0 if unknown."""
        try:
            return urlsplit(str(self._read_access_file().get("base_url", ""))).port or 0
        except ValueError:
            return 0

    def _write_access_file(self, base_url: str, file: Path) -> None:
        """Write the address and the token into a file that only its owner can read.

        `chatkit.connect` takes the path of such a file.

        Raises:
            OSError: It cannot be written.
        """
        settings = {
            "base_url": base_url,
            "account_id": self.account_id,
            "token": self.token,
            "profile": self.profile.model_dump(mode="json", exclude_defaults=True),
        }
        with replace_file(file) as target:
            target.write(json.dumps(settings).encode())

    def make_token(
        self, *permissions: str, account_id: str | None = None, actor: str | None = None
    ) -> str:
        """Make an access token that has these permissions and no others.

        Raises:
            ValueError: A permission the API does not name.
        """
        with self._middleware.transaction() as service:
            return service.make_token(permissions, account_id, actor)

    def answer(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        """Return the status, headers and body for one call; its changes are saved.

        Args:
            method: GET, POST, PUT, PATCH or DELETE.
            target: The raw path, with `?` and the query if there is one.
            headers: With lower-case names.
            body: The bytes of the body; empty without one.
        """
        started, (path, _, query) = time.perf_counter(), target.partition("?")
        if self._middleware.faults.latency and path.startswith(API):
            time.sleep(self._middleware.faults.latency)
        answer = self._middleware.answer(Request(method, path, query, headers, body), started)
        return answer.status, answer.headers | {"date": self._middleware.format_date()}, answer.body

    def allow(self, url: str, to: str | None = None) -> None:
        """Allow deliveries to an address and all paths below it; none is allowed at first.

        >>> sandbox = Sandbox(seed="empty")
        >>> sandbox.allow("https://hooks.example/chat", to="http://127.0.0.1:8000/in")

        Args:
            url: The address of a webhook, or what it begins with.
            to: The address on this machine that hears it in its place.

        Raises:
            BadReceiver: One of them is not a plain http or https address.
        """
        self._middleware.allow(url, to)

    def faults(
        self,
        *,
        latency: float = 0,
        rate_limited: float = 0,
        server_errors: float | Mapping[str, float] = 0,
        dropped: float | Mapping[str, float] = 0,
        truncated: float = 0,
        retry_after: float = 1,
        seed: int = 0,
    ) -> None:
        """Make API calls fail at these rates from now on; `faults()` ends it.

        A rate is a number from 0 to 1, all rates together are at most 1. For
        `server_errors` and `dropped` half of it happens before the effect of a call and half
        after it; `{"before": 0.1, "after": 0.02}` gives both rates.

        >>> sandbox = Sandbox(seed="empty")
        >>> sandbox.faults(rate_limited=1, retry_after=2)
        >>> status, headers, _ = sandbox.answer("GET", "/api/anything", {}, b"")
        >>> status, headers["retry-after"]
        (429, '2')

        Args:
            latency: Seconds that each call waits before anything is done with it.
            rate_limited: Rate of 429 answers, which never have an effect.
            server_errors: Rate of 500, 502, 503 and 504 answers.
            dropped: Rate of connections that are closed without an answer.
            truncated: Rate of answers that end early; the effect has happened.
            retry_after: Seconds that a 429 asks to wait.
            seed: The same seed and calls meet the same faults.

        Raises:
            BadFaults: A number is out of its range; nothing was changed.
        """
        settings = {
            "latency": latency,
            "429": rate_limited,
            "5xx": server_errors,
            "dropped": dropped,
            "truncated": truncated,
            "retry_after": retry_after,
            "seed": seed,
        }
        usual = {"retry_after": 1}
        self._middleware.faults.apply({n: v for n, v in settings.items() if v != usual.get(n, 0)})

    def deliver(self, kind: str, payload: object) -> list[DeliveryOutcome]:
        """Deliver an event to the active webhooks that subscribe to its kind.

        Waits for the first attempt at each; the others follow, for three days.

        Raises:
            QueueFull: Too many deliveries wait already.
        """
        return self._middleware.deliver([PublishedEvent(kind, payload)])

    def play(
        self, scenario: str, *, seed: int = 0, wait: float = 60.0, **options: Any
    ) -> "ScenarioResult":
        """Play a scenario of customers: `conversation`, `campaign` or `flow`.

        >>> sandbox = Sandbox(seed="empty")
        >>> sandbox.play("conversation", lines=["> Is my bike ready?", "< Yes!", "> +👍"])
        <conversation of 6 events, nobody asked for it>

        Args:
            scenario: Which; `chatkit.sandbox.scenario` tells the options of each.
            seed: The same seed makes the same things happen.
            wait: Seconds to wait in all for the first attempts.
            options: Those of the scenario.

        Raises:
            BadScenario: There is no such scenario, or an option is wrong; nothing was delivered.
            QueueFull: Receivers are so slow that too many deliveries wait.
        """
        from chatkit.sandbox.scenario import play_scenario

        return play_scenario(self._middleware, scenario, options, seed=seed, wait=wait)

    @property
    def clock(self) -> Clock:
        """The clock that stamps records: `clock.now()` is its time, in seconds since 1970."""
        return self._service.clock

    @property
    def _template_codes(self) -> list[str]:
        """The codes of the templates that have contents; the API has no list of them."""
        with self._middleware.transaction() as service:
            return service.templates.list_codes(self.account_id)

    @property
    def attempts(self) -> list[Attempt]:
        """The latest attempts to deliver, oldest first."""
        return list(self._middleware.delivery_worker.log)

    def settle(self, seconds: float = 10.0) -> bool:
        """Wait until nothing is left to deliver; return False after `seconds`."""
        return self._middleware.delivery_worker.wait_until_empty(seconds)

    def reset(self) -> None:
        """Delete all records, and fill in those of the seed again."""
        with self._middleware.transaction():
            self._store.clear()
            self._service.clock.restart()
            self._fill_store()

    def _fill_store(self) -> None:
        """Fill an empty store with the records of the seed, and commit."""
        if (self._records or self._seed == "demo") and self._store.is_empty:
            from chatkit.sandbox.scenario import fill_demo, load_seed

            load_seed(self._service, self._records) if self._records else fill_demo(self._service)
        self._store.commit()

    def serve(self, host: str = "127.0.0.1", port: int = 0) -> AbstractContextManager[str]:
        """Serve over HTTP while a `with` block lasts, which gets the base address.

        Args:
            host: An address of this machine.
            port: 0 for any that is free; a sandbox in a file takes that of the last time.

        Raises:
            OSError: The port is taken.
        """
        from chatkit.sandbox.middleware import serve

        return serve(self, host, port)

    def close(self) -> None:
        """Save everything and close; the file is free for another process.

        Deliveries that wait stay in the file, and are made once a sandbox of it is told of
        their receivers again.
        """
        self._middleware.delivery_worker.close(_GRACE)
        with self._middleware.lock:
            self._store.close()

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Sandbox of account {self.account_id}>"


def _read_seed_records(seed: object) -> "AccountRecords":
    """Return the records of a seed; {} for "demo", "empty" or None."""
    if seed is None or seed in ("demo", "empty"):
        return {}
    seed_records = getattr(seed, "_seed_records", None)
    if seed_records is None and not isinstance(seed, Mapping):
        raise ValueError(f"seed is 'demo', 'empty' or a client, not {seed!r:.60}")
    return cast("AccountRecords", seed_records() if seed_records else seed)
