"""The numbers are those of the facts, and every code has a rule that names its source."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from chatkit.localization import checks
from chatkit.localization.checks import RULES, STRUCTURE, get_rule
from chatkit.localization.typography import CODES

PACKAGE = Path(checks.__file__).parent


@pytest.fixture
def facts(shared: Path):
    return json.loads((shared / "facts/template_rules.json").read_text())


def test_lengths_are_those_of_the_facts(facts):
    assert facts["body"]["max_chars"] == checks.TEXT_LIMIT
    assert facts["body"]["lto_max_chars"] == checks.OFFER_LIMIT
    assert facts["header"]["text"]["max_chars"] == checks.HEADER_LIMIT
    assert facts["footer"]["max_chars"] == checks.FOOTER_LIMIT
    assert facts["buttons"]["label_max_chars"] == checks.LABEL_LIMIT
    assert {
        "visit_website": facts["buttons"]["url"]["max_chars"],
        "call_phone": facts["buttons"]["phone_max_chars"],
        "copy_offer_code": facts["buttons"]["copy_code_sample_max_chars"],
    } == checks.VALUE_LIMITS


def test_buttons_are_those_of_the_facts(facts):
    assert facts["buttons"]["max_total"] == checks.MOST
    most = facts["buttons"]["per_type"]
    assert checks.TYPES["custom"] == most["quick_reply (our custom)"]
    assert checks.TYPES["visit_website"] == most["url (our visit_website)"]
    assert checks.TYPES["call_phone"] == most["phone (our call_phone)"]
    assert checks.TYPES["copy_offer_code"] == most["copy_code (our copy_offer_code)"]


def test_times_and_apps_are_those_of_the_facts(facts):
    minutes = facts["authentication"]["code_expiration_minutes"]
    assert (checks.EXPIRY.start, checks.EXPIRY.stop - 1) == (
        60 * minutes["min"],
        60 * minutes["max"],
    )
    assert facts["authentication"]["supported_apps"]["max"] == checks.APPS
    ttl = facts["ttl"]
    kinds = ("AUTHENTICATION", "UTILITY", "MARKETING")
    assert min(ttl[kind]["min"] for kind in kinds) == checks.VALIDITY.start
    assert max(ttl[kind]["max"] for kind in kinds) == checks.VALIDITY.stop - 1
    assert ttl["MARKETING"]["min"] == ttl["UTILITY"]["max"] == checks.MARKETING
    own = checks.AUTHENTICATION_VALIDITY
    assert (own.start, own.stop - 1) == (30, ttl["AUTHENTICATION"]["max"])


def test_every_message_belongs_to_a_check_and_every_check_has_its_message():
    texts = {
        node.value
        for path in PACKAGE.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    names = {
        code if name == "message" else f"{code}/{name}"
        for code, rule in RULES.items()
        for name in rule.messages
    }
    kinds = {name for code in CODES.values() for name in RULES[code].messages}
    marked = {f"{code}/{kind}" for code in CODES.values() for kind in kinds}
    assert names - texts - marked == {"validity category/short", "validity category/long"}
    assert marked <= names and kinds - {"break", "emoji"} <= texts
    assert {text for text in texts if text.partition("/")[0] in RULES and "/" in text} <= {
        *names,
        "validity category/",
    }


def test_only_what_the_api_document_states_is_an_error():
    errors = {code for code, rule in RULES.items() if rule.severity == "error"}
    assert errors == {"wrong type", "header type", "button type", "placeholder name"}
    assert {RULES[code].source for code in errors} == {"API document, Template content"}


def test_every_rule_names_a_source():
    assert all(len(rule.source) > 10 for rule in RULES.values())
    assert get_rule("garbled", "warning").source
    assert get_rule("half a character", "error").refused
    assert RULES.keys() >= STRUCTURE
