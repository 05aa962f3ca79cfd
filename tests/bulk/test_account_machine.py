"""Random runs, faults, crashes and undos against a model: what is reported is so, undo holds.

Each run changes random records of a resource while calls get lost and the process may end in the
middle; somebody else edits between. It is resumed until all is known. Then the account must
hold exactly what the result says, and an undo must bring back what the plan promised.
"""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from bulk.crashes import Crash, LossyChannel, crashing, faults
from caller import Caller
from documents import document
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from internals import middleware_of, store_of
from volume import volume

import chatkit
from chatkit.sandbox import Sandbox
from chatkit.sandbox.service import PERMISSIONS

CODE, LANGUAGES = "greeting", ("en", "de", "fr", "es", "ja", "hi")
NAMES = ("Ana", "Ana Cruz", "Mary Ann Lee", "Jean Paul van Dam", "Bo  Two", "")
EFFECTIVE = ("applied", "differs")
#: What a write changes although nobody asked for it, and what a made-again content has anew.
MOVES = {"contacts": {"updated_at", "updated_by"}, "flows": {"updated_at", "wa_status"},
         "contents": {"id"}, "webhooks": {"updated_at"}}  # fmt: skip

Record = dict[str, Any]
State = dict[Any, Record]


@dataclass
class Done:
    """A run that is over: its changes, what it said, and the resource before and after."""

    resource: str
    changes: tuple[Any, ...]
    result: pd.DataFrame
    before: State
    after: State
    undone: bool = False


places = st.lists(st.integers(0, 7), max_size=4, unique=True)


