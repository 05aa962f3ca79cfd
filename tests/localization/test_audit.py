"""Audits: all findings in contents, compared across languages, and as they are shown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd
import pytest
from displayed import html_of
from hypothesis import given, settings
from hypothesis import strategies as st
from localization.contents import CONTENT, button, content, demo, frame, naughty  # noqa: F401

from chatkit.errors import InputError
from chatkit.localization.audit import Audit, check_contents, merge_languages, review_contents
from chatkit.localization.checks import RULES, STRUCTURE, ContentFinding, Flaw
from chatkit.localization.content import Contents, read_entries

EVIL = "<img src=x onerror=alert(1)>"


def test_the_faults_of_the_demo_account_are_found_and_no_others(demo):
    before = json.dumps(demo.reset_index().to_dict("records"), default=str)
    result = check_contents(demo)
    assert json.dumps(demo.reset_index().to_dict("records"), default=str) == before
    assert result.ok
    assert {(each.template_code, each.lang_code, each.code) for each in result.warnings} == {
        ("appointment_confirmed", "de", "length"),
        ("spring_offer", "es", "placeholder edge"),
        ("spring_offer", "fr", "buttons differ"),
        ("login_code", "pt_BR", "code expiry"),
        ("review_request", "ja", "sample missing"),
        ("rental_reminder", "fr", "placeholders differ"),
        ("rental_reminder", "fr", "sample surplus"),
        *(("spring_offer", lang, "untranslated") for lang in ("es", "fr", "pt_BR")),
    }
    assert len(result.checked) == len(demo)


def test_findings_are_chosen_by_what_they_are():
    contents = frame(content(text="{{1}}"), content(lang_code="de", headers=[{"type": "x"}]))
    result = check_contents(contents)
    chosen = {"error": result.errors, "warning": result.warnings, "note": result.notes}
    for severity, some in chosen.items():
        assert all(each.severity == severity for each in some)
    assert sum(map(len, chosen.values())) == sum(result.counts().values()) == len(result)
    assert not result.ok and all(each.refused for each in result.refused)
    french = content(lang_code="fr", text="Bonjour à vous tous, bienvenue chez nous", variables={})
    german = content(lang_code="de")
    assert [each.code for each in check_contents([german, french])] == ["no source"]
    assert "placeholders differ" in check_contents([german, french], source="de").counts()
    assert [each.code for each in result.of("order_ready", "DE", "header type")] == ["header type"]
    assert not len(result.of("another"))
    assert isinstance(result[:1], Audit) and result[0] == result[:1][0]
    assert result == check_contents(contents)
    assert result not in (list(result), result[:1])


def test_the_frame_has_a_row_for_each_finding_with_its_source():
    table = check_contents(frame(content(footer="{{1}}"))).frame()
    assert list(table.code) == ["footer placeholder"]
    assert (table.position.dtype, table.refused.dtype) == ("Int64", bool)
    assert table.source.str.contains("2388073").all()
    assert check_contents(content()).frame().empty
    with pytest.raises(InputError, match="cannot be read as contents"):
        check_contents(5)


# --- one finding --------------------------------------------------------------------------------


def finding(template="", lang="", position=None, message="it is\u202e long", hint="Cut it."):
    return ContentFinding(
        *("length", "warning", "/text", message, hint),
        template_code=template, lang_code=lang, position=position,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("each", "text"),
    [
        (finding("a", "de", 3), "warning length (a de, text at 3): it is⟨U+202E⟩ long. Cut it."),
        (finding(message="long", hint=""), "warning length (text): long."),
    ],
)
def test_a_finding_reads_as_a_sentence_and_hides_nothing(each, text):
    assert str(each) == text


def test_a_flaw_becomes_a_finding_in_its_content():
    (entry,) = read_entries({**content(), "template_code": "hello"})
    first = Flaw("placeholder edge", "text", "it stands first", "Move it.", 0).to_finding(entry)
    assert (first.content, first.place, first.severity) == ("hello en", "text at 0", "warning")
    assert first.refused and "platform, template review" in first.source
    second = Flaw("garbled", "footer", "it is garbled", severity="note").to_finding(entry)
    assert (second.severity, second.refused, second.position) == ("note", False, None)


# --- whatever stands in the cells ---------------------------------------------------------------


def deciding(result: Iterable[ContentFinding]) -> list[ContentFinding]:
    """Return the findings that decide on the states of contents."""
    return [each for each in result if each.refused or each.code in STRUCTURE]


def for_states(contents: Contents) -> Iterator[ContentFinding]:
    """Return the findings of a board."""
    for _, _, result in review_contents(read_entries(contents), "en", ("content", "state")):
        yield from result


@given(st.lists(CONTENT, max_size=4))
@settings(max_examples=60)
def test_any_contents_are_checked_and_shown_and_a_board_finds_the_same(contents):
    result = check_contents(contents)
    assert deciding(for_states(contents)) == deciding(result)
    assert repr(result) == repr(check_contents(contents))
    assert "<script" not in html_of(result)
    assert len(result.frame()) == len(result)
    assert all(each.source and str(each) for each in result)
    if contents:
        again = check_contents(pd.DataFrame(contents, dtype=object))
        assert len(again.checked) == len(contents)
        repr(again)


def test_naughty_strings_in_every_place_are_checked_and_shown(demo, shared: Path):
    texts = [*naughty(shared), "a \ud800", "Ã¤ \ud800"]
    contents = [
        content(
            template_code=text,
            text=text,
            footer=text,
            lang_code=("en", "de", "ar", text)[n % 4],
            variables={"1": text, text: text},
            headers=[{"type": "text", "text": text}, {"type": text, "link": text}],
            buttons=[
                button("custom", text),
                button("visit_website", text, value=text),
                {"type": text},
            ],
            auth_apps=[{"package_name": text, "signature_hash": text}],
            auth_delivery_method=text,
        )
        for n, text in enumerate(texts)
    ]
    result = check_contents(contents)
    assert deciding(for_states(contents)) == deciding(result) != []
    assert deciding(for_states(demo)) == deciding(check_contents(demo)) != []
    output = html_of(result) + "".join(html_of(check_contents(one)) for one in contents[:60])
    for mark in ("<script", "<img", "<svg", "javascript:alert(1)>", "\u202e", "\x07"):
        assert mark not in output
    assert "\u202e" not in repr(result)
    assert {each.code for each in result} & RULES.keys()


@pytest.mark.parametrize(
    "text",
    [
        *("{" * 50_000, "[" * 50_000, "[b]" * 16_000, " **1" * 12_000, " *1" * 16_000),
        *("{{1}} " * 8_000, "a" * 50_000, "*a" * 25_000, "x@" * 25_000, " " * 50_000),
        *("👍\u200d" * 9_000, "é’" * 20_000, "a. " * 20_000),
    ],
)
def test_long_texts_are_checked_in_a_time_that_grows_no_faster_than_they(text):
    """A rule that is quadratic would take minutes here, and the run would be stopped."""
    both = [content(text=text, footer=text), content(lang_code="de", text=text, footer=text)]
    assert "length" in check_contents(both).counts()


# --- what is shown ------------------------------------------------------------------------------

GROUPED = """\
1 template, 2 contents: 1 error, 3 warnings, 1 note. 2 contents would be refused.

