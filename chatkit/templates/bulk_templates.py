"""Bulk templates: the contents of many templates, read into one frame, and planned from one."""

from __future__ import annotations

import re
import warnings
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, repeat
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack, cast

from msgspec import Raw

from chatkit.api.answer import Envelope
from chatkit.api.call import Call
from chatkit.api.listing import check_list_is_complete, join_into_pages, send_in_order
from chatkit.api.transport import Transport
from chatkit.errors import BadAnswer, InputError, ListMoved, NotFound, Refused
from chatkit.frames.snapshot import Snapshot, get_snapshot, keep_snapshot, read_origin
from chatkit.templates.codes import template_codes
from chatkit.templates.contents import (
    AccountChecks,
    Content,
    ContentBody,
    ContentEndpoints,
    record_sources,
    snapshot_origin,
    sorted_by_language,
)
from chatkit.util.display import many, visible
from chatkit.util.progress import Forecast, Progress

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.bulk.plan import Plan
    from chatkit.bulk.planner import PlanOptions
    from chatkit.frames.frame import Columns
    from chatkit.localization.ledger import How

#: A content among those of all templates: its endpoints, and its language.
ContentPlace: TypeAlias = tuple[ContentEndpoints, str]

CODE, LANG = "template_code", "lang_code"
_ROW_NUMBER = re.compile(r"\brows? ([0-9]+)")


