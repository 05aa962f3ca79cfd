"""What the rules say of contents that are about to be sent."""

import pandas as pd
import pytest
from localization.contents import GOOD, content, frame, naughty

from chatkit.bulk.change import Change
from chatkit.templates.notes import COPIED, notes, wrong


def change(kind="update", lang="en", code="order_ready", **after):
    return Change(
        row=lang, kind=kind, key=lang, label=f"{code}/{lang}", before={}, after=after, code=code
    )


def test_only_what_breaks_the_document_is_wrong_and_its_place_is_a_pointer():
    [found] = wrong("text", "Hello {{name}}{{1}}")
    assert (found.severity, found.code, found.pointer) == ("error", "placeholder name", "")
    [found] = wrong("headers", [{"type": "text", "text": "Hi {{name}}, welcome"}])
    assert (found.severity, found.pointer) == ("error", "/0/text")
    assert not wrong("text", "{{1}}{{2}}" * 900)  # refused by the platform: a note


@pytest.mark.parametrize("value", [None, 7, [], {}, [None], [[]], [{"type": {}}]])
def test_a_value_of_another_shape_is_judged_without_falling_over(value):
    for name in ("text", "headers", "buttons"):
        assert all(found.severity == "error" for found in wrong(name, value))


def test_naughty_texts_are_judged_without_falling_over(shared):
    for text in naughty(shared):
        assert all(found.severity == "error" for found in wrong("text", text))
        notes([change(text=text, footer=text)], None)


def test_an_edit_is_looked_at_as_part_of_the_whole_content():
    base = frame(content(), content(lang_code="de", text="Hallo {{1}}, {{2}} ist heute fertig!"))
    [note] = notes([change(variables={"1": "Ana"})], base)
    assert note.startswith("order_ready/en has 1 warning, first sample missing")
    alone = notes([change(text="Hello {{1}}, it is ready for you today.")], None)
    assert not alone  # samples are not known, so nothing is said of them


def test_contents_that_are_left_alone_are_not_told():
    base = frame(content(text=""), content(lang_code="de", text="Hallo {{1}}, {{2}} ist da!"))
    told = notes([change(lang="de", footer="Larkspur & Söhne")], base)
    assert not [note for note in told if note.startswith("order_ready/en")]
    assert notes([change(footer="Larkspur & Sons")], base)


def test_a_template_of_its_own_frame_has_no_code_in_the_index():
    base = frame(content()).droplevel("template_code")
    [note] = notes([change(variables={})], base)
    assert note.startswith("order_ready/en has ")


def test_a_deleted_content_is_told_nothing_of():
    assert not notes([change("delete")], frame(content(text="")))


def test_what_was_wished_for_is_no_news():
    copied = change("create", "de", **{k: v for k, v in GOOD.items() if k != "lang_code"})
    base = frame(content())
    assert any("untranslated" in note for note in notes([copied], base))
    assert not notes([copied], base, wanted=COPIED)


def test_the_source_language_is_the_one_that_is_named():
    base = frame(content(lang_code="pt_BR"), content(lang_code="de", text="Hallo {{1}}: {{2}}!"))
    edit = change(lang="de", text="Hallo {{1}}, es ist heute da!", variables={"1": "Ana"})
    assert not any("differ" in note for note in notes([edit], base))
    assert any("differ" in note for note in notes([edit], base, source="pt_BR"))


def test_many_are_counted_and_not_all_of_them_told():
    base = frame(*(content(lang_code=lang) for lang in ("en", "de", "fr", "es", "it", "nl")))
    base = pd.concat([base.rename({"order_ready": code}) for code in ("a", "b", "c")])
    edits = [change(lang=lang, code=code, text="") for code, lang in base.index]
    told = notes(edits, base)
    assert len(told) == 9
    assert "more content" in told[-1]
