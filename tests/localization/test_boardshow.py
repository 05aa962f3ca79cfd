from __future__ import annotations

import re
from pathlib import Path

from displayed import html_of
from localization.contents import content, frame, naughty

from chatkit.localization.board import SIGNS, Board, BoardCell, board
from chatkit.localization.ledger import SourceChange
from chatkit.report import FEW

EVIL = "<img src=x onerror=alert(1)>"


def small():
    broken = content(lang_code="ar", footer="{{1}}")
    return board(frame(content(), broken), languages=["ja"], codes=["goodbye"])


def test_a_board_reads_as_signs_below_the_languages():
    assert repr(small()) == (
        "2 templates × 3 languages: 1 live, 1 broken, 4 missing.\n"
        "\n"
        "                en  ar  ja\n"
        "order_ready     ✓   ✗   ·\n"
        "goodbye         ·   ·   ·\n"
        "\n"
        "✓ live  ✗ broken  · missing"
    ).replace("                en", "             en").replace("ready     ✓", "ready  ✓").replace(
        "goodbye         ·", "goodbye      ·"
    )


def test_an_empty_board_is_said():
    assert repr(board([])) == "0 templates × 0 languages: nothing."


def test_many_languages_stand_in_several_tables_and_many_templates_are_counted():
    values = [content(template_code=f"t{n}", lang_code="en") for n in range(30)]
    result = board(values, languages=[f"{a}{b}" for a in "abcdef" for b in "abcdefgh"])
    text = repr(result)
    assert max(map(len, text.splitlines())) <= 100
    assert text.count("t19 ") == 2 + (len(result.languages) > 46)
    assert "… and 10 more templates: board.frame() has them all." in text


def test_each_state_has_a_word_a_sign_and_a_colour_in_the_table():
    html = html_of(small())
    cells = re.findall(r'<td class="(\w+)"(?: title="[^"]*")?>(.*?)</td>', html)
    assert len(cells) >= 6
    for name, message in cells:
        word = message.partition("</b> ")[2]
        assert name == word
        assert SIGNS[word] in message
        assert f".chatkit-board .{name} {{" in html


def test_the_table_names_its_rows_and_columns_for_those_who_cannot_see_it():
    html = html_of(small())
    assert html.count('<th scope="col">') == 8  # four of the board, and of the reasons
    assert "<small>Arabic</small>" in html
    assert '<th scope="row" dir="auto">order_ready</th>' in html


def test_why_a_content_needs_work_is_written_out():
    html = html_of(small())
    assert "Why 1 content needs work" in html
    assert "footer placeholder: {{1}} is in the footer" in html
    assert "Why" not in html_of(board(frame(content())))


def test_texts_of_strangers_are_escaped():
    html = html_of(board(content(template_code=EVIL, lang_code="de", headers=[{"type": EVIL}])))
    assert "<img" not in html
    assert "&lt;img" in html


def test_naughty_codes_are_shown_and_hide_nothing(shared: Path):
    texts = naughty(shared)
    values = [content(template_code=text) for text in texts]
    values += [content(template_code="a", lang_code=text) for text in texts[:40]]
    result = board(values, codes=["b"], languages=texts[-9:])
    assert len(result.frame()) == len(result.codes)
    html, text = html_of(result), repr(result)
    for mark in ("<script", "<img", "<svg", "\u202e", "\x07"):
        assert mark not in html
        assert mark not in text or mark.startswith("<")
    assert "\u202e" not in text


def test_a_large_board_is_folded_and_ends():
    values = [content(template_code=f"t{n}", text=f"Hello you {n}") for n in range(300)]
    codes = [f"{a}{b}" for a in "abcdef" for b in "abcde"]
    html = html_of(board(values, languages=codes))
    assert "275 more" in html
    assert "… and 204 more: <code>board.frame()</code> has them all." in html
    assert html.count('<tr><th scope="row"') == 96
    assert len(html) < 150_000


def test_what_was_not_read_is_said():
    listed = board({"lang_code": "en", "text": "Hello you"})
    assert "full=True reads" in repr(listed)
    assert "full=True reads them" in html_of(listed)


# --- bounds -----------------------------------------------------------------------------------


# --- what changed in the sources --------------------------------------------------------------


def changed_board(count, languages=("de",), before="Old", after="New"):
    """A board of stale contents: so many texts, each in these languages."""
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
    [row, *_] = changed_board(2, few).sources().itertuples()
    assert (row.template_code, row.lang_code, row.field) == ("t0", "l0", "text")
    assert (row.before, row.after) == ("Old 0", "New 0")


def test_each_side_shows_its_own_words_and_nothing_of_a_stranger_is_run():
    html = html_of(changed_board(1, before=f"{EVIL} old", after="new"))
    before, after = re.findall('<td class="side" dir="auto">(.*?)</td>', html)
    assert "&lt;img" in before and "<ins>" not in before and "<del>" in before
    assert after == "<ins>new</ins> 0"


def test_long_sources_are_cut_on_both_sides():
    result = changed_board(1, before="a" * 405, after="b" * 405)
    for output in (repr(result).replace("\n    ", ""), html_of(result)):
        assert [max(map(len, re.findall(part, output))) for part in ("a+", "b+")] == [400, 400]
