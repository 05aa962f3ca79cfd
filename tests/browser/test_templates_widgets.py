"""Templates as a person meets them: seen on a phone, translated in a form, found on the board."""

from __future__ import annotations

import re

from browser import story
from browser.conftest import Opener
from browser.lab import Lab
from browser.scripts import call
from localization.contents import content
from playwright.sync_api import Browser, expect

from chatkit.localization.board import board as made
from chatkit.localization.language import SUPPORTED
from chatkit.widgets.boardgrid import BoardTable

FORM = """import chatkit
from chatkit.widgets.contentform import ContentForm

client = chatkit.connect(chatkit.Sandbox(seed="demo"))
ready = client.templates("order_ready")
ready.update("en", footer="<img src=x onerror=alert(1)> $x^2$")
form = ContentForm(ready, "ar")
form"""
SAVED = """form.plan_view.wait()
saved = ready.get("ar")
print(saved.text[-3:], [button["type"] for button in saved.buttons])
form"""

BOARD = """import chatkit
from chatkit.widgets.boardgrid import BoardGrid

client = chatkit.connect(chatkit.Sandbox(seed="demo"))
board = BoardGrid(client.templates, ["order_ready", "rental_reminder", "appointment_confirmed",
                                     "spring_offer", "login_code", "review_request"])
board"""
MADE = """board.form.plan_view.wait()
print(client.templates("rental_reminder").get("ja").text, board.board.counts()["draft"])"""

STATE = ("states", "codes", "languages", "cells", "reasons", "why", "only", "opened", "height")


def test_a_content_is_translated_beside_its_source_and_saved_by_keyboard(
    lab: Lab, open_notebook: Opener
) -> None:
    notebook = open_notebook(story.write(lab, "contentform.ipynb", [FORM, SAVED]))
    page = notebook.page
    form = story.run(notebook, 0).locator(".cf-content")
    phone = form.locator(".cf-seen [lang]").first
    text = form.get_by_label("Text", exact=True).nth(1)
    assert text.evaluate("e => getComputedStyle(e).direction") == "rtl"
    expect(form.locator("img, .MathJax")).to_have_count(0)
    expect(form.locator(".cf-source").filter(has_text="onerror")).to_be_visible()

    # what is typed is seen at once, and a placeholder asks for its sample
    text.fill("مرحبًا *{{1}}*، {{2}} جاهزة {{3}} مع {{4}} لك.")
    expect(phone.locator("strong").filter(has_text="أمارا")).to_have_count(1)
    expect(phone).to_contain_text("{{4}}")
    expect(form.locator(".chatkit-findings")).to_contain_text(["{{4}} has no sample"] * 1)
    form.get_by_label("{{4}}").fill("الخوذة")
    expect(phone).not_to_contain_text("{{4}}")
    expect(phone).to_contain_text("الخوذة")

    # what is too long is said at its field
    footer = form.get_by_label("Footer")
    footer.fill("س" * 61)
    expect(form.get_by_text("61 of 60 characters, 102%")).to_be_visible()
    expect(form.locator(".chatkit-findings").filter(has_text="Take away 1.")).to_be_visible()
    notebook.shot("contentform", whole=True)
    footer.fill("لاركسبر")
    expect(form.get_by_text("7 of 60 characters")).to_be_visible()

    # the third button becomes the second, by keyboard, and the cursor stays where it was
    up = form.get_by_role("button", name="Move up").nth(2)
    up.press("Enter")
    expect(phone.locator("p", has_text="☎")).to_contain_text("اتصل بالورشة")
    expect(up).to_be_focused()
    expect(
        form.locator(".chatkit-findings").filter(has_text="other buttons stand between")
    ).to_be_visible()
    up.press("Enter")
    form.get_by_role("button", name="Move up").nth(1).press("Enter")

    review = form.get_by_role("button", name="Review the change")
    review.press("Enter")
    plan = form.locator(".chatkit-planview")
    expect(plan).to_contain_text("1 update")
    plan.get_by_role("button", name="Apply 1 change").press("Enter")
    expect(
        form.get_by_role("status").filter(has_text="Saved order_ready in Arabic.")
    ).to_be_visible()
    expect(review).to_have_attribute("aria-disabled", "true")
    assert "لك." in story.run(notebook, 1).inner_text()

    # where there is little space, everything stands one below the other
    page.set_viewport_size({"width": 620, "height": 1000})
    page.wait_for_function(
        "form => form.scrollWidth - form.clientWidth <= 1", arg=form.first.element_handle()
    )
    notebook.shot("contentform_narrow")


