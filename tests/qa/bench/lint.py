"""Bench of the lint of flow documents, beside general JSON Schema validators.

They get a schema made of the same table of components, one for each version: keys, types,
values and bounds. What a schema cannot say (references, routes, payloads, counts, names,
branches) they leave out; lint checks it too.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

import fastjsonschema
from jsonschema import Draft7Validator
from measure import SMOKE, at_least, left_out, rounds, run, show, sized

from chatkit.flowjson.components import (
    COMPONENTS,
    DOCUMENT,
    LAYOUT,
    RELEASED,
    SCREEN,
    Kind,
    Property,
    Shape,
    Version,
)

lint = import_module("chatkit.flowjson.lint").lint
ROOT = Path(__file__).parents[3]
SHARED = ROOT.parent / "shared" / "samples" / "flows"
GOAL = 1000  # documents a second
SECONDS, COUNT = sized((0.5, 3), (0.0, 1))

Schema = dict[str, Any]
BINDING: Schema = {"type": "string", "pattern": r"^\s*(\$\{.*\}|`.*`)\s*$"}
CHILD: Schema = {"$ref": "#/definitions/component"}


# --- a JSON Schema made of the table ------------------------------------------------------


def of_kind(prop: Property, kind: Kind, version: Version) -> Schema:
    """Return the JSON Schema of a kind of value."""
    if kind in ("boolean", "integer", "number"):
        bounds = {"minimum": prop.low, "maximum": prop.high}
        return {"type": kind} | {key: value for key, value in bounds.items() if value is not None}
    if kind in ("items", "choices", "strings", "dates", "components"):
        inner: Schema = {"type": "string"}
        if kind == "items":
            shape = SCREEN if prop.name == "screens" else prop.item
            inner = of_shape(shape, version) if shape else {}
        elif kind == "choices":
            inner = {"enum": list(prop.enum)}
        elif kind == "components":
            inner = CHILD
        sizes = {"minItems": prop.least, "maxItems": prop.most}
        message = {key: value for key, value in sizes.items() if value is not None}
        return {"type": "array", "items": inner} | message
    if kind == "object" and prop.item is not None:
        return of_shape(prop.item, version)
    if kind == "cases":
        return {"type": "object", "additionalProperties": {"type": "array", "items": CHILD}}
    if kind in ("map", "range", "action"):
        return {"type": "object"}
    if kind == "choice":
        return {"enum": list(prop.enum)}
    blank = prop.not_blank is not None and prop.not_blank <= version
    return {"type": "string", "pattern": r"\S"} if blank else {"type": "string"}


def of_shape(shape: Shape, version: Version) -> Schema:
    """Return the JSON Schema of the keys of a shape."""
    keys: Schema = {}
    for prop in shape.properties:
        if prop.is_known(version):
            kinds = [of_kind(prop, kind, version) for kind in prop.kinds(version)]
            if prop.binding and prop.name != "type":
                kinds.append(BINDING)
            keys[prop.name] = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    required = [prop.name for prop in shape.properties if prop.is_required(version)]
    return {
        "type": "object",
        "properties": keys,
        "required": required,
        "additionalProperties": False,
    }


@cache
def schema(version: Version) -> Schema:
    """Make the schema of a version. The type decides by if and then: quicker than oneOf."""
    known = [each for each in COMPONENTS.values() if each.is_known(version)]
    branches = [
        {
            "if": {"properties": {"type": {"const": each.name}}},
            "then": {"$ref": f"#/definitions/{each.name}"},
        }
        for each in known
    ]
    component = {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"enum": [each.name for each in known]}},
        "allOf": branches,
    }
    definitions = {each.name: of_shape(each, version) for each in known}
    layout = of_shape(LAYOUT, version)
    whole = of_shape(DOCUMENT, version)
    whole["properties"]["screens"]["items"]["properties"]["layout"] = layout
    return whole | {"definitions": definitions | {"component": component}}


# --- roads ------------------------------------------------------------------------------

Road = Callable[[Any], bool]


def schemas(versions: set[str]) -> Road:
    """jsonschema: all errors of a document."""
    ready = {
        str(version): Draft7Validator(schema(version))
        for version in RELEASED
        if str(version) in versions
    }
    return lambda document: not list(ready[document["version"]].iter_errors(document))


def compiled(versions: set[str]) -> Road:
    """fastjsonschema: the schema as a function, which stops at the first error."""
    ready = {
        str(version): fastjsonschema.compile(schema(version))
        for version in RELEASED
        if str(version) in versions
    }

    def check(document: Any) -> bool:
        try:
            ready[document["version"]](document)
        except fastjsonschema.JsonSchemaException:
            return False
        return True

    return check


ROADS: dict[str, tuple[str, Callable[[set[str]], Road]]] = {
    "lint": ("chatkit, `lint`: all rules", lambda _: lambda document: lint(document).ok),
    "jsonschema": ("`jsonschema`: keys, types, values", schemas),
    "compiled": ("`fastjsonschema`: the same, compiled, first error only", compiled),
}


def measured(road: Road, documents: list[Any]) -> float:
    """Documents a second of CPU."""
    for document in documents:
        road(document)
    done, spent, began = 0, 0.0, time.process_time()
    while not spent or spent < SECONDS:
        for document in documents:
            road(document)
        done += len(documents)
        spent = time.process_time() - began
    return done / spent


# --- the table --------------------------------------------------------------------------


def texts(kind: str) -> Iterator[str]:
    """Read the documents of others, and of the sandbox when there are none."""
    if SHARED.is_dir():
        for path in sorted((SHARED / kind).glob("*.json")):
            yield path.read_text()
        return
    for path in sorted((ROOT / "chatkit/sandbox/demo/flows").glob("*.json")):
        document = json.loads(path.read_text())["flow_json"]
        if lint(document).ok == (kind == "valid"):
            yield json.dumps(document, indent=2)


def main() -> None:
    """Print the documents a second of each road, over good and over broken documents."""
    good = list(texts("valid"))
    versions = {str(version) for version in RELEASED}
    broken = [text for text in texts("invalid") if json.loads(text).get("version") in versions]
    if not SHARED.is_dir():
        left_out(
            "the corpus of flow documents",
            f"../shared is not beside this clone; here are the sandbox's own, {len(good)} good and "
            f"{len(broken)} broken, whose figures say nothing of others",
        )
    if SMOKE:
        good, broken = good[:2], broken[:2]
    used = {json.loads(text)["version"] for text in good + broken}
    roads = {name: make(used) for name, (_, make) in ROADS.items()}
    for kind, result in (("good", good), ("broken", broken)):
        if not result:
            left_out(f"{kind} documents", "there is none")
            continue
        values = [json.loads(text) for text in result]
        size = sum(map(len, result)) / len(result) / 1024
        results = {}
        for way in ("value", "text"):
            runs = {}
            for name, road in roads.items():
                passed: list[Any] = values
                if way == "text":
                    passed = result
                    if name != "lint":  # which reads the text itself, and keeps its lines
                        road = partial(read, road)
                runs[name] = partial(measured, road, passed)
            results[way] = {name: median(r) for name, r in rounds(runs, COUNT).items()}
        refused = {name: sum(not road(each) for each in values) for name, road in roads.items()}
        lines = []
        for name, (message, _) in ROADS.items():
            value, text = (results[way][name] for way in ("value", "text"))
            of_schema = value / results["value"]["jsonschema"]
            if name == "lint":
                at_least(f"{kind} documents a second", value, GOAL)
                at_least(f"{kind} documents a second, jsonschema = 1", of_schema, 1)
                if kind == "broken":
                    at_least("broken documents refused", refused[name], len(values))
            lines.append([message, value, of_schema, text, f"{refused[name]} of {len(values)}"])
        show(
            f"Checking {len(result)} {kind} flow documents of {size:.1f} KB on average",
            ["road", "values/s", "jsonschema = 1", "texts/s", "refused"],
            lines,
        )


def read(road: Road, text: str) -> bool:
    """Read a text, then go."""
    return road(json.loads(text))


if __name__ == "__main__":
    run(main)
