"""Importer: what translators sent back, compared with what is there now.

Three sides are compared: what went out (the stamp has its digests), what came back, and what the
frame has now. Only a text that was changed in the file, and nowhere else, gets into the frame.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from chatkit.localization import language
from chatkit.localization.checks import text_limit
from chatkit.localization.content import Entry, grouped, slots
from chatkit.localization.ledger import Ledger
from chatkit.localization.table import frame_of
from chatkit.localization.translation.units import (
    Stamp,
    Unit,
    contents,
    digest,
    field_texts,
    fields_of_group,
    group_of,
    key_of,
    new_draft,
    stamp_of,
    with_texts,
)
from chatkit.report import LABEL, MANY, marked
from chatkit.util.display import changed_words, cut, has_half_character, many, visible

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.localization.glossary import Glossary

#: What becomes of a text that is not rejected.
TAKEN = ("fresh", "unchanged")
#: Verdicts on texts that belong to no known place.
_PLACELESS = ("no stamp", "code changed", "not in the frame")
_LONG = 400  #: characters of a source that is shown
_SHOWN = 5  #: so many rejected texts are shown with the counts


class Returned(NamedTuple):
    """One text that came back, and what became of it."""

    template_code: str
    lang_code: str
    field: str
    verdict: str  #: "fresh" was taken, "unchanged" is as it was; else why not, in a word or two
    message: str
    source_before: str  #: the source as it went out
    source: str  #: the source as it is now
    live: str  #: what is there now
    returned: str
    comment: str  #: what the translator says of it
    place: str
    cell: str  #: of the translation, in a spreadsheet
    sent: str  #: when it went out, as its stamp has it


class Rejected(NamedTuple):
    """One text that was not taken, and why."""

    template_code: str
    lang_code: str
    field: str
    reason: str  #: a word or two, to choose by: "conflict"
    message: str
    source_before: str
    source: str
    live: str
    returned: str
    place: str
    cell: str


class Changed(NamedTuple):
    """One text that was taken."""

    template_code: str
    lang_code: str
    field: str
    before: str
    after: str


class ImportedTexts:
    """The contents with the translations in them, and what could not be taken.

    `frame` is for `client.templates.plan`. A content that is new is a draft.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        changed: Sequence[Changed],
        returned: Sequence[Returned],
        new: int,
        source: str = "",
    ) -> None:
        self.frame = frame
        self.source = source  #: the language that was translated from; empty if nothing was taken
        self.new = new  #: how many contents were not there before
        #: Every text that was not taken, and why.
        self.refused = [each for each in returned if each.verdict not in TAKEN]
        #: How many texts came back as they went out.
        self.unchanged = sum(each.verdict == "unchanged" for each in returned)
        self._changed, self._returned = changed, returned

    @property
    def changed(self) -> pd.DataFrame:
        """Every text that was taken, with what was there before."""
        return frame_of(self._changed, Changed._fields)

    @property
    def rejected(self) -> pd.DataFrame:
        """Every text that was not taken, with both sources and the reason."""
        rows = [
            Rejected(*each[:9], each.place, each.cell)  # all but the comment
            for each in self.refused
        ]
        return frame_of(rows, Rejected._fields)

    @property
    def texts(self) -> pd.DataFrame:
        """Every text that came back, in the order of the files, and what became of it."""
        return frame_of(self._returned, Returned._fields[:-1])

    def comments(self, known: Ledger) -> Ledger:
        """Return what translators say of texts, unless it is known or somebody said more since.

        Args:
            known: What was recorded before. A text went out at the time of its stamp.
        """
        new = Ledger()
        for each in self._returned:
            if not each.comment.strip() or each.verdict in _PLACELESS:
                continue
            place = each.template_code, language.normal(each.lang_code), each.field
            before = known.comments.get(place)
            if before is not None:
                digits = re.sub(r"\D", "", before.at.partition("+")[0])
                same = before.text.split() == each.comment.split()  # programs break lines anew
                if same or digits > re.sub(r"\D", "", each.sent):
                    continue
            new.comment(place, each.comment.strip())
        return new

    def __repr__(self) -> str:
        count = len({each[:2] for each in self._changed})
        why = Counter(each.verdict for each in self.refused)
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in why.most_common())
        lines = [
            f"{many(len(self._changed), 'text')} changed in {many(count, 'content')} "
            f"({self.new:,} new), {self.unchanged:,} as they were, "
            f"{len(self.refused):,} rejected" + (f": {reasons}" if reasons else "")
        ]
        for each in self.refused[:_SHOWN]:
            where = f"{each.template_code} {each.lang_code} {each.field}".strip()
            lines.append(f"  {cut(where, 60)}: {each.verdict}: {cut(each.message, 200)}")
            if each.verdict == "stale" and each.source:
                lines.append(f"    {_both(each)}")
        if (rest := len(self.refused) - _SHOWN) > 0:
            lines.append(f"  and {rest:,} more in .rejected")
        return "\n".join(lines)

    def html(self) -> list[str]:
        """Show the same as HTML: what was not taken is a table, both sources marked."""
        first = repr(self).splitlines()[0]
        if not self.refused:
            return [f"<p>{marked(first)}</p>"]
        rows = "".join(map(_html_row, self.refused[:MANY]))
        names = ("text", "why not", "source", "came back")
        head = "".join(f'<th scope="col">{name}</th>' for name in names)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        summary = f"<summary>What was not taken: {many(len(self.refused), 'text')}</summary>"
        more = len(self.refused) - MANY
        rest = f"<p>… and {more:,} more in <code>.rejected</code>.</p>" if more > 0 else ""
        return [f"<p>{marked(first)}</p><details open>{summary}{table}{rest}</details>"]


