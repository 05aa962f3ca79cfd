"""A new user's first day: five tasks in a clean home without a keyring, by the book.

Each task is a script that uses nothing but what README or a notebook shows; a test sees to that.
What a person does beside it (a translator, a picture of a form) is plain Python above it.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

import openpyxl
import processes
import pytest
from terminals import answered

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")

#: What colleagues typed at a fair: semicolons, Windows-1252, no country codes, one person twice.
SIGN_UPS = """\
Name;Handy
 tomás  Ruiz ;07700 900461
José Marín;+1 212-555-0171
Zoë Quinn;0044 7700 900463
Zoë Quinn;07700900463
Hugo;
Oliver Smith;07700 900000
"""

CONTACTS = """
    fair = chatkit.read_contacts("sign_ups.csv", skip_invalid=True)
    fixed = client.contacts.check(fair, region="GB").fix().frame
    people = fixed.drop_duplicates(["country_code", "number"])
    plan = client.contacts.plan(people, existing="skip", skip_invalid=True)
    print(plan.counts, plan.refused["column"].tolist())
    before = client.contacts.frame()
    result = plan.apply()
    print(result.chatkit.summary(), len(client.contacts.frame()) - len(before))
    back = chatkit.undo(result)
    print(back.apply().chatkit.summary(), len(client.contacts.frame()) - len(before))
"""
TEMPLATES = """
    client.templates.export("to_translate.xlsx", ["review_request"], languages=["it", "nl"])
    translate("to_translate.xlsx")
    returned = client.templates.read_translations("to_translate.xlsx")
    print(len(returned.rejected), returned.plan.counts)
    print(returned.plan.apply().chatkit.summary())
    contents = client.templates.frame(["review_request"])
    print([text[:13] for text in contents.loc["review_request"].loc[["it", "nl"], "text"]])
"""
FLOWS = """
    from chatkit import flowjson

    broken = client.flows.get(305).flow_json
    findings = flowjson.lint(broken)
    print(len(findings.frame()), findings.frame()["hint"].iloc[0])
    mend(broken)
    print(flowjson.lint(broken))
    client.flows.update(305, flow_json=broken)
    print(client.flows.check_all()["errors"].sum())
"""
WEBHOOKS = """
    sandbox = chatkit.Sandbox(seed="demo")
    client = chatkit.connect(sandbox)
    inbox = chatkit.Inbox("inbox.sqlite")
    receiver, url = inbox.serve(), "https://hooks.shop.example/recipes"
    sandbox.allow(url, to=receiver.url)
    webhook = client.webhooks.create(url=url, events=["*"])
    receiver.accept(webhook.webhook_secret)
    sandbox.play("campaign", template="spring_offer", contacts=40, failures=0.2)
    statuses = inbox.statuses()
    failed = statuses[statuses.status == "failed"]
    print(failed.error.value_counts().sum())
    contacts = client.contacts.frame()
    contacts["contact"] = contacts.country_code + contacts.number
    print(len(failed), len(failed.merge(contacts, on="contact")))
    inbox.close()
"""
BEGUN = """
    client = chatkit.connect("production")
    contacts = client.contacts.frame()
    contacts.to_parquet("contacts.parquet")
    contacts.loc[contacts.country_code == "+61", "name"] = contacts.name.str.upper()
    plan = client.contacts.plan(contacts)
    plan.apply(concurrency=1, rate=5, watch=lambda done, of: print("done", done, flush=True))
"""
RESUMED = """
    import pandas as pd

    client = chatkit.connect("production")
    runs = chatkit.runs()
    print(runs["state"].tolist())
    result = chatkit.resume(runs.index[0])
    print(result.chatkit.summary())
    print(chatkit.undo(result).apply().chatkit.summary())
    print(client.contacts.frame().name.equals(pd.read_parquet("contacts.parquet").name))
