"""The browser of the browser tests: the one present, else the system's, else Playwright's own.

`python tests/browser/chromium.py` finds it or installs it, with fonts for the scripts that
contacts are written in; `make test` calls that. CHROMIUM names a browser of your own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
FONTS = ("fontconfig", "fonts-noto-core", "fonts-noto-cjk", "fonts-noto-color-emoji")


def find() -> str | None:
    """The path of a browser that answers, or None."""
    own = os.environ.get("CHROMIUM")
    for name in [own] if own else NAMES:
        path = shutil.which(name)
        if path and _works([path, "--version"]):  # Ubuntu's chromium-browser may be a mere hint
            return path
    return None if own else _of_playwright()


def _of_playwright() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def _works(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _draws(language: str) -> bool:
    """Return whether a font of this system has the letters of a language."""
    if not shutil.which("fc-list"):
        return sys.platform == "darwin"  # macOS comes with fonts for all of them
    return bool(subprocess.check_output(["fc-list", f":lang={language}"]))


def _install(*packages: str) -> bool:
    """Install with the system's package manager; False where that is not permitted."""
    if not shutil.which("apt-get"):
        return False
    sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if sudo and not _works([*sudo, "true"]):
        return False
    apt = [*sudo, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-o", "Acquire::Retries=3"]
    subprocess.run([*apt, "update"], check=False)  # stale lists may still do
    command = [*apt, "install", "--yes", "--no-install-recommends", *packages]
    return subprocess.run(command, check=False).returncode == 0


def main() -> None:
    """Bring a browser and fonts; say what was found and what could not be had."""
    if not all(map(_draws, ("ja", "hi", "ar"))) and not _install(*FONTS):
        print(f"Fonts are missing, screenshots will show boxes: install {' '.join(FONTS)}.")
    browser = find()
    if not browser and "CHROMIUM" not in os.environ:
        _install("chromium")
        browser = find()
    if not browser and "CHROMIUM" not in os.environ:
        command = [sys.executable, "-m", "playwright", "install", "chromium"]
        subprocess.run(command, check=False)
        browser = find()
    print(f"browser: {browser or 'none, and none could be installed (CHROMIUM names your own)'}")


if __name__ == "__main__":
    main()
