"""Tests of journal stores: values of at=, and refusals before anything is sent."""

import pandas as pd
import pytest
from bulk.applying import kept_at
from bulk.journalling import ACCOUNT, created, folder, store  # noqa: F401
from bulk.planning import client, number, sandbox  # noqa: F401

import chatkit
from chatkit.bulk import journal, stores
from chatkit.bulk.journal import FolderStore
from chatkit.bulk.stores import describe_interrupted_run, hold_accounts, open_store
from chatkit.errors import AccountBusy, InputError, JournalError, PlanRefused
from chatkit.util.files import find_network_file_system

MOUNTS = r"""22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /home rw,relatime shared:2 - nfs4 files:/home rw,vers=4.2
31 30 8:2 / /home/local\040disk rw - ext4 /dev/sdb1 rw
32 22 0:41 / /mnt/twice rw - nfs4 files:/twice rw
33 22 0:42 / /mnt/twice rw - ext4 /dev/sdc1 rw
34 22 0:43 /mnt/twice - nfs4
35 22 0:44 / /mnt/twice rw nfs4 files:/twice rw

40 22 0:50 / /mnt/kind rw - KIND share rw
"""
#: File systems that others write too, and those of this machine alone.
SHARED = (
    *("cifs", "smb3", "9p", "drvfs", "virtiofs", "vboxsf", "prl_fs", "wekafs", "lustre", "fuse"),
    *("fuse.sshfs", "fuse.drive", "fuse.mount-s3", "fuse.gvfsd-fuse", "fuse.vmhgfs-fuse"),
)
OWN = (
    *("ext4", "xfs", "btrfs", "overlay", "tmpfs", "fuseblk", "fuse.gocryptfs", "fuse.mergerfs"),
    *("fuse.fuse-overlayfs", "fuse.ntfs-3g"),
)
FOLDERS = [
    *(("/mnt/kind/runs", kind, kind) for kind in SHARED),
    *(("/mnt/kind/runs", kind, "") for kind in OWN),
    *(("/srv/runs", "9p", ""), ("/mnt", "9p", ""), ("/homes/ana", "9p", "")),
    *(("/home/ana/runs", "9p", "nfs4"), ("/home/local disk/runs", "9p", "")),
    ("/mnt/twice/runs", "9p", ""),  # the last counts, and broken lines do not
]


@pytest.mark.parametrize(("folder", "kind", "output"), FOLDERS)
def test_a_folder_of_another_machine_is_known_by_what_is_mounted(tmp_path, folder, kind, output):
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS.replace("KIND", kind))
    assert find_network_file_system(stores.Path(folder), mounts) == output
    assert find_network_file_system(stores.Path(folder), tmp_path / "none") == ""
    mounts.write_text(f"29 1 0:40 / / rw - {kind} root rw\n")  # lent by a host to this one alone
    of_host = kind in ("9p", "drvfs", "virtiofs", "vboxsf", "prl_fs")
    root = find_network_file_system(stores.Path("/home/ana"), mounts)
    assert root == ("" if of_host or kind in OWN else kind)


def test_nothing_is_written_on_a_network_file_system(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "find_network_file_system", lambda folder: "nfs4")
    store = FolderStore(tmp_path / "runs")
    refused = pytest.raises(
        JournalError, match=r"write, too \(nfs4\).*Set CHATKIT_DATA.*Nothing was sent"
    )
    with refused, store.hold(["an account"]):
        pass
    assert not (tmp_path / "runs").exists()


def test_what_at_takes(tmp_path, monkeypatch):
    monkeypatch.setenv("CHATKIT_DATA", str(tmp_path / "data"))
    assert open_store().location == str(tmp_path / "data" / "runs")
    assert open_store(tmp_path / "a").location == open_store(str(tmp_path / "a")).location
    monkeypatch.setenv("CHATKIT_RUNS", str(tmp_path / "b"))
    assert open_store().location == str(tmp_path / "b")
    assert open_store(passing=True).location != str(tmp_path / "b")  # it ends with this process
    store = open_store(tmp_path / "c")
    assert open_store(store) is store
    with pytest.raises(InputError, match=r"at= takes the address .* not int"):
        open_store(7)


def newcomers(count):
    return pd.DataFrame({"number": [number(n) for n in range(count)], "country_code": "+1"})


