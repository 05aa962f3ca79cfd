"""The resource of contacts, under every profile."""

import json

import msgspec
import pandas as pd
import pytest
from bent import Bent
from hypothesis import given
from hypothesis import strategies as st
from internals import quirks_of
from profiled import client, sandbox, scripted  # noqa: F401

import chatkit
from chatkit.api.answer import Envelope
from chatkit.api.call import Call
from chatkit.api.connection import Connection
from chatkit.api.throttle import AdaptiveThrottle
from chatkit.api.transport import Transport
from chatkit.contacts import ContactEndpoints
from chatkit.resource import get_endpoints

ANA = {"number": "2025550143", "country_code": "+1", "name": "Ana María de la Cruz"}
BO = {"number": "2025550144", "country_code": "+1", "name": "Bo"}


@pytest.mark.every_profile
def test_a_contact_is_created_read_changed_deleted_and_restored(sandbox, client):
    contacts = client.contacts
    assert contacts.frame().empty
    assert {"name", "number", "country_code", "tags"} <= set(contacts.frame().columns)
    ana, bo = contacts.create(**ANA), contacts.create(**{n: BO[n] for n in BO if n != "name"})
    assert (ana.number, ana.country_code, ana.name) == tuple(ANA.values())
    assert contacts.get(ana.id) == ana and bo.name is None
    assert "ref_id" in contacts.frame(full=True).columns
    with pytest.raises(chatkit.errors.Conflict, match="POST contacts"):
        contacts.create(**ANA)
    with pytest.raises(chatkit.errors.NotFound, match="GET contacts/404404"):
        contacts.get(404404)
    with pytest.raises(chatkit.errors.Refused):
        contacts.update(404404, name="Nobody")
    renamed = contacts.update(ana.id, name="Ana Cruz")
    assert (renamed.name, renamed.number, renamed.country_code) == (
        "Ana Cruz",
        *[*ANA.values()][:2],
    )
    moved = contacts.update(ana.id, number="2025550199")
    assert (moved.name, moved.number) == ("Ana Cruz", "2025550199")
    assert moved.first_name == renamed.first_name
    assert contacts.update(ana.id, name="").name is None
    ana = contacts.update(ana.id, **ANA)
    contacts.delete(ana.id)
    listed = set(contacts.frame().index)
    assert listed == ({ana.id, bo.id} if client.profile.inactive_in_lists else {bo.id})
    if "repeated_deletes" in quirks_of(sandbox):
        contacts.delete(ana.id)
    else:
        with pytest.raises(chatkit.errors.NotFound):
            contacts.delete(ana.id)
    restored = contacts.create(**ANA)
    assert (restored.id, restored.name) == (ana.id, ANA["name"])
    assert set(contacts.frame().index) == {ana.id, bo.id}


def test_the_frame_holds_every_contact_with_text_for_text(client):
    made = [client.contacts.create(**{**ANA, "number": f"20255501{n:02}"}) for n in range(23)]
    frame = client.contacts.frame()
    assert list(frame.index) == [c.id for c in made]
    assert list(frame.number) == [c.number for c in made]
    assert set(frame.name) == {ANA["name"]}
    assert {str(frame[c].dtype) for c in ("number", "country_code", "name", "meta_name")} == {"str"}
    assert str(frame.created_at.dtype) == "datetime64[us, UTC]"
    assert frame.index.dtype == "int64"


def test_a_long_reading_says_beforehand_how_long_it_takes(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(AdaptiveThrottle, "rate", property(lambda self: 0.02))
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as own:
        capsys.readouterr()
        assert len(own.contacts.frame(full=True)) == 250
        with pytest.warns(UserWarning, match="There is no content for w, x, y"):
            own.templates.frame(["order_ready", "w", "x", "y"])
        own.flows.frame()  # one page
        own.contacts.to_parquet(tmp_path)
    assert capsys.readouterr().out.splitlines() == [
        "Reading 250 contacts of the sandbox takes about 2 minutes: 2 more calls at 0.02 calls a "
        "second. The stop button ends it, and nothing is left of it; what "
        "client.contacts.to_parquet(folder) has read stays, and it goes on from there.",
        "Reading 250 contacts of the sandbox takes about 3 hours: 250 calls at 0.02 calls a "
        "second.",
        "Reading 4 templates takes about 3 minutes: 4 calls at 0.02 calls a second.",
        "Reading 250 contacts of the sandbox takes about 2 minutes: 2 more calls at 0.02 calls a "
        "second. The stop button ends it; called again, it goes on from there.",
    ]


def test_search_finds_name_and_number_literally(client):
    ana = client.contacts.create(**{**ANA, "name": "100% Ana_B"})
    client.contacts.create(**BO)
    if client.profile.search_param is None:
        with pytest.raises(chatkit.errors.InputError, match="search_param"):
            client.contacts.frame(search="ana")
        return
    for term in ("100%", "ANA_b", "5550143"):
        assert list(client.contacts.frame(search=term).index) == [ana.id]
    assert client.contacts.frame(search="%").index.to_list() == [ana.id]
    assert client.contacts.frame(search="anaxb").empty


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"number": 2025550143, "country_code": "+1"}, "number = 2025550143: must be text"),
        ({"number": "202 555", "country_code": "+1"}, "number = '202 555'"),
        ({"number": "2025550143", "country_code": "1"}, "country_code = '1'"),
        ({"country_code": "+1"}, "number: is required"),
        ({**ANA, "first_name": "Ana"}, "first_name = 'Ana': cannot be sent"),
    ],
)
def test_what_cannot_be_sent_is_refused_before_it_is_sent(fields, reason):
    with pytest.raises(chatkit.errors.InputError) as caught:
        scripted(lambda *_: (500, {})).contacts.create(**fields)
    assert reason in str(caught.value)


