"""The table of the flow document: every component, every property, every version of them.

It is the single source of lint, builder, editor and documentation. `COMPONENTS` holds the
components by name, in the order in which they are usually shown; `DOCUMENT`, `SCREEN` and
`LAYOUT` are the shapes around them, `ACTIONS` what may happen. A new component is an entry here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from chatkit.flowjson.property import ComponentShape, Kind, Property, Shape
from chatkit.flowjson.version import FIRST, Version

# --- What many components share --------------------------------------------------------------

V4, V5, V5_1, V6 = Version(4, 0), Version(5, 0), Version(5, 1), Version(6, 0)
V6_1, V6_2, V6_3 = Version(6, 1), Version(6, 2), Version(6, 3)
V7, V7_1 = Version(7, 0), Version(7, 1)

EXCHANGE = (("data_exchange", FIRST),)
EXCHANGE_OR_UPDATE = (*EXCHANGE, ("update_data", V6))
UPDATE = (("update_data", V6),)
OPENING = (*EXCHANGE, ("navigate", FIRST), ("open_url", V6))

TYPE = Property("type", "name", "The name of the component.", required=FIRST, binding=False)
VISIBLE = Property("visible", "boolean", "Whether it is shown.", default=True)
ENABLED = Property("enabled", "boolean", "Whether a person may use it.", default=True)
REQUIRED = Property("required", "boolean", "Whether it must be filled in.", default=False)
#: Half of what is written about choices of a person: the other half is in each component.
LABEL_VARIANT = Property(
    "label-variant", "choice", "A larger label, over several lines.", since=V7, enum=("large",)
)


def name(about: str = "Its name: ${form.name} is what a person enters.") -> Property:
    """Make the name of a component."""
    return Property("name", "name", about, required=FIRST, binding=False)


def label(length: int, required: Version | None = FIRST, **more: Any) -> Property:
    """Make a label with its documented length."""
    return Property("label", "text", "What it says.", required=required, length=length, **more)


def helper(length: int = 80, **more: Any) -> Property:
    """Make a helper text with its documented length."""
    return Property("helper-text", "text", "A small line of help below.", length=length, **more)


def description(length: int = 300, **more: Any) -> Property:
    """Make a description with its documented length."""
    return Property("description", "text", "More words below the label.", length=length, **more)


def error_message(length: int | None = None, **more: Any) -> Property:
    """Make the error message of an input that stands outside a Form."""
    about = "What is wrong with the value; inside a Form use its error-messages."
    return Property(
        "error-message", "text", about, since=V4, place="outside Form", length=length, **more
    )


def init_value(kind: Kind, *also: Kind, **more: Any) -> Property:
    """Make the first value of an input that stands outside a Form."""
    about = "The value at the start; inside a Form use its init-values."
    others = tuple((each, FIRST) for each in also)
    return Property(
        "init-value", kind, about, since=V4, place="outside Form", also=others, **more,
    )  # fmt: skip


def on_select(
    actions: tuple[tuple[str, Version], ...] = EXCHANGE_OR_UPDATE, since: Version = FIRST
) -> Property:
    """Make the action of choosing."""
    about = "What happens when it is chosen."
    return Property("on-select-action", "action", about, since=since, actions=actions)


def on_unselect(since: Version = V6) -> Property:
    """Make the action of taking a choice back."""
    about = "What happens when the choice is taken back."
    return Property("on-unselect-action", "action", about, since=since, actions=UPDATE)


def on_click(actions: tuple[tuple[str, Version], ...], required: Version | None = None) -> Property:
    """Make the action of a tap."""
    about = "What happens on a tap."
    return Property("on-click-action", "action", about, required=required, actions=actions)


def data_source(item: Shape, least: int, most: int) -> Property:
    """Make the list of options: written out, or one array of the data model."""
    return Property(
        "data-source", "items", "The options.", required=FIRST, item=item, least=1,
        advised_least=least, advised=most,
    )  # fmt: skip


# --- The document, its screens, their layout -------------------------------------------------

DOCUMENT = Shape(
    "document",
    "A flow.",
    (
        Property("version", "name", "The version of its rules.", required=FIRST, binding=False),
        Property(
            "screens", "items", "The screens.", required=FIRST, least=1, most=100, binding=False
        ),
        Property(
            "data_api_version", "name", "The version of the endpoint's protocol; endpoint flows.",
            binding=False,
        ),
        Property(
            "routing_model", "map", "Which screens may follow a screen; endpoint flows.",
            binding=False,
        ),
        Property(
            "data_channel_uri", "url", "The address of the endpoint.", until=Version(3, 0),
            binding=False,
        ),
        Property("meta", "map", "Marks of other tools.", since=Version(5, 1), binding=False),
    ),
)  # fmt: skip

LAYOUT = Shape(
    "layout",
    "How a screen is laid out.",
    (
        Property(
            "type", "choice", "Always SingleColumnLayout.", required=FIRST,
            enum=("SingleColumnLayout",), binding=False,
        ),
        Property(
            "children", "components", "The components from top to bottom.", required=FIRST,
            binding=False,
        ),
    ),
)  # fmt: skip

SCREEN = Shape(
    "screen",
    "A screen.",
    (
        Property("id", "name", "Its id: letters and underscores.", required=FIRST, binding=False),
        Property(
            "title", "text", "What its top says.", required=FIRST, not_blank=FIRST, binding=False
        ),
        Property(
            "layout", "object", "Its components.", required=Version(6, 0), item=LAYOUT,
            binding=False,
        ),
        Property("data", "map", "Its data model: field -> type and __example__.", binding=False),
        Property("terminal", "boolean", "Whether the flow may end here.", binding=False),
        Property(
            "success", "boolean", "Whether an end here is a success; terminal screens.",
            binding=False,
        ),
        Property(
            "refresh_on_back", "boolean", "Whether the endpoint is asked on the way back.",
            binding=False,
        ),
        Property(
            "sensitive", "strings", "Names of fields whose values are not shown afterwards.",
            since=Version(5, 1), binding=False,
        ),
    ),
)  # fmt: skip
#: Components on one screen: the documentation names the first, the platform counts to the second.
ADVISED_COMPONENTS, MOST_COMPONENTS = 50, 100
#: If in If in If.
MOST_NESTED = 3


# --- What may happen on a tap or a choice ----------------------------------------------------


@dataclass(frozen=True, eq=False)
class ActionShape(Shape):
    """An action: its keys, and since which version it is known."""

    since: Version = FIRST


_NAME = Property("name", "name", "The name of the action.", required=FIRST, binding=False)
NEXT = Shape(
    "next",
    "Where navigate goes.",
    (
        Property(
            "type", "choice", "Always screen.", required=FIRST, enum=("screen",), binding=False
        ),
        Property("name", "name", "The id of the screen.", required=FIRST, binding=False),
    ),
)


def _payload(about: str, required: Version | None = None) -> Property:
    """Make the payload of an action."""
    return Property("payload", "map", about, required=required, binding=False)


ACTIONS: dict[str, ActionShape] = {
    each.name: each
    for each in (
        ActionShape(
            "navigate",
            "Shows another screen.",
            (
                _NAME,
                Property(
                    "next", "object", "The screen to show.", required=FIRST, item=NEXT,
                    binding=False,
                ),
                _payload("What the screen's data model asks for."),
            ),
        ),
        ActionShape(
            "complete",
            "Ends the flow and sends what was entered.",
            (_NAME, _payload("What the answer holds.")),
        ),
        ActionShape(
            "data_exchange",
            "Asks your endpoint what comes next.",
            (_NAME, _payload("What your endpoint gets.")),
        ),
        ActionShape(
            "update_data",
            "Changes the data of the screen.",
            (_NAME, _payload("The fields and their new values.", FIRST)),
            since=Version(6, 0),
        ),
        ActionShape(
            "open_url",
            "Opens a web page.",
            (_NAME, Property("url", "url", "The address of the page.", required=FIRST)),
            since=Version(6, 0),
        ),
    )
}  # fmt: skip


# --- Components that only say something ------------------------------------------------------

_WEIGHT = Property(
    "font-weight", "choice", "Bold, italic, both or neither.",
    enum=("bold", "italic", "bold_italic", "normal"),
)  # fmt: skip
_STRIKE = Property("strikethrough", "boolean", "Whether it is struck through.")
_MARKDOWN = Property(
    "markdown", "boolean", "Whether **bold**, _italic_, links and lists are shown.", since=V5_1
)


def _text(length: int | None, lines: bool = False) -> Property:
    """Make the text of a component; some take an array of lines."""
    return Property(
        "text", "text", "What it says.", required=FIRST, length=length, not_blank=FIRST,
        also=(("strings", V5_1),) if lines else (),
    )  # fmt: skip


TEXTS = (
    ComponentShape("TextHeading", "A large heading.", (TYPE, _text(80), VISIBLE), group="text"),
    ComponentShape(
        "TextSubheading", "A smaller heading.", (TYPE, _text(80), VISIBLE), group="text"
    ),
    ComponentShape(
        "TextBody",
        "A paragraph.",
        (TYPE, _text(4096, lines=True), _WEIGHT, _STRIKE, _MARKDOWN, VISIBLE),
        group="text",
    ),
    ComponentShape(
        "TextCaption",
        "Small print.",
        (TYPE, _text(409, lines=True), _WEIGHT, _STRIKE, _MARKDOWN, VISIBLE),
        group="text",
    ),
    ComponentShape(
        "RichText",
        "A long text with headings, lists, tables and pictures, in Markdown.",
        (TYPE, _text(None, lines=True), VISIBLE),
        group="text",
        since=V5_1,
        rules=("It stands alone on its screen; from 6.3 a Footer may stand beside it.",),
    ),
)


ENTRIES = (
    ComponentShape(
        "TextInput",
        "One line that a person writes.",
        (
            TYPE,
            name(),
            label(20),
            Property(
                "input-type", "choice", "Which keyboard is shown, and what is accepted.",
                enum=("text", "number", "email", "password", "passcode", "phone"), default="text",
            ),
            Property(
                "pattern", "regex", "A regular expression that the value must match.",
                since=V6_2, binding=False,
            ),
            helper(),
            REQUIRED,
            Property("min-chars", "number", "The fewest characters."),
            Property("max-chars", "number", "The most characters.", default=80),
            LABEL_VARIANT,
            init_value("text"),
            error_message(30),
            ENABLED,
            VISIBLE,
        ),
        group="input",
        value="string",
        rules=(
            "pattern needs helper-text, and input-type text, number, password or passcode.",
            "min-chars is not above max-chars.",
        ),
    ),
    ComponentShape(
        "TextArea",
        "Several lines that a person writes.",
        (
            TYPE,
            name(),
            label(20),
            helper(),
            REQUIRED,
            Property("max-length", "integer", "The most characters.", default=600),
            LABEL_VARIANT,
            init_value("text"),
            error_message(),
            ENABLED,
            VISIBLE,
        ),
        group="input",
        value="string",
    ),
    ComponentShape(
        "OptIn",
        "A box to tick, with a link to what is agreed to.",
        (
            TYPE,
            name(),
            label(120),
            REQUIRED,
            on_click(OPENING),
            on_select(UPDATE, since=V6),
            on_unselect(),
            init_value("boolean"),
            VISIBLE,
        ),
        group="input",
        value="boolean",
        per_screen=5,
    ),
)  # fmt: skip


_ID = Property("id", "text", "What is sent when it is chosen.", required=FIRST)
_TITLE = Property("title", "text", "What it says.", required=FIRST, length=30)
_ITEM_ON_SELECT = on_select(UPDATE, since=V6)

OPTION = Shape(
    "option",
    "One option of a list.",
    (
        _ID,
        _TITLE,
        description(),
        Property("metadata", "text", "A few words at the side.", length=20),
        Property("enabled", "boolean", "Whether it may be chosen.", default=True),
        Property(
            "image", "base64", "A picture beside it.", since=V5, kilobytes=((V5, 300), (V6, 100))
        ),
        Property("alt-text", "text", "The picture in words.", since=V5),
        Property("color", "color", "A colour beside it, #RRGGBB.", since=V5),
        _ITEM_ON_SELECT,
        on_unselect(),
    ),
)
CHIP = Shape(
    "chip",
    "One chip to choose.",
    (
        _ID,
        _TITLE,
        Property("enabled", "boolean", "Whether it may be chosen.", default=True),
        _ITEM_ON_SELECT,
        on_unselect(),
    ),
)

_MEDIA_SIZE = Property(
    "media-size", "choice", "How large the pictures are.", since=V5, enum=("regular", "large")
)


def _selected(low: int) -> tuple[Property, Property]:
    """Make the bounds of how many may be chosen."""
    return (
        Property("min-selected-items", "integer", "The fewest that must be chosen.", low=0),
        Property("max-selected-items", "integer", "The most that may be chosen.", low=low),
    )


CHOICES = (
    ComponentShape(
        "CheckboxGroup",
        "Options of which a person ticks several.",
        (
            TYPE,
            name(),
            label(30, required=V4),
            description(since=V4),
            data_source(OPTION, 1, 20),
            REQUIRED,
            *_selected(2),
            _MEDIA_SIZE,
            on_select(),
            on_unselect(),
            init_value("strings"),
            error_message(),
            ENABLED,
            VISIBLE,
        ),
        group="input",
        value="array",
    ),
    ComponentShape(
        "RadioButtonsGroup",
        "Options of which a person picks one.",
        (
            TYPE,
            name(),
            label(30, required=V4),
            description(since=V4),
            data_source(OPTION, 1, 20),
            REQUIRED,
            _MEDIA_SIZE,
            on_select(),
            on_unselect(),
            init_value("text"),
            error_message(),
            ENABLED,
            VISIBLE,
        ),
        group="input",
        value="string",
    ),
    ComponentShape(
        "Dropdown",
        "Many options of which a person picks one.",
        (
            TYPE,
            name(),
            label(20),
            data_source(OPTION, 1, 200),
            REQUIRED,
            on_select(),
            on_unselect(),
            init_value("text"),
            error_message(),
            ENABLED,
            VISIBLE,
        ),
        group="input",
        value="string",
        rules=("At most 200 options, 100 when they have pictures.",),
    ),
    ComponentShape(
        "ChipsSelector",
        "Chips of which a person taps several.",
        (
            TYPE,
            name(),
            label(80),
            description(),
            data_source(CHIP, 2, 20),
            REQUIRED,
            *_selected(1),
            on_select(since=V7_1),
            on_unselect(since=V7_1),
            init_value("strings"),
            error_message(),
            ENABLED,
            VISIBLE,
        ),
        group="input",
        value="array",
        since=V6_2,
        announced=V6_3,
    ),
)


_DATES = (
    Property("min-date", "date", "The first day that may be picked."),
    Property("max-date", "date", "The last day that may be picked."),
    Property("unavailable-dates", "dates", "Days between that may not be picked."),
)
_RANGE: tuple[tuple[Kind, Version], ...] = (("range", V6_1),)
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

CALENDARS = (
    ComponentShape(
        "DatePicker",
        "A day.",
        (
            TYPE,
            name(),
            label(40),
            helper(),
            REQUIRED,
            *_DATES,
            on_select(EXCHANGE),
            init_value("date"),
            error_message(80),
            ENABLED,
            VISIBLE,
        ),
        group="input",
        value="string",
        rules=("Days lie between min-date and max-date.",),
    ),
    ComponentShape(
        "CalendarPicker",
        "A day, or the first and the last day of a stay, in a calendar.",
        (
            TYPE,
            name(),
            Property(
                "mode", "choice", "One day, or a first and a last.", enum=("single", "range"),
                default="single",
            ),
            Property("title", "text", "A heading above both.", length=80, place="range mode"),
            description(place="range mode"),
            label(40, also=_RANGE),
            helper(also=_RANGE),
            Property(
                "required", "boolean", "Whether it must be filled in.", default=False, also=_RANGE,
                part="boolean",
            ),
            *_DATES,
            Property(
                "include-days", "choices", "Days of the week that may be picked.", enum=DAYS,
                least=1,
            ),
            Property("min-days", "integer", "The fewest days of a stay.", place="range mode"),
            Property("max-days", "integer", "The most days of a stay.", place="range mode"),
            on_select(EXCHANGE),
            init_value("date", "range", part="date"),
            error_message(80, also=_RANGE),
            ENABLED,
            VISIBLE,
        ),
        group="input",
        value="string",
        since=V6_1,
        rules=(
            "Days lie between min-date and max-date.",
            "In range mode label, helper-text, required, init-value and error-message may be"
            " objects with start-date and end-date.",
        ),
    ),
)  # fmt: skip


_NAVIGATION = (*EXCHANGE, ("navigate", FIRST))
_FOOT = (*_NAVIGATION, ("complete", FIRST))

MAIN = Shape(
    "main content",
    "What an item says.",
    (
        Property("title", "text", "What it says.", required=FIRST, length=30),
        description(20),
        Property("metadata", "text", "More words below.", length=80),
    ),
)
START = Shape(
    "start",
    "The picture before an item.",
    (
        Property(
            "image", "base64", "The picture, in base64.", required=FIRST, kilobytes=((V6_2, 100),)
        ),
        Property("alt-text", "text", "The picture in words."),
    ),
)
END = Shape(
    "end",
    "What stands at the end of an item: one or two of these.",
    tuple(
        Property(key, "text", "A few characters at the side.", length=10)
        for key in ("title", "description", "metadata")
    ),
)
TARGET = Shape(
    "list item",
    "One target of the list.",
    (
        Property("id", "text", "Its id.", required=FIRST),
        Property("main-content", "object", "What it says.", required=FIRST, item=MAIN),
        Property("start", "object", "The picture before it.", item=START),
        Property("end", "object", "What stands at its end.", item=END),
        Property("badge", "text", "A word that stands out; one item of a list.", length=15),
        Property("tags", "strings", "One to three words below.", length=15, least=1, most=3),
        Property("enabled", "boolean", "Whether it may be tapped.", default=True),
        on_click(_NAVIGATION),
    ),
)


def _caption(side: str) -> Property:
    """Make a caption of the footer."""
    return Property(f"{side}-caption", "text", "A few words beside the button.", length=15)


TAPS = (
    ComponentShape(
        "EmbeddedLink",
        "A link in the text.",
        (
            TYPE,
            Property(
                "text", "text", "What it says.", required=FIRST, length=25, not_blank=FIRST
            ),
            on_click(OPENING, required=FIRST),
            VISIBLE,
        ),
        group="action",
        per_screen=2,
    ),
    ComponentShape(
        "NavigationList",
        "A list of targets with pictures.",
        (
            TYPE,
            name("Its name."),
            Property(
                "list-items", "items", "The targets.", required=FIRST, item=TARGET, least=1,
                advised=20,
            ),
            label(80, required=None),
            description(),
            Property(
                "media-size", "choice", "How large the pictures are.", enum=("regular", "large")
            ),
            on_click(_NAVIGATION),
            replace(VISIBLE, doubtful=True),
        ),
        group="action",
        since=V6_2,
        per_screen=2,
        rules=(
            "It stands alone on its screen, or with its like, and not on a terminal screen.",
            "The action stands on the list or on every item, never on both.",
            "One badge a list; no end beside media-size large.",
        ),
    ),
    ComponentShape(
        "Footer",
        "The button at the foot of a screen.",
        (
            TYPE,
            label(35),
            _caption("left"),
            _caption("center"),
            _caption("right"),
            on_click(_FOOT, required=FIRST),
            ENABLED,
        ),
        group="action",
        per_screen=1,
        rules=(
            "left-caption and right-caption come together; center-caption stands alone.",
        ),
    ),
)  # fmt: skip


_SCALE = Property(
    "scale-type", "choice", "Whether a picture fills its space or fits into it.",
    enum=("cover", "contain"), default="contain",
)  # fmt: skip
_ADVISED_SIZE = ((FIRST, 300),)

PICTURE = Shape(
    "picture",
    "One picture of a carousel.",
    (
        Property("src", "base64", "The picture, JPEG or PNG in base64.", required=FIRST),
        Property("alt-text", "text", "The picture in words.", required=FIRST),
    ),
)

MIME_TYPES = (
    "application/gzip",
    "application/msword",
    "application/pdf",
    "application/vnd.ms-excel",
    "application/vnd.ms-powerpoint",
    "application/vnd.oasis.opendocument.presentation",
    "application/vnd.oasis.opendocument.spreadsheet",
    "application/vnd.oasis.opendocument.text",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/x-7z-compressed",
    "application/zip",
    "image/avif",
    "image/gif",
    "image/heic",
    "image/heif",
    "image/jpeg",
    "image/png",
    "image/tiff",
    "image/webp",
    "text/plain",
    "video/mp4",
    "video/mpeg",
)


def _uploads(what: str) -> tuple[Property, ...]:
    """Make the bounds of how much may be uploaded."""
    return (
        Property(
            "max-file-size-kb", "integer", "The largest file, in KB.", low=1, high=25600,
            default=25600,
        ),
        Property(
            f"min-uploaded-{what}", "integer", "The fewest files.", low=0, high=30, default=0
        ),
        Property(
            f"max-uploaded-{what}", "integer", "The most files.", low=1, high=30, default=30
        ),
    )  # fmt: skip


_PICKER_ERROR = error_message(also=(("map", FIRST),))
_PICKER_RULES = (
    "PhotoPicker and DocumentPicker exclude each other on a screen.",
    "The value may not go into a navigate payload; elsewhere it stands at the top of the payload.",
)

MEDIA = (
    ComponentShape(
        "Image",
        "A picture.",
        (
            TYPE,
            Property(
                "src", "base64", "The picture, JPEG or PNG in base64.", required=FIRST,
                kilobytes=_ADVISED_SIZE,
            ),
            Property("width", "number", "Its width in pixels."),
            Property("height", "number", "Its height in pixels."),
            _SCALE,
            Property("aspect-ratio", "number", "Its width over its height.", default=1),
            Property("alt-text", "text", "The picture in words."),
            VISIBLE,
        ),
        group="media",
        per_screen=3,
    ),
    ComponentShape(
        "ImageCarousel",
        "Up to three pictures to leaf through.",
        (
            TYPE,
            Property(
                "images", "items", "The pictures.", required=FIRST, item=PICTURE, least=1, most=3
            ),
            Property(
                "aspect-ratio", "choice", "The shape of the pictures.", enum=("4:3", "16:9")
            ),
            _SCALE,
            VISIBLE,
        ),
        group="media",
        since=V7_1,
        per_screen=2,
        per_flow=3,
    ),
    ComponentShape(
        "PhotoPicker",
        "Photos that a person takes or chooses.",
        (
            TYPE,
            name(),
            label(80),
            description(),
            Property(
                "photo-source", "choice", "From where photos come.",
                enum=("camera_gallery", "camera", "gallery"), default="camera_gallery",
            ),
            *_uploads("photos"),
            _PICKER_ERROR,
            ENABLED,
            VISIBLE,
        ),
        group="media input",
        value="array",
        since=V4,
        per_screen=1,
        rules=_PICKER_RULES,
    ),
    ComponentShape(
        "DocumentPicker",
        "Documents that a person chooses.",
        (
            TYPE,
            name(),
            label(80),
            description(),
            Property(
                "allowed-mime-types", "choices", "Which kinds of file.", enum=MIME_TYPES, least=1
            ),
            *_uploads("documents"),
            _PICKER_ERROR,
            ENABLED,
            VISIBLE,
        ),
        group="media input",
        value="array",
        since=V4,
        per_screen=1,
        rules=_PICKER_RULES,
    ),
)  # fmt: skip


_EVERYWHERE = (
    *("TextHeading", "TextSubheading", "TextBody", "TextCaption", "Image", "EmbeddedLink"),
    *("TextInput", "TextArea", "OptIn", "CheckboxGroup", "RadioButtonsGroup", "Dropdown"),
    *("DatePicker", "Footer"),
)
_IN_ALL = dict.fromkeys(_EVERYWHERE, FIRST) | {
    "PhotoPicker": V4,
    "DocumentPicker": V4,
    "CalendarPicker": V6_1,
}
_IN_FORM: dict[str, Version] = _IN_ALL | {
    "If": V4,
    "Switch": V4,
    "NavigationList": V6_2,
    "ChipsSelector": V6_2,
    "ImageCarousel": V7_1,
}
_IN_SWITCH: dict[str, Version] = _IN_ALL | {"ChipsSelector": V7_1}
_IN_IF: dict[str, Version] = _IN_SWITCH | {"If": V4, "Switch": V4}

CONTAINERS = (
    ComponentShape(
        "Form",
        "Inputs that belong together.",
        (
            TYPE,
            name("Its name."),
            Property(
                "children", "components", "What stands in it.", required=FIRST, binding=False
            ),
            Property("init-values", "map", "First values by the names of its inputs."),
            Property("error-messages", "map", "What is wrong, by the names of its inputs."),
        ),
        group="container",
        per_screen=1,
        per_screen_since=V7,
        children=_IN_FORM,
        rules=(
            "Before 4.0 every input stands in a Form.",
            "On a screen with a Form no input stands outside it.",
        ),
    ),
    ComponentShape(
        "If",
        "What stands here only when something holds.",
        (
            TYPE,
            Property(
                "condition", "condition", "What must hold: it names at least one ${…}.",
                required=FIRST,
            ),
            Property(
                "then", "components", "What stands here when it holds.", required=FIRST,
                least=1, binding=False,
            ),
            Property(
                "else", "components", "What stands here when it does not.", binding=False
            ),
        ),
        group="container",
        since=V4,
        children=_IN_IF,
        rules=(
            "At most three levels of If.",
            "A Footer in one branch means a Footer in both, and none outside.",
        ),
    ),
    ComponentShape(
        "Switch",
        "What stands here depends on a value.",
        (
            TYPE,
            Property("value", "reference", "The value, one ${…}.", required=FIRST),
            Property(
                "cases", "cases", "What stands here for each value.", required=FIRST,
                binding=False,
            ),
        ),
        group="container",
        since=V4,
        children=_IN_SWITCH,
        rules=("A Footer in one case means a Footer in every case.",),
    ),
)  # fmt: skip


COMPONENTS: dict[str, ComponentShape] = {
    each.name: each
    for group in (TEXTS, ENTRIES, CHOICES, CALENDARS, TAPS, MEDIA, CONTAINERS)
    for each in group
}
