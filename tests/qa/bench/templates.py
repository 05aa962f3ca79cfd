"""Bench of templates: a board of 200 codes × 30 languages, read beside the bare calls; memory.

`python templates.py ROAD BASE_URL ACCOUNT TOKEN CODES` measures one road and prints seconds, CPU
and the highest memory, as JSON. The service is the sandbox, over HTTP, in a
process of its own.
"""

from __future__ import annotations

import io
import json
import random
import resource
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from measure import (
    HERE,
    SMOKE,
    TESTS,
    at_most,
    child,
    cpu,
    left_out,
    medians,
    memory,
    rounds,
    run,
    server,
    show,
    sized,
)

from chatkit.resource import get_endpoints

CODES, LANGUAGES = sized(60, 8), sized(30, 3)
COUNT, FRAMES, OTHERS = sized(1, 1), sized(7, 1), sized(2, 1)
GOAL = 1.3
#: The time of a board, that of reading it = 1; milliseconds of a look-up in the memory.
BOARD_GOAL, MEMORY_GOAL = 1.5, 300
STRINGS, LOOKUPS = sized(10_000, 300), sized(100, 20)
#: The time until a queue is on the screen, that of a grid of as many rows = 1.
QUEUE_GOAL = 1.0
QUEUED, OPENED = sized(2_000, 60), sized(7, 2)
TEXT = "Hello {{1}}, your order {{2}} is ready since this morning. Come and collect it. "
BUTTONS = [
    {"type": "visit_website", "label": "Track", "value": "https://shop.example/t"},
    {"type": "call_phone", "label": "Call", "value": "2025550143", "country_code": "+1"},
]


def codes(count: int) -> list[str]:
    """The codes of the board."""
    return [f"template_{n:03}" for n in range(count)]


def languages() -> list[str]:
    """Languages that the platform has."""
    from chatkit.localization.language import SUPPORTED

    return list(SUPPORTED[:LANGUAGES])


# --- roads ------------------------------------------------------------------------------


def frame(client: Any, named: list[str]) -> int:
    """One call a template, into one frame."""
    return len(client.templates.frame(named))


def bare(client: Any, named: list[str]) -> int:
    """The same calls, and what came back is let go."""
    return _sent(client, [get_endpoints(client.templates(code)).list_call() for code in named])


def full_frame(client: Any, named: list[str]) -> int:
    """A call more for each content, for all its fields."""
    return len(client.templates.frame(named, full=True))


def full_bare(client: Any, named: list[str]) -> int:
    """The same calls, and what came back is let go."""
    sources = [client.templates(code) for code in named]
    _sent(client, [get_endpoints(target).list_call() for target in sources])
    return _sent(
        client, [get_endpoints(target).get_call(lang) for target in sources for lang in languages()]
    )


def board(client: Any, named: list[str]) -> int:
    """All of it, checked against the rules, as states."""
    return len(client.templates.board(named))


def one_by_one(client: Any, named: list[str]) -> int:
    """Read one template after the other in a loop."""
    return sum(len(client.templates(code).frame()) for code in named)


def _sent(client: Any, calls: Iterable[Any]) -> int:
    from chatkit.errors import Fault

    done = 0
    for outcome in client.transport.send_all(calls):
        assert not isinstance(outcome, Fault), outcome
        done += 1
    return done


ROADS: dict[str, Callable[[Any, list[str]], int]] = {
    each.__name__: each for each in (frame, bare, full_frame, full_bare, board, one_by_one)
}
#: The calls with which a road is compared.
BARE = {"frame": "bare", "one_by_one": "bare", "full_frame": "full_bare", "board": "full_bare"}


def measure_road(road: str, base_url: str, account: str, token: str, count: int) -> None:
    """Measure one road: its memory, then its time, warm, in turn with the bare calls."""
    from chatkit import Client

    client, named = Client(base_url, account, token), codes(count)
    ROADS[road](client, named[:4])
    held = memory()
    ROADS[road](client, named)
    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    samples = []
    for _ in range(FRAMES if road == "frame" else OTHERS):
        mine, others = timed(road, client, named), timed(BARE[road], client, named)
        samples.append(mine | {"bare": others["s"], "ratio": mine["s"] / others["s"]})
    print(json.dumps(medians(samples) | {"mb": highest - held}))
    client.close()


