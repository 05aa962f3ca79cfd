"""The tree tells the page its rows, and passes on what a person wants."""

from __future__ import annotations

from typing import Any

from widgets.screen import send

from chatkit.widgets.editor.edits import make_flow
from chatkit.widgets.editor.tree import Tree, make_tree_rows


def test_wishes_of_the_page_are_passed_on() -> None:
    acted: list[tuple[str, dict[str, Any]]] = []
    tree = Tree(lambda action, **arguments: acted.append((action, arguments)))
    send(tree, {"do": "select", "pointer": "/screens/0", "n": 4})
    assert tree.answered == 4
    send(tree, {"do": "move", "pointer": "/screens/0", "by": -1})
    send(tree, {"do": "add", "pointer": "", "what": "Screen"})
    send(tree, {"do": "undo"})
    assert acted == [
        ("select", {"pointer": "/screens/0"}),
        ("move", {"pointer": "/screens/0", "by": -1}),
        ("add", {"pointer": "", "what": "Screen"}),
        ("undo", {}),
    ]


def test_other_messages_do_nothing() -> None:
    acted: list[tuple[Any, ...]] = []
    tree = Tree(lambda *text: acted.append(text))
    for message in (None, {}, {"do": "__init__", "pointer": "x"}, {"do": ["move"]}):
        send(tree, message)
    assert acted == []


def test_rows_are_told_with_what_is_selected() -> None:
    tree = Tree(lambda *_: None)
    rows = make_tree_rows(make_flow())
    tree.show(rows, rows[1], "WELCOME", [("Flow", [("Screen", "")])], locked=False)
    assert [row["name"] for row in tree.rows] == ["Flow", "WELCOME", "TextHeading", "Footer"]
    assert (tree.selected, tree.movable, tree.screen) == ("/screens/0", True, "WELCOME")
    tree.show(rows, rows[0], "", [], locked=True)
    assert not tree.movable
