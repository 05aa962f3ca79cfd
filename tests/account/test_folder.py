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

CODES = ["order_ready", "login_code"]


@pytest.fixture
def client() -> Iterator[chatkit.Client]:
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
        yield client


@pytest.fixture
def folder(tmp_path: Path) -> chatkit.Folder:
    return chatkit.Folder(tmp_path / "shop")


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


def test_a_pull_writes_small_sorted_files_without_secrets_and_a_second_one_nothing(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    client.templates("order_ready").update("de", text="Hallo {{1}},\n\nab {{2}}: {{3}}.")
    made = client.webhooks.create(url="https://till.example/in?token=abc", events=["*"])
    report = folder.pull(client, codes=CODES)
    assert "new: account.json, " in repr(report) and "5 in flows/" in repr(report)
    assert any("password in the address" in note for note in report.notes)
    assert "till.example" in repr(report) and "token=abc" not in repr(report)
    assert folder.state().records == read_state(client, codes=CODES).records
    text = (folder.path / "templates/order_ready/de.json").read_text("utf-8")
    message = json.loads(text)
    assert message["text"] == ["Hallo {{1}},", "", "ab {{2}}: {{3}}."]
    assert list(message) == sorted(message)
    assert "is_catalog" not in message and "null" not in text
    assert (folder.path / "flows/book-a-repair.json").exists()
    place = folder.path / "templates/order_ready/en.json"
    place.write_text(json.dumps(json.loads(place.read_text("utf-8"))), "utf-8")  # means the same
    before = texts(folder)
    assert {path.split("/")[0] for path in before} == {
        *("account.json", "webhooks", "flows", "templates", ".chatkit", "translations.jsonl"),
    }
    times = {path: (folder.path / path).stat().st_mtime_ns for path in before}
    assert folder.pull(client).changes == {}
    assert texts(folder) == before
    assert {path: (folder.path / path).stat().st_mtime_ns for path in before} == times
    folder.pull(client, contacts=True)
    whole = b"\n".join(texts(folder).values())
    assert made.webhook_secret is not None
    for secret in (client.connection.token.reveal(), made.webhook_secret.reveal()):
        assert secret.encode() not in whole
    assert b"wa_flow_id" not in whole and b'"id": 5' not in whole


def test_contacts_come_only_when_asked_and_are_merged_by_number(
    client: chatkit.Client, folder: chatkit.Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.pull(client, codes=CODES)
    place = folder.path / "contacts.csv"
    assert not place.exists()
    (folder.path / ".gitignore").write_text("*.bak")
    folder.pull(client, contacts=True)
    assert "names and numbers of persons" in capsys.readouterr().out
    assert (folder.path / ".gitignore").read_text() == "*.bak\n/contacts.csv\n"
    assert "contacts.csv" in (folder.path / ".chatkit/.gitignore").read_text()
    state = folder.state(contacts=True)
    assert state.records == read_state(client, codes=CODES, contacts=True).records
    assert read_state(folder).records == state.records
    assert "contact" not in folder.state(contacts=False).records
    lines = place.read_text("utf-8").splitlines(keepends=True)
    assert lines[0] == '"country_code","number","name"\n'
    assert lines[1].startswith("\"'+")  # no program takes it for a formula
    edited, gone, moved = (line.split(",")[1].strip('"') for line in lines[1:4])
    lines[1] = ",".join([*lines[1].split(",")[:2], '"Edited Here"\n'])
    place.write_text("".join([*lines[:2], *lines[3:]]), "utf-8")
    frame = client.contacts.frame()
    ids = dict(zip(frame.number, frame.index, strict=True))
    client.contacts.update(ids[moved], name="Moved There")
    folder.pull(client)
    assert "persons" not in capsys.readouterr().out
    contacts = folder.state().get("contact")
    names = {number: fields.get("name") for (_, number), fields in contacts.items()}
    assert (names[edited], names[moved]) == ("Edited Here", "Moved There") and gone not in names
    client.contacts.update(ids[edited], name="Both")
    with pytest.raises(chatkit.errors.InputError, match=r"contacts\.csv, .*Edited Here.*Both"):
        folder.pull(client)


def test_a_contact_is_the_same_once_its_edit_is_applied(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    folder.pull(client, contacts=True)
    place, first = folder.path / "contacts.csv", client.contacts.frame().index[0]
    before = str(client.contacts.get(first).name)
    message = place.read_text("utf-8").replace(before, "Oliver James Smythe")
    place.write_text(message + '"\'+1","2025550199","Ana María Cruz"\n', "utf-8")
    assert [d.field for d in chatkit.compare(folder, client)] == ["", "name"]
    assert {*folder.plan(client).apply()["state"]} == {"applied"}
    assert not chatkit.compare(folder, client) and not chatkit.compare(client, folder)
    plan = folder.plan(client)
    assert (len(plan), plan.notes) == (0, [])
    client.contacts.update(first, name=before)  # somebody else sets it back
    assert "(name)" in folder.plan(client).notes[0]
    folder.plan(client, restore=True).apply()
    assert not chatkit.compare(folder, client)


@pytest.mark.parametrize(
    ("row", "column", "step"),
    [
        ("abc,2025550199,Ana", "country_code", "+91"),
        ("44,7911123456,Ana", "country_code", "write '+44'"),
        (",2025550188,Ana", "country_code", "+91"),
        ("+1,20-25x,Ana", "number", "digits only"),
        ("+44,,Ana", "number", "digits only"),
        ("+99999,123456789,Ana", "country_code", "correct it"),
    ],
)
def test_a_contact_without_a_number_that_can_be_sent_is_refused_with_row_column_and_step(
    client: chatkit.Client, folder: chatkit.Folder, row: str, column: str, step: str
) -> None:
    folder.pull(client, contacts=True)
    place = folder.path / "contacts.csv"
    place.write_text(f"{place.read_text('utf-8')}{row}\n+1,2025550177,Bo\n", "utf-8")
    plan = folder.plan(client)
    [cell] = plan.refused.itertuples()
    assert cell.row == ("contact", " ".join(row.split(",")[:2]))
    assert cell.column == column and step in cell.next_step
    assert [change.label for change in plan.changes] == ["+1 2025550177"]
    with pytest.raises(chatkit.errors.PlanRefused, match="1 row cannot be planned"):
        plan.apply()


# --- three sides ------------------------------------------------------------------------


def test_what_somebody_removed_stays_away_and_unclear_names_stay_as_they_are(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    folder.pull(client, codes=CODES)
    assert "All files were as they are in the account." in repr(folder.pull(client))
    (folder.path / "flows/rent-a-bike.json").unlink()
    (folder.path / "templates/order_ready/de.json").unlink()
    for webhook in (folder.path / "webhooks").iterdir():
        webhook.unlink()
    flow = client.flows.get(client.flows.frame().index[0])
    with pytest.warns(UserWarning, match="has this name, too"):
        client.flows.create(name=flow.name, template_name="default", flow_json=flow.flow_json)
    report = folder.pull(client)
    assert not (folder.path / "flows/rent-a-bike.json").exists()
    assert flow.name in folder.state().get("flow") and str(flow.name) in repr(report)
    assert report.changes == {}
    counts = "taken out of the files, and still in the account: 1 flow, 1 content, 3 webhooks"
    assert counts in repr(report) and "delete=" in repr(report)
    assert "1 flow, 1 content" in report._repr_html_()


def test_what_both_have_changed_is_told_with_three_values(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    folder.pull(client, codes=CODES)
    edited(folder, "templates/order_ready/en.json", footer="From the file")
    client.templates("order_ready").update("en", footer="From the account")
    before = texts(folder)
    with pytest.raises(chatkit.errors.InputError) as refused:
        folder.pull(client)
    assert texts(folder) == before
    [problem] = refused.value.problems
    [cell] = folder.plan(client).refused.itertuples()
    assert problem.field == "templates/order_ready/en.json, footer"
    for value in ("Larkspur Cycles", "From the file", "From the account"):
        assert value in problem.reason and value in cell.value + cell.reason


def test_another_account_is_refused_by_a_pull_and_planned_without_a_base(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    folder.pull(client, codes=CODES)
    with chatkit.connect(chatkit.Sandbox(seed="empty")) as other:
        folder.plan(other, broken=True).apply(irreversible=True)
        assert not chatkit.compare(folder, other)
    place = folder.path / "account.json"
    place.write_text(
        place.read_text().replace("sandbox account 1001", "https://a.example account 7")
    )
    with pytest.raises(chatkit.errors.InputError, match="other_account=True"):
        folder.pull(client)
    folder.pull(client, other_account=True)
    assert "sandbox account 1001" in place.read_text()


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


# --- what is wrong ----------------------------------------------------------------------


def test_a_folder_without_an_account_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(chatkit.errors.InputError, match="does not exist"):
        chatkit.Folder(tmp_path / "none").state()
    with pytest.raises(chatkit.errors.InputError, match="holds no account"):
        chatkit.Folder(tmp_path).state()
    assert "does not exist yet" in repr(chatkit.Folder(tmp_path / "none"))


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
    assert result.records == then.records  # contacts are not in git
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


def test_what_a_plan_of_another_folder_has_written_is_a_change_of_the_account(
    client: chatkit.Client, folder: chatkit.Folder, tmp_path: Path
) -> None:
    other = chatkit.Folder(tmp_path / "copy")
    for each in (folder, other):
        each.pull(client, codes=CODES, contacts=True)
    edited(folder, "templates/order_ready/de.json", footer="Larkspur Berlin")
    hook = client.webhooks.frame().url.iloc[0]
    (folder.path / "webhooks/hooks-larkspur-cycles-example-chat.json").unlink()
    plan = folder.plan(client, delete=[("webhook", hook)])
    plan.apply(many=True, irreversible=True)
    assert len(other.plan(client)) == 0
    other.pull(client, codes=CODES, contacts=True)
    assert len(other.plan(client)) == len(folder.plan(client)) == 0
    assert other.state().records == folder.state().records


def test_a_pull_without_contacts_forgets_nothing_that_was_written_of_them(
    client: chatkit.Client, folder: chatkit.Folder
) -> None:
    folder.pull(client, codes=CODES, contacts=True)
    contact = client.contacts.get(50001)
    table = folder.path / "contacts.csv"
    table.write_text(table.read_text("utf-8").replace(contact.name, "Ana Cruz"), "utf-8")
    folder.plan(client).apply()
    client.templates("order_ready").update("de", footer="Larkspur Berlin")
    folder.pull(client, codes=CODES, contacts=False)
    client.contacts.update(50001, name=contact.name)  # a colleague sets it back
    assert len(folder.plan(client)) == 0
