"""A flow document that has all 24 components."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from typing import Any


def picture(red: int, green: int, blue: int, wide: int = 32, high: int = 24) -> str:
    """A PNG of one colour that grows lighter, as base64."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        tail = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + tail

    lines = b"".join(
        b"\0" + bytes(min(255, c + 3 * y) for _ in range(wide) for c in (red, green, blue))
        for y in range(high)
    )
    head = struct.pack(">IIBBBBB", wide, high, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
    return b64encode(b"\x89PNG\r\n\x1a\n" + parts).decode()


GREEN, BLUE, SAND = picture(20, 120, 80), picture(30, 80, 150), picture(170, 140, 90)
TOPICS = [
    {"id": "sea", "title": "By the sea", "description": "Seven nights", "image": BLUE},
    {"id": "hills", "title": "In the hills", "metadata": "5 days", "image": GREEN},
    {"id": "desert", "title": "Desert", "image": SAND, "enabled": False},
]


def screen(
    id_: str, title: str, *children: dict[str, Any], data: Any = None, **more: Any
) -> dict[str, Any]:
    layout = {"type": "SingleColumnLayout", "children": list(children)}
    return {"id": id_, "title": title, "data": data or {}, **more, "layout": layout}


def footer(label: str, name: str, payload: dict[str, Any], to: str = "", **more: Any) -> Any:
    action: dict[str, Any] = {"name": name, "payload": payload}
    if to:
        action["next"] = {"type": "screen", "name": to}
    return {"type": "Footer", "label": label, "on-click-action": action, **more}


def to(name: str) -> dict[str, Any]:
    return {"name": "navigate", "next": {"type": "screen", "name": name}, "payload": {}}


def field(kind: str, name: str, label: str, **more: Any) -> dict[str, Any]:
    """A component with a name; `_` in a property is written `-`."""
    renamed = {key.replace("_", "-"): value for key, value in more.items()}
    return {"type": kind, "name": name, "label": label, **renamed}


ABOUT = screen(
    "ABOUT",
    "About you",
    {"type": "TextHeading", "text": "`'Hello ' ${data.guest} '!'`"},
    {"type": "TextSubheading", "text": "A few things first"},
    {
        "type": "TextBody",
        "markdown": True,
        "text": ["Your trip costs **${data.price}** or *less*.", "- no ~~hidden~~ fees"],
    },
    {"type": "Image", "src": GREEN, "height": 120, "scale-type": "cover", "alt-text": "hills"},
    {
        "type": "Form",
        "name": "form",
        "init-values": {"name": "${data.guest}"},
        "error-messages": "${data.errors}",
        "children": [
            field("TextInput", "name", "Full name", required=True, min_chars=2, max_chars=20),
            field("TextInput", "mail", "Email", required=True, input_type="email"),
            field(
                "TextInput",
                "code",
                "Booking code",
                pattern="^[A-Z]{2}[0-9]{3}$",
                helper_text="Two letters, three digits",
            ),
            field("TextInput", "age", "Age", input_type="number"),
            {
                "type": "If",
                "condition": "(${form.age} > 0) && (${form.age} < 18)",
                "then": [{"type": "TextCaption", "text": "Someone grown up must come along."}],
                "else": [field("TextArea", "wishes", "Wishes", max_length=120)],
            },
            field("DatePicker", "birthday", "Birthday", max_date="2020-01-01"),
            field(
                "OptIn", "terms", "I accept the terms", required=True, on_click_action=to("TERMS")
            ),
            {
                "type": "EmbeddedLink",
                "text": "Ask someone",
                "on-click-action": {"name": "open_url", "url": "https://example.com/help"},
            },
            footer(
                "Next",
                "navigate",
                {"name": "${form.name}", "mail": "${form.mail}"},
                "WHERE",
                **{"left-caption": "Step 1", "right-caption": "of 4"},
            ),
        ],
    },
    data={
        "guest": {"type": "string", "__example__": "Ana"},
        "price": {"type": "string", "__example__": "480 €"},
        "errors": {"type": "object", "__example__": {}},
    },
)
WHERE = screen(
    "WHERE",
    "Where to",
    {
        "type": "NavigationList",
        "name": "places",
        "label": "Pick a place",
        "description": "You can change it later",
        "list-items": [
            {
                "id": "lisbon",
                "main-content": {"title": "Lisbon", "description": "Portugal", "metadata": "Sun"},
                "start": {"image": SAND, "alt-text": "sand"},
                "end": {"title": "€ 480", "description": "a week"},
                "badge": "New",
                "tags": ["city", "sea"],
            },
            {
                "id": "faro",
                "main-content": {"title": "Faro"},
                "start": {"image": BLUE, "alt-text": "sea"},
            },
        ],
        "on-click-action": {
            "name": "navigate",
            "next": {"type": "screen", "name": "WHEN"},
            "payload": {"place": "Lisbon"},
        },
    },
    data={
        "name": {"type": "string", "__example__": "Ana"},
        "mail": {"type": "string", "__example__": "ana@example.com"},
    },
)
WHEN = screen(
    "WHEN",
    "Your trip",
    {
        "type": "ImageCarousel",
        "aspect-ratio": "16:9",
        "images": [{"src": BLUE, "alt-text": "sea"}, {"src": GREEN, "alt-text": "hills"}],
    },
    field(
        "CalendarPicker",
        "days",
        {"start-date": "Arrival", "end-date": "Departure"},
        mode="range",
        required={"start-date": True, "end-date": True},
        min_date="2030-05-01",
        max_date="2030-07-31",
        unavailable_dates=["2030-05-10"],
        min_days=2,
        max_days=14,
    ),
    field("RadioButtonsGroup", "topic", "What do you like?", data_source=TOPICS, required=True),
    {
        "type": "Switch",
        "value": "${form.topic}",
        "cases": {
            "sea": [{"type": "TextBody", "text": "Bring something to swim in."}],
            "hills": [{"type": "TextBody", "text": "Bring good shoes."}],
        },
    },
    field(
        "CheckboxGroup",
        "meals",
        "Meals",
        description="Breakfast is always there",
        data_source=[{"id": "l", "title": "Lunch"}, {"id": "d", "title": "Dinner"}],
    ),
    field(
        "ChipsSelector",
        "sports",
        "Sports",
        max_selected_items=2,
        data_source=[{"id": s.lower(), "title": s} for s in ("Surf", "Golf", "Tennis", "Chess")],
    ),
    field(
        "Dropdown",
        "room",
        "Room",
        required=True,
        data_source="${data.rooms}",
        on_select_action={"name": "update_data", "payload": {"note": "`${form.room} ' kept'`"}},
    ),
    {
        "type": "TextCaption",
        "text": "${data.note}",
        "visible": "`${data.note} != ''`",
        "font-weight": "bold",
    },
    footer("Next", "navigate", {"room": "${form.room}"}, "PHOTO"),
    data={
        "place": {"type": "string", "__example__": "Lisbon"},
        "note": {"type": "string", "__example__": ""},
        "rooms": {
            "type": "array",
            "items": {"type": "object", "properties": {"id": {"type": "string"}}},
            "__example__": [{"id": "single", "title": "Single"}, {"id": "double", "title": "Two"}],
        },
    },
)
PHOTO = screen(
    "PHOTO",
    "Your photo",
    field(
        "PhotoPicker",
        "photo",
        "A photo of you",
        description="For the badge",
        min_uploaded_photos=1,
        max_uploaded_photos=2,
    ),
    footer("Next", "navigate", {}, "PAPERS", **{"center-caption": "Nearly there"}),
    data={"room": {"type": "string", "__example__": "single"}},
)
PAPERS = screen(
    "PAPERS",
    "Papers",
    field("DocumentPicker", "papers", "Your papers", allowed_mime_types=["application/pdf"]),
    footer(
        "Send",
        "complete",
        {
            "name": "${screen.ABOUT.form.name}",
            "age": "${screen.ABOUT.form.age}",
            "terms": "${screen.ABOUT.form.terms}",
            "place": "${screen.WHEN.data.place}",
            "days": "${screen.WHEN.form.days}",
            "topic": "${screen.WHEN.form.topic}",
            "meals": "${screen.WHEN.form.meals}",
            "sports": "${screen.WHEN.form.sports}",
            "room": "${screen.PHOTO.data.room}",
            "papers": "${form.papers}",
            "nights": "`${screen.ABOUT.form.age} + 1`",
        },
    ),
    terminal=True,
    success=True,
)
TERMS = screen(
    "TERMS",
    "Terms",
    {
        "type": "RichText",
        "text": [
            "# Terms",
            "## Money",
            "You pay **in full** and *in advance*, see [the list](https://example.com/list).",
            "1. Flight",
            "2. Hotel",
            "| Nights | Price |",
            "| --- | --- |",
            "| 7 | 480 € |",
        ],
    },
)
DOCUMENT: dict[str, Any] = {
    "version": "7.3",
    "screens": [ABOUT, WHERE, WHEN, PHOTO, PAPERS, TERMS],
}
