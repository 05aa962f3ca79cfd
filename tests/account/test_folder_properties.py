"""Properties of a folder: any account comes back as it was, any three sides are merged rightly."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from volume import volume

import chatkit
from chatkit.account import reading
from chatkit.account.folder import merge_records
from chatkit.account.layout import PathNames
from chatkit.account.reading import AccountState, canonicalize_fields
from chatkit.api.call import find_segment_fault

#: Names that some system does not take, or takes for others.
HOSTILE = [
    *("../up", "..\\up", "/etc/passwd", "C:\\x", "CON", "con.json", "nul", "COM1", "aux.", "index"),
    *("a", "A", "á", "a\u0301", "ﬁ", "FI", "ß", "ss", "İ", "x" * 300, ".git", "~$a", "-rf", " a "),
    *("a/b", "a\nb", "a\x00b", "a:b", "a*b?", "😀", "予約", "\u202eabc", "a.", "a", "translations"),
]
names = st.sampled_from(HOSTILE) | st.text(min_size=1, max_size=12)
segments = st.sampled_from([text for text in HOSTILE if not find_segment_fault(text)])
seen = st.characters(exclude_categories=["C", "Z"], exclude_characters=".;")
segments |= st.text(seen, min_size=1, max_size=12)
flat = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
flat |= st.floats(allow_nan=False, allow_infinity=False)
any_json = st.recursive(
    flat,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=3,
)
flows = st.fixed_dictionaries(
    {  # a document that the account does not show is kept from the folder
        "template_name": st.text(min_size=1, max_size=5),
        "flow_json": st.dictionaries(st.text(max_size=5), any_json, max_size=3),
    },
    optional={"categories": st.lists(st.text(max_size=4), max_size=2)},
)
contents = st.fixed_dictionaries(
    {},
    optional={
        "text": st.text(max_size=30) | st.sampled_from(["a\nb", "\n", "a\r\nb\n", '["a"]']),
        "footer": st.text(max_size=5),
        "is_draft": st.booleans(),
        "variables": st.dictionaries(st.text(max_size=2), st.text(max_size=3), max_size=2),
        "buttons": st.lists(st.dictionaries(st.text(max_size=5), any_json, max_size=2), max_size=2),
        "validity_period_seconds": st.integers(0, 10**9),
    },
)
webhooks = st.fixed_dictionaries(
    {"events": st.lists(st.text(max_size=5), max_size=2), "is_active": st.booleans()}
)


numbers = st.tuples(st.sampled_from(["+1", "+44"]), st.text("0123456789", min_size=1, max_size=3))
person = st.text(max_size=6) | st.sampled_from(["=1+1", "'", "''=x", "-a", 'a "b", c', "a\nb"])
contact_rows = st.dictionaries(numbers, st.fixed_dictionaries({"name": person}), max_size=5)


accounts = st.fixed_dictionaries(
    {
        "flow": st.dictionaries(names, flows, max_size=4),
        "content": st.dictionaries(st.tuples(segments, segments), contents, max_size=6),
        "webhook": st.dictionaries(st.text(min_size=1, max_size=9), webhooks, max_size=2),
        "contact": st.none() | contact_rows,
    }
)


def account(result: Mapping[str, Any]) -> AccountState:
    """Make the state of any account, also of one that holds what could not be sent."""
    kept = {
        noun: {
            name: canonicalize_fields(noun, fields) for name, fields in sorted(result[noun].items())
        }
        for noun in ("flow", "content", "webhook", "contact")
        if result[noun] is not None
    }
    return AccountState(
        origin="any account",
        records=kept,
        codes=tuple(sorted({code for code, _ in kept["content"]})),
    )


@pytest.fixture(scope="module")
def client() -> Iterator[chatkit.Client]:
    with chatkit.connect(chatkit.Sandbox(seed="empty")) as client:
        yield client


def pulled(folder: chatkit.Folder, client: chatkit.Client, state: AccountState) -> Any:
    """Pull an account that is only said."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "read_account", lambda *_, **__: state)
        return folder.pull(client, contacts="contact" in state.records)


