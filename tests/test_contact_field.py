"""Changes on a copy of the package: which files a new field and a new resource touch.

A new field of a contact is two declarations: the client's and the sandbox's. Frames, plans, forms,
checks, undo and the OpenAPI document know it from there. A fifth resource is a module of its own
and its place in the registry: plans, undo, folders, comparisons and the plan of an account know it
from there. The sandbox declares its resources for itself, in the same way; routes, permissions,
the OpenAPI document and copies of an account know it from there.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import chatkit

#: By file, what is written after what.
EDITS = {
    "contacts.py": [
        ('"wa_phone_id", "created_at", "updated_at", "created_by",', ' "nickname",'),
        ("    ai_mode: str | None = None\n", "    nickname: str | None = None\n"),
        (
            'splits it into first, middle and last name."\n    )\n',
            '    nickname: str = Field("", description="What friends say.")\n',
        ),
    ],
    "sandbox/contacts.py": [
        (
            'name: str = Field("", description="Split into first, middle and last name.")\n',
            '    nickname: str = ""\n',
        ),
        ("    ai_mode: str\n", "    nickname: str | None = None\n"),
        (
            "record = self._new_record(record_id, names, number, code, actor)\n",
            '            record["nickname"] = fields.get("nickname")\n',
        ),
        (
            "fields = self.update_body.validate(call.body)\n"
            "        record = self._load_record(row)\n",
            '        if "nickname" in fields or self.profile.put == "replace":\n'
            '            record["nickname"] = fields.get("nickname")\n',
        ),
    ],
}
USE = """
import json
import chatkit
from chatkit.widgets.form import Form

CODE = {"country_code": "+1"}
found = {}
with chatkit.Sandbox(seed="empty") as sandbox, chatkit.connect(sandbox) as client:
    contacts = client.contacts
    ana = contacts.create(number="2025550100", name="Ana Cruz", nickname="Ani", **CODE)
    found["created"] = ana.nickname
    found["updated"] = contacts.update(ana.id, nickname="Anita").nickname
    found["kept"] = contacts.update(ana.id, name="Ana Luz").nickname
    frame = contacts.frame()
    found["frame"] = [str(frame["nickname"].dtype), *frame["nickname"]]
    edited = frame.assign(nickname="Nita")
    found["checked"] = len(contacts.check(edited))
    plan = contacts.plan(edited)
    found["plan"] = [[change.kind, dict(change.after)] for change in plan.changes]
    result = plan.apply()
    found["applied"] = [*result["state"], contacts.get(ana.id).nickname]
    found["undone"] = [*chatkit.undo(result).apply()["state"], contacts.get(ana.id).nickname]
    rows = [{"number": "2025550101", "nickname": "Bo", **CODE}]
    contacts.plan(rows).apply()
    found["planned"] = contacts.frame()["nickname"].tolist()
    form = Form(contacts, ana.id)
    form.set("nickname", "Annie")
    found["line"] = form.line.replace(str(ana.id), "ID")
    form.submit()
    found["submitted"] = contacts.get(ana.id).nickname
    try:
        contacts.update(ana.id, nickname=7)
    except chatkit.errors.InputError as error:
        found["refused"] = [problem.field for problem in error.problems]
    found["help"] = "nickname" in contacts.create.__doc__
