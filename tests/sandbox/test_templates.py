"""Template contents: one text for each language of a template."""

import json

import pytest
from caller import Caller
from profiles import Service

from chatkit.sandbox import Sandbox
from chatkit.sandbox.templates import LANGUAGES

PATH = "/templates/greeting/contents"
FULL = {
    "lang_code": "en",
    "parameter_format": "TEXT",
    "text": "Hello {{1}}",
    "variables": {"1": "Ana"},
    "footer": "Bye",
    "is_draft": True,
    "is_catalog": True,
    "catalog_format": "x",
    "connected_catalog_id": 7,
    "is_catalog_connected": True,
    "is_custom_validity_period": True,
    "validity_period_seconds": 60,
    "auth_delivery_method": "copy_code",
    "auth_add_security_recommendation": True,
    "auth_add_code_expiration": True,
    "auth_code_expiration_seconds": 90,
    "auth_apps": [{"package_name": "a.b", "signature_hash": "c"}],
    "headers": [
        {"type": "image", "text": None, "text_variable": None, "parameter": {"a": 1},
         "link": "https://cdn.example/a.png", "file_name": "a.png"},
    ],
    "buttons": [
        {"type": "call_phone", "label": "Call", "value": "2025550143", "country_code": "+1",
         "url_type": None, "dynamic_url": None},
    ],
}  # fmt: skip


@pytest.fixture
def call():
    with Sandbox(seed="empty") as sandbox:
        yield Caller(sandbox)


def under(**points):
    return Caller(Service.of(**points).sandbox())


def test_a_full_content_is_read_back_equal(call):
    reply = call("POST", PATH, FULL)
    assert reply.status == 201
    content = dict(reply.data)
    assert isinstance(content.pop("id"), int)
    assert content == FULL
    assert call("GET", f"{PATH}/en").data == reply.data


def test_a_list_shows_four_fields(call):
    call("POST", PATH, FULL)
    call.content("de", text="Hallo")
    items = call("GET", PATH).data
    assert [list(item) for item in items] == [["id", "lang_code", "text", "is_draft"]] * 2
    assert [item["text"] for item in items] == ["Hello {{1}}", "Hallo"]
    assert "pagination" not in call("GET", PATH).json


def test_what_is_not_sent_has_a_plain_value(call):
    content = call.content().data
    assert set(content) == {"id", *FULL}
    assert (content["headers"], content["variables"], content["footer"]) == ([], {}, "")
    assert content["is_draft"] is False
    assert content["auth_apps"] is None


def test_headers_and_buttons_show_every_nullable_key(call):
    """The API document shows them as "string or null": null, not absent, when not sent."""
    header = {"type": "text", "text": None, "text_variable": None, "parameter": None,
              "link": None, "file_name": None}  # fmt: skip
    button = {"type": "custom", "label": "Yes", "value": None, "country_code": None,
              "url_type": None, "dynamic_url": None}  # fmt: skip
    sent = {"headers": [{"text": "Hi", "type": "text"}], "buttons": [{"type": "custom",
            "label": "Yes"}]}  # fmt: skip
    call("POST", PATH, {"lang_code": "en", "text": "Hello", **sent})
    assert list(call("GET", f"{PATH}/en").data["headers"][0]) == list(header)
    for change in ({}, {"headers": [{"type": "image", "link": "https://cdn.example/a.png"}]}):
        output = call("PUT", f"{PATH}/en", change).data
        assert output["headers"] == [header | (change or sent)["headers"][0]]
        assert output["buttons"] == [button]
        assert call("GET", f"{PATH}/en").data == output


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"text": None}, "text"),
        ({"variables": []}, "variables"),
        ({"variables": {"1": 2}}, "variables.1"),
        ({"variables": {"one": "x"}}, "variables"),
        ({"footer": None}, "footer"),
        ({"is_draft": "true"}, "is_draft"),
        ({"is_draft": 1}, "is_draft"),
        ({"validity_period_seconds": "60"}, "validity_period_seconds"),
        ({"validity_period_seconds": True}, "validity_period_seconds"),
        ({"connected_catalog_id": False}, "connected_catalog_id"),
        ({"auth_apps": [{"package_name": 1}]}, "auth_apps[0].package_name"),
        ({"headers": {}}, "headers"),
        ({"headers": ["text"]}, "headers[0]"),
        ({"headers": [{"type": "sound"}]}, "headers[0].type"),
        ({"headers": [{"type": "text"}, {"text": "x"}]}, "headers[1].type"),
        ({"buttons": [{"type": "CUSTOM"}]}, "buttons[0].type"),
        ({"buttons": [{"type": "custom", "label": None}]}, "buttons[0].label"),
        ({"lang_code": "en-US"}, "lang_code"),
        ({"lang_code": "xx"}, "lang_code"),
    ],
)
def test_a_body_that_breaks_a_rule_is_invalid_and_told_where(call, change, field):
    reply = call("POST", PATH, FULL | change)
    assert reply.status == 422
    assert [error["field"] for error in reply.json["errors"]] == [field]


def test_lengths_and_open_values_are_never_refused(call):
    change = {
        "text": "x" * 100_000,
        "footer": "x" * 1000,
        "parameter_format": "NAMED",
        "auth_delivery_method": "zero_tap",
        "buttons": [{"type": "custom", "label": "x" * 500}] * 40,
        "headers": [{"type": "text"}] * 3,
    }
    assert call("POST", PATH, FULL | change).status == 201


def test_naughty_texts_come_back_equal(call, shared):
    call.content()
    for text in json.loads((shared / "corpora/blns/blns.json").read_text()):
        call("PUT", f"{PATH}/en", {"text": text, "footer": text, "variables": {"1": text}})
        result = call("GET", f"{PATH}/en").data
        assert (result["text"], result["footer"], result["variables"]) == (text, text, {"1": text})


