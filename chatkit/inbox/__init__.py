"""Inbox: the deliveries of your webhooks, received, kept, and read as DataFrames."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, SupportsIndex
from weakref import WeakSet

from chatkit.api.secret import Secret
from chatkit.errors import HelpPage, InputError, safe_repr
from chatkit.inbox import events
from chatkit.inbox.delivery import Delivery, Selection
from chatkit.inbox.events import Event, parse_contact
from chatkit.inbox.store import InboxStore
from chatkit.profile import ServiceProfile

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.inbox.receiver import Receiver, Unverified
    from chatkit.inbox.retention import Deletion
    from chatkit.signature import Scheme

Bound = date | timedelta | str | int | None
#: How far back a text like "2 days" leads, by the first letter of its unit.
_AGO_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_AGO = re.compile(
    r"([0-9]{1,6}(?:[.][0-9]+)?)\s*"
    r"(s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?|w|weeks?)(?:\s+ago)?"
)
_MIN_CONTACT = 5  # characters of a contact: any delivery holds a shorter text
_LOOKED_BACK = 1000  # deliveries: an inbox may have millions, and none is counted to show it
_LEFT_OUT = "The frame is empty, and what is not verified is left out: inbox.raw() has the reasons."


class Reader(Protocol):
    """An object that follows an inbox in a thread of its own."""

    def stop(self) -> None:
        """Stop reading; when this returns, nothing is read any more."""


class Inbox(metaclass=HelpPage):
    """A store of deliveries, each as it came, and the frames of what they hold.

        inbox = chatkit.Inbox()               # a file in your own data folder
        receiver = inbox.serve(secret)        # takes deliveries at receiver.url
        inbox.messages(since="2026-11-01")

    The frames take these choices, which the database makes:

    - `since`, `until`: a time (from it on, before it), or the id of a delivery (after it,
      up to it). `since=inbox.last` a moment ago makes a frame of what has come since. The
      clock is that of the machine that received (`received_at`), not the time that stands in
      a message. A time is a datetime or date, "2026-11-20" or "2026-11-20T14:00", "today" or
      "yesterday" (the beginning of the day), or how long ago: "1h", "30 min", "2 days", or a
      timedelta. Days begin, and a time without a zone is, in UTC, as all times in frames are.
    - `kinds`: kinds of events, as the service names them.
    - `contact`: a number with its country code, in any notation.
    - `verified`: True leaves out what was not signed rightly, which anyone can send; False
      takes only that, None takes both.

    `prune(before="90 days")` and `forget("+4915112345678")` tell in numbers what they would
    delete; nothing is deleted before the `apply()` of what they return.

    Args:
        url: None for a file in your own data folder, a path, or the address of a PostgreSQL
            database that a team shares: `postgresql://user:password@host/name`.
        profile: What the service does where the API document is silent: of a delivery the
            names of two fields and the signature scheme.

    Raises:
        InputError: The address is none of these.
        StoreError: It cannot be opened.

    >>> with chatkit.Inbox("inbox.sqlite") as mine, mine.serve("a secret") as receiver:
    ...     mine.messages(since="yesterday").empty
    True
    """

    def __init__(
        self, url: str | Path | Secret | None = None, *, profile: ServiceProfile | None = None
    ) -> None:
        if isinstance(url, str):
            url = Secret(url)  # a traceback that prints variables must not find a password
        self._profile = profile or ServiceProfile()
        self._store = InboxStore(url)
        self._receivers: list[Receiver] = []
        #: Those who read on in a thread of their own: they are stopped when this inbox closes.
        self._readers: WeakSet[Reader] = WeakSet()

    @safe_repr
    def __repr__(self) -> str:
        if not (last := self._store.read_last_id()):
            return f"<inbox {self._store.address}: there are no deliveries yet>"
        text = f"<inbox {self._store.address}: the last delivery is {last:,}"
        if unverified := self._store.count_unverified(_LOOKED_BACK):
            are = "is" if unverified == 1 else "are"
            text += f"; of the last {_LOOKED_BACK:,}, {unverified:,} {are} not verified"
            text += " and left out of frames"
        return f"{text}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop all receivers of this inbox, and close the database."""
        while self._receivers:
            self._receivers.pop().stop()
        for reader in list(self._readers):
            reader.stop()
        self._store.close()

    # --- receiving ---

    def serve(
        self,
        secret: str | Secret | Sequence[str | Secret] | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: bool = False,
        unverified: Unverified = "keep",
        scheme: Scheme | None = None,
    ) -> Receiver:
        """Start a receiver in a thread, which stores each delivery before it acknowledges it.

        It listens over HTTP. The service delivers over HTTPS: a proxy or a tunnel with a
        certificate stands in front of it, and a sandbox forwards to it with
        `sandbox.allow("https://…", to=receiver.url)`.

        Args:
            secret: The signing secret of the registration; several while it is changed, or
                of several registrations. None: nothing can be verified.
            host: Where to listen; another machine can reach it only when you say so.
            port: 0 takes any that is free.
            tls: Only False: the certificate is that of the proxy or the tunnel in front of it.
            unverified: What to do with deliveries that are not signed rightly. They are kept,
                marked and left out of frames, because the API document does not tell the
                scheme: were it guessed wrongly, "refuse" would lose them all.
            scheme: A signature scheme that the profile has no name for.

        Raises:
            BadSignature: A secret cannot be used with the scheme.
            OSError: The port is taken, or the host is not an address of this machine.
            InputError: HTTPS is asked for.
        """
        if tls:
            raise InputError(
                "A receiver listens over HTTP: put a proxy or a tunnel with a certificate in "
                "front of it, or let a sandbox forward to it: "
                'sandbox.allow("https://…", to=receiver.url).'
            )
        from chatkit.inbox.delivery import DeliveryInspector
        from chatkit.inbox.receiver import Receiver

        secrets = [secret] if isinstance(secret, str | Secret) else secret or []
        redacted = [Secret(one) for one in secrets]
        del secret, secrets  # a traceback that prints variables must not find its text
        inspector = DeliveryInspector(self._profile, redacted, scheme)
        receiver = Receiver(self._store, inspector, host=host, port=port, unverified=unverified)
        self._receivers.append(receiver)
        return receiver

    def verify(self, *secrets: str | Secret, scheme: Scheme | None = None) -> int:
        """Verify the unverified deliveries again; return how many of them are verified now.

        Each is verified as of the time it came. Frames show it from then on.

        Args:
            secrets: Signing secrets of registrations; those that the receivers of this inbox
                accept are tried too. They are kept nowhere.
            scheme: A signature scheme that the profile has no name for.

        Raises:
            InputError: There is no secret to verify with.
            BadSignature: A secret cannot be used with the scheme.
            StoreError: The inbox cannot be read or written.
        """
        from chatkit.inbox.delivery import DeliveryInspector

        redacted = [Secret(one) for one in secrets]
        del secrets  # a traceback that prints variables must not find their text
        known = [receiver.inspector for receiver in self._receivers]
        known.append(DeliveryInspector(self._profile, redacted, scheme))
        inspectors = [inspector for inspector in known if inspector.secrets]
        if not inspectors:
            raise InputError(
                "No signing secret is known: pass that of the registration, which its create "
                "showed once, as inbox.verify(secret)."
            )
        unverified = Selection(verified=False, repeats=True)
        return sum(
            self._store.mark_verified(inspector.verify_again(self._store.select(unverified)))
            for inspector in inspectors
        )

    # --- deleting ---

    def prune(self, before: date | timedelta | str) -> Deletion:
        """Plan the deletion of deliveries received before a time.

        Shows how far it is. Ids are never given again, so that who reads on misses nothing. A
        file keeps its size: what comes next is stored in the place that became free. A service
        sends a delivery again for some days; its repeat counts as new when the first is deleted.

        Args:
            before: A time, as for `since`: a date, or how long ago, "90 days".

        Raises:
            InputError: It is not a time.
            StoreError: The inbox cannot be read.

        >>> inbox.prune(before="90 days").apply()
        0 deliveries received before ...
        """
        from chatkit.inbox import retention

        bound = None
        with suppress(InputError):  # its text names ids of deliveries, too
            bound = parse_bound(before)
        if not isinstance(bound, datetime):
            raise InputError(
                f"before={before!r:.40} is not a time: write before='90 days', a date like "
                "'2026-08-01', or a datetime."
            )
        bound = bound if bound.tzinfo else bound.replace(tzinfo=UTC)
        return retention.plan_pruning(self._store, self._profile, bound.astimezone(UTC))

    def forget(self, contact: str) -> Deletion:
        """Plan the deletion of all deliveries about a contact.

        Every delivery is searched for the number, whoever sent it, so it takes its time, and shows
        how far it is. Body, path and headers are read however a program has escaped them (gzip,
        JSON in JSON, forms, HTML, base64 as in message ids), and people may have written the
        number with spaces, dashes or brackets. Not found are a number without its country code,
        and what is compressed inside a body, or encrypted. A file is written anew at the end, so
        that nothing of it stays there, which takes as much free space on the disk again; receivers
        answer 503 meanwhile, and are sent to again. PostgreSQL frees the space at its next VACUUM.
        Backups are yours to care for.

        Args:
            contact: A number with its country code, or what else the platform calls them.

        Raises:
            InputError: It is too short, or a number without its country code.
            StoreError: The inbox cannot be read.

        >>> inbox.forget("+4915112345678").apply()
        0 deliveries about +4915112345678
        ...
        """
        from chatkit.inbox import retention

        number = _require_country_code(contact) or ""
        if len(number.removeprefix("+")) < _MIN_CONTACT:
            raise InputError(
                f"{contact!r:.40} is too short for a contact: write it like '+4915112345678'."
            )
        return retention.plan_forgetting(self._store, self._profile, number)

    # --- reading: what makes frames is loaded late, a receiver alone has no need of pandas ---

    @property
    def last(self) -> int:
        """The id of the last delivery; 0 while there is none."""
        return self._store.read_last_id()

    def delivery(self, delivery: int) -> Delivery:
        """Read one delivery: headers, exact bytes, and the result of its verification.

        Raises:
            InputError: There is none of that id.
        """
        return self._store.read_delivery(delivery)

    def _select(self, **choice: Any) -> Iterator[Delivery]:
        """Read deliveries one by one; `repeats=True` includes repeats."""
        return self._store.select(self._make_selection(**choice))

    def _read_events(self, **choice: Any) -> Iterator[Event]:
        """Read events one by one."""
        contact = _require_country_code(choice.get("contact"))
        for delivery in self._select(**choice):
            for event in events.parse_events(delivery, self._profile):
                if contact is None or event.contact == contact:
                    yield event

    def frame(self, **choice: Any) -> pd.DataFrame:
        """Make a frame of everything: one row for each event, known or not."""
        return self._make_event_frame("frame", choice)

    def messages(self, **choice: Any) -> pd.DataFrame:
        """Make a frame of messages of both sides, each once, indexed by their ids."""
        return self._make_event_frame("messages", choice)

    def reactions(self, **choice: Any) -> pd.DataFrame:
        """Make a frame of the last reaction of each contact to each message, indexed by message."""
        return self._make_event_frame("reactions", choice)

    def media(self, **choice: Any) -> pd.DataFrame:
        """Make a frame of the files in messages: id, type, checksum, caption."""
        return self._make_event_frame("media", choice)

    def flow_answers(self, **choice: Any) -> pd.DataFrame:
        """Make a frame of the answers to flows, with a column for each field of a form."""
        from chatkit.inbox import frames

        return frames.make_flow_answers_frame(self._read_events(**choice))

    def statuses(self, **choice: Any) -> pd.DataFrame:
        """Make a frame of the status of each message, and the times of its steps."""
        from chatkit.inbox import frames

        return frames.make_statuses_frame(self._read_events(**choice))

    def raw(self, **choice: Any) -> pd.DataFrame:
        """Make a frame of every delivery as it came, repeats and unverified ones too."""
        from chatkit.inbox import frames

        every = {"verified": None, "repeats": True, **choice}
        return frames.RAW.make_frame(self._select(**every))

    def _make_event_frame(self, name: str, choice: Mapping[str, Any]) -> pd.DataFrame:
        """Make the frame `name` of the chosen events."""
        from chatkit.inbox import frames

        frame = frames.TABLES[name].make_frame(self._read_events(**choice))
        unverified = {**choice, "verified": False}
        if frame.empty and choice.get("verified", True) and any(self._select(**unverified)):
            warnings.warn(_LEFT_OUT, stacklevel=3)
        return frame

    def _make_selection(
        self,
        since: Bound = None,
        until: Bound = None,
        kinds: str | Sequence[str] | None = None,
        contact: str | None = None,
        *,
        verified: bool | None = True,
        repeats: bool = False,
        **unknown: Any,
    ) -> Selection:
        """Make the filter for the database from the arguments of a frame."""
        if unknown:
            raise InputError(
                f"An inbox cannot be filtered by {', '.join(unknown)}: choose from since, until, "
                "kinds, contact, verified and repeats."
            )
        return Selection(
            parse_bound(since),
            parse_bound(until),
            [kinds] if isinstance(kinds, str) else kinds,
            verified,
            _require_country_code(contact),
            repeats,
        )


