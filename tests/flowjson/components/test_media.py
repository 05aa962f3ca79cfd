"""Components that show pictures, or take photos and documents."""

from pathlib import Path

from flowjson.components.facts import facts

from chatkit.flowjson.components import COMPONENTS, SHAPES, Version

PICTURE = SHAPES["picture"]
MEDIA = [COMPONENTS[name] for name in ("Image", "ImageCarousel", "PhotoPicker", "DocumentPicker")]


def test_a_carousel_holds_as_many_pictures_as_the_facts_say(shared: Path) -> None:
    text = facts(shared)["ImageCarousel"]
    images = MEDIA[1].by_name["images"]
    limits = text["limits_web"]
    assert [images.least, images.most] == [limits["images_min"], limits["images_max"]]
    assert [p.name for p in PICTURE.properties if p.required] == text["item_required"]


def test_pickers_take_an_error_for_each_file_and_no_first_value() -> None:
    for each in MEDIA[2:]:
        assert each.by_name["error-message"].json_types(Version(7, 0)) == ("string", "object")
        assert each.property("init-value") is None
