"""Queries: the parameters after the question mark, and the page they ask for."""

from typing import NamedTuple

from chatkit.profile import ServiceProfile
from chatkit.sandbox.refusal import Problem, invalid
from chatkit.sandbox.routes import decode

# Digits beyond these cannot be a page of anything.
_LONGEST = 15


class Page(NamedTuple):
    """A page that was asked for, by the number it was asked by."""

    number: int
    size: int
    first: int  # of its records, counted from 0


def parameters(query: str) -> dict[str, str]:
    """The parameters of a raw query by name.

    Raises:
        Refusal: A name is given twice, or the query is not percent-encoded UTF-8.
    """
    if not query:
        return {}
    found: dict[str, str] = {}
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if not part:
            continue
        if "%" in part or "+" in part or not part.isascii():
            name, value = decode(name, plus=True), decode(value, plus=True)
        if name in found:
            raise invalid(Problem(name, "is given twice"))
        found[name] = value
    return found


def page(given: dict[str, str], profile: ServiceProfile) -> Page:
    """The page that parameters ask for (section Limits, and the profile).

    Raises:
        Refusal: `page` or `pageSize` cannot be, and the profile refuses that.
    """
    base = profile.page_base
    number = _whole(given.get("page"), "page", base, base, profile)
    size = _whole(given.get("pageSize"), "pageSize", 1, profile.default_page_size, profile)
    if size > profile.max_page_size:
        if profile.over_max_page_size == "refuse":
            raise invalid(Problem("pageSize", f"must be at most {profile.max_page_size}"))
        size = profile.max_page_size
    return Page(number, size, (number - base) * size)


def _whole(text: str | None, name: str, least: int, default: int, profile: ServiceProfile) -> int:
    if text is None:
        return default
    if text.isascii() and text.isdigit():
        number = int(text) if len(text) <= _LONGEST else 10**_LONGEST
        if number >= least:
            return number
    if profile.bad_page == "refuse":
        raise invalid(Problem(name, f"must be an integer, at least {least}"))
    return least if text.lstrip("-").isdigit() else default
