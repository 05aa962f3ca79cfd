"""Runs of a fleet on a Dask cluster: what is sent to workers, how runs end, what is refused."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from bulk.applying import kept_at, settled, stop_by
from distributed import Client as DaskClient
from distributed import LocalCluster

import chatkit
from chatkit.account import fleet_plan
from chatkit.bulk.apply import Interrupt
from chatkit.errors import InputError

NAMES = ("de", "fr")


class Accounts:
    """Two sandboxes, served over HTTP, whose connections are named in a configuration file."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self.tokens = {}
        self.config = folder / "connections.toml"
        texts = []
        for name in NAMES:
            sandbox = stack.enter_context(chatkit.Sandbox(seed="demo"))
            url = stack.enter_context(sandbox.serve())
            self.tokens[name] = folder / f"{name}.token"
            self.tokens[name].write_text(sandbox.token)
            self.tokens[name].chmod(0o600)
            texts.append(
                f'[{name}]\nbase_url = "{url}"\naccount_id = "{sandbox.account_id}"\n'
                f'token_file = "{self.tokens[name]}"\n'
            )
        self.config.write_text("\n".join(texts))
        os.environ["CHATKIT_CONFIG"] = str(self.config)
        stack.callback(os.environ.pop, "CHATKIT_CONFIG")
        self.fleet = chatkit.connect_all(list(NAMES))
        stack.callback(self.fleet.close)

    def plan(self, name: str, rows: int = 5) -> Any:
        """Plan to give some contacts of each account a name."""
        frame = self.fleet.contacts.frame().groupby(level=0).head(rows)
        frame["name"] = [f"{name} {n}" for n in range(len(frame))]
        return self.fleet.contacts.plan(frame)

    def named(self, name: str) -> list[int]:
        """Count the contacts with a name, by account."""
        frame = self.fleet.contacts.frame()
        matches = frame[frame.name.fillna("").str.startswith(name)]
        return [len(matches.loc[[each]]) if each in matches.index else 0 for each in NAMES]


@pytest.fixture(scope="module")
def accounts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Accounts]:
    with ExitStack() as stack:
        yield Accounts(stack, tmp_path_factory.mktemp("accounts"))


@pytest.fixture(scope="module")
def dask(accounts: Accounts, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskClient]:
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0",
            local_directory=str(tmp_path_factory.mktemp("dask")), silence_logs=False,
        ) as local,
        DaskClient(local, set_as_default=False) as client,
    ):  # fmt: skip
        yield client


def worker_process(dask: DaskClient) -> int:
    [process] = dask.run(os.getpid).values()
    return process


