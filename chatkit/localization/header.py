"""Header: the line or the medium above the text, and the footer below it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from chatkit.display import cut, values
from chatkit.localization.body import placeholders
from chatkit.localization.content import Entry, part
from chatkit.localization.finding import Ledger
from chatkit.localization.placeholders import slots

MEDIA = ("image", "video", "document")
_ADDRESS = re.compile(r"https?://[^\s/]+\S*", re.IGNORECASE)
#: Markup the platform shows in a text, but not in a header: *bold*, _italic_, ~strike~, `code`.
_MARKUP = re.compile(r"(?<!\w)([*_~`])(?=\S)[^*_~`\n]+(?<=\S)\1(?!\w)")


def judge(entry: Entry, tell: Ledger) -> None:
    """Look at the header and the footer."""
    if len(entry.headers) > 1:
        said = f"there are {len(entry.headers)} headers"
        tell("header count", "headers", said, "A content has one at most: keep the first.")
    for number, header in enumerate(entry.headers):
        if f"headers.{number}" not in entry.wrong:
            _header(header, f"headers.{number}", tell)
    if found := slots(entry.footer):
        said = f"{cut(str(found[0]), 20)} is in the footer"
        hint = "A footer takes no placeholder: move it into the text."
        tell("footer placeholder", "footer", said, hint, at=found[0].start)


def _header(header: Mapping[str, Any], field: str, tell: Ledger) -> None:
    kind = header.get("type")
    if kind == "text":
        _line(header, field, tell)
    elif kind in MEDIA:
        _medium(header, field, tell)
    else:
        said = f"{values(kind)} is no type of header"
        tell(
            "header type",
            f"{field}.type",
            said,
            f"It is text, {', '.join(MEDIA[:-1])} or document.",
        )


def _line(header: Mapping[str, Any], field: str, tell: Ledger) -> None:
    text, place = header.get("text"), f"{field}.text"
    if text is not None and not isinstance(text, str):
        tell("wrong type", place, "it must be text")
        return
    if not text or not text.strip():
        tell("header empty", place, "the header is a line of text without one", "Write it.")
        return
    found = slots(text)
    placeholders(text, place, found, tell)
    if len(found) > 1:
        said = f"the header has {len(found)} placeholders, at most one is allowed"
        tell("header placeholders", place, said, "Move the others down.", at=found[1].start)
    # which of the two fields holds the sample is not documented: either will do
    if found and not (header.get("text_variable") or header.get("parameter")):
        said = f"{cut(str(found[0]), 20)} of the header has no sample"
        tell("sample missing", f"{field}.text_variable", said, "Say what may stand there.")
    if at := re.search("[\r\n]", text):
        tell("header format", place, "a line break is in the header", "Take it out.", at=at.start())
    if markup := _MARKUP.search(text):
        said = f"“{cut(markup[0], 20)}” is shown as it is written"
        hint = "A header knows no bold or italic letters: take the signs out."
        tell("header format", place, said, hint, at=markup.start())


def _medium(header: Mapping[str, Any], field: str, tell: Ledger) -> None:
    kind, link = header["type"], header.get("link")
    if link is not None and not isinstance(link, str):
        tell("wrong type", f"{field}.link", "it must be text")
    elif not link and not header.get("parameter"):
        said = f"the {kind} of the header has no sample"
        tell("header media", f"{field}.link", said, f"Give the address of a {kind}.")
    elif link and not _ADDRESS.fullmatch(link):
        said = f"{values(link)} is no address"
        tell("header media", f"{field}.link", said, "It begins with https://.")
    if part(header, "text").strip():
        said = f"the header is a {kind}, its line of text is not shown"
        tell("header surplus", f"{field}.text", said, "Move it into the text.")
