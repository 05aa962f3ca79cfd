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
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.timeout(400)  # the first test runs sixty cells


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
        self.page.wait_for_timeout(300)


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

#: Compares every element of every state, with only the sheets that it brought and with those of
#: all others before and after them. What it returns are the differences, some of each state.
COMPARE = """([cells, own, orders]) => {
    const inside = (out) => [...out.querySelectorAll("style")].filter((one) => !one.closest("svg"));
    const heads = [...document.head.querySelectorAll("style[id^='chatkit.']")];
    const outs = cells.map((n) =>
        document.querySelectorAll(".jp-Notebook .jp-CodeCell")[n].querySelector(".jp-OutputArea"));
    const mine = outs.map((out, n) => [
        ...new Set([...heads.filter((one) => own[n].includes(one.id)), ...inside(out)]
            .map((one) => one.textContent))]);
    const texts = [...new Set([...heads, ...outs.flatMap(inside)].map((one) => one.textContent))];
    const sizes = ["width", "height", "top", "right", "bottom", "left"]; // follow from the rest
    const properties = new Set();
    const collect = (rules) => {
        for (const rule of rules) {
            for (const name of rule.style ?? [])
                if (!name.startsWith("--") && !sizes.includes(name)) properties.add(name);
            if (rule.cssRules) collect(rule.cssRules);
        }
    };
    for (const one of [...heads, ...outs.flatMap(inside)]) collect(one.sheet.cssRules);
    const names = [...properties];
    // in place of their own sheets come copies, of these texts in this order
    for (const one of [...heads, ...outs.flatMap(inside)]) one.media = "not all";
    const copies = [];
    const apply = (order) => {
        for (const one of copies.splice(0)) one.remove();
        for (const text of order) {
            const copy = document.createElement("style");
            copy.textContent = text;
            document.head.append(copy);
            copies.push(copy);
        }
    };
    const values = (element, part) => {
        const style = getComputedStyle(element, part);
        if (part && style.content === "none") return "";
        return names.map((name) => style.getPropertyValue(name)).join("|");
    };
    // of many elements alike, like the rows of a table, three are enough
    const some = outs.map((out) => {
        const seen = new Map();
        const path = (at) =>
            at === out ? "" : `${at.getAttribute("class")}>${path(at.parentElement)}`;
        return [...out.querySelectorAll("*:not(style)")].filter((element) => {
            const key = element.localName + path(element);
            seen.set(key, (seen.get(key) ?? 0) + 1);
            return seen.get(key) <= 3;
        });
    });
    const looks = (n) => some[n].flatMap((element) =>
        [null, "::before", "::after"].map((part) => [element, part, values(element, part)]));
    const alone = [];
    for (const wanted of new Set(mine.map(String))) {
        apply(mine.find((texts) => String(texts) === wanted));
        mine.forEach((texts, n) => { if (String(texts) === wanted) alone[n] = looks(n); });
    }
    const found = [];
    for (const order of orders) {
        apply([...new Set(order.map((n) => texts[n % texts.length]))]);
        outs.forEach((_, n) => looks(n).forEach(([element, part, now], k) => {
            const before = alone[n][k][2];
            if (now === before || found.filter((one) => one[0] === n).length > 4) return;
            const [a, b] = [before.split("|"), now.split("|")];
            const differs = names.map((name, i) => a[i] !== b[i] && `${name}: ${a[i]} is ${b[i]}`);
            const problems = differs.filter(Boolean).slice(0, 5);
            found.push([n, `${element.localName}.${element.className}${part ?? ""}: ${problems}`]);
        }));
    }
    apply([]);
    for (const one of [...heads, ...outs.flatMap(inside)]) one.media = "";
    return found;
}"""


ORDERS = [[*range(40)], [*range(40)][::-1], [n * 17 % 41 for n in range(41)]]


