"""A plot is the same text at each run, takes the colour of the page, and has its numbers."""

import re
from xml.etree import ElementTree

import matplotlib as mpl
from widgets.screen import page_of, static

from chatkit.widgets.plots import INK, Plot, canvas


def made(title: str = "A & B <i>") -> Plot:
    with canvas(title, 2) as (figure, axes):
        axes.barh(["one $x$", "two"], [1, 2])
    return Plot(figure, title, ["name", "count"], [["one", "1"], ["<b>", "12"]])


def test_it_is_the_same_at_each_run() -> None:
    assert made().svg() == made().svg()
    assert static(made()) == static(made())


def test_it_is_a_drawing_whose_text_is_text_in_the_colour_of_the_page() -> None:
    svg = made().svg()
    root = ElementTree.fromstring(svg.replace("xlink:", ""))
    texts = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"A & B <i>", "one $x$", "two"} <= texts
    assert INK not in svg and "currentColor" in svg
    assert not re.search("<script|(?:href|src)=.http", svg)


def test_its_numbers_are_read_aloud_and_in_a_terminal() -> None:
    plot = made()
    assert repr(plot) == "A & B <i>\nname  count\none       1\n<b>      12"
    html = page_of(plot)
    assert 'role="img" aria-label="A &amp; B &lt;i&gt;; name' in html
    assert "<td>&lt;b&gt;</td>" in html and "<b>" not in html and "<i>" not in html


def test_the_settings_of_the_user_stay() -> None:
    before = dict(mpl.rcParams)
    made().svg()
    assert dict(mpl.rcParams) == before
