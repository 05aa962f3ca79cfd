"""Tests of retention: old or personal data is listed, deleted, and gone from every file."""

import json
import tomllib
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from bulk.journalling import child
from displayed import html_of
from inbox import bodies
from inbox.bodies import BEN, START, keep, message, moved, status
from inbox.senders import SECRET, post, signed
from internals import deliveries_of

from chatkit.errors import InputError, PlanRefused, StoreError
from chatkit.inbox import Inbox
from chatkit.inbox.store import InboxStore

CARA = "4915112345678"


#: Nobody but who has written is in it.
written = partial(bodies.written, named=False)


def ids(inbox: Inbox) -> list[int]:
    return [one.id for one in deliveries_of(inbox, verified=None, repeats=True)]


def after(seconds: int) -> datetime:
    return datetime.fromtimestamp(START + seconds, UTC)


# --- by age -------------------------------------------------------------------------------


def test_what_is_old_is_told_in_numbers_and_deleted_by_apply_alone(
    inbox: Inbox, store: InboxStore
) -> None:
    keep(store, written(message(0)), written(message(1, who=BEN)), written(message(2)))
    keep(store, written(message(3), message(4, who=CARA)), b"no JSON", verified=False)
    keep(store, written(message(5)))
    bodies = [one.body for one in deliveries_of(inbox, until=4, verified=None)]
    deletion = inbox.prune(before=after(4))
    output = [deletion.deliveries, deletion.contacts, deletion.first, deletion.last]
    assert output == [4, 3, after(0), after(3)]
    assert deletion.bytes == sum(map(len, bodies))
    assert repr(deletion).splitlines() == [
        "4 deliveries received before 2025-06-15 15:06 UTC",
        "  received from 2025-06-15 15:06 to 2025-06-15 15:06 UTC, about 3 contacts, 1.3 kB",
        "",
        "Nothing is deleted yet: apply() deletes them, and that cannot be undone.",
    ]
    assert "<strong>4 deliveries" in html_of(deletion)
    assert ids(inbox) == [1, 2, 3, 4, 5, 6]
    frame = deletion.frame()
    assert frame.index.tolist() == [1, 2, 3, 4] and frame["size"].sum() == deletion.bytes
    assert frame["contact"].isna().tolist() == [False, False, False, True]  # the last is of two
    assert deletion.apply() is deletion and deletion.deleted == 4
    assert deletion.frame().empty
    pd.testing.assert_index_equal(deletion.frame().columns, frame.columns)
    assert ids(inbox) == [5, 6]
    assert "4 deliveries deleted." in repr(deletion)
    assert deletion.apply().deleted == 4, "a second time there is nothing left"
    assert "There is nothing to delete." in repr(inbox.prune(before=after(4)))


def test_ids_are_never_given_again_and_who_reads_on_misses_nothing(
    inbox: Inbox, store: InboxStore
) -> None:
    statuses = [status("a", name, n) for n, name in enumerate(("sent", "delivered", "read"))]
    courses = [moved(one) for one in statuses]
    keep(store, *courses[:2])
    mark = inbox.last
    inbox.prune(before=after(100)).apply()
    assert inbox.last == 0 and len(inbox.statuses(since=mark)) == 0
    keep(store, courses[2], identity="id:new")
    assert ids(inbox) == [3]
    assert inbox.statuses(since=mark)["status"].tolist() == ["read"]
    with pytest.raises(InputError, match="no delivery 1"):
        inbox.delivery(1)


def test_what_came_later_under_a_smaller_id_stays(inbox: Inbox, store: InboxStore) -> None:
    """Of two receivers the one that took a delivery first may store it last."""
    keep(store, b"{}", received=(START + 9) * 1_000_000)
    keep(store, b"{}", b"{}", received=START * 1_000_000)
    deletion = inbox.prune(before=after(5))
    assert deletion.deliveries == 2
    deletion.apply()
    assert ids(inbox) == [1]


