"""Tree: a flow as HTML, in few words: its screens and their components."""

from __future__ import annotations

from chatkit.flowjson.build.actions import Action, Navigate
from chatkit.flowjson.build.block import Block
from chatkit.flowjson.build.flow import Flow
from chatkit.flowjson.build.piece import Piece
from chatkit.flowjson.build.screen import Screen
from chatkit.flowjson.show import cut, html, many

_SAID = ("label", "text", "condition", "value", "alt_text")


def tree(flow: Flow) -> str:
    """Show a flow as a list of screens and components. All of it is escaped."""
    screens = [_screen(each) for each in flow.screens if isinstance(each, Screen)]
    head = f"<b>Flow</b> {html(str(flow.version))}, {many(len(flow.screens), 'screen')}"
    return f'<div class="chatkit-flow">{head}{_list(screens)}</div>'


def _screen(screen: Screen) -> str:
    end = " <i>(terminal)</i>" if screen.terminal is True else ""
    head = f"<b>{html(cut(str(screen.id)))}</b> {html(cut(str(screen.title or '')))}{end}"
    return head + _blocks(screen.children)


def _blocks(blocks: object) -> str:
    if not isinstance(blocks, list):
        return ""
    return _list([_block(each) if isinstance(each, Block) else _unknown(each) for each in blocks])


def _block(block: Block) -> str:
    words = [type(block).__name__]
    if name := getattr(block, "name", None):
        words.append(f"<code>{html(cut(str(name)))}</code>")
    said = next((text for key in _SAID if (text := getattr(block, key, None))), None)
    if said is not None and not isinstance(said, Piece):
        words.append(f"“{html(cut(' '.join(said) if isinstance(said, list) else str(said)))}”")
    words += [_action(action) for _, action in block.actions()]
    return " ".join(words) + "".join(_branch(name, blocks) for name, blocks in block.branches())


def _branch(name: str, blocks: object) -> str:
    return f"<div><i>{html(cut(name))}</i>{_blocks(blocks)}</div>" if name else _blocks(blocks)


def _action(action: Action) -> str:
    return "→ " + html(cut(str(action.next) if isinstance(action, Navigate) else action.shape.name))


def _unknown(value: object) -> str:
    kind = value.get("type") if isinstance(value, dict) else None
    return f"<i>{html(cut(str(kind or 'unknown')))}</i>"


def _list(items: list[str]) -> str:
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>" if items else ""
