"""Planning: which changes, refused cells and notes a frame becomes; a table of frames.

All cases read the same account: planning sends nothing that could change it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest
from bulk.planning import (  # noqa: F401
    DOCUMENT,
    account,
    active,
    call,
    cells,
    client,
    contact,
    contacts,
    content,
    edits,
    flow,
    number,
    sandbox,
    states,
    webhook,
    writes,
)
from internals import middleware_of

import chatkit
from chatkit.bulk.matching import Refusals
from chatkit.bulk.plan import get_refused_cells
from chatkit.client import Client

Changes = Sequence[tuple[str, Mapping[str, Any]]]
Frame = Callable[[Client], Any]
NEWER = {**DOCUMENT, "version": "7.2"}
HEADER = dict.fromkeys(("text_variable", "parameter", "link", "file_name"))
BUTTON = {"type": "custom", "label": "Yes"}
HOOK = "https://shop.example/hook/0"


@pytest.fixture(scope="module")
def read_only() -> Iterator[Client]:
    """An account with three contacts, a flow, a webhook and two contents in two templates."""
    with chatkit.Sandbox(seed="empty") as sandbox, chatkit.connect(sandbox) as client:
        contacts(sandbox, 1), contact(sandbox, 1), contact(sandbox, 2, "Bo Lee")
        flow(sandbox), webhook(sandbox)
        buttons = {"buttons": [BUTTON]}
        content(sandbox, validity_period_seconds=60, auth_delivery_method="copy_code", **buttons)
        content(sandbox, lang_code="de", validity_period_seconds=60)
        content(sandbox, "welcome")
        before = writes(sandbox)
        yield client
        assert writes(sandbox) == before


@dataclass(frozen=True)
class Case:
    """A frame, how it is planned, and what becomes of it."""

    frame: Frame
    changes: Changes = ()  #: kind, and what is sent; of a delete or a skip what is there
    refused: Sequence[tuple[str, str]] = ()  #: column, and a part of reason and next step
    notes: Sequence[str] = ()  #: parts, each of one note
    options: Mapping[str, Any] = field(default_factory=dict)


def own(resource: str = "contacts", **columns: Any) -> Frame:
    """A frame of a person's own, of one row or of columns."""
    many = any(isinstance(values, list) for values in columns.values())
    frame = pd.DataFrame(columns if many else {name: [v] for name, v in columns.items()})
    frame.attrs["resource"] = resource
    return lambda client: frame


def read(resource: str, full: bool = False, **columns: Any) -> Frame:
    """A frame that was read, with other values in the first row."""

    def make(client: Client) -> Any:
        frame = frame_of(client, resource, full)
        for name, value in columns.items():
            cell = frame[name].astype(object) if name in frame else None
            column = pd.Series([None] * len(frame), frame.index, object) if cell is None else cell
            column = column.copy()
            column.array[0] = value
            frame[name] = column
        frame.attrs["resource"] = resource
        return frame

    return make


def frame_of(client: Client, resource: str, full: bool) -> pd.DataFrame:
    if resource == "templates":
        return client.templates.frame(["order_ready", "welcome"], full=full)
    source: Any = source_of(client, resource)
    return source.frame() if resource == "webhooks" else source.frame(full=full)


def source_of(client: Client, resource: str) -> Any:
    return client.templates(resource) if resource == "order_ready" else getattr(client, resource)


def guest(n: int = 0, name: str = "Zoë", code: str = "+1") -> Frame:
    """A row of a table from a fair, without an id."""
    return own(number=number(n), country_code=code, name=name)


FIXED = {
    "first_name": ("Eve", "edit name, the whole of it"),
    "last_name": ("Eve", "cannot be written"),
    "meta_name": ("Eve", "is set by the service"),
    "wa_phone_id": ("1", "is set by the service"),
    "created_at": (pd.Timestamp("2020-01-01", tz="UTC"), "leave it as it was"),
    "updated_by": ("Eve", "frame.drop(columns='updated_by')"),
    "tags": (["vip"], "is set by the service"),
}
NESTED = {
    "headers.0.type": [{"type": "sound"}],
    "buttons.0.label": [{"type": "custom", "label": 7}],
    "variables.1": {"1": 7},
    "is_draft": "yes",
    "validity_period_seconds": 1.5,
}
UNLISTED: dict[str, tuple[Any, Any]] = {
    "footer": ("Thank you", "Danke"),
    "is_catalog": (False, True),
    "variables": ({"1": "Ana"}, {"1": "Zoë"}),
    "headers": ([{"type": "text", "text": "Ready", **HEADER}], []),
    "validity_period_seconds": (60, 90),
}
CONTENT_FIELDS = ("text", "footer", "headers", "is_draft", "validity_period_seconds")
EMPTIED = '1 emptied cell left untouched: None and NA change nothing, "" clears.'
ANA = {"number": number(0), "country_code": "+1", "name": "Ana Cruz"}
HI = {"lang_code": "en", "text": "Hi", "footer": "Bye"}
EN, DE = {"lang_code": "en"}, {"lang_code": "de"}


