"""Every widget and every HTML report, each in its states, below each other in one notebook."""

from __future__ import annotations

from pathlib import Path

#: Notes for each cell which widgets it made: each kind of them brings a style sheet of its own.
START = f"""import gc, json, sys, tempfile
from pathlib import Path
sys.path.append({str(Path(__file__).parents[1])!r})
import chatkit, ipywidgets
from chatkit.flowjson.diff import diff
from chatkit.flowjson.graph import graph
from chatkit.flowjson.lint import lint
from chatkit.inbox import Inbox
from chatkit.widgets import (BoardGrid, ContentForm, Conversation, Editor, FolderView, Form, Grid,
    PlanView, Player, Preview, QueueView, Registrations, Tail, funnel, login)
from chatkit.widgets.fields import CodeText, FormButton, FormGroup, FormModel, Status
from inbox.bodies import ANA, BEN, message, status
from widgets.inbox.stored import EVIL, moved, put, written
from widgets.showcase import DOCUMENT

brought = {{}}
def note(widget):
    kind = type(widget)
    cell = brought.setdefault(get_ipython().execution_count - 2, [])
    cell.append(f"{{kind.__module__}}.{{kind.__name__}}")
ipywidgets.Widget.on_widget_constructed(note)

client = chatkit.connect(chatkit.Sandbox(seed="demo"))
sandbox = chatkit.Sandbox(seed="demo")
slow = chatkit.connect(sandbox)
empty = chatkit.connect(chatkit.Sandbox(seed="empty"))
ready = client.templates("order_ready")
contacts = client.contacts.frame().head(6)

def edited(client, few=6, **options):
    frame = client.contacts.frame().head(few)
    frame["name"] = frame.name.str.upper()
    frame.loc[50001, "name"] = EVIL
    frame.loc[50003, "number"] = "12 34"
    return client.contacts.plan(frame, skip_invalid=True, **options)

folder = tempfile.TemporaryDirectory()
inbox = Inbox(Path(folder.name) / "inbox.sqlite")
nothing = Inbox(Path(folder.name) / "empty.sqlite")
ours = {{"from": "15550100", "to": ANA}}
failed = [{{"code": 131026, "title": "Message undeliverable"}}]
plan_of_running = edited(slow)
put(inbox, written(message(1, text={{"body": "Hello, is my order there?"}}), kind="message"),
    written({{**message(5, text={{"body": "It is on its way."}}), **ours}}),
    moved(status("m5", "sent", 6), status("m5", "read", 200)),
    written({{**message(300, text={{"body": EVIL}}), "context": {{"id": "m5"}}}}),
    written(message(301, "reaction", reaction={{"message_id": "m5", "emoji": "👍"}})),
    written({{**message(400, "image", image={{"id": "1", "caption": "Proof"}}), **ours}}),
    moved(status("m400", "failed", 401, errors=failed)),
    written(message(500, who=BEN, text={{"body": "שלום, תודה רבה"}})))"""
