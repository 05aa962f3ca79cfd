"""Contacts: their rules, and how the open points change them."""

import threading

import pytest
from caller import Caller
from hypothesis import given, settings
from hypothesis import strategies as st
from internals import service_of
from profiles import Service

from chatkit.sandbox import Sandbox
from chatkit.sandbox.contacts import split_name

FIELDS = [
    "id", "first_name", "middle_name", "last_name", "meta_name", "number", "country_code",
    "wa_phone_id", "created_at", "updated_at", "created_by", "updated_by", "ai_mode", "tags",
]  # fmt: skip


@pytest.fixture
def call():
    with Sandbox(seed="empty") as sandbox:
        yield Caller(sandbox)


def under(**points):
    return Caller(Service.of(**points).sandbox())


def test_a_new_contact_has_all_fields_and_only_get_has_ref_id(call):
    reply = call("POST", "/contacts", {"number": "2025550143", "country_code": "+1", "name": "A"})
    assert (reply.status, list(reply.data)) == (201, ["id"])
    assert reply.json["message"]
    contact = call("GET", f"/contacts/{reply.data['id']}").data
    assert list(contact) == [*FIELDS, "ref_id"]
    (item,) = call("GET", "/contacts").data
    assert item == {name: contact[name] for name in FIELDS}
    assert item["ai_mode"] == "ai_paused"
    assert (item["tags"], item["meta_name"], contact["ref_id"]) == ([], None, None)
    assert item["wa_phone_id"].isdigit()
    assert item["created_by"] == item["updated_by"] == "Sandbox user"
    assert item["created_at"] == item["updated_at"]


def test_actors_are_the_token_s(call):
    ana, bo = (call.sandbox.make_token("Chat Contacts, Add", "Chat Contacts, Edit", actor=name)
               for name in ("Ana", "Bo"))  # fmt: skip
    body = {"number": "2025550143", "country_code": "+1"}
    contact = call("POST", "/contacts", body, token=ana).data["id"]
    call("PUT", f"/contacts/{contact}", {"name": "x"}, token=bo)
    result = call("GET", f"/contacts/{contact}").data
    assert (result["created_by"], result["updated_by"]) == ("Ana", "Bo")


@pytest.mark.parametrize(
    "sent", ["(202) 555-0143", " 2025550143\n", "+202.555.0143", "202\u202a5550143"]
)
def test_a_number_is_stored_as_digits(call, sent):
    contact = call.contact(sent)
    assert call("GET", f"/contacts/{contact}").data["number"] == "2025550143"


@pytest.mark.parametrize(
    "change",
    [
        {"number": None}, {"number": 2025550143}, {"number": ""}, {"number": "none"},
        {"number": "٢٠٢"}, {"country_code": None}, {"country_code": "1"}, {"country_code": "+"},
        {"country_code": "+1 "}, {"country_code": "+1\n"}, {"country_code": "++1"},
        {"country_code": 1}, {"name": 7},
        {"name": None}, {"name": ["A"]},
    ],
)  # fmt: skip
def test_a_body_that_breaks_a_rule_is_invalid_and_told_where(call, change):
    body = {"number": "2025550143", "country_code": "+1", "name": "A"} | change
    reply = call("POST", "/contacts", body)
    assert reply.status == 422
    assert [error["field"] for error in reply.json["errors"]] == list(change)
    contact = call.contact()
    assert call("PUT", f"/contacts/{contact}", change).status == 422


def test_number_and_country_code_are_required(call):
    reply = call("POST", "/contacts", {})
    assert [error["field"] for error in reply.json["errors"]] == ["number", "country_code"]


@pytest.mark.parametrize(
    ("name", "rule", "parts"),
    [
        ("Ana", "first_middle_last", ("Ana", None, None)),
        ("Ana Ruiz", "first_middle_last", ("Ana", None, "Ruiz")),
        ("Ana de la Ruiz", "first_middle_last", ("Ana", "de la", "Ruiz")),
        ("Ana de la Ruiz", "first_last", ("Ana", None, "de la Ruiz")),
        ("Ana de la Ruiz", "first_only", ("Ana de la Ruiz", None, None)),
        ("山田 太郎", "first_middle_last", ("山田", None, "太郎")),
    ],
)
def test_a_name_is_split_as_the_profile_says(name, rule, parts):
    call = under(name_split=rule)
    contact = call("GET", f"/contacts/{call.contact(name=name)}").data
    assert (contact["first_name"], contact["middle_name"], contact["last_name"]) == parts


@settings(deadline=None)
@given(
    st.text(st.sampled_from("ab \t\0é")),
    st.sampled_from(["first_middle_last", "first_last", "first_only"]),
)
def test_the_parts_of_a_name_joined_by_spaces_are_the_name(name, rule):
    parts = split_name(name, rule)
    assert " ".join(part for part in parts if part is not None) == name
    if rule == "first_middle_last" and len(name.split(" ")) == 3 and "" not in name.split(" "):
        assert list(parts) == name.split(" ")


