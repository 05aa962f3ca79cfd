"""The child of the killer: make or resume the plan, apply it, write the result."""

from __future__ import annotations

import json
import os
import pickle
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from faults import crash, naive
from faults.account import Account
from faults.load import NOUNS, Load, edits

#: How a child ends: its work is done; it could not even plan; the engine broke.
DONE, NO_PLAN, BROKEN = 0, 3, 4
#: Sends the killer one line: "applying", or the point at which this process now ends.
Notify = Callable[[str], object]


@dataclass
class Job:
    """One load for one engine, and the folder where its children leave what they know."""

    account: Account
    load: Load
    folder: Path
    engine: str = "chatkit"
    deadline: float = 1.2
    settle: float = 0.5
    concurrency: int = 8
    writer: float = 0.0  #: how often somebody else edits a record before a request of ours
    undoing: bool = False  #: whether its run is now to be taken back
    at: str = ""  #: the home of the journals; without it the folder of the job

    def read(self, name: str) -> Any:
        """Read what a child has written; None if none has."""
        path = self.folder / name
        return json.loads(path.read_text()) if path.exists() else None

    def write(self, name: str, value: Any) -> None:
        """Write a file that is there whole or not at all."""
        half = self.folder / f"{name}.half"
        half.write_text(json.dumps(value, default=str))
        half.replace(self.folder / name)


def run(job: Job, points: list[str], notify: Notify) -> int:
    """Do the work in this process, which is a fork; the code to end with."""
    os.environ["CHATKIT_DATA"] = str(job.folder / "data")
    if job.at:
        os.environ["CHATKIT_RUNS"] = job.at
    quiet = os.open(job.folder / "output", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)  # progress bars
    try:
        for point in points:
            crash.install(point, notify)
        return _work(job, notify)
    except BaseException:  # noqa: BLE001  (the killer shows it)
        (job.folder / "broken").write_text(traceback.format_exc())
        return BROKEN


def _work(job: Job, notify: Notify) -> int:
    import chatkit

    about = job.account.about
    profile = chatkit.ServiceProfile(**about["profile"])
    with chatkit.Client(
        about["base_url"],
        about["account_id"],
        about["token"],
        profile=profile,
        deadline=job.deadline,
        retry=chatkit.RetryPolicy(settle=job.settle),
    ) as client:
        work = {"naive": _naive, "chatkit": _chatkit}[job.engine]
        return _undo(job, client, notify) if job.undoing else work(job, client, notify)


def _undo(job: Job, client: Any, notify: Notify) -> int:
    """Take the run back, with what was found after a lost answer; go on where it stopped."""
    import chatkit

    path = job.folder / "undo"
    if not path.exists():
        run = chatkit.runs(client).index[-1]
        plan = chatkit.undo(run, client, include_adopted=True)
        report = job.read("result")
        keys = chatkit.account.journal(run)
        refused = [*plan.refused["row"]]
        unsure = keys[keys["row"].isin(refused)]
        stays = _places_of(job, refused, unsure)
        job.write(
            "accounted",
            {
                "rows": [row["label"] for row in report],
                "taken": [*dict.fromkeys(change.row for change in plan.changes)],
                "refused": refused,
                "left": [*plan.left_out["row"]],
                "stays": stays,
            },
        )
        plan.save(path)
    notify("applying")
    result = client.load_plan(path).apply(concurrency=job.concurrency)
    job.write("undone", _rows_of(result))
    job.write("undo events", chatkit.account.journal(result).event.value_counts().to_dict())
    return DONE


def _places_of(job: Job, refused: list[Any], noted: Any) -> list[str]:
    """Return the places of the records whose rows cannot be undone, as the oracle writes them."""
    changes = {_label(c["row"]): c for c in job.read("changes")}
    outcome = [(row, changes[_label(row)]["key"]) for row in refused]
    outcome += [(row, d.get("key")) for row, d in zip(noted["row"], noted["detail"], strict=True)]
    places = []
    for row, key in outcome:
        change = changes[_label(row)]
        resource = NOUNS.get(change["noun"], job.load.resource)
        if key is not None:
            places.append(f"{change.get('code') or resource}/{key}")
    return places


def _label(row: Any) -> str:
    """Write what a row is called, whether it has been through JSON or not."""
    return json.dumps(row, default=str)


def _naive(job: Job, client: Any, notify: Notify) -> int:
    job.write("changes", naive.changes(job.load))
    _mark(job, "planned", "apply")
    notify("applying")
    job.write("result", naive.apply(client, job.load, job.folder, job.concurrency))
    return DONE


