"""Frames: the contents of many templates, read at once into one frame."""

from __future__ import annotations

import json
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeAlias

from chatkit.answer import Envelope
from chatkit.call import Call
from chatkit.display import visible
from chatkit.errors import BadAnswer, Fault, ListMoved, NotFound
from chatkit.frame import Columns, WrongRows, kinds, repeated, without_repeats
from chatkit.listing import refuse_part
from chatkit.progress import Progress
from chatkit.templates.contents import Content, ContentBody, ContentEndpoints

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.transport import Transport

#: A content among those of all templates: its endpoints, and its language.
Spot: TypeAlias = tuple[ContentEndpoints, str]

CODE, LANG = "template_code", "lang_code"
#: ContentEndpoints that are read as one page: one by one they would take twice the time.
_PAGE = 200
_ROW = re.compile(r"\brows? ([0-9]+)")


class Reading:
    """The contents of some templates, on their way into one frame.

    One call reads the list of each template, several are under way at once, and what came
    back is in columns at once: no more is kept than the frame will hold.

    Args:
        transport: Sends the calls.
        templates: The templates.
    """

    def __init__(self, transport: Transport, templates: Sequence[ContentEndpoints]) -> None:
        self.absent: list[str] = []  #: codes that the service does not know
        self.empty: list[str] = []  #: codes of templates without a content
        self._transport, self._templates = transport, templates
        self._lost = NotFound(Call("GET", ("templates",)), "not found", status=404)

    def frame(self, *, full: bool = False) -> pd.DataFrame:
        """Read them; `full` reads each content on its own as well.

        Raises:
            BadAnswer: A list is not as documented, or only a part of it came.
        """
        columns = Columns(kinds(Content, Content.listed))
        counts = []
        calls = [template.list_call() for template in self._templates]
        try:
            with Progress("templates", len(calls)) as progress:
                for template, answer in zip(self._templates, self._answers(calls), strict=True):
                    counts.append(0)
                    progress.add(1)
                    if isinstance(answer, NotFound):
                        self._lost = answer
                        self.absent.append(str(template.code))
                        continue
                    counts[-1] = columns.add(answer.data)
                    refuse_part(template.list_call(), answer, counts[-1])
                    if not counts[-1]:
                        self.empty.append(str(template.code))
            found = columns.frame(LANG)
        except WrongRows as error:
            raise self._wrong(error, counts) from None
        frame = levelled(found, _spread(self._templates, counts))
        if doubles := repeated(frame):
            _warn(f"the lists of contents moved while they were read: {doubles} rows came twice")
        frame = without_repeats(frame)
        if full:
            named = {str(template.code): template for template in self._templates}
            spots = [(named[code], lang) for code, lang in frame.index]
            columns, frame = self.contents(spots)
            if gone := len(spots) - len(frame):
                _warn(f"{gone} of {len(spots)} contents were gone when each was read")
        if missing := columns.missing:
            warnings.warn(
                f"The service sent no {', '.join(missing)} for its contents: "
                "the columns are empty.",
                stacklevel=4,
            )
        return frame

    def contents(self, spots: Sequence[Spot]) -> tuple[Columns, pd.DataFrame]:
        """Read these contents in full; those that are gone are not there.

        Raises:
            BadAnswer: One is not as documented, or an answer is about another content.
        """
        columns = Columns(kinds(Content, Content.model_fields))
        kept: list[Spot] = []
        calls = (template.get_call(lang) for template, lang in spots)
        try:
            with Progress("contents", len(spots)) as progress:
                page: list[bytes] = []
                for spot, answer in zip(spots, self._answers(calls), strict=True):
                    progress.add(1)
                    if not isinstance(answer, NotFound):
                        kept.append(spot)
                        page.append(bytes(answer.data))
                    if len(page) == _PAGE:
                        columns.add(b"[" + b",".join(page) + b"]")
                        page.clear()
                columns.add(b"[" + b",".join(page) + b"]")
            found = columns.frame(LANG)
        except WrongRows as error:
            template, lang = kept[_row(error, len(kept))]
            reason = f"the content is not as documented: {error}"
            raise BadAnswer(template.get_call(lang), reason) from None
        for (template, lang), read in zip(kept, found.index, strict=True):
            template.same_key(template.get_call(lang), read, lang)
        return columns, levelled(found, [str(template.code) for template, _ in kept])

    def refuse_absent(self) -> None:
        """Name all codes that the service does not know, at once.

        Raises:
            NotFound: There are some.
        """
        if self.absent:
            many = f"{len(self.absent)} of these {len(self._templates)} templates"
            what = "this template" if len(self._templates) == 1 else many
            raise NotFound(
                self._lost.call,
                f"the service does not know {what}: {_listed(self.absent)}. A code may be "
                "misspelt, or the template has no content yet",
                status=self._lost.status,
            )

    def warn_of_empty(self) -> None:
        """Name all codes that have no content, where the service does not tell why."""
        if self.empty:
            warnings.warn(
                f"No content is there for {_listed(self.empty)}: a code may be misspelt, or the "
                "template has none yet.",
                stacklevel=4,
            )

    # --- helpers --------------------------------------------------------------------

    def _answers(self, calls: Iterable[Call]) -> Iterator[Envelope | NotFound]:
        """Send the calls, and yield what came back in their order; raise what is no 404."""
        place: dict[str, int] = {}  # of those under way

        def taken() -> Iterator[Call]:
            for number, call in enumerate(calls):
                place[call.target] = number
                yield call

        waiting: dict[int, Envelope | NotFound] = {}
        due = 0
        with closing(self._transport.send_all(taken())) as outcomes:
            for outcome in outcomes:
                if isinstance(outcome, Fault):
                    if not isinstance(outcome.error, NotFound):
                        raise outcome.error
                    waiting[place.pop(outcome.call.target)] = outcome.error
                else:
                    waiting[place.pop(outcome[0].target)] = outcome[1]
                while due in waiting:
                    yield waiting.pop(due)
                    due += 1

    def _wrong(self, error: WrongRows, counts: Sequence[int]) -> BadAnswer:
        """Say in which list a row is not as documented: they are counted through."""
        ends = list(accumulate(counts))
        place = bisect_right(ends, _row(error, ends[-1] + 1))
        template = self._templates[min(place, len(counts) - 1)]
        counted = f" (row 0 is the first of {self._templates[0].code})" if len(ends) > 1 else ""
        return BadAnswer(template.list_call(), f"the list is not as documented: {error}{counted}")