✗ error: button type, 1 (API document, Template content)
    order_ready en, buttons.0.type: "x" is not a type of button.
    -> It is one of custom, visit_website, call_phone, copy_offer_code, view_catalog.

! warning, refused: footer placeholder, 1 (platform, template components (2025-11-21); its error
2388073)
    order_ready en, footer at 4: {{1}} is in the footer.
    -> A footer takes no placeholder: move it into the text.

! warning, refused: placeholder adjacent, 1 (platform, template status webhook)
    order_ready de, text at 6: nothing stands between {{1}} and {{2}}.
    -> Put a word between them.

! warning: buttons differ, 1 (messages are sent with the same buttons in every language)
    order_ready de, buttons: it has 0 buttons, that in en has 1.
    -> Messages are sent with the same buttons in every language.

i note: footer differs, 1 (good practice, no rule of the platform)
    order_ready de, footer: it has no footer, that in en has one."""
PARTIAL = """\
1 content: nothing found.

Not checked where they are missing: variables, footer, headers, buttons. full=True reads them."""


@pytest.mark.parametrize(
    ("contents", "text"),
    [
        (content(), "1 content: nothing found."),
        ([], "0 contents: nothing found."),
        (
            frame(
                content(footer="Ask {{1}} now", buttons=[button("x")]),
                content(
                    lang_code="de", text="Hallo {{1}} {{2}}, bis bald und komm gut heim.", footer=""
                ),
            ),
            GROUPED,
        ),
        ({"lang_code": "en", "text": "Hello you, how do you do?"}, PARTIAL),
    ],
)
def test_an_audit_reads_in_groups_the_gravest_first(contents, text):
    result = check_contents(contents)
    assert repr(result) == text
    assert ("are missing" in html_of(result)) == ("are missing" in text)


def test_what_is_alike_in_many_languages_is_shown_once_and_long_groups_are_cut():
    langs = ["en", "de", "es", "fr", "it", "nl", "pl", "sv", "da", "fi", "tr"]
    result = check_contents(frame(*(content(lang_code=code, footer="{{1}}") for code in langs)))
    result = result.of(code="footer placeholder")
    (line,) = merge_languages(result)
    assert line.language_list == "en, de, es, fr, it, nl, pl, sv and 3 more"
    assert repr(result).count("is in the footer") == 1
    group = check_contents(
        [content(lang_code="en", footer="{{1}}", template_code=f"t{n}") for n in range(300)]
    ).of(code="footer placeholder")
    assert "… and 292 more: audit.frame() has them all" in repr(group)
    html = html_of(group)
    assert html.count("is in the footer") == 200
    assert "<details>" in html and len(html) < 100_000


def test_html_escapes_what_strangers_wrote_and_can_be_read_without_its_colours():
    buttons = [{"type": EVIL}, button("call_phone", value=f"\u202e{EVIL}")]
    html = html_of(
        check_contents(
            content(template_code=EVIL, lang_code="de", buttons=buttons, headers=[{"type": EVIL}])
        )
    )
    assert "<img" not in html and "&lt;img" in html
    assert "\u202e" not in html and "⟨U+202E⟩" in html
    assert "tex2jax_ignore" in html
    html = html_of(check_contents(content(footer="{{1}}")))
    assert "warning, refused: footer placeholder, 1" in html
    assert 'scope="col"' in html and "var(--jp-" in html
