"""Versions of the flow document: which exist, and which may be published.

A version compares like a number with a point: `Version(6, 3) < Version(7, 0)`. Facts as of March
2026; a version released later is one line here.
"""

from __future__ import annotations

import re
from datetime import date
from typing import NamedTuple

_TEXT = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})\Z")


class Version(NamedTuple):
    """A version of the flow document, `major.minor`."""

    major: int
    minor: int

    @classmethod
    def parse(cls, text: object) -> Version | None:
        """Read "7.3"; None when it is anything else."""
        found = _TEXT.match(text) if isinstance(text, str) else None
        return cls(int(found[1]), int(found[2])) if found else None

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


#: The first version whose rules are known.
FIRST = Version(2, 1)
#: The first version that refuses blank strings everywhere.
STRICT = Version(6, 0)
#: What the platform recommends for new flows.
RECOMMENDED = Version(7, 3)

#: Every public version and the day of its release, as far as it was announced.
RELEASED: dict[Version, date | None] = {
    Version(2, 1): None,
    Version(3, 0): None,
    Version(3, 1): None,
    Version(4, 0): None,
    Version(5, 0): date(2024, 8, 13),
    Version(5, 1): date(2024, 9, 16),
    Version(6, 0): date(2024, 11, 12),
    Version(6, 1): date(2024, 11, 12),
    Version(6, 2): date(2024, 12, 10),
    Version(6, 3): date(2025, 1, 14),
    Version(7, 0): date(2025, 3, 11),
    Version(7, 1): date(2025, 6, 10),
    Version(7, 2): date(2025, 7, 8),
    Version(7, 3): date(2025, 9, 10),
}
#: Versions before the first known one: they were, and are no longer supported.
RETIRED = frozenset({Version(1, 0), Version(1, 1), Version(2, 0)})
#: A variant for catalogues, which no account outside may use.
INTERNAL = frozenset({Version(5, 2)})
#: The platform's own checker knows them, no announcement does.
UNANNOUNCED = frozenset({Version(7, 4)})

#: Still sent, no longer published: since that day.
FROZEN: dict[Version, date] = {
    Version(2, 1): date(2025, 4, 8),
    Version(3, 0): date(2025, 4, 8),
    Version(3, 1): date(2025, 4, 8),
    Version(4, 0): date(2025, 4, 8),
    Version(5, 0): date(2025, 9, 10),
}


def data_api_versions(version: Version) -> tuple[str, ...]:
    """Return the values of `data_api_version` that a document of that version may name."""
    return ("3.0", "4.0") if version >= (7, 3) else ("3.0",)
