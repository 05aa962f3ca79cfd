"""Frames: what the service sent is what stands in the cells, or it is refused by row and field."""

import gc
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pandas as pd
import pytest
from bent import Bend, Bent, drop, put
from displayed import html_of
from documents import document
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel

import chatkit
from chatkit.api.secret import mask_secrets
from chatkit.contacts import Contact
from chatkit.flows import Flow
from chatkit.frames import frame as frames
from chatkit.frames.frame import (
    Columns,
    WrongRows,
    choose_column_kinds,
    count_repeated_keys,
    drop_repeated_keys,
    join_name_columns,
)
from chatkit.templates import Content
from chatkit.webhooks import Webhook


class Thing(BaseModel):
    """A record with every kind of field."""

    id: int
    label: str | None = None
    size: int | None = None
    on: bool | None = None
    at: datetime | None = None
    tags: Any = None
    parts: list[str] | None = None
    more: dict[str, Any] | None = None


KINDS = choose_column_kinds(Thing, Thing.model_fields)
DTYPES = {"number": "Int64", "text": "str", "flag": "boolean", "time": "datetime64[us, UTC]"}
STAMP = "2026-01-02T03:04:05.678Z"
WHOLE = {
    "id": 1, "label": "x", "size": 2, "on": True, "at": STAMP, "tags": [], "parts": ["a"],
    "more": {},
}  # fmt: skip


def framed(*pages: Any, expected: dict[str, frames.Kind] = KINDS, key: str = "id") -> pd.DataFrame:
    """The frame of some pages; each is JSON text, or what becomes JSON text."""
    columns = Columns(expected)
    for page in pages:
        columns.add(page if isinstance(page, bytes) else json.dumps(page).encode())
    return columns.frame(key)


def cell(value: Any, field: str = "tags") -> Any:
    """Return the cell of a frame whose one row has this value as JSON text."""
    row = json.dumps(WHOLE | {field: "HERE"}).replace('"HERE"', value)
    return framed(f"[{row}]".encode())[field].iloc[0]


# --- the frame is what a simple program would make of the same JSON -------------------------


def moments() -> st.SearchStrategy[tuple[str, datetime]]:
    """A time as services write it, and the moment it means."""

    def written(base: datetime, sep: str, digits: str, offset: int | None) -> tuple[str, datetime]:
        text = base.isoformat(sep=sep, timespec="seconds") + ("." + digits if digits else "")
        micro = timedelta(microseconds=int((digits + "000000")[:6]))
        instant = base.replace(tzinfo=UTC) + micro - timedelta(minutes=offset or 0)
        if offset is None:
            return text, instant
        sign, (hours, minutes) = "-" if offset < 0 else "+", divmod(abs(offset), 60)
        return text + (f"{sign}{hours:02}:{minutes:02}" if offset else "Z"), instant

    seconds = st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1)).map(
        lambda time: time.replace(microsecond=0)
    )
    digits = st.text("0123456789", max_size=12)
    offsets = st.none() | st.just(0) | st.integers(-14 * 60, 14 * 60)
    return st.builds(written, seconds, st.sampled_from("T "), digits, offsets)


ids = st.integers(-(2**63), 2**63 - 1) | st.sampled_from([0, 2**53 + 1, 2**63 - 1, -(2**63)])
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
DIGITS = ["", "null", "00917", "+91", "12345678901234567890", "1e3", "0x1F", "９１", " 7 ", "-0"]
VALUES: dict[str, st.SearchStrategy[tuple[Any, Any]]] = {
    "number": (ids | ids.map(str)).map(lambda value: (value, int(value))),
    "text": (st.text(max_size=20) | st.sampled_from(DIGITS)).map(lambda value: (value, value)),
    "flag": st.booleans().map(lambda value: (value, value)),
    "time": moments(),
    "json": anything.map(lambda value: (value, value)),
}


