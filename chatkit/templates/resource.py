"""Templates: the message templates of the account (API document, Template content)."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

from chatkit.api.transport import Transport
from chatkit.errors import HelpPage, InputError, safe_repr
from chatkit.localization import language
from chatkit.report import FEW
from chatkit.templates.codes import NO_CODES, Codes, RememberedCodes, template_codes
from chatkit.templates.contents import BulkTemplates, ContentEndpoints, Contents
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
    from chatkit.localization.ledger import LedgerFile
    from chatkit.localization.queue import Queue
    from chatkit.localization.units import Only, Translations, Unit


#: Reasons why a text of a queue was not taken, by verdict, where those of a file would not fit.
_QUEUE_REASONS = {
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
        self._target = BulkTemplates(transport)  #: the source and target of plans
        self._remembered = RememberedCodes(transport.connection)

    @safe_repr
    def __repr__(self) -> str:
        return '<templates of the account: templates("code").frame() shows one>'

    def __call__(self, code: str) -> Contents:
        """Open the contents of one template by its code.

        Raises:
            InputError: It cannot be a code, like `' '` or `'..'`; nothing was sent.
        """
        return Contents(self._target.of(code), self._find_similar_code)

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
        if isinstance(codes, Iterable) and not isinstance(codes, str | bytes):
            codes = list(codes)
        print_line(self._remembered.save_codes([] if codes == [] else template_codes(codes)))

    def _find_similar_code(self, code: str) -> str:
        """Return a used or remembered code that is spelled like this one; empty if none is."""
        others = [each for each in (*self.codes, *self._target.list_used_codes()) if each != code]
        return next(iter(get_close_matches(code, others, 1)), "")

    def _list_known_codes(self) -> list[str]:
        """Return the codes that are remembered, used by this client, or in the ledger."""
        recorded = (key.template_code for key in self.ledger.read().origins)
        return list(dict.fromkeys([*self.codes, *self._target.list_used_codes(), *recorded]))

    def _resolve_codes(self, codes: Codes | None) -> list[str]:
        """Return the template codes of an argument or a file; None means the remembered ones.

        Raises:
            InputError: There are none, or some cannot be codes.
        """
        if codes is None and not self.codes:
            raise InputError(NO_CODES)
        return template_codes(self.codes if codes is None else codes)

    @property
    def glossary(self) -> Glossary | None:
        """The glossary of translations, for every check of contents by this client.

        Those are `check`, `plan`, `board`, `queue`, `publish`, `read_translations` and forms.
        Set it once to a .csv or .xlsx file, a frame or rows, or to None; `glossary=` of `check`
        takes its place. It lasts as long as this client.

        Raises:
            InputError: When it is set: a column is unknown, or rows are wrong.
            OSError: When it is set: the file cannot be opened.
        """
        return self._target.checks.glossary

    @glossary.setter
    def glossary(self, source: GlossarySource | None) -> None:
        from chatkit.localization.glossary import Glossary

        self._target.checks.glossary = None if source is None else Glossary(source)

    # --- read -----------------------------------------------------------------------

    def frame(self, codes: Codes | None = None, *, full: bool = False) -> pd.DataFrame:
        """Read the contents of several templates, indexed by `template_code` and `lang_code`.

        The rows are in the order of the codes; of each template English comes first, then the
        other languages by their code.

        Args:
            codes: The template codes, or a file of them; without them those that `remember` keeps.
            full: Read each content on its own as well, for all its fields.

        Raises:
            InputError: No code is named.
            NotFound: The service does not know some codes; all of them are named.
            BadAnswer: A list or a content is not as documented.
        """
        return self._read(codes, full=full)

    def _read(self, codes: Codes | None, *, full: bool, needed: bool = False) -> pd.DataFrame:
        """Read contents as `frame` does.

        Args:
            codes: As for `frame`, like `full`.
            full: As for `frame`.
            needed: Whether one content is needed, so that it is an error if there is none.
        """
        frame = self._target.read_frame(
            self._resolve_codes(codes),
            full=full,
            find_similar=self._find_similar_code,
            needed=needed,
        )
        return self._target.with_snapshot(frame)

    def board(
        self,
        codes: Codes | None = None,
        source: str = "en",
        *,
        languages: Iterable[str] = (),
        since: str | date | None = None,
    ) -> Board:
        """Show every template in every language: live, draft, stale, unknown, broken or missing.

        A stale content was made from another source text than there is now. An unknown one is
        live, and its source was never recorded: `accept` records it.

        Args:
            codes: The template codes, or a file of them; without them the remembered ones. One
                that the service does not know is missing in every language.
            source: The language that the others are translated from.
            languages: Languages to show although no template has them.
            since: A date, like "2026-11-01": show only templates in which something was changed
                since then; `changes()` of the board lists the changes, with their authors and
                runs. They come from the journals in your data folder and in that of
                CHATKIT_RUNS, and from the ledger, which has single edits of translations, and
                those of colleagues whose ledger you merged. Your own name is that of your user
                on this computer, or CHATKIT_USER.

        Raises:
            InputError: No code is named, or `since` is not a date.
        """
        from chatkit.bulk.stores import read_changes_since
        from chatkit.localization.board import (
            ContentChange,
            board,
            list_recorded_changes,
            parse_time,
        )

        codes = self._resolve_codes(codes)
        start = None if since is None else parse_time(since)
        ledger, changed = self.ledger.read(), list[ContentChange]()
        if start is not None:
            account = self._target.transport.connection.account
            written, runs = read_changes_since(account, "content", start)
            changed = list_recorded_changes(ledger, start, runs)
            for run, at, by, change in written:
                code, fields = change.code or "", ", ".join(change.after)
                changed.append(
                    ContentChange(code, str(change.key), at, by, run, change.kind, fields)
                )
            changed.sort(key=lambda each: (each.at, each.run))
        return board(
            self._target.read_frame(codes, full=True),
            source,
            codes=codes,
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

        A rule that the API document does not state warns and never blocks; `silence` hides such a
        warning.

        Args:
            codes: A frame of contents, edited or not, which is checked as it is; or template
                codes, or a file of them, to be read; without them those that `remember` keeps.
            source: The language that the others are translated from.
            glossary: The terms of translations: a .csv or .xlsx file, a frame or rows with columns
                `term`, `language`, `use`, `never`, `keep` and `address`. Without it
                `client.templates.glossary`, if that was set.

        Raises:
            InputError: No code is named, the frame lacks its languages, or rows of the glossary
                are wrong.
            NotFound: The service does not know some codes; all of them are named.
            OSError: The glossary cannot be opened.

        >>> terms = [{"term": "bike", "language": "de", "use": "Velo"}]
        >>> audit = client.templates.check(["order_ready"], glossary=terms)
        >>> audit.of(lang_code="de", code="glossary").frame()[["field", "hint"]]
                    field               hint
        0  headers.0.text  It says “Velo”.
        """
        from chatkit.localization.glossary import Glossary

        if hasattr(codes, "columns"):
            frame = cast("pd.DataFrame", codes)
        else:
            frame = self._read(codes, full=True, needed=True)
        terms = None if glossary is None else Glossary(glossary)
        return self._target.checks.check(frame, source, glossary=terms)

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

        The ledger of the account records it, and every check of contents uses it: `check`, plans,
        boards, queues, forms and files of translators. A finding for which the platform refuses
        a content cannot be silenced. Without arguments nothing is changed.

        Args:
            code: The code of the warning, like "quotes".
            languages: A language, or several; without it every one.
            template_code: The template whose contents it is silenced in; without it every one.
            field: The text of a content, named as in a finding: "footer"; without it every one.
            off: Report the warning again. A record for a template counts over one for all, then
                one for a language, then one for a field.

        Returns:
            A row for each silenced warning; an empty cell means every one.

        Raises:
            InputError: There is no such warning, or a language is not written as the API does.
            OSError: The ledger cannot be written.

        >>> silenced = client.templates.silence("same as source", field="footer")
        >>> silenced[["code", "lang_code", "template_code", "field"]]
                     code lang_code template_code   field
        0  same as source                          footer
        >>> len(client.templates.check(["order_ready"]).silent)
        7
        >>> len(client.templates.silence("same as source", field="footer", off=True))
        0
        """
        from chatkit.localization.checks import CAN_BE_SILENCED, RULES
        from chatkit.localization.ledger import Ledger

        tags = language.as_list(languages)
        if not code:
            if off or template_code or field or tags != [""]:
                raise InputError('Name the warning: silence("quotes", "de"). silence() lists all.')
            return self.ledger.read().silences()
        if code not in CAN_BE_SILENCED:
            similar = next(iter(get_close_matches(code, CAN_BE_SILENCED, 1)), "")
            reason = "the platform refuses it" if code in RULES else "there is no such warning"
            hint = f"; did you mean {similar!r}?" if similar else "."
            raise InputError(f"{code!r} cannot be silenced: {reason}{hint}")
        if invalid := [tag for tag in tags if tag and not language.is_tag(tag)]:
            raise InputError(f"{invalid[0]!r} is not written like a language: de or pt_BR.")
        new = Ledger()
        for tag in tags:
            new.silence(code, tag, template_code, field, off=off)
        return self.ledger.add(new).silences()

    def queue(
        self,
        languages: str | Iterable[str] | None = None,
        codes: Codes | None = None,
        source: str = "en",
        *,
        only: Only | Collection[Only] = ("missing", "stale", "unknown"),
    ) -> Queue:
        """Make a queue of the texts that a person has to review, string by string.

        Translations are suggested from all known templates: those remembered, used by this client,
        and in the ledger. Their contents in these languages are read at the first suggestion.

        `chatkit.widgets.QueueView(queue)` shows one text after the other; in a program use
        `edit(number, text)`, `accept(number)` and `skip(number)`, then `plan()`.

        Args:
            languages: One language to review, or several; without it all that are there.
            codes: The template codes, or a file of them; without them those that `remember` keeps.
            source: The language that they are translated from.
            only: The states of the texts: some of missing, stale, unknown, draft and live.

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

        frame = self._read(codes, full=True, needed=True)
        read_codes = {*frame.index.get_level_values(0)}
        others = [code for code in self._list_known_codes() if code not in read_codes]
        read_others = partial(self._target.read_contents_in_languages, others, source=source)
        return Queue(
            *(frame, self._validate_target_languages(languages, frame), source, only),
            ledger=self.ledger,
            glossary=self.glossary,
            read_frame=partial(self.frame, full=True),
            plan_units=self._plan_units,
            read_other_frame=read_others if others else None,
        )

    def _validate_target_languages(
        self, languages: str | Iterable[str] | None, frame: pd.DataFrame
    ) -> list[str] | None:
        """Return the languages to translate into as a list, once the lookup has all of them.

        Args:
            languages: One language, or several; None for all that the contents have.
            frame: The contents, by template code and language.

        Raises:
            InputError: The lookup of languages does not have some.
        """
        if languages is None:
            return None
        tags = language.as_list(languages)
        if len(frame):
            self._target.checks.languages.require_known_languages(str(frame.index[0][0]), tags)
        return tags

    def _plan_units(self, units: Sequence[Unit], frame: pd.DataFrame) -> Plan:
        """Plan the edits of a queue; notes of the plan name those that were rejected.

        Args:
            units: The edited texts.
            frame: The contents, by template code and language, in full.
        """
        from chatkit.localization.units import import_units

        translations = import_units(units, frame, any_order=True)
        plan = self._target.plan_frame(translations.frame, source=translations.source or "en")
        rejected = translations.refused
        for each in rejected[:FEW]:
            key = " ".join(each.unit.text_key)
            reason = _QUEUE_REASONS.get(each.verdict, each.message)
            plan.notes.append(f"Not taken: {key}: {each.verdict}: {reason}.")
        if len(rejected) > FEW:
            plan.notes.append(f"… and {len(rejected) - FEW:,} more that were not taken.")
        return plan

    # --- the ledger of sources --------------------------------------------------------

    @property
    def ledger(self) -> LedgerFile:
        """The record of the source texts that translations were made from."""
        from chatkit.localization.ledger import LedgerFile

        return LedgerFile(self._target.transport.connection)

    def accept(
        self,
        languages: str | Iterable[str] | None = None,
        codes: Codes | None = None,
        source: str = "en",
    ) -> pd.DataFrame:
        """Record that translations are right as they are, made from the source as it is now.

        Nothing is sent. On the board they are stale once their source changes. Translations that
        a plan writes, or that come back from translators, are recorded without it.

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

        frame = self._read(codes, full=True, needed=True)
        report, new = accept_contents(frame, languages, source, self.ledger.read())
        self.ledger.add(new)
        texts, contents = many(int(report["texts"].sum()), "text"), many(len(report), "content")
        are = "is" if texts == "1 text" else "are"
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

        Nothing is sent before `plan.apply()`.

        Args:
            frame: A frame of `frame(codes)`, edited; or a frame or rows with `template_code` and
                `lang_code`.
            base: As for the plan of one template, `templates("code").plan`, like all others.
            existing: What becomes of an existing content: "update", "fill", "skip" or "refuse".
            skip_invalid: Plan the good rows although others cannot be planned.
            other_account: Take a frame of another account.
            broken: Plan contents with errors, too.

        Raises:
            InputError: The frame as a whole cannot be planned.
        """
        return self._target.plan_frame(
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
        broken: bool = False,
    ) -> Plan:
        """Plan to replace a text in all contents. Nothing is sent before `plan.apply()`.

        Placeholders stay as they are: where one would change, the text is left alone, and a note
        names it.

        Args:
            old: The text to replace, as it is written; capitals count.
            new: The text in its place.
            codes: The template codes, or a file of them; without them those that `remember` keeps.
            broken: As for `plan`.

        Raises:
            InputError: The old text is empty, or no code is named.
            NotFound: The service does not know some codes; all of them are named.
        """
        from chatkit.templates.edits import Replacement

        replacement = Replacement(old, new)
        edited = replacement.edit_frame(self._read(codes, full=True, needed=True))
        return self._target.plan_frame(
            edited, notes=replacement.make_notes(), carries_sources=True, broken=broken
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

        The plan shows each message as a customer will see it. Notes name the drafts that are left
        out, with the reason: their source has changed since, is not recorded, or they hold its
        words. A single word, a name in the footer and a term that the glossary keeps may be as in
        the source; `accept` records that others are right so.

        Args:
            languages: One language, or several: "it", ["de", "fr"]; without it all.
            codes: The template codes, or a file of them; without them those that `remember` keeps.
            source: The language that the others are translated from.
            broken: Set live what the platform would refuse, too.

        Raises:
            InputError: No code is named, or no template has such a language.
            NotFound: The service does not know some codes; all of them are named.
            OSError: The ledger cannot be opened.

        >>> accepted = client.templates.accept("ar", ["rental_reminder"])
        4 texts in 1 content are recorded as made from en as it is now.
        >>> client.templates.publish("ar", ["rental_reminder"]).counts
        {'create': 0, 'update': 1, 'delete': 0}
        """
        from chatkit.templates.edits import select_drafts

        contents, ledger = self._read(codes, full=True, needed=True), self.ledger.read()
        publication = select_drafts(
            contents, languages, source, ledger, glossary=self.glossary, broken=broken
        )
        return self._target.plan_frame(
            publication.edit_frame(),
            notes=publication.make_notes(),
            drawings=publication.drawings,
            source=source,
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
        """Write texts into files for translators; `read_translations` reads them back.

        Each text has a hint for the translator, its longest length, its state, comments, and the
        source that it was made from where that has changed. The ledger records the source texts.

        Args:
            target: The path of the file; its ending is the format: .xlsx, .csv, .po, .xlf or
                .xliff. PO and XLIFF have a file for each language: `texts.po` becomes
                `texts.de.po` and so on.
            codes: The template codes, or a file of them; without them those that `remember` keeps.
            source: The language to translate from.
            languages: One language to translate into, or several; without it all that are there.
            only: Texts in these states, one or several: "missing" without a translation, "stale"
                made from another source text, "unknown", "draft", "live"; or "all".
            replace: Overwrite files that exist.

        Returns:
            A row for each language in each file that was written.

        Raises:
            InputError: There is nothing to translate from, the service has no such language, or
                a file exists.
            NotFound: The service does not know some codes; all of them are named.
            OSError: A file cannot be written.
        """
        from chatkit.localization.files import export

        frame = self._read(codes, full=True, needed=True)
        return export(
            frame,
            target,
            source=source,
            languages=self._validate_target_languages(languages, frame),
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

        A text that changed since the export is not overwritten, unless by an earlier import of
        yours, as where a translator goes on in the same file. It is in `rejected`, like every
        text that was not taken, with the reason: its source has changed, it is too long, a
        placeholder is lost, a program has left residue in it, or it breaks the glossary. A bad
        text holds back no other one: a new language is a draft without it. Of several files the
        later export counts. The ledger records the comments of translators.

        Args:
            paths: A path, several, or a folder.
            codes: The template codes, or a file of them; without them those in the files.
            any_order: Take placeholders in another order than in the source, too.
            encoding: That of CSV files, like "cp1252"; without it it is detected.
            skip_invalid: As for `plan`, like `broken`.
            broken: As for `plan`; texts that are too long, break the glossary or have residue of
                a program are taken, too.

        Raises:
            InputError: A file does not hold translations, or has lost a column.
            NotFound: The service does not know some codes; all of them are named.
            OSError: A file cannot be opened.
        """
        from chatkit.localization.files import read_units
        from chatkit.localization.units import import_units
        from chatkit.templates.codes import list_unit_codes
        from chatkit.templates.contents import MISSING

        units = read_units(paths, encoding)
        if codes is None:  # a code that a translator has spoilt is rejected, no error
            read = self._target.read_frame(list_unit_codes(units), full=True)
            contents = self._target.with_snapshot(read)
        else:
            contents = self._read(codes, full=True, needed=True)
        ledger = self.ledger.read()
        translations = import_units(
            units,
            contents,
            any_order=any_order,
            glossary=self.glossary,
            ledger=ledger,
            broken=broken,
        )
        translations.plan = plan = self._target.plan_frame(
            translations.frame,
            source=translations.source or "en",
            how="import",
            ignored_codes=MISSING if translations.refused else (),
            broken=broken,
            skip_invalid=skip_invalid,
        )
        new = translations.comments(ledger)
        if comments := len(new.comments):
            self.ledger.add(new)
            plan.notes.append(
                f"{many(comments, 'comment')} of translators {'is' if comments == 1 else 'are'} "
                "recorded: queue() shows them."
            )
        if translations.revised:
            plan.notes.append(
                f"{many(translations.revised, 'text')} of yours, imported since the export, "
                f"{'is' if translations.revised == 1 else 'are'} replaced by what the file has now."
            )
        if translations.unwrapped:
            plan.notes.append(
                f"{many(translations.unwrapped, 'text')} held what a program had added, like "
                "&quot; or a line break before it: the plan has them without. .texts has both."
            )
        if rejected := len(translations.refused):
            plan.notes.append(
                f"{rejected:,} text{' was' if rejected == 1 else 's were'} not taken: `rejected` "
                "of what read_translations returned has each, with the reason."
            )
        elif not (len(plan) or len(plan.refused)):
            plan.notes.append(
                f"The files hold no new translation (unchanged texts: {translations.unchanged:,})."
            )
        return translations
