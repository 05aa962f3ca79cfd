from __future__ import annotations

from localization.contents import content

from chatkit.localization.content import read_entries
from chatkit.localization.rules import ContentFinding, Flaw


def finding(
    code: str, message: str, hint: str, template: str, lang: str, position: int | None = None
) -> ContentFinding:
    return ContentFinding(
        code,
        "warning",
        "/text",
        message,
        hint,
        template_code=template,
        lang_code=lang,
        position=position,
    )


def test_a_flaw_becomes_a_finding_in_its_content():
    (entry,) = read_entries({**content(), "template_code": "hello"})
    first = Flaw("placeholder edge", "text", "it stands first", "Move it.", 0).to_finding(entry)
    second = Flaw("garbled", "footer", "it is garbled", severity="note").to_finding(entry)
    assert first == finding(
        "placeholder edge", "it stands first", "Move it.", "hello", "en", position=0
    )
    assert first.refused
    assert "platform, template review" in first.source
    assert (second.severity, second.refused, second.position) == ("note", False, None)


def test_a_finding_reads_as_a_sentence_and_hides_nothing():
    result = finding("length", "it is\u202e long", "Cut it.", "a", "de", position=3)
    assert str(result) == "warning length (a de, text at 3): it is⟨U+202E⟩ long. Cut it."
    assert result.content == "a de"
    assert result.place == "text at 3"
    bare = finding("length", "long", "", "", "")
    assert str(bare) == "warning length (text): long."
