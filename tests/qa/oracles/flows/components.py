"""The table of the flow format: what each part may carry, since which version.

One line holds the properties of one part, each written `name:kind`, with
`!` required (`!4.0`: since that version), `/` what the kind is bounded by, `>=` the version it
exists since, `<` the first that no longer has it, `~` only outside a Form, `*` only where mode
is range, `&` may be {start-date, end-date} there, `.` never blank, also before 6.0 refused blanks.
`+GROUP` stands for the properties of that group. Versions are compared as text: every known
one is one digit, a dot, one digit.
"""

import re
from typing import NamedTuple

FROZEN = ("2.1", "3.0", "3.1", "4.0", "5.0")
VERSIONS = (*FROZEN, "5.1", "6.0", "6.1", "6.2", "6.3", "7.0", "7.1", "7.2", "7.3")
WITHHELD = ("5.2", "7.4")  # the platform's validator knows them, its public notes do not
SCREENS_MOST, BRANCHES_MOST, IF_DEPTH_MOST, CAROUSELS_MOST = 100, 10, 3, 3
# The documentation says 50, the platform's own validator counts to 100: what is observed refuses,
# what is only documented warns.
COMPONENTS_DOCUMENTED, COMPONENTS_MOST = 50, 100
# Both spellings: the validator compares with the one, the documentation prints the other.
RESERVED_SCREEN_IDS = ("success", "SUCCESS")
CASE = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")

