"""Files on their way through other programs: what is told of a text gets there and comes back.

And what people and programs do to them that cannot be taken: each is told by row and cell.
"""

import io
import re

import openpyxl
import pandas
import pytest
from displayed import html_of
from localization.translator import FORMATS, translate
from translate.storage.pypo import pofile
from translate.storage.xliff import xlifffile

import chatkit

FORMS = tuple(FORMATS)
CODE = "order_ready"
NEW = "Hello {{1}}, your {{2}} has been repaired. Please fetch it by {{3}}, from 9 to 6."
DONE = "Hallo {{1}}, dein {{2}} ist repariert. Bitte hol es bis {{3}} ab, von 9 bis 18 Uhr."


@pytest.fixture
def client():
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        client.templates.accept(codes=[CODE])
        yield client


def exported(client, folder, form="csv", name="texts", **options):
    options = {"languages": ["de"], "only": "all", "replace": True, **options}
    path = folder / f"{name}.{FORMATS[form]}"
    return client.templates.export(path, [CODE], **options).path.tolist()


def rewrite(client, text=NEW):
    """Write the English text anew, so that the translations of it are stale."""
    before = client.templates(CODE).get("en").text
    client.templates(CODE).update("en", text=text)
    return before


def noted(client, text="is this Sie or du?\nplease ask <b>Ana</b>" + " again" * 20):
    queue = client.templates.queue(["de"], [CODE], only=["live", "stale"])
    positions = [item.unit.field for item in queue.items]
    queue.comment(positions.index("text"), text)
    queue.plan()
    return text


# --- out --------------------------------------------------------------------------------------


def report(path, form):
    """Return what another program shows of a text: state, previous source, comment, limit."""
    if form in ("xlsx", "csv"):
        read = pandas.read_csv if form == "csv" else pandas.read_excel
        row = read(path, dtype=str).set_index("field").loc["text"]
        return row.state, row.source_before, row.comment, row.at_most
    if form == "po":
        [unit] = [u for u in pofile.parsefile(path).units if "/text " in u.getcontext()]
        state = re.search(r"State: (\w+)\.", unit.getnotes("developer"))[1]
        assert unit.isfuzzy() == (state == "stale")
        [most] = [c.partition(":")[2].strip() for c in unit.typecomments if "max-length" in c]
        return state, unit.prev_source, unit.getnotes("translator"), most
    [unit] = [u for u in xlifffile.parsefile(path).units if named(u) == "text"]
    target = unit.xmlelement.find(unit.namespaced("target"))
    [before] = unit.getalttrans() or [None]
    states = {"needs-review-translation": "stale", "final": "live"}
    source = "" if before is None else "".join(before.source)
    notes = unit.getnotes("translator")
    return states[target.get("state")], source, notes, unit.xmlelement.get("maxwidth")


def named(unit):
    """The field of a unit of an XLIFF file."""
    return unit.xmlelement.get("resname")


@pytest.mark.parametrize("form", FORMS)
def test_state_source_before_comment_and_limit_reach_the_translators_program(
    tmp_path, client, form
):
    comment = noted(client)
    [path] = exported(client, tmp_path, form)
    state, _, output, most = report(path, form)
    assert (state, output.split(), most) == ("live", comment.split(), "1024")
    before = rewrite(client)
    [path] = exported(client, tmp_path, form)
    state, source, output, _ = report(path, form)
    assert (state, source, output.split()) == ("stale", before, comment.split())
    plan = client.templates.read_translations(path).plan  # nobody has said anything else
    assert not any("comment" in note for note in plan.notes)
    # what is stale is asked for by its state, and comes back like any other text
    [path] = exported(client, tmp_path, form, only="stale")
    translate([path], lambda field, source: DONE)
    taken = client.templates.read_translations(path)
    assert taken.texts[["field", "verdict"]].values.tolist() == [["text", "fresh"]]
    taken.plan.apply()
    assert client.templates.board([CODE])[CODE, "de"].state == "live"


