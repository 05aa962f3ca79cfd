"""Queue: texts of one language to translate or review, one after the other.

Each text is a unit as in a file for translators, so an answer is imported as a returned file is:
compared with the contents of today, its placeholders counted, nothing half translated.

Suggestions for a text are earlier translations of it, or of one much like it, in the account.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from chatkit.errors import InputError
from chatkit.localization import language
from chatkit.localization.audit import check_contents
from chatkit.localization.checks import ContentFinding
from chatkit.localization.content import (
    Contents,
    Entry,
    group_with_source,
    read_entries,
    text_label,
)
from chatkit.localization.ledger import Ledger, LedgerFile, draw_changes, make_translation_key
from chatkit.localization.table import make_frame
from chatkit.localization.units import (
    UNIT_STATES,
    Only,
    Unit,
    make_draft,
    pair_units,
    put_texts,
    select_states,
)
from chatkit.report import (
    LABEL,
    MANY,
    Report,
    ReportPart,
    ReportRow,
    headline,
    marked,
    rows_table,
    wrapped,
)
from chatkit.util.display import cut, many, many_are, visible

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.bulk.plan import Plan
    from chatkit.localization.glossary import Glossary

Answer = Literal["", "accepted", "edited", "skipped"]
_WIDTHS = {
    **{"": 5, "template": 14, "language": 8, "field": 13, "state": 8},
    **{"source": 27, "translation": 25},
}


_COLUMNS = (
    *("template_code", "lang_code", "field", "state", "source_before", "source", "translation"),
    *("answer", "new_translation", "comment", "limit"),
)


class QueueItem:
    """One text to review, with its source, its translation and the answer."""

    def __init__(self, unit: Unit, original: Entry, entry: Entry | None) -> None:
        self.unit = unit
        self.original = original  #: the content in the source language
        self.entry = entry  #: the content it is of; None if there is none yet
        self.answer: Answer = ""
        self.new_translation = ""  #: the text in its place; empty unless it was edited
        self.comment = self.recorded_comment = unit.comment
        self.known = {unit.target}  #: the texts that were there, or that plans have put there

    def __repr__(self) -> str:
        return f"<{self.unit.state} {' '.join(self.unit.text_key)}: {cut(self.unit.source, 60)}>"

    @property
    def commented(self) -> bool:
        """True while a plan has still to record the comment."""
        return self.comment != self.recorded_comment

    @property
    def text(self) -> str:
        """The edited translation, or the present one."""
        return self.new_translation or self.unit.target


class Queue(Report):
    """Texts to review, string by string.

    `chatkit.widgets.QueueView(queue)` shows one after the other.
    `edit`, `accept`, `skip` and `comment` answer; nothing is sent before `plan().apply()`.
    Numbers count from 0, in the order of `frame()`.

    Suggestions come from all templates that are known, in the queue or not. Those that are not
    in it are read when a suggestion is first asked for, so that opening a queue waits for none.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        languages: Iterable[str] | None,
        source: str,
        only: Only | Collection[Only],
        *,
        ledger: LedgerFile,
        glossary: Glossary | None,
        read_frame: Callable[[list[str]], pd.DataFrame],
        plan_units: Callable[[Sequence[Unit], pd.DataFrame], Plan],
        read_other_frame: Callable[[Iterable[str]], pd.DataFrame] | None,
    ) -> None:
        states = select_states(only)
        self.source = source
        self._frame, self._ledger_file, self._glossary = frame, ledger, glossary
        self._read_frame, self._plan_units = read_frame, plan_units
        self._planned = False  #: whether a plan may have changed the contents that were read
        self._records = ledger.read()
        #: By language, and whether the other templates are in it.
        self._memories: dict[tuple[str, bool], TranslationMemory] = {}
        #: Reads the templates outside of the queue in some languages; None if there are none.
        self._read_other_frame = read_other_frame
        self._reading_lock = Lock()  #: held while they are read
        self._other_contents: list[Entry] | None = [] if read_other_frame is None else None
        self._contents = read_entries(frame)
        pairs, _ = pair_units(self._contents, source, languages, self._records)
        #: The texts, language by language, in the order of the templates.
        self.items = [QueueItem(*pair) for pair in pairs if pair[0].state in states]
        order = list(dict.fromkeys(language.normalize(unit.lang_code) for unit, *_ in pairs))
        ranks = {code: rank for rank, code in enumerate(order)}
        self.items.sort(key=lambda item: ranks[language.normalize(item.unit.lang_code)])

    def __len__(self) -> int:
        return len(self.items)

    def frame(self) -> pd.DataFrame:
        """Return the texts as a DataFrame, a row each: both texts, the state and the answer."""
        rows = (
            item.unit._asdict() | vars(item) | {"translation": item.unit.target}
            for item in self.items
        )
        return make_frame(([row[name] for name in _COLUMNS] for row in rows), _COLUMNS)

    # --- answer -----------------------------------------------------------------------

    def edit(self, number: int, text: str) -> list[ContentFinding]:
        """Set the translation of a text; return the findings in it.

        Raises:
            InputError: There is no such text, or it would be empty.
        """
        item = self._get_item(number)
        if not text.strip():
            raise InputError("A translation cannot be empty; skip(number) leaves it as it is.")
        if text == item.unit.target:
            self.accept(number)
        else:
            item.answer, item.new_translation = "edited", text
        return self.findings(number)

    def accept(self, number: int) -> None:
        """Accept the translation as correct for the current source.

        Raises:
            InputError: There is no such text, or it has no translation.
        """
        item = self._get_item(number)
        if not item.unit.target.strip():
            raise InputError(f"Text {number} has no translation yet: edit(number, text) writes it.")
        item.answer, item.new_translation = "accepted", ""

    def skip(self, number: int) -> None:
        """Leave a text as it is, and drop an earlier answer.

        Raises:
            InputError: There is no such text.
        """
        item = self._get_item(number)
        item.answer, item.new_translation = "skipped", ""

    def comment(self, number: int, text: str) -> None:
        """Comment on a text, for colleagues; an empty comment takes it back.

        Raises:
            InputError: There is no such text.
        """
        self._get_item(number).comment = text.strip()

    def _get_item(self, number: int) -> QueueItem:
        """Return the item with a number, or raise an error that has the range of numbers."""
        if not 0 <= number < len(self.items):
            last = len(self.items) - 1
            numbers = f"they go from 0 to {last}" if self.items else "nothing is to be reviewed"
            raise InputError(f"There is no text {number}: {numbers}.")
        return self.items[number]

    # --- what helps -------------------------------------------------------------------

    def content(self, number: int, text: str | None = None) -> dict[str, Any]:
        """Return the fields of the content of a text, with the answers put in.

        Args:
            number: The number of the text.
            text: Another translation; without it the answer.
        """
        item = self._get_item(number)
        original, entry, unit = item.original, item.entry, item.unit
        fields = make_draft(original, unit.lang_code) if entry is None else entry.raw
        changed = put_texts(fields, original, self._collect_answered_texts(number, text))
        return {**fields, **changed, "template_code": unit.template_code}

    def untranslated(self, number: int, text: str | None = None) -> list[str]:
        """Return the fields of `content` that are still in the language of the source.

        Args:
            number: The number of the text.
            text: Another translation; without it the answer.
        """
        (content,) = read_entries(self.content(number, text))
        entry = self.items[number].entry
        known = {} if entry is None else dict(entry.texts)
        known |= self._collect_answered_texts(number, text)
        return [field for field in content.texts if field not in known]

    def _collect_answered_texts(self, number: int, text: str | None) -> dict[str, str]:
        """Return the edited texts of the content of a text, by field."""
        item = self.items[number]
        texts = {
            other.unit.field: other.text
            for other in self.items
            if other.answer == "edited" and other.unit.text_key[:2] == item.unit.text_key[:2]
        }
        texts[item.unit.field] = item.text if text is None else text
        return {field: text for field, text in texts.items() if text.strip()}

    def findings(self, number: int, text: str | None = None) -> list[ContentFinding]:
        """Return the findings of the rules and the glossary in a translation.

        Args:
            number: The number of the text.
            text: Another translation; without it the answer.
        """
        item = self._get_item(number)
        if not (item.text if text is None else text).strip():
            return []
        pair = [item.original, self.content(number, text)]
        audit = check_contents(pair, self.source, glossary=self._glossary, ledger=self._records)
        fields = item.unit.field, item.unit.field.split(".")[0]
        return [
            each
            for each in audit.of(lang_code=item.unit.lang_code)
            if each.field in fields and each.severity != "note"
        ]

    @property
    def has_other_contents(self) -> bool:
        """Return whether the templates outside of the queue were read, for suggestions."""
        return self._other_contents is not None

    def read_others(self) -> None:
        """Read the templates outside of the queue, for suggestions, if that was not done yet.

        Raises:
            CallError: The service did not answer, or refused.
        """
        with self._reading_lock:
            if self._other_contents is None and self._read_other_frame is not None:
                languages = dict.fromkeys(item.unit.lang_code for item in self.items)
                self._other_contents = read_entries(self._read_other_frame(languages))

    def suggestions(self, number: int, *, at_hand: bool = False) -> list[Suggestion]:
        """Return translations of this text, or of one much like it, in the account and here.

        Args:
            number: The number of the text.
            at_hand: Do not wait: if the other templates were not read yet, suggest from the
                templates of the queue alone.

        Raises:
            InputError: There is no such text.
            CallError: The other templates cannot be read; `at_hand=True` does without them.
        """
        unit = self._get_item(number).unit
        if not at_hand:
            self.read_others()
        others = self._other_contents
        key = unit.lang_code, others is not None
        memory = self._memories.get(key)
        if memory is None:
            contents = [*self._contents, *(others or ())]
            memory = self._memories[key] = TranslationMemory(contents, unit.lang_code, self.source)
        own = [
            Suggestion(item.new_translation, item.unit.source, 1.0, *item.unit.text_key, None)
            for item in self.items
            if item.answer == "edited" and item.unit.lang_code == unit.lang_code
        ]
        return memory.suggest(unit.source, besides=(unit.template_code, unit.field), unsaved=own)

    # --- the end ----------------------------------------------------------------------

    def counts(self) -> dict[str, int]:
        """Return the count of texts by answer; "" is not answered yet."""
        count = Counter(item.answer for item in self.items)
        return {answer: count[answer] for answer in get_args(Answer)}

    def plan(self) -> Plan:
        """Plan all edits; accepted texts and comments are recorded at once.

        The queue goes on after a plan was applied: the next plan has what was edited since.

        Raises:
            InputError: Nothing was answered.
            NotFound: The service does not know a template any more.
            OSError: The ledger cannot be written.
        """
        if not any(item.answer in ("accepted", "edited") or item.commented for item in self.items):
            raise InputError(
                "No text was answered yet: use edit(number, text), accept(number), comment(number, "
                "text), or the buttons of chatkit.widgets.QueueView(queue)."
            )
        new, comments = Ledger(), sum(item.commented for item in self.items)
        for item in self.items:
            unit = item.unit
            if item.answer == "accepted":
                key = make_translation_key(unit, unit.field, item.original.lang_code, unit.target)
                new.record_source(key, unit.source, "accept", self._records)
            if item.commented:
                lang_code = language.normalize(unit.lang_code)
                new.comment((unit.template_code, lang_code, unit.field), item.comment)
                item.recorded_comment = item.comment
        self._records = self._ledger_file.add(new)
        edited = [item for item in self.items if item.answer == "edited"]
        frame = self._reread_templates(edited) if self._planned and edited else self._frame
        units = [
            item.unit.with_stamp(item.original.lang_code)._replace(target=item.new_translation)
            for item in edited
        ]
        plan = self._plan_units(units, frame)
        self._planned = True
        for item in edited:
            item.known.add(item.new_translation)
        if accepted := sum(item.answer == "accepted" for item in self.items):
            plan.notes.append(f"{many_are(accepted, 'text')} recorded as right, as they are.")
        if comments:
            plan.notes.append(f"{many_are(comments, 'comment')} recorded for colleagues.")
        return plan

    def _reread_templates(self, edited: Iterable[QueueItem]) -> pd.DataFrame:
        """Read the templates with edits again, after an earlier plan has changed them."""
        frame = self._read_frame(list(dict.fromkeys(item.unit.template_code for item in edited)))
        live = {(each.template_code, each.lang_code): each for each in read_entries(frame)}
        for item in self.items:
            entry = live.get(item.unit.text_key[:2])
            if entry is not None:
                now = entry.texts.get(item.unit.field, "")
                if now in item.known:
                    item.unit, item.entry = item.unit._replace(target=now), entry
        return frame

    # --- what is shown ----------------------------------------------------------------

    def _heading(self) -> str:
        if not self.items:
            return "Nothing to review."
        languages = len({item.unit.lang_code for item in self.items})
        count = Counter(item.unit.state for item in self.items)
        states = ", ".join(f"{count[state]:,} {state}" for state in UNIT_STATES if count[state])
        answers = ", ".join(f"{n:,} {name}" for name, n in self.counts().items() if name and n)
        title = f"{many(len(self.items), 'text')} in {many(languages, 'language')}: {states}"
        return f"{title}{'; ' if answers else ''}{answers}."

    def _parts(self) -> list[ReportPart]:
        rows = itertools.starmap(_draw_row, enumerate(self.items[:MANY]))
        table = rows_table(_WIDTHS, rows, len(self.items), "queue.frame()")
        return [headline(self._heading()), table]


