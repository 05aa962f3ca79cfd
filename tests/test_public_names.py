"""The names a user sees are one sorted list, and the list is true."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import chatkit

#: So many public names an object may show on Tab: what people use, and nothing of the engine.
MOST = {
    "contacts": 10, "flows": 18, "webhooks": 14, "templates": 12, "template": 16, "plan": 14,
    "client": 9, "accessor": 3,
}  # fmt: skip


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


@pytest.fixture(scope="module")
def shown() -> Iterator[dict[str, object]]:
    """The objects that a notebook holds, by their names."""
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        frame = client.contacts.frame()
        frame.iloc[0, frame.columns.get_loc("name")] = "Ana Cruz"
        plan = client.contacts.plan(frame)
        yield {
            "contacts": client.contacts,
            "flows": client.flows,
            "webhooks": client.webhooks,
            "templates": client.templates,
            "template": client.templates("order_ready"),
            "plan": plan,
            "client": client,
            "accessor": plan.apply().chatkit,
        }


@pytest.mark.parametrize("name", MOST)
def test_completion_shows_what_people_use(shown: dict[str, object], name: str) -> None:
    thing = shown[name]
    assert "__dir__" not in type(thing).__dict__  # what is not shown is not there
    found = [each for each in dir(thing) if not each.startswith("_")]
    assert 0 < len(found) <= MOST[name], found
    for each in found:
        inside = getattr(type(thing), each, None)
        assert inside is None or (inside.__doc__ or "").strip(), f"{name}.{each} is not explained"
