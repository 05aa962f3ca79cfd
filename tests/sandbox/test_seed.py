"""The demo seed: what is in it, that it is invented, and that it is the same every time."""

import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from internals import service_of

from chatkit.flowjson.lint import lint
from chatkit.localization.checks import check_content
from chatkit.profile import ServiceProfile
from chatkit.sandbox import Sandbox
from chatkit.sandbox.templates import LANGUAGES

ROOT = "/api/business/public/channels/chat/accounts/1001"
TEMPLATES = (
    "order_ready",
    "rental_reminder",
    "appointment_confirmed",
    "spring_offer",
    "login_code",
    "review_request",
)
# What the regulators keep free, as a number is written abroad.
FICTION = re.compile(
    r"\+1 \d{3}55501\d\d|\+44 (7700900|2079460)\d{3}|\+49 (3023125|4066969|8999998)\d{3}"
    r"|\+33 (19900|63998)\d{4}|\+353 2091\d{5}|\+46 7017406(0[5-9]|[1-9]\d)|\+61 49157\d{4}"
)
# Every other value of every open point, one at a time.
OTHER_VALUES = [
    {name: value}
    for name, field in ServiceProfile.model_fields.items()
    if get_origin(field.annotation) is Literal
    for value in get_args(field.annotation)
    if value != field.default
]
NEEDY = {"content_requires": ("lang_code", "text", "variables", "footer", "headers", "buttons")}


def get(sandbox: Sandbox, path: str) -> Any:
    headers = {"authorization": f"Bearer {sandbox.token}"}
    status, _, body = sandbox.answer("GET", ROOT + path, headers, b"")
    assert status == 200
    return json.loads(body)


def contacts(sandbox: Sandbox) -> list[dict[str, Any]]:
    pages = [get(sandbox, f"/contacts?pageSize=100&page={page}")["data"] for page in (1, 2, 3)]
    return [contact for page in pages for contact in page]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(seed="demo") as sandbox:
        yield sandbox


@pytest.mark.parametrize("anew", [False, True], ids=["taken over", "filled anew"])
def test_the_same_seed_gives_the_same_bytes(sandbox: Sandbox, anew: bool) -> None:
    paths = [f"{ROOT}/contacts?pageSize=100&page={page}" for page in (1, 2, 3)]
    paths += [f"{ROOT}/{resource}" for resource in ("flows", "webhooks")]
    paths += [f"{ROOT}/flows/{flow['id']}" for flow in get(sandbox, "/flows")["data"]]
    for code in TEMPLATES:
        paths.append(f"{ROOT}/templates/{code}/contents")
        paths += [
            f"{ROOT}/templates/{code}/contents/{content['lang_code']}"
            for content in get(sandbox, f"/templates/{code}/contents")["data"]
        ]
    with Sandbox(seed="demo") as again:
        if anew:
            again.reset()
        assert again.token == sandbox.token
        headers = {"authorization": f"Bearer {again.token}"}
        for path in paths:
            answer = again.answer("GET", path, headers, b"")
            assert answer == sandbox.answer("GET", path, headers, b"")
            assert answer[0] == 200


def test_what_is_written_next_is_the_same_whichever_way_it_was_filled() -> None:
    hook = json.dumps({"url": "https://hooks.example/in", "events": ["*"]}).encode()
    with Sandbox(seed="demo") as taken_over, Sandbox(seed="demo") as anew:
        anew.reset()
        written = []
        for each in (taken_over, anew):
            headers = {"authorization": f"Bearer {each.token}", "content-type": "application/json"}
            answer = each.answer("POST", f"{ROOT}/webhooks", headers, hook)
            token = each.make_token("Chat Contacts, View")
            written.append((answer, token, service_of(each).clock.now()))
        assert written[0] == written[1]
        assert written[0][0][0] == 201 and "webhook_secret" in json.loads(written[0][0][2])["data"]


def test_demos_of_one_process_share_nothing_that_is_written() -> None:
    with Sandbox(seed="demo") as one, Sandbox(seed="demo") as other:
        headers = {"authorization": f"Bearer {one.token}"}
        assert one.answer("DELETE", f"{ROOT}/contacts/50001", headers, b"")[0] < 300
        with Sandbox(seed="demo") as later:
            for each in (other, later):
                assert get(each, "/contacts")["pagination"]["totalCount"] == 250


def test_five_flows_one_published_and_one_broken(sandbox: Sandbox) -> None:
    flows = get(sandbox, "/flows")["data"]
    assert [flow["wa_status"] for flow in flows].count("PUBLISHED") == 1
    errors = [
        sum(finding.severity == "error" for finding in flow_findings(sandbox, flow["id"]))
        for flow in flows
    ]
    assert [count > 0 for count in errors] == [False, False, False, False, True]
    assert errors[-1] > 5


def test_the_sound_flows_have_no_warning_either(sandbox: Sandbox) -> None:
    for flow in get(sandbox, "/flows")["data"][:-1]:
        assert flow_findings(sandbox, flow["id"]) == [], flow["name"]


def flow_findings(sandbox: Sandbox, flow_id: int) -> list[Any]:
    document = get(sandbox, f"/flows/{flow_id}")["data"]["flow_json"]
    return [finding for finding in lint(document) if finding.severity != "note"]


