"""Bulk templates: the contents of many templates, read into one frame, and planned from one."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, repeat
from typing import TYPE_CHECKING, Any, Unpack, cast

from chatkit.api.answer import Envelope
from chatkit.api.call import Call
from chatkit.api.listing import check_list_is_complete, send_in_order
from chatkit.api.transport import Transport
from chatkit.errors import BadAnswer, InputError, NotFound, Refused
from chatkit.frames.snapshot import Snapshot, get_snapshot, keep_snapshot, read_origin
from chatkit.templates.codes import template_codes
from chatkit.templates.contents import (
    AccountChecks,
    Content,
    ContentBody,
    ContentEndpoints,
    make_snapshot_origin,
    record_sources,
    sort_by_language,
)
from chatkit.util.display import many, visible
from chatkit.util.progress import Forecast, Progress

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.bulk.plan import Plan
    from chatkit.bulk.plan_input import PlanOptions
    from chatkit.frames.frame import Columns, WrongRows
    from chatkit.localization.ledger import How

CODE, LANG = "template_code", "lang_code"


class BulkTemplates:
    """The endpoints of all templates of an account, as one source and target of plans.

    Args:
        transport: Sends the calls.
    """

    place = "client.templates"

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.checks = AccountChecks(transport)
        self._opened: dict[str | None, ContentEndpoints] = {}

    def of(self, code: str | None, noun: str | None = None) -> ContentEndpoints:
        """Return the endpoints of a template.

        Args:
            code: The template code.
            noun: Without a meaning here: a plan for several resources passes it.

        Raises:
            InputError: It cannot be a code, like `' '` or `'..'`; nothing was sent.
        """
        if code not in self._opened:
            [valid] = template_codes(cast(list[str], [code]))  # refuses None, too
            self._opened[valid] = ContentEndpoints(self.transport, valid, self.checks)
        return self._opened[code]

    def list_used_codes(self) -> list[str]:
        """Return the codes of the templates that this client has used."""
        return [code for code in self._opened if code]

    def base(self, frame: pd.DataFrame | None, *, now: bool = False) -> Snapshot:
        """Return the snapshot that a frame holds; else read the contents as they are now.

        Args:
            frame: The edited frame.
            now: Read the contents although the frame holds a snapshot.

        Raises:
            InputError: The frame holds no snapshot and no template codes.
        """
        from chatkit.frames.frame import get_column_or_level

        snapshot = None if frame is None or now else self.snapshot(frame)
        if snapshot is not None:
            return snapshot
        column = None if frame is None else get_column_or_level(frame, CODE)
        if column is None or not column.notna().any():
            raise InputError(
                "A plan for several templates needs their codes, in a column or a level of the "
                'index called template_code; templates("code").plan(frame) is for one of them.'
            )
        codes = [code for code in dict.fromkeys(column) if isinstance(code, str) and code]
        return Snapshot(self.read_frame(codes), whole=True, now=True)

    def full(self, keys: Sequence[tuple[str, str]]) -> pd.DataFrame:
        """Read contents in full, by template code and language, without deleted ones.

        A field that no content shows is no column.
        """
        columns, frame = self.read_contents_in_full([(self.of(code), lang) for code, lang in keys])
        return frame.drop(columns=columns.missing)

    def read_contents_in_full(
        self, contents: Sequence[tuple[ContentEndpoints, str]]
    ) -> tuple[Columns, pd.DataFrame]:
        """Read contents in full, by template and language, without deleted ones.

        Returns:
            The columns, and the frame of them, indexed by template code and language.

        Raises:
            BadAnswer: One is not as documented, or an answer is about another content.
        """
        from chatkit.frames.frame import add_index_level

        columns, frame, reads = self._make_general_endpoints().read_records_in_full(contents)
        return columns, add_index_level(frame, CODE, [str(template.code) for template, _ in reads])

    def _make_general_endpoints(self) -> ContentEndpoints:
        """Make endpoints for the records of all templates, without calls of their own."""
        return ContentEndpoints(self.transport, "any", self.checks)

    def keep(self, written: Sequence[Sequence[str]], run: str) -> None:
        """Record in the ledger the source texts of the translations that a run writes."""
        record_sources(self.transport.connection, written, run)

    def read_frame(
        self,
        codes: Iterable[str],
        *,
        full: bool = False,
        find_similar: Callable[[str], str] | None = None,
        needed: bool = False,
    ) -> pd.DataFrame:
        """Read the contents of several templates, indexed by template code and language.

        Several calls are under way at once. Each answer goes into columns as it comes, so that
        the memory in use is about that of the frame.

        Args:
            codes: The template codes.
            full: Read each content on its own as well, for all its fields.
            find_similar: Returns a known code that is spelled alike, "" without one. With it, codes
                that the service does not know are an error, and those without a content a warning;
                else they have no rows.
            needed: Whether one content is needed, so that it is an error if there is none.

        Raises:
            BadAnswer: A list or a content is not as documented, or only a part of it came.
            NotFound: The service does not know some codes, or none has a needed content.
        """
        from chatkit.frames import frame as frames
        from chatkit.imports import accessor

        accessor.register()
        templates = {code: self.of(code) for code in dict.fromkeys(codes)}
        columns = frames.Columns(frames.choose_column_kinds(Content, Content.listed))
        counts: list[int] = []
        absent: dict[str, Refused] = {}
        try:
            for code, (call, answer) in zip(
                templates, self._read_lists(templates.values()), strict=True
            ):
                counts.append(0)
                if isinstance(answer, Refused):
                    absent[code] = answer
                    continue
                counts[-1] = columns.add(answer.data)
                check_list_is_complete(call, answer, counts[-1])
            contents = columns.frame(LANG)
        except frames.WrongRows as error:
            raise _make_list_error(error, [*templates.values()], counts) from None
        if find_similar is not None:
            call = next(iter(templates.values())).list_call()
            by_code = dict(zip(templates, counts, strict=True))
            _report_missing_codes(by_code, absent, call, find_similar, needed=needed)
        levels = list(chain.from_iterable(map(repeat, templates, counts)))
        frame = frames.add_index_level(contents, CODE, levels)
        endpoints = self._make_general_endpoints()
        if repeated := frames.count_repeated_keys(frame):
            endpoints.warn_of_list_changes([f"{repeated} rows came twice"])
        frame = sort_by_language(frames.drop_repeated_keys(frame))
        self.checks.languages.add_used_languages(frame)
        if full:
            count = len(frame)
            keys = [(templates[code], lang) for code, lang in frame.index]
            columns, frame = self.read_contents_in_full(keys)
            if deleted := count - len(frame):
                endpoints.warn_of_list_changes(
                    [f"{deleted} of {count} were gone when each was read"]
                )
        endpoints.warn_if_missing(columns.missing)
        return frame

    def _read_lists(
        self, templates: Collection[ContentEndpoints]
    ) -> Iterator[tuple[Call, Envelope | Refused]]:
        """Read the list of each template; yield calls and answers in order, with a bar."""
        total, calls = len(templates), [template.list_call() for template in templates]
        forecast, action = Forecast(), f"Reading {many(total, 'template')}"
        with Progress("templates", total) as progress:
            forecast.report(action, 0, total, self.transport.pace().rate)
            answers = send_in_order(self.transport, calls, kept=(NotFound,))
            for done, read in enumerate(zip(calls, answers, strict=True), 1):
                progress.add(1)
                forecast.report(action, done, total - done, self.transport.pace().rate)
                yield read

    def read_with_notes(self, codes: Iterable[str]) -> tuple[pd.DataFrame, list[str]]:
        """Read the contents of these templates in full; return them with notes.

        A note names the templates without contents.
        """
        codes = [*dict.fromkeys(codes)]
        frame = self.with_snapshot(self.read_frame(codes, full=True))
        present = {*frame.index.get_level_values(0)}
        without_contents = ", ".join(code for code in codes if code not in present)
        note = f"The account has no contents of these templates: {without_contents}."
        return frame, [note] if without_contents else []

    def each(self, codes: Iterable[str]) -> Mapping[str | None, ContentEndpoints]:
        """Return the endpoints of these templates, by code."""
        return {code: self.of(code) for code in codes}

    def read_contents_in_languages(
        self, codes: Iterable[str], languages: Iterable[str], source: str
    ) -> pd.DataFrame:
        """Read the contents of templates in some languages and in the source language, in full.

        Codes that the service does not know are left out.

        Args:
            codes: The template codes.
            languages: The languages, in any form: pt_BR or pt-BR.
            source: The language that the others are translated from.
        """
        from chatkit.localization import language

        selected = {*map(language.normalize, languages)}
        languages_of: dict[str, list[str]] = {}
        for code, lang in self.read_frame(codes).index:
            languages_of.setdefault(code, []).append(lang)
        contents = [
            (self.of(code), lang)
            for code, present in languages_of.items()
            for lang in present
            if language.normalize(lang) in selected or lang == language.find_code(source, present)
        ]
        return self.read_contents_in_full(contents)[1]

    def with_snapshot(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a frame that keeps its present cells as a snapshot, for the plan of its edits."""
        nested = ContentBody.list_updatable_fields()
        return keep_snapshot(frame, make_snapshot_origin(self.transport), whole=True, nested=nested)

    def snapshot(self, frame: pd.DataFrame) -> Snapshot | None:
        """Return the cells as they were when a frame was read; None if it does not hold them.

        A frame of one template counts if it has a column or a level of template codes.
        """
        from chatkit.frames.frame import add_index_level, get_column_or_level

        origin, code = make_snapshot_origin(self.transport), read_origin(frame).get("code")
        if code is None:
            return get_snapshot(frame, origin)
        snapshot = get_snapshot(frame, {**origin, "code": code})
        if snapshot is None or get_column_or_level(frame, CODE) is None:
            return None
        codes = [code] * len(snapshot.frame)
        return snapshot._replace(frame=add_index_level(snapshot.frame, CODE, codes))

    def plan_frame(
        self,
        frame: pd.DataFrame | Iterable[Mapping[str, Any]],
        *,
        notes: Sequence[str] = (),
        source: str = "en",
        ignored_codes: Collection[str] = (),
        how: How = "apply",
        carries_sources: bool = False,
        drawings: Mapping[str, str] | None = None,
        **options: Unpack[PlanOptions],
    ) -> Plan:
        """Plan an edited frame, with the findings of the rules in it.

        Args:
            frame: The edited frame.
            notes: Notes that the plan begins with.
            source: The language that the others are translated from.
            ignored_codes: Codes of findings to leave out.
            how: How the ledger records the translations.
            carries_sources: Whether an edited text keeps the recorded source of the text before.
            drawings: HTML to show in place of notes, by the note.
            **options: The options of `Resource.plan`.
        """
        from chatkit.bulk.planner import make_plan

        endpoints = self._make_general_endpoints()
        endpoints.source, endpoints.ignored_codes = source, ignored_codes
        endpoints.how, endpoints.carries_sources = how, carries_sources
        plan = make_plan(self, endpoints, frame, **options)
        plan.notes[:0] = notes
        plan._drawn |= drawings or {}
        return plan


