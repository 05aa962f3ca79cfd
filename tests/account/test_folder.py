"""An account as a folder: what is written, read back, merged, and told."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import chatkit
from chatkit.account.folder import read_state
from chatkit.account.reading import AccountState

CODES = ["order_ready", "login_code"]


@pytest.fixture
def client() -> Iterator[chatkit.Client]:
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
        yield client


@pytest.fixture
def folder(tmp_path: Path) -> chatkit.Folder:
    return chatkit.Folder(tmp_path / "shop")


def holds_the_same(one: AccountState, other: AccountState) -> bool:
    return one.records == other.records


def texts(folder: chatkit.Folder) -> dict[str, bytes]:
    """All files of a folder but the lock."""
    paths = (path for path in folder.path.rglob("*") if path.is_file())
    return {
        path.relative_to(folder.path).as_posix(): path.read_bytes()
        for path in paths
        if path.suffix != ".lock"
    }


def edited(folder: chatkit.Folder, path: str, **fields: Any) -> None:
    """Change fields of a JSON file by hand; None takes one out."""
    place = folder.path / path
    message = json.loads(place.read_text("utf-8")) | fields
    message = {name: value for name, value in message.items() if value is not None}
    place.write_text(json.dumps(message, indent=2), "utf-8")


# --- layout -----------------------------------------------------------------------------


def test_a_pull_writes_what_the_account_holds_and_a_second_one_nothing(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    report = folder.pull(client, codes=CODES)
    assert "5 flows" in repr(report)
    assert "new: account.json, 5 in flows/" in repr(report)
    assert holds_the_same(folder.state(), read_state(client, codes=CODES))
    before = texts(folder)
    assert {path.split("/")[0] for path in before} == {
        *("account.json", "webhooks", "flows", "templates", ".chatkit"),
    }
    times = {path: (folder.path / path).stat().st_mtime_ns for path in before}
    again = folder.pull(client)
    assert again.changes == {}
    assert texts(folder) == before
    assert {path: (folder.path / path).stat().st_mtime_ns for path in before} == times


def test_files_are_sorted_minimal_and_read_like_the_message(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    client.templates("order_ready").update(
        "de", text="Hallo {{1}},\n\ndein Rad ist fertig: {{2}} und {{3}}."
    )
    folder.pull(client, codes=CODES)
    text = (folder.path / "templates/order_ready/de.json").read_text("utf-8")
    message = json.loads(text)
    assert message["text"] == ["Hallo {{1}},", "", "dein Rad ist fertig: {{2}} und {{3}}."]
    assert list(message) == sorted(message)
    assert "is_catalog" not in message
    assert "null" not in text
    assert (folder.path / "flows/book-a-repair.json").exists()


def test_no_token_secret_or_id_is_in_a_folder(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    made = client.webhooks.create(url="https://new.example/hook", events=["*"])
    assert made.webhook_secret is not None
    folder.pull(client, codes=CODES, contacts=True)
    whole = b"\n".join(texts(folder).values())
    assert client.connection.token.reveal().encode() not in whole
    assert made.webhook_secret.reveal().encode() not in whole
    assert b"wa_flow_id" not in whole
    assert b'"id": 5' not in whole


def test_contacts_come_only_when_asked_with_a_line_in_gitignore_and_a_word(
    client: chatkit.Client, folder: chatkit.Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.pull(client, codes=CODES)
    assert not (folder.path / "contacts.csv").exists()
    (folder.path / ".gitignore").write_text("*.bak")
    folder.pull(client, contacts=True)
    assert "names and numbers of persons" in capsys.readouterr().out
    assert (folder.path / ".gitignore").read_text() == "*.bak\n/contacts.csv\n"
    assert "contacts.csv" in (folder.path / ".chatkit/.gitignore").read_text()
    lines = (folder.path / "contacts.csv").read_text("utf-8").splitlines()
    assert lines[0] == '"country_code","number","name"'
    assert lines[1].startswith("\"'+")  # no program takes it for a formula
    state = folder.state(contacts=True)
    assert holds_the_same(state, read_state(client, codes=CODES, contacts=True))
    assert holds_the_same(read_state(folder), state)
    assert "contact" not in folder.state(contacts=False).records
    folder.pull(client)
    assert "persons" not in capsys.readouterr().out


# --- three sides ------------------------------------------------------------------------


def test_what_was_edited_in_files_is_kept_and_what_moved_there_is_taken(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    folder.pull(client, codes=CODES)
    edited(folder, "templates/order_ready/en.json", footer="From the file")
    client.templates("order_ready").update("en", text="Hello {{1}}, from {{2}} and {{3}} here.")
    client.templates("login_code").delete("ja")
    (folder.path / "templates/login_code/de.json").unlink()
    report = folder.pull(client)
    content = folder.state().get("content")["order_ready", "en"]
    assert content["footer"] == "From the file"
    assert content["text"] == "Hello {{1}}, from {{2}} and {{3}} here."
    assert ("login_code", "ja") not in folder.state().get("content")
    assert ("login_code", "de") not in folder.state().get("content")
    assert report.changes["templates/login_code/ja.json"] == "removed"
    assert folder.pull(client).changes == {"templates/order_ready/en.json": "edited"}


def test_a_file_that_somebody_removed_stays_away_and_is_told(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    folder.pull(client, codes=CODES)
    (folder.path / "flows/rent-a-bike.json").unlink()
    (folder.path / "templates/order_ready/de.json").unlink()
    for webhook in (folder.path / "webhooks").iterdir():
        webhook.unlink()
    report = folder.pull(client)
    assert not (folder.path / "flows/rent-a-bike.json").exists()
    reported = repr(report)
    assert "All files were as they are" not in reported
    assert (
        "taken out of the files, and still in the account: 1 flow, 1 content, 3 webhooks"
        in reported
    )
    assert "delete=" in reported
    assert "1 flow, 1 content" in report._repr_html_()
    again = chatkit.Folder(folder.path.parent / "again")
    again.pull(client, codes=CODES)
    assert "All files were as they are in the account." in repr(again.pull(client))


def test_what_both_have_changed_is_told_with_three_values_and_nothing_is_written(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    folder.pull(client, codes=CODES)
    edited(folder, "templates/order_ready/en.json", footer="From the file")
    client.templates("order_ready").update("en", footer="From the account")
    client.templates("order_ready").update("de", footer="Moved")
    before = texts(folder)
    with pytest.raises(chatkit.errors.InputError) as refused:
        folder.pull(client)
    assert texts(folder) == before
    [problem] = refused.value.problems
    assert problem.field == "templates/order_ready/en.json, footer"
    for value in ("Larkspur Cycles", "From the file", "From the account"):
        assert value in problem.reason
    kept = folder.pull(client, conflicts="files")
    assert kept.changes["templates/order_ready/en.json"] == "edited"
    assert folder.state().get("content")["order_ready", "en"]["footer"] == "From the file"
    assert folder.state().get("content")["order_ready", "de"]["footer"] == "Moved"
    client.templates("order_ready").update("en", footer="Again")
    folder.pull(client, conflicts="account")
    assert folder.state().get("content")["order_ready", "en"]["footer"] == "Again"


def test_a_file_that_is_written_otherwise_and_means_the_same_is_left(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    folder.pull(client, codes=CODES)
    place = folder.path / "templates/order_ready/en.json"
    place.write_text(json.dumps(json.loads(place.read_text("utf-8"))), "utf-8")
    before = texts(folder)
    assert folder.pull(client).changes == {}
    assert texts(folder) == before


def test_a_contact_whose_name_was_edited_is_the_same_once_it_is_applied(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    folder.pull(client, contacts=True)
    place = folder.path / "contacts.csv"
    message = place.read_text("utf-8").replace("Oliver Smith", "Oliver James Smythe")
    place.write_text(message + '"\'+1","2025550199","Ana María Cruz"\n', "utf-8")
    assert [d.field for d in chatkit.compare(folder, client, contacts=True)] == ["", "name"]
    folder.plan(client, contacts=True).apply()
    assert len(chatkit.compare(folder, client, contacts=True)) == 0
    assert len(chatkit.compare(client, folder, contacts=True)) == 0
    plan = folder.plan(client, contacts=True)
    assert (len(plan), plan.notes) == (0, [])


def test_edited_contacts_are_merged_by_number(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    folder.pull(client, contacts=True)
    place = folder.path / "contacts.csv"
    lines = place.read_text("utf-8").splitlines(keepends=True)
    code, number, _ = lines[1].split(",")
    lines[1] = f'{code},{number},"Edited Here"\n'
    gone = lines.pop(3)
    place.write_text("".join(lines), "utf-8")
    frame = client.contacts.frame()
    moved = frame.index[frame.number == lines[4].split(",")[1].strip('"')][0]
    client.contacts.update(moved, name="Moved There")
    folder.pull(client, contacts=True)
    contacts = folder.state(contacts=True).get("contact")
    by_number = {number: fields.get("name") for (_, number), fields in contacts.items()}
    assert by_number[number.strip('"')] == "Edited Here"
    assert by_number[lines[4].split(",")[1].strip('"')] == "Moved There"
    assert gone.split(",")[1].strip('"') not in by_number
    client.contacts.update(frame.index[frame.number == number.strip('"')][0], name="Both")
    with pytest.raises(chatkit.errors.InputError, match=r"contacts\.csv, .*Edited Here.*Both"):
        folder.pull(client, contacts=True)


def test_another_account_is_refused_unless_it_is_meant(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    folder.pull(client, codes=CODES)
    place = folder.path / "account.json"
    place.write_text(
        place.read_text().replace("sandbox account 1001", "https://a.example account 7")
    )
    with pytest.raises(chatkit.errors.InputError, match="other_account=True"):
        folder.pull(client)
    folder.pull(client, other_account=True)
    assert "sandbox account 1001" in place.read_text()


def test_several_flows_of_one_name_leave_their_file_as_it_is(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    folder.pull(client)
    flow = client.flows.get(client.flows.frame().index[0])
    with pytest.warns(UserWarning, match="has it, too"):
        client.flows.create(name=flow.name, template_name="default", flow_json=flow.flow_json)
    report = folder.pull(client)
    assert report.changes == {}
    assert flow.name in folder.state().get("flow")
    assert str(flow.name) in repr(report)


# --- flows only -------------------------------------------------------------------------


def test_a_folder_of_flows_only_holds_moves_and_compares_nothing_else(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    client.templates.remember(CODES)
    client.templates.accept(["de"], CODES)
    folder.pull(client, flows_only=True)
    assert {path.split("/")[0] for path in texts(folder)} == {"account.json", "flows", ".chatkit"}
    assert len(chatkit.compare(folder, client)) == len(chatkit.compare(client, folder)) == 0
    edited(folder, "flows/rent-a-bike.json", name="Rent a tandem")
    labels = {each.key for each in chatkit.compare(client, folder)}
    assert labels == {"Rent a bike", "Rent a tandem"}
    assert folder.plan(client, broken=True).counts == {"create": 1, "update": 0, "delete": 0}
    with chatkit.connect(chatkit.Sandbox(seed="empty")) as other:
        plan = folder.plan(other, broken=True)
        assert {str(change.noun) for change in plan.changes} == {"flow"}
        assert len(plan) == 5
    client.webhooks.delete(client.webhooks.frame().index[0])
    folder.pull(client)
    before = texts(folder)
    client.templates("order_ready").delete("de")
    client.webhooks.delete(client.webhooks.frame().index[0])
    folder.pull(client, flows_only=True)
    assert texts(folder) == before


# --- plans ------------------------------------------------------------------------------


def test_a_plan_after_a_pull_has_nothing_to_do_and_an_edit_is_its_only_change(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    folder.pull(client, codes=CODES, contacts=True)
    assert not folder.plan(client, contacts=True).changes
    edited(folder, "templates/order_ready/en.json", footer=None)
    plan = folder.plan(client)
    [change] = plan.changes
    assert (change.code, change.key, change.after) == ("order_ready", "en", {"footer": ""})
    plan.apply()
    assert folder.pull(client).changes == {}


def test_a_plan_leaves_what_only_the_account_changed_since_the_pull(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    folder.pull(client, codes=CODES)
    contents = client.templates("order_ready")
    contents.update("de", footer="Moved")
    contents.delete("fr")
    edited(folder, "templates/order_ready/en.json", footer="Mine")
    plan = folder.plan(client)
    assert [change.key for change in plan.changes] == ["en"]
    assert "content order_ready/de (footer), content order_ready/fr (deleted)." in plan.notes[0]
    assert "left as it is" in plan.notes[0]
    restored = folder.plan(client, restore=True)
    assert [(change.kind, change.key) for change in restored.changes] == [
        *[("update", "de"), ("update", "en"), ("create", "fr")]
    ]
    assert contents.get("de").footer == "Moved"
    restored.apply()
    assert not chatkit.compare(folder, client)


def test_what_was_changed_in_the_files_and_in_the_account_is_a_conflict(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    folder.pull(client, codes=CODES)
    contents = client.templates("order_ready")
    contents.update("en", footer="Another's")
    contents.delete("de")
    names = {"1": "Bo", "2": "bike", "3": "Monday"}
    for lang in ("de", "en"):
        edited(folder, f"templates/order_ready/{lang}.json", footer="Mine", variables=names)
    edited(folder, "templates/order_ready/es.json", footer="Mine")
    plan = folder.plan(client, skip_invalid=True)
    assert [(change.key, [*change.after]) for change in plan.changes] == [
        *[("en", ["variables"]), ("es", ["footer"])]
    ]
    rows = [row for _, row in plan.refused["row"]]
    assert rows == ["order_ready/de", "order_ready/en"]
    assert "Another's" in plan.refused["reason"][1]
    assert any("plan.refused" in each for each in folder.plan(client).objections())
    folder.pull(client, conflicts="files")
    folder.plan(client).apply()
    assert not chatkit.compare(folder, client)


def test_what_a_plan_has_written_is_known_to_the_next_one(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    folder.pull(client, codes=CODES, contacts=True)
    contents, first = client.templates("order_ready"), client.contacts.frame().index[0]
    place, name = folder.path / "contacts.csv", client.contacts.get(first).name
    old = contents.get("en").footer
    place.write_text(place.read_text("utf-8").replace(str(name), "Bo Lind"), "utf-8")
    new = folder.path / "templates/order_ready/pl.json"
    new.write_bytes((folder.path / "templates/order_ready/en.json").read_bytes())
    for footer in ("Mine", "Mine again"):
        edited(folder, "templates/order_ready/en.json", footer=footer)
        assert {*folder.plan(client).apply()["state"]} == {"applied"}
        assert not chatkit.compare(folder, client, contacts=True)
    contents.update("en", footer=old)
    contents.delete("pl")
    client.contacts.update(first, name=name)
    plan = folder.plan(client)
    assert (len(plan), len(plan.refused)) == (0, 0)
    for place_of_change in ("en (footer)", "pl (deleted)", "(name)"):
        assert place_of_change in plan.notes[0]
    folder.plan(client, restore=True).apply()
    assert not chatkit.compare(folder, client, contacts=True)


def test_a_plan_for_another_account_holds_nothing_back(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    folder.pull(client, codes=CODES)
    with chatkit.connect(chatkit.Sandbox(seed="empty")) as other:
        folder.plan(other, broken=True).apply(irreversible=True)
        assert not chatkit.compare(folder, other)


# --- what is wrong ----------------------------------------------------------------------


def test_everything_that_is_wrong_is_told_at_once_with_line_and_column(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    folder.pull(client, codes=CODES, contacts=True)
    (folder.path / "templates/order_ready/en.json").write_text('{\n  "text": "Hi",\n}\n')
    (folder.path / "templates/order_ready/de.json").write_text('{\n  "fotter": "Hi"\n}\n')
    (folder.path / "templates/order_ready/fr.json").write_text(
        '{\n  "buttons": [\n    {"type": "costum"}\n  ]\n}\n'
    )
    (folder.path / "templates/order_ready/es.json").write_text('{"text": "a", "text": "b"}')
    (folder.path / "flows/rent-a-bike.json").write_text('{"version": "7.3", "screens": []}')
    (folder.path / "flows/bytes.json").write_bytes(b'{"name": "\xff"}')
    (folder.path / "flows/book again.json").write_text('{"name": "Book a repair"}')
    (folder.path / "webhooks/plain.json").write_text(
        '{\n"events": ["*"],\n  "url": "http://plain.example"}'
    )
    (folder.path / "account.json").write_text('{"account": "a",\n"templates": ["a"],\n"odd": 1}')
    (folder.path / "contacts.csv").write_text(
        'country_code,number,name\n+44,2079460001,"A\nB"\n+44,20794,C\n+44,2079460001,D\n+44,1\n'
    )
    with pytest.raises(chatkit.errors.InputError) as refused:
        folder.state(contacts=True)
    reported = {problem.field: problem.reason for problem in refused.value.problems}
    assert "comma" in reported["templates/order_ready/en.json, line 2, column 15"]
    assert "did you mean footer" in reported["templates/order_ready/de.json, line 2, column 3"]
    assert "custom" in reported["templates/order_ready/fr.json, line 3, column 6"]
    assert "second time" in reported["templates/order_ready/es.json, line 1, column 15"]
    assert "flow_json" in reported["flows/rent-a-bike.json, line 1, column 20"]
    assert "UTF-8" in reported["flows/bytes.json, line 1, column 11"].upper()
    assert any("Book a repair" in reason for reason in reported.values())
    assert "https" in reported["webhooks/plain.json, line 3, column 3"]
    assert reported["account.json, line 3, column 1"] == '"odd" is not known here'
    assert "second time" in reported["contacts.csv, line 5, column 1"]
    assert "2 cells" in reported["contacts.csv, line 6, column 1"]


def test_a_folder_without_an_account_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(chatkit.errors.InputError, match="does not exist"):
        chatkit.Folder(tmp_path / "none").state()
    with pytest.raises(chatkit.errors.InputError, match="holds no account"):
        chatkit.Folder(tmp_path).state()
    assert "does not exist yet" in repr(chatkit.Folder(tmp_path / "none"))


def test_an_address_that_holds_a_password_is_told(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    client.webhooks.create(url="https://till.example/in?token=abc", events=["*"])
    report = folder.pull(client)
    assert any("password in the address" in note for note in report.notes)
    assert "till.example" in repr(report)
    assert "token=abc" not in repr(report)


# --- git --------------------------------------------------------------------------------


def git(path: Path, *arguments: str) -> None:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(path), *who, *arguments], check=True, capture_output=True)


def test_a_revision_of_git_is_read_without_checking_it_out(
    client: chatkit.Client, folder: chatkit.Folder, tmp_path: Path
) -> None:
    git(tmp_path, "init", "-q")
    folder.pull(client, codes=CODES, contacts=True)
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    then = folder.state(contacts=False)
    edited(folder, "templates/order_ready/en.json", footer="Edited")
    (folder.path / "flows/rent-a-bike.json").unlink()
    git(tmp_path, "commit", "-qam", "two")
    before = texts(folder)
    result = read_state(f"{folder.path}/@HEAD~1", contacts=True)
    assert holds_the_same(result, then)  # contacts are not in git
    assert result.origin == f"{folder.path}@HEAD~1"
    assert folder.state("HEAD").get("content")["order_ready", "en"]["footer"] == "Edited"
    assert texts(folder) == before
    for wrong in ("HEAD~9", "--help", "no such"):
        with pytest.raises(chatkit.errors.InputError, match="does not know the revision"):
            folder.state(wrong)
    with pytest.raises(chatkit.errors.InputError, match="git"):
        chatkit.Folder("/").state("HEAD")


# --- the ledger -------------------------------------------------------------------------


def test_the_ledger_of_translations_is_in_the_folder_and_merged_back(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    client.templates.accept(["de"], ["order_ready"])
    folder.pull(client, codes=CODES)
    text = (folder.path / "translations.jsonl").read_text("utf-8")
    assert text == str(client.templates.ledger.read())
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as other:
        assert len(other.templates.ledger.read()) == 0
        folder.pull(other)
        assert str(other.templates.ledger.read()) == text
