"""The inbox as a person meets it: deliveries over real HTTPS, live, and its webhooks."""

from __future__ import annotations

import http.client
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from browser import story
from browser.conftest import Opener
from browser.lab import Lab, OpenNotebook
from inbox.bodies import ANA, BEN, message, status
from inbox.senders import OTHER, SECRET, signed
from playwright.sync_api import Locator, expect
from widgets.inbox.stored import EVIL, moved, written

MANY = 320  #: more than a page keeps
SERVING = f"""import json, tempfile, threading
from pathlib import Path
from chatkit.inbox import Inbox
from chatkit.widgets.tail import Tail

folder = tempfile.TemporaryDirectory()
inbox = Inbox(Path(folder.name) / "inbox.sqlite")
receiver = inbox.serve("{SECRET}")
print(Path("receiver.json").write_text(json.dumps({{"url": receiver.url}})) > 0)"""
CELLS = [
    SERVING,
    "tail = Tail(inbox)\ntail",
    """tail.stop()
names = [one.name for one in threading.enumerate()]
inbox.close()
print(len(inbox.raw()), "chatkit-tail" in names, tail.running)""",
    "print(len(inbox.raw()))",
    f"""from chatkit.widgets.conversation import Conversation
talk = Conversation(inbox, "+{ANA}")
talk""",
    "inbox.close()\nprint('closed')",
]


class Sender:
    """A service that delivers over one connection, kept open, as it would."""

    def __init__(self, lab: Lab) -> None:
        parts = urlsplit(json.loads((lab.root / "receiver.json").read_text())["url"])
        self._connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
        self._sent = 0

    def send(self, body: bytes, secret: str = SECRET) -> None:
        self._sent += 1
        headers = signed(body, f"msg_{self._sent}", secret)
        self._connection.request("POST", "/hook", body, headers)
        answer = self._connection.getresponse()
        assert (answer.read(), answer.status) == (b"stored\n", 200)

    def close(self) -> None:
        self._connection.close()


@pytest.fixture
def sending(lab: Lab) -> Iterator[Callable[[], Sender]]:
    """Connect to the receiver that a notebook of this test has told."""
    senders: list[Sender] = []

    def connect() -> Sender:
        senders.append(Sender(lab))
        return senders[-1]

    yield connect
    for sender in senders:
        sender.close()


@pytest.fixture(scope="module")
def notebook(lab: Lab, open_once: Opener) -> OpenNotebook:
    return open_once(story.write(lab, "inbox.ipynb", CELLS))


def rows(tail: Locator) -> Locator:
    return tail.locator("tbody tr")