def _report_missing_codes(
    counts: Mapping[str, int],
    absent: Mapping[str, Refused],
    call: Call,
    find_similar: Callable[[str], str],
    *,
    needed: bool,
) -> None:
    """Raise or warn that templates have no content, each with a known code like it.

    Args:
        counts: The number of contents by template code.
        absent: The codes that the service does not know, with its refusals.
        call: The first call, for an error.
        find_similar: Returns a known code that is spelled alike, "" without one.
        needed: Raise also where the service gives no reason, and none has a content.

    Raises:
        NotFound: The service does not know some codes, or none has a needed content.
    """

    def listed(codes: Iterable[str]) -> str:
        """Name codes, each with the one that may be meant."""
        pairs = [(code, find_similar(code)) for code in codes]
        named = [f"{code} (did you mean {like}?)" if like else code for code, like in pairs]
        return visible(", ".join(named))

    if absent:
        refusal = list(absent.values())[-1]
        raise NotFound(
            refusal.call,
            f"the service does not know these codes: {listed(absent)}. A code may be misspelt, or "
            "its template has no content yet",
            status=refusal.status,
        )
    if empty := [code for code, count in counts.items() if not count]:
        message = (
            f"There is no content for {listed(empty)}: a code may be misspelt, or the template has "
            "none yet."
        )
        if needed and len(empty) == len(counts):
            raise NotFound(call, message)
        warnings.warn(message, stacklevel=5)


def _make_list_error(
    error: WrongRows, templates: Sequence[ContentEndpoints], counts: Sequence[int]
) -> BadAnswer:
    """Make the error for a list that has a row that is not as documented.

    Args:
        error: The error of the columns, which counts the rows of all lists as one.
        templates: The templates that are read.
        counts: The number of rows of each list that was read.
    """
    ends = list(accumulate(counts))
    number = bisect_right(ends, ends[-1] if error.row is None else min(error.row, ends[-1]))
    template = templates[min(number, len(counts) - 1)]
    counted = f" (row 0 is the first of {templates[0].code})" if len(ends) > 1 else ""
    return BadAnswer(template.list_call(), f"the list is not as documented: {error}{counted}")