def timed(road: str, client: Any, named: list[str]) -> dict[str, float]:
    """Return seconds and CPU of one run."""
    began, used = time.perf_counter(), cpu()
    ROADS[road](client, named)
    return {"s": time.perf_counter() - began, "cpu": cpu() - used}


# --- the tables -------------------------------------------------------------------------


def main() -> None:
    """Print two tables."""
    with server(sys.executable, "-m", "chatkit", "sandbox", "--json") as up:
        report = json.loads(up.line)
        where = report["base_url"], report["account_id"], report["token"]
        fill(*where)
        figures = measured(where, list(BARE), CODES)
        compare_calls(figures)
        few = measured(where, ["full_frame"], CODES // 4)
        growth(figures["full_frame"], few["full_frame"])
    remembered()
    reviewed()


def fill(base_url: str, account: str, token: str) -> None:
    """Make all contents, which is none of the bench."""
    from chatkit import Client
    from chatkit.errors import Fault

    content = {"text": TEXT * 3, "variables": {"1": "Ana", "2": "A-17"}, "footer": "Larkspur"}
    content |= {"headers": [{"type": "text", "text": "Ready"}], "buttons": BUTTONS}
    with redirect_stdout(io.StringIO()), Client(base_url, account, token) as client:
        calls = (
            get_endpoints(client.templates(code)).create_call({"lang_code": lang, **content})
            for code in codes(CODES)
            for lang in languages()
        )
        for outcome in client.transport.send_all(calls):
            assert not isinstance(outcome, Fault), outcome


def measured(
    where: tuple[str, str, str], roads: list[str], count: int
) -> dict[str, dict[str, float]]:
    """Return medians for each road, each measured in a process of its own."""
    runs: dict[str, Any] = {
        road: partial(child, "templates.py", road, *where, count) for road in roads
    }
    return {road: medians(results) for road, results in rounds(runs, COUNT).items()}


def compare_calls(figures: dict[str, dict[str, float]]) -> None:
    """Compare the time of each road with that of its bare calls."""
    names = {
        "frame": "`frame(codes)`",
        "one_by_one": "a loop over the templates",
        "full_frame": "`frame(codes, full=True)`",
        "board": "`board(codes)`: read in full, checked, on the board",
    }
    rows = []
    for road, output in names.items():
        one = figures[road]
        if "frame" in road:
            at_most(f"time of {output}, its calls bare = 1", one["ratio"], GOAL)
        rows.append([output, one["s"], one["cpu"], one["bare"], one["ratio"]])
    whole = figures["board"]["s"] / figures["full_frame"]["s"]
    at_most("time of `board(codes)`, reading it = 1", whole, BOARD_GOAL)
    show(
        f"{CODES} templates × {LANGUAGES} languages, read from the sandbox over HTTP",
        ["what", "seconds", "CPU of the client, s", "its calls bare, seconds", "bare = 1"],
        rows,
    )


def growth(whole: dict[str, float], part: dict[str, float]) -> None:
    """Measure the memory of a board for each content, for several numbers of contents."""
    rows = [
        [f"{count * LANGUAGES:,}", one["mb"], one["mb"] * 1024 / (count * LANGUAGES)]
        for count, one in ((CODES // 4, part), (CODES, whole))
    ]
    show(
        "Memory of `frame(codes, full=True)`",
        ["contents", "MB more at its highest", "KB a content"],
        rows,
    )


def remembered() -> None:
    """Measure a lookup in the translation memory beside a plain loop over its texts."""
    from chatkit.localization.queue import TranslationMemory

    dice = random.Random(7)
    words = [f"{a}{b}" for a in ("re", "un", "out", "pre") for b in TEXT.lower().split()]
    texts = [" ".join(dice.choices(words, k=dice.randint(3, 25))) for _ in range(STRINGS)]
    contents = [
        {"template_code": f"t{n}", "lang_code": lang, "text": text + ending, "variables": {}}
        for n, text in enumerate(texts)
        for lang, ending in (("en", ""), ("de", " (de)"))
    ]
    translations = TranslationMemory(contents, "de")
    assert len(translations) == STRINGS
    took, visited = [], []
    for text in dice.choices(texts, k=LOOKUPS):
        asked = text.replace("e", "a", 1)
        began = time.perf_counter()
        assert translations.suggest(asked)
        took.append((time.perf_counter() - began) * 1000)
        began = time.perf_counter()
        sum(len(each) for each in texts)
        visited.append((time.perf_counter() - began) * 1000)
    late = sorted(took)[int(0.95 * len(took))]
    at_most(f"p95 of a look-up among {STRINGS:,} strings, ms", late, MEMORY_GOAL)
    show(
        f"Translation memory of {STRINGS:,} strings",
        ["what", "median, ms", "p95, ms", "a loop over the texts = 1"],
        [["`suggest(text)`", median(took), late, median(took) / median(visited)]],
    )


# --- until something can be worked on -------------------------------------------------------


def reviewed() -> None:
    """Measure the time until a queue shows its first text, beside the first rows of a grid.

    Both are made from a frame that is there already: what reading takes is none of theirs. What a
    person waits for is measured in JupyterLab; of that, Python alone has the share of the last row.
    """
    client, named, rows = filled()
    python = in_python(client, named, rows)
    client.close()
    lines = [["Python, until the first message is sent", *map(median, python.values())]]
    if page := in_lab():
        lines[:0] = [["JupyterLab, until it is on the screen", *map(median, page.values())]]
        ratio = median(page["queue"]) / median(page["grid"])
        what = f"time until a queue of {QUEUED:,} texts is on the screen, a grid = 1"
        at_most(what, ratio, QUEUE_GOAL)
    show(
        f"Until {QUEUED:,} rows can be worked on, from a frame: seconds",
        ["what", "`QueueView(queue)`", "`Grid`", "`Grid` = 1"],
        [[what, queue, grid, queue / grid] for what, queue, grid in lines],
    )


def filled() -> tuple[Any, list[str], Any]:
    """Return a client whose templates are read already, their codes, and a frame of contacts."""
    import chatkit

    with redirect_stdout(io.StringIO()):
        client = chatkit.connect(chatkit.Sandbox(seed="empty"))
    contents: list[dict[str, Any]] = [
        {
            "lang_code": lang,
            "text": f"{TEXT} {lang}",
            "variables": {"1": "Ana", "2": "A-17"},
            "footer": f"Larkspur, {lang}",
            "headers": [{"type": "text", "text": f"Ready, {lang}"}],
            "buttons": [{**each, "label": f"{each['label']} {lang}"} for each in BUTTONS],
        }
        for lang in ("en", "de")
    ]
    named = [f"queued_{n:04}" for n in range(QUEUED // 5)]
    calls = [
        get_endpoints(client.templates(code)).create_call(content)
        for code in named
        for content in contents
    ]
    persons = [{"number": f"770090{n:04}", "country_code": "+44"} for n in range(QUEUED)]
    calls += [get_endpoints(client.contacts).create_call(each) for each in persons]
    _sent(client, calls)
    texts, rows = client.templates.frame(named, full=True), client.contacts.frame()
    assert len(texts) == 2 * len(named) and len(rows) == QUEUED
    client.templates.frame = lambda *_, **__: texts
    return client, named, rows


def in_python(client: Any, named: list[str], rows: Any) -> dict[str, list[float]]:
    """Seconds that Python takes for a queue and for a grid, without a page that shows them."""
    import chatkit

    def queue() -> float:
        view = chatkit.widgets.QueueView(client.templates.queue(["de"], named))
        assert len(view.queue) == QUEUED
        sent: list[tuple[float, Any]] = []
        view._card.send = lambda each: sent.append((time.perf_counter(), each))
        view._card._receive({"look": 0})
        assert sent[0][1]["items"][0]["n"] == 0
        return sent[0][0]  # suggestions and the next texts come while it is read

    def grid() -> float:
        assert repr(chatkit.Grid(client.contacts, rows)).startswith(f"Grid of {QUEUED:,}")
        return time.perf_counter()

    took: dict[str, list[float]] = {"queue": [], "grid": []}
    for _ in range(OPENED):
        for name, opened in (("queue", queue), ("grid", grid)):
            began = time.perf_counter()
            took[name].append(opened() - began)
    return took


#: The cells of a notebook. The last one takes away what the one before it has made.
CELLS = {
    "filled": f"import sys\nsys.path.append({str(HERE)!r})\nimport chatkit, ipywidgets\n"
    "from templates import filled\nclient, named, rows = filled()\nlen(rows)",
    "queue": "chatkit.widgets.QueueView(client.templates.queue(['de'], named))",
    "grid": "chatkit.Grid(client.contacts, rows)",
    "closed": "ipywidgets.Widget.close_all()\nlen(ipywidgets.widgets.widget._instances)",
}
#: What is waited for: a text, and a cell that holds more than the dots of a row that is to come.
SEEN = {"queue": ".qu-source p", "grid": ".gd-grid [data-row='0']"}
#: Runs a cell; milliseconds until a frame is drawn in which words can be read there.
UNTIL_SEEN = """async ([n, selector]) => {
    const panel = [...jupyterapp.shell.widgets("main")].find((one) => one.content?.model?.cells);
    const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const seen = () => [...document.querySelectorAll(selector)].some(
        (one) => /\\w/.test(one.textContent) && one.checkVisibility());
    panel.content.activeCellIndex = n;
    await drawn();
    const began = performance.now();
    const run = jupyterapp.commands.execute("notebook:run-cell");
    do await drawn(); while (!seen() && performance.now() - began < 60_000);
    const took = performance.now() - began;
    if (!seen()) throw new Error("nothing can be seen after a minute");
    await run;
    return took;
}"""


def in_lab() -> dict[str, list[float]]:
    """Seconds until each is on the screen of JupyterLab; nothing, and a line, without a browser."""
    if SMOKE:
        return {}
    what = "what a person waits for until a queue, and a grid, is on the screen"
    try:
        if TESTS not in sys.path:
            sys.path.append(TESTS)
        from browser import chromium
        from browser.conftest import launched
        from browser.lab import OpenNotebook, Window, serve
    except ImportError as error:
        left_out(what, f"{error}: `make .venv/ready-test` installs it")
        return {}
    from browser import story

    if not chromium.find():
        left_out(what, "no browser: `python tests/browser/chromium.py` finds or installs one")
        return {}
    with TemporaryDirectory() as place, launched() as browser:
        root, package = Path(place, "notebooks"), Path(place, "lab")
        root.mkdir(), package.mkdir()
        with serve(root, package) as lab:
            window = Window(lab, browser)
            notebook = OpenNotebook(window, story.write(lab, "opened.ipynb", [*CELLS.values()]))
            story.run(notebook, 0)
            took: dict[str, list[float]] = {name: [] for name in SEEN}
            for _ in range(OPENED + 1):
                for name in sorted(SEEN, key=lambda _: random.random()):
                    here = [[*CELLS].index(name), SEEN[name]]
                    took[name].append(notebook.page.evaluate(UNTIL_SEEN, here) / 1000)
                    story.run(notebook, len(CELLS) - 1)
                    notebook.command("notebook:clear-all-cell-outputs")
            notebook.close()
            window.close()
    return {name: each[1:] for name, each in took.items()}  # the first one loads what it needs


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure_road(*sys.argv[1:5], int(sys.argv[5]))
    else:
        run(main)
