"""Story: what happens in a scenario, second by second, before it is told as events."""

import base64
import hashlib
import random
from collections.abc import Callable
from datetime import UTC, datetime

from chatkit.profile import ServiceProfile
from chatkit.sandbox import changes
from chatkit.sandbox.changes import STATUSES, Json, Person
from chatkit.sandbox.news import Event
from chatkit.sandbox.source import Source
from chatkit.sandbox.webhooks import STATUS

# Seconds that a message takes to be sent, delivered and read.
_TAKES = {"sent": (1, 2), "delivered": (1, 8), "read": (5, 240), "failed": (1, 5)}


class Story:
    """Events that happen at seconds of a story; the same for the same seed.

    Ids of messages are the sandbox's own, so that a story told twice has other messages.
    """

    def __init__(self, profile: ServiceProfile, source: Source, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311  repeatable, not secret
        self._profile, self._source = profile, source
        self._salt, self._count = source.message_id(), 0
        self._told: list[tuple[int, str, Callable[[int], Json]]] = []

    def write(
        self, person: Person, at: int, kind: str, content: Json, reply_to: str | None = None
    ) -> str:
        """Let a customer write, at this second; the id of the message."""
        name = self.new_id("wamid.")
        family = self._profile.event_kind_inbound
        if kind == "reaction":
            family = self._profile.event_kind_reaction
        elif kind in changes.MEDIA:
            family = self._profile.event_kind_media
        shown = "audio" if kind == "voice" else kind

        def told(moment: int) -> Json:
            made = changes.message(shown, name, moment, content, reply_to)
            return changes.inbound(person, made)

        self.add(at, family, told)
        return name

    def send(
        self,
        person: Person,
        at: int,
        kind: str,
        content: Json,
        *,
        until: str = "read",
        error: int | None = None,
        category: str = "service",
    ) -> tuple[str, int]:
        """Let the account send, from this second; the id of the message, and when it is done."""
        name = self.new_id("wamid.")
        self.add(
            at,
            self._profile.event_kind_outbound,
            lambda moment: changes.outbound(person, changes.message(kind, name, moment, content)),
        )
        passed = ["failed"] if error else STATUSES[: STATUSES.index(until) + 1]
        for status in passed:
            at += self.random.randint(*_TAKES[status])
            self.add(
                at,
                STATUS,
                lambda moment, status=status: changes.status(  # type: ignore[misc]
                    person, name, status, moment, error, category
                ),
            )
        return name, at

    def add(self, at: int, kind: str, told: Callable[[int], Json]) -> None:
        """Let something happen at this second; it is told its time later."""
        self._told.append((at, kind, told))

    def new_id(self, prefix: str = "") -> str:
        """An id that no other story has."""
        self._count += 1
        digest = hashlib.sha256(f"{self._salt} {self._count}".encode()).digest()
        return prefix + base64.urlsafe_b64encode(digest[:24]).decode()

    def events(self) -> list[Event]:
        """All that happens, in order; it ends now, by the clock of the sandbox."""
        ordered = sorted(self._told, key=lambda one: one[0])
        begin = self._source.story(ordered[-1][0] if ordered else 0)
        return [Event(kind, told(begin + at), _stamp(begin + at)) for at, kind, told in ordered]


def _stamp(moment: int) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
