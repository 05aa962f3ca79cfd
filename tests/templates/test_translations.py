"""Tests of returned translations: the plan, and the rejected texts."""

from collections.abc import Sequence

import openpyxl
import pytest
from displayed import html_of

import chatkit
from chatkit.errors import InputError

NASTY = "<svg src=x onerror=alert(1)>\u202e"


@pytest.fixture
def client():
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        yield client


def test_translations_show_their_plan_and_what_is_not_in_it_and_run_nothing(client, tmp_path):
    path = tmp_path / "texts.csv"
    client.templates.export(path, ["order_ready"], languages=["de"], only="all")
    head, _, tail = path.read_text("utf-8-sig").rpartition('"Larkspur Cycles"')
    text = f'{head}"{NASTY} {{{{7}}}}"{tail}'  # the footer
    path.write_text(text.replace("Hallo {{1}}", f"Guten Tag {NASTY} {{{{1}}}}"), "utf-8")
    returned = client.templates.read_translations(path)
    names = {"template_code", "lang_code", "field"}
    assert set(returned.changed.columns) >= names | {"after"}
    assert set(returned.rejected.columns) >= names | {"reason"}
    assert {change.key for change in returned.plan.changes} == set(returned.changed.lang_code)
    assert len(returned.changed) == 1
    count = len(returned.rejected)
    assert count
    [note] = [note for note in returned.plan.notes if "not taken" in note]
    assert note.startswith(f"{count} text{' was' if count == 1 else 's were'} not taken: ")
    message, html = repr(returned), html_of(returned)
    assert "1 text changed in 1 content" in message and "rejected" in message
    assert repr(returned.plan) in message
    assert "<svg" not in html and "\u202e" not in html + message and "&lt;svg" in html


def test_files_that_came_back_as_they_went_out_are_said_to_be_so(client, tmp_path):
    client.templates.export(tmp_path / "texts.po", ["order_ready"], languages=["it"])
    path = tmp_path / "texts.it.po"
    message = repr(client.templates.read_translations(path).plan)
    assert message.splitlines()[0] == "Nothing to do: 0 changes."
    assert "no new translation (unchanged texts: 6)" in message
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join(f"#~ {n}" if n[:3] == "msg" else n for n in lines[20:]), "utf-8")
    assert "(unchanged texts: 0)" in repr(client.templates.read_translations(path))


# --- languages ------------------------------------------------------------------------------

TEXT = "Ciao {{1}}, la tua {{2}} aspetta fino a {{3}} nella nostra officina in centro, a presto."


def row(code, lang):
    return {"template_code": code, "lang_code": lang, "text": TEXT, "is_draft": True}


def planned(client, lang):
    return client.templates.plan([row("order_ready", lang)], skip_invalid=True)


CODE = ["order_ready"]
#: What is proposed in place of a language that the lookup does not have.
MEANT = {
    "en-GB": "Did you mean en_GB?", "deu": "Did you mean de?", "de_DE": "Did you mean de?",
    "fr_FR": "Did you mean fr?", "es-419": "Did you mean es?", "no": "Did you mean nb?",
    "pt": "Did you mean pt_BR or pt_PT?", "zh": "Did you mean zh_CN, zh_HK or zh_TW?",
    "xx": "languages() has all", "german": "Did you mean de?",
}  # fmt: skip


def test_a_language_that_the_lookup_lacks_is_refused_with_the_one_that_is_meant(client, tmp_path):
    path = tmp_path / "texts.csv"
    for lang, meant in MEANT.items():
        plan = planned(client, lang)
        [cell] = plan.refused.itertuples()
        assert not plan.changes
        assert cell.column == "lang_code" and "lookup of languages does not have" in cell.reason
        assert meant in cell.next_step
        with pytest.raises(InputError, match="cannot be created") as caught:
            client.templates("order_ready").create(lang_code=lang, text="Hello", is_draft=True)
        assert meant in str(caught.value)
        for use in (
            lambda codes: client.templates.queue(codes, CODE),
            lambda codes: client.templates.export(path, CODE, languages=codes),
        ):
            with pytest.raises(InputError, match="does not have these") as caught:
                use([lang, "de"])
            [problem] = caught.value.problems
            assert problem.value == f'"{lang}"'
            assert "lookup of languages" in problem.reason and meant in problem.reason
    assert not path.exists()


def test_a_plan_tells_once_that_no_content_that_was_read_is_in_a_language(client):
    client.templates.frame(["order_ready"])
    codes = ["order_ready", "rental_reminder"]
    for lang, notes in (("it", 1), ("de", 0)):
        plan = client.templates.plan([row(code, lang) for code in codes], skip_invalid=True)
        assert sum("Italian is new" in note for note in plan.notes) == notes


def in_order(frame_or_queue):
    """Return the languages in their order, each once."""
    langs = getattr(frame_or_queue, "lang_code", ())
    items = getattr(frame_or_queue, "items", ())
    texts = [each.unit.lang_code for each in items] if isinstance(items, Sequence) else langs
    return list(dict.fromkeys(texts))


@pytest.mark.parametrize("source", ["en", "de"])
def test_languages_stand_in_the_same_order_everywhere(client, tmp_path, source):
    client.templates("order_ready").create(lang_code="de_AT", text="Servus", is_draft=True)
    order = ["en", "ar", "de", "de_AT", "es", "fr", "hi", "ja", "pt_BR"]
    one = client.templates("order_ready")
    assert one.frame().index.tolist() == one.frame(full=True).index.tolist() == order
    for full in (False, True):
        frame = client.templates.frame(["rental_reminder", *CODE], full=full)
        assert frame.index.get_level_values(0).unique().tolist() == ["rental_reminder", *CODE]
        assert frame.loc["order_ready"].index.tolist() == order
    assert client.templates.plan(frame.assign(footer="x")).frame().key.tolist()[-9:] == order
    if source == "de":
        order = ["de", "de_AT", "ar", "en", *order[4:]]
    assert list(client.templates.board(CODE, source=source).languages) == order
    path = tmp_path / "texts.xlsx"
    for table in (
        client.templates.queue(codes=CODE, source=source),
        client.templates.export(path, CODE, source=source, only="all"),
        client.templates.accept(codes=CODE, source=source),
    ):
        assert in_order(table) == order[1:]
    assert openpyxl.load_workbook(path).sheetnames == order[1:]


def test_a_service_that_takes_any_language_is_asked_for_it_and_the_lookup_is_told(capsys):
    profile = chatkit.ServiceProfile(unknown_language="accept")
    with (
        chatkit.Sandbox(profile=profile, seed="demo") as sandbox,
        chatkit.connect(sandbox) as client,
    ):
        assert in_order(client.templates.queue("xx", CODE)) == ["xx"]
    assert '"xx" is not in the lookup of languages' in capsys.readouterr().out


def test_a_source_language_that_no_template_has_is_asked_about(client, tmp_path):
    for use in (
        lambda: client.templates.accept(codes=CODE, source="zh"),
        lambda: client.templates.queue(codes=CODE, source="zh"),
        lambda: client.templates.export(tmp_path / "a.csv", CODE, source="zh"),
    ):
        with pytest.raises(InputError, match=r"content in 'zh' to translate from\.$"):
            use()
    with pytest.raises(InputError, match="from; did you mean ja"):
        client.templates.accept(codes=CODE, source="jpn")
