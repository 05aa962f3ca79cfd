"""Edits: changes of whole frames of contents: replaced texts, new drafts, drafts to publish."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from chatkit.errors import InputError, Problem
from chatkit.localization import language
from chatkit.localization.content import (
    Entry,
    Slot,
    find_slots,
    find_source,
    group_by_template,
    read_entries,
    read_text,
    shorten_list,
)
from chatkit.localization.table import apply_edits
from chatkit.localization.units import make_draft, put_texts
from chatkit.util.display import cut, escaped, has_half_character, many, values, visible

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.localization.glossary import Glossary
    from chatkit.localization.ledger import Ledger
    from chatkit.localization.rules import ContentFinding

#: The texts of headers, and of buttons by their type; a dynamic address has a whole one as sample.
_HEADER = ("text", "link")
_BUTTONS = {
    "visit_website": ("label", "value", "dynamic_url"),
    "call_phone": ("label", "value"),
}
_FEW = 5  #: places that a note names
_LINE = 400  #: characters of a message


class Replacement:
    """A text to find, and the one that replaces it; placeholders stay as they are.

    A match that has a part of a placeholder is left alone. One that has whole placeholders is
    replaced only by what has the same ones.

    Args:
        old: The text to find, as it is written.
        new: What is put there.

    Raises:
        InputError: There is nothing to find.
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
        self.skipped: list[str] = []
        self._edited: list[Entry] = []

    def frame(self, contents: pd.DataFrame) -> pd.DataFrame:
        """Return an edited copy of a frame of contents."""
        edits: dict[int, dict[str, Any]] = {}
        for row, entry in enumerate(read_entries(contents)):
            label, new = f"{entry.template_code}/{entry.lang_code}", dict[str, str]()
            for field, text in _replaceable_texts(entry):
                if (after := self._replace_in(text, f"{label} {field}")) != text:
                    new[field] = after
            if new:
                edits[row] = put_texts(entry.raw, entry, new)
                self._edited.append(entry)
        return apply_edits(contents, edits, [])

    def notes(self) -> list[str]:
        """Return notes that count the replacements, and list the places that were left alone."""
        old = values(self._old)
        if not self.count:
            why = "occurs in placeholders only" if self.skipped else "does not occur"
            notes = [f"Nothing is replaced: {old} {why}."]
        else:
            codes = {entry.template_code for entry in self._edited}
            notes = [
                f"{old} becomes {values(self._new)}: {many(self.count, 'time')} in "
                f"{many(len(self._edited), 'content')} of {many(len(codes), 'template')}."
            ]
        if self.skipped:
            places = visible(", ".join(self.skipped[:_FEW]))
            more = len(self.skipped) - _FEW
            rest = f" and {more} more" if more > 0 else ""
            notes.append(f"Left as they are, because a placeholder would change: {places}{rest}.")
        return notes

    def _replace_in(self, text: str, place: str) -> str:
        """Return a text with the replacements; note its place if a placeholder would change."""
        before = find_slots(text)
        parts, end, left = [], 0, False
        for match in re.finditer(re.escape(self._old), text):
            if not self._keeps_placeholders(match, before):
                left = True
            elif self._new != self._old:
                parts += [text[end : match.start()], self._new]
                end = match.end()
        after = "".join([*parts, text[end:]])
        # a new placeholder may arise from what stood beside each other
        if _slot_counts(find_slots(after)) != _slot_counts(before):
            after, parts, left = text, [], True
        if left and place not in self.skipped:
            self.skipped.append(place)
        self.count += len(parts) // 2
        return after

    def _keeps_placeholders(self, match: re.Match[str], placeholders: Sequence[Slot]) -> bool:
        """Return whether replacing a match keeps the placeholders of a text."""
        start, end = match.span()
        inside = []
        for slot in placeholders:
            if start <= slot.start and slot.end <= end:
                inside.append(slot)
            elif max(start, slot.start) < min(end, slot.end):
                return False
        return _slot_counts(find_slots(self._new)) == _slot_counts(inside)


