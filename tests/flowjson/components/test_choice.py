"""Components from whose options a person chooses."""

from pathlib import Path

from flowjson.components.facts import fact, facts

from chatkit.flowjson.components import COMPONENTS, FIRST, SHAPES

CHIP = SHAPES["chip"]
OPTION = SHAPES["option"]
CHOICES = [
    COMPONENTS[name] for name in ("CheckboxGroup", "RadioButtonsGroup", "Dropdown", "ChipsSelector")
]


def test_options_have_the_keys_of_the_facts(shared: Path) -> None:
    for each in CHOICES:
        text = facts(shared)[each.name]["data_source"]
        item = each.by_name["data-source"].item
        assert item is (CHIP if each.name == "ChipsSelector" else OPTION)
        required = {fact(one).name for one in text["required"]}
        optional = {one.split()[0]: one for one in text["optional"]}
        assert {p.name for p in item.properties if p.required} == required
        assert {p.name for p in item.properties if not p.required} == optional.keys()
        for name, words in optional.items():
            if ">=" in words:
                assert f">={item.by_name[name].since}" in words
        for name, length in text.get("limits", {}).items():
            if name != "image_kb":
                assert item.by_name[name].length == length


def test_pictures_of_options_became_smaller_in_6_0(shared: Path) -> None:
    sizes = facts(shared)["Dropdown"]["data_source"]["limits"]["image_kb"]
    assert [size for _, size in OPTION.by_name["image"].kilobytes] == list(sizes.values())


def test_how_many_options_there_are_is_that_of_the_facts(shared: Path) -> None:
    for each in CHOICES:
        text = facts(shared)[each.name]["limits_doc"]
        source = each.by_name["data-source"]
        assert [source.advised_least, source.advised] == [text["options_min"], text["options_max"]]
        assert source.least == 1


def test_who_picks_one_gets_a_text_who_picks_several_a_list() -> None:
    assert [each.value for each in CHOICES] == ["array", "string", "string", "array"]
    assert [each.by_name["label"].required == FIRST for each in CHOICES] == [
        False,
        False,
        True,
        True,
    ]
