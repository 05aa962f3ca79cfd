from copy import deepcopy
from typing import Any

import chatkit
from chatkit.bulk.changes import Change
from chatkit.bulk.rendering import DEPTH, FIELDS, make_change_label, make_change_lines


def update(before: dict[str, Any], after: dict[str, Any], **more: Any) -> Change:
    return Change(1, "update", 1, more.pop("label", "+44 7700900001"), before, after, **more)


def message(change: Change) -> list[tuple[str, str, str]]:
    """The lines of a change as text, "" for a side that there is not."""
    return [
        (field, str(before or ""), str(after or ""))
        for field, before, after in make_change_lines(change)
    ]


def document() -> dict[str, Any]:
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
        result: dict[str, Any] = client.flows.frame(full=True)["flow_json"].iloc[0]
    return result


def test_an_update_has_a_line_for_each_field() -> None:
    change = update({"name": "Ana", "is_active": True}, {"name": "Ana Lima", "is_active": False})
    assert message(change) == [("name", '"Ana"', '"Ana Lima"'), ("is_active", "True", "False")]


def test_a_field_that_the_service_does_not_show_is_told_from_an_empty_one() -> None:
    assert message(update({}, {"flow_json_raw": "x"})) == [("flow_json_raw", "(not shown)", '"x"')]
    assert message(update({"name": ""}, {"name": "Ana"})) == [("name", "(empty)", '"Ana"')]
    assert message(update({"name": None}, {"name": "Ana"})) == [("name", "(none)", '"Ana"')]


def test_a_create_shows_what_it_sends_and_a_delete_what_goes() -> None:
    fields = {"country_code": "+44", "number": "7700900001", "name": "Ana", "tags": []}
    create = Change(1, "create", None, "7700900001", {}, fields)
    assert message(create) == [
        ("country_code", "", '"+44"'),
        ("name", "", '"Ana"'),
        ("tags", "", "[]"),
    ]
    delete = Change(1, "delete", 1, "7700900001", fields)
    assert message(delete) == [("country_code", '"+44"', ""), ("name", '"Ana"', "")]


def test_what_the_label_says_is_not_said_again_unless_the_label_is_cut() -> None:
    contact = Change(1, "create", None, "+44 7700", {}, {"country_code": "+44", "number": "7700"})
    assert message(contact) == []
    content = Change(
        1, "create", "en", "order_ready/en", {}, {"lang_code": "en", "text": "Hi"}, "order_ready"
    )
    assert message(content) == [("text", "", '"Hi"')]
    address = "https://hooks.example/" + "a" * 60
    assert [
        line[0] for line in message(Change(1, "create", None, address, {}, {"url": address}))
    ] == ["url"]


def test_an_update_says_again_what_the_label_says() -> None:
    change = update({"number": "7700900009"}, {"number": "7700900001"})
    assert message(change) == [("number", '"7700900009"', '"7700900001"')]


def test_a_document_shows_the_places_that_differ() -> None:
    before = document()
    after = deepcopy(before)
    after["screens"][0]["title"] = "Mend a bike"
    del after["screens"][1]["layout"]["children"][0]
    result = message(update({"flow_json": before}, {"flow_json": after}, label="Book a repair"))
    assert [line[0] for line in result] == [
        "flow_json/screens/0/title",
        "flow_json/screens/1/layout/children/0",
    ]
    assert result[0][1:] == ('"Book a repair"', '"Mend a bike"')
    assert result[1][1].startswith('{"type": "CalendarPicker"')
    assert result[1][2] == "(absent)"


def test_a_document_that_differs_all_over_is_folded() -> None:
    before = document()
    after = deepcopy(before)
    for screen in after["screens"]:
        screen |= {"id": screen["id"] + "X", "title": "New"}
    result = message(update({"flow_json": before, "name": "a"}, {"flow_json": after, "name": "b"}))
    places = 2 * len(before["screens"])
    assert result[DEPTH] == ("flow_json", "", f"… and {places - DEPTH} more differences")
    assert result[DEPTH + 1 :] == [("name", '"a"', '"b"')]


def test_a_new_document_is_summarised() -> None:
    change = Change(1, "create", None, "Book a repair", {}, {"flow_json": document()})
    assert message(change) == [("flow_json", "", "3 screens, version 7.3")]
    assert message(update({}, {"flow_json": document()}))[0][2] == "3 screens, version 7.3"


def test_small_lists_and_objects_are_shown_whole() -> None:
    change = update(
        {"events": ["*"], "variables": {"1": "Ana"}},
        {"events": ["a", "b"], "variables": {"1": "Bo"}},
    )
    assert message(change) == [
        ("events", '["*"]', '["a", "b"]'),
        ("variables", '{"1": "Ana"}', '{"1": "Bo"}'),
    ]


def test_many_fields_are_folded() -> None:
    fields = {f"field_{n}": n for n in range(FIELDS + 5)}
    result = message(Change(1, "create", None, "en", {}, fields))
    assert len(result) == FIELDS + 1
    assert result[-1] == ("", "", "… and 5 more fields")


def test_a_secret_is_never_shown() -> None:
    marker = "4f1c" * 16
    changes = [
        Change(1, "create", None, "x", {}, {"webhook_secret": marker}),
        Change(1, "delete", 1, "x", {"verify_token": marker}),
        update({"webhook_secret": marker}, {"webhook_secret": "new" + marker}),
        update({"webhook_secret": marker}, {"webhook_secret": None}),
        update({}, {"Authorization": marker}),
    ]
    for change in changes:
        assert marker not in str(message(change))
        assert "(not shown)" in str(message(change))


def test_a_label_names_its_template_once() -> None:
    fields = {"text": "Hi"}
    assert (
        make_change_label(Change(1, "create", "en", "en", {}, fields, "order_ready"))
        == "order_ready en"
    )
    assert make_change_label(
        Change(1, "create", "en", "order_ready/en", {}, fields, "order_ready")
    ) == ("order_ready/en")
    assert make_change_label(Change(1, "create", None, "a\u202eb", {}, fields)) == "a⟨U+202E⟩b"
