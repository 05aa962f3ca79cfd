"""The ledger tells from which source text each translation was made, whoever wrote it down."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from displayed import html_of
from hypothesis import given
from hypothesis import strategies as st
from localization.contents import GOOD, content, frame

import chatkit
from chatkit.errors import InputError
from chatkit.localization.board import board
from chatkit.localization.content import read_entries
from chatkit.localization.importer import ReturnedText, Translations
from chatkit.localization.ledger import (
    Annotation,
    Ledger,
    Origin,
    TranslationKey,
    WrittenText,
    accept_contents,
    digest_text,
    make_translation_key,
    record_written,
)
from chatkit.localization.units import Stamp, Unit
from chatkit.resource import get_endpoints
from chatkit.util.files import get_user_name

GERMAN = "Hallo {{1}}, deine Bestellung {{2}} ist fertig, komm heute vorbei und hol sie ab."
NEW = "Good day {{1}}, we have finished your order {{2}}, please come and collect it."


@pytest.fixture
def client():
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        yield client


def rewrite(client, lang, text, code="order_ready"):
    edited = client.templates.frame([code], full=True)
    edited.loc[(code, lang), "text"] = text
    return client.templates.plan(edited).apply()


def state(client, lang="de", code="order_ready"):
    return client.templates.board([code])[code, lang].state


ENGLISH = "Dear {{1}}, we have finished your {{2}}. It waits for you until {{3}}, from 9 to 6."
NEU = "Hallo {{1}}, dein {{2}} ist ganz neu und fertig. Bitte hole es bis {{3}} ab, von 9 bis 18."


# --- the states -----------------------------------------------------------------------------


def test_a_rewritten_source_makes_what_was_recorded_stale_and_nothing_before(client):
    rewrite(client, "en", ENGLISH)
    assert client.templates.board(["order_ready"]).counts() == {
        "live": 1, "draft": 0, "stale": 0, "unknown": 7, "broken": 0, "missing": 0,
    }  # fmt: skip
    client.templates.accept(codes=["order_ready"])
    assert client.templates.board(["order_ready"]).counts()["live"] == 8
    rewrite(client, "en", ENGLISH.replace("Dear", "Hello"))
    outcome = client.templates.board(["order_ready"])
    assert outcome.counts()["stale"] == 7
    assert outcome["order_ready", "de"].reason == "the text has changed in en since"
    sources = outcome.sources()
    assert set(sources.before) == {ENGLISH} and set(sources.lang_code) == {*outcome.languages[1:]}
    assert "[-Dear-]{+Hello+} {{1}}, we have finished" in repr(outcome)
    html = html_of(outcome)
    assert "<del>Dear</del>" in html and "<ins>Hello</ins>" in html


def test_a_translation_that_is_written_beside_a_new_source_is_live_again(client):
    client.templates.accept(codes=["order_ready"])
    rewrite(client, "en", ENGLISH)
    assert state(client) == "stale"
    result = rewrite(client, "de", NEU)
    assert (state(client), state(client, "fr")) == ("live", "stale")
    chatkit.undo(result).apply()  # the German of before was made from the English of before
    assert state(client) == "stale"
    client.templates.accept("fr", ["order_ready"])
    assert (state(client), state(client, "fr")) == ("stale", "live")


def test_one_plan_of_both_is_from_the_new_source(client):
    client.templates.accept(codes=["order_ready"])
    edited = client.templates.frame(["order_ready"], full=True)
    edited.loc[("order_ready", "en"), "text"] = ENGLISH
    edited.loc[("order_ready", "de"), "text"] = NEU
    client.templates.plan(edited).apply()
    assert (state(client), state(client, "fr")) == ("live", "stale")


def test_what_is_written_elsewhere_is_unknown(client):
    client.templates.accept(codes=["order_ready"])
    elsewhere = get_endpoints(client.templates("order_ready")).update_call("de", {"text": NEU})
    client.transport.send(elsewhere)
    cell = client.templates.board(["order_ready"])["order_ready", "de"]
    assert cell.state == "unknown"
    assert cell.reason == "it is not recorded from which text in en the text was made"


def test_one_update_and_one_create_are_recorded_like_a_plan(client):
    client.templates.accept(codes=["order_ready"])
    contents = client.templates("order_ready")
    contents.update("en", text=ENGLISH)
    assert state(client) == "stale"
    contents.update("de", footer="Larkspur Räder")  # says nothing of the text
    assert state(client) == "stale"
    contents.update("de", text=NEU)
    assert state(client) == "live"
    buttons = contents.get("fr").buttons
    contents.update("fr", buttons=[buttons[0] | {"label": "Je pars"}, *buttons[1:]])
    assert state(client, "fr") == "stale"
    fields = {**contents.get("de").model_dump(exclude_unset=True), "lang_code": "de_AT"}
    fields.pop("id")
    contents.create(**fields)
    assert state(client, "de_AT") == "live"


def test_buttons_that_are_accepted_as_they_are_are_stale_again_once_the_source_has_others(client):
    contents = client.templates("order_ready")
    contents.update("de", buttons=contents.get("de").buttons[:1])
    client.templates.accept("fr", ["order_ready"])
    assert state(client) == "stale"
    client.templates.accept("de", ["order_ready"])
    assert state(client) == "live"
    assert "buttons differ" in client.templates.check(["order_ready"]).of(lang_code="de").counts()
    contents.update("en", buttons=contents.get("en").buttons[:2])
    assert state(client) == "stale"


def test_a_replacement_keeps_each_translation_as_up_to_date_as_it_was(client):
    client.templates.accept(["de", "fr"], ["order_ready"])
    rewrite(client, "en", ENGLISH)
    rewrite(client, "de", NEU)
    client.templates.replace("9", "10", ["order_ready"]).apply()
    assert (state(client), state(client, "fr"), state(client, "es")) == ("live", "stale", "unknown")
    client.templates.replace("Dear", "Hello", ["order_ready"]).apply()  # in English alone
    assert state(client) == "stale"


def test_drafts_and_imports_are_recorded(client, tmp_path):
    client.templates.draft_missing(["it"], ["order_ready"]).apply()
    assert state(client, "it") == "draft"
    rewrite(client, "en", ENGLISH)
    cell = client.templates.board(["order_ready"])["order_ready", "it"]
    assert (cell.state, cell.changes[0].after) == ("stale", ENGLISH)
    client.templates.export(tmp_path / "t.csv", ["order_ready"], languages=["nl"])
    data = (tmp_path / "t.csv").read_text(encoding="utf-8-sig")
    assert ENGLISH in data


def test_a_plan_that_was_saved_records_when_it_is_applied(client, tmp_path):
    edited = client.templates.frame(["order_ready"], full=True)
    edited.loc[("order_ready", "de"), "text"] = NEU
    client.templates.plan(edited).save(tmp_path / "plan.json")
    assert not len(client.templates.ledger.read())
    client.load_plan(tmp_path / "plan.json").apply()
    assert [key.source_code for key in client.templates.ledger.read().origins] == ["en"]


def test_one_template_and_its_form_record_like_many(client):
    contents = client.templates("order_ready")
    contents.plan([{"lang_code": "de", "text": NEU, "footer": "Bis bald"}]).apply()
    assert {key.field for key in client.templates.ledger.read().origins} == {"footer", "text"}


def test_broken_is_graver_than_stale_and_stale_than_draft_and_draft_than_unknown():
    english, german = content(), content(lang_code="de", text=GERMAN)
    before = frame(english, german)
    ledger = accept_contents(before, "de", "en", Ledger())[1]

    def of(**fields):
        contents = frame(content(text=NEW), {**german, **fields})
        return board(contents, ledger=ledger)["order_ready", "de"]

    assert of().state == of(is_draft=True).state == "stale"
    assert of(is_draft=True).reason == "the text has changed in en since; it is a draft"
    assert of(footer="{{1}}").state == "broken"
    assert of(text=GERMAN + " Ja.", is_draft=True).state == "draft"
    assert of(text=GERMAN + " Ja.").state == "unknown"
    assert board(before, ledger=ledger)["order_ready", "de"].state == "live"


def test_a_source_that_was_taken_out_or_is_the_same_in_both_is_told():
    english = content(footer="Open from 9 to 6")
    german = content(lang_code="de", text=GERMAN, footer="Von 9 bis 18 Uhr")
    ledger = accept_contents(frame(english, german), None, "en", Ledger())[1]
    outcome = board(frame(content(footer=""), german), ledger=ledger)["order_ready", "de"]
    assert outcome.reason == "the footer was taken out in en"
    same = content(lang_code="de", text=GERMAN, footer=GOOD["footer"])
    assert board(frame(content(), same), ledger=ledger)["order_ready", "de"].state == "live"


# --- since ----------------------------------------------------------------------------------


def test_a_board_since_a_day_shows_what_runs_have_changed(client):
    codes = ["order_ready", "spring_offer"]
    rewrite(client, "en", ENGLISH)
    run = chatkit.runs(client).index[0]
    outcome = client.templates.board(codes, since="2020-01-01")
    assert outcome.codes == ("order_ready",)
    assert repr(outcome).startswith("1 run changed 1 content since 2020-01-01. 1 template × 8")
    [row] = outcome.changes().itertuples()
    assert (row.template_code, row.lang_code, row.run) == ("order_ready", "en", run)
    assert (row.change, row.fields) == ("update", "text")
    later = client.templates.board(codes, since="2999-01-01")
    assert later.codes == ()
    assert repr(later).startswith("Nothing that is recorded on this computer has changed a content")
    with pytest.raises(InputError, match="since= takes a date"):
        client.templates.board(codes, since="yesterday")
    with pytest.raises(InputError, match="has no changes"):
        client.templates.board(codes).changes()


def test_a_board_since_a_day_says_who_by_which_run(client, monkeypatch):
    monkeypatch.setenv("CHATKIT_USER", "Amara Obi")
    rewrite(client, "en", ENGLISH)
    run = chatkit.runs(client).index[0]
    monkeypatch.setenv("CHATKIT_USER", "léa <b>\u202e@shop.example")
    client.templates("order_ready").update("de", text=NEU)  # one call, without a plan
    client.templates("order_ready").update("en", footer="Larkspur")  # of this no ledger tells
    outcome = client.templates.board(["order_ready"], since="2020-01-01")
    rows = outcome.changes()[["lang_code", "by", "run", "change", "fields"]]
    assert rows.to_numpy().tolist() == [
        ["en", "Amara Obi", run, "update", "text"],
        ["de", "léa <b>\u202e", "", "write", "text"],
    ]
    assert repr(outcome).startswith("1 run and 1 single edit changed 2 contents since 2020-01-01.")
    message = "\n".join(repr(outcome).splitlines()[-2:])
    assert message == (
        f"Amara Obi changed 1 content by run {run}\n"
        "léa <b>⟨U+202E⟩ changed 1 content without a plan"
    )
    assert "léa &lt;b&gt;" in html_of(outcome) and "\u202e" not in html_of(outcome)


def test_what_a_colleague_changed_is_seen_once_their_ledger_is_merged(
    client, tmp_path, monkeypatch
):
    monkeypatch.setenv("CHATKIT_USER", "Chiara")
    at, run = "2026-11-05T10:00:00.000000+00:00", "20261105-100000-abcdef"
    others, place = Ledger(), ("order_ready", "de")
    for field in ("buttons.0.label", "buttons.1.label", "text"):
        key = TranslationKey(*place, field, "en", digest_text(field))
        others.record_source(key, "Hello", "import", others, at=at, run=run)
    key = TranslationKey("order_ready", "fr", "text", "en", digest_text("fr"))
    others.record_source(key, "Hello", "accept", others, at=at)  # changes nothing
    (tmp_path / "hers.jsonl").write_text(str(others), encoding="utf-8")
    client.templates.ledger.merge(tmp_path / "hers.jsonl")
    outcome = client.templates.board(["order_ready"], since="2026-11-05")
    assert outcome.changes().to_numpy().tolist() == [
        [*place, at, "Chiara", run, "write", "buttons, text"]
    ]
    assert not len(client.templates.board(["order_ready"], since="2026-11-06").changes())


def test_a_run_that_wrote_nothing_is_not_seen_though_the_ledger_was_written_before(
    client, monkeypatch
):
    edited = client.templates.frame(["order_ready"], full=True)
    edited.loc[("order_ready", "de"), "text"] = NEU
    plan = client.templates.plan(edited)
    client.templates("order_ready").delete("de")
    assert plan.apply().state.tolist() != ["applied"]
    assert [one.run for one in client.templates.ledger.read().origins.values()] == [plan.id]
    assert not len(client.templates.board(["order_ready"], since="2020-01-01").changes())


# --- accept ---------------------------------------------------------------------------------


def test_accepting_tells_what_it_recorded_and_what_was_before(client, capsys):
    outcome = client.templates.accept("de", ["order_ready", "spring_offer"])
    assert outcome.to_dict("list") == {
        "template_code": ["order_ready"], "lang_code": ["de"], "texts": [6], "before": ["unknown"],
    }  # fmt: skip
    assert "6 texts in 1 content are recorded" in capsys.readouterr().out
    text = client.templates.ledger.path.read_text(encoding="utf-8")
    assert client.templates.accept("de", ["order_ready"]).before.tolist() == ["recorded"]
    assert client.templates.ledger.path.read_text(encoding="utf-8") == text


def test_a_language_that_nobody_has_is_refused_with_the_one_that_is_meant(client):
    with pytest.raises(InputError, match="did you mean pt_BR"):
        client.templates.accept("pt", ["order_ready"])
    with pytest.raises(InputError, match="they are in en, ar, de"):
        client.templates.accept(["it"], ["order_ready"])
    with pytest.raises(InputError, match="No template has a content in 'xx'"):
        client.templates.accept(codes=["order_ready"], source="xx")


def test_each_line_says_who_recorded_it(monkeypatch):
    at, key = "2026-11-01T10:00:00.000000+00:00", TranslationKey("a", "de", "text", "en", "0" * 20)
    old = [
        f'["comment","a","de","text","{at}","too long",""]',
        f'["made","a","de","text","en","{"0" * 20}","{at}","{digest_text("Hello")}","apply","",""]',
        f'["silenced","quotes","","","","{at}","yes",""]',
    ]
    known = Ledger.from_text("\n".join(old))
    assert known.origins[key].by == known.comments["a", "de", "text"].by == ""
    assert str(known).split("\n")[1:-1] == old
    monkeypatch.setenv("CHATKIT_USER", "Amara")
    known.record_source(key, "Hi", "accept", known)
    known.comment(("a", "de", "text"), "")
    known.silence("quotes", "", off=True)
    new = str(known).split("\n")[1:-1]
    assert all(line.endswith(',"Amara"]') for line in new if not line.startswith('["source"'))
    assert Ledger.from_text("\n".join([*old, *new])) == known
    assert [one.by for one in known.origins.values()] == ["Amara"]


def test_no_sample_and_no_token_is_in_it(client):
    client.templates.accept(codes=["order_ready"])
    rewrite(client, "de", NEU)
    text = client.templates.ledger.path.read_text(encoding="utf-8")
    samples = client.templates("order_ready").get("en").variables
    assert samples and not any(sample in text for sample in samples.values())
    assert "token" not in text and "http" not in text
    assert client.templates.ledger.path.stat().st_mode & 0o077 == 0


# --- as text that merges --------------------------------------------------------------------

TIMES = st.integers(0, 3).map(lambda n: f"2026-11-0{n + 1}T10:00:00.000000+00:00")
KEYS = st.builds(
    TranslationKey,
    st.sampled_from(["order_ready", "a\u2028b"]),
    st.sampled_from(["de", "pt_BR"]),
    st.sampled_from(["text", "buttons.0.label"]),
    st.just("en"),
    st.sampled_from(["a" * 20, "b" * 20]),
)
NAMES = st.sampled_from(["", "Amara", "Chiara"])
LINES = st.lists(
    st.tuples(KEYS, TIMES, st.text(max_size=4), st.sampled_from(["apply", "accept"]), NAMES),
    max_size=6,
)


@st.composite
def ledgers(draw):
    ledger = Ledger()
    for key, at, source, how, by in draw(LINES):
        ledger.origins[key] = Origin(at, ledger.add_source(source), how, by=by)
    return ledger


@given(ledgers(), ledgers(), ledgers())
def test_merging_does_not_depend_on_the_order_nor_on_how_often(a, b, c):
    assert a.merge(b) == b.merge(a)
    assert a.merge(b).merge(c) == a.merge(b.merge(c))
    assert a.merge(a) == a
    assert a.merge(b).merge(b) == a.merge(b)
    assert set(a.origins) | set(b.origins) == set(a.merge(b).origins)


@given(ledgers(), ledgers(), st.randoms())
def test_lines_of_two_put_together_in_any_order_are_both(a, b, random):
    lines = [*str(a).split("\n"), "<<<<<<< mine", *str(b).split("\n"), "======="]
    random.shuffle(lines)
    assert Ledger.from_text("\n".join(lines)) == a.merge(b)
    assert Ledger.from_text(str(a)) == a
    assert str(a).split("\n")[1:-1] == sorted(str(a).split("\n")[1:-1])


@pytest.mark.parametrize(
    "line",
    [
        "not JSON",
        "{}",
        '["made","a"]',
        '["made",1,"b","c","d","e","f","g","h","i"]',
        '["made","a","b","c","d","e","yesterday","g","h","i"]',
        '["made","a","b","c","d","e","2026-01-01T00:00:00.000000+00:00","g","h","i","j","k"]',
        '["source","0000","another text"]',
        '["source","0000"]',
        '["comment"]',
        '["comment","a","de","text",5,"x"]',
        '["silenced","a","","2026-01-01T00:00:00.000000+00:00","yes","x"]',
        '["comment","a","2026-01-01T00:00:00.000000+00:00","x"]',
        '[5,"a"]',
        "[]",
        "[" * 100_000,
        '["a kind of another version","x"]',
        '["comment","a","de","text","2026-01-01T00:00:00.000000+00:00","without a name"]',
    ],
)
def test_lines_that_cannot_be_read_are_named(line):
    with pytest.raises(InputError, match="lines that cannot be read: 2, 4"):
        Ledger.from_text(f"# x\n{line}\n\n{line}", "mine.jsonl")


@pytest.mark.parametrize(
    ("count", "output"), [(1, "1."), (5, "1, 2, 3, 4, 5."), (6, "1, 2, 3, 4, 5 ….")]
)
def test_five_lines_that_cannot_be_read_are_named(count, output):
    with pytest.raises(
        InputError, match=re.escape(f"the ledger has lines that cannot be read: {output}")
    ):
        Ledger.from_text("x\n" * count)


def test_a_ledger_says_how_much_is_in_it(client):
    client.templates.accept("de", ["order_ready"])
    ledger = client.templates.ledger.read()
    assert repr(ledger) == "<ledger of 6 translations, 6 source texts>"
    assert repr(client.templates.ledger) == "6 translations of 6 source texts recorded."
    assert "<p>6 translations of 6 source texts recorded.</p>" in (html_of(client.templates.ledger))
    assert sorted(key.field for key in ledger.origins) == [
        *(f"buttons.{n}.label" for n in range(3)), "footer", "headers.0.text", "text",
    ]  # fmt: skip
    assert {key.source_code for key in ledger.origins} == {"en"}
    assert {one.how for one in ledger.origins.values()} == {"accept"}
    assert client.templates("order_ready").get("en").text in ledger.sources.values()
    assert ledger != str(ledger) and ledger == Ledger.from_text(str(ledger))


def test_a_line_of_a_ledger_is_one_line_whatever_its_text_holds():
    ledger = Ledger()
    for text in ("a\u2028b", "a\nb", "ä"):
        ledger.add_source(text)
    lines = str(ledger).splitlines()
    assert len(lines) == 1 + 3
    assert sum(line.isascii() for line in lines[1:]) == 2, "what can be read is written as it is"
    assert Ledger.from_text(str(ledger)).sources == ledger.sources


def test_one_line_that_is_new_was_and_several_were(client, tmp_path, capsys):
    one, path = Ledger(), tmp_path / "one.jsonl"
    one.record_source(TranslationKey("a", "de", "text", "en", "0" * 20), "Hello", "accept", one)
    path.write_text(str(one), encoding="utf-8")
    client.templates.ledger.merge(path)
    client.templates.ledger.merge(path)
    one.record_source(TranslationKey("a", "fr", "text", "en", "0" * 20), "Hello", "accept", one)
    path.write_text(str(one), encoding="utf-8")
    client.templates.ledger.merge(path)
    message = capsys.readouterr().out
    assert "1 of 1 line was new." in message
    assert "0 of 1 line were new." in message
    assert "1 of 2 lines was new." in message


def test_comments_and_silences_that_are_taken_are_counted(client, tmp_path, capsys):
    others, path = Ledger(), tmp_path / "theirs.jsonl"
    others.comment(("order_ready", "de", "text"), "too long")
    others.silence("quotes", "de")
    path.write_text(str(others), encoding="utf-8")
    for message in ("2 of 2 lines were new.", "0 of 2 lines were new."):
        client.templates.ledger.merge(path)
        assert message in capsys.readouterr().out


def test_of_two_notes_of_a_translation_the_later_counts_and_the_same_is_not_noted_again():
    key, known = TranslationKey("a", "de", "text", "en", "0" * 20), Ledger()
    noon, one = "2026-11-20T12:00:00.000000+00:00", "2026-11-20T13:00:00.000000+00:00"
    known.record_source(key, "Hello", "apply", known, at=noon, run="r1")
    again = Ledger()
    again.record_source(key, "Hello", "import", known, at=one)
    assert len(again) == 0
    again.record_source(key, "Hi", "accept", known, at=noon)
    assert again.origins[key].at == noon.replace("00:00.000000", "00:00.000001")
    assert known.merge(again).origins[key].source == digest_text("Hi")
    later = Ledger()
    later.record_source(key, "Hi", "accept", known, at=one)
    assert later.origins[key] == Origin(one, digest_text("Hi"), "accept", "", get_user_name())


def test_what_a_person_accepts_is_noted_once_although_a_run_wrote_it():
    key, known = TranslationKey("a", "de", "text", "en", "0" * 20), Ledger()
    known.record_source(key, "Hello", "apply", known)
    new = Ledger()
    new.record_source(key, "Hello", "accept", known)
    both = known.merge(new)
    assert both.origins[key].how == "accept"
    for how in ("accept", "import"):
        again = Ledger()
        again.record_source(key, "Hello", how, both)
        assert len(again) == 0


def test_what_a_run_writes_is_noted_with_its_name_and_how():
    known, new = Ledger(), Ledger()
    place = ("a", "de", "text", "en")
    made_from = digest_text("Old")
    known.record_source(TranslationKey(*place, digest_text("alt")), "Old", "apply", known)
    written = [
        WrittenText(*place, digest_text("neu"), "New", "import"),
        WrittenText(*place, digest_text("odd"), "New", "by magic"),
        WrittenText(*place, digest_text("alt!"), "Old!", "import", digest_text("alt"), made_from),
        WrittenText(*place, digest_text("x"), "New!", "import", digest_text("alt"), "other"),
        WrittenText(*place, digest_text("y"), "New!", "import", digest_text("nobody's"), "other"),
    ]
    record_written(new, known, written, "run-1")
    outcome = {key.target: (origin.how, new.sources[origin.source], origin.run)
             for key, origin in new.origins.items()}  # fmt: skip
    assert outcome == {
        digest_text("neu"): ("import", "New", "run-1"),
        digest_text("odd"): ("apply", "New", "run-1"),
        digest_text("alt!"): ("import", "Old!", "run-1"),
        digest_text("x"): ("import", "Old", "run-1"),
    }


def returned(comment, sent="", field="text"):
    unit, stamp = Unit("a", "pt-br", field, "", "", comment=comment), Stamp("", "", "", sent)
    return ReturnedText(unit, "", stamp, None, None, "", "")


def commented(known, texts):
    return Translations(pd.DataFrame(), [], texts, 0).comments(known)


def test_a_comment_that_came_back_counts_unless_it_is_known_or_somebody_said_more_since():
    known = Ledger()
    assert commented(known, [returned(" too  long ")]).comments["a", "pt_BR", "text"].text == (
        "too  long"
    )
    known.comments["a", "pt_BR", "text"] = Annotation(
        "2026-11-20T12:00:00.000000+00:00", "too long"
    )
    for same in ("too long", "too\nlong"):
        assert not commented(known, [returned(same, "20270101T000000")]).comments
    assert not commented(known, [returned("shorter", "20261120T115959")]).comments
    [outcome] = commented(known, [returned("shorter", "20261120T120001")]).comments.values()
    assert outcome.text == "shorter"
    two = [returned("too long", "20270101T000000"), returned("other", "2027", field="footer")]
    assert [place[2] for place in commented(known, two).comments] == ["footer"]


def test_what_a_colleague_has_recorded_is_taken(client, tmp_path, capsys):
    client.templates.accept("de", ["order_ready"])
    client.templates.ledger.save(tmp_path / "de.jsonl")
    with chatkit.Sandbox(seed="demo") as other, chatkit.connect(other) as colleague:
        colleague.templates.accept("fr", ["order_ready"])
        colleague.templates.ledger.merge(tmp_path / "de.jsonl")
        assert state(colleague) == state(colleague, "fr") == "live"
        assert state(colleague, "es") == "unknown"
        assert "6 of 6 lines were new" in capsys.readouterr().out
        (tmp_path / "foreign.jsonl").write_text("id,name\n1,Ana\n", encoding="utf-8")
        with pytest.raises(InputError, match=r"foreign\.jsonl has lines that cannot be read: 1, 2"):
            colleague.templates.ledger.merge(tmp_path / "foreign.jsonl")
        (tmp_path / "foreign.jsonl").write_bytes(b"PK\x03\x04\xff")
        with pytest.raises(InputError, match="not UTF-8 text"):
            colleague.templates.ledger.merge(tmp_path / "foreign.jsonl")


def test_a_damaged_ledger_keeps_no_plan_from_being_applied(client, capsys):
    client.templates.accept("de", ["order_ready"])
    path = client.templates.ledger.path
    path.write_text(f"{path.read_text(encoding='utf-8')}garbled\n", encoding="utf-8")
    assert rewrite(client, "de", NEU).state.tolist() == ["applied"]
    assert "It is not recorded from which source" in capsys.readouterr().out
    assert path.read_text(encoding="utf-8").endswith("garbled\n")


def test_what_somebody_else_writes_is_read_and_what_a_reader_changes_is_not(client, tmp_path):
    ledger = client.templates.ledger
    client.templates.accept("de", ["order_ready"])
    mine = ledger.read()
    assert mine == ledger.read() and len(mine) == 6
    mine.origins.clear()
    mine.silence("quotes", "de")
    assert len(ledger.read()) == 6 and not ledger.read().silenced
    colleague = "\n".join(line for line in str(ledger.read()).split("\n") if "footer" not in line)
    ledger.path.write_text(colleague, encoding="utf-8")
    assert len(ledger.read()) == 5
    after = ledger.add(mine)
    after.origins.clear()
    assert len(ledger.read()) == 5 and ledger.read().is_silent("quotes", "de")
    ledger.path.unlink()
    assert len(ledger.read()) == 0


def test_a_clock_that_is_ahead_elsewhere_does_not_make_an_acceptance_old():
    (english, german) = read_entries(frame(content(), content(lang_code="de", text=GERMAN)))
    key = make_translation_key(german, "text", "en", GERMAN)
    ahead = Ledger()
    origin = Origin("2099-01-01T00:00:00.000000+00:00", ahead.add_source("Old"), "apply")
    ahead.origins[key] = origin
    new = accept_contents([english, german], None, "en", ahead)[1]
    assert ahead.merge(new).origins[key].source == digest_text(english.text)


WRITER = """
import sys
from pathlib import Path
from chatkit.localization.ledger import Ledger, LedgerFile, TranslationKey
file = LedgerFile.__new__(LedgerFile)
file.path = Path(sys.argv[1])
for n in range(20):
    new = Ledger()
    key = TranslationKey("t", "de", f"{sys.argv[2]}.{n}", "en", "0" * 20)
    new.record_source(key, f"text {n}", "apply", new)
    file.add(new)
"""


def test_processes_that_write_at_once_lose_nothing(tmp_path):
    path = tmp_path / "shared.jsonl"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name], cwd=Path(__file__).parent)
        for name in ("one", "two")
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    assert len(Ledger.from_text(path.read_text(encoding="utf-8"))) == 40
    assert [each.name for each in tmp_path.iterdir() if each.suffix != ".lock"] == [path.name]


def test_a_translation_that_is_edited_in_the_plan_that_makes_its_source_is_of_that_source():
    with chatkit.connect(chatkit.Sandbox(seed="empty")) as client:
        german = {"lang_code": "de", "text": "Ihre Bestellung ist da.", "footer": "Alt"}
        client.templates("offer").create(**german, is_draft=True)
        frame = client.templates.frame(["offer"], full=True)
        frame.loc[("offer", "de"), "footer"] = "Neu"
        source = {"text": "Your order is here.", "footer": "New", "is_draft": True}
        frame.loc[("offer", "en"), list(source)] = list(source.values())
        client.templates.plan(frame).apply()
        [key] = client.templates.ledger.read().origins
        assert key[:4] == ("offer", "de", "footer", "en")
