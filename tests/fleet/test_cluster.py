"""Runs of a fleet on a Dask cluster: what workers are told, how they end, and what is refused."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from distributed import Client as DaskClient
from distributed import LocalCluster

import chatkit
from chatkit.bulk.apply import Interrupt
from chatkit.bulk.plan import keep_at, prepare_runs
from chatkit.bulk.stores import FolderStore
from chatkit.errors import InputError, SettingsError
from chatkit.fleet import cluster
from chatkit.fleet.cluster import ClusterRun, Workers, seal, unseal
from chatkit.fleet_plan import ApplyOptions

WORKER = (
    "__import__('importlib').import_module('chatkit.fleet.cluster')"  # on a worker, for `dask.run`
)


class Account:
    """An account of a sandbox that is served over HTTP."""

    def __init__(self, stack: ExitStack) -> None:
        self.sandbox = stack.enter_context(chatkit.Sandbox(seed="demo"))
        self.url = stack.enter_context(self.sandbox.serve())
        self.credentials = self.url, self.sandbox.account_id, self.sandbox.token
        self.client = stack.enter_context(chatkit.Client(*self.credentials))

    def prepared(self, folder: Path, name: str, rows: int = 5) -> ClusterRun:
        """Plan to name some contacts, and write the journal of the run."""
        frame = self.client.contacts.frame().head(rows)
        frame["name"] = [f"{name} {n}" for n in range(len(frame))]
        plan = self.client.contacts.plan(frame)
        store = FolderStore(folder)
        with store.hold([self.client.connection.account]) as held:
            held.create(plan._header(), plan.changes).close()
        return ClusterRun(plan.id, self.client.connection, store)

    def named(self, name: str) -> int:
        return sum(each.startswith(name) for each in self.client.contacts.frame().name.fillna(""))


@pytest.fixture(scope="module")
def accounts() -> Iterator[list[Account]]:
    with ExitStack() as stack:
        yield [Account(stack) for _ in range(2)]


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskClient]:
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0",
            local_directory=str(tmp_path_factory.mktemp("dask")), silence_logs=False,
        ) as local,
        DaskClient(local, set_as_default=False) as client,
    ):  # fmt: skip
        yield client


def gone_on(dask: Any, runs: list[ClusterRun], **options: Any) -> dict[str, str]:
    with Workers(dask, len(runs)) as workers, Interrupt() as interrupt:
        workers.check(runs)
        return workers.go_on(runs, **{"interrupt": interrupt, "options": ApplyOptions()} | options)


def finished(runs: list[ClusterRun]) -> dict[str, str]:
    return {run.run: "" for run in runs}


def test_each_account_is_a_task_that_carries_no_token(
    accounts: list[Account],
    dask: DaskClient,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    runs = [account.prepared(tmp_path, "Zeno") for account in accounts]
    seen: list[Any] = []
    with caplog.at_level("DEBUG"):
        ends = gone_on(dask, runs, watch=lambda *done: seen.append(done))
    assert ends == finished(runs)
    assert [account.named("Zeno") for account in accounts] == [5, 5]
    assert {(run.run, 5, 5) for run in runs} <= set(seen)

    dask.dump_cluster_state(str(tmp_path / "state"), format="yaml")
    told = (tmp_path / "state.yaml").read_text() + str(dask.get_worker_logs()) + caplog.text
    told += str(dask.get_scheduler_logs()) + str(dask.get_events())
    assert runs[0].run in told
    assert not [account for account in accounts if account.sandbox.token in told]


def test_a_worker_that_was_started_again_is_told_anew(
    accounts: list[Account], dask: DaskClient, tmp_path: Path
) -> None:
    run = accounts[0].prepared(tmp_path, "Yara")
    with Workers(dask) as workers, Interrupt() as interrupt:
        workers.check([run])
        dask.run(exec, f"{WORKER}._delivered.clear()")
        assert workers.go_on([run], options=ApplyOptions(), interrupt=interrupt) == finished([run])
    assert accounts[0].named("Yara") == 5


def test_what_a_worker_can_open_by_name_is_not_sent_to_it(
    accounts: list[Account], dask: DaskClient, tmp_path: Path
) -> None:
    account = accounts[0]
    [worker] = dask.scheduler_info()["workers"]
    run = account.prepared(tmp_path, "Xenia")
    by_name = run.connection.model_copy(update={"name": "staging"})
    (tmp_path / "token").write_text(account.sandbox.token)
    (tmp_path / "token").chmod(0o600)
    (tmp_path / "connections.toml").write_text(
        f'[staging]\nbase_url = "{account.url}"\naccount_id = "{account.sandbox.account_id}"\n'
        f'token_file = "{tmp_path / "token"}"\n'
    )
    config = str(tmp_path / "connections.toml")
    dask.run(exec, f"import os; os.environ['CHATKIT_CONFIG'] = {config!r}")
    try:
        with Workers(dask) as workers, Interrupt() as interrupt:
            workers.check([run._replace(connection=by_name)])
            assert dask.run(eval, f"len({WORKER}._delivered)") == {worker: 0}
            assert workers.go_on([run], options=ApplyOptions(), interrupt=interrupt) == finished(
                [run]
            )
    finally:
        dask.run(exec, "import os; del os.environ['CHATKIT_CONFIG']")
    assert account.named("Xenia") == 5


def test_the_home_of_many_runs_is_asked_once_how_many_it_lets_in(
    accounts: list[Account], dask: DaskClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [account.prepared(tmp_path, "Sven", 1) for account in accounts]
    asked: list[str] = []
    most = FolderStore.most
    monkeypatch.setattr(
        FolderStore, "most", lambda store: (asked.append(store.shown), most(store))[1]
    )
    assert gone_on(dask, runs) == finished(runs)
    assert asked == [str(tmp_path)]


def test_one_account_s_refused_token_does_not_stop_the_other(
    accounts: list[Account], dask: DaskClient, tmp_path: Path
) -> None:
    runs = [account.prepared(tmp_path, "Wanda") for account in accounts]
    wrong = runs[0].connection.model_copy(update={"token": chatkit.secret.Secret("wrong" * 9)})
    ends = gone_on(dask, [runs[0]._replace(connection=wrong), runs[1]])
    assert "401" in ends[runs[0].run] and "wrongwrong" not in ends[runs[0].run]
    assert ends[runs[1].run] == ""
    assert [account.named("Wanda") for account in accounts] == [0, 5]
    assert gone_on(dask, runs) == finished(runs)  # the journal has all that is left


def test_the_stop_button_ends_what_is_under_way_and_no_more(
    accounts: list[Account], dask: DaskClient, tmp_path: Path
) -> None:
    run = accounts[0].prepared(tmp_path, "Vera", 60)
    interrupt = Interrupt()
    some = threading.Event()

    def watch(name: str, done: int, total: int | None) -> None:
        some.set()
        interrupt.ask()

    with Workers(dask) as workers:
        workers.check([run])
        ends = workers.go_on([run], options=ApplyOptions(1, 20), interrupt=interrupt, watch=watch)
    assert some.is_set() and ends == {run.run: "you stopped it"}
    before = accounts[0].named("Vera")
    assert before < 60
    assert chatkit.resume(run.run, accounts[0].client, at=tmp_path).state.eq("applied").all()


def test_after_a_stop_that_was_asked_before_it_begins_no_worker_is_given_a_task(
    accounts: list[Account], dask: DaskClient, tmp_path: Path
) -> None:
    run, interrupt = accounts[0].prepared(tmp_path, "Uma"), Interrupt()
    interrupt.ask()
    assert gone_on(dask, [run], interrupt=interrupt) == {run.run: "you stopped it"}
    assert list(dask.run(eval, f"len({WORKER}._delivered)").values()) == [0]
    assert accounts[0].named("Uma") == 0
    assert chatkit.resume(run.run, accounts[0].client, at=tmp_path).state.eq("applied").all()


def test_a_worker_that_comes_after_the_stop_button_sends_nothing(
    accounts: list[Account], dask: DaskClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account, interrupt = accounts[0], Interrupt()
    run = account.prepared(tmp_path, "Tara", 60)
    run = run._replace(connection=run.connection.model_copy(update={"name": "staging"}))
    (tmp_path / "token").write_text(account.sandbox.token)
    (tmp_path / "token").chmod(0o600)
    (tmp_path / "connections.toml").write_text(
        f'[staging]\nbase_url = "{account.url}"\naccount_id = "{account.sandbox.account_id}"\n'
        f'token_file = "{tmp_path / "token"}"\n'
    )
    # the worker that the nanny starts opens the account by name: it need not be told a token
    monkeypatch.setenv("CHATKIT_CONFIG", str(tmp_path / "connections.toml"))
    [pid] = dask.run(os.getpid).values()

    def watch(name: str, done: int, total: int | None) -> None:
        if not interrupt.asked:
            os.kill(pid, signal.SIGKILL)
            interrupt.ask()

    ends = gone_on(dask, [run], watch=watch, options=ApplyOptions(1, 20), interrupt=interrupt)
    assert ends == {run.run: "you stopped it"}
    dask.wait_for_workers(1, timeout=60)
    assert list(dask.run(eval, f"len({WORKER}._at_work)").values()) == [0]
    assert account.named("Tara") < 60
    assert chatkit.resume(run.run, account.client, at=tmp_path).state.eq("applied").all()


@pytest.mark.parametrize("end", ["two interrupts", "an exception"])
def test_workers_that_nobody_waits_for_stop_and_keep_no_token(
    accounts: list[Account], dask: DaskClient, tmp_path: Path, end: str
) -> None:
    run, interrupt, some = accounts[0].prepared(tmp_path, end, 60), Interrupt(), threading.Event()

    def meanwhile() -> None:
        if some.is_set() and end == "an exception":
            raise RuntimeError("no bar can be drawn")
        if some.is_set():
            interrupt.ask()
            interrupt.ask()

    stack = pytest.raises(RuntimeError, match="no bar") if end == "an exception" else ExitStack()
    with stack:
        gone_on(
            dask, [run], options=ApplyOptions(1, 20), interrupt=interrupt, meanwhile=meanwhile,
            watch=lambda *done: some.set(),
        )  # fmt: skip
    [told] = dask.run(eval, f"len({WORKER}._delivered)").values()
    assert told == 0
    while any(dask.run(eval, f"len({WORKER}._at_work)").values()):
        some.wait(0.05)
    assert accounts[0].named(end) < 60
    assert chatkit.resume(run.run, accounts[0].client, at=tmp_path).state.eq("applied").all()


def test_a_killed_worker_is_replaced_and_its_run_goes_on_from_the_journal(
    accounts: list[Account], dask: DaskClient, tmp_path: Path
) -> None:
    run = accounts[0].prepared(tmp_path, "Uma", 40)
    [pid] = dask.run(os.getpid).values()
    killed: list[int] = []

    def watch(name: str, done: int, total: int | None) -> None:
        if done and not killed:
            killed.append(pid)
            os.kill(pid, signal.SIGKILL)

    assert gone_on(dask, [run], watch=watch, options=ApplyOptions(8, 40, 0.1)) == finished([run])
    assert killed and accounts[0].named("Uma") == 40
    result = chatkit.resume(run.run, accounts[0].client, at=tmp_path)
    assert result.state.isin(["applied", "unchanged"]).all() and not result.sent.gt(2).any()


def test_signing_secrets_come_back_sealed(
    accounts: list[Account], dask: DaskClient, tmp_path: Path
) -> None:
    client, store = accounts[0].client, FolderStore(tmp_path)
    plan = client.webhooks.plan(
        [{"name": "hook", "url": "https://example.com/hook", "events": ["message.received"]}]
    )
    with store.hold([client.connection.account]) as held:
        held.create(plan._header(), plan.changes).close()
    run, made = ClusterRun(plan.id, client.connection, store), {}
    assert gone_on(dask, [run], made=lambda name, secrets: made.update(secrets)) == {run.run: ""}
    [(id_, secret)] = made.items()
    assert id_ in client.webhooks.frame().index and len(secret.reveal()) == 64


def test_local_processes_are_encrypted_and_gone_afterwards(
    accounts: list[Account], tmp_path: Path
) -> None:
    run = accounts[0].prepared(tmp_path, "Tom")
    with Workers("local") as workers, Interrupt() as interrupt:
        workers.check([run])
        [address] = workers._addresses()
        [pid] = workers._client.run(os.getpid).values()
        assert workers.go_on([run], options=ApplyOptions(), interrupt=interrupt) == finished([run])
    assert address.startswith("tls://127.0.0.1:")
    assert not Path(f"/proc/{pid}/cmdline").exists()


def test_a_plan_of_a_fleet_is_applied_and_taken_back_on_a_cluster(
    accounts: list[Account], dask: DaskClient, tmp_path: Path
) -> None:
    fleet = chatkit.connect_all({"de": accounts[0].client, "fr": accounts[1].client})
    frame = fleet.contacts.frame().groupby(level=0).head(3)
    frame["name"] = "Sina Berg"
    plan = fleet.contacts.plan(frame)
    bars: list[tuple[int, int | None]] = []
    result = plan.apply(on=dask, at=tmp_path, watch=lambda *done: bars.append(done))
    assert result.index.tolist() == frame.index.tolist()
    assert result.state.eq("applied").all() and bars[-1] == (6, 6)
    assert chatkit.resume(plan.id, at=tmp_path).state.eq("applied").all()

    back = chatkit.undo(result).apply(on=dask)
    assert back.index.get_level_values(0).tolist() == ["de"] * 3 + ["fr"] * 3
    assert [account.named("Sina") for account in accounts] == [0, 0]


def test_a_run_of_a_fleet_goes_on_with_workers_and_an_account_without_a_client_stops_alone(
    accounts: list[Account], dask: DaskClient, tmp_path: Path
) -> None:
    fleet = chatkit.connect_all({"de": accounts[0].client, "fr": accounts[1].client})
    frame = fleet.contacts.frame().groupby(level=0).head(2)
    frame["name"] = "Vera Berg"
    plan = fleet.contacts.plan(frame)
    prepare_runs([keep_at(part, tmp_path) for part in reversed(plan.plans.values())], plan.id)
    accounts[1].client.close()
    result = chatkit.resume(plan.id, {"de": accounts[0].client}, on=dask, at=tmp_path)
    assert result.state.tolist() == ["applied"] * 2 + ["not sent"] * 2
    assert "pass its client" in result.attrs["stops"]["fr"]
    again = accounts[1].client = chatkit.Client(*accounts[1].credentials)
    clients = {"de": accounts[0].client, "fr": again}
    assert chatkit.resume(plan.id, clients, on=dask, at=tmp_path).state.eq("applied").all()


def test_nothing_is_written_for_a_cluster_that_cannot_be_used(
    accounts: list[Account], dask: DaskClient, tmp_path: Path
) -> None:
    fleet = chatkit.connect_all({"de": accounts[0].client})
    frame = fleet.contacts.frame().head(3)
    frame["name"] = "Rosa Berg"
    plan = fleet.contacts.plan(frame)
    with pytest.raises(InputError, match="on= takes a client of Dask"):
        plan.apply(on="elsewhere", at=tmp_path)
    assert not list(tmp_path.iterdir())
    assert plan.apply(on=dask, at=tmp_path).state.eq("applied").all()


# --- what is refused --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("inproc://192.0.2.2/9439/1", "here"),
        ("tcp://127.0.0.1:37979", "here"),
        ("tcp://[::1]:37979", "here"),
        ("tcp://localhost:8786", "here"),
        ("tls://127.0.0.1:8786", "here"),
        ("tls://10.0.0.7:8786", "encrypted"),
        ("wss://scheduler.example.com:443", "encrypted"),
        ("tcp://10.0.0.7:8786", "open"),
        ("tcp://127.0.0.1.example.com:8786", "open"),
        ("ucx://10.0.0.7:8786", "open"),
        ("ws://scheduler.example.com:80", "open"),
    ],
)
def test_an_address_beyond_this_machine_must_be_encrypted(address: str, place: str) -> None:
    assert cluster._place_of(address) == place


@pytest.mark.parametrize("on", ["remote", 8, object()])
def test_only_a_client_of_dask_or_local_is_taken(on: object) -> None:
    with pytest.raises(InputError, match="on= takes a client of Dask"):
        Workers(on)


def test_journals_of_this_machine_are_refused_for_workers_on_others(
    accounts: list[Account], dask: DaskClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_place_of", lambda address: "encrypted")
    connection, store = accounts[0].client.connection, FolderStore(tmp_path)
    with Workers(dask) as workers, pytest.raises(InputError, match="Keep them in PostgreSQL"):
        workers.check([ClusterRun("x", connection, store)])


def test_an_open_network_is_refused(dask: DaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_place_of", lambda address: "open")
    with pytest.raises(InputError, match="without encryption"):
        Workers(dask)


def test_a_sandbox_of_this_process_is_refused(dask: DaskClient, tmp_path: Path) -> None:
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as client, Workers(dask) as workers:
        run = ClusterRun("x", client.connection, FolderStore(tmp_path))
        with pytest.raises(InputError, match=r"serve it with sandbox\.serve"):
            workers.check([run])


def test_another_version_of_chatkit_on_a_worker_is_refused(
    accounts: list[Account], dask: DaskClient, tmp_path: Path
) -> None:
    run = ClusterRun("x", accounts[0].client.connection, FolderStore(tmp_path))
    dask.run(exec, f"{WORKER}._VERSION = '0.0.1'")
    try:
        with Workers(dask) as workers, pytest.raises(InputError, match="install the same version"):
            workers.check([run])
    finally:
        dask.run(exec, f"{WORKER}._VERSION = {cluster._VERSION!r}")


# --- sealing ----------------------------------------------------------------------------


def test_a_sealed_text_is_opened_by_its_key_for_its_purpose_alone() -> None:
    key = X25519PrivateKey.generate()
    sealed = seal(b"a token", key.public_key().public_bytes_raw(), "one")
    assert unseal(sealed, key, "one") == b"a token"
    assert b"a token" not in sealed
    other = seal(b"a token", key.public_key().public_bytes_raw(), "one")
    assert other[:32] != sealed[:32] and other[32:] != sealed[32:]
    changed = [sealed[:n] + bytes([sealed[n] ^ 1]) + sealed[n + 1 :] for n in (0, 31, 32, -2)]
    for text, by, about in (
        (sealed, X25519PrivateKey.generate(), "one"),
        (sealed, key, "another"),
        *((each, key, "one") for each in changed),
        *((each, key, "one") for each in (b"", sealed[:32], bytes(64))),
    ):
        with pytest.raises(SettingsError, match="cannot be opened"):
            unseal(text, by, about)