def leaks(gallery: Gallery, names: list[str], orders: list[list[int]]) -> list[str]:
    """Return the elements that look otherwise than alone, with all style sheets loaded."""
    cells = [1 + [*STATES].index(name) for name in names]
    own = [gallery.brought.get(str(n), []) for n in cells]
    result = gallery.page.evaluate(COMPARE, [cells, own, orders])
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
#: What reacts to a click is reached by the keyboard: it is a control, in one, or around one; of a
#: grid or a tree one element has the focus, and arrows move it.
UNREACHED = """(outs) => [...document.querySelectorAll(outs)].flatMap((out, n) => {
    const control = ":is(a[href], button, input, select, textarea, summary, label, [tabindex])";
    const found = [...out.querySelectorAll("*")].filter((one) => one.checkVisibility());
    const points = (one) => one.onclick || getComputedStyle(one).cursor === "pointer";
    const clicked = found.filter(points);
    const lost = clicked.filter((one) => !one.closest(control) && !one.querySelector(control));
    const wide = [...out.querySelectorAll("[role=grid], [role=tree]")].filter((one) =>
        one.querySelectorAll("[role=gridcell], [role=treeitem]").length
        && one.querySelectorAll("[tabindex='0']").length !== 1);
    const ahead = found.filter((one) => one.tabIndex > 0);
    return [...lost, ...wide, ...ahead].map((one) => [n, one.outerHTML.slice(0, 160)]);
})"""


def of_states(result: list[tuple[int, str]]) -> list[str]:
    """Return the findings by state; cell 0 has no widget."""
    return [f"{[*STATES][n - 1]}: {message}" for n, message in result if 0 < n <= len(STATES)]


@pytest.mark.parametrize(("shade", "rules"), [("Dark", looks.COLOURS), ("Light", [])])
def test_axe_finds_nothing_in_any_state(gallery: Gallery, shade: Any, rules: list[str]) -> None:
    """A theme changes colours only."""
    gallery.notebook.theme(shade)
    gallery.state("grid with options").scroll_into_view_if_needed()  # its dialog goes with it
    gallery.page.wait_for_timeout(300)  # colours fade
    assert of_states(looks.violations(gallery.page, OUTPUTS, rules)) == []
    photograph(gallery, shade.lower())


def test_what_is_clicked_is_reached_by_keyboard(gallery: Gallery) -> None:
    assert of_states(gallery.page.evaluate(UNREACHED, OUTPUTS)) == []


ALONE = ".jp-Notebook.one-cell .jp-Cell:not(.tested) { display: none; }"
#: Puts the focus on the first control of an output, which alone is visible, and records which
#: controls get it from then on.
TRACK_FOCUS = """(out) => {
    const notebook = out.closest(".jp-Notebook"), cell = out.closest(".jp-Cell");
    notebook.classList.add("one-cell");
    notebook.querySelector(".tested")?.classList.remove("tested");
    cell.classList.add("tested");
    const controls = "a[href], button, input, select, textarea, summary, [tabindex]";
    const open = (one) => one.checkVisibility({ visibilityProperty: true }) && one.tabIndex >= 0
        && !one.disabled && !(one.type === "radio" && !one.checked && one.name);
    const left = new Set([...out.querySelectorAll(controls)].filter(open)), all = [...left];
    const note = ({ target }) => left.delete(target);
    out.addEventListener("focusin", note);
    all[0]?.focus();
    left.delete(document.activeElement); // no event tells of it where the window is not in front
    window.focused = () => {
        out.removeEventListener("focusin", note);
        const problems = [...left].filter(open).map((one) => `not reached: ${one.outerHTML}`);
        if (out.contains(document.activeElement))
            problems.push(`not left: ${document.activeElement.outerHTML}`);
        return problems.map((one) => one.slice(0, 160));
    };
    window.focused.within = () => out.contains(document.activeElement);
    window.focused.end = () =>
        [notebook, cell].map((one) => one.classList.remove("one-cell", "tested"));
    return all.length;
}"""


def test_tab_leads_to_every_control_and_out_again(gallery: Gallery) -> None:
    lost = {}
    gallery.page.add_style_tag(content=ALONE)  # at each step all that is in sight is laid out
    for name in STATES:
        count = gallery.state(name).evaluate(TRACK_FOCUS)
        for n in range(count + 10):  # what can be scrolled is reached too
            if n >= count and not gallery.page.evaluate("focused.within()"):
                break
            gallery.page.keyboard.press("Tab")
        if result := gallery.page.evaluate("focused()"):
            lost[name] = result
    gallery.page.evaluate("() => focused.end()")
    assert not lost, json.dumps(lost, indent=1)


