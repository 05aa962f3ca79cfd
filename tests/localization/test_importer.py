"""Translations come back exactly, or are rejected with a reason; nothing is lost."""

import copy

import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from localization.contents import DEMO, button, cases, content, demo, naughty, website  # noqa: F401
from localization.translator import (
    ANY,
    ENGLISH,
    FORMATS,
    GERMAN,
    WORDS,
    both,
    english,
    full,
    translate,
    unit,
)
from volume import volume

import chatkit
from chatkit.localization.content import read_entries
from chatkit.localization.files import encode_units, export, read_units
from chatkit.localization.ledger import Ledger
from chatkit.localization.units import ReturnedText, Stamp, Translations, Unit, import_units
from chatkit.util.display import has_half_character

FORMS = tuple(FORMATS)
TEXT = ANY.filter(str.strip)
WORD = WORDS.filter(str.strip)


def sent(frame, folder, form="csv", **options):
    """Write a frame into files, over those of the example before."""
    path = folder / f"texts.{FORMATS[form]}"
    return export(frame, path, replace=True, **options).path.tolist()


def imported(paths, frame, **options):
    """Take back what stands in files."""
    return import_units(read_units(paths), frame, **options)


def same(one, other):
    """Return whether two frames have the same cells, with all kinds of NA alike."""
    assert one.index.equals(other.index)
    assert one.columns.equals(other.columns)
    assert one.dtypes.equals(other.dtypes)
    return [e.raw for e in read_entries(one)] == [e.raw for e in read_entries(other)]


def reasons(result):
    return dict(zip(result.rejected.field, result.rejected.reason, strict=True))


# --- the property -----------------------------------------------------------------------------

