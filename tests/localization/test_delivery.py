from __future__ import annotations

import pytest
from localization.contents import audit, button, codes

AUTH = {"auth_delivery_method": "copy_code", "text": "Your code is {{1}}. Do not share it with us."}
AUTH |= {"variables": {"1": "481302"}}
APP = {"package_name": "com.example.shop", "signature_hash": "K8a/AINcGX7"}


def auth(**fields) -> set[str]:
    return codes(**AUTH, **fields)


@pytest.mark.parametrize("seconds", [60, 600, 5400])
def test_a_code_expires_after_1_to_90_minutes(seconds):
    assert auth(auth_add_code_expiration=True, auth_code_expiration_seconds=seconds) == set()


@pytest.mark.parametrize("seconds", [59, 5401, 0, -1, None])
def test_a_code_that_expires_too_soon_or_too_late_is_refused(seconds):
    (found,) = audit(**AUTH, auth_add_code_expiration=True, auth_code_expiration_seconds=seconds)
    assert (found.code, found.refused) == ("code expiry", True)


def test_whole_minutes_are_asked_for_in_a_note():
    (found,) = audit(**AUTH, auth_add_code_expiration=True, auth_code_expiration_seconds=90)
    assert (found.code, found.severity) == ("code expiry", "note")


def test_what_is_only_noted_is_not_refused():
    found = audit(**AUTH, auth_add_code_expiration=True, auth_code_expiration_seconds=90)
    assert [(one.code, one.refused) for one in found] == [("code expiry", False)]


def test_a_code_is_not_sent_with_a_catalog():
    assert "authentication" in auth(is_catalog=True)


def test_an_expiry_that_does_not_count_is_noted():
    assert auth(auth_code_expiration_seconds=600) == {"code expiry unused"}


def test_there_are_five_apps_at_most():
    assert auth(auth_apps=[APP] * 5) == set()
    assert auth(auth_apps=[APP] * 6) == {"app count"}


@pytest.mark.parametrize("method", ["one_tap", "zero_tap"])
def test_a_code_that_goes_into_an_app_needs_one(method):
    assert codes(**{**AUTH, "auth_delivery_method": method}, auth_apps=[]) == {"app count"}
    assert codes(**{**AUTH, "auth_delivery_method": method}, auth_apps=[APP]) == set()


@pytest.mark.parametrize("signature", ["", "K8a/AINcGX", "K8a/AINcGX77", "K8a/AINcGX!", None, 5])
def test_a_hash_has_11_characters(signature):
    (found,) = audit(**AUTH, auth_apps=[{**APP, "signature_hash": signature}])
    assert (found.code, found.field) == ("app", "auth_apps.0.signature_hash")


@pytest.mark.parametrize(
    "package", ["", "shop", "com.", "com.1x", "com.exa mple", "a." + "b" * 223]
)
def test_a_package_has_two_parts_that_begin_with_a_letter(package):
    (found,) = audit(**AUTH, auth_apps=[{**APP, "package_name": package}])
    assert (found.code, found.field) == ("app", "auth_apps.0.package_name")


@pytest.mark.parametrize(
    "fields",
    [
        {"headers": [{"type": "text", "text": "Code"}]},
        {"text": "Your code is {{1}}, see www.a.example for more of it."},
        {"text": "Your code is {{1}} 👍 and nobody is to see it."},
    ],
)
def test_an_authentication_content_takes_no_header_address_or_emoji(fields):
    assert codes(**{**AUTH, **fields}) == {"authentication"}


def validity(seconds, **fields) -> set[str]:
    return codes(is_custom_validity_period=True, validity_period_seconds=seconds, **fields)


@pytest.mark.parametrize("seconds", [29, 0, -2, 2_592_001, None])
def test_a_validity_that_no_category_allows_is_refused(seconds):
    assert validity(seconds) == {"validity"}


@pytest.mark.parametrize("seconds", [30, 43_199, 43_201, 2_592_000, -1])
def test_a_validity_that_only_some_categories_allow_is_noted(seconds):
    assert validity(seconds) == {"validity category"}


def test_a_validity_for_all_categories_is_good():
    assert validity(43_200) == set()


def test_an_authentication_content_is_valid_for_15_minutes_at_most():
    assert validity(900, **AUTH) == set()
    assert validity(901, **AUTH) == {"validity"}


def test_a_validity_that_does_not_count_is_noted():
    assert codes(validity_period_seconds=43_200) == {"validity unused"}


def test_a_catalog_and_its_button_belong_together():
    assert codes(is_catalog=True) == {"catalog"}
    assert codes(buttons=[button("view_catalog", None)]) == {"catalog"}
    assert codes(buttons=[button("view_catalog", None)], is_catalog=True) == set()


def test_settings_of_another_type_are_named_once():
    assert codes(is_custom_validity_period=True, validity_period_seconds="60") == {"wrong type"}
    assert auth(auth_code_expiration_seconds="60") == {"wrong type"}