class Account(RuleBasedStateMachine):
    """One account, its runs, and somebody else."""

    @initialize(
        put=st.sampled_from(("merge", "replace")),
        split=st.sampled_from(("first_middle_last", "first_last", "first_only")),
        keeps=st.sampled_from(("everything", "nothing")),
        in_get=st.booleans(),
        echo=st.booleans(),
    )
    def begin(self, put: Any, split: Any, keeps: Any, in_get: bool, echo: bool) -> None:
        profile = chatkit.ServiceProfile(
            put=put, name_split=split, restore_keeps=keeps, flow_json_in_get=in_get,
        )  # fmt: skip
        self.sandbox = Sandbox(seed="empty", profile=profile, quirks=() if echo else ("no_body",))
        self.caller = Caller(self.sandbox)
        self.channel = LossyChannel(self.sandbox)
        self.other = self.sandbox.make_token(*PERMISSIONS, actor="Somebody else")
        for n, name in enumerate(NAMES):
            self.caller.contact(f"20255501{n:02d}", name=name)
            self.caller.flow(f"Flow {n}", flow_json=document(f"old {n}"))
            self.caller.content(LANGUAGES[n], CODE, text=f"old {n}", footer="foot")
        for n in range(3):
            self.caller.webhook(f"https://hooks.example/{n}")
        self.sandbox.answer = self.channel  # type: ignore[method-assign,assignment]
        self.client = chatkit.connect(self.sandbox, retry=chatkit.RetryPolicy(settle=0.0))
        self.done: list[Done] = []
        self.made = 0

    def teardown(self) -> None:
        if hasattr(self, "client"):
            self.client.close()
            self.sandbox.close()

    # --- what happens ---------------------------------------------------------------

    @rule(
        resource=st.sampled_from(("contacts", "flows", "contents", "webhooks")),
        updates=places, deletes=places, creates=st.integers(0, 3), others=places,
        faults=faults, value=st.integers(0, 5),
    )  # fmt: skip
    def run(
        self, resource: str, updates: list[int], deletes: list[int], creates: int,
        others: list[int], faults: Mapping[str, Any], value: int,
    ) -> None:  # fmt: skip
        """Plan random changes; somebody edits meanwhile; apply under faults."""
        if resource == "webhooks":
            creates = min(creates, 1)
        plan = self._plan(resource, updates, deletes, creates, value)
        self._edited_by_others(resource, others)
        before = self._state(resource)
        result = self._applied(plan, faults)
        done = Done(resource, plan.changes, result, before, self._state(resource))
        self._holds(done)
        self.done.append(done)

    @precondition(lambda self: any(not done.undone for done in self.done))
    @rule(number=st.integers(0, 9), others=places, faults=faults)
    def undo(self, number: int, others: list[int], faults: Mapping[str, Any]) -> None:
        """Take a run back; somebody may have edited since, and later runs too."""
        open_ones = [done for done in self.done if not done.undone]
        done = open_ones[number % len(open_ones)]
        done.undone = True
        self._edited_by_others(done.resource, others)
        plan = chatkit.undo(done.result, self.client, include_adopted=True)
        before = self._state(done.resource)
        result = self._applied(plan, faults)
        after = self._state(done.resource)
        self._kept_its_word(done, plan, result, before, after)

    # --- what must hold -------------------------------------------------------------

    def _holds(self, done: Done) -> None:
        """The account is what it was, with the rows that took effect, and without the others."""
        expected = {key: dict(record) for key, record in done.before.items()}
        new: list[Record] = []
        for change, state in zip(done.changes, done.result["state"], strict=True):
            if state not in EFFECTIVE:
                continue
            if change.kind == "create":
                new.append(change.after)
            elif change.kind == "delete":
                expected[change.key]["active"] = False
            else:
                expected[change.key].update(as_record(done.resource, change.after))
                if "name" in change.after:  # how it is split is the service's affair
                    actual = done.after[change.key]
                    expected[change.key].update({part: actual[part] for part in PARTS})
        old = {key: record for key, record in done.after.items() if key in expected}
        restored = [key for key in old if old[key]["active"] and not expected[key]["active"]]
        present = [old[key] for key in restored]
        present += [record for key, record in done.after.items() if key not in expected]
        for key in restored:
            del old[key], expected[key]
        assert old == expected, _different(old, expected)
        assert len(present) == len(new)
        for fields in new:
            desired = as_record(done.resource, fields)
            assert [r for r in present if r["active"] and desired.items() <= r.items()], desired

    def _kept_its_word(
        self, done: Done, plan: Any, result: pd.DataFrame, before: State, after: State
    ) -> None:
        """Promised rows are restored; a row that somebody changed since is a conflict."""
        states = dict(zip(result.index, result["state"], strict=True))
        refused = set(plan.refused["row"])
        touched = set()
        for change, state, key in zip(
            done.changes, done.result["state"], done.result["key"], strict=True
        ):
            if state not in EFFECTIVE:
                assert change.row not in states
                continue
            if change.row in refused:
                assert change.undo == "never"
                continue
            touched.add(key)
            was = done.before.get(key, {"active": False})
            fields = (
                {"active"}
                if change.kind == "create"
                else fields_of_undo(done.resource, change, was)
            )
            then, now, back = (
                {name: state.get(key, {"active": False}).get(name) for name in fields}
                for state in (done.after, before, after)
            )
            desired = {name: was.get(name) for name in fields}
            if states[change.row] in ("conflict", "unchanged", "failed"):
                assert back == now, change
                moved = now != then or change.kind == "create" or states[change.row] != "conflict"
                assert moved, (change, result.to_string())
            elif change.undo == "exactly" or change.kind == "create":
                assert states[change.row] == "applied", (change, states[change.row])
                assert back == desired, change
        for key, record in before.items():
            if key not in touched:
                assert after[key] == record, key

    # --- how ------------------------------------------------------------------------

    def _applied(self, plan: Any, faults: Mapping[str, Any]) -> pd.DataFrame:
        """Apply under faults, and resume without them until nothing is open."""
        self.channel.rng, self.channel.rate = random.Random(faults["seed"]), faults["rate"]
        allowed = {"many": True, "irreversible": True}
        try:
            with crashing(faults["where"], faults["call"], after=faults["after"]):
                result = plan.apply(**allowed)
        except Crash:
            self.channel.wait()
            result = plan.apply(**allowed)
        self.channel.rate = 0.0
        for _ in range(3):
            if not result["state"].isin(["unknown", "not sent"]).any():
                break
            result = chatkit.resume(result, self.client)
        else:
            raise AssertionError(result[["label", "state", "reason"]].to_string())
        sent = len(middleware_of(self.sandbox).log)
        again = plan.apply(**allowed)
        assert list(again["state"]) == list(result["state"])
        assert len(middleware_of(self.sandbox).log) == sent
        assert list(result.index) == [change.row for change in plan.changes]
        for row in result.itertuples():
            if row.state == "failed":  # of too many faults
                assert "never took effect" in row.reason, row
            else:
                assert row.state in (*EFFECTIVE, "unchanged", "conflict"), row
        return result

    def _plan(
        self, resource: str, updates: list[int], deletes: list[int], creates: int, value: int
    ) -> Any:
        target: Any = (
            self.client.templates(CODE)
            if resource == "contents"
            else getattr(self.client, resource)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = (
                target.frame()
                if resource == "webhooks"
                else target.frame(full=resource != "contacts")
            )
        keys = list(frame.index)
        edited = [keys[n % len(keys)] for n in updates] if keys else []
        gone = {keys[n % len(keys)] for n in deletes} - set(edited) if keys else set()
        rows = []
        for key in dict.fromkeys(edited):
            rows.append({frame.index.name: key} | self._edit(resource, value))
            value += 1
        for _ in range(creates):
            self.made += 1
            if (fresh := self._new(resource, value)) is not None:
                rows.append(fresh)
        desired = pd.DataFrame(rows, dtype=object) if rows else None
        return target.plan(desired, delete=sorted(gone), skip_invalid=True, duplicates=True)

    def _edit(self, resource: str, value: int) -> Record:
        self.made += 1
        return {
            "contacts": {"name": NAMES[value % len(NAMES)]}
            | ({"number": f"30255501{self.made:03d}"} if value % 3 == 0 else {}),
            "flows": {"flow_json": document(f"new {self.made}")},
            "contents": {"text": f"new {self.made}"} | ({"footer": ""} if value % 2 else {}),
            "webhooks": {"is_active": bool(value % 2)},
        }[resource]

    def _new(self, resource: str, value: int) -> Record | None:
        n = self.made
        inactive = [r["number"] for r in self._state("contacts").values() if not r["active"]]
        number = inactive[n % len(inactive)] if inactive and n % 2 else f"40255501{n:03d}"
        present = [r["lang_code"] for r in self._state("contents").values() if r["active"]]
        free = [code for code in LANGUAGES if code not in present]
        return {
            "contacts": {"number": number, "country_code": "+1", "name": NAMES[value % 5]},
            "flows": {
                "name": f"Made {n}", "template_name": "default", "flow_json": document(str(n)),
            },
            "contents": {"lang_code": free[n % len(free)], "text": f"made {n}"} if free else None,
            "webhooks": {"url": f"https://hooks.example/made/{n}", "events": ["*"]},
        }[resource]  # fmt: skip

    def _edited_by_others(self, resource: str, places: list[int]) -> None:
        """Somebody edits some of the active records."""
        active = [(key, r) for key, r in self._state(resource).items() if r["active"]]
        for n in places if active else ():
            self.made += 1
            key, _ = active[n % len(active)]
            method, path = ("PATCH" if resource == "webhooks" else "PUT"), f"/{resource}/{key}"
            body: Record = {
                "contacts": {"name": f"Else {self.made}"},
                "flows": {"flow_json": document(f"else {self.made}")},
                "contents": {"text": f"else {self.made}"},
                "webhooks": {"events": [f"kind.{self.made}"]},
            }[resource]
            if resource == "contents":
                path = f"/templates/{CODE}/contents/{key}"
            assert self.caller(method, path, body, token=self.other).status < 300

    def _state(self, resource: str) -> State:
        rows = store_of(self.sandbox).run(f"SELECT active, item, more FROM {resource} ORDER BY id")
        state: State = {}
        for active, item, more in rows.fetchall():
            record = {"active": bool(active), **json.loads(item), **json.loads(more)}
            key = record["lang_code" if resource == "contents" else "id"]
            name = " ".join(filter(None, (record.get(part) for part in PARTS)))
            joined = {"whole": name} if resource == "contacts" else {}
            state[key] = {k: v for k, v in record.items() if k not in MOVES[resource]} | joined
        return state


def _different(actual: State, expected: State) -> list[tuple[Any, str, Any, Any]]:
    """Compare two states: yield the record, the field, the actual and the expected value."""
    return [
        (key, name, actual.get(key, {}).get(name), record[name])
        for key, record in expected.items()
        for name in record
        if actual.get(key, {}).get(name) != record[name]
    ]


PARTS = ("first_name", "middle_name", "last_name")


def as_record(resource: str, fields: Mapping[str, Any]) -> Record:
    """Return a sent body as the record shows it: a contact has its name in parts."""
    if resource == "contacts" and "name" in fields:
        fields = {k: v for k, v in fields.items() if k != "name"} | {"whole": fields["name"]}
    return dict(fields)


def fields_of_undo(resource: str, change: Any, was: Record) -> set[str]:
    """The fields that an undo must bring back: those of an update, all of a delete."""
    if change.kind == "delete":
        return set(was)
    parts = PARTS if resource == "contacts" and "name" in change.after else ()
    return {"active", *as_record(resource, change.after), *parts}


TestUndo = Account.TestCase
TestUndo.settings = settings(
    max_examples=volume(8),
    stateful_step_count=6,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
