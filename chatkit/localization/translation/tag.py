"""Tag: what a file format calls a language. The `lang_code` itself is never converted.

XLIFF wants the tags of BCP 47, en-US; a PO file the names of gettext, en_US. What comes back is
told by the code that stands beside the tag, so that the API gets exactly what it had.
"""

from __future__ import annotations

import re

from chatkit.localization import language

#: What can be written as a tag at all: a language, perhaps its script, perhaps its region.
_TAG = re.compile("[A-Za-z]{2,3}(?:[-_][A-Za-z]{4})?(?:[-_](?:[A-Za-z]{2}|[0-9]{3}))?")


def fits(lang_code: str) -> bool:
    """Whether a code can be written as a tag."""
    return bool(_TAG.fullmatch(lang_code))


def bcp47(lang_code: str) -> str:
    """Write a code as XLIFF wants it: en_US as en-US."""
    return language.normal(lang_code).replace("_", "-")


def gettext(lang_code: str) -> str:
    """Write a code as PO files want it: en-US as en_US."""
    return language.normal(lang_code).replace("-", "_")
