"""Random frames, plans, faults, crashes, undos and somebody else, against the model.

`python -m faults.machine --examples 2000` is the large run; it prints what it has met.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
import tempfile
from collections import Counter
from typing import Any

import pandas as pd
import pytest
from caller import Caller
from faults.model import LANDED, Known, Undone, differences, held, same
from faults.wildservice import (
    BOTH,
    CALM,
    POINTS,
    READS,
    WRITES,
    Crash,
    Sky,
    WildService,
    hurried,
    meddle,
)
from hypothesis import HealthCheck, Verbosity, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

import chatkit
from chatkit import history

CODE = "greeting"
LANGUAGES = ("en", "de", "fr", "es", "pt_BR")
NAMES = ("Ana Cruz", "Zoë", "", "Mary Ann Lee", "Bo  van Dam")
NUMBERS = tuple(f"20255501{n:02}" for n in range(7))
DOCUMENTS = tuple({"version": f"7.{n}", "screens": [{"id": "S", "n": n}]} for n in range(4))
URLS = tuple(f"https://hooks.example/{n}" for n in range(5))
TEXTS = ("Hello", "Hi {{1}}", "Bye")

#: For each room the fields to edit with what to write, the fields of a new record.
EDITS: dict[str, list[tuple[str, tuple[Any, ...]]]] = {
    "contacts": [("name", NAMES), ("number", NUMBERS), ("country_code", ("+1", "+44"))],
    "flows": [("flow_json", DOCUMENTS)],
    "contents": [("text", TEXTS), ("footer", ("", "Foot")), ("is_draft", (True, False))],
    "webhooks": [("is_active", (False, True)), ("events", (["*"], ["a.b"])), ("url", URLS)],
}
ROOMS = tuple(EDITS)

#: What the service is like; the first of each is the usual.
SERVICES = st.fixed_dictionaries(
    {
        "put": st.sampled_from(("merge", "replace")),
        "put_requires": st.sampled_from(("nothing", "create_fields")),
        "contact_key": st.sampled_from(("number", "country_code_and_number")),
        "name_split": st.sampled_from(("first_middle_last", "first_last", "first_only")),
        "restore_keeps": st.sampled_from(("everything", "nothing")),
        "inactive_readable": st.booleans(),
        "second_delete": st.sampled_from(("not_found", "ok")),
        "update_status": st.sampled_from((200, 204)),
        "updated_at_moves": st.sampled_from((True, False)),
        "search_param": st.sampled_from(("search", None)),
        "max_page_size": st.sampled_from((100, 3)),
        "duplicate_webhook_url": st.sampled_from(("refuse", "allow")),
        "duplicate_flow_name": st.sampled_from(("allow", "refuse")),
    }
)
FEW = st.integers(0, 5)
CELLS = st.lists(st.tuples(FEW, FEW, FEW), max_size=4)
NEW = st.lists(st.tuples(FEW, FEW), max_size=3)
SKIES = st.just(CALM) | st.builds(
    Sky,
    writes=st.lists(st.sampled_from(("right", *WRITES, *BOTH)), max_size=6).map(tuple),
    reads=st.lists(st.sampled_from(("right", *READS, *BOTH)), max_size=5).map(tuple),
    crash=st.none() | st.tuples(st.sampled_from(sorted(POINTS)), st.integers(1, 9), st.booleans()),
    concurrency=st.sampled_from((1, 3)),
)
#: What was met, for the table of a large run.
MET: Counter[str] = Counter()


def fill(caller: Caller) -> None:
    """A small account."""
    for n, name in enumerate(NAMES):
        caller.contact(NUMBERS[n], **{"name": name} if name else {})
    for n in range(3):
        caller.flow(f"Flow {n}", flow_json=DOCUMENTS[n])
        caller.content(LANGUAGES[n], CODE, text=TEXTS[n])
        caller.webhook(URLS[n])


class Account(RuleBasedStateMachine):
    """One account, its frames, plans and runs, and somebody else."""

    @initialize(service=SERVICES, tight=st.booleans())
    def begin(self, service: dict[str, Any], tight: bool) -> None:
        self.patch = pytest.MonkeyPatch()
        self.folder = tempfile.TemporaryDirectory()
        self.patch.setenv("CHATKIT_DATA", self.folder.name)
        self.patch.setattr(sys, "stdout", open(os.devnull, "w"))  # noqa: SIM115
        hurried(self.patch, tight=tight)
        self.service = WildService(chatkit.ServiceProfile(**service), fill)
        self.patch.setattr(asyncio, "to_thread", self.service.in_thread)
        self.model = self.service.model
        self.client = self.service.client()
        self.frames: dict[str, tuple[pd.DataFrame, int, Any]] = {}
        self.runs: list[Known] = []
        self.pruned: set[str] = set()

    def teardown(self) -> None:
        if hasattr(self, "client"):
            self.client.close()
            self.service.close()
            sys.stdout.close()
            self.patch.undo()
            self.folder.cleanup()

    @invariant()
    def the_account_is_as_the_model(self) -> None:
        if hasattr(self, "client"):
            _nothing(self.model.wrong)
            _nothing(differences(self.model.records, held(self.service.sandbox)))

    # --- plans ----------------------------------------------------------------------

    @rule(
        room=st.sampled_from(ROOMS), cells=CELLS, new=NEW, gone=st.lists(FEW, max_size=2),
        stale=st.booleans(), twins=st.booleans(), saved=st.booleans(),
        theirs=st.none() | st.tuples(FEW, FEW), sky=st.none() | SKIES,
    )  # fmt: skip
    def plan(
        self, room: str, cells: Any, new: Any, gone: Any, stale: bool, twins: bool, saved: bool,
        theirs: Any, sky: Sky | None,
    ) -> None:  # fmt: skip
        """Edit a frame, maybe one that was read long ago, and plan it; maybe apply it at once."""
        if room not in self.frames or not stale:
            self._read(room)
        frame, since, base = self.frames[room]
        wanted, edited = self._edit(room, frame, cells, new)
        keys = list(dict.fromkeys(frame.index[n % len(frame)] for n in gone)) if len(frame) else []
        plan = self._desk(room).plan(wanted, delete=keys, skip_invalid=True, duplicates=twins)
        self._planned_as_edited(plan, frame, edited, base)
        if saved:
            plan = self.client.load_plan(plan.save(os.path.join(self.folder.name, "plan")))
        known = Known(plan, since)
        self.runs.append(known)
        if theirs is not None and plan.changes:
            change = plan.changes[theirs[0] % len(plan.changes)]
            meddle(self.service.other, room, change, theirs[1] % 4)
        if sky is not None:
            self._apply(known, sky)

    @rule(which=FEW, adopted=st.booleans(), sky=st.none() | SKIES)
    def undo(self, which: int, adopted: bool, sky: Sky | None) -> None:
        """Plan to take a run back, whatever became of it; it may be an undo itself."""
        known = self._choose([run for run in self.runs if run.result is not None], which)
        if known is None:
            return
        assert known.result is not None
        plan = chatkit.undo(known.result, self.client, include_adopted=adopted)
        landed = [
            c for c, s in zip(known.changes, known.states, strict=True) if s in LANDED
        ]  # fmt: skip
        rows = {cell.row for cell in plan.cells} | {change.row for change in plan.changes}
        assert rows >= {change.row for change in landed}
        MET["undos"] += 1
        undo = Known(plan, known.since, frozenset({known.id}), undoes=Undone(known, landed))
        self.runs.append(undo)
        if sky is not None:
            self._apply(undo, sky)

    # --- runs -----------------------------------------------------------------------

    @rule(which=FEW, sky=SKIES)
    def apply(self, which: int, sky: Sky) -> None:
        """Apply a plan that was not applied yet, or not to its end."""
        known = self._choose([run for run in self.runs if not run.done], which)
        if known is not None:
            self._apply(known, sky)

    @rule(which=FEW, sky=SKIES)
    def resume(self, which: int, sky: Sky) -> None:
        """Go on with a run that has not come to its end, knowing nothing but its name."""
        open_ones = [run for run in self.runs if run.started and not run.done]
        known = self._choose([run for run in open_ones if self._journalled(run)], which)
        if known is not None:
            self._apply(known, sky, resuming=True)

    @rule(which=FEW, resuming=st.booleans())
    def again(self, which: int, resuming: bool) -> None:
        """What is finished sends nothing more and says the same."""
        done = [run for run in self.runs if run.done and run.id not in self.pruned]
        known = self._choose(done, which)
        if known is None:
            return
        sent = self.service.requests
        result = self._call(known, CALM, resuming)
        assert self.service.requests == sent
        assert known.states == result["state"].tolist()

    def _apply(self, known: Known, sky: Sky, *, resuming: bool = False) -> None:
        before = len(self.model.log)
        try:
            with self.service.at_work(known, sky):
                result = self._call(known, sky, resuming)
        except Crash:
            MET["crashes"] += 1
            known.result = None
            return
        known.result = result
        assert not re.match(r"\w+(Error|Exception|Warning|StopIteration): ", known.stopped)
        assert known.stopped or not {"unknown", "not sent"} & {*known.states}
        MET["runs"] += 1
        MET["effects"] += len(self.model.log) - before
        MET.update(f"rows {state}" for state in result["state"])
        _nothing(self.model.lies(known, result))
        if sky.calm:
            self._came_to_its_end(known)
        if known.undoes and known.done:
            MET["undone"] += len(known.undoes.rows)
            _nothing(self.model.broken(known))

    def _call(self, known: Known, sky: Sky, resuming: bool) -> pd.DataFrame:
        how = {"concurrency": sky.concurrency, "settle": 0.0}
        if resuming:
            return chatkit.resume(known.id, self.client, **how)
        result: pd.DataFrame = known.plan.apply(many=True, irreversible=True, **how)
        return result

    def _came_to_its_end(self, known: Known) -> None:
        """Nothing stays open in calm weather, unless so many refusals stopped it."""
        assert known.result is not None
        if "did not go as planned" in known.stopped or "were refused" in known.stopped:
            return
        reasons = known.result["reason"][known.result["state"] == "unknown"]
        ambiguous = [reason for reason in reasons if "new ones of that name" in reason]
        assert known.done or ambiguous, known.result[["label", "state", "reason"]].to_string()
        assert len(ambiguous) == len(reasons) and "not sent" not in known.states

    # --- the world ------------------------------------------------------------------

    @rule(room=st.sampled_from(ROOMS), which=FEW, field=FEW, value=FEW)
    def somebody_else(self, room: str, which: int, field: int, value: int) -> None:
        """Somebody edits a record, deletes it, or makes one."""
        there = sorted(
            (p for p, r in self.model.records.items() if p[0] == room and r["active"]), key=str
        )
        path, chosen = (f"templates/{CODE}/contents" if room == "contents" else room), None
        if there:
            chosen = there[which % len(there)][1]
            chosen = chosen[1] if room == "contents" else chosen
        fields = EDITS[room]
        if chosen is None or field == 5:
            self.service.other("POST", path, **_new(room, which, value))
        elif field == 4:
            self.service.other("DELETE", f"{path}/{chosen}")
        else:
            name, values = fields[field % len(fields)]
            method = "PATCH" if room == "webhooks" else "PUT"
            self.service.other(method, f"{path}/{chosen}", **{name: values[value % len(values)]})

    @rule(prune=st.booleans())
    def start_anew(self, prune: bool) -> None:
        """A fresh kernel, which has no plan in memory: the list of runs tells which are open."""
        self.client.close()
        self.client = self.service.client()
        self.frames.clear()
        self.runs = [run for run in self.runs if run.started]
        if prune:
            gone = set(history.prune(0))
            assert not any(
                run.id in gone and run.result is not None and run.stopped for run in self.runs
            )
            self.pruned |= gone
            for run in gone:
                with pytest.raises(chatkit.JournalError):
                    chatkit.undo(run, self.client)
            self.runs = [run for run in self.runs if run.id not in gone]
        listed = chatkit.runs(self.client)
        for run in self.runs:
            if run.started and run.result is not None:
                assert listed["state"][run.id] == ("finished" if run.done else "open")

    # --- helpers --------------------------------------------------------------------

    def _desk(self, room: str) -> Any:
        return self.client.templates(CODE) if room == "contents" else getattr(self.client, room)

    def _read(self, room: str) -> None:
        frame = self._desk(room).frame()
        self.frames[room] = frame, len(self.model.log), dict(self.model.records)

    def _journalled(self, run: Known) -> bool:
        return os.path.exists(os.path.join(self.folder.name, "runs", f"{run.id}.db"))

    @staticmethod
    def _choose(runs: list[Known], which: int) -> Known | None:
        """The so-manieth latest."""
        return runs[-1 - which % len(runs)] if runs else None

    @staticmethod
    def _edit(room: str, frame: pd.DataFrame, cells: Any, new: Any) -> Any:
        """Edit cells and add rows as a person would; the frame, and what each key was given."""
        wanted = frame.reset_index()
        edited: dict[Any, dict[str, Any]] = {}
        for row, field, value in cells if len(frame) else ():
            name, values = EDITS[room][field % len(EDITS[room])]
            if name not in wanted:
                wanted[name] = pd.Series([None] * len(wanted), dtype=object)
            at = row % len(frame)
            wanted.at[at, name] = values[value % len(values)]
            edited.setdefault(frame.index[at], {})[name] = values[value % len(values)]
        if new:
            rows = pd.DataFrame([_new(room, *which) for which in new], dtype=object)
            attrs = wanted.attrs
            wanted = pd.concat([wanted, rows], ignore_index=True)
            wanted.attrs = attrs  # pandas forgets where the frame was read
        return wanted, edited

    def _planned_as_edited(self, plan: Any, frame: pd.DataFrame, edited: Any, base: Any) -> None:
        """A plan has the edits that say something else, or refuses them, and no others."""
        found = {c.key: dict(c.after) for c in plan.changes if c.kind == "update"}
        gone = {c.key for c in plan.changes if c.kind == "delete"}
        refused = len({cell.row for cell in plan.cells})
        for key, fields in found.items():
            assert fields.items() <= edited[key].items()
        missing = 0
        for key, fields in edited.items():
            place = Known(plan, 0).room, (CODE, key) if frame.index.name == "lang_code" else key
            moved = set()
            for name, value in fields.items():  # what a list does not show is read at planning
                was = (base if name in frame else self.model.records).get(place, {})
                moved |= set() if same(was.get(name), value) else {name}
            missing += key not in gone and not moved <= found.get(key, {}).keys()
        assert missing <= refused, (found, edited, plan.cells)


def _nothing(found: list[str]) -> None:
    assert not found, "\n".join(found)


def _new(room: str, which: int, value: int) -> dict[str, Any]:
    return {
        "contacts": {"number": NUMBERS[which], "country_code": "+1", "name": NAMES[value % 5]},
        "flows": {
            "name": f"Flow {which}", "template_name": "default", "flow_json": DOCUMENTS[value % 4],
        },
        "contents": {"lang_code": LANGUAGES[which % 5], "text": TEXTS[value % 3]},
        "webhooks": {"url": URLS[which % 5], "events": [["*"], ["a.b"]][value % 2]},
    }[room]  # fmt: skip


def run(examples: int, steps: int, start: int | None = None) -> None:
    """Run the machine; without a start always in the same way."""
    how = settings(
        max_examples=examples, stateful_step_count=steps, deadline=None, database=None,
        derandomize=start is None, suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.normal, print_blob=False,
    )  # fmt: skip
    machine = Account if start is None else seed(start)(Account)
    run_state_machine_as_test(machine, settings=how)  # type: ignore[no-untyped-call]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=2000)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    run(given.examples, given.steps, given.seed)
    print("Random stories: " + ", ".join(f"{MET[what]:,} {what}" for what in sorted(MET)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
