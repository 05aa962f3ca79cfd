"""ContentRow: one field of a content form, how long it is, and what the rules find in it."""

from __future__ import annotations

from collections.abc import Iterable

import ipywidgets as w

from chatkit.display import escaped
from chatkit.localization import language
from chatkit.localization.content import Entry
from chatkit.localization.finding import Finding
from chatkit.localization.lengths import FOOTER, NEAR, TEXT, Length, lengths
from chatkit.widgets.form.field import Field

_SIGNS = {"error": "✗", "warning": "!", "note": "i"}
_MOST = 8  #: findings that are shown at one field
_EMPTY = {"text": TEXT, "footer": FOOTER}


class ContentRow:
    """One field with its length as a share of the limit, and its findings.

    Args:
        field: The field.
        lang_code: The language that is written into it.
    """

    def __init__(self, field: Field, lang_code: str) -> None:
        self._field = field
        self._lengths, self._found = w.HTML(), w.HTML()
        self.widget = w.VBox([field.widget, self._lengths, self._found])
        self.widget.add_class("ck-edit")
        if language.direction(lang_code) == "rtl":
            self.widget.add_class("ck-rtl")

    def show(self, entry: Entry, found: list[Finding]) -> None:
        """Show the lengths of what is typed, and what was found in it."""
        name = self._field.name
        there = [one for one in lengths([entry]) if one.field.split(".")[0] == name]
        if name in _EMPTY and not there:
            there = [Length("", "", name, 0, 0, _EMPTY[name])]
        self._lengths.value = "".join(map(_length_html, there))
        self._found.value = found_html(found)


def place(field: str) -> str:
    """Name a place within a field as a person counts: label of button 2."""
    name, *steps = field.split(".")
    numbered = [step for step in steps if step.isdecimal()]
    parts = [step for step in steps if not step.isdecimal()]
    if name == "variables":
        return f"{{{{{'.'.join(steps)}}}}}"
    what = f"{name.removesuffix('s')} {int(numbered[0]) + 1}" if numbered else ""
    return " ".join(filter(None, [*parts, "of" if parts and what else "", what]))


def _length_html(one: Length) -> str:
    share = one.share
    kind = "over" if share > 1 else "near" if share >= NEAR else ""
    where = place(one.field)
    said = f"{one.characters:,} of {one.limit:,} characters, {share:.0%}"
    text = f"{escaped(where)}: {said}" if where else said
    bar = f'<i style="width: {min(share, 1):.1%}"></i>'
    return f'<div class="ck-length {kind}"><span class="ck-share">{bar}</span>{text}</div>'


def found_html(found: Iterable[Finding], *, places: bool = False) -> str:
    """Write findings as a list: how grave, what, and what to do.

    Args:
        found: The findings.
        places: Whether the field is named too: they do not stand beside it.
    """
    rows = []
    shown = list(found)
    for each in shown[:_MOST]:
        where = each.field if places else place(each.field)
        lead = f"{escaped(where)}: " if where else ""
        grave = "refused" if each.refused and each.severity != "error" else each.severity
        hint = f" <span>{escaped(each.hint)}</span>" if each.hint else ""
        said = f"<em>{grave}:</em> {lead}{escaped(each.message)}.{hint}"
        rows.append(
            f'<li class="{each.severity}"><b aria-hidden="true">{_SIGNS[each.severity]}</b>'
            f'<div dir="auto">{said}</div></li>'
        )
    if (more := len(shown) - _MOST) > 0:
        rows.append(f"<li>… and {more:,} more</li>")
    listed = "".join(rows)
    return f'<ul class="ck-found tex2jax_ignore mathjax_ignore">{listed}</ul>' if rows else ""