def _replaceable_texts(entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield the texts that can be searched, with their fields as in the API."""
    yield "text", entry.text
    yield "footer", entry.footer
    for number, header in enumerate(entry.headers):
        for name in _HEADER:
            yield f"headers.{number}.{name}", read_text(header, name)
    for number, button in enumerate(entry.buttons):
        for name in _BUTTONS.get(str(button.get("type")), ("label",)):
            yield f"buttons.{number}.{name}", read_text(button, name)


def _slot_counts(placeholders: Iterable[Slot]) -> Counter[str]:
    return Counter(slot.name for slot in placeholders)


# --- drafts -----------------------------------------------------------------------------


def languages_to_draft(languages: str | Iterable[str]) -> list[str]:
    """Check the languages that each template is to have, and return each once.

    Raises:
        InputError: No language is named, or one is not written as the API writes it.
    """
    named, problems = language.as_list(languages), []
    for code in named:
        form = language.normalize(code) if isinstance(code, str) else ""
        if not isinstance(code, str) or not code.strip():
            problems.append(Problem("languages", values(code), "is not a language code"))
        elif not language.is_tag(code.strip()):
            hint = language.did_you_mean(code, language.SUPPORTED)
            reason = f"is not a language code{'; ' * bool(hint)}{hint}"
            problems.append(Problem("languages", values(code), reason))
        elif form != code:
            problems.append(Problem("languages", values(code), f"the API writes {form}"))
    if problems or not named:
        end = ":" if problems else "."
        raise InputError(f"Name the languages to draft, like ['de', 'pt_BR']{end}", problems)
    return list(dict.fromkeys(named))


def add_drafts(
    contents: pd.DataFrame, codes: Iterable[str], languages: Sequence[str], source: str
) -> tuple[pd.DataFrame, list[str]]:
    """Add drafts of the contents that are missing, made from those of the source language.

    Args:
        contents: The contents of these templates, in full.
        codes: The templates.
        languages: Which languages each of them is to have.
        source: The language that the others are translated from.

    Returns:
        The contents with the drafts, and notes that count these in words.
    """
    templates = group_by_template(read_entries(contents))
    originals = {code: find_source(templates.get(code, []), source) for code in codes}
    rows = [
        make_draft(original, lang)
        for lang in languages
        for code, original in originals.items()
        if original and not any(language.is_same(lang, each.lang_code) for each in templates[code])
    ]
    notes = [f"Nothing is missing in {', '.join(map(repr, languages))}."]
    if rows:
        notes = [f"{many(len(rows), 'draft')} with the words of {source}: to be translated."]
    if sourceless := [code for code, original in originals.items() if original is None]:
        named = visible(", ".join(sourceless))
        notes.append(f"Without a content in {source!r}, left alone: {named}.")
    return apply_edits(contents, {}, rows), notes


_MAX_MESSAGES = 12  #: messages that a plan shows as customers will see them
_MAX_FIELDS = 3  #: texts of a draft that are named
#: Why a draft is left: what it does, and the next step.
_LEFT_OUT = {
    "missing": (
        "lack texts that their source has",
        "client.templates.queue(languages, codes) shows them to translate.",
    ),
    "broken": (
        "would be refused by the platform",
        "Pass broken=True to publish those without another reason.",
    ),
    "stale": (
        "were made from another source text than there is now",
        "See client.templates.board() for what has changed.",
    ),
    "untranslated": (
        "hold the words of the source",
        'client.templates.queue(languages, codes, only="draft") shows them to translate; if they '
        "are right, client.templates.accept(languages, codes) records it.",
    ),
    "unknown": (
        "are not recorded as made from the source of today",
        "If they are right, client.templates.accept(languages) records it.",
    ),
}
_SAME_CODES = ("untranslated", "same as source")
#: Codes that a publication reports itself.
AGAINST_GLOSSARY = ("glossary", "formality")


class _Draft(NamedTuple):
    """A draft, and the reasons to leave it out, by a key of `_LEFT_OUT`; none if it goes live."""

    entry: Entry
    findings: list[ContentFinding]
    reasons: dict[str, str]

    @property
    def place(self) -> str:
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
        ledger: The record of their sources.
        glossary: The words of translations: a note lists drafts that go live against it.
        broken: Whether drafts that the platform would refuse go live, too.

    Raises:
        InputError: No content is in one of the languages.
    """
    from chatkit.localization.audit import review_contents
    from chatkit.localization.board import board
    from chatkit.localization.ledger import select_languages
    from chatkit.localization.rules import AGREED, STRUCTURE

    members = read_entries(contents)
    named = select_languages(members, languages)
    states = board(members, source, ledger=ledger)
    drafts, live = list[_Draft](), 0
    # what is silenced holds back a draft, too
    for entry, original, findings in review_contents(members, source, glossary=glossary):
        if named is not None and language.normalize(entry.lang_code) not in named:
            continue
        if not entry.is_draft:
            live += 1
            continue
        place = entry.template_code, entry.lang_code
        draft = _Draft(entry, findings, {})
        drafts.append(draft)
        if original is not None and original.texts["text"] and not entry.texts.get("text"):
            draft.reasons["missing"] = f"{draft.place} (text)"
            continue
        if states[place].state == "broken" and not broken:
            draft.reasons["broken"] = draft.place
        if original is None:
            continue
        differs = STRUCTURE & {each.code for each in draft.findings}
        if ledger.is_structure_accepted(entry, original):
            differs -= AGREED
        if states[place].state == "stale" or states[place].changes or differs:
            draft.reasons["stale"] = draft.place
        elif same := _untranslated_fields(draft, original, ledger, glossary):
            rest = len(same) - _MAX_FIELDS
            more = f" and {many(rest, 'other text')}" if rest > 0 else ""
            texts = f"{', '.join(same[:_MAX_FIELDS])}{more}"
            draft.reasons["untranslated"] = f"{draft.place} ({texts})"
        elif ledger.provenance(entry, original).unknown:
            draft.reasons["unknown"] = draft.place
    return Publication(contents, members, drafts, live, ledger)


def _untranslated_fields(
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
        words = text
        if glossary is not None:
            words = glossary.remove_kept_terms(text, entry.lang_code, lang_code)
        accepted = ledger.is_accepted(entry, field, original, text)
        if field in same and not accepted and not may_be_same(field, words, lang_code):
            names.append(name)
    return names


class Publication(NamedTuple):
    """The contents of some templates, and their drafts that can go live."""

    contents: pd.DataFrame
    members: list[Entry]  #: its contents, row by row
    drafts: list[_Draft]
    live: int  #: how many contents are live already
    ledger: Ledger

    @property
    def _live_messages(self) -> dict[str, Entry]:
        """The drafts that go live, by a note that has the message in one line."""
        return {
            f"{draft.place} as a customer sees it: {cut(draft.entry.summary(), _LINE)}": draft.entry
            for draft in self.drafts
            if not draft.reasons
        }

    @property
    def drawn(self) -> dict[str, str]:
        """The HTML of the messages as on a phone, by the note that shows each."""
        from chatkit.localization.bubble import draw_bubble, make_bubble

        drawn = {}
        for note, entry in list(self._live_messages.items())[:_MAX_MESSAGES]:
            place = f"{entry.template_code}/{entry.lang_code}"
            title = escaped(f"{place} ({language.name(entry.lang_code)})")
            drawn[note] = f"<figcaption>{title}</figcaption>{draw_bubble(make_bubble(entry, {}))}"
        return drawn

    def frame(self) -> pd.DataFrame:
        """Return a copy of the contents in which the drafts that go live are no drafts."""
        ready = {id(draft.entry) for draft in self.drafts if not draft.reasons}
        rows = [row for row, entry in enumerate(self.members) if id(entry) in ready]
        return apply_edits(self.contents, {row: {"is_draft": False} for row in rows}, [])

    def notes(self) -> list[str]:
        """Return notes with the messages that go live, and with the drafts that are left out."""
        messages = list(self._live_messages)
        notes = messages[:_MAX_MESSAGES]
        if (more := len(messages) - _MAX_MESSAGES) > 0:
            notes.append(
                f"… and {many(more, 'more message')}: chatkit.widgets.Preview(content) shows one."
            )
        if not messages:
            are = "is" if self.live == 1 else "are"
            already = f" {many(self.live, 'content')} {are} live already." if self.live else ""
            notes.append(f"No draft goes live.{already}")
        against = [
            f"{draft.place}: {each.message}. {each.hint}".strip()
            for draft in self.drafts
            for each in draft.findings
            if not draft.reasons and each.code in AGAINST_GLOSSARY
            if not self.ledger.is_silent(each.code, each.lang_code, each.template_code, each.field)
        ]
        notes += [f"Goes live against the glossary: {visible(each)}" for each in against[:_FEW]]
        if (more := len(against) - _FEW) > 0:
            notes.append(
                f"… and {more:,} more against the glossary: client.templates.check() has all."
            )
        for why, (what, then) in _LEFT_OUT.items():
            if places := [draft.reasons[why] for draft in self.drafts if why in draft.reasons]:
                named = visible(shorten_list(places, _FEW))
                notes.append(f"Left as drafts, as they {what}: {named}. {then}")
        return notes
