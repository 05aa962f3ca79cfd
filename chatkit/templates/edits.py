"""Edits of whole frames of contents: texts to replace, drafts to add, drafts to publish."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from chatkit.errors import InputError
from chatkit.localization import language
from chatkit.localization.content import (
    Entry,
    find_slots,
    read_entries,
    read_text,
    shorten_list,
)
from chatkit.localization.table import apply_edits
from chatkit.localization.units import put_texts
from chatkit.util.display import cut, escaped, has_half_character, many, many_are, values, visible

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.localization.checks import ContentFinding
    from chatkit.localization.glossary import Glossary
    from chatkit.localization.ledger import Ledger

#: Fields of headers that hold texts, and those of buttons by their type.
_HEADER = ("text", "link")
_BUTTONS = {
    "visit_website": ("label", "value", "dynamic_url"),
    "call_phone": ("label", "value"),
}
_FEW = 5  #: contents or texts that a note names
_LINE = 400  #: characters of a message


class Replacement:
    """The replacement of a text in contents, with a count of what it replaced.

    Placeholders stay as they are: a match that has a part of a placeholder is skipped, and one
    that has whole placeholders is replaced only by a text with the same ones.

    Args:
        old: The text to replace, as it is written.
        new: The text in its place.

    Raises:
        InputError: One of them is no text, has half a character, or the old one is empty.
    """

    def __init__(self, old: str, new: str) -> None:
        if not isinstance(old, str) or not isinstance(new, str):
            raise InputError("replace takes two texts: the old one and the new one.")
        if not old:
            raise InputError(
                "replace needs a text to look for, and this one is empty: replace(old, new, codes)."
            )
        if has_half_character(old + new):
            raise InputError("A text to replace must not hold half a character.")
        self._old, self._new = old, new
        self.count = 0
        self.skipped: list[str] = []  #: labels of texts in which a match was skipped
        self._edited: list[Entry] = []

    def edit_frame(self, contents: pd.DataFrame) -> pd.DataFrame:
        """Return a copy of a frame of contents with the text replaced."""
        edits: dict[int, dict[str, Any]] = {}
        for row, entry in enumerate(read_entries(contents)):
            texts = dict[str, str]()
            for field, text in _iter_replaceable_texts(entry):
                label = f"{entry.template_code}/{entry.lang_code} {field}"
                if (edited := self._replace_in_text(text, label)) != text:
                    texts[field] = edited
            if texts:
                edits[row] = put_texts(entry.raw, entry, texts)
                self._edited.append(entry)
        return apply_edits(contents, edits, [])

    def make_notes(self) -> list[str]:
        """Return notes that count the replacements, and list the texts with skipped matches."""
        old = values(self._old)
        if not self.count:
            reason = "occurs in placeholders only" if self.skipped else "does not occur"
            notes = [f"Nothing is replaced: {old} {reason}."]
        else:
            codes = {entry.template_code for entry in self._edited}
            notes = [
                f"{old} becomes {values(self._new)}: {many(self.count, 'time')} in "
                f"{many(len(self._edited), 'content')} of {many(len(codes), 'template')}."
            ]
        if self.skipped:
            labels = visible(shorten_list(self.skipped, _FEW))
            notes.append(f"Left as they are, because a placeholder would change: {labels}.")
        return notes

    def _replace_in_text(self, text: str, label: str) -> str:
        """Return a text with the replacements; note its label if a match was skipped."""
        edited, replaced = text.replace(self._old, self._new), text.count(self._old)
        if _count_placeholders(edited) != _count_placeholders(text):  # only between them, then
            ends = chain.from_iterable((slot.start, slot.end) for slot in find_slots(text))
            parts = [text[start:end] for start, end in pairwise([0, *ends, len(text)])]
            replaced = sum(part.count(self._old) for part in parts[::2])
            parts[::2] = [part.replace(self._old, self._new) for part in parts[::2]]
            edited = "".join(parts)
        if _count_placeholders(edited) != _count_placeholders(text):
            edited, replaced = text, 0
        if replaced < text.count(self._old) and label not in self.skipped:
            self.skipped.append(label)
        self.count += replaced if edited != text else 0
        return edited


def _iter_replaceable_texts(entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield the fields of a content in which a text can be replaced, each with its text."""
    yield "text", entry.text
    yield "footer", entry.footer
    for number, header in enumerate(entry.headers):
        for name in _HEADER:
            yield f"headers.{number}.{name}", read_text(header, name)
    for number, button in enumerate(entry.buttons):
        for name in _BUTTONS.get(str(button.get("type")), ("label",)):
            yield f"buttons.{number}.{name}", read_text(button, name)


