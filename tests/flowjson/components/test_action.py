"""Tests of actions on a tap or a choice."""

import json
from pathlib import Path

from chatkit.flowjson.components import ACTIONS, COMPONENTS, FIRST, Version


def test_actions_have_the_keys_of_the_facts(shared: Path) -> None:
    text = json.loads((shared / "facts/flow_rules.json").read_text())["actions"]
    for name, action in ACTIONS.items():
        report = text[name]
        assert action.since == (Version.parse(report.get("since")) or FIRST)
        required = {each.split("{")[0] for each in report["required"]}
        assert {p.name for p in action.properties if p.required} == required
        rest = {p.name for p in action.properties if not p.required}
        assert rest == set(report.get("optional", []))


def test_components_name_only_actions_that_exist() -> None:
    for each in COMPONENTS.values():
        for prop in each.properties:
            for name, since in prop.actions:
                assert since >= ACTIONS[name].since, (each.name, prop.name, name)