def test_a_deletion_that_was_stopped_goes_on(
    inbox: Inbox, store: InboxStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chatkit.inbox.retention._CHUNK", 100)
    keep(store, *(written(message(n)) for n in range(250)))
    deletion = inbox.prune(before=after(250))
    delete, calls = InboxStore.delete_deliveries, []

    def stopped(store: InboxStore, condition: Any) -> int:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return delete(store, condition)

    monkeypatch.setattr(InboxStore, "delete_deliveries", stopped)
    with pytest.raises(KeyboardInterrupt):
        deletion.apply()
    assert "Stopped: 200 of them deleted; apply() goes on." in repr(deletion)
    keep(store, written(message(999)))
    deletion.apply()
    assert deletion.deleted == 250 and ids(inbox) == [251], "what came meanwhile stays"


@pytest.mark.parametrize("before", ["soon", 7, None, True])
def test_only_a_time_says_what_is_old(inbox: Inbox, before: Any) -> None:
    with pytest.raises(InputError, match=f"before={before!r} is not a time: .* or a datetime[.]"):
        inbox.prune(before=before)


def test_a_date_says_what_is_old(inbox: Inbox) -> None:
    assert "received before 2026-08-01" in repr(inbox.prune(before=date(2026, 8, 1)))


RECEIVER = """
import sys
from inbox.bodies import entry
from chatkit.inbox.store import InboxStore
store = InboxStore(sys.argv[1])
print("ready", flush=True)
for number, _ in enumerate(sys.stdin):
    store.write_deliveries([entry(number)])
    print("stored", flush=True)
"""


def test_another_process_receives_while_it_is_deleted(
    inbox: Inbox, url: str, store: InboxStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chatkit.inbox.retention._CHUNK", 100)
    keep(store, *(written(message(n)) for n in range(300)))
    deletion = inbox.prune(before=after(300))
    with child(RECEIVER, url) as other:
        assert other.stdout.readline() == "ready\n"
        delete = InboxStore.delete_deliveries

        def receiving(store: InboxStore, condition: Any) -> int:
            other.stdin.write("\n")
            other.stdin.flush()
            assert other.stdout.readline() == "stored\n"
            return delete(store, condition)

        monkeypatch.setattr(InboxStore, "delete_deliveries", receiving)
        deletion.apply()
    assert ids(inbox) == [301, 302, 303]


# --- a person -----------------------------------------------------------------------------


def test_all_of_a_person_is_deleted_and_of_others_with_leave_alone(
    inbox: Inbox, store: InboxStore
) -> None:
    """The number in what another person wrote is about both; in a longer number it is nobody's."""
    bodies = [
        written(message(0, who=CARA)),
        written(message(1)),
        written(message(2, who=CARA), message(3, who=BEN)),
        written(message(4, text={"body": f"call +{CARA}, or 00{CARA}"})),
        written(message(5, text={"body": f"order 1{CARA}"})),
        f"no JSON, but {CARA}".encode(),
        written(message(6, who=CARA)),
    ]
    keep(store, *bodies[:6])
    keep(store, bodies[6], verified=False, contact=f"+{CARA}")
    deletion = inbox.forget(f"+{CARA}")
    assert (deletion.deliveries, deletion.mixed, deletion.others) == (5, 3, 2)
    assert repr(deletion).splitlines()[0] == f"5 deliveries about +{CARA}"
    assert "3 of 5 deliveries are about others too (2 other contacts), or only" in repr(deletion)
    with pytest.raises(PlanRefused, match=r"needs apply\(mixed=True\)"):
        deletion.apply()
    assert len(ids(inbox)) == 7
    deletion.apply(mixed=False)
    assert ids(inbox) == [2, 3, 4, 5, 6]
    again = inbox.forget(CARA)
    assert (again.deliveries, again.mixed) == (3, 3)
    again.apply(mixed=True)
    assert ids(inbox) == [2, 5]
    assert inbox.forget(f"+{CARA}").deliveries == 0


@pytest.mark.parametrize(
    "notation",
    [
        "+4915112345678",
        "4915112345678",
        "+49 151 1234-5678",
        "+49 (0)151/12345678",
        "0049 15112345678",
    ],
)
def test_a_person_is_found_however_their_number_is_written(
    inbox: Inbox, store: InboxStore, notation: str
) -> None:
    """To say that there is nothing about somebody of whom there is would be false."""
    keep(store, written(message(0, who=CARA)), written(message(1, who=BEN)))
    assert inbox.forget(notation).deliveries == 1
    assert inbox.messages(contact=notation).contact.tolist() == [f"+{CARA}"]
    assert [event.contact for event in inbox._read_events(contact=notation)] == [f"+{CARA}"]
    assert len(list(deliveries_of(inbox, contact=notation))) == 1


#: A number as JSON writers, programs and people write it, and what is not about it.
CASES = tomllib.loads((Path(__file__).parent / "cases/mentions.toml").read_text("utf-8"))
SPELLINGS: dict[str, str] = CASES["found"]
OTHERS: dict[str, str] = {**CASES["others"], "deep": "[" * 100_000}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32-be"])
def test_a_number_is_found_however_a_program_has_written_it(tmp_path: Path, encoding: str) -> None:
    texts = SPELLINGS | OTHERS
    with Inbox(tmp_path / "inbox.sqlite") as inbox:
        store = InboxStore(tmp_path / "inbox.sqlite")
        keep(store, *(text.encode(encoding) for text in texts.values()))
        store.close()
        result = inbox.forget(f"+{CARA}").frame().index
    assert [list(texts)[number - 1] for number in result] == list(SPELLINGS)


def test_a_number_is_found_in_path_and_headers(inbox: Inbox, store: InboxStore) -> None:
    keep(store, b"{}", path=f"/hook?to=%2B{CARA}")
    keep(store, b"{}", headers=json.dumps([["X-From", f"+{CARA}"]]))
    assert inbox.forget(CARA).apply(mixed=True).deleted == 2


@pytest.mark.parametrize("passed", ["0151 12345678", "(0151) 12345678", 4915112345678])
def test_a_number_without_its_country_code_is_refused(inbox: Inbox, passed: Any) -> None:
    for ask in (inbox.forget, lambda contact: inbox.messages(contact=contact)):
        with pytest.raises(InputError, match="has no country code"):
            ask(passed)


@pytest.mark.parametrize("contact", ["", "+", "123", "  "])
def test_a_contact_that_any_delivery_holds_is_refused(inbox: Inbox, contact: str) -> None:
    with pytest.raises(InputError, match="too short for a contact"):
        inbox.forget(contact)


def test_a_name_of_strangers_is_escaped(inbox: Inbox, store: InboxStore) -> None:
    keep(store, written(message(0, who="<b>x</b>")))
    html = html_of(inbox.forget("<b>x</b>"))
    assert "<b>" not in html and "1 delivery about" in html


SECRET_WORDS = b"nobody else may ever read this"


def kept_in(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.iterdir()))


def test_nothing_of_a_person_stays_in_the_files(tmp_path: Path) -> None:
    """Rows that moved leave copies in the pages that they came from."""
    words = {"body": (SECRET_WORDS * 40).decode()}
    with Inbox(tmp_path / "inbox.sqlite") as inbox:
        writer = InboxStore(tmp_path / "inbox.sqlite")
        for n in range(60):
            mine = [written(message(n * 10 + k, who=CARA, text=words)) for k in range(n % 3)]
            other = [written(message(n * 10 + 5 + k, text={"body": "x" * 900})) for k in range(3)]
            keep(writer, *mine, *other, verified=False, reason="no secret" * (n % 7))
        writer.close()
        before = kept_in(tmp_path)
        assert SECRET_WORDS in before and CARA.encode() in before
        inbox.forget(f"+{CARA}").apply()
        for _ in range(2):
            left = kept_in(tmp_path)
            assert CARA.encode() not in left and SECRET_WORDS not in left
        assert len(ids(inbox)) == 180
    left = kept_in(tmp_path)
    assert CARA.encode() not in left and SECRET_WORDS not in left


def test_what_was_pruned_is_not_in_the_files(tmp_path: Path) -> None:
    with Inbox(tmp_path / "inbox.sqlite") as inbox:
        receiver = inbox.serve(SECRET)
        body = written(message(1, who=CARA, text={"body": SECRET_WORDS.decode()}))
        assert post(receiver.url, body, signed(body)) == 200
        inbox.prune(before=datetime.now(UTC) + timedelta(days=1)).apply()
        assert post(receiver.url, b"{}", signed(b"{}", "msg_2")) == 200
        assert ids(inbox) == [2]
        left = kept_in(tmp_path)
    assert CARA.encode() not in left and SECRET_WORDS not in left


def test_a_reader_that_holds_on_to_the_log_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chatkit.inbox.store._WAIT", 0.05)
    with (
        Inbox(tmp_path / "inbox.sqlite") as inbox,
        closing(InboxStore(tmp_path / "inbox.sqlite")) as other,
    ):
        keep(other, written(message(0, who=CARA)), written(message(1)))
        deletion = inbox.forget(f"+{CARA}")
        with other.reading.begin() as connection:
            connection.exec_driver_sql("BEGIN")
            connection.exec_driver_sql("SELECT count(*) FROM delivery").scalar()
            with pytest.raises(StoreError, match=r"may still hold them.*apply\(\) tries it again"):
                deletion.apply()
        assert deletion.deleted == 1
        deletion.apply()
        assert CARA.encode() not in kept_in(tmp_path)


# --- how it is told -----------------------------------------------------------------------


def test_numbers_and_sizes_are_told_as_a_person_says_them(inbox: Inbox, store: InboxStore) -> None:
    keep(store, b"{}", received=(START + 7260) * 1_000_000)
    keep(store, b"{}", received=START * 1_000_000)
    deletion = inbox.prune(before=after(9000))
    assert (deletion.first, deletion.last) == (after(0), after(7260))
    line = "  received from 2025-06-15 15:06 to 2025-06-15 17:07 UTC, about 0 contacts, "
    for count, output in (
        *((0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1000, "1.0 kB")),
        *((999_949, "999.9 kB"), (10**6, "1.0 MB"), (10**9, "1.0 GB"), (2 * 10**12, "2,000.0 GB")),
    ):
        deletion.bytes = count
        assert repr(deletion).splitlines()[1] == line + output
    assert "others" not in repr(deletion)
    deletion.deleted = 1
    assert "Stopped: 1 of them deleted; apply() goes on." in repr(deletion)


def test_what_mentions_a_person_is_marked_and_deleted_in_parts(
    inbox: Inbox, store: InboxStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chatkit.inbox.retention._CHUNK", 2)
    mine = [written(message(n, who=CARA)) for n in range(5)]
    keep(store, *mine, written(message(9, text={"body": f"call {CARA}"})), written(message(10)))
    deletion = inbox.forget(CARA)
    assert (deletion.deliveries, deletion.contacts) == (6, 2)
    assert "1 of 6 deliveries is about others too (1 other contact), or only" in repr(deletion)
    assert deletion.first == after(0) and deletion.last == after(5)
    frame = deletion.frame()
    assert frame.index.tolist() == [1, 2, 3, 4, 5, 6]
    assert frame["mixed"].tolist() == [False] * 5 + [True]
    assert frame["contact"].tolist()[:5] == [f"+{CARA}"] * 5
    assert deletion.apply(mixed=True).deleted == 6
    assert ids(inbox) == [7]
    nobody = inbox.forget(CARA)
    assert (nobody.deliveries, nobody.contacts, nobody.first) == (0, 0, None)
    assert repr(nobody) == f"0 deliveries about +{CARA}\n\nThere is nothing to delete."
