"""A finding: a code of the platform, its severity, and its place."""

from dataclasses import dataclass
from typing import Literal

DOCUMENTED_LIMIT = "DOCUMENTED_LIMIT"  # our own code: a length the platform documents, not checks


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing the platform would say about a document, at a JSON pointer into it."""

    code: str
    severity: Literal["error", "warning"]
    pointer: str
    message: str


class Findings(list[Finding]):
    """Findings in the order in which they were found."""

    def error(self, code: str, pointer: str, message: str) -> None:
        """Add what the platform refuses."""
        self.append(Finding(code, "error", pointer, message))

    def warning(self, code: str, pointer: str, message: str) -> None:
        """Add what the platform lets pass, or what its own sources disagree about."""
        self.append(Finding(code, "warning", pointer, message))


def step(pointer: str, *keys: str | int) -> str:
    """The pointer some steps deeper (RFC 6901)."""
    steps = (str(key).replace("~", "~0").replace("/", "~1") for key in keys)
    return "/".join((pointer, *steps))
