"""Tables: pages by ids, contiguous or not, and the texts of records."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatkit.sandbox.store import ResourceTable, SandboxStore

STEPS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9), st.sampled_from("abc")))


@pytest.fixture
def store():
    store = SandboxStore()
    yield store
    store.close()


@pytest.fixture
def table(store):
    table = ResourceTable(store, "things", first_id=11)
    for at in range(20):
        record_id = table.next_id()
        table.insert(record_id, "ab"[at % 2], f"k{at}", f'{{"id":{record_id}}}', "{}", "{}")
    return table


def test_ids_count_from_the_first(table):
    assert list(table.list_ids("a")) == list(range(11, 31, 2))
    assert table.next_id() == 31


@pytest.mark.parametrize("ids", [[], [11], [11, 12, 13], [11, 13, 29], [30]])
def test_items_are_those_asked_for_in_their_order(table, ids):
    expected = ",".join(f'{{"id":{at}}}' for at in ids)
    assert table.join_items(ids) == expected.encode()


def test_a_record_is_found_in_its_own_scope_only(table):
    assert table.find_record(11, "a").key == "k0"
    assert table.find_record(11).key == "k0"
    assert table.find_record(11, "b") is None
    assert table.find_by_key("b", "k0") is None


def test_an_active_record_is_found_before_a_deleted_one_of_its_key(table):
    old = table.find_record(11)
    table.deactivate(old)
    assert table.find_by_key("a", "k0").active is None
    table.insert(31, "a", "k0", "{}", "{}", "{}")
    assert table.find_by_key("a", "k0").id == 31
    table.deactivate(table.find_record(31))
    assert table.find_by_key("a", "k0").id == 31
    assert 11 not in table.list_ids("a")
    table.rewrite(table.find_record(11), "k0", "{}", "{}", "{}")
    assert table.find_by_key("a", "k0").id == 11
    assert table.list_ids("a")[0] == 11


@pytest.mark.parametrize("listed", [False, True])
@settings(deadline=None)
@given(steps=STEPS)
def test_whatever_happens_ids_and_keys_are_those_of_a_list(listed, steps):
    store = SandboxStore()
    table = ResourceTable(store, "things", first_id=0, lists_deleted=listed)
    records: list[list] = []  # key, active; the id is the place
    for step, at, key in steps:
        taken = [key, True] in records
        record = records[at] if at < len(records) else None
        if step == 0 and not taken:
            assert table.next_id() == len(records)
            table.insert(len(records), "s", key, "{}", "{}", "{}")
            records.append([key, True])
        elif step == 1 and record and record[1]:
            table.deactivate(table.find_record(at))
            record[1] = False
        elif step == 2 and record and not record[1] and [record[0], True] not in records:
            table.rewrite(table.find_record(at), record[0], "{}", "{}", "{}")
            record[1] = True
        elif step == 3 and record and record[1] and not taken:
            table.rewrite(table.find_record(at), key, "{}", "{}", "{}")
            record[0] = key
        elif step == 4:
            output = [at for at, (_, active) in enumerate(records) if active or listed]
            assert (
                list(table.list_ids("s")) == output == [row.id for row in table.select_records("s")]
            )
    for key in "abc":
        by_activity = [(active, at) for at, (k, active) in enumerate(records) if k == key]
        result = table.find_by_key("s", key)
        assert (result and result.id) == max(by_activity, default=(None, None))[1]
    assert table.has_scope("s") == bool(records)
    assert table.list_active_scopes() == (["s"] if any(active for _, active in records) else [])
    store.close()


def test_a_key_that_is_shared_stays_with_the_newest(store):
    table = ResourceTable(store, "things", first_id=1)
    for record_id in (1, 2):
        table.insert(record_id, "s", "a", "{}", "{}", "{}")
    assert table.find_by_key("s", "a").id == 2
    table.deactivate(table.find_record(1))
    assert table.find_by_key("s", "a").id == 2


def test_a_get_shows_the_item_and_the_rest(table):
    row = table.find_record(11)
    assert row.full_text == '{"id":11}'
    assert row._replace(more='{"x":1}').full_text == '{"id":11,"x":1}'


def test_a_page_shows_what_was_written_and_what_was_undone_since(table, store):
    ids = [11, 12]
    assert table.join_items(ids) == b'{"id":11},{"id":12}'
    store.commit()
    table.rewrite(table.find_record(12), "k1", '{"id":"new"}', "{}", "{}")
    assert table.join_items(ids) == b'{"id":11},{"id":"new"}'
    store.rollback()
    assert table.join_items(ids) == b'{"id":11},{"id":12}'
