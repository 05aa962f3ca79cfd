"""Real JupyterLab in a process of its own, and one notebook open in it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, urlsplit

from browser import kernels, looks
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Error, Page, expect

SHOTS = Path(__file__).parent / "shots"
#: Whether screenshots are taken: nobody looks at those of most runs.
PHOTOGRAPHED = os.environ.get("SHOTS", "") not in ("", "0")
PANEL = "[...jupyterapp.shell.widgets('main')].find(panel => panel.content?.model?.cells)"
CELLS = f"{PANEL}.content.model.toJSON().cells.filter(c => c.cell_type === 'code' && c.source)"
#: Milliseconds between two looks at all cells, which would else be made for each frame of the page.
SELDOM = 200
LOOPBACK = ("127.0.0.1", "localhost", "::1")

SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    # every cell is in the page, also those out of sight, and nothing below the last
    "notebook-extension/tracker": {"windowingMode": "none", "scrollPastEnd": False},
}

# Runs before the first cell of each kernel: what leaves loopback is refused and written down.
KERNEL_GUARD = """
def guard():
    import ipaddress, sys

    def is_loopback(host):
        host = host.decode() if isinstance(host, bytes) else host
        if host in (None, "", "localhost"):
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False

    def refuse(event, args):
        if event == "socket.connect" and isinstance(args[1], tuple):
            host = args[1][0]
        elif event == "socket.getaddrinfo":
            host = args[0]
        else:
            return
        if not is_loopback(host):
            with open({log!r}, "a") as log:
                print("kernel:", host, file=log)
            raise OSError(f"the browser tests stay on loopback: {{host}}")

    sys.addaudithook(refuse)

guard()
del guard
"""


#: anywidget's, of a widget whose script was late; it works all the same (static/hearing.js).
LATE = "[anywidget] Failed to initialize model."
# What Notebook 7.6 complains of with any notebook, on its own.
NOTEBOOKS_OWN = re.compile(r"reading 'schema'|'filebrowser:open-path' not|403 .*\.woff")


class Lab:
    """A running JupyterLab: its address, its folders, and what its kernels tried to reach."""

    def __init__(self, url: str, root: Path, kernel_log: Path) -> None:
        self.url = url
        self.root = root
        self.home = kernel_log.parent
        self._kernel_log = kernel_log

    def take_kernel_log(self) -> list[str]:
        """Return the addresses beyond loopback that kernels tried to reach since the last call."""
        lines = self._kernel_log.read_text().splitlines()
        self._kernel_log.write_text("")
        return lines


@contextmanager
def serve(root: Path, home: Path) -> Iterator[Lab]:
    """Serve a folder of notebooks; settings, kernels and state live in `home` alone."""
    for name, values in SETTINGS.items():
        file = home / "settings/@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(values))
    kernel_log = home / "kernel.log"
    kernel_log.touch()
    startup = home / "ipython/profile_default/startup/00-guard.py"
    startup.parent.mkdir(parents=True)
    startup.write_text(KERNEL_GUARD.format(log=str(kernel_log)))

    environment = os.environ | {
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_PREFER_ENV_PATH": "0",  # the specification of forked kernels counts
    }
    command = [
        *(sys.executable, "-m", "jupyter", "lab", str(root)),
        *("--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0"),
        *("--IdentityProvider.token=", "--LabApp.expose_app_in_browser=True"),
        "--JupyterNotebookApp.expose_app_in_browser=True",
        "--LabApp.extension_manager=readonly",
    ]
    log = home / "lab.log"
    with kernels.forked(home), log.open("w") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, env=environment, start_new_session=True
        )
        try:
            yield Lab(_address(process, home / "runtime", log), root, kernel_log)
        finally:
            _end(process)


def _address(process: subprocess.Popen[bytes], runtime: Path, log: Path) -> str:
    """Return the address of the server once it answers."""
    for _ in range(600):
        assert process.poll() is None, f"JupyterLab ended:\n{log.read_text()[-3000:]}"
        for file in runtime.glob("jpserver-*.json"):
            with suppress(OSError, ValueError):  # not written whole, or not listening yet
                url: str = json.loads(file.read_text())["url"]
                urllib.request.urlopen(f"{url}api/status", timeout=5).close()
                return url.rstrip("/")
        time.sleep(0.1)
    raise AssertionError(f"JupyterLab does not answer:\n{log.read_text()[-3000:]}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the server and its kernels, which share its process group."""
    try:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(15)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(15)