def test_the_board_is_navigated_filtered_and_filled_by_keyboard(
    lab: Lab, open_notebook: Opener
) -> None:
    notebook = open_notebook(story.write(lab, "boardgrid.ipynb", [BOARD, MADE]))
    page = notebook.page
    board = story.run(notebook, 0)
    grid = board.get_by_role("grid", name="Templates and languages")
    cells = grid.get_by_role("gridcell")
    expect(cells).to_have_count(48)
    expect(grid.locator(".bd-cell[tabindex='0']")).to_have_count(1)
    report = board.locator(".bd-about")

    # one stop of the tab key, then arrows
    board.get_by_role("button", name="missing").focus()
    page.keyboard.press("Tab")
    expect(cells.nth(0)).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(report).to_have_text(
        re.compile("draft.*rental_reminder, Arabic.*it is a draft.*Enter opens it")
    )
    page.keyboard.press("End")
    expect(report).to_contain_text("rental_reminder, Portuguese (Brazil)")
    page.keyboard.press("Control+Home")
    expect(cells.nth(0)).to_be_focused()
    page.keyboard.press("Control+End")
    expect(cells.nth(47)).to_be_focused()

    # rows without what is looked for are hidden, and the arrows pass over them
    board.get_by_role("button", name="stale").press("Enter")
    expect(grid.get_by_role("row")).to_have_count(3)
    expect(board.get_by_role("button", name="stale")).to_be_focused()
    board.get_by_role("button", name="All 48").press("Enter")
    expect(grid.get_by_role("row")).to_have_count(7)

    # a missing content is begun, written and saved; its state follows
    missing = cells.nth(8 + 6)
    expect(missing).to_have_text("·missing")
    missing.focus()
    page.keyboard.press("Enter")
    form = board.locator(".cf-content")
    expect(form.get_by_role("heading")).to_have_text("New language · rental_reminder · Japanese")
    expect(missing).to_have_attribute("aria-selected", "true")
    form.locator("textarea").first.fill("{{1}}様、{{2}}のレンタルは{{3}}までです。")
    for name, sample in (("{{1}}", "ノア"), ("{{2}}", "電動自転車"), ("{{3}}", "5月12日")):
        form.get_by_label(name).fill(sample)
    labels = form.get_by_label("Label", exact=True)
    labels.nth(0).fill("延長する")
    labels.nth(1).fill("今日返します")
    expect(form.locator(".cf-seen [lang]").first).to_contain_text(
        "ノア様、電動自転車のレンタルは5月12日までです。"
    )
    notebook.shot("boardgrid", whole=True)
    form.get_by_role("button", name="Review the change").press("Enter")
    form.get_by_role("button", name="Apply 1 change").press("Enter")
    expect(cells.nth(8 + 6)).to_have_text(re.compile("draft|broken"))
    assert "電動自転車" not in story.run(notebook, 1).inner_text()
    assert "のレンタルは" in board.page.locator(".jp-OutputArea").nth(1).inner_text()


def test_a_board_of_200_templates_in_30_languages_is_shown_and_filtered(browser: Browser) -> None:
    table = BoardTable(print, 420)
    rows = [
        content(
            template_code=f"template_{n:03}",
            lang_code=lang,
            is_draft=n % 7 == 3,
            text=f"Hello {{{{1}}}}, order {n} of {{{{2}}}} is ready, come and collect it.",
        )
        for n in range(200)
        for k, lang in enumerate(SUPPORTED[:30])
        if (n + k) % 5
    ]
    table.fill(made(rows, "en"))
    page = browser.new_page(viewport={"width": 1200, "height": 560})
    page.set_content("<!doctype html><body></body>")
    page.add_style_tag(content=BoardTable._css)
    call(page, "show", [BoardTable._esm, {name: getattr(table, name) for name in STATE}])
    cells = page.locator(".bd-cell")
    expect(cells).to_have_count(6000)
    output = page.locator(".bd-row:visible")
    expect(output).to_have_count(200)
    page.evaluate("() => player.change({ only: [1] })")
    expect(output).to_have_count(29)
    page.evaluate("() => player.change({ only: [] })")
    expect(output).to_have_count(200)

    # the cell with the cursor is never under the head or the first column
    cells.nth(0).focus()
    for keys in ("Control+End", "Control+ArrowLeft", "Control+ArrowUp"):
        page.keyboard.press(keys)
        seen = page.evaluate("""() => {
            const { x, y, width, height } = document.activeElement.getBoundingClientRect();
            return document.activeElement.contains(
                document.elementFromPoint(x + width / 2, y + height / 2));
        }""")
        assert seen, keys
    cells.nth(61).click()
    assert page.evaluate("() => player.sent.at(-1)") == {"open": [2, 1]}
    page.close()
