"""Flow documents drawn, compared and upgraded, as a person sees it in JupyterLab."""

from __future__ import annotations

from collections.abc import Callable

from browser.lab import Lab, OpenNotebook
from browser.story import run, write
from playwright.sync_api import expect

EVIL = "<img src=x onerror=alert(1)> `%%{init}%%` \"]; click s0 href 'x' $a$ end"
DOCUMENT = f"""import copy
from chatkit.flowjson.diff import diff
from chatkit.flowjson.graph import graph
from chatkit.flowjson.upgrade import upgrade


def screen(name, title, *targets, **more):
    links = [
        {{
            "type": "EmbeddedLink",
            "text": "On to " + target,
            "on-click-action": {{"name": "navigate", "next": {{"type": "screen", "name": target}}}},
        }}
        for target in targets
    ]
    layout = {{"type": "SingleColumnLayout", "children": links}}
    return {{"id": name, "title": title, "layout": layout, **more}}


flow = {{
    "version": "2.1",
    "data_channel_uri": "https://example.com/{EVIL[:4]}",
    "screens": [
        screen("WELCOME", {EVIL!r}, "DETAILS", "TERMS"),
        screen("DETAILS", "Your details", "DONE"),
        screen("TERMS", "Terms", "DONE", "NOWHERE"),
        screen("DONE", "予約の確認", terminal=True),
    ],
}}
edited = copy.deepcopy(flow)
edited["screens"][0]["layout"]["children"].insert(0, {{"type": "TextBody", "text": {EVIL!r}}})
edited["screens"][1]["title"] = "Your <b>details</b>"
del edited["screens"][2]
graph(flow)"""


def test_a_flow_is_drawn_compared_and_upgraded(
    lab: Lab, open_notebook: Callable[[str], OpenNotebook]
) -> None:
    cells = [DOCUMENT, "diff(flow, edited)", "upgrade(flow)"]
    notebook = open_notebook(write(lab, "flowgraph.ipynb", cells))

    drawn = run(notebook, 0)
    picture = drawn.get_by_role("img", name="5 screens of a flow and the edges between them")
    expect(picture).to_be_visible(timeout=20_000)
    expect(picture.locator(".title").first).to_contain_text("<img src=x")  # as text
    expect(drawn.locator("img, script")).to_have_count(0)
    box = picture.locator(".box").first
    light = box.evaluate("one => getComputedStyle(one).fill")
    notebook.shot("flowgraph")

    compared = run(notebook, 1)
    expect(compared).to_contain_text(
        "3 differences: 1 screen removed, 1 component added, 1 text changed"
    )
    expect(compared).to_contain_text("<img src=x onerror=alert(1)>")  # as text
    expect(compared.locator("img, script")).to_have_count(0)
    upgraded = run(notebook, 2)
    expect(upgraded).to_contain_text("From version 2.1 to 7.3")
    expect(upgraded).to_contain_text("For a person to do")
    notebook.shot("flowdiff")
    notebook.theme("Dark")
    assert box.evaluate("one => getComputedStyle(one).fill") != light  # at once, and not run again
    picture.scroll_into_view_if_needed()
    notebook.shot("flowgraph_dark")
    run(notebook, 2).scroll_into_view_if_needed()
    notebook.shot("flowdiff_dark")