#: The states of each widget by name; what a cell ends with is shown.
STATES = {
    "button": """FormModel(FormGroup([FormButton("Look again", print),
    FormButton("Create", print, "primary"), FormButton("Delete", print, "danger")]))""",
    "code": "FormModel(FormGroup([CodeText('', 'client.contacts.create(number=\"2025550187\")')]))",
    "message": """done, wrong = Status(), Status()
done.write("Saved contact 50257.")
wrong.write("Nothing was sent: see above.", wrong=True)
FormModel(FormGroup([done, wrong]))""",
    "form": "Form(client.contacts)",
    "form wrong": """form = Form(client.contacts)
form.set("number", "7700900000")
form.set("country_code", "+44")
form._submit_and_report()
form""",
    "form done": """form = Form(empty.contacts)
form.set("number", "2025550187")
form.set("country_code", "+1")
form.submit()
form""",
    "form editing": "Form(client.contacts, 50001)",
    "form of a content": """form = Form(ready, "en")
form.set("footer", "Larkspur")
form""",
    "form of a webhook": "Form(empty.webhooks)",
    "login": "login('gallery')",
    "login refused": """refused = login('gallery')
refused.report("Nothing was kept. base_url: it is no address.", wrong=True)
refused""",
    "grid": "Grid(client.contacts, contacts)",
    "grid edited": """grid = Grid(client.contacts, contacts)
grid.set(50001, "name", "Ana")
grid.paste(50002, "number", "12 34")
grid.delete([50003])
grid.add()
grid""",
    "grid of webhooks": """client.webhooks.create(url="https://example.com/1", events=["*"])
Grid(client.webhooks)""",
    "grid in review": """grid = Grid(client.contacts, contacts)
grid.set(50001, "name", "Ana")
grid.set(grid.add(), "name", "Bo")
grid.filter(contains={"name": "a"})
grid.sort("name")
grid.review()
grid""",
    "grid with options": "Grid(client.contacts, contacts)",
    "grid empty": "Grid(client.contacts, contacts.head(0))",
    "plan view": "PlanView(edited(client))",
    "plan view blocked": "PlanView(edited(client, 60, delete=[50250]))",
    "plan view done": """done = PlanView(edited(client, delete=[50250]))
done.apply(done.phrase)
done""",
    "plan view taken back": """done = PlanView(edited(client, 8))
done.apply(done.phrase)
done.undo()
done""",
    "plan view stopped": """stopped = PlanView(edited(slow, 20))
sandbox.faults(latency=0.1)
stopped.start(stopped.phrase)
stopped.stop()
stopped.wait()
stopped""",
    "plan view with failures": """other = edited(client, 12)
client.contacts.update(50002, name="Somebody Else")
failed_rows = PlanView(other)
failed_rows.apply(failed_rows.phrase)
failed_rows._handle_action("back", "5")
failed_rows""",
    "runs": "chatkit.runs()",
    "runs with an open one": """from chatkit.account.history import _open_run
from chatkit.widgets.runsview import RunsView
frame = chatkit.runs()
table = RunsView(frame, chatkit.runs, lambda run: _open_run(None, None, run))
table._handle_action("resume", frame.index[frame.state == "open"][0])
table""",
    "runs of nobody": "chatkit.runs(empty)",
    "preview": "Preview(ready.get('de'))",
    "preview from right to left": "Preview(ready.get('ar'))",
    "preview odd": """Preview({"lang_code": "en",
    "headers": [{"type": "text", "text": "<b>{{1}}</b>"}],
    "text": "*Bold {{1}}*, _italic_, ~struck~, ```mono``` " + EVIL, "variables": {"1": "Ana"},
    "buttons": [{"type": "custom", "label": "<i>One</i>"}, {"type": "custom", "label": "Two"},
                {"type": "visit_website", "label": "See", "value": "https://example.com"},
                {"type": "copy_offer_code", "value": "SPRING26"}]})""",
    "preview with a document": """Preview({"lang_code": "de", "text": "Unsere Preise.",
    "headers": [{"type": "document", "file_name": "Preisliste.pdf"}]})""",
    "board": "BoardGrid(client.templates, ['order_ready', 'rental_reminder', 'login_code'])",
    "board with a form": """board = BoardGrid(client.templates, ['order_ready', 'rental_reminder'])
board.edit("rental_reminder", "ja")
board""",
    "queue": "QueueView(client.templates.queue(['de', 'ar'], ['order_ready', 'rental_reminder']))",
    "queue stale and answered": """client.templates.accept(["de"], ["rental_reminder"])
text = "Hi {{1}}, <i>your</i> rental of {{2}} is over on {{3}}."
client.templates("rental_reminder").update("en", text=text)
stale = client.templates.queue(["de", "fr"], ["rental_reminder"], only=["stale", "unknown"])
stale.edit(1, "Kurz")
review = QueueView(stale)
review.plan()
review""",
    "queue with suggestions": """near = client.templates("near_to_another")
near.create(lang_code="en", text=ready.get("en").text.replace("ready", "waiting"))
codes = ["near_to_another", "order_ready"]
QueueView(client.templates.queue(["de"], codes, only="missing"))""",
    "queue of nothing": "QueueView(client.templates.queue(['de'], ['order_ready'], only='stale'))",
    "content form": "ContentForm(ready, 'ar')",
    "content form wrong": """content = ContentForm(ready, "en")
content.set("footer", "x" * 70)
content.set("text", "Hello {{1}} and {{9}}")
content""",
    "content form in review": """content = ContentForm(ready, "de")
content.set("footer", "Larkspur")
content.review()
content""",
    "editor": """Path("gallery.json").write_text(json.dumps(DOCUMENT))
Editor("gallery.json", resource=client.flows)""",
    "editor with a source": "Editor('gallery.json')",
    "editor of nothing": "Editor()",
    "player": "Player(DOCUMENT)",
    "player done": "Player(DOCUMENT)",
    "player of nothing": "Player({'version': '7.3', 'screens': []})",
    "tail": "tail = Tail(inbox)\ntail.stop()\ntail",
    "tail live": "Tail(inbox)",
    "tail empty": "Tail(nothing)",
    "tail searched": "Tail(inbox, search='way', kind='chat.message.status')",
    "conversation": 'Conversation(inbox, "+" + ANA)',
    "conversation folded": """folded = Inbox(Path(folder.name) / "folded.sqlite")
words = "A long story about a bicycle. " * 60
put(folded, written(message(1, text={"body": words}), message(2, text={"body": "ok"})))
Conversation(folded, "+" + ANA)""",
    "conversation long": """long = Inbox(Path(folder.name) / "long.sqlite")
put(long, written(*(message(n, text={"body": f"Line {n}"}) for n in range(40)), kind="message"))
Conversation(long, "+" + ANA, last=20)""",
    "conversation empty": 'Conversation(nothing, "+" + ANA)',
    "registrations": """for n in range(2):
    client.webhooks.create(url=f"https://shop.example/{n}", events=["chat.message.status"])
registrations = Registrations(client.webhooks)
registrations""",
    "registrations empty": "Registrations(empty.webhooks)",
    "secret": """form = Registrations(empty.webhooks)
form.form.set("url", "https://shop.example/new")
form.form.submit()
form""",
    "secret handed over": """form = Form(empty.webhooks)
form.set("url", "https://shop.example/handed")
form.set("events", ["chat.message.status", "chat.message.inbound"])
form.submit()
form.secret_once.forget()
form""",
    "folder view": """shop = chatkit.Folder("shop")
client.templates.remember(["order_ready", "rental_reminder"])
shop.pull(client)
english = Path("shop/templates/order_ready/en.json")
said = english.read_text("utf-8").replace("repaired and ready", "<b>ready</b>")
english.write_text(said, "utf-8")
(shop.path / "flows/trade-in-estimate.json").unlink()
FolderView(shop, client)""",
    "folder view of what only one side has": """FolderView(shop, empty)""",
    "folder view alone": "FolderView(shop)",
    "rehearsal": "chatkit.rehearse(client.contacts.plan([{'id': 50002, 'name': 'Ana Cruz'}]))",
    "funnel": "funnel(inbox.statuses())",
    "flow graph": "graph(DOCUMENT)",
    "flow diff": "diff(DOCUMENT, {**DOCUMENT, 'screens': DOCUMENT['screens'][:-1]})",
    "plan": "edited(client)",
    "result": "done.result",
    "findings": "lint({**DOCUMENT, 'version': '1.0'})",
    "audit": "client.templates.check(['order_ready', 'login_code'])",
    "board report": "client.templates.board(['order_ready', 'login_code'])",
    "quality": "client.contacts.check(contacts)",
    "frame": "contacts",
    "fleet": """fleet = chatkit.connect_all({
    "de": chatkit.Sandbox(seed="demo"), "agency-france-and-overseas": chatkit.Sandbox(seed="demo"),
    "it": "no-such-connection"})
fleet""",
    "fleet frame": "fleet.contacts.frame().groupby(level=0).head(2)",
    "fleet plan": """def shouted(few, fleet=fleet, **options):
    frame = fleet.contacts.frame().groupby(level=0).head(few)
    frame["name"] = frame.name.str.upper() + EVIL
    frame.iloc[1, frame.columns.get_loc("number")] = "12 34"
    return fleet.contacts.plan(frame, skip_invalid=True, **options)
shouted(4)""",
    "fleet plan view": "PlanView(shouted(9))",
    "fleet plan view blocked": "PlanView(shouted(90, delete={'de': [50250]}))",
    "fleet plan view done": """overtaken = shouted(4)
fleet["de"].contacts.update(50004, name="Somebody Else")
all_done = PlanView(overtaken)
all_done.apply()
all_done.undo()
all_done""",
    "fleet result": "all_done.result",
    "fleet runs": "chatkit.runs(fleet)",
    "fleet undo": "chatkit.undo(all_done.result)",
    "fleet doctor": "fleet.doctor()",
    "fleet compared": "chatkit.compare(fleet, codes=['order_ready'])",
    # the last: its client waits for an answer as long as the page is looked at
    "plan view running": """sandbox.faults(latency=60.0)
running = PlanView(plan_of_running)
running.start(running.phrase)
running""",
}
#: Writes the kinds of widgets that each cell has made to a file.
WRITE_KINDS = 'Path("brought.json").write_text(json.dumps(brought))'