VIEWPORT = {"width": 1400, "height": 1000}
Place = Literal["lab", "notebooks"]


class Window:
    """One browser window for all tests: to load Lab takes longer than to open a notebook in it."""

    def __init__(self, lab: Lab, browser: Browser) -> None:
        self.lab = lab
        self.left_loopback: list[str] = []
        self._context: BrowserContext = browser.new_context(
            viewport=VIEWPORT,  # type: ignore[arg-type]
            service_workers="block",
            permissions=["clipboard-read", "clipboard-write"],
        )
        # nothing is intercepted, which would keep the browser from its cache: the browser finds
        # no other address than loopback (conftest.py), and what it was asked for is told
        self._context.on("request", lambda request: self._stays(request.url))
        self._lab_page: Page | None = None

    def _stays(self, url: str) -> None:
        parts = urlsplit(url)
        if not (parts.scheme in ("data", "blob", "about") or parts.hostname in LOOPBACK):
            self.left_loopback.append(url)

    def take_left_loopback(self) -> list[str]:
        """Return the addresses beyond loopback that pages tried to reach since the last call."""
        left, self.left_loopback = self.left_loopback, []
        return left

    def new_page(self) -> Page:
        """Open a page that is watched."""
        page = self._context.new_page()
        page.on("websocket", lambda socket: self._stays(socket.url))
        return page

    def lab_page(self) -> Page:
        """The page in which Lab is open; a new one if the last was closed."""
        if self._lab_page is None or self._lab_page.is_closed():
            self._lab_page = self.new_page()
            self._lab_page.goto(f"{self.lab.url}/lab?reset", wait_until="domcontentloaded")
            self._lab_page.wait_for_function(
                "() => window.jupyterapp?.restored.then(() => true)", timeout=60_000
            )
            expect(self._lab_page.locator("#jupyterlab-splash")).to_have_count(0, timeout=60_000)
        return self._lab_page

    def close(self) -> None:
        """Close all pages."""
        self._context.close()


ALONE = f"() => [...jupyterapp.shell.widgets('main')].forEach(w => w !== {PANEL} && w.dispose())"
#: What was opened goes, unsaved; so do the style sheets that its widgets brought to the page.
LEAVE = """
for (const panel of [...jupyterapp.shell.widgets("main")]) {
    if (panel.context) panel.context.model.dirty = false;
    panel.dispose();
}
for (const sheet of document.head.querySelectorAll("style[id^='chatkit.']")) sheet.remove();
"""


