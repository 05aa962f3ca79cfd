"""A frame while it is edited: what is taken, what is refused, each step back, and the frame."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from volume import volume
from widgets.gridding import client, sandbox  # noqa: F401

import chatkit
from chatkit.errors import InputError
from chatkit.resource import get_endpoints
from chatkit.widgets.sheet import Sheet


@pytest.fixture
def contacts(client):
    return client.contacts.frame()


@pytest.fixture
def sheet(client, contacts):
    return Sheet(get_endpoints(client.contacts), contacts)


def changed(sheet: Sheet) -> dict[tuple[int, str], object]:
    return {where: sheet.cells[where].value for where in sheet.changed()}


def reasons(sheet: Sheet) -> dict[tuple[int, str], str]:
    return {(row, name): cell.reason for row, name, cell in sheet.refused()}


# --- what is entered ------------------------------------------------------------------------


def test_a_good_entry_is_taken_and_the_frame_given_stays_as_it_was(sheet, contacts):
    before = contacts.copy(deep=True)
    sheet.write([(0, "name", "Ana"), (1, "number", "2025550143")])
    assert changed(sheet) == {(0, "name"): "Ana", (1, "number"): "2025550143"}
    pd.testing.assert_frame_equal(contacts, before)
    edited = sheet.frame()
    assert (edited.name.iloc[0], edited.number.iloc[1]) == ("Ana", "2025550143")
    assert edited.dtypes.equals(contacts.dtypes)
    assert edited.drop(index=edited.index[:2]).equals(contacts.drop(index=contacts.index[:2]))


def test_a_refused_entry_leaves_the_cell_and_says_why(sheet, contacts):
    sheet.write([(0, "number", "2025550143")])
    sheet.write([(0, "number", "12 34"), (1, "country_code", "91"), (2, "first_name", "Ana")])
    assert sheet.values("number", [0]) == ["2025550143"]
    assert sheet.frame().country_code.equals(contacts.country_code)
    outcome = reasons(sheet)
    assert "digits only" in outcome[0, "number"]
    assert "a + and digits" in outcome[1, "country_code"]
    assert "edit name" in outcome[2, "first_name"]


def test_what_it_held_already_is_no_change_and_mends_a_refusal(sheet, contacts):
    held = contacts.number.iloc[0]
    sheet.write([(0, "number", "x")])
    sheet.write([(0, "number", held), (0, "first_name", contacts.first_name.iloc[0])])
    assert not sheet.cells
    sheet.write([(0, "created_at", str(contacts.created_at.iloc[0])), (0, "meta_name", "")])
    assert not sheet.cells


def test_an_empty_text_clears_and_none_leaves_alone(sheet, contacts):
    sheet.write([(0, "name", ""), (1, "name", None)])
    assert changed(sheet) == {(0, "name"): ""}
    sheet.write([(0, "name", None)])
    assert not sheet.cells
    new = sheet.add()[0]
    sheet.write([(new, "name", "Ana")])
    sheet.write([(new, "name", "")])
    assert not sheet.cells  # a new row has nothing to clear


def test_clearing_passes_over_what_cannot_be_written(sheet):
    sheet.clear([0, 1], ["id", "name", "first_name", "number"])
    assert set(changed(sheet)) == {(0, "name"), (1, "name")}
    assert set(reasons(sheet)) == {(0, "number"), (1, "number")}


def test_dismissing_a_refusal_shows_what_the_cell_holds(sheet):
    sheet.write([(0, "number", "2025550143")])
    sheet.write([(0, "number", "x")])
    sheet.dismiss(0, "number")
    assert not reasons(sheet)
    assert changed(sheet) == {(0, "number"): "2025550143"}
    sheet.write([(1, "number", "x")])
    sheet.dismiss(1, "number")
    sheet.dismiss(2, "number")
    assert set(sheet.cells) == {(0, "number")}


def test_half_a_character_is_refused(sheet):
    sheet.write([(0, "name", "A\ud83d")])
    assert reasons(sheet) == {(0, "name"): "holds half a character"}


def test_flags_numbers_and_nested_values_are_read_from_text(client):
    webhook = client.webhooks.create(url="https://example.com/a", events=["*"])
    sheet = Sheet(get_endpoints(client.webhooks), client.webhooks.frame())
    row = sheet.row(webhook.id)
    sheet.write([(row, "is_active", "false"), (row, "events", '["message.received"]')])
    edited = sheet.frame()
    assert edited.is_active.dtype == "boolean"
    assert edited.loc[webhook.id, ["is_active", "events"]].tolist() == [False, ["message.received"]]
    plan = client.webhooks.plan(edited)
    assert plan.changes[0].after == {"is_active": False, "events": ["message.received"]}
    sheet.write([(row, "is_active", "maybe"), (row, "events", "message"), (row, "events", "{")])
    assert set(reasons(sheet)) == {(row, "is_active"), (row, "events")}


def test_a_cell_that_cannot_hold_text_is_cleared_with_null(client, sandbox):
    client.templates("hello").create(lang_code="en", text="Hi", validity_period_seconds=60)
    contents = client.templates("hello")
    sheet = Sheet(get_endpoints(contents), contents.frame(full=True))
    sheet.write([(0, "validity_period_seconds", "")])
    plan = contents.plan(sheet.frame())
    assert [dict(c.after) for c in plan.changes] == [{"validity_period_seconds": None}]


# --- rows -----------------------------------------------------------------------------------


def test_new_rows_become_creates_that_can_be_told_apart(client, sheet):
    first, second = sheet.add(2)
    for row, digits in ((first, "2025550143"), (second, "2025550144")):
        sheet.write([(row, "country_code", "+1"), (row, "number", digits)])
    sheet.write([(0, "name", "Ana")])
    plan = client.contacts.plan(sheet.frame())
    assert plan.counts == {"create": 2, "update": 1, "delete": 0}
    assert [change.row for change in plan.changes] == [50001, "new 1", "new 2"]
    result = plan.apply()
    assert result.state.eq("applied").all()
    assert result.index.tolist() == [50001, "new 1", "new 2"]


def test_a_new_row_that_lacks_something_is_refused_by_its_name(client, sheet):
    sheet.write([(sheet.add()[0], "name", "Ana")])
    refused = client.contacts.plan(sheet.frame()).refused
    assert set(refused.row) == {"new 1"}
    assert set(refused.column) == {"number", "country_code"}


def test_a_new_content_says_its_language(client):
    client.templates("hello").create(lang_code="en", text="Hi")
    contents = client.templates("hello")
    sheet = Sheet(get_endpoints(contents), contents.frame())
    (row,) = sheet.add()
    sheet.write([(row, "lang_code", "de"), (row, "text", "Hallo"), (0, "lang_code", "fr")])
    assert list(reasons(sheet)) == [(0, "lang_code")]
    plan = contents.plan(sheet.frame())
    assert [(c.kind, c.key) for c in plan.changes] == [("create", "de")]


def test_rows_without_keys_are_only_counted(client):
    own = pd.DataFrame({"name": ["Ana"], "country_code": ["+1"], "number": ["2025550143"]})
    sheet = Sheet(get_endpoints(client.contacts), own)
    (row,) = sheet.add()
    sheet.write([(row, "country_code", "+1"), (row, "number", "2025550144")])
    assert sheet.label(row) == 1
    assert sheet.row(1) == row
    assert client.contacts.plan(sheet.frame()).counts["create"] == 2


def test_the_frame_of_a_grid_with_new_rows_can_be_opened_in_another(client, sheet):
    sheet.write([(sheet.add()[0], "name", "Ana")])
    sheet.mark([0], delete=True)
    again = Sheet(get_endpoints(client.contacts), sheet.frame())
    (row,) = again.add()
    assert (again.label(250), again.label(row)) == ("new 1", "new 2")
    assert (again.row("new 1"), again.row("new 2")) == (250, row)
    again.write([(row, "name", "Bo")])
    assert again.frame().name.tolist()[-2:] == ["Ana", "Bo"]
    assert again.deleted == {0}
    assert set(client.contacts.plan(again.frame()).refused.row) == {"new 1", "new 2"}


def test_marked_rows_are_deletes_and_a_new_one_is_taken_away(client, sheet):
    new = sheet.add()[0]
    sheet.write([(new, "name", "Ana")])
    sheet.mark([0, 1, new], delete=True)
    sheet.mark([1], delete=False)
    assert sheet.rows() == []
    assert not changed(sheet)
    edited = sheet.frame()
    assert edited.delete.dtype == bool
    assert len(edited) == sheet.size
    assert client.contacts.plan(edited).counts == {"create": 0, "update": 0, "delete": 1}


def test_marks_that_the_frame_brings_are_kept(client, contacts):
    sheet = Sheet(
        get_endpoints(client.contacts),
        contacts.assign(delete=[True, *[pd.NA] * (len(contacts) - 1)]),
    )
    assert sheet.deleted == {0}
    assert "delete" not in sheet.columns
    assert sheet.frame().delete.sum() == 1
    with pytest.raises(InputError, match="neither True nor False"):
        Sheet(get_endpoints(client.contacts), contacts.assign(delete="maybe"))


def test_frames_that_are_no_table_are_refused(client, contacts):
    with pytest.raises(InputError, match="not list"):
        Sheet(get_endpoints(client.contacts), [1])
    with pytest.raises(InputError, match="one level of index"):
        Sheet(get_endpoints(client.contacts), contacts.set_index("number", append=True))
    with pytest.raises(InputError, match="both called 'id'"):
        Sheet(get_endpoints(client.contacts), contacts.assign(id=1))
    with pytest.raises(InputError, match="appears twice"):
        Sheet(get_endpoints(client.contacts), pd.concat([contacts, contacts], axis=1))


def test_rows_are_found_by_their_label(sheet, client, contacts):
    assert sheet.row(50003) == 2
    for label in (1, "new 1", ["x"], None):
        with pytest.raises(InputError, match="There is no row"):
            sheet.row(label)
    twice = Sheet(get_endpoints(client.contacts), pd.concat([contacts, contacts]))
    with pytest.raises(InputError, match="several rows 50001"):
        twice.row(50001)


def test_the_frame_remembers_where_it_came_from(client, sheet, contacts):
    sheet.add()
    assert sheet.frame().attrs == contacts.attrs
    sheet.write([(0, "name", "Ana")])
    plan = client.contacts.plan(sheet.frame())
    assert not any("does not tell when it was read" in note for note in plan.notes)


def test_a_column_that_cannot_hold_an_entry_becomes_one_of_objects(client):
    own = pd.DataFrame({"number": [1.0, None], "country_code": ["+1", "+1"]})
    sheet = Sheet(get_endpoints(client.contacts), own)
    sheet.write([(1, "number", "0123")])
    assert sheet.frame().number.tolist() == [1.0, "0123"]


# --- steps ----------------------------------------------------------------------------------


def test_a_step_is_undone_as_one_and_done_again(sheet, contacts):
    with sheet.step():
        sheet.write([(0, "name", "Ana"), (1, "number", "x")])
        sheet.write([(sheet.add()[0], "name", "Bo")])
        sheet.mark([2], delete=True)
    edited = sheet.frame()
    assert sheet.undo() == {0, 1, 2, 250}
    assert sheet.frame().equals(contacts)
    assert not sheet.cells
    assert sheet.undo() is None
    sheet.redo()
    assert sheet.frame().equals(edited)
    assert set(reasons(sheet)) == {(1, "number")}
    assert sheet.redo() is None


def test_what_changes_nothing_is_no_step(sheet, contacts):
    sheet.write([(0, "name", contacts.name.iloc[0])])
    sheet.mark([0], delete=False)
    assert sheet.steps == (0, 0)


def test_a_new_edit_ends_what_could_be_done_again(sheet):
    sheet.write([(0, "name", "Ana")])
    sheet.undo()
    sheet.write([(0, "name", "Bo")])
    assert sheet.steps == (1, 0)


ENTRIES = st.tuples(
    st.just("write"),
    st.integers(0, 6),
    st.sampled_from(["name", "number", "country_code", "first_name"]),
    st.sampled_from(["", "Ana", "+49", "2025550143", "x y", None, 5]),
)
DEEDS = st.one_of(
    ENTRIES,
    st.tuples(st.just("add")),
    st.tuples(st.just("mark"), st.integers(0, 6), st.booleans()),
    st.tuples(st.just("undo")),
    st.tuples(st.just("redo")),
)


@pytest.fixture(scope="module")
def few():
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        yield client.contacts, client.contacts.frame().head(5)


@settings(max_examples=volume(24, 600), deadline=None)
@given(st.lists(DEEDS, max_size=14))
def test_whatever_was_done_can_be_taken_back_to_the_beginning_and_done_again(few, deeds):
    source, frame = get_endpoints(few[0]), few[1]
    sheet = Sheet(source, frame)
    for do, *arguments in deeds:
        row = arguments[0] if arguments else 0
        if row >= sheet.size + sheet.added:
            continue
        if do == "write":
            sheet.write([tuple(arguments)])
        elif do == "mark":
            sheet.mark([row], delete=arguments[1])
        else:
            getattr(sheet, do)()
    last, cells = sheet.frame(), dict(sheet.cells)
    for (row, name), cell in cells.items():  # what is held can always be sent
        if cell.value and isinstance(cell.value, str) and row < sheet.size:
            assert not source.body.column(name, [cell.value])[1]
    steps = 0
    while sheet.undo() is not None:
        steps += 1
    assert sheet.frame().equals(frame)
    assert not sheet.cells
    assert not sheet.deleted
    for _ in range(steps):
        sheet.redo()
    assert sheet.frame().equals(last)
    assert sheet.cells == cells
