"""Tests of returned translations: the plan, and the rejected texts."""

import openpyxl
import pytest
from displayed import html_of

import chatkit
from chatkit.errors import InputError

NASTY = "<svg src=x onerror=alert(1)>\u202e"


@pytest.fixture
def returned(tmp_path):
    path = tmp_path / "texts.csv"
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
        client.templates.export(path, ["order_ready"], languages=["de"], only="all")
        head, _, tail = path.read_text("utf-8-sig").rpartition('"Larkspur Cycles"')
        text = f'{head}"{NASTY} {{{{7}}}}"{tail}'  # the footer
        spoilt = text.replace("Hallo {{1}}", f"Guten Tag {NASTY} {{{{1}}}}")
        path.write_text(spoilt, "utf-8")
        yield client.templates.read_translations(path)


def test_it_has_a_plan_and_two_tables(returned):
    assert set(returned.changed.columns) >= {"template_code", "lang_code", "field", "after"}
    assert set(returned.rejected.columns) >= {"template_code", "lang_code", "field", "reason"}
    assert {change.key for change in returned.plan.changes} == set(returned.changed.lang_code)
    assert len(returned.changed) == 1


def test_the_plan_tells_what_is_not_in_it(returned):
    count = len(returned.rejected)
    assert count
    [note] = [note for note in returned.plan.notes if "not taken" in note]
    assert note.startswith(f"{count} text{' was' if count == 1 else 's were'} not taken: ")


def test_files_that_came_back_as_they_went_out_are_said_to_be_so(tmp_path):
    path = tmp_path / "texts.po"
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
        client.templates.export(path, ["order_ready"], languages=["it"])
        path = tmp_path / "texts.it.po"
        plan = client.templates.read_translations(path).plan
        assert repr(plan).splitlines()[0] == "Nothing to do: 0 changes."
        assert "6 texts are unchanged" in repr(plan)
        lines = path.read_text("utf-8").splitlines()
        path.write_text("\n".join(f"#~ {n}" if n[:3] == "msg" else n for n in lines[20:]), "utf-8")
        assert "There is no text in the files." in repr(client.templates.read_translations(path))


def test_it_shows_both_and_nothing_of_a_stranger_is_run(returned):
    message = repr(returned)
    assert "1 text changed in 1 content" in message
    assert "rejected" in message
    assert repr(returned.plan) in message
    html = html_of(returned)
    assert "<svg" not in html
    assert "\u202e" not in html
    assert "\u202e" not in message
    assert "&lt;svg" in html


# --- languages ------------------------------------------------------------------------------

TEXT = "Ciao {{1}}, la tua {{2}} aspetta fino a {{3}} nella nostra officina in centro, a presto."


def planned(client, lang):
    row = {"template_code": "order_ready", "lang_code": lang, "text": TEXT, "is_draft": True}
    return client.templates.plan([row], skip_invalid=True)


@pytest.mark.parametrize(
    ("lang", "meant"),
    [
        ("en-GB", "Did you mean en_GB?"),
        ("deu", "Did you mean de?"),
        ("de_DE", "Did you mean de?"),
        ("fr_FR", "Did you mean fr?"),
        ("es-419", "Did you mean es?"),
        ("pt", "Did you mean pt_BR or pt_PT?"),
        ("zh", "Did you mean zh_CN, zh_HK or zh_TW?"),
        ("no", "Did you mean nb?"),
        ("xx", "languages() has all"),
    ],
)
def test_a_language_that_the_lookup_lacks_is_refused_with_the_one_that_is_meant(lang, meant):
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        [cell] = planned(client, lang).refused.itertuples()
        assert cell.column == "lang_code" and "lookup of languages does not have" in cell.reason
        assert meant in cell.next_step
        assert not planned(client, lang).changes


def test_a_language_that_the_account_has_not_used_is_told_once():
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        assert any("Italian is new" in note for note in planned(client, "it").notes)
        assert not any("is new" in note for note in planned(client, "it").notes)
        assert not any("is new" in note for note in planned(client, "de").notes)


def test_one_create_checks_its_language_too_and_tells_of_a_new_one_once(capsys):
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        contents = client.templates("order_ready")
        for lang, meant in (("en-GB", "Did you mean en_GB?"), ("xx", "languages() has all")):
            with pytest.raises(InputError, match="cannot be created") as caught:
                contents.create(lang_code=lang, text="Hello", is_draft=True)
            assert meant in str(caught.value)
        contents.create(lang_code="nl", text="Hoi", is_draft=True)
        assert "is new" not in capsys.readouterr().out, "nothing was read: nobody knows"
        client.templates.frame(["order_ready", "review_request"])
        for code, report in (("order_ready", True), ("review_request", False)):
            capsys.readouterr()
            client.templates(code).create(lang_code="it", text="Ciao", is_draft=True)
            assert ("Italian is new" in capsys.readouterr().out) == report