@pytest.mark.parametrize(
    ("point", "status"), [("conflict", 409), ("invalid", 422), ("replace", 201)]
)
def test_a_language_that_exists_is_as_the_profile_says(point, status):
    call = under(duplicate_content=point)
    first = call.content(text="one", footer="kept?").data
    reply = call.content(text="two")
    assert reply.status == status
    result = call("GET", f"{PATH}/en").data
    assert result["text"] == ("two" if point == "replace" else "one")
    assert result["footer"] == ("" if point == "replace" else "kept?")
    assert result["id"] == first["id"]
    assert len(call("GET", PATH).data) == 1


def test_a_language_can_be_made_again_after_its_deletion(call):
    first = call.content(footer="old").data["id"]
    assert call("DELETE", f"{PATH}/en").data is None
    assert call("DELETE", f"{PATH}/en").status == 404
    assert call("GET", f"{PATH}/en").status == 404
    again = call.content().data
    assert again["id"] > first
    assert again["footer"] == ""


def test_deleting_twice_succeeds_in_a_service_with_that_quirk():
    call = under(repeated_deletes=True)
    call.content()
    assert [call("DELETE", f"{PATH}/en").status for _ in range(2)] == [200, 200]
    assert call("DELETE", f"{PATH}/de").status == 404


def test_languages_and_templates_are_apart(call):
    call.content("en")
    call.content("en_US", text="Howdy")
    call.content("en", code="other", text="Other")
    assert call("GET", f"{PATH}/en_US").data["text"] == "Howdy"
    assert call("GET", f"{PATH}/en").data["text"] == "Hello"
    assert call("GET", "/templates/other/contents/en").data["text"] == "Other"
    assert call("GET", f"{PATH}/EN").status == 404
    assert call("GET", f"{PATH}/en-US").status == 404


def test_an_update_merges(call):
    call("POST", PATH, FULL)
    reply = call("PUT", f"{PATH}/en", {"footer": "x"})
    assert reply.status == 200
    assert {name: reply.data[name] for name in FULL} == FULL | {"footer": "x"}


def test_a_replacing_update_clears_what_is_not_required():
    call = under(put="replace", content_requires=("lang_code", "text", "is_draft"))
    call("POST", PATH, FULL)
    content = call("PUT", f"{PATH}/en", {"footer": "x"}).data
    assert (content["footer"], content["buttons"]) == ("x", [])
    assert (content["text"], content["is_draft"]) == (FULL["text"], True)


def test_an_update_requires_what_the_profile_says():
    call = under(put_requires="create_fields")
    call.content()
    assert call("PUT", f"{PATH}/en", {"footer": "x"}).status == 422
    assert call("PUT", f"{PATH}/en", {"lang_code": "en", "text": "x"}).status == 200


def test_required_fields_are_the_profile_s():
    call = under(content_requires=("lang_code", "text", "footer"))
    reply = call("POST", PATH, {})
    fields = [error["field"] for error in reply.json["errors"]]
    assert fields == ["lang_code", "text", "footer"]
    assert under(content_requires=("lang_code",))("POST", PATH, {"lang_code": "en"}).status == 201


def test_a_body_of_another_language_than_its_path_is_refused(call):
    call.content()
    assert call("PUT", f"{PATH}/en", {"lang_code": "de", "text": "x"}).status == 409
    assert call("GET", f"{PATH}/en").data["lang_code"] == "en"
    assert call("GET", f"{PATH}/de").status == 404


def test_unknown_languages_are_accepted_if_the_profile_says_so():
    call = under(unknown_language="accept")
    assert call.content("tlh_QO").status == 201
    assert call("GET", f"{PATH}/tlh_QO").status == 200
    for unusual in ("", ".", "..", "/"):
        assert call.content(unusual).status == 422


def test_search_is_literal_over_text_and_language(call):
    call.content("en", text="100% Off_er ß")
    call.content("de", text="Angebot")
    for term, result in (("off_", ["en"]), ("ffxer", []), ("100%25 o", ["en"]), ("SS", ["en"]),
                        ("DE", ["de"]), ("o", ["en", "de"]), ("", ["en", "de"])):  # fmt: skip
        codes = [item["lang_code"] for item in call("GET", f"{PATH}?search={term}").data]
        assert codes == result, term


def test_an_unknown_template_is_empty_or_not_found(call):
    assert call("GET", PATH).data == []
    assert call("GET", f"{PATH}/en").status == 404
    strict = under(unknown_template_404=True)
    assert strict("GET", PATH).status == 404
    assert strict("GET", f"{PATH}/lookups/languages").status == 404
    strict.content()
    assert len(strict("GET", PATH).data) == 1
    assert strict("GET", f"{PATH}/lookups/languages").status == 200


def test_the_lookup_names_all_languages(call):
    result = call("GET", f"{PATH}/lookups/languages").data
    assert [(item["code"], item["label"]) for item in result] == list(LANGUAGES.items())
    for code in LANGUAGES:
        assert call.content(code).status == 201


def test_unknown_fields_are_ignored_or_refused_at_every_depth(call):
    body = FULL | {"x": 1}
    assert "x" not in call("POST", PATH, body).data
    strict = under(unknown_fields="refuse")
    deep = FULL | {"headers": [{"type": "text", "x": 1}]}
    assert strict("POST", PATH, body).json["errors"][0]["field"] == "x"
    assert strict("POST", PATH, deep).json["errors"][0]["field"] == "headers[0].x"
    assert strict("POST", PATH, FULL).status == 201
