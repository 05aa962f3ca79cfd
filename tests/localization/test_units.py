"""Units: the texts of contents, their states and stamps, and how texts are put back."""

import copy

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from localization.contents import CONTENT, button, content, website
from localization.translator import ENGLISH, GERMAN, both, english, full, unit

from chatkit.errors import InputError
from chatkit.localization.content import read_entries
from chatkit.localization.files import export
from chatkit.localization.ledger import Ledger, accept_contents
from chatkit.localization.units import (
    Stamp,
    collect_units,
    digest_texts,
    find_text_group,
    list_group_fields,
    make_draft,
    make_stamp_key,
    make_translator_note,
    parse_stamp,
    put_texts,
    select_states,
)

FIELDS = ("headers.0.text", "text", "footer", "buttons.0.label", "buttons.1.label")
SOURCE = read_entries(ENGLISH)[0]
TEXTS = st.lists(st.text(), min_size=4, max_size=4)


def entry(**fields):
    return read_entries(content(**fields))[0]


# --- stamps -------------------------------------------------------------------------------------


def test_a_stamp_is_read_as_it_was_put_on_and_nothing_else_is_one():
    stamp = parse_stamp(unit("Hello", "Hallo").stamp)
    key = make_stamp_key("order_ready", "de", "text", "en")
    assert stamp == Stamp(key, digest_texts("Hello"), digest_texts("Hallo"), stamp.at)
    for text in ("", "x", "1234567890.1234567890", "0123456789.0123456789.01234567zz"):
        assert parse_stamp(text) is None
    assert digest_texts("ab", "c") != digest_texts("a", "bc")


@given(TEXTS, TEXTS)
def test_another_place_has_another_key(one, other):
    assert (make_stamp_key(*one) == make_stamp_key(*other)) == (one == other)


# --- the texts of a content ---------------------------------------------------------------------


def test_every_text_that_a_customer_reads_has_a_note_for_its_translator():
    assert tuple(SOURCE.texts) == FIELDS
    assert [make_translator_note(field, SOURCE) for field in FIELDS] == [
        "The header. At most 60 characters.",
        "The text of the message. At most 1,024 characters. "
        "Keep {{1}} (like Ana), {{2}} (like A-17), in this order.",
        "The footer. At most 60 characters.",
        "The label of button 1 (custom). At most 25 characters.",
        "The label of button 2 (visit website). At most 25 characters.",
    ]
    blank = entry(text=" \n", footer=None, headers=[{"type": "image"}], buttons=["x"])
    assert blank.texts == {}


def test_each_text_is_put_into_its_place_and_nothing_else_changes():
    new = dict(zip(FIELDS, "HTFAB", strict=True))
    before = copy.deepcopy(GERMAN)
    fields = put_texts(GERMAN, SOURCE, new)
    assert before == GERMAN
    after = {**GERMAN, **fields}
    assert read_entries(after)[0].texts == new
    assert [b["type"] for b in after["buttons"]] == ["custom", "visit_website"]
    assert after["buttons"][1]["value"] == "https://shop.example/de"
    bare = put_texts({"buttons": []}, SOURCE, {"buttons.0.label": "A", "buttons.1.label": "B"})
    assert bare["buttons"] == [
        button("custom", "A"),
        website("https://shop.example/en", label="B"),
    ]


@settings(max_examples=60)
@given(raw=CONTENT)
def test_whatever_stands_in_a_content_its_own_texts_put_back_change_nothing(raw):
    result = read_entries(raw)[0]
    new = {f: t for f, t in result.texts.items() if find_text_group(result, result, f) == f}
    for name, value in put_texts(result.raw, result, new).items():
        assert value == result.raw[name]


def test_a_new_content_is_a_draft_like_its_source():
    begun = make_draft(read_entries({**ENGLISH, "id": 7, "updated_at": "x"})[0], "de_AT")
    assert begun == {**ENGLISH, "lang_code": "de_AT", "is_draft": True}
    begun["buttons"][0]["label"] = "changed"
    assert ENGLISH["buttons"][0]["label"] == "On my way"


BARE = entry(headers=[], buttons=[button("custom", "Da")])
OTHER = entry(buttons=[website("https://a.example"), button("custom")])


@pytest.mark.parametrize(
    ("target", "field", "group"),
    [
        (None, "footer", ""),
        (BARE, "footer", "footer"),
        (BARE, "buttons.0.label", "buttons.0.label"),
        (BARE, "buttons.1.label", "buttons"),
        (BARE, "headers.0.text", "headers"),
        *(
            (each, "buttons.1.label", None)
            for each in (OTHER, entry(buttons="none"), entry(buttons=["no", "objects"]))
        ),
    ],
)
def test_texts_come_together_where_half_of_them_would_be_worse_than_none(target, field, group):
    assert find_text_group(target, SOURCE, field) == group
    assert (field in list_group_fields(SOURCE, target, group or "")) == (group is not None)


# --- the texts of a frame -----------------------------------------------------------------------


def states(*arguments):
    """Return the state and the earlier source of each text of a frame."""
    return {each.field: (each.state, each.source_before) for each in collect_units(*arguments)[0]}


def test_every_text_stands_beside_its_translation_with_its_comment():
    ledger = Ledger()
    ledger.comment(("order_ready", "de", "text"), "ask Léa")
    units, unplaced = collect_units(both(), "en", None, ledger)
    translated = read_entries(GERMAN)[0].texts
    assert [(each.field, each.source, each.target, each.comment) for each in units] == [
        (field, text, translated[field], "ask Léa" if field == "text" else "")
        for field, text in SOURCE.texts.items()
    ]
    assert unplaced == [] and len({each.stamp for each in units}) == len(units)


