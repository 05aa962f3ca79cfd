from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from displayed import html_of
from flowjson.strangers import EVIL, anything, booking, crooked, documents, screen
from hypothesis import given, settings
from volume import volume

from chatkit.errors import InputError
from chatkit.flowjson.components import RELEASED
from chatkit.flowjson.diff import diff
from chatkit.flowjson.lint import lint
from chatkit.flowjson.upgrade import upgrade
from chatkit.util.json import find_value


def old(**more: Any) -> dict[str, Any]:
    made = booking(version="2.1", data_channel_uri="https://example.com/flows", **more)
    del made["screens"][1:2], made["routing_model"]
    made["screens"][0]["layout"]["children"][2]["children"][3]["on-click-action"] = {
        "name": "navigate", "next": {"type": "screen", "name": "HELP"}, "payload": {}
    }  # fmt: skip
    return made


def test_an_upgrade_tells_what_it_did_and_what_is_left() -> None:
    document = old()
    done = upgrade(document)
    assert document == old()
    assert done.document["version"] == "7.3" and "data_channel_uri" not in done.document
    assert repr(done).splitlines()[:7] == [
        "From version 2.1 to 7.3: 2 changes; 1 thing for a person to do.",
        '  ~ /version: "2.1" → "7.3"',
        "      2.1 cannot be published since 2025-04-08.",
        '  ~ /data_channel_uri: "https://example.com/flows" → (absent)',
        "      3.0 took it out.",
        "For a person to do:",
        '  ! /data_channel_uri: Set the endpoint of the flow to "https://example.com/flows": '
        "it left the document.",
    ]
    frame = done.frame()
    assert frame.pointer.tolist() == ["/version", "/data_channel_uri"]
    assert frame.after.tolist() == ["7.3", None]


def test_an_upgraded_sample_has_no_new_errors_and_nothing_else_changed(shared: Path) -> None:
    for name, document in documents(shared, "valid").items():
        done = upgrade(document)
        errors = {(one.code, one.pointer) for one in lint(document).errors}
        new = {(one.code, one.pointer) for one in lint(done.document).errors} - errors
        assert not new, name
        changed = {one.pointer for one in done.changes}
        for one in diff(document, done.document):
            assert (one.pointer_a or one.pointer_b) in changed, (name, one)
        for one in done.changes:
            assert one.reason
            assert find_value(document, one.pointer) == one.before  # absent where nothing stood
        step = document  # one version after the other comes to the same end
        for version in [v for v in RELEASED if str(v) > document["version"]]:
            step = upgrade(step, to=str(version)).document
        assert not diff(step, done.document), name


def test_the_same_version_is_left_alone() -> None:
    done = upgrade(booking(version="7.3"), to="7.3")
    assert done.document == booking(version="7.3")
    assert (done.changes, done.todo) == ((), ())
    assert repr(done) == "The flow document is of version 7.3 already: 0 changes."


def test_a_frozen_target_is_marked() -> None:
    assert "cannot be published" in upgrade(booking(version="4.0"), to="5.0").todo[-1].task


@pytest.mark.parametrize(
    ("version", "to", "reason"),
    [
        ("7.3", "6.0", "cannot be downgraded"),
        ("7.0", "9.9", '"9.9" is not a version'),
        ("5.2", "7.3", '"5.2" is not a version'),
        (None, "7.3", "null is not a version"),
        (7.3, "7.3", "7.3 is not a version"),
    ],
)
def test_what_cannot_be_upgraded_is_refused_clearly(version: Any, to: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        upgrade(booking(version=version), to=to)


def test_a_picture_that_is_too_large_now_is_left_to_a_person() -> None:
    option = {"id": "1", "title": "One", "image": "A" * 200 * 1024}
    group = {"type": "RadioButtonsGroup", "name": "g", "label": "G", "data-source": [option]}
    [todo] = upgrade(
        {"version": "5.1", "screens": [screen("A", "A", [group], terminal=True)]}, "6.0"
    ).todo[:1]
    assert todo.pointer == "/screens/0/layout/children/0/data-source/0/image"
    assert "150 KB, 100 KB are allowed" in todo.task


def test_names_from_strangers_are_no_markup() -> None:
    done = upgrade(old() | {"data_channel_uri": EVIL})
    assert "<img" not in html_of(done)
    assert "\u202e" not in html_of(done) + repr(done)


@settings(max_examples=volume(16, 400))
@given(crooked | anything)
def test_any_json_is_upgraded_or_refused(document: Any) -> None:
    try:
        done = upgrade(document)
    except InputError:
        return
    assert done.document["version"] == "7.3"
    assert repr(done) and html_of(done) and len(done.frame()) == len(done.changes)
