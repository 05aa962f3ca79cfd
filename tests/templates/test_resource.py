"""The message templates of the account: read, checked, edited and translated together."""

import csv

import pytest
from bulk.planning import account, call
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
def usual():
    """A client of a service as its API document has it, where nothing else matters."""
    with account() as (_, client):
        fill(client)
        yield client


@pytest.fixture
def demo(capsys):
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
        client.templates.remember(DEMO)
        capsys.readouterr()
        yield client


# --- codes ----------------------------------------------------------------------------------


def test_codes_are_remembered_for_every_method_and_it_says_for_how_long(tmp_path, capsys):
    with chatkit.connect(chatkit.Sandbox(seed="demo")) as client:
        assert client.templates.codes == ()
        client.templates.remember(DEMO)
        output = capsys.readouterr().out.splitlines()[-1]
        assert output == (
            "This client remembers 6 template codes until the kernel ends: "
            "the sandbox keeps no settings."
        )
        assert client.templates.codes == DEMO
        everything = client.templates.frame(DEMO, full=True)
        assert client.templates.frame(full=True).equals(everything)
        assert client.templates.check() == client.templates.check(DEMO)
        assert client.templates.board().codes == DEMO
        assert client.templates.replace("{{1}},", "{{1}}:").changes
        assert client.templates.draft_missing(["nl"]).changes
        assert len(client.templates.export(tmp_path / "texts.xlsx", only="all"))
        client.templates.remember([])
        assert client.templates.codes == ()


@pytest.mark.parametrize(
    "use",
    [
        lambda templates: templates.frame(),
        lambda templates: templates.frame([]),
        lambda templates: templates.board(),
        lambda templates: templates.check(),
        lambda templates: templates.replace("a", "b"),
        lambda templates: templates.draft_missing(["de"]),
        lambda templates: templates.export("texts.csv"),
    ],
)
def test_without_codes_every_method_says_the_three_ways(use):
    with account() as (_, client), pytest.raises(InputError, match="no list of them") as caught:
        use(client.templates)
    assert "templates.remember(codes)" in str(caught.value)


def test_codes_come_from_a_file_too(demo, tmp_path):
    (tmp_path / "mine.txt").write_text("login_code\norder_ready\n")
    frame = demo.templates.frame(tmp_path / "mine.txt")
    assert list(dict.fromkeys(frame.index.get_level_values(0))) == ["login_code", "order_ready"]
    demo.templates.remember(str(tmp_path / "mine.txt"))
    assert demo.templates.codes == ("login_code", "order_ready")


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


def test_a_check_reads_all_fields_of_all_contents(demo):
    audit = demo.templates.check()
    assert not audit.unseen
    assert set(audit.checked) == set(demo.templates.frame().index)
    assert audit == demo.templates.check(demo.templates.frame(full=True))


def test_a_frame_is_checked_as_it_is_before_it_is_planned(demo):
    frame = demo.templates.frame(full=True)
    frame.loc[("order_ready", "de"), "text"] = "Hallo {{name}}, deine Bestellung ist da."
    [error] = demo.templates.check(frame).errors
    assert (error.code, error.content) == ("placeholder name", "order_ready de")


def test_the_source_language_may_be_another(demo):
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


def test_the_number_of_every_button_that_calls_is_an_edit_of_the_frame(usual):
    client = usual
    frame = client.templates.frame(CODES, full=True)
    for buttons in frame.buttons:
        for button in buttons:
            if button["type"] == "call_phone":
                button["value"] = "2025550199"
    plan = client.templates.plan(frame)
    assert [list(change.after) for change in plan.changes] == [["buttons"]] * 3
    plan.apply(many=True)
    after = client.templates.frame(CODES, full=True)
    assert [b[1]["value"] for b in after.buttons] == ["2025550199"] * 3
    assert not client.templates.replace("2025550143", "x", CODES).changes


def test_drafts_are_made_of_what_is_missing_and_nothing_else_is_touched(client):
    fill(client)
    before = client.templates.frame(CODES, full=True)
    plan = client.templates.draft_missing(["de", "fr"], [*CODES, "nothing"])
    assert plan.counts == {"create": 3, "update": 0, "delete": 0}
    assert not get_refused_cells(plan)
    assert plan.notes == [
        "3 drafts with the words of en: to be translated.",
        "Without a content in 'en', left alone: nothing.",
        "order_ready/fr has 1 warning: language new at /lang_code: French is new: no content that "
        "was read is in French",
    ]
    result = plan.apply()
    assert result.state.isin(["applied", "differs"]).all(), result.reason.tolist()
    after = client.templates.frame(CODES, full=True)
    assert set(after.index) - set(before.index) == {
        ("order_ready", "de"),
        ("order_ready", "fr"),
        ("welcome", "fr"),
    }
    for place in before.index:
        assert after.text[place] == before.text[place]
        assert after.is_draft[place] == before.is_draft[place]
    for code, lang in set(after.index) - set(before.index):
        draft = after.loc[(code, lang)]
        assert draft.is_draft
        assert draft.text == before.text[code, "en"]
        assert draft.buttons[1]["value"] == CALL["value"]
    assert not client.templates.draft_missing(["de", "fr"], CODES).changes


