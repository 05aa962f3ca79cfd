"""Queue of texts to review as a widget: one after the other, until a plan takes all answers."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Any

import traitlets

from chatkit.errors import ChatkitError, InputError, safe_repr
from chatkit.localization import language
from chatkit.localization.checks import ContentFinding
from chatkit.localization.queue import Queue, Suggestion
from chatkit.util.display import compare_words, cut, visible
from chatkit.util.progress import prefix_lines
from chatkit.widgets.contentform import Preview
from chatkit.widgets.controls import Model, Stack, join_module, join_styles
from chatkit.widgets.fields import FormButton, Panel, PanelPage
from chatkit.widgets.planview import PlanView, ReviewedEdits

_MAX_CODE_LENGTH = 80  #: characters of a template code
_PRELOADED = 3  #: texts that are sent before they are asked for
_ANSWER_LETTERS = {"": " ", "accepted": "a", "edited": "e", "skipped": "s"}


class QueueCard(Model):
    """The card of the text under review, and of the translation that is typed.

    Args:
        queue: The texts.
        on_show: Called with the number of a text when it is shown, and with each translation
            that is typed.
        on_answer: Called after each answer.
    """

    _esm = join_module(["keys.js", "elements.js", "content/queue.js"])
    _css = join_styles("content/queue.css")

    #: The answers so far, a letter for each text.
    answers = traitlets.Unicode().tag(sync=True)
    #: The first text, which is drawn before the kernel is asked for anything.
    first: traitlets.Dict[str, Any] = traitlets.Dict().tag(sync=True)

    def __init__(self, queue: Queue, on_show: Any, on_answer: Callable[[], object]) -> None:
        self._queue, self._on_show, self._on_answer = queue, on_show, on_answer
        self._current = 0  #: the number of the text that the page shows
        self._reader: Thread | None = None  #: reads the other templates, for suggestions
        first = self._item_message(0) if len(queue) else {}
        super().__init__(answers=self._answer_letters(), first=first)

    def _answer_letters(self) -> str:
        return "".join(_ANSWER_LETTERS[item.answer] for item in self._queue.items)

    def _receive(self, message: Any) -> None:
        try:
            match message:
                case {"look": int(number)} if 0 <= number < len(self._queue):
                    self._show_item(number)
                case {"check": [int(number), str(text)]} if 0 <= number < len(self._queue):
                    findings = _format_findings(self._queue.findings(number, text))
                    self.send({"checked": [number, text, findings]})
                    self._on_show(number, text)
                case {"answer": [str(kind), int(number), str(text)]}:
                    self._record_answer(kind, number, text)
                case {"comment": [int(number), str(text)]}:
                    self._queue.comment(number, text)
        except ChatkitError as error:
            self.send({"failed": str(error)})

    def _show_item(self, number: int) -> None:
        """Send a text at once, then what is read later: suggestions and the next texts."""
        self._current = number
        remembered = self._queue.has_memory(number)
        self.send({"items": [self._item_message(number)]})
        self._on_show(number, None)
        if not remembered:
            self.send({"near": [number, self._suggestions(number)]})
        last = min(number + _PRELOADED, len(self._queue))
        if number + 1 < last:
            self.send({"items": [self._item_message(n) for n in range(number + 1, last)]})
        if not self._queue.has_other_contents and self._reader is None:
            self._reader = Thread(target=self._read_others, name="chatkit memory", daemon=True)
            self._reader.start()

    def _read_others(self) -> None:
        """Read the other templates in a thread of its own, and send their suggestions."""
        try:
            with prefix_lines("", watch=lambda done, total: None):  # no bar: nobody waits for it
                self._queue.read_others()
            self.send({"near": [self._current, self._suggestions(self._current)]})
        except ChatkitError as error:
            problem = "Suggestions come from this queue alone; other templates cannot be read"
            self.send({"failed": f"{problem}: {error}"})

    def _record_answer(self, kind: str, number: int, text: str) -> None:
        try:
            if kind == "edit":
                self._queue.edit(number, text)
            elif kind == "accept":
                self._queue.accept(number)
            elif kind == "skip":
                self._queue.skip(number)
            self.send({"items": [self._item_message(number)]})
        finally:  # the page has marked it already
            self.answers = self._answer_letters()
            self.send_state("answers")
            self._on_answer()

    def _item_message(self, number: int) -> dict[str, Any]:
        item = self._queue.items[number]
        unit = item.unit
        return {
            "n": number,
            "template": cut(unit.template_code, _MAX_CODE_LENGTH),
            "language": f"{language.name(unit.lang_code)} ({cut(unit.lang_code, 20)})",
            "lang": language.bcp47_tag(unit.lang_code),
            "dir": language.direction(unit.lang_code),
            "from": language.bcp47_tag(item.original.lang_code),
            "what": unit.field,
            "state": unit.state,
            "changed": bool(unit.source_before),
            "source": _word_changes(unit.source_before, unit.source),
            "original": unit.source,
            "note": visible(unit.note),
            "target": unit.target,
            "text": item.text,
            "limit": unit.limit,
            "comment": item.comment,
            "findings": _format_findings(self._queue.findings(number)),
            "near": self._suggestions(number) if self._queue.has_memory(number) else [],
        }

    def _suggestions(self, number: int) -> list[list[Any]]:
        source = self._queue.items[number].unit.source
        return [
            [
                *(one.translation, round(100 * one.alike), _suggestion_origin(one)),
                [] if one.source == source else _word_changes(one.source, source),
            ]
            for one in self._queue.suggestions(number, at_hand=True)
        ]


def _word_changes(before: str, source: str) -> list[list[str]]:
    """Split a source into words that stayed, went out and came in since an earlier one."""
    if not before:
        return [["same", visible(source)]]
    return [[kind, visible(text)] for kind, text in compare_words(before, source)]


def _format_findings(findings: list[ContentFinding]) -> list[list[str]]:
    return [[each.severity, visible(f"{each.message}."), visible(each.hint)] for each in findings]


def _suggestion_origin(one: Suggestion) -> str:
    kind = {None: ", answered here", False: ", a draft"}.get(one.live, "")
    return f"{cut(one.template_code, 40)}{kind}"


class QueueView(ReviewedEdits, Panel):
    """Texts to review, one after the other: source, translation, rules, preview, suggestions.

    Ctrl+Enter takes a translation as it stands and goes on, Alt+↑ and Alt+↓ go from text to
    text, Alt+S skips, Alt+1 uses the first suggestion, Alt+0 copies the source. At the end one plan
    has all answers: "Review changes" shows it below.

    In a program: `plan()` makes that plan from what was answered here.

    Args:
        queue: As `client.templates.queue(["de"], ["order_ready"])` makes it.

    Raises:
        InputError: It is not a queue.

    >>> chatkit.widgets.QueueView(client.templates.queue(["de"], ["order_ready"]))
    <queue: 5 texts in 1 language: 5 unknown.>
    """

    def __init__(self, queue: Queue) -> None:
        if not isinstance(queue, Queue):
            raise InputError(
                'QueueView takes a queue, like client.templates.queue(["de"]), not '
                f"{type(queue).__name__}."
            )
        self.queue = queue
        self._card = QueueCard(queue, self._show_preview, self._recheck_plan)
        self._preview = Preview(queue.content(0)) if len(queue) else None
        if len(queue):
            self._show_preview(0, None)
        review = FormButton("Review changes", lambda: self._bar.attempt(self.plan), "primary")
        review.disabled = not len(queue)
        self._bar = PanelPage([review])
        columns: list[Model | tuple[Model, str]] = [
            (self._card, "qu-place"),
            *([self._preview] if self._preview else []),
        ]
        row = Stack(columns, "qu-row")
        super().__init__([(self._bar, "chatkit-sticky"), row, self._page], "qu-queueview")

    def _show_preview(self, number: int, text: str | None) -> None:
        if self._preview is None:
            return
        notes, source = [], language.name(self.queue.items[number].original.lang_code)
        if fields := self.queue.untranslated(number, text):
            notes.append(f"Not translated yet, so in {source} here: {', '.join(fields)}.")
        self._preview.show(self.queue.content(number, text), notes)

    def plan(self) -> PlanView:
        """Plan all answers, and show the plan below.

        Once it was applied the queue goes on: the next plan has what was answered since.

        Raises:
            InputError: Nothing was answered.
            PlanRefused: The plan that was made before is being applied.
        """
        self._check_idle()
        self._bar.report("")
        return self._show_plan(self.queue.plan(), self.plan)

    def _edits(self) -> object:
        return [(item.answer, item.text) for item in self.queue.items]

    @safe_repr
    def __repr__(self) -> str:
        return f"<queue: {self.queue._heading()}>"

    def _make_saved_page(self) -> str:
        return self.queue._repr_html_()
