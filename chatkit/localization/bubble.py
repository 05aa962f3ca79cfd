"""Bubble: a message as a customer will see it on a phone, as a value and as plain HTML.

A phone sees the message as it was sent: first the values take the place of the placeholders,
then the signs for bold, italic, struck and monospace count. So *{{1}}* is bold, and a star in a
value counts like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from itertools import groupby
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from chatkit.localization import language
from chatkit.localization.checks import MEDIA
from chatkit.localization.content import AUTHENTICATION_TEXT, Entry, find_slots, read_text
from chatkit.localization.typography import split_by_markup
from chatkit.util.display import cut, find_invisible_characters, many

#: The labels that the platform writes itself, by the type of the button.
_PLATFORM_LABELS = {"copy_offer_code": "Copy offer code", "view_catalog": "View catalog"}
_SIGNS = {
    "custom": "↩",
    "visit_website": "↗",
    "call_phone": "☎",
    "copy_offer_code": "⧉",
    "view_catalog": "▤",
}
_MAX_BUTTONS = 12  #: buttons that are drawn; ten are allowed
_MAX_LENGTH = 200  #: characters of a label, a file name or an address
_SECURITY_TEXT = " For your security, do not share this code."


class Tap(NamedTuple):
    """A button as a customer sees it: its type, its label, and where it leads."""

    kind: str
    label: list[TextRun]
    about: str


class Bubble(NamedTuple):
    """A message as a customer sees it."""

    lang_code: str
    direction: str
    header: list[TextRun]
    medium: str  #: image, video, document, or none
    file: str  #: its file name or the end of its address
    body: list[TextRun]
    footer: list[TextRun]
    buttons: list[Tap]
    missing: list[str]  #: placeholders without a sample
    written: bool  #: whether the platform writes the body itself


def make_bubble(entry: Entry, samples: Mapping[str, str]) -> Bubble:
    """Return the message of a content as a customer sees it.

    Args:
        entry: The content.
        samples: Values for placeholders; where one is missing, that of the content counts.
    """
    values = {**entry.variables, **samples}
    text, footer = entry.text, entry.footer
    written = entry.is_authentication and not text.strip()
    if written:  # the platform writes it, and the API does not show it
        text = AUTHENTICATION_TEXT.replace("{{1}}", "*{{1}}*")
        text += _SECURITY_TEXT if entry.fields.get("auth_add_security_recommendation") else ""
        seconds = entry.fields.get("auth_code_expiration_seconds") or 0
        if entry.fields.get("auth_add_code_expiration") and seconds > 0:
            footer = f"This code expires in {many(max(seconds // 60, 1), 'minute')}."
    first = entry.headers[0] if entry.headers else {}
    kind = first.get("type")
    line = read_text(first, "text") if kind == "text" else ""
    # it is not documented in which of the two fields the sample stands
    sample = read_text(first, "text_variable") or read_text(first, "parameter")
    header = split_runs(
        line, {slot.name: sample for slot in find_slots(line)} | dict(samples), marked=False
    )
    body = split_runs(text, values)
    missing = [run.text[2:-2] for run in (*header, *body) if run.mark == "missing"]
    taps = [tap for button in entry.buttons[:_MAX_BUTTONS] if (tap := _make_tap(button))]
    if not entry.buttons and entry.fields.get("auth_delivery_method") == "copy_code":
        taps = [Tap("copy_offer_code", [TextRun("Copy code")], "")]
    return Bubble(
        lang_code=cut(entry.lang_code, 20),
        direction=language.direction(entry.lang_code),
        header=header,
        medium=kind if isinstance(kind, str) and kind in MEDIA else "",
        file=_read_file_name(first),
        body=body,
        footer=split_runs(footer, {}, marked=False),
        buttons=taps,
        missing=list(dict.fromkeys(missing)),
        written=written,
    )


def _read_file_name(header: Mapping[str, Any]) -> str:
    name = read_text(header, "file_name")
    try:
        name = name or urlsplit(read_text(header, "link")).path.rpartition("/")[2]
    except ValueError:  # no address at all
        return ""
    return cut(name, _MAX_LENGTH)


def _make_tap(button: Mapping[str, Any]) -> Tap | None:
    kind, value = button.get("type"), cut(read_text(button, "value"), _MAX_LENGTH)
    if not isinstance(kind, str) or kind not in _SIGNS:
        return None
    label = read_text(button, "label") or _PLATFORM_LABELS.get(kind, "")
    about = {
        "visit_website": cut(read_text(button, "dynamic_url"), _MAX_LENGTH) or value,
        "call_phone": f"{cut(read_text(button, 'country_code'), 10)} {value}".strip(),
        "copy_offer_code": value,
    }
    return Tap(kind, split_runs(label[:_MAX_LENGTH], {}, marked=False), about.get(kind, ""))


# --- as plain HTML ------------------------------------------------------------------

#: In JupyterLab as the notebook is, light or dark; elsewhere dark letters on white.
_BOX_STYLE = (
    "background: var(--jp-layout-color1, #fff); border: 1px solid var(--jp-border-color2, #ccd3d7);"
    " border-radius: 0.6em; color: var(--jp-content-font-color1, #111b21); max-width: 22em;"
    " overflow-wrap: anywhere; padding: 0.2em 0.9em; text-align: start"
)
_MARK_STYLES = {
    "sample": "text-decoration: underline dotted",
    "missing": "background: #ffe3b8; color: #8a4b00",
    "odd": "color: var(--jp-error-color1, #b3261e)",
}


def join_runs(runs: Iterable[TextRun]) -> str:
    """Return the text of runs."""
    return "".join(run.text for run in runs)


def draw_bubble(message: Bubble) -> str:
    """Return a message as plain HTML, for exported notebooks: no script, everything escaped."""
    parts = []
    if message.medium:
        file = f": {escape(message.file)}" if message.file else ""
        parts.append(f"<p>[{message.medium}{file}]</p>")
    if message.header:
        parts.append(f'<p dir="auto"><strong>{_draw_runs(message.header)}</strong></p>')
    parts.append(f'<p dir="auto" style="white-space: pre-wrap">{_draw_runs(message.body)}</p>')
    if message.footer:
        parts.append(f'<p dir="auto"><small>{_draw_runs(message.footer)}</small></p>')
    for tap in message.buttons:
        about = f" <small>({escape(tap.about)})</small>" if tap.about else ""
        parts.append(
            f'<p dir="auto">{_SIGNS[tap.kind]} <strong>{_draw_runs(tap.label)}</strong>{about}</p>'
        )
    lang = escape(message.lang_code.replace("_", "-"))
    paragraphs = "".join(f"<p><em>{escape(note)}</em></p>" for note in make_bubble_notes(message))
    box = (
        f'<div dir="{message.direction}" lang="{lang}" style="{_BOX_STYLE}">{"".join(parts)}</div>'
    )
    return f'<div class="tex2jax_ignore mathjax_ignore">{box}{paragraphs}</div>'


def make_bubble_notes(message: Bubble) -> list[str]:
    """Return notes on a message: placeholders without a sample, a text of the platform."""
    names = ", ".join("{{" + cut(name, 20) + "}}" for name in message.missing[:9])
    written = "The platform writes this text itself, in the language of the content."
    return [f"No sample for {names}."] * bool(names) + [written] * message.written


def _draw_runs(runs: Iterable[TextRun]) -> str:
    parts = []
    for run in runs:
        text = escape(run.text)
        for tag in reversed(run.tags):
            text = f"<{tag}>{text}</{tag}>"
        parts.append(f'<span style="{_MARK_STYLES[run.mark]}">{text}</span>' if run.mark else text)
    return "".join(parts)


# --- text with its markup ------------------------------------------------------------------

_MAX_TEXT_LENGTH = 5000  #: characters that are shown: the longest message has fewer


class TextRun(NamedTuple):
    """A part of a text with the same format.

    `tags` are the elements it stands in, from outside in. `mark` is "sample" where a value
    stands for a placeholder, "missing" where there is none, "odd" for a character that would
    not be seen.
    """

    text: str
    tags: tuple[str, ...] = ()
    mark: str = ""


def split_runs(text: str, samples: Mapping[str, Any], *, marked: bool = True) -> list[TextRun]:
    """Split a text into runs.

    Args:
        text: What was written, with placeholders.
        samples: A value for each placeholder, by what stands between its braces.
        marked: Whether signs count; those of a header and of a button do not.
    """
    filled, marks = _fill_samples(text[:_MAX_TEXT_LENGTH], samples)
    tagged = split_by_markup(filled) if marked else [(0, len(filled), ())]
    return [run for part in tagged for run in _split_by_mark(filled, marks, *part)]


def _fill_samples(text: str, samples: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Replace placeholders by samples; return the text and a mark for each character."""
    parts, marks, last = [], list[str](), 0
    for slot in find_slots(text):
        sample = samples.get(slot.name)
        value, mark = str(slot), "missing"
        if isinstance(sample, str) and sample.strip():
            value, mark = sample[:_MAX_TEXT_LENGTH], "sample"
        parts += [text[last : slot.start], value]
        marks += [""] * (slot.start - last) + [mark] * len(value)
        last = slot.end
    parts.append(text[last:])
    marks += [""] * (len(text) - last)
    filled = "".join(parts)[:_MAX_TEXT_LENGTH]
    for n in find_invisible_characters(filled):
        if filled[n] != "\n":
            marks[n] = "odd"
    return filled, marks


def _split_by_mark(
    text: str, marks: list[str], start: int, end: int, tags: tuple[str, ...]
) -> Iterator[TextRun]:
    """Split a part of a text where the mark changes; write unseen characters as U+200B."""
    for mark, places in groupby(range(start, end), marks.__getitem__):
        piece = "".join(text[n] for n in places)
        if mark == "odd":
            piece = "".join(f"U+{ord(c):04X}" for c in piece)
        yield TextRun(piece, tags, mark)
