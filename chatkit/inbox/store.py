"""Store: the database of deliveries, a SQLite file or a shared PostgreSQL database.

The only import of SQLAlchemy. One table holds every delivery as it came: nothing of that is
ever changed or left out, until it is deleted by its age or for a person. The verdict on its
signature changes once, when it is verified later than it came, with a secret that was not known
before. The view `delivery_once` leaves out
repeats: a service sends a delivery again until it is told that it arrived, so a repeat is the
rule, not the exception.

Ids are given in the order of commits, also when several receivers write: who has read up
to an id has missed none before it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, SupportsIndex, TypeAlias

import sqlalchemy as sa
from sqlalchemy.exc import DataError, IntegrityError, SQLAlchemyError

from chatkit.api.secret import Secret
from chatkit.errors import InputError, StoreError
from chatkit.inbox.delivery import Delivery, ReceivedDelivery, Selection
from chatkit.signature import PACKED
from chatkit.util.files import is_busy, make_folder, set_durable_mode, sleep_briefly

_SCHEMA = 3
_PAGE = 100  # deliveries that are in memory together: a body may have megabytes
_SPAN = 2000  # ids that one question asks about: about the same effort for any choice
_WAIT = 5  # seconds for a lock, a connection or a statement; after them: not stored
_PATIENCE = 60  # seconds for a statement of a reader: nobody waits to be acknowledged
_LOCK = 0x63686B69  # any number: it orders the writers of one PostgreSQL database
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Condition: TypeAlias = sa.ColumnElement[bool]

_metadata = sa.MetaData()
_version = sa.Table("inbox", _metadata, sa.Column("version", sa.Integer))
_delivery = sa.Table(
    "delivery",
    _metadata,
    sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
    sa.Column("received", sa.BigInteger, nullable=False),  # microseconds since 1970, UTC
    sa.Column("identity", sa.Text, nullable=False),  # repeats of one delivery share it
    sa.Column("kind", sa.Text),
    sa.Column("verified", sa.Boolean, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("is_json", sa.Boolean, nullable=False),
    sa.Column("path", sa.Text, nullable=False),
    sa.Column("headers", sa.Text, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.Column("verified_at", sa.BigInteger),  # if it was verified later than it came
    sa.Column("contact", sa.Text, nullable=False),  # as `ReceivedDelivery` has it
    sa.Index("delivery_contact", "contact", "id"),
    sa.Index("delivery_identity", "identity", "id"),
    sa.Index("delivery_kind", "kind", "id"),
    sa.Index("delivery_received", "received", "id"),
    sqlite_autoincrement=True,  # an id is never given twice
)
_view = sa.Table("delivery_once", sa.MetaData(), *(sa.Column(c.name, c.type) for c in _delivery.c))
_VIEW = """delivery_once AS SELECT * FROM delivery AS d WHERE NOT EXISTS
 (SELECT 1 FROM delivery AS e WHERE e.identity = d.identity AND e.id < d.id)"""


class DeliverySummary(NamedTuple):
    """The fields of a delivery without its body."""

    delivery: int  #: its id
    received_at: datetime
    kind: str | None
    verified: bool
    contact: str | None  #: if it is about one alone
    size: int  #: of its body, in bytes
    mixed: bool = False  #: it is about others than the contact too, or only mentions this one


class InboxStore:
    """A database of deliveries, for any thread and several processes at once.

    Args:
        url: None for `inbox.sqlite` in the user's own data folder; the path of a file; or
            `postgresql://user:password@host/database`.

    Raises:
        InputError: It is none of these.
        StoreError: It cannot be opened, or another version of chatkit wrote it.
    """

    def __init__(self, url: str | Path | Secret | None = None) -> None:
        address = _parse_address(Secret(url) if isinstance(url, str) else url)
        del url  # a traceback that prints variables must not find a password
        self.verified_later = 0  #: deliveries that were verified through this object
        self.address = address.render_as_string(hide_password=True)
        self._sqlite = address.get_backend_name() == "sqlite"
        try:
            if self._sqlite and address.database:
                _make_file(Path(address.database))
            self.engine = _make_engine(address)  #: what receivers write with
            # A long read takes no connection that a receiver waits for, and may last longer.
            self.reading = _make_engine(address, reading=True)
            self._prepare()
        except ImportError:
            raise InputError("PostgreSQL needs its driver: pip install 'psycopg[binary]'") from None
        except (SQLAlchemyError, OSError) as error:
            raise StoreError(
                f"The inbox {self.address} cannot be opened: {_describe_error(error)}"
            ) from None

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()
        self.reading.dispose()

    # --- writing ---

    def write_deliveries(self, entries: Sequence[ReceivedDelivery]) -> None:
        """Store deliveries, all or none; they are durable when this returns.

        Raises:
            StoreError: Nothing was stored, or it cannot be known.
        """
        rows = [entry._asdict() for entry in entries]
        try:
            with self.engine.begin() as connection:
                if not self._sqlite:
                    self._lock_writers(connection)
                connection.execute(sa.insert(_delivery), rows)
        except SQLAlchemyError as error:
            refused = StoreError(f"The deliveries could not be stored: {_describe_error(error)}")
            refused.of_one = isinstance(error, DataError | IntegrityError)
            raise refused from None

    def mark_verified(self, verified: Iterable[tuple[int, ReceivedDelivery]]) -> int:
        """Mark deliveries as verified later than they came; return their number.

        Raises:
            StoreError: It could not be noted.
        """
        remaining, count = iter(verified), 0
        change = (
            sa.update(_delivery)
            .where(_delivery.c.id == sa.bindparam("of"), _delivery.c.verified.is_(False))
            .values(
                verified=True,
                verified_at=_to_microseconds(datetime.now(UTC)),
                identity=sa.bindparam("identity"),
                reason=sa.bindparam("reason"),
            )
        )
        while batch := [*islice(remaining, _PAGE)]:
            rows = [{"of": id, "identity": e.identity, "reason": e.reason} for id, e in batch]
            self._execute(change, rows, "verdicts")
            count += len(batch)
            self.verified_later += len(batch)
        return count

    def _execute(self, statement: Any, rows: Sequence[Mapping[str, Any]] | None, what: str) -> int:
        """Execute a statement in a transaction; return the number of changed rows."""
        try:
            with self.engine.begin() as connection:
                return connection.execute(statement, rows).rowcount
        except SQLAlchemyError as error:
            raise StoreError(f"The {what} could not be stored: {_describe_error(error)}") from None

    # --- deleting ---

    def read_summaries_before(
        self, before: datetime, watch: Callable[[int], object]
    ) -> Iterator[DeliverySummary]:
        """Read the summaries of the deliveries received before a time.

        Args:
            before: The time.
            watch: Called with how many ids have been gone through, each time.
        """
        c = _delivery.c
        first_id, last_id = self._find_id_bounds(Selection())
        for begin in range(first_id, last_id, _SPAN):
            end = min(begin + _SPAN, last_id)
            # + 0 keeps the planner off the index of times: it is to look between the ids.
            early = c.received + 0 < _to_microseconds(before)
            yield from self._select_summaries(sa.and_(c.id > begin, c.id <= end, early))
            watch(end - begin)

    def read_summaries(self, ids: Sequence[int]) -> Iterator[DeliverySummary]:
        """Read the summaries of the deliveries with these ids; missing ones are left out."""
        for begin in range(0, len(ids), _SPAN):
            yield from self._select_summaries(_delivery.c.id.in_(ids[begin : begin + _SPAN]))

    def _select_summaries(self, condition: Condition) -> list[DeliverySummary]:
        """Read the summaries of the deliveries that fulfil a condition, by id."""
        c = _delivery.c
        query = sa.select(c.id, c.received, c.kind, c.verified, c.contact, sa.func.length(c.body))
        return [
            DeliverySummary(id, _to_time(received), kind, verified, contact or None, size)
            for id, received, kind, verified, contact, size in self._fetch_rows(
                query.where(condition).order_by(c.id)
            )
        ]

    def delete_deliveries(self, ids: Sequence[int]) -> int:
        """Delete deliveries of these ids; return the number of those deleted."""
        return self._execute(sa.delete(_delivery).where(_delivery.c.id.in_(ids)), None, "deletion")

    def purge_deleted(self, *, rewrite: bool = False) -> None:
        """Purge deleted rows from the SQLite file and its log.

        Args:
            rewrite: Write the whole file anew: pages may hold copies of rows that were moved.

        Raises:
            StoreError: Another process reads or writes it for too long.
        """
        if not self._sqlite:
            return
        try:
            self._empty_log()
            if rewrite:
                with self.engine.connect() as connection:
                    connection.exec_driver_sql("VACUUM")
                self._empty_log()
        except SQLAlchemyError as error:
            raise StoreError(
                f"They are deleted, but the file of the inbox {self.address} may still hold them: "
                f"{_describe_error(error)}. apply() tries it again."
            ) from None

    def _empty_log(self) -> None:
        """Empty the write-ahead log, waiting some seconds for readers."""
        deadline = time.monotonic() + _WAIT
        while True:
            with self.engine.connect() as connection:
                busy = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()[0]
            if not busy:
                return
            if time.monotonic() >= deadline:
                raise StoreError(
                    f"They are deleted, but the log of the inbox {self.address} may still hold "
                    "them, because another process is reading it. apply() tries it again."
                )
            sleep_briefly()

    # --- reading ---

    def select(
        self, selection: Selection, watch: Callable[[int], object] | None = None
    ) -> Iterator[Delivery]:
        """Read the selected deliveries that are there by now, in pages, in the order of their ids.

        Args:
            selection: Those that are read.
            watch: Called with how many ids have been gone through, each time.
        """
        table = _delivery if selection.repeats else _view
        previous_id, last_id = self._find_id_bounds(selection)
        while previous_id < last_id:  # no transaction stays open while a page is worked on
            end = min(previous_id + _SPAN, last_id)
            query = self._filter_query(sa.select(table), table, selection, previous_id, end)
            rows = self._fetch_rows(query.order_by(table.c.id).limit(_PAGE))
            yield from map(_to_delivery, rows)
            previous_id, page_start = end if len(rows) < _PAGE else rows[-1].id, previous_id
            if watch is not None:
                watch(previous_id - page_start)

    def _find_id_bounds(self, selection: Selection) -> tuple[int, int]:
        """Return the id after which a selection begins, and its last id."""
        ids = _delivery.c.id
        last_id = self.read_last_id()
        first = self._fetch_number(sa.select(sa.func.coalesce(sa.func.min(ids), 1))) - 1
        if isinstance(selection.until, int):
            last_id = min(last_id, selection.until)
        if isinstance(selection.since, int):
            first = max(first, selection.since)
        elif selection.since is not None:
            since = _delivery.c.received >= _to_microseconds(selection.since)
            # A sum, for which the planner does not walk the primary key: an index has the times.
            before = sa.func.min(_delivery.c.id + 0) - 1
            first = self._fetch_number(sa.select(sa.func.coalesce(before, last_id)).where(since))
        return max(first, 0), last_id

    def read_delivery(self, delivery: int) -> Delivery:
        """Read one delivery.

        Raises:
            InputError: There is none of that id.
        """
        if isinstance(delivery, SupportsIndex):  # ids of a frame are numbers of numpy
            number = int(delivery)
            for row in self.select(Selection(since=number - 1, until=number, repeats=True)):
                return row
        raise InputError(
            f"The inbox has no delivery {delivery!r:.40}: inbox.raw().index lists them."
        )

    def read_last_id(self) -> int:
        """Return the id of the last delivery; 0 while there is none."""
        return self._fetch_number(sa.select(sa.func.coalesce(sa.func.max(_delivery.c.id), 0)))

    def count_unverified(self, ids: int) -> int:
        """Count the unverified deliveries among the last `ids` ids."""
        last = sa.select(sa.func.coalesce(sa.func.max(_delivery.c.id), 0)).scalar_subquery()
        query = sa.select(sa.func.count()).select_from(_delivery)
        return self._fetch_number(
            query.where(_delivery.c.id > last - ids, _delivery.c.verified.is_(False))
        )

    def _filter_query(
        self, query: Any, table: sa.Table, selection: Selection, first: int, top: int
    ) -> Any:
        """Add the conditions of a selection to a query, for the ids after `first` up to `top`."""
        query = query.where(table.c.id > first, table.c.id <= top)
        if isinstance(selection.since, datetime):
            query = query.where(table.c.received >= _to_microseconds(selection.since))
        if isinstance(selection.until, datetime):
            query = query.where(table.c.received < _to_microseconds(selection.until))
        if selection.contact is not None:
            query = query.where(table.c.id.in_(self._select_about(selection.contact, first, top)))
        if selection.kinds is not None:
            query = query.where(table.c.kind.in_([*selection.kinds]))
        if selection.verified is not None:
            query = query.where(table.c.verified == selection.verified)
        return query

    def _select_about(self, contact: str, first: int, top: int) -> Any:
        """Return a query for the ids of deliveries that may be about a contact."""
        ids, column, body = _delivery.c.id, _delivery.c.contact, _delivery.c.body
        number = sa.literal(contact.removeprefix("+").encode(), sa.LargeBinary)
        # Of nobody, or of several: the body tells; one that is packed is read later.
        if self._sqlite:
            holds = sa.func.instr(body, number) > 0
        else:
            holds = sa.func.position(number.op("IN")(body)) > 0
        holds = sa.or_(holds, *(sa.func.substr(body, 1, len(head)) == head for head in PACKED))
        between = sa.select(ids).where(ids > first, ids <= top)
        return sa.union_all(between.where(column == contact), between.where(column == "", holds))

    def _fetch_number(self, query: Any) -> int:
        """Return the only number that a query yields."""
        return int(self._fetch_rows(query)[0][0])

    def _fetch_rows(self, query: Any) -> Sequence[Any]:
        """Return all rows of a query; convert errors of the database."""
        try:
            with self.reading.connect() as connection:
                return connection.execute(query).all()
        except SQLAlchemyError as error:
            raise StoreError(
                f"The inbox {self.address} cannot be read: {_describe_error(error)}"
            ) from None

    # --- the database ---

    def _prepare(self) -> None:
        """Create the tables and the view that are missing, in one process at a time."""
        with self.engine.begin() as connection:
            if self._sqlite:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            else:
                self._lock_writers(connection)
                # An index over millions takes longer than a receiver's limit.
                connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
            _metadata.create_all(connection)
            version = connection.execute(sa.select(_version.c.version)).scalar()
            if version is None:
                connection.execute(sa.insert(_version).values(version=_SCHEMA))
            elif version != _SCHEMA:
                raise StoreError(
                    f"The inbox {self.address} has schema {version}, and this version of chatkit "
                    f"reads schema {_SCHEMA}: use the version that wrote it."
                )
            made = "VIEW IF NOT EXISTS" if self._sqlite else "OR REPLACE VIEW"
            connection.exec_driver_sql(f"CREATE {made} {_VIEW}")

    def _lock_writers(self, connection: sa.Connection) -> None:
        """Wait for other writers, so that ids are in the order of commits."""
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))


def _parse_address(url: Path | Secret | None) -> sa.URL:
    """Parse the address of an inbox, the file in the user's data folder if there is none.

    It may have a password, so no variable holds its text: a traceback could show it.
    """
    if url is None:
        from platformdirs import user_data_path

        data = os.environ.get("CHATKIT_DATA")
        folder = Path(data).expanduser() if data else user_data_path("chatkit", appauthor=False)
        url = folder / "inbox.sqlite"
    if isinstance(url, Secret) and "://" not in url.reveal():
        url = Path(url.reveal())
    if isinstance(url, Path):
        return sa.URL.create("sqlite", database=str(url.expanduser().absolute()))
    try:
        address = sa.make_url(url.reveal())
    except (SQLAlchemyError, ValueError):
        address = sa.URL.create("unknown")  # never shown: it may hold a password
    backend = address.get_backend_name()
    if backend == "postgresql":
        return address.set(drivername="postgresql+psycopg")
    if backend != "sqlite":
        raise InputError(
            "An inbox is kept in a file or in PostgreSQL: chatkit.Inbox('inbox.sqlite'), "
            "or chatkit.Inbox('postgresql://user:password@host/name')."
        )
    if not address.database or address.database == ":memory:":
        raise InputError(
            "An inbox in memory would forget what it acknowledged: name a file, like "
            "chatkit.Inbox('inbox.sqlite')."
        )
    return sa.URL.create("sqlite", database=str(Path(address.database).absolute()))


def _make_engine(address: sa.URL, *, reading: bool = False) -> sa.Engine:
    """Make the database engine for writing, or for reading alone."""
    if address.get_backend_name() != "sqlite":
        options = {
            "statement_timeout": f"{_PATIENCE if reading else _WAIT}s",
            "lock_timeout": f"{_WAIT}s",
            "synchronous_commit": "on",
            "default_transaction_read_only": "on" if reading else "off",
        }
        return sa.create_engine(
            address,
            hide_parameters=True,  # they are what people wrote
            pool_pre_ping=True,
            connect_args={
                "connect_timeout": _WAIT,
                "options": " ".join(f"-c {name}={value}" for name, value in options.items()),
            },
        )
    engine = sa.create_engine(address, hide_parameters=True, connect_args={"timeout": _WAIT})

    @sa.event.listens_for(engine, "connect")
    def connected(connection: Any, record: Any) -> None:
        """Configure each new connection of SQLite."""
        set_durable_mode(connection, wait=_WAIT)
        connection.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten
        connection.execute(f"PRAGMA query_only = {'ON' if reading else 'OFF'}")

    return engine


def _make_file(path: Path) -> None:
    """Create the file for its owner alone: it holds what customers wrote."""
    if not path.parent.exists():
        make_folder(path.parent)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def _to_delivery(row: Any) -> Delivery:
    """Convert a row of the database to a delivery."""
    values = row._asdict()
    values["received_at"] = _to_time(row.received)
    values["headers"] = tuple((name, value) for name, value in json.loads(row.headers))
    values["body"] = bytes(row.body)
    values["verified_at"] = None if row.verified_at is None else _to_time(row.verified_at)
    return Delivery(*map(values.__getitem__, Delivery._fields))


def _to_time(microseconds: int) -> datetime:
    """Convert microseconds since 1970 to a time in UTC."""
    return _EPOCH + timedelta(microseconds=microseconds)


def _to_microseconds(time: datetime) -> int:
    """Convert a time to the number that is stored; one without an offset is UTC."""
    time = time if time.tzinfo else time.replace(tzinfo=UTC)
    return (time - _EPOCH) // timedelta(microseconds=1)


def _describe_error(error: BaseException) -> str:
    """Return the error of a database in one line, without the statement."""
    if is_busy(getattr(error, "orig", None)):
        return (
            f"another process has locked it for more than {_WAIT} seconds; "
            "end that process, or try again when it has finished"
        )
    lines = str(getattr(error, "orig", None) or error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__