def _count_placeholders(text: str) -> Counter[str]:
    """Count the placeholders of a text as they are written."""
    return Counter(text[slot.start : slot.end] for slot in find_slots(text))


# --- drafts that go live ----------------------------------------------------------------

_MAX_MESSAGES = 12  #: messages that a plan shows as customers will see them
_MAX_FIELDS = 3  #: texts of a draft that are named
#: The obstacles to publishing a draft, each with the next step, in the order of their notes.
_OBSTACLES = {
    "lack texts that their source has": (
        "client.templates.queue(languages, codes) shows them to translate."
    ),
    "would be refused by the platform": (
        "Correct them, or pass broken=True to publish those without another reason."
    ),
    "were made from another source text than there is now": (
        "See client.templates.board() for what has changed."
    ),
    "hold the words of the source": (
        'client.templates.queue(languages, codes, only="draft") shows them to translate; if they '
        "are right, client.templates.accept(languages, codes) records it."
    ),
    "are not recorded as made from the source of today": (
        "If they are right, client.templates.accept(languages) records it."
    ),
}
_NO_TEXT, _REFUSED, _STALE, _UNTRANSLATED, _UNKNOWN = _OBSTACLES
_SAME_CODES = ("untranslated", "same as source")


class _Draft(NamedTuple):
    """A draft, and the obstacles to publishing it; without any it goes live."""

    entry: Entry
    findings: list[ContentFinding]
    obstacles: dict[str, str]  #: a label for each, by its words in `_OBSTACLES`

    @property
    def label(self) -> str:
        return f"{self.entry.template_code}/{self.entry.lang_code}"


def select_drafts(
    contents: pd.DataFrame,
    languages: str | Iterable[str] | None,
    source: str,
    ledger: Ledger,
    *,
    glossary: Glossary | None,
    broken: bool,
) -> Publication:
    """Select the drafts of some contents that can go live: complete, checked and not stale.

    Args:
        contents: Contents in full.
        languages: One language, or several; None for all.
        source: The language that the others are translated from.
        ledger: The record of the source texts of translations. What it silences holds back a
            draft all the same.
        glossary: The glossary; words that it keeps may be those of the source.
        broken: Whether drafts that the platform would refuse go live, too.

    Raises:
        InputError: No content is in one of the languages.
    """
    from chatkit.localization.audit import review_contents
    from chatkit.localization.ledger import select_languages

    members = read_entries(contents)
    selected = select_languages(members, languages)
    drafts, live_count = list[_Draft](), 0
    for entry, original, findings in review_contents(members, source, glossary=glossary):
        if language.normalize(entry.lang_code) not in selected:
            continue
        if not entry.is_draft:
            live_count += 1
            continue
        draft = _Draft(entry, findings, {})
        drafts.append(draft)
        if original is not None and original.texts["text"] and not entry.texts.get("text"):
            names = [name for at, name, _ in original.pieces if not entry.texts.get(at)]
            draft.obstacles[_NO_TEXT] = f"{draft.label} ({shorten_list(names, _MAX_FIELDS)})"
            continue
        reasons = [each.message.rstrip(".") for each in findings if each.refused]
        if reasons and not broken:
            draft.obstacles[_REFUSED] = f"{draft.label} ({shorten_list(reasons, _FEW)})"
        if original is not None:
            draft.obstacles.update(_find_source_obstacle(draft, original, ledger, glossary))
    return Publication(contents, members, drafts, live_count)