def test_all_that_is_done_with_a_run_is_done_where_it_is_kept(client, tmp_path):
    home = str(tmp_path / "runs")
    plan = client.contacts.plan(newcomers(3))
    result = kept_at(plan, home).apply()
    assert result.state.tolist() == ["applied"] * 3
    assert chatkit.runs(client).empty
    assert chatkit.runs(client, at=home).index.tolist() == [plan.id]
    with pytest.raises(JournalError, match="No run is called"):
        chatkit.resume(plan.id, client)
    assert chatkit.resume(plan.id, client, at=home).state.tolist() == ["applied"] * 3
    # a result knows where its journal lies, and so does the plan that takes it back
    assert chatkit.account.journal(result.copy()).event.iloc[-1] == "finished"
    assert chatkit.account.journal(plan.id, at=home).event.iloc[-1] == "finished"
    chatkit.undo(result, client).apply()
    chatkit.undo(plan.id, client, at=home)
    assert chatkit.runs(client, at=home).state.tolist() == ["finished", "taken back"]
    assert chatkit.runs(client).empty
    assert chatkit.account.prune(runs=[plan.id]) == []
    assert chatkit.account.prune(runs=[plan.id], at=home) == [plan.id]


def test_a_plan_whose_run_has_begun_is_sent_from_no_other_home(client, tmp_path, monkeypatch):
    plan = client.contacts.plan(newcomers(2))
    kept_at(plan, tmp_path / "first").apply()
    elsewhere = pytest.raises(PlanRefused, match=r"nothing was sent: its run has begun.*first")
    with elsewhere:
        kept_at(plan, tmp_path / "second").apply()
    assert not (tmp_path / "second").exists()
    assert kept_at(plan, tmp_path / "first").apply().sent.tolist() == [1, 1]
    assert plan.apply().state.tolist() == ["applied"] * 2  # it still knows its own

    begun = chatkit.Sandbox(seed="empty")
    with begun, begun.serve() as url, chatkit.Client(url, begun.account_id, begun.token) as own:
        plan = own.contacts.plan(newcomers(2))
        monkeypatch.setenv("CHATKIT_RUNS", str(tmp_path / "first"))
        plan.apply()
        monkeypatch.setenv("CHATKIT_RUNS", str(tmp_path / "second"))
        with elsewhere:
            plan.apply()
        assert len(own.contacts.frame()) == 2


def test_an_account_that_ends_with_this_process_leaves_nothing_in_your_data_folder(
    client, tmp_path, monkeypatch
):
    monkeypatch.setenv("CHATKIT_DATA", str(tmp_path / "data"))
    assert client.contacts.plan(newcomers(2)).apply().state.tolist() == ["applied"] * 2
    kept_at(client.contacts.plan(newcomers(3).iloc[2:]), tmp_path / "runs").apply()
    assert not (tmp_path / "data").exists()
    # one that lies elsewhere and one that does not still never work at once
    account = client.connection.account
    with hold_accounts(open_store(tmp_path / "runs"), [account], "", passing=True):
        busy = pytest.raises(AccountBusy, match="Nothing was sent")
        with busy, hold_accounts(open_store(passing=True), [account], "", passing=True):
            pass


def test_a_variable_says_where_runs_are_kept(sandbox, tmp_path, monkeypatch):
    monkeypatch.setenv("CHATKIT_RUNS", str(tmp_path / "runs"))
    with (
        sandbox.serve() as base_url,
        chatkit.Client(base_url, sandbox.account_id, sandbox.token) as client,
    ):
        plan = client.contacts.plan(newcomers(2))
        plan.apply()
    run = plan.id
    assert open_store(tmp_path / "runs").runs() == [run]
    assert chatkit.runs().state[run] == "finished"
    assert len(chatkit.account.journal(run))


# --- which runs lie there ---------------------------------------------------------------------


def test_runs_that_have_not_come_to_their_end_are_described_in_one_line(store, monkeypatch):
    monkeypatch.setattr(stores, "open_store", lambda: store)
    expected = ("", "", ", was interrupted: ", ", as was 1 before it (", ", as were 2 before it (")
    runs = (["started", "finished"], ["started"], ["started", "stopped"], [], ["started"])
    for n, (whats, line) in enumerate(zip(runs, expected, strict=True)):
        with created(store, run=f"19991120-{n}", account="other" if n == 1 else ACCOUNT) as kept:
            for what in whats:
                kept.write(None, what)
        assert line in describe_interrupted_run(ACCOUNT)
        assert bool(line) == (
            f"chatkit.resume('19991120-{n}')" in describe_interrupted_run(ACCOUNT)
        )
    assert len(stores.list_unfinished_runs([ACCOUNT, "other"])) == 4
    with store.hold([ACCOUNT]):
        assert describe_interrupted_run(ACCOUNT) == "", "it is at work"
        assert [run.run for run in stores.list_unfinished_runs([ACCOUNT, "other"])] == [
            "19991120-1"
        ]