def _draw_row(number: int, item: QueueItem) -> ReportRow:
    unit, label = item.unit, text_label(item.unit.field)
    where = visible(f"{unit.template_code} {unit.lang_code} {label}")
    lines = wrapped("  ", f"{number} {item.unit.state} {where}: {cut(unit.source, LABEL)}")
    source = marked(cut(unit.source, 2 * LABEL))
    if item.unit.source_before:
        source = draw_changes(item.unit.source_before, unit.source)
    cells = [str(number), cut(unit.template_code, LABEL), unit.lang_code, label, item.unit.state]
    target = marked(cut(item.text, 2 * LABEL))
    html = f'<td dir="auto">{source}</td><td dir="auto">{target}</td>'
    return ReportRow(lines, list(map(visible, cells)), html)


_MIN_LIKENESS = 0.7  #: how alike two texts must be for one to be of use to a translator
MAX_SUGGESTIONS = 5  #: suggestions for one text


class Suggestion(NamedTuple):
    """A translation in the account of a text that is the same, or much like it."""

    translation: str
    source: str  #: the text that it translates
    alike: float  #: how alike that is, from 0 to 1; 1.0 is the same text
    template_code: str
    lang_code: str
    field: str  #: as in the API: "buttons.1.label"; the first is 0
    live: bool | None  #: whether it is of a content that is not a draft; None: only answered yet


