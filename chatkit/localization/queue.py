"""Queue: texts to review, one after the other across templates, until a plan takes all answers.

Each text is a unit as it goes out to translators, so what is answered is taken back as a file of
theirs is: compared with what is there now, its placeholders counted, nothing half translated.

What helps with one of them is how the account has translated that text before, or one much like
it. This is the one import of RapidFuzz, which counts how alike two texts are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from rapidfuzz import fuzz, process

from chatkit.errors import InputError
from chatkit.frames.frame import collector_paused
from chatkit.localization import language
from chatkit.localization.audit import check_contents
from chatkit.localization.content import Contents, Entry, entries, grouped, source_of
from chatkit.localization.ledger import Ledger, LedgerFile
from chatkit.localization.rules import ContentFinding
from chatkit.localization.translation.export import (
    UNIT_STATES,
    UnitState,
    described,
    outgoing,
    paired,
    spot_of,
    standing,
)
from chatkit.localization.translation.units import (
    Unit,
    contents,
    field_texts,
    new_draft,
    translator_note,
    with_texts,
)
from chatkit.report import LABEL, Report, html_heading, marked, wrapped
from chatkit.util.display import changed_words, cut, many, visible

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.bulk.plan import Plan
    from chatkit.localization.glossary import Glossary

Answer = Literal["", "accepted", "edited", "skipped"]
_SHOWN = 10  #: texts that are shown with the counts
_WIDTHS = {
    **{"": 5, "template": 14, "language": 8, "field": 13, "state": 8},
    **{"source": 27, "translation": 25},
}


class QueueItem:
    """One text to review: where it stands, its source, its translation, and what was answered."""

    __slots__ = (
        *("unit", "original", "entry", "state", "source_before", "answer", "new_translation"),
        *("comment", "commented", "known"),
    )

    def __init__(self, unit: Unit, original: Entry, entry: Entry | None, known: Ledger) -> None:
        self.unit = unit
        self.original = original  #: the content in the source language
        self.entry = entry  #: the content it is of; None if there is none yet
        self.state, before, comment = standing(unit, original, entry, known)
        self.source_before = before  #: from which source it was made; empty unless it is stale
        self.answer: Answer = ""
        self.new_translation = ""  #: what was written in its place; empty unless it was edited
        self.comment = comment
        self.commented = False  #: whether the comment is a new one
        self.known = {unit.target}  #: what was there, and what plans of this queue have put there

    def __repr__(self) -> str:
        return f"<{self.state} {' '.join(self.unit.spot)}: {cut(self.unit.source, 60)}>"

    @property
    def note(self) -> str:
        """What a translator should know of it."""
        return translator_note(self.unit.field, self.original)

    @property
    def text(self) -> str:
        """The translation as it is to be."""
        return self.new_translation or self.unit.target

    def _row(self) -> _QueueRow:
        unit = self.unit
        return _QueueRow(
            *(*unit.spot, self.state, self.source_before, unit.source, unit.target),
            *(self.answer, self.new_translation, self.comment, unit.limit),
        )


class _QueueRow(NamedTuple):
    template_code: str
    lang_code: str
    field: str
    state: str
    source_before: str
    source: str
    translation: str
    answer: str
    new_translation: str
    comment: str
    limit: int | None


class Queue(Report):
    """Texts to review, string by string; `chatkit.QueueView(queue)` shows one after the other.

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
        only: Iterable[UnitState],
        *,
        ledger: LedgerFile,
        glossary: Glossary | None,
        read: Callable[[list[str]], pd.DataFrame],
        take: Callable[[Sequence[Unit], pd.DataFrame], Plan],
        others: Callable[[Iterable[str]], pd.DataFrame] | None,
    ) -> None:
        wanted = tuple([only] if isinstance(only, str) else only)
        if unknown := [str(state) for state in wanted if state not in UNIT_STATES]:
            shown = ", ".join(unknown)
            raise InputError(f"only= takes {', '.join(UNIT_STATES)}, not {visible(shown)[:60]}.")
        self.source = source
        self._frame, self._ledger, self._glossary = frame, ledger, glossary
        self._read, self._take = read, take
        self._planned = False  #: whether a plan may have changed what was read
        self._known = ledger.read()
        #: By language, and whether the other templates are in it.
        self._memories: dict[tuple[str, bool], TranslationMemory] = {}
        self._others = others  #: reads the other templates in some languages; None: there are none
        self._reading = Lock()  #: held while they are read
        self._elsewhere: list[Entry] | None = [] if others is None else None
        with collector_paused():
            self._found = found = contents(frame)
            pairs, _ = paired(found, source, languages)
            items = [QueueItem(*pair, self._known) for pair in pairs]
        #: The texts, language by language, in the order of the templates.
        self.items = [item for item in items if item.state in wanted]
        codes = dict.fromkeys(unit.lang_code for unit, *_ in pairs)
        order = list(dict.fromkeys(map(language.normal, codes)))
        ranks = {code: order.index(language.normal(code)) for code in codes}
        self.items.sort(key=lambda item: ranks[item.unit.lang_code])

    def __len__(self) -> int:
        return len(self.items)

    def frame(self) -> pd.DataFrame:
        """Return the texts as a DataFrame, a row each: both texts, the state and the answer."""
        from chatkit.localization.table import frame_of

        return frame_of([item._row() for item in self.items], _QueueRow._fields)

    # --- answer -----------------------------------------------------------------------

    def edit(self, number: int, text: str) -> list[ContentFinding]:
        """Write another translation, and return what the rules say of it.

        Raises:
            InputError: There is no such text, or it would be empty.
        """
        item = self._at(number)
        if not text.strip():
            raise InputError("A translation cannot be empty; skip(number) leaves it as it is.")
        if text == item.unit.target:
            self.accept(number)
        else:
            item.answer, item.new_translation = "edited", text
        return self.findings(number)

    def accept(self, number: int) -> None:
        """Say that a translation is right as it is, made from the source as it is now.

        Raises:
            InputError: There is no such text, or it has no translation.
        """
        item = self._at(number)
        if not item.unit.target.strip():
            raise InputError(f"Text {number} has no translation yet: edit(number, text) writes it.")
        item.answer, item.new_translation = "accepted", ""

    def skip(self, number: int) -> None:
        """Leave a text as it is, and take back what was answered.

        Raises:
            InputError: There is no such text.
        """
        item = self._at(number)
        item.answer, item.new_translation = "skipped", ""

    def comment(self, number: int, text: str) -> None:
        """Note something about a text, for colleagues; an empty text takes it back.

        Raises:
            InputError: There is no such text.
        """
        item = self._at(number)
        item.commented = item.commented or text.strip() != item.comment
        item.comment = text.strip()

    def _at(self, number: int) -> QueueItem:
        if not 0 <= number < len(self.items):
            last = len(self.items) - 1
            which = f"they go from 0 to {last}" if self.items else "nothing is to be reviewed"
            raise InputError(f"There is no text {number}: {which}.")
        return self.items[number]

    # --- what helps -------------------------------------------------------------------

    def content(self, number: int, text: str | None = None) -> dict[str, Any]:
        """Return the fields of the content that a text is part of, as they would be.

        Args:
            number: Which text.
            text: Another translation; without it the one that was answered.
        """
        item = self._at(number)
        unit = item.unit
        original, entry = item.original, item.entry
        given = new_draft(original, unit.lang_code) if entry is None else entry.given
        changed = with_texts(given, original, self._answered(number, text))
        return {**given, **changed, "template_code": unit.template_code}

    def untranslated(self, number: int, text: str | None = None) -> list[str]:
        """Return the fields that `content` shows in the language of the source, for want of others.

        Args:
            number: Which text.
            text: Another translation; without it the one that was answered.
        """
        (shown,) = entries(self.content(number, text))
        entry = self.items[number].entry
        known = {} if entry is None else field_texts(entry)
        known |= self._answered(number, text)
        return [field for field in field_texts(shown) if field not in known]

    def _answered(self, number: int, text: str | None) -> dict[str, str]:
        """Return the texts of the content that a text is part of, by field, as they would be."""
        item = self.items[number]
        texts = {
            other.unit.field: other.text for other in self._with(number) if other.answer == "edited"
        }
        texts[item.unit.field] = item.text if text is None else text
        return {field: text for field, text in texts.items() if text.strip()}

    def _with(self, number: int) -> Iterator[QueueItem]:
        """Yield all texts of the content that a text is of: they stand side by side."""
        content = self.items[number].unit.spot[:2]
        first = last = number
        while first and self.items[first - 1].unit.spot[:2] == content:
            first -= 1
        while last < len(self.items) and self.items[last].unit.spot[:2] == content:
            last += 1
        yield from self.items[first:last]

    def findings(self, number: int, text: str | None = None) -> list[ContentFinding]:
        """Return what the rules and the glossary say of a translation.

        Args:
            number: Which text.
            text: Another translation; without it the one that was answered.
        """
        item = self._at(number)
        unit = item.unit
        if not (item.text if text is None else text).strip():
            return []
        content = self.content(number, text)
        found = check_contents(
            [item.original, content],
            self.source,
            glossary=self._glossary,
            ledger=self._known,
        ).of(lang_code=unit.lang_code)
        name = unit.field.split(".")[0]
        return [
            each for each in found if each.field in (unit.field, name) and each.severity != "note"
        ]

    def remembers(self, number: int) -> bool:
        """Whether suggestions for a text are at hand: the first of a language take longer."""
        return (self._at(number).unit.lang_code, self.complete) in self._memories

    @property
    def complete(self) -> bool:
        """Whether the other templates were read, from which suggestions come too."""
        return self._elsewhere is not None

    def read_others(self) -> None:
        """Read the templates that are not in the queue, for suggestions, unless that was done.

        Raises:
            CallError: The service did not answer, or refused.
        """
        with self._reading:
            if self._elsewhere is None and self._others is not None:
                frame = self._others(dict.fromkeys(item.unit.lang_code for item in self.items))
                self._elsewhere = contents(frame)

    def suggestions(self, number: int, *, at_hand: bool = False) -> list[Suggestion]:
        """Return how this text, or one much like it, was translated: in the account and here.

        Args:
            number: Which text.
            at_hand: Wait for nothing: if the other templates were not read yet, suggest from
                the templates of the queue alone.

        Raises:
            InputError: There is no such text.
            CallError: The other templates cannot be read; `at_hand=True` does without them.
        """
        unit = self._at(number).unit
        if not at_hand:
            self.read_others()
        elsewhere = self._elsewhere
        key = unit.lang_code, elsewhere is not None
        memory = self._memories.get(key)
        if memory is None:
            found = [*self._found, *(elsewhere or ())]
            memory = self._memories[key] = TranslationMemory(found, unit.lang_code, self.source)
        here = [
            Suggestion(item.new_translation, item.unit.source, 1.0, *item.unit.spot, None)
            for item in self.items
            if item.answer == "edited" and item.unit.lang_code == unit.lang_code
        ]
        return memory.suggest(unit.source, besides=(unit.template_code, unit.field), also=here)

    # --- the end ----------------------------------------------------------------------

    def counts(self) -> dict[str, int]:
        """Count the texts by their answer; "" is not answered yet."""
        found = dict.fromkeys(("", *get_args(Answer)[1:]), 0)
        for item in self.items:
            found[item.answer] += 1
        return found

    def plan(self) -> Plan:
        """Plan all edits at once; what was accepted, and comments, are recorded at once.

        After a plan was applied the queue goes on: the next one has what was edited since.

        Raises:
            InputError: Nothing was answered.
            NotFound: The service does not know a template any more.
            OSError: The ledger cannot be written.
        """
        if not any(item.answer in ("accepted", "edited") or item.commented for item in self.items):
            raise InputError(
                "Nothing was answered yet: edit(number, text), accept(number) or comment(number, "
                "text) do, or the buttons of chatkit.QueueView(queue)."
            )
        new, said = Ledger(), sum(item.commented for item in self.items)
        for item in self.items:
            if item.answer == "accepted":
                new.note(spot_of(item.unit, item.original), item.unit.source, "accept", self._known)
            if item.commented:
                new.comment(_place(item.unit), item.comment)
                item.commented = False
        self._known = self._ledger.add(new)
        edited = [i for i in self.items if i.answer == "edited"]
        frame = self._read_again(edited) if self._planned and edited else self._frame
        units = [
            outgoing(
                described(item.unit, item.original, item.entry, self._known), item.original
            )._replace(target=item.new_translation)
            for item in edited
        ]
        plan = self._take(units, frame)
        self._planned = True
        for item in edited:
            item.known.add(item.new_translation)
        if accepted := sum(item.answer == "accepted" for item in self.items):
            are = "text is" if accepted == 1 else "texts are"
            plan.notes.append(f"{accepted:,} {are} recorded as right, as they are.")
        if said:
            are = "is" if said == 1 else "are"
            plan.notes.append(f"{many(said, 'comment')} {are} recorded for colleagues.")
        return plan

    def _read_again(self, edited: Iterable[QueueItem]) -> pd.DataFrame:
        """Read the templates with edits anew; what an earlier plan has written is there now."""
        codes = list(dict.fromkeys(item.unit.template_code for item in edited))
        frame = self._read(codes)
        there = {(each.template_code, each.lang_code): each for each in contents(frame)}
        for item in self.items:
            entry = there.get(item.unit.spot[:2])
            if entry is not None:
                now = field_texts(entry).get(item.unit.field, "")
                if now in item.known:
                    item.unit, item.entry = item.unit._replace(target=now), entry
        return frame

    # --- what is shown ----------------------------------------------------------------

    def _heading(self) -> str:
        languages = len({item.unit.lang_code for item in self.items})
        if not self.items:
            return "Nothing to review."
        states = [
            f"{count:,} {state}"
            for state in UNIT_STATES
            if (count := sum(item.state == state for item in self.items))
        ]
        answers = [f"{count:,} {name}" for name, count in self.counts().items() if name and count]
        done = f"; {', '.join(answers)}" if answers else ""
        texts = many(len(self.items), "text")
        return f"{texts} in {many(languages, 'language')}: {', '.join(states)}{done}."

    def _text(self) -> list[list[str]]:
        lines = wrapped("", self._heading())
        for number, item in enumerate(self.items[:_SHOWN]):
            where = " ".join(item.unit.spot)
            said = f"{number} {item.state} {visible(where)}: {cut(item.unit.source, LABEL)}"
            lines += wrapped("  ", said)
        if (more := len(self.items) - _SHOWN) > 0:
            lines.append(f"  … and {more:,} more: queue.frame() has them all")
        return [lines]

    def _html(self) -> list[str]:
        rows = "".join(_html_row(number, item) for number, item in enumerate(self.items[:_SHOWN]))
        more = len(self.items) - _SHOWN
        rest = f"<p>… and {more:,} more: <code>queue.frame()</code> has them all.</p>"
        head = "".join(
            f'<th scope="col" style="width: {width}%">{name}</th>'
            for name, width in _WIDTHS.items()
        )
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        parts = [html_heading(self._heading())]
        return [*parts, *([table] if rows else []), *([rest] if more > 0 else [])]


