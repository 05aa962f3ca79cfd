"""Numbers: what the country code and the number of each row say together, and who has them.

A row of a file may have the country code in the number, or none, or punctuation; a row of the
account has both as they are sent. Each pair is read once, however many rows have it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from chatkit.checks.characters import Oddity
from chatkit.display import values, visible
from chatkit.errors import InputError
from chatkit.finding import Severity
from chatkit.numbers import known_region, split_all, text_of
from chatkit.report import row_label

#: A country code and a number, as they are sent.
Pair = tuple[str, str]

_CODE = re.compile(r"\+[1-9][0-9]{0,2}")
_ABROAD = re.compile(r"[\s'(]*(?:[+＋]|00)")
_DIGITS = re.compile("[0-9]+")
#: These can be reached, but seldom have a chat.
_UNUSUAL = ("premium rate", "toll free", "shared cost", "pager", "voicemail", "company")
#: A verdict that a newer plan of numbers may prove wrong: the length is right.
_DOUBTED = "impossible"
#: The verdict of a number for films and books.
_FICTION = "reserved"
#: How many digits a number has with its country code: at least in any country, at most by E.164.
_FEWEST, _MOST = 5, 15


class Told(NamedTuple):
    """Country code and number that the two cells of a row tell, or what is odd about them."""

    pair: Pair | None = None  #: the country code and the number, if they can be told
    odd: Oddity | None = None
    column: str = "number"  #: where the oddity is
    doubt: Oddity | None = None  #: what is odd besides about a number that can be split


class _SplitText(NamedTuple):
    """One row of the table that `split_all` makes."""

    code: str | None
    number: str | None
    region: str | None
    type: str | None
    verdict: str
    reason: str | None
    meant: str | None  #: the suggestion

    @property
    def known(self) -> bool:
        """Whether country code and number are told, even if the number may be none."""
        return self.verdict in ("valid", _DOUBTED, _FICTION) and self.pair is not None

    @property
    def pair(self) -> Pair | None:
        return (self.code, self.number) if self.code and self.number else None


def pair_text(pair: Pair) -> str:
    """Write a country code and a number as one text, from which `pair_of` gets them back."""
    return " ".join(pair)


def pair_of(text: str) -> Pair:
    """Get the country code and the number from a suggestion."""
    code, _, number = text.partition(" ")
    return code, number


def tell_numbers(codes: Sequence[Any], numbers: Sequence[Any], region: str | None) -> list[Told]:
    """Tell what the cells of all rows say.

    Args:
        codes: The cells with country codes, None for nothing.
        numbers: The cells with numbers.
        region: Where numbers without a country code are dialled: 'IN', or '+91'.

    Raises:
        InputError: There is no such region.
    """
    known_region(region)
    cells = [
        (_cell_text(code), _cell_text(number)) for code, number in zip(codes, numbers, strict=True)
    ]
    told = _PairReader(dict.fromkeys(cells), region).told
    found = [told[cell] for cell in cells]
    for n, raw in enumerate(zip(codes, numbers, strict=True)):
        if not all(isinstance(cell, str | None) for cell in raw):
            found[n] = _untyped(found[n])
    return found


def doubted(codes: Sequence[str], numbers: Sequence[str]) -> dict[int, list[Oddity]]:
    """Find what is odd about numbers that are to be sent as they are.

    What no country can have is an error, whatever the numbers of its country are; all else is
    a warning. Notes are left out.

    Args:
        codes: Country codes.
        numbers: The numbers that follow them.

    Returns:
        What is odd, by the place of the number.
    """
    table = split_all([f"{code}{number}" for code, number in zip(codes, numbers, strict=True)])
    names = ("country_code", "number", "verdict")
    columns = [table.column(name).to_pylist() for name in names]
    wanted = zip(codes, numbers, strict=True)
    open_ = [
        place
        for place, (pair, (code, number, verdict)) in enumerate(
            zip(wanted, zip(*columns, strict=True), strict=True)
        )
        if pair != (code, number) or verdict not in ("valid", _FICTION)
    ]
    told = tell_numbers([codes[n] for n in open_], [numbers[n] for n in open_], None)
    found = {}
    for place, one in zip(open_, told, strict=True):
        odd = [each for each in (one.odd, one.doubt) if each and each.severity != "note"]
        if odd:
            no_number = _no_number(codes[place], numbers[place], one)
            severity: Severity = "error" if no_number else "warning"
            found[place] = [each._replace(severity=severity) for each in odd]
    return found


def _no_number(code: str, number: str, told: Told) -> bool:
    """Whether no country can have a number: its code is none, or it breaks E.164 by its length."""
    unknown = told.odd is not None and told.odd.code in ("unknown country code", "country code")
    return unknown or not _FEWEST <= len(code) - 1 + len(number) <= _MOST


def _cell_text(cell: Any) -> str:
    text = cell if isinstance(cell, str) else text_of(cell) or ""
    return text if text.strip() else ""


def _untyped(told: Told) -> Told:
    """Tell what a cell says that is not text: a zero at its beginning may be lost."""
    if told.pair is None:
        return told
    reason = "it is not text, so zeros at its beginning or a + may be lost"
    return Told(None, Oddity("not text", "error", reason, pair_text(told.pair)), told.column)


class _PairReader:
    """Reads different pairs of cells, all at once where they are read alike."""

    def __init__(self, cells: Iterable[Pair], region: str | None, *, again: bool = False) -> None:
        self.told: dict[Pair, Told] = {}
        self._region = region
        self._meant = {code: _meant_code(code) for code in {code for code, _ in cells}}
        alone: list[Pair] = []
        abroad: list[Pair] = []
        whole: list[Pair] = []
        for cell in cells:
            code, number = cell
            if code and not self._meant[code]:
                self.told[cell] = _no_code(code)
            elif not number:
                self.told[cell] = Told(odd=Oddity("empty", "error", "there is no number"))
            elif not code:
                alone.append(cell)
            else:
                (abroad if _ABROAD.match(number) else whole).append(cell)
        for cell, read in _split_texts({cell: (cell[1], region) for cell in alone}).items():
            self.told[cell] = self._alone(cell, read)
        self._abroad(abroad)
        self._whole(whole)
        if not again:
            self._unambiguous()
            self._spaced()

    # --- without a country code ---

    def _alone(self, cell: Pair, read: _SplitText) -> Told:
        if read.known:
            return _split(cell, read)
        odd = _why_wrong(read)
        if read.verdict == "ambiguous" and self._region is None:
            reason = "it has no country code: write it with one, or check with region="
            odd = odd._replace(code="no country code", message=reason)
        return Told(None, odd)

    # --- with one in each cell ---

    def _abroad(self, cells: Sequence[Pair]) -> None:
        reads = _split_texts({cell: (cell[1], self._region_of(cell[0])) for cell in cells})
        for cell, read in reads.items():
            own = self._meant[cell[0]]
            if not read.known:
                self.told[cell] = Told(None, _why_wrong(read))
            elif own in (read.code, read.region):
                self.told[cell] = _split(cell, read)
            else:
                reason = f"the number is of {read.code}, and the country code is {own}"
                odd = Oddity("wrong country", "error", reason, pair_text(read.pair or ("", "")))
                self.told[cell] = Told(None, odd)

    # --- as it is sent, or nearly so ---

    def _whole(self, cells: Sequence[Pair]) -> None:
        ready = [cell for cell in cells if not self._meant[cell[0]].isalpha()]
        reads = _split_texts(
            {cell: (_joined(self._meant[cell[0]], cell[1]), None) for cell in ready}
        )
        again = [cell for cell in cells if not self._settled(cell, reads.get(cell))]
        others = _split_texts({cell: (cell[1], self._region_of(cell[0])) for cell in again})
        for cell, other in others.items():
            self.told[cell] = self._twice(cell, reads.get(cell), other)

    def _settled(self, cell: Pair, read: _SplitText | None) -> bool:
        """Take what can be read by putting the country code before the number."""
        sure = read is not None and read.verdict in ("valid", _FICTION)
        if read is None or not sure or read.code != self._meant[cell[0]]:
            return False
        self.told[cell] = _split(cell, read)
        return True

    def _twice(self, cell: Pair, read: _SplitText | None, other: _SplitText) -> Told:
        """Tell what a number is that cannot be read by putting its country code before it."""
        code, own = cell[0], self._meant[cell[0]]
        if other.verdict == "valid" and other.pair and (own.isalpha() or other.code == own):
            digits = "".join(_DIGITS.findall(cell[1]))
            if digits == f"{other.code}{other.number}".lstrip("+"):
                reason = f"the number begins with its country code {other.code}, which has a column"
                odd = Oddity("country code twice", "error", reason, pair_text(other.pair), True)
                return Told(other.pair, odd)
            return _split(cell, other)
        if read and read.known and read.code == own:
            return _split(cell, read)
        if other.known and own.isalpha():
            return _split(cell, other)
        plain = read is not None and cell[1].isdecimal()
        odd = _why_wrong(read if read and (plain or other.verdict == "valid") else other)
        read = read or other
        if read.pair and read.code != own and not own.isalpha():
            reason = f"there is not a country code {own}"
            return Told(None, Oddity("country code", "error", reason), "country_code")
        if _CODE.fullmatch(code) and _DIGITS.fullmatch(cell[1]):
            return Told(cell, odd)
        return Told(None, odd._replace(severity="error"))

    def _region_of(self, code: str) -> str | None:
        """The region of a country code; none for those of no country, like +800."""
        try:
            return known_region(self._meant[code])
        except InputError:
            return None

    def _unambiguous(self) -> None:
        """Take back what would be read in another way once it is written as suggested."""
        sure = {
            cell: told
            for cell, told in self.told.items()
            if told.odd and told.odd.safe and told.pair
        }
        pairs = dict.fromkeys(told.pair for told in sure.values() if told.pair)
        again = _PairReader(pairs, self._region, again=True).told
        for cell, told in sure.items():
            if told.odd and told.pair:
                once_more = again[told.pair]
                odd = once_more.odd
                if once_more.pair != told.pair or (odd and odd.safe):
                    self.told[cell] = told._replace(odd=told.odd._replace(safe=False))

    def _spaced(self) -> None:
        """Split the suggestions of the library, all at once."""
        open_ = {
            cell: (told.odd.suggestion, None)
            for cell, told in self.told.items()
            if told.odd and told.odd.suggestion and " " not in told.odd.suggestion
        }
        for cell, read in _split_texts(open_).items():
            told = self.told[cell]
            if told.odd and read.pair:
                self.told[cell] = told._replace(
                    odd=told.odd._replace(suggestion=pair_text(read.pair))
                )


def _split_texts(texts: Mapping[Pair, tuple[str, str | None]]) -> dict[Pair, _SplitText]:
    """Read texts, those of each region together."""
    regions: dict[str | None, list[Pair]] = {}
    for cell, (_, region) in texts.items():
        regions.setdefault(region, []).append(cell)
    found: dict[Pair, _SplitText] = {}
    names = ("country_code", "number", "region", "type", "verdict", "reason", "suggestion")
    for region, cells in regions.items():
        table = split_all([texts[cell][0] for cell in cells], region)
        columns = [table.column(name).to_pylist() for name in names]
        found.update(zip(cells, map(_SplitText._make, zip(*columns, strict=True)), strict=True))
    return found


def _joined(code: str, number: str) -> str:
    return f"{code}{number}" if number.isdecimal() else f"{code} {number}"


def _meant_code(text: str) -> str:
    """Read a cell as a country code: +91, or the letters of a region; or nothing."""
    bare = re.sub(r"[^\w+＋]", "", text).replace("＋", "+")
    if re.fullmatch("[A-Za-z]{2}", bare):
        try:
            return known_region(bare) or ""
        except InputError:
            return ""
    bare = "+" + re.sub(r"^(?:\+|00)", "", bare)
    return bare if _CODE.fullmatch(bare) else ""


def _no_code(text: str) -> Told:
    reason = "it is not a country code: write it like +91"
    return Told(None, Oddity("country code", "error", reason), "country_code")


def _split(cell: Pair, read: _SplitText) -> Told:
    """Tell what keeps a number that can be read from being sent as it is, and if it is doubted."""
    doubt = _doubt(read)
    pair = read.pair or cell
    if cell == pair:
        return Told(pair, doubt)
    code, number = cell
    column = "number"
    if number == pair[1]:
        column, reason = "country_code", f"a country code is written {pair[0]}"
    elif not code:
        reason = "the country code has a column of its own, and a number is digits only"
    elif number.isascii() and number.isdigit():
        reason = f"from elsewhere it is dialled {pair[0]} {pair[1]}"
    else:
        reason = "a number is digits only, without its country code"
    sure = doubt is None or doubt.severity == "note"
    odd = Oddity("not split", "error", reason, pair_text(pair), sure)
    return Told(pair, odd, column, doubt)


def _doubt(read: _SplitText) -> Oddity | None:
    if read.verdict in (_DOUBTED, _FICTION):
        return _why_wrong(read)
    if read.type not in _UNUSUAL:
        return None
    return Oddity("unusual number", "note", f"it is a {read.type} number, which seldom has a chat")


def _why_wrong(read: _SplitText) -> Oddity:
    """Say why a number is none; a suggestion is for a person to judge."""
    reason = visible(read.reason or "it is not a number")
    severity: Severity = "error"
    if read.verdict in (_DOUBTED, _FICTION):
        severity = "warning" if read.verdict == _DOUBTED else "note"
    return Oddity(read.verdict, severity, reason, read.meant)


# --- numbers that are there twice -------------------------------------------------------


class Holder(NamedTuple):
    """A contact of the account."""

    id: Any
    name: str | None
    written: Pair
    alike: bool  #: whether its number is kept as it would be sent

    @property
    def called(self) -> str:
        """Name it: contact 50001, "Ana"."""
        return f"contact {self.id}" + (f", {values(self.name)}," if self.name else "")


class CheckedRows(NamedTuple):
    """The rows of the frame that is checked."""

    labels: Sequence[Any]
    ids: Sequence[Any]  #: None for a row that is not in the account yet
    names: Sequence[Any]
    pairs: Sequence[Pair | None]
    cells: Sequence[tuple[Any, Any]]  #: country code and number as they are written


def natural_key(pair: Pair, by: Sequence[str]) -> str:
    """Return what tells contacts apart: the number, or both; `by` names it."""
    return " ".join(pair) if "country_code" in by else pair[1]


def duplicates_inside(rows: CheckedRows, by: Sequence[str]) -> Iterator[tuple[int, Oddity]]:
    """Find rows with the number of an earlier row."""
    first: dict[str, int] = {}
    for place, pair in enumerate(rows.pairs):
        if pair is None:
            continue
        earlier = first.setdefault(natural_key(pair, by), place)
        if earlier == place:
            continue
        said = [f"row {row_label(rows.labels[earlier])} has the same number"]
        other = rows.pairs[earlier]
        if other is not None and other[0] != pair[0]:
            said.append(f"of {other[0]}, and the service looks at the number alone")
        elif rows.cells[earlier] != rows.cells[place]:
            said.append("written in another way")
        if isinstance(name := rows.names[earlier], str) and name != rows.names[place]:
            said.append(f"and the name {values(name)}")
        yield place, Oddity("duplicate", "error", ", ".join(said))


class AccountContacts:
    """The contacts of the account, found by their numbers.

    Args:
        ids: Their ids.
        names: Their names, None for none.
        cells: Their country codes and numbers.
        by: What tells contacts apart.
    """

    def __init__(
        self,
        ids: Sequence[Any],
        names: Sequence[Any],
        cells: Sequence[tuple[Any, Any]],
        by: Sequence[str],
    ) -> None:
        self._by = by
        self._found: dict[str, Holder] = {}
        told = tell_numbers([code for code, _ in cells], [number for _, number in cells], None)
        for id_, name, cell, each in zip(ids, names, cells, told, strict=True):
            if all(isinstance(part, str) and part for part in cell):
                self._found[natural_key(cell, by)] = Holder(id_, name, cell, True)
            if each.pair is not None and each.pair != cell:
                written = str(cell[0]), str(cell[1])
                self._found.setdefault(
                    natural_key(each.pair, by),
                    Holder(id_, name, written, False),
                )

    def holder(self, pair: Pair) -> Holder | None:
        """Find who has this number."""
        return self._found.get(natural_key(pair, self._by))

    def outside(
        self, rows: CheckedRows, skipped: Collection[int], inactive: Collection[Any]
    ) -> Iterator[tuple[int, Oddity]]:
        """Find rows whose number a contact has that is not in the frame.

        Args:
            rows: The rows that are checked.
            skipped: The places of those that need no look.
            inactive: The ids of contacts that are known to be deleted.
        """
        there = {id_ for id_ in rows.ids if id_ is not None}
        for place, holder in self.matches(rows):
            if place not in skipped and holder.id not in there:
                yield place, _held(holder, rows, place, holder.id in inactive)

    def matches(self, rows: CheckedRows) -> Iterator[tuple[int, Holder]]:
        """Find who else has the number of each row."""
        for place, pair in enumerate(rows.pairs):
            holder = self.holder(pair) if pair else None
            if holder and holder.id != rows.ids[place]:
                yield place, holder


def _held(holder: Holder, rows: CheckedRows, place: int, inactive: bool) -> Oddity:
    name = rows.names[place]
    if rows.ids[place] is not None:
        return Oddity("number taken", "error", f"{holder.called} has this number")
    if inactive:
        reason = f"{holder.called} was deleted: client.contacts.create restores it, no plan does"
        return Oddity("restores", "warning", reason)
    if not holder.alike:
        kept = values(" ".join(holder.written))
        reason = f"{holder.called} has it as {kept}: this row would become a second contact"
        return Oddity("in account", "warning", reason)
    if isinstance(name, str) and name != (holder.name or ""):
        reason = f"{holder.called} has this number: this row would rename it"
        return Oddity("in account", "warning", reason)
    return Oddity("in account", "note", f"{holder.called} has this number already")
