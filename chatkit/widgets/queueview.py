"""Queue of texts to review as a widget: one after the other, until a plan takes all answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape
from threading import RLock, Thread
from typing import Any

from chatkit.errors import ChatkitError, InputError, safe_repr
from chatkit.localization import language
from chatkit.localization.bubble import draw_bubble, make_bubble
from chatkit.localization.content import read_entries
from chatkit.localization.queue import Queue, QueueItem, Suggestion
from chatkit.templates.contents import ContentEndpoints
from chatkit.util.display import compare_words, cut, escaped, visible
from chatkit.util.progress import prefix_lines
from chatkit.widgets.controls import Exported
from chatkit.widgets.fields import (
    FormButton,
    FormGroup,
    Html,
    NumberText,
    PanelPage,
    RepeatButton,
    Text,
)
from chatkit.widgets.planview import PlanView, ReviewedEdits
from chatkit.widgets.table import draw_finding_list

_MAX_CODE_LENGTH = 80  #: characters of a template code
_ANSWERS = {"accepted": "approved", "edited": "edited", "skipped": "skipped"}
_KEYS = (
    "Ctrl+Enter takes the translation and goes on, Alt+↑ and Alt+↓ go, Alt+S skips, Alt+1 uses a "
    "suggestion, Alt+0 copies the source, Escape takes back what was typed."
)


class QueueView(ReviewedEdits, Exported, PanelPage):
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
        self._number = 0  #: the number of the text that is shown
        self._reader: Thread | None = None  #: reads the other templates, for suggestions
        self._suggesting = RLock()
        self._count = Html("<span>Nothing to review.</span>")
        self._place, self._source, self._preview = Html(), Html(), Html()
        self._jump = NumberText(f"Text, 1 to {len(queue):,}" if len(queue) else "Text")
        self._jump.late, self._jump.entered = True, self._jump_to
        self._box = Text("Translation")
        self._near = FormGroup(label="Suggestions", css="qu-near")
        review = FormButton("Review changes", lambda: self.attempt(self.plan), "primary")
        self._take = FormButton("", self._answer_typed, "primary", keys="Control+Enter")
        self._revert = FormButton("Take back", lambda: self._put(self._item.text), keys="Escape")
        actions = [
            RepeatButton("← Previous", lambda: self._step(-1), keys="Alt+ArrowUp"),
            RepeatButton("Next →", lambda: self._step(1), keys="Alt+ArrowDown"),
            self._take,
            FormButton("Skip", lambda: self._answer(queue.skip), keys="Alt+S"),
            FormButton("Copy source", lambda: self._put(self._item.unit.source), keys="Alt+0"),
            self._revert,
            Html(f"<small>{_KEYS}</small>"),
        ]
        self._actions = FormGroup(actions, css="qu-actions", row=True)
        self._card = FormGroup(label="Texts to review", css="qu-queue chatkit-form")
        bar = FormGroup([review, self._count, self._jump], css="qu-bar chatkit-sticky", row=True)
        columns = FormGroup([self._card, FormGroup([self._preview], css="cf-seen")], row=True)
        columns.css = "cf-columns"
        super().__init__([bar, columns])
        self.root.css += " cf-content"
        review.disabled = self._jump.disabled = not len(queue)
        if len(queue):
            self._fill()
        self.draw()

    # --- the text that is shown -----------------------------------------------------

    @property
    def _item(self) -> QueueItem:
        return self.queue.items[self._number]

    def show(self, number: int) -> None:
        """Show a text, then the suggestions for it. Raises `InputError` if there is none."""
        self.queue.content(number)
        self._number = number
        self._fill()
        self.draw()
        self._suggest()

    def _receive(self, message: Any) -> None:
        match message:
            case {"here": str()} if len(self.queue):  # nothing is waited for to show the first text
                self._suggest()
            case _:
                super()._receive(message)

    def _fill(self) -> None:
        """Show the text with its answer, and what the rules say of it."""
        item, unit = self._item, self._item.unit
        # Inputs of its own: what is typed into those before comes late.
        self._box = Text("Translation", rows=4)
        self._box.value, self._box.entered = item.text, self._on_typed
        self._box.lang = language.bcp47_tag(unit.lang_code)
        self._box.css = "cf-rtl" if language.direction(unit.lang_code) == "rtl" else ""
        number, comment = self._number, Text("Comment for colleagues")
        comment.value = item.comment
        comment.entered = lambda: self.queue.comment(number, comment.value)
        self._jump.value = str(number + 1)
        self._jump.mark([])
        total = len(self.queue)
        answered = total - self.queue.counts()[""]
        self._count.value = (
            f'<progress max="{total}" value="{answered}" aria-label="Texts that are answered">'
            f'</progress> <span class="qu-count">{answered:,} of {total:,} answered</span>'
        )
        named = f"{language.name(unit.lang_code)} ({cut(unit.lang_code, 20)})"
        kind = "answered" if item.answer else unit.state
        state = f'<span class="qu-state {kind}">{_ANSWERS.get(item.answer, unit.state)}</span>'
        label = ContentEndpoints.format_label(unit.field)
        self._place.value = (
            f'<h4 class="qu-place"><bdi>{escaped(cut(unit.template_code, _MAX_CODE_LENGTH))}'
            f"</bdi> · {escaped(named)} · {escaped(label)} {state}</h4>"
        )
        head = "Source, and what changed in it" if unit.source_before else "Source"
        note = f"<small>{escaped(unit.note)}</small>" if unit.note else ""
        lang = escape(language.bcp47_tag(item.original.lang_code))
        self._source.value = (
            f'<div class="qu-source"><small>{head}</small><p dir="auto" lang="{lang}">'
            f"{_draw_words(unit.source_before, unit.source)}</p>{note}</div>"
        )
        self._near.children, self._near.hidden = [], True
        parts = [self._place, self._source, self._box, self._near, comment]
        self._card.children = [*parts, self._actions]
        self._check()

    def _suggest(self) -> None:
        """Show suggestions: of this queue at once, and of other templates when they are read."""
        with self._suggesting:
            suggestions = self.queue.suggestions(self._number, at_hand=True)
            self._near.children = [
                part
                for n, one in enumerate(suggestions, 1)
                for part in self._draw_suggestion(n, one)
            ]
            self._near.hidden = not suggestions
        self.draw()
        if not self.queue.has_other_contents and self._reader is None:
            self._reader = Thread(target=self._read_others, name="chatkit memory", daemon=True)
            self._reader.start()

    def _read_others(self) -> None:
        """Read the other templates in a thread of its own, and show their suggestions."""
        try:
            with prefix_lines("", watch=lambda done, total: None):  # no bar: nobody waits for it
                self.queue.read_others()
            self._suggest()
        except ChatkitError as error:
            problem = "Suggestions come from this queue alone; other templates cannot be read"
            self.report(f"{problem}: {error}", wrong=True)

    def _draw_suggestion(self, n: int, one: Suggestion) -> tuple[FormButton, Html]:
        """Draw a suggestion: a button that uses it, and where it comes from."""
        use = partial(self._put, one.translation)
        button = FormButton(visible(one.translation), use, keys=f"Alt+{n}")
        kind = {None: ", answered here", False: ", a draft"}.get(one.live, "")
        text = f"{round(100 * one.alike)} % · {escaped(cut(one.template_code, 40))}{kind}"
        if one.source != self._item.unit.source:
            words = _draw_words(one.source, self._item.unit.source)
            text += f". Made from: <bdi>{words}</bdi>"
        return button, Html(f"<small>{text}</small>")

    def _check(self) -> None:
        """Show the length, the findings and the preview of what is typed."""
        number, text, unit = self._number, self._box.value, self._item.unit
        length = f"{len(text):,} of {unit.limit:,} characters" if unit.limit else ""
        over = " over" if unit.limit and len(text) > unit.limit else ""
        findings = draw_finding_list(
            (each.severity, f"{each.message}.", each.hint)
            for each in self.queue.findings(number, text)
        )
        self._box.notes = f'<div class="cf-length{over}">{length}</div>{findings}'
        right = text == self._item.text == unit.target
        self._take.label = "Approve as it is" if right else "Take this"
        self._take.disabled, self._revert.disabled = not text.strip(), text == self._item.text
        (entry,) = read_entries(self.queue.content(number, text))
        notes = ""
        if fields := self.queue.untranslated(number, text):
            source = self._item.original.lang_code
            named = ", ".join(map(ContentEndpoints.format_label, fields))
            note = f"Not translated yet, so in {language.name(source)} here: {named}."
            notes = f"<p><em>{escape(note)}</em></p>"
        self._preview.value = draw_bubble(make_bubble(entry, {})) + notes

    # --- what a person does ---------------------------------------------------------

    def _on_typed(self) -> None:
        self.report("")
        self._check()

    def _go(self, number: int) -> None:
        """Show another text, and take what was typed in this one as its translation."""
        typed = self._box.value
        if typed != self._item.text and typed.strip():
            self.queue.edit(self._number, typed)
            self._recheck_plan()
        self.report("")
        self.show(min(max(number, 0), len(self.queue) - 1))

    def _step(self, by: int) -> None:
        self._go(self._number + by)
        self.focus_on(self._box)

    def _jump_to(self) -> None:
        try:
            number = self._jump.read()
        except ValueError as error:
            self._jump.mark([("error", str(error))])
        else:
            self._go(self._number if number == "" else number - 1)

    def _answer_typed(self) -> None:
        self._answer(self.queue.edit, self._box.value)

    def _answer(self, answer: Callable[..., object], *text: str) -> None:
        """Record an answer, and go to the next text that has none."""
        answer(self._number, *text)
        self._box.value = self._item.text
        self._recheck_plan()
        later = range(self._number + 1, len(self.queue))
        left = next((n for n in later if not self.queue.items[n].answer), self._number + 1)
        self._step(left - self._number)

    def _put(self, text: str) -> None:
        """Write a text as if it had been typed."""
        self._box.value = text
        self._on_typed()
        self.focus_on(self._box)

    # --- the end --------------------------------------------------------------------

    def plan(self) -> PlanView:
        """Plan all answers, and show the plan below.

        Once it was applied the queue goes on: the next plan has what was answered since.

        Raises:
            InputError: Nothing was answered.
            PlanRefused: The plan that was made before is being applied.
        """
        self._check_idle()
        self.report("")
        return self._show_plan(self.queue.plan(), self.plan)

    @property
    def _page(self) -> PanelPage:  # type: ignore[override]
        return self

    def _edits(self) -> object:
        return [(item.answer, item.text) for item in self.queue.items]

    @safe_repr
    def __repr__(self) -> str:
        return f"<queue: {self.queue._heading()}>"

    def _make_saved_page(self) -> str:
        return self.queue._repr_html_()


def _draw_words(before: str, source: str) -> str:
    """Draw a source; words that went out and came in since an earlier one are marked."""
    tags = {"out": "del", "in": "ins"}
    parts = compare_words(before, source) if before else [("same", source)]
    words = [(tags.get(kind, "span"), escape(visible(text))) for kind, text in parts]
    return "".join(f"<{tag}>{text}</{tag}>" for tag, text in words)