@st.composite
def rows(draw: st.DrawFn, unusual: bool = True) -> tuple[dict[str, Any], dict[str, Any]]:
    """One row as it is sent, and the cells it should become."""
    sent, cells = {}, {}
    for name, kind in KINDS.items():
        state = (
            "value" if name == "id" or not unusual else draw(st.sampled_from(["value", "null", ""]))
        )
        if state:
            sent[name], cells[name] = draw(VALUES[kind]) if state == "value" else (None, None)
    names = (
        st.sampled_from(["new", "other", "c1", "__1__", 'a"b', "a\\b", "\n", "", "é"]) | st.text()
    )
    extra = draw(
        st.dictionaries(names.filter(lambda name: name not in KINDS), anything, max_size=3)
    )
    order = draw(st.permutations(list(sent | extra))) if unusual else list(sent)
    everything = sent | extra if unusual else sent
    # What nobody knows and is called like a secret is masked: Hypothesis takes such names from us.
    view = {name: mask_secrets(name, value) for name, value in extra.items()}
    return {name: everything[name] for name in order}, cells | view


def view(frame: pd.DataFrame, name: str, kind: str) -> list[Any]:
    """The cells of a column as plain Python values, None for NA."""
    if kind == "json":
        return list(frame[name])
    convert = {"number": int, "text": str, "flag": bool, "time": lambda t: t.to_pydatetime()}[kind]
    return [None if pd.isna(value) else convert(value) for value in frame[name]]


def exact(value: Any) -> str:
    """A text that tells 1, 1.0, True and "1" apart."""
    return repr(value)


def containers(value: Any) -> list[Any]:
    """All lists and dicts in a value, itself included."""
    if isinstance(value, dict):
        return [value, *(c for inner in value.values() for c in containers(inner))]
    if isinstance(value, list):
        return [value, *(c for inner in value for c in containers(inner))]
    return []


@given(
    table=st.lists(rows(), max_size=12),
    cuts=st.lists(st.integers(0, 12), max_size=6),
    chunk=st.sampled_from([1, 3, 1000]),
    ascii_only=st.booleans(),
    indent=st.sampled_from([None, 1]),
)
@example(table=[], cuts=[], chunk=1000, ascii_only=True, indent=None)
def test_any_rows_in_any_pages(table, cuts, chunk, ascii_only, indent):
    bounds = [0, *sorted(min(cut, len(table)) for cut in cuts), len(table)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames, "_CHUNK_ROWS", chunk)
        columns = Columns(KINDS)
        for start, end in pairwise(bounds):
            page = [sent for sent, _ in table[start:end]]
            text = json.dumps(page, ensure_ascii=ascii_only, indent=indent)
            assert columns.add(text.encode("utf-8", "surrogatepass")) == end - start
        frame = columns.frame("id")

    named = KINDS | dict.fromkeys((n for sent, _ in table for n in sent if n not in KINDS), "json")
    assert list(frame.columns) == [name for name in named if name != "id"]
    assert columns.rows == len(frame) == len(table)
    assert columns.missing == [
        name for name in KINDS if table and not any(name in sent for sent, _ in table)
    ]
    assert frame.index.name == "id"
    assert frame.index.dtype == "int64"
    assert list(frame.index) == [cells["id"] for _, cells in table]
    for name in frame.columns:
        kind = named[name]
        assert frame[name].dtype == DTYPES.get(kind, object)
        desired = [cells.get(name) for _, cells in table]
        assert list(map(exact, view(frame, name, kind))) == list(map(exact, desired))
    nested = [c for name, kind in named.items() if kind == "json" for v in frame[name]
              for c in containers(v)]  # fmt: skip
    assert len(set(map(id, nested))) == len(nested), "two rows share an object"


WRONG = {
    "number": [1.0, 1.5, "x", "", "007", "1_0", " 1", "１", "1e3", True, [], {}, 2**63,
               -(2**63) - 1, str(2**63), "9" * 20],
    "text": [91, 1.5, True, [], {}, ["x"]],
    "flag": [0, 1, "true", "", [], {}],
    "time": [0, 1767323045, "", "now", "NaT", "soon", "2026-02-30T00:00:00Z", True, [], {},
             "2026-13-01T00:00:00Z", "2026-01-02T25:00:00Z", "2026-01-02T03:04:05+25:00",
             "02/01/2026"],
}  # fmt: skip
TEXTS = {
    "number": "a whole number",
    "text": "text",
    "flag": "true or false",
    "time": "an ISO 8601 time",
}


