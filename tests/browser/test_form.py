"""A form as a person meets it: typed into, refused at a field, clicked twice, saved."""

from __future__ import annotations

import re

from browser import story
from browser.conftest import Opener
from browser.lab import Lab
from playwright.sync_api import expect

CELLS = [
    """import chatkit
from chatkit.widgets.form import Form

sandbox = chatkit.Sandbox(seed="demo")
client = chatkit.connect(sandbox)
form = Form(client.contacts)
form""",
    """posts = [entry.status for entry in sandbox._middleware.log if entry.method == "POST"]
print(posts, form.record.name, form.record.last_name)""",
    """content = Form(client.templates("order_ready"), "en")
content""",
]


def test_a_contact_is_made_and_edited_in_a_form(lab: Lab, open_notebook: Opener) -> None:
    notebook = open_notebook(story.write(lab, "form.ipynb", CELLS))
    page = notebook.page
    form = story.run(notebook, 0)
    number, country = form.get_by_label("Phone number"), form.get_by_label("Country code")
    line, button = form.locator(".chatkit-code pre"), form.get_by_role("button", name="Create")
    number.press_sequentially("2025550x")
    expect(form.get_by_role("alert")).to_contain_text("digits only")
    expect(line).to_have_text('client.contacts.create(number="2025550x")')
    expect(number).to_have_attribute("aria-invalid", "true")
    expect(number).to_have_attribute("aria-required", "true")
    expect(number).to_have_accessible_description(re.compile("country code: .*digits only"))
    notebook.shot("form_wrong")

    # nothing is sent while a field is wrong, and the cursor is put into it
    button.click()
    expect(form.get_by_role("alert").nth(1)).to_contain_text("is required")
    expect(number).to_be_focused()

    # a number that is there is refused at its field
    number.fill("7700900000")
    country.fill("+44")
    button.click()
    expect(form.get_by_role("alert").first).to_contain_text("409")
    notebook.shot("form_refused")

    number.fill("2025550187")
    country.fill("+1")
    form.get_by_label("Name", exact=True).fill("Ana $x$ <img src=x onerror=alert(1)>")
    expect(form.get_by_role("alert")).to_have_count(0)
    expect(line).to_contain_text("onerror")  # Python has it all
    button.evaluate("button => { button.click(); button.click(); }")
    expect(form.get_by_role("status")).to_contain_text("Created contact 50257.")
    expect(form.locator("img")).to_have_count(0)
    expect(line).to_contain_text('number="2025550187"')  # the line that was run
    form.get_by_role("button", name="Copy").click()
    expect(form.get_by_role("button", name="Copied")).to_be_visible()
    assert "2025550187" in page.evaluate("() => navigator.clipboard.readText()")
    notebook.shot("form_created")

    # Enter in a line of text saves, with all that was typed before it
    name = form.get_by_label("Name", exact=True)
    name.fill("")
    name.press_sequentially("Ana Cruz")
    name.press("Enter")
    expect(form.get_by_role("status")).to_contain_text("Saved contact 50257.")
    assert "[409, 201] Ana Cruz Cruz" in story.run(notebook, 1).inner_text()

    # a number that is pasted whole is split by itself
    form.get_by_role("button", name="New contact").click()
    expect(number).to_have_value("")
    page.evaluate("() => navigator.clipboard.writeText('+49 151 2345-6789')")
    number.focus()
    page.keyboard.press("Control+v")
    expect(country).to_have_value("+49")
    expect(number).to_have_value("15123456789")
    notebook.shot("form_split")

    content = story.run(notebook, 2)
    expect(content.get_by_label("Footer")).to_be_visible()
    content.locator("textarea:visible").first.press("Enter")  # a line of its own, and not sent
    expect(content.get_by_role("status")).to_have_count(0)
    moves = content.get_by_role("button", name="Move up")
    count = moves.count()
    content.get_by_role("button", name="Add button").click()
    expect(moves).to_have_count(count + 1)

    # a folded field that is wrong is unfolded when it is sent
    fold = content.locator("summary")
    fold.click()
    validity = content.get_by_label("Validity period, seconds", exact=True)
    validity.fill("soon")
    expect(validity).to_have_attribute("aria-invalid", "true")
    fold.click()
    expect(validity).to_be_hidden()
    content.get_by_role("button", name="Save content").click()
    expect(validity).to_be_focused()
    # what saves a long form stays in view
    expect(content.get_by_role("button", name="Save content")).to_be_in_viewport()
    notebook.shot("form_content", whole=True)