def test_naughty_names_come_back_equal(call, shared):
    import json

    names = json.loads((shared / "corpora/blns/blns.json").read_text())
    for at, name in enumerate(names):
        contact = call("GET", f"/contacts/{call.contact(f'2025{at:06}', name=name)}").data
        parts = [contact[part] for part in ("first_name", "middle_name", "last_name")]
        assert " ".join(part for part in parts if part is not None) == name


def test_an_empty_name_clears_all_parts(call):
    contact = call.contact(name="Ana Ruiz")
    assert call("PUT", f"/contacts/{contact}", {"name": ""}).status == 200
    result = call("GET", f"/contacts/{contact}").data
    assert result["first_name"] is result["middle_name"] is result["last_name"] is None


def test_an_active_number_is_taken_whatever_the_country_code(call):
    call.contact()
    body = {"number": "202-555-0143", "country_code": "+44"}
    assert call("POST", "/contacts", body).status == 409
    by_both = under(contact_key="country_code_and_number")
    by_both.contact()
    assert by_both("POST", "/contacts", body).status == 201
    assert by_both("POST", "/contacts", body).status == 409


def test_country_code_and_number_are_not_run_together():
    call = under(contact_key="country_code_and_number")
    call.contact("2345", "+1")
    assert call.contact("345", "+12")


@pytest.mark.parametrize("put", ["merge", "replace"])
def test_a_name_of_null_is_refused_and_changes_nothing(put):
    """The document says that `name` is text: null is neither a name nor its absence."""
    call = under(put=put)
    contact = call.contact(name="Ana Ruiz")
    before = call("GET", f"/contacts/{contact}").data
    body = {"name": None, "number": "2025550144", "country_code": "+1"}
    assert call("PUT", f"/contacts/{contact}", body).status == 422
    assert call("GET", f"/contacts/{contact}").data == before


def test_an_update_into_a_taken_number_is_a_conflict(call):
    call.contact("2025550143")
    other = call.contact("2025550144")
    assert call("PUT", f"/contacts/{other}", {"number": "2025550143"}).status == 409
    assert call("PUT", f"/contacts/{other}", {"number": "2025550144", "name": "B"}).status == 200
    assert call("GET", f"/contacts/{other}").data["number"] == "2025550144"


def test_an_update_merges_and_moves_updated_at(call):
    contact = call.contact(name="Ana Ruiz")
    before = call("GET", f"/contacts/{contact}").data
    reply = call("PUT", f"/contacts/{contact}", {"number": "(202) 555-0144"})
    assert (reply.status, reply.data) == (200, {"id": contact})
    after = call("GET", f"/contacts/{contact}").data
    assert after.pop("updated_at") > before.pop("updated_at")
    assert after == before | {"number": "2025550144"}


def test_updated_at_stays_in_a_service_with_that_quirk():
    call = under(constant_updated_at=True)
    contact = call.contact()
    before = call("GET", f"/contacts/{contact}").data
    call("PUT", f"/contacts/{contact}", {"name": "B"})
    assert call("GET", f"/contacts/{contact}").data == before | {"first_name": "B"}


def test_a_replacing_update_clears_the_name_and_keeps_what_cannot_be_empty():
    call = under(put="replace")
    contact = call.contact(name="Ana Ruiz")
    call("PUT", f"/contacts/{contact}", {"country_code": "+44"})
    result = call("GET", f"/contacts/{contact}").data
    assert (result["first_name"], result["number"], result["country_code"]) == (
        None, "2025550143", "+44",
    )  # fmt: skip


def test_an_update_requires_what_the_profile_says():
    call = under(put_requires="create_fields")
    contact = call.contact()
    assert call("PUT", f"/contacts/{contact}", {"name": "B"}).status == 422
    body = {"name": "B", "number": "2025550143", "country_code": "+1"}
    assert call("PUT", f"/contacts/{contact}", body).status == 200


def test_a_deleted_contact_leaves_and_comes_back_when_created_again(call):
    contact = call.contact(name="Ana Ruiz")
    reply = call("DELETE", f"/contacts/{contact}")
    assert (reply.status, reply.data, reply.json["success"]) == (200, None, True)
    assert call("GET", "/contacts").data == []
    assert call("GET", "/contacts").total == 0
    assert call("GET", f"/contacts/{contact}").status == 404
    assert call("PUT", f"/contacts/{contact}", {"name": "B"}).status == 404
    assert call("DELETE", f"/contacts/{contact}").status == 404
    assert call.contact(code="+44") == contact
    result = call("GET", f"/contacts/{contact}").data
    assert (result["first_name"], result["last_name"], result["country_code"]) == (
        "Ana",
        "Ruiz",
        "+44",
    )
    assert result["updated_at"] > result["created_at"]
    assert call("GET", "/contacts").total == 1


