"""All texts of a frame are collected, beside what they are in the other language."""

import pandas as pd
import pytest
from localization.contents import button
from localization.translator import ENGLISH, GERMAN, both, full

from chatkit.errors import InputError
from chatkit.localization.ledger import Ledger, accept_contents
from chatkit.localization.units import collect_units, select_states


def filter_by_state(units, only):
    return [unit for unit in units if unit.state in select_states(only)]


def positions(units):
    return {(each.lang_code, each.field) for each in units}


def test_every_text_stands_beside_its_translation():
    units, unplaced = collect_units(both(), "en", None)
    assert {each.field: (each.source, each.target) for each in units} == {
        "headers.0.text": ("Your bike is ready", "Dein Rad ist fertig"),
        "text": (ENGLISH["text"], GERMAN["text"]),
        "footer": ("Larkspur", "Larkspur"),
        "buttons.0.label": ("On my way", "Unterwegs"),
        "buttons.1.label": ("Track", "Verfolgen"),
    }
    assert unplaced == []
    assert len({each.stamp for each in units}) == len(units)


def test_a_comment_goes_out_although_no_translation_is_recorded():
    ledger = Ledger()
    ledger.comment(("order_ready", "de", "text"), "ask Léa")
    units, _ = collect_units(both(), "en", None, ledger)
    assert {each.comment for each in units if each.field == "text"} == {"ask Léa"}


def test_languages_are_written_as_the_contents_write_them():
    rows = full(ENGLISH, {**GERMAN, "lang_code": "pt_BR"})
    units, _ = collect_units(rows, "en_US", ["pt-BR", "pt_BR", "fr_CA", "en"])
    assert {each.lang_code for each in units} == {"pt_BR", "fr_CA"}
    other = pd.concat([rows, full(ENGLISH, template="other")])
    units, _ = collect_units(other, "en", ["pt-BR"])
    assert {(u.template_code, u.lang_code) for u in units} == {
        ("order_ready", "pt_BR"),
        ("other", "pt_BR"),
    }


def test_each_template_has_its_own_writing_and_the_one_that_was_asked_for_goes_first():
    under, dashed = ({**GERMAN, "lang_code": code} for code in ("pt_BR", "pt-BR"))
    rows = pd.concat([full(ENGLISH, under), full(ENGLISH, dashed, template="other")])
    units, _ = collect_units(rows, "en", ["pt_BR"])
    assert {(u.template_code, u.lang_code, u.target) for u in units if u.field == "text"} == {
        ("order_ready", "pt_BR", GERMAN["text"]),
        ("other", "pt-BR", GERMAN["text"]),
    }
    twice = pd.concat([full(ENGLISH, dashed, template="a"), full(ENGLISH, under, dashed)])
    units, _ = collect_units(twice, "en", ["pt_BR"])
    assert {u.lang_code for u in units} == {"pt-BR"}


def test_what_has_another_button_in_the_place_is_left_out_and_told():
    rows = full(ENGLISH, {**GERMAN, "buttons": [button("call_phone", "Anrufen")]})
    units, unplaced = collect_units(rows, "en", None)
    assert unplaced == ["order_ready de buttons.0.label"]
    assert ("de", "buttons.1.label") in positions(units)


def test_only_what_is_missing():
    rows = full(ENGLISH, {**GERMAN, "footer": "", "buttons": []})
    units, _ = collect_units(rows, "en", ["de", "fr"])
    missing = filter_by_state(units, "missing")
    assert {s for s in positions(missing) if s[0] == "de"} == {
        ("de", "footer"),
        ("de", "buttons.0.label"),
        ("de", "buttons.1.label"),
    }
    assert len([s for s in positions(missing) if s[0] == "fr"]) == 5
    assert filter_by_state(units, "all") == units


def test_only_takes_states() -> None:
    with pytest.raises(InputError, match="some of missing, stale"):
        select_states("some")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fr", None), "No template has a content in 'fr'"),
        (("en", ["german"]), "is not a language code: write en or en_US"),
    ],
)
def test_what_cannot_be_collected_is_said(arguments, message):
    with pytest.raises(InputError, match=message):
        collect_units(both(), *arguments)


def test_without_languages_those_that_are_there_stand_in_their_order():
    rows = full(ENGLISH, *({**GERMAN, "lang_code": code} for code in ("nl", "de", "fr")))
    units, _ = collect_units(rows, "en", None)
    assert list(dict.fromkeys(unit.lang_code for unit in units)) == ["de", "fr", "nl"]
    units, _ = collect_units(rows, "en", ["nl", "de", "nl"])
    assert list(dict.fromkeys(unit.lang_code for unit in units)) == ["nl", "de"]
    twice = pd.concat([rows, full({**ENGLISH, "lang_code": "de"}, template="other")])
    units, _ = collect_units(twice, "de", None)
    assert {unit.lang_code for unit in units} == {"en", "fr", "nl"}


def test_the_state_of_a_text_is_what_the_ledger_knows():
    german = {**GERMAN, "buttons": [GERMAN["buttons"][0], {**GERMAN["buttons"][1], "label": " "}]}
    ledger = accept_contents(full(ENGLISH, german), None, "en", Ledger())[1]
    now = full({**ENGLISH, "text": f"{ENGLISH['text']} Bye."}, {**german, "headers": [
        {"type": "text", "text": "Dein Rad"}]})  # fmt: skip
    units, _ = collect_units(now, "en", None, ledger)
    assert {unit.field: (unit.state, unit.source_before) for unit in units} == {
        "headers.0.text": ("unknown", ""),
        "text": ("stale", ENGLISH["text"]),
        "footer": ("live", ""),
        "buttons.0.label": ("live", ""),
        "buttons.1.label": ("missing", ""),
    }
    assert positions(filter_by_state(units, ["stale", "missing"])) == {
        ("de", "text"),
        ("de", "buttons.1.label"),
    }
    assert len(filter_by_state(units, ["live"])) == 2
    draft = full(ENGLISH, {**german, "is_draft": True})
    units, _ = collect_units(draft, "en", None, ledger)
    assert {unit.state for unit in units} == {"draft", "missing"}
    unknown = [unit.state for unit in collect_units(full(ENGLISH, german), "en", None)[0]]
    assert unknown == ["unknown", "unknown", "live", "unknown", "missing"], "the same in both"
    with pytest.raises(InputError, match="only= takes"):
        filter_by_state(units, [])
    with pytest.raises(InputError, match="only= takes"):
        filter_by_state(units, ["live", "all"])
