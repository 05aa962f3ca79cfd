"""Check contacts that are about to be sent, one or many, as `Contacts.check` does for a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chatkit.checks.findings import Oddity
from chatkit.checks.names import of_name
from chatkit.checks.numbers import Pair, doubted
from chatkit.flowjson.finding import Finding


def odd(names: Mapping[int, Any], numbers: Mapping[int, Pair]) -> dict[int, list[Finding]]:
    """Find what is odd about names and numbers that are sent; mere notes are left out.

    Errors are numbers that no country can have.

    Args:
        names: Names by the places of their contacts.
        numbers: Country codes and numbers by the places of their contacts.

    Returns:
        What was found by place. Pointers lead into the contact.
    """
    found: dict[int, list[Finding]] = {}
    places = list(numbers)
    codes, digits = ([pair[side] for pair in numbers.values()] for side in range(2))
    for n, oddities in (doubted(codes, digits) if places else {}).items():
        found[places[n]] = [_finding(each, "number") for each in oddities]
    known: dict[str, Sequence[Finding]] = {}
    for place, name in names.items():
        if not isinstance(name, str):
            continue
        if name not in known:
            oddities = [each for each in of_name(name) if each.severity != "note"]
            known[name] = [_finding(each._replace(severity="warning"), "name") for each in oddities]
        if known[name]:
            found.setdefault(place, []).extend(known[name])
    return found


def _finding(odd: Oddity, field: str) -> Finding:
    hint = f"write it as {odd.suggestion}" if odd.suggestion else ""
    return Finding(odd.code, odd.severity, f"/{field}", odd.reason, hint)