class BulkTemplates:
    """The endpoints of all templates of an account, as one source of a plan.

    Args:
        transport: Sends the calls.
    """

    place = "client.templates"

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.checks = AccountChecks(transport)
        self._opened: dict[str | None, ContentEndpoints] = {}

    def of(self, code: str | None, noun: str | None = None) -> ContentEndpoints:
        """Return the endpoints of a template code.

        Raises:
            InputError: It can be no code, like `' '` or `'..'`; nothing was sent.
        """
        if code not in self._opened:
            [known] = template_codes(cast(list[str], [code]))  # refuses None, too
            self._opened[known] = ContentEndpoints(self.transport, known, self.checks)
        return self._opened[code]

    def codes(self) -> list[str]:
        """Return the codes of the templates that were opened."""
        return [code for code in self._opened if code]

    def base(self, frame: pd.DataFrame | None, *, now: bool = False) -> Snapshot:
        """Return the snapshot of a frame from when it was read, or else of the contents now."""
        from chatkit.frames.frame import get_column_or_level

        kept = None if frame is None or now else self.snapshot(frame)
        if kept is not None:
            return kept
        named = None if frame is None else get_column_or_level(frame, "template_code")
        if named is None or not named.notna().any():
            raise InputError(
                "A plan for several templates needs their codes, in a column or a level of the "
                'index called template_code; templates("code").plan(frame) is for one of them.'
            )
        codes = [code for code in dict.fromkeys(named) if isinstance(code, str) and code]
        return Snapshot(self.reader(codes).frame(), whole=True, now=True)

    def full(self, keys: Sequence[tuple[str, str]]) -> pd.DataFrame:
        """Read these contents in full."""
        columns, frame = self.reader([]).contents([(self.of(code), lang) for code, lang in keys])
        return frame.drop(columns=columns.missing)

    def keep(self, written: Sequence[Sequence[str]], run: str) -> None:
        """Record in the ledger the source that each translation was made from."""
        record_sources(self.transport.connection, written, run)

    def reader(self, codes: Iterable[str]) -> ContentReader:
        """Return a reader of the contents of these templates."""
        from chatkit.imports import accessor

        accessor.register()
        return ContentReader(self, [self.of(code) for code in codes])

    def account_frame(self, codes: Iterable[str]) -> tuple[pd.DataFrame, list[str]]:
        """Read the contents of these templates in full; return notes of those without any, too."""
        reader = self.reader(dict.fromkeys(codes))
        frame = self.with_snapshot(reader.frame(full=True))
        absent = ", ".join([*reader.absent, *reader.empty])
        if not reader._templates:
            note = (
                "No contents were read: the API has no list of templates. Pass their codes with "
                "codes=, or keep them with client.templates.remember(codes)."
            )
            return frame, [note]
        note = f"The account has no contents of these templates: {absent}."
        return frame, [note] if absent else []

    def each(self, codes: Iterable[str]) -> Mapping[str | None, ContentEndpoints]:
        """Return the endpoints of these template codes."""
        return {code: self.of(code) for code in codes}

    def read_in_languages(
        self, codes: Iterable[str], languages: Iterable[str], source: str
    ) -> pd.DataFrame:
        """Read the contents of templates in some languages, and in their source language, in full.

        Codes that the service does not know, or not any more, are left out.
        """
        from chatkit.localization import language

        forms = {*map(language.normal, languages)}
        reader = self.reader(codes)
        languages_of: dict[str, list[str]] = {}
        for code, lang in reader.frame().index:
            languages_of.setdefault(code, []).append(lang)
        places = [
            (self.of(code), lang)
            for code, own in languages_of.items()
            for lang in own
            if language.normal(lang) in forms or lang == language.find(source, own)
        ]
        return reader.contents(places)[1]

    def with_snapshot(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Keep a snapshot of a frame as it was read, and return the frame."""
        nested = ContentBody.list_updatable_fields()
        return keep_snapshot(frame, snapshot_origin(self.transport), whole=True, nested=nested)

    def snapshot(self, frame: pd.DataFrame) -> Snapshot | None:
        """Return the snapshot of a frame from when it was read, also for a single template."""
        from chatkit.frames.frame import add_index_level, get_column_or_level

        origin, code = snapshot_origin(self.transport), read_origin(frame).get("code")
        if code is not None and get_column_or_level(frame, CODE) is None:
            return None  # its rows do not name their template
        kept = get_snapshot(frame, {**origin, "code": code} if code else origin)
        if kept is None or code is None:
            return kept
        return kept._replace(frame=add_index_level(kept.frame, CODE, [code] * len(kept.frame)))

    def plan_frame(
        self,
        frame: pd.DataFrame | Iterable[Mapping[str, Any]],
        *,
        base: pd.DataFrame | None = None,
        notes: Sequence[str] = (),
        source: str = "en",
        expected: Collection[str] = (),
        how: How = "apply",
        by_rule: bool = False,
        drawn: Mapping[str, str] | None = None,
        **options: Unpack[PlanOptions],
    ) -> Plan:
        """Plan an edited frame, with the findings of the rules in it.

        Args:
            frame: The edited frame.
            base: The frame that it was made from, where it does not hold that.
            notes: Notes that the plan begins with.
            source: The language that the others are translated from.
            expected: Codes of findings to leave out.
            how: The origin of translations, for the ledger.
            by_rule: Whether texts are only replaced, so that each is as up to date as it was.
            drawn: Notes that are drawn, with the picture of each.
            **options: As for a plan.
        """
        from chatkit.bulk.planner import make_plan

        endpoints = ContentEndpoints(self.transport, "any", self.checks)
        endpoints.source, endpoints.expected = source, expected
        endpoints.how, endpoints.by_rule = how, by_rule
        plan = make_plan(self, endpoints, frame, base=base, **options)
        plan.notes[:0] = notes
        plan._drawn |= drawn or {}
        return plan


# --- read into one frame ---------------------------------------------------------------


class ContentReader:
    """A reader of the contents of some templates into one frame.

    One call reads the list of each template, several are under way at once, and each answer is
    put into columns at once: no more is kept than the frame will hold.

    Args:
        bulk: All templates of the account.
        templates: Those to read.
    """

    def __init__(self, bulk: BulkTemplates, templates: Sequence[ContentEndpoints]) -> None:
        self.absent: list[str] = []  #: codes that the service does not know
        self.empty: list[str] = []  #: codes of templates without a content
        self._transport, self._templates = bulk.transport, templates
        self._languages = bulk.checks.languages
        self._last_refusal: Refused = NotFound(Call("GET", ("templates",)), "not found", status=404)

    def frame(self, *, full: bool = False) -> pd.DataFrame:
        """Read the contents; `full` reads each content on its own as well.

        Raises:
            BadAnswer: A list is not as documented, or only a part of it came.
        """
        from chatkit.frames import frame as frames

        columns = frames.Columns(frames.choose_column_kinds(Content, Content.listed))
        counts: list[int] = []
        calls = [template.list_call() for template in self._templates]
        try:
            answers = zip(self._templates, calls, self._send_calls("template", calls), strict=True)
            for template, call, answer in answers:
                counts.append(0)
                if isinstance(answer, Refused):
                    self._last_refusal = answer
                    self.absent.append(str(template.code))
                    continue
                counts[-1] = columns.add(answer.data)
                check_list_is_complete(call, answer, counts[-1])
                if not counts[-1]:
                    self.empty.append(str(template.code))
            contents = columns.frame(LANG)
        except frames.WrongRows as error:
            raise self._bad_row_error(error, counts) from None
        codes = [str(each.code) for each in self._templates]
        levels = list(chain.from_iterable(map(repeat, codes, counts)))
        frame = frames.add_index_level(contents, CODE, levels)
        if doubles := frames.count_repeated_keys(frame):
            moved = f"the lists of contents moved while they were read: {doubles} rows came twice"
            _warn_moved(moved)
        frame = sorted_by_language(frames.drop_repeated_keys(frame))
        self._languages.add_used(frame)
        if full:
            named = {str(template.code): template for template in self._templates}
            places = [(named[code], lang) for code, lang in frame.index]
            columns, frame = self.contents(places)
            if gone := len(places) - len(frame):
                _warn_moved(f"{gone} of {len(places)} contents were gone when each was read")
        if missing := columns.missing:
            warnings.warn(
                f"The service sent no {', '.join(missing)} for its contents: "
                "the columns are empty.",
                stacklevel=4,
            )
        return frame

    def contents(self, places: Sequence[ContentPlace]) -> tuple[Columns, pd.DataFrame]:
        """Read these contents in full; leave out those that are gone.

        Raises:
            BadAnswer: One is not as documented, or an answer is about another content.
        """
        from chatkit.frames import frame as frames

        columns = frames.Columns(frames.choose_column_kinds(Content, Content.model_fields))
        kept: list[ContentPlace] = []

        def bodies() -> Iterator[Raw]:
            calls = [template.get_call(lang) for template, lang in places]
            for place, answer in zip(places, self._send_calls("content", calls), strict=True):
                if isinstance(answer, Envelope):
                    kept.append(place)
                    yield answer.data

        try:
            for page in join_into_pages(bodies()):
                columns.add(page)
            frame = columns.frame(LANG)
        except frames.WrongRows as error:
            template, lang = kept[_row_number(error, len(kept))]
            reason = f"the content is not as documented: {error}"
            raise BadAnswer(template.get_call(lang), reason) from None
        for (template, lang), read in zip(kept, frame.index, strict=True):
            template.check_same_key(template.get_call(lang), read, lang)
        codes = [str(template.code) for template, _ in kept]
        return columns, frames.add_index_level(frame, CODE, codes)

    def _send_calls(self, noun: str, calls: Sequence[Call]) -> Iterator[Envelope | Refused]:
        """Send calls, several at once; yield their answers in order, with a progress bar."""
        forecast, total = Forecast(), len(calls)
        with Progress(f"{noun}s", total) as progress:
            forecast.report(what := f"Reading {many(total, noun)}", 0, total, self._rate())
            answers = send_in_order(self._transport, calls, kept=(NotFound,))
            for done, answer in enumerate(answers, 1):
                progress.add(1)
                forecast.report(what, done, total - done, self._rate())
                yield answer

    def _rate(self) -> float:
        return self._transport.pace().rate

    def refuse_absent(self) -> None:
        """Raise an error that names all codes that the service does not know.

        Raises:
            NotFound: There are some.
        """
        if self.absent:
            total = len(self._templates)
            what = (
                "this template" if total == 1 else f"{len(self.absent)} of these {total} templates"
            )
            raise NotFound(
                self._last_refusal.call,
                f"the service does not know {what}: {_join_codes(self.absent)}. A code may be "
                "misspelt, or the template has no content yet",
                status=self._last_refusal.status,
            )

    def warn_of_empty(self) -> None:
        """Warn of all codes that have no content, of which the service gives no reason."""
        if self.empty:
            warnings.warn(
                f"There is no content for {_join_codes(self.empty)}: a code may be misspelt, or "
                "the template has none yet.",
                stacklevel=4,
            )

    def _bad_row_error(self, error: Exception, counts: Sequence[int]) -> BadAnswer:
        """Return the error for a row that is not as documented, about the list that has it."""
        ends = list(accumulate(counts))
        place = bisect_right(ends, _row_number(error, ends[-1] + 1))
        template = self._templates[min(place, len(counts) - 1)]
        counted = f" (row 0 is the first of {self._templates[0].code})" if len(ends) > 1 else ""
        return BadAnswer(template.list_call(), f"the list is not as documented: {error}{counted}")


def _row_number(error: Exception, most: int) -> int:
    """Return the number of the row in the message of an error, or the last one."""
    match = _ROW_NUMBER.search(str(error))
    return min(int(match[1]), most - 1) if match else most - 1


def _join_codes(codes: Sequence[str]) -> str:
    return visible(", ".join(codes))


def _warn_moved(message: str) -> None:
    warnings.warn(f"{message[0].upper()}{message[1:]}. Read them again.", ListMoved, stacklevel=5)
