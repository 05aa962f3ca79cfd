"""The names a user sees are one sorted list, and the list is true."""

from __future__ import annotations

import pytest

import chatkit


def test_the_list_is_sorted_and_holds_each_name_once() -> None:
    assert chatkit.__all__ == sorted(set(chatkit.__all__))


def test_completion_shows_the_list_and_nothing_else() -> None:
    assert [name for name in dir(chatkit) if not name.startswith("_")] == list(chatkit.__all__)


@pytest.mark.parametrize("name", chatkit.__all__)
def test_each_name_is_there_and_explains_itself(name: str) -> None:
    thing = getattr(chatkit, name)
    assert thing.__doc__ and thing.__doc__.strip(), f"chatkit.{name} has no docstring"


def test_a_star_import_brings_exactly_the_list() -> None:
    namespace: dict[str, object] = {}
    exec("from chatkit import *", namespace)
    assert set(namespace) - {"__builtins__"} == set(chatkit.__all__)


def test_a_wrong_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        getattr(chatkit, "no_such_name")  # noqa: B009