def _html_row(text: Returned) -> str:
    where = visible(f"{text.template_code} {text.lang_code} {text.field}").strip()
    place = f"{text.place}, {text.cell}" if text.cell else text.place
    source = marked(cut(text.source, _LONG))
    if text.verdict == "stale":
        marks = {"same": "{}", "out": "<del>{}</del>", "in": "<ins>{}</ins>"}
        words = changed_words(text.source_before[:_LONG], text.source[:_LONG])
        source = "".join(marks[kind].format(marked(visible(each))) for kind, each in words)
    return (
        f'<tr><th scope="row" dir="auto">{marked(cut(where, 2 * LABEL))}<br>'
        f"<i>{marked(cut(place, 2 * LABEL))}</i></th>"
        f'<td dir="auto">{marked(text.verdict)}: {marked(cut(text.message, _LONG))}</td>'
        f'<td dir="auto">{source}</td><td dir="auto">{marked(cut(text.returned, _LONG))}</td></tr>'
    )


def _both(text: Returned) -> str:
    """Show both sources in one: what was taken out, and what was put in."""
    marks = {"same": "{}", "out": "[-{}-]", "in": "{{+{}+}}"}
    words = changed_words(text.source_before[:_LONG], text.source[:_LONG])
    return "".join(marks[kind].format(visible(words)) for kind, words in words)


def import_units(
    units: Sequence[Unit],
    frame: pd.DataFrame,
    *,
    any_order: bool = False,
    glossary: Glossary | None = None,
    ledger: Ledger | None = None,
    broken: bool = False,
) -> ImportedTexts:
    """Take back what stands in the files that `export` wrote, after translators worked in them.

    Args:
        units: As `read_units` read them.
        frame: The contents as they are now: `client.templates.frame(codes, full=True)`.
        any_order: Take placeholders in another order than in the source, too; many languages
            need it.
        glossary: What translations say and never say.
        ledger: What is silenced in it is not held against a translation; and it has the sources
            that went out, where a file has others.
        broken: Take what is too long or does not do as the glossary says, too.

    Raises:
        InputError: The frame is not of contents in full.
    """
    from chatkit.frames.frame import collector_paused
    from chatkit.localization.table import assembled

    words = _Words(None if broken else glossary, ledger)
    with collector_paused():
        importer = _Importer(contents(frame), words, any_order=any_order, broken=broken)
        importer.take(units)
        importer.part()
        edits, new = importer.result()
        result = assembled(frame, edits, new)
        returned = importer.returned()
    return ImportedTexts(result, importer.changed, returned, len(new), importer.source)


class _Words(NamedTuple):
    """A glossary, and which of its findings are silenced."""

    glossary: Glossary | None
    ledger: Ledger | None

    def breach(self, source: str, unit: Unit, source_code: str) -> str:
        """Say what a translation does otherwise; empty if nothing."""
        if self.glossary is None:
            return ""
        for each in self.glossary.breaches(source, unit.target, unit.lang_code, source_code):
            place = each.code, unit.lang_code, unit.template_code, unit.field
            if self.ledger is None or not self.ledger.is_silent(*place):
                return f"{each.message}. {each.hint}".rstrip(". ")
        return ""


