"""Tests of the findings of contents that are about to be sent."""

import pytest
from localization.contents import GOOD, content, frame, naughty

from chatkit.bulk.changes import Change
from chatkit.report import select_errors, select_errors_and_warnings, summary
from chatkit.templates.contents import COPIED, check_edit, check_plan

LABEL = [{"type": "custom", "label": "A label that is far too long now"}]


def change(kind="update", lang="en", code="order_ready", **after):
    return Change(
        row=lang, kind=kind, key=lang, label=f"{code}/{lang}", before={}, after=after, code=code
    )


def notes(changes, base, **how):
    """Return the notes of a plan with these changes."""
    result = check_plan(changes, base, **how)
    return [
        f"{changes[n].label} has {summary(select_errors_and_warnings(each))}"
        for n, each in result.items()
        if select_errors_and_warnings(each)
    ]


def stopped(changes, base):
    result = check_plan(changes, base)
    return [(each.code, each.pointer) for n in result for each in select_errors(result[n])]


NOTHING = frame(content()).iloc[:0]


def test_only_what_breaks_the_document_stops_a_draft_and_its_place_is_a_pointer():
    def draft(**fields):
        return select_errors(check_edit({"lang_code": "en", "is_draft": True, **fields}, {}))

    [result] = draft(text="Hello {{name}}{{1}}, it is there.")
    assert (result.code, result.pointer) == ("placeholder name", "/text")
    [result] = draft(headers=[{"type": "text", "text": "Hi {{name}}, welcome"}])
    assert result.pointer == "/headers/0/text"
    assert not draft(text="{{1}}{{2}}" * 900)  # refused by the platform


def test_what_the_platform_refuses_does_not_get_live():
    base = frame(content(is_draft=True, buttons=LABEL))
    assert stopped([change(is_draft=False)], base) == [("length", "/buttons/0/label")]
    assert not stopped([change(is_draft=True, footer="Bye")], base)
    assert not stopped([change(footer="Bye")], base)
    live = frame(content(is_draft=False))
    assert stopped([change(buttons=LABEL)], live) == [("length", "/buttons/0/label")]
    assert not stopped([change(buttons=LABEL, is_draft=True)], live)
    new = change("create", "de", **content(lang_code="de", buttons=LABEL, is_draft=False))
    assert ("length", "/buttons/0/label") in stopped([new], NOTHING)


def test_what_is_live_already_stops_no_edit_of_something_else():
    base = frame(content(is_draft=False, buttons=LABEL))
    assert not stopped([change(footer="Bye")], base)
    assert any("length" in note for note in notes([change(footer="Bye")], base))
    again = [{**LABEL[0], "label": "Another one that is too long"}]
    assert stopped([change(buttons=again)], base) == [("length", "/buttons/0/label")]
    assert stopped([change(is_draft=False)], base) == [("length", "/buttons/0/label")]


def test_what_an_edit_makes_wrong_elsewhere_stops_it():
    """Old findings of unchanged fields do not count."""
    live = content(is_draft=False, validity_period_seconds=5, is_custom_validity_period=False)
    counts = {"is_custom_validity_period": True}
    result = [("validity", "/validity_period_seconds")]
    assert stopped([change(**counts)], frame(live)) == result
    assert [(each.code, each.pointer) for each in select_errors(check_edit(counts, live))] == result
    wrong = live | counts
    assert not stopped([change(footer="Bye")], frame(wrong))
    assert not select_errors(check_edit({"footer": "Bye"}, wrong))


def test_what_breaks_the_document_already_stops_only_an_edit_of_it():
    broken = content(is_draft=False, text="Hello {{name}}, it is there for you today.")
    for draft in (True, False):
        present = broken | {"is_draft": draft}
        assert not select_errors(check_edit({"footer": "Bye"}, present))
        assert not stopped([change(footer="Bye")], frame(present))
        again = {"text": "Hello {{name}}, it is here for you today."}
        assert [each.code for each in select_errors(check_edit(again, present))] == [
            "placeholder name"
        ]
        assert stopped([change(**again)], frame(present)) == [("placeholder name", "/text")]