@given(
    table=st.lists(rows(unusual=False), min_size=1, max_size=8),
    wrong=st.sampled_from([(n, v) for n, k in KINDS.items() for v in WRONG.get(k, ())]),
    data=st.data(),
)
def test_a_wrong_value_is_named_by_row_field_and_id(table, wrong, data):
    name, value = wrong
    sent = [row for row, _ in table]
    number = data.draw(st.integers(0, len(sent) - 1))
    sent[number] = sent[number] | {name: value}
    cut = data.draw(st.integers(0, len(sent)))
    with pytest.MonkeyPatch.context() as patch, pytest.raises(WrongRows) as caught:
        patch.setattr(frames, "_CHUNK_ROWS", data.draw(st.sampled_from([1, 3, 1000])))
        framed(sent[:cut], sent[cut:])
    output = f"row {number}, field {name}: expected {TEXTS[KINDS[name]]}, got {value!r:.60}"
    whose = "" if name == "id" else f" (id {sent[number]['id']!r})"
    assert str(caught.value) == output + whose


# --- values ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "instant"),
    {
        "2026-01-02T03:04:05Z": "2026-01-02T03:04:05+00:00",
        "2026-01-02T03:04:05.6Z": "2026-01-02T03:04:05.600000+00:00",
        "2026-01-02T03:04:05.123456Z": "2026-01-02T03:04:05.123456+00:00",
        "2026-01-02T03:04:05.123456789Z": "2026-01-02T03:04:05.123456+00:00",
        "2026-01-02T03:04:05+05:30": "2026-01-01T21:34:05+00:00",
        "2026-01-02T03:04:05": "2026-01-02T03:04:05+00:00",
        "2026-01-02 03:04": "2026-01-02T03:04:00+00:00",
        "2026-01-02": "2026-01-02T00:00:00+00:00",
        "0001-01-01T00:00:00Z": "0001-01-01T00:00:00+00:00",
    }.items(),
)
def test_times_are_utc(text, instant):
    assert cell(json.dumps(text), "at").isoformat() == instant


def test_a_time_without_an_offset_is_utc_wherever_the_person_is(monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        assert cell('"2026-01-02T03:04:05"', "at").isoformat() == "2026-01-02T03:04:05+00:00"
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    "json_text", ["123456789012345678901234567890", "1.0", "-0.0", '"2026"', "[[], {}]", "1e300"]
)
def test_nested_values_are_what_python_reads(json_text):
    assert exact(cell(json_text)) == exact(json.loads(json_text))


def test_the_last_of_two_equal_names_counts():
    assert cell('1, "label": "b", "label": "c", "tags": 2') == 2
    assert framed(b'[{"id": 1, "new": 1, "new": 2}]')["new"].iloc[0] == 2


# --- shapes ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "reason"),
    {
        b"{}": "begins with row 1: Expected `array`, got `object`",
        b"null": "begins with row 1: Expected `array`, got `null`",
        b'"[]"': "begins with row 1: Expected `array`, got `str`",
        b"": "begins with row 1",
        b"<html>": "begins with row 1",
        b"[{}": "begins with row 1",
        b'[{"id": NaN}]': "begins with row 1",
        b'[{"id": 2, "tags": 1e999}]': "rows 1 to 1, field tags: Number out of range",
        b'[{"id": 2, "label": "\xff"}]': "begins with row 1",
        b'[{"id": 2, "label": "\\ud800"}]': "begins with row 1",
        b'[{"id": 2, "tags": ' + b"[" * 5000 + b"]" * 5000 + b"}]": "begins with row 1",
        b'[{"id": 2}, 7]': "row 2: expected an object, got 7",
        b"[null]": "row 1: expected an object, got None",
        b"[[1]]": r"row 1: expected an object, got \[1\]",
        b'[{"label": "x"}]': "row 1, field id: expected a whole number, got None",
        b'[{"id": null}]': "row 1, field id: expected a whole number, got None",
    }.items(),
)
def test_what_is_no_list_of_rows_is_refused(page, reason):
    with pytest.raises(WrongRows, match=reason):
        framed([WHOLE], page)


def test_a_nested_value_that_cannot_be_read_is_named_by_its_rows(monkeypatch):
    monkeypatch.setattr(frames, "_CHUNK_ROWS", 3)
    pages = [[WHOLE] * 2] * 4
    row = json.dumps(WHOLE | {"tags": "HERE"}).replace('"HERE"', "1e999")
    with pytest.raises(WrongRows, match="rows 8 to 10, field tags: Number out of range"):
        framed(*pages, f"[{row}, {json.dumps(WHOLE)}]".encode(), [WHOLE])


