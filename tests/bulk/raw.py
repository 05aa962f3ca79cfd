"""The twelve writes of the API, each to an account of its own behind a raw socket."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

from bulk.applying import settled
from bulk.operations import OPERATIONS, Operation
from bulk.wayward import Answer, Service, plan_of, wayward
from faultserver import Asked, FaultServer, Line, Script, http
from volume import FULL

from chatkit.account import history

#: What happens to one call: `do` does it, and the line sends the bytes of the answer.
Fault = Callable[[Line, Asked, Callable[[], Answer]], None]


def right(line: Line, asked: Asked, do: Callable[[], Answer]) -> None:
    status, fields, body = do()
    line.send(http(status, body, kind=fields.get("content-type")))


def before(script: Script) -> Fault:
    """Answer by a script; nothing was done."""
    return lambda line, asked, do: script(line, asked)


def after(script: Script) -> Fault:
    """Do it, and answer by a script."""

    def fault(line: Line, asked: Asked, do: Callable[[], Answer]) -> None:
        do()
        script(line, asked)

    return fault


class Outcome(NamedTuple):
    """One row of a result, and whether it is true."""

    state: str
    evidence: str
    sent: int
    arrived: int  #: how many writes the service got
    true: bool  #: whether the account holds what it should, under the reported key


class Case:
    """One operation on an account behind a raw socket, whose calls meet faults in turn."""

    def __init__(
        self,
        operation: Operation,
        service: Service,
        writes: Iterable[Fault],
        looks: Iterable[Fault],
    ) -> None:
        self.operation, self.service = operation, service
        self.change = operation.begin(service)
        self.writes = iter(writes)
        self.looks = iter(looks)  #: for the reads after the first write
        self.server = FaultServer(self._serve)

    def _serve(self, line: Line, asked: Asked) -> None:
        do = partial(self.service.answer, asked.method, asked.path, dict(asked.fields), asked.body)
        if asked.method != "GET":
            next(self.writes, right)(line, asked, do)
        elif self.arrived:
            next(self.looks, right)(line, asked, do)
        else:
            right(line, asked, do)

    @property
    def arrived(self) -> list[Asked]:
        return [asked for asked in self.server.asked if asked.method != "GET"]

    def apply(self, deadline: float) -> Any:
        with self.service.client(deadline=deadline, base_url=self.server.base_url) as client:
            plan = plan_of(self.operation.endpoints(client), [self.change])
            return settled(plan.apply, settle=0, irreversible=True)

    def resume(self, result: Any, deadline: float = 5.0) -> Any:
        with self.service.client(deadline=deadline, base_url=self.server.base_url) as client:
            return settled(history.resume, result, client, settle=0)

    def outcome(self, result: Any) -> Outcome:
        [row] = result.itertuples()
        present = self.operation.records(self.service) == self.operation.expected
        key = "lang_code" if self.operation.noun == "content" else "id"
        source = "templates/greeting/contents" if key == "lang_code" else self.operation.resource
        keys = [record[key] for record in self.service.all(source)] or [self.change.key]
        true = present and list(map(str, keys)) == [str(row.key)]
        return Outcome(row.state, row.evidence, row.sent, len(self.arrived), true)


def each(
    work: Callable[[Case], Any],
    *writes: Fault,
    looks: Iterable[Fault] = (),
    operations: Sequence[Operation] = OPERATIONS,
) -> dict[str, Any]:
    """Return the outcome of each operation whose calls meet these faults."""

    def one(operation: Operation) -> tuple[str, Any]:
        with wayward() as service:
            case = Case(operation, service, writes, looks)
            with case.server:
                return str(operation), work(case)

    with ThreadPoolExecutor(len(operations)) as threads:
        return dict(threads.map(one, operations))


def applied(
    *writes: Fault, deadline: float = 5.0, operations: Sequence[Operation] = OPERATIONS
) -> dict[str, Outcome]:
    return each(lambda case: case.outcome(case.apply(deadline)), *writes, operations=operations)


def at_once(works: dict[str, Callable[[], Any]]) -> dict[str, Any]:
    """Run several coroutines that mostly wait, and return their results."""
    with ThreadPoolExecutor(len(works)) as threads:
        begun = {name: threads.submit(work) for name, work in works.items()}
        return {name: one.result() for name, one in begun.items()}


def share(fault: str) -> Sequence[Operation]:
    """One write to each resource, of all three verbs: what one fault of many meets.

    Each operation meets a third of the faults; in `make full` each meets all of them.
    """
    first = zlib.crc32(fault.encode())
    chosen = [OPERATIONS[3 * n + (first + n) % 3] for n in range(len(OPERATIONS) // 3)]
    return OPERATIONS if FULL else chosen


def these(expected: dict[str, Any], actual: dict[str, Any]) -> dict[str, Any]:
    """Return the expected outcomes of the operations that have an actual one."""
    return {name: expected[name] for name in actual}


def of_each(what: Callable[[Operation], Any]) -> dict[str, Any]:
    return {str(operation): what(operation) for operation in OPERATIONS}