def test_every_problem_is_told_at_once():
    contacts = scripted(lambda *_: (500, {})).contacts
    with pytest.raises(chatkit.errors.InputError) as caught:
        contacts.create(number=1.5, country_code="", tags=[])
    assert {p.field for p in caught.value.problems} == {"number", "country_code", "tags"}
    with pytest.raises(chatkit.errors.InputError, match="pass one of number, country_code, name"):
        contacts.update(1)
    for key in ("seventeen", True):
        with pytest.raises(chatkit.errors.InputError, match="whole number"):
            contacts.get(key)


# --- what an undo would make of a contact -----------------------------------------------------


@pytest.mark.parametrize(
    ("split", "parts", "again"),
    [
        ("first_middle_last", ("Ana", None, "Cruz"), None),
        ("first_middle_last", ("Ana", "de la", "Cruz"), None),
        ("first_middle_last", ("Ana Maria", "", "Cruz"), ("Ana", "Maria", "Cruz")),
        ("first_middle_last", ("", "", "Cruz"), ("Cruz", "", "")),
        ("first_middle_last", ("Ana", "Cruz", ""), ("Ana", "", "Cruz")),
        ("first_middle_last", (None, None, None), None),
        ("first_last", ("Ana", "", "de la Cruz"), None),
        ("first_last", ("Ana", "de la", "Cruz"), ("Ana", "", "de la Cruz")),
        ("first_only", ("Ana Cruz", "", ""), None),
        ("first_only", ("Ana", "", "Cruz"), ("Ana Cruz", "", "")),
    ],
)
def test_a_name_that_is_sent_again_is_split_as_the_service_splits_it(split, parts, again):
    contacts = _contacts(name_split=split)
    fields = dict(zip(("first_name", "middle_name", "last_name"), parts, strict=True))
    assert contacts.split_name_again(fields) == again
    known = {"number": "2025550143", "country_code": "+1", "name": "Ana", **fields}
    for kind, after in (("delete", {}), ("update", {"name": "Bo"})):
        assert (contacts.undo(kind, known, after)[0] == "exactly") == (again is None)
    assert contacts.undo("update", known, {"country_code": "+44"})[0] == "exactly"


def test_a_replacing_update_repeats_the_name_and_may_split_it_otherwise():
    """Nobody edits the name: but the whole of it is sent with any other change."""
    known = {"number": "1", "country_code": "+1", "first_name": "Ana Maria", "last_name": "Cruz"}
    changed = {"country_code": "+44"}
    assert _contacts().undo("update", known, changed) == ("exactly", "")
    how, why = _contacts(put="replace").undo("update", known, changed)
    assert how == "not exactly" and "split" in why


@pytest.mark.parametrize(
    ("points", "target"),
    [
        ({}, "contacts/7"),
        ({"inactive_readable": True}, "contacts?search=2025550143&page=1&pageSize=100"),
        ({"inactive_readable": True, "inactive_in_lists": True}, "contacts/7"),
        ({"inactive_readable": True, "search_param": None}, "contacts/7"),
    ],
)
def test_a_deleted_contact_is_looked_for_where_it_can_be_told_from_others(points, target):
    contacts = _contacts(**points)
    assert contacts.make_existence_call(7, {"number": "2025550143"}).target == target
    assert contacts.make_existence_call(7, {}).target == "contacts/7"


def _contacts(**points):
    profile = chatkit.ServiceProfile(**points)
    made = Connection(base_url="http://localhost", account_id="1", token="x" * 20, profile=profile)
    return ContactEndpoints(Transport(made, handler=lambda *_: (500, {}, b"")))