@given(accounts, accounts)
@settings(max_examples=volume(12))
def test_any_account_comes_back_as_it_was(
    client: chatkit.Client, before: Mapping[str, Any], after: Mapping[str, Any]
) -> None:
    top = Path(tempfile.mkdtemp())
    try:
        folder = chatkit.Folder(top / "shop")
        for each in map(
            account, (before, after)
        ):  # the second is merged into a folder without an edit
            pulled(folder, client, each)
            with_contacts = "contact" in each.records
            assert folder.state(contacts=with_contacts).records == each.records
            assert pulled(folder, client, each).changes == {}
        paths = [path for path in top.rglob("*") if ".chatkit" not in path.parts]
        assert all(path.resolve().is_relative_to(top.resolve()) for path in paths)
        assert all(path.name.isascii() and len(path.name) < 100 for path in paths)
    finally:
        shutil.rmtree(top)


@given(st.lists(st.tuples(segments, segments), unique=True), st.lists(names, unique=True))
def test_names_of_files_are_safe_on_every_system(
    contents: list[tuple[str, str]], flows: list[str]
) -> None:
    made = PathNames({}, ["flows/book.json", "templates/Order/readme.txt"])
    paths = [made.make_path("content", name) for name in contents]
    paths += [made.make_path("flow", name) for name in flows]
    folded = [path.casefold() for path in paths]
    assert len({*folded}) == len(paths)
    assert "flows/book.json" not in folded
    for path in paths:
        for part in path.split("/"):
            stem = part.removesuffix(".json")
            assert stem.isascii()
            assert stem.replace("-", "").replace("_", "").isalnum()
            assert stem.casefold() not in ("con", "prn", "aux", "nul", "com1", "lpt9")
    folders = {
        code: path.split("/")[1].casefold()
        for (code, _), path in zip(contents, paths, strict=False)
    }
    assert len({*folders.values()}) == len(folders)


# --- three sides ------------------------------------------------------------------------

records = st.dictionaries(
    st.sampled_from("ab"), st.dictionaries(st.sampled_from("xy"), st.integers(0, 2), min_size=1)
)


def edits(base: Mapping[str, Any], edge: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changes between two states: `gone`, or the fields that were set or cut."""
    result: dict[str, Any] = {}
    for name in {*base, *edge}:
        if name not in edge:
            result[name] = "gone"
        elif changed := {
            field: edge[name].get(field)
            for field in {*base.get(name, {}), *edge[name]}
            if base.get(name, {}).get(field) != edge[name].get(field)
        }:
            result[name] = changed
    return result


def oracle(base: Any, one: Any, other: Any) -> tuple[dict[str, Any], set[tuple[str, str]]]:
    """Do the edits of both to what was there; two that are not alike cannot be done."""
    mine, other_records = edits(base, one), edits(base, other)
    result: dict[str, Any] = {name: dict(fields) for name, fields in base.items()}
    clash: set[tuple[str, str]] = set()
    for name in {*mine, *other_records}:
        todo = [each[name] for each in (mine, other_records) if name in each]
        if "gone" in todo:
            if todo in (["gone"], ["gone", "gone"]):
                del result[name]
            else:
                clash.add((name, ""))
            continue
        fields = result.setdefault(name, {})
        for changed in todo:
            for field, value in changed.items():
                if any(each.get(field, value) != value for each in todo):
                    clash.add((name, field))
                fields[field] = value
        result[name] = {field: value for field, value in fields.items() if value is not None}
    return result, clash


@given(records, records, records)
@settings(max_examples=volume(200))
def test_three_sides_are_merged_as_the_edits_of_both_done_to_the_base(
    base: Any, one: Any, other: Any
) -> None:
    result, conflicts = merge_records("flow", base, one, other)
    expected, clash = oracle(base, one, other)
    assert {(each.name, each.field) for each in conflicts} == clash
    if not clash:
        assert result == {
            name: fields for name, fields in expected.items() if fields or name in result
        }
        assert merge_records("flow", base, other, one)[0] == result
    for prefer, edge in (("files", one), ("account", other)):
        chosen, left = merge_records("flow", base, one, other, prefer)  # type: ignore[arg-type]
        assert not left
        for name, field in clash:
            assert (chosen.get(name) if not field else chosen[name].get(field)) == (
                edge.get(name) if not field else edge[name].get(field)
            )
