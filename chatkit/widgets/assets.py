"""Load the scripts and styles of static/, joined or packed into one module."""

from __future__ import annotations

import base64
import gzip
import re
from collections.abc import Iterable
from pathlib import Path

START = 'style="text-align: start"'  #: exported notebooks would align cells to the right
STATIC = Path(__file__).parent / "static"
# A page imports a module by its text; here that text is unpacked first, by the browser itself.
_UNPACK = """\
const packed = Uint8Array.from(atob("{text}"), (letter) => letter.charCodeAt(0));
const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
const script = new Blob([await new Response(stream).text()], {{ type: "text/javascript" }});
const url = URL.createObjectURL(script);
export default (await import(url)).default;
URL.revokeObjectURL(url);
"""


def joined_text(names: Iterable[str]) -> str:
    """Join files of static/ in this order, without their indents and comment lines."""
    texts = ((STATIC / name).read_text("utf-8") for name in names)
    return "".join(re.sub("^ *//.*\n|^ +|^\n", "", text, flags=re.MULTILINE) for text in texts)


def packed_module(names: Iterable[str]) -> str:
    """Pack scripts as one module that unpacks itself: each widget in a notebook keeps a copy."""
    packed = gzip.compress(joined_text(names).encode(), 9, mtime=0)
    return _UNPACK.format(text=base64.b64encode(packed).decode())
