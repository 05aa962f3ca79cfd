"""The folder of a backup: safe names, stable files, and nothing outside of it."""

import json
import os
import re
import string
from pathlib import Path
from typing import Any

import pytest
from documents import DOCUMENT, document
from hypothesis import given
from hypothesis import strategies as st

import chatkit
from chatkit.flows.backup import INDEX, BackupFolder, Kept, safe

ME = "https://api.example account 1001"


def kept(key: int, name: str | None = "Order", found: Any = DOCUMENT, **more: Any) -> Kept:
    return Kept(id=key, name=name, document=found, wa_status="DRAFT", **more)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


# --- names ------------------------------------------------------------------------------


@given(st.text())
def test_any_name_becomes_one_that_every_system_takes(name: str) -> None:
    stem = safe(name)
    assert set(stem) <= {*string.ascii_lowercase, *string.digits, "-"}
    assert len(stem) <= 65 and stem == stem.strip("-")
    assert not re.fullmatch("(con|prn|aux|nul|com[0-9]|lpt[0-9]|index)?", stem) or not stem


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("Book a repair", "book-a-repair"),
        ("../../etc/passwd", "etc-passwd"),
        ("C:\\Windows\\x", "c-windows-x"),
        ("LPT1", "lpt1-flow"),
        ("Index", "index-flow"),
        ("Größe", "grosse"),
        ("予約", ""),
        ("\x00\n", ""),
        ("a" * 400, "a" * 60),
    ],
)
def test_names_of_files_say_the_names_of_flows(name: str, stem: str) -> None:
    assert safe(name) == stem


def test_every_naughty_name_has_a_file_of_its_own(tmp_path: Path, shared: Path) -> None:
    names = json.loads((shared / "corpora/blns/blns.json").read_bytes())
    names += [names[9].upper(), names[9].lower(), "index", "INDEX.json", "a/b", "a\\b", ""]
    place = tmp_path / "inner" / "flows"
    written = BackupFolder(place).write(ME, [kept(n, name) for n, name in enumerate(names)])
    made = [str(one.file) for one in written]
    assert len({name.casefold() for name in made}) == len(names)
    assert sorted(files(place)) == sorted([*made, INDEX])
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()].count(INDEX) == 1
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == len(names) + 1
    assert {flow.name for flow in BackupFolder(place).read()} == set(names)


# --- writing ----------------------------------------------------------------------------


def test_a_document_is_written_as_it_stands_one_entry_a_line(tmp_path: Path) -> None:
    BackupFolder(tmp_path).write(
        ME, [kept(1, found={"version": "7.3", "screens": [], "a": "Größe"})]
    )
    assert (tmp_path / "order.json").read_text(encoding="utf-8") == (
        '{\n  "version": "7.3",\n  "screens": [],\n  "a": "Größe"\n}\n'
    )


def test_the_index_says_whose_file_each_is(tmp_path: Path) -> None:
    flow = kept(1, template_name="default", updated_at="2026-01-05T08:00:00Z", categories=["OTHER"])
    BackupFolder(tmp_path).write(ME, [flow, kept(2, "Bare", None)])
    assert json.loads((tmp_path / INDEX).read_bytes()) == {
        "account": ME,
        "flows": [
            {
                "file": "order.json",
                "id": 1,
                "name": "Order",
                "wa_status": "DRAFT",
                "template_name": "default",
                "updated_at": "2026-01-05T08:00:00Z",
                "categories": ["OTHER"],
            },
            {"id": 2, "name": "Bare", "wa_status": "DRAFT"},
        ],
    }


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    flows = [kept(1, "a / 予約"), kept(2, "b", document("b"), flow_json_raw="x")]
    BackupFolder(tmp_path).write(ME, flows)
    read = BackupFolder(tmp_path).read()
    assert [flow.model_copy(update={"file": None}) for flow in read] == flows
    assert BackupFolder(tmp_path).account() == ME


def test_only_what_has_changed_is_written_again(tmp_path: Path) -> None:
    flows = [kept(1), kept(2, "Two")]
    BackupFolder(tmp_path).write(ME, flows)
    for path in tmp_path.iterdir():
        os.utime(path, (0, 0))
    assert [one.change for one in BackupFolder(tmp_path).write(ME, flows)] == ["same", "same"]
    flows[1] = kept(2, "Two", document("Neu"))
    assert [one.change for one in BackupFolder(tmp_path).write(ME, flows)] == ["same", "changed"]
    fresh = {path.name for path in tmp_path.iterdir() if path.stat().st_mtime}
    assert fresh == {"two.json"}