def test_the_state_of_a_text_is_what_the_ledger_knows():
    german = {**GERMAN, "buttons": [GERMAN["buttons"][0], {**GERMAN["buttons"][1], "label": " "}]}
    ledger = accept_contents(full(ENGLISH, german), None, "en", Ledger())[1]
    edited = {**ENGLISH, "text": f"{ENGLISH['text']} Bye."}
    now = full(edited, {**german, "headers": [{"type": "text", "text": "Dein Rad"}]})
    live, missing = ("live", ""), ("missing", "")
    stale = ("stale", ENGLISH["text"])
    assert [*states(now, "en", None, ledger).values()] == [
        *(("unknown", ""), stale, live, live, missing),
    ]
    draft = full(ENGLISH, {**german, "is_draft": True})
    assert {*states(draft, "en", None, ledger).values()} == {("draft", ""), missing}
    unknown = [state for state, _ in states(full(ENGLISH, german), "en", None).values()]
    assert unknown == ["unknown", "unknown", "live", "unknown", "missing"], "the same in both"
    absent = states(full(ENGLISH, {**german, "footer": "", "buttons": []}), "en", ["de"])
    assert [field for field, state in absent.items() if state == missing] == [*FIELDS[2:]]
    assert {*states(both(), "en", ["fr"]).values()} == {missing}


GERMANS = [{**GERMAN, "lang_code": code} for code in ("nl", "de", "fr", "pt_BR", "pt-BR")]
NL, DE, FR, UNDER, DASHED = GERMANS


@pytest.mark.parametrize(
    ("contents", "source", "languages", "result"),
    [
        ([("a", ENGLISH, NL, DE, FR)], "en", None, ["a de", "a fr", "a nl"]),
        ([("a", ENGLISH, NL, DE, FR)], "en", ["nl", "de", "nl"], ["a nl", "a de"]),
        (
            [("a", ENGLISH, NL, FR), ("b", {**ENGLISH, "lang_code": "de"}, DE)],
            *("de", None, ["b en", "b fr", "b nl"]),
        ),
        ([("a", ENGLISH, UNDER)], "en_US", ["pt-BR", "pt_BR", "fr", "en"], ["a pt_BR", "a fr"]),
        ([("a", ENGLISH, UNDER), ("b", ENGLISH)], "en", ["pt-BR"], ["a pt_BR", "b pt_BR"]),
        ([("a", ENGLISH, UNDER), ("b", ENGLISH, DASHED)], "en", ["pt_BR"], ["a pt_BR", "b pt-BR"]),
        ([("a", ENGLISH, DASHED), ("b", ENGLISH, UNDER, DASHED)], "en", ["pt_BR"],
         ["a pt-BR", "b pt-BR"]),
    ],
)  # fmt: skip
def test_languages_are_written_as_the_contents_write_them(contents, source, languages, result):
    rows = pd.concat([full(*members, template=code) for code, *members in contents])
    units, _ = collect_units(rows, source, languages)
    assert [*dict.fromkeys(f"{u.template_code} {u.lang_code}" for u in units)] == result


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: collect_units(both(), "fr", None), "No template has a content in 'fr'"),
        (lambda: collect_units(both(), "en", ["german"]), "is not a language code: write en or"),
        (lambda: select_states("some"), "some of missing, stale"),
        (lambda: select_states([]), "only= takes"),
        (lambda: select_states(["live", "all"]), "only= takes"),
    ],
)
def test_what_cannot_be_collected_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


# --- export -------------------------------------------------------------------------------------


def test_an_export_lists_its_files_and_keeps_those_that_are_there(tmp_path, capsys):
    path = tmp_path / "texts.po"
    (tmp_path / "texts.fr.po").write_text("the work of a week")
    with pytest.raises(InputError, match=r"texts\.fr\.po is there already"):
        export(english(), path, languages=["de", "fr"])
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [
        ("texts.fr.po", "the work of a week")
    ]
    table = export(english(), path, languages=["de", "fr"], replace=True)
    assert table.to_numpy().tolist() == [
        [str(tmp_path / f"texts.{code}.po"), code, 1, 5, 19] for code in ("de", "fr")
    ]
    assert table.columns.tolist() == ["path", "lang_code", "templates", "texts", "words"]
    assert "msgid" in (tmp_path / "texts.fr.po").read_text()
    assert capsys.readouterr().out == "10 texts in 2 languages → texts.de.po, texts.fr.po\n"


def test_an_export_says_what_is_left_out_and_writes_nothing_for_nothing(tmp_path, capsys):
    assert export(both(), tmp_path / "texts.csv").empty
    assert "Nothing to translate" in capsys.readouterr().out
    with pytest.raises(InputError, match="32,767 characters"):
        export(full({**ENGLISH, "text": "x" * 32768}), tmp_path / "a.xlsx", languages=["de"])
    assert not list(tmp_path.iterdir())
    other = full(ENGLISH, {**GERMAN, "footer": "", "buttons": [button("call_phone", "x")] * 2})
    assert export(other, tmp_path / "texts.csv").texts.tolist() == [1]
    out = " ".join(capsys.readouterr().out.split())
    assert "left out" in out and "order_ready de buttons.1.label" in out
