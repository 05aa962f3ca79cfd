"""All widgets on one page: each looks as it does alone, and everybody can use it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from browser import looks, story
from browser.gallery import START, STATES, WRITE_KINDS
from browser.lab import PHOTOGRAPHED, SHOTS, OpenNotebook, Window
from browser.phone import Phone
from browser.scripts import call
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.timeout(900)  # the first test runs eighty cells


class Gallery:
    """The notebook with all states, run; and which sheets each of them has brought."""

    def __init__(self, window: Window) -> None:
        name = story.write(window.lab, "gallery.ipynb", [START, *STATES.values(), WRITE_KINDS])
        self.notebook = OpenNotebook(window, name)
        self.page = self.notebook.page
        self.notebook.run_all()
        report = (window.lab.root / "brought.json").read_text()
        self.brought: dict[str, list[str]] = json.loads(report)
        self._settle()

    def state(self, name: str) -> Locator:
        """Return the output of the cell of a state."""
        cell = self.page.locator(".jp-Notebook .jp-CodeCell").nth(1 + [*STATES].index(name))
        return cell.locator(".jp-OutputArea").first

    def _settle(self) -> None:
        """Go to the states that only a person brings about, and wait until all is drawn."""
        Phone(self.state("player done").locator(".fp-player")).complete()
        self.state("editor with a source").get_by_role("tab", name="Source").click()
        self.state("tail").locator("tbody button").first.click()
        expect(self.state("tail").get_by_role("heading")).to_be_visible()
        for name in STATES:
            expect(self.state(name).locator(".jp-OutputArea-output")).not_to_have_count(0)
        self.state("grid with options").locator(".gd-options").nth(1).click()
        expect(self.state("grid with options").get_by_role("checkbox")).not_to_have_count(0)
        looks.settle(self.page)


@pytest.fixture(scope="module")
def gallery(window: Window) -> Iterator[Gallery]:
    gallery = Gallery(window)
    yield gallery
    gallery.notebook.close()


def photograph(gallery: Gallery, name: str) -> None:
    """Leave pictures of all states in shots/, each as high as some of them."""
    if not PHOTOGRAPHED:
        return
    page, strip = gallery.page, 4000
    before = page.viewport_size
    assert before is not None
    SHOTS.mkdir(exist_ok=True)
    page.set_viewport_size({"width": before["width"], "height": strip + 120})
    pane = page.locator(".jp-WindowedPanel-outer")
    height = pane.evaluate("one => one.scrollHeight")
    for n in range(-(-height // strip)):
        pane.evaluate("(one, top) => { one.scrollTop = top; }", n * strip)
        page.screenshot(path=SHOTS / f"gallery_{name}_{n + 1:02}.jpg", type="jpeg", quality=75)
    page.set_viewport_size(before)


# --- each looks as it does alone --------------------------------------------------------------


ORDERS = [[*range(40)], [*range(40)][::-1], [n * 17 % 41 for n in range(41)]]


def leaks(gallery: Gallery, names: list[str], orders: list[list[int]]) -> list[str]:
    """Return the elements that look otherwise than alone, with all style sheets loaded."""
    cells = [1 + [*STATES].index(name) for name in names]
    own = [gallery.brought.get(str(n), []) for n in cells]
    result = call(gallery.page, "compare", [cells, own, orders])
    return [f"{names[n]}: {message}" for n, message in result]


def test_each_widget_looks_as_it_does_alone(gallery: Gallery) -> None:
    result = leaks(gallery, [*STATES], ORDERS)
    assert result == [], "\n".join(result)


def test_a_rule_that_reaches_another_widget_is_noticed(gallery: Gallery) -> None:
    sheet = gallery.page.locator("head style[id$='.grid.GridTable']")
    text = sheet.evaluate("one => one.textContent")
    sheet.evaluate("one => one.textContent += '.pv-preview { position: relative; }'")
    try:
        result = leaks(gallery, ["grid", "preview", "tail"], ORDERS[:1])
    finally:
        sheet.evaluate("(one, text) => one.textContent = text", text)
    assert result, "no leak is noticed"
    assert all(
        one.startswith("preview: div.chatkit-group pv-preview: position: static is")
        for one in result
    ), result


# --- everybody can use it ---------------------------------------------------------------------

OUTPUTS = ".jp-Notebook .jp-CodeCell .jp-OutputArea"


def of_states(result: list[tuple[int, str]]) -> list[str]:
    """Return the findings by state; cell 0 has no widget."""
    return [f"{[*STATES][n - 1]}: {message}" for n, message in result if 0 < n <= len(STATES)]


@pytest.mark.parametrize(("shade", "rules"), [("Dark", looks.COLOURS), ("Light", [])])
def test_axe_finds_nothing_in_any_state(gallery: Gallery, shade: Any, rules: list[str]) -> None:
    """A theme changes colours only."""
    gallery.notebook.theme(shade)
    gallery.state("grid with options").scroll_into_view_if_needed()  # its dialog goes with it
    looks.settle(gallery.page)  # colours fade
    assert of_states(looks.violations(gallery.page, OUTPUTS, rules)) == []
    photograph(gallery, shade.lower())


def test_what_is_clicked_is_reached_by_keyboard(gallery: Gallery) -> None:
    assert of_states(call(gallery.page, "unreached", OUTPUTS)) == []


CONTROLS = {
    *("textbox", "searchbox", "spinbutton", "combobox", "checkbox", "radio", "switch", "slider"),
    *("button", "link", "tab", "treeitem", "grid", "tree", "option"),
}
PLACE = """function () {
    const out = this.closest?.(".jp-OutputArea-output");
    return out ? this.outerHTML.slice(0, 160) : "";
}"""


def test_every_control_of_all_widgets_has_a_name_and_an_id_of_its_own(gallery: Gallery) -> None:
    """There are two of each and more; the names are those of the browser's own tree."""
    session = gallery.page.context.new_cdp_session(gallery.page)
    nameless = []
    for node in session.send("Accessibility.getFullAXTree")["nodes"]:
        role, name = (node.get(part, {}).get("value", "") for part in ("role", "name"))
        if node["ignored"] or role not in CONTROLS or str(name).strip():
            continue
        resolved = session.send("DOM.resolveNode", {"backendNodeId": node["backendDOMNodeId"]})
        asked = {"functionDeclaration": PLACE, "objectId": resolved["object"]["objectId"]}
        place = session.send("Runtime.callFunctionOn", {**asked, "returnByValue": True})
        nameless.append(place["result"].get("value"))
    session.detach()
    assert [one for one in nameless if one] == []
    assert call(gallery.page, "ids") == [[], []]


