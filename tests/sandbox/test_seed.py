"""The demo seed: what is in it, that it is invented, and that it is the same every time."""

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from caller import Caller
from internals import service_of

from chatkit.flowjson.lint import lint
from chatkit.localization.audit import check_content
from chatkit.profile import ServiceProfile
from chatkit.sandbox import Sandbox
from chatkit.sandbox.templates import LANGUAGES

TEMPLATES = (
    *("order_ready", "rental_reminder", "appointment_confirmed"),
    *("spring_offer", "login_code", "review_request"),
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


@pytest.fixture(scope="module")
def demo() -> Iterator[Caller]:
    with Sandbox(seed="demo") as sandbox:
        yield Caller(sandbox)


@pytest.fixture(scope="module")
def contacts(demo: Caller) -> list[dict[str, Any]]:
    pages = [demo("GET", f"/contacts?pageSize=100&page={page}").data for page in (1, 2, 3)]
    return [contact for page in pages for contact in page]


@pytest.fixture(scope="module")
def contents(demo: Caller) -> dict[tuple[str, str], dict[str, Any]]:
    """All contents, by template code and language."""
    return {
        (code, lang): demo("GET", f"/templates/{code}/contents/{lang}").data
        for code in TEMPLATES
        for lang in [item["lang_code"] for item in demo("GET", f"/templates/{code}/contents").data]
    }


# --- how a sandbox is filled ----------------------------------------------------------


@pytest.mark.parametrize("anew", [False, True], ids=["copied", "filled anew"])
def test_the_same_seed_gives_the_same_bytes(
    demo: Caller, contents: dict[tuple[str, str], Any], anew: bool
) -> None:
    paths = [f"/contacts?pageSize=100&page={page}" for page in (1, 2, 3)]
    paths += ["/flows", "/webhooks", *(f"/flows/{flow}" for flow in range(301, 306))]
    paths += [f"/templates/{code}/contents" for code in TEMPLATES]
    paths += [f"/templates/{code}/contents/{lang_code}" for code, lang_code in contents]
    with Sandbox(seed="demo") as again:
        if anew:
            again.reset()
        assert again.token == demo.sandbox.token
        for path in paths:
            reply = Caller(again)("GET", path)
            assert reply == demo("GET", path)
            assert reply.status == 200


def test_later_writes_are_the_same_whether_the_seed_was_copied_or_filled_anew() -> None:
    written = []
    for anew in (False, True):
        with Sandbox(seed="demo") as sandbox:
            if anew:
                sandbox.reset()
            answer = Caller(sandbox).webhook("https://hooks.example/in").body
            token = sandbox.make_token("Chat Contacts, View")
            written.append((answer, token, service_of(sandbox).clock.now()))
    assert written[0] == written[1]
    assert b"webhook_secret" in written[0][0]


def test_two_demos_of_one_process_share_no_write_and_only_an_empty_file_is_filled(
    tmp_path: Path,
) -> None:
    with Sandbox(seed="demo") as one, Sandbox(seed="demo") as other:
        assert Caller(one)("DELETE", "/contacts/50001").status == 200
        with Sandbox(seed="demo") as later:
            for each in (other, later):
                assert Caller(each)("GET", "/contacts").total == 250
    with Sandbox(tmp_path / "a.db") as empty:
        Caller(empty).contact("2125550100")
    Sandbox(tmp_path / "new.db", seed="demo").close()
    for name, seed, total in (("a.db", "demo", 1), ("new.db", None, 250)):
        with Sandbox(tmp_path / name, seed=seed) as sandbox:
            assert Caller(sandbox)("GET", "/contacts").total == total


@pytest.mark.one_of(4)
@pytest.mark.parametrize("change", [*OTHER_VALUES, NEEDY], ids=str)
def test_the_seed_fits_under_every_profile(change: dict[str, Any]) -> None:
    with Sandbox(seed="demo", profile=ServiceProfile(**change)) as sandbox:
        service = service_of(sandbox)
        tables = (service.contacts.table, service.flows.table, service.webhooks.table)
        assert [len(table.select_records(sandbox.account_id)) for table in tables] == [250, 5, 3]


# --- what is in it --------------------------------------------------------------------


def test_one_flow_is_published_and_one_broken(demo: Caller) -> None:
    flows = demo("GET", "/flows").data
    assert [flow["wa_status"] for flow in flows].count("PUBLISHED") == 1
    findings = [
        [
            finding.severity
            for finding in lint(demo("GET", f"/flows/{flow['id']}").data["flow_json"])
            if finding.severity != "note"
        ]
        for flow in flows
    ]
    assert findings[:-1] == [[]] * 4
    assert findings[-1].count("error") > 5


def test_six_templates_in_up_to_eight_languages_have_drafts_and_flaws(
    contents: dict[tuple[str, str], dict[str, Any]],
) -> None:
    languages = {code: [lang for each, lang in contents if each == code] for code in TEMPLATES}
    assert all("en" in each and set(LANGUAGES).issuperset(each) for each in languages.values())
    assert sorted(map(len, languages.values())) == [4, 4, 4, 4, 6, 8]
    assert sum(content["is_draft"] for content in contents.values()) == 4
    flawed = [
        key
        for key, content in contents.items()
        if any(finding.severity != "note" for finding in check_content(content))
    ]
    assert flawed == [
        ("rental_reminder", "fr"),
        ("appointment_confirmed", "de"),
        ("spring_offer", "es"),
        ("login_code", "pt_BR"),
        ("review_request", "ja"),
    ]
    methods = {key: content["auth_delivery_method"] for key, content in contents.items()}
    assert methods["login_code", "en"] == "copy_code"
    assert methods["order_ready", "en"] is None


def test_every_number_is_reserved_for_fiction_and_of_one_contact(
    contacts: list[dict[str, Any]],
) -> None:
    with Sandbox(seed="demo", profile=ServiceProfile(inactive_in_lists=True)) as all_listed:
        assert Caller(all_listed)("GET", "/contacts").total == 256, "six are inactive"
    assert len({contact["number"] for contact in contacts}) == len(contacts) == 250
    for contact in contacts:
        assert FICTION.fullmatch(f"{contact['country_code']} {contact['number']}")
    assert len({contact["country_code"] for contact in contacts}) == 7
    tags = [contact["tags"] for contact in contacts]
    assert {len(some) for some in tags} == {0, 1, 2}
    assert len({tag for some in tags for tag in some}) == 5


def test_names_are_of_many_scripts_and_each_of_one_contact(contacts: list[dict[str, Any]]) -> None:
    parts = ("first_name", "middle_name", "last_name")
    names = [" ".join(contact[part] for part in parts if contact[part]) for contact in contacts]
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


def test_three_webhooks_have_example_addresses_and_one_is_inactive(demo: Caller) -> None:
    webhooks = demo("GET", "/webhooks").data
    assert [webhook["is_active"] for webhook in webhooks] == [True, True, False]
    assert webhooks[0]["events"] == ["*"]
    assert all(re.match(r"https://[\w.-]+\.example/", webhook["url"]) for webhook in webhooks)
    assert webhooks[0]["last_delivery_status"] == "delivered"
