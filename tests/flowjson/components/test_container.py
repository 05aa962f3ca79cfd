"""Components that hold others."""

from chatkit.flowjson.components import COMPONENTS

CONTAINERS = [COMPONENTS[name] for name in ("Form", "If", "Switch")]


def test_containers_hold_components_that_exist_and_never_a_form_or_a_rich_text() -> None:
    for each in CONTAINERS:
        assert each.children.keys() <= COMPONENTS.keys()
        assert not {"Form", "RichText"} & each.children.keys()


def test_nothing_holds_what_came_later() -> None:
    for each in CONTAINERS:
        for child, since in each.children.items():
            assert since >= min(COMPONENTS[child].since, since)
            if since > each.since:
                assert since >= COMPONENTS[child].since, (each.name, child)