def test_a_list_with_a_thousand_different_fields_is_refused():
    with pytest.raises(WrongRows, match="more than 1000 different fields"):
        framed([{"id": n, f"field {n}": n} for n in range(1001)])


def test_a_text_can_be_the_key():
    frame = framed(
        [{"code": "de", "label": None}],
        expected=dict.fromkeys(("code", "label"), "text"),
        key="code",
    )
    assert frame.index.dtype == "str"
    assert frame.index.name == "code"
    assert list(frame.index) == ["de"]


def test_the_documented_kinds():
    assert choose_column_kinds(Contact, Contact.listed) == {
        "id": "number", "first_name": "text", "middle_name": "text", "last_name": "text",
        "meta_name": "text", "number": "text", "country_code": "text", "wa_phone_id": "text",
        "created_at": "time", "updated_at": "time", "created_by": "text", "updated_by": "text",
        "ai_mode": "text", "tags": "json",
    }  # fmt: skip
    assert choose_column_kinds(Webhook, ["is_active", "events", "last_delivery_status"]) == {
        "is_active": "flag", "events": "json", "last_delivery_status": "json",
    }  # fmt: skip
    assert choose_column_kinds(Webhook, ["last_delivery_at"]) == {"last_delivery_at": "moment"}
    assert choose_column_kinds(Flow, ["id", "flow_json"]) == {
        "id": "number",
        "flow_json": "document",
    }
    assert choose_column_kinds(Content, ["id", "lang_code"]) == {
        "id": "number",
        "lang_code": "text",
    }


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("record", [Contact, Content, Flow, Webhook])
def test_an_id_is_a_whole_number_in_every_frame_also_in_an_empty_one(record, rows):
    columns = Columns(
        choose_column_kinds(record, ["lang_code", "id"] if record is Content else ["id"])
    )
    columns.add(json.dumps([{"id": 7, "lang_code": "en"}][:rows]).encode())
    key = "lang_code" if record is Content else "id"
    frame = columns.frame(key).reset_index()
    assert frame["id"].dtype.kind == "i"
    assert frame["id"].tolist() == [7][:rows]


def test_moments_and_documents_are_read_in_each_form():
    rows = [
        {"id": 1, "at": 1767323045, "document": '{"a": 1}'},
        {"id": 2, "at": 1767323045000, "document": {"a": 1}},
        {"id": 3, "at": "2026-01-02T03:04:05Z", "document": None},
        {"id": 4, "at": "1767323045", "document": "{broken"},
        {"id": 5},
    ]
    frame = framed(rows, expected={"id": "number", "at": "moment", "document": "document"})
    assert frame["at"].dtype == DTYPES["time"]
    assert frame["at"].dropna().unique().tolist() == [datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)]
    assert frame["at"].notna().tolist() == [True, True, True, True, False]
    assert frame["document"].tolist() == [{"a": 1}, {"a": 1}, None, "{broken", None]
    with pytest.raises(WrongRows, match=r"row 1, field at: expected a time, got 'soon' \(id 2\)"):
        framed([{"id": 1, "at": None}, {"id": 2, "at": "soon"}],
               expected={"id": "number", "at": "moment"})  # fmt: skip


def test_the_frame_can_be_changed():
    frame = framed([WHOLE, WHOLE | {"id": 2}])
    frame.loc[2, "label"] = "new"
    frame.loc[frame["on"], "size"] += 1
    frame["tags"].iloc[0].append("vip")
    assert frame["label"].to_list() == ["x", "new"]
    assert frame["tags"].to_list() == [["vip"], []]


def test_the_collector_is_on_again_afterwards():
    framed([WHOLE])
    with pytest.raises(WrongRows):
        framed([WHOLE | {"size": "x"}])
    assert gc.isenabled()


# --- names and keys -------------------------------------------------------------------------

words = st.lists(st.none() | st.text("ab é", max_size=4), min_size=3, max_size=3)


@given(table=st.lists(words, max_size=6))
def test_a_name_is_joined_as_the_record_joins_it(table):
    parts = ["first_name", "middle_name", "last_name"]
    sent = [dict(zip(parts, row, strict=True)) | {"id": n} for n, row in enumerate(table)]
    names = join_name_columns(
        framed(sent, expected=choose_column_kinds(Contact, ["id", *parts])), parts
    )
    assert names.dtype == "str"
    desired = [Contact(**row).name for row in sent]
    assert [None if pd.isna(name) else name for name in names] == desired


