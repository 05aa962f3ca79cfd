"""Load the scripts and styles of static/, joined or packed into one module."""

from __future__ import annotations

import base64
import gzip
import re
from collections.abc import Iterable
from pathlib import Path

START = 'style="text-align: start"'  #: exported notebooks would align cells to the right
STATIC = Path(__file__).parent / "static"
# A page imports a module by its text; this one is there at once, and unpacks what it draws with
# when it draws for the first time, by the browser itself.
_UNPACK = """\
let unpacked;
const unpack = async () => {{
const packed = Uint8Array.from(atob("{text}"), (letter) => letter.charCodeAt(0));
const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
const script = new Blob([await new Response(stream).text()], {{ type: "text/javascript" }});
const url = URL.createObjectURL(script);
const found = (await import(url)).default;
URL.revokeObjectURL(url);
return found;
}};
const render = async (context) => (await (unpacked ??= unpack())).render(context);
export default {{ render }};
"""


def joined_text(names: Iterable[str]) -> str:
    """Join files of static/ in this order, without their indents and comment lines."""
    texts = ((STATIC / name).read_text("utf-8") for name in names)
    return "".join(re.sub("^ *//.*\n|^ +|^\n", "", text, flags=re.MULTILINE) for text in texts)


def joined_module(names: Iterable[str]) -> str:
    """Join scripts as the module of a widget; the last of them exports what draws it."""
    return joined_text(["hearing.js", *names])


def packed_module(names: Iterable[str]) -> str:
    """Pack scripts as one module that unpacks itself: each widget in a notebook keeps a copy."""
    packed = gzip.compress(joined_module(names).encode(), 9, mtime=0)
    return _UNPACK.format(text=base64.b64encode(packed).decode())
