"""Resource: the methods that contacts, flows, templates and webhooks share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic

import msgspec

from chatkit.api.answer import Envelope
from chatkit.api.call import Call
from chatkit.api.record import add_body_signature
from chatkit.api.transport import Transport
from chatkit.bulk.endpoints import Endpoints, Key, R
from chatkit.errors import (
    BadAnswer,
    CallError,
    HelpPage,
    InputError,
    NotPermitted,
    Problem,
    Refused,
    get_first_line,
    safe_repr,
)
from chatkit.report import (
    Finding,
    make_cell_problem,
    make_document_problem,
    select_errors,
    select_errors_and_warnings,
    summary,
)

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.bulk.endpoints import Existing
    from chatkit.bulk.plan import Plan


class Resource(Generic[R], metaclass=HelpPage):
    """One account's records of one kind: read, created, changed and deleted, one or many."""

    #: What the resource is, and what makes its calls.
    _declaration: ClassVar[type[Endpoints[Any]]]

    def __init_subclass__(cls, endpoints: type[Endpoints[Any]]) -> None:
        """Give the resource's create and update the signature and help of its body."""
        super().__init_subclass__()
        cls._declaration = endpoints
        for method in (cls.create, cls.update):
            copy = add_body_signature(method, endpoints.body, endpoints.record)
            setattr(cls, method.__name__, copy)

    def __init__(self, transport: Transport) -> None:
        self._endpoints: Endpoints[R] = self._declaration(transport)

    @property
    def _target(self) -> Endpoints[R]:
        """The target of plans for the resource."""
        return self._endpoints

    @safe_repr
    def __repr__(self) -> str:
        return f"<{'/'.join(self._endpoints.path)} of the account: .frame() shows them>"

    # --- one record -----------------------------------------------------------------

    def get(self, key: Key) -> R:
        """Read one record in full.

        Raises:
            NotFound: There is none with that key.
        """
        endpoints = self._endpoints
        call = endpoints.get_call(key)
        return endpoints.read(call, self._send(call, key), key)

    def create(self, *, broken: bool = False, **fields: Any) -> R:
        """Create a record and return it as the service now has it (read back).

        What is checked before it is sent, and has errors, is sent with `broken=True` only.

        Raises:
            InputError: A field is missing, unknown or wrong, or has errors; nothing was sent.
            Conflict: One with that key exists.
            UnknownOutcome: The answer was lost; the record may exist.
        """
        endpoints = self._endpoints
        self._check_fields(fields, {}, creates=True, broken=broken)
        body = self._validate_body(fields, creates=True)
        call = endpoints.create_call(body)
        envelope = self._send(call, body=body)
        made = self._read_back(endpoints.key_of(call, envelope, body), call, envelope, body)
        self._note_written(None, made, body)
        return made

    def update(self, key: Key, *, broken: bool = False, **fields: Any) -> R:
        """Change the fields that you pass, and return the record read back.

        What is checked before it is sent, and has errors, is sent with `broken=True` only.

        Raises:
            InputError: A field is unknown, wrong, has errors or cannot be changed; nothing was
                sent.
            NotFound: There is none with that key.
            UnknownOutcome: The answer was lost; the change may have landed.
        """
        endpoints = self._endpoints
        live: R | None = None
        if endpoints.needs_live_record(fields):
            with suppress(InputError, NotPermitted):  # wrong fields are reported below
                self._validate_body(fields, creates=False)
                live = self.get(key)
        before = None if live is None else endpoints.dump_visible_fields(live)
        self._check_fields(fields, before, creates=False, broken=broken)
        body = self._validate_body(fields, creates=False)
        carried = (
            endpoints.select_fields_to_repeat(live or self.get(key)) if endpoints.repeats else {}
        )
        call = endpoints.update_call(key, carried | body)
        envelope = self._send(call, key, body)
        made = self._read_back(key, call, envelope, body)
        self._note_written(live, made, body)
        return made

    def delete(self, key: Key) -> None:
        """Delete one record.

        Raises:
            NotFound: There is none with that key.
            UnknownOutcome: The answer was lost; it may be gone.
        """
        self._send(self._endpoints.delete_call(key), key)

    # --- plans ----------------------------------------------------------------------

    def plan(
        self,
        frame: pd.DataFrame | Iterable[Mapping[str, Any]] | None = None,
        delete: Iterable[Any] | None = None,
        *,
        base: pd.DataFrame | None = None,
        existing: Existing | None = None,
        skip_invalid: bool = False,
        other_account: bool = False,
        duplicates: bool = False,
        broken: bool = False,
    ) -> Plan:
        """Show what an edited frame would change. Nothing is sent before `plan.apply()`.

        A row with a key (an id; of contents the language) is an edit of that record; in a frame
        that was not read here, a contact of another number and another name than that id has is
        a conflict. A row without one becomes a create, unless a record exists that it names (by
        number, name or address): `existing` says what becomes of that. Only edited cells that can
        be written count. An empty cell (NA) and an absent column are left alone, `""` clears a
        field. A row that is missing from the frame is not deleted: name it in `delete`, or set a
        column `delete`. Flow documents and contents are checked as they would then be: errors are
        in `plan.refused`, what else was found in `plan.notes`.

        Args:
            frame: What `frame()` gave, edited; or a frame of your own, or a list of dicts.
            delete: Keys of records to delete, or a frame that holds them.
            base: The frame that this one was made from, where this one does not hold what it was
                when it was read: files, `merge` and `join` lose it. Without it a row that differs
                from the account is not planned, unless its `updated_at` shows that the record has
                not changed since, or you wrote it as a dict of what can be sent.
                `base=client.contacts.frame()`, read now, takes all that differs for your edit.
            existing: What becomes of an existing record that a row without a key names:
                "fill" writes only fields that are empty there and shows the others as
                skipped, with both values; "update" writes what the row says; "skip" writes
                nothing; "refuse" refuses the rows that differ. Without it "fill", and of
                contents "update". A number with another country code is a conflict in any case.
            skip_invalid: Plan the good rows although others cannot be planned.
            other_account: Take a frame of another account: its ids, and what the service
                sets, are ignored.
            duplicates: Make new records although there are some of the same name, where the
                service takes them.
            broken: Plan what has errors, too: documents and contents that will be refused.

        Raises:
            InputError: The frame as a whole cannot be planned. Single cells that cannot are
                in `plan.refused`.
        """
        from chatkit.bulk.planner import make_plan
        from chatkit.imports import accessor

        accessor.register()
        return make_plan(
            self._endpoints,
            self._endpoints,
            frame,
            delete,
            base=base,
            existing=existing,
            skip_invalid=skip_invalid,
            other_account=other_account,
            duplicates=duplicates,
            broken=broken,
        )

    # --- helpers --------------------------------------------------------------------

    def _validate_body(self, fields: Mapping[str, Any], *, creates: bool) -> dict[str, Any]:
        """Validate the fields of a create or an update; return the body to send.

        Raises:
            InputError: Some cannot be sent; it names the fields to write in their place.
        """
        endpoints, record = self._endpoints, f"This {self._endpoints.noun}"
        try:
            if creates:
                return endpoints.body.validate_create(fields, record, endpoints.required())
            return endpoints.body.validate_update(fields, record)
        except InputError as error:
            instead = endpoints.instead
            problems = [
                each._replace(next_step=instead.get(each.field, each.next_step))
                for each in error.problems
            ]
            raise InputError(get_first_line(error), problems) from None

    def _check_fields(
        self,
        fields: Mapping[str, Any],
        live: Mapping[str, Any] | None,
        *,
        creates: bool,
        broken: bool,
    ) -> None:
        """Check the fields of a record, and the record as it would be: refuse errors, else warn.

        Args:
            fields: The fields to send.
            live: The live record; empty for a new one, None if it is unknown.
            creates: Whether the record is a new one.
            broken: Warn of errors, too, and let them pass.

        Raises:
            InputError: There are errors. Invalid fields are named as well.
        """
        endpoints = self._endpoints
        right: dict[str, Any] = {}
        for name in endpoints.body.model_fields.keys() & fields.keys():
            good, _ = endpoints.body.column(name, [fields[name]])
            if good:  # `_validate_body` refuses other shapes
                right[name] = good[0]
        label = endpoints.label(fields) or f"This {endpoints.noun}"
        stopped: list[Problem] = []
        others = self._check_against_others(right) if creates else ()
        checked: list[tuple[Sequence[Finding], Callable[[Finding], Problem], str]] = [
            ([*endpoints.check_record(right, live), *others], partial(make_cell_problem, right), "")
        ]
        for name in endpoints.documents & right.keys():
            place = partial(make_document_problem, name, right[name])
            checked.insert(0, (endpoints.findings(name, right[name]), place, "warning"))
        for findings, problem_of, severity in checked:
            if wrong := [] if broken else select_errors(findings):
                stopped += map(problem_of, wrong)
                for each in findings:  # so that who has mended the errors need not come back
                    if each.severity == severity:
                        problem = problem_of(each)
                        stopped.append(problem._replace(reason=f"warning: {problem.reason}"))
            elif notable := select_errors_and_warnings(findings):
                warnings.warn(f"{label} has {summary(notable)}", stacklevel=4)
        if stopped:
            try:
                self._validate_body(fields, creates=creates)
            except InputError as error:
                stopped[:0] = error.problems
            done = "created" if creates else "updated"
            reason = f"This {endpoints.noun} cannot be {done}; broken=True sends it anyway:"
            raise InputError(reason, stopped)

    def _check_against_others(self, fields: Mapping[str, Any]) -> Sequence[Finding]:
        """Check a new record against others of the account, which may be read."""
        return ()

    def _send(
        self, call: Call, key: Key | None = None, body: Mapping[str, Any] = MappingProxyType({})
    ) -> Envelope:
        """Send a call of one record; add advice to a refusal."""
        try:
            return self._endpoints.transport.send(call)
        except Refused as error:
            if step := self._endpoints.next_step(error, key, body):
                error.advise(step)
            raise

    def _frame(
        self, filters: Mapping[str, str] = MappingProxyType({}), *, full: bool
    ) -> pd.DataFrame:
        """Read the whole list into a DataFrame, indexed by key; `full` reads each record too."""
        from chatkit.imports import accessor

        accessor.register()
        return self._endpoints.frame(filters, full=full)

    def _note_written(self, before: R | None, made: R, sent: Mapping[str, Any]) -> None:
        """Record the write in the ledger, for resources that have one.

        Args:
            before: The record before; None for a new one, or if it was not read.
            made: The record now.
            sent: The fields that were sent.
        """

    def _read_back(self, key: Key, call: Call, envelope: Envelope, body: Mapping[str, Any]) -> R:
        """Read a written record back, as its answer may hold an id alone.

        A write that took effect is never reported as failed because reading it back failed.
        """
        try:
            return self.get(key)
        except CallError as error:
            warnings.warn(
                f"{call} is done, but cannot be read back ({error.reason}): fields that the "
                "answer did not hold are empty.",
                stacklevel=4,
            )
            return self._read_answer(key, call, envelope)

    def _read_answer(self, key: Key, call: Call, envelope: Envelope) -> R:
        """Parse the record in the answer to a write; it has its key at least."""
        bare = {self._endpoints.key: key}
        try:
            answered = msgspec.json.decode(envelope.data)
            known = answered if isinstance(answered, dict) else {}
            data = msgspec.Raw(msgspec.json.encode(known | bare))
            return self._endpoints.parse_record(call, data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, BadAnswer):
            return self._endpoints.parse_record(call, msgspec.Raw(msgspec.json.encode(bare)))


def get_endpoints(resource: Resource[R]) -> Endpoints[R]:
    """Return the endpoints of a resource, for the engine and the widgets."""
    if not isinstance(resource, Resource):
        instead = getattr(resource, "_resource_instead", "like client.contacts")
        raise InputError(f"This takes a resource, {instead}, not {type(resource).__name__}.")
    return resource._endpoints
