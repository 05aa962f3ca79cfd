"""Refusals of a class are chatkit errors that name each argument."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from chatkit.errors import InputError
from chatkit.flowjson import (
    CalendarPicker,
    DatePicker,
    Dropdown,
    Footer,
    Image,
    Screen,
    TextBody,
    TextInput,
)
from chatkit.flowjson.build.piece import suggest_name


@pytest.mark.parametrize(
    ("build", "report"),
    [
        (lambda: TextInput("n"), "label: is required"),
        (lambda: TextInput(5, "x"), "name = 5: must be text"),
        (lambda: TextInput("n", "x", "y"), "'y': is one argument too many: name the others"),
        (
            lambda: TextInput("n", "x", min_chars=[1]),
            "min_chars = [1]: must be a whole number or a",
        ),
        (
            lambda: TextInput("n", "x", mor={}),
            "mor = {}: is not a property of TextInput; did you m",
        ),
        (lambda: Footer("Go", "B"), "on_click_action = 'B': must be an action, or its JSON as a d"),
        (lambda: Dropdown("d", "D", ["a"]), "data_source[0] = 'a': must be an Option, or its JSON"),
        (lambda: Screen("A", "A", TextBody("x")), 'children = TextBody("x"): must be a list'),
        (lambda: Screen("A", "A", [1]), "children[0] = 1: must be a component, or its JSON as a d"),
        (lambda: Screen("A", "A", [], terminal=1), "terminal = 1: must be True or False"),
        (lambda: Image(1), "src = 1: must be base64 as text, bytes, or the Path of a file"),
        (lambda: Image(Path("none.png")), "cannot be read: No such file"),
        (lambda: TextInput("n", "x", required=1), "required = 1: must be True or False"),
        (lambda: TextInput("n", "x", min_chars=True), "must be a whole number"),
        (lambda: DatePicker("d", "D", min_date=20260101), "must be a date, or text like 2026-"),
        (lambda: TextBody("x", more={"a": {1}}), "must be JSON, which has no set"),
        (
            lambda: CalendarPicker("n", 5),
            "label = 5: must be text or a Range, or its JSON as a dic",
        ),
        (lambda: CalendarPicker("n", "x", mode="x"), "mode = 'x': must be 'single' or 'range' or"),
    ],
)
def test_each_mistake_is_told(build: Callable[[], object], report: str) -> None:
    with pytest.raises(InputError) as caught:
        build()
    assert report in str(caught.value)
    assert str(caught.value).startswith(f"This {_name(caught.value)} cannot be built:\n")


def _name(error: InputError) -> str:
    return str(error).split()[1]


def test_long_values_are_shown_short() -> None:
    with pytest.raises(InputError) as caught:
        TextInput("n", ["x" * 1000])  # type: ignore[arg-type]
    assert all(len(problem.value) <= 60 for problem in caught.value.problems)


def test_a_name_that_is_like_none_asks_nothing() -> None:
    assert suggest_name("lable", ["label"]) == "; did you mean label?"
    assert suggest_name("zzz", ["label"]) == ""