def test_restoring_takes_the_name_that_is_sent(call):
    contact = call.contact(name="Ana Ruiz")
    call("DELETE", f"/contacts/{contact}")
    call.contact(name="Bo")
    assert call("GET", f"/contacts/{contact}").data["first_name"] == "Bo"


@pytest.mark.parametrize(("keeps", "tags"), [("everything", ["vip"]), ("nothing", [])])
def test_restoring_keeps_what_the_profile_says(keeps, tags):
    call = under(restore_keeps=keeps)
    contact = call.contact(name="Ana Ruiz")
    service_of(call.sandbox).contacts.set_readonly_fields(
        contact, "1001", tags=["vip"], ref_id="r-1"
    )
    before = call("GET", f"/contacts/{contact}").data
    assert (before["tags"], before["ref_id"]) == (["vip"], "r-1")
    call("DELETE", f"/contacts/{contact}")
    assert call.contact() == contact
    result = call("GET", f"/contacts/{contact}").data
    assert result["tags"] == tags
    assert result["first_name"] == ("Ana" if keeps == "everything" else None)
    assert result["ref_id"] == ("r-1" if keeps == "everything" else None)
    assert (result["created_at"] == before["created_at"]) == (keeps == "everything")


def test_the_newest_of_two_inactive_contacts_of_one_number_comes_back(call):
    first, second = call.contact("2025550143"), call.contact("2025550144")
    call("DELETE", f"/contacts/{first}")
    # The number is free now, so another contact may take it and be deleted with it.
    assert call("PUT", f"/contacts/{second}", {"number": "2025550143"}).status == 200
    call("DELETE", f"/contacts/{second}")
    assert call.contact("2025550143") == second
    call("PUT", f"/contacts/{second}", {"number": "2025550144"})
    assert call.contact("2025550143") == first


def test_deleting_twice_succeeds_in_a_service_with_that_quirk():
    call = under(repeated_deletes=True)
    contact = call.contact()
    assert [call("DELETE", f"/contacts/{contact}").status for _ in range(3)] == [200] * 3
    assert call("DELETE", f"/contacts/{contact + 1}").status == 404


def test_deleted_contacts_show_if_the_profile_says_so():
    call = under(inactive_in_lists=True, inactive_readable=True)
    contact, other = call.contact(name="Ana"), call.contact("2025550144")
    call("DELETE", f"/contacts/{contact}")
    assert [c["id"] for c in call("GET", "/contacts").data] == [contact, other]
    assert [c["id"] for c in call("GET", "/contacts?search=ana").data] == [contact]
    assert call("GET", f"/contacts/{contact}").status == 200
    assert call("PUT", f"/contacts/{contact}", {"name": "B"}).status == 404
    assert call.contact() == contact
    assert call("GET", "/contacts").total == 2


def test_unknown_fields_are_ignored_or_refused():
    body = {"number": "2025550143", "country_code": "+1", "tags": ["x"], "id": 7}
    ignoring, refusing = under(), under(unknown_fields="refuse")
    contact = ignoring("POST", "/contacts", body).data["id"]
    assert ignoring("GET", f"/contacts/{contact}").data["tags"] == []
    reply = refusing("POST", "/contacts", body)
    assert [error["field"] for error in reply.json["errors"]] == ["tags", "id"]


def test_search_is_by_the_profiles_parameter_or_not_at_all():
    call = under(search_param="q")
    call.contact(name="Ana")
    assert call("GET", "/contacts?q=zzz").total == 0
    assert call("GET", "/contacts?search=zzz").total == 1
    without = under(search_param=None)
    without.contact(name="Ana")
    assert without("GET", "/contacts?search=zzz").total == 1


def test_ids_are_text_in_a_service_with_that_quirk():
    call = under(text_ids=True)
    reply = call("POST", "/contacts", {"number": "2025550143", "country_code": "+1"})
    assert reply.data == {"id": "50001"}
    result = call("GET", "/contacts/50001").data
    assert result["id"] == "50001"
    assert call("PUT", "/contacts/50001", {"name": "B"}).data == {"id": "50001"}


def test_many_threads_creating_one_number_make_one_contact(call):
    statuses = []
    barrier = threading.Barrier(8)

    def create():
        barrier.wait()
        for at in range(20):
            body = {"number": f"20255501{at:02}", "country_code": "+1"}
            statuses.append((at, call("POST", "/contacts", body).status))

    threads = [threading.Thread(target=create) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for at in range(20):
        assert sorted(s for n, s in statuses if n == at) == [201] + [409] * 7
    assert call("GET", "/contacts").total == 20
