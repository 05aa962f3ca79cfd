"""`make pictures` takes the pictures of the README in real JupyterLab, so that they stay true.

Whoever changes how something looks runs it, looks at what `git diff` shows of notebooks/images,
and commits the pictures with the change. Each is of a notebook that is written for it.
"""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from browser.lab import OpenNotebook

IMAGES = Path(__file__).parents[2] / "notebooks/images"
CONNECT = "import chatkit\n\nclient = chatkit.connect()"


#: Packs a picture as WebP, which is a third of PNG.
PACK = """async (data) => {
    const picture = new Image();
    picture.src = `data:image/png;base64,${data}`;
    await picture.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [picture.width, picture.height];
    canvas.getContext("2d").drawImage(picture, 0, 0);
    return canvas.toDataURL("image/webp", 0.9);
}"""


class Picture(NamedTuple):
    """One picture: the cells of its notebook, and what is clicked before it is taken."""

    cells: list[str]
    click: str = ""
    height: int = 780


PICTURES = {
    "plan": Picture(
        [
            CONNECT,
            'contacts = client.contacts.frame()\n'
            'contacts.loc[contacts.country_code == "+61", "name"] = contacts.name.str.upper()\n'
            "plan = client.contacts.plan(contacts)\nplan",
            "result = plan.apply()\nresult.chatkit.summary()",
        ]
    ),
    "board": Picture(
        [
            CONNECT,
            'chatkit.widgets.BoardGrid(client.templates, ["order_ready", "rental_reminder", '
            '"spring_offer"])',
        ],
        ".bd-cell >> nth=2",
        1060,
    ),
    "editor": Picture(
        [CONNECT, "chatkit.Editor(resource=client.flows, flow=301)"],
        ".ct-component >> nth=1",
        960,
    ),
}  # fmt: skip


def take(folder: Path) -> None:
    """Take all pictures into a folder."""
    from browser import story
    from browser.conftest import launched
    from browser.lab import OpenNotebook, Window, serve

    with tempfile.TemporaryDirectory() as place, launched() as browser:
        root, package = Path(place, "notebooks"), Path(place, "lab")
        root.mkdir(), package.mkdir()
        with serve(root, package) as lab:
            window = Window(lab, browser)
            for name, picture in PICTURES.items():
                story.write(lab, f"{name}.ipynb", picture.cells)
                notebook = OpenNotebook(window, f"{name}.ipynb")
                _take(notebook, picture, folder / f"{name}.webp")
                notebook.close()
            window.close()


def _take(notebook: OpenNotebook, picture: Picture, path: Path) -> None:
    page = notebook.page
    page.set_viewport_size({"width": 1240, "height": picture.height})
    if page.locator("#jp-left-stack").is_visible():
        notebook.command("application:toggle-left-area")
    notebook.run_all()
    if picture.click:
        page.locator(picture.click).click()
        page.wait_for_timeout(1500)
    page.locator(".jp-WindowedPanel-outer").evaluate("one => { one.scrollTop = 0; }")
    page.mouse.move(0, 0)
    page.wait_for_timeout(400)  # what is hovered fades
    taken = base64.b64encode(page.screenshot()).decode()
    packed = page.evaluate(PACK, taken).partition(",")[2]
    path.write_bytes(base64.b64decode(packed))
    print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    take(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