def _mark(job: Job, *names: str) -> None:
    for name in names:
        job.account.command("mark", name=name)


def _chatkit(job: Job, client: Any, notify: Notify) -> int:
    import chatkit

    path = job.folder / "plan"
    if not path.exists():
        try:
            plan = _planned(job, client)
        except chatkit.errors.CallError:
            return NO_PLAN
        job.write("changes", [change.as_json() for change in plan.changes])
        plan.save(path)
    _mark(job, "planned", "apply")
    if job.writer:
        job.account.command("writer", edits=edits(job.load), rate=job.writer)
    notify("applying")
    runs = chatkit.runs(client)
    if "open" in list(runs.state):
        result = chatkit.resume(
            runs.index[runs.state == "open"][0], client, concurrency=job.concurrency
        )
    else:
        result = client.load_plan(path).apply(
            many=True, irreversible=True, concurrency=job.concurrency
        )
    job.write("result", _rows_of(result))
    _check_state(job, client)
    job.write("events", chatkit.account.journal(result).event.value_counts().to_dict())
    return DONE


def _planned(job: Job, client: Any) -> Any:
    """Plan the load as a person would: from a frame of the resource, edited."""
    import pandas as pd

    load = job.load
    if load.resource == "account":
        return _plan_account(job, client)
    new = pd.DataFrame([row.fields for row in load.of("create")])
    if load.resource == "templates":
        rows = [
            {"template_code": row.code, "lang_code": row.key, "delete": row.kind == "delete"}
            | row.fields
            for row in load.rows
        ]
        return client.templates.plan(rows)
    resource = getattr(client, load.resource)
    frame = resource.frame()
    old = frame.loc[[row.key for row in load.of("update")]]
    for field in {name for row in load.of("update") for name in row.fields}:
        values = [row.fields.get(field) for row in load.of("update")]
        old[field] = pd.Series(values, index=old.index)
    edited = pd.concat([old.reset_index(), new], ignore_index=True)
    edited.attrs = frame.attrs  # concat drops the account from which it was read
    return resource.plan(edited, delete=[row.key for row in load.of("delete")])


def _plan_account(job: Job, client: Any) -> Any:
    """Plan the load as the state that the account is to have: what it has, edited."""
    from chatkit.account.folder import read_state
    from chatkit.account.planning import plan_state

    load = job.load
    codes = {row.code for row in load.rows if row.code}
    state = read_state(client, contacts=True, codes=sorted(codes))
    held = {
        resource: {name: dict(fields) for name, fields in state.get(noun).items()}
        for noun, resource in NOUNS.items()
    }
    names = {
        resource: {key: name for name, key in state.ids[noun].items()}
        for noun, resource in NOUNS.items()
    }
    gone = []
    for row in load.rows:
        fields = dict(row.fields)
        if row.resource == "templates":
            name: Any = (row.code, fields.pop("lang_code", row.key))
        elif row.kind == "create" and row.resource == "contacts":
            name = fields.pop("country_code"), fields.pop("number")
        elif row.kind == "create":
            name = fields.pop("name", None) or fields.pop("url")
        else:
            name = names[row.resource][row.key]
        if row.kind == "delete":
            del held[row.resource][name]
            noun = next(n for n, resource in NOUNS.items() if resource == row.resource)
            gone.append((noun, name))
        else:
            held[row.resource].setdefault(name, {}).update(fields)
    records = {noun: held[resource] for noun, resource in NOUNS.items()}
    expected = replace(state, records=records)
    (job.folder / "expected").write_bytes(pickle.dumps(expected))
    return plan_state(expected, client, delete=gone, broken=True)


def _check_state(job: Job, client: Any) -> None:
    """Write what the account still lacks of the state that it was to have; faults may hide it."""
    import chatkit
    from chatkit.account.planning import plan_state

    if not (job.folder / "expected").exists():
        return
    expected = pickle.loads((job.folder / "expected").read_bytes())
    with suppress(chatkit.errors.CallError):
        lacks = [f"{c.kind} {c.noun} {c.label}" for c in plan_state(expected, client).changes]
        job.write("lacks", lacks)


def _rows_of(result: Any) -> list[dict[str, Any]]:
    return [
        {"label": label}
        | {name: getattr(row, name) for name in ("change", "state", "reason", "evidence")}
        for label, row in zip(result.index, result.itertuples(), strict=True)
    ]