def _require_country_code(written: str | None) -> str | None:
    """Parse a contact as a person wrote it, with its country code.

    Raises:
        InputError: It is not text, or a number without its country code.
    """
    if written is None:
        return None
    contact = parse_contact(written) if isinstance(written, str) else "+0"
    if contact.startswith("+0") and not str(written).startswith("+"):
        raise InputError(
            f"contact {written!r:.40} has no country code: write a text like '+4915112345678'."
        )
    return contact


def parse_bound(bound: Bound, now: datetime | None = None) -> datetime | int | None:
    """Parse a bound: the id of a delivery, a time, or how long ago.

    Args:
        bound: As `since` and `until` of an inbox.
        now: The time, for "2 days" and "yesterday"; a test says it.

    Raises:
        InputError: It is none of these.
    """
    now = (now or datetime.now(UTC)).astimezone(UTC)
    match bound:
        case None | datetime():
            return bound
        case SupportsIndex() if not isinstance(bound, bool):  # those of a frame are numpy's
            return int(bound)
        case timedelta():
            return now - bound
        case date():
            return datetime(bound.year, bound.month, bound.day)
        case str():
            words = bound.strip().casefold()
            if words == "now":
                return now
            if words in ("today", "yesterday"):
                midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
                return midnight - timedelta(days=words == "yesterday")
            if ago := _AGO.fullmatch(words):
                return now - timedelta(**{_AGO_UNITS[ago[2][0]]: float(ago[1])})
            with suppress(ValueError):
                return datetime.fromisoformat(bound.strip())
    raise InputError(
        f"{bound!r:.40} is not a time: write 2026-11-20 or 2026-11-20T14:00, 'yesterday', '1h' or "
        "'2 days' (ago), or the id of a delivery."
    )