def test_what_breaks_the_document_is_refused_in_a_plan_for_many_unless_one_says_so(demo):
    plan = demo.templates.replace("{{1}}", "{{name}}", ["order_ready"])
    assert not plan.changes  # a placeholder is never touched
    frame = demo.templates.frame(["order_ready"])
    frame["text"] = "Hello {{name}}, it is ready for you today."
    refused = get_refused_cells(demo.templates.plan(frame))
    assert {cell.column for cell in refused} == {"text", "variables"}
    assert len(demo.templates.plan(frame, broken=True)) == len(frame)
    with pytest.raises(chatkit.errors.PlanRefused, match="cannot be planned"):
        demo.templates.plan(frame).apply()


def test_what_the_platform_refuses_does_not_get_live_unless_one_says_so(demo):
    frame = demo.templates.frame(full=True)
    frame.loc[("order_ready", "en"), "footer"] = "x" * 61
    assert [(cell.row, cell.column) for cell in get_refused_cells(demo.templates.plan(frame))] == [
        (("order_ready", "en"), "footer")
    ]
    plan = demo.templates.plan(frame, broken=True)
    assert len(plan) == 1
    assert any(n.startswith("order_ready/en has ") and "length" in n for n in plan.notes)
    frame["is_draft"] = True
    drafts = demo.templates.plan(frame)
    assert not get_refused_cells(drafts)
    assert any(n.startswith("order_ready/en has ") and "length" in n for n in drafts.notes)


def test_a_run_that_set_something_broken_live_can_be_undone(demo):
    frame = demo.templates.frame(full=True)
    frame.at[("order_ready", "en"), "footer"] = "x" * 61
    result = demo.templates.plan(frame, broken=True).apply(many=True)
    assert result.state.tolist() == ["applied"]
    undo = chatkit.undo(result)
    assert not get_refused_cells(undo)
    assert undo.apply(many=True).state.tolist() == ["applied"]
    again = chatkit.undo(undo.apply(many=True))  # live with it once more
    assert not get_refused_cells(again)


def test_a_plan_is_held_against_what_others_did_meanwhile(demo):
    plan = demo.templates.replace("{{1}}", "{{1}} ", ["order_ready"])
    english = [change for change in plan.changes if change.key == "en"]
    assert english
    demo.templates("order_ready").update("en", text="Somebody else was here before you, {{1}}.")
    result = plan.apply(many=True)
    assert result.state[("order_ready", "en")] == "conflict"


# --- translators ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["t.xlsx", "t.csv", "t.po", "t.xlf"])
def test_files_that_nobody_worked_in_change_nothing(usual, tmp_path, name):
    written = usual.templates.export(tmp_path / name, CODES, languages=["de", "fr"])
    assert set(written.lang_code) == {"de", "fr"}
    returned = usual.templates.read_translations(tmp_path)
    assert not len(returned.plan)  # nobody has translated anything
    assert not len(returned.rejected)
    assert written.texts.sum() > 10


def test_what_a_translator_wrote_is_planned_and_what_is_spoilt_is_rejected(demo, tmp_path):
    path = tmp_path / "texts.csv"
    demo.templates.export(path, ["order_ready"], languages=["nl", "fi"])
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        spoilt = row["lang_code"] == "fi" and row["field"] == "footer"
        row["translation"] = "{{9}}" if spoilt else f"{row['source']}!"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    returned = demo.templates.read_translations(path)
    (lost,) = returned.rejected.itertuples()
    assert (lost.lang_code, lost.field, lost.reason) == ("fi", "footer", "placeholder added")
    assert len(returned.changed) + 1 == len(rows)
    changes = returned.plan.changes
    assert {(each.kind, each.key) for each in changes} == {("create", "nl"), ("create", "fi")}
    for change in changes:
        assert change.after["is_draft"] is True
        assert change.after["text"].endswith("!")
        assert change.after["footer"] == ("" if change.key == "fi" else "Larkspur Cycles!")
    assert (returned.plan.apply().state == "applied").all()


def test_what_changed_since_the_export_is_not_overwritten(demo, tmp_path):
    path = tmp_path / "texts.csv"
    demo.templates.export(path, ["order_ready"], languages=["de"], only="all")
    text = path.read_text("utf-8-sig").replace("Larkspur", "Feldblume")
    path.write_text(text, "utf-8")
    demo.templates("order_ready").update("de", footer="Jemand war schon hier")
    returned = demo.templates.read_translations(path)
    rejected = returned.rejected.set_index("field")
    assert rejected.live["footer"] == "Jemand war schon hier"
    assert not [change for change in returned.plan.changes if "footer" in change.after]


def test_a_template_that_a_translator_renamed_is_rejected_and_not_an_error(demo, tmp_path):
    path = tmp_path / "texts.csv"
    demo.templates.export(path, ["order_ready"], languages=["nl"])
    text = path.read_text("utf-8").replace("order_ready", "commande_prete")
    path.write_text(text, "utf-8")
    returned = demo.templates.read_translations(path)
    assert not len(returned.plan)


# --- others ---------------------------------------------------------------------------------


def test_contents_made_by_others_are_seen():
    with account() as (sandbox, client):
        call(sandbox, "POST", "templates/a/contents", lang_code="en", text="Hi")
        assert list(client.templates.frame("a").index) == [("a", "en")]
        assert repr(client.templates) == (
            '<templates of the account: templates("code").frame() shows one>'
        )