@pytest.mark.parametrize("by", ["Ana", "Bo"])
def test_a_second_edit_of_a_file_revises_the_own_import_and_nobody_else_s(
    tmp_path, client, monkeypatch, by
):
    monkeypatch.setenv("CHATKIT_USER", "Ana")
    paths = exported(client, tmp_path, "csv")
    translate(paths, lambda field, source: DONE if field == "text" else None)
    client.templates.read_translations(paths).plan.apply()
    translate(paths, lambda field, source: f"{DONE}!" if field == "text" else None)
    monkeypatch.setenv("CHATKIT_USER", by)
    back = client.templates.read_translations(paths)
    if by == "Ana":
        assert back.changed[["before", "after"]].values.tolist() == [[DONE, f"{DONE}!"]]
        assert any("1 text of yours, imported since" in note for note in back.plan.notes)
    else:
        assert back.rejected.reason.tolist() == ["conflict"] and not len(back.plan)
        assert "Export it again" in back.rejected.message[0]


@pytest.mark.parametrize("form", FORMS)
def test_what_a_translator_says_is_recorded_and_an_older_comment_never_over_a_newer(
    tmp_path, client, form
):
    [first] = exported(client, tmp_path, form, "first")
    with_comment(first, form, "which bike?")
    taken = client.templates.read_translations(first)
    assert any("1 comment of translators is recorded" in note for note in taken.plan.notes)
    [second] = exported(client, tmp_path, form, "second")
    assert report(second, form)[2] == "which bike?"
    with_comment(second, form, "the red one")
    client.templates.read_translations(second)
    for again in (first, second):
        plan = client.templates.read_translations(again).plan
        assert not any("comment" in note for note in plan.notes)
    queue = client.templates.queue(["de"], [CODE], only="live")
    assert [item.comment for item in queue.items if item.comment] == ["the red one"]


def with_comment(path, form, text):
    if form in ("xlsx", "csv"):
        read = pandas.read_csv if form == "csv" else pandas.read_excel
        frame = read(path, dtype=str)
        frame["comment"] = frame.comment.astype(object)
        frame.loc[frame.field == "text", "comment"] = text
        frame.to_csv(path, index=False) if form == "csv" else frame.to_excel(path, index=False)
        return
    store = {"po": pofile, "xliff": xlifffile}[form].parsefile(path)
    for unit in store.units:
        if "/text " in unit.getcontext() if form == "po" else named(unit) == "text":
            unit.removenotes("translator")
            unit.addnote(text, "translator")
    store.save()


# --- through other programs -------------------------------------------------------------------


KIM = r'"Last-Translator: Kim <kim@example.org>\\n"'


def as_poedit_saves(data):
    """Header lines of its own, another order, wrapped lines, obsolete entries, CRLF."""
    text = data.decode()
    text = text.replace('"Generated-By: ', '"X-Generator: Poedit 3.4.2\\n"\n"X-Poedit-Basepath: ')
    text = re.sub(r'"Last-Translator: .*\\n"', r'"Last-Translator: Kim <kim@example.org>\\n"', text)
    text = text.replace("# lang_code: de\n", "")
    text = re.sub(r'^(msgid|msgstr) "(.{20,}?) (.*)"$', r'\1 ""\n"\2 "\n"\3"', text, flags=re.M)
    return (text + '\n#~ msgid "gone"\n#~ msgstr "weg"\n').replace("\n", "\r\n").encode()


def as_pandas_saves(data):
    target = io.BytesIO()
    with pandas.ExcelWriter(target) as writer:
        for name, frame in pandas.read_excel(io.BytesIO(data), None, dtype=str).items():
            frame.to_excel(writer, sheet_name=name)  # with its index, as it does unasked
    return target.getvalue()


def as_an_office_saves(data):
    """Texts inside the cells, a title above the table, a column in between, empty rows."""
    spreadsheet = openpyxl.load_workbook(io.BytesIO(data))
    sheet = spreadsheet.active
    sheet.insert_cols(4)
    sheet.insert_rows(1, 2)
    sheet["A1"] = "For Kim, by Friday"
    sheet.append([None, " "])
    sheet.row_dimensions[4].hidden = True
    for cell in sheet[3]:
        cell.value = cell.value and f" {cell.value.title()} "
    target = io.BytesIO()
    spreadsheet.save(target)
    return target.getvalue()