class TranslationMemory:
    """The translations into one language that contents hold.

    Args:
        contents: Contents in the source language and in this one, as `frame(full=True)` has them.
        lang_code: The language of the translations.
        source: The language that they are made from.
    """

    def __init__(self, contents: Contents, lang_code: str, source: str = "en") -> None:
        suggestions = {
            Suggestion(
                *(text, original.texts[field], 1.0, entry.template_code, entry.lang_code),
                *(field, not entry.is_draft),
            ): None
            for members, original in group_with_source(read_entries(contents), source)
            for entry in members
            if original and entry is not original and language.is_same(entry.lang_code, lang_code)
            for field, _, text in entry.pieces
            if original.texts.get(field, text) != text
        }
        # live ones before drafts: of two that are equally alike the first is taken
        self._translations = sorted(suggestions, key=lambda one: not one.live)

    def __len__(self) -> int:
        return len(self._translations)

    def suggest(
        self,
        text: str,
        *,
        besides: tuple[str, str] | None = None,
        unsaved: Sequence[Suggestion] = (),
    ) -> list[Suggestion]:
        """Find translations of texts like this one, the most alike first.

        Args:
            text: A text in the source language.
            besides: The template and the field that are being translated: not suggested.
            unsaved: Translations that no content has yet; they go before what is as much alike.
        """
        best: dict[str, Suggestion] = {}
        for known in (unsaved, self._translations) if text.strip() else ():
            for score, place in _find_most_similar(text, [one.source for one in known]):
                one = known[place]
                if besides != (one.template_code, one.field):
                    alike = 1.0 if one.source == text else round(min(score, 0.99), 2)
                    if one.translation not in best or best[one.translation].alike < alike:
                        best[one.translation] = one._replace(alike=alike)
        ranked = sorted(best.values(), key=lambda one: (-one.alike, one.live is False))
        return ranked[:MAX_SUGGESTIONS]


def _find_most_similar(text: str, others: Sequence[str]) -> list[tuple[float, int]]:
    """Find the texts that are most similar to one; capitals do not count.

    The measure is twice the length of their longest common subsequence, as a share of the length
    of both. It is computed for a whole text at once, a bit for each of its characters: Hyyrö 2004,
    "Bit-parallel LCS-length computation revisited".

    Returns:
        The share and the index of each, the most similar first.
    """
    text = text.casefold()
    bits: dict[str, int] = {}
    for n, character in enumerate(text):
        bits[character] = bits.get(character, 0) | 1 << n
    alike = []
    for position, other in enumerate(map(str.casefold, others)):
        total = len(text) + len(other)
        if 2 * min(len(text), len(other)) < _MIN_LIKENESS * total:
            continue
        # a bit of 0 for each character of the subsequence
        unmatched = full_mask = (1 << len(text)) - 1
        for character in other:
            matches = unmatched & bits.get(character, 0)
            unmatched = (unmatched + matches | unmatched - matches) & full_mask
        share = 2 * (len(text) - unmatched.bit_count()) / total
        if share >= _MIN_LIKENESS:
            alike.append((share, position))
    return sorted(alike, key=lambda each: -each[0])[: 8 * MAX_SUGGESTIONS]
