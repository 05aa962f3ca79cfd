"""The player as a person meets it: flows filled in, refused, completed, taken back."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import looks
from browser.conftest import Opener
from browser.lab import SHOTS, Lab
from browser.phone import Bare, Phone, shot
from browser.story import run, write
from oracles.evaluation import evaluate, holds
from playwright.sync_api import Browser, expect
from volume import FULL
from widgets.showcase import DOCUMENT, field, footer, screen

from chatkit.flowjson.rules.expression import ExpressionError
from chatkit.widgets.controls import join_files

EVIL = "<img src=x onerror=alert(1)>"
SEND = footer("Send", "complete", {"x": "${form.x}"})
ANSWERED = {
    "name": "Ana",
    "age": "42",
    "terms": True,
    "place": "Lisbon",
    "days": {"start-date": "2030-05-02", "end-date": "2030-05-05"},
    "topic": "sea",
    "meals": ["l"],
    "sports": ["surf"],
    "room": "single",
    "papers": [{"file_name": "sample.pdf", "mime_type": "application/pdf", "size": 1024}],
    "nights": 43,
}


def flow(*children: dict[str, Any], data: Any = None, **more: Any) -> dict[str, Any]:
    """A flow of one screen."""
    one = screen("A", "One", *children, data=data, terminal=True)
    return {"version": "7.3", "screens": [one], **more}


def options(*titles: str) -> list[dict[str, Any]]:
    return [{"id": title[0].lower(), "title": title} for title in titles]


@pytest.fixture(scope="module")
def bare(browser: Browser) -> Iterator[Bare]:
    """Show players without a notebook; at the end the page may not have complained."""
    page = Bare(browser)
    yield page
    page.close()


# --- whole flows ----------------------------------------------------------------------------


def test_a_flow_of_all_components_is_completed_and_its_answers_arrive(
    lab: Lab, open_notebook: Opener
) -> None:
    (lab.root / "all.json").write_text(json.dumps(DOCUMENT))
    show = 'import json\nfrom chatkit.widgets import Player\nplayer = Player("all.json")\nplayer'
    cells = [show, "print(json.dumps([player.steps, player.answers]))"]
    notebook = open_notebook(write(lab, "player.ipynb", cells))
    phone = Phone(run(notebook, 0).locator(".fp-player"))
    phone.complete()
    steps, answers = json.loads(run(notebook, 1).inner_text())
    assert [step["next"] for step in steps[:-1]] == ["WHERE", "WHEN", "PHOTO", "PAPERS"]
    assert answers == steps[-1]["payload"] == ANSWERED
    phone.root.scroll_into_view_if_needed()
    notebook.shot("player")
    notebook.theme("Dark")
    notebook.shot("player_dark")


def test_every_sample_is_completed(bare: Bare, shared: Path) -> None:
    """One in four; `make full` completes all of them."""
    samples = sorted((shared / "samples/flows/valid").glob("*.json"))
    assert len(samples) >= 12
    for path in samples[:: 1 if FULL else 4]:
        bare.show(path).complete()
        assert bare.state("answers") == bare.state("steps")[-1]["payload"], path.name


@pytest.mark.parametrize(("shade", "rules"), [("light", []), ("dark", looks.COLOURS)])
def test_axe_finds_nothing_on_any_screen_and_all_can_be_read(
    bare: Bare, shade: str, rules: list[str]
) -> None:
    phone = bare.show(DOCUMENT, dark=shade == "dark")
    SHOTS.mkdir(exist_ok=True)
    result: list[str] = []

    def collect() -> None:
        looks.settle(bare.page)
        title = phone.title.inner_text()
        findings = looks.violations(bare.page, ".fp-player", rules)
        result.extend(f"{title}: {message}" for _, message in findings)
        # what is off may be faint
        result.extend(looks.faint(phone.root.locator(".fp-phone"), ".fp-off *"))
        shot(bare.page, SHOTS / f"player_{title}_{shade}.png")

    def look() -> None:
        collect()
        if (date := phone.body.locator(".fp-date")).count():
            date.first.press("Enter")
            collect()
            bare.page.keyboard.press("Escape")
            expect(date.first).to_be_focused()

    phone.complete(look)
    look()
    assert list(dict.fromkeys(result)) == []


# --- filling in -----------------------------------------------------------------------------


def test_what_is_missing_closes_the_footer_and_what_is_wrong_is_told(bare: Bare) -> None:
    phone = bare.show(DOCUMENT)
    expect(phone.send).to_have_attribute("aria-disabled", "true")
    expect(phone.body.locator(".fp-wrong:visible")).to_have_count(0)  # nothing is told at once
    phone.press()
    mail = phone.field("Email")
    expect(mail).to_be_focused()
    expect(mail).to_have_attribute("aria-invalid", "true")
    expect(phone.body.locator(".fp-wrong:visible")).to_have_text(["Required.", "Required."])
    mail.fill("ana")
    phone.body.get_by_role("checkbox").check()
    expect(phone.send).to_have_attribute("aria-disabled", "false")
    phone.send.click()
    expect(phone.title).to_have_text("About you")
    expect(phone.body).to_contain_text("Enter an email address.")
    mail.fill("ana@example.com")
    phone.field("Full name").fill("A")
    phone.field("Booking code").fill("abc")
    phone.send.click()
    report = phone.body.locator(".fp-wrong:visible")
    expect(report).to_have_text(["Enter at least 2 characters.", "Two letters, three digits"])
    expect(phone.field("Full name")).to_be_focused()
    phone.field("Full name").fill("x" * 21)
    expect(report.first).to_have_text("Enter at most 20 characters.")
    expect(phone.body).to_contain_text("21/20")
    phone.field("Full name").fill("Ana Lúcia")
    phone.field("Booking code").fill("AB123")
    expect(report).to_have_count(0)
    phone.field("Age").fill("12")
    expect(phone.body).to_contain_text("Someone grown up")
    expect(phone.field("Wishes")).to_be_hidden()
    phone.send.click()
    expect(phone.title).to_have_text("Where to")
    assert bare.state("steps")[0]["payload"] == {"name": "Ana Lúcia", "mail": "ana@example.com"}


def test_branches_and_data_follow_what_is_entered(bare: Bare) -> None:
    both = {"type": "If", "condition": "(${form.o} == true) && (${data.n} >= 3)",
            "then": [{"type": "TextBody", "text": "both"}],
            "else": [{"type": "TextBody", "text": "not yet"}]}  # fmt: skip
    why = {"a": [field("TextInput", "x", "Why A", required=True)]}
    phone = bare.show(
        flow(
            field("Dropdown", "d", "Kind", data_source=options("A")),
            field("OptIn", "o", "Yes"),
            both,
            {"type": "Switch", "value": "${form.d}", "cases": why},
            field("TextInput", "y", "Later", enabled="`${form.o} == true`"),
            {"type": "TextBody", "text": "seen", "visible": "`${form.d} == 'a'`"},
            SEND,
            data={"n": {"type": "number", "__example__": 3}},
        )
    )
    expect(phone.body).to_contain_text("not yet")
    expect(phone.body.get_by_text("seen", exact=True)).to_be_hidden()
    expect(phone.field("Later")).to_be_disabled()
    expect(phone.send).to_have_attribute("aria-disabled", "false")
    phone.field("Kind").select_option("a")
    expect(phone.body.get_by_text("seen", exact=True)).to_be_visible()
    expect(phone.send).to_have_attribute("aria-disabled", "true")  # of the case shown now
    phone.body.get_by_role("checkbox").check()
    expect(phone.body.get_by_text("both", exact=True)).to_be_visible()
    expect(phone.body.get_by_text("not yet", exact=True)).to_be_hidden()
    expect(phone.field("Later")).to_be_enabled()
    phone.field("Why A").fill("because")
    expect(phone.sent).to_contain_text('"x": "because"')  # what would be sent is shown
    phone.send.click()
    assert bare.state("answers") == {"x": "because"}


def test_counts_are_kept_and_data_is_updated_by_a_choice(bare: Bare) -> None:
    items = options("A", "B", "C", "D")
    items[3]["on-select-action"] = {"name": "update_data", "payload": {"said": "D it is"}}
    fewer = {"name": "update_data", "payload": {"sizes": options("Small")}}
    sizes = {"type": "array", "items": {"type": "object"}, "__example__": options("Small", "Large")}
    phone = bare.show(
        flow(
            field("CheckboxGroup", "x", "Pick", data_source=items, min_selected_items=2,
                  max_selected_items=3, required=True),
            {"type": "TextBody", "text": "${data.said}"},
            field("Dropdown", "y", "Size", required=True, data_source="${data.sizes}"),
            field("OptIn", "o", "Children", on_select_action=fewer),
            footer("Send", "complete", {"x": "${form.x}", "y": "${form.y}"}),
            data={"said": {"type": "string", "__example__": "nothing yet"}, "sizes": sizes},
        )
    )  # fmt: skip
    boxes = phone.body.get_by_role("checkbox")
    expect(phone.body).to_contain_text("Choose 2 to 3.")
    boxes.nth(0).check()
    phone.field("Size").select_option("l")
    expect(phone.send).to_have_attribute("aria-disabled", "true")
    phone.press()
    expect(phone.body).to_contain_text("Choose at least 2 options.")
    boxes.nth(3).check()
    expect(phone.body).to_contain_text("D it is")
    boxes.nth(2).check()
    expect(boxes.nth(1)).to_be_disabled()
    expect(phone.send).to_have_attribute("aria-disabled", "false")
    boxes.nth(4).check()  # a choice that the data no longer has is given up
    expect(phone.field("Size")).to_have_value("")
    expect(phone.send).to_have_attribute("aria-disabled", "true")
    phone.field("Size").select_option("s")
    phone.send.click()
    assert bare.state("answers") == {"x": ["a", "c", "d"], "y": "s"}


def test_a_flow_is_completed_by_keyboard_alone_and_the_focus_goes_to_titles(bare: Bare) -> None:
    days = field(
        "CalendarPicker", "x", "Stay", mode="range", min_date="2030-05-01", max_date="2030-06-30",
        unavailable_dates=["2030-05-03"], include_days=["Wed", "Thu", "Fri"], min_days=2,
        required=True,
    )  # fmt: skip
    names = {name: f"${{screen.A.form.{name}}}" for name in "nrco"} | {"x": "${form.x}"}
    first = screen(
        *("A", "One"),
        field("TextInput", "n", "Name", required=True),
        field("RadioButtonsGroup", "r", "Size", data_source=options("Small", "Large")),
        field("ChipsSelector", "c", "Extras", data_source=options("Milk", "Sugar")),
        field("OptIn", "o", "Yes", required=True),
        footer("Go on", "navigate", {}, to="B"),
    )
    last = screen("B", "Two", days, footer("Send", "complete", names), terminal=True)
    phone, keys = bare.show({"version": "7.3", "screens": [first, last]}), bare.page.keyboard

    def press(*names: str) -> None:
        for name in names:
            keys.press(name)

    press("Tab", "Tab")  # past the cross
    keys.type("Ana")
    press("Tab", "Space", "ArrowDown", "Tab", "Tab", "Space", "Tab", "Space", "Tab")
    expect(phone.send).to_be_focused()
    press("Enter")
    expect(phone.title).to_have_text("Two")
    expect(phone.title).to_be_focused()
    press("Tab")
    expect(phone.field("Stay")).to_be_focused()
    press("Enter")
    focused = phone.body.locator(".fp-day:focus")
    expect(focused).to_have_attribute("data-date", "2030-05-01")
    press("ArrowRight", "ArrowRight")
    expect(focused).to_have_attribute("aria-disabled", "true")
    press("Enter", "ArrowLeft", "Enter")  # the 3rd is not available
    expect(focused).to_have_attribute("aria-pressed", "true")
    press("PageDown")
    expect(focused).to_have_attribute("data-date", "2030-06-01")
    press("PageUp", "ArrowDown", "Enter")
    expect(phone.field("Stay")).to_be_focused()
    expect(phone.field("Stay")).to_contain_text("–")
    press("Tab", "Enter")
    expect(phone.body.get_by_role("heading")).to_be_focused()
    stay = {"start-date": "2030-05-02", "end-date": "2030-05-08"}
    assert bare.state("answers") == {"n": "Ana", "r": "l", "c": ["s"], "o": True, "x": stay}


def test_back_keeps_what_was_entered_and_the_end_begins_anew(bare: Bare) -> None:
    phone = bare.show(DOCUMENT)
    phone.field("Email").fill("ana@example.com")
    phone.body.get_by_role("button", name="Read more").click()
    expect(phone.title).to_have_text("Terms")
    expect(phone.title).to_be_focused()
    link = phone.body.get_by_role("link", name="the list")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    expect(phone.body.locator("td")).to_have_text(["7", "480 €"])
    phone.back.click()
    expect(phone.field("Email")).to_have_value("ana@example.com")
    phone.complete()
    assert bare.state("answers")["name"] == "Ana"
    expect(phone.body).to_contain_text("The answers were sent")
    phone.body.get_by_role("button", name="Start again").click()
    expect(phone.field("Email")).to_have_value("")
    assert (bare.state("answers"), bare.state("steps")) == (None, [])


def test_patterns_errors_of_the_endpoint_and_dates_before_version_5(bare: Bare) -> None:
    endless = field("TextInput", "x", "Name", pattern="^(a+)+$", helper_text="only a")
    phone = bare.show(flow(endless, field("TextInput", "y", "Code", pattern="("), SEND))
    phone.field("Name").fill("a" * 40 + "!")
    phone.field("Code").fill("x")
    expect(phone.sent).to_contain_text("The pattern ^(a+)+$ is not tried here")
    expect(phone.sent).to_contain_text("The pattern ( is not tried here: it cannot be read.")
    phone.send.click()
    assert bare.state("answers") == {"x": "a" * 40 + "!"}

    data = {
        "start": {"type": "object", "__example__": {"x": "Bo"}},
        "errors": {"type": "object", "__example__": {"x": "Taken"}},
    }
    form = {"type": "Form", "name": "f", "init-values": "${data.start}",
            "error-messages": "${data.errors}",
            "children": [field("TextInput", "x", "Name"), SEND]}  # fmt: skip
    bare.show(flow(form, data=data))
    expect(phone.send).to_have_attribute("aria-disabled", "false")
    expect(phone.field("Name")).to_have_value("Bo")
    expect(phone.body).to_contain_text("Taken")  # until the field is changed
    phone.field("Name").fill("Di")
    expect(phone.body).not_to_contain_text("Taken")

    day = field("DatePicker", "x", "Day", min_date="1893456000000")
    form = {"type": "Form", "name": "f", "children": [day, SEND]}
    bare.show(flow(form, version="2.1"))
    expect(phone.field("Day")).to_have_attribute("min", "2030-01-01")
    phone.field("Day").fill("2029-12-31")
    phone.press()
    expect(phone.body).to_contain_text("or later.")
    phone.field("Day").fill("2030-01-02")
    phone.send.click()
    assert bare.state("answers") == {"x": "1893542400000"}


def test_where_an_endpoint_would_decide_the_routing_model_does(bare: Bare) -> None:
    one = screen("A", "One", footer("Next", "data_exchange", {"from": "A"}))
    city = {"city": {"type": "string", "__example__": "Lisbon"}}
    text = {"type": "TextBody", "text": "${data.city}"}
    two = screen("B", "Two", text, footer("Book", "data_exchange", {}), data=city, terminal=True)
    routes = {"data_api_version": "3.0", "routing_model": {"A": ["B"], "B": []}}
    phone = bare.show({"version": "7.3", **routes, "screens": [one, two]})
    phone.send.click()
    expect(phone.body).to_contain_text("Lisbon")
    phone.back.click()
    expect(phone.title).to_have_text("One")
    phone.send.click()
    phone.send.click()
    expect(phone.title).to_have_text("Sent")
    assert [step["payload"] for step in bare.state("steps")] == [{"from": "A"}, {"from": "A"}, {}]


# --- strangers ------------------------------------------------------------------------------


def test_no_text_becomes_markup_and_no_link_a_script(bare: Bare) -> None:
    texts = [f"# {EVIL}", f"- **{EVIL}**", f"| {EVIL} |", "[a](javascript:alert(1)) ![b](x.png)"]
    links = [
        {"type": "EmbeddedLink", "text": "go", "on-click-action": {"name": "open_url", "url": url}}
        for url in ("javascript:alert(1)", "https://example.com/a")
    ]
    payload = {"p": "${form.__proto__}", "x": EVIL, "c": "${data.constructor}"}
    phone = bare.show(
        flow(
            {"type": "TextHeading", "text": EVIL},
            {"type": "TextBody", "markdown": True, "text": texts},
            *links,
            {"type": "Image", "src": "PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+", "alt-text": EVIL},
            field("CheckboxGroup", "__proto__", EVIL, data_source=[{"id": EVIL, "title": EVIL}]),
            field("TextInput", "constructor", "c"),
            footer("Send", "complete", payload),
        )
    )
    expect(phone.body.locator("img, script, svg [onload]")).to_have_count(0)
    expect(phone.body).to_contain_text(EVIL)
    hrefs = phone.body.locator("a").evaluate_all("all => all.map((one) => one.href)")
    assert hrefs == ["https://example.com/a"]
    phone.body.get_by_role("checkbox").check()
    phone.send.click()
    assert bare.state("answers") == {"p": [EVIL], "x": EVIL, "c": None}
    expect(phone.root.locator(".fp-phone img")).to_have_count(0)


BROKEN = {
    "text": '{"version": ',
    "a number": "7",
    "no screens": {"version": "7.3"},
    "screens of nothing": {"version": "7.3", "screens": [None, 3]},
    "nested deep": "[" * 3000 + "]" * 3000,
    "an empty screen": {"screens": [{}]},
    "wrong everywhere": {"screens": [{"id": 3, "title": [], "data": 7, "layout": {"children": [
        None, 5, {"type": "Nope"}, {"type": []}, {"type": "TextBody", "text": {"a": 1}},
        {"type": "TextInput", "name": 4}, {"type": "Dropdown", "name": "d", "data-source": 7},
        {"type": "Switch", "cases": 3}, {"type": "If", "then": 4}, {"type": "Image", "src": 1},
        {"type": "TextInput", "name": "p", "label": 3, "pattern": "(", "min-chars": "x"},
        {"type": "TextInput", "name": "q", "pattern": "(a+)+$", "helper-text": 4},
        {"type": "CalendarPicker", "name": "c", "mode": "range", "min-date": "x", "init-value": 4},
        {"type": "NavigationList", "list-items": [1, {"main-content": 3}]},
        {"type": "ImageCarousel", "images": [{"src": 3}]}, {"type": "RichText", "text": 5},
        {"type": "PhotoPicker", "name": "f", "init-value": "x"},
        {"type": "Form", "children": {"a": 1}, "init-values": 3},
        {"type": "Footer", "label": None, "on-click-action": {"name": "jump"}}]}}]},
}  # fmt: skip


def test_a_broken_document_says_so_on_the_phone(bare: Bare, shared: Path) -> None:
    for name, document in BROKEN.items():
        phone = bare.show(document)
        expect(phone.root).to_be_visible()
        assert phone.title.inner_text(), name
        expect(phone.body.locator(".fp-broken").first).to_be_visible()
        if phone.send.is_visible():
            phone.press()
            expect(phone.root.get_by_role("alert")).to_contain_text("jump is not an action")
    phone = bare.show(DOCUMENT)
    for path in sorted((shared / "samples/flows/invalid").glob("*.json")):
        bare.change(path.read_text())
        expect(phone.title).not_to_be_empty()
        assert phone.body.inner_text().strip(), path.name


def test_any_other_document_keeps_the_screen_that_is_shown(bare: Bare) -> None:
    phone = bare.show(DOCUMENT)
    phone.root.get_by_label("Screen").select_option("PHOTO")
    expect(phone.title).to_have_text("Your photo")
    bare.change(json.dumps(DOCUMENT).replace("Your photo", "Photo"))
    expect(phone.title).to_have_text("Photo")
    bare.page.evaluate("() => player.change({ problem: 'This is no JSON.' })")
    expect(phone.body).to_have_text("This is no JSON.")
    bare.page.evaluate("() => player.change({ problem: '' })")
    expect(phone.title).to_have_text("Photo")


def test_texts_from_the_right_are_laid_out_from_the_right(bare: Bare) -> None:
    one = screen(
        *("A", "حجز موعد"),
        {"type": "TextHeading", "text": "أهلاً وسهلاً"},
        field("RadioButtonsGroup", "r", "الوقت", data_source=[{"id": "1", "title": "صباحاً"}]),
        footer("إرسال", "complete", {}),
        terminal=True,
    )
    phone = bare.show({"version": "7.3", "screens": [one]}, dark=True)
    sheet = phone.root.locator(".fp-sheet")
    assert sheet.evaluate("one => getComputedStyle(one).direction") == "rtl"
    label, radio = phone.body.get_by_text("صباحاً"), phone.body.get_by_role("radio")
    assert (label.bounding_box() or {})["x"] > (radio.bounding_box() or {})["x"]
    shot(bare.page, SHOTS / "player_rtl.png")


# --- expressions ----------------------------------------------------------------------------

SCOPE: dict[str, Any] = {
    "data": {"a": 10, "f": 2.5, "t": "x", "e": "", "z": None, "yes": True, "o": {"k": "v"}},
    "form": {"age": "20", "n": ""},
    "screen": {"S": {"form": {"x": "7"}, "data": {}}},
}
PIECES = [
    *("${data.a}", "${data.f}", "${data.t}", "${data.e}", "${data.z}", "${data.yes}"),
    *("${data.o.k}", "${form.age}", "${form.n}", "${screen.S.form.x}", "${data.none.x}"),
    *("0", "1", "2.5", "'x'", "''", "'it\\'s'", "true", "false", "(", ")", "!", "-", "+"),
    *("*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "${foo}", "=", "'"),
]
WRITTEN = [
    "`'The sum of ' ${data.a} ' and ' ${data.f} ' is ' (${data.a} + ${data.f})`",
    "`'per person: ' ${data.a} / ${form.age}`",
    "`(${form.age} > 18) && ${data.yes}`",
    "`${data.none} == ''`",
    "`1 / 0`",
    "`!${data.yes} == false`",
    "`10 - 2 - 3 * 2 / 4`",
    "`'Ana\\`s house'`",
    "`${data.__proto__}`",
    "Hello ${data.t}, ${data.none}!",
    "${data.a}",
    "${foo} and ${data.constructor}",
]
WORK = """([script, cases, scope]) => {
    const { resolve, holds } = new Function(script + ";return { resolve, holds }")();
    const plain = (value) => (value === undefined ? null : value !== value ? "NaN" : value);
    return cases.map((text) => {
        let unread = false;
        const all = { ...scope, doubt: (said) => { unread ||= !said.startsWith("In ") } };
        const value = plain(resolve(text, all));
        return [unread ? "unread" : value, holds(text, all)];
    });
}"""


def test_the_page_works_expressions_out_as_flowjson_does(browser: Browser) -> None:
    dice = random.Random(4)
    made = [" ".join(dice.choices(PIECES, k=dice.randint(1, 8))) for _ in range(6000)]
    cases = [*WRITTEN, *(f"`{text}`" for text in made)]
    page = browser.new_page()
    result = page.evaluate(WORK, [join_files(["player/expression.js"]), cases, SCOPE])
    page.close()
    read = 0
    for text, both in zip(cases, result, strict=True):
        expected = [_value(text), _held(text)]
        assert both == expected, text
        read += expected[0] != "unread"
    assert read > 100


def _value(text: str) -> Any:
    try:
        value = evaluate(text, SCOPE)
    except ExpressionError:
        return "unread"
    if isinstance(value, float) and value != value:
        return "NaN"
    return value


def _held(text: str) -> bool:
    try:
        return holds(text, SCOPE)
    except ExpressionError:
        return False
