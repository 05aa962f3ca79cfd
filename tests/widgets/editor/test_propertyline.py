"""A line of a form says what its property is for, and what is wrong with it."""

from __future__ import annotations

from widgets.screen import classes, html, seen

from chatkit.flowjson import Finding
from chatkit.flowjson.components import COMPONENTS
from chatkit.flowjson.property import Property
from chatkit.flowjson.version import RECOMMENDED, Version
from chatkit.widgets.editor.inspector import (
    PropertyField,
    TextProperty,
    help_text,
    property_input_for,
)
from chatkit.widgets.light import LightBox


def line(prop: Property, version: Version = RECOMMENDED, value: object = "x") -> PropertyField:
    return PropertyField(prop, version, property_input_for(prop, version, value))


LABEL = Property("label", "text", "What it says.", required=Version(4, 0), length=20)


def test_help_tells_what_the_table_knows() -> None:
    assert help_text(LABEL) == "What it says. At most 20 characters."
    days = COMPONENTS["CalendarPicker"].by_name
    assert "Of Mon, Tue" in help_text(days["include-days"])
    assert "YYYY-MM-DD" in help_text(days["min-date"])
    photos = COMPONENTS["PhotoPicker"].by_name
    assert "1 to 30" in help_text(photos["max-uploaded-photos"])
    assert "Not set, it is 30." in help_text(photos["max-uploaded-photos"])
    assert "At most 300 KB" in help_text(COMPONENTS["Image"].by_name["src"])


def test_what_a_version_demands_is_marked() -> None:
    assert "chatkit-required" in classes(line(LABEL).widget)
    assert "chatkit-required" not in classes(line(LABEL, Version(3, 0)).widget)


def test_problems_of_typing_and_of_the_lint_are_told_escaped() -> None:
    one = line(LABEL)
    assert one.problem == ""
    one.wrong("is <b>no</b> value")
    one.say([Finding("A", "warning", "/x", "too long", "Cut it.")])
    assert one.problem == "is <b>no</b> value too long"
    assert "&lt;b&gt;" in html(one.widget)
    assert 'class="chatkit-problem warning"' in html(one.widget)
    one.wrong("")
    one.say([])
    assert html(LightBox(list(seen(one.widget))[1:])) == f"<small>{one.help}</small>"


def test_it_can_be_locked() -> None:
    one = line(LABEL)
    one.lock(True)
    assert isinstance(one.input, TextProperty)
    assert one.input.widget.disabled