def test_line_ends_that_git_has_changed_are_no_change(tmp_path: Path) -> None:
    BackupFolder(tmp_path).write(ME, [kept(1)])
    path = tmp_path / "order.json"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    [one] = BackupFolder(tmp_path).write(ME, [kept(1)])
    assert one.change == "same" and b"\r\n" in path.read_bytes()
    assert BackupFolder(tmp_path).read()[0].document == DOCUMENT


def test_flows_of_one_name_keep_their_files_when_one_goes(tmp_path: Path) -> None:
    a, b, c = (kept(n, "Order", document(str(n))) for n in (1, 2, 3))
    first = BackupFolder(tmp_path).write(ME, [b, a])
    assert [(one.id, one.file) for one in first] == [(1, "order.json"), (2, "order-2.json")]
    second = BackupFolder(tmp_path).write(ME, [c, b])
    assert [(one.id, one.file, one.change) for one in second] == [
        (2, "order-2.json", "same"),
        (3, "order.json", "changed"),
    ]


def test_a_flow_that_was_made_again_goes_on_in_its_file(tmp_path: Path) -> None:
    BackupFolder(tmp_path).write(ME, [kept(1)])
    [one] = BackupFolder(tmp_path).write(ME, [kept(7)])
    assert (one.file, one.change) == ("order.json", "same")


def test_a_flow_that_is_gone_keeps_its_file_until_you_delete_it(tmp_path: Path) -> None:
    BackupFolder(tmp_path).write(ME, [kept(1), kept(2, "Two")])
    for _ in range(2):
        written = BackupFolder(tmp_path).write(ME, [kept(2, "Two")])
        assert [(one.file, one.change) for one in written] == [
            ("two.json", "same"), ("order.json", "gone"),
        ]  # fmt: skip
        assert [flow.gone for flow in BackupFolder(tmp_path).read()] == [True, False]
    (tmp_path / "order.json").unlink()
    assert len(BackupFolder(tmp_path).write(ME, [kept(2, "Two")])) == 1
    assert [flow.name for flow in BackupFolder(tmp_path).read()] == ["Two"]


def test_a_document_that_is_not_shown_any_more_is_kept(tmp_path: Path) -> None:
    BackupFolder(tmp_path).write(ME, [kept(1)])
    [one] = BackupFolder(tmp_path).write(ME, [kept(1, found=None)])
    assert (one.file, one.change) == ("order.json", "unreadable")
    assert BackupFolder(tmp_path).read()[0].document == DOCUMENT


def test_files_that_are_not_ours_are_never_touched(tmp_path: Path) -> None:
    (tmp_path / "Package.json").write_text("mine")
    (tmp_path / "two.json").mkdir()
    written = BackupFolder(tmp_path).write(ME, [kept(1, "Package"), kept(2, "Two")])
    assert [one.file for one in written] == ["package-1.json", "two-2.json"]
    assert (tmp_path / "Package.json").read_text() == "mine"
    assert BackupFolder(tmp_path).strangers() == ["Package.json", "two.json"]


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    place, outside = tmp_path / "flows", tmp_path / "outside.json"
    BackupFolder(place).write(ME, [kept(1)])
    (place / "order.json").unlink()
    outside.write_text("{}")
    (place / "order.json").symlink_to(outside)
    with pytest.raises(chatkit.InputError, match="is a link"):
        BackupFolder(place).read()
    BackupFolder(place).write(ME, [kept(1)])
    assert outside.read_text() == "{}" and not (place / "order.json").is_symlink()


def test_a_write_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    BackupFolder(tmp_path).write(ME, [kept(1)])
    before = files(tmp_path)

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(chatkit.InputError, match="No space left"):
        BackupFolder(tmp_path).write(ME, [kept(1, found=document("Neu"))])
    assert files(tmp_path) == before


def test_half_a_character_is_written_as_an_escape_and_refused_on_the_way_back(
    tmp_path: Path,
) -> None:
    BackupFolder(tmp_path).write(ME, [kept(1, found={"version": "\ud83d"})])
    assert b"\\ud83d" in (tmp_path / "order.json").read_bytes()
    with pytest.raises(chatkit.InputError, match=r"order.json: is not valid JSON: it holds half"):
        BackupFolder(tmp_path).read()


# --- what cannot be used ----------------------------------------------------------------


