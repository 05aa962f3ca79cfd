"""Fields: which texts of a content can be translated, and how one is put back.

A content that lacks a header or buttons of its source gets copies of them, but only together:
never one button in the language of the reader and the next one in another.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from copy import deepcopy
from typing import Any, Literal

from chatkit.display import cut
from chatkit.localization.checks import (
    FOOTER_LIMIT,
    HEADER_LIMIT,
    LABEL_LIMIT,
    TEXT_LIMIT,
    VALUE_LIMITS,
)
from chatkit.localization.content import Entry, part
from chatkit.localization.placeholders import slots

#: What is translated only when asked for: samples of placeholders, addresses behind buttons.
Extra = Literal["samples", "addresses"]
EXTRAS: tuple[Extra, ...] = ("samples", "addresses")

_LISTED = re.compile(r"(headers|buttons)\.(\d+)\.(\w+)")
_NAMED = re.compile(r"\w{1,40}")
#: What a new content does not take over from its source.
_ITS_OWN = ("id", "created_at", "updated_at")


def field_texts(entry: Entry, also: Collection[Extra] = EXTRAS) -> dict[str, str]:
    """Return the texts of a content by their fields, those that are not blank."""
    found = {field: text for field, _, text in entry.pieces}
    if "samples" in also:
        for name, sample in entry.variables.items():
            if isinstance(name, str) and _NAMED.fullmatch(name) and isinstance(sample, str):
                found[f"variables.{name}"] = sample
    if "addresses" in also:
        for number, button in enumerate(entry.buttons):
            if button.get("type") == "visit_website":
                found[f"buttons.{number}.value"] = part(button, "value")
    return {field: text for field, text in found.items() if text.strip()}


def field_limit(field: str) -> int | None:
    """Tell how many characters the platform allows; None if it does not say."""
    if field in ("text", "footer"):
        return TEXT_LIMIT if field == "text" else FOOTER_LIMIT
    if field.startswith("variables"):
        return None
    if field.endswith(".value"):
        return VALUE_LIMITS["visit_website"]
    return HEADER_LIMIT if field.startswith("headers") else LABEL_LIMIT


def translator_note(field: str, source: Entry) -> str:
    """Tell a translator what a text is, how long it may be, and what must stay in it."""
    said = [_what(field, source)]
    if most := field_limit(field):
        said.append(f"At most {most:,} characters.")
    if names := list(dict.fromkeys(map(str, slots(field_texts(source).get(field, ""))))):
        samples = [_sample(name, source) for name in names]
        said.append(f"Keep {', '.join(samples)}{', in this order' * (len(names) > 1)}.")
    return " ".join(said)


def _what(field: str, source: Entry) -> str:
    if found := _LISTED.fullmatch(field):
        number = int(found[2])
        if found[1] == "headers":
            return "The header."
        kind = part(source.buttons[number], "type").replace("_", " ")
        thing = "address" if found[3] == "value" else "label"
        return f"The {thing} of button {number + 1} ({kind})."
    if field.startswith("variables."):
        return "A sample of what stands in place of {{" + field.partition(".")[2] + "}}."
    return "The text of the message." if field == "text" else "The footer."


def _sample(name: str, source: Entry) -> str:
    sample = part(source.variables, name.strip("{}"))
    return f"{name} (like {cut(sample, 40)})" if sample else name


def group_of(entry: Entry | None, source: Entry, field: str) -> str | None:
    """Name the texts that must come with this one, if it is to be put into a content.

    Returns:
        The field itself if it stands alone, the name of what is missing as a whole, or None if
        the content has something else in this place.
    """
    if entry is None:
        return ""
    if field.partition(".")[0] in entry.wrong:
        return None
    found = _LISTED.fullmatch(field)
    if not found:
        return field
    name, number = found[1], int(found[2])
    mine: list[Mapping[str, Any]] = getattr(entry, name)
    theirs: list[Mapping[str, Any]] = getattr(source, name)
    if number >= len(theirs) or f"{name}.{number}" in entry.wrong:
        return None
    if number >= len(mine):
        return name
    return field if mine[number].get("type") == theirs[number].get("type") else None


def new_draft(source: Entry, lang_code: str) -> dict[str, Any]:
    """Begin a content in another language as a draft that is like its source."""
    fields = {k: deepcopy(v) for k, v in source.given.items() if k not in _ITS_OWN}
    return {**fields, "lang_code": lang_code, "is_draft": True}


def with_texts(given: Mapping[str, Any], source: Entry, new: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of a content that change when these texts are put into it."""
    fields: dict[str, Any] = {}
    for field, text in new.items():
        name, _, inner = field.partition(".")
        if not inner:
            fields[name] = text
        elif name == "variables":
            fields.setdefault(name, dict(given.get(name) or {}))[inner] = text
        else:
            items = fields.setdefault(name, deepcopy(given.get(name) or []))
            number, _, key = inner.partition(".")
            missing = getattr(source, name)[len(items) : int(number) + 1]
            items.extend(dict(deepcopy(item)) for item in missing)
            items[int(number)][key] = text
    return fields


def fields_of_group(source: Entry, entry: Entry | None, name: str) -> Iterator[str]:
    """Yield the fields of the source that must come together under this name."""
    for field in field_texts(source, ()):
        if group_of(entry, source, field) == name:
            yield field
