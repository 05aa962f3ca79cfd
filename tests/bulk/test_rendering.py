import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from displayed import html_of
from hypothesis import given
from hypothesis import strategies as st

import chatkit
from chatkit.bulk.changes import Change, RefusedCell
from chatkit.bulk.endpoints import Endpoints
from chatkit.bulk.journal import PlanPart
from chatkit.bulk.plan import Plan, Setting, get_refused_cells
from chatkit.bulk.rendering import format_state_counts, make_run_heading
from chatkit.contacts import Contact
from chatkit.report import FEW, MANY, WIDTH
from chatkit.resource import get_endpoints
from chatkit.util.display import LONG

LOSS = "its name would be split into other parts than it has now"
NEVER = "if created again, it is another flow"


@pytest.fixture(scope="module")
def client() -> Iterator[chatkit.Client]:
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
        yield client


Contacts = Endpoints[Contact]


@pytest.fixture(scope="module")
def target(client: chatkit.Client) -> Contacts:
    return get_endpoints(client.contacts)


def plan_of(
    target: Contacts,
    changes: Sequence[Change] = (),
    cells: Sequence[RefusedCell] = (),
    *,
    notes: Sequence[str] = (),
    noun: str = "contact",
    total: int = 250,
    undoes: str | None = None,
    skip_invalid: bool = False,
) -> Plan:
    account = target.transport.connection.account
    setting = Setting(account, noun, ("id",), {noun: PlanPart(total)}, undoes)
    return Plan(target, setting, changes, cells, notes=notes, skip_invalid=skip_invalid)


def create(n: int = 1, **more: Any) -> Change:
    number = f"77009{n:05}"
    return Change(n, "create", None, number, {}, {"number": number, "name": f"New {n}"}, **more)


def update(n: int = 1, before: str = "Ana", after: str = "Ana Lima", **more: Any) -> Change:
    return Change(n, "update", n, f"78009{n:05}", {"name": before}, {"name": after}, **more)


def delete(n: int = 1, **more: Any) -> Change:
    number = f"79009{n:05}"
    return Change(n, "delete", n, number, {"number": number, "name": f"Old {n}"}, **more)


def refused(n: int = 1, **more: str) -> RefusedCell:
    cell = {"column": "number", "value": '"77 00"', "reason": "must be digits", "next_step": "7700"}
    return RefusedCell(n, **cell | more)