# Where sources disagree: TextCaption 409 is the newest page, 4096 an older source, a warning either
# way. The pickers' label is 80 on the media page, 30 elsewhere. `title` of a screen is optional in
# the documentation and required by the validator, `layout` likewise before 6.0: the validator
# decides. A range may give CalendarPicker one label or two. `visible` of ImageCarousel and
# NavigationList is in one published schema and refused by no source.
_TABLE = """
DOCUMENT  version:string screens!:list data_api_version:string routing_model:map
          data_channel_uri:uri<3.0 meta:map>=5.1
SCREEN    id!:string title!:text. layout!6.0:map/LAYOUT terminal:bool success:bool
          refresh_on_back:bool data:map sensitive:list>=5.1
LAYOUT    type!:string children!:list

FIELD     name!:name visible:flag
INPUT     +FIELD required:flag enabled:flag
START     init-value:initial~ error-message:text~
ON_SELECT on-select-action:action/data_exchange|update_data
          on-unselect-action:action/update_data>=6.0
ITEM_ON_SELECT
          on-select-action:action/update_data>=6.0 on-unselect-action:action/update_data>=6.0
OPTION    id!:text title!:text/30 description:text/300 metadata:text/20 enabled:flag
          image:listed_image>=5.0 alt-text:text>=5.0 color:color>=5.0 +ITEM_ON_SELECT
CHIP      id!:text title!:text enabled:flag +ITEM_ON_SELECT
PICTURE   src!:image alt-text!:text
GROUP     +INPUT label!4.0:text/30 data-source!:objects/1..20/OPTION description:text>=4.0
          media-size:choice/regular|large>=5.0 +ON_SELECT +START
DATES     +INPUT min-date:date max-date:date unavailable-dates:dates
          on-select-action:action/data_exchange init-value:start_date~&
PICKER    +FIELD enabled:flag label!:text/80 description:text/300
          max-file-size-kb:number/1..25600 error-message:message~
FONT      visible:flag font-weight:choice/bold|italic|bold_italic|normal strikethrough:flag
          markdown:flag>=5.1
ITEM      id!:text main-content!:object/MAIN start:object/PICTURE_START end:object/1..2/END
          badge:text/15 tags:texts/1..3/15 enabled:flag
          on-click-action:action/data_exchange|navigate
MAIN      title!:text/30 description:text/20 metadata:text/80
PICTURE_START
          image!:listed_image alt-text:text
END       title:text/10 description:text/10 metadata:text/10

TextHeading    text!:text/80. visible:flag
TextSubheading text!:text/80. visible:flag
TextBody       text!:words/4096. +FONT
TextCaption    text!:words/409. +FONT
RichText       text!:static_words. visible:flag
TextInput      +INPUT label!:text/20 helper-text:text/80 min-chars:number/0.. max-chars:number/0..
               input-type:choice/text|number|email|password|passcode|phone pattern:regex>=6.2
               label-variant:choice/large>=7.0 init-value:initial~ error-message:text/30~
TextArea       +INPUT label!:text/20 helper-text:text/80 max-length:number/0..
               label-variant:choice/large>=7.0 +START
CheckboxGroup  +GROUP min-selected-items:number/0.. max-selected-items:number/2..
RadioButtonsGroup +GROUP
Dropdown       +INPUT label!:text/20 data-source!:objects/1..200/OPTION +ON_SELECT +START
ChipsSelector  +INPUT label!:text/80 data-source!:objects/2..20/CHIP description:text/300
               min-selected-items:number/0.. max-selected-items:number/1..
               on-select-action:action/data_exchange|update_data>=7.1
               on-unselect-action:action/update_data>=7.1 +START
DatePicker     +DATES label!:text/40 helper-text:text/80 error-message:text/80~
CalendarPicker +DATES label!:text/40& helper-text:text/80& error-message:text/80~& required:flag&
               title:text/80* description:text/300* mode:choice/single|range
               include-days:choices/Mon|Tue|Wed|Thu|Fri|Sat|Sun min-days:number/1..*
               max-days:number/1..*
OptIn          +FIELD label!:text/120 required:flag init-value:initial~ +ITEM_ON_SELECT
               on-click-action:action/data_exchange|navigate|open_url
EmbeddedLink   text!:text/25. visible:flag on-click-action!:action/data_exchange|navigate|open_url
Footer         label!:text/35 left-caption:text/15 center-caption:text/15 right-caption:text/15
               enabled:flag on-click-action!:action/data_exchange|navigate|complete
Image          src!:image width:number height:number scale-type:choice/cover|contain
               aspect-ratio:number alt-text:text visible:flag
ImageCarousel  images!:objects/1..3/PICTURE aspect-ratio:choice/4:3|16:9
               scale-type:choice/cover|contain visible:flag
NavigationList name!:name label:text/80 description:text/300 list-items!:objects/1..20/ITEM
               media-size:choice/regular|large on-click-action:action/data_exchange|navigate
               visible:flag
PhotoPicker    +PICKER photo-source:choice/camera_gallery|camera|gallery
               min-uploaded-photos:number/0..30 max-uploaded-photos:number/1..30
DocumentPicker +PICKER allowed-mime-types:mime_types
               min-uploaded-documents:number/0..30 max-uploaded-documents:number/1..30
Form           name!:name children!:list init-values:object error-messages:object
If             condition!:condition then!:list else:list
Switch         value!:reference cases!:map

navigate       next!:map/NEXT payload:map
NEXT           type!:choice/screen name!:string
complete       payload:map
data_exchange  payload:map
update_data    payload!:map
open_url       url!:uri
"""
MIME_TYPES = tuple(
    f"{family}/{name}"
    for family, names in {
        "application": "gzip msword pdf vnd.ms-excel vnd.ms-powerpoint x-7z-compressed zip"
        " vnd.oasis.opendocument.presentation vnd.oasis.opendocument.spreadsheet"
        " vnd.oasis.opendocument.text"
        " vnd.openxmlformats-officedocument.presentationml.presentation"
        " vnd.openxmlformats-officedocument.spreadsheetml.sheet"
        " vnd.openxmlformats-officedocument.wordprocessingml.document",
        "image": "avif gif heic heif jpeg png tiff webp",
        "text": "plain",
        "video": "mp4 mpeg",
    }.items()
    for name in names.split()
)


class Prop(NamedTuple):
    """One property of the table."""

    kind: str
    required: str | None  # the version from which it must be there
    since: str
    until: str  # exclusive
    marks: str
    values: tuple[str, ...]  # the words of a choice, the names of actions
    low: int | None  # of a number, or of the count of items
    high: int | None
    chars: int | None  # documented length
    items: str | None  # the part that each item is


