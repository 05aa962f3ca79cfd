"""Two of each widget on one page: every control has a name of its own in the browser's tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from browser import story
from browser.lab import Lab, OpenNotebook
from playwright.sync_api import Page

START = """import chatkit
from chatkit.inbox import Inbox
from chatkit.widgets import *
from chatkit.widgets.planview import PlanView

client = chatkit.connect(chatkit.Sandbox(seed="demo"))
inbox = Inbox("names.sqlite")
flow = client.flows.get(301)
ready = client.templates("order_ready")
contacts = client.contacts.frame()
contacts["name"] = contacts.name.str.upper()
print("ready")"""
WIDGETS = {
    "Form": "Form(client.contacts)",
    "Form of webhooks": "Form(client.webhooks)",
    "Form of contents": "Form(ready, 'en')",
    "Grid": "Grid(client.contacts)",
    "PlanView": "PlanView(client.contacts.plan(contacts, delete=[50250]))",
    "Editor": "Editor(resource=client.flows, flow=301)",
    "Player": "Player(flow)",
    "BoardGrid": """board = BoardGrid(client.templates, ['order_ready'])
board.edit('order_ready', 'de')
board""",
    "ContentForm": "ContentForm(ready, 'de')",
    "QueueView": "QueueView(client.templates.queue(['de'], ['order_ready']))",
    "Tail": "tail = Tail(inbox)\ntail.stop()\ntail",
    "Conversation": "Conversation(inbox, '+447700900000')",
    "Registrations": "Registrations(client.webhooks)",
    "FolderView": "FolderView(client)",
    "login": "login('names')",
    "runs": "client.contacts.plan(contacts.head(3)).apply()\nchatkit.runs()",
}
CONTROLS = {
    *("textbox", "searchbox", "spinbutton", "combobox", "listbox", "checkbox", "radio", "switch"),
    *("button", "link", "tab", "treeitem", "grid", "tree", "group", "slider", "option"),
}
MAY_BE_NAMELESS = {"group", "listbox"}  # a box of ipywidgets, the list of a select
PLACE = """function () {
    const cell = this.closest?.(".jp-OutputArea-output") && this.closest(".jp-CodeCell");
    return cell ? cell.querySelector(".cm-content").innerText.slice(0, 60) + " | "
        + this.outerHTML.slice(0, 160) : "";
}"""


def nameless(page: Page) -> list[str]:
    """The controls of outputs that have no accessible name, as the browser's own tree has them."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    outcome = []
    for node in nodes:
        role, name = (node.get(part, {}).get("value", "") for part in ("role", "name"))
        if node["ignored"] or role not in CONTROLS - MAY_BE_NAMELESS or str(name).strip():
            continue
        resolved = session.send("DOM.resolveNode", {"backendNodeId": node["backendDOMNodeId"]})
        call = {"functionDeclaration": PLACE, "objectId": resolved["object"]["objectId"]}
        place = session.send("Runtime.callFunctionOn", {**call, "returnByValue": True})
        if text := place["result"].get("value"):
            outcome.append(f"{role}: {text}")
    session.detach()
    return outcome


def test_every_control_of_two_of_each_widget_has_a_name(
    lab: Lab, open_notebook: Callable[[str], OpenNotebook]
) -> None:
    cells = [START, *(cell for cell in WIDGETS.values() for _ in range(2))]
    notebook = open_notebook(story.write(lab, "names.ipynb", cells))
    notebook.run_all()
    page = notebook.page
    page.wait_for_timeout(3000)
    assert nameless(page) == []
    ids = page.evaluate(
        "() => [...document.querySelectorAll('.jp-OutputArea-output [id]')].map(one => one.id)"
    )
    assert [one for one, count in Counter(ids).items() if count > 1] == []
    broken = page.evaluate(
        """() => ["aria-describedby", "aria-labelledby"].flatMap((name) =>
            [...document.querySelectorAll(`.jp-OutputArea-output [${name}]`)].flatMap((one) =>
                one.getAttribute(name).split(" ").filter((id) =>
                    id && !document.getElementById(id))))"""
    )
    assert broken == []
