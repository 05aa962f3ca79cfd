"""The check of contents and the oracle agree: two readings of the platform's rules.

They may word, place and code a fault differently; whether the platform would refuse a content
they must agree on. Before that, rule after rule is broken in a sound content: the oracle finds it.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.contents import check_content

import chatkit
from chatkit import Sandbox
from chatkit.localization import audit

SOUND: dict[str, Any] = {
    "lang_code": "en",
    "text": "Hello {{1}}, your bike is ready since {{2}}.",
    "variables": {"1": "Ana", "2": "Monday"},
    "footer": "Spoke & Sons",
    "headers": [{"type": "text", "text": "Good news"}],
    "buttons": [
        {"type": "custom", "label": "Thanks"},
        {"type": "call_phone", "label": "Call", "value": "2079460100", "country_code": "+44"},
    ],
}
TEMPLATES = json.loads((Path(chatkit.__file__).parent / "sandbox/demo/templates.json").read_bytes())
LINK = {"type": "visit_website", "label": "See", "value": "https://bikes.example/{{1}}"}
CUSTOM = {"type": "custom", "label": "x"}
CODE = {"type": "copy_offer_code", "label": "Copy", "value": "SPRING"}
APP = {"package_name": "example.bikes.app", "signature_hash": "AbCdEfGhI+/"}
AUTH = {"auth_delivery_method": "copy_code", "headers": [], "buttons": []}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def findings(severity: str = "error", **change: object) -> list[tuple[str, str]]:
    result = check_content(SOUND | change)
    return [(one.code, one.pointer) for one in result if one.severity == severity]


def test_a_sound_content_has_no_findings() -> None:
    assert check_content(SOUND) == []


@pytest.mark.parametrize(
    ("change", "code", "pointer"),
    [
        ({"text": None}, "2388072", "/text"),
        ({"text": " ", "variables": {}}, "2388072", "/text"),
        ({"text": "Hello {{2}}."}, "2388072", "/text"),
        ({"text": "Hello {{name}}."}, "2388072", "/text"),
        ({"text": "{{1}} and {{2}}."}, "2388299", "/text"),
        ({"text": "See {{1}} and {{2}}"}, "2388299", "/text"),
        ({"text": "See {{1}} {{2}} there."}, "INVALID_FORMAT", "/text"),
        ({"variables": {"1": "Ana"}}, "INVALID_FORMAT", "/variables/2"),
        ({"variables": {"1": "Ana", "2": " "}}, "INVALID_FORMAT", "/variables/2"),
        ({"footer": "By {{1}}."}, "2388073", "/footer"),
        ({"headers": [{"type": "text", "text": "A"}] * 2}, "2388047", "/headers"),
        ({"headers": [{"type": "poem"}]}, "2388047", "/headers/0"),
        ({"headers": [{"type": "image", "link": None}]}, "2388047", "/headers/0/link"),
        (
            {"headers": [{"type": "text", "text": "Hi {{1}}"}]},
            "2388047",
            "/headers/0/text_variable",
        ),
        ({"buttons": [CUSTOM] * 11}, "INVALID_FORMAT", "/buttons"),
        ({"buttons": [CUSTOM, CODE, CUSTOM]}, "INVALID_FORMAT", "/buttons"),
        ({"buttons": [CODE, CODE]}, "INVALID_FORMAT", "/buttons"),
        (
            {"buttons": [{"type": "view_catalog", "label": "x"}, CUSTOM]},
            "INVALID_FORMAT",
            "/buttons",
        ),
        ({"buttons": [LINK]}, "INVALID_FORMAT", "/buttons/0/dynamic_url"),
        (
            {"buttons": [{**LINK, "value": "https://a.example/{{1}}/b", "dynamic_url": "x"}]},
            "INVALID_FORMAT",
            "/buttons/0/value",
        ),
        ({**AUTH, "headers": [{"type": "text", "text": "x"}]}, "INVALID_FORMAT", "/headers"),
        (
            {**AUTH, "auth_add_code_expiration": True, "auth_code_expiration_seconds": 30},
            "INVALID_FORMAT",
            "/auth_code_expiration_seconds",
        ),
        ({**AUTH, "auth_delivery_method": "one_tap"}, "INVALID_FORMAT", "/auth_apps"),
        ({**AUTH, "auth_apps": [APP] * 6}, "INVALID_FORMAT", "/auth_apps"),
        (
            {**AUTH, "auth_apps": [{**APP, "package_name": "bikes"}]},
            "INVALID_FORMAT",
            "/auth_apps/0/package_name",
        ),
        (
            {**AUTH, "auth_apps": [{**APP, "signature_hash": "short"}]},
            "INVALID_FORMAT",
            "/auth_apps/0/signature_hash",
        ),
    ],
)
def test_a_broken_rule(change: dict[str, Any], code: str, pointer: str) -> None:
    assert (code, pointer) in findings(**change)


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"text": "x" * 1025, "variables": {}}, "/text"),
        ({"footer": "x" * 61}, "/footer"),
        ({"headers": [{"type": "text", "text": "x" * 61}]}, "/headers/0/text"),
        ({"buttons": [{"type": "custom", "label": "x" * 26}]}, "/buttons/0/label"),
        ({"buttons": [{**CODE, "value": "x" * 16}]}, "/buttons/0/value"),
    ],
)
def test_a_text_that_is_too_long_is_refused(change: dict[str, Any], pointer: str) -> None:
    assert findings(**change) == [("2388040", pointer)]


def test_a_validity_that_no_category_allows_is_refused() -> None:
    late = {"is_custom_validity_period": True, "validity_period_seconds": 5}
    assert findings(**late) == [("INVALID_FORMAT", "/validity_period_seconds")]
    assert findings(**late | {"validity_period_seconds": -1}) == []


def test_a_number_without_its_country_code_is_a_warning() -> None:
    call = {"type": "call_phone", "label": "x", "value": "1"}
    report = [("INVALID_FORMAT", "/buttons/0/country_code")]
    assert (findings(buttons=[call]), findings("warning", buttons=[call])) == ([], report)


def test_a_sample_without_a_placeholder_is_a_warning() -> None:
    spare = SOUND["variables"] | {"3": "x"}
    assert findings("warning", variables=spare) == [("INVALID_FORMAT", "/variables/3")]


def test_an_authentication_content_with_an_app_is_fine() -> None:
    assert findings(**AUTH, auth_apps=[APP]) == []


@given(JSON)
def test_any_json_is_checked_without_an_exception(content: object) -> None:
    check_content(content)


@given(st.dictionaries(st.sampled_from([*SOUND, *AUTH, "auth_apps"]), JSON))
def test_any_values_of_its_fields_are_checked_without_an_exception(change: dict[str, Any]) -> None:
    check_content(SOUND | change)


# --- the oracle and the check -----------------------------------------------------------------


def refused(content: dict[str, Any]) -> tuple[bool, bool]:
    """Return whether both the check and the oracle expect the platform to refuse a content."""
    ours = any(each.refused for each in audit.check_content(content))
    return ours, any(each.severity == "error" for each in check_content(content))


def test_check_and_oracle_agree_on_every_content_of_the_demo() -> None:
    apart, seen = {}, set()
    with Sandbox(seed="demo") as sandbox:
        for code in TEMPLATES:
            table = sandbox._service.templates.table
            for row in table.select_records(f"{sandbox.account_id}/{code}"):
                ours, others = refused(json.loads(row.full_text))
                seen.add(ours)
                if ours != others:
                    apart[code, row.key] = ours, others
    assert apart == {}
    assert seen == {True, False}


PIECES = st.sampled_from(
    ["Hello", " ", "{{1}}", "{{2}}", "{{3}}", "{{x}}", "{", "}}", "{{", "{1}", ".", "www.a.example",
     "https://a.example/", "x" * 50, "x" * 1000, "\n"]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=6).map("".join)
LABELS = st.sampled_from(["Go", "Stop", "", " ", "{{1}}", "x" * 26])
ADDRESSES = st.sampled_from(
    ["https://a.example/", "https://a.example/{{1}}", "https://a.example/{{1}}/b", "nowhere", "",
     "https://a.example/{{2}}", "https://a.example/{{1}}{{2}}", "x" * 2001]
)  # fmt: skip
SAMPLES = st.none() | st.just("sample")
SECONDS = st.sampled_from([None, -1, 5, 30, 60, 900, 901, 5400, 5401, 2_592_000, 2_592_001])
HEADERS = st.one_of(
    st.builds(dict, type=st.just("text"), text=TEXTS, text_variable=SAMPLES, parameter=SAMPLES),
    st.builds(dict, type=st.just("image"), link=st.none() | ADDRESSES, parameter=SAMPLES),
)
BUTTONS = st.one_of(
    st.builds(dict, type=st.just("custom"), label=LABELS),
    st.builds(
        dict, type=st.just("visit_website"), label=LABELS, value=ADDRESSES, dynamic_url=SAMPLES
    ),
    st.builds(
        dict,
        type=st.just("call_phone"),
        label=LABELS,
        value=st.sampled_from(["2079460100", "1" * 21]),
        country_code=st.sampled_from(["+44", None]),
    ),
    st.builds(
        dict,
        type=st.just("copy_offer_code"),
        value=st.sampled_from(["SPRING", "", " ", "x" * 16]),
    ),
    st.just({"type": "view_catalog"}),
)
APPS = st.builds(
    dict,
    package_name=st.sampled_from(["example.bikes.app", "bikes", "a.b-c"]),
    signature_hash=st.sampled_from(["AbCdEfGhI+/", "short"]),
)
#: Values of the right type for each field.
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "text": TEXTS,
    "variables": st.dictionaries(
        st.sampled_from(["1", "2", "3", "x"]), st.sampled_from(["Ana", " ", ""])
    ),
    "footer": st.sampled_from(["", "Larkspur", "By {{1}}", "x" * 61]),
    "is_catalog": st.booleans(),
    "is_custom_validity_period": st.booleans(),
    "validity_period_seconds": SECONDS,
    "auth_delivery_method": st.sampled_from([None, None, "copy_code", "one_tap", "zero_tap"]),
    "auth_add_code_expiration": st.booleans(),
    "auth_code_expiration_seconds": SECONDS,
    "auth_apps": st.none() | st.lists(APPS, max_size=6),
    "headers": st.lists(HEADERS, max_size=2),
    "buttons": st.lists(BUTTONS, max_size=4),
}
#: One or two fields of a sound content are replaced: with more something is wrong each time.
CHANGES = st.lists(st.sampled_from([*FIELDS]), min_size=1, max_size=2, unique=True).flatmap(
    lambda names: st.fixed_dictionaries({name: FIELDS[name] for name in names})
)
SAMPLED = SOUND | {
    "variables": {"1": "Ana", "2": "Monday", "3": "noon"},
    "validity_period_seconds": None,
    "auth_code_expiration_seconds": None,
    "auth_apps": None,
}


@given(CHANGES, st.booleans())
def test_check_and_oracle_agree_on_what_is_changed_in_a_sound_content(
    change: dict[str, Any], codes: bool
) -> None:
    content = (SAMPLED | (AUTH if codes else {})) | change
    ours, others = refused(content)
    assert ours == others, (audit.check_content(content), check_content(content))


@given(st.dictionaries(st.sampled_from([*SOUND, *AUTH, "auth_apps"]), JSON))
def test_the_check_takes_any_values_without_an_exception(change: dict[str, Any]) -> None:
    audit.check_content(SOUND | change)
