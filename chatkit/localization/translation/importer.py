"""Importer: what translators sent back, compared with what is there now.

Three sides are compared: what went out (the stamp has its digests), what came back, and what the
frame has now. Only a text that was changed in the file, and nowhere else, gets into the frame.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from chatkit.display import cut, many, visible
from chatkit.localization.content import Entry, grouped
from chatkit.localization.placeholders import slots
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
from chatkit.tables import has_half_character

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = 5  #: so many rejected texts are shown with the counts


class Rejected(NamedTuple):
    """One text that was not taken, and why."""

    template_code: str
    lang_code: str
    field: str
    reason: str  #: a word or two, to choose by: "conflict"
    message: str
    live: str  #: what is there now
    returned: str
    place: str


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
        rejected: Sequence[Rejected],
        unchanged: int,
        new: int,
        source: str = "",
    ) -> None:
        self.frame = frame
        self.source = source  #: the language that was translated from; empty if nothing was taken
        self.unchanged = unchanged  #: how many texts came back as they went out
        self.new = new  #: how many contents were not there before
        self._changed, self._rejected = changed, rejected

    @property
    def changed(self) -> pd.DataFrame:
        """Every text that was taken, with what was there before."""
        return frame_of(self._changed, Changed._fields)

    @property
    def rejected(self) -> pd.DataFrame:
        """Every text that was not taken, with the reason."""
        return frame_of(self._rejected, Rejected._fields)

    def __repr__(self) -> str:
        count = len({each[:2] for each in self._changed})
        lines = [
            f"{many(len(self._changed), 'text')} changed in {many(count, 'content')} "
            f"({self.new:,} new), {self.unchanged:,} as they were, "
            f"{len(self._rejected):,} rejected"
        ]
        for each in self._rejected[:_SHOWN]:
            where = f"{each.template_code} {each.lang_code} {each.field}".strip()
            lines.append(f"  {cut(where, 60)}: {each.reason}: {cut(each.message, 200)}")
        if (rest := len(self._rejected) - _SHOWN) > 0:
            lines.append(f"  and {rest:,} more in .rejected")
        return "\n".join(lines)


def import_units(
    units: Sequence[Unit], frame: pd.DataFrame, *, any_order: bool = False
) -> ImportedTexts:
    """Take back what stands in the files that `export` wrote, after translators worked in them.

    Args:
        units: As `read_units` read them.
        frame: The contents as they are now: `client.templates.frame(codes, full=True)`.
        any_order: Take placeholders in another order than in the source, too; many languages
            need it.

    Raises:
        InputError: The frame is not of contents in full.
    """
    from chatkit.localization.table import assembled

    importer = _Importer(contents(frame), any_order=any_order)
    importer.take(units)
    importer.part()
    edits, new = importer.result()
    result = assembled(frame, edits, new)
    return ImportedTexts(
        result, importer.changed, importer.rejected, importer.unchanged, len(new), importer.source
    )


class _Importer:
    """Judges one unit after the other, then all that must come together."""

    def __init__(self, found: Sequence[Entry], *, any_order: bool) -> None:
        self.rejected: list[Rejected] = []
        self.changed: list[Changed] = []
        self.unchanged = 0
        self._any_order = any_order
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
        spots: dict[tuple[str, ...], dict[tuple[str, str], Unit]] = {}
        for unit in units:
            stamp = stamp_of(unit.stamp)
            spot = (*unit.spot, stamp.key) if stamp else (unit.place,)
            same = (unit.target, stamp.source if stamp else "")
            spots.setdefault(spot, {}).setdefault(same, unit)
        for returned in spots.values():
            several = self._newest(list(returned.values()))
            touched = [unit for unit in several if _touched(unit)]
            if not touched:
                self.unchanged += 1  # whatever else happened to it
            for unit in touched:
                self._judge(unit, twice=len(touched) > 1)

    def _newest(self, several: list[Unit]) -> list[Unit]:
        """Keep the units of the newest export of one text, and reject older ones.

        A stamp tells no time. But one that has the source as it is now is newer than one that
        has it as it was, and so with the translation.
        """
        for says in (self._says_source, self._says_target):
            touched = [unit for unit in several if _touched(unit)]
            newer = [unit for unit in several if says(unit)]
            if len(several) == 1 or not newer or not (older := [u for u in touched if not says(u)]):
                continue
            done = next((unit for unit in newer if _touched(unit)), None)
            where = visible((done or newer[0]).place)
            what = "what came back there counts" if done else "it is to be translated there"
            for unit in older:
                if unit.target != self._live(unit):
                    self._reject(unit, "older export", f"{where} is from a newer export: {what}")
            several = newer
        return several

    def _says_source(self, unit: Unit) -> bool:
        """Whether its stamp has the source as it is now."""
        stamp = stamp_of(unit.stamp)
        source = self._source(unit, stamp) if stamp else None
        if stamp is None or source is None:
            return False
        return digest(self._texts[id(source)].get(unit.field, "")) == stamp.source

    def _says_target(self, unit: Unit) -> bool:
        """Whether its stamp has the translation as it is now."""
        stamp = stamp_of(unit.stamp)
        return stamp is not None and digest(self._live(unit)) == stamp.target

    def _judge(self, unit: Unit, *, twice: bool) -> None:
        stamp = stamp_of(unit.stamp)
        if stamp is None:
            lost = "its stamp was lost or changed on the way"
            self._reject(unit, "unreadable" if unit.trouble else "no stamp", unit.trouble or lost)
            return
        source = self._source(unit, stamp)
        if source is None:
            said = "neither it nor its source is in the frame, or where it belongs was changed"
            self._reject(unit, "not in the frame", said)
            return
        live = self._live(unit)
        if unit.target == live and not unit.trouble:
            self.unchanged += 1
        elif why := self._why_not(unit, stamp, source, live, twice=twice):
            self._reject(unit, *why)
        else:
            self._taken.setdefault(unit.spot[:2], {})[unit.field] = (unit, source)

    def _why_not(
        self, unit: Unit, stamp: Stamp, source: Entry, live: str, *, twice: bool
    ) -> tuple[str, str] | None:
        now = self._texts[id(source)].get(unit.field, "")
        if not now:  # nor can a file write what is no text, whatever its stamp says
            return "source changed", f"{source.lang_code} has no such text (any more)"
        if twice:
            return "twice", "the files have it with several texts: keep one"
        if unit.trouble:
            return "unreadable", unit.trouble
        if unit.unfinished:
            return "unfinished", f"it is marked {unit.unfinished}"
        if has_half_character(unit.target):
            return "unreadable", "it holds half a character"
        if not unit.target.strip():
            return "emptied", "the translation was taken out; delete it in the template if meant"
        if digest(unit.source) != stamp.source:
            said = "the source text in the file is not the one that went out: a program changed it"
            return "source edited", f"{said}, or a person did"
        if digest(now) != stamp.source:
            said = f"{source.lang_code} was changed since the export; it is now {cut(now, 60)!r}"
            again = "Export it again with only='changed' and since= this file, and read both"
            return "source changed", f"{said}. {again}"
        if digest(live) != stamp.target:
            said = "somebody else translated it since the export: nothing was overwritten"
            return "conflict", said
        if group_of(self._entry(unit), source, unit.field) is None:
            return "no place", "the content has another kind of header or button there"
        return self._placeholders(now, unit.target)

    def _placeholders(self, source: str, target: str) -> tuple[str, str] | None:
        wanted, got = (list(map(str, slots(text))) for text in (source, target))
        lost, added = Counter(wanted) - Counter(got), Counter(got) - Counter(wanted)
        if lost:
            more = f", and {', '.join(added)} was added" if added else ""
            return "placeholder lost", f"{', '.join(lost)} is missing{more}"
        if added:
            return "placeholder added", f"{', '.join(added)} is not in the source"
        if wanted != got and not self._any_order:
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
            self.changed += self._changes(taken)
            entry = self._at(spot)
            if entry is None:
                begun = new_draft(source, spot[1])
                new.append({**begun, **with_texts(begun, source, fields)})
            else:
                edits[self._rows[spot]] = with_texts(entry.given, source, fields)
        return edits, new

    def _changes(self, taken: Mapping[str, tuple[Unit, Entry]]) -> Iterator[Changed]:
        for unit, _ in taken.values():
            yield Changed(*unit.spot, self._live(unit), unit.target)

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
        for entry in self._members.get(unit.template_code, ()):
            if key_of(*unit.spot, entry.lang_code) == stamp.key:
                return entry
        return None

    def _reject(self, unit: Unit, reason: str, message: str) -> None:
        live, place = self._live(unit), visible(unit.place)
        said = Rejected(*unit.spot, reason, message, live, unit.target, place)
        self.rejected.append(said)


def _touched(unit: Unit) -> bool:
    """Whether a text is another one than that which went out."""
    stamp = stamp_of(unit.stamp)
    return stamp is None or digest(unit.target) != stamp.target


def _order(item: tuple[str, object]) -> tuple[str, int]:
    """Put the buttons in their order: the tenth after the second."""
    name, _, inner = item[0].partition(".")
    number = inner.partition(".")[0]
    return name, int(number) if number.isdecimal() else 0