def test_a_tail_follows_and_is_searched_and_opened(
    notebook: OpenNotebook, sending: Callable[[], Sender]
) -> None:
    page = notebook.page
    story.run(notebook, 0)
    tail = story.run(notebook, 1).locator(".tl-tail")
    expect(tail.locator(".chatkit-state")).to_have_text("live")
    expect(tail.get_by_text("Nothing has come yet.")).to_be_visible()
    sender = sending()
    for n in range(MANY):
        sender.send(
            written(message(n), kind="message") if n % 2 else moved(status(f"m{n}", "sent"))
        )
    expect(tail.locator(".tl-count")).to_have_text(f"300 rows, {MANY} new")
    expect(rows(tail)).to_have_count(300)  # the page is bounded
    assert rows(tail).first.get_attribute("data-id") == str(MANY)

    # paused, nothing moves; then all of it is there
    tail.get_by_role("button", name="Pause").click()
    expect(tail.locator(".chatkit-state")).to_have_text("paused")
    sender.send(written(message(900, text={"body": EVIL}), kind="message"))
    sender.send(written(message(901, who=BEN, text={"body": "Olá!"}), kind="odd.kind"), OTHER)
    story.run(notebook, 3)  # the kernel has looked, too
    expect(rows(tail).first).to_have_attribute("data-id", str(MANY))
    tail.get_by_role("button", name="Go on").click()
    expect(rows(tail).first).to_have_attribute("data-id", str(MANY + 2))
    expect(rows(tail).first).to_contain_text("not verified")
    assert tail.locator("img").count() == 0 and page.title() != "1"

    # a contact, then a kind of events
    contact = tail.get_by_role("searchbox", name="Contact")
    contact.fill(f"+{BEN}")
    contact.press("Enter")
    expect(rows(tail)).to_have_count(1)
    contact.fill("")
    contact.press("Enter")
    tail.get_by_role("combobox", name="Kind").select_option("chat.message.status")
    expect(rows(tail)).to_have_count(MANY // 2)
    tail.get_by_role("combobox", name="Kind").select_option("all")
    expect(rows(tail)).to_have_count(300)

    # one is opened by keyboard: why it is not believed, and its tree
    rows(tail).first.get_by_role("button").focus()
    page.keyboard.press("Enter")
    sheet = tail.locator(".tl-sheet")
    expect(sheet.get_by_role("heading")).to_be_focused()
    expect(sheet.locator(".tl-bad")).to_have_text(re.compile("not verified: .*sign"))
    expect(sheet.locator("pre")).to_contain_text('"body": "Olá!"')
    notebook.shot("inbox-tail")
    sheet.get_by_role("button", name="Close").click()
    expect(rows(tail).first.get_by_role("button")).to_be_focused()

    # words in a body, and a failure
    why = [{"code": 131026, "title": "Message undeliverable"}]
    sending().send(moved(status("m7", "failed", errors=why)))
    red = rows(tail).first
    expect(red).to_contain_text("✗ 131026: Message undeliverable")
    expect(red).to_contain_text(f"Ana +{ANA}")
    theme = "getComputedStyle(document.body).getPropertyValue('--ck-error')"
    themed = f"one => {{ one.style.color = {theme}; return getComputedStyle(one).color; }}"
    assert red.evaluate("one => getComputedStyle(one).color") == red.evaluate(themed)
    search = tail.get_by_role("searchbox", name="Search")
    search.press_sequentially("UNDELIVER")
    expect(rows(tail)).to_have_count(1)

    ended = story.run(notebook, 2)
    expect(ended).to_contain_text(f"{MANY + 3} False False")
    expect(tail.locator(".chatkit-state")).to_have_text("stopped")


def test_a_conversation_shows_what_was_delivered(
    notebook: OpenNotebook, sending: Callable[[], Sender]
) -> None:
    story.run(notebook, 0)  # a new inbox
    talk = story.run(notebook, 4).locator(".chatkit-conversation")
    expect(talk).to_contain_text("No message of this contact")
    sender = sending()
    ours = {"from": "15550100", "to": ANA}
    sender.send(written(message(1, text={"body": "Hello, is my order there?"})))
    sender.send(written({**message(5, text={"body": "It is on its way."}), **ours}))
    sender.send(moved(status("m5", "sent", 6), status("m5", "read", 200)))
    sender.send(written({**message(300, text={"body": EVIL}), "context": {"id": "m5"}}))
    sender.send(written(message(301, "reaction", reaction={"message_id": "m5", "emoji": "👍"})))
    sender.send(written({**message(400, "image", image={"id": "1", "caption": "Proof"}), **ours}))
    why = [{"code": 131026, "title": "Message undeliverable"}]
    sender.send(moved(status("m400", "failed", 401, errors=why)))
    sender.send(written(message(500, text={"body": "שלום, תודה רבה"})))
    expect(talk.locator("li.theirs")).to_have_count(3)  # it goes on by itself
    ticked = talk.locator("li.ours").filter(has_text="It is on its way.")
    expect(ticked).to_contain_text(re.compile(r"✓✓\s+read"))
    expect(ticked).to_contain_text("👍")
    expect(talk).to_contain_text("131026: Message undeliverable")
    assert talk.locator("img").count() == 0
    log = talk.locator(".cv-log")
    sender.send(written(message(700, text={"body": "A long story. " * 90})))
    expect(talk.locator("li.theirs")).to_have_count(4)
    log.evaluate("list => list.scrollTop = -list.scrollHeight")
    sender.send(written(message(701, text={"body": "Are you there?"})))
    expect(talk.locator("li.theirs")).to_have_count(5)
    assert log.evaluate("list => list.scrollTop") < 0  # who reads further up is not moved
    notebook.shot("inbox-talk")
    story.run(notebook, 5)


HOOKS = [
    """import chatkit, keyring
from chatkit.widgets.form import Registrations
from keyring.backend import KeyringBackend

class Memory(KeyringBackend):
    priority, kept = 1, {}
    def get_password(self, service, name): return self.kept.get((service, name))
    def set_password(self, service, name, password): self.kept[service, name] = password
    def delete_password(self, service, name): del self.kept[service, name]

keyring.set_keyring(Memory())

client = chatkit.connect(chatkit.Sandbox(seed="empty"))
for n in range(8):
    _ = client.webhooks.create(url=f"https://shop.example/{n}", events=["chat.message.status"])""",
    "registrations = Registrations(client.webhooks)\nregistrations",
    "print(len(client.webhooks.frame()), registrations.form.secret_once.secret)",
]


def test_a_webhook_is_registered_switched_off_and_its_secret_handed_over_once(
    lab: Lab, open_once: Opener
) -> None:
    notebook = open_once(story.write(lab, "hooks.ipynb", HOOKS))
    page = notebook.page
    story.run(notebook, 0)
    root = story.run(notebook, 1).locator(".chatkit-registrations")
    expect(root.get_by_text("8 webhooks of 10")).to_be_visible()
    address = root.get_by_role("textbox", name="Address")
    expect(root.get_by_role("checkbox", name=re.compile("all events"))).to_be_checked()
    kinds = root.get_by_role("checkbox", name=re.compile("status updates"))
    expect(kinds).to_be_disabled()
    page.keyboard.press("Escape")
    root.get_by_role("checkbox", name=re.compile("all events")).press("Space")
    kinds.press("Space")
    address.fill("https://shop.example/new")
    address.press("Enter")
    expect(root.get_by_text("9 webhooks of 10")).to_be_visible()
    secret = root.get_by_role("group", name="Signing secret")
    expect(secret).to_contain_text("is shown this once")
    secret.get_by_role("button", name="Copy").click()
    expect(secret.get_by_text("Copied.")).to_be_visible()
    copied: str = page.evaluate("() => navigator.clipboard.readText()")
    assert re.fullmatch("[0-9a-f]{64}", copied)
    assert copied not in page.content()
    secret.get_by_role("button", name="Show").press("Enter")
    expect(secret.locator("output")).to_have_text(copied)

    # saved while the secret is to be seen, with the state of all widgets: no file has it
    notebook.command("@jupyter-widgets/jupyterlab-manager:saveWidgetState")
    notebook.command("docmanager:save")
    notebook.command("@jupyter-widgets/jupyterlab-manager:saveWidgetState")
    saved = (lab.root / "hooks.ipynb").read_text("utf-8")
    assert "application/vnd.jupyter.widget-state+json" in saved and "shown this once" in saved
    folders = [lab.root.parent, lab.home, Path(os.environ["XDG_DATA_HOME"])]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert lab.root / "hooks.ipynb" in files
    assert not [path for path in files if copied.encode() in path.read_bytes()]
    root.get_by_role("button", name="Deactivate 41").press("Enter")
    expect(root.get_by_text("is inactive.")).to_be_visible()
    expect(root.get_by_role("button", name="Activate 41")).to_be_focused()  # it goes down the list
    expect(secret.locator("output")).to_have_text(copied)
    secret.get_by_role("button", name="Hide").click()
    root.scroll_into_view_if_needed()
    notebook.shot("inbox-hooks")
    secret.get_by_role("button", name="Keep in keyring").press("Enter")
    expect(secret).to_contain_text("is kept in the keyring of this machine")
    expect(secret.get_by_role("button", name="Done: forget it")).to_be_focused()
    page.keyboard.press("Enter")
    expect(secret.get_by_role("button")).to_have_count(0)
    expect(secret).to_contain_text("client.webhooks.secret(49) finds it")
    assert copied not in page.content()
    root.get_by_role("button", name="Edit 49").click()
    expect(address).to_have_value("https://shop.example/new")
    root.get_by_role("button", name="New webhook").click()
    address.fill("https://shop.example/last")
    root.get_by_role("button", name="Create webhook").click()
    expect(root.get_by_text("10 webhooks of 10: delete one")).to_be_visible()
    secret.get_by_role("button", name="Done: forget it").click()
    expect(secret).to_contain_text("is not kept here")
    expect(story.run(notebook, 2)).to_contain_text("10 None")
