"""The message templates of the account: read, checked, edited and translated together."""

import pytest
from localization.contents import DEMO
from profiled import client, sandbox

import chatkit
from chatkit.bulk.plan import get_refused_cells
from chatkit.errors import InputError

__all__ = ["client", "sandbox"]

CALL = {"type": "call_phone", "label": "Call", "value": "2025550143", "country_code": "+1"}
SHOP = {"type": "visit_website", "label": "Old shop", "value": "https://old.example/{{1}}"}
ENGLISH = {
    "text": "Hello {{1}}, your old bike {{2}} is ready for you today.",
    "variables": {"1": "Ana", "2": "A-17"},
    "footer": "Old Larkspur",
    "is_draft": False,
    "buttons": [SHOP | {"url_type": "dynamic", "dynamic_url": "https://old.example/7"}, CALL],
}
WELCOME = ENGLISH | {"text": "Welcome {{1}}, your old bike {{2}} is waiting for you."}
CODES = ["order_ready", "welcome"]


def fill(client):
    client.templates("order_ready").create(lang_code="en", **ENGLISH)
    client.templates("welcome").create(lang_code="en", **WELCOME)
    german = ENGLISH | {"text": "Hallo {{1}}, dein altes Rad {{2}} ist für dich fertig."}
    client.templates("welcome").create(lang_code="de", **german)


@pytest.fixture
def demo(capsys):
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
        client.templates.remember(DEMO)
        capsys.readouterr()
        yield client


# --- codes ----------------------------------------------------------------------------------


METHODS = {
    "frame": lambda templates: len(templates.frame(full=True)),
    "check": lambda templates: templates.check().checked,
    "board": lambda templates: templates.board().codes,
    "replace": lambda templates: templates.replace("{{1}},", "{{1}}:").changes,
    "export": lambda templates: len(templates.export("texts.xlsx", only="all")),
}


def test_every_method_takes_the_codes_that_are_remembered(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
        for use in METHODS.values():
            with pytest.raises(
                InputError, match=r"(?s)no list of them.*templates.remember\(codes\)"
            ):
                use(client.templates)
        client.templates.remember(DEMO)
        assert capsys.readouterr().out.splitlines()[-1] == (
            "This client remembers 6 template codes until the kernel ends: "
            "the sandbox keeps no settings."
        )
        assert client.templates.codes == DEMO
        assert all(use(client.templates) for use in METHODS.values())
        codes = [*client.templates.frame().index.get_level_values(0)]
        assert tuple(dict.fromkeys(codes)) == client.templates.board().codes == DEMO
        (tmp_path / "mine.txt").write_text("login_code\norder_ready\n")
        client.templates.remember(str(tmp_path / "mine.txt"))
        assert client.templates.codes == ("login_code", "order_ready")
        client.templates.remember([])
        assert client.templates.codes == ()


# --- board and check ------------------------------------------------------------------------


def test_the_board_has_a_row_for_each_code_also_for_one_without_contents(client):
    fill(client)
    board = client.templates.board([*CODES, "nothing"], languages=["ja"])
    assert board.codes == (*CODES, "nothing")
    assert board.languages == ("en", "de", "ja")
    states = board.frame()
    assert states.loc["welcome"].tolist() == ["live", "live", "missing"], board.audit
    assert states.loc["order_ready"].tolist() == ["live", "missing", "missing"]
    assert states.loc["nothing"].tolist() == ["missing"] * 3


def test_a_check_reads_all_fields_of_all_contents_or_takes_a_frame_as_it_is(demo):
    audit, frame = demo.templates.check(), demo.templates.frame(full=True)
    assert not audit.unseen
    assert set(audit.checked) == set(frame.index)
    assert audit == demo.templates.check(frame)
    frame.loc[("order_ready", "de"), "text"] = "Hallo {{name}}, deine Bestellung ist da."
    [error] = demo.templates.check(frame).errors
    assert (error.code, error.content) == ("placeholder name", "order_ready de")
    assert demo.templates.board(source="de").languages[0] == "de"
    assert demo.templates.check(source="xx").of(code="no source")


# --- plans ----------------------------------------------------------------------------------


def test_a_text_is_replaced_in_all_templates_and_languages_and_comes_back(client):
    fill(client)
    plan = client.templates.replace("old", "new", CODES)
    assert len(plan) == 3
    assert plan.notes[0] == '"old" becomes "new": 8 times in 3 contents of 2 templates.'
    assert (plan.apply(many=True).state.isin(["applied", "unchanged"])).all()
    for code, lang in (("order_ready", "en"), ("welcome", "en"), ("welcome", "de")):
        live = client.templates(code).get(lang)
        assert live.buttons[0]["value"] == "https://new.example/{{1}}"
        assert live.buttons[1]["value"] == CALL["value"]
        assert live.variables == ENGLISH["variables"]
    assert "new bike {{2}}" in client.templates("welcome").get("en").text
    assert not client.templates.replace("old", "new", CODES).changes


def test_what_the_platform_refuses_gets_live_when_one_says_so_and_is_undone(demo):
    place = ("order_ready", "en")
    frame = demo.templates.frame(full=True)
    frame.loc[place, "footer"] = "x" * 61
    [cell] = get_refused_cells(demo.templates.plan(frame))
    assert (cell.row, cell.column) == (place, "footer")
    plan, draft = demo.templates.plan(frame, broken=True), frame.assign(is_draft=True)
    assert len(plan) == 1
    for notes in (plan.notes, demo.templates.plan(draft).notes):
        assert any(n.startswith("order_ready/en has ") and "length" in n for n in notes)
    assert not get_refused_cells(demo.templates.plan(draft))
    result = plan.apply(many=True)
    assert result.state.tolist() == ["applied"]
    undo = chatkit.undo(result)
    assert not get_refused_cells(undo)
    again = chatkit.undo(undo.apply(many=True))  # live with it once more
    assert again.counts["update"] == 1 and not get_refused_cells(again)


# --- translators ----------------------------------------------------------------------------


def test_a_template_that_a_translator_renamed_is_rejected_and_not_an_error(demo, tmp_path):
    path = tmp_path / "texts.csv"
    demo.templates.export(path, ["order_ready"], languages=["nl"])
    text = path.read_text("utf-8").replace("order_ready", "commande_prete")
    path.write_text(text, "utf-8")
    returned = demo.templates.read_translations(path)
    assert not len(returned.plan)
