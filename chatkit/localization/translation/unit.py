"""Unit: one text to translate, on its way out and back.

Its stamp stays with it in every format. It says by three digests which text of which content
this is, what the source was when it went out, and what the translation was. So nothing is
overwritten that changed meanwhile, and no other memory is needed. It is no signature: whoever
has the file can write another one, so what came back is looked at in a plan like any edit.
"""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from typing import NamedTuple

_STAMP = re.compile("([0-9a-f]{10})[.]([0-9a-f]{10})[.]([0-9a-f]{10})")


class Unit(NamedTuple):
    """One text of a content, in the source language and in another one."""

    template_code: str
    lang_code: str  #: as the API has it, whatever the file calls the language
    field: str  #: as in the API: "buttons.1.label"; the first is 0
    source: str
    target: str
    stamp: str = ""
    note: str = ""  #: what a translator should know
    limit: int | None = None  #: how many characters it may have
    #: Of one that came back: where it stands, why it cannot be read, and how a program marked it
    #: that is not finished.
    place: str = ""
    trouble: str = ""
    unfinished: str = ""

    @property
    def spot(self) -> tuple[str, str, str]:
        """Which text of which content."""
        return self.template_code, self.lang_code, self.field


class Stamp(NamedTuple):
    """The three digests of a unit."""

    key: str
    source: str
    target: str

    def __str__(self) -> str:
        return ".".join(self)


def digest(*texts: str) -> str:
    """Return ten characters that are others for other texts."""
    data = json.dumps(texts).encode()
    return blake2b(data, digest_size=5).hexdigest()


def key_of(template_code: str, lang_code: str, field: str, source_code: str) -> str:
    """Return the digest of which text this is, and from which language it is translated."""
    return digest(template_code, lang_code, field, source_code)


def stamped(unit: Unit, source_code: str) -> Unit:
    """Put its stamp on a unit."""
    key = key_of(*unit.spot, source_code)
    return unit._replace(stamp=str(Stamp(key, digest(unit.source), digest(unit.target))))


def stamp_of(text: str) -> Stamp | None:
    """Read a stamp; None if it is none."""
    found = _STAMP.fullmatch(text.strip())
    return Stamp(*found.groups()) if found else None