def with_base(make: Frame) -> Frame:
    """The same, whose base is what is there now."""

    def based(client: Client) -> Any:
        frame = make(client)
        frame.attrs["base"] = True
        return frame

    return based


CASES: dict[str, Case] = {
    # what an empty cell means
    **{
        f"{nothing!r} in a contact": Case(read("contacts", name=nothing), notes=[EMPTIED])
        for nothing in (None, np.nan, pd.NA, pd.NaT)
    },
    **{
        f"nothing in a content, full {full}": Case(
            read("order_ready", full, **dict.fromkeys(CONTENT_FIELDS))
        )
        for full in (False, True)
    },
    "an empty text clears a text": Case(read("contacts", name=""), [("update", {"name": ""})]),
    **{
        f"an empty text clears a number, full {full}": Case(
            read("order_ready", full, validity_period_seconds="", auth_delivery_method=""),
            [("update", {"validity_period_seconds": None, "auth_delivery_method": ""})],
        )
        for full in (False, True)
    },
    "a number cannot be cleared": Case(read("contacts", number=""), refused=[("number", "")]),
    # what cannot be written
    **{
        f"{name} is fixed": Case(read("contacts", **{name: value}), refused=[(name, part)])
        for name, (value, part) in FIXED.items()
    },
    "fixed fields of a flow": Case(
        read("flows", name="New", wa_status="PUBLISHED", wa_flow_id="1"),
        refused=[
            ("name", "leave it as it was, or make a new one"),
            ("wa_flow_id", "frame.drop(columns='wa_flow_id')"),
            ("wa_status", "publish or deprecate it in the business application"),
        ],
    ),
    "fixed fields of a webhook": Case(
        read("webhooks", has_signing_secret=False, last_delivery_error="no"),
        refused=[("has_signing_secret", ""), ("last_delivery_error", "")],
    ),
    "the id of a content": Case(read("order_ready", id=9), refused=[("id", "")]),
    "a field that only a create has": Case(
        read("flows", True, categories=["OTHER"]),
        refused=[("categories", "can only be set when it is created")],
    ),
    "columns that are no fields": Case(
        read("contacts", nmae="Zoë", segment=7),
        notes=["Ignored column: nmae (no such field; did you mean name?)",
               "Ignored column: segment (no such field)"],
    ),
    "a first name alone": Case(
        own(number=number(9), country_code="+1", first_name="Zoë"),
        refused=[("first_name", "edit name")],
    ),
    "a first name beside a name": Case(
        own(number=number(9), country_code="+1", first_name="Zoë", name="Zoë"),
        [("create", {"number": number(9), "country_code": "+1", "name": "Zoë"})],
    ),
    # what cannot be sent
    **{
        f"{name} as {value!r}": Case(
            read("contacts", **{name: value}),
            refused=[(name, "so that no digit, zero or + is lost")],
        )
        for name, value in (
            ("number", 2025550100.0), ("number", 2025550100), ("country_code", 1),
        )
    },
    "an international number": Case(
        own(number="+49 30 123456", country_code="+49"),
        refused=[("number", "must be digits only (Contacts, rule 1) write country_code='+49', "
                            "number='30123456'")],
    ),
    "a whole number that became a float": Case(
        lambda client: client.templates("order_ready").frame(full=True).assign(
            validity_period_seconds=[90.0, np.nan]
        ),
        [("update", {"validity_period_seconds": 90})], options={"resource": "order_ready"},
    ),
    "all bad cells of a row": Case(
        read("contacts", number="202 555", country_code="1", first_name="Eve"),
        refused=[("first_name", ""), ("number", ""), ("country_code", "")],
    ),
    **{
        f"{place} is refused, full {full}": Case(
            read("order_ready", full, **{place.partition(".")[0]: value}), refused=[(place, "")]
        )
        for place, value in NESTED.items() for full in (False, True)
    },
    # fields that lists do not show
    **{
        f"{name} as it is": Case(read("templates", **{name: before}))
        for name, (before, _) in UNLISTED.items()
    },
    **{
        f"{name} of a template": Case(
            read("templates", **{name: after}), [("update", {name: after})]
        )
        for name, (_, after) in UNLISTED.items()
    },
    "an absent key of a button": Case(
        read("templates", True, buttons=[BUTTON], headers='[{"type": "text", "text": "Ready"}]')
    ),
    "a key of a button": Case(
        read("templates", True, buttons=[{**BUTTON, "label": "No"}]),
        [("update", {"buttons": [{**BUTTON, "label": "No"}]})],
    ),
    # new rows
    "a new contact": Case(
        own(number=number(9), country_code="+1", name="Zoë", meta_name="Z"),
        [("create", {"number": number(9), "country_code": "+1", "name": "Zoë"})],
        notes=["New rows are sent without meta_name: the service sets them."],
    ),
    "new contacts that lack what is required": Case(
        own(number=[number(9), None], country_code=[None, "+1"]),
        refused=[("country_code", "is required"), ("number", "is required")],
    ),
    "rows that do not all say the same": Case(
        lambda client: [{"number": number(9), "country_code": "+1"}, {"name": "Bo"}],
        [("create", {"number": number(9), "country_code": "+1"})],
        [("number", "is required"), ("country_code", "is required")],
    ),
    **{
        f"two flows of one name, duplicates {duplicates}": Case(
            own("flows", name=["Menu"] * 2, template_name=["default"] * 2,
                flow_json=[DOCUMENT] * 2),
            [("create", {"name": "Menu", "template_name": "default", "flow_json": DOCUMENT})]
            * (1 + duplicates),
            notes=() if duplicates else ["duplicates=True"],
            options={"duplicates": duplicates},
        )
        for duplicates in (False, True)
    },
    "a content without its template code": Case(
        own("templates", template_code=["order_ready", None], lang_code=["fr", "fr"],
            text=["Oui", "Oui"]),
        [("create", {"text": "Oui", "lang_code": "fr"})], [("template_code", "is required")],
    ),
    # rows that meet a record which they do not name by its key
    **{
        f"a number with another country code, {existing}, {more}": Case(
            own(number=number(2), country_code="+44", name="Somebody Else", **more),
            refused=[("country_code", "conflict: the contact with the id")],
            options={"existing": existing},
        )
        for existing in ("fill", "update", "skip", "refuse") for more in ({}, {"delete": True})
    },
    **{
        f"a contact with another name, {existing}": Case(
            guest(), changes, refused, options={"existing": existing}
        )
        for existing, changes, refused in (
            ("fill", [("skip", {"name": "Ana Cruz"})], []),
            ("update", [("update", {"name": "Zoë"})], []),
            ("skip", [("skip", {"name": "Ana Cruz"})], []),
            ("refuse", [], [("name", 'exists, and has "Ana Cruz"')]),
        )
    },
    **{
        f"a contact without a name, {existing}": Case(
            guest(1), changes, refused, options={"existing": existing}
        )
        for existing, changes, refused in (
            (None, [("update", {"name": "Zoë"})], []),
            ("skip", [("skip", {"name": None})], []),
            ("refuse", [], [("name", "exists, and has")]),
        )
    },
    **{
        f"a contact as it is, {existing}": Case(
            guest(0, "Ana Cruz"), options={"existing": existing}
        )
        for existing in ("fill", "update", "skip", "refuse")
    },
    "a flow by its name": Case(
        own("flows", name="Order", flow_json=NEWER, template_name="special"),
        [("skip", {"template_name": "default", "flow_json": DOCUMENT})],
    ),
    "a flow by its name, updated": Case(
        own("flows", name="Order", flow_json=NEWER), [("update", {"flow_json": NEWER})],
        options={"existing": "update"},
    ),
    "a document that is not sent is not checked": Case(
        own("flows", name="Order", flow_json={**DOCUMENT, "version": "99.0"}),
        [("skip", {"flow_json": DOCUMENT})],
    ),
    "a document that is sent is": Case(
        own("flows", name="Order", flow_json={**DOCUMENT, "version": "99.0"}),
        refused=[("flow_json", "")], options={"existing": "update"},
    ),
    "a webhook by its address": Case(
        own("webhooks", url=HOOK, is_active=False), [("skip", {"is_active": True})]
    ),
    "a webhook by its address, updated": Case(
        own("webhooks", url=HOOK, is_active=False), [("update", {"is_active": False})],
        options={"existing": "update"},
    ),
    "contents that nobody has read": Case(
        own("order_ready", **HI), refused=[("text", "older"), ("footer", "older")],
        notes=["may be edited, or older"],
    ),
    "contents that were read now": Case(
        with_base(own("order_ready", lang_code=["en", "fr"], text=["Hi", "Oui"])),
        [("update", {"text": "Hi"}), ("create", {"text": "Oui", "lang_code": "fr"})],
    ),
    "contents that are to be updated": Case(
        own("order_ready", **HI), [("update", {"text": "Hi", "footer": "Bye"})],
        options={"existing": "update"},
    ),
    "contents as dicts": Case(
        lambda client: [HI], [("update", {"text": "Hi", "footer": "Bye"})],
        options={"resource": "order_ready"},
    ),
    "contents that are kept": Case(
        own("order_ready", **HI), [("skip", {"text": "Hello {{1}}!", "footer": "Thank you"})],
        options={"existing": "skip"},
    ),
    "contents of templates that are filled": Case(
        own("templates", template_code="order_ready", **HI),
        [("skip", {"text": "Hello {{1}}!", "footer": "Thank you"})], options={"existing": "fill"},
    ),
    "contents that were read are edits": Case(
        read("order_ready", text="Hi"), [("update", {"text": "Hi"})], options={"existing": "skip"}
    ),
    # deletes
    **{
        f"a column delete of {dtype}": Case(
            lambda client, dtype=dtype: client.contacts.frame().assign(
                delete=pd.array([True, False, False]).astype(dtype), name=["edited", None, None]
            ),
            [("delete", ANA)],
        )
        for dtype in ("boolean", bool, object)
    },
    "a deleted row with a bad cell": Case(
        lambda client: read("contacts", number="?", delete=True)(client), [("delete", ANA)]
    ),
    "a delete by a number": Case(
        own(number=number(0), country_code="+1", delete=True), [("delete", ANA)]
    ),
    "a delete of no record": Case(
        own(number=number(9), country_code="+1", delete=True), refused=[("delete", "")]
    ),
    "keys that are not there": Case(
        lambda client: None,
        refused=[("delete", "no contact of the account has it delete= takes the id of each, as "
                            "the frame that was read shows it"),
                 ("delete", "must be a whole number")],
        options={"delete": [404404, "en"]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_frame_becomes_a_plan(read_only: Client, name: str) -> None:
    case = CASES[name]
    frame = case.frame(read_only)
    attrs = frame.attrs if isinstance(frame, pd.DataFrame) else {}
    options = dict(case.options)
    resource = options.pop("resource", None) or attrs.pop("resource", "contacts")
    source = source_of(read_only, resource)
    if attrs.pop("base", False):
        options["base"] = source.frame()
    plan = source.plan(frame, **options)
    changes = [
        (c.kind, c.before if c.kind in ("delete", "skip") else c.after) for c in plan.changes
    ]
    assert changes == list(case.changes)
    refused = get_refused_cells(plan)
    assert [cell.column for cell in refused] == [column for column, _ in case.refused]
    for cell, (_, part) in zip(refused, case.refused, strict=True):
        assert part in f"{cell.reason} {cell.next_step}"
    for part in case.notes:
        assert any(part in note for note in plan.notes), plan.notes


def test_what_may_be_a_secret_is_refused_without_being_shown() -> None:
    refusals = Refusals(pd.Index([7]))
    for column in ("webhook_secret", "Authorization", "access_token"):
        refusals.add(0, column, "s3cret-Marker", "cannot be written", "leave it out")
    assert [cell.value for cell in refusals.cells] == ["(not shown)"] * 3
    assert {cell.row for cell in refusals.cells} == {7}


@pytest.mark.parametrize("index", [np.array([7]), ["a"], pd.MultiIndex.from_tuples([(1, "a")])])
def test_rows_are_called_as_the_frame_calls_them_in_words_of_python(read_only, index):
    frame = pd.DataFrame({"number": ["202 555"], "country_code": ["+1"]}, index=index)
    [cell] = get_refused_cells(read_only.contacts.plan(frame))
    assert cell.row == frame.index[0]
    assert type(cell.row) in (int, str, tuple)


@pytest.mark.parametrize(
    ("passed", "message"),
    [
        (["Ana"], "not list of str"),
        ([{"name": "Ana"}, None], "not list of NoneType"),
        (5, "not int"),
        ({"name": ["Ana"]}, r"takes a list of dicts, one for each record: plan\(\[\{…\}, "),
        (pd.Series(["Ana"]), "with two brackets"),
        ("people.xlsx", r"plan\(chatkit.read_contacts\('people.xlsx'\)\)"),
        (b"people.csv", r"plan\(chatkit.read_contacts\('people.csv'\)\)"),
        (None, "plan takes a frame, or keys in delete="),
    ],
)
def test_what_is_neither_a_frame_nor_rows_is_refused_with_the_way(read_only, passed, message):
    with pytest.raises(chatkit.errors.InputError, match=message):
        read_only.contacts.plan(passed)


# --- what is planned is applied -------------------------------------------------------------


def test_an_empty_text_is_applied_as_nothing(sandbox, client):
    [key] = contacts(sandbox, 1)
    content(sandbox, validity_period_seconds=60)
    assert states(client.contacts.plan(client.contacts.frame().assign(name="")).apply()) == [
        "applied"
    ]
    assert active(sandbox, "contacts")[key]["first_name"] is None
    contents = client.templates("order_ready")
    frame = contents.frame().assign(footer="", validity_period_seconds="")
    assert states(contents.plan(frame).apply()) == ["applied"]
    [stored] = active(sandbox, "contents").values()
    assert (stored["footer"], stored["text"]) == ("", "Hello {{1}}!")
    assert stored["validity_period_seconds"] is None


def test_the_natural_key_of_a_contact_is_what_the_profile_says():
    own = pd.DataFrame({"number": [number(0)], "country_code": "+49", "name": "Zoë"})
    with account(contact_key="number") as (sandbox, client):
        contacts(sandbox, 1)
        [(_, column, reason)] = cells(client.contacts.plan(own, existing="update"))
        assert column == "country_code" and "conflict" in reason
    with account(contact_key="country_code_and_number") as (sandbox, client):
        contacts(sandbox, 1)
        assert client.contacts.plan(own).counts == {"create": 1, "update": 0, "delete": 0}


def test_a_filtered_frame_makes_no_second_record_of_a_name_it_does_not_show(sandbox, client):
    published, draft = flow(sandbox, "Order"), flow(sandbox, "Other")
    with middleware_of(sandbox).transaction() as service:
        service.flows.set_status(published, sandbox.account_id, "PUBLISHED")
    frame = client.flows.frame(status="DRAFT").reset_index()
    assert frame["id"].tolist() == [draft]
    frame.loc[1, ["name", "template_name"]] = ["Order", "default"]
    frame["flow_json"] = [None, DOCUMENT]
    assert client.flows.plan(frame).counts["create"] == 0


def test_new_rows_may_have_an_empty_id_in_the_index(sandbox, client):
    contacts(sandbox, 1)
    new = pd.DataFrame({"number": [number(1), number(2)], "country_code": "+1"})
    frame = pd.concat([client.contacts.frame().reset_index(), new]).set_index("id")
    plan = client.contacts.plan(frame)
    assert plan.counts == {"create": 2, "update": 0, "delete": 0}
    result = plan.apply()
    assert states(result) == ["applied", "applied"]
    assert result.index.isna().all() and result.index.name == "id"
    assert states(chatkit.resume(result)) == ["applied", "applied"]
    assert len(active(sandbox, "contacts")) == 3


def test_a_content_needs_what_the_profile_says():
    with account(content_requires=("lang_code", "text", "is_draft")) as (_, client):
        own = pd.DataFrame({"lang_code": ["en"], "text": ["Hi"]})
        assert [c[:2] for c in cells(client.templates("a").plan(own))] == [(0, "is_draft")]


@pytest.mark.parametrize("unknown", [False, True])
def test_the_first_content_of_a_template_can_be_planned(unknown):
    with account(unknown_template_404=unknown) as (sandbox, client):
        own = pd.DataFrame({"lang_code": ["en"], "text": ["Hi"]})
        assert states(client.templates("one").plan(own).apply()) == ["applied"]
        assert states(client.templates.plan(own.assign(template_code="two")).apply()) == ["applied"]
        assert {c["scope"] for c in active(sandbox, "contents").values()} == {"one", "two"}


@pytest.mark.parametrize("held", [0, 7, 10])
def test_an_account_has_ten_webhooks_at_most(sandbox, client, held):
    ids = [webhook(sandbox, n) for n in range(held)]
    new = pd.DataFrame({"url": [f"https://new.example/{n}" for n in range(11)]})
    new["events"] = [["*"]] * 11
    plan = client.webhooks.plan(new)
    assert plan.counts["create"] == 10 - held
    assert len(plan.refused) == held + 1
    assert set(plan.refused.reason) == {f"an account has at most 10 webhooks, and has {held}"}
    plan = client.webhooks.plan(new, delete=ids[:2], skip_invalid=True)
    assert plan.counts["create"] == 10 - held + len(ids[:2])
    result = plan.apply(many=True, irreversible=True)
    assert set(states(result)) <= {"applied"}
    assert len(active(sandbox, "webhooks")) == 10


# --- how it can be undone -------------------------------------------------------------------


def test_only_records_with_a_field_that_lists_do_not_show_are_read_in_full(sandbox, client):
    ids = [flow(sandbox, f"Flow {n}") for n in range(3)]
    frame = client.flows.frame()
    frame["flow_json"] = [DOCUMENT, NEWER, None]
    before = len(middleware_of(sandbox).log)
    [change] = client.flows.plan(frame).changes
    paths = [entry.path.partition("/flows/")[2] for entry in [*middleware_of(sandbox).log][before:]]
    assert sorted(paths) == [str(key) for key in ids[:2]]
    assert (change.key, change.before, change.undo) == (ids[1], {"flow_json": DOCUMENT}, "exactly")


def test_a_document_that_the_service_never_shows_is_sent_and_can_never_be_undone():
    with account(flow_json_in_get=False) as (sandbox, client):
        key = flow(sandbox)
        skipped = client.flows.plan(pd.DataFrame({"name": ["Order"], "flow_json": [NEWER]}))
        assert [c.kind for c in skipped.changes] == ["skip"]
        assert "not shown" in skipped.apply().reason.item()
        plan = client.flows.plan(client.flows.frame().assign(flow_json=[NEWER]))
        [change] = plan.changes
        assert (change.before, change.undo) == ({}, "never")
        with pytest.raises(chatkit.errors.PlanRefused, match=r"irreversible=True"):
            plan.apply()
        assert states(plan.apply(irreversible=True)) == ["applied"]
        assert active(sandbox, "flows")[key]["flow_json"]["version"] == "7.2"


def test_what_can_be_undone_only_with_loss_is_marked_before(sandbox, client):
    key = flow(sandbox)
    with middleware_of(sandbox).transaction() as service:
        service.flows.set_status(key, sandbox.account_id, "PUBLISHED")
    frame = client.flows.frame()
    frame["flow_json"] = [NEWER]
    [change] = client.flows.plan(frame).changes
    assert change.undo == "not exactly" and "DRAFT" in change.loss


def test_a_name_that_would_be_split_otherwise_is_marked_before(tmp_path):
    path = tmp_path / "service.db"
    profile = chatkit.ServiceProfile(name_split="first_only")
    with chatkit.Sandbox(path, profile=profile) as sandbox:
        contacts(sandbox, 1, name="Mary Ann Lee")
    with chatkit.Sandbox(path) as sandbox, chatkit.connect(sandbox) as client:
        frame = client.contacts.frame()
        assert frame["first_name"].tolist() == ["Mary Ann Lee"]
        renamed = client.contacts.plan(frame.assign(name="Zoë"))
        moved = client.contacts.plan(frame.assign(number=number(9)))
        gone = client.contacts.plan(delete=frame)
        undo = [plan.changes[0].undo for plan in (renamed, moved, gone)]
        assert undo == ["not exactly", "exactly", "not exactly"]
        assert states(moved.apply()) == ["applied"]
        [after] = active(sandbox, "contacts").values()
        assert (after["first_name"], after["last_name"]) == ("Mary Ann Lee", None)