def test_of_rows_that_came_twice_the_last_stays():
    frame = framed([WHOLE | {"id": n, "size": at} for at, n in enumerate([1, 2, 1, 3, 1])])
    assert count_repeated_keys(frame) == 2
    kept = drop_repeated_keys(frame)
    assert kept["size"].to_dict() == {2: 1, 3: 3, 1: 4}
    assert count_repeated_keys(kept) == 0
    assert drop_repeated_keys(kept) is kept


# --- resources, as a person meets them ----------------------------------------------------------

SECRET = "5ecret0f64" * 6
ANA = {"number": "2025550143", "country_code": "+1", "name": "Ana Cruz"}


@contextmanager
def bent_client(bend: Bend) -> Iterator[chatkit.Client]:
    """A client of a sandbox whose answers are bent."""
    with (
        chatkit.Sandbox(seed="empty") as sandbox,
        chatkit.connect(Bent(sandbox, after=bend)) as client,  # type: ignore[arg-type]
    ):
        yield client


def test_no_frame_ever_holds_a_signing_secret():
    with bent_client(put("webhooks", "list", webhook_secret=SECRET)) as client:
        client.webhooks.create(url="https://example.com", events=["*"])
        frame = client.webhooks.frame()
    assert len(frame) == 1
    assert SECRET not in str(frame.to_dict()) + repr(frame) + str(frame.attrs)


@pytest.mark.parametrize("full", [False, True])
def test_a_field_that_is_missing_is_told_once(full):
    with bent_client(drop("contacts", "list get", "tags")) as client:
        client.contacts.create(**ANA)
        with pytest.warns(UserWarning) as caught:
            frame = client.contacts.frame(full=full)
    assert frame["tags"].isna().all()
    [warning] = caught
    text = "The service sent no tags for its contacts: the columns are empty."
    assert (str(warning.message), warning.filename) == (text, __file__)


def test_a_list_without_rows_misses_nothing():
    with bent_client(lambda exchange: None) as client:
        assert client.contacts.frame().empty


def test_a_name_that_the_service_sends_is_kept():
    with bent_client(put("contacts", "list", name="Ana of the service")) as client:
        client.contacts.create(**ANA)
        assert list(client.contacts.frame()["name"]) == ["Ana of the service"]


UNKNOWN = {
    "signing_secret": SECRET,
    "auth_token": SECRET,
    "api_key": 17,
    "has_password": True,
    "settings": {"proxy": [{"password": SECRET}], "region": "eu"},
    "colour": "red",
}


@pytest.mark.parametrize("source", ["webhooks", "flows", "contacts"])
def test_what_is_called_like_a_secret_is_hidden_on_the_way_in(source, tmp_path):
    """In records, frames, plans and journals: it is never taken in."""
    bodies = {
        "webhooks": {"url": "https://example.com", "events": ["*"]},
        "flows": {
            "name": "Visit",
            "template_name": "default",
            "flow_json": document("A"),
        },
        "contacts": ANA,
    }
    edited = {"webhooks": ("is_active", False), "contacts": ("name", "Bo Li")}
    with bent_client(put(source, "list get create update", **UNKNOWN)) as client:
        resource = getattr(client, source)
        made = resource.create(**bodies[source])
        frame = resource.frame()
        view = [made, resource.get(made.id), frame.to_dict(), frame.attrs]
        if source in edited:
            plan = resource.plan(frame.assign(**dict([edited[source]])))
            plan.save(tmp_path / "plan.json")
            result = plan.apply()
            assert result.state.isin(["applied", "differs"]).all()
            view += [plan, html_of(plan), result.to_dict(), [*plan.changes]]
            view += [(tmp_path / "plan.json").read_text()]
        assert SECRET not in "".join(map(repr, view))
    row = frame.iloc[0]
    assert row.signing_secret == row.auth_token == row.api_key == "(not shown)"
    assert row.settings == {"proxy": [{"password": "(not shown)"}], "region": "eu"}
    assert (row.has_password, row.colour) == (True, "red")
    assert made.signing_secret == "(not shown)" and made.colour == "red"