def test_six_templates_in_up_to_eight_languages_with_gaps(sandbox: Sandbox) -> None:
    board = {
        code: [one["lang_code"] for one in get(sandbox, f"/templates/{code}/contents")["data"]]
        for code in TEMPLATES
    }
    known = set(LANGUAGES)
    assert all("en" in languages and known.issuperset(languages) for languages in board.values())
    assert sorted(len(languages) for languages in board.values()) == [4, 4, 4, 4, 6, 8]


def test_contents_have_drafts_and_a_few_flaws_to_find(sandbox: Sandbox) -> None:
    drafts, flawed = 0, []
    for code in TEMPLATES:
        for content in get(sandbox, f"/templates/{code}/contents")["data"]:
            drafts += content["is_draft"]
            lang_code = content["lang_code"]
            whole = get(sandbox, f"/templates/{code}/contents/{lang_code}")["data"]
            if any(finding.severity != "note" for finding in check_content(whole)):
                flawed.append((code, lang_code))
    assert drafts == 4
    assert flawed == [
        ("rental_reminder", "fr"),
        ("appointment_confirmed", "de"),
        ("spring_offer", "es"),
        ("login_code", "pt_BR"),
        ("review_request", "ja"),
    ]


def test_one_template_is_for_authentication(sandbox: Sandbox) -> None:
    content = get(sandbox, "/templates/login_code/contents/en")["data"]
    assert content["auth_delivery_method"] == "copy_code"
    assert (
        get(sandbox, "/templates/order_ready/contents/en")["data"]["auth_delivery_method"] is None
    )


def test_250_contacts_are_listed_and_six_more_are_inactive(sandbox: Sandbox) -> None:
    assert get(sandbox, "/contacts")["pagination"]["totalCount"] == 250
    with Sandbox(seed="demo", profile=ServiceProfile(inactive_in_lists=True)) as all_listed:
        assert get(all_listed, "/contacts")["pagination"]["totalCount"] == 256


def test_every_number_is_reserved_for_fiction_and_one_contacts_own(sandbox: Sandbox) -> None:
    result = contacts(sandbox)
    assert len({contact["number"] for contact in result}) == 250
    for contact in result:
        assert FICTION.fullmatch(f"{contact['country_code']} {contact['number']}")
    assert len({contact["country_code"] for contact in result}) == 7


def test_names_are_of_many_scripts_and_nobody_has_anothers(sandbox: Sandbox) -> None:
    parts = ("first_name", "middle_name", "last_name")
    names = [
        " ".join(contact[part] for part in parts if contact[part]) for contact in contacts(sandbox)
    ]
    named = [name for name in names if name]
    assert len(named) == len(set(named)) == 248
    scripts = {
        unicodedata.name(letter).split()[0] for name in named for letter in name if letter.isalpha()
    }
    expected = "LATIN ARABIC HEBREW DEVANAGARI TAMIL BENGALI CJK HIRAGANA HANGUL THAI CYRILLIC"
    assert scripts.issuperset([*expected.split(), "GREEK", "ETHIOPIC", "GEORGIAN", "ARMENIAN"])
    assert any(" " not in name and name.isascii() for name in named)
    assert max(len(name.split()) for name in named) > 6
    assert any("'" in name for name in named)
    assert any("🚲" in name for name in named)


def test_some_contacts_have_tags(sandbox: Sandbox) -> None:
    tags = [contact["tags"] for contact in contacts(sandbox)]
    assert {len(some) for some in tags} == {0, 1, 2}
    assert len({tag for some in tags for tag in some}) == 5


def test_three_webhooks_one_of_them_inactive(sandbox: Sandbox) -> None:
    webhooks = get(sandbox, "/webhooks")["data"]
    assert [webhook["is_active"] for webhook in webhooks] == [True, True, False]
    assert webhooks[0]["events"] == ["*"]
    assert all(re.match(r"https://[\w.-]+\.example/", webhook["url"]) for webhook in webhooks)
    assert webhooks[0]["last_delivery_status"] == "delivered"


@pytest.mark.one_of(4)
@pytest.mark.parametrize("change", [*OTHER_VALUES, NEEDY], ids=str)
def test_the_seed_fits_under_every_profile(change: dict[str, Any]) -> None:
    with Sandbox(seed="demo", profile=ServiceProfile(**change)) as sandbox:
        table = service_of(sandbox).contacts.table
        assert len(table.rows(sandbox.account_id)) == 250
        assert len(service_of(sandbox).flows.table.rows(sandbox.account_id)) == 5
        assert len(service_of(sandbox).webhooks.table.rows(sandbox.account_id)) == 3


def test_only_an_empty_file_is_filled(tmp_path: Path) -> None:
    file = tmp_path / "sandbox.db"
    with Sandbox(file) as empty:
        headers = {"authorization": f"Bearer {empty.token}", "content-type": "application/json"}
        body = json.dumps({"number": "2125550100", "country_code": "+1"}).encode()
        assert empty.answer("POST", f"{ROOT}/contacts", headers, body)[0] == 201
    with Sandbox(file, seed="demo") as kept:
        assert get(kept, "/contacts")["pagination"]["totalCount"] == 1
    with Sandbox(tmp_path / "new.db", seed="demo") as filled:
        assert get(filled, "/contacts")["pagination"]["totalCount"] == 250
