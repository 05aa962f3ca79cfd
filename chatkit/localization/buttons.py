"""Buttons: how many of which kind, in which order, and what each needs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from chatkit.display import cut, many, values
from chatkit.localization.body import placeholders
from chatkit.localization.content import Entry, part
from chatkit.localization.finding import Ledger
from chatkit.localization.placeholders import slots

#: How many buttons there may be of each type; of all together 10.
TYPES = {
    "custom": 10,
    "visit_website": 2,
    "call_phone": 1,
    "copy_offer_code": 1,
    "view_catalog": 1,
}
MOST = 10
#: The platform itself writes what stands on these.
_FIXED = ("copy_offer_code", "view_catalog")
_ADDRESS = re.compile(r"https?://[^\s/]+\S*", re.IGNORECASE)
_DESKTOP = 4  #: from so many buttons on a message is not shown on a computer


def judge(entry: Entry, tell: Ledger) -> None:
    """Look at all buttons together, then at each."""
    if not entry.buttons:
        return
    kinds = [button.get("type") for button in entry.buttons]
    _together(kinds, tell)
    labels: set[str] = set()
    for number, (button, kind) in enumerate(zip(entry.buttons, kinds, strict=True)):
        field, what = f"buttons.{number}", f"button {number + 1}"
        if field in entry.wrong:
            continue
        if not isinstance(kind, str) or kind not in TYPES:
            said = f"{values(kind)} is no type of button"
            tell("button type", f"{field}.type", said, f"It is one of {', '.join(TYPES)}.")
            continue
        _label(button, kind, field, what, labels, tell)
        for name in ("value", "country_code", "url_type"):
            if not isinstance(button.get(name), str | None):
                tell("wrong type", f"{field}.{name}", "it must be text")
        if kind == "visit_website":
            _website(button, field, what, tell)
        elif kind == "call_phone":
            _number(button, field, what, tell)
        elif kind == "copy_offer_code" and not part(button, "value").strip():
            said = f"{what} has no code"
            tell("button code", f"{field}.value", said, "Give one as a sample.")


def _together(kinds: list[Any], tell: Ledger) -> None:
    if len(kinds) > MOST:
        tell("button count", "buttons", f"there are {len(kinds)} buttons", f"{MOST} are allowed.")
    count = Counter(kind for kind in kinds if isinstance(kind, str) and kind in TYPES)
    for kind, times in count.items():
        if times > TYPES[kind]:
            said = f"{times} buttons are {kind}"
            tell("button mix", "buttons", said, f"{TYPES[kind]} may be.")
    if count["view_catalog"] and len(kinds) > 1:
        said = f"view_catalog stands beside {many(len(kinds) - 1, 'other button')}"
        tell("button mix", "buttons", said, "It stands alone.")
    quick = [number for number, kind in enumerate(kinds) if kind == "custom"]
    if quick and quick[-1] - quick[0] >= len(quick):
        said = "other buttons stand between those of type custom"
        tell("button grouping", "buttons", said, "Put all of type custom together.")
    mixed = 0 < len(quick) < len(kinds)
    if len(kinds) >= _DESKTOP or mixed:
        why = "custom and other buttons are mixed" if mixed else f"it has {len(kinds)} buttons"
        said = f"on a computer the message is not shown, as {why}"
        tell("button on desktop", "buttons", said)


def _label(
    button: Mapping[str, Any],
    kind: str,
    field: str,
    what: str,
    labels: set[str],
    tell: Ledger,
) -> None:
    place = f"{field}.label"
    if not isinstance(button.get("label"), str | None):
        tell("wrong type", place, "it must be text")
        return
    label = part(button, "label")
    if not label.strip():
        if kind not in _FIXED:
            tell("button label", place, f"{what} has no label", "Write what stands on it.")
        return
    if found := slots(label):
        said = f"{cut(str(found[0]), 20)} is in the label of {what}"
        tell("button label placeholder", place, said, "A label takes none.", at=found[0].start)
    if (plain := label.strip().casefold()) in labels:
        said = f"{what} has the same label as another one"
        tell("button label twice", place, said, "Nobody can tell them apart.")
    labels.add(plain)


def _website(button: Mapping[str, Any], field: str, what: str, tell: Ledger) -> None:
    value, place = part(button, "value"), f"{field}.value"
    if not _ADDRESS.fullmatch(value.strip()):
        said = f"{what} leads to {values(value)}" if value else f"{what} has no address"
        tell("button url", place, said, "It begins with https://.")
        return
    found = slots(value)
    placeholders(value, place, found, tell)
    kind = part(button, "url_type")
    if not found:
        if kind == "dynamic":
            said = f"{what} is dynamic, but its address has no placeholder"
            tell("button url type", f"{field}.url_type", said, "End the address with {{1}}.")
        return
    if len(found) > 1 or found[-1].end != len(value.rstrip()):
        said = f"the address of {what} may have one placeholder, at its end"
        tell("button url", place, said, "Move it to the end.", at=found[0].start)
    if not button.get("dynamic_url"):
        said = f"the placeholder in the address of {what} has no sample"
        tell("button url", f"{field}.dynamic_url", said, "Give a whole address as a sample.")
    if kind == "static":
        said = f"{what} is static, but its address has a placeholder"
        tell("button url type", f"{field}.url_type", said, "Make it dynamic, or take it out.")


def _number(button: Mapping[str, Any], field: str, what: str, tell: Ledger) -> None:
    value, code = part(button, "value"), part(button, "country_code")
    if not re.fullmatch("[0-9]{4,20}", value):
        said = f"{what} calls {values(value)}" if value else f"{what} has no number"
        tell("button number", f"{field}.value", said, "Write digits only.")
    if not re.fullmatch(r"\+[1-9][0-9]{0,2}", code):
        said = f"{values(code)} is no country code" if code else f"{what} has no country code"
        tell("button number", f"{field}.country_code", said, "Write it like +44.")
