"""The lint and the oracle agree: two readings of the platform's rules for flow documents.

They may word, place and code a fault differently; whether a document has one they must agree on,
but for the differences that are listed here, each with its reason.
"""

import copy
import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.finding import Finding
from oracles.flows.document import check_flow

from chatkit.flowjson import lint

Way = tuple[str | int, ...]
#: `make full` looks at ten times as many, and at others each time.
MANY = settings.default is not None and settings.default.max_examples > 50


def refused(document: object) -> tuple[bool, bool]:
    """Return whether both the lint and the oracle find an error."""
    other_records = any(each.severity == "error" for each in check_flow(document))
    return not lint(document).ok, other_records


@pytest.mark.parametrize("kind", ["valid", "invalid"])
def test_lint_and_oracle_agree_on_every_sample(shared: Path, kind: str) -> None:
    apart = {}
    for name, document in samples(shared, kind):
        report = refused(document)
        if report[0] != report[1]:
            apart[name] = report
    assert apart == {}


def samples(shared: Path, kind: str) -> Iterator[tuple[str, Any]]:
    files = sorted((shared / "samples/flows" / kind).glob("*.json"))
    assert files
    for file in files:
        try:
            yield file.name, json.loads(file.read_text())
        except ValueError:
            continue  # not JSON: the oracle checks values only


# --- documents that were changed in one place -----------------------------------------------


def test_lint_and_oracle_agree_on_changed_samples(shared: Path) -> None:
    documents = [document for _, document in samples(shared, "valid")]

    @settings(max_examples=4000 if MANY else 400, derandomize=not MANY)
    @given(st.integers(0, len(documents) - 1), st.integers(0, 2**32))
    def agree(index: int, seed: int) -> None:
        document, change = changed(documents[index], random.Random(seed))
        ours, other_records = lint(document).errors, check_flow(document)
        other_records = [each for each in other_records if each.severity == "error"]
        if bool(ours) is bool(other_records):
            return
        unexplained = [
            (type(each).__module__, each.code, each.pointer, each.message)
            for each in [*ours, *other_records]
            if not any(may_differ(each, document) for may_differ in ALLOWED)
        ]
        assert not unexplained, change

    agree()


VALUES = (
    *(None, "", " ", True, False, 0, -1, 1.5, "x", "`x`", [], {}, [1], {"a": 1}),
    *("${data.nix}", "${form.nix}", "7.3", "7.0", "6.0", "5.0", "4.0"),
)


def changed(document: Any, rng: random.Random) -> tuple[Any, str]:
    """Remove, replace, repeat, rename or copy one thing of a document."""
    made = copy.deepcopy(document)
    ways = [way for way in places(made) if way]
    way = rng.choice(ways)
    holder, key = at(made, way[:-1]), way[-1]
    how = rng.choice(["remove", "replace", "repeat", "rename", "copy"])
    if how == "remove":
        del holder[key]
    elif how == "repeat" and isinstance(holder, list):
        holder.insert(int(key), copy.deepcopy(holder[int(key)]))
    elif how == "rename" and isinstance(holder, dict):
        holder[f"{key}x"] = holder.pop(key)
    elif how == "copy":
        holder[key] = copy.deepcopy(at(made, rng.choice(ways)))
    else:
        holder[key] = copy.deepcopy(rng.choice(VALUES))
    return made, f"{how} {'/'.join(map(str, way))}"


def places(value: Any, way: Way = ()) -> Iterator[Way]:
    yield way
    items = value.items() if isinstance(value, dict) else []
    for key, inner in enumerate(value) if isinstance(value, list) else items:
        yield from places(inner, (*way, key))


def at(value: Any, way: Way) -> Any:
    for key in way:
        value = value[key]
    return value


# --- where both may differ ------------------------------------------------------------------

#: The properties of a component that hold lists or objects: what stands below one is nested.
COMPONENT = re.compile(r"(/screens/\d+/layout(?:/(?:children|then|else|cases/[^/]+)(?:/\d+)?)+)/")


