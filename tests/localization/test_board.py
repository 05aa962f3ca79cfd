from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from displayed import html_of
from hypothesis import given, settings
from hypothesis import strategies as st
from localization.contents import CONTENT, content, demo, frame  # noqa: F401

from chatkit.errors import InputError
from chatkit.localization.audit import check_contents
from chatkit.localization.board import STATES, BoardCell, ContentChange, board, parse_time

GERMAN = "Hallo {{1}}, deine Bestellung {{2}} ist fertig, komm heute vorbei und hol sie ab."


def german(**fields):
    return content(**{"lang_code": "de", "text": GERMAN, **fields})


def state(*contents, lang_code="de", **named):
    return board(frame(*contents), **named)["order_ready", lang_code]


def test_the_demo_account_is_summarized_on_a_board(demo):
    result = board(demo, codes=["order_ready", "goodbye"])
    assert result.languages == ("en", "ar", "de", "es", "fr", "hi", "ja", "pt_BR")
    assert result.codes[-1] == "goodbye"
    assert result.counts() == {
        "live": 22,
        "draft": 2,
        "stale": 2,
        "unknown": 0,
        "broken": 4,
        "missing": 26,
    }
    table = result.frame()
    assert table.loc["rental_reminder", "ar"] == "draft"
    assert table.loc["spring_offer", "fr"] == "stale"
    assert table.loc["login_code", "pt_BR"] == "broken"
    assert set(table.loc["goodbye"]) == {"missing"}
    assert len(result) == len(list(result)) == table.size == 56


@pytest.mark.parametrize(("code", "tables"), [("order_soon", 1), ("order_ready", 2)])
def test_as_text_languages_stand_beside_each_other_as_far_as_a_line_goes(code, tables):
    """22 languages take 88 of its 100 columns, and a code two more than its letters."""
    langs = [f"s{letter}" for letter in "abcdefghijklmnopqrstuv"]
    result = board(frame(*(content(lang_code=lang) for lang in langs), template=code))
    assert sum(line.startswith(code) for line in repr(result).splitlines()) == tables
    assert max(map(len, repr(result).splitlines())) <= 100


def test_live_is_what_is_no_draft():
    assert state(content(), german()) == BoardCell("order_ready", "de", "live")
    assert state(content(), german(is_draft=True)).state == "draft"
    assert state({"lang_code": "de", "text": "Hallo"}).state == "live"


def test_broken_goes_before_stale_and_that_before_draft():
    text = GERMAN.replace("{{2}}", "")
    variables = {"1": "Ana"}
    late = state(content(), german(text=text, variables=variables, is_draft=True))
    assert late.state == "stale"
    assert late.reasons == ("{{2}} of en is missing", "it is a draft")
    broken = state(content(), german(text=text, variables={}, is_draft=True))
    assert broken.state == "broken"
    assert broken.reason.startswith("sample missing: {{1}} has no sample; {{2}} of en is missing")


@pytest.mark.parametrize(
    "change",
    [
        {"headers": [{"type": "text", "text": "Hallo"}]},
        {"buttons": [{"type": "custom", "label": "Ja"}]},
    ],
)
def test_other_headers_or_buttons_make_a_translation_stale(change):
    assert state(content(), german(**change)).state == "stale"


def test_another_address_alone_does_not():
    site = {"type": "visit_website", "label": "Go", "value": "https://a.example/en"}
    own = {**site, "label": "Los", "value": "https://a.example/de"}
    assert state(content(buttons=[site]), german(buttons=[own])).state == "live"


def test_codes_are_joined_in_any_form_and_kept_as_they_are():
    result = board(frame(content(lang_code="en-US"), german(lang_code="de_at")), source="en_us")
    assert result.languages == ("en_US", "de_AT")
    assert result["order_ready", "en-us"].lang_code == "en-US"
    assert result["order_ready", "de_AT"].lang_code == "de_at"


def test_the_source_and_its_relatives_stand_first():
    contents = frame(*(content(lang_code=code) for code in ("ar", "en_US", "de", "en")))
    assert board(contents).languages == ("en", "en_US", "ar", "de")


def test_templates_and_languages_can_be_asked_for_that_nobody_has():
    result = board(frame(content()), codes=["another"], languages=["ja", "en-US"])
    assert result.frame().loc["another"].to_dict() == dict.fromkeys(
        ("en", "en_US", "ja"), "missing"
    )
    assert result["another", "ja"] == BoardCell("another", "ja", "missing")
    with pytest.raises(InputError, match="as lists"):
        board(frame(content()), codes="another")


