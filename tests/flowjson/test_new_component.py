"""A new component is an entry in the table: lint, builder and editor know it from there.

The test follows "Your first change" in .github/CONTRIBUTING.md, on a copy of the package.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import chatkit

ENTRY = """
[components.Rating]
about = "Stars of which a person taps some."
group = "input"
value = "number"
since = "7.1"
properties = [
  "type",
  "name",
  { name = "label", required = "2.1", length = 30 },
  { name = "stars", kind = "integer", about = "How many.", low = 3, high = 10 },
  "visible",
]
"""
USE = """
import json
from chatkit import flowjson
from chatkit.widgets.editor.edits import make_component
stars = flowjson.Rating("stars", "How was it?", stars=12)
done = flowjson.Footer("Send", flowjson.Complete({"stars": stars}))
flow = flowjson.Flow([flowjson.Screen("RATE", "Rate", [stars, done], terminal=True)])
print(json.dumps({
    "listed": "Rating" in dir(flowjson),
    "json": flow.to_json()["screens"][0]["layout"]["children"],
    "now": [f.code for f in flow.lint()],
    "before": [f.code for f in flow.lint("7.0").errors],
    "code": 'Rating("stars", "How was it?", stars=12)' in flowjson.to_code(flow),
    "read": flowjson.parse(flow.to_json())["RATE"]["stars"].stars,
    "texts": flowjson.texts(flow).text.tolist(),
    "added": make_component("Rating"),
}))
"""


def test_a_component_is_one_entry_and_its_generated_stub(tmp_path: Path) -> None:
    package = Path(chatkit.__file__).parent
    copied = tmp_path / "chatkit"
    shutil.copytree(package, copied, ignore=shutil.ignore_patterns("__pycache__", "demo"))
    with (copied / "flowjson/components.toml").open("a") as table:
        table.write(ENTRY)
    env = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    generator = str(Path(__file__).with_name("build") / "classes.py")
    subprocess.run([sys.executable, generator], cwd=tmp_path, env=env, timeout=120, check=True)
    report = subprocess.run(
        [sys.executable, "-c", USE],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False, env=env,
    )  # fmt: skip
    assert report.returncode == 0, report.stderr
    result = json.loads(report.stdout)
    assert result["listed"] and result["code"] and result["read"] == 12
    assert result["json"][0] == {
        "type": "Rating", "name": "stars", "label": "How was it?", "stars": 12,
    }  # fmt: skip
    assert result["json"][1]["on-click-action"]["payload"] == {"stars": "${form.stars}"}
    assert result["now"] == ["MAXIMUM_VALUE_REQUIRED"]
    assert "INVALID_PROPERTY_VALUE" in result["before"]
    assert result["texts"] == ["Rate", "How was it?", "Send"]
    assert result["added"] == {"type": "Rating", "name": "rating", "label": "Choose"}
    edited = [
        path.relative_to(copied).as_posix()
        for path in sorted([*copied.rglob("*.py*"), *copied.rglob("*.toml")])
        if path.read_bytes() != (package / path.relative_to(copied)).read_bytes()
    ]
    assert edited == ["flowjson/build/classes.pyi", "flowjson/components.toml"]
