"""Flow documents that are broken in one place each, with the code and the place to be told.

Each is a good document with one small change: `flow` is good with whatever stands before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from flowjson.base import CHILDREN, DONE, GO, OPTIONS, PICTURE, drop, flow, footer, put, screen

HERE = f"{CHILDREN}/0"
TEXT = {"type": "TextBody", "text": "Hello"}
INPUT = {"type": "TextInput", "name": "a", "label": "A"}
AREA = {"type": "TextArea", "name": "a", "label": "A"}
BOXES = {"type": "CheckboxGroup", "name": "a", "label": "A", "data-source": OPTIONS}
RADIO = {"type": "RadioButtonsGroup", "name": "a", "label": "A", "data-source": OPTIONS}
DROPDOWN = {"type": "Dropdown", "name": "a", "label": "A", "data-source": OPTIONS}
CHIPS = {"type": "ChipsSelector", "name": "a", "label": "A", "data-source": OPTIONS}
DAY = {"type": "DatePicker", "name": "a", "label": "A"}
CALENDAR = {"type": "CalendarPicker", "name": "a", "label": "A"}
RANGE = CALENDAR | {"mode": "range", "label": {"start-date": "From", "end-date": "To"}}
OPT_IN = {"type": "OptIn", "name": "a", "label": "A"}
URL = {"name": "open_url", "url": "https://example.com"}
LINK = {"type": "EmbeddedLink", "text": "More", "on-click-action": URL}
IMAGE = {"type": "Image", "src": PICTURE}
PAIR = {"src": PICTURE, "alt-text": "A dot"}
CAROUSEL = {"type": "ImageCarousel", "images": [PAIR]}
PHOTO = {"type": "PhotoPicker", "name": "a", "label": "A"}
FILES = {"type": "DocumentPicker", "name": "a", "label": "A"}
FORM = {"type": "Form", "name": "form", "children": [INPUT]}
RICH = {"type": "RichText", "text": ["# Terms", "All of them."]}
IF = {"type": "If", "condition": "${form.a} == 'x'", "then": [TEXT]}
SWITCH = {"type": "Switch", "value": "${form.a}", "cases": {"x": [TEXT]}}
ITEM = {"id": "1", "main-content": {"title": "One"}}
LIST = {"type": "NavigationList", "name": "l", "list-items": [ITEM], "on-click-action": GO}
ALONE = {"foot": False}  # a screen that has no room for a Footer


class Fault(NamedTuple):
    """A broken document, and the error it must give."""

    name: str
    document: Any
    code: str
    at: str


def document_faults() -> Iterator[Fault]:
    """Break the document itself and its screens."""
    good = flow(INPUT)
    asking = flow(INPUT, endpoint=True)
    for name, value, code in (
        ("no such version", "9.9", "INVALID_FLOW_JSON_VERSION"),
        ("a version of three parts", "7.3.1", "INVALID_FLOW_JSON_VERSION"),
        ("a version with a zero before it", "07.3", "INVALID_FLOW_JSON_VERSION"),
        ("a version as a number", 7.3, "INVALID_FLOW_JSON_VERSION"),
        ("a version of long ago", "1.0", "UNSUPPORTED_FLOW_JSON_VERSION"),
        ("a version of the catalogues", "5.2", "UNAVAILABLE_FLOW_JSON_VERSION"),
    ):
        yield Fault(name, put(good, "/version", value), code, "/version")
    yield Fault("no version", drop(good, "/version"), "MISSING_FLOW_JSON_VERSION", "/version")
    yield Fault("no document", [good], "INVALID_FLOW_JSON", "")
    missing, typed = "MISSING_REQUIRED_PROPERTY", "INVALID_PROPERTY_TYPE"
    yield Fault("no screens", drop(good, "/screens"), missing, "/screens")
    yield Fault("screens no list", put(good, "/screens", {}), typed, "/screens")
    yield Fault("a screen no object", put(good, "/screens/-", "x"), typed, "/screens/2")
    yield Fault("no screen", put(good, "/screens", []), "MIN_ITEMS_REQUIRED", "/screens")
    crowd = [screen(f"S{'x' * n}", footer(), terminal=True) for n in range(101)]
    yield Fault("101 screens", put(good, "/screens", crowd), "MAX_SCREENS_NUMBER", "/screens")
    key = "INVALID_PROPERTY_KEY"
    yield Fault("an unknown key of a document", put(good, "/name", "x"), key, "/name")
    uri = put(good, "/data_channel_uri", "https://example.com")
    yield Fault("an endpoint in 3.0", uri, key, "/data_channel_uri")
    old = put(flow(INPUT, version="2.1"), "/data_channel_uri", "here")
    format_ = "INVALID_PROPERTY_VALUE_FORMAT"
    yield Fault("an endpoint without address", old, format_, "/data_channel_uri")
    api = "/data_api_version"
    for name, value, code in (
        ("an unknown protocol", "1.0", "INVALID_DATA_API_VERSION"),
        ("a protocol as a number", 3.0, typed),
    ):
        yield Fault(name, put(asking, api, value), code, api)
    early = put(flow(INPUT, endpoint=True, version="7.2"), api, "4.0")
    yield Fault("a protocol too new", early, "INVALID_DATA_API_VERSION", api)
    yield Fault("meta too early", put(flow(version="5.0"), "/meta", {}), key, "/meta")
    yield Fault("routes of a list", put(asking, "/routing_model", []), typed, "/routing_model")


def screen_faults() -> Iterator[Fault]:
    """Break screens."""
    good = flow(INPUT)
    missing, typed = "MISSING_REQUIRED_PROPERTY", "INVALID_PROPERTY_TYPE"
    for key in ("id", "title", "layout"):
        at = f"/screens/1/{key}"
        yield Fault(f"a screen without {key}", drop(good, at), missing, at)
    pattern, at = "PATTERN_MISMATCH", "/screens/1/id"
    yield Fault("an id with a digit", put(good, at, "LAST_1"), pattern, at)
    yield Fault("an id with a hyphen", put(good, at, "LAST-ONE"), pattern, at)
    yield Fault("an empty id", put(good, at, ""), "MIN_CHARS_REQUIRED", at)
    yield Fault("an id that is a number", put(good, at, 1), typed, at)
    for name in ("success", "SUCCESS"):
        yield Fault(f"the id {name}", put(good, at, name), "SCREEN_ID_IS_RESERVED_KEYWORD", at)
    yield Fault("an id twice", put(good, at, "FIRST"), "DUPLICATE_SCREEN_IDS", at)
    yield Fault("a blank title", put(good, "/screens/1/title", " "), pattern, "/screens/1/title")
    unknown = put(good, "/screens/1/name", "x")
    yield Fault("an unknown key of a screen", unknown, "INVALID_PROPERTY_KEY", "/screens/1/name")
    at = "/screens/1/layout"
    yield Fault("a layout by name", put(good, at, "x"), "INVALID_PROPERTY_VALUE", at)
    yield Fault("a layout in a list", put(good, at, []), typed, at)
    other = put(good, f"{at}/type", "TwoColumns")
    yield Fault("another layout", other, "INVALID_PROPERTY_VALUE", f"{at}/type")
    untyped = drop(good, f"{at}/type")
    yield Fault("a layout without type", untyped, "MISSING_REQUIRED_TYPE_PROPERTY", f"{at}/type")
    yield Fault("no children", drop(good, f"{at}/children"), missing, f"{at}/children")
    yield Fault("children no list", put(good, f"{at}/children", {}), typed, f"{at}/children")
    stray = put(good, f"{CHILDREN}/0", "x")
    yield Fault("a child that is text", stray, typed, f"{CHILDREN}/0")
    yield Fault("terminal as text", put(good, "/screens/1/terminal", "true"), typed,
                "/screens/1/terminal")  # fmt: skip
    endless = put(good, "/screens/1/terminal", False)
    yield Fault("no terminal screen", endless, "MISSING_TERMINAL_SCREEN", "/screens")
    bare = drop(good, "/screens/1/layout/children/1")
    yield Fault("no Footer at the end", bare, "MISSING_FOOTER_ON_TERMINAL_SCREEN", "/screens/1")
    failed = put(good, "/screens/1/success", False)
    yield Fault("no success", failed, "INVALID_PROPERTY_VALUE", "/screens/1/success")
    early = put(good, "/screens/0/success", True)
    yield Fault("success too early", early, "NOT_KEYWORD_SCHEMA_VALIDATION_FAILED", "/screens/0")
    back = put(good, "/screens/0/refresh_on_back", True)
    value = "INVALID_PROPERTY_VALUE"
    yield Fault("a refresh without endpoint", back, value, "/screens/0/refresh_on_back")
    secret = put(good, "/screens/0/sensitive", ["a", "b"])
    yield Fault("a sensitive stranger", secret, "INVALID_SENSITIVE_FIELD", "/screens/0/sensitive/1")
    early = put(flow(INPUT, version="5.0"), "/screens/0/sensitive", ["a"])
    yield Fault("sensitive too early", early, "INVALID_PROPERTY_KEY", "/screens/0/sensitive")


def property_faults() -> Iterator[Fault]:
    """Break properties of components: present, absent, of the wrong kind, out of bounds."""
    many: list[tuple[str, dict[str, Any], str, Any, str]] = [
        ("an unknown key", TEXT, "color", "red", "INVALID_PROPERTY_KEY"),
        ("a Footer that hides", footer(), "visible", True, "INVALID_PROPERTY_KEY"),
        ("a tick that is enabled", OPT_IN, "enabled", True, "INVALID_PROPERTY_KEY"),
        ("a tick with help", OPT_IN, "helper-text", "x", "INVALID_PROPERTY_KEY"),
        ("a Dropdown with a description", DROPDOWN, "description", "x", "INVALID_PROPERTY_KEY"),
        ("a blank text", TEXT, "text", "", "PATTERN_MISMATCH"),
        ("a text of spaces", TEXT, "text", "  ", "PATTERN_MISMATCH"),
        ("a blank link", LINK, "text", " ", "PATTERN_MISMATCH"),
        ("a blank label", INPUT, "label", "", "PATTERN_MISMATCH"),
        ("blank help", INPUT, "helper-text", "", "PATTERN_MISMATCH"),
        ("a blank name", INPUT, "name", " ", "PATTERN_MISMATCH"),
        ("a bound name", INPUT, "name", "${data.x}", "PATTERN_MISMATCH"),
        ("a name in backticks", INPUT, "name", "`'a'`", "PATTERN_MISMATCH"),
        ("a text that is a number", TEXT, "text", 5, "INVALID_PROPERTY_TYPE"),
        ("a text that is null", TEXT, "text", None, "INVALID_PROPERTY_TYPE"),
        ("enabled in words", INPUT, "enabled", "yes", "INVALID_PROPERTY_TYPE"),
        ("required as a number", INPUT, "required", 1, "INVALID_PROPERTY_TYPE"),
        ("a number in words", INPUT, "max-chars", "Hundred", "PATTERN_MISMATCH"),
        ("a number that is true", INPUT, "min-chars", True, "INVALID_PROPERTY_TYPE"),
        ("half a character", AREA, "max-length", 1.5, "INVALID_PROPERTY_TYPE"),
        ("no such keyboard", INPUT, "input-type", "url", "INVALID_ENUM_VALUE"),
        ("no such weight", TEXT, "font-weight", "heavy", "INVALID_ENUM_VALUE"),
        ("no such scale", IMAGE, "scale-type", "fill", "INVALID_ENUM_VALUE"),
        ("no such size", BOXES, "media-size", "small", "INVALID_ENUM_VALUE"),
        ("no such label", INPUT, "label-variant", "small", "INVALID_ENUM_VALUE"),
        ("no such source", PHOTO, "photo-source", "scanner", "INVALID_ENUM_VALUE"),
        ("no such mode", CALENDAR, "mode", "month", "INVALID_ENUM_VALUE"),
        ("no such shape", CAROUSEL, "aspect-ratio", "1:1", "INVALID_ENUM_VALUE"),
        ("a pattern for mail", INPUT | {"pattern": "a", "helper-text": "x"}, "input-type", "email",
         "INVALID_ENUM_VALUE"),
        ("a pattern left open", INPUT | {"helper-text": "x"}, "pattern", "(a",
         "INVALID_PROPERTY_VALUE_FORMAT"),
        ("no base64", IMAGE, "src", "https://example.com/a.png", "INVALID_PROPERTY_VALUE_FORMAT"),
        ("fewer than none", BOXES, "min-selected-items", -1, "MINIMUM_VALUE_REQUIRED"),
        ("one of several", BOXES, "max-selected-items", 1, "MINIMUM_VALUE_REQUIRED"),
        ("no chip", CHIPS, "max-selected-items", 0, "MINIMUM_VALUE_REQUIRED"),
        ("fewer photos than none", PHOTO, "min-uploaded-photos", -1, "MINIMUM_VALUE_REQUIRED"),
        ("31 photos", PHOTO, "max-uploaded-photos", 31, "MAXIMUM_VALUE_REQUIRED"),
        ("files of nothing", FILES, "max-file-size-kb", 0, "MINIMUM_VALUE_REQUIRED"),
        ("files too large", FILES, "max-file-size-kb", 25601, "MAXIMUM_VALUE_REQUIRED"),
        ("no kind of file", FILES, "allowed-mime-types", [], "MIN_ITEMS_REQUIRED"),
        ("no option", RADIO, "data-source", [], "MIN_ITEMS_REQUIRED"),
        ("options in words", RADIO, "data-source", "a, b", "INVALID_PROPERTY_TYPE"),
        ("no picture", CAROUSEL, "images", [], "MIN_ITEMS_REQUIRED"),
        ("four pictures", CAROUSEL, "images", [PAIR] * 4, "MAX_ITEMS_REQUIRED"),
        ("an action in words", LINK, "on-click-action", "open", "INVALID_PROPERTY_TYPE"),
        ("a day in English", DAY, "min-date", "1 May 2026", "INVALID_DATE_RANGE"),
        ("a day in milliseconds", DAY, "max-date", "1694779200000", "INVALID_DATE_RANGE"),
        ("a first day too early", DAY | {"min-date": "2026-05-01"}, "init-value", "2026-04-30",
         "INVALID_DATE_RANGE"),
        ("a first day that is none", CALENDAR, "init-value", "soon",
         "INVALID_DATE_SINGLE_INIT_VALUE_FORMAT"),
        ("a title of one day", CALENDAR, "title", "x", "INVALID_PROPERTY_NAME_FOR_CONDITION"),
        ("a description of one day", CALENDAR, "description", "x",
         "INVALID_PROPERTY_NAME_FOR_CONDITION"),
        ("a shortest stay of one day", CALENDAR, "min-days", 2,
         "INVALID_PROPERTY_NAME_FOR_CONDITION"),
        ("two labels for one day", CALENDAR, "label", {"start-date": "A", "end-date": "B"},
         "INVALID_TYPE"),
        ("one first day of two", RANGE, "init-value", "2026-05-01", "INVALID_TYPE"),
        ("half a label", RANGE, "label", {"start-date": "A"},
         "MISSING_CALENDAR_PICKER_RANGE_MODE_PROP"),
        ("a stay backwards", RANGE, "init-value",
         {"start-date": "2026-05-02", "end-date": "2026-05-01"}, "INVALID_DATE_RANGE"),
        ("children in words", FORM, "children", "all", "INVALID_PROPERTY_TYPE"),
        ("first values in a list", FORM, "init-values", [], "INVALID_PROPERTY_TYPE"),
        ("an own first value in a Form", FORM | {"children": [INPUT]}, "label", "x",
         "INVALID_PROPERTY_KEY"),
    ]  # fmt: skip
    for name, component, key, value, code in many:
        foot = component["type"] != "Footer"
        document = flow(component | {key: value}, foot=foot)
        if not foot:  # an action of the Footer that leads on
            document = put(document, f"{HERE}/on-click-action", GO)
        yield Fault(name, document, code, f"{HERE}/{key}")
    for component in (
        *(TEXT, RICH, INPUT, AREA, BOXES, RADIO, DROPDOWN, CHIPS, DAY, CALENDAR, OPT_IN, LINK),
        *(IMAGE, CAROUSEL, PHOTO, FILES, FORM),
    ):
        for key in component:
            if key == "type":
                code, name = "MISSING_REQUIRED_TYPE_PROPERTY", component["type"]
            else:
                code, name = "MISSING_REQUIRED_PROPERTY", f"{component['type']}, {key}"
            broken = {name: value for name, value in component.items() if name != key}
            yield Fault(f"no {name}", flow(broken), code, f"{HERE}/{key}")


def deeper_faults() -> Iterator[Fault]:
    """Break what stands deeper in a component, or what two properties say together."""
    at = f"{HERE}/data-source/1"

    def option(**more: Any) -> dict[str, Any]:
        return flow(DROPDOWN | {"data-source": [OPTIONS[0], OPTIONS[1] | more]})

    yield Fault("an unknown key of an option", option(icon="x"), "INVALID_PROPERTY_KEY",
                f"{at}/icon")  # fmt: skip
    yield Fault("an option in words", flow(DROPDOWN | {"data-source": [OPTIONS[0], "b"]}),
                "INVALID_PROPERTY_TYPE", at)  # fmt: skip
    yield Fault("an option without title", drop(option(), f"{at}/title"),
                "MISSING_REQUIRED_PROPERTY", f"{at}/title")  # fmt: skip
    yield Fault("an option whose id is a number", option(id=2), "INVALID_PROPERTY_TYPE",
                f"{at}/id")  # fmt: skip
    yield Fault("a colour in words", option(color="red"), "PATTERN_MISMATCH", f"{at}/color")
    yield Fault("an option disabled in words", option(enabled="no"), "INVALID_PROPERTY_TYPE",
                f"{at}/enabled")  # fmt: skip
    chips = flow(CHIPS | {"data-source": [OPTIONS[0], OPTIONS[1] | {"description": "x"}]})
    yield Fault("a chip with a description", chips, "INVALID_PROPERTY_KEY", f"{at}/description")
    mixed = [OPTIONS[0] | {"image": PICTURE}, OPTIONS[1] | {"color": "#112233"}]
    yield Fault("image and color", flow(RADIO | {"data-source": mixed}),
                "DATA_SOURCE_ITEMS_HAVE_BOTH_IMAGE_AND_COLOR", f"{HERE}/data-source")  # fmt: skip
    kinds = flow(FILES | {"allowed-mime-types": ["application/pdf", "text/html"]})
    yield Fault("no such kind of file", kinds, "INVALID_ENUM_VALUE",
                f"{HERE}/allowed-mime-types/1")  # fmt: skip
    days = flow(CALENDAR | {"include-days": ["Mon", "Tuesday"]})
    yield Fault("no such day", days, "INVALID_ENUM_VALUE", f"{HERE}/include-days/1")
    off = flow(DAY | {"max-date": "2026-05-01", "unavailable-dates": ["2026-05-02"]})
    yield Fault("a day beyond the last", off, "INVALID_DATE_RANGE", f"{HERE}/unavailable-dates/0")
    swapped = flow(DAY | {"min-date": "2026-05-02", "max-date": "2026-05-01"})
    yield Fault("days backwards", swapped, "INVALID_DATE_RANGE", f"{HERE}/min-date")
    stay = flow(RANGE | {"min-days": 5, "max-days": 3})
    yield Fault("a stay too short", stay, "INVALID_MIN_MAX_DAYS", f"{HERE}/min-days")
    third = flow(RANGE | {"label": {"start-date": "A", "end-date": "B", "middle": "C"}})
    yield Fault("a third day", third, "UNEXPECTED_CALENDAR_PICKER_RANGE_MODE_PROP",
                f"{HERE}/label/middle")  # fmt: skip
    unlike = flow(RANGE | {"required": {"start-date": "yes"}})
    yield Fault("required in words", unlike, "INVALID_PROPERTY_TYPE",
                f"{HERE}/required/start-date")  # fmt: skip
    blind = flow(CAROUSEL | {"images": [{"src": PICTURE}]})
    yield Fault("a picture without words", blind, "MISSING_REQUIRED_PROPERTY",
                f"{HERE}/images/0/alt-text")  # fmt: skip
    least = "MIN_VALUE_GREATER_THAN_MAX"
    for component, low, high in (
        (INPUT, "min-chars", "max-chars"),
        (BOXES, "min-selected-items", "max-selected-items"),
        (PHOTO, "min-uploaded-photos", "max-uploaded-photos"),
        (FILES, "min-uploaded-documents", "max-uploaded-documents"),
    ):
        yield Fault(f"{low} above {high}", flow(component | {low: 9, high: 3}), least, HERE)
    for side, other in (("left", "right"), ("right", "left")):
        foot = flow(footer(GO) | {f"{side}-caption": "x"}, foot=False)
        yield Fault(f"{side} without {other}", foot, "INVALID_DEPENDENCIES", HERE)
    three = flow(footer(GO) | {f"{side}-caption": "x" for side in ("left", "center", "right")},
                 foot=False)  # fmt: skip
    yield Fault("three captions", three, "NOT_KEYWORD_SCHEMA_VALIDATION_FAILED", HERE)
    inner = f"{HERE}/children/0"
    for key, component in (("init-value", INPUT), ("error-message", DAY)):
        own = flow(FORM | {"children": [component | {key: "x"}]})
        yield Fault(f"{key} in a Form", own, "INVALID_PROPERTY_KEY", f"{inner}/{key}")
    native = flow(FORM | {"children": [PHOTO], "init-values": {"a": "x"}})
    yield Fault("a first photo", native, "NATIVE_COMPONENT_IN_FORM_INIT_VALUES",
                f"{HERE}/init-values/a")  # fmt: skip
    typed = flow(FORM | {"init-values": {"a": ["x"]}})
    yield Fault("a first value of the wrong type", typed, "INVALID_PROPERTY_VALUE",
                f"{HERE}/init-values")  # fmt: skip
    other = flow(FORM | {"init-values": {"b": "x"}})
    yield Fault("a first value of nothing", other, "INVALID_PROPERTY_VALUE",
                f"{HERE}/init-values")  # fmt: skip
    soon = flow(FORM | {"children": [CALENDAR], "init-values": {"a": "soon"}})
    yield Fault("a first day that is none in a Form", soon,
                "INVALID_DATE_SINGLE_INIT_VALUE_FORMAT", f"{HERE}/init-values/a")  # fmt: skip


def placement_faults() -> Iterator[Fault]:
    """Put components where they may not stand, or too many of them."""
    value, many = "INVALID_PROPERTY_VALUE", "COMPONENT_TYPE_MAX_NUMBER_PER_SCREEN"
    yield Fault("no such component", flow({"type": "TextHeader", "text": "x"}), value,
                f"{HERE}/type")  # fmt: skip
    yield Fault("a type that is a number", flow({"type": 5}), "INVALID_PROPERTY_TYPE",
                f"{HERE}/type")  # fmt: skip
    for component, version in (
        *((PHOTO, "3.1"), (RICH, "5.0"), (CALENDAR, "6.0"), (LIST, "6.1"), (CHIPS, "6.1")),
        *((CAROUSEL, "7.0"), (IF, "3.1"), (SWITCH, "3.1")),
    ):
        at = f"{HERE}/children/0/type" if version < "4.0" else f"{HERE}/type"
        yield Fault(
            f"{component['type']} in {version}", flow(component, version=version), value, at
        )
    for component, key, new, version in (
        (INPUT, "label-variant", "large", "6.3"),
        (INPUT, "pattern", "a", "6.1"),
        (TEXT, "markdown", True, "5.0"),
        (BOXES, "description", "x", "3.1"),
        (BOXES, "media-size", "large", "4.0"),
        (CHIPS, "on-select-action", {"name": "update_data", "payload": {}}, "7.0"),
        (DROPDOWN, "on-unselect-action", {"name": "update_data", "payload": {}}, "5.1"),
    ):
        at = f"{HERE}/children/0/{key}" if version < "4.0" else f"{HERE}/{key}"
        early = flow(component | {key: new}, version=version)
        yield Fault(f"{key} in {version}", early, "INVALID_PROPERTY_KEY", at)
    lines = flow(TEXT | {"text": ["a", "b"]}, version="5.0")
    yield Fault("lines in 5.0", lines, "INVALID_PROPERTY_TYPE", f"{HERE}/text")
    image = flow(RADIO | {"data-source": [OPTIONS[0] | {"image": PICTURE}]}, version="4.0")
    yield Fault("a picture in 4.0", image, "INVALID_PROPERTY_KEY", f"{HERE}/data-source/0/image")
    inner = f"{HERE}/children/0/type"
    for component in (FORM, RICH):
        yield Fault(f"{component['type']} in a Form", flow(FORM | {"children": [component]}), value,
                    inner)  # fmt: skip
    for component in (FORM, RICH, LIST, CAROUSEL):
        held = flow(INPUT, IF | {"then": [component]}) if component != FORM else \
            flow(IF | {"condition": "${form.a} == 'x'", "then": [FORM]})  # fmt: skip
        place = f"{CHILDREN}/{0 if component == FORM else 1}/then/0/type"
        yield Fault(f"{component['type']} in an If", held, value, place)
    nested = SWITCH | {"cases": {"x": [IF]}}
    yield Fault("an If in a Switch", flow(INPUT, nested), value, f"{CHILDREN}/1/cases/x/0/type")
    chips = IF | {"then": [CHIPS | {"name": "b"}]}
    yield Fault("chips in an If of 7.0", flow(INPUT, chips, version="7.0"), value,
                f"{CHILDREN}/1/then/0/type")  # fmt: skip
    before = flow(INPUT, version="2.1")
    top = before["screens"][0]["layout"]
    top["children"] = top["children"][0]["children"]
    yield Fault("no Form in 2.1", before, "KEYWORD_ONE_OF", HERE)
    beside = flow(FORM, OPT_IN | {"name": "b"})
    yield Fault("a tick outside the Form", beside, "COMPONENTS_OUTSIDE_FORM", f"{CHILDREN}/1")
    branch = flow(FORM, IF | {"then": [AREA | {"name": "b"}]})
    yield Fault("an input in an If outside the Form", branch, "COMPONENTS_OUTSIDE_FORM",
                f"{CHILDREN}/1/then/0")  # fmt: skip
    forms = flow(FORM, {"type": "Form", "name": "two", "children": []})
    yield Fault("two Forms", forms, many, "/screens/0")
    ticks = [OPT_IN | {"name": f"t{n}"} for n in range(6)]
    yield Fault("six ticks", flow(*ticks), many, "/screens/0")
    yield Fault("four images", flow(*[IMAGE] * 4), many, "/screens/0")
    inside = flow(INPUT, *[IMAGE] * 2, IF | {"then": [IMAGE] * 2})
    yield Fault("four images at once", inside, many, "/screens/0")
    yield Fault("three links", flow(*[LINK] * 3), many, "/screens/0")
    yield Fault("two Footers", flow(footer(GO), footer(GO), foot=False), many, "/screens/0")
    yield Fault("two PhotoPickers", flow(PHOTO, PHOTO | {"name": "b"}), many, "/screens/0")
    yield Fault("photos and files", flow(PHOTO, FILES | {"name": "b"}), many, "/screens/0")
    yield Fault("three carousels", flow(*[CAROUSEL] * 3), many, "/screens/0")
    spread = flow(*[CAROUSEL] * 2)
    spread = put(spread, "/screens/1/layout/children", [CAROUSEL, CAROUSEL, footer()])
    yield Fault("four carousels in all", spread, many, "/screens/1")
    lists = [LIST | {"name": name} for name in "abc"]
    yield Fault("three lists", flow(*lists, **ALONE), many, "/screens/0")
    yield Fault("101 components", flow(*[TEXT] * 100), "MAX_ALLOWED_COMPONENTS_PER_SCREEN",
                "/screens/0")  # fmt: skip
    twice = flow(INPUT, AREA)
    code = "DUPLICATE_FORM_COMPONENT_NAMES"
    yield Fault("a name twice", twice, code, f"{CHILDREN}/1/name")
    again = flow(INPUT, IF | {"then": [AREA]})
    yield Fault("a name twice in a branch", again, code, f"{CHILDREN}/1/then/0/name")
    either = IF | {"then": [AREA | {"name": "b"}], "else": [DAY | {"name": "b"}]}
    yield Fault("a name in both branches", flow(INPUT, either), code, f"{CHILDREN}/1/else/0/name")
    deep: dict[str, Any] = IF
    for _ in range(3):
        deep = IF | {"then": [deep]}
    yield Fault("four If", flow(INPUT, deep), "MAXIMUM_IF_NESTING", f"{CHILDREN}/1")
    alone = "INVALID_COMPONENT_PLACEMENT"
    yield Fault("RichText beside text", flow(RICH, TEXT), alone, "/screens/0")
    yield Fault("two RichText", flow(RICH, RICH), alone, "/screens/0")
    yield Fault("RichText and Footer in 6.2", flow(RICH, version="6.2"), alone, "/screens/0")
    old = "INVALID_RICHTEXT_PLACEMENT"
    yield Fault("RichText in company in 5.1", flow(RICH, version="5.1"), old, "/screens/0")
    yield Fault("a list beside a Footer", flow(LIST), alone, "/screens/0")


def branch_faults() -> Iterator[Fault]:
    """Break If, Switch and the Footers in them, and the NavigationList."""
    value = "INVALID_PROPERTY_VALUE"
    yield Fault("nothing in then", flow(INPUT, IF | {"then": []}), value, f"{CHILDREN}/1/then")
    yield Fault("no case", flow(INPUT, SWITCH | {"cases": {}}), value, f"{CHILDREN}/1/cases")
    missing = "MISSING_REQUIRED_PROPERTY"
    for component in (IF, SWITCH):
        for key in component:
            if key != "type":
                bare = {name: inner for name, inner in component.items() if name != key}
                yield Fault(f"{component['type']} without {key}", flow(INPUT, bare), missing,
                            f"{CHILDREN}/1/{key}")  # fmt: skip
    digit = flow(INPUT, SWITCH | {"cases": {"1st": [TEXT]}})
    yield Fault("a case of a digit", digit, "PROPERTY_NAME_MISMATCH", f"{CHILDREN}/1/cases/1st")
    lone = flow(INPUT, SWITCH | {"cases": {"x": TEXT}})
    yield Fault("a case without list", lone, "INVALID_PROPERTY_TYPE", f"{CHILDREN}/1/cases/x")
    one, code = footer(GO), "MISSING_FOOTER_IN_IF_ELSE_BRANCHES"
    yield Fault("a Footer in then", flow(INPUT, IF | {"then": [one]}, foot=False), code, CHILDREN)
    half = IF | {"else": [one]}
    yield Fault("a Footer in else", flow(INPUT, half, foot=False), code, CHILDREN)
    some = SWITCH | {"cases": {"x": [one], "y": [TEXT]}}
    code = "MISSING_FOOTER_IN_SWITCH_BRANCHES"
    yield Fault("a Footer in a case", flow(INPUT, some, foot=False), code, CHILDREN)
    both = IF | {"then": [one], "else": [one]}
    yield Fault("Footers in and out", flow(INPUT, both), "MORE_THAN_ONE_FOOTER", CHILDREN)
    yield Fault("Footers too many", flow(INPUT, both), "COMPONENT_TYPE_MAX_NUMBER_PER_SCREEN",
                "/screens/0")  # fmt: skip
    deep = flow(INPUT, IF | {"then": [both], "else": [one]}, foot=False)
    yield Fault("a Footer too deep", deep, value, f"{CHILDREN}/1/then/0/then/0/type")
    items = f"{HERE}/list-items"

    def listed(*changes: dict[str, Any], **more: Any) -> dict[str, Any]:
        return flow(LIST | {"list-items": [ITEM | change for change in changes]} | more, **ALONE)

    key, double = "INVALID_PROPERTY_KEY", "DUPLICATE_PROPETY_FOR_CONDITION"
    yield Fault("a list at the end", put(listed({}), "/screens/0/terminal", True), key,
                "/screens/0/terminal")  # fmt: skip
    yield Fault("an unknown key of a target", listed({"icon": "x"}), key, f"{items}/0/icon")
    yield Fault("no target", listed(), "MIN_ITEMS_REQUIRED", items)
    yield Fault("a target without content", drop(listed({}), f"{items}/0/main-content"), missing,
                f"{items}/0/main-content")  # fmt: skip
    yield Fault("a target without title", drop(listed({}), f"{items}/0/main-content/title"),
                missing, f"{items}/0/main-content/title")  # fmt: skip
    yield Fault("two actions", listed({"on-click-action": GO}), double, f"{HERE}/on-click-action")
    yield Fault("no action", drop(listed({}), f"{HERE}/on-click-action"), missing,
                f"{HERE}/on-click-action")  # fmt: skip
    badges = listed({"badge": "New"}, {"id": "2", "badge": "Hot"})
    yield Fault("two badges", badges, "MAX_ITEMS_REQUIRED", HERE)
    tags = listed({"tags": ["a", "b", "c", "d"]})
    yield Fault("four tags", tags, "MAX_ITEMS_REQUIRED", f"{items}/0/tags")
    end = {"end": {"title": "1"}}
    large = listed(end, **{"media-size": "large"})
    code = "INVALID_PROPERTY_VALUE_FOR_CONDITION"
    yield Fault("an end beside large pictures", large, code, HERE)
    full = listed({"end": {"title": "1", "description": "2", "metadata": "3"}})
    yield Fault("three at the end", full, double, f"{items}/0/end")
    blind = listed({"start": {"alt-text": "x"}})
    yield Fault("a start without image", blind, missing, f"{items}/0/start/image")


def action_faults() -> Iterator[Fault]:
    """Break actions, references, expressions, data and routes: the other half of the rules."""
    tap = f"{CHILDREN}/1/on-click-action"
    good = flow(INPUT, data={"x": {"type": "string", "__example__": "1"}})
    value, enum = "INVALID_PROPERTY_VALUE", "INVALID_ENUM_VALUE"
    yield Fault("no such action", put(good, f"{tap}/name", "jump"), enum, f"{tap}/name")
    yield Fault("no name", drop(good, f"{tap}/name"), "MISSING_REQUIRED_PROPERTY", f"{tap}/name")
    yield Fault("no next", drop(good, f"{tap}/next"), "MISSING_REQUIRED_PROPERTY", f"{tap}/next")
    link = flow(LINK | {"on-click-action": DONE})
    yield Fault("complete on a link", link, enum, f"{HERE}/on-click-action/name")
    foot = flow(footer(URL), foot=False)
    yield Fault("open_url on a Footer", foot, enum, f"{HERE}/on-click-action/name")
    early = flow(LINK, version="5.1")
    yield Fault("open_url in 5.1", early, enum, f"{HERE}/on-click-action/name")
    away = "INVALID_NAVIGATE_ACTION_NEXT_SCREEN_NAME"
    lost = put(good, f"{tap}/next/name", "NOWHERE")
    yield Fault("to no screen", lost, away, f"{tap}/next/name")
    loop = put(good, f"{tap}/next/name", "FIRST")
    yield Fault("to itself", loop, away, f"{tap}/next/name")
    asks = put(good, f"{tap}", {"name": "data_exchange", "payload": {}})
    yield Fault("no endpoint", asks, "MISSING_REQUIRED_PROPERTY", "/data_api_version")
    ends = flow(INPUT, footer(DONE), foot=False, version="7.0")
    yield Fault("complete too early", ends, "INVALID_COMPLETE_ACTION", f"{tap}/name")
    on = "/screens/1/layout/children/1/on-click-action"
    goes = put(good, on, GO | {"next": {"type": "screen", "name": "FIRST"}})
    yield Fault("an end that goes on", goes, value, f"{on}/name")
    extra = put(good, f"{tap}/payload", {"y": "1"})
    yield Fault("more than is asked", extra, "INVALID_NAVIGATE_ACTION_PAYLOAD",
                f"{tap}/payload/y")  # fmt: skip
    field = {"type": "number", "__example__": 1}
    asked = put(good, "/screens/1/data", {"y": field})
    yield Fault("less than is asked", asked, "INVALID_NAVIGATE_ACTION_PAYLOAD", f"{tap}/payload")
    wrong = put(asked, f"{tap}/payload", {"y": "one"})
    yield Fault("text for a number", wrong, "INVALID_NAVIGATE_ACTION_PAYLOAD",
                f"{tap}/payload/y")  # fmt: skip
    absent = put(good, f"{on}/payload", {"y": "${form.nobody}"})
    click = "INVALID_ON_CLICK_ACTION_PAYLOAD"
    yield Fault("no such field", absent, click, f"{on}/payload/y")
    gone = put(good, f"{on}/payload", {"y": "${data.nothing}"})
    yield Fault("no such data", gone, click, f"{on}/payload/y")
    shown = flow(TEXT | {"text": "${data.nothing}"})
    dynamic = "INVALID_SCREEN_DYNAMIC_DATA"
    yield Fault("no such data in a text", shown, dynamic, f"{HERE}/text")
    flag = flow(INPUT | {"required": "${data.x}"}, data={"x": {"type": "string",
                                                              "__example__": "1"}})  # fmt: skip
    yield Fault("text for a flag", flag, dynamic, f"{HERE}/required")
    data = "/screens/0/data/x"
    screened = "INVALID_SCREEN_DATA"
    yield Fault("a type unheard of", put(good, f"{data}/type", "text"), screened, f"{data}/type")
    yield Fault("an example that differs", put(good, f"{data}/__example__", 1), screened, data)
    yield Fault("data without type", drop(good, f"{data}/type"), screened, data)
    for name, condition in (
        ("a literal", "true"),
        ("two literals", "1 == 2"),
        ("a bracket", "(${form.a} == 'x'"),
        ("half a comparison", "${form.a} =="),
        ("a blank condition", " "),
    ):
        broken = flow(INPUT, IF | {"condition": condition})
        yield Fault(name, broken, value, f"{CHILDREN}/1/condition")
    asking = flow(INPUT, endpoint=True)
    routing = "INVALID_ROUTING_MODEL"
    yield Fault("no routes", drop(asking, "/routing_model"), "MISSING_REQUIRED_PROPERTY",
                "/routing_model")  # fmt: skip
    stranger = put(asking, "/routing_model/OTHER", [])
    yield Fault("a strange route", stranger, routing, "/routing_model/OTHER")
    back = put(asking, "/routing_model/LAST", ["FIRST"])
    yield Fault("a way back", back, routing, "/routing_model/LAST/0")
    island = put(flow(INPUT), "/screens/-", screen("ISLAND", footer(), terminal=True))
    yield Fault("an island", island, routing, "/screens/2/id")
    update = {"name": "update_data", "payload": {"y": "1"}}
    changed = flow(DROPDOWN | {"on-select-action": update})
    yield Fault("an update of nothing", changed, "INVALID_UPDATE_DATA_ACTION_PAYLOAD",
                f"{HERE}/on-select-action/payload/y")  # fmt: skip
    sum_ = put(good, f"{on}/payload", {"y": "`1 + `"})
    yield Fault("half a sum", sum_, "INVALID_ACTION_PAYLOAD_PROPERTY", f"{on}/payload/y")
    silent = drop(asked, f"{tap}/payload")
    yield Fault("nothing is handed over", silent, "MISSING_NAVIGATION_ACTION_PAYLOAD", tap)
    outside = footer(DONE | {"payload": {"y": "${form.a}"}})
    old = put(flow(version="3.1"), "/screens/1/layout/children", [FORM, outside])
    yield Fault("a Footer outside the Form of 3.1", old, "INVALID_FOOTER_PAYLOAD_OUTSIDE_FORM",
                f"{on}/payload/y")  # fmt: skip
    bound = flow(RICH | {"text": ["a", "${data.x}"]})
    yield Fault("a bound line", bound, "INVALID_TEXT_DYNAMIC_DATA", f"{HERE}/text")


FAULTS = [
    *document_faults(),
    *screen_faults(),
    *property_faults(),
    *deeper_faults(),
    *placement_faults(),
    *branch_faults(),
    *action_faults(),
]
