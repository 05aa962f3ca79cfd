"""A fleet: several accounts read, checked, planned, applied and taken back together."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterator
from contextlib import ExitStack

import keyring
import keyring.backends.fail
import pandas as pd
import pytest
from bulk.applying import stop_by
from bulk.planning import active, contacts, content, flow, limited, number, through, webhook
from displayed import html_of
from internals import identity_of

import chatkit
from chatkit import settings
from chatkit.account.fleet_plan import FleetPlan
from chatkit.api.connection import Connection, StoredConnection
from chatkit.api.secret import Secret
from chatkit.bulk.apply import Interrupt

LABELS = ("de", "fr", "it")
Opened = tuple[dict[str, chatkit.Sandbox], chatkit.account.Fleet]


@pytest.fixture
def opened(capsys: pytest.CaptureFixture[str]) -> Iterator[Opened]:
    """Three accounts with two contacts each, of a sandbox each."""
    with ExitStack() as stack:
        sandboxes = {n: stack.enter_context(chatkit.Sandbox(seed="empty")) for n in LABELS}
        for n, sandbox in enumerate(sandboxes.values()):
            contacts(sandbox, 2, name=f"Ana {n}")
        fleet = stack.enter_context(chatkit.connect_all(sandboxes))
        capsys.readouterr()
        yield sandboxes, fleet


def names(sandbox: chatkit.Sandbox) -> list[str]:
    return [record["first_name"] for record in active(sandbox, "contacts").values()]


def states(result: pd.DataFrame) -> dict[str, list[str]]:
    return {n: part.state.tolist() for n, part in result.groupby(level="account", sort=False)}


# --- opened ---------------------------------------------------------------------------------


def test_a_fleet_says_what_it_is_connected_to_and_shows_its_accounts(capsys):
    with (
        chatkit.Sandbox(seed="empty") as one,
        chatkit.Sandbox(seed="empty") as other,
        chatkit.connect_all({"de": one, "fr": other}) as fleet,
    ):
        report = capsys.readouterr().out
        assert report == "Opened 2 accounts, of the sandbox: de, fr.\n"
        assert list(fleet) == ["de", "fr"]
        assert fleet["de"].connection.sandbox == identity_of(one)
        assert repr(fleet).splitlines()[0] == "Fleet of 2 accounts."
        assert "<table>" in html_of(fleet)
        with pytest.raises(chatkit.errors.SettingsError, match="No account is called 'es'"):
            fleet["es"]
        with pytest.raises(TypeError, match=r"fleet\.doctor\(\) checks all"):
            chatkit.doctor(fleet)
        with pytest.raises(chatkit.errors.SettingsError, match="are the same account"):
            chatkit.connect_all({"de": one, "at": one})
    for passed in (5, None, ["de", 5], {1}):
        reason = r"connect_all takes names of .* not (int|NoneType)"
        with pytest.raises(TypeError, match=reason):
            chatkit.connect_all(passed)


def test_kept_connections_are_opened_by_their_names_and_one_without_a_token_names_itself(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("CHATKIT_CONFIG", str(tmp_path / "connections.toml"))
    for n, name in enumerate(("agency-de", "agency-fr", "shop")):
        kept = StoredConnection(base_url="https://api.example.com", account_id=str(n))
        token = tmp_path / f"{name}.token"
        if name != "agency-fr":
            whole = Connection(
                **kept.model_dump(exclude={"token_file"}), token=Secret("secret-token")
            )
            settings.save(name, whole, token)
        else:
            settings.save(name, kept, "nowhere")
    with chatkit.connect_all("agency-*") as fleet:
        assert list(fleet) == ["agency-de"]
        assert list(fleet.failed) == ["agency-fr"]
        assert "not open" in repr(fleet)
        with pytest.raises(chatkit.errors.SettingsError, match="agency-fr could not be opened"):
            fleet["agency-fr"]
    message = capsys.readouterr().out
    assert "Opened 1 account, live data: agency-de." in message
    assert "Not opened: agency-fr:" in message
    assert "secret-token" not in message + repr(fleet)
    with pytest.raises(chatkit.errors.SettingsError, match="None of the accounts"):
        chatkit.connect_all(["agency-fr"])
    with pytest.raises(chatkit.errors.SettingsError, match="Those kept are: agency-de"):
        chatkit.connect_all("no-*")


def test_the_token_of_the_environment_is_sent_for_one_account_and_never_for_several(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("CHATKIT_CONFIG", str(tmp_path / "connections.toml"))
    monkeypatch.setenv("CHATKIT_TOKEN", "token-of-the-environment")
    monkeypatch.setattr(keyring, "get_password", keyring.backends.fail.Keyring().get_password)
    for name in ("de", "fr", "it"):
        address = f"https://{name}.example.com"
        kept = StoredConnection(base_url=address, account_id="1001")
        whole = Connection(**kept.model_dump(exclude={"token_file"}), token=Secret("own-token"))
        if name == "it":
            settings.save(name, whole, tmp_path / "it.token")
        else:
            settings.save(name, kept, "nowhere")
    with chatkit.connect_all(["de"]) as alone:
        assert alone["de"].connection.token == Secret("token-of-the-environment")
    with chatkit.connect_all(["de", "fr", "it"]) as fleet:
        assert {name: each.connection.token for name, each in fleet.items()} == {
            "it": Secret("own-token")
        }
        assert list(fleet.failed) == ["de", "fr"]
        assert re.search(
            "no access token: `.*chatkit login de` keeps it, .*CHATKIT_TOKEN is not used where",
            fleet.failed["de"],
        )


def test_a_refused_token_shows_in_the_fleet_from_its_first_call_on(opened, capsys):
    sandboxes, fleet = opened
    bad = through(sandboxes["fr"], sandboxes["fr"].answer, "revoked")
    with chatkit.connect_all({"de": fleet["de"], "fr": bad}) as both:
        assert "refused" not in repr(both)
        frame = both.contacts.frame()
        assert "Make a token in the business application" in frame.attrs["stops"]["fr"]
        (line,) = [line for line in repr(both).splitlines() if line.startswith("  fr ")]
        assert "its token was refused. Make a token" in line
        assert "its token was refused" in html_of(both)
        (line,) = [line for line in repr(both).splitlines() if line.startswith("  de ")]
        assert line.endswith("open")


# --- read, planned, applied -----------------------------------------------------------------


def test_an_edited_frame_of_all_accounts_is_one_plan_one_run_and_one_undo(opened):
    sandboxes, fleet = opened
    frame = fleet.contacts.frame()
    assert frame.index.names == ["account", "id"]
    assert len(frame) == 6
    frame["name"] = frame["name"].str.upper()
    plan = fleet.contacts.plan(frame)
    assert plan.counts == {"create": 0, "update": 6, "delete": 0}
    result = plan.apply(many=True)
    assert result.index.names == ["account", "id"]
    assert states(result) == {n: ["applied", "applied"] for n in LABELS}
    assert [names(sandbox)[0] for sandbox in sandboxes.values()] == ["ANA", "ANA", "ANA"]
    assert len(chatkit.runs(fleet)) == 3
    back = chatkit.undo(result, fleet)
    assert states(back.apply(many=True)) == {n: ["applied", "applied"] for n in LABELS}
    assert [names(sandbox)[0] for sandbox in sandboxes.values()] == ["Ana", "Ana", "Ana"]


def test_rows_are_of_the_account_that_they_name_or_of_all_when_it_is_said(opened):
    sandboxes, fleet = opened
    rows = pd.DataFrame(
        {"account": ["de", "it", "de"], "number": [number(n) for n in (50, 51, 52)]}
    ).assign(country_code="+1")
    result = fleet.contacts.plan(rows).apply()
    assert result.index.tolist() == [("de", 0), ("de", 2), ("it", 1)]
    new = [{"number": number(60), "country_code": "+1"}]
    with pytest.raises(chatkit.errors.InputError, match=r"dict.fromkeys\(fleet, rows\)"):
        fleet.contacts.plan(new)
    with pytest.raises(chatkit.errors.InputError, match="does not name the account"):
        fleet.contacts.plan(pd.DataFrame(new))
    assert len(fleet.contacts.plan(dict.fromkeys(fleet, new)).apply()) == 3
    assert [len(active(s, "contacts")) for s in sandboxes.values()] == [5, 3, 4]
    for resource in (fleet.contacts, fleet.webhooks, fleet.templates):
        with pytest.raises(chatkit.errors.InputError, match=r"takes a frame.*This is None"):
            resource.plan(None)
    assert len(fleet.contacts.plan(delete={})) == 0
    with pytest.raises(chatkit.errors.InputError, match="No account of the fleet is called 'es'"):
        fleet.contacts.plan({"es": []})
    assert len(fleet.contacts.plan(fleet.contacts.frame().assign(tier=pd.NA))) == 0


def test_what_to_delete_is_named_by_account_and_id_wherever_they_stand(opened):
    sandboxes, fleet = opened
    frame = fleet.contacts.frame().iloc[[1, 5]]
    ids = {label: [key] for label, key in frame.index}
    for passed in (frame, frame.reset_index(), frame.reset_index("account"), ids):
        plan = fleet.contacts.plan(delete=passed)
        outcome = {n: [c.key for c in part.changes] for n, part in plan.plans.items()}
        assert outcome == {"de": [frame.index[0][1]], "it": [frame.index[1][1]]}
        assert plan.refused.empty
    plan.apply(many=True)
    assert [len(active(s, "contacts")) for s in sandboxes.values()] == [1, 2, 1]
    with pytest.raises(chatkit.errors.InputError, match="what each account is to take"):
        fleet.contacts.plan(delete=[50001])
    with chatkit.Sandbox(seed="empty") as other, chatkit.connect_all({"de": other}) as others:
        contacts(other, 2)
        with pytest.raises(chatkit.errors.InputError, match="delete= is of"):  # called alike
            fleet.contacts.plan(delete=others.contacts.frame())


def test_one_account_takes_no_frame_of_a_fleet(opened):
    _, fleet = opened
    frame = fleet.contacts.frame()
    for passed in (frame, frame.reset_index("account"), frame.reset_index()):
        with pytest.raises(
            chatkit.errors.InputError, match=r"of several accounts.*frame.loc\['de'\]"
        ):
            fleet["fr"].contacts.plan(passed.assign(name="Zoë"))
        with pytest.raises(chatkit.errors.InputError, match="of several accounts"):
            fleet["fr"].contacts.plan(delete=passed)
    plan = fleet["fr"].contacts.plan(frame.loc["fr"].assign(name="Zoë"))
    assert plan.counts["update"] == 2


def test_each_resource_of_a_fleet_is_read_and_planned(opened):
    sandboxes, fleet = opened
    for sandbox in sandboxes.values():
        flow(sandbox)
        webhook(sandbox)
        content(sandbox)
        content(sandbox, lang_code="de")
    assert len(fleet.flows.frame()) == 3
    hooks = fleet.webhooks.frame()
    hooks["is_active"] = False
    assert fleet.webhooks.plan(hooks).counts["update"] == 3
    contents = fleet.templates.frame(["order_ready"], full=True)
    assert contents.index.names == ["account", "template_code", "lang_code"]
    contents["footer"] = "Thanks"
    plan = fleet.templates.plan(contents)
    assert plan.counts["update"] == 6
    result = plan.apply(many=True)
    assert result.state.eq("applied").all()
    assert result.index[0] == ("de", "order_ready", "en")
    assert fleet.doctor().account.unique().tolist() == list(LABELS)


# --- one account stops ----------------------------------------------------------------------


def test_an_account_that_cannot_be_read_is_left_out_by_name_when_it_is_said(opened, capsys):
    sandboxes, _ = opened
    with chatkit.connect_all({**sandboxes, "fr": limited(sandboxes["fr"])}) as fleet:
        frame = fleet.contacts.frame()
        assert frame.index.get_level_values(0).unique().tolist() == ["de", "it"]
        assert list(frame.attrs["stops"]) == ["fr"]
        assert "fr could not be read: " in capsys.readouterr().out
        rows = {label: [{"number": number(70), "country_code": "+1"}] for label in LABELS}
        plan = fleet.contacts.plan(rows)
        assert list(plan.failed) == ["fr"]
        assert "fr  Could not be planned" in repr(plan)
        with pytest.raises(chatkit.errors.PlanRefused, match="skip_invalid=True"):
            plan.apply()
        result = fleet.contacts.plan(rows, skip_invalid=True).apply()
        assert states(result) == {"de": ["applied"], "it": ["applied"]}
        with pytest.raises(chatkit.errors.InputError, match=r"templates\.remember") as caught:
            fleet.templates.frame()
        note = "This error is of the account de; its client is fleet['de']."
        assert caught.value.__notes__ == [note]
    weak = {n: limited(sandbox) for n, sandbox in sandboxes.items()}
    with chatkit.connect_all(weak) as fleet, pytest.raises(chatkit.errors.CallError):
        fleet.contacts.frame()


def test_a_fleet_opens_although_it_cannot_be_told_whether_a_run_was_interrupted(
    monkeypatch, capsys
):
    monkeypatch.setenv("CHATKIT_RUNS", "postgresql://nobody@127.0.0.1:1/nowhere")
    with (
        chatkit.Client("http://127.0.0.1:9", "1", "secret-token") as client,
        chatkit.connect_all({"de": client}) as fleet,
    ):
        assert list(fleet) == ["de"]
        assert "not asked yet" in repr(fleet)
        with pytest.raises(chatkit.errors.Unreachable):
            fleet.contacts.frame()
        assert "no answer" in repr(fleet)
    connected, *report = capsys.readouterr().out.splitlines()
    assert connected.startswith("Opened 1 account")
    assert "journals" in " ".join(report)


# --- a plan in a file ------------------------------------------------------------------------


@pytest.fixture
def saved(opened, tmp_path):
    """A fleet, a plan for two of its three accounts, and the file of it."""
    _, fleet = opened
    frame = fleet.contacts.frame().drop("it")
    plan = fleet.contacts.plan(frame.assign(name="Sina Berg"))
    return fleet, plan, plan.save(tmp_path / "fleet.plan")


def test_a_saved_plan_of_a_fleet_comes_back_and_is_applied_by_who_its_accounts_are(saved):
    fleet, plan, path = saved
    again = fleet.load_plan(str(path))
    assert (again.id, repr(again)) == (plan.id, repr(plan))
    assert [each.hash for each in again.plans.values()] == [p.hash for p in plan.plans.values()]
    pd.testing.assert_frame_equal(again.frame(), plan.frame())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text())["fleet"]["accounts"] == ["de", "fr"]
    others = chatkit.connect_all({"France": fleet["fr"], "de": fleet["it"], "x": fleet["de"]})
    loaded = others.load_plan(path)
    assert list(loaded.plans) == ["x", "France"]
    assert [each.hash for each in loaded.plans.values()] == [p.hash for p in plan.plans.values()]
    result = loaded.apply()
    assert result.state.eq("applied").all()
    assert ["Sina Berg" in set(c.contacts.frame().name) for c in fleet.values()] == [
        True, True, False,
    ]  # fmt: skip
    pd.testing.assert_series_equal(plan.apply().state, again.apply().state)  # nothing is left to do
    back = chatkit.undo(result)
    assert list(back.plans) == ["x", "France"]
    before = back.save(path)
    assert others.load_plan(before).apply().state.eq("applied").all()


def test_a_saved_plan_of_a_fleet_that_was_stopped_goes_on(saved):
    fleet, plan, path = saved
    interrupt = Interrupt()
    interrupt.ask()
    stop_by(plan, interrupt).apply()
    for each in (path, plan.save(path.with_name("later"))):
        assert fleet.load_plan(each).apply().state.eq("applied").all()
    whole = FleetPlan(fleet.contacts.plan({"de": []}).plans, failed={"pt": "no token"})
    again = fleet.load_plan(whole.save(path))
    assert again.failed == {"pt": "no token"}  # what could not be planned stays so
    with pytest.raises(chatkit.errors.PlanRefused, match="pt"):
        again.apply()
    assert len(fleet.load_plan(FleetPlan({}).save(path))) == 0


def test_a_file_that_was_edited_or_is_of_others_is_refused(saved):
    fleet, plan, path = saved
    text = path.read_text()
    path.write_text(text.replace('"skip_invalid": f', '"skip_invalid":  f', 1))  # means the same
    assert fleet.load_plan(path).counts["update"] == 4
    for old, new in (("Sina", "Eva"), ('"de"', '"it"')):
        path.write_text(text.replace(old, new, 1))
        assert path.read_text() != text
        with pytest.raises(chatkit.errors.PlanRefused, match="was edited since it was saved"):
            fleet.load_plan(path)
    path.write_text(text)
    with pytest.raises(chatkit.errors.PlanRefused, match=r"several accounts: fleet\.load_plan"):
        fleet["de"].load_plan(path)
    part = chatkit.connect_all({"de": fleet["de"]})
    with pytest.raises(chatkit.errors.PlanRefused, match="this fleet has no such account"):
        part.load_plan(path)
    with pytest.raises(chatkit.errors.PlanRefused, match=r"one account: client\.load_plan"):
        fleet.load_plan(plan["de"].save(path))
