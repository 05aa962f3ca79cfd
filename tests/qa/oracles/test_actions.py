"""Actions: where they lead and what they carry."""

from typing import Any

from oracles.flows.document import check_flow

ACTION = "screens/0/layout/children/2/on-click-action"
AT = f"/{ACTION}"
ENDPOINT = [("data_api_version", "3.0"), ("routing_model", {"ASK": ["DONE"]})]
PHOTO = (
    "screens/0/layout/children/-",
    {"type": "PhotoPicker", "name": "photo", "label": "Photo"},
)


def test_a_payload_is_what_the_target_asks_for(errors: Any) -> None:
    code = "INVALID_NAVIGATE_ACTION_PAYLOAD"
    assert errors((f"{ACTION}/payload", {})) == [(code, f"{AT}/payload")]
    assert errors((f"{ACTION}/payload/more", "x")) == [(code, f"{AT}/payload/more")]
    assert errors((f"{ACTION}/payload/bike", True)) == [(code, f"{AT}/payload/bike")]
    assert errors((f"{ACTION}/payload/bike", "`${form.bike} '!'`")) == []
    assert errors((f"{ACTION}/payload", "DROP")) == [
        ("MISSING_NAVIGATION_ACTION_PAYLOAD", f"{AT}/payload")
    ]


def test_with_an_endpoint_a_gap_in_the_payload_is_a_warning(sound: dict[str, Any]) -> None:
    sound |= dict(ENDPOINT)
    del sound["screens"][0]["layout"]["children"][2]["on-click-action"]["payload"]
    assert [(one.code, one.severity) for one in check_flow(sound)] == [
        ("MISSING_NAVIGATION_ACTION_PAYLOAD", "warning")
    ]


def test_references_of_a_payload_must_exist(errors: Any) -> None:
    code, at = "INVALID_ON_CLICK_ACTION_PAYLOAD", f"{AT}/payload/bike"
    assert errors((f"{ACTION}/payload/bike", "${form.none}")) == [(code, at)]
    assert errors((f"{ACTION}/payload/bike", "${data.none}")) == [(code, at)]
    expression = (f"{ACTION}/payload/bike", "`${data.none} 'x'`")
    assert errors(expression) == [("INVALID_ACTION_PAYLOAD_PROPERTY", at)]
    assert errors(expression, ("version", "7.1")) == []


def test_pickers_do_not_travel_with_navigate(errors: Any) -> None:
    payload = "screens/0/layout/children/3/on-click-action/payload/bike"
    result = errors(PHOTO, (payload, "${form.photo}"))
    assert ("INVALID_ON_CLICK_ACTION_PAYLOAD", f"/{payload}") in result


def test_pickers_stand_alone_in_other_payloads(errors: Any) -> None:
    action = "screens/0/layout/children/3/on-click-action"
    sent = {"name": "data_exchange", "payload": {"photo": "${form.photo}"}}
    assert errors(*ENDPOINT, PHOTO, (action, sent)) == []
    sent["payload"] = {"photo": ["${form.photo}"]}
    assert errors(*ENDPOINT, PHOTO, (action, sent)) == [
        ("INVALID_ON_CLICK_ACTION_PAYLOAD", f"/{action}/payload/photo")
    ]


def test_several_files_in_a_complete_payload_are_a_warning(sound: dict[str, Any]) -> None:
    done = sound["screens"][1]["layout"]["children"]
    done.insert(0, {"type": "PhotoPicker", "name": "photo", "label": "Photo"})
    done[2]["on-click-action"]["payload"] = {"photo": "${form.photo}"}
    assert [(one.code, one.severity) for one in check_flow(sound)] == [
        ("INVALID_ON_CLICK_ACTION_PAYLOAD", "warning")
    ]
    done[0]["max-uploaded-photos"] = 1
    assert check_flow(sound) == []


def test_navigate_leads_to_another_screen(errors: Any) -> None:
    code = "INVALID_NAVIGATE_ACTION_NEXT_SCREEN_NAME"
    assert errors((f"{ACTION}/next/name", "NOWHERE")) == [(code, f"{AT}/next/name")]
    assert errors((f"{ACTION}/next/name", "ASK")) == [(code, f"{AT}/next/name")]
    assert errors((f"{ACTION}/next", "DROP")) == [("MISSING_REQUIRED_PROPERTY", f"{AT}/next")]
    assert errors((f"{ACTION}/next/type", "page")) == [("INVALID_ENUM_VALUE", f"{AT}/next/type")]


def test_complete_ends_only_a_terminal_screen_before_7_2(errors: Any) -> None:
    complete = (ACTION, {"name": "complete"})
    assert ("INVALID_COMPLETE_ACTION", AT) in errors(complete, ("version", "7.1"))
    assert "INVALID_COMPLETE_ACTION" not in dict(errors(complete))


def test_data_exchange_needs_an_endpoint(errors: Any) -> None:
    exchange = (ACTION, {"name": "data_exchange"})
    assert ("MISSING_REQUIRED_PROPERTY", "/data_api_version") in errors(exchange)
    assert errors(exchange, *ENDPOINT) == []


def test_update_data_changes_fields_of_its_own_screen(errors: Any) -> None:
    def update(**payload: object) -> list[tuple[str, str]]:
        action = {"name": "update_data", "payload": payload}
        choice = {
            "type": "Dropdown",
            "name": "size",
            "label": "Size",
            "data-source": [{"id": "s", "title": "S"}],
            "on-select-action": action,
        }
        return list(errors(("screens/0/layout/children/-", choice)))

    code = "INVALID_UPDATE_DATA_ACTION_PAYLOAD"
    at = "/screens/0/layout/children/0/on-select-action/payload"
    assert update(greeting="Hi") == []
    assert update(farewell="Bye") == [(code, f"{at}/farewell")]
    assert update(greeting=5) == [(code, f"{at}/greeting")]
    assert update(greeting="${data.greeting}") == [(code, f"{at}/greeting")]


def test_update_data_stands_on_the_component_or_on_its_items(errors: Any) -> None:
    action = {"name": "update_data", "payload": {"greeting": "Hi"}}
    choice = {
        "type": "Dropdown",
        "name": "size",
        "label": "Size",
        "data-source": [{"id": "s", "title": "S", "on-select-action": action}],
        "on-unselect-action": action,
    }
    assert errors(("screens/0/layout/children/-", choice)) == [
        ("DUPLICATE_PROPETY_FOR_CONDITION", "/screens/0/layout/children/0")
    ]


def test_a_terminal_footer_ends_the_flow(errors: Any) -> None:
    action = "screens/1/layout/children/1/on-click-action"
    assert errors((action, {"name": "data_exchange"}), *ENDPOINT) == []
    assert ("INVALID_PROPERTY_VALUE", f"/{action}/name") in errors(
        (action, {"name": "navigate", "next": {"type": "screen", "name": "ASK"}})
    )
