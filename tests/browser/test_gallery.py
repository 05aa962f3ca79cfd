"""All widgets on one page: each looks as it does alone, and everybody can use it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from browser import story
from browser.gallery import START, STATES, TOLD
from browser.lab import Lab, OpenNotebook
from browser.phone import Phone
from playwright.sync_api import Browser, Locator, expect


class Gallery:
    """The notebook with all states, run; and which sheets each of them has brought."""

    def __init__(self, lab: Lab, browser: Browser) -> None:
        context = browser.new_context(
            viewport={"width": 1400, "height": 1000}, service_workers="block"
        )
        name = story.write(lab, "gallery.ipynb", [START, *STATES.values(), TOLD])
        self.notebook = OpenNotebook(lab, context, name)
        self.page = self.notebook.page
        self.notebook.run_all()
        told = self.notebook.cells()[-1]["outputs"][0]["text"]
        self.brought: dict[str, list[str]] = json.loads(told)
        self._settle()

    def state(self, name: str) -> Locator:
        """What the cell of a state shows."""
        cell = self.page.locator(".jp-Notebook .jp-CodeCell").nth(1 + [*STATES].index(name))
        return cell.locator(".jp-OutputArea").first

    def _settle(self) -> None:
        """Go to the states that only a person brings about, and wait until all is drawn."""
        Phone(self.state("player done").locator(".fp-player")).walk()
        self.state("editor with a source").get_by_role("tab", name="Source").click()
        self.state("tail").locator("tbody button").first.click()
        expect(self.state("tail").get_by_role("heading")).to_be_visible()
        for n, name in enumerate(STATES):
            out = self.state(name)
            expect(out.locator(".jp-OutputArea-output")).not_to_have_count(0)
        self.page.wait_for_timeout(300)


@pytest.fixture(scope="module")
def gallery(lab: Lab, browser: Browser) -> Iterator[Gallery]:
    gallery = Gallery(lab, browser)
    yield gallery
    gallery.notebook.close()


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
    const properties = new Set();
    const collect = (rules) => {
        for (const rule of rules) {
            for (const name of rule.style ?? []) if (!name.startsWith("--")) properties.add(name);
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
        const path = (at) => at === out ? "" : `${at.getAttribute("class")}>${path(at.parentElement)}`;
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
        apply(order.map((n) => texts[n % texts.length]).filter((t, n, all) => all.indexOf(t) === n));
        outs.forEach((_, n) => looks(n).forEach(([element, part, now], k) => {
            const before = alone[n][k][2];
            if (now === before || found.filter((one) => one[0] === n).length > 4) return;
            const [a, b] = [before.split("|"), now.split("|")];
            const differs = names.map((name, i) => [name, a[i], b[i]]).filter(([, x, y]) => x !== y);
            const said = differs.map(([name, x, y]) => `${name}: ${x} is ${y}`).slice(0, 5);
            found.push([n, `${element.localName}.${element.className}${part ?? ""}: ${said}`]);
        }));
    }
    apply([]);
    for (const one of [...heads, ...outs.flatMap(inside)]) one.media = "";
    return found;
}"""


ORDERS = [[*range(40)], [*range(40)][::-1], [n * 17 % 41 for n in range(41)]]


def leaks(gallery: Gallery, names: list[str], orders: list[list[int]]) -> list[str]:
    """How elements look other than alone where the sheets of all widgets are in the page."""
    cells = [1 + [*STATES].index(name) for name in names]
    own = [gallery.brought.get(str(n), []) for n in cells]
    found = gallery.page.evaluate(COMPARE, [cells, own, orders])
    return [f"{names[n]}: {said}" for n, said in found]


def test_each_widget_looks_as_it_does_alone(gallery: Gallery) -> None:
    assert leaks(gallery, [*STATES], ORDERS) == []


def test_a_rule_that_reaches_another_widget_is_noticed(gallery: Gallery) -> None:
    sheet = gallery.page.locator("head style[id$='.grid.Grid']")
    text = sheet.evaluate("one => one.textContent")
    sheet.evaluate("one => one.textContent += '.pv-body { position: relative; }'")
    try:
        found = leaks(gallery, ["grid", "preview", "tail"], ORDERS[:1])
    finally:
        sheet.evaluate("(one, text) => one.textContent = text", text)
    assert found, "no leak is noticed"
    assert all(one.startswith("preview: div.pv-body: position: static is") for one in found), found