def test_all_files_that_cannot_be_read_are_named_at_once(tmp_path: Path) -> None:
    names = ["Merge", "List", "Latin", "Nan", "Deep", "Far"]
    BackupFolder(tmp_path).write(ME, [kept(n, name) for n, name in enumerate(names)])
    (tmp_path / "merge.json").write_text("{\n<<<<<<< HEAD\n")
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "latin.json").write_bytes(b'{"a": "\xe9"}')
    (tmp_path / "nan.json").write_text('{"a": NaN}')
    (tmp_path / "deep.json").write_text("[" * 100_000)
    (tmp_path / "far.json").write_text('{"a": 1e999}')
    with pytest.raises(chatkit.InputError) as caught:
        BackupFolder(tmp_path).read()
    told = {problem.field: problem.reason for problem in caught.value.problems}
    assert sorted(told) == sorted(f"{name.lower()}.json" for name in names)
    assert "line 2, column 1" in told["merge.json"]
    assert "NaN is not a JSON number at line 1, column 7" in told["nan.json"]
    assert told["latin.json"] == "is not valid JSON: it is not UTF-8 text"
    assert told["deep.json"] == "is not valid JSON: it is nested too deeply"


@pytest.mark.parametrize(
    "file", ["../x.json", "/etc/x.json", "a/b.json", "a\\b.json", "index.json", ".x.json",
             "x.json:y", "x.txt", "", "INDEX.JSON"],
)  # fmt: skip
def test_an_index_cannot_lead_out_of_the_folder(tmp_path: Path, file: str) -> None:
    index = {"account": ME, "flows": [{"id": 1, "name": "Order", "file": file}]}
    (tmp_path / INDEX).write_text(json.dumps(index))
    for use in (
        lambda: BackupFolder(tmp_path).read(),
        lambda: BackupFolder(tmp_path).write(ME, [kept(1)]),
    ):
        with pytest.raises(chatkit.InputError, match="cannot be the name of a document"):
            use()
    assert sorted(files(tmp_path)) == [INDEX]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"account": 1, "flows": []}', '{"account": "a", "flows": [{"id": "1"}]}',
     '{"account": "a", "flows": [{"id": 1, "file": "a.json"}, {"id": 2, "file": "A.json"}]}'],
)  # fmt: skip
def test_an_index_that_is_damaged_is_neither_read_nor_written_over(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / INDEX).write_text(text)
    for use in (
        lambda: BackupFolder(tmp_path).read(),
        lambda: BackupFolder(tmp_path).write(ME, [kept(1)]),
    ):
        with pytest.raises(chatkit.InputError, match=r"index of .* cannot be used"):
            use()
    assert (tmp_path / INDEX).read_text() == text


def test_a_folder_without_a_backup_says_so(tmp_path: Path) -> None:
    assert BackupFolder(tmp_path / "none").account() is None
    with pytest.raises(chatkit.InputError, match="holds no backup of flows"):
        BackupFolder(tmp_path).read()


def test_a_file_in_place_of_the_folder_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "flows").write_text("")
    with pytest.raises(chatkit.InputError, match="cannot be written"):
        BackupFolder(tmp_path / "flows").write(ME, [kept(1)])


def test_the_folder_of_another_account_is_refused_with_both_names(tmp_path: Path) -> None:
    BackupFolder(tmp_path).refuse_other(ME)
    BackupFolder(tmp_path).write(ME, [])
    BackupFolder(tmp_path).refuse_other(ME)
    with pytest.raises(chatkit.InputError, match=r"1001, and this is you: .*other_account=True"):
        BackupFolder(tmp_path).refuse_other("you")


def test_a_name_that_files_of_others_have_is_counted_on(tmp_path: Path) -> None:
    taken = ["order.json", "order-7.json", "ORDER-7-2.json", "order-7-3.json", "flow-8.json"]
    for name in taken:
        (tmp_path / name).write_text("{}")
    written = BackupFolder(tmp_path).write(ME, [kept(7), kept(8, ""), kept(9)])
    assert [one.file for one in written] == ["order-7-4.json", "flow-8-2.json", "order-9.json"]
    assert all((tmp_path / name).read_text() == "{}" for name in taken)


def test_the_index_is_in_the_order_of_its_files(tmp_path: Path) -> None:
    hidden = [kept(1, "Z", None), kept(0, "Y", None)]
    BackupFolder(tmp_path).write(ME, [*hidden, kept(2, "B"), kept(3, "A")])
    listed = json.loads((tmp_path / INDEX).read_bytes())["flows"]
    assert [flow["id"] for flow in listed] == [3, 2, 0, 1]
    again = BackupFolder(tmp_path).write(ME, [*hidden, kept(2, "B"), kept(3, "A"), kept(4, "Z")])
    assert [(one.id, one.file) for one in again if one.change == "new"] == [(4, "z.json")]


def test_what_the_system_says_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / INDEX).mkdir()
    with pytest.raises(chatkit.InputError) as caught:
        BackupFolder(tmp_path).read()
    [problem] = caught.value.problems
    assert problem.field == INDEX and "Errno" not in problem.reason and problem.reason
