"""Edits: frames of contents edited as one: found and replaced, drafted where missing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from chatkit.errors import InputError, Problem
from chatkit.frames.frame import records
from chatkit.localization import language
from chatkit.localization.content import (
    Entry,
    Slot,
    entries,
    enumerated,
    grouped,
    slots,
    source_of,
)
from chatkit.templates.contents import ContentBody
from chatkit.util.display import cut, escaped, has_half_character, many, values, visible

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.localization.glossary import Glossary
    from chatkit.localization.ledger import Ledger
    from chatkit.localization.rules import ContentFinding

#: Where can be replaced: `url` and `number` are what buttons lead to.
Field: TypeAlias = Literal["text", "footer", "header", "label", "url", "number"]
FIELDS: tuple[Field, ...] = get_args(Field)

#: The fields of headers, and of buttons by their type; a dynamic address has a whole one as sample.
_HEADER: dict[str, Field] = {"text": "header", "link": "url"}
_BUTTONS: dict[str, dict[str, Field]] = {
    "visit_website": {"label": "label", "value": "url", "dynamic_url": "url"},
    "call_phone": {"label": "label", "value": "number"},
}
_LABEL: dict[str, Field] = {"label": "label"}
_TEXTS: dict[str, Field] = {"text": "text", "footer": "footer"}
_FEW = 5
_LINE = 400  #: characters of a message


class Replacement:
    """A text to find, and the one that replaces it; placeholders stay as they are.

    A match that has a part of a placeholder is left alone. One that has whole placeholders is
    replaced only by what has the same ones.

    Args:
        old: The text to find, as it is written.
        new: What is put there.
        fields: Where; None for everywhere.

    Raises:
        InputError: There is nothing to find, or no such field.
    """

    def __init__(self, old: str, new: str, fields: Iterable[Field] | None = None) -> None:
        self._fields = _fields(fields)
        if not isinstance(old, str) or not isinstance(new, str):
            raise InputError("replace takes two texts: what is found, and what is put there.")
        if not old:
            raise InputError(
                "replace needs a text to look for, and this one is empty: replace(old, new, codes)."
            )
        if has_half_character(old + new):
            raise InputError("Half a character can be neither found nor put anywhere.")
        self._old, self._new = old, new
        self.times = 0
        self.left: list[str] = []
        self._touched: set[tuple[str, str]] = set()
        self._key = ("", "")

    def frame(self, contents: pd.DataFrame) -> pd.DataFrame:
        """Return an edited copy of a frame of contents."""
        edited = contents.copy(deep=False)
        for name in ("text", "footer", "headers", "buttons"):
            before = contents[name].tolist() if name in contents else []
            after = []
            for self._key, cell in zip(contents.index.tolist(), before, strict=False):
                after.append(self._cell(name, cell))
            if any(new is not old for new, old in zip(after, before, strict=True)):
                edited[name] = after
                edited[name] = edited[name].astype(contents[name].dtype)
        return edited

    def notes(self) -> list[str]:
        """Count the replacements in words, and list the places that were left alone."""
        old = values(self._old)
        where = ", ".join(self._fields)
        if not self.times:
            why = "stands in placeholders only" if self.left else "does not occur"
            notes = [f"Nothing is replaced: {old} {why} (searched: {where})."]
        else:
            codes = {key[0] for key in self._touched}
            notes = [
                f"{old} becomes {values(self._new)}: {many(self.times, 'time')} in "
                f"{many(len(self._touched), 'content')} of {many(len(codes), 'template')}."
            ]
        if self.left:
            places = visible(", ".join(self.left[:_FEW]))
            more = len(self.left) - _FEW
            rest = f" and {more} more" if more > 0 else ""
            notes.append(f"Left as they are, because a placeholder would change: {places}{rest}.")
        return notes

    # --- cells ----------------------------------------------------------------------

    def _cell(self, name: str, cell: Any) -> Any:
        """Change a cell of a column; it is returned itself when nothing changes."""
        if field := _TEXTS.get(name):
            return self._text(field, cell)
        items = cell if isinstance(cell, list) else []
        after = [self._item(name, item) if isinstance(item, dict) else item for item in items]
        return after if any(new is not old for new, old in zip(after, items, strict=True)) else cell

    def _item(self, name: str, item: dict[str, Any]) -> dict[str, Any]:
        fields = _HEADER if name == "headers" else _BUTTONS.get(str(item.get("type")), _LABEL)
        after = {each: self._text(field, item.get(each)) for each, field in fields.items()}
        changed = {each: new for each, new in after.items() if new is not item.get(each)}
        return item | changed if changed else item

    def _text(self, field: Field, value: Any) -> Any:
        """Replace in one text; it is returned itself when nothing changes."""
        if field not in self._fields or not isinstance(value, str) or not value:
            return value
        before = slots(value)
        parts, end, times = [], 0, 0
        for match in re.finditer(re.escape(self._old), value):
            if not self._keeps_placeholders(match, before):
                self._leave(field)
            elif self._new != self._old:
                parts += [value[end : match.start()], self._new]
                end, times = match.end(), times + 1
        if not times:
            return value
        after = "".join([*parts, value[end:]])
        if _names(slots(after)) != _names(before):  # made of what stood beside each other
            self._leave(field)
            return value
        self.times += times
        self._touched.add(self._key)
        return after

    def _keeps_placeholders(self, match: re.Match[str], placeholders: Sequence[Slot]) -> bool:
        """Return whether the placeholders of a text stay as they are when a match is replaced."""
        start, end = match.span()
        inside = []
        for slot in placeholders:
            if start <= slot.start and slot.end <= end:
                inside.append(slot)
            elif max(start, slot.start) < min(end, slot.end):
                return False
        return _names(slots(self._new)) == _names(inside)

    def _leave(self, field: Field) -> None:
        place = f"{'/'.join(map(str, self._key))} {field}"
        if place not in self.left:
            self.left.append(place)


def _names(placeholders: Iterable[Slot]) -> Counter[str]:
    return Counter(slot.name for slot in placeholders)


def _fields(fields: Iterable[Field] | None) -> tuple[Field, ...]:
    if fields is None:
        return FIELDS
    chosen = (fields,) if isinstance(fields, str) else tuple(fields)
    if strange := [name for name in chosen if name not in FIELDS] or not chosen:
        problems = [Problem("fields", values(strange), f"choose from {', '.join(FIELDS)}")]
        raise InputError("replace does not search these fields:", problems)
    return chosen  # type: ignore[return-value]


# --- drafts -----------------------------------------------------------------------------


class Drafts:
    """Drafts of contents that are missing, made from those of the source language.

    Args:
        languages: Which languages each template is to have.
        source: The language that the others are translated from.

    Raises:
        InputError: No language is named, or one is not written as the API writes it.
    """

    def __init__(self, languages: Iterable[str], source: str) -> None:
        self._languages, self._source = list(languages), source
        problems = []
        for code in self._languages:
            form = language.normal(code) if isinstance(code, str) else ""
            if not isinstance(code, str) or not code.strip():
                problems.append(Problem("languages", values(code), "is not a language code"))
            elif form != code:
                problems.append(Problem("languages", values(code), f"the API writes {form}"))
        if problems or not self._languages:
            end = ":" if problems else "."
            raise InputError(f"Name the languages to draft, like ['de', 'pt_BR']{end}", problems)
        self.sourceless: list[str] = []  #: codes that have nothing to draft from
        self.rows: list[dict[str, Any]] = []

    def add(self, contents: pd.DataFrame, codes: Iterable[str]) -> None:
        """Draft what is missing beside these contents, read in full."""
        rows: dict[str, dict[str, int]] = {code: {} for code in codes}
        for row, (code, lang) in enumerate(contents.index.tolist()):
            rows[code][lang] = row
        missing: list[tuple[str, int]] = []
        for code, known in rows.items():
            original = language.find(self._source, known)
            if original is None:
                self.sourceless.append(code)
                continue
            present = {language.normal(lang) for lang in known}
            missing += [
                (lang, known[original])
                for lang in dict.fromkeys(self._languages)
                if language.normal(lang) not in present
            ]
        missing.sort(key=lambda each: self._languages.index(each[0]))
        sources = records(contents, [row for _, row in missing])
        for (lang, row), fields in zip(missing, sources, strict=True):
            kept = {n: fields[n] for n in ContentBody.updatable() if fields.get(n) is not None}
            own = {"template_code": contents.index[row][0], "lang_code": lang, "is_draft": True}
            self.rows.append(kept | own)

    def notes(self) -> list[str]:
        """Count the drafts in words, and list the templates without a source."""
        notes = [f"Nothing is missing in {', '.join(self._languages)}."]
        if self.rows:
            drafts = many(len(self.rows), "draft")
            notes = [f"{drafts} with the words of {self._source}: to be translated."]
        if self.sourceless:
            codes = visible(", ".join(self.sourceless))
            notes.append(f"Without a content in {self._source}, left alone: {codes}.")
        return notes


_SEEN = 12  #: messages that a plan shows as customers will see them
_FEW_FIELDS = 3  #: texts of a draft that are named
#: Why a draft is left: what it does, and the next step.
_LEFT = {
    "broken": (
        "would be refused by the platform",
        "Say broken=True to set live those that are left for nothing else.",
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
_SAME = ("untranslated", "same as source")
#: Codes that a publication reports itself.
AGAINST_GLOSSARY = ("glossary", "formality")


class _Draft(NamedTuple):
    """A draft, and the reasons that hold it back: none if it goes live."""

    entry: Entry
    findings: list[ContentFinding]
    reasons: dict[str, str]

    @property
    def place(self) -> str:
        return f"{self.entry.template_code}/{self.entry.lang_code}"


def publication(
    contents: pd.DataFrame,
    languages: str | Iterable[str] | None,
    source: str,
    ledger: Ledger,
    *,
    glossary: Glossary | None,
    broken: bool,
) -> Publication:
    """Find the drafts of some contents that can go live: complete, checked and not stale.

    Args:
        contents: Contents in full.
        languages: One language, or several; None for all.
        source: The language that the others are translated from.
        ledger: The record of their sources.
        glossary: The words of translations: a note lists what goes live against it.
        broken: Whether what the platform would refuse goes live, too.

    Raises:
        InputError: No content is in one of the languages.
    """
    from chatkit.localization.audit import check_contents
    from chatkit.localization.board import board
    from chatkit.localization.ledger import languages_meant
    from chatkit.localization.rules import AGREED, STRUCTURE

    members = entries(contents)
    named = languages_meant(members, languages)
    states = board(members, source, ledger=ledger)
    findings: dict[tuple[str, str], list[ContentFinding]] = {}
    # what is silenced holds back a draft, too
    for each in check_contents(members, source, glossary=glossary):
        findings.setdefault((each.template_code, each.lang_code), []).append(each)
    sources = {code: source_of(group, source) for code, group in grouped(members).items()}
    drafts, live = list[_Draft](), 0
    for entry in members:
        if named is not None and language.normal(entry.lang_code) not in named:
            continue
        if not entry.is_draft:
            live += 1
            continue
        place, original = (entry.template_code, entry.lang_code), sources[entry.template_code]
        draft = _Draft(entry, findings.get(place, []), {})
        drafts.append(draft)
        if states[place].state == "broken" and not broken:
            draft.reasons["broken"] = draft.place
        if original is None or original is entry:
            continue
        differs = STRUCTURE & {each.code for each in draft.findings}
        if ledger.agrees(entry, original):
            differs -= AGREED
        if states[place].state == "stale" or states[place].changes or differs:
            draft.reasons["stale"] = draft.place
        elif same := _untranslated(draft, original, ledger, glossary):
            rest = len(same) - _FEW_FIELDS
            more = f" and {many(rest, 'other text')}" if rest > 0 else ""
            texts = f"{', '.join(same[:_FEW_FIELDS])}{more}"
            draft.reasons["untranslated"] = f"{draft.place} ({texts})"
        elif ledger.provenance(entry, original).unknown:
            draft.reasons["unknown"] = draft.place
    return Publication(contents, members, drafts, live, ledger)


def _untranslated(
    draft: _Draft, original: Entry, ledger: Ledger, glossary: Glossary | None
) -> list[str]:
    """Return the texts that are still those of the source.

    A text of several words that is that of its source, in another language, is not translated,
    unless somebody accepted it, the glossary keeps the words, or it is a name in the footer.
    """
    from chatkit.localization.checks import may_be_alike

    same = {each.field for each in draft.findings if each.code in _SAME}
    entry, lang_code, names = draft.entry, original.lang_code, []
    for field, name, text in entry.pieces:
        words = (
            text if glossary is None else glossary.without_kept(text, entry.lang_code, lang_code)
        )
        accepted = ledger.is_accepted(entry, field, original, text)
        if field in same and not accepted and not may_be_alike(field, words, lang_code):
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
    def _messages(self) -> dict[str, Entry]:
        """The drafts that go live, each by a note that shows it as a customer sees it."""
        return {
            f"{draft.place} as a customer sees it: {cut(draft.entry.filled(), _LINE)}": draft.entry
            for draft in self.drafts
            if not draft.reasons
        }

    @property
    def drawn(self) -> dict[str, str]:
        """The notes that show a message, with its HTML as on a phone."""
        from chatkit.localization.bubble import bubble, bubble_html

        drawn = {}
        for note, entry in list(self._messages.items())[:_SEEN]:
            place = f"{entry.template_code}/{entry.lang_code}"
            title = escaped(f"{place} ({language.name(entry.lang_code)})")
            drawn[note] = f"<figcaption>{title}</figcaption>{bubble_html(bubble(entry, {}))}"
        return drawn

    def frame(self) -> pd.DataFrame:
        """Return a copy of the contents in which these drafts are none."""
        edited = self.contents.copy(deep=False)
        before = edited["is_draft"]
        ready = {id(draft.entry) for draft in self.drafts if not draft.reasons}
        edited["is_draft"] = [
            False if id(entry) in ready else is_draft
            for entry, is_draft in zip(self.members, before.tolist(), strict=True)
        ]
        edited["is_draft"] = edited["is_draft"].astype(before.dtype)
        return edited

    def notes(self) -> list[str]:
        """Show the messages as customers will see them, and list the drafts that are left out."""
        messages = list(self._messages)
        notes = messages[:_SEEN]
        if (more := len(messages) - _SEEN) > 0:
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
        for why, (what, then) in _LEFT.items():
            if places := [draft.reasons[why] for draft in self.drafts if why in draft.reasons]:
                named = visible(enumerated(places, _FEW))
                notes.append(f"Left as drafts, as they {what}: {named}. {then}")
        return notes
