"""Form for a template in one language, beside the language it is translated from.

Each field that a customer sees stands beside that of the source, with the length of what is typed
and the findings of the rules. Headers, buttons and samples have inputs of their own: of a header or
a button only the fields that its type uses are shown, and others that hold something all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from chatkit.errors import ChatkitError, InputError, safe_repr
from chatkit.localization import language
from chatkit.localization.audit import Audit
from chatkit.localization.bubble import draw_bubble, join_runs, make_bubble
from chatkit.localization.checks import (
    FOOTER_LIMIT,
    NEAR,
    TEXT_LIMIT,
    ContentFinding,
    Length,
    measure_lengths,
)
from chatkit.localization.content import Contents as SomeContents
from chatkit.localization.content import Entry, read_entries
from chatkit.localization.units import make_draft
from chatkit.resource import get_endpoints
from chatkit.templates import Contents, checks_of
from chatkit.util.display import cut, escaped, visible
from chatkit.widgets.controls import Exported
from chatkit.widgets.fields import FormButton, FormGroup, FormModel, Html, PanelPage
from chatkit.widgets.fieldset import Fieldset
from chatkit.widgets.form import OpenedRecord
from chatkit.widgets.planview import TOOK_EFFECT, PlanView, ReviewedEdits
from chatkit.widgets.table import draw_finding_list

if TYPE_CHECKING:
    from chatkit.bulk.plan import Plan


#: The fields that stand beside the source, in the order in which a customer sees them.
_PAIRED_FIELDS = ("headers", "text", "variables", "footer", "buttons")


class Preview(Exported, FormModel):
    """A message as a customer will see it: header, text, footer and buttons.

    Sample values stand in place of placeholders, and are marked; a placeholder without a
    sample is marked as missing. Nothing is fetched: a picture is only named.

    Args:
        content: A content: a record, a dict with its fields, or a frame of one row.

    Raises:
        InputError: It is no content, or more than one.

    >>> chatkit.widgets.Preview(client.templates("order_ready").get("en"))
    <message en: Your bike is ready / Hello Amara, ...>
    """

    def __init__(self, content: SomeContents) -> None:
        self._html = Html()
        super().__init__(FormGroup([self._html], css="pv-preview"))
        self.show(content)

    def show(self, content: SomeContents, more: Iterable[str] = ()) -> None:
        """Show another content.

        Args:
            content: As when it was made.
            more: Sentences that stand below the message.

        Raises:
            InputError: It is no content, or more than one.
        """
        contents = read_entries(content)
        if len(contents) != 1:
            raise InputError(
                f"A preview shows one content, not {len(contents)}: pass one row, like "
                "frame.loc[['en']]."
            )
        self._entry = contents[0]
        self._bubble = make_bubble(self._entry, {})
        notes = "".join(f"<p><em>{escape(note)}</em></p>" for note in more)
        self._html.value = draw_bubble(self._bubble) + notes
        self.draw()

    @safe_repr
    def __repr__(self) -> str:
        seen = self._bubble
        name = cut(f"{self._entry.template_code} {self._entry.lang_code}".strip(), 40)
        parts = [seen.medium, join_runs(seen.header), join_runs(seen.body)]
        text = " ".join(" / ".join(filter(None, parts)).split())
        buttons = "".join(f" [{cut(join_runs(tap.label), 25)}]" for tap in seen.buttons)
        return f"<message{f' {name}' if name else ''}: {cut(text, 70)}{buttons}>"

    def _make_saved_page(self) -> str:
        return draw_bubble(self._bubble)


class ChangedMeanwhile(InputError):
    """An error: somebody else has changed a record since its form was opened."""

    def __init__(self) -> None:
        super().__init__(
            "Somebody has changed it meanwhile, and nothing was written over. The form has what "
            "is there now, and your edits: review it again to save those."
        )


class ContentForm(ReviewedEdits, Exported, PanelPage):
    """A form for one language of a template, side by side with the source language.

    What is typed is seen at once as the customer will see it, and what the rules find stands at
    its field. Nothing is sent before a plan is applied: the button shows it below. A language
    that has no content yet begins as a draft with the header and buttons of the source.

    In a program: `set` fields, then `plan().apply()`.

    Args:
        resource: The contents of a template, like `client.templates("order_ready")`.
        lang_code: The language to edit or to add.
        source: The language that it is translated from.
        saved: What is called after something was saved.

    >>> form = chatkit.widgets.ContentForm(client.templates("order_ready"), "de")
    >>> form.set("footer", "STOP beendet das")
    >>> form.plan().counts
    {'create': 0, 'update': 1, 'delete': 0}
    """

    def __init__(
        self,
        resource: Contents,
        lang_code: str,
        source: str = "en",
        *,
        saved: Callable[[], object] | None = None,
    ) -> None:
        if not lang_code.strip():
            raise InputError("Name the language to edit, like 'de' or 'pt_BR'.")
        self.resource, self.lang_code = resource, lang_code
        self._endpoints = get_endpoints(resource)
        self.audit = Audit((), (), ())  #: what the rules find in what is typed now
        self._on_saved = saved or (lambda: None)
        self._read_contents(source)
        self._fields = Fieldset(
            resource,
            self._live,
            self._on_change,
            unfolded={*_PAIRED_FIELDS, "lang_code", "is_draft"},
        )
        super().__init__([self._make_panes()])
        self.root.css += " cf-content"
        self._fill()

    # --- what is there --------------------------------------------------------------

    def _read_contents(self, source: str) -> None:
        """Read the content and its source, as far as the service has them."""
        codes = list(self._endpoints.base(None, now=True).frame.index)
        mine = [code for code in codes if language.is_same(code, self.lang_code)]
        self.lang_code = self.lang_code if self.lang_code in mine else (mine or [self.lang_code])[0]
        original = language.find_code(source, codes)
        self.new = not mine  #: whether the language has no content yet
        self.source = original if original != self.lang_code else None  #: the source language
        self._opened = OpenedRecord(self.resource, None if self.new else self.lang_code)
        self._live = None if self.new else self._read_fields(self.lang_code)
        self._original = None if self.source is None else self._read_fields(self.source)

    def _read_fields(self, lang_code: str) -> dict[str, Any]:
        return self._endpoints.dump_visible_fields(self.resource.get(lang_code))

    def _fill(self, edits: Mapping[str, Any] = MappingProxyType({})) -> None:
        """Fill the fields with the content, and with the edits `edits`.

        A new language begins with what the source has that needs no translation.
        """
        self._fields.fill(self._live)
        if self.new:
            self._fields.fields["lang_code"].show(self.lang_code)
            for name, value in make_first_translation(self._original or {}).items():
                if value is not None:
                    self._fields.fields[name].show(value)
        self._initial = self.content
        for name, value in edits.items():
            if name not in self._fields.fixed:
                self._fields.fields[name].show(value)
        self._fields.show_samples()
        self._refresh_panes()

    # --- what is typed --------------------------------------------------------------

    @property
    def values(self) -> dict[str, Any]:
        """The fields that would be sent: those that have changed.

        Raises:
            InputError: What is typed in a field is no value.
        """
        return self._fields.values

    @property
    def content(self) -> dict[str, Any]:
        """The whole content as it is typed now."""
        typed = dict(self._live or {})
        for name, field in self._fields.fields.items():
            with suppress(ValueError):  # said at the field
                typed[name] = field.read()
        return {**typed, "lang_code": self.lang_code}

    @property
    def touched(self) -> bool:
        """True while something was typed that is not saved."""
        return self.content != self._initial

    def set(self, name: str, value: Any) -> None:
        """Fill in a field as if it had been typed.

        Raises:
            InputError: There is no such field, it is fixed, or it cannot hold such a value.
        """
        self._fields.set(name, value, fixed="lang_code")

    def focus(self) -> None:
        """Put the cursor into the first field that is written by hand."""
        self.focus_on(self._fields.fields["text"])

    # --- what is saved --------------------------------------------------------------

    def plan(self) -> Plan:
        """Plan to save what is typed. Nothing is sent before `apply()`.

        Raises:
            InputError: A field is missing or wrong.
        """
        plan = self._opened.plan(self._fields.checked()[0])
        if self.new and plan.counts["update"]:
            raise ChangedMeanwhile
        return plan

    def review(self) -> PlanView:
        """Plan to save what is typed, and show the plan below the form, where it is applied.

        Raises:
            InputError: A field is missing or wrong; the form shows which.
            PlanRefused: The last plan is being applied.
        """
        self._check_idle()
        try:
            plan = self.plan()
        except ChangedMeanwhile:
            self._merge_edits()
            raise
        except InputError as error:
            unplaced = self._fields.mark(error.problems)
            text = "Nothing was planned: see above." if error.problems else str(error)
            self.report("\n".join([text, *unplaced]), wrong=True)
            raise
        self.report("")
        return self._show_plan(plan, self.review, self._after_saving, self._lock)

    @property
    def _page(self) -> PanelPage:  # type: ignore[override]
        return self

    def _edits(self) -> object:
        return self.content

    def _on_click(self) -> None:
        try:
            self.review()
        except ChatkitError as error:
            if not self.message:
                self.report(str(error), wrong=True)
            if self._fields.wrong:
                self.focus_on(self._fields.first)

    def _lock(self, locked: bool) -> None:  # noqa: FBT001  (what PlanView calls)
        self._fields.lock(locked=locked)
        self.draw()

    def _after_saving(self, view: PlanView) -> None:
        """Show the content as the service has it now: saved, or changed by somebody else."""
        if view is not self.plan_view:
            return
        if "conflict" in view.states:
            self._merge_edits()
        elif view.states.issubset(TOOK_EFFECT) and self._reload({}, "It is saved"):
            self.report(f"Saved {visible(self.resource.code)} in {language.name(self.lang_code)}.")
            self._on_saved()

    def _merge_edits(self) -> None:
        """Read the content that somebody else has changed, and keep the edits over it."""
        if self._reload(self._fields.read()[0], "Somebody has changed it meanwhile"):
            self.report(str(ChangedMeanwhile()), wrong=True)

    def _reload(self, edits: Mapping[str, Any], reason: str) -> bool:
        try:
            self._read_contents(self.source or self.lang_code)
        except ChatkitError as error:
            self.report(f"{reason}, but it cannot be read again: {error}", wrong=True)
            return False
        self._fill(edits)
        return True

    # --- what is shown --------------------------------------------------------------

    def _make_panes(self) -> FormGroup:
        """Make the fields beside those of the source, and the previews beside both."""
        self._title, self._rest = Html(), Html()
        self._button = FormButton("Review the change", self._on_click, "primary")
        bar = FormGroup([self._button], css="chatkit-actions chatkit-sticky", row=True)
        self._preview, original = Html(), self._original
        heads, previews = [self.lang_code], [self._preview]
        if self.source is not None and original is not None:
            heads.insert(0, self.source)
            previews.append(Html(draw_content(original)))
        head = FormGroup(
            [Html(draw_language_heading(code)) for code in heads], css="cf-pair cf-heads", row=True
        )
        rows = []
        right_to_left = " cf-rtl" if language.direction(self.lang_code) == "rtl" else ""
        for name in _PAIRED_FIELDS:
            control = self._fields.fields[name]
            control.css += f" cf-edit{right_to_left}"
            source = []
            if original is not None:
                source = [Html(draw_source_field(name, control.label, original))]
            rows.append(FormGroup([*source, control], css="cf-pair", row=True))
        draft = self._fields.fields["is_draft"]
        fields = [self._title, head, *rows, draft, self._fields.more, self._rest, bar]
        return FormGroup(
            [FormGroup(fields, css="chatkit-form cf-fields"), FormGroup(previews, css="cf-seen")],
            css="cf-columns",
            row=True,
        )

    def _on_change(self) -> None:
        """Check the changed content, and whether the plan below is still of it."""
        self._recheck_plan()
        self.report("")
        self._refresh_panes()

    def _refresh_panes(self) -> None:
        """Show the preview, the lengths and the findings of the typed content."""
        code = self.resource.code
        content = {**self.content, "template_code": code}
        entry = Entry(content, code, self.lang_code)
        original = [] if self._original is None else [{**self._original, "template_code": code}]
        source = self.source or self.lang_code
        audit = checks_of(self.resource).check([*original, content], source)
        self.audit = audit.of(lang_code=self.lang_code)
        findings: dict[str, list[ContentFinding]] = {}
        for each in self.audit:
            findings.setdefault(each.field.split(".")[0], []).append(each)
        label_of = self._endpoints.format_label
        for name in _PAIRED_FIELDS:
            notes = draw_lengths(name, entry, label_of) + draw_findings(
                findings.pop(name, []), label_of
            )
            self._fields.fields[name].notes = notes
        others = [each for some in findings.values() for each in some]
        self._rest.value = draw_findings(others, label_of, places=True)
        self._preview.value = draw_content(content)
        made = "New language" if self.new else "Content"
        title = f"{made} · {visible(code)} · {language.name(self.lang_code)}"
        self._title.value = f'<h3 dir="auto">{escape(title)}</h3>'
        self._button.disabled = not self.touched
        self.draw()

    @safe_repr
    def __repr__(self) -> str:
        names = [name for name, value in self.content.items() if value != self._initial.get(name)]
        edits = f"edited: {', '.join(names)}" if names else "nothing edited"
        about = "new, " if self.new else ""
        return f"<content form: {cut(self.resource.code, 40)} {self.lang_code}, {about}{edits}>"

    def _make_saved_page(self) -> str:
        contents = [one for one in (self._original, self.content) if one is not None]
        parts = [self._title.value, *map(draw_content, contents)]
        return "".join([*parts, self.audit._repr_html_()])


_MAX_FINDINGS = 8  #: findings that are shown at one field
_TEXT_LIMITS = {"text": TEXT_LIMIT, "footer": FOOTER_LIMIT}


def draw_lengths(name: str, entry: Entry, label_of: Callable[[str], str]) -> str:
    """Return the lengths of a field as HTML, as shares of their limits; also of an empty field."""
    measured = [one for one in measure_lengths(entry) if one.field.split(".")[0] == name]
    if name in _TEXT_LIMITS and not measured:
        measured = [Length(name, 0, _TEXT_LIMITS[name])]
    return "".join(_draw_length(one, label_of) for one in measured)


def _draw_length(one: Length, label_of: Callable[[str], str]) -> str:
    share = one.share
    kind = "over" if share > 1 else "near" if share >= NEAR else ""
    where = label_of(one.field) if "." in one.field else ""
    measure = f"{one.characters:,} of {one.limit:,} characters, {share:.0%}"
    text = f"{escaped(where)}: {measure}" if where else measure
    bar = f'<i style="width: {min(share, 1):.1%}"></i>'
    return f'<div class="cf-length {kind}"><span class="cf-share">{bar}</span>{text}</div>'


def draw_findings(
    findings: Sequence[ContentFinding], label_of: Callable[[str], str], *, places: bool = False
) -> str:
    """Return findings as an HTML list: severity, message and hint.

    Args:
        findings: The findings.
        label_of: Returns the label of a field, or of a place in it.
        places: Whether to name the field, too, for a list that stands elsewhere.
    """
    lines = []
    for each in findings[:_MAX_FINDINGS]:
        where = label_of(each.field) if places or "." in each.field else ""
        grave = "refused" if each.refused and each.severity != "error" else each.severity
        lead = f"{where}: " if where else ""
        lines.append((each.severity, f"{lead}{each.message}.", each.hint, grave))
    more = len(findings) - _MAX_FINDINGS
    return draw_finding_list(lines) + (f"<p>… and {more:,} more</p>" if more > 0 else "")


def draw_language_heading(code: str) -> str:
    """Return the name of a language with its code, as HTML."""
    name = language.name(code)
    suffix = f" <small>{escaped(code)}</small>" if name != code else ""
    return f"<p><strong>{escaped(name)}</strong>{suffix}</p>"


def draw_content(content: Mapping[str, Any]) -> str:
    """Return a content under the name of its language as HTML, where no widget is live."""
    entry = Entry(content, "", str(content["lang_code"]))
    return draw_language_heading(entry.lang_code) + draw_bubble(make_bubble(entry, {}))


def draw_source_field(name: str, label: str, original: Mapping[str, Any]) -> str:
    """Return a field of the source as HTML, to be read beside its translation."""
    code = str(original["lang_code"])
    entry = Entry(original, "", code)
    if name == "variables":
        lines = [f"{{{{{cut(key, 20)}}}}} {text}" for key, text in entry.variables.items()]
    elif name in ("headers", "buttons"):
        lines = [_describe_item(item) for item in list_items(original, name)]
    else:
        lines = [entry.text if name == "text" else entry.footer]
    drawn = "".join(
        f'<div dir="auto">{"<br>".join(escaped(part) for part in line.splitlines())}</div>'
        for line in lines
    )
    attributes = f'dir="{language.direction(code)}" lang="{escape(code.replace("_", "-"))}"'
    empty = '<span class="cf-none">nothing</span>'
    head = f'<span class="chatkit-label">{escape(label)}</span>'
    body = f"<div {attributes}>{drawn if any(lines) else empty}</div>"
    return f'<div class="cf-source tex2jax_ignore mathjax_ignore">{head}{body}</div>'


def _describe_item(item: Mapping[str, Any]) -> str:
    kind = str(item.get("type"))
    text = item.get("label") or item.get("text") or item.get("file_name") or item.get("link")
    value = item.get("value")
    return f"{text or ''} ({kind}{f': {value}' if value else ''})".strip()


def list_items(original: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the headers or buttons of a content."""
    value = original.get(name)
    listed = value if isinstance(value, list) else []
    return [item if isinstance(item, Mapping) else {} for item in listed]


def make_first_translation(original: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first fields of a new language: those of its source without the words."""
    if not original:
        return {}
    draft = make_draft(Entry(original, "", ""), "")
    for name in ("lang_code", "text", "footer", "variables"):
        draft.pop(name, None)
    draft["headers"] = [
        _drop_fields(item, "text", "text_variable") for item in list_items(original, "headers")
    ]
    draft["buttons"] = [_drop_fields(item, "label") for item in list_items(original, "buttons")]
    return draft


def _drop_fields(item: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return a header or button without these fields, and without those that are null."""
    return {name: v for name, v in item.items() if name not in names and v is not None}
