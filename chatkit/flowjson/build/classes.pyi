# Written by `python tests/flowjson/build/classes.py` from the table of components.

from dataclasses import KW_ONLY
from typing import Literal

from chatkit.flowjson import components
from chatkit.flowjson.build import Range
from chatkit.flowjson.build.piece import (
    Action,
    Base64,
    Block,
    Date,
    Flag,
    Integer,
    Items,
    Map,
    Number,
    One,
    Piece,
    Reference,
    piece_of,
)

__all__ = [
    "CalendarPicker",
    "CheckboxGroup",
    "Chip",
    "ChipsSelector",
    "DatePicker",
    "DocumentPicker",
    "Dropdown",
    "EmbeddedLink",
    "End",
    "Footer",
    "Form",
    "If",
    "Image",
    "ImageCarousel",
    "ListItem",
    "MainContent",
    "NavigationList",
    "OptIn",
    "Option",
    "PhotoPicker",
    "Picture",
    "RadioButtonsGroup",
    "RichText",
    "Start",
    "Switch",
    "TextArea",
    "TextBody",
    "TextCaption",
    "TextHeading",
    "TextInput",
    "TextSubheading",
]

AllowedMimeTypes = Literal[
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
]
AspectRatio = Literal["4:3", "16:9"]
FontWeight = Literal["bold", "italic", "bold_italic", "normal"]
IncludeDays = Literal["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
InputType = Literal["text", "number", "email", "password", "passcode", "phone"]
LabelVariant = Literal["large"]
MediaSize = Literal["regular", "large"]
Mode = Literal["single", "range"]
PhotoSource = Literal["camera_gallery", "camera", "gallery"]
ScaleType = Literal["cover", "contain"]

@piece_of(components.COMPONENTS["TextHeading"])
class TextHeading(Block):
    """A large heading."""

    text: str
    _: KW_ONLY
    visible: Flag | None = None

@piece_of(components.COMPONENTS["TextSubheading"])
class TextSubheading(Block):
    """A smaller heading."""

    text: str
    _: KW_ONLY
    visible: Flag | None = None

@piece_of(components.COMPONENTS["TextBody"])
class TextBody(Block):
    """A paragraph."""

    text: str | list[str]
    _: KW_ONLY
    font_weight: FontWeight | Reference | None = None
    strikethrough: Flag | None = None
    markdown: Flag | None = None
    visible: Flag | None = None

@piece_of(components.COMPONENTS["TextCaption"])
class TextCaption(Block):
    """Small print."""

    text: str | list[str]
    _: KW_ONLY
    font_weight: FontWeight | Reference | None = None
    strikethrough: Flag | None = None
    markdown: Flag | None = None
    visible: Flag | None = None

@piece_of(components.COMPONENTS["RichText"])
class RichText(Block):
    """A long text with headings, lists, tables and pictures, in Markdown."""

    text: str | list[str]
    _: KW_ONLY
    visible: Flag | None = None

@piece_of(components.COMPONENTS["TextInput"])
class TextInput(Block):
    """One line that a person writes."""

    name: str
    label: str
    _: KW_ONLY
    input_type: InputType | Reference | None = None
    pattern: str | None = None
    helper_text: str | None = None
    required: Flag | None = None
    min_chars: Number | None = None
    max_chars: Number | None = None
    label_variant: LabelVariant | Reference | None = None
    init_value: str | None = None
    error_message: str | None = None
    enabled: Flag | None = None
    visible: Flag | None = None

@piece_of(components.COMPONENTS["TextArea"])
class TextArea(Block):
    """Several lines that a person writes."""

    name: str
    label: str
    _: KW_ONLY
    helper_text: str | None = None
    required: Flag | None = None
    max_length: Integer | None = None
    label_variant: LabelVariant | Reference | None = None
    init_value: str | None = None
    error_message: str | None = None
    enabled: Flag | None = None
    visible: Flag | None = None

@piece_of(components.COMPONENTS["OptIn"])
class OptIn(Block):
    """A box to tick, with a link to what is agreed to."""

    name: str
    label: str
    _: KW_ONLY
    required: Flag | None = None
    on_click_action: One[Action] | None = None
    on_select_action: One[Action] | None = None
    on_unselect_action: One[Action] | None = None
    init_value: Flag | None = None
    visible: Flag | None = None

@piece_of(components.SHAPES["option"])
class Option(Piece):
    """One option of a list."""

    id: str
    title: str
    _: KW_ONLY
    description: str | None = None
    metadata: str | None = None
    enabled: Flag | None = None
    image: Base64 | None = None
    alt_text: str | None = None
    color: str | None = None
    on_select_action: One[Action] | None = None
    on_unselect_action: One[Action] | None = None

@piece_of(components.COMPONENTS["CheckboxGroup"])
class CheckboxGroup(Block):
    """Options of which a person ticks several."""

    name: str
    label: str | None
    data_source: Items[Option] | Reference
    _: KW_ONLY
    description: str | None = None
    required: Flag | None = None
    min_selected_items: Integer | None = None
    max_selected_items: Integer | None = None
    media_size: MediaSize | Reference | None = None
    on_select_action: One[Action] | None = None
    on_unselect_action: One[Action] | None = None
    init_value: list[str] | Reference | None = None
    error_message: str | None = None
    enabled: Flag | None = None
    visible: Flag | None = None

@piece_of(components.COMPONENTS["RadioButtonsGroup"])
class RadioButtonsGroup(Block):
    """Options of which a person picks one."""

    name: str
    label: str | None
    data_source: Items[Option] | Reference
    _: KW_ONLY
    description: str | None = None
    required: Flag | None = None
    media_size: MediaSize | Reference | None = None
    on_select_action: One[Action] | None = None
    on_unselect_action: One[Action] | None = None
    init_value: str | None = None
    error_message: str | None = None
    enabled: Flag | None = None
    visible: Flag | None = None

@piece_of(components.COMPONENTS["Dropdown"])
class Dropdown(Block):
    """Many options of which a person picks one."""

    name: str
    label: str
    data_source: Items[Option] | Reference
    _: KW_ONLY
    required: Flag | None = None
    on_select_action: One[Action] | None = None
    on_unselect_action: One[Action] | None = None
    init_value: str | None = None
    error_message: str | None = None
    enabled: Flag | None = None
    visible: Flag | None = None

@piece_of(components.SHAPES["chip"])
class Chip(Piece):
    """One chip to choose."""

    id: str
    title: str
    _: KW_ONLY
    enabled: Flag | None = None
    on_select_action: One[Action] | None = None
    on_unselect_action: One[Action] | None = None

@piece_of(components.COMPONENTS["ChipsSelector"])
class ChipsSelector(Block):
    """Chips of which a person taps several."""

    name: str
    label: str
    data_source: Items[Chip] | Reference
    _: KW_ONLY
    description: str | None = None
    required: Flag | None = None
    min_selected_items: Integer | None = None
    max_selected_items: Integer | None = None
    on_select_action: One[Action] | None = None
    on_unselect_action: One[Action] | None = None
    init_value: list[str] | Reference | None = None
    error_message: str | None = None
    enabled: Flag | None = None
    visible: Flag | None = None

@piece_of(components.COMPONENTS["DatePicker"])
class DatePicker(Block):
    """A day."""

    name: str
    label: str
    _: KW_ONLY
    helper_text: str | None = None
    required: Flag | None = None
    min_date: Date | None = None
    max_date: Date | None = None
    unavailable_dates: list[Date] | Reference | None = None
    on_select_action: One[Action] | None = None
    init_value: Date | None = None
    error_message: str | None = None
    enabled: Flag | None = None
    visible: Flag | None = None

@piece_of(components.COMPONENTS["CalendarPicker"])
class CalendarPicker(Block):
    """A day, or the first and the last day of a stay, in a calendar."""

    name: str
    label: str | One[Range]
    _: KW_ONLY
    mode: Mode | Reference | None = None
    title: str | None = None
    description: str | None = None
    helper_text: str | One[Range] | None = None
    required: Flag | One[Range] | None = None
    min_date: Date | None = None
    max_date: Date | None = None
    unavailable_dates: list[Date] | Reference | None = None
    include_days: list[IncludeDays] | Reference | None = None
    min_days: Integer | None = None
    max_days: Integer | None = None
    on_select_action: One[Action] | None = None
    init_value: Date | One[Range] | None = None
    error_message: str | One[Range] | None = None
    enabled: Flag | None = None
    visible: Flag | None = None

@piece_of(components.COMPONENTS["EmbeddedLink"])
class EmbeddedLink(Block):
    """A link in the text."""

    text: str
    on_click_action: One[Action]
    _: KW_ONLY
    visible: Flag | None = None

@piece_of(components.SHAPES["main content"])
class MainContent(Piece):
    """The texts of an item."""

    title: str
    _: KW_ONLY
    description: str | None = None
    metadata: str | None = None

@piece_of(components.SHAPES["start"])
class Start(Piece):
    """The picture before an item."""

    image: Base64
    _: KW_ONLY
    alt_text: str | None = None

@piece_of(components.SHAPES["end"])
class End(Piece):
    """The end of an item: one or two of these."""

    _: KW_ONLY
    title: str | None = None
    description: str | None = None
    metadata: str | None = None

@piece_of(components.SHAPES["list item"])
class ListItem(Piece):
    """One target of the list."""

    id: str
    main_content: One[MainContent] | Reference
    _: KW_ONLY
    start: One[Start] | Reference | None = None
    end: One[End] | Reference | None = None
    badge: str | None = None
    tags: list[str] | Reference | None = None
    enabled: Flag | None = None
    on_click_action: One[Action] | None = None

@piece_of(components.COMPONENTS["NavigationList"])
class NavigationList(Block):
    """A list of targets with pictures."""

    name: str
    list_items: Items[ListItem] | Reference
    _: KW_ONLY
    label: str | None = None
    description: str | None = None
    media_size: MediaSize | Reference | None = None
    on_click_action: One[Action] | None = None
    visible: Flag | None = None

@piece_of(components.COMPONENTS["Footer"])
class Footer(Block):
    """The button at the foot of a screen."""

    label: str
    on_click_action: One[Action]
    _: KW_ONLY
    left_caption: str | None = None
    center_caption: str | None = None
    right_caption: str | None = None
    enabled: Flag | None = None

@piece_of(components.COMPONENTS["Image"])
class Image(Block):
    """A picture."""

    src: Base64
    _: KW_ONLY
    width: Number | None = None
    height: Number | None = None
    scale_type: ScaleType | Reference | None = None
    aspect_ratio: Number | None = None
    alt_text: str | None = None
    visible: Flag | None = None

@piece_of(components.SHAPES["picture"])
class Picture(Piece):
    """One picture of a carousel."""

    src: Base64
    alt_text: str

@piece_of(components.COMPONENTS["ImageCarousel"])
class ImageCarousel(Block):
    """Up to three pictures to leaf through."""

    images: Items[Picture] | Reference
    _: KW_ONLY
    aspect_ratio: AspectRatio | Reference | None = None
    scale_type: ScaleType | Reference | None = None
    visible: Flag | None = None

@piece_of(components.COMPONENTS["PhotoPicker"])
class PhotoPicker(Block):
    """Photos that a person takes or chooses."""

    name: str
    label: str
    _: KW_ONLY
    description: str | None = None
    photo_source: PhotoSource | Reference | None = None
    max_file_size_kb: Integer | None = None
    min_uploaded_photos: Integer | None = None
    max_uploaded_photos: Integer | None = None
    error_message: str | Map | None = None
    enabled: Flag | None = None
    visible: Flag | None = None

@piece_of(components.COMPONENTS["DocumentPicker"])
class DocumentPicker(Block):
    """Documents that a person chooses."""

    name: str
    label: str
    _: KW_ONLY
    description: str | None = None
    allowed_mime_types: list[AllowedMimeTypes] | Reference | None = None
    max_file_size_kb: Integer | None = None
    min_uploaded_documents: Integer | None = None
    max_uploaded_documents: Integer | None = None
    error_message: str | Map | None = None
    enabled: Flag | None = None
    visible: Flag | None = None

@piece_of(components.COMPONENTS["Form"])
class Form(Block):
    """Inputs that belong together."""

    name: str
    children: Items[Block]
    _: KW_ONLY
    init_values: Map | Reference | None = None
    error_messages: Map | Reference | None = None

@piece_of(components.COMPONENTS["If"])
class If(Block):
    """Components that stand here only when something holds."""

    condition: str
    then: Items[Block]
    _: KW_ONLY
    else_: Items[Block] | None = None

@piece_of(components.COMPONENTS["Switch"])
class Switch(Block):
    """Components that stand here by a value."""

    value: Reference
    cases: dict[str, Items[Block]]
