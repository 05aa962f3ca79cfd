"""Components that a person taps to get on."""

from pathlib import Path

from flowjson.components.facts import facts

from chatkit.flowjson.components import COMPONENTS, SHAPES, Version

END = SHAPES["end"]
MAIN = SHAPES["main content"]
START = SHAPES["start"]
TARGET = SHAPES["list item"]
TAPS = [COMPONENTS[name] for name in ("EmbeddedLink", "NavigationList", "Footer")]

LATEST = Version(7, 3)


def test_only_the_footer_ends_a_flow(shared: Path) -> None:
    for each in TAPS:
        text = [name.split("(")[0] for name in facts(shared)[each.name]["on_click"]]
        assert sorted(each.by_name["on-click-action"].allowed_actions(LATEST)) == sorted(text)
        assert ("complete" in text) == (each.name == "Footer")


def test_items_of_a_navigation_list_have_the_lengths_of_the_facts(shared: Path) -> None:
    text = facts(shared)["NavigationList"]["limits_doc"]
    for key in ("title", "description", "metadata"):
        assert MAIN.by_name[key].length == text[f"main-content.{key}"]
        assert END.by_name[key].length == text["end.*"]
    assert TARGET.by_name["badge"].length == text["badge"]
    assert TARGET.by_name["tags"].length == text["tag"]
    assert START.by_name["image"].kilobytes[0][1] == text["start.image_kb"]
    items = TAPS[1].by_name["list-items"]
    assert [items.least, items.advised] == [text["items_min"], text["items_max"]]


def test_a_footer_cannot_be_hidden() -> None:
    assert TAPS[2].property("visible") is None


def test_what_the_sources_disagree_on_is_doubtful() -> None:
    assert [p.name for p in TAPS[1].properties if p.doubtful] == ["visible"]
