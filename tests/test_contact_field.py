"""A new field of a contact is two declarations: the client's and the sandbox's.

On a copy of the package, the service comes to keep a `nickname`. Frames, plans, forms, checks,
undo and the OpenAPI document know it from there.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

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
            "names, number, code, call.grant.actor)\n",
            '            record["nickname"] = given.get("nickname")\n',
        ),
        (
            "given = self.update_body.read(call.body)\n        record = json.loads(row.item)\n",
            '        if "nickname" in given or self.profile.put == "replace":\n'
            '            record["nickname"] = given.get("nickname")\n',
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
    except chatkit.InputError as error:
        found["refused"] = [problem.field for problem in error.problems]
    found["help"] = "nickname" in contacts.create.__doc__
print(json.dumps(found))
"""


def test_a_contact_field_is_two_declarations(tmp_path: Path) -> None:
    package = Path(chatkit.__file__).parent
    copied = tmp_path / "chatkit"
    shutil.copytree(package, copied, ignore=shutil.ignore_patterns("__pycache__"))
    for file, edits in EDITS.items():
        text = (copied / file).read_text("utf-8")
        for after, new in edits:
            assert text.count(after) == 1, (file, after)
            text = text.replace(after, after + new)
        (copied / file).write_text(text, "utf-8")
    told = subprocess.run(
        [sys.executable, "-c", USE],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout.splitlines()[-1]) == {
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
    edited = [
        path.relative_to(copied).as_posix()
        for path in sorted(copied.rglob("*.py"))
        if path.read_bytes() != (package / path.relative_to(copied)).read_bytes()
    ]
    assert edited == ["contacts.py", "sandbox/contacts.py"]
