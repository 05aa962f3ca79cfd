"""Folders that a stranger has made: nothing outside them is read, shown, written or removed."""

from __future__ import annotations

import json
import os
import shutil
import socket
import zipfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import chatkit
from chatkit.account import directory
from chatkit.account import folder as folder_module
from chatkit.bulk.stores import get_journal_folder

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links and pipes need rights there")

SECRET = "SECRETPASS"
FILES = (
    *("account.json", "contacts.csv", "translations.jsonl", "flows/rent-a-bike.json"),
    *("webhooks/hooks-larkspur-cycles-example-chat.json", "templates/order_ready/en.json"),
    *(".chatkit/base.json", ".chatkit/contacts.csv"),
)
FOLDERS = (".chatkit", "flows", "webhooks", "templates", "templates/order_ready")


def link(path: Path, outside: Path) -> None:
    """Put a link to a file or folder outside in place of what is there."""
    target = outside / ("folder" if path.is_dir() else "secret.json")
    remove(path)
    path.symlink_to(target)


def dangling(path: Path, outside: Path) -> None:
    remove(path)
    path.symlink_to(outside / "not-there")


def pipe(path: Path, outside: Path) -> None:
    remove(path)
    os.mkfifo(path)


def hard_link(path: Path, outside: Path) -> None:
    remove(path)
    os.link(outside / "secret.json", path)


def other_kind(path: Path, outside: Path) -> None:
    """A folder in place of a file, a file in place of a folder."""
    was_folder = path.is_dir()
    remove(path)
    path.write_text(SECRET) if was_folder else path.mkdir()


def listening(path: Path, outside: Path) -> None:
    remove(path)
    here = os.open(path.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"/proc/self/fd/{here}/{path.name}")
    os.close(here)


def remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


KINDS = {"link": link, "dangling": dangling, "pipe": pipe, "other kind": other_kind}
#: Each place with a link, and one file and one folder with what else may be there.
PLACES = [(path, "link") for path in (*FILES, *FOLDERS)]
PLACES += [(path, kind) for path in (FILES[3], FOLDERS[0]) for kind in KINDS if kind != "link"]
PLACES += [(FILES[3], "hard link"), (FILES[3], "socket"), (FILES[-1], "hard link")]
KINDS |= {"hard link": hard_link, "socket": listening}

DEEP = 100_000
TEXTS: dict[str, bytes] = {
    "deep": b"[" * DEEP + b"]" * DEEP,
    "deep objects": b'{"a":' * 5000 + b"1" + b"}" * 5000,
    "not so deep": b'{"name": "x", "flow_json": ' + b"[" * 300 + b"]" * 300 + b"}",
    "not UTF-8": b'{"name": "\xff\xfe"}',
    "NUL": b"\0" * 50,
    "empty": b"",
    "a list": b"[1]",
    "a number": b"1" * 5000,
    "NaN": b'{"name": NaN}',
    "half a character": b'{"name": "\\ud800", "text": "\\udc00"}',
    "large": b" " * (9 << 20),
}
CSV = {
    "doubled": b"country_code,number,number\n+1,2,3\n",
    "all doubled": b"country_code,country_code,number,name\n+1,+1,2,3\n",
    "not UTF-8": b"country_code,number,name\n+1,2,\xff\n",
    "a long cell": b"country_code,number,name\n+1,2\n+1,3," + b"x" * 200_000 + b"\n",
    "NUL": b"country_code,number,name\n+1,2,a\0b\n+x,3,c\n",
    "no head": b"\n\n\n",
    "empty": b"",
}
BASES = {
    "records": {"flows": 5},
    "a record": {"flows": {"Rent a bike": 5}},
    "a field": {"webhooks": {"https://a.example": {"events": 5}}},
    "a language": {"contents": {"order_ready": {"en": []}}},
    "a text": {"contents": {"order_ready": {"en": {"text": 5}}}},
    "buttons": {"contents": {"order_ready": {"en": {"buttons": [5]}}}},
    "codes": {"templates": 5},
    "account": {"account": None},
    "no time": {"pulled": "yesterday"},
}
#: Every text in one file of a kind; and in the other files one that none of them may hold.
CONTENTS = [(FILES[3], f"{name} in a flow", text) for name, text in TEXTS.items()]
CONTENTS += [(path, f"bytes in {path}", b"\xff\n") for path in FILES if path != FILES[3]]
CONTENTS += [("contacts.csv", f"{name} in contacts", text) for name, text in CSV.items()]
CONTENTS += [("translations.jsonl", "deep ledger", TEXTS["deep"])]


@pytest.fixture(scope="module")
def client() -> Iterator[chatkit.Client]:
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
        client.templates.remember(["order_ready"])
        client.templates.accept(["de"], ["order_ready"])
        yield client