CHANNELS = "one => getComputedStyle(one).backgroundColor.match(/[0-9.]+/g).map(Number)"


def test_old_is_red_new_is_green_and_each_text_has_its_direction(gallery: Gallery) -> None:
    for name in ("plan view", "folder view", "queue stale and answered"):
        red, green, *_ = gallery.state(name).locator("del").first.evaluate(CHANNELS)
        assert red > green, name
        red, green, *_ = gallery.state(name).locator("ins").first.evaluate(CHANNELS)
        assert green > red, name
    hebrew = gallery.state("tail").get_by_text("שלום").first
    assert hebrew.evaluate("one => getComputedStyle(one).direction") == "rtl"
    phone = gallery.state("preview from right to left").locator(".pv-preview [lang]")
    expect(phone).to_have_attribute("dir", "rtl")
    assert gallery.page.locator(OUTPUTS).locator("img[src=x], .MathJax").count() == 0
    for theme in ("Dark", "Light"):  # a drawing follows at once, and is not run again
        gallery.notebook.theme(theme)  # type: ignore[arg-type]
        box = gallery.state("flow graph").locator(".box").first
        light = sum(box.evaluate(CHANNELS.replace("backgroundColor", "fill"))[:3]) / 3
        assert (light > 128) == (theme == "Light")


def test_what_applies_a_long_plan_stays_in_view(gallery: Gallery) -> None:
    view = gallery.state("plan view blocked").locator(".chatkit-planview").first
    view.locator("tbody").last.evaluate("one => one.scrollIntoView({ block: 'end' })")
    expect(view.get_by_role("button", name="Apply").first).to_be_in_viewport()


ALONE = ".jp-Notebook.one-cell .jp-Cell:not(.tested) { display: none; }"


def test_tab_leads_to_every_control_and_out_again_and_shows_the_focus(gallery: Gallery) -> None:
    lost = {}
    gallery.page.add_style_tag(content=ALONE)  # at each step all that is in sight is laid out
    for name in STATES:
        count = call(gallery.state(name), "trackFocus")
        for n in range(count + 10):  # what can be scrolled is reached too
            if n >= count and not gallery.page.evaluate("focused.within()"):
                break
            gallery.page.keyboard.press("Tab")
        if result := gallery.page.evaluate("focused()"):
            lost[name] = result
    gallery.page.evaluate("() => focused.end()")
    assert not lost, json.dumps(lost, indent=1)


def test_shortcuts_of_jupyter_pass_through_and_letters_do_not(gallery: Gallery) -> None:
    """The last of the gallery: the grids have been typed into."""
    assert of_states(call(gallery.page, "keys", OUTPUTS)) == []


def test_ctrl_s_saves_the_notebook_from_inside_a_form(gallery: Gallery) -> None:
    page = gallery.page
    page.evaluate(
        """() => {
            window.ran = [];
            jupyterapp.commands.commandExecuted.connect((_, { id }) => window.ran.push(id));
        }"""
    )
    for control in (
        gallery.state("form").locator("input").first,  # one of ipywidgets, which keep every key
        gallery.state("login").locator("input").first,
        gallery.state("grid").get_by_role("gridcell").first,
    ):
        page.evaluate("() => { window.ran.length = 0; }")
        control.focus()
        page.keyboard.press("Control+s")
        page.wait_for_function("() => window.ran.includes('docmanager:save')")


# --- where there is less space ----------------------------------------------------------------


def test_with_less_space_no_word_is_broken_and_what_goes_on_says_so(gallery: Gallery) -> None:
    page = gallery.page
    page.set_viewport_size({"width": 900, "height": 1000})
    try:
        expect(gallery.state("tail live").locator(".tl-more")).to_have_text("more at the side →")
        pane = gallery.state("tail live").locator(".tl-pane")
        pane.evaluate("one => one.scrollLeft = 9999")
        expect(gallery.state("tail live").locator(".tl-more")).to_have_text("← more at the side")
        expect(gallery.state("board").locator(".bd-more")).to_have_text("more at the side →")
        assert of_states(call(page, "brokenWords", OUTPUTS)) == []
        photograph(gallery, "narrow")
    finally:
        page.set_viewport_size({"width": 1400, "height": 1000})
    expect(gallery.state("tail live").locator(".tl-more")).to_be_hidden()
