"""Parts of a sandbox and of an inbox that users do not see, for tests of what they hold."""

from collections.abc import Collection, Iterator
from typing import Any

from chatkit.client import Client
from chatkit.inbox import Inbox
from chatkit.inbox.delivery import Delivery
from chatkit.inbox.store import InboxStore
from chatkit.sandbox import Sandbox
from chatkit.sandbox.middleware import Middleware
from chatkit.sandbox.scenario import AccountRecords
from chatkit.sandbox.service import Service
from chatkit.sandbox.store import SandboxStore


def middleware_of(sandbox: Sandbox) -> Middleware:
    """Return the middleware: the log of requests, faults, deliveries, transactions."""
    return sandbox._middleware


def service_of(sandbox: Sandbox) -> Service:
    """Return the service behind the middleware: its resources and its clock."""
    return sandbox._service


def store_of(sandbox: Sandbox) -> SandboxStore:
    """Return the database of a sandbox."""
    return sandbox._store


def inbox_store(inbox: Inbox) -> InboxStore:
    """Return the database of an inbox."""
    return inbox._store


def deliveries_of(inbox: Inbox, **choice: Any) -> Iterator[Delivery]:
    """Read deliveries as they were stored."""
    return inbox._select(**choice)


def identity_of(sandbox: Sandbox) -> str:
    """Return the name by which plans and journals know a sandbox."""
    return sandbox._identity


def quirks_of(sandbox: Sandbox) -> Collection[str]:
    """Return the quirks of a sandbox."""
    return sandbox._quirks


def seed_records(client: Client, **options: Any) -> AccountRecords:
    """Return the records of an account as the seed of a sandbox."""
    return client._seed_records(**options)