def test_one_content_is_checked_together_with_the_present_one():
    present = content(is_draft=False)
    assert select_errors(check_edit({"buttons": LABEL}, present))
    assert select_errors(
        check_edit({"buttons": LABEL}, None)
    )  # whoever may not read it is told as well
    assert not select_errors(check_edit({"buttons": LABEL}, content(is_draft=True)))
    assert select_errors(check_edit({"is_draft": False}, content(is_draft=True, buttons=LABEL)))


@pytest.mark.parametrize("value", [None, 7, [], {}, [None], [[]], [{"type": {}}]])
def test_a_value_of_another_shape_is_checked_without_an_exception(value):
    for name in ("text", "headers", "buttons"):
        check_edit({name: value}, {})
        check_plan([change(**{name: value})], NOTHING)


def test_naughty_texts_are_checked_without_an_exception(shared):
    for text in naughty(shared):
        check_edit({"text": text, "footer": text}, {})
        notes([change(text=text, footer=text)], NOTHING)


def test_an_edit_is_looked_at_as_part_of_the_whole_content():
    base = frame(content(), content(lang_code="de", text="Hallo {{1}}, {{2}} ist heute fertig!"))
    [note] = notes([change(variables={"1": "Ana"})], base)
    assert note.startswith("order_ready/en has 1 error: sample missing")
    alone = notes([change(text="Hello {{1}}, it is ready for you today.")], NOTHING)
    assert not alone  # samples are not known, so nothing is said of them


def test_contents_that_are_left_alone_are_not_told():
    base = frame(content(text=""), content(lang_code="de", text="Hallo {{1}}, {{2}} ist da!"))
    message = notes([change(lang="de", footer="Larkspur & Söhne")], base)
    assert not [note for note in message if note.startswith("order_ready/en")]
    assert notes([change(footer="Larkspur & Sons")], base)


def test_a_template_of_its_own_frame_has_no_code_in_the_index():
    base = frame(content()).droplevel("template_code")
    [note] = notes([change(variables={})], base)
    assert note.startswith("order_ready/en has ")


def test_a_deleted_content_is_told_nothing_of_and_the_next_one_is():
    base = frame(content(text=""), content(lang_code="de", text="Hallo {{1}}, {{2}} ist da!"))
    assert not notes([change("delete")], base)
    [note] = notes([change("delete"), change(lang="de", variables={})], base)
    assert note.startswith("order_ready/de has ") and "sample missing" in note


def test_nothing_is_held_against_a_source_that_is_deleted_as_well():
    other = content(lang_code="de", text="Hallo {{1}}, es ist heute da!", variables={"1": "Ana"})
    base = frame(content(), other)
    edit = change(lang="de", footer="Larkspur & Söhne")
    assert any("placeholders differ" in note for note in notes([edit], base))
    assert not any("placeholders differ" in note for note in notes([change("delete"), edit], base))


def test_a_mere_note_is_no_finding_of_a_plan():
    """Buttons of one label are good practice's business."""
    twice = [{"type": "custom", "label": "Yes"}, {"type": "custom", "label": "Yes"}]
    result = check_plan([change(text="", buttons=twice, is_draft=True)], frame(content()))
    assert {each.code for each in result[0]} == {"text empty"}


def test_what_was_wished_for_is_no_news():
    copied = change("create", "de", **{k: v for k, v in GOOD.items() if k != "lang_code"})
    base = frame(content())
    assert any("untranslated" in note for note in notes([copied], base))
    assert not notes([copied], base, expected=COPIED)


def test_the_source_language_is_the_one_that_is_named():
    base = frame(content(lang_code="pt_BR"), content(lang_code="de", text="Hallo {{1}}: {{2}}!"))
    edit = change(lang="de", text="Hallo {{1}}, es ist heute da!", variables={"1": "Ana"})
    assert not any("differ" in note for note in notes([edit], base))
    assert any("differ" in note for note in notes([edit], base, source="pt_BR"))
