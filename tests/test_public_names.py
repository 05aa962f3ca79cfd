"""The names a user sees are one sorted list, and the list is true."""

from __future__ import annotations

import inspect
import pydoc
import re
from collections.abc import Iterator

import pytest

import chatkit

#: So many public names an object may show on Tab: what people use, and nothing of the engine.
MOST = {
    "contacts": 10, "flows": 18, "webhooks": 14, "templates": 16, "template": 16, "plan": 15,
    "client": 10, "accessor": 3, "inbox": 15, "sandbox": 16,
}  # fmt: skip
#: Whose names and internals no page of help shows.
LIBRARIES = re.compile(
    r"pydantic|traitlets|ipywidgets|anywidget|model_(?!dump)|__pydantic|core_schema"
)


def test_the_list_is_sorted_and_what_a_star_import_and_completion_show() -> None:
    assert chatkit.__all__ == sorted(set(chatkit.__all__))
    assert [name for name in dir(chatkit) if not name.startswith("_")] == list(chatkit.__all__)
    namespace: dict[str, object] = {}
    exec("from chatkit import *", namespace)
    assert set(namespace) - {"__builtins__"} == set(chatkit.__all__)
    with pytest.raises(AttributeError, match="no_such_name"):
        getattr(chatkit, "no_such_name")  # noqa: B009


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, object]]:
    """The objects that a notebook holds, by their names."""
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        frame = client.contacts.frame()
        frame.iloc[0, frame.columns.get_loc("name")] = "Ana Cruz"
        plan = client.contacts.plan(frame)
        inbox = chatkit.Inbox(tmp_path_factory.mktemp("inbox") / "inbox.sqlite")
        yield {
            "inbox": inbox,
            "sandbox": sandbox,
            "contacts": client.contacts,
            "flows": client.flows,
            "webhooks": client.webhooks,
            "templates": client.templates,
            "template": client.templates("order_ready"),
            "plan": plan,
            "client": client,
            "accessor": plan.apply().chatkit,
        }
        inbox.close()


@pytest.mark.parametrize("name", MOST)
def test_completion_shows_what_people_use(output: dict[str, object], name: str) -> None:
    thing = output[name]
    assert "__dir__" not in type(thing).__dict__  # what is not shown is not there
    result = [each for each in dir(thing) if not each.startswith("_")]
    assert 0 < len(result) <= MOST[name], result
    for each in result:
        inside = getattr(type(thing), each, None)
        assert inside is None or (inside.__doc__ or "").strip(), f"{name}.{each} is not explained"


# --- pages of help -----------------------------------------------------------------------


def example_of(thing: object) -> bool:
    """Return whether a thing documents its use; an exception may leave that to its base."""
    kinds = type.mro(thing) if isinstance(thing, type) else [thing]
    ours = kinds if isinstance(thing, type) and issubclass(thing, Exception) else kinds[:1]
    return any(">>>" in (kind.__doc__ or "") for kind in ours)


def page(thing: object) -> str:
    """Return what `help` shows, but not from whom a class inherits."""
    text = pydoc.render_doc(thing, renderer=pydoc.plaintext)
    text = re.sub(r"Method resolution order:\n(?: \|      .*\n)+", "", text)
    return re.sub(r"^class .*$", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("name", [*chatkit.__all__, *MOST])
def test_help_reads_as_a_page(name: str, output: dict[str, object]) -> None:
    """A class has a purpose, an example (test_readme runs it), and its own methods only."""
    thing = output[name] if name in output else getattr(chatkit, name)
    documented = type(thing) if name in output else thing
    first, _, rest = inspect.cleandoc(documented.__doc__ or "").partition("\n")
    assert first.endswith((".", ":")) and len(first) <= 100, first
    assert not rest or rest.startswith("\n"), "the first line stands alone"
    assert example_of(documented), f"the page of {name} has no example"
    text = page(thing)
    assert inspect.ismodule(thing) or not LIBRARIES.search(text), LIBRARIES.search(text)
    if isinstance(documented, type):
        for each in dir(thing) if name in output else ():
            assert each.startswith("_") or each in vars(thing) or each in text, each


def test_help_names_the_fields_of_a_record_and_what_the_api_cannot_do(
    output: dict[str, object],
) -> None:
    text = page(output["contacts"].get(50001))  # type: ignore[attr-defined]
    assert "Fields: id, ref_id, first_name" in text and not LIBRARIES.search(text)
    assert "What the API cannot do: publish" in page(output["flows"])


def test_help_of_builders_is_short_and_shows_no_library() -> None:
    """The classes are many and alike: the page of their module has an example for all."""
    assert example_of(chatkit.flowjson)
    for name in ("TextInput", "Flow", "Screen", "Footer", "Navigate"):
        text = page(getattr(chatkit.flowjson, name))
        assert not LIBRARIES.search(text), LIBRARIES.search(text)
        assert len(text.splitlines()) < 150, name


def test_help_of_a_profile_shows_each_point() -> None:
    text = page(chatkit.ServiceProfile)
    for name, field in chatkit.ServiceProfile.model_fields.items():
        assert f"{name} = {field.default!r}\n" in text
        assert field.description.split()[0] in text  # type: ignore[union-attr]