def test_a_place_that_is_not_on_the_board_is_a_key_error():
    with pytest.raises(KeyError):
        board(frame(content()))["order_ready", "ja"]


def test_what_does_not_decide_on_states_is_looked_for_when_it_is_asked_for(monkeypatch):
    asked = []

    def counted(*args, **kwargs):
        asked.append(args)
        return check_contents(*args, **kwargs)

    monkeypatch.setattr("chatkit.localization.board.check_contents", counted)
    contents = frame(content(), german(text="Hallo  {{1}} und {{2}}, die Bestellung ist {{3}}."))
    result = board(contents.drop(columns="footer"), "en")
    assert result["order_ready", "de"].state == "broken"
    output = repr(result), html_of(result)
    assert not asked
    assert "are missing: footer" in output[0]
    assert "doubled spaces" in result.audit.counts()
    assert result.audit == check_contents(contents.drop(columns="footer"), "en")
    assert len(asked) == 1
    assert (repr(result), html_of(result)) == output


def test_cells_can_be_chosen_by_state():
    result = board(frame(content(), german(is_draft=True)), languages=["ja"])
    assert list(result.cells().state) == ["live", "draft", "missing"]
    assert list(result.cells("draft", "missing").lang_code) == ["de", "ja"]
    assert list(result.cells("draft").reason) == ["it is a draft"]
    assert result.cells("broken").empty


DAY = datetime(2026, 11, 1, tzinfo=UTC)


def changed(template="order_ready", lang="de", by="Amara", run="r1"):
    return ContentChange(template, lang, "2026-11-02T10:00:00Z", by, run, "update", "text")


def since(*changes):
    """A board of one template of two, of those that these changes are about."""
    contents = [content(template_code="a"), german(template_code="a", is_draft=True)]
    contents.append(content(template_code="b", lang_code="ja"))
    return board(contents, codes=["c"], since=DAY, changed=changes)


def test_since_a_day_a_board_has_the_templates_that_were_changed_and_their_states():
    result = since(changed("a"), changed("elsewhere"))
    assert (result.codes, result.languages) == (("a",), ("en", "de", "ja"))
    assert [cell.state for cell in result] == ["live", "draft", "missing"]
    assert len(result) == 3
    assert list(result.changes().template_code) == ["a"]
    assert since(changed("c")).codes == ("c",)
    assert len(since()) == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([], "Nothing that is recorded on this computer has changed a content since 2026-11-01."),
        ([changed("a")], "1 run changed 1 content since 2026-11-01."),
        ([changed("a"), changed("a")], "1 run changed 1 content since 2026-11-01."),
        (
            [changed("a"), changed("a", "en"), changed("a", run="r2")],
            "2 runs changed 2 contents since 2026-11-01.",
        ),
        ([changed("a", run="")], "1 single edit changed 1 content since 2026-11-01."),
        (
            [changed("a", run="")] * 2 + [changed("a", "ja")],
            "1 run and 2 single edits changed 2 contents since 2026-11-01.",
        ),
    ],
)
def test_runs_single_edits_and_contents_are_counted(changes, message):
    assert " ".join(repr(since(*changes)).split()).startswith(f"{message} ")


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ("2026-11-01", DAY),
        (date(2026, 11, 1), DAY),
        (datetime(2026, 11, 1), DAY),
        ("2026-11-01T02:00:00+02:00", DAY),
        (datetime(2026, 11, 1, 2, tzinfo=timezone(timedelta(hours=2))), DAY),
        ("2026-11-01T10:30", DAY.replace(hour=10, minute=30)),
        (datetime(2026, 11, 1, 10, 30), DAY.replace(hour=10, minute=30)),
    ],
)
def test_a_time_is_a_day_or_a_moment_and_utc_unless_it_says_otherwise(value, result):
    assert parse_time(value) == result


@pytest.mark.parametrize("value", ["yesterday", "", 20261101, None])
def test_what_is_no_time_is_refused(value):
    with pytest.raises(InputError, match="since= takes a date like"):
        parse_time(value)


def test_without_contents_there_is_an_empty_board():
    result = board([])
    assert result.frame().empty
    assert len(result) == 0
    assert set(result.counts().values()) == {0}


@settings(max_examples=60)
@given(st.lists(CONTENT, max_size=4))
def test_any_contents_make_a_board(contents):
    result = board(contents)
    assert sum(result.counts().values()) == len(result) == result.frame().size
    assert set(result.counts()) == set(STATES)
    assert repr(result)
    assert "<script" not in html_of(result)
