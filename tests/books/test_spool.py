"""Spooling: every row of a list is in the book, however often it was stopped and what moved."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Generator, Iterable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import processes
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Raw
from volume import volume

import chatkit
from chatkit import Book, InputError, ListMoved, Refused, ServiceProfile, StoreError
from chatkit.answer import Envelope, Pagination
from chatkit.books import manifest as manifests
from chatkit.books.manifest import MANIFEST, Began, Ended, Manifest, alone, prepare
from chatkit.books.spool import spool
from chatkit.call import Call
from chatkit.contacts import ContactEndpoints
from chatkit.errors import Fault, NotPermitted
from chatkit.throttle import Pace

SIZE = 5  # rows of a page
PART = 10  # rows of a part


class Account:
    """A list of contacts behind the face of a transport, which can be cut off at a page."""

    def __init__(self, ids: Iterable[int], *, size: int = SIZE, refuses: bool = False) -> None:
        self.ids = list(ids)
        self.asked: list[int] = []
        self.ends_at: int | None = None  #: calls that are answered before the token is refused
        self.stops_at: int | None = None  #: the id at which a person presses the stop button
        self.rate = float("inf")  #: calls a second that the service takes
        self.profile = ServiceProfile(
            max_page_size=size, page_past_end="refuse" if refuses else "empty"
        )
        self.connection = SimpleNamespace(
            account="https://x.example account 7", account_id="7", name="shop", sandbox=None
        )

    def pace(self) -> Pace:
        return Pace(8, 0.0, self.rate)

    def service_time(self) -> datetime:
        return datetime(2026, 1, 5, tzinfo=UTC)

    def send(self, call: Call) -> Envelope:
        answer = self._answer(call)
        if isinstance(answer, Refused):
            raise answer
        return answer

    def send_all(
        self, calls: Iterable[Call], *, concurrency: int = 8
    ) -> Generator[tuple[Call, Envelope] | Fault, None, None]:
        for call in calls:
            answer = self._answer(call)
            yield Fault(call, answer) if isinstance(answer, Refused) else (call, answer)

    def _answer(self, call: Call) -> Envelope | Refused:
        page, size = int(call.query["page"]), int(call.query["pageSize"])
        if self.ends_at is not None and len(self.asked) >= self.ends_at:
            return NotPermitted(call, "403 no", status=403)
        self.asked.append(page)
        ids = self.ids[(page - 1) * size : page * size]
        if self.stops_at in ids:
            raise KeyboardInterrupt
        if not ids and page > 1 and self.profile.page_past_end == "refuse":
            return Refused(call, "422 after the last page", status=422)
        names = [dict.fromkeys(("first_name", "middle_name", "last_name", "meta_name", "number", "country_code", "wa_phone_id", "created_at", "updated_at", "created_by", "updated_by", "ai_mode", "tags"))] * len(ids)  # noqa: E501  # fmt: skip
        rows = [{"id": i, **name} for i, name in zip(ids, names, strict=True)]
        total = len(self.ids)
        return Envelope(
            success=True,
            data=Raw(json.dumps(rows).encode()),
            pagination=Pagination(page, size, total, -(-total // size)),
        )

    def spool(self, folder: Path, ends_at: int | None = None) -> Book | None:
        """Spool until so many calls were answered; None if it was stopped by that."""
        self.asked.clear()
        self.ends_at = ends_at
        endpoints = ContactEndpoints(self)  # type: ignore[arg-type]
        try:
            return spool(endpoints, folder, part_rows=PART, watch=lambda done, total: None)
        except NotPermitted:
            return None


def ids_of(book: Book | None) -> list[int]:
    assert book is not None
    return [i for table in book.tables() for i in table["id"].to_pylist()]


def listed(book: Book) -> list[int]:
    """The ids of all parts as they lie there."""
    return [i for part in book for i in part.index.tolist()]


def test_a_stopped_spool_goes_on_with_the_last_page_that_is_durable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    account = Account(range(1, 64))
    assert account.spool(tmp_path, ends_at=5) is None
    assert "stopped after page 5 with 25 contacts, which stay" in capsys.readouterr().out
    book = account.spool(tmp_path)
    assert account.asked == [*range(5, 14)]
    assert "goes on after page 5, 25 contacts were read before" in capsys.readouterr().out
    assert book is not None and book.complete
    assert listed(book) == account.ids
    account.spool(tmp_path)
    assert account.asked == []
    assert "nothing is read again" in capsys.readouterr().out


def test_it_says_beforehand_how_long_it_takes_and_that_it_can_be_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    account = Account(range(1, 401))
    account.rate = 0.1
    account.spool(tmp_path, ends_at=5)
    told = "takes about 13 minutes: 79 more calls at 0.1 calls a second. The stop button ends it"
    assert f"Reading 400 contacts of shop {told}" in capsys.readouterr().out
    account.spool(tmp_path)
    assert "Reading 375 contacts of shop takes about 12 minutes: 75 more" in capsys.readouterr().out


def test_the_stop_button_leaves_what_was_read(tmp_path: Path) -> None:
    account = Account(range(1, 64))
    account.stops_at = 33
    with pytest.raises(KeyboardInterrupt):
        account.spool(tmp_path)
    assert listed(Book(tmp_path)) == [*range(1, 31)]
    account.stops_at = None
    assert ids_of(account.spool(tmp_path)) == account.ids


def test_what_was_deleted_meanwhile_hides_no_row(tmp_path: Path) -> None:
    """Rows move to earlier pages: pages are read back until one is known."""
    account = Account(range(1, 101))
    account.spool(tmp_path, ends_at=10)
    kept = account.ids = [i for i in account.ids if i > 30]
    with pytest.warns(ListMoved, match="100 different rows came of 70"):
        book = account.spool(tmp_path)
    assert account.asked[:4] == [10, 9, 8, 6]
    assert ids_of(book) == [*range(1, 51), *range(51, 101)]
    assert set(kept) <= set(ids_of(book))


def test_an_end_that_is_refused_is_looked_for_on_earlier_pages(tmp_path: Path) -> None:
    account = Account(range(1, 101), refuses=True)
    account.spool(tmp_path, ends_at=10)
    account.ids = [*account.ids[:3], 101, 102]
    with pytest.warns(ListMoved):
        book = account.spool(tmp_path)
    assert ids_of(book) == [*range(1, 51), 101, 102]


def test_a_list_in_no_order_that_moved_too_far_is_read_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = [i * 37 % 101 for i in range(1, 101)]
    account = Account(odd)
    account.spool(tmp_path, ends_at=10)
    account.ids = odd[50:]
    book = account.spool(tmp_path)
    assert "read anew from its beginning" in capsys.readouterr().out
    assert book is not None and listed(book) == odd[50:]
    assert "read anew from its beginning" in repr(book)
    assert not book.manifest().ascending
    assert ids_of(book) == sorted(odd[50:])


@pytest.mark.filterwarnings("ignore::chatkit.errors.ListMoved")
@pytest.mark.parametrize("calls", [3, 4, 5, 8])
@pytest.mark.parametrize("made", [1, 4, 7, 9])
def test_rows_that_a_list_in_no_order_has_moved_on_are_not_written_again(
    tmp_path: Path, calls: int, made: int
) -> None:
    """New rows before them shift rows of earlier parts to the page that it goes on with."""
    odd = [i * 37 % 101 for i in range(1, 101)]
    account = Account(odd)
    account.spool(tmp_path, ends_at=calls)
    account.ids = [*range(1000, 1000 + made), *odd]
    book = account.spool(tmp_path)
    assert book is not None and sorted(set(listed(book)) - set(account.ids[:made])) == sorted(odd)
    assert len(listed(book)) == len(set(listed(book)))


def test_a_line_of_the_manifest_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    """The disk takes half of a line: what follows it later is a line of its own."""
    limits = pytest.importorskip("resource", reason="POSIX has a limit for the size of a file")
    place = prepare(tmp_path, "x")
    manifest = Manifest.begin(place, Began("account", "contact", "id", 10, "2026"))
    before = (place / MANIFEST).read_bytes()
    was = limits.getrlimit(limits.RLIMIT_FSIZE)
    limits.setrlimit(limits.RLIMIT_FSIZE, (len(before) + 20, was[1]))
    try:
        with pytest.raises(StoreError, match=r"_manifest\.jsonl cannot be written"):
            manifest.add(Ended("2026", 0, ["a note"]))
    finally:
        limits.setrlimit(limits.RLIMIT_FSIZE, was)
    assert (place / MANIFEST).read_bytes() == before and manifest.ended is None
    manifest.add(Ended("2026", 0, ["a note"]))
    found = Manifest.read(place)
    assert found is not None and found.ended == manifest.ended


def test_a_torn_last_line_of_the_manifest_is_cut_when_it_goes_on(tmp_path: Path) -> None:
    place = prepare(tmp_path, "x")
    Manifest.begin(place, Began("account", "contact", "id", 10, "2026"))
    with (place / MANIFEST).open("ab") as file:
        file.write(b'{"line":"ended","wh')
    assert Manifest.read(place) is not None  # who only reads leaves it
    manifest = Manifest.read(place, going_on=True)
    assert manifest is not None and manifest.ended is None
    manifest.add(Ended("2026", 0))
    assert (place / MANIFEST).read_bytes().count(b"\n") == 2
    assert Manifest.read(place).ended == manifest.ended  # type: ignore[union-attr]


def test_pages_may_have_another_size_when_it_goes_on(tmp_path: Path) -> None:
    account = Account(range(1, 101))
    account.spool(tmp_path, ends_at=10)
    account.profile = ServiceProfile(max_page_size=20)
    assert ids_of(account.spool(tmp_path)) == account.ids
    assert account.asked == [3, 4, 5]


def test_rows_that_come_twice_are_in_the_book_once(tmp_path: Path) -> None:
    account = Account([1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 9, 10, 11, 12])
    with pytest.warns(ListMoved, match="2 rows came twice; 12 different rows came of 14"):
        book = account.spool(tmp_path)
    assert book is not None and listed(book) == [*range(1, 13)]
    assert "shop: the list moved while it was read: 2 rows came twice" in repr(book)


def test_an_empty_account_is_a_book_of_no_rows(tmp_path: Path) -> None:
    book = Account([]).spool(tmp_path)
    assert book is not None and book.complete and book.rows == 0
    assert len(book.frame()) == len(pd.read_parquet(tmp_path)) == 0
    assert book.frame().index.name == "id"


def test_another_account_is_refused(tmp_path: Path) -> None:
    account = Account(range(30))
    account.spool(tmp_path, ends_at=3)
    account.connection.account = "https://y.example account 7"
    with pytest.raises(InputError, match="holds contacts of account 7 at https://x"):
        account.spool(tmp_path)


def test_a_second_process_is_kept_from_the_same_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifests, "PATIENCE", 0.05)
    busy = pytest.raises(StoreError, match="another process has been writing")
    with alone(prepare(tmp_path, "shop")), busy:
        Account(range(30)).spool(tmp_path)
    assert Account(range(30)).spool(tmp_path) is not None


def test_edits_of_a_book_are_not_spooled_over(tmp_path: Path) -> None:
    account = Account(range(30))
    book = account.spool(tmp_path / "book")
    assert book is not None
    book.edit(lambda part: part, tmp_path / "edited")
    with pytest.raises(InputError, match="holds edits of another book"):
        account.spool(tmp_path / "edited")


@pytest.mark.filterwarnings("ignore::chatkit.errors.ListMoved")
@pytest.mark.parametrize("order", ["ascending", "descending", "none"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=volume(12))
@given(data=st.data())
def test_whatever_was_there_all_the_time_is_in_the_book(
    order: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """It is stopped or killed anywhere, and rows are deleted and created in between."""
    folder = tmp_path_factory.mktemp("book")
    count = data.draw(st.integers(0, 60), "rows")
    ids = [*range(100, 100 + count)]
    if order == "descending":
        ids.reverse()
    elif order == "none":
        ids = data.draw(st.permutations(ids), "ids")
    account, fresh = Account(ids, refuses=data.draw(st.booleans(), "refuses")), 1000
    always, book = set(ids), None
    for _ in range(data.draw(st.integers(0, 3), "stops")):
        account.spool(folder, ends_at=data.draw(st.integers(1, 12), "calls"))
        _kill(folder, data)
        gone = data.draw(st.sets(st.sampled_from(account.ids)) if account.ids else st.just(set()))
        account.ids = [i for i in account.ids if i not in gone]
        always -= gone
        made = [*range(fresh, fresh := fresh + data.draw(st.integers(0, 7), "made"))]
        account.ids = [*made[::-1], *account.ids] if order == "descending" else account.ids + made
    book = account.spool(folder)
    found = ids_of(book)
    assert book is not None and book.complete
    assert found == sorted(set(found))
    assert always <= set(found)
    assert always <= set(book.frame().index)
    files = {path.name for path in folder.glob("*/part-*")}
    assert files == {part.file for part in book.manifest().parts}


def _kill(folder: Path, data: st.DataObject) -> None:
    """Take from the manifest what a killed process had not written yet; its parts stay."""
    path = folder / "account=shop" / MANIFEST
    text = path.read_bytes()
    if b'"ended"' in text or not data.draw(st.booleans(), "killed"):
        return
    head = text.index(b"\n") + 1
    path.write_bytes(text[: data.draw(st.integers(head, len(text)), "written")])


# --- over HTTP, and with a real SIGKILL -------------------------------------------------------

#: Spools a served account, in parts of 100 rows.
WORK = """
import sys
from chatkit import Client, ServiceProfile
from chatkit.books.spool import spool
from chatkit.resource import endpoints_of
from chatkit.throttle import Pace

