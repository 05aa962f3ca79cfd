"""The board shows all templates in all languages, and each cell opens its form."""

from __future__ import annotations

import json

import pytest
from bulk.wayward import answers, wayward
from localization.contents import DEMO, content
from widgets.screen import html, page_of, part, parts, send, sources, static

import chatkit
from chatkit.errors import InputError
from chatkit.localization.board import STATES, board
from chatkit.localization.language import SUPPORTED
from chatkit.widgets.boardgrid import BoardGrid, BoardTable


@pytest.fixture
def client():
    with chatkit.Sandbox(seed="demo") as sandbox, chatkit.connect(sandbox) as client:
        yield client


@pytest.fixture
def grid(client):
    return BoardGrid(client.templates, DEMO)


def table(grid):
    return part(grid, BoardTable)


def output(grid):
    """Return the text below the table and above the form."""
    return grid.message


def state(grid, code, lang):
    """Return the data of a cell that the page gets."""
    row = table(grid).cells[grid.board.codes.index(code)]
    return STATES[int(row[grid.board.languages.index(lang)])]


def test_it_tells_the_page_the_state_of_every_cell_and_why(grid):
    rendered = table(grid)
    assert [cell.state for cell in grid.board] == [
        STATES[int(one)] for row in rendered.cells for one in row
    ]
    assert rendered.codes == list(DEMO)
    assert ["ar", "Arabic"] in rendered.languages
    row, column = grid.board.codes.index("rental_reminder"), grid.board.languages.index("fr")
    assert rendered.reasons[rendered.why[f"{row},{column}"]] == "{{3}} of en is missing"
    assert [name for name, _, meaning in rendered.states if meaning] == list(STATES)


def test_a_cell_opens_the_form_of_its_content(grid):
    form = grid.edit("order_ready", "ar")
    assert form in parts(grid)
    assert grid.form is form
    assert (form.lang_code, form.source) == ("ar", "en")
    assert table(grid).opened == [0, grid.board.languages.index("ar")]


def test_a_missing_content_is_begun_and_its_state_follows(grid, client):
    assert state(grid, "spring_offer", "de") == "missing"
    form = grid.edit("spring_offer", "de")
    assert form.new
    form.set("text", "Frühling ist da, {{1}}! Es gibt {{2}} Rabatt auf alles.")
    form.set("variables", {"1": "Lin", "2": "15 %"})
    form.set("footer", "Antworte STOP")
    buttons = form.content["buttons"]
    labels = ("Code kopieren", "Ansehen")
    form.set("buttons", [{**b, "label": n} for b, n in zip(buttons, labels, strict=True)])
    form.review().apply()
    assert state(grid, "spring_offer", "de") == "draft"
    assert client.templates("spring_offer").get("de").footer == "Antworte STOP"


def test_languages_that_no_template_has_can_be_begun(client):
    grid = BoardGrid(client.templates, ["order_ready"], languages=["it"])
    assert state(grid, "order_ready", "it") == "missing"
    assert grid.edit("order_ready", "it").new


def test_a_template_that_nobody_knows_is_a_row_of_missing_contents(client):
    grid = BoardGrid(client.templates, ["order_ready", "nobody_knows"])
    assert set(table(grid).cells[1]) == {str(STATES.index("missing"))}


def test_edits_that_are_not_saved_are_kept_with_their_form(grid):
    form = grid.edit("order_ready", "ar")
    form.set("footer", "x")
    other = grid.edit("order_ready", "de")
    assert grid.unsaved == [("order_ready", "ar")]
    assert output(grid) == "Not saved yet: order_ready in ar."
    assert grid.edit("order_ready", "ar") is form
    assert form.content["footer"] == "x"
    assert output(grid) == ""
    assert grid.edit("order_ready", "de") is not other


def test_a_click_opens_a_cell_and_nothing_else_does(grid):
    for message in ({"open": [0, 1]}, {"open": [99, 0]}, {"open": [-1, 0]}, {"open": "x"}, 7):
        send(table(grid), message)
    assert grid.form is not None
    assert grid.form.lang_code == grid.board.languages[1]


def test_an_error_is_said_below_the_table():
    with wayward() as service, service.client() as client:
        client.templates("order_ready").create(**content())
        grid = BoardGrid(client.templates, ["order_ready"])
        service.on("GET", "", forever=answers(403, b'{"message": "not <b>yours</b>"}'))
        send(table(grid), {"open": [0, 0]})
        assert "403 not yours" in output(grid)
        assert "<b>yours" not in html(grid) + page_of(grid)
        assert grid.form is None


def test_a_board_that_cannot_be_read_after_a_save_says_so():
    with wayward() as service, service.client() as client:
        client.templates("order_ready").create(**content())
        grid = BoardGrid(client.templates, ["order_ready"])
        form = grid.edit("order_ready", "en")
        form.set("footer", "x")
        view = form.review()
        calls = []
        read = client.templates.board

        def failing(*values, **more):
            calls.append(values)
            service.on("GET", "", forever=answers(403))
            return read(*values, **more)

        client.templates.board = failing
        view.apply()
        assert calls
        assert "cannot be read again" in output(grid)


@pytest.mark.parametrize("place", [("nobody_knows", "en"), ("order_ready", "zz")])
def test_what_is_not_on_the_board_cannot_be_opened(grid, place):
    with pytest.raises(InputError, match="There is no"):
        grid.edit(*place)


@pytest.mark.parametrize("codes", [None, [], ["order_ready", 7]])
def test_codes_must_be_named(client, codes):
    with pytest.raises(InputError):
        BoardGrid(client.templates, codes)


def test_it_has_a_line_of_text_and_a_page_that_is_no_widget(grid):
    data = static(grid)
    assert data["text/plain"].startswith("<board: 6 templates × 8 languages: 6")
    assert "rental_reminder" in data["text/html"]
    assert "<script" not in data["text/html"]


def large():
    """A board of 200 templates in 30 languages."""
    rows = [
        content(template_code=f"template_{n}", lang_code=lang, is_draft=n % 7 == 3)
        for n in range(200)
        for k, lang in enumerate(SUPPORTED[:30])
        if (n + k) % 5
    ]
    return board(rows, "en")


def test_a_large_board_is_little_to_send_and_sent_once():
    rendered = large()
    table = BoardTable(print, 480)
    changes = []
    table.observe(lambda change: changes.append(change.name))
    table.fill(rendered)
    assert len(changes) == len(set(changes)), "each part is sent once, not once a cell"
    sent = json.dumps([table.codes, table.languages, table.cells, table.reasons, table.why])
    assert len(sent) < 150_000
    assert sum(map(len, sources(BoardTable))) < 18_000