def test_a_number_that_begins_with_its_country_code_is_shown_and_taken_without():
    profile = chatkit.ServiceProfile(number_form="international")

    def stored(account):
        rows = account.transport.send(Call("GET", ("contacts",))).data
        return [row["number"] for row in json.loads(bytes(rows))]

    with chatkit.connect(chatkit.Sandbox(seed="empty", profile=profile)) as account:
        contacts = account.contacts
        oliver = contacts.create(number="7700900000", country_code="+44", name="Oliver Smith")
        assert (oliver.number, stored(account)) == ("7700900000", ["447700900000"])
        rows = {"number": ["7700900000", "7700900000"], "country_code": ["+44", "+1"]}
        plan = contacts.plan(pd.DataFrame(rows))
        assert plan.counts == {"create": 1, "update": 0, "delete": 0}
        assert plan.apply().state.tolist() == ["applied"]
        assert stored(account) == ["447700900000", "17700900000"]
        frame = contacts.frame()
        assert frame["number"].tolist() == rows["number"]
        assert frame["number"].dtype == "str"
        assert not any(contacts.plan(frame).counts.values())
        frame.loc[oliver.id, "number"] = "7700900123"
        result = contacts.plan(frame).apply()
        assert stored(account)[0] == "447700900123"
        assert chatkit.undo(result).apply().state.tolist() == ["applied"]
        moved = contacts.update(oliver.id, country_code="+49")
        assert (moved.number, stored(account)[0]) == ("7700900000", "497700900000")
        assert contacts.update(oliver.id, name="Oli Smith").number == "7700900000"


@given(
    st.from_regex("[+][1-9][0-9]{0,2}", fullmatch=True),
    st.from_regex("[0-9]{1,12}", fullmatch=True),
)
def test_what_is_sent_with_its_country_code_comes_back_as_it_was(code, number):
    contacts = _contacts(number_form="international")
    body = contacts.create_call({"number": number, "country_code": code}).body
    assert body["number"] == code[1:] + number
    data = msgspec.Raw(json.dumps({"id": 7, **body}).encode())
    assert contacts.parse_record(contacts.get_call(7), data).number == number


def test_a_contact_without_a_country_code_is_shown_as_it_is():
    """No service should have one; a frame of all the others is worth more than an error."""

    def hide(exchange):
        if exchange.of("contacts", "list"):
            exchange.records[0]["country_code"] = None

    profile = chatkit.ServiceProfile(number_form="international")
    with chatkit.Sandbox(seed="empty", profile=profile) as box, chatkit.connect(box) as direct:
        direct.contacts.create(number="2025550143", country_code="+1", name="Ana")
        with chatkit.connect(Bent(box, after=hide)) as client:
            [number] = client.contacts.frame().number
    assert number == "12025550143"


def test_a_number_that_begins_like_its_country_code_is_left_as_it_is():
    """In national numbers those digits belong to the number."""
    output = {"id": 7, "country_code": "+1", "number": "1202555014"}
    assert scripted(lambda *_: (200, output)).contacts.get(7).number == "1202555014"
    international = scripted(lambda *_: (200, output), number_form="international")
    assert international.contacts.get(7).number == "202555014"
    for missing in ("country_code", "number"):
        record = {name: value for name, value in output.items() if name != missing}
        contacts = scripted(lambda *_, record=record: (200, record), number_form="international")
        contact = contacts.contacts.get(7)
        assert (contact.number, contact.country_code) == (
            record.get("number"), record.get("country_code"),
        )  # fmt: skip
        frame = get_endpoints(contacts.contacts).full([7])
        assert missing not in frame and frame.loc[7].to_dict().items() <= record.items()


def test_what_is_dialled_is_offered_as_the_two_fields_that_it_becomes():
    contacts = scripted(lambda *_: (500, {})).contacts
    for number, offer in {
        "+44 7911 123456": "write country_code='+44', number='7911123456'",
        "07911 123456": "leave out spaces and signs; the country code goes into country_code",
        "+999 12": "leave out spaces and signs; the country code goes into country_code",
        "12.03.2026": "it is a date, not a telephone number",
        "+1 (212) 555-0171 x5": "cannot be kept with a number; it may be +12125550171",
    }.items():
        with pytest.raises(chatkit.errors.InputError) as caught:
            contacts.create(number=number, country_code="+44")
        assert offer in str(caught.value)


# --- a number that somebody has -------------------------------------------------------------

LEE = {"id": 7, "number": "2025550143", "country_code": "+44", "first_name": "Lee"}
EVA = LEE | {"id": 8, "country_code": "+1", "first_name": None}
FAR = LEE | {"id": 6, "number": "2025550144"}
NOBODY = "client.contacts.frame() shows who has the number."


def holder(key, name="", code="+44"):
    return (
        f"Contact {key}{name} has {code} 2025550143: change that one with "
        f"client.contacts.update({key}, …), or update it by a plan: "
        'client.contacts.plan([{…}], existing="update").'
    )


