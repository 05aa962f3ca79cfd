"""Refusal: the one exception of the service, raised where a rule is broken."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

Reason = Literal[
    "malformed",
    "unauthenticated",
    "forbidden",
    "no_path",
    "not_found",
    "wrong_method",
    "conflict",
    "clash",
    "too_large",
    "media_type",
    "invalid",
    "webhook_limit",
    "too_many_calls",
    "unavailable",
]


class Problem(NamedTuple):
    """What is wrong with one field of a body or one parameter of a query."""

    field: str
    message: str


class Refusal(Exception):
    """A request that is refused: why, in words, and what is wrong with which field.

    The reason is turned into a status and a body by `Replies`, as the profile says.
    """

    def __init__(
        self,
        reason: Reason,
        message: str,
        problems: Sequence[Problem] = (),
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.reason: Reason = reason
        self.message = message
        self.problems = problems
        self.headers = headers or {}


def invalid(*problems: Problem) -> Refusal:
    """The refusal of a body or query whose fields break a rule."""
    text = "; ".join(f"{problem.field}: {problem.message}" for problem in problems[:3])
    return Refusal("invalid", text, problems)
