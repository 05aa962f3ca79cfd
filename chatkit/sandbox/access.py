"""Access: tokens, what they permit, and how often they may call."""

import json
import time
from collections import deque
from collections.abc import Callable, Iterable
from email.utils import formatdate
from hashlib import sha256
from math import ceil

from chatkit.profile import ServiceProfile
from chatkit.sandbox.clock import Clock
from chatkit.sandbox.replies import RefusedRequest
from chatkit.sandbox.request import PERMISSIONS
from chatkit.sandbox.store import SandboxStore


class Grant:
    """What one access token allows: an account, an actor, permissions."""

    __slots__ = ("account", "actor", "calls", "permissions")

    def __init__(self, account: str, actor: str, permissions: Iterable[str]) -> None:
        self.account, self.actor, self.permissions = account, actor, frozenset(permissions)
        self.calls: deque[float] = deque()


class AccessTokens:
    """The tokens of a store; it keeps their hashes only (section Authentication)."""

    def __init__(
        self,
        store: SandboxStore,
        profile: ServiceProfile,
        clock: Clock,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store, self._profile, self._clock, self._now = store, profile, clock, now
        store.run(
            "CREATE TABLE IF NOT EXISTS tokens (hash BLOB PRIMARY KEY, account TEXT NOT NULL,"
            " actor TEXT NOT NULL, permissions TEXT NOT NULL)"
        )
        self._grants = {
            hashed: Grant(account, actor, json.loads(permissions))
            for hashed, account, actor, permissions in store.run(
                "SELECT hash, account, actor, permissions FROM tokens"
            ).fetchall()
        }

    def issue(self, permissions: Iterable[str], account: str, actor: str) -> str:
        """Make a token that has exactly these permissions.

        Raises:
            ValueError: A permission the API does not name.
            StoreError: It could not be stored.
        """
        grant = Grant(account, actor, permissions)
        unknown = grant.permissions.difference(PERMISSIONS)
        if unknown:
            raise ValueError(
                f"no such permission: {', '.join(sorted(unknown))}; there are: "
                + " · ".join(PERMISSIONS)
            )
        token = self._clock.token()
        hashed = sha256(token.encode()).digest()
        self._store.write(
            "INSERT INTO tokens VALUES (?, ?, ?, ?)",
            (hashed, account, actor, json.dumps(sorted(grant.permissions))),
        )
        self._store.commit()
        self._grants[hashed] = grant
        return token

    def grant(self, authorization: str | None) -> Grant:
        """What the token in an `Authorization` header allows.

        Raises:
            Refusal: There is no header, it is not a bearer token, or nobody knows it.
        """
        if authorization is None:
            raise RefusedRequest("unauthenticated", "An access token is required")
        if authorization[:7].lower() != "bearer ":
            raise RefusedRequest(
                "unauthenticated", "The Authorization header must be: Bearer <token>"
            )
        # Only hashes are compared, so the time it takes tells nothing of a token.
        grant = self._grants.get(sha256(authorization[7:].encode(errors="replace")).digest())
        if grant is None:
            raise RefusedRequest("unauthenticated", "The access token is not known")
        return grant

    def opens(self, token: str, account: str) -> bool:
        """Whether a token opens all of an account."""
        grant = self._grants.get(sha256(token.encode(errors="replace")).digest())
        return (
            grant is not None
            and grant.account == account
            and grant.permissions.issuperset(PERMISSIONS)
        )

    def count(self, grant: Grant) -> None:
        """Count one call of a token.

        Raises:
            Refusal: The token made as many calls as it may in the last second.
        """
        limit = self._profile.rate_limit
        if limit is None:
            return
        now, calls = self._now(), grant.calls
        while calls and now - calls[0] >= 1:
            calls.popleft()
        if len(calls) >= limit:
            wait = 1 - (now - calls[0]) if calls else 1.0
            raise RefusedRequest(
                "too_many_calls", f"At most {limit} calls a second", headers=self.come_back(wait)
            )
        calls.append(now)

    def come_back(self, wait: float) -> dict[str, str]:
        """The header of a 429 that tells to wait so many seconds, as the profile's service does."""
        match self._profile.rate_limit_form:
            case "seconds":
                return {"retry-after": str(ceil(wait))}
            case "date":
                return {"retry-after": formatdate(ceil(self._clock.now() + wait), usegmt=True)}
            case "reset_header":
                return {"x-ratelimit-reset": str(ceil(self._clock.now() + wait))}
            case _:
                return {}
