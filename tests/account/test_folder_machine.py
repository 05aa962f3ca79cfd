"""A folder, its account and somebody else in any order, against a model of the three sides.

The model knows one text of some languages: what the files say, what the account has, and what it
was when it was pulled or written by a plan of the folder. It predicts what a pull brings and what
a plan does, leaves and refuses, whatever way the plan is applied and taken back.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from bulk.crashes import Crash, crashing
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from volume import volume

import chatkit
from chatkit.account.reading import read_account
from chatkit.bulk.journal import Journal
from chatkit.util.display import MISSING

CODE, LANGUAGES = "order_ready", ("de", "en", "pl")
TEXT = "Your bike is ready."

#: The footer of a content: None has none, MISSING is no content at all.
footers = st.sampled_from(["one", "two", None, MISSING])
languages = st.sampled_from(LANGUAGES)
Version = dict[str, Any]


class FolderMachine(RuleBasedStateMachine):
    """One account and one folder of it."""

    @initialize()
    def pull_first(self) -> None:
        self.top = Path(tempfile.mkdtemp())
        self.folder = chatkit.Folder(self.top / "shop")
        self.client = chatkit.connect(chatkit.Sandbox(seed="empty"))
        self.live: Version = dict.fromkeys(LANGUAGES, MISSING)
        for language in ("de", "en"):
            self._write_live(language, "one")
        self.files, self.base = dict(self.live), dict(self.live)
        self.runs: list[tuple[pd.DataFrame, dict[str, tuple[Any, Any]]]] = []
        self.folder.pull(self.client, codes=[CODE])

    def teardown(self) -> None:
        if hasattr(self, "client"):
            self.client.close()
            shutil.rmtree(self.top)

    # --- what happens ---------------------------------------------------------------

    @rule(language=languages, footer=footers)
    def edit_file(self, language: str, footer: Any) -> None:
        path = self.folder.path / f"templates/{CODE}/{language}.json"
        path.unlink(missing_ok=True)
        if footer is not MISSING:
            path.parent.mkdir(parents=True, exist_ok=True)
            fields = {"text": TEXT, "footer": footer}
            path.write_text(json.dumps({n: v for n, v in fields.items() if v is not None}))
        self.files[language] = footer

    @rule(language=languages, footer=footers, planned=st.booleans())
    def change_account(self, language: str, footer: Any, planned: bool) -> None:
        """Somebody else, or a plan that is not of the folder, changes the account."""
        if planned and MISSING not in (self.live[language], footer):
            row = {"lang_code": language, "footer": footer or ""}
            self.client.templates(CODE).plan([row]).apply(many=True)
            self.live[language] = footer
        else:
            self._write_live(language, footer)

    @rule(conflicts=st.sampled_from(["refuse", "files", "account"]))
    def pull(self, conflicts: Any) -> None:
        merged, clash = {}, False
        for language in LANGUAGES:
            file, live, base = (version[language] for version in (self.files, self.live, self.base))
            if base is MISSING and MISSING not in (file, live):
                base = None  # both made it: field by field
            merged[language] = live if file == base else file
            if len({file, live, base}) == 3:
                clash = True
                merged[language] = live if conflicts == "account" else file
        if clash and conflicts == "refuse":
            with pytest.raises(chatkit.errors.InputError, match="changed both"):
                self.folder.pull(self.client)
            return
        self.folder.pull(self.client, conflicts=conflicts)
        self.files, self.base = merged, dict(self.live)

    @rule(
        how=st.sampled_from(["apply", "save", "crash"]),
        restore=st.booleans(),
        delete=st.booleans(),
        call=st.integers(1, 6),
    )
    def plan(self, how: str, restore: bool, delete: bool, call: int) -> None:
        writes, left, refused = {}, [], []
        for language in LANGUAGES:
            file, live, base = (version[language] for version in (self.files, self.live, self.base))
            if file is MISSING or file == live:
                if delete and file is MISSING and live is not MISSING:
                    writes[language] = (live, MISSING)
                continue
            known = base is not MISSING or live is MISSING
            if restore or live == (base if known else None):
                writes[language] = (live, file)
            else:
                (left if file == base else refused).append(language)
        gone = [f"content {CODE}/{n}" for n, (_, after) in writes.items() if after is MISSING]
        plan = self.folder.plan(self.client, restore=restore, delete=gone, skip_invalid=True)
        changed = {str(c.key): c.after.get("footer") or None for c in plan.changes}
        expected = {n: None if a is MISSING else a for n, (_, a) in writes.items()}
        assert changed == expected, plan
        assert [row[1].rpartition("/")[2] for row in plan.refused["row"]] == refused
        notes = " ".join(note for note in plan.notes if "left as it is" in note)
        assert [n for n in LANGUAGES if f"/{n} (" in notes] == left
        if not writes:
            return
        result = self._apply(plan, how, call)
        assert {*result["state"]} == {"applied"}, result
        for language, (_, after) in writes.items():
            self.live[language] = self.base[language] = after
        self.runs.append((result, writes))

    @precondition(lambda self: self.runs)
    @rule(how=st.sampled_from(["apply", "save"]))
    def undo(self, how: str) -> None:
        result, writes = self.runs.pop()
        done = self._apply(chatkit.undo(result, self.client), how, 0)
        for (_, name), state in done["state"].items():
            language = str(name).rpartition("/")[2]
            before, after = writes[language]
            if self.live[language] in (before, after):
                assert state == ("applied" if self.live[language] == after else "unchanged")
            if state == "applied":
                self.live[language] = self.base[language] = before

    # --- what must hold -------------------------------------------------------------

    @invariant()
    def holds(self) -> None:
        if hasattr(self, "client"):
            states = self.folder.state(), read_account(self.client, [CODE])
            for state, version in zip(states, (self.files, self.live), strict=True):
                records = [state.get("content").get((CODE, each)) for each in LANGUAGES]
                kept = [MISSING if each is None else each.get("footer") for each in records]
                assert dict(zip(LANGUAGES, kept, strict=True)) == version

    # --- how ------------------------------------------------------------------------

    def _write_live(self, language: str, footer: Any) -> None:
        """Change the account by a call of its own, which no journal has."""
        contents, present = self.client.templates(CODE), self.live[language] is not MISSING
        if footer is MISSING:
            if present:
                contents.delete(language)
        elif present:
            contents.update(language, footer=footer or "")
        else:
            contents.create(lang_code=language, text=TEXT, footer=footer or "")
        self.live[language] = footer

    def _apply(self, plan: Any, how: str, call: int) -> pd.DataFrame:
        """Apply a plan at once, from a file, or by `resume` once a crash has ended it."""
        if how == "save":
            plan = self.client.load_plan(plan.save(self.top / "plan.json"))
        elif how == "crash":
            try:
                with crashing((Journal, "commit"), call, after=True):
                    return plan.apply(many=True, irreversible=True)
            except Crash:
                return chatkit.resume(plan.id, self.client)
        result: pd.DataFrame = plan.apply(many=True, irreversible=True)
        return result


TestFolder = FolderMachine.TestCase
TestFolder.settings = settings(max_examples=volume(5), stateful_step_count=14)


@pytest.mark.parametrize("how", ["apply", "save", "crash"])
def test_an_edit_of_what_was_written_here_is_planned_and_not_taken_for_a_colleagues(
    how: str,
) -> None:
    """The same rules in an order that needs each of them, whatever hypothesis draws."""
    state = FolderMachine()
    state.pull_first()
    step = {"how": how, "restore": False, "call": 3}
    try:
        for footer in ("two", None):
            state.edit_file(language="en", footer=footer)
            state.plan(delete=False, **step)
        state.edit_file(language="pl", footer="one")
        state.edit_file(language="de", footer=MISSING)
        state.plan(delete=True, **step)
        state.edit_file(language="pl", footer="two")
        state.edit_file(language="de", footer="two")
        state.plan(delete=False, **step)
        for again in ("save", "apply"):
            state.undo(how=again)
        state.edit_file(language="en", footer="one")
        state.plan(delete=False, **step)
        state.change_account(language="en", footer="two", planned=True)
        state.plan(delete=False, **step)
        state.edit_file(language="en", footer=None)
        state.plan(delete=False, **step)
        state.pull(conflicts="refuse")
        state.pull(conflicts="files")
        state.plan(delete=False, **step)
        state.holds()
    finally:
        state.teardown()