def test_each_account_is_a_task_that_carries_no_token(
    accounts: Accounts, dask: DaskClient, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[tuple[int, int | None]] = []
    plan = accounts.plan("Zeno")
    with caplog.at_level("DEBUG"):
        result = kept_at(plan, tmp_path).apply(on=dask, watch=lambda *done: seen.append(done))
    assert result.state.eq("applied").all() and seen[-1] == (10, 10)
    assert accounts.named("Zeno") == [5, 5]

    dask.dump_cluster_state(str(tmp_path / "state"), format="yaml")
    logs = (tmp_path / "state.yaml").read_text() + str(dask.get_worker_logs()) + caplog.text
    logs += str(dask.get_scheduler_logs()) + str(dask.get_events())
    assert "run_task" in logs
    assert not [path for path in accounts.tokens.values() if path.read_text() in logs]

    back = chatkit.undo(result).apply(on=dask)
    assert back.index.get_level_values(0).tolist() == ["de"] * 5 + ["fr"] * 5
    assert accounts.named("Zeno") == [0, 0]


def test_a_refused_token_stops_one_account_and_its_journal_has_what_is_left(
    accounts: Accounts, dask: DaskClient, tmp_path: Path
) -> None:
    stopped = Interrupt()
    stopped.ask()
    plan = accounts.plan("Wanda")
    result = kept_at(stop_by(plan, stopped), tmp_path).apply(on=dask)
    assert result.state.eq("not sent").all()
    token = accounts.tokens["de"].read_text()
    accounts.tokens["de"].write_text("wrong" * 9)
    try:
        result = kept_at(plan, tmp_path).apply(on=dask)
    finally:
        accounts.tokens["de"].write_text(token)
    assert "401" in result.attrs["stops"]["de"] and "wrongwrong" not in str(result.attrs)
    assert accounts.named("Wanda") == [0, 5]
    assert chatkit.resume(plan.id, on=dask, at=tmp_path).state.eq("applied").all()


@pytest.mark.parametrize("times", [1, 2])
def test_the_stop_button_ends_what_is_under_way_and_no_more(
    accounts: Accounts, dask: DaskClient, tmp_path: Path, times: int
) -> None:
    name, interrupt = f"Vera {times}", Interrupt()

    def watch(done: int, total: int | None) -> None:
        while done and interrupt.asked < times:
            interrupt.ask()

    plan = accounts.plan(name, 60)
    result = kept_at(stop_by(plan, interrupt), tmp_path).apply(
        on=dask, concurrency=1, rate=20, watch=watch
    )
    assert not result.state.eq("applied").all()
    assert all("you stopped it" in why for why in result.attrs["stops"].values())
    assert chatkit.resume(plan.id, at=tmp_path).state.eq("applied").all()
    assert accounts.named(name) == [60, 60]


def test_workers_that_nobody_waits_for_stop(
    accounts: Accounts, dask: DaskClient, tmp_path: Path
) -> None:
    def watch(done: int, total: int | None) -> None:
        if done:
            raise RuntimeError("no bar can be drawn")

    plan = accounts.plan("Xenia", 60)
    with pytest.raises(RuntimeError, match="no bar"):
        kept_at(plan, tmp_path).apply(on=dask, concurrency=1, rate=20, watch=watch)
    while any(dask.run(lambda dask_worker: len(dask_worker.state.long_running)).values()):
        threading.Event().wait(0.05)
    assert max(accounts.named("Xenia")) < 60
    assert chatkit.resume(plan.id, at=tmp_path).state.eq("applied").all()


def test_a_killed_worker_is_replaced_and_its_runs_go_on_from_the_journals(
    accounts: Accounts, dask: DaskClient, tmp_path: Path
) -> None:
    killed: list[int] = []
    process = worker_process(dask)

    def watch(done: int, total: int | None) -> None:
        if done and not killed:
            killed.append(process)
            os.kill(process, signal.SIGKILL)

    plan = accounts.plan("Uma", 40)
    result = settled(kept_at(plan, tmp_path).apply, on=dask, rate=40, settle=0.1, watch=watch)
    assert killed and accounts.named("Uma") == [40, 40]
    assert result.state.isin(["applied", "unchanged"]).all() and not result.sent.gt(2).any()


# --- what is refused, before anything is written or sent ------------------------------------


def of_another_account(dask: DaskClient) -> None:
    """Exchange the two connections in the configuration of the worker."""
    config = Path(os.environ["CHATKIT_CONFIG"])
    other = config.with_name("other.toml")
    other.write_text(config.read_text().replace("[de]", "[x]").replace("[fr]", "[de]"))
    other.write_text(other.read_text().replace("[x]", "[fr]"))
    dask.run(exec, f"import os; os.environ['CHATKIT_CONFIG'] = {str(other)!r}")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (of_another_account, "the connection 'de' is another account there"),
        (
            lambda dask: dask.run(exec, "import os; os.environ['CHATKIT_CONFIG'] = '/nothing'"),
            "cannot be used: .*'de'",
        ),
        (
            lambda dask: dask.run(
                exec, "import chatkit.account.fleet_plan as c; c._VERSION = '0.0.1'"
            ),
            r"has not chatkit .* with its extra fleet \(0\.0\.1\)",
        ),
    ],
    ids=["another account", "no connection", "another version"],
)
def test_a_worker_that_cannot_apply_the_plans_is_refused(
    accounts: Accounts,
    dask: DaskClient,
    tmp_path: Path,
    change: Callable[[DaskClient], object],
    message: str,
) -> None:
    plan = accounts.plan("Rosa")
    change(dask)
    try:
        with pytest.raises(InputError, match=message):
            kept_at(plan, tmp_path).apply(on=dask)
    finally:
        config = str(accounts.config)
        dask.run(exec, f"import os; os.environ['CHATKIT_CONFIG'] = {config!r}")
        code = f"import chatkit.account.fleet_plan as c; c._VERSION = {fleet_plan._VERSION!r}"
        dask.run(exec, code)
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_given_to_workers_is_refused(
    accounts: Accounts, dask: DaskClient, tmp_path: Path
) -> None:
    hook = [{"url": "https://example.com/hook", "events": ["*"]}]
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
        unnamed = chatkit.connect_all({"it": client})
        for plan, on, message in (
            (accounts.plan("Tom"), "local", "on= takes a connected client of Dask"),
            (accounts.plan("Tom"), object(), "on= takes a connected client of Dask"),
            (
                unnamed.contacts.plan({"it": [{"id": 50001, "name": "Tom"}]}), dask,
                "The account it has no named connection",
            ),
            (accounts.fleet.webhooks.plan(dict.fromkeys(NAMES, hook)), dask, "creates webhooks"),
        ):  # fmt: skip
            with pytest.raises(InputError, match=message):
                kept_at(plan, tmp_path).apply(on=on)
    assert not list(tmp_path.iterdir())