CONTENT = st.builds(
    lambda text, header, footer, labels, url, sample: content(
        text=text,
        variables={"1": sample},
        footer=footer,
        headers=[{"type": "text", "text": header}],
        buttons=[button("custom", labels[0]), website(url, label=labels[1])],
    ),
    *(TEXT, TEXT, TEXT, st.tuples(TEXT, TEXT), TEXT, TEXT),
)
QUIET = settings(
    max_examples=volume(6), suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.mark.parametrize("form", FORMS)
@QUIET
@given(source=CONTENT, target=CONTENT)
def test_any_content_comes_back_unchanged(tmp_path, form, source, target):
    frame = full(source, {**target, "lang_code": "de"})
    paths = sent(frame, tmp_path, form, only="all")
    result = imported(paths, frame)
    assert same(result.frame, frame)
    assert (len(result.changed), len(result.rejected), result.unchanged) == (0, 0, 5)


@st.composite
def translations(draw):
    """A content in two languages: other words, the same placeholders."""
    fields = ("text", "headers.0.text", "footer", "buttons.0.label", "buttons.1.label")
    edges = ({}, {})
    for field in fields:
        slots = [f"{{{{{n + 1}}}}}" for n in range(draw(st.integers(0, 2)))]
        for edge in edges:
            words = [draw(WORD) for _ in range(len(slots) + 1)]
            pairs = zip(words, [*slots, ""], strict=True)
            edge[field] = "".join(part for pair in pairs for part in pair)
    return edges


@pytest.mark.parametrize("form", FORMS)
@QUIET
@given(edges=translations())
@example(edges=({"text": "=1"}, {"text": "⟨U+000D⟩\r\n'=2 "}))
def test_what_a_translator_writes_comes_back_exactly(tmp_path, form, edges):
    words = {**read_entries(ENGLISH)[0].texts, "text": "Hello"}
    source, target = ({**words, **edge} for edge in edges)
    frame = full(
        content(
            text=source["text"],
            footer=source["footer"],
            headers=[{"type": "text", "text": source["headers.0.text"]}],
            buttons=[
                button("custom", source["buttons.0.label"]),
                website("https://shop.example/en", label=source["buttons.1.label"]),
            ],
        )
    )
    paths = sent(frame, tmp_path, form, languages=["pt_BR"])
    translate(paths, lambda field, _: target[field])
    result = imported(paths, frame, any_order=True, broken=True)
    assert result.rejected.empty, result
    made = next(e for e in read_entries(result.frame) if e.lang_code == "pt_BR")
    assert made.texts == target
    assert made.raw["is_draft"] is True
    assert made.buttons[1]["value"] == "https://shop.example/en"
    assert same(result.frame.iloc[:1], frame.astype(result.frame.dtypes))


@pytest.mark.parametrize("form", FORMS)
def test_naughty_strings_come_back(tmp_path, shared, form):
    strings = [s for s in naughty(shared) if s.strip() and not has_half_character(s)]
    named = {f"t{n}": text for n, text in enumerate(strings)}
    frame = pd.concat([full(content(text=s, footer=s), template=c) for c, s in named.items()])
    paths = sent(frame, tmp_path, form, languages=["ar"])
    translate(paths, lambda _, source: f"» {source} «")
    result = imported(paths, frame, broken=True)
    assert result.rejected.empty, result
    made = result.frame.xs("ar", level="lang_code").text
    assert {code: made[code] for code in named} == {c: f"» {s} «" for c, s in named.items()}


# --- three sides ------------------------------------------------------------------------------
# What a translator wrote into the files of both languages, and the contents at the import: the
# rejected texts with their reasons, and the texts that are in the frame.

LARKSPUR = {**ENGLISH, "footer": "Larkspur Cycles"}
CALL = [button("call_phone", "Unterwegs"), *GERMAN["buttons"][1:]]
SITE = website("https://shop.example/de", label="Verfolgen")
COPY = website("https://shop.example/en", label="Spur")
ROUNDS = {
    "only what was changed": ({"buttons.0.label": "Los"}, both(), {}, {"buttons": "Los"}),
    "somebody else changed it": (
        {"footer": "Von mir"},
        full(ENGLISH, {**GERMAN, "footer": "Von jemand anderem", "text": "Hallo {{1}} {{2}}!"}),
        *({"footer": "conflict"}, {}),
    ),
    "it is there already": ({"footer": "Neu"}, full(ENGLISH, {**GERMAN, "footer": "Neu"}), {}, {}),
    "its source changed": (
        *({"footer": "Neu", "buttons.0.label": "Los"}, full(LARKSPUR, GERMAN)),
        *({"footer": "stale"}, {"buttons": "Los"}),
    ),
    "the content was deleted": ({"footer": "Neu"}, english(), {"footer": "conflict"}, {}),
    "another template": (
        {"footer": "Neu"}, full(ENGLISH, GERMAN, template="other"),
        {"footer": "not in the frame"}, {},
    ),
    "a button of another kind": (
        *({"buttons.0.label": "Neu"}, full(ENGLISH, {**GERMAN, "buttons": CALL})),
        *({"buttons.0.label": "no place"}, {}),
    ),
    **{
        f"buttons that are missing, {done}": (
            done, full(ENGLISH, {**GERMAN, "buttons": none}), rejected, texts
        )
        for none in (None, [])
        for done, rejected, texts in (
            ({"buttons.0.label": "Los"}, {"buttons.0.label": "conflict"}, {}),
        )
    },
    **{
        f"text: {done!r}": ({"text": done}, both(), {"text": reason}, {})
        for done, reason in {
            "Hallo {{1}}, fertig.": "placeholder lost",
            "Hallo {{1}} {{1}}, fertig.": "placeholder lost",
            "Hallo {{1}} {{2}} {{3}}.": "placeholder added",
            "Hallo {{1}} {{2}} {{2}}.": "placeholder added",
            "Hallo { {1}}, {{2}}.": "placeholder lost",
            "Hallo {{١}}, {{2}}.": "placeholder lost",
            "Hallo {{2}}, {{1}}.": "placeholder order",
            " ": "emptied",
            "": "emptied",
        }.items()
    },
}  # fmt: skip


@pytest.mark.parametrize("form", ["csv", "po", "xliff"])
@pytest.mark.parametrize("name", ROUNDS)
def test_only_what_was_changed_in_the_file_and_nowhere_else_changes(tmp_path, form, name):
    work, now, rejected, texts = ROUNDS[name]
    before = copy.deepcopy(now.to_dict())
    paths = sent(both(), tmp_path, form, only="all")
    translate(paths, lambda field, _: work.get(field))
    result = imported(paths, now)
    assert reasons(result) == rejected
    assert now.to_dict() == before
    assert same(result.frame.drop(columns=[*texts]), now.drop(columns=[*texts]))
    if texts:
        row = result.frame.loc[("order_ready", "de")]
        assert row.buttons == [button("custom", texts["buttons"]), SITE]
    assert len(result.changed) == len(texts)
    if "placeholder order" in rejected.values():
        taken = imported(paths, now, any_order=True).frame
        assert taken.loc[("order_ready", "de"), "text"] == work["text"]


def test_what_was_taken_and_what_was_not_is_shown_with_both_sides(tmp_path):
    paths = sent(both(), tmp_path, only="all")
    translate(paths, lambda field, _: {"footer": "Neu", "buttons.0.label": "Los"}.get(field))
    result = imported(paths, both())
    assert repr(result) == "2 texts changed in 1 content (0 new), 3 as they were, 0 rejected"
    row = result.changed.iloc[1]
    assert (row.lang_code, row.before, row.after) == ("de", "Unterwegs", "Los")
    changed = imported(paths, full(LARKSPUR, {**GERMAN, "buttons": CALL}))
    assert "Larkspur{+ Cycles+}" in repr(changed)
    row = changed.rejected.set_index("field").loc["footer"]
    assert (row.source_before, row.source, row.live) == ("Larkspur", "Larkspur Cycles", "Larkspur")
    assert (row.returned, row.place) == ("Neu", "texts.csv, row 4")
    translate(paths, lambda field, _: "a{{9\u202e}}" if field == "text" else None)
    output = repr(imported(paths, both()))
    assert "2 texts changed in 1 content (0 new), 2 as they were, 1 rejected: 1 pl" in output
    assert "\u202e" not in output
    assert "order_ready de Text: placeholder lost" in output


@pytest.mark.parametrize("newer_first", [True, False])
def test_of_two_exports_the_newer_one_counts_and_it_is_said(tmp_path, newer_first):
    old = sent(both(), tmp_path, "xlsx", only="all")
    translate(old, lambda field, _: "Alt" if field == "footer" else None)
    now = full(LARKSPUR, GERMAN)
    assert "Export it again" in imported(old, now).rejected.message[0]
    new = sent(now, tmp_path, "csv", only="all")
    assert reasons(imported([*new, *old], now)) == {"footer": "stale"}
    translate(new, lambda field, _: "Neu" if field == "footer" else None)
    result = imported([*new, *old] if newer_first else [*old, *new], now)
    assert result.changed.after.tolist() == ["Neu"]
    assert reasons(result) == {"footer": "older export"}
    assert "counts instead" in repr(result)


def test_a_second_round_counts_beside_the_first_that_was_taken(tmp_path):
    first = sent(both(), tmp_path, "xlsx", only="all")
    translate(first, lambda field, _: "Eins" if field == "footer" else None)
    now = imported(first, both()).frame
    second = sent(now, tmp_path, "csv", only="all")
    translate(second, lambda field, _: "Zwei" if field == "footer" else None)
    result = imported([*first, *second], now)
    assert result.changed.after.tolist() == ["Zwei"] and result.rejected.empty


def test_an_old_file_beside_the_finished_one_does_no_harm(tmp_path):
    old = sent(both(), tmp_path, "xlsx", only="all")
    new = sent(both(), tmp_path, "csv", only="all")
    translate(new, lambda field, _: "Neu" if field == "footer" else None)
    for paths in ([*old, *new], [*new, *old], tmp_path):
        result = imported(paths, both())
        assert result.changed.field.tolist() == ["footer"] and result.rejected.empty
    again = tmp_path / "again.csv"
    again.write_bytes((tmp_path / "texts.csv").read_bytes())
    translate([again], lambda field, _: "Anders" if field == "footer" else None)
    result = imported(tmp_path, both())
    assert result.rejected.reason.tolist() == ["twice", "twice"]
    assert "again.csv, row 4 and texts.csv, row 4" in result.rejected.message[0]
    assert same(result.frame, both())


NEW = {field: f"de {text}" for field, text in read_entries(ENGLISH)[0].texts.items()}
BARE = full(ENGLISH, {**GERMAN, "buttons": []})
LABELS = {"buttons.0.label": "Los", "buttons.1.label": "Spur"}


@pytest.mark.parametrize(
    ("out", "now", "work", "reasons_of", "message"),
    [
        (english(), english(), {**NEW, "footer": None}, {"incomplete"}, "without Footer"),
        (english(), both(), NEW, {"conflict"}, "translated anew"),  # it was made meanwhile
        (BARE, BARE, {"buttons.0.label": "Los"}, {"incomplete"}, "without Button 2"),
        (BARE, BARE, LABELS, set(), ""),
        (
            BARE,
            BARE,
            {**LABELS, "buttons.1.label": "{{9}}"},
            {"incomplete", "placeholder added"},
            "",
        ),
    ],
)
def test_what_is_missing_comes_whole_or_not_at_all(tmp_path, out, now, work, reasons_of, message):
    paths = sent(out, tmp_path, languages=["de"])
    translate(paths, lambda field, _: work.get(field))
    result = imported(paths, now)
    assert {*reasons(result).values()} == reasons_of
    assert all(message in each for each in result.rejected.message)
    assert same(result.frame, now) == bool(reasons_of)
    if not reasons_of:
        buttons = result.frame.loc[("order_ready", "de"), "buttons"]
        assert buttons == [button("custom", "Los"), COPY]


# --- what people and programs may do to a file --------------------------------------------------


@cases("form", "name", "edits", "reason")
def test_a_text_that_was_changed_beside_its_translation_is_rejected(
    tmp_path, form, name, edits, reason
):
    paths = sent(both(), tmp_path, form, only="all")
    text = (tmp_path / name).read_text("utf-8")
    for old, new in edits.items():
        assert old in text
        text = text.replace(old, new)
    if "L<" not in text:
        text = text.replace('msgstr "Larkspur"', 'msgstr "Lerche"').replace(
            ">Larkspur</target", ">Lerche</target"
        )
    (tmp_path / name).write_text(text, "utf-8")
    assert {*reasons(imported(paths, both())).values()} == {reason}


def test_a_stamp_or_a_place_that_was_changed_is_named_with_its_cells(tmp_path):
    paths = sent(both(), tmp_path, only="all")
    translate(paths, lambda _, source: f"neu {source}")
    path = tmp_path / "texts.csv"
    rows = path.read_text(encoding="utf-8-sig").splitlines()
    rows[3] = rows[3][:-3]
    rows[4] = rows[4].replace("buttons.0", "buttons.1")
    path.write_text("\n".join(rows), encoding="utf-8-sig")
    result = imported(paths, both())
    assert reasons(result) == {"footer": "no stamp", "buttons.1.label": "not in the frame"}
    assert "or where it belongs was changed: see A5, B5, K5" in repr(result)
    assert result.changed.field.tolist() == ["headers.0.text", "text", "buttons.1.label"]


@pytest.mark.parametrize(
    "field", ["is_draft", "buttons.1.type", "id", "variables.7", "buttons.9.label"]
)
def test_a_file_cannot_write_what_is_no_text_of_the_source(tmp_path, field):
    path = tmp_path / "made up.csv"
    made_up = unit("", "", field=field)._replace(target="yes")
    [(_, data)] = encode_units([made_up], path, "en").values()
    path.write_bytes(data)
    result = imported(path, both())
    assert reasons(result) == {field: "stale"}
    assert same(result.frame, both())


def came_back(n, verdict="stale", *, cell="E4", comment="", source="New text"):
    """Return the outcome of one text as the importer reports it."""
    unit = Unit(f"t{n}", "de", "text", "Old text", "came", comment=comment, place="a.xlsx, row 4")
    unit = unit._replace(cells={"translation": cell} if cell else {})
    stamp = Stamp("", "", "", "20261120T120000")
    edges = {"source": source, "live": "lv"}
    return ReturnedText(unit, "came", stamp, None, None, **edges, verdict=verdict, message="why")


def test_only_a_stale_text_shows_both_sources_and_a_place_may_have_no_cell():
    returned = [came_back(1, "conflict", cell=""), came_back(2), came_back(3, source="")]
    result = Translations(both(), [], returned, 0)
    html = result._repr_html_()
    assert '<td dir="auto">New text</td>' in html
    assert '<td dir="auto"><del>Old</del><ins>New</ins> text</td>' in html
    assert "<i>a.xlsx, row 4</i>" in html and "<i>a.xlsx, row 4, E4</i>" in html
    assert repr(result).splitlines()[2:] == [
        *("Not taken:", "  t1 de Text: conflict: why", "  t2 de Text: stale: why"),
        *("    [-Old-]{+New+} text", "  t3 de Text: stale: why"),
    ]
    assert result.rejected.columns.tolist() == [
        *("template_code", "lang_code", "field", "reason", "message", "source_before", "source"),
        *("live", "returned", "place", "cell"),
    ]
    nothing = Translations(both(), [], [came_back(1, "unchanged"), came_back(2, "fresh")], 0)
    assert nothing._repr_html_().endswith(
        "<p><strong>0 texts changed in 0 contents (0 new), 1 as they were, 0 rejected</strong></p>"
        "</div>"
    )
    assert nothing.rejected.empty and nothing.texts.verdict.tolist() == ["unchanged", "fresh"]


def test_comments_are_of_texts_that_have_a_place():
    verdicts = ["fresh", "unchanged", "stale", "no stamp", "not in the frame"]
    returned = [came_back(n, verdict, comment="so") for n, verdict in enumerate(verdicts)]
    result = Translations(both(), [], [*returned, came_back(9, comment=" ")], 0)
    assert [place[0] for place in result.comments(Ledger()).comments] == ["t0", "t1", "t2"]


# --- into the account -------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_translations_become_a_plan_and_are_there_afterwards(tmp_path, form):
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        frame = client.templates.frame(DEMO, full=True)
        paths = sent(frame, tmp_path, form, languages=["it", "de"])
        translate(paths, lambda _, source: None if "{{" in source else f"{source} !")
        mixed = imported(paths, frame)
        assert mixed.new == 0  # no text was translated that has placeholders
        paths = sent(frame, tmp_path, form, languages=["it"])
        translate(paths, lambda _, source: f"{source} !")
        result = imported(paths, frame)
        plan = client.templates.plan(result.frame)
        assert len(plan) == result.new == 6
        plan.apply()
        after = client.templates.frame(DEMO, full=True)
        made = [e for e in read_entries(after) if e.lang_code == "it"]
        expected = [e for e in read_entries(result.frame) if e.lang_code == "it"]
        assert [e.texts for e in made] == [e.texts for e in expected]
        assert len(client.templates.plan(imported(paths, after).frame)) == 0
