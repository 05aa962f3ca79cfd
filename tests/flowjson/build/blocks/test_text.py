"""Components that only say something."""

from chatkit.flowjson import RichText, TextBody, TextCaption, TextHeading, TextSubheading


def test_a_text_needs_its_text_alone() -> None:
    for made in (TextHeading, TextSubheading, TextBody, TextCaption, RichText):
        assert made("Hi").to_json() == {"type": made.__name__, "text": "Hi"}


def test_a_body_has_lines_and_a_weight() -> None:
    body = TextBody(["One", "Two"], font_weight="bold_italic", strikethrough=False, markdown=True)
    assert body.to_json() == {
        "type": "TextBody",
        "text": ["One", "Two"],
        "font-weight": "bold_italic",
        "strikethrough": False,
        "markdown": True,
    }
