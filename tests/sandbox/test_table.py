"""Tables: pages by ids, contiguous or not, and the texts of records."""

import pytest

from chatkit.sandbox.store import SandboxStore


@pytest.fixture
def store():
    store = SandboxStore()
    yield store
    store.close()


@pytest.fixture
def table(store):
    table = store.table("things", first_id=11)
    for at in range(20):
        record_id = table.next_id()
        table.insert(record_id, "ab"[at % 2], f"k{at}", f'{{"id":{record_id}}}', "{}", "{}")
    return table


def test_ids_count_from_the_first(table):
    assert list(table.listed("a")) == list(range(11, 31, 2))
    assert table.next_id() == 31


@pytest.mark.parametrize("ids", [[], [11], [11, 12, 13], [11, 13, 29], [30]])
def test_items_are_those_asked_for_in_their_order(table, ids):
    expected = ",".join(f'{{"id":{at}}}' for at in ids)
    assert table.items(ids) == expected.encode()


def test_a_record_is_found_in_its_own_scope_only(table):
    assert table.get(11, "a").key == "k0"
    assert table.get(11).key == "k0"
    assert table.get(11, "b") is None
    assert table.find("b", "k0") is None


def test_an_active_record_is_found_before_a_deleted_one_of_its_key(table):
    old = table.get(11)
    table.retire(old)
    assert table.find("a", "k0").active is None
    table.insert(31, "a", "k0", "{}", "{}", "{}")
    assert table.find("a", "k0").id == 31
    table.retire(table.get(31))
    assert table.find("a", "k0").id == 31
    assert 11 not in table.listed("a")
    table.rewrite(table.get(11), "k0", "{}", "{}", "{}")
    assert table.find("a", "k0").id == 11
    assert table.listed("a")[0] == 11


def test_each_write_gives_another_version(table):
    versions = [table.version]
    table.retire(table.get(11))
    versions.append(table.version)
    table.rewrite(table.get(11), "k0", "{}", "{}", "{}")
    versions.append(table.version)
    table.forget()
    versions.append(table.version)
    assert len(set(versions)) == 4


def test_a_get_shows_the_item_and_the_rest(table):
    row = table.get(11)
    assert row.shown == '{"id":11}'
    assert row._replace(more='{"x":1}').shown == '{"id":11,"x":1}'


def test_a_page_shows_what_was_written_and_what_was_undone_since(table, store):
    ids = [11, 12]
    assert table.items(ids) == b'{"id":11},{"id":12}'
    store.commit()
    table.rewrite(table.get(12), "k1", '{"id":"new"}', "{}", "{}")
    assert table.items(ids) == b'{"id":11},{"id":"new"}'
    store.rollback()
    assert table.items(ids) == b'{"id":11},{"id":12}'
