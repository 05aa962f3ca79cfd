"""A quality table as text and as HTML: stable, short, and tame whatever strangers wrote."""

import json
import unicodedata
from pathlib import Path

import pandas as pd
import pytest
from bulk.planning import client, sandbox  # noqa: F401
from bulk.test_rendering import Page
from displayed import html_of

from chatkit.report import FEW

HERE = Path(__file__).parent


@pytest.fixture
def messy():
    columns = {
        "name": ["Ana\u200b Cruz", "JosÃ©", "علی\u202e", "MARIA CRUZ", None],
        "number": ["+1 202 555 0143", "2025550143", "911", "call 2025550145", "2025550199"],
        "country_code": [None, "+1", "+1", "+1", "+1"],
    }
    return pd.DataFrame(columns, index=pd.Index([2, 3, 4, 5, 6], name="row"))


def test_a_quality_table_and_what_was_fixed_as_text(client, messy):
    checked, fixed = (HERE / "cases/messy.txt").read_text("utf-8").split("\n=====\n")
    client.contacts.create(number="2025550199", country_code="+1", name="Bo")
    quality = client.contacts.check(messy)
    assert (repr(quality), f"{quality.fix()!r}\n") == (checked, fixed)
    assert repr(quality.fix([])) == "Nothing to fix: the frame is as it was."


def test_a_frame_in_order_is_one_line(client):
    quality = client.contacts.check(pd.DataFrame({"name": ["Ana", "Bo"]}))
    assert repr(quality) == "Checked 2 rows: nothing found."
    assert Page(html_of(quality)).text == "Checked 2 rows: nothing found."


def test_of_many_findings_some_of_each_code_are_shown(client):
    names = ["Ana  B"] * 50 + ["Ana\u200b"] * 50 + ["12"]
    message = repr(client.contacts.check(pd.DataFrame({"name": names})))
    assert "Checked 101 rows: 100 written differently, 1 needs you." in message
    assert "Need you: 1 no letters" in message
    assert "Written differently: 50 spaces, 50 invisible" in message
    lines = [line for line in message.split("\n") if line.startswith("  row")]
    assert len(lines) == FEW + 1
    assert [sum(word in line for line in lines) for word in ("spaces", "seen", "no letter")] == [
        *(4, 4, 1)
    ]
    assert f"… and {100 - FEW} more: .frame() has them all" in message


def test_html_says_what_the_text_says(client, messy):
    quality = client.contacts.check(messy)
    page = Page(html_of(quality))
    head = ["row", "column", "value", "reason", "suggestion"]
    assert page.rows.count(head) == 2
    assert ["3", "name", '"JosÃ©"', "letters with accents were read in a wrong encoding",
            '"José" *'] in page.rows  # fmt: skip
    assert "Checked 5 rows: 4 written differently, 3 need you." in page.text
    assert "fix() takes the 4 suggestions with *." in page.text
    page = Page(html_of(quality.fix()))
    assert page.rows[:2] == [
        ["row", "column", "why", "before", "after"],
        ["2", "name", "invisible", "Ana⟨U+200B⟩ Cruz", "Ana Cruz"],
    ]


def test_many_findings_are_folded(client):
    page = Page(html_of(client.contacts.check(pd.DataFrame({"name": ["Ana "] * 1000}))))
    assert page.tags.count("details") == 1
    assert page.tags.count("tbody") == 200
    assert "992 more, 192 of them here" in page.text
    assert "… and 800 more: .frame() has them all." in page.text


TAGS = {
    *("b", "bdi", "code", "del", "details", "div", "i", "ins", "li", "mark", "p", "strong"),
    *("style", "summary", "table", "tbody", "td", "th", "thead", "tr", "ul", "wbr"),
}


def assert_tame(quality):
    fixed = quality.fix()
    for page in (Page(html_of(quality)), Page(html_of(fixed))):
        assert {*page.tags} <= TAGS
        assert {name for name, _ in page.attributes} <= {"class", "dir", "scope", "style"}
    for message in (repr(quality), repr(fixed)):
        message.encode()
        kinds = {unicodedata.category(c) for c in message if c not in "\n\u200c\u200d"}
        assert kinds.isdisjoint(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))


def test_naughty_strings_are_tame_wherever_they_stand(client, shared):
    strings = json.loads((shared / "corpora/blns/blns.json").read_text("utf-8"))
    for n in range(0, len(strings), 40):
        some = strings[n : n + 40]
        frame = pd.DataFrame({"name": some, "number": some, "country_code": some}, index=some)
        assert_tame(client.contacts.check(frame))
