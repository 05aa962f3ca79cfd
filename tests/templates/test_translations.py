"""What translators sent back, as a plan, and what could not be taken."""

import pytest

import chatkit

NASTY = "<img src=x onerror=alert(1)>\u202e"


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
    [note] = [note for note in returned.plan.notes if ".rejected" in note]
    assert note.startswith(f"{count} text{' was' if count == 1 else 's were'} not taken: ")


def test_it_shows_both_and_nothing_of_a_stranger_is_run(returned):
    said = repr(returned)
    assert "1 text changed in 1 content" in said
    assert "rejected" in said
    assert repr(returned.plan) in said
    html = returned._repr_html_()
    assert "<img" not in html
    assert "\u202e" not in html
    assert "\u202e" not in said
    assert "&lt;img" in html
