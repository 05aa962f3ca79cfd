"""Client: one account, and its contacts, flows, templates and webhooks."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack, nullcontext, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import msgspec
from msgspec import Raw

from chatkit import settings
from chatkit.api.answer import Envelope
from chatkit.api.connection import Connection
from chatkit.api.listing import send_in_order
from chatkit.api.retry import DEFAULT, RetryPolicy
from chatkit.api.secret import Secret
from chatkit.api.transport import Transport
from chatkit.bulk.endpoints import ACCOUNT, Endpoints
from chatkit.contacts import Contacts
from chatkit.errors import HelpPage, NotFound, SettingsError, explain_missing_part, safe_repr
from chatkit.flows import Flows
from chatkit.profile import ServiceProfile
from chatkit.resource import Resource
from chatkit.templates import Templates
from chatkit.util import background
from chatkit.util.progress import print_line
from chatkit.webhooks import Webhooks

if TYPE_CHECKING:
    from chatkit.bulk.apply import PlanTarget
    from chatkit.bulk.plan import Plan
    from chatkit.sandbox import Sandbox
    from chatkit.sandbox.scenario import AccountRecords


#: The resources by noun, in the order in which they are sent: a flow before the content whose
#: button opens it, and webhooks after both.
RESOURCES: Mapping[str, type[Resource[Any] | Templates]] = {
    kind._declaration.noun: kind for kind in (Flows, Templates, Webhooks, Contacts)
}

_clients: weakref.WeakValueDictionary[int, Client] = weakref.WeakValueDictionary()
_numbers = count()


def list_open_clients() -> list[Client]:
    """Return the open clients of this process, the latest first, where runs find accounts."""
    return list(_clients.values())[::-1]


class Client(metaclass=HelpPage):
    """One account of one service: `contacts`, `flows`, `templates("code")` and `webhooks`.

    Most people call `chatkit.connect()` instead, which finds the arguments for them.

    Args:
        base_url: The service's address, https:// (or http:// on this machine).
        account_id: The account.
        token: The access token; it is never shown.
        profile: What to assume where the API document is silent.
        deadline: Seconds for a whole call, retries included; without it that of `retry`.
        retry: What is sent again, and when; None: nothing is.

    Raises:
        SettingsError: One of them cannot be used; the text says what to write.

    >>> import chatkit
    >>> with chatkit.Sandbox(seed="demo") as sandbox, sandbox.serve() as base_url:
    ...     with chatkit.Client(base_url, sandbox.account_id, sandbox.token) as client:
    ...         client.flows.frame().wa_status.value_counts().to_dict()
    {'DRAFT': 4, 'PUBLISHED': 1}
    """

    contacts: Contacts
    flows: Flows
    templates: Templates
    webhooks: Webhooks
    #: What to pass where one resource is meant, for messages.
    _resource_instead: ClassVar[str] = "like client.contacts"

    def __init__(
        self,
        base_url: str,
        account_id: str | int,
        token: str | Secret,
        *,
        profile: ServiceProfile | None = None,
        deadline: float | None = None,
        retry: RetryPolicy | None = DEFAULT,
    ) -> None:
        if not isinstance(token, str | Secret):
            kind = type(token).__name__
            del token
            raise SettingsError(f"The access token must be text, not {kind}.")
        token = Secret(token)  # a traceback that prints variables must not find its text
        about = {} if profile is None else {"profile": profile}
        connection = Connection(base_url=base_url, account_id=account_id, token=token, **about)
        self._set_up(connection, Transport(connection, retry=retry, deadline=deadline))

    @classmethod
    def _from_transport(cls, connection: Connection, transport: Transport) -> Self:
        client = cls.__new__(cls)
        client._set_up(connection, transport)
        return client

    def _set_up(self, connection: Connection, transport: Transport) -> None:
        self.connection = connection
        self.profile = connection.profile
        self.transport = transport
        for kind in RESOURCES.values():
            setattr(self, kind._declaration.attribute, kind(transport))
        self._closes = ExitStack()  # closed with the client
        self._number = next(_numbers)
        _clients[self._number] = self

    def load_plan(self, path: str | Path) -> Plan:
        """Read a plan that `plan.save(path)` has written.

        Raises:
            PlanRefused: The file is no plan, was edited, or belongs to another account.
        """
        from chatkit.bulk.plan import load_plan
        from chatkit.imports import accessor

        accessor.register()
        return load_plan(path, partial(get_plan_target, self))

    def copy(self, codes: Collection[str] | None = None, *, contacts: bool = True) -> Client:
        """Open a sandbox with a copy of the account's records.

        The account itself is only read. The copy has the same ids and the same profile, apart
        from the rate limit, and is gone when it is closed: `with client.copy() as copy`.
        `chatkit.rehearse(plan)` applies a plan to one, `chatkit.compare(client, copy)` shows what
        differs.

        Args:
            codes: Template codes, which no call lists; without it those remembered and used.
            contacts: Whether to read and copy the contacts.

        Raises:
            CallError: The account cannot be read.

        >>> with client.copy() as copy:
        ...     copy.contacts.plan([{"id": 50002, "name": "Ana Cruz"}]).apply().state.tolist()
        ['applied']
        """
        from chatkit.sandbox import Sandbox

        records = self._seed_records(codes, contacts=contacts)
        records["profile"] = self.profile.model_copy(update={"rate_limit": None})
        sandbox = Sandbox(seed=records)
        copy = open_sandbox_client(sandbox)
        copy._closes.enter_context(sandbox)
        copy._closes.callback(copy.templates.ledger.path.unlink, missing_ok=True)
        return copy

    def _seed_records(
        self, codes: Collection[str] | None = None, *, contacts: bool = True
    ) -> AccountRecords:
        """Read all records of the account as plain data, to make a sandbox of them.

        Args:
            codes: Template codes, which no call lists; without them the remembered ones and used.
            contacts: Whether to read the contacts.
        """
        known = [*self.templates.codes, *self.templates._target.list_used_codes()]
        named = dict.fromkeys(known if codes is None else codes)
        seed: Any = {"account_id": self.connection.account_id, "profile": self.profile}
        for noun, kind in RESOURCES.items():
            if kind._declaration.personal and not contacts:
                seed[f"{noun}s"] = []
                continue
            each = get_resource(self, noun)._target.each(named)
            records = {code: _read_records(endpoints) for code, endpoints in each.items()}
            seed[f"{noun}s"] = records.get(None, records)
        seed["now"] = self.transport.get_service_time().timestamp()  # the calls have told it
        return cast("AccountRecords", seed)

    @safe_repr
    def __repr__(self) -> str:
        where = self.connection.name or self.connection.base_url
        return f"<account {self.connection.account_id} of {where}>"

    def close(self) -> None:
        """Close the connections to the service."""
        _clients.pop(self._number, None)
        self.transport.close()
        self._closes.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _read_records(endpoints: Endpoints[Any]) -> list[dict[str, Any]]:
    """Read the records of one resource as the service shows them, with all that can be sent.

    A template that the service does not know has none. One that is gone when it is read in
    full is left out.
    """
    by_key: dict[Any, dict[str, Any]] = {}

    def add(data: Raw) -> int:
        page = msgspec.json.decode(data)
        by_key.update((record[endpoints.key], record) for record in page)
        return len(page)

    with suppress(NotFound) if endpoints.code else nullcontext():
        for _ in endpoints.list_reader(add).read():
            pass
    if not endpoints.detailed:
        return list(by_key.values())
    calls = [endpoints.get_call(key) for key in by_key]
    answers = send_in_order(endpoints.transport, calls, kept=(NotFound,))
    read = [msgspec.json.decode(each.data) for each in answers if isinstance(each, Envelope)]
    return [by_key.get(each[endpoints.key], {}) | each for each in read]


class _AccountTarget:
    """The target of a plan for the account: all resources of a client.

    Args:
        client: The account.
    """

    def __init__(self, client: Client) -> None:
        self.transport = client.transport
        self._targets = {noun: get_resource(client, noun)._target for noun in RESOURCES}

    def of(self, code: str | None, noun: str | None = None) -> Endpoints[Any]:
        """Return the endpoints of a resource; of contents those of the template code."""
        if noun is None:
            raise LookupError("a change of a plan for the account says which resource it is of")
        return self._targets[noun].of(code, noun)

    def keep(self, written: Sequence[Sequence[str]], run: str) -> None:
        """Keep the texts of a plan locally; see `Endpoints.make_texts_to_keep`."""
        for target in self._targets.values():
            target.keep(written, run)


def get_resource(client: Client, noun: str) -> Resource[Any] | Templates:
    """Return the resource of an account by its noun."""
    resource: Resource[Any] | Templates = getattr(client, RESOURCES[noun]._declaration.attribute)
    return resource


def get_plan_target(client: Client, noun: str) -> PlanTarget:
    """Return the target of plans for a noun.

    Args:
        client: The account.
        noun: One of contact, flow, content and webhook, or account for all of them.
    """
    return _AccountTarget(client) if noun == ACCOUNT else get_resource(client, noun)._target


def connect(to: str | Sandbox | None = None, *, retry: RetryPolicy | None = DEFAULT) -> Client:
    """Open an account: a named connection, or whatever is configured, else the sandbox.

    Prints in one line what it opened, so that nobody edits live data unawares, and in another
    one that a run of this account was interrupted, if so.

    Args:
        to: The name of a connection kept by `chatkit login NAME`, a `Sandbox`, or the path of
            the access file (FILE.access) that `chatkit sandbox` tells. Without it:
            CHATKIT_BASE_URL, CHATKIT_ACCOUNT_ID and CHATKIT_TOKEN; when none of these is set,
            a sandbox with demo data. CHATKIT_TOKEN, or a file that CHATKIT_TOKEN_FILE names,
            gives the token of a named connection too, and comes before its keyring.
        retry: What is sent again, and when; None: nothing is.

    Raises:
        SettingsError: The configuration is incomplete, or the name is unknown.

    >>> with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
    ...     client.contacts.get(50001).name
    Connected to the sandbox: the whole service, in this process. Nothing leaves it.
    'Oliver Smith'
    """
    if to is None or isinstance(to, str):
        connection = settings.resolve(to)
        if connection is None:
            with explain_missing_part("chatkit.connect() without a connection"):
                from chatkit.sandbox import Sandbox

            to = Sandbox(seed="demo")
    elif hasattr(to, "answer"):
        connection = None
    else:
        raise TypeError(
            "connect takes the name of a connection ('production'), a chatkit.Sandbox, or nothing, "
            f"not {type(to).__name__}"
        )
    if connection is None:
        client = open_sandbox_client(cast("Sandbox", to), retry)
        print_line(
            "Connected to the sandbox: the whole service, in this process. Nothing leaves it."
        )
    else:
        client = Client._from_transport(connection, Transport(connection, retry=retry))
        kind = "on this machine" if connection.loopback else "live data"
        print_line(f"Opened account {connection.account_id} at {connection.base_url}: {kind}.")
    from chatkit.bulk.stores import describe_interrupted_run  # slow: people read what was printed

    if "ipykernel" in sys.modules:  # while people read that, pandas and the HTTP libraries load
        background.preload_modules("chatkit.api.wire", "pandas", "chatkit.frames.frame")
    # An account that ends with this process has no run from before.
    if not client.connection.passing and (
        line := describe_interrupted_run(client.connection.account)
    ):
        print_line(line)
    return client


def open_client(to: str | Sandbox, *, one_of_several: bool) -> Client:
    """Open an account without printing anything, as one of several may be.

    Args:
        to: The name of a connection, or a sandbox.
        one_of_several: Whether others are opened with it, each with a token of its own.

    Raises:
        SettingsError: The configuration is incomplete, or the name is unknown.
    """
    if not isinstance(to, str):
        if not hasattr(to, "answer"):
            raise TypeError(f"an account is a name, a Client or a Sandbox, not {type(to).__name__}")
        return open_sandbox_client(to)
    connection = settings.kept_connection(to, one_of_several=one_of_several)
    return Client._from_transport(connection, Transport(connection))


def open_sandbox_client(sandbox: Sandbox, retry: RetryPolicy | None = DEFAULT) -> Client:
    """Return the client of a sandbox, without a message."""
    connection = Connection(
        name="the sandbox",
        base_url="http://localhost",
        account_id=sandbox.account_id,
        token=Secret(sandbox.token),
        profile=sandbox.profile,
        sandbox=sandbox._identity,
        passing=sandbox._in_memory,
    )
    transport = Transport(connection, handler=sandbox.answer, retry=retry)
    return Client._from_transport(connection, transport)
