"""Upgrade: a flow document brought to a later version of its rules, each change listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chatkit.errors import InputError
from chatkit.flowjson.document import read
from chatkit.flowjson.rewrite import Change, Rewrite, Todo
from chatkit.flowjson.show import MISSING, html, many, short
from chatkit.flowjson.version import FROZEN, RECOMMENDED, RELEASED, Version

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Change", "Todo", "Upgrade", "upgrade"]

STYLE = """
.chatkit-upgrade { max-width: 72em; }
.chatkit-upgrade.chatkit-upgrade table { border-collapse: collapse; margin: 0.4em 0; width: 100%; }
.chatkit-upgrade.chatkit-upgrade tr:nth-child(n) { background: none; }
.chatkit-upgrade.chatkit-upgrade :is(td, th) { border: none; max-width: 26em;
  overflow-wrap: anywhere; padding: 0.25em 1em 0.25em 0; text-align: left; vertical-align: top; }
.chatkit-upgrade.chatkit-upgrade tbody tr { border-top: 1px solid var(--jp-border-color2, #8886); }
.chatkit-upgrade thead th { color: var(--jp-ui-font-color2, #767676); font-weight: normal; }
.chatkit-upgrade :is(del, ins) { border-radius: 2px; padding: 0 2px; text-decoration: none; }
.chatkit-upgrade del { background: rgba(229, 57, 53, 0.18); }
.chatkit-upgrade ins { background: rgba(67, 160, 71, 0.22); }
.chatkit-upgrade .todo { border-left: 3px solid var(--jp-warn-color1, #f57c00); padding-left: 1em;
  font-size: var(--jp-ui-font-size1, 13px); margin-top: 0.8em; }
.chatkit-upgrade.chatkit-upgrade ul { list-style: none; margin: 0.4em 0; padding: 0; }
"""


@dataclass(frozen=True)
class Upgrade:
    """A document in a later version: what was changed in it, and what is left to a person.

    Pointers of changes are those of the document before.
    """

    document: dict[str, Any]
    source: str
    target: str
    changes: tuple[Change, ...]
    todo: tuple[Todo, ...]

    def frame(self) -> pd.DataFrame:
        """Return a row for each change."""
        from chatkit.flowjson.rows import frame

        columns = ("pointer", "before", "after", "reason")
        return frame(self.changes, columns, texts=("pointer", "reason"))

    def __repr__(self) -> str:
        lines = [self._heading()]
        for one in self.changes:
            lines.append(f"  ~ {one.pointer}: {short(one.before)} → {short(one.after)}")
            lines.append(f"      {one.reason}")
        if self.todo:
            lines.append("For a person to do:")
            lines += [f"  ! {one.pointer}: {one.what}" for one in self.todo]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = [f"<style>{STYLE}</style><p><strong>{html(self._heading())}</strong></p>"]
        if self.changes:
            names = "".join(
                f'<th scope="col">{name}</th>' for name in ("where", "before", "after", "reason")
            )
            rows = "".join(
                f"<tr><td><code>{html(one.pointer)}</code></td>{_side(one.before, 'del')}"
                f"{_side(one.after, 'ins')}<td>{html(one.reason)}</td></tr>"
                for one in self.changes
            )
            parts.append(f"<table><thead><tr>{names}</tr></thead><tbody>{rows}</tbody></table>")
        if self.todo:
            rows = "".join(
                f"<li><code>{html(one.pointer)}</code> {html(one.what)}</li>" for one in self.todo
            )
            head = "<strong>For a person to do</strong>"
            parts.append(f'<div class="todo">{head}<ul>{rows}</ul></div>')
        # the class names keep JupyterLab from reading $…$ in a text as mathematics
        return f'<div class="chatkit-upgrade tex2jax_ignore mathjax_ignore">{"".join(parts)}</div>'

    def _heading(self) -> str:
        if self.source == self.target:
            return f"The flow document is of version {self.target} already: 0 changes."
        left = f"; {many(len(self.todo), 'thing')} for a person to do" if self.todo else ""
        changes = many(len(self.changes), "change")
        return f"From version {self.source} to {self.target}: {changes}{left}."


def upgrade(document: object, to: str = str(RECOMMENDED)) -> Upgrade:
    """Bring a flow document to a later version of its rules.

    Only what the later version refuses or reads otherwise is changed; what only a person can
    decide is in `todo`.

    Args:
        document: A dict, JSON text, a file, or a built Flow. It stays as it is.
        to: The version.

    Raises:
        InputError: It is no flow document, or of a later version already.
    """
    value = read(document)
    if not isinstance(value, dict):
        raise InputError("This is no flow document: it must be a JSON object.")
    source, target = _version(value.get("version")), _version(to)
    if target < source:
        raise InputError(
            f"The flow document is of version {source}: what later versions brought would be "
            f"lost in {target}. There is no way down; build a new one."
        )
    if source == target:
        return Upgrade(value, str(source), str(target), (), ())
    before = read(value)
    change = Change("/version", str(source), str(target), _why(source, target))
    value["version"] = str(target)
    rewrite = Rewrite(value, source, target)
    rewrite.run()
    todo = [*rewrite.todo, *_new_errors(before, value, {one.pointer for one in rewrite.todo})]
    if target in FROZEN:
        what = f"{target} cannot be published since {FROZEN[target]}: upgrade to {RECOMMENDED}."
        todo.append(Todo("/version", what))
    return Upgrade(value, str(source), str(target), (change, *rewrite.changes), tuple(todo))


def _version(text: object) -> Version:
    version = Version.parse(text)
    if version not in RELEASED:
        known = ", ".join(map(str, RELEASED))
        raise InputError(f"{short(text)} is no version of flow documents: known are {known}.")
    return version


def _why(source: Version, target: Version) -> str:
    if source in FROZEN:
        return f"{source} cannot be published since {FROZEN[source]}."
    return f"{target} is recommended." if target == RECOMMENDED else "You asked for it."


def _new_errors(before: Any, after: Any, told: set[str]) -> list[Todo]:
    """Name what the rules refuse in the new version and did not refuse in the old one."""
    from chatkit.flowjson.lint import lint

    old = {(one.code, one.pointer) for one in lint(before).errors}
    return [
        Todo(one.pointer, f"{one.message} {one.hint}".strip())
        for one in lint(after).errors
        if (one.code, one.pointer) not in old and one.pointer not in told
    ]


def _side(value: object, tag: str) -> str:
    return "<td></td>" if value is MISSING else f"<td><{tag}>{html(short(value))}</{tag}></td>"