@pytest.fixture(scope="module")
def original(client: chatkit.Client, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("original") / "shop"
    chatkit.Folder(path).pull(client, contacts=True)
    return path


@pytest.fixture
def shop(original: Path, tmp_path: Path) -> Path:
    outside = tmp_path / "outside"
    (outside / "folder").mkdir(parents=True)
    output = json.dumps({"name": SECRET, "token": SECRET, "flow_json": {"version": SECRET}})
    for place in ("secret.json", "folder/en.json", "folder/base.json", "folder/rent-a-bike.json"):
        (outside / place).write_text(output)
    shutil.copytree(original, tmp_path / "shop")
    return tmp_path / "shop"


def operations(shop: Path, client: chatkit.Client) -> dict[str, Callable[[], Any]]:
    """Return what reads a folder, and the pull that may write most."""
    folder = chatkit.Folder(shop)
    return {
        "repr": lambda: repr(folder),
        "plan": lambda: repr(folder.plan(client, contacts=True, broken=True, skip_invalid=True)),
        "pull": lambda: repr(folder.pull(client, contacts=True, conflicts="account")),
    }


def snapshot(top: Path) -> dict[str, Any]:
    """List everything in a folder: kinds, bytes, permissions and link targets."""
    result: dict[str, Any] = {}
    for path in sorted(top.rglob("*")):
        info = path.lstat()
        data: Any = os.readlink(path) if path.is_symlink() else None
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
        result[str(path)] = (info.st_mode, data)
    return result


def tried(shop: Path, client: chatkit.Client, *, refused: bool = True) -> dict[str, str]:
    """Do all that can be done with a folder; return what each said."""
    outside = snapshot(shop.parent / "outside")
    output: dict[str, str] = {}
    for name, operation in operations(shop, client).items():
        inside = snapshot(shop)
        try:
            output[name] = f"done {operation()}"
        except chatkit.errors.InputError as error:
            output[name] = str(error)
        assert SECRET not in output[name], name
        assert snapshot(shop.parent / "outside") == outside, name
        if "pull" not in name or not output[name].startswith("done"):
            assert snapshot(shop) == inside, f"{name} wrote into the folder"
        if refused and name != "repr":
            assert not output[name].startswith("done"), name
        output[name].encode()
    return output


@pytest.fixture(params=["relative", "resolved"])
def how(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Open files as this system does, and as one does that cannot open relative to a folder."""
    if request.param == "resolved":
        monkeypatch.setattr(directory, "_RELATIVE", False)


@pytest.mark.parametrize(("path", "kind"), PLACES)
@pytest.mark.usefixtures("how")
def test_what_is_no_regular_file_or_folder_is_refused_by_its_name(
    shop: Path, client: chatkit.Client, path: str, kind: str
) -> None:
    KINDS[kind](shop / path, shop.parent / "outside")
    output = tried(shop, client, refused=path != "translations.jsonl")
    for name, text in output.items():
        if not text.startswith("done") and name != "repr":
            assert path in text, name
    assert path in output["pull"]


@pytest.mark.parametrize(("path", "text"), [(path, text) for path, _, text in CONTENTS],
                         ids=[name for _, name, _ in CONTENTS])  # fmt: skip
def test_a_damaged_file_is_refused_by_its_name(
    shop: Path, client: chatkit.Client, path: str, text: bytes
) -> None:
    (shop / path).write_bytes(text)
    output = tried(shop, client, refused=False)
    for name, each in output.items():
        if not each.startswith("done") and name != "repr":
            assert path in each, name


@pytest.mark.parametrize("damage", BASES.values(), ids=BASES)
def test_a_base_of_other_types_is_refused_with_the_place(
    shop: Path, client: chatkit.Client, damage: dict[str, Any]
) -> None:
    place, contacts = shop / ".chatkit/base.json", shop / ".chatkit/contacts.csv"
    place.write_text(json.dumps(json.loads(place.read_text()) | damage))
    lines = contacts.read_text().splitlines(keepends=True)
    contacts.write_text("".join([*lines, lines[1]]))
    with pytest.raises(chatkit.errors.InputError) as refused:
        chatkit.Folder(shop).plan(client)
    assert ".chatkit/base.json, line " in str(refused.value)
    assert f".chatkit/contacts.csv, line {len(lines) + 1}" in str(refused.value)


def test_all_that_is_wrong_is_named_at_once(shop: Path, client: chatkit.Client) -> None:
    link(shop / "flows/rent-a-bike.json", shop.parent / "outside")
    pipe(shop / "templates/order_ready/de.json", shop.parent)
    (shop / "account.json").write_bytes(b"\xff")
    (shop / ".chatkit/base.json").write_text("{")
    (shop / "templates/order_ready/en.json").write_text("[")
    (shop / "contacts.csv").write_text("number,number\n")
    with pytest.raises(chatkit.errors.InputError) as refused:
        chatkit.Folder(shop).state(contacts=True)
    named = {problem.field.partition(",")[0] for problem in refused.value.problems}
    assert named == {
        *("flows/rent-a-bike.json", "templates/order_ready/de.json", "account.json"),
        *(".chatkit/base.json", "templates/order_ready/en.json", "contacts.csv"),
    }


def test_a_flow_does_not_name_its_document_by_a_path(shop: Path, client: chatkit.Client) -> None:
    secret = shop.parent / "outside/secret.json"
    for text in (str(secret), "../outside/secret.json", '{"version": "1"}'):
        (shop / "flows/x.json").write_text(json.dumps({"name": "x", "flow_json": text}))
        with pytest.raises(chatkit.errors.InputError, match="flow_json must be an object"):
            chatkit.Folder(shop).plan(client)


NAMES = [
    *("a\\..\\..\\x.json", "..json", "...json", "con.json", "a\nb.json", "\x1b[2J.json"),
    *("\u202egpj.json", os.fsdecode(b"\xff.json"), "A.json", "-rf.json", "C:x.json", "~.json"),
]


def test_any_name_of_a_file_is_taken_or_refused(shop: Path, client: chatkit.Client) -> None:
    for folder in ("flows", "templates/order_ready", "templates/é\x1b"):
        (shop / folder).mkdir(exist_ok=True)
        for name in NAMES:
            (shop / folder / name).write_text("{")
    with pytest.raises(chatkit.errors.InputError) as refused:
        chatkit.Folder(shop).state()
    assert len(refused.value.problems) == 3 * len([n for n in NAMES if not n.startswith(".")])
    for text in tried(shop, client).values():
        assert "\x1b" not in text
        assert "\u202e" not in text


# --- what a pull has begun --------------------------------------------------------------


def kept(path: Path, texts: dict[str, bytes | None], inode: int | None = None) -> bytes:
    """Make the file of an interrupted pull; None removes."""

    def digest(name: str) -> str | None:
        place = path / name
        return sha256(place.read_bytes()).hexdigest() if place.is_file() else None

    manifest: dict[str, Any] = {"inode": inode or path.stat().st_ino, "files": {}}
    place = path.parent / "made.zip"
    with zipfile.ZipFile(place, "w") as archive:
        for name, text in texts.items():
            new = None if text is None else sha256(text).hexdigest()
            manifest["files"][name] = [digest(name), new]
            if text is not None:
                archive.writestr(name, text)
        archive.writestr("manifest.json", json.dumps(manifest))
    data = place.read_bytes()
    place.unlink()
    return data


def data_of(shop: Path) -> Path:
    """Return the folder in which a pull keeps the state that it has begun."""
    name = sha256(os.fsencode(os.path.realpath(shop))).hexdigest()[:32]
    return get_journal_folder(passing=False) / "folders" / name / "pull.zip"


EVIL: dict[str, bytes | None] = {
    "../outside/folder/en.json": b"evil", "../outside/new": b"evil", "../outside/secret.json": None,
    ".git/hooks/pre-commit": b"evil", "flows/../../outside/x.json": b"evil",
}  # fmt: skip


@pytest.mark.parametrize("name", [*EVIL, "/etc/x.json", "flows/a\0.json", "README.md", "garbage"])
def test_a_damaged_interrupted_pull_is_named_and_not_obeyed(
    shop: Path, client: chatkit.Client, name: str
) -> None:
    data = b"PK" * 50 if name == "garbage" else kept(shop, {name: EVIL.get(name, b"evil")})
    (shop / ".chatkit/pending.zip").write_bytes(data)  # in the folder it is no pull
    assert chatkit.Folder(shop).state()
    data_of(shop).parent.mkdir(parents=True)
    data_of(shop).write_bytes(data)
    for text in tried(shop, client).values():
        assert any(why in text for why in ("is damaged", "cannot be used", "was interrupted"))
    data_of(shop).unlink()


def test_an_interrupted_pull_is_ended_by_the_next_before_anything_is_read(
    shop: Path, client: chatkit.Client
) -> None:
    place, gone = shop / "templates/order_ready/en.json", shop / "templates/order_ready/de.json"
    text = place.read_bytes().replace(b"Larkspur", b"Moved")
    data_of(shop).parent.mkdir(parents=True)
    pending: dict[str, bytes | None] = {"templates/order_ready/en.json": text}
    data_of(shop).write_bytes(kept(shop, pending | {"templates/order_ready/de.json": None}))
    before = snapshot(shop)
    folder = chatkit.Folder(shop)
    assert "A pull into" in repr(folder) and "was interrupted" in repr(folder)
    for read in (folder.state, lambda: folder.plan(client)):
        with pytest.raises(chatkit.errors.InputError, match=r"was interrupted.*pull .*ends it"):
            read()
    assert snapshot(shop) == before
    folder.pull(client)
    assert place.read_bytes() == text
    assert not gone.exists()
    assert not data_of(shop).exists()
    assert "was interrupted" not in repr(folder)


def test_what_was_saved_since_an_interrupted_pull_is_merged(
    shop: Path, client: chatkit.Client
) -> None:
    """The base stays as it was, so that the edit is an edit and the account's change is taken."""
    place, base = shop / "templates/order_ready/en.json", shop / ".chatkit/base.json"
    new = {
        "templates/order_ready/en.json": place.read_bytes().replace(b"Larkspur", b"Moved"),
        ".chatkit/base.json": base.read_bytes().replace(b"Larkspur", b"Moved"),
    }
    data_of(shop).parent.mkdir(parents=True)
    data_of(shop).write_bytes(kept(shop, dict(new)))
    place.write_bytes(place.read_bytes().replace(b"Hi ", b"Dear ").replace(b"Hello", b"Dear"))
    mine, was = place.read_bytes(), base.read_bytes()
    chatkit.Folder(shop).pull(client)
    assert place.read_bytes() == mine
    assert base.read_bytes() == was


def test_another_folder_at_the_same_path_does_not_end_an_interrupted_pull(
    shop: Path, client: chatkit.Client
) -> None:
    data_of(shop).parent.mkdir(parents=True)
    data_of(shop).write_bytes(kept(shop, {"flows/new.json": b"{}"}, inode=1))
    chatkit.Folder(shop).pull(client)
    assert not (shop / "flows/new.json").exists()


# --- what is saved while a pull runs ----------------------------------------------------


@pytest.fixture
def moved(shop: Path) -> Iterator[chatkit.Client]:
    """An account in which the text of a content has moved since the folder was pulled."""
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
        client.templates("order_ready").update("en", text="Hello {{1}}, moved {{2}} of {{3}} now.")
        yield client


MOMENTS = {
    "merge_ledger": folder_module._Pull, "write_changed_files": folder_module._Pull,
    "replace_file": directory.Directory, "last": directory.Directory,
}  # fmt: skip


@pytest.mark.parametrize("when", MOMENTS)
@pytest.mark.parametrize("field", ["footer", "text", "again"])
def test_what_is_saved_while_a_pull_runs_is_merged_or_a_conflict(
    shop: Path, moved: chatkit.Client, monkeypatch: pytest.MonkeyPatch, when: str, field: str
) -> None:
    """The account has another text; "again" saves whenever the pull would write."""
    place, owner = shop / "templates/order_ready/en.json", MOMENTS[when]
    name = "replace_file" if when == "last" else when
    original, count = getattr(owner, name), iter(range(100))

    def hooked(self: Any, *arguments: Any) -> Any:
        if when != "last" or arguments[0].endswith("en.json"):
            edit = {"footer": str(next(count))} if field == "again" else {field: "MY EDIT"}
            place.write_text(json.dumps(json.loads(place.read_text()) | edit))
        return original(self, *arguments)

    monkeypatch.setattr(owner, name, hooked)
    if field != "footer":
        reason = "again and again" if field == "again" else "(?s)saved while the pull ran.*MY EDIT"
        with pytest.raises(chatkit.errors.InputError, match=reason):
            chatkit.Folder(shop).pull(moved)
        assert field == "again" or json.loads(place.read_text())["text"] == "MY EDIT"
        return
    report = chatkit.Folder(shop).pull(moved)
    output = json.loads(place.read_text())
    assert output["footer"] == "MY EDIT" and "moved" in output["text"]
    assert "templates/order_ready/en.json" in report.notes[0]
    assert "Saved while the pull ran" in repr(report)
    assert chatkit.Folder(shop).pull(moved).changes == {"templates/order_ready/en.json": "edited"}


# --- rights -----------------------------------------------------------------------------


def rights(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_personal_data_is_for_the_owner_alone(shop: Path, moved: chatkit.Client) -> None:
    folder = chatkit.Folder(shop.parent / "new")
    folder.pull(moved, contacts=True)
    private = ("contacts.csv", ".chatkit/contacts.csv", ".chatkit/base.json")
    for again in (False, True):
        if again:
            for name in private:
                (folder.path / name).chmod(0o644)
            contact = moved.contacts.frame().index[0]
            moved.contacts.update(contact, name="Another Name")
            folder.pull(moved, contacts=True)
        assert {name: rights(folder.path / name) for name in private} == dict.fromkeys(
            private, 0o600
        )
        assert rights(folder.path / ".chatkit") == 0o700
    assert rights(data_of(folder.path).parent) == 0o700
    (folder.path / "contacts.csv").chmod(0o644)
    folder.pull(moved, contacts=True)
    assert rights(folder.path / "contacts.csv") == 0o600