@pytest.mark.parametrize(
    ("listed", "points", "advice"),
    [
        ([FAR, LEE, EVA], {}, holder(7, ", 'Lee',")),
        ([FAR, LEE, EVA], {"contact_key": "country_code_and_number"}, holder(8, code="+1")),
        ([FAR, LEE], {"contact_key": "country_code_and_number"}, NOBODY),
        ([FAR, EVA], {"search_param": None}, NOBODY),
        ([FAR], {"clash_status": 422}, NOBODY),
        (None, {}, NOBODY),
    ],
)
def test_a_number_that_is_taken_is_told_with_who_has_it(listed, points, advice):
    asked = []

    def script(method, path, body):
        if method != "GET":
            return 409, {"message": "no"}
        asked.append(path)
        return (500, {}) if listed is None else (200, listed)

    contacts = scripted(script, **points).contacts
    for call in (lambda: contacts.create(**ANA), lambda: contacts.update(9, **ANA)):
        asked.clear()
        with pytest.raises(chatkit.errors.Refused) as caught:
            call()
        assert str(caught.value).splitlines()[1:] == [advice]
        if points.get("search_param", "") is None:
            assert not asked
        else:
            assert asked[0] == "contacts?search=2025550143&page=1&pageSize=100"


@pytest.mark.parametrize(
    ("status", "clash", "report"), [(422, 422, True), (422, 409, False), (400, 422, False)]
)
def test_only_a_clash_is_told_with_who_has_the_number(status, clash, report):
    def script(method, path, body):
        return (200, [LEE]) if method == "GET" else (status, {"message": "no"})

    contacts = scripted(script, clash_status=clash).contacts
    with pytest.raises(chatkit.errors.Refused) as caught:
        contacts.create(**ANA)
    assert ("Contact 7" in str(caught.value)) is report
    with pytest.raises(chatkit.errors.Refused) as caught:  # nobody has taken a name
        contacts.update(9, name="Bo")
    assert "Contact 7" not in str(caught.value)


def test_a_refusal_of_which_nothing_is_known_keeps_what_is_said_of_its_kind():
    contacts = scripted(lambda *_: (403, {"message": "no"})).contacts
    with pytest.raises(chatkit.errors.NotPermitted) as caught:
        contacts.delete(7)
    assert str(caught.value).splitlines()[1:] == [chatkit.errors.NotPermitted.advice]


# --- one that was deleted -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "pages", "held"),
    [
        ([LEE], 1, True),
        ([EVA, LEE], 2, True),
        ([EVA], 1, False),
        ([], None, False),
        ([EVA], 2, None),  # it may be on the other page
    ],
)
def test_a_list_tells_whether_a_contact_is_active(rows, pages, held):
    contacts = _contacts(inactive_readable=True)
    call = contacts.make_existence_call(7, {"number": "2025550143"})
    more = pages and {"page": 1, "pageSize": 100, "totalCount": 1, "totalPages": pages}
    whole = {"success": True, "data": rows} | ({"pagination": more} if more else {})
    envelope = msgspec.json.decode(json.dumps(whole), type=Envelope)
    assert contacts.record_exists(call, envelope, 7) is held


def test_one_answer_tells_whether_a_contact_is_active_where_deleted_ones_are_not_found():
    envelope = msgspec.json.decode(json.dumps({"success": True, "data": LEE}), type=Envelope)
    for readable, held in ((False, True), (True, None)):
        contacts = _contacts(inactive_readable=readable, search_param=None)
        call = contacts.make_existence_call(7, LEE)
        assert contacts.record_exists(call, envelope, 7) is held
        with pytest.raises(chatkit.errors.BadAnswer, match="not about 8"):
            contacts.record_exists(call, envelope, 8)


# --- what an update is checked with ---------------------------------------------------------


def test_an_update_reads_the_half_of_a_number_that_it_does_not_send():
    asked = []

    def script(method, path, body):
        asked.append(method)
        return 200, LEE | {"country_code": "+1"}

    contacts = scripted(script).contacts
    with pytest.raises(chatkit.errors.InputError, match="too short"):
        contacts.update(7, number="12")  # of +1, as it is
    assert asked == ["GET"]
    asked.clear()
    with pytest.raises(chatkit.errors.InputError, match="digits only"):
        contacts.update(7, number="20 25")  # that is seen without reading anything
    assert asked == []
    contacts.update(7, name="Bo Li")
    assert asked == ["PUT", "GET"]


def test_who_may_not_read_a_contact_can_still_change_its_number():
    def script(method, path, body):
        return (403, {}) if method == "GET" else (200, {"id": 7})

    with pytest.warns(UserWarning, match="cannot be read back"):
        assert scripted(script).contacts.update(7, number="2025550143").id == 7