print(json.dumps(found))
"""


def used(
    place: Path, edits: Mapping[str, Sequence[tuple[str, str]]], new: Mapping[str, str], use: str
) -> tuple[Any, list[str]]:
    """Return what a program prints with an edited copy of the package, and the edited files."""
    package = Path(chatkit.__file__).parent
    copied = place / "chatkit"
    shutil.copytree(package, copied, ignore=shutil.ignore_patterns("__pycache__"))
    for file, text in new.items():
        (copied / file).write_text(text, "utf-8")
    for file, pairs in edits.items():
        text = (copied / file).read_text("utf-8")
        for after, more in pairs:
            assert text.count(after) == 1, (file, after)
            text = text.replace(after, after + more)
        (copied / file).write_text(text, "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", use],
        cwd=place, capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    edited = [
        path.relative_to(copied).as_posix()
        for path in sorted(copied.rglob("*.py"))
        if path.relative_to(copied).as_posix() not in new
        and path.read_bytes() != (package / path.relative_to(copied)).read_bytes()
    ]
    return json.loads(done.stdout.splitlines()[-1]), edited


def test_a_contact_field_is_two_declarations(tmp_path: Path) -> None:
    printed, edited = used(tmp_path, EDITS, {}, USE)
    assert printed == {
        "created": "Ani",
        "updated": "Anita",
        "kept": "Anita",
        "frame": ["str", "Anita"],
        "checked": 0,
        "plan": [["update", {"nickname": "Nita"}]],
        "applied": ["applied", "Nita"],
        "undone": ["applied", "Anita"],
        "planned": ["Anita", "Bo"],
        "line": 'client.contacts.update(ID, nickname="Annie")',
        "submitted": "Annie",
        "refused": ["nickname"],
        "help": True,
    }
    assert edited == ["contacts.py", "sandbox/contacts.py"]


# --- a resource -------------------------------------------------------------------------------

LABELS = '''
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from chatkit.bulk.endpoints import Endpoints
from chatkit.api.record import Body, Id, Record
from chatkit.resource import Resource

if TYPE_CHECKING:
    import pandas as pd


class Label(Record):
    """A label."""

    listed: ClassVar[tuple[str, ...]] = ("id", "title", "colour")

    id: Id
    title: str | None = None
    colour: str | None = None


class LabelBody(Body):
    """The fields of a label that can be sent."""

    title: str = Field(description="What people call it.")
    colour: str = Field("", description="Its colour.")


class LabelEndpoints(Endpoints[Label]):
    """The calls of labels."""

    path = ("labels",)
    noun, attribute = "label", "labels"
    record, body = Label, LabelBody
    natural_key = account_key = ("title",)
    file, version = "labels/*.json", ""


class Labels(Resource[Label], endpoints=LabelEndpoints):
    """The labels of the account."""

    def frame(self) -> pd.DataFrame:
        """Read the labels into a DataFrame."""
        return self._frame(full=False)
'''
SANDBOX_LABELS = '''
"""Labels: words that a business sorts things by."""

from collections.abc import Mapping
from typing import Any

from chatkit.sandbox.interface import ServiceAnswer, dumps, make_operations, parse_query
from chatkit.sandbox.resource import AllowedCall, Fields, ResourceHandler


class LabelFields(Fields):
    """The fields of a label that may be sent."""

    title: str = ""
    colour: str = ""


class LabelRecord(LabelFields):
    """A label as it is shown."""

    id: int


class LabelsHandler(ResourceHandler):
    """The labels of an account."""

    name = "labels"
    noun = "Label"
    natural_key = "title"
    fields, required = LabelFields, ("title",)
    item = record = created = updated = LabelRecord
    operations = make_operations("/labels", "labelId", "Chat Labels")

    def list(self, call: AllowedCall) -> ServiceAnswer:
        """Answer with a page of labels."""
        return self._build_page(self.table.list_ids(call.grant.account), parse_query(call.query))

    def create(self, call: AllowedCall) -> ServiceAnswer:
        """Make a label."""
        record = {"colour": "", **self.create_body.validate(call.body)}
        self.insert_copy(call.grant.account, record)
        made = self.table.find_by_key(call.grant.account, record["title"])
        return self.replies.build_success(made.full_text.encode(), 201, "Label created")

    def update(self, call: AllowedCall) -> ServiceAnswer:
        """Change a label."""
        row = self.find_active_record(call)
        record = self._load_record(row) | self.update_body.validate(call.body)
        self._rewrite(row, record)
        return self.replies.build_confirmation("Label updated", dumps(record).encode())

    def insert_copy(self, account: str, record: Mapping[str, Any]) -> None:
        """Store a label of another account under its id."""
        record_id = self._choose_copied_id(record)
        self._insert(account, record_id, {"id": self._format_id(record_id), **record})
'''
REGISTRY = {
    "sandbox/service.py": [
        (
            "from chatkit.sandbox.flows import FlowsHandler\n",
            "from chatkit.sandbox.labels import LabelsHandler\n",
        ),
        ("    WebhooksHandler,\n)\n", "RESOURCES += (LabelsHandler,)\n"),
    ],
    "client.py": [
        ("from chatkit.flows import Flows\n", "from chatkit.labels import Labels\n"),
        ("for kind in (Flows, Templates, Webhooks, Contacts", ", Labels"),
        ("    flows: Flows\n", "    labels: Labels\n"),
    ],
}
USE_LABELS = """
import contextlib, io, json
from pathlib import Path
import chatkit