"""
FIRST_FOUR = {"contacts": CONTACTS, "templates": TEMPLATES, "flows": FLOWS, "webhooks": WEBHOOKS}
CONNECT = "import chatkit\n\nclient = chatkit.connect()\n"

SERVE = "chatkit sandbox --db practice.db --seed demo"
PRACTISE = "chatkit login practice --access practice.db.access"
LOGIN = "chatkit login production"
DOCTOR = "chatkit doctor production"
MAKE_LAB = "make lab PORT=0 BROWSER=0"


def translate(workbook: str) -> None:
    """Do what a translator does with a workbook: type beside each text."""
    spreadsheet = openpyxl.load_workbook(workbook)
    for sheet in spreadsheet:
        heads = [cell.value for cell in sheet[1]]
        for row in sheet.iter_rows(min_row=2):
            row[heads.index("translation")].value = row[heads.index("source")].value.upper()
    spreadsheet.save(workbook)


def mend(document: dict) -> None:
    """Do what the hints of the findings say."""
    bike, offer = document["screens"]
    bike["id"] = "BIKE"
    heading, brand, year, link, estimate = bike["layout"]["children"]
    heading["text"] = "Tell us about your bike"
    brand["label"] = "Brand"
    year |= {"input-type": "number", "min-chars": 2, "max-chars": 4}
    link["on-click-action"]["next"]["name"] = "OFFER"
    link["on-click-action"]["payload"] = {"brand": "", "price": 0}
    estimate["on-click-action"]["payload"] = {"brand": "${form.brand}", "price": 100}
    offer["data"]["price"]["__example__"] = 100
    text, _, take, _ = offer["layout"]["children"]
    take["on-click-action"]["payload"] = {"year": "${screen.BIKE.form.year}"}
    text["text"] = "`'For your ' ${data.brand} ': ' ${data.price}`"
    offer["layout"]["children"] = [text, take]


class Home:
    """A new user's machine: an empty home, `chatkit` on PATH as in JupyterLab, no keyring."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.environment = {
            "HOME": str(place),
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "TMPDIR": os.environ["TMPDIR"],
            "LANG": "C.UTF-8",
            "XDG_CACHE_HOME": os.environ.get(
                "XDG_CACHE_HOME", str(Path.home() / ".cache")
            ),  # fonts
            "MPLBACKEND": "agg",
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        }

    def start(self, command: list[str], **options: object) -> subprocess.Popen[str]:
        return processes.Popen(command, cwd=self.place, env=self.environment, text=True, **options)

    def run(self, command: list[str]) -> str:
        done = processes.run(
            command, cwd=self.place, env=self.environment, text=True, capture_output=True,
            timeout=100,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def type(self, command: list[str], *answers: tuple[str, str]) -> str:
        """Run a command in a terminal, and answer each of its questions."""
        status, message = answered(command, *answers, cwd=self.place, env=self.environment)
        assert status == 0, message
        return message


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return Home(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def day(home: Home) -> dict[str, list[str]]:
    """The lines that the first four tasks print, which one Python does in turn."""
    (home.place / "sign_ups.csv").write_bytes(SIGN_UPS.encode("cp1252"))
    tests = str(Path(__file__).parent)
    lines = [f"import sys; sys.path.append({tests!r})", "from test_onboarding import *"]
    for name, task in FIRST_FOUR.items():
        lines += [f"print('== {name}')", CONNECT, dedent(task)]
    (home.place / "day.py").write_text("\n".join(lines), encoding="utf-8")
    message = home.run([sys.executable, "day.py"])
    parts = re.split(r"^== (\w+)\n", message, flags=re.MULTILINE)[1:]
    return {
        name: [line for line in text.splitlines() if not line.startswith("Connected to")]
        for name, text in zip(parts[::2], parts[1::2], strict=True)
    }


@pytest.fixture
def served(home: Home) -> Iterator[dict[str, str]]:
    """An account that is served, as README says, and what its access file tells."""
    process = home.start(SERVE.split(), stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("The sandbox is up")
        yield json.loads((home.place / "practice.db.access").read_text(encoding="utf-8"))
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_a_messy_csv_becomes_a_plan_that_is_applied_and_undone(day: dict[str, list[str]]) -> None:
    *_, planned, applied, undone = day["contacts"]
    assert planned == "{'create': 3, 'update': 0, 'delete': 0} ['number', 'country_code']"
    assert applied == "All 3 changes applied. 3"
    assert undone == "All 3 changes applied. 0"


def test_two_languages_go_out_to_xlsx_and_come_back(day: dict[str, list[str]]) -> None:
    *_, planned, applied, texts = day["templates"]
    assert planned == "0 {'create': 2, 'update': 0, 'delete': 0}"
    assert applied == "All 2 changes applied."
    assert texts == "['THANK YOU FOR', 'THANK YOU FOR']"


def test_a_broken_flow_is_mended(day: dict[str, list[str]]) -> None:
    assert day["flows"] == ["14 Write BIKE.", "No findings", "0"]


def test_a_webhook_is_received_counted_and_joined(day: dict[str, list[str]]) -> None:
    assert day["webhooks"] == ["8", "8 8"]


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal and signals of POSIX")
def test_a_second_account_goes_live_and_a_killed_run_is_resumed_and_undone(
    home: Home, served: dict[str, str]
) -> None:
    message = home.type(
        LOGIN.split(),
        ("Base address", served["base_url"]),
        ("Account id", served["account_id"]),
        ("[Y/n]", ""),  # a token file, as there is no keyring
        ("hidden", served["token"]),
    )
    assert "Kept" in message
    assert served["token"] not in message
    assert "accepted" in home.run(DOCTOR.split())

    begun = home.start([sys.executable, "-c", CONNECT + dedent(BEGUN)], stdout=subprocess.PIPE)
    assert begun.stdout is not None
    for line in begun.stdout:
        if line.startswith("done"):
            begun.send_signal(signal.SIGKILL)
            break
    begun.communicate(timeout=60)
    assert begun.returncode == -signal.SIGKILL

    message = home.run([sys.executable, "-c", CONNECT + dedent(RESUMED)])
    *_, states, resumed, undone, as_before = message.splitlines()
    assert states == "['open']"
    assert resumed == "All 8 changes applied."
    assert undone == "All 8 changes applied."
    assert as_before == "True"


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
def test_a_practice_account_is_opened_by_two_commands_in_two_terminals(
    home: Home, served: dict[str, str]
) -> None:
    message = home.run(["/bin/sh", "-c", PRACTISE])
    assert served["token"] not in message
    code = "import chatkit; chatkit.connect('practice')"
    assert served["base_url"] in home.run([sys.executable, "-c", code])


# --- from a clone ---------------------------------------------------------------------


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone whose environment has what is installed here, and is brought up to date by nobody.

    What would be installed into it had no `pip` to do so: the environment of the tests stays.
    """
    place = tmp_path / "clone"
    for name in ("chatkit", "notebooks"):
        shutil.copytree(ROOT / name, place / name)
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy2(ROOT / name, place / name)
    environment = place / ".venv"
    venv.create(environment, symlinks=True, with_pip=False)
    (installed,) = environment.glob("lib/*/site-packages")
    (installed / "libraries.pth").write_text(sysconfig.get_path("purelib"))
    (environment / "share").symlink_to(Path(sys.prefix) / "share")  # the pages of JupyterLab
    (environment / "ready-lab").touch()
    return place


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_make_lab_opens_the_notebooks_of_a_clone_and_its_end_leaves_no_process(
    clone: Path, tmp_path: Path
) -> None:
    """All output goes to a file: who ends `make` alone would wait for JupyterLab at a pipe."""
    home, log = Home(tmp_path / "home"), tmp_path / "said"
    home.place.mkdir()
    environment = home.environment | {"PATH": "/usr/bin:/bin"}
    with log.open("wb") as output:
        lab = subprocess.Popen(
            ["/bin/sh", "-c", MAKE_LAB], cwd=clone, env=environment, stdin=subprocess.DEVNULL,
            stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    try:
        address = None
        while address is None:
            ended = lab.poll() is not None
            address = re.search(r"http://127\.0\.0\.1:\d+/\S*\?token=\w+", log.read_text("utf-8"))
            assert address or not ended, log.read_text("utf-8")
            time.sleep(0.1)
        page, _, token = address[0].partition("?token=")
        assert page.endswith("/lab/tree/0_start.ipynb")
        api = f"{page.partition('/lab')[0]}/api/contents?token="
        opened = build_opener(ProxyHandler({}))
        with opened.open(api + token, timeout=60) as answer:
            view = [file["name"] for file in json.load(answer)["content"]]
        assert {path.name for path in ROOT.glob("notebooks/*.ipynb")} <= set(view)
        with pytest.raises(HTTPError, match="403"):
            opened.open(api + "another", timeout=60)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(lab.pid, signal.SIGTERM)
        try:
            lab.wait(60)
            while group_lives(lab.pid):
                time.sleep(0.1)
        except BaseException:
            os.killpg(lab.pid, signal.SIGKILL)
            raise
    assert "install" not in log.read_text("utf-8"), "something was installed"


def group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


# --- what is shown --------------------------------------------------------------------


def view() -> set[str]:
    """Every name that the Python of README and the notebooks uses, and every argument."""
    code = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    prose = README
    for path in sorted(ROOT.glob("notebooks/*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                code.append(re.sub(r"^%.*$", "", "".join(cell["source"]), flags=re.MULTILINE))
            else:
                prose += "".join(cell["source"])
    inline = re.findall(r"`([^`\n]+)`", prose)
    return set().union(*map(used, code)) | set(re.findall(r"\w+", " ".join(inline)))


def used(code: str) -> set[str]:
    nodes = list(ast.walk(ast.parse(dedent(code))))
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return attributes | {node.arg for node in nodes if isinstance(node, ast.keyword) and node.arg}


@pytest.mark.parametrize("task", [*FIRST_FOUR.values(), BEGUN, RESUMED])
def test_the_tasks_use_nothing_but_what_readme_or_a_notebook_shows(task: str) -> None:
    pandas_and_python = {"drop_duplicates", "equals", "sum", "tolist", "flush"}
    assert used(task) - view() <= pandas_and_python


@pytest.mark.parametrize("command", [SERVE, PRACTISE, LOGIN, DOCTOR])
def test_the_commands_stand_in_readme(command: str) -> None:
    assert re.search(rf"^{re.escape(command)}(?: |$)", README, re.MULTILINE)
