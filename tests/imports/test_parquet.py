"""A list as Parquet files: every row once, however often the reading was stopped or killed."""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import processes
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from internals import middleware_of
from msgspec import Raw
from volume import volume

import chatkit
from chatkit import Client, ServiceProfile
from chatkit.api.answer import Envelope, Pagination
from chatkit.api.call import Call
from chatkit.contacts import Contact, ContactEndpoints
from chatkit.errors import Fault, InputError, ListMoved, NotPermitted, Refused, StoreError
from chatkit.imports import parquet
from chatkit.imports.parquet import write_parquet
from chatkit.util.files import lock_file
from chatkit.util.progress import Pace

SIZE = 5  # rows of a page


class Account:
    """A list of contacts behind the face of a transport, which can be cut off at a page."""

    def __init__(self, ids: Iterable[Any], *, size: int = SIZE, refuses: bool = False) -> None:
        self.ids = list(ids)
        self.asked: list[int] = []
        self.ends_at: int | None = None  #: calls that are answered before the token is refused
        self.stops_at: Any = None  #: the id at which a person presses the stop button
        self.more: dict[Any, dict[str, Any]] = {}  #: fields of single contacts
        self.profile = ServiceProfile(
            max_page_size=size, page_past_end="refuse" if refuses else "empty"
        )
        self.connection = SimpleNamespace(
            account="https://x.example account 7", account_id="7", name="shop", sandbox=None
        )

    def pace(self) -> Pace:
        return Pace(8, 0.0, float("inf"))

    def get_service_time(self) -> datetime:
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
        if self.stops_at is not None and self.stops_at in ids:
            raise KeyboardInterrupt
        if not ids and page > 1 and self.profile.page_past_end == "refuse":
            return Refused(call, "422 after the last page", status=422)
        empty = dict.fromkeys(Contact.listed)
        rows = [{**empty, "id": i, **self.more.get(i, {})} for i in ids]
        total = len(self.ids)
        return Envelope(
            success=True,
            data=Raw(json.dumps(rows).encode()),
            pagination=Pagination(page, size, total, -(-total // size)),
        )

    def read(self, folder: Path, ends_at: int | None = None) -> int | None:
        """Read until so many calls were answered; None if it was stopped by that."""
        self.asked.clear()
        self.ends_at = ends_at
        try:
            return write_parquet(ContactEndpoints(self), folder)  # type: ignore[arg-type]
        except NotPermitted:
            return None


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "PART_ROWS", 2 * SIZE)
    monkeypatch.setattr(parquet, "PATIENCE", 0.1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "contacts"


def ids_in(folder: Path) -> list[int]:
    return pd.read_parquet(folder).index.tolist()


def part_of(folder: Path, number: int) -> Path:
    (path,) = [*folder.glob(f"part-{number:06}.*"), *folder.glob(f".part-{number:06}.*")]
    return path


# --- the frame ------------------------------------------------------------------------------


@pytest.fixture(params=["national", "international"])
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    profile = ServiceProfile(number_form=request.param, max_page_size=20)
    with (
        chatkit.Sandbox(seed="demo", profile=profile) as sandbox,
        chatkit.connect(sandbox) as opened,
    ):
        yield opened


def test_pandas_reads_the_frame_of_the_contacts(client: Client, folder: Path) -> None:
    assert client.contacts.to_parquet(folder) == 250
    assert [pq.read_metadata(path).num_rows for path in sorted(folder.glob("*.parquet"))] == (
        [20] * 12 + [10]
    )
    result, frame = pd.read_parquet(folder), client.contacts.frame()
    lists = result.tags.map(list)
    pd.testing.assert_frame_equal(result.assign(tags=lists), frame)
    assert result.index.name == "id" and result.tags.dtype == object


@pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning")  # in Dask
def test_changed_rows_of_any_program_are_planned_as_a_frame(client: Client, folder: Path) -> None:
    dd, duckdb, polars = (
        pytest.importorskip(name) for name in ("dask.dataframe", "duckdb", "polars")
    )
    client.contacts.to_parquet(folder)
    files = str(folder / "part-*.parquet")
    chosen = f"select * replace (upper(name) as name) from '{files}' where country_code = '+61'"
    australia = polars.scan_parquet(files).filter(polars.col("country_code") == "+61")
    lazy = dd.read_parquet(folder, filters=[("country_code", "==", "+61")])
    frames = {
        "pandas": pd.read_parquet(folder, filters=[("country_code", "==", "+61")]),
        "Dask": lazy.compute(),
        "Polars": australia.with_columns(polars.col("name").str.to_uppercase())
        .collect()
        .to_pandas()
        .set_index("id"),
        "DuckDB": duckdb.sql(chosen).df().set_index("id"),
    }
    for frame in frames.values():
        plan = client.contacts.plan(frame.assign(name=frame.name.str.upper()))
        assert plan.counts == {"create": 0, "update": 8, "delete": 0}
        assert not len(plan.refused)


def test_ids_of_another_account_are_not_taken_for_its_own(client: Client, folder: Path) -> None:
    """Folders of several accounts can be read as one, so a frame of them claims no account."""
    client.contacts.to_parquet(folder)
    frame = pd.read_parquet(folder).assign(name="Somebody")
    others = [{"number": f"555{n:07}", "country_code": "+1", "name": "Ana"} for n in range(250)]
    with chatkit.Sandbox(seed=_Seed(others)) as sandbox, chatkit.connect(sandbox) as other:
        assert len({*other.contacts.frame().index} & {*frame.index}) > 200
        plan = other.contacts.plan(frame, skip_invalid=True)
        assert not plan.changes and len(plan.refused) >= 250


def test_files_are_for_their_owner_alone_and_never_in_git(client: Client, folder: Path) -> None:
    client.contacts.to_parquet(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    files = [*folder.iterdir()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert "*" in (folder / ".gitignore").read_text().splitlines()
    token = client.transport.connection.token.reveal().encode()
    assert not [path for path in files if token in path.read_bytes()]


def test_an_account_without_contacts_is_a_frame_without_rows(folder: Path) -> None:
    assert Account([]).read(folder) == 0
    frame = pd.read_parquet(folder)
    assert frame.empty and "name" in frame.columns


def test_fields_that_come_later_are_columns_of_all_parts(folder: Path) -> None:
    account = Account(range(30))
    account.more[12] = {"vip": "yes", "tags": ["a", {"b": 1}, None, 2]}
    account.more[27] = {"score": 5, "tags": "loose"}
    assert account.read(folder) == 30
    frame = pd.read_parquet(folder)
    assert frame.vip.dropna().map(json.loads).to_dict() == {12: "yes"}
    assert frame.score.dropna().map(json.loads).to_dict() == {27: 5}
    assert frame.tags.dropna().map(list).to_dict() == {
        12: ["a", '{"b":1}', None, "2"],
        27: ["loose"],
    }
    assert {str(frame[name].dtype) for name in ("vip", "score")} == {"str"}


def test_a_kill_while_parts_get_their_columns_leaves_each_row_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = Account(range(30))
    account.more[29] = {"vip": True}
    rename = Path.rename

    def stopped(path: Path, target: Path) -> Path:
        if path.name.startswith(".part-000001"):
            raise KeyboardInterrupt
        return rename(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", stopped)
        with pytest.raises(KeyboardInterrupt):
            account.read(folder)
    assert [path.name[0] for path in sorted(folder.glob("*part*"))] == [".", ".", "p"]
    assert account.read(folder) == 30
    assert ids_in(folder) == [*range(30)]
    assert "vip" in pd.read_parquet(folder).columns


# --- going on -------------------------------------------------------------------------------


@pytest.mark.parametrize("refuses", [False, True])
@pytest.mark.parametrize("stop", range(1, 9))
def test_it_goes_on_with_the_page_that_is_due(folder: Path, stop: int, refuses: bool) -> None:
    account = Account(range(100, 133), refuses=refuses)
    finished = account.read(folder, ends_at=stop)
    assert (finished is None) == (stop < 7)
    assert stop >= 7 or not [*folder.glob("part-*")], "parts are hidden until all are there"
    assert account.read(folder) == 33
    assert finished or account.asked == [1, *range(stop, 8)]
    assert ids_in(folder) == [*range(100, 133)]
    assert {path.name[0] for path in folder.glob("*part*")} == {"p"}
    assert account.read(folder) == 33 and account.asked == []


def test_the_stop_button_leaves_what_was_read(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    account = Account(range(33))
    account.stops_at = 17
    with pytest.raises(KeyboardInterrupt):
        account.read(folder)
    account.stops_at = None
    assert account.read(folder) == 33
    assert account.asked == [1, 3, 4, 5, 6, 7]
    assert "contacts: goes on after 15 contacts" in capsys.readouterr().out


#: How the list of 40 contacts changes after 20 of them were read, and whether reading goes on.
CHANGES: dict[str, tuple[Callable[[list[int]], list[int]], bool]] = {
    "nothing": (lambda ids: ids, True),
    "created at the end": (lambda ids: [*ids, 900, 901], True),
    "one deleted before": (lambda ids: ids[1:], True),
    "four deleted before": (lambda ids: [ids[0], *ids[5:]], True),
    "one deleted of the last page": (lambda ids: [i for i in ids if i != 17], True),
    "all but one deleted of the last page": (lambda ids: [i for i in ids if not 15 < i < 20], True),
    "deleted after": (lambda ids: ids[:30], True),
    "a page deleted before": (lambda ids: [ids[0], *ids[6:]], False),
    "the last page deleted": (lambda ids: [i for i in ids if not 15 <= i < 20], False),
    "created at the front": (lambda ids: [900, *ids], False),
    "created in the last page": (lambda ids: [*ids[:17], 900, *ids[17:]], False),
    "one created at the front, one deleted": (lambda ids: [900, *ids[1:]], False),
    "in another order": (lambda ids: ids[::-1], False),
    "the last page in another order": (lambda ids: [*ids[:15], *ids[19:14:-1], *ids[20:]], False),
    "all deleted": (lambda ids: [], False),
}


@pytest.mark.filterwarnings("ignore::chatkit.errors.ListMoved")
@pytest.mark.parametrize("refuses", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_a_list_that_has_moved_too_far_is_not_gone_on_with(
    folder: Path, change: str, refuses: bool
) -> None:
    account = Account(range(40), refuses=refuses)
    assert account.read(folder, ends_at=4) is None
    move, goes_on = CHANGES[change]
    account.ids = move(account.ids)
    if not goes_on:
        with pytest.raises(InputError, match=r"has changed since .*20 contacts.*Delete .*contacts"):
            account.read(folder)
        assert not [*folder.glob("part-*")]
        return
    count = account.read(folder)
    result = ids_in(folder)
    assert len(result) == count == len({*result}) and {*account.ids} <= {*result}


@pytest.mark.filterwarnings("ignore::chatkit.errors.ListMoved")
@pytest.mark.parametrize("order", ["ascending", "descending", "none"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=volume(12))
@given(data=st.data())
def test_every_contact_is_there_once_or_the_folder_is_refused(
    order: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The export is interrupted anywhere; meanwhile contacts and page sizes change."""
    folder = tmp_path_factory.mktemp("parquet") / "contacts"
    ids = [*range(100, 100 + data.draw(st.integers(0, 60), "rows"))]
    ids = ids[::-1] if order == "descending" else ids
    ids = data.draw(st.permutations(ids), "ids") if order == "none" else ids
    account, fresh, quiet = Account(ids, refuses=data.draw(st.booleans(), "refuses")), 1000, True
    for _ in range(data.draw(st.integers(0, 3), "stops")):
        account.profile = account.profile.model_copy(
            update={"max_page_size": data.draw(st.sampled_from([3, 5, 8]), "size")}
        )
        try:
            account.read(folder, ends_at=data.draw(st.integers(1, 12), "calls"))
        except InputError:
            break
        gone = data.draw(st.sets(st.sampled_from(account.ids)) if account.ids else st.just(set()))
        made = [*range(fresh, fresh := fresh + data.draw(st.integers(0, 7), "made"))]
        if not [*folder.glob("part-*")]:
            quiet = quiet and not gone and (not made or order != "descending")
            account.ids = [i for i in account.ids if i not in gone]
            account.ids = (
                [*made[::-1], *account.ids] if order == "descending" else account.ids + made
            )
    try:
        count = account.read(folder)
    except InputError:
        assert not quiet, "a list that only grew at its end was refused"
        return
    result = ids_in(folder)
    assert len(result) == count == len({*result})
    assert {*account.ids} <= {*result}


def test_contacts_that_a_moving_list_shows_twice_are_there_once(folder: Path) -> None:
    account = Account([*range(12), 7, *range(12, 19), 18, 19])
    with pytest.warns(ListMoved, match="2 rows came twice"):
        assert account.read(folder) == 20
    assert sorted(ids_in(folder)) == [*range(20)]


def test_totals_that_differ_from_the_parts_are_warned_of(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    account = Account(range(40))
    account.read(folder, ends_at=4)
    account.ids = account.ids[1:]
    with pytest.warns(ListMoved, match="40 different rows came of 39"):
        assert account.read(folder) == 40
    account.read(folder)
    assert "40 different rows came of 39" in capsys.readouterr().out


# --- what is refused ------------------------------------------------------------------------


def _link(path: Path) -> None:
    path.rename(path.parent.parent / "elsewhere.parquet")
    path.symlink_to(path.parent.parent / "elsewhere.parquet")


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut": (lambda path: os.truncate(path, path.stat().st_size - 1), "cannot be read"),
    "empty": (lambda path: os.truncate(path, 0), "cannot be read"),
    "another table": (lambda path: pd.DataFrame({"id": [1]}).to_parquet(path), "cannot be read"),
    "a link": (_link, "is a link"),
    "a folder": (lambda path: (path.unlink(), path.mkdir()), "is a link or a folder"),
}


@pytest.mark.parametrize("finished", [False, True])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_part_is_named(folder: Path, damage: str, finished: bool) -> None:
    account = Account(range(40))
    account.read(folder, ends_at=None if finished else 6)
    change, words = DAMAGE[damage]
    path = part_of(folder, 1)
    change(path)
    with pytest.raises(StoreError, match=rf"{path.name} {words}.*Delete "):
        account.read(folder)
    assert account.asked == []


def test_missing_parts_are_named(folder: Path, tmp_path: Path) -> None:
    account = Account(range(40))
    account.read(folder)
    kept = part_of(folder, 1)
    kept.rename(tmp_path / "kept")
    with pytest.raises(StoreError, match=r"Part 1 of .*contacts is missing"):
        account.read(folder)
    (tmp_path / "kept").replace(kept)
    part_of(folder, 3).unlink()
    with pytest.raises(StoreError, match=r"holds 30 rows in 3 parts, and 40 rows in 4 parts"):
        account.read(folder)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"parts": -1}', '{"parts": "../x.parquet"}'])
def test_damaged_totals_are_refused(folder: Path, text: str) -> None:
    account = Account(range(12))
    account.read(folder)
    (folder / "_complete.json").write_text(text)
    with pytest.raises(StoreError, match=r"_complete\.json cannot be read"):
        account.read(folder)


def test_what_is_no_folder_of_this_account_is_refused(folder: Path, tmp_path: Path) -> None:
    account = Account(range(12))
    (tmp_path / "list.csv").write_text("id")
    with pytest.raises(InputError, match=r"list\.csv is a file"):
        account.read(tmp_path / "list.csv")
    with pytest.raises(InputError, match=r"holds other files \(list\.csv\): name a new folder"):
        account.read(tmp_path)
    account.read(folder)
    other = Account(range(12))
    other.connection.account = "https://x.example account 8"
    with pytest.raises(
        InputError, match=r"holds contacts of account 7.*, not contacts of account 8"
    ):
        other.read(folder)


def test_a_second_process_is_kept_from_the_folder(folder: Path) -> None:
    account = Account(range(12))
    account.read(folder, ends_at=1)
    with lock_file(folder / "_complete.json"), pytest.raises(StoreError, match="another process"):
        account.read(folder)
    assert account.read(folder) == 12


def test_a_full_disk_is_told_and_gone_on_from(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account, fsync, left = Account(range(40)), os.fsync, [3 + 4]  # the folder, and two parts

    def full(file: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        fsync(file)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match=r"cannot be written \(No space left on device\)"):
            account.read(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert account.read(folder) == 40
    assert ids_in(folder) == [*range(40)]
    assert not [path for path in folder.iterdir() if path.name.startswith(".writing")]


# --- memory, and a real SIGKILL -------------------------------------------------------------

MEASURE = """
import resource, sys, tempfile
from pathlib import Path
from imports.test_parquet import Account

account = Account(range(int(sys.argv[1])), size=100)
assert account.read(Path(tempfile.mkdtemp()) / "contacts") == int(sys.argv[1])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts KB as Linux does")
def test_memory_does_not_grow_with_the_account(tmp_path: Path) -> None:
    import subprocess  # the fork of `processes` has the memory of its parent

    def peak(rows: int) -> int:
        command = [sys.executable, "-c", MEASURE, str(rows)]
        place = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        done = subprocess.run(command, env=place, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return int(done.stdout.split()[-1])

    few, many = peak(20_000), peak(120_000)
    assert many - few < 16 * 1024, "1 MB for 6,250 contacts; as a frame they take five times that"


WORK = """
import sys
from chatkit import Client, ServiceProfile
from chatkit.imports import parquet

url, token, folder = sys.argv[1:]
parquet.PART_ROWS = 100
with Client(url, "1001", token, profile=ServiceProfile(max_page_size=20)) as client:
    print(client.contacts.to_parquet(folder))
"""


class _Seed:
    def __init__(self, contacts: list[dict[str, str]]) -> None:
        self.contacts = contacts

    def _seed_records(self) -> Any:
        return {"contacts": self.contacts}


def test_killed_again_and_again_it_reads_no_durable_part_twice(folder: Path) -> None:
    persons = [{"number": f"555{n:07}", "country_code": "+1", "name": "Ana"} for n in range(1203)]
    profile = ServiceProfile(max_page_size=20)
    with chatkit.Sandbox(seed=_Seed(persons), profile=profile) as sandbox, sandbox.serve() as url:
        sandbox.faults(latency=0.01)
        command = [sys.executable, "-c", WORK, url, sandbox.token, str(folder)]
        for expected in (2, 5, 9):
            with processes.Popen(command, stdout=processes.PIPE, stderr=processes.PIPE) as process:
                while process.poll() is None:
                    if len([*folder.glob(".part-*")]) >= expected:
                        process.send_signal(signal.SIGKILL)
                    time.sleep(0.002)
                assert process.returncode == -signal.SIGKILL
            assert not [*folder.glob("part-*")]
        durable = max(int(path.name[6:12]) for path in folder.glob(".part-*")) + 1
        with chatkit.Client(url, sandbox.account_id, sandbox.token) as client:
            client.contacts.frame()  # what was under way is answered meanwhile
        sandbox.faults()
        middleware_of(sandbox).log.clear()
        with processes.Popen(command, stdout=processes.PIPE, stderr=processes.PIPE) as process:
            out, errors = process.communicate(timeout=60)
            assert process.returncode == 0, errors.decode()
        assert out.split()[-1] == b"1203"
        pages = 61 - 5 * durable
        assert (
            len(middleware_of(sandbox).log) == pages + 2
        )  # the first page, and the last that is known
        with chatkit.connect(sandbox) as client:
            frame = client.contacts.frame()
    pd.testing.assert_frame_equal(pd.read_parquet(folder).assign(tags=frame.tags), frame)
    assert {path.name[0] for path in folder.glob("*part*")} == {"p"}
