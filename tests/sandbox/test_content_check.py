"""Template contents: rule after rule broken in a sound one."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatkit.sandbox.content_check import check_content

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
    found = check_content(SOUND | change)
    return [(one.code, one.pointer) for one in found if one.severity == severity]


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
        (
            {"buttons": [{"type": "call_phone", "label": "x", "value": "1"}]},
            "INVALID_FORMAT",
            "/buttons/0/country_code",
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
def test_a_text_that_is_too_long_warns(change: dict[str, Any], pointer: str) -> None:
    assert ("2388040", pointer) in findings("warning", **change)
    assert findings(**change) == []


def test_what_depends_on_the_category_only_warns() -> None:
    late = {"is_custom_validity_period": True, "validity_period_seconds": 5}
    assert findings("warning", **late) == [("INVALID_FORMAT", "/validity_period_seconds")]
    assert findings("warning", **late | {"validity_period_seconds": -1}) == []


def test_a_sample_without_a_placeholder_is_a_warning() -> None:
    spare = SOUND["variables"] | {"3": "x"}
    assert findings("warning", variables=spare) == [("INVALID_FORMAT", "/variables/3")]


def test_an_authentication_content_with_an_app_is_fine() -> None:
    assert findings(**AUTH, auth_apps=[APP]) == []


@given(JSON)
def test_any_json_is_judged_without_an_exception(content: object) -> None:
    check_content(content)


@given(st.dictionaries(st.sampled_from([*SOUND, *AUTH, "auth_apps"]), JSON))
def test_any_values_of_its_fields_are_judged_without_an_exception(change: dict[str, Any]) -> None:
    check_content(SOUND | change)
