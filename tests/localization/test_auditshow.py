from __future__ import annotations

from displayed import html_of
from localization.contents import button, content, frame

from chatkit.localization.audit import (
    check_contents,
    merge_languages,
)

EVIL = "<img src=x onerror=alert(1)>"


def test_nothing_found_is_said_in_a_line():
    assert repr(check_contents(content())) == "1 content: nothing found."
    assert repr(check_contents([])) == "0 contents: nothing found."


def test_an_audit_reads_in_groups_the_gravest_first():
    result = check_contents(
        frame(
            content(footer="Ask {{1}} now", buttons=[button("x")]),
            content(
                lang_code="de", text="Hallo {{1}} {{2}}, bis bald und komm gut heim.", footer=""
            ),
        )
    )
    assert repr(result) == (
        "1 template, 2 contents: 1 error, 3 warnings, 1 note. 2 contents would be refused.\n"
        "\n"
        "✗ error: button type, 1 (API document, Template content)\n"
        '    order_ready en, buttons.0.type: "x" is not a type of button.\n'
        "    -> It is one of custom, visit_website, call_phone, copy_offer_code, view_catalog.\n"
        "\n"
        "! warning, refused: footer placeholder, 1 (platform, template components (2025-11-21); its"
        " error\n2388073)\n"
        "    order_ready en, footer at 4: {{1}} is in the footer.\n"
        "    -> A footer takes no placeholder: move it into the text.\n"
        "\n"
        "! warning, refused: placeholder adjacent, 1 (platform, template status webhook)\n"
        "    order_ready de, text at 6: nothing stands between {{1}} and {{2}}.\n"
        "    -> Put a word between them.\n"
        "\n"
        "! warning: buttons differ, 1 (messages are sent with the same buttons in every language)\n"
        "    order_ready de, buttons: it has 0 buttons, that in en has 1.\n"
        "    -> Messages are sent with the same buttons in every language.\n"
        "\n"
        "i note: footer differs, 1 (good practice, no rule of the platform)\n"
        "    order_ready de, footer: it has no footer, that in en has one."
    )


def many_languages():
    codes = ["en", "de", "es", "fr", "it", "nl", "pl", "sv", "da", "fi", "tr"]
    return check_contents(frame(*(content(lang_code=code, footer="{{1}}") for code in codes)))


def test_what_is_said_alike_of_many_languages_is_said_once():
    result = many_languages().of(code="footer placeholder")
    (line,) = merge_languages(result)
    assert line.language_list == "en, de, es, fr, it, nl, pl, sv and 3 more"
    assert repr(result).count("is in the footer") == 1


def test_long_groups_are_cut_and_their_rest_is_counted():
    result = check_contents(
        [content(lang_code="en", footer="{{1}}", template_code=f"t{n}") for n in range(300)]
    )
    group = result.of(code="footer placeholder")
    assert "… and 292 more: audit.frame() has them all" in repr(group)
    html = html_of(group)
    assert html.count("is in the footer") == 200
    assert "<details>" in html
    assert len(html) < 100_000


def test_html_escapes_what_strangers_wrote_and_spells_out_what_is_not_seen():
    result = check_contents(
        content(
            template_code=EVIL,
            lang_code="de",
            buttons=[{"type": EVIL}, button("call_phone", value=f"\u202e{EVIL}")],
            headers=[{"type": EVIL}],
        )
    )
    html = html_of(result)
    assert "<img" not in html
    assert "&lt;img" in html
    assert "\u202e" not in html
    assert "⟨U+202E⟩" in html
    assert "tex2jax_ignore" in html


def test_html_can_be_read_without_its_colours():
    html = html_of(check_contents(content(footer="{{1}}")))
    assert "warning, refused: footer placeholder, 1" in html
    assert 'scope="col"' in html
    assert "var(--jp-" in html


def test_fields_that_were_not_read_are_named():
    result = check_contents({"lang_code": "en", "text": "Hello you, how do you do?"})
    assert "are missing: variables, footer, headers, buttons." in repr(result)
    assert "are missing" in html_of(result)