def standing(document: Any, pointer: str) -> Any:
    """Return the value at a pointer, None where nothing is."""
    for key in pointer.split("/")[1:]:
        key = key.replace("~1", "/").replace("~0", "~")
        if isinstance(document, list):
            document = document[int(key)] if key.isdecimal() and int(key) < len(document) else None
        else:
            document = document.get(key) if isinstance(document, dict) else None
    return document


def nested_reference(result: Any, document: Any) -> bool:
    """The sources speak of a property that refers to nothing, and of no list, object or words.

    The lint doubts what stands in an item, in a map or among words; the oracle refuses it.
    """
    if not result.message.endswith("points to nothing"):
        return False
    text = standing(document, result.pointer)
    below = COMPONENT.sub("", result.pointer).count("/")
    return below > 0 or not (isinstance(text, str) and re.fullmatch(r"\$\{[^{}]*\}", text))


def type_of_an_entry(result: Any, document: Any) -> bool:
    """The sources name the types of data fields; the lint holds those of entries to it as well."""
    return bool(re.match(r"\$\{(screen\.\w+\.)?form\..* is of type ", result.message))


def another_kind_of_next(result: Any, document: Any) -> bool:
    """Only "screen" is documented as the type of next, and nothing says that it is checked."""
    return bool(result.pointer.endswith("/next/type"))


def computed_next(result: Any, document: Any) -> bool:
    """The target of a computed navigation is known at run time only: the lint leaves it open."""
    text = standing(document, result.pointer)
    return result.pointer.endswith("/next/name") and str(text)[:1] in ("`", "$")


def blank_line(result: Any, document: Any) -> bool:
    """A text may not be blank; that a line of several may not be, no source says."""
    return bool(result.message == "must not be blank" and re.search(r"/text/\d+$", result.pointer))


def pattern_without_help(result: Any, document: Any) -> bool:
    """A documented rule that the platform's checker is not known to apply: the lint warns."""
    return bool(result.message == "pattern needs helper-text")


def gap_in_a_payload(result: Any, document: Any) -> bool:
    """7.3 holds payloads to the data model strictly; the lint doubts gaps from 6.0 up to it.

    The oracle doubts them wherever an endpoint could supply what is missing.
    """
    lenient = "6.0" <= document["version"] < "7.3" or "data_api_version" in document
    output = r"(waits for|expects data|, which the payload does not hold|data model of .* has no|"
    return lenient and bool(re.search(rf"{output}declares no data field)", result.message))


def early_terminal_footer(result: Any, document: Any) -> bool:
    """The Footer of a last screen must end the flow from 7.3 on; before, the lint warns."""
    return bool(document["version"] < "7.3" and result.message == "a terminal screen ends the flow")


def expression(result: Any, document: Any) -> bool:
    """The oracle takes what stands in backticks as it is: its language has tests of its own."""
    return bool(re.match(r"The expression (cannot be read|comes to)", result.message))


def picture_of_another_alphabet(result: Any, document: Any) -> bool:
    """The lint refuses what is surely no picture, and doubts what only looks a little wrong."""
    text = standing(document, result.pointer)
    like = isinstance(text, str) and re.fullmatch(r"[\w+/=.\-\s`]*", text)
    return bool(like and result.message == "must be base64")


def part_of_a_choice(result: Any, document: Any) -> bool:
    """The number of choices is a whole number for the lint; the sources say number."""
    return bool(re.search(r"takes a whole number, not a number", result.message))


def no_kind_of_file(result: Any, document: Any) -> bool:
    """No source says what a list of kinds of file without one is: the lint refuses it."""
    return bool(result.pointer.endswith("/allowed-mime-types"))


def type_in_an_invalid_schema(result: Any, document: Any) -> bool:
    """A value in place of a schema: the lint looks into it, the oracle does not."""
    return bool(re.search(r"/properties/[^/]+/(?!type$|items|properties)", result.pointer))


ALLOWED: tuple[Callable[[Finding | Any, Any], bool], ...] = (
    nested_reference,
    type_of_an_entry,
    another_kind_of_next,
    computed_next,
    blank_line,
    pattern_without_help,
    gap_in_a_payload,
    early_terminal_footer,
    expression,
    picture_of_another_alphabet,
    part_of_a_choice,
    no_kind_of_file,
    type_in_an_invalid_schema,
)