def _find_source_obstacle(
    draft: _Draft, original: Entry, ledger: Ledger, glossary: Glossary | None
) -> dict[str, str]:
    """Return the first obstacle to publishing a draft that its source shows, with its label."""
    from chatkit.localization.checks import AGREED, STRUCTURE

    provenance = ledger.provenance(draft.entry, original)
    differences = STRUCTURE & {each.code for each in draft.findings}
    if ledger.is_structure_accepted(draft.entry, original):
        differences -= AGREED
    if provenance.changes or differences:
        return {_STALE: draft.label}
    if names := _list_untranslated_fields(draft, original, ledger, glossary):
        return {_UNTRANSLATED: f"{draft.label} ({shorten_list(names, _MAX_FIELDS)})"}
    return {_UNKNOWN: draft.label} if provenance.unknown else {}


def _list_untranslated_fields(
    draft: _Draft, original: Entry, ledger: Ledger, glossary: Glossary | None
) -> list[str]:
    """Return the names of the fields that still have the text of the source.

    A text of several words that is that of its source, in another language, is not translated,
    unless somebody accepted it, the glossary keeps the words, or it is a name in the footer.
    """
    from chatkit.localization.checks import may_be_same

    same = {each.field for each in draft.findings if each.code in _SAME_CODES}
    entry, lang_code, names = draft.entry, original.lang_code, []
    for field, name, text in entry.pieces:
        if field not in same or ledger.is_accepted(entry, field, original, text):
            continue
        remaining = text
        if glossary is not None:
            remaining = glossary.remove_kept_terms(text, entry.lang_code, lang_code)
        if not may_be_same(field, remaining, lang_code):
            names.append(name)
    return names


class Publication(NamedTuple):
    """The contents of some templates, and their drafts that can go live."""

    contents: pd.DataFrame
    entries: list[Entry]  #: the contents, row by row
    drafts: list[_Draft]
    live_count: int  #: how many contents are live already

    @property
    def _drafts_by_note(self) -> dict[str, _Draft]:
        """The drafts that go live, each by a note with its message in one line."""
        return {
            f"{draft.label} as a customer sees it: {cut(draft.entry.summary(), _LINE)}": draft
            for draft in self.drafts
            if not draft.obstacles
        }

    @property
    def drawings(self) -> dict[str, str]:
        """The messages as HTML, drawn as on a phone, by the note that each takes the place of."""
        from chatkit.localization.bubble import draw_bubble, make_bubble

        drawings = {}
        for note, draft in list(self._drafts_by_note.items())[:_MAX_MESSAGES]:
            title = escaped(f"{draft.label} ({language.name(draft.entry.lang_code)})")
            message = draw_bubble(make_bubble(draft.entry, {}))
            drawings[note] = f"<figcaption>{title}</figcaption>{message}"
        return drawings

    def edit_frame(self) -> pd.DataFrame:
        """Return a copy of the contents in which the drafts that go live are no drafts."""
        ready = {id(draft.entry) for draft in self.drafts if not draft.obstacles}
        rows = [row for row, entry in enumerate(self.entries) if id(entry) in ready]
        return apply_edits(self.contents, {row: {"is_draft": False} for row in rows}, [])

    def make_notes(self) -> list[str]:
        """Return notes with the messages that go live, and with the drafts that are left out."""
        messages = list(self._drafts_by_note)
        notes = messages[:_MAX_MESSAGES]
        if (more := len(messages) - _MAX_MESSAGES) > 0:
            notes.append(
                f"… and {many(more, 'more message')}: chatkit.widgets.Preview(content) shows one."
            )
        if not messages:
            contents = many_are(self.live_count, "content")
            already = f" {contents} live already." if self.live_count else ""
            notes.append(f"No draft goes live.{already}")
        for obstacle, next_step in _OBSTACLES.items():
            labels = [
                each.obstacles[obstacle] for each in self.drafts if obstacle in each.obstacles
            ]
            if labels:
                listed = visible(shorten_list(labels, _FEW))
                notes.append(f"Left as drafts, as they {obstacle}: {listed}. {next_step}")
        return notes
