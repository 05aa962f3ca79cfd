"""Templates: the message templates of the account (API document, Template content)."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

from chatkit.api.transport import Transport
from chatkit.errors import HelpPage, InputError, safe_repr
from chatkit.report import FEW
from chatkit.templates.bulk_templates import BulkTemplates
from chatkit.templates.codes import NO_CODES, Codes, RememberedCodes, template_codes
from chatkit.templates.contents import ContentEndpoints, Contents
from chatkit.util.display import many
from chatkit.util.progress import print_line

if TYPE_CHECKING:
    from datetime import date

    import pandas as pd

    from chatkit.bulk.endpoints import Existing
    from chatkit.bulk.plan import Plan
    from chatkit.localization.audit import Audit
    from chatkit.localization.board import Board
    from chatkit.localization.files import Paths
    from chatkit.localization.glossary import Glossary, GlossarySource
    from chatkit.localization.importer import Translations
    from chatkit.localization.ledger import LedgerFile
    from chatkit.localization.queue import Queue
    from chatkit.localization.units import Only, Unit, UnitState


#: Messages of a queue, by verdict, where those of a file would not fit.
_QUEUE_MESSAGES = {
    "stale": "its source was changed since this queue was made: make it again",
    "conflict": "somebody else translated it since this queue was made: nothing was overwritten",
}


class Templates(metaclass=HelpPage):
    """The message templates of the account: `templates("order_ready")` opens one by its code.

    The API has no list of templates, so codes are yours to know. Every method takes some, or
    a file of them (.txt), or without any those that `remember` has kept.

    An edited frame becomes a plan, for all templates and languages at once. So all buttons
    that call get another number:

    >>> with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
    ...     frame = client.templates.frame(["order_ready", "rental_reminder"], full=True)
    ...     for buttons in frame.buttons:
    ...         for button in buttons:
    ...             if button["type"] == "call_phone":
    ...                 button["value"] = "2025550199"
    ...     client.templates.plan(frame).counts
    Connected to the sandbox: the whole service, in this process. Nothing leaves it.
    {'create': 0, 'update': 8, 'delete': 0}
    """

    #: What to pass where one resource is meant, for messages.
    _resource_instead: ClassVar[str] = 'here the contents of one template: client.templates("code")'

    _declaration = ContentEndpoints

    def __init__(self, transport: Transport) -> None:
        self._bulk = BulkTemplates(transport)
        self._opened: dict[str, Contents] = {}
        self._remembered = RememberedCodes(transport.connection)

    @property
    def _target(self) -> BulkTemplates:
        """The source and target of plans for many templates."""
        return self._bulk

    @safe_repr
    def __repr__(self) -> str:
        return '<templates of the account: templates("code").frame() shows one>'

    def __call__(self, code: str) -> Contents:
        """Open the contents of one template by its code.

        Raises:
            InputError: It can be no code, like `' '` or `'..'`; nothing was sent.
        """
        if code not in self._opened:
            self._opened[code] = Contents(self._bulk.of(code), self._similar_code)
        return self._opened[code]

    # --- codes ----------------------------------------------------------------------

    @property
    def codes(self) -> tuple[str, ...]:
        """The template codes that are remembered."""
        return self._remembered.codes

    def remember(self, codes: Codes) -> None:
        """Remember these codes, in place of those before: every method then takes them.

        They are kept in the connection, if it has a name (`chatkit login NAME`), else while
        this client lasts; a message says which. An empty list forgets them.

        Args:
            codes: Template codes, or a .txt file of them, one a line.

        Raises:
            InputError: Some are no codes.
            SettingsError: The configuration file cannot be written.
            OSError: The file cannot be opened.
        """
        print_line(self._remembered.keep(_codes_or_none(codes)))

    def _similar_code(self, code: str) -> str:
        """Return a used or remembered code that is spelled like this one; empty if none is."""
        known = [*self.codes, *self._bulk.codes()]
        return next(iter(get_close_matches(code, [each for each in known if each != code], 1)), "")

    def _known_codes(self) -> list[str]:
        """Return all known codes: remembered, used by this client, or in the ledger."""
        recorded = (key.template_code for key in self.ledger.read().origins)
        return list(dict.fromkeys([*self.codes, *self._bulk.codes(), *recorded]))

    def _resolve_codes(self, codes: Codes | None) -> list[str]:
        if codes is None and not self.codes:
            raise InputError(NO_CODES)
        return template_codes(self.codes if codes is None else codes)

    @property
    def glossary(self) -> Glossary | None:
        """The glossary of translations, for every check of contents by this client.

        Those are `check`, `plan`, `board`, `queue`, `publish`, `read_translations` and forms.
        Set it once to a .csv or .xlsx file, a frame or rows, or to None; `glossary=` of `check`
        counts before it. It lasts as long as this client.

        Raises:
            InputError: When it is set: a column is unknown, or rows are wrong.
            OSError: When it is set: the file cannot be opened.
        """
        return self._bulk.checks.glossary

    @glossary.setter
    def glossary(self, source: GlossarySource | None) -> None:
        self._bulk.checks.glossary = None if source is None else _read_glossary(source)

    # --- read -----------------------------------------------------------------------

    def frame(self, codes: Codes | None = None, *, full: bool = False) -> pd.DataFrame:
        """Read the contents of several templates, indexed by `template_code` and `lang_code`.

        They are read several at once, and are in the order of the codes; of each template
        English comes first, then the other languages by their code.

        Args:
            codes: The template codes, or a file of them; without them those that `remember` keeps.
            full: Read each content on its own as well, for all its fields.

        Raises:
            InputError: No code is named.
            NotFound: The service does not know some; all of them are named.
            BadAnswer: A list is not as documented.
        """
        reading = self._bulk.reader(self._resolve_codes(codes))
        frame = reading.frame(full=full)
        reading.refuse_absent()
        reading.warn_of_empty()
        return self._bulk.with_snapshot(frame)

    def board(
        self,
        codes: Codes | None = None,
        source: str = "en",
        *,
        languages: Iterable[str] = (),
        since: str | date | None = None,
    ) -> Board:
        """Show every template in every language: live, draft, stale, unknown, broken or missing.

        Stale is what was made from another source text than there is now, unknown what is live
        and was never recorded: `accept` records it.

        Args:
            codes: The template codes, or a file of them; without them the remembered ones. One
                that the service does not know is missing in every language.
            source: The language that the others are translated from.
            languages: Languages to show although no template has them.
            since: A date, like "2026-11-01": show only templates in which something was changed
                since then; `changes()` of the board lists the changes, with their authors and
                runs. Known are the runs whose journals lie in your data folder or in that of
                CHATKIT_RUNS, not those that are kept elsewhere, and of translations the records
                of the ledger: single edits, and those of colleagues whose ledger you merged.
                Your own name is that of your user on this computer, or CHATKIT_USER.

        Raises:
            InputError: No code is named, or `since` is not a date.
        """
        from chatkit.bulk.stores import read_changes_since
        from chatkit.localization.board import ContentChange, board, parse_time, recorded_changes

        named = self._resolve_codes(codes)
        start = None if since is None else parse_time(since)
        ledger, changed = self.ledger.read(), list[ContentChange]()
        if start is not None:
            changes, runs = read_changes_since(
                self._bulk.transport.connection.account, "content", start
            )
            changed = [
                ContentChange(
                    *(each.change.code or "", str(each.change.key), each.at, each.by, each.run),
                    *(each.change.kind, ", ".join(each.change.after)),
                )
                for each in changes
            ]
            changed += recorded_changes(ledger, start, runs)
            changed.sort(key=lambda each: (each.at, each.run))
        frame = self._bulk.reader(named).frame(full=True)
        return board(
            frame,
            source,
            codes=named,
            languages=languages,
            ledger=ledger,
            glossary=self.glossary,
            since=start,
            changed=changed,
        )

    def check(
        self,
        codes: Codes | pd.DataFrame | None = None,
        source: str = "en",
        *,
        glossary: GlossarySource | None = None,
    ) -> Audit:
        """Check contents by the rules, and compare each language with the source language.

        What the API document does not state warns and never blocks; `silence` takes such a
        warning away.

        Args:
            codes: A frame of contents, edited or not, which is checked as it is; or template
                codes, or a file of them, to be read; without them those that `remember` keeps.
            source: The language that the others are translated from.
            glossary: What translations say and never say: a .csv or .xlsx file, a frame or rows
                with columns `term`, `language`, `use`, `never`, `keep` and `address`. Without it
                `client.templates.glossary`, if that was set.

        Raises:
            InputError: No code is named, the frame does not tell its languages, or rows of the
                glossary are wrong.
            NotFound: The service does not know some; all of them are named.
            OSError: The glossary cannot be opened.

        >>> words = [{"term": "bike", "language": "de", "use": "Velo"}]
        >>> found = client.templates.check(["order_ready"], glossary=words)
        >>> found.of(lang_code="de", code="glossary").frame()[["field", "hint"]]
                    field               hint
        0  headers.0.text  It says “Velo”.
        """
        words = None if glossary is None else _read_glossary(glossary)
        if hasattr(codes, "columns"):
            frame = cast("pd.DataFrame", codes)
        else:
            frame = self.frame(codes, full=True)
        return self._bulk.checks.check(frame, source, glossary=words)

    def silence(
        self,
        code: str = "",
        languages: str | Iterable[str] = "",
        template_code: str = "",
        field: str = "",
        *,
        off: bool = False,
    ) -> pd.DataFrame:
        """Silence a warning of `check`, everywhere or for some texts only.

        It is recorded in the ledger of translations, for this account, and counts wherever
        contents are checked: for `check`, plans, boards, queues, forms and files of translators.
        What the platform refuses cannot be silenced. Without a warning nothing is changed.

        Args:
            code: What the warning is called, like "quotes".
            languages: A language, or several; without it every one.
            template_code: Only the contents of this template.
            field: Only this text of a content, named as in a finding: "footer".
            off: Report it again. A record for a template counts over one for all, then one for
                a language, then one for a field.

        Returns:
            A row for each silenced warning; an empty cell means every one.

        Raises:
            InputError: There is no such warning, or a language is not written as the API does.
            OSError: The ledger cannot be written.

        >>> found = client.templates.silence("same as source", field="footer")
        >>> found[["code", "lang_code", "template_code", "field"]]
                     code lang_code template_code   field
        0  same as source                          footer
        >>> len(client.templates.check(["order_ready"]).silent)
        7
        >>> len(client.templates.silence("same as source", field="footer", off=True))
        0
        """
        from chatkit.localization import language
        from chatkit.localization.ledger import Ledger
        from chatkit.localization.rules import CAN_BE_SILENCED, RULES

        named = language.as_list(languages)
        if not code:
            if off or template_code or field or named != [""]:
                raise InputError('Name the warning: silence("quotes", "de"). silence() lists all.')
            return self.ledger.read().silences()
        if code not in CAN_BE_SILENCED:
            near = next(iter(get_close_matches(code, CAN_BE_SILENCED, 1)), "")
            why = "the platform refuses it" if code in RULES else "there is no such warning"
            hint = f"; did you mean {near!r}?" if near else "."
            raise InputError(f"{code!r} cannot be silenced: {why}{hint}")
        if strange := [each for each in named if each and not language.is_tag(each)]:
            raise InputError(f"{strange[0]!r} is not written like a language: de or pt_BR.")
        new = Ledger()
        for each in named:
            new.silence(code, each, template_code, field, off=off)
        return self.ledger.add(new).silences()

    def queue(
        self,
        languages: str | Iterable[str] | None = None,
        codes: Codes | None = None,
        source: str = "en",
        *,
        only: Iterable[UnitState] = ("missing", "stale", "unknown"),
    ) -> Queue:
        """Make a queue of the texts that a person has to review, string by string.

        Translations are suggested from all templates that are known: those remembered, used by
        this client, and in the ledger. They are read, in these languages alone, when a suggestion
        is first asked for.

        `chatkit.widgets.QueueView(queue)` shows one after the other; in a program
        `edit(number, text)`, `accept(number)` and `skip(number)` answer, and `plan()` takes all
        answers.

        Args:
            languages: One language to review, or several; without it all that are there.
            codes: The template codes, or a file of them; without them those that `remember` keeps.
            source: The language that they are translated from.
            only: Which texts: some of missing, stale, unknown, draft and live.

        Raises:
            InputError: No code is named, the service has no such language, or a state is wrong.
            NotFound: The service does not know some codes; all of them are named.
            OSError: The ledger cannot be read.

        >>> queue = client.templates.queue(["de"], ["order_ready"])
        >>> queue.counts()
        {'': 5, 'accepted': 0, 'edited': 0, 'skipped': 0}
        >>> queue.edit(0, "Dein Fahrrad ist fertig")
        []
        >>> queue.plan().counts
        {'create': 0, 'update': 1, 'delete': 0}
        """
        from chatkit.localization.queue import Queue

        frame = self.frame(codes, full=True)
        read_codes = {*frame.index.get_level_values(0)}
        others = [code for code in self._known_codes() if code not in read_codes]
        read_others = partial(self._bulk.read_in_languages, others, source=source)
        return Queue(
            *(frame, self._target_languages(languages, frame), source, only),
            ledger=self.ledger,
            glossary=self.glossary,
            read_frame=partial(self.frame, full=True),
            plan_units=self._plan_units,
            read_other_frame=read_others if others else None,
        )

    def _target_languages(
        self, languages: str | Iterable[str] | None, frame: pd.DataFrame
    ) -> list[str] | None:
        """Return the languages to translate into, after a check that the service has them.

        Raises:
            InputError: The lookup of languages does not have some.
        """
        from chatkit.localization import language

        if languages is None:
            return None
        named = language.as_list(languages)
        if len(frame):
            self._bulk.checks.languages.require_known(str(frame.index[0][0]), named)
        return named

    def _plan_units(self, units: Sequence[Unit], frame: pd.DataFrame) -> Plan:
        """Plan the edits of a queue; notes of the plan name those that were rejected."""
        from chatkit.localization.importer import import_units

        returned = import_units(units, frame, any_order=True)
        plan = self._bulk.plan_frame(returned.frame, source=returned.source or "en")
        rejected = returned.refused
        for each in rejected[:FEW]:
            where = " ".join(each.unit.text_key)
            why = _QUEUE_MESSAGES.get(each.verdict, each.message)
            plan.notes.append(f"Not taken: {where}: {each.verdict}: {why}.")
        if len(rejected) > FEW:
            plan.notes.append(f"… and {len(rejected) - FEW:,} more that were not taken.")
        return plan

    # --- the ledger of sources --------------------------------------------------------

    @property
    def ledger(self) -> LedgerFile:
        """The record of the source texts that translations were made from."""
        from chatkit.localization.ledger import LedgerFile

        return LedgerFile(self._bulk.transport.connection)

    def accept(
        self,
        languages: str | Iterable[str] | None = None,
        codes: Codes | None = None,
        source: str = "en",
    ) -> pd.DataFrame:
        """Record that translations are right as they are, made from the source as it is now.

        Nothing is sent. On the board they are stale once their source changes. What a plan
        writes, and what comes back from translators, is recorded without it.

        Args:
            languages: One language, or several: "it", ["de", "fr"]; without it all.
            codes: The template codes, or a file of them; without them those that `remember` keeps.
            source: The language that they are translated from.

        Returns:
            A row for each translation: how many texts were recorded, and what it was before.

        Raises:
            InputError: No code is named, or no template has such a language.
            NotFound: The service does not know some codes; all of them are named.
            OSError: The ledger cannot be written.

        >>> client.templates.board(["order_ready"]).counts()["unknown"]
        7
        >>> accepted = client.templates.accept(codes=["order_ready"])
        42 texts in 7 contents are recorded as made from en as it is now.
        >>> client.templates.board(["order_ready"]).counts()["unknown"]
        0
        """
        from chatkit.localization.ledger import accept_contents

        frame = self.frame(codes, full=True)
        report, new = accept_contents(frame, languages, source, self.ledger.read())
        self.ledger.add(new)
        texts = many(int(report["texts"].sum()), "text")
        are = "is" if texts == "1 text" else "are"
        contents = many(len(report), "content")
        print_line(f"{texts} in {contents} {are} recorded as made from {source} as it is now.")
        return report

    # --- plans ----------------------------------------------------------------------

    def plan(
        self,
        frame: pd.DataFrame | Iterable[Mapping[str, Any]],
        *,
        base: pd.DataFrame | None = None,
        existing: Existing | None = None,
        skip_invalid: bool = False,
        other_account: bool = False,
        broken: bool = False,
    ) -> Plan:
        """Show what an edited frame of several templates would change.

        It is as `frame(codes)` gave it, or has columns `template_code` and `lang_code`. All
        else is as for one template: `templates("code").plan`.

        Raises:
            InputError: The frame as a whole cannot be planned.
        """
        return self._bulk.plan_frame(
            frame,
            base=base,
            existing=existing,
            skip_invalid=skip_invalid,
            other_account=other_account,
            broken=broken,
        )

    def replace(
        self,
        old: str,
        new: str,
        codes: Codes | None = None,
        *,
        skip_invalid: bool = False,
        broken: bool = False,
    ) -> Plan:
        """Plan to replace a text everywhere. Nothing is sent before `plan.apply()`.

        Placeholders stay as they are: what would change one is left alone, and a note names it.

        Args:
            old: What is found, as it is written; capitals count.
            new: What is put there.
            codes: The template codes, or a file of them; without them those that `remember` keeps.
            skip_invalid: As for `plan`, like `broken`.
            broken: As for `plan`.

        Raises:
            InputError: There is nothing to find, or no code is named.
            NotFound: The service does not know some; all of them are named.
        """
        from chatkit.templates.edits import Replacement

        replacement = Replacement(old, new)
        edited = replacement.frame(self.frame(codes, full=True))
        return self._bulk.plan_frame(
            edited,
            notes=replacement.notes(),
            by_rule=True,
            skip_invalid=skip_invalid,
            broken=broken,
        )

    def draft_missing(
        self,
        languages: str | Iterable[str],
        codes: Codes | None = None,
        source: str = "en",
        *,
        skip_invalid: bool = False,
        broken: bool = False,
    ) -> Plan:
        """Plan a draft for each language that a template lacks, made from the source language.

        What is there already is not touched.

        Args:
            languages: The language that each template is to have, or several: ["de", "pt_BR"].
            codes: The template codes, or a file of them; without them those that `remember` keeps.
            source: The language whose contents are copied.
            skip_invalid: As for `plan`, like `broken`.
            broken: As for `plan`.

        Raises:
            InputError: No language or code is named, or one is not written as the API does.
        """
        from chatkit.templates.contents import COPIED
        from chatkit.templates.edits import add_drafts, languages_to_draft

        drafts_in, named = languages_to_draft(languages), self._resolve_codes(codes)
        contents = self._bulk.with_snapshot(self._bulk.reader(named).frame(full=True))
        frame, notes = add_drafts(contents, named, drafts_in, source)
        return self._bulk.plan_frame(
            frame,
            notes=notes,
            source=source,
            expected=COPIED,
            skip_invalid=skip_invalid,
            broken=broken,
        )

    def publish(
        self,
        languages: str | Iterable[str] | None = None,
        codes: Codes | None = None,
        source: str = "en",
        *,
        broken: bool = False,
    ) -> Plan:
        """Plan to set drafts live that are complete, checked and not stale.

        The plan shows each message as a customer will see it, and what in it breaks the glossary.
        It says which drafts it leaves and why: their source has changed since, is not recorded,
        or they hold its words. A word, a name in the footer and what the glossary keeps may be
        as in the source; other words that are right so, `accept` records.

        Args:
            languages: One language, or several: "it", ["de", "fr"]; without it all.
            codes: The template codes, or a file of them; without them those that `remember` keeps.
            source: The language that the others are translated from.
            broken: Set live what the platform would refuse, too.

        Raises:
            InputError: No code is named, or no template has such a language.
            NotFound: The service does not know some codes; all of them are named.
            OSError: The ledger cannot be opened.

        >>> found = client.templates.accept("ar", ["rental_reminder"])
        4 texts in 1 content are recorded as made from en as it is now.
        >>> client.templates.publish("ar", ["rental_reminder"]).counts
        {'create': 0, 'update': 1, 'delete': 0}
        """
        from chatkit.templates.edits import AGAINST_GLOSSARY, select_drafts

        contents = self.frame(codes, full=True)
        known = self.ledger.read()
        ready = select_drafts(
            contents, languages, source, known, glossary=self.glossary, broken=broken
        )
        return self._bulk.plan_frame(
            ready.frame(),
            notes=ready.notes(),
            drawn=ready.drawn,
            source=source,
            expected=AGAINST_GLOSSARY,
            broken=broken,
        )

    # --- translators ----------------------------------------------------------------

    def export(
        self,
        target: str | os.PathLike[str],
        codes: Codes | None = None,
        source: str = "en",
        *,
        languages: str | Iterable[str] | None = None,
        only: Only | Collection[Only] = "missing",
        replace: bool = False,
    ) -> pd.DataFrame:
        """Write texts into files for translators; `read_translations` takes them back.

        Beside each text stand what a translator should know, how long it may be, its state, the
        source that it was made from where that has changed, and what people said of it.

        The source texts are recorded in the ledger as they go out, so that what comes back is
        shown beside what it was made from, whatever a program has made of the file.

        What the name ends in says the format: .xlsx, .csv, .po, .xlf or .xliff. PO and XLIFF
        have a file for each language: `texts.po` becomes `texts.de.po` and so on.

        Args:
            target: The path of the file.
            codes: The template codes, or a file of them; without them those that `remember` keeps.
            source: The language to translate from.
            languages: One language to translate into, or several; without it all that are there.
            only: Texts in these states, one or several: "missing" without a translation, "stale"
                made from another source text, "unknown", "draft", "live"; or "all".
            replace: Write over files that are there.

        Returns:
            What was written: a row for each language in each file.

        Raises:
            InputError: There is nothing to translate from, the service has no such language, or
                a file is there already.
            NotFound: The service does not know some codes; all of them are named.
            OSError: A file cannot be written.
        """
        from chatkit.localization.files import export

        frame = self.frame(codes, full=True)
        return export(
            frame,
            target,
            source=source,
            languages=self._target_languages(languages, frame),
            only=only,
            replace=replace,
            ledger=self.ledger.read(),
        )

    def read_translations(
        self,
        paths: Paths,
        codes: Codes | None = None,
        *,
        any_order: bool = False,
        encoding: str | None = None,
        skip_invalid: bool = False,
        broken: bool = False,
    ) -> Translations:
        """Read the files that `export` wrote, after translators worked in them, as a plan.

        Nothing is overwritten that changed since the export. That is in `rejected`, with all else
        that was not taken, and why: its source has changed, it is too long, a placeholder is
        lost, a program has left something in it, the glossary says otherwise. A bad text holds
        back no other one: a new language is a draft without it. Of several files the later export
        counts. What translators say in comments is recorded in the ledger.

        Args:
            paths: A path, several, or a folder.
            codes: The template codes, or a file of them; without them those in the files.
            any_order: Take placeholders in another order than in the source, too.
            encoding: That of CSV files, like "cp1252"; without it it is detected.
            skip_invalid: As for `plan`, like `broken`.
            broken: As for `plan`; what is too long, breaks the glossary or has residue of a
                program is taken, too.

        Raises:
            InputError: A file does not hold translations, or has lost a column.
            NotFound: The service does not know some codes; all of them are named.
            OSError: A file cannot be opened.
        """
        from chatkit.localization.files import read_units
        from chatkit.localization.importer import import_units
        from chatkit.templates.codes import unit_codes
        from chatkit.templates.contents import MISSING

        units = read_units(paths, encoding)
        if codes is None:  # what a translator has spoilt is rejected, not looked for
            contents = self._bulk.with_snapshot(
                self._bulk.reader(unit_codes(units)).frame(full=True)
            )
        else:
            contents = self.frame(codes, full=True)
        known = self.ledger.read()
        returned = import_units(
            units,
            contents,
            any_order=any_order,
            glossary=self.glossary,
            ledger=known,
            broken=broken,
        )
        plan = self._bulk.plan_frame(
            returned.frame,
            source=returned.source or "en",
            how="import",
            expected=MISSING if returned.refused else (),
            broken=broken,
            skip_invalid=skip_invalid,
        )
        if comments := len((new := returned.comments(known)).comments):
            self.ledger.add(new)
            plan.notes.append(
                f"{many(comments, 'comment')} of translators {'is' if comments == 1 else 'are'} "
                "recorded: queue() shows them."
            )
        if returned.unwrapped:
            plan.notes.append(
                f"{many(returned.unwrapped, 'text')} held what a program had added, like "
                "&quot; or a line break before it: the plan has them without. .texts has both."
            )
        if count := len(returned.refused):
            plan.notes.append(
                f"{count:,} text{' was' if count == 1 else 's were'} not taken: `rejected` of what "
                "read_translations returned has each, with the reason."
            )
        elif not (len(plan) or len(plan.refused)):
            unchanged = many(returned.unchanged, "text")
            plan.notes.append(
                f"The files hold no new translation: {unchanged} are unchanged."
                if returned.unchanged
                else "There is no text in the files."
            )
        returned.plan = plan
        return returned


def _codes_or_none(codes: Codes) -> list[str]:
    """Return the codes of an argument or a file; an empty list is allowed."""
    empty = not isinstance(codes, str | os.PathLike) and not (codes := list(codes))
    return [] if empty else template_codes(codes)


def _read_glossary(source: GlossarySource) -> Glossary:
    from chatkit.localization.glossary import Glossary

    return Glossary(source)