url, token, folder = sys.argv[1:]
with Client(url, "1001", token, profile=ServiceProfile(max_page_size=20)) as client:
    spool(endpoints_of(client.contacts), folder, "shop", part_rows=100, watch=lambda d, t: None)
print("done")
"""


def test_killed_again_and_again_it_reads_no_durable_page_twice(tmp_path: Path) -> None:
    """Pages that a manifest names are not asked for any more, but for the last one."""
    people = [{"number": f"555{n:07}", "country_code": "+1", "name": "Ana"} for n in range(1203)]
    profile, manifest = ServiceProfile(max_page_size=20), tmp_path / "account=shop" / MANIFEST
    with chatkit.Sandbox(seed=_Seed(people), profile=profile) as sandbox, sandbox.serve() as url:
        sandbox.faults(latency=0.01)
        command = [sys.executable, "-c", WORK, url, sandbox.token, str(tmp_path)]
        for wanted in (2, 7):
            _work(command, manifest, kill_at=wanted)
            durable = Book(tmp_path).manifest().parts[-1].pages[1]
            with chatkit.Client(url, sandbox.account_id, sandbox.token) as client:
                client.contacts.frame()  # what was under way is answered meanwhile
            sandbox.middleware.log.clear()
        sandbox.faults()
        _work(command, manifest, kill_at=None)
        asked = len(sandbox.middleware.log)
        with chatkit.connect(sandbox) as client:
            frame = client.contacts.frame()
    assert durable >= 35 and asked == 61 - durable + 1
    book = Book(tmp_path)
    assert book.complete and listed(book) == frame.index.tolist()
    pd.testing.assert_frame_equal(book.frame(), frame)
    files = {path.name for path in manifest.parent.glob("*part-*")}
    assert files == {part.file for part in book.manifest().parts}


class _Seed:
    def __init__(self, contacts: list[dict[str, str]]) -> None:
        self.contacts = contacts

    def _seed_records(self) -> Any:
        return {"contacts": self.contacts}


def _work(command: list[str], manifest: Path, kill_at: int | None) -> None:
    """Spool in a process of its own; kill it when so many parts are noted."""
    with processes.Popen(command, stdout=processes.PIPE, stderr=processes.PIPE) as process:
        if kill_at is None:
            out, errors = process.communicate(timeout=60)
            assert process.returncode == 0, errors.decode()
            assert out.endswith(b"done\n")
            return
        while process.poll() is None:
            if manifest.exists() and manifest.read_bytes().count(b"\n") > kill_at:
                process.send_signal(signal.SIGKILL)
            time.sleep(0.002)
        assert process.returncode == -signal.SIGKILL
