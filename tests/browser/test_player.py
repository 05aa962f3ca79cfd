"""The player as a person meets it: flows filled in, refused, completed, taken back."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import looks
from browser.lab import SHOTS, Lab, OpenNotebook
from browser.phone import Bare, Phone, shot
from browser.story import run, write
from oracles.evaluation import evaluate, holds
from playwright.sync_api import Browser, expect
from volume import FULL
from widgets.showcase import DOCUMENT, field, footer, screen

from chatkit.flowjson.rules.expression import ExpressionError
from chatkit.widgets import Player
from chatkit.widgets.controls import join_files

EVIL = "<img src=x onerror=alert(1)>"
SEND = footer("Send", "complete", {"x": "${form.x}"})

OPEN = """import json
from pathlib import Path
from chatkit.widgets import Player
from IPython.display import display

players = [Player(path) for path in sorted(Path("{folder}").glob("*.json"))]
display(*players)"""
ANSWERS = "print(json.dumps([[player.steps, player.answers] for player in players]))"


def flow(*children: dict[str, Any], data: Any = None, **more: Any) -> dict[str, Any]:
    """A flow of one screen."""
    one = screen("A", "One", *children, data=data, terminal=True)
    return {"version": "7.3", "screens": [one], **more}


@pytest.fixture
def bare(browser: Browser) -> Iterator[Callable[..., Bare]]:
    """Show a player without a notebook; at the end no page may have complained."""
    opened: list[Bare] = []

    def open_(document: object, **options: Any) -> Bare:
        dark = options.pop("dark", False)
        opened.append(Bare(browser, Player(document, **options), dark=dark))
        return opened[-1]

    yield open_
    for page in opened:
        page.close()


# --- in a notebook --------------------------------------------------------------------------


def test_every_sample_is_completed_and_its_answers_arrive(
    lab: Lab, open_notebook: Callable[[str], OpenNotebook], shared: Path
) -> None:
    """One in four; `make full` completes all of them."""
    samples = sorted((shared / "samples/flows/valid").glob("*.json"))
    assert len(samples) >= 12
    visited(lab, open_notebook, samples[:: 1 if FULL else 4])


def test_a_flow_of_all_components_is_completed_and_its_answers_arrive(
    lab: Lab, open_notebook: Callable[[str], OpenNotebook], tmp_path: Path
) -> None:
    path = tmp_path / "all.json"
    path.write_text(json.dumps(DOCUMENT))
    ((steps, answers),) = visited(lab, open_notebook, [path])
    assert [step["next"] for step in steps[:-1]] == ["WHERE", "WHEN", "PHOTO", "PAPERS"]
    assert answers == {
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


def visited(
    lab: Lab, open_notebook: Callable[[str], OpenNotebook], samples: list[Path]
) -> list[tuple[list[Any], dict[str, Any]]]:
    """Complete flows in one notebook; return the steps and answers that arrived in Python."""
    folder = f"completed_{len(samples)}"
    (lab.root / folder).mkdir()
    for path in samples:
        shutil.copy(path, lab.root / folder)
    name = write(lab, f"{folder}.ipynb", [OPEN.format(folder=folder), ANSWERS])
    notebook = open_notebook(name)
    outputs = run(notebook, 0)
    roots = outputs.locator(".fp-player")
    expect(roots).to_have_count(len(samples), timeout=20_000)
    for number, path in enumerate(samples):
        phone = Phone(roots.nth(number))
        titles = phone.complete()
        assert titles, path.name
        print(path.name, titles)
    text = run(notebook, 1).inner_text()
    result: list[tuple[list[Any], dict[str, Any]]] = json.loads(text)
    for path, (steps, answers) in zip(samples, result, strict=True):
        assert steps, path.name
        assert answers == steps[-1]["payload"], path.name
    return result


def test_the_player_looks_as_it_should_in_a_notebook(
    lab: Lab, open_notebook: Callable[[str], OpenNotebook]
) -> None:
    (lab.root / "looks.json").write_text(json.dumps(DOCUMENT))
    source = 'from chatkit.widgets import Player\nPlayer("looks.json")'
    notebook = open_notebook(write(lab, "looks.ipynb", [source]))
    phone = Phone(run(notebook, 0).locator(".fp-player"))
    expect(phone.title).to_have_text("About you")
    phone.field("Email").click()
    notebook.page.keyboard.type("ana@")
    notebook.page.keyboard.press("Tab")
    expect(phone.body).to_contain_text("Enter an email address.")
    phone.root.scroll_into_view_if_needed()
    notebook.shot("player")
    notebook.theme("Dark")
    notebook.shot("player_dark")
    colours = "one => [getComputedStyle(one).color, getComputedStyle(one).backgroundColor]"
    ink, paper = phone.root.locator(".fp-sheet").evaluate(colours)
    assert _light(ink) - _light(paper) > 180
    notebook.theme("Light")
    ink, paper = phone.root.locator(".fp-sheet").evaluate(colours)
    assert _light(paper) - _light(ink) > 180


def _light(colour: str) -> float:
    return sum(map(float, re.findall(r"[\d.]+", colour)[:3])) / 3


# --- filling in -----------------------------------------------------------------------------


def test_what_is_missing_closes_the_footer_and_what_is_wrong_is_told(
    bare: Callable[..., Bare],
) -> None:
    page = bare(DOCUMENT)
    phone = page.phone
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
    phone.send.click()
    expect(phone.title).to_have_text("Where to")
    assert page.state("steps")[0]["payload"] == {"name": "Ana Lúcia", "mail": "ana@example.com"}


def test_branches_and_texts_follow_what_is_entered(bare: Callable[..., Bare]) -> None:
    phone = bare(DOCUMENT).phone
    expect(phone.field("Wishes")).to_be_visible()
    phone.field("Age").fill("12")
    expect(phone.body).to_contain_text("Someone grown up")
    expect(phone.field("Wishes")).to_be_hidden()
    page = bare(
        flow(
            field("Dropdown", "d", "Kind", data_source=[{"id": "a", "title": "A"}]),
            field("OptIn", "o", "Yes"),
            {
                "type": "If",
                "condition": "(${form.o} == true) && (${data.n} >= 3)",
                "then": [{"type": "TextBody", "text": "both"}],
                "else": [{"type": "TextBody", "text": "not yet"}],
            },
            {
                "type": "Switch",
                "value": "${form.d}",
                "cases": {"a": [field("TextInput", "x", "Why A", required=True)]},
            },
            field("TextInput", "y", "Later", enabled="`${form.o} == true`"),
            {"type": "TextBody", "text": "seen", "visible": "`${form.d} == 'a'`"},
            SEND,
            data={"n": {"type": "number", "__example__": 3}},
        )
    )
    phone = page.phone
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
    assert page.state("answers") == {"x": "because"}


def test_counts_are_kept_and_data_is_updated_by_a_choice(bare: Callable[..., Bare]) -> None:
    items = [{"id": n, "title": n.upper()} for n in "abcd"]
    items[3]["on-select-action"] = {"name": "update_data", "payload": {"said": "D it is"}}
    page = bare(
        flow(
            field("CheckboxGroup", "x", "Pick", data_source=items, min_selected_items=2,
                  max_selected_items=3, required=True),
            {"type": "TextBody", "text": "${data.said}"},
            SEND,
            data={"said": {"type": "string", "__example__": "nothing yet"}},
        )
    )  # fmt: skip
    phone = page.phone
    boxes = phone.body.get_by_role("checkbox")
    expect(phone.body).to_contain_text("Choose 2 to 3.")
    boxes.nth(0).check()
    expect(phone.send).to_have_attribute("aria-disabled", "true")
    phone.press()
    expect(phone.body).to_contain_text("Choose at least 2 options.")
    boxes.nth(3).check()
    expect(phone.body).to_contain_text("D it is")
    boxes.nth(2).check()
    expect(boxes.nth(1)).to_be_disabled()
    phone.send.click()
    assert page.state("answers") == {"x": ["a", "c", "d"]}


def test_a_choice_that_the_data_no_longer_has_is_given_up(bare: Callable[..., Bare]) -> None:
    fewer = {"name": "update_data", "payload": {"sizes": [{"id": "s", "title": "Small"}]}}
    page = bare(
        flow(
            field("Dropdown", "x", "Size", required=True, data_source="${data.sizes}"),
            field("OptIn", "o", "Children", on_select_action=fewer),
            SEND,
            data={"sizes": {"type": "array", "items": {"type": "object"}, "__example__": [
                {"id": "s", "title": "Small"}, {"id": "l", "title": "Large"}]}},
        )
    )  # fmt: skip
    phone = page.phone
    phone.field("Size").select_option("l")
    expect(phone.send).to_have_attribute("aria-disabled", "false")
    phone.body.get_by_role("checkbox").check()
    expect(phone.field("Size")).to_have_value("")
    expect(phone.send).to_have_attribute("aria-disabled", "true")


def test_a_pattern_that_might_never_end_is_not_tried_and_that_is_told(
    bare: Callable[..., Bare],
) -> None:
    endless = field("TextInput", "x", "Name", pattern="^(a+)+$", helper_text="only a")
    page = bare(flow(endless, field("TextInput", "y", "Code", pattern="("), SEND))
    page.phone.field("Name").fill("a" * 40 + "!")
    page.phone.field("Code").fill("x")
    expect(page.phone.sent).to_contain_text("The pattern ^(a+)+$ is not tried here")
    expect(page.phone.sent).to_contain_text("The pattern ( is not tried here: it cannot be read.")
    page.phone.send.click()
    assert page.state("answers") == {"x": "a" * 40 + "!"}


def test_a_range_is_chosen_by_keyboard_and_closed_days_are_not(bare: Callable[..., Bare]) -> None:
    days = field(
        "CalendarPicker", "x", "Stay", mode="range", min_date="2030-05-01", max_date="2030-06-30",
        unavailable_dates=["2030-05-03"], include_days=["Wed", "Thu", "Fri"], min_days=2,
        required=True,
    )  # fmt: skip
    page = bare(flow(days, SEND))
    phone, keys = page.phone, page.page.keyboard
    phone.field("Stay").click()
    focused = phone.body.locator(".fp-day:focus")
    expect(focused).to_have_attribute("data-date", "2030-05-01")
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    expect(focused).to_have_attribute("aria-disabled", "true")
    keys.press("Enter")  # the 3rd is not available
    keys.press("ArrowLeft")
    keys.press("Enter")
    expect(focused).to_have_attribute("aria-pressed", "true")
    keys.press("PageDown")
    expect(focused).to_have_attribute("data-date", "2030-06-01")
    keys.press("PageUp")
    keys.press("ArrowDown")
    keys.press("Enter")
    expect(phone.field("Stay")).to_be_focused()
    expect(phone.field("Stay")).to_contain_text("–")
    phone.send.click()
    assert page.state("answers") == {"x": {"start-date": "2030-05-02", "end-date": "2030-05-08"}}


def test_back_keeps_what_was_entered_and_the_end_begins_anew(bare: Callable[..., Bare]) -> None:
    page = bare(DOCUMENT)
    phone = page.phone
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
    assert page.state("answers")["name"] == "Ana"
    expect(phone.body).to_contain_text("The answers were sent")
    phone.body.get_by_role("button", name="Start again").click()
    expect(phone.field("Email")).to_have_value("")
    assert page.state("answers") is None
    assert page.state("steps") == []


def test_the_flow_is_completed_by_keyboard_alone(bare: Callable[..., Bare]) -> None:
    page = bare(
        flow(
            field("TextInput", "x", "Name", required=True),
            field("RadioButtonsGroup", "r", "Size", data_source=[
                {"id": "s", "title": "Small"}, {"id": "l", "title": "Large"}]),
            field("ChipsSelector", "c", "Extras", data_source=[
                {"id": "a", "title": "Milk"}, {"id": "b", "title": "Sugar"}]),
            field("OptIn", "o", "Yes", required=True),
            footer("Send", "complete", {name: f"${{form.{name}}}" for name in "xrco"}),
        )
    )  # fmt: skip
    keys = page.page.keyboard
    for key in ("Tab", "Tab"):  # past the cross
        keys.press(key)
    keys.type("Ana")
    for key in ("Tab", "Space", "ArrowDown", "Tab", "Tab", "Space", "Tab", "Space", "Tab", "Enter"):
        keys.press(key)
    assert page.state("answers") == {"x": "Ana", "r": "l", "c": ["b"], "o": True}


def test_dates_before_version_5_are_milliseconds(bare: Callable[..., Bare]) -> None:
    document = flow(
        {"type": "Form", "name": "f", "children": [
            field("DatePicker", "x", "Day", min_date="1893456000000"), SEND]},
        version="2.1",
    )  # fmt: skip
    page = bare(document)
    day = page.phone.field("Day")
    expect(day).to_have_attribute("min", "2030-01-01")
    day.fill("2029-12-31")
    page.phone.press()
    expect(page.phone.body).to_contain_text("or later.")
    day.fill("2030-01-02")
    page.phone.send.click()
    assert page.state("answers") == {"x": "1893542400000"}


def test_errors_of_the_endpoint_are_shown_until_the_field_is_changed(
    bare: Callable[..., Bare],
) -> None:
    form = {
        "type": "Form",
        "name": "f",
        "init-values": "${data.start}",
        "error-messages": "${data.errors}",
        "children": [field("TextInput", "x", "Name"), SEND],
    }
    data = {
        "start": {"type": "object", "__example__": {"x": "Bo"}},
        "errors": {"type": "object", "__example__": {"x": "Taken"}},
    }
    phone = bare(flow(form, data=data)).phone
    expect(phone.send).to_have_attribute("aria-disabled", "false")
    expect(phone.field("Name")).to_have_value("Bo")
    expect(phone.body).to_contain_text("Taken")
    phone.field("Name").fill("Di")
    expect(phone.body).not_to_contain_text("Taken")


def test_where_an_endpoint_would_decide_the_routing_model_does(
    bare: Callable[..., Bare],
) -> None:
    one = screen("A", "One", footer("Next", "data_exchange", {"from": "A"}))
    city = {"city": {"type": "string", "__example__": "Lisbon"}}
    text = {"type": "TextBody", "text": "${data.city}"}
    two = screen("B", "Two", text, footer("Book", "data_exchange", {}), data=city, terminal=True)
    routes = {"data_api_version": "3.0", "routing_model": {"A": ["B"], "B": []}}
    page = bare({"version": "7.3", **routes, "screens": [one, two]})
    page.phone.send.click()
    expect(page.phone.body).to_contain_text("Lisbon")
    page.phone.back.click()
    expect(page.phone.title).to_have_text("One")
    page.phone.send.click()
    page.phone.send.click()
    expect(page.phone.title).to_have_text("Sent")
    assert [step["payload"] for step in page.state("steps")] == [{"from": "A"}, {"from": "A"}, {}]


# --- strangers ------------------------------------------------------------------------------


def test_no_text_becomes_markup_and_no_link_a_script(bare: Callable[..., Bare]) -> None:
    texts = [f"# {EVIL}", f"- **{EVIL}**", f"| {EVIL} |", "[a](javascript:alert(1)) ![b](x.png)"]
    page = bare(
        flow(
            {"type": "TextHeading", "text": EVIL},
            {"type": "TextBody", "markdown": True, "text": texts},
            {"type": "EmbeddedLink", "text": "go",
             "on-click-action": {"name": "open_url", "url": "javascript:alert(1)"}},
            {"type": "EmbeddedLink", "text": "fine",
             "on-click-action": {"name": "open_url", "url": "https://example.com/a"}},
            {"type": "Image", "src": "PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+", "alt-text": EVIL},
            field("CheckboxGroup", "__proto__", EVIL, data_source=[{"id": EVIL, "title": EVIL}]),
            field("TextInput", "constructor", "c"),
            footer("Send", "complete",
                   {"p": "${form.__proto__}", "x": EVIL, "c": "${data.constructor}"}),
        )
    )  # fmt: skip
    phone = page.phone
    expect(phone.body.locator("img, script, svg [onload]")).to_have_count(0)
    expect(phone.body).to_contain_text(EVIL)
    hrefs = phone.body.locator("a").evaluate_all("all => all.map((one) => one.href)")
    assert hrefs == ["https://example.com/a"]
    phone.body.get_by_role("checkbox").check()
    phone.send.click()
    assert page.state("answers") == {"p": [EVIL], "x": EVIL, "c": None}
    expect(page.phone.root.locator(".fp-phone img")).to_have_count(0)


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


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_document_says_so_on_the_phone(bare: Callable[..., Bare], name: str) -> None:
    page = bare(BROKEN[name])
    expect(page.phone.root).to_be_visible()
    assert page.phone.title.inner_text()
    expect(page.phone.body.locator(".fp-broken").first).to_be_visible()
    if page.phone.send.is_visible():
        page.phone.press()
        expect(page.phone.root.get_by_role("alert")).to_contain_text("jump is not an action")


def test_no_broken_sample_leaves_the_phone_blank(bare: Callable[..., Bare], shared: Path) -> None:
    page = bare(DOCUMENT)
    for path in sorted((shared / "samples/flows/invalid").glob("*.json")):
        page.page.evaluate("source => player.change({ source })", path.read_text())
        expect(page.phone.title).not_to_be_empty()
        assert page.phone.body.inner_text().strip(), path.name


def test_any_other_document_keeps_the_screen_that_is_shown(bare: Callable[..., Bare]) -> None:
    page = bare(DOCUMENT)
    page.phone.root.get_by_label("Screen").select_option("PHOTO")
    expect(page.phone.title).to_have_text("Your photo")
    text = json.dumps(DOCUMENT).replace("Your photo", "Photo")
    page.page.evaluate("source => player.change({ source })", text)
    expect(page.phone.title).to_have_text("Photo")
    page.page.evaluate("() => player.change({ problem: 'This is no JSON.' })")
    expect(page.phone.body).to_have_text("This is no JSON.")
    page.page.evaluate("() => player.change({ problem: '' })")
    expect(page.phone.title).to_have_text("Photo")


def test_texts_from_the_right_are_laid_out_from_the_right(bare: Callable[..., Bare]) -> None:
    one = screen(
        "A", "حجز موعد",
        {"type": "TextHeading", "text": "أهلاً وسهلاً"},
        field("TextInput", "x", "الاسم الكامل", required=True, helper_text="كما في جواز السفر"),
        field("RadioButtonsGroup", "r", "الوقت", data_source=[{"id": "1", "title": "صباحاً"}]),
        footer("إرسال", "complete", {}), terminal=True,
    )  # fmt: skip
    page = bare({"version": "7.3", "screens": [one]}, dark=True)
    sheet = page.phone.root.locator(".fp-sheet")
    assert sheet.evaluate("one => getComputedStyle(one).direction") == "rtl"
    label, radio = page.phone.body.get_by_text("صباحاً"), page.phone.body.get_by_role("radio")
    assert (label.bounding_box() or {})["x"] > (radio.bounding_box() or {})["x"]
    shot(page.page, SHOTS / "player_rtl.png")


@pytest.mark.parametrize("shade", ["light", "dark"])
def test_every_screen_has_contrast(bare: Callable[..., Bare], shade: str) -> None:
    page = bare(DOCUMENT, dark=shade == "dark")
    SHOTS.mkdir(exist_ok=True)
    screens = page.phone.root.get_by_label("Screen")
    for id_ in ("ABOUT", "WHERE", "WHEN", "PHOTO", "TERMS"):
        screens.select_option(id_)
        if page.phone.send.is_visible():
            page.phone.press()
        if id_ == "WHEN":
            page.phone.body.locator(".fp-date").click()
        shot(page.page, SHOTS / f"player_{id_.lower()}_{shade}.png")
        assert faint(page) == []


def faint(page: Bare) -> list[str]:
    """Texts of the phone that cannot be read well; what is off may be faint."""
    return looks.faint(page.phone.root.locator(".fp-phone"), ".fp-off *")


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


# --- everybody can use it -------------------------------------------------------------------


@pytest.mark.parametrize(("dark", "rules"), [(False, []), (True, looks.COLOURS)])
def test_axe_finds_nothing_on_any_screen(
    bare: Callable[..., Bare], dark: bool, rules: list[str]
) -> None:
    page = bare(DOCUMENT, dark=dark)
    result: list[str] = []

    def look() -> None:
        page.page.wait_for_timeout(200)  # a screen fades in
        title = page.phone.title.inner_text()
        result.extend(
            f"{title}: {message}" for _, message in looks.violations(page.page, ".fp-player", rules)
        )
        if (date := page.phone.body.locator(".fp-date")).count():
            date.first.press("Enter")
            result.extend(
                message for _, message in looks.violations(page.page, ".fp-player", rules)
            )
            page.page.keyboard.press("Escape")
            expect(date.first).to_be_focused()

    page.phone.complete(look)
    look()
    assert list(dict.fromkeys(result)) == []


def test_the_focus_goes_to_the_title_of_the_next_screen(bare: Callable[..., Bare]) -> None:
    go = footer("Go on", "navigate", {}, to="B")
    first = screen("A", "One", field("TextInput", "x", "X"), go)
    last = screen("B", "Two", SEND, terminal=True)
    page = bare({"version": "7.3", "screens": [first, last]})
    keyboard = page.page.keyboard
    page.phone.field("X").press_sequentially("a")
    keyboard.press("Tab")
    expect(page.phone.send).to_be_focused()
    keyboard.press("Enter")
    expect(page.phone.title).to_have_text("Two")
    expect(page.phone.title).to_be_focused()
    keyboard.press("Tab")
    keyboard.press("Enter")
    expect(page.phone.body.get_by_role("heading")).to_be_focused()