def _row(error: WrongRows, most: int) -> int:
    """Read the number of the row out of what is wrong with it."""
    found = _ROW.search(str(error))
    return min(int(found[1]), most - 1) if found else most - 1


def _spread(templates: Iterable[ContentEndpoints], counts: Iterable[int]) -> list[str]:
    return [
        str(template.code)
        for template, rows in zip(templates, counts, strict=True)
        for _ in range(rows)
    ]


def of_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Make a frame of contents that say their template code and language, for a plan."""
    columns = Columns(kinds(Content, ContentBody.updatable()))
    columns.add(json.dumps([{n: v for n, v in row.items() if n != CODE} for row in rows]).encode())
    return levelled(columns.frame(LANG), [row[CODE] for row in rows])


def levelled(frame: pd.DataFrame, codes: Sequence[str]) -> pd.DataFrame:
    """Put the template code before the language, as the first level of the index."""
    named = frame.assign(**{CODE: codes}).astype({CODE: "str"})
    return named.set_index(CODE, append=True).swaplevel()


def _listed(codes: Sequence[str]) -> str:
    return visible(", ".join(codes))


def _warn(odd: str) -> None:
    warnings.warn(f"{odd[0].upper()}{odd[1:]}. Read them again.", ListMoved, stacklevel=5)
