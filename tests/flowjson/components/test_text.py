"""Components that only say something."""

from chatkit.flowjson.components import COMPONENTS, FIRST, Version

TEXTS = [
    COMPONENTS[name]
    for name in ("TextHeading", "TextSubheading", "TextBody", "TextCaption", "RichText")
]


def test_every_text_says_something_and_never_nothing() -> None:
    for each in TEXTS:
        text = each.by_name["text"]
        assert text.required == text.not_blank == FIRST, each.name
        assert not each.is_input


def test_body_caption_and_rich_text_take_lines_from_5_1() -> None:
    many = [t.name for t in TEXTS if "array" in t.by_name["text"].json_types(Version(5, 1))]
    assert many == ["TextBody", "TextCaption", "RichText"]
    assert all(t.by_name["text"].json_types(Version(5, 0)) == ("string",) for t in TEXTS)