def _place(unit: Unit) -> tuple[str, str, str]:
    return unit.template_code, language.normal(unit.lang_code), unit.field


def _html_row(number: int, item: QueueItem) -> str:
    unit = item.unit
    source = marked(cut(unit.source, 2 * LABEL))
    if item.source_before:
        marks = {"same": "{}", "out": "<del>{}</del>", "in": "<ins>{}</ins>"}
        words = changed_words(item.source_before, unit.source)
        source = "".join(marks[kind].format(marked(visible(text))) for kind, text in words)
    cells = [str(number), cut(unit.template_code, LABEL), unit.lang_code, unit.field, item.state]
    row = "".join(f'<td dir="auto">{marked(visible(cell))}</td>' for cell in cells)
    target = marked(cut(item.text, 2 * LABEL))
    return f'<tr>{row}<td dir="auto">{source}</td><td dir="auto">{target}</td></tr>'


#: How alike two texts must be for one to be of use to a translator, in percent.
_LEAST = 70
MOST = 5  #: suggestions for one text


class Suggestion(NamedTuple):
    """A translation that the account has, of a text that is the same or much like it."""

    translation: str
    source: str  #: what it is the translation of
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
        self._found = list(dict.fromkeys(_pairs(contents, lang_code, source)))
        # live ones before drafts: of two that are equally alike the first is taken
        self._found.sort(key=lambda one: not one.live)
        self._texts = [one.source for one in self._found]
        self._folded = [text.casefold() for text in self._texts]

    def __len__(self) -> int:
        return len(self._found)

    def suggest(
        self,
        text: str,
        *,
        besides: tuple[str, str] | None = None,
        also: Sequence[Suggestion] = (),
    ) -> list[Suggestion]:
        """Find translations of texts like this one, the most alike first.

        Args:
            text: A text in the source language.
            besides: The template and the field that are being translated: not suggested.
            also: Translations that no content has yet; they go before what is as much alike.
        """
        if not text.strip():
            return []
        said: dict[str, Suggestion] = {}
        folded = [one.source.casefold() for one in also]
        for found, texts in ((also, folded), (self._found, self._folded)):
            near = process.extract(
                text.casefold(), texts, scorer=fuzz.ratio, score_cutoff=_LEAST, limit=8 * MOST
            )
            for _, score, place in near:
                one = found[place]
                if besides != (one.template_code, one.field):
                    alike = 1.0 if one.source == text else round(min(score / 100, 0.99), 2)
                    if one.translation not in said or said[one.translation].alike < alike:
                        said[one.translation] = one._replace(alike=alike)
        return sorted(said.values(), key=lambda one: (-one.alike, one.live is False))[:MOST]


def _pairs(contents: Contents, lang_code: str, source: str) -> Iterator[Suggestion]:
    for template, members in grouped(entries(contents)).items():
        original = source_of(members, source)
        if original is None:
            continue
        texts = {field: text for field, _, text in original.pieces}
        for entry in members:
            if entry is original or not language.same(entry.lang_code, lang_code):
                continue
            live = not entry.is_draft
            for field, _, translation in entry.pieces:
                if (text := texts.get(field)) and text != translation:
                    yield Suggestion(translation, text, 1.0, template, entry.lang_code, field, live)