class OpenNotebook:
    """One notebook open in a browser, with everything watched that its page must not do."""

    def __init__(self, window: Window, name: str, place: Place = "lab") -> None:
        lab = window.lab
        cells = json.loads((lab.root / name).read_text())["cells"]
        self.name = name
        self.mistakes = sum("raises-exception" in c["metadata"].get("tags", []) for c in cells)
        self._place = place
        self.script_errors: list[str] = []
        self.looks_wrong: list[str] = []
        self.page = window.lab_page() if place == "lab" else window.new_page()
        self.page.on("pageerror", self._raised)
        self.page.on("console", self._listen)
        if place == "lab":
            self.page.evaluate(f"() => {{ {LEAVE} }}")  # another one of the same tests
            self.command("docmanager:open", path=name, factory="Notebook")
            self.page.evaluate(ALONE)  # without the launcher, say
        else:
            url = f"{lab.url}/notebooks/{quote(name)}"
            self.page.goto(url, wait_until="domcontentloaded")
        self.page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=60_000)
        self._wait_for_kernel()

    def _raised(self, error: Error) -> None:
        if LATE not in str(error):
            self.script_errors.append(str(error))

    def _listen(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.script_errors.append(f"{message.text} ({message.location.get('url', '')})")

    def _wait_for_kernel(self) -> None:
        idle = f"{PANEL}?.context.sessionContext.session?.kernel?.status === 'idle'"
        self.page.wait_for_function(f"() => {idle}", timeout=60_000)

    def command(self, name: str, **arguments: Any) -> None:
        """Run a command of JupyterLab and wait until it has ended."""
        self.page.evaluate(
            "async ([name, arguments]) => { await jupyterapp.commands.execute(name, arguments); }",
            [name, arguments],
        )

    def cells(self) -> list[dict[str, Any]]:
        """The code cells, as the notebook would save them now."""
        cells: list[dict[str, Any]] = self.page.evaluate(f"() => {CELLS}")
        return cells

    def wait_for_output(self, words: str) -> None:
        """Wait until the outputs, as the notebook would save them now, have these words."""
        self.page.wait_for_function(
            f"words => JSON.stringify({CELLS}.map(cell => cell.outputs)).includes(words)",
            arg=words,
            polling=SELDOM,
        )

    def errors(self) -> list[str]:
        """Return the error texts of the cells that raised."""
        return [
            f"{output['ename']}: {output['evalue']}"
            for cell in self.cells()
            for output in cell["outputs"]
            if output["output_type"] == "error"
        ]

    def run_all(self) -> None:
        """Clear the kept outputs, run every cell from the top, and wait for the last.

        Raises when a cell raises that is not tagged as the deliberate mistake.
        """
        self.command("notebook:clear-all-cell-outputs")
        self.command("notebook:run-all-cells")  # ends at the first error, cells after it may run on
        self.page.wait_for_function(
            f"""() => {{
                const raised = cell => cell.outputs.some(output => output.output_type === 'error');
                const tagged = cell => cell.metadata.tags?.includes('raises-exception');
                const ran = cell => cell.execution_count !== null;
                return {CELLS}.every(ran) || {CELLS}.some(cell => raised(cell) && !tagged(cell));
            }}""",
            timeout=300_000,
            polling=SELDOM,
        )
        self._wait_for_kernel()
        errors = self.errors()
        assert len(errors) == self.mistakes, errors

    def theme(self, shade: Literal["Light", "Dark"]) -> None:
        """Switch JupyterLab to its light or dark theme."""
        self.command("apputils:change-theme", theme=f"JupyterLab {shade}")
        light = "true" if shade == "Light" else "false"
        body = self.page.locator("body")
        expect(body).to_have_attribute("data-jp-theme-light", light, timeout=60_000)
        expect(self.page.locator("#jupyterlab-splash")).to_have_count(0)

    def shot(self, name: str, *, whole: bool = False) -> None:
        """Leave a screenshot in shots/: what is in view, or the whole notebook from top to end."""
        if not PHOTOGRAPHED:
            return
        if whole:
            height = self.page.evaluate(
                "() => document.querySelector('.jp-WindowedPanel-outer').scrollHeight"
            )
            self.page.set_viewport_size({"width": 1400, "height": min(height + 200, 15_000)})
        SHOTS.mkdir(exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{name}.png")

    def end_kernels(self) -> None:
        """Shut down all kernels, as when Lab ends; the notebook stays open."""
        self.page.remove_listener("console", self._listen)  # Lab complains when kernels go
        self.page.evaluate("async () => { await jupyterapp.serviceManager.sessions.shutdownAll() }")

    def close(self) -> None:
        """Take a last look for what is wrong in the page, then leave Lab as it was found."""
        if self._place == "notebooks":
            self.script_errors = [e for e in self.script_errors if not NOTEBOOKS_OWN.search(e)]
        if self.page.is_closed():
            return
        drawn = re.compile("Javascript Error:|Error displaying widget|Error creating widget")
        self.script_errors += self.page.get_by_text(drawn).all_inner_texts()
        self.looks_wrong += looks.faults(self.page)
        if self.page.locator("body").get_attribute("data-jp-theme-light") != "true":
            self.theme("Light")
        self.end_kernels()
        if self._place == "notebooks" or self.page.locator(".jp-Dialog").count():
            self.page.close()
            return
        self.page.remove_listener("pageerror", self._raised)
        self.page.evaluate(f"() => {{ {LEAVE} }}")
        expect(self.page.locator(".jp-Notebook")).to_have_count(0)
        self.page.set_viewport_size(VIEWPORT)  # type: ignore[arg-type]
        self.page.mouse.move(0, 0)