def test_languages_stand_in_the_same_order_everywhere(tmp_path):
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        order = ["en", "ar", "de", "es", "fr", "hi", "ja", "pt_BR"]
        code = ["order_ready"]
        one = client.templates("order_ready")
        assert one.frame().index.tolist() == one.frame(full=True).index.tolist() == order
        for full in (False, True):
            frame = client.templates.frame(["rental_reminder", *code], full=full)
            assert frame.index.get_level_values(0).unique().tolist() == ["rental_reminder", *code]
            assert frame.loc["order_ready"].index.tolist() == order
        assert list(client.templates.board(code).languages) == order
        queue = client.templates.queue(codes=code)
        assert list(dict.fromkeys(i.unit.lang_code for i in queue.items)) == order[1:]
        path = tmp_path / "texts.xlsx"
        assert client.templates.export(path, code, only="all").lang_code.tolist() == order[1:]
        assert openpyxl.load_workbook(path).sheetnames == order[1:]
        assert client.templates.accept(codes=code).lang_code.tolist() == order[1:]
        assert client.templates.plan(frame.assign(footer="x")).frame().key.tolist()[-8:] == order


def test_a_language_to_translate_into_is_written_as_the_api_does(tmp_path):
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        with pytest.raises(InputError, match="Did you mean en_GB"):
            client.templates.export(tmp_path / "a.csv", ["order_ready"], languages=["en-GB"])
        result = client.templates.export(tmp_path / "a.csv", ["order_ready"], only="all")
        board = client.templates.board(["order_ready"])
        assert result.lang_code.tolist() == list(board.languages[1:])


@pytest.mark.parametrize("lang", ["xx", "de_DE", "en-GB", "german"])
def test_a_language_that_the_lookup_lacks_is_refused_before_anybody_translates(lang, tmp_path):
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        path = tmp_path / "texts.csv"
        for ask in (
            lambda: client.templates.queue([lang, "de"], ["order_ready"]),
            lambda: client.templates.export(path, ["order_ready"], languages=[lang, "de"]),
        ):
            with pytest.raises(InputError, match="does not have these") as caught:
                ask()
            assert [each.value for each in caught.value.problems] == [f'"{lang}"']
            assert "lookup of languages" in caught.value.problems[0].reason
        assert not path.exists()


def test_a_service_that_takes_any_language_is_asked_for_it_and_the_lookup_is_told(capsys):
    profile = chatkit.ServiceProfile(unknown_language="accept")
    with (
        chatkit.Sandbox(profile=profile, seed="demo") as sandbox,
        chatkit.connect(sandbox) as client,
    ):
        assert {i.unit.lang_code for i in client.templates.queue("xx", ["order_ready"]).items} == {
            "xx"
        }
        assert '"xx" is not in the lookup of languages' in capsys.readouterr().out


def test_one_language_is_named_as_text_or_in_a_list(tmp_path):
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        code = ["order_ready"]
        for lang in ("it", ["it"]):
            queue = client.templates.queue(lang, code)
            assert {item.unit.lang_code for item in queue.items} == {"it"}
            path = tmp_path / "texts.csv"
            result = client.templates.export(path, code, languages=lang, replace=True)
            assert result.lang_code.tolist() == ["it"]
            assert len(client.templates.draft_missing(lang, code).changes) == 1


def test_languages_stand_in_the_order_of_another_source_too(tmp_path):
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        client.templates("order_ready").create(lang_code="de_AT", text="Servus", is_draft=True)
        code = ["order_ready"]
        order = list(client.templates.board(code, source="de").languages)
        assert order[:3] == ["de", "de_AT", "ar"]
        queue = client.templates.queue(codes=code, source="de")
        assert list(dict.fromkeys(i.unit.lang_code for i in queue.items)) == order[1:]
        result = client.templates.export(tmp_path / "a.csv", code, source="de", only="all")
        assert result.lang_code.tolist() == order[1:]
        assert client.templates.accept(codes=code, source="de").lang_code.tolist() == order[1:]


def test_a_source_language_that_no_template_has_is_asked_about(tmp_path):
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        code = ["order_ready"]
        for ask in (
            lambda: client.templates.accept(codes=code, source="zh"),
            lambda: client.templates.queue(codes=code, source="zh"),
            lambda: client.templates.export(tmp_path / "a.csv", code, source="zh"),
        ):
            with pytest.raises(InputError, match=r"content in 'zh' to translate from\.$"):
                ask()
        with pytest.raises(InputError, match="from; did you mean ja"):
            client.templates.accept(codes=code, source="jpn")