found = {}
with contextlib.redirect_stdout(io.StringIO()), chatkit.Sandbox(seed="empty") as one, \\
        chatkit.Sandbox(seed="empty") as two, chatkit.connect(one) as client, \\
        chatkit.connect(two) as other:
    labels = client.labels
    urgent = labels.create(title="Urgent", colour="red")
    found["created"] = [urgent.id, urgent.colour]
    found["updated"] = labels.update(urgent.id, colour="blue").colour
    plan = labels.plan([{"title": "Late"}, {"id": urgent.id, "colour": "red"}])
    result = plan.apply()
    found["applied"] = [plan.counts, *result["state"]]
    back = chatkit.undo(result, client).apply(irreversible=True, many=True)
    found["undone"] = [*back["state"]]
    found["listed"] = labels.frame()["title"].tolist()
    labels.plan([{"title": "Late"}]).apply()
    folder = chatkit.Folder("shop")
    folder.pull(client)
    found["files"] = sorted(path.name for path in Path("shop/labels").iterdir())
    found["compared"] = chatkit.compare(folder, other).counts
    folder.plan(other).apply()
    found["copied"] = sorted(other.labels.frame()["title"])
    found["same"] = len(chatkit.compare(client, other))
    Path("shop/labels/Late.json").unlink()
    gone = folder.plan(client, delete=["label Late"]).apply(irreversible=True, many=True)
    found["deleted"] = [*gone["label"], *gone["state"]]
    labels.delete(urgent.id)
    found["left"] = labels.frame()["title"].tolist()
    with chatkit.Sandbox(seed={"labels": [{"id": 7, "title": "Kept", "colour": ""}]}) as copy:
        found["seeded"] = chatkit.connect(copy).labels.frame()["title"].tolist()
        status, _, document = copy.answer("GET", "/openapi.json", {}, b"")
        found["described"] = b"update_labels" in document and b"Chat Labels, Edit" in document
print(json.dumps(found))
"""


def test_a_fifth_resource_is_a_module_and_its_place_in_the_registry(tmp_path: Path) -> None:
    new = {"labels.py": LABELS, "sandbox/labels.py": SANDBOX_LABELS}
    printed, edited = used(tmp_path, REGISTRY, new, USE_LABELS)
    assert printed == {
        "created": [1, "red"],
        "updated": "blue",
        "applied": [{"create": 1, "update": 1, "delete": 0}, "applied", "applied"],
        "undone": ["applied", "applied"],
        "listed": ["Urgent"],
        "files": ["Late.json", "Urgent.json"],
        "compared": {"label": {"only left": 2}},
        "copied": ["Late", "Urgent"],
        "same": 0,
        "deleted": ["Late", "applied"],
        "left": [],
        "seeded": ["Kept"],
        "described": True,
    }
    assert edited == ["client.py", "sandbox/service.py"]
