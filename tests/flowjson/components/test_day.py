"""Components in which a person picks days."""

from chatkit.flowjson.components import COMPONENTS, Version

CALENDARS = [COMPONENTS[name] for name in ("DatePicker", "CalendarPicker")]


def test_a_range_has_its_own_properties() -> None:
    calendar = CALENDARS[1]
    ranged = [p.name for p in calendar.properties if p.place == "range mode"]
    assert ranged == ["title", "description", "min-days", "max-days"]
    both = [p.name for p in calendar.properties if "range" in p.kinds(Version(7, 3))]
    assert both == ["label", "helper-text", "required", "init-value", "error-message"]
    assert calendar.by_name["required"].part == "boolean"
    assert calendar.by_name["init-value"].part == "date"


def test_a_day_only_asks_the_endpoint() -> None:
    for each in CALENDARS:
        action = each.by_name["on-select-action"]
        assert action.allowed_actions(Version(7, 3)) == ("data_exchange",)
