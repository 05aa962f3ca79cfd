from __future__ import annotations

import re
from pathlib import Path

from localization.contents import content, frame, naughty

from chatkit.localization.board import SIGNS, board

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


def test_an_empty_board_and_one_template_are_said():
    assert repr(board([])) == "0 templates × 0 languages: nothing."
    assert "(one template)  ✓" in repr(board(content()))


def test_many_languages_stand_in_several_tables_and_many_templates_are_counted():
    given = [content(template_code=f"t{n}", lang_code="en") for n in range(30)]
    found = board(given, languages=[f"{a}{b}" for a in "abcdef" for b in "abcdefgh"])
    text = repr(found)
    assert max(map(len, text.splitlines())) <= 100
    assert text.count("t19 ") == 2 + (len(found.languages) > 46)
    assert "… and 10 more templates: board.frame() has them all." in text


def test_each_state_has_a_word_a_sign_and_a_colour_in_the_table():
    html = small()._repr_html_()
    cells = re.findall(r'<td class="(\w+)"(?: title="[^"]*")?>(.*?)</td>', html)
    assert len(cells) >= 6
    for name, said in cells:
        word = said.partition("</b> ")[2]
        assert name == ("late" if word == "out of date" else word)
        assert SIGNS[word] in said
        assert f".chatkit-board .{name} {{" in html


def test_the_table_names_its_rows_and_columns_for_those_who_cannot_see_it():
    html = small()._repr_html_()
    assert html.count('<th scope="col" dir="ltr">') == 3
    assert "<small>Arabic</small>" in html
    assert '<th scope="row" dir="auto">order_ready</th>' in html
    assert "<caption" in html


def test_why_a_content_needs_work_is_written_out():
    html = small()._repr_html_()
    assert "Why 1 content needs work" in html
    assert "footer placeholder: {{1}} is in the footer" in html
    assert "Why" not in board(frame(content()))._repr_html_()


def test_colours_are_of_the_theme_or_let_it_through():
    style = small()._repr_html_().partition("</style>")[0]
    assert not re.search(r"(?<!-)color: #", style)
    assert all(
        "rgba" in line
        for line in style.splitlines()
        if "background:" in line and "none" not in line
    )


def test_texts_of_strangers_are_escaped():
    html = board(
        content(template_code=EVIL, lang_code="de", headers=[{"type": EVIL}])
    )._repr_html_()
    assert "<img" not in html
    assert "&lt;img" in html


def test_naughty_codes_are_shown_and_hide_nothing(shared: Path):
    texts = naughty(shared)
    given = [content(template_code=text) for text in texts]
    given += [content(template_code="a", lang_code=text) for text in texts[:40]]
    found = board(given, codes=["b"], languages=texts[-9:])
    assert len(found.frame()) == len(found.codes)
    html, text = found._repr_html_(), repr(found)
    for mark in ("<script", "<img", "<svg", "\u202e", "\x07"):
        assert mark not in html
        assert mark not in text or mark.startswith("<")
    assert "\u202e" not in text


def test_a_large_board_is_folded_and_ends():
    given = [content(template_code=f"t{n}", text=f"Hello you {n}") for n in range(300)]
    codes = [f"{a}{b}" for a in "abcdef" for b in "abcde"]
    html = board(given, languages=codes)._repr_html_()
    assert "275 more" in html
    assert "… and 204 more: <code>board.frame()</code> has them all." in html
    assert html.count('<tr><th scope="row"') == 96
    assert len(html) < 150_000


def test_reasons_are_written_out_up_to_a_number():
    html = board([content(template_code=f"t{n}", footer="{{1}}") for n in range(300)])._repr_html_()
    assert "Why 300 contents need work" in html
    assert html.count('class="why"') == 200
    assert "… and 100 more: <code>board.cells()</code> has them all." in html


def test_what_was_not_read_is_said():
    listed = board({"lang_code": "en", "text": "Hello you"})
    assert "full=True reads" in repr(listed)
    assert "full=True reads them" in listed._repr_html_()