#: Sends keys to every kind of control in every state, and returns those that went further than
#: they may, or not as far as they must.
KEYS = """(outs) => {
    const lab = [], found = [];
    const hear = (event) => { lab.push(event); event.stopPropagation(); };
    document.documentElement.addEventListener("keydown", hear);
    const goesOn = (one, keys) => {
        const event = new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...keys });
        lab.length = 0;
        one.dispatchEvent(event);
        return lab.length > 0;
    };
    const own = {
        save: { key: "s", ctrlKey: true }, "save on a Mac": { key: "s", metaKey: true },
        palette: { key: "C", ctrlKey: true, shiftKey: true }, sidebar: { key: "b", ctrlKey: true },
    };
    document.querySelectorAll(outs).forEach((out, n) => {
        const kinds = new Set();
        for (const one of out.querySelectorAll("input, select, textarea, button, [tabindex]")) {
            if (!one.isConnected) continue; // a key before has drawn it anew
            const kind = `${one.localName} ${one.type} ${one.role} ${one.parentElement.className}`;
            if (kinds.has(kind) || !one.checkVisibility() || !one.closest(CHATKIT)) continue;
            kinds.add(kind);
            const problems = one.outerHTML.slice(0, 100);
            for (const [name, keys] of Object.entries(own))
                if (!goesOn(one, keys)) found.push([n, `${name} does not go on: ${problems}`]);
            if (goesOn(one, { key: "x" })) found.push([n, `a letter goes on: ${problems}`]);
            if (one.matches("input, textarea") && goesOn(one, { key: "z", ctrlKey: true }))
                found.push([n, `undo goes on: ${problems}`]);
            one.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
        }
    });
    document.documentElement.removeEventListener("keydown", hear);
    return found;
}""".replace(
    "CHATKIT",
    "'.fp-player, [class*=-grid], .tl-tail, .bd-board, [class*=chatkit-]:not(.chatkit-frame)'",
)


def test_shortcuts_of_jupyter_pass_through_and_letters_do_not(gallery: Gallery) -> None:
    """The last of the gallery: the grids have been typed into."""
    assert of_states(gallery.page.evaluate(KEYS, OUTPUTS)) == []


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


def test_older_messages_are_shown_by_keyboard(gallery: Gallery) -> None:
    state = gallery.state("conversation long")
    expect(state.locator("li.theirs")).to_have_count(20)
    state.get_by_role("button", name="Show 20 older").press("Enter")
    expect(state.locator("li.theirs")).to_have_count(40)
    expect(state.get_by_role("button", name="older")).to_have_count(0)  # there are no more


# --- where there is less space ----------------------------------------------------------------

#: The words of tables that are broken in their middle.
BROKEN = """(outs) => [...document.querySelectorAll(outs)].flatMap((out, n) => {
    const found = [], nodes = document.createTreeWalker(out, NodeFilter.SHOW_TEXT);
    while (nodes.nextNode()) {
        const text = nodes.currentNode, around = text.parentElement, range = document.createRange();
        if (!around.closest("td, th") || !around.checkVisibility()) continue;
        for (const { 0: word, index } of text.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
            range.setStart(text, index);
            range.setEnd(text, index + word.length);
            if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1)
                found.push([n, word]);
        }
    }
    return found;
})"""


def test_with_less_space_no_word_is_broken_and_what_goes_on_says_so(gallery: Gallery) -> None:
    page = gallery.page
    page.set_viewport_size({"width": 900, "height": 1000})
    try:
        expect(gallery.state("tail live").locator(".tl-more")).to_have_text("more at the side →")
        pane = gallery.state("tail live").locator(".tl-pane")
        pane.evaluate("one => one.scrollLeft = 9999")
        expect(gallery.state("tail live").locator(".tl-more")).to_have_text("← more at the side")
        expect(gallery.state("board").locator(".bd-more")).to_have_text("more at the side →")
        assert of_states(page.evaluate(BROKEN, OUTPUTS)) == []
        photograph(gallery, "narrow")
    finally:
        page.set_viewport_size({"width": 1400, "height": 1000})
    expect(gallery.state("tail live").locator(".tl-more")).to_be_hidden()