_PROP = re.compile(
    r"(?P<name>[\w-]+)(?P<must>!(?P<from>\d\.\d)?)?:(?P<kind>\w+)(?P<bounds>(?:/[\w.|:-]*\w(?:\.\.)?)*)"
    r"(?P<marks>[~*&.]*)(?:>=(?P<since>\d\.\d))?(?:<(?P<until>\d\.\d))?"
)


def _prop(match: re.Match[str]) -> Prop:
    values: tuple[str, ...] = ()
    low = high = chars = items = None
    for bound in match["bounds"].split("/")[1:]:
        if match["kind"] in ("choice", "choices", "action"):
            values = tuple(bound.split("|"))
        elif ".." in bound:
            low, high = (int(end) if end else None for end in bound.split(".."))
        elif bound.isdigit():
            chars = int(bound)
        else:
            items = bound
    required = (match["from"] or VERSIONS[0]) if match["must"] else None
    since, until = match["since"] or VERSIONS[0], match["until"] or "9"
    kind, marks = match["kind"], match["marks"]
    return Prop(kind, required, since, until, marks, values, low, high, chars, items)


def _read(table: str) -> dict[str, dict[str, Prop]]:
    parts: dict[str, dict[str, Prop]] = {}
    part: dict[str, Prop] = {}
    for word in table.split():
        if word.startswith("+"):
            part.update(parts[word[1:]])
        elif match := _PROP.fullmatch(word):
            part[match["name"]] = _prop(match)
        else:
            part = parts[word] = {}
    return parts


PARTS = _read(_TABLE)


class Component(NamedTuple):
    """Return the findings of a component type that the table of properties does not cover."""

    since: str = VERSIONS[0]
    value: str | None = None  # JSON type of ${form.name}; None: not an input
    per_screen: int | None = None
    media: bool = False  # a picker of files


COMPONENTS = {
    **dict.fromkeys(("TextHeading", "TextSubheading", "TextBody", "TextCaption"), Component()),
    "RichText": Component("5.1"),
    **dict.fromkeys(("TextInput", "TextArea", "DatePicker"), Component(value="string")),
    **dict.fromkeys(("RadioButtonsGroup", "Dropdown"), Component(value="string")),
    "CheckboxGroup": Component(value="array"),
    "ChipsSelector": Component("6.3", "array"),
    "CalendarPicker": Component("6.1", "string"),
    "OptIn": Component(value="boolean", per_screen=5),
    "EmbeddedLink": Component(per_screen=2),
    "Footer": Component(per_screen=1),
    "Image": Component(per_screen=3),
    "ImageCarousel": Component("7.1", per_screen=2),
    "NavigationList": Component("6.2", per_screen=2),
    **dict.fromkeys(("PhotoPicker", "DocumentPicker"), Component("4.0", "array", 1, True)),
    "Form": Component(),
    **dict.fromkeys(("If", "Switch"), Component("4.0")),
}
ACTION_SINCE = {"update_data": "6.0", "open_url": "6.0"}
_NOT_IN_IF = {"Form", "RichText", "ImageCarousel", "NavigationList"}
NOT_INSIDE = {
    "Form": {"Form", "RichText"},
    "If": _NOT_IN_IF,  # one page leaves the pickers out, the schema takes them
    "Switch": _NOT_IN_IF | {"If", "Switch"},
}
CHIPS_IN_BRANCHES = "7.1"  # ChipsSelector inside If and Switch
# Properties that come with another one, and properties that exclude others.
NEEDS = {
    "left-caption": "right-caption",
    "right-caption": "left-caption",
    "pattern": "helper-text",
}
EXCLUDES = {"center-caption": {"left-caption", "right-caption"}}
ORDERED = {f"min-{what}": f"max-{what}" for what in ("chars", "selected-items", "days")}
ORDERED |= {f"min-uploaded-{what}": f"max-uploaded-{what}" for what in ("photos", "documents")}
