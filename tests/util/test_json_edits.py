"""Places of a document are changed in a copy; what it was stays as it was."""

from __future__ import annotations

import pytest

from chatkit.errors import InputError
from chatkit.util.json import (
    append_to_pointer,
    change_at_path,
    get_item,
    make_missing_error,
    set_item,
)


def test_only_what_lies_on_the_way_is_copied() -> None:
    document = {"a": [{"x": 1}, {"x": 2}], "b": {"y": 3}}
    made = change_at_path(document, ["a", "1"], "x", lambda around, key: set_item(around, key, 5))
    assert made == {"a": [{"x": 1}, {"x": 5}], "b": {"y": 3}}
    assert document["a"][1] == {"x": 2}
    assert made["b"] is document["b"]
    assert made["a"][0] is document["a"][0]


def test_objects_on_the_way_are_made_but_no_items_of_lists() -> None:
    made = change_at_path({}, ["a", "b"], "c", lambda around, key: set_item(around, key, 1))
    assert made == {"a": {"b": {"c": 1}}}
    with pytest.raises(InputError, match="There is nothing at 3"):
        change_at_path({"a": [1]}, ["a", "3"], "c", lambda around, key: set_item(around, key, 1))
    with pytest.raises(InputError):
        change_at_path({"a": 7}, ["a"], "c", lambda around, key: set_item(around, key, 1))


@pytest.mark.parametrize("key", ["-1", "2", "x", "१"])
def test_what_is_no_place_of_a_list_is_refused(key: str) -> None:
    with pytest.raises(InputError):
        get_item([1, 2], key, None)
    with pytest.raises(InputError):
        set_item([1, 2], key, 3)


def test_keys_are_escaped_in_pointers() -> None:
    assert append_to_pointer("/a", "b/c~d") == "/a/b~1c~0d"
    assert append_to_pointer("/a", 3) == "/a/3"
    assert "the top" in str(make_missing_error(""))