class Page(HTMLParser):
    """Parse HTML as a browser does: elements with attributes, and the text between them."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.rows: list[list[str]] = []
        self._open: list[str] = []
        self.feed(source)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attributes
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag != "wbr":
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.text += data
        if {"td", "th"} & {*self._open}:
            self.rows[-1][-1] += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    handle_decl = handle_pi = unknown_decl = handle_comment


# --- the counts of a result -----------------------------------------------------------


@pytest.mark.parametrize(
    ("states", "message"),
    [
        (["applied"] * 10, "All 10 changes applied."),
        (["applied"] * 1000, "All 1,000 changes applied."),
        (["applied"], "1 change: 1 applied."),
        (
            ["not sent", "conflict", *["applied"] * 8],
            "10 changes: 8 applied, 1 conflict, 1 not sent.",
        ),
        (["unchanged"] * 2, "2 changes: 2 unchanged."),
        (
            ["not sent", "unknown", "failed", "conflict", "unchanged", "differs", "applied"],
            "7 changes: 1 applied, 1 differs, 1 unchanged, 1 conflict, 1 failed, 1 unknown, "
            "1 not sent.",
        ),
        (["applied", "my\x1b own"], "2 changes: 1 applied, 1 my⟨U+001B⟩ own."),
        ([], "0 changes."),
    ],
)
def test_the_counts_of_a_result_in_words(states: list[str], message: str) -> None:
    assert format_state_counts(states) == message
    assert format_state_counts(pd.Series(states, dtype="str")) == message


# --- a plan ---------------------------------------------------------------------------


def test_a_plan_as_text(target: Contacts) -> None:
    flow = {"version": "7.3", "screens": [{"id": "A"}, {"id": "B"}]}
    changes = [
        update(1, undo="not exactly", loss=LOSS),
        delete(2),
        create(3),
        Change(4, "delete", 4, "Rent a bike", {"flow_json": flow}, undo="never", loss=NEVER),
        Change(
            5, "update", 5, "+49 301", {"name": "zoë ", "tags": []}, {"name": "Zoë", "tags": None}
        ),
    ]
    plan = plan_of(
        target,
        changes,
        [refused(7), refused(7, column="name", next_step="")],
        notes=["Ignored column: rating (no such field)"],
        skip_invalid=True,
    )
    assert repr(plan) == (
        "Plan for 250 contacts: 1 create, 2 updates, 2 deletes; 1 row refused.\n"
        "\n"
        '  + 7700900003       name: "New 3"\n'
        '  ~ 7800900001 [1]   name: "Ana" → "Ana Lima"\n'
        '  ~ +49 301          name: "zoë␣" → "Zoë"\n'
        "                     tags: [] → (none)\n"
        '  - 7900900002       name: "Old 2"\n'
        "  - Rent a bike [2]  flow_json: 2 screens, version 7.3\n"
        "\n"
        "Refused:\n"
        '  row 7, number = "77 00": must be digits\n'
        "    -> 7700\n"
        '  row 7, name = "77 00": must be digits\n'
        "\n"
        f"[1] 1 cannot be restored exactly: {LOSS}.\n"
        f"[2] 1 can never be undone: {NEVER}.\n"
        "Ignored column: rating (no such field)\n"
        "\n"
        "Blocked:\n"
        "  - needs apply(irreversible=True): 1 of its rows can never be undone "
        "(Rent a bike: if created\n"
        "    again, it is another flow)"
    )


def test_html_says_what_the_text_says(target: Contacts) -> None:
    changes = [update(1, undo="not exactly", loss=LOSS), delete(2), create(3)]
    plan = plan_of(target, changes, [refused(7)], notes=["A note."], skip_invalid=True)
    page = Page(html_of(plan))
    assert page.rows == [
        ["change", "contact", "field", "before", "after"],
        ["+ create", "7700900003", "name", "", "New 3"],
        ["~ update", "7800900001 [1]", "name", "Ana", "Ana Lima"],
        ["- delete", "7900900002", "name", "Old 2", ""],
        ["row", "column", "value", "reason", "next step"],
        ["7", "number", '"77 00"', "must be digits", "7700"],
    ]
    for message in (
        "Plan for 250 contacts: 1 create, 1 update, 1 delete; 1 row refused.",
        f"[1] 1 cannot be restored exactly: {LOSS}.",
        "A note.",
        "plan.apply() does it.",
    ):
        assert message in page.text


def test_before_and_after_are_told_apart_without_colour(target: Contacts) -> None:
    source = html_of(
        plan_of(target, [update(1, "Oliver Smith", "Oliver Jones"), create(2), delete(3)])
    )
    assert "Oliver <del>Smith</del></td>" in source
    assert "Oliver <ins>Jones</ins></td>" in source
    arabic = html_of(plan_of(target, [update(1, "ليلى", "ليلى منصور")], [refused()]))
    assert '<td dir="auto">ليلى<ins> منصور</ins></td>' in arabic
    tables = [re.findall(r"width: (\d+)%", table) for table in arabic.split("<thead")[1:]]
    assert [(len(widths), sum(map(int, widths))) for widths in tables] == [(5, 100), (5, 100)]
    assert 'class="chatkit-plan tex2jax_ignore mathjax_ignore"' in source  # $5 is no formula
    assert "<ins>New 2</ins>" in source
    assert "<del>Old 3</del>" in source


IN_LABEL = {"number": "7700", "part": "44", "code": "a_b", "name": "Ana", "tags": [], "of": None}
NOTHING = "Nothing to do: the account already matches the frame. 0 changes."
RUN = "20260105-080000-abcdef"
KEPT = RefusedCell(("order_ready", "de"), "", "order_ready/de", "nobody knows", "resume it")
LONG_CELLS = [refused(1, value="v" * 500), refused(2, value="", column=""), refused(3, value="")]
#: The arguments of a plan, lines of its text, and what neither text nor HTML has.
SAYS: dict[str, tuple[dict[str, Any], list[str], list[str]]] = {
    "nothing to do": ({}, [NOTHING], ["apply", "\n"]),
    "nothing to take back": (
        {"undoes": RUN}, ["Nothing to do: 0 changes are left to take back."], ["20260105"]
    ),
    "nothing taken": (
        {"notes": ["Ignored column: rating."]},
        ["Nothing to do: 0 changes.", "", "Ignored column: rating."], ["already matches"],
    ),
    "only refused rows": ({"cells": [refused()], "skip_invalid": True}, [], ["apply"]),
    "a plan that takes back": (
        {"changes": [delete(1)], "undoes": RUN},
        ["Plan that takes back a run of contacts: 1 delete."], ["20260105"],
    ),
    "what the label says": (
        {"changes": [Change(1, "create", None, "44 7700", {}, IN_LABEL, code="a_b"),
                     Change(2, "delete", 2, "44 7700", IN_LABEL, {}, code="a_b")]},
        ['  + a_b 44 7700  name: "Ana", tags: [], of: (none)', '  - a_b 44 7700  name: "Ana"'], [],
    ),
    "a blocked plan": (
        {"changes": [delete(n) for n in range(101)]},
        ["Blocked:", "  - needs apply(many=True): it deletes 101 contacts"],
        ["plan.apply() does it."],
    ),
    "a plan that may be applied": ({"changes": [delete(1)]}, ["plan.apply() does it."],
                                   ["Blocked:"]),
    "a refused row without a column": (
        {"cells": [KEPT]},
        ["  row order_ready / de = order_ready/de: nobody knows", "    -> resume it"], [],
    ),
    "refused values": (
        {"cells": LONG_CELLS}, ["  row 2: must be digits", "  row 3, number: must be digits"],
        ["v" * (2 * LONG)],
    ),
    "losses by reason": (
        {"changes": [*(update(n, undo="not exactly", loss=LOSS) for n in range(3)), update(3),
                     *(delete(n, undo="never", loss=NEVER) for n in range(2))]},
        [f"[1] 3 cannot be restored exactly: {LOSS}.", f"[2] 2 can never be undone: {NEVER}.",
         '  ~ 7800900002 [1]  name: "Ana" → "Ana Lima"', '  ~ 7800900003      name: "Ana" → "Ana '
         'Lima"', '  - 7900900001 [2]  name: "Old 1"'], [],
    ),
    "right-to-left sides stand below each other": (
        {"changes": [update(1, "ليلى", "ليلى منصور")]},
        ['  ~ 7800900001  name: "ليلى"', '                    → "ليلى منصور"'], [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAYS)
def test_a_plan_says(target: Contacts, name: str) -> None:
    how, lines, lacking = SAYS[name]
    plan = plan_of(target, **how)
    text, page = repr(plan), Page(html_of(plan))
    shown = text.split("\n")
    assert [line for line in lines if line not in shown] == []
    for part in lacking:
        assert part not in text and part not in page.text.strip()
    heading = shown[0]
    assert page.text.strip().startswith(heading)


@pytest.mark.parametrize(
    ("changes", "undoes", "message"),
    [
        ([update(1), create(2), create(3)], None, "Run of 3 contacts: 2 creates, 1 update."),
        ([delete(1)], "some-run", "Run that takes back another, of 1 contact: 1 delete."),
        ([], None, "Run of 0 changes: 0 changes."),
    ],
)
def test_a_run_is_counted_in_words(
    target: Contacts, changes: list[Change], undoes: str | None, message: str
) -> None:
    assert make_run_heading(plan_of(target, changes, undoes=undoes)) == message


# --- long plans -----------------------------------------------------------------------


@pytest.mark.parametrize("count", [FEW, FEW + 1, MANY, MANY + 1, 5000])
def test_html_shows_every_change_or_says_how_many_more(target: Contacts, count: int) -> None:
    source = html_of(plan_of(target, [update(n) for n in range(count)], total=100_000))
    page = Page(source)
    rows = sum(row[0] == "~ update" for row in page.rows)
    assert rows == min(count, MANY)
    assert ("details" in page.tags) is (count > FEW)
    unseen = f"… and {count - MANY:,} more: plan.frame() has them all."
    assert (unseen in page.text) is (count > MANY)
    assert len(source) < 100_000


def test_a_few_deletes_do_not_hide_behind_many_creates(target: Contacts) -> None:
    changes = [*(create(n) for n in range(5000)), *(delete(n) for n in range(50))]
    rows = Page(html_of(plan_of(target, changes))).rows
    assert sum(row[0] == "- delete" for row in rows) == 50
    assert len(rows) <= MANY + 2  # with two heads


def test_changes_of_many_fields_do_not_make_more_rows(target: Contacts) -> None:
    fields = {f"field_{n}": n for n in range(30)}
    changes = [Change(n, "create", None, f"label {n}", {}, fields) for n in range(500)]
    page = Page(html_of(plan_of(target, changes)))
    view = sum(row[0] == "+ create" for row in page.rows)
    assert FEW < view < len(page.rows) <= MANY + 2
    assert f"… and {500 - view} more" in page.text


@pytest.mark.parametrize("count", [FEW, FEW + 1, FEW + 2])
def test_what_is_shown_ends_at_the_same_number_everywhere(target: Contacts, count: int) -> None:
    """Changes, rows that are skipped, refused cells and reasons: one more is counted as one."""
    changes = [
        *(create(n) for n in range(count)),
        *(Change(n, "skip", n, f"{n}", {"name": "A"}, {"name": "B"}) for n in range(count)),
        *(update(n, undo="not exactly", loss=f"reason {n}") for n in range(count)),
    ]
    cells = [refused(n) for n in range(count)]
    message = repr(plan_of(target, changes, cells, total=1000, skip_invalid=True)).split("\n")
    more = count - FEW
    s = "s" * (more > 1)
    for line in (
        f"    … and {more} more create{s}: plan.frame() has them all",
        f"    … and {more} more skipped: plan.frame() has them all",
        f"  … and {more} more: plan.refused has them all",
        f"… and {more} more reason{s}: plan.frame() has them all.",
    ):
        assert (line in message) is (more > 0), line
    assert len([line for line in message if "… and" in line]) == (5 if more else 0)
    view = min(count, FEW)
    assert sum(" ≠ " in line for line in message) == view, "what is and what the row says"
    assert sum(line.startswith("  row ") for line in message) == view
    assert sum("cannot be restored exactly" in line for line in message) == view


def test_fields_without_a_second_side_share_a_line_as_long_as_they_fit(target: Contacts) -> None:
    fields = {f"field_{n}": "x" * 20 for n in range(4)}
    changes = [
        Change(1, "create", None, "Ana", {}, fields),
        Change(2, "delete", 2, "Bo", fields, {}),
        Change(3, "update", 3, "Cy", {}, fields, undo="never", loss="hidden"),
    ]
    lines = repr(plan_of(target, changes)).split("\n")
    pairs = [f'field_{n}: "{"x" * 20}", field_{n + 1}: "{"x" * 20}"' for n in (0, 2)]
    bodies = [line[6:].strip() for line in lines if "field_" in line]
    at = bodies.index
    assert sum(pairs[0] in body for body in bodies) == 2
    assert sum(body == pairs[1] for body in bodies) == 2
    assert at(pairs[1]) == 1
    assert max(map(len, lines)) <= WIDTH
    assert sum("field_" in line and "→" in line for line in lines) == 4


# --- what else is told ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "message"),
    [
        (9.9, ""),
        (10.0, "It takes about 10 seconds at 8 calls at once."),
        (5300.0, "It takes about 88 minutes at 8 calls at once."),
    ],
)
def test_time_is_estimated_only_where_it_is_felt(
    target: Contacts, monkeypatch: pytest.MonkeyPatch, seconds: float, message: str
) -> None:
    monkeypatch.setattr(target.transport, "latency", seconds * 8)
    plan = plan_of(target, [create()])
    for view in (repr(plan), Page(html_of(plan)).text):
        assert ("It takes" in view) is bool(message)
        assert message in view


# --- what strangers write -------------------------------------------------------------


def test_a_name_cannot_pretend_to_be_another_line(target: Contacts) -> None:
    plan = plan_of(target, [update(1, "Ana", 'Ana"\n\nplan.apply() does it.\n  - 7700 → "x')])
    assert len(repr(plan).split("\n")) == len(repr(plan_of(target, [update(1)])).split("\n"))


def everywhere(target: Contacts, texts: Sequence[str]) -> Plan:
    """A plan in which strangers have written all that they can write."""
    a, b, c = texts
    changes = [
        Change(a, "create", None, a, {}, {b: c, "events": [a, b]}, undo="not exactly", loss=b),
        Change(b, "update", 1, b, {"name": a, c: None}, {"name": b, c: {a: b}}, code=c),
        Change(c, "delete", 2, c, {"name": b, "document": {"screens": [], "version": a}}, code=a),
    ]
    cells = [RefusedCell((a, b), c, a, b, c), RefusedCell(c, a, b, c, "")]
    return plan_of(target, changes, cells, notes=[a, b])


def assert_tame(target: Contacts, texts: Sequence[str]) -> None:
    plan = everywhere(target, texts)
    page = Page(html_of(plan))
    allowed = (
        *("b", "code", "del", "div", "i", "ins", "li", "mark", "p", "strong", "style", "sup"),
        *("table", "tbody", "td", "th", "thead", "tr", "ul", "wbr"),
    )
    assert {*page.tags} <= {*allowed}
    assert {name for name, _ in page.attributes} <= {"class", "dir", "rowspan", "scope", "style"}
    assert page.tags.count("tbody") == len(plan.changes) + len(get_refused_cells(plan))
    for message in (page.text, repr(plan)):
        message.encode()
        unusual = {
            c for c in message if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
        }
        assert unusual <= {"\n", "\u200c", "\u200d"}
    assert "\n" not in page.text.strip()


def test_naughty_strings_are_tame_wherever_they_stand(target: Contacts, shared: Path) -> None:
    strings = json.loads((shared / "corpora/blns/blns.json").read_text())
    assert len(strings) > 500
    for n in range(len(strings) - 2):
        assert_tame(target, strings[n : n + 3])


@given(st.lists(st.text(), min_size=3, max_size=3))
def test_any_text_is_tame_wherever_it_stands(target: Contacts, texts: list[str]) -> None:
    assert_tame(target, texts)
