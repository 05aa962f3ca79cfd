"""Boards: the state of each content, with the reason, and as it is shown."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest
from displayed import html_of
from hypothesis import given, settings
from hypothesis import strategies as st
from localization.contents import CONTENT, cases, content, demo, frame, naughty  # noqa: F401

from chatkit.errors import InputError
from chatkit.localization.audit import check_contents
from chatkit.localization.board import (
    SIGNS,
    STATES,
    Board,
    BoardCell,
    ContentChange,
    board,
    parse_time,
)
from chatkit.localization.ledger import SourceChange
from chatkit.report import FEW

EVIL = "<img src=x onerror=alert(1)>"
TEXT = "Hallo {{1}}, deine Bestellung {{2}} ist fertig, komm heute vorbei und hol sie ab."
HALF = {"text": TEXT.replace("{{2}}", ""), "is_draft": True}
SITE = {"type": "visit_website", "label": "Go", "value": "https://a.example/en"}


def german(**fields):
    return content(**{"lang_code": "de", "text": TEXT, **fields})


def test_the_demo_account_is_summarized_on_a_board(demo):
    result = board(demo, codes=["order_ready", "goodbye"])
    assert result.languages == ("en", "ar", "de", "es", "fr", "hi", "ja", "pt_BR")
    assert result.codes[-1] == "goodbye"
    assert result.counts() == {
        **{"live": 22, "draft": 2, "stale": 2},
        **{"unknown": 0, "broken": 4, "missing": 26},
    }
    table = result.frame()
    assert table.loc["rental_reminder", "ar"] == "draft"
    assert table.loc["spring_offer", "fr"] == "stale"
    assert table.loc["login_code", "pt_BR"] == "broken"
    assert set(table.loc["goodbye"]) == {"missing"}
    assert len(result) == len(list(result)) == table.size == 56


@cases("source", "translation", "state", "reason")
def test_each_state_has_its_reasons_the_gravest_first(source, translation, state, reason):
    cell = board(frame(content(**source), german(**translation)))["order_ready", "de"]
    assert (cell.state, cell.reason) == (state, reason)


def test_rows_and_columns_are_those_of_the_contents_and_those_asked_for():
    result = board(frame(content(lang_code="en-US"), german(lang_code="de_at")), source="en_us")
    assert result.languages == ("en_US", "de_AT")
    assert result["order_ready", "en-us"].lang_code == "en-US"
    assert result["order_ready", "de_AT"].lang_code == "de_at"
    contents = frame(*(content(lang_code=code) for code in ("ar", "en_US", "de", "en")))
    assert board(contents).languages == ("en", "en_US", "ar", "de")
    result = board(frame(content()), codes=["another"], languages=["ja", "en-US"])
    missing = dict.fromkeys(("en", "en_US", "ja"), "missing")
    assert result.frame().loc["another"].to_dict() == missing
    assert result["another", "ja"] == BoardCell("another", "ja", "missing")
    with pytest.raises(KeyError):
        result["order_ready", "fr"]
    with pytest.raises(InputError, match="as lists"):
        board(frame(content()), codes="another")


def test_cells_can_be_chosen_by_state():
    result = board(frame(content(), german(is_draft=True)), languages=["ja"])
    assert list(result.cells().state) == ["live", "draft", "missing"]
    assert list(result.cells("draft", "missing").lang_code) == ["de", "ja"]
    assert list(result.cells("draft").reason) == ["it is a draft"]
    assert result.cells("broken").empty


def test_what_does_not_decide_on_states_is_checked_once_and_when_it_is_asked_for(monkeypatch):
    asked = []

    def counted(*args, **kwargs):
        asked.append(args)
        return check_contents(*args, **kwargs)

    monkeypatch.setattr("chatkit.localization.board.check_contents", counted)
    contents = frame(content(), german(text="Hallo  {{1}} und {{2}}, die Bestellung ist {{3}}."))
    contents = contents.drop(columns="footer")
    result = board(contents, "en")
    assert result["order_ready", "de"].state == "broken"
    output = repr(result), html_of(result)
    assert not asked
    assert all("are missing: footer. full=True reads them" in each for each in output)
    assert "doubled spaces" in result.audit.counts()
    assert result.audit == check_contents(contents, "en")
    assert len(asked) == 1
    assert (repr(result), html_of(result)) == output


# --- since --------------------------------------------------------------------------------------

DAY = datetime(2026, 11, 1, tzinfo=UTC)
MORNING = DAY.replace(hour=10, minute=30)


def changed(template="order_ready", lang="de", by="Amara", run="r1"):
    return ContentChange(template, lang, "2026-11-02T10:00:00Z", by, run, "update", "text")


@pytest.mark.parametrize(
    ("changes", "codes", "message"),
    [
        ([], (), "Nothing that is recorded on this computer has changed a content"),
        ([changed("a")], ("a",), "1 run changed 1 content"),
        ([changed("a"), changed("elsewhere")], ("a",), "1 run changed 1 content"),
        ([changed("c")], ("c",), "1 run changed 1 content"),
        ([changed("a"), changed("a")], ("a",), "1 run changed 1 content"),
        ([changed("a"), changed("a", "en"), changed("a", run="r2")], ("a",),
         "2 runs changed 2 contents"),
        ([changed("a", run="")], ("a",), "1 single edit changed 1 content"),
        ([changed("a", run="")] * 2 + [changed("a", "ja")], ("a",),
         "1 run and 2 single edits changed 2 contents"),
    ],
)  # fmt: skip
def test_since_a_day_a_board_has_the_templates_that_were_changed(changes, codes, message):
    contents = [content(template_code="a"), german(template_code="a", is_draft=True)]
    contents.append(content(template_code="b", lang_code="ja"))
    result = board(contents, codes=["c"], since=DAY, changed=changes)
    assert (result.codes, result.languages) == (codes, ("en", "de", "ja"))
    states = ["live", "draft", "missing"] if codes == ("a",) else ["missing"] * len(result)
    assert [cell.state for cell in result] == states
    assert {*result.changes().template_code} == {*codes}
    assert " ".join(repr(result).split()).startswith(f"{message} since 2026-11-01. ")


@pytest.mark.parametrize(
    ("value", "result"),
    [
        *((value, DAY) for value in ("2026-11-01", date(2026, 11, 1), datetime(2026, 11, 1))),
        ("2026-11-01T02:00:00+02:00", DAY),
        (datetime(2026, 11, 1, 2, tzinfo=timezone(timedelta(hours=2))), DAY),
        *(("2026-11-01T10:30", MORNING), (datetime(2026, 11, 1, 10, 30), MORNING)),
        *((value, None) for value in ("yesterday", "", 20261101, None)),
    ],
)
def test_a_time_is_a_day_or_a_moment_and_utc_unless_it_says_otherwise(value, result):
    if result is None:
        with pytest.raises(InputError, match="since= takes a date like"):
            parse_time(value)
    else:
        assert parse_time(value) == result


# --- what is shown ------------------------------------------------------------------------------


def small():
    broken = content(lang_code="ar", footer="{{1}}")
    return board(frame(content(), broken), languages=["ja"], codes=["goodbye"])


def test_a_board_reads_as_signs_below_the_languages():
    assert repr(small()) == (
        "2 templates × 3 languages: 1 live, 1 broken, 4 missing.\n"
        "\n"
        "             en  ar  ja\n"
        "order_ready  ✓   ✗   ·\n"
        "goodbye      ·   ·   ·\n"
        "\n"
        "✓ live  ✗ broken  · missing"
    )
    empty = board([])
    assert repr(empty) == "0 templates × 0 languages: nothing."
    assert empty.frame().empty and len(empty) == sum(empty.counts().values()) == 0


@pytest.mark.parametrize(("code", "tables"), [("order_soon", 1), ("order_ready", 2)])
def test_as_text_languages_stand_beside_each_other_as_far_as_a_line_goes(code, tables):
    """22 languages take 88 of its 100 columns, and a code two more than its letters."""
    langs = [f"s{letter}" for letter in "abcdefghijklmnopqrstuv"]
    codes = [f"t{n}" for n in range(29)]
    result = board(frame(*(content(lang_code=lang) for lang in langs), template=code), codes=codes)
    lines = repr(result).splitlines()
    assert sum(line.startswith(code) for line in lines) == tables
    assert max(map(len, lines)) <= 100
    assert "… and 10 more templates: board.frame() has them all." in lines


def test_the_table_has_words_beside_colours_and_says_why_a_content_needs_work():
    html = html_of(small())
    cells = re.findall(r'<td class="(\w+)"(?: title="[^"]*")?>(.*?)</td>', html)
    assert len(cells) >= 6
    for name, message in cells:
        word = message.partition("</b> ")[2]
        assert name == word
        assert SIGNS[word] in message
        assert f".chatkit-board .{name} {{" in html
    assert html.count('<th scope="col">') == 8  # four of the board, and of the reasons
    assert "<small>Arabic</small>" in html
    assert '<th scope="row" dir="auto">order_ready</th>' in html
    assert "Why 1 content needs work" in html
    assert "footer placeholder: {{1}} is in the footer" in html
    assert "Why" not in html_of(board(frame(content())))


@settings(max_examples=60)
@given(st.lists(CONTENT, max_size=4))
def test_any_contents_make_a_board(contents):
    result = board(contents)
    assert sum(result.counts().values()) == len(result) == result.frame().size
    assert set(result.counts()) == set(STATES)
    assert repr(result)
    assert "<script" not in html_of(result)


def test_naughty_codes_are_shown_and_hide_nothing(shared: Path):
    texts = naughty(shared)
    values = [content(template_code=text) for text in texts]
    values += [content(template_code="a", lang_code=text) for text in texts[:40]]
    values.append(content(template_code=EVIL, lang_code="de", headers=[{"type": EVIL}]))
    result = board(values, codes=["b"], languages=texts[-9:])
    assert len(result.frame()) == len(result.codes)
    html, text = html_of(result), repr(result)
    for mark in ("<script", "<img", "<svg", "\u202e", "\x07"):
        assert mark not in html
        assert mark not in text or mark.startswith("<")
    assert "&lt;img" in html


def test_a_large_board_is_folded_and_ends():
    values = [content(template_code=f"t{n}", text=f"Hello you {n}") for n in range(300)]
    codes = [f"{a}{b}" for a in "abcdef" for b in "abcde"]
    html = html_of(board(values, languages=codes))
    assert "275 more" in html
    assert "… and 204 more: <code>board.frame()</code> has them all." in html
    assert html.count('<tr><th scope="row"') == 96
    assert len(html) < 150_000


def changed_board(count, languages=("de",), before="Old", after="New"):
    """Return a board of stale contents: so many texts, each in these languages."""
    cells = {
        (f"t{n}", lang): BoardCell(
            *(f"t{n}", lang, "stale", ("it has changed",)),
            (SourceChange("text", "the text", f"{before} {n}", f"{after} {n}" if after else ""),),
        )
        for n in range(count)
        for lang in languages
    }
    codes = [f"t{n}" for n in range(count)]
    return Board(cells, codes, languages, "en")


def test_a_source_that_changed_is_one_for_all_languages_that_were_made_from_it():
    few = [f"l{n}" for n in range(FEW)]
    assert f"The source of t0 text ({', '.join(few)}) has changed:" in repr(changed_board(1, few))
    text = " ".join(repr(changed_board(1, [*few, "l99"])).split())
    assert f"({', '.join(few)} and 1 more) has changed:" in text
    [row, *_] = changed_board(2, few).sources().to_numpy().tolist()
    assert row == ["t0", "l0", "text", "Old 0", "New 0"]


def test_each_side_of_a_changed_source_shows_its_own_words_and_is_cut():
    html = html_of(changed_board(1, before=f"{EVIL} old", after="new"))
    before, after = re.findall('<td class="side" dir="auto">(.*?)</td>', html)
    assert "&lt;img" in before and "<ins>" not in before and "<del>" in before
    assert after == "<ins>new</ins> 0"
    result = changed_board(1, before="a" * 405, after="b" * 405)
    for output in (repr(result).replace("\n    ", ""), html_of(result)):
        assert [max(map(len, re.findall(part, output))) for part in ("a+", "b+")] == [400, 400]