def as_excel_saves_csv(data):
    return data.decode("utf-8-sig").replace("\r\n", "\n").encode("utf-16")


TOOLS = [
    ("po", as_poedit_saves),
    ("xlsx", as_pandas_saves),
    ("xlsx", as_an_office_saves),
    ("csv", as_excel_saves_csv),
]


@pytest.mark.parametrize(("form", "tool"), TOOLS)
def test_a_file_that_another_program_saved_comes_back_whole(tmp_path, client, form, tool):
    path = tmp_path / f"texts{'.de' * (form == 'po')}.{form}"
    exported(client, tmp_path, form)
    translate([path], lambda field, _: DONE if field == "text" else None)
    path.write_bytes(tool(path.read_bytes()))
    taken = client.templates.read_translations(path)
    verdicts = dict(zip(taken.texts.field, taken.texts.verdict, strict=True))
    assert verdicts.pop("text") == "fresh"
    assert set(verdicts.values()) == {"unchanged"} and len(verdicts) == 5
    assert taken.changed.after.tolist() == [DONE]


# --- what cannot be taken ---------------------------------------------------------------------


@pytest.fixture
def spreadsheet(tmp_path, client):
    return exported(client, tmp_path, "xlsx", languages=["de", "fr"])[0]


def changed(path, change):
    spreadsheet = openpyxl.load_workbook(path)
    change(spreadsheet)
    spreadsheet.save(path)


def test_every_text_has_its_verdict_by_row_and_cell(client, spreadsheet):
    texts = {
        "E2": "Dein Rad ist jetzt fertig und steht bereit, bitte hol es doch bald bei uns ab!",
        "E3": "Hallo {{1}}, dein {{2}} ist da.",
        "E4": "Larkspur Räder",
        "E5": "Fahrrad holen",
        "E7": None,
    }

    def change(spreadsheet):
        for cell, text in texts.items():
            spreadsheet["de"][cell] = text
        spreadsheet["de"]["A6"] = "order_redy"

    changed(spreadsheet, change)
    client.templates(CODE).update("en", footer="Larkspur Cycles of Portland")
    client.templates.glossary = [{"language": "de", "never": "Fahrrad"}]
    taken = client.templates.read_translations(spreadsheet, [CODE])
    client.templates.glossary = None
    german = taken.texts[taken.texts.place.str.contains("sheet de")]
    assert dict(zip(german.cell, german.verdict, strict=True)) == {
        "E2": "too long",
        "E3": "placeholder lost",
        "E4": "stale",
        "E5": "glossary broken",
        "E6": "unchanged",
        "E7": "emptied",
    }
    stale = taken.rejected[taken.rejected.reason == "stale"].iloc[0]
    assert (stale.source_before, stale.source, stale.cell) == (
        "Larkspur Cycles",
        "Larkspur Cycles of Portland",
        "E4",
    )
    assert "Cycles{+ of Portland+}" in repr(taken)
    assert "<ins> of Portland</ins>" in html_of(taken)
    assert not taken.plan.changes
    wider = client.templates.read_translations(spreadsheet, [CODE], broken=True)
    assert {"too long", "glossary broken"}.isdisjoint(wider.rejected.reason)


def test_a_sheet_that_was_copied_and_edited_twice_is_told_with_both_places(client, spreadsheet):
    def change(spreadsheet):
        copy = spreadsheet.copy_worksheet(spreadsheet["de"])
        copy.sheet_state = "hidden"
        spreadsheet["de"]["E4"], copy["E4"] = "Neu", "Anders"

    changed(spreadsheet, change)
    rejected = client.templates.read_translations(spreadsheet).rejected
    assert rejected.reason.tolist() == ["twice", "twice"]
    assert "sheet de, row 4 and texts.xlsx, sheet de Copy, row 4" in rejected.message[0]