class _Importer:
    """Judges one unit after the other, then all that must come together."""

    def __init__(
        self, found: Sequence[Entry], words: _Words, *, any_order: bool, broken: bool
    ) -> None:
        self.changed: list[Changed] = []
        self._units: Sequence[Unit] = ()
        self._stamps: dict[int, Stamp | None] = {}
        self._sources: dict[int, Entry | None] = {}
        #: By the unit, one that says the same, of which all is judged.
        self._alike: dict[int, int] = {}
        #: By the unit, what became of it: a verdict and a message.
        self._verdicts: dict[int, tuple[str, str]] = {}
        self._any_order, self._broken, self._words = any_order, broken, words
        self._members = grouped(found)
        self._rows: dict[tuple[str, str], int] = {}
        for row, entry in enumerate(found):
            self._rows.setdefault((entry.template_code, entry.lang_code), row)
        self._found = found
        self._texts = {id(entry): field_texts(entry) for entry in found}
        #: By content and field what is taken, and from which source.
        self._taken: dict[tuple[str, str], dict[str, tuple[Unit, Entry]]] = {}

    def take(self, units: Sequence[Unit]) -> None:
        """Judge all units."""
        self._units = units
        self._stamps = {id(unit): stamp_of(unit.stamp) for unit in units}
        spots: dict[tuple[str, ...], dict[tuple[str, ...], Unit]] = {}
        for unit in units:
            stamp = self._stamps[id(unit)]
            spot = (*unit.spot, stamp.key) if stamp else (unit.place,)
            same = (unit.target, stamp.source, stamp.at) if stamp else (unit.target,)
            first = spots.setdefault(spot, {}).setdefault(same, unit)
            self._alike[id(unit)] = id(first)
        for returned in spots.values():
            several = list(returned.values())
            if len(several) > 1:
                several = self._newest(several)
            touched = [unit for unit in several if self._touched(unit)]
            same_text = len({unit.target for unit in touched}) == 1
            for unit in touched[:1] if same_text else touched:
                self._judge(unit, touched)
            if same_text:
                self._alike |= {id(unit): id(touched[0]) for unit in touched[1:]}

    def _newest(self, several: list[Unit]) -> list[Unit]:
        """Keep the units of the newest export of one text, and reject older ones.

        One whose stamp has the source as it is now is newer than one that has it as it was, and
        so with the translation. Of those that were translated, the stamp of the later time
        counts.
        """
        for says in (self._says_source, self._says_target, self._says_latest(several)):
            touched = [unit for unit in several if self._touched(unit)]
            newer = [unit for unit in several if says(unit)]
            if len(several) == 1 or not newer or not (older := [u for u in touched if not says(u)]):
                continue
            done = next((unit for unit in newer if self._touched(unit)), None)
            where = visible((done or newer[0]).place)
            what = "what came back there counts" if done else "it is to be translated there"
            for unit in older:
                if unit.target not in (self._live(unit), done and done.target):
                    self._reject(unit, "older export", f"{where} is from a newer export: {what}")
                elif done and unit.target == done.target:
                    self._alike[id(unit)] = id(done)
            several = newer
        return several

    def _says_latest(self, several: Sequence[Unit]) -> Callable[[Unit], bool]:
        """Make a test of whether a stamp is the latest among those that were translated."""
        times = {
            id(unit): stamp.at if (stamp := self._stamps[id(unit)]) else "" for unit in several
        }
        latest = max((times[id(u)] for u in several if self._touched(u)), default="")
        return lambda unit: times[id(unit)] >= latest

    def _says_source(self, unit: Unit) -> bool:
        """Whether its stamp has the source as it is now."""
        stamp = self._stamps[id(unit)]
        source = self._source(unit, stamp) if stamp else None
        if stamp is None or source is None:
            return False
        return digest(self._texts[id(source)].get(unit.field, "")) == stamp.source

    def _says_target(self, unit: Unit) -> bool:
        """Whether its stamp has the translation as it is now."""
        stamp = self._stamps[id(unit)]
        return stamp is not None and digest(self._live(unit)) == stamp.target

    def _touched(self, unit: Unit) -> bool:
        """Whether a text is another one than that which went out."""
        stamp = self._stamps[id(unit)]
        return stamp is None or digest(unit.target) != stamp.target

    def _judge(self, unit: Unit, touched: Sequence[Unit]) -> None:
        stamp = self._stamps[id(unit)]
        if stamp is None:
            lost = "its stamp was lost or changed on the way"
            lost += f" ({unit.cell('stamp')})" if unit.cell("stamp") else ""
            self._reject(unit, "unreadable" if unit.trouble else "no stamp", unit.trouble or lost)
            return
        source = self._source(unit, stamp)
        if source is None:
            self._reject(unit, *self._misplaced(unit, stamp))
            return
        live = self._live(unit)
        if unit.target == live and not unit.trouble:
            return
        if why := self._why_not(unit, stamp, source, live, touched):
            self._reject(unit, *why)
        else:
            self._taken.setdefault(unit.spot[:2], {})[unit.field] = (unit, source)

    def _why_not(
        self, unit: Unit, stamp: Stamp, source: Entry, live: str, touched: Sequence[Unit]
    ) -> tuple[str, str] | None:
        now = self._texts[id(source)].get(unit.field, "")
        if not now:  # nor can a file write what is no text, whatever its stamp says
            return "stale", f"{source.lang_code} has no such text (any more)"
        if len({each.target for each in touched}) > 1:
            places = " and ".join(visible(each.place) for each in touched[:3])
            return "twice", f"it came back with several texts, in {places}: keep one"
        if unit.trouble:
            return "unreadable", unit.trouble
        if unit.unfinished:
            return "unfinished", f"it is marked {unit.unfinished}"
        if has_half_character(unit.target):
            return "unreadable", "it holds half a character"
        if not unit.target.strip():
            return "emptied", "the translation was taken out; delete it in the template if meant"
        if digest(unit.source) != stamp.source:
            where = f" ({unit.cell('source')})" if unit.cell("source") else ""
            said = f"the source text in the file{where} is not the one that went out: a program"
            return "source edited", f"{said} changed it, or a person did"
        if digest(now) != stamp.source:
            said = f"{source.lang_code} was changed since the export"
            again = "Export it again with only='changed' and since= this file, and read both"
            return "stale", f"{said}. {again}"
        if digest(live) != stamp.target:
            said = "somebody else translated it since the export: nothing was overwritten"
            return "conflict", said
        if group_of(self._entry(unit), source, unit.field) is None:
            return "no place", "the content has another kind of header or button there"
        return self._placeholders(now, unit.target) or self._words_of(unit, source, now)

    def _words_of(self, unit: Unit, source: Entry, now: str) -> tuple[str, str] | None:
        """Look at what the platform would refuse, and what the glossary says."""
        most, count = text_limit(unit.field), len(unit.target)
        if count > most and not self._broken:
            over = f"it has {count:,} characters, at most {most:,} are allowed"
            return "too long", f"{over}: take away {count - most:,}"
        if breach := self._words.breach(now, unit, source.lang_code):
            return "glossary broken", breach
        return None

    def _misplaced(self, unit: Unit, stamp: Stamp) -> tuple[str, str]:
        """Say where a unit belongs by its stamp, if that is known."""
        real = self._places.get(stamp.key)
        if real is None:
            said = "neither it nor its source is in the frame, or where it belongs was changed"
            return "not in the frame", said
        said = f"its stamp is that of {visible(' '.join(real))}"
        return "code changed", f"{said}: put {', '.join(unit.put_back(real))} again"

    @cached_property
    def _places(self) -> dict[str, tuple[str, str, str]]:
        """Every text of every content, by the digest that its stamp would have."""
        languages = {e.lang_code for e in self._found} | {u.lang_code for u in self._units}
        return {
            key_of(code, lang, field, original.lang_code): (code, lang, field)
            for code, members in self._members.items()
            for original in members
            for field in self._texts[id(original)]
            for lang in languages
            if lang != original.lang_code
        }

    def _placeholders(self, source: str, target: str) -> tuple[str, str] | None:
        wanted, got = (list(map(str, slots(text))) for text in (source, target))
        if wanted == got:
            return None
        lost, added = Counter(wanted) - Counter(got), Counter(got) - Counter(wanted)
        if lost:
            more = f", and {', '.join(added)} was added" if added else ""
            return "placeholder lost", f"{', '.join(lost)} is missing{more}"
        if added:
            return "placeholder added", f"{', '.join(added)} is not in the source"
        if not self._any_order:
            said = f"they are {', '.join(got)}, in the source {', '.join(wanted)}"
            return "placeholder order", f"{said}. If that is right, read with any_order=True"
        return None

    # --- what must come together ------------------------------------------------------

    def part(self) -> None:
        """Take out what would leave a content half in the language of its source."""
        for spot, taken in self._taken.items():
            entry = self._at(spot)
            for name in ("", "headers", "buttons"):
                for source in {id(source): source for _, source in taken.values()}.values():
                    needed = set(fields_of_group(source, entry, name))
                    here = [f for f in taken if group_of(entry, source, f) == name]
                    if here and (missing := sorted(needed - taken.keys())):
                        said = f"without {', '.join(missing)} the content would be half translated"
                        for field in here:
                            self._reject(taken.pop(field)[0], "incomplete", said)

    def result(self) -> tuple[dict[int, dict[str, Any]], list[dict[str, Any]]]:
        """Return the fields that change by row, and the contents that are new."""
        edits: dict[int, dict[str, Any]] = {}
        new: list[dict[str, Any]] = []
        for spot, taken in self._taken.items():
            if not taken:
                continue
            source = next(iter(taken.values()))[1]
            fields = {field: unit.target for field, (unit, _) in sorted(taken.items(), key=_order)}
            self.changed += [
                Changed(*unit.spot, self._live(unit), unit.target) for unit, _ in taken.values()
            ]
            entry = self._at(spot)
            if entry is None:
                begun = new_draft(source, spot[1])
                new.append({**begun, **with_texts(begun, source, fields)})
            else:
                edits[self._rows[spot]] = with_texts(entry.given, source, fields)
        return edits, new

    @property
    def source(self) -> str:
        """The language that what is taken was translated from."""
        sources = (source for taken in self._taken.values() for _, source in taken.values())
        return next((source.lang_code for source in sources), "")

    # --- looking up -------------------------------------------------------------------

    def _at(self, spot: tuple[str, str]) -> Entry | None:
        row = self._rows.get(spot)
        return None if row is None else self._found[row]

    def _entry(self, unit: Unit) -> Entry | None:
        return self._at(unit.spot[:2])

    def _live(self, unit: Unit) -> str:
        entry = self._entry(unit)
        return "" if entry is None else self._texts[id(entry)].get(unit.field, "")

    def _source(self, unit: Unit, stamp: Stamp) -> Entry | None:
        """Find the content that a unit was translated from: the stamp tells its language."""
        if id(unit) not in self._sources:
            self._sources[id(unit)] = next(
                (
                    entry
                    for entry in self._members.get(unit.template_code, ())
                    if key_of(*unit.spot, entry.lang_code) == stamp.key
                ),
                None,
            )
        return self._sources[id(unit)]

    def _went_out(self, unit: Unit, stamp: Stamp | None) -> str:
        """Return the source as it went out; as the file has it where that is not recorded."""
        if stamp is None or digest(unit.source) == stamp.source:
            return unit.source
        return self._exported.get(stamp.source, unit.source)

    @cached_property
    def _exported(self) -> dict[str, str]:
        """The sources that the ledger has, by the digest that a stamp has of them."""
        ledger = self._words.ledger
        return {} if ledger is None else {digest(text): text for text in ledger.sources.values()}

    def _reject(self, unit: Unit, reason: str, message: str) -> None:
        self._verdicts[id(unit)] = reason, message

    def returned(self) -> list[Returned]:
        """Return every unit with what became of it."""
        taken = {id(unit) for found in self._taken.values() for unit, _ in found.values()}
        rows = []
        for unit in self._units:
            judged = id(unit)
            while (first := self._alike.get(judged, judged)) != judged:
                judged = first
            verdict, message = self._verdicts.get(judged, ("unchanged", ""))
            if judged in taken:
                verdict = "fresh"
            stamp, now = self._stamps[id(unit)], ""
            if stamp and (source := self._source(unit, stamp)):
                now = self._texts[id(source)].get(unit.field, "")
            rows.append(
                Returned(
                    *unit.spot,
                    verdict,
                    message,
                    self._went_out(unit, stamp),
                    now,
                    self._live(unit),
                    unit.target,
                    unit.comment,
                    visible(unit.place),
                    unit.cell("translation"),
                    stamp.at if stamp else "",
                )
            )
        return rows


def _order(item: tuple[str, object]) -> tuple[str, int]:
    """Put the buttons in their order: the tenth after the second."""
    name, _, inner = item[0].partition(".")
    number = inner.partition(".")[0]
    return name, int(number) if number.isdecimal() else 0
