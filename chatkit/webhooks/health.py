"""Health: what the last delivery of a webhook says about it.

The API document names four fields and shows no value of them, so they are read kindly: an
error or an HTTP status outside 2xx is a failure whatever the status is called, and a status
in words counts only where nothing else speaks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from chatkit.display import many
from chatkit.errors import InputError

Health = Literal["healthy", "failing", "silent", "never", "inactive"]
#: From the one that needs a person most to the one that needs none.
ORDER: tuple[Health, ...] = ("failing", "silent", "never", "inactive", "healthy")

_GOOD = re.compile(r"deliver|success|succeed|sent|ok|done|true|2[0-9]{2}", re.IGNORECASE)
_BAD = re.compile(r"un|not|fail|err|refus|reject|time|retry|pend|wait|false|drop", re.IGNORECASE)


class Verdict(NamedTuple):
    """How a webhook is, and why."""

    health: Health
    reason: str


def judge(webhook: Mapping[str, Any], now: datetime, quiet: timedelta) -> Verdict:
    """Judge a registration by what its last delivery left behind.

    Args:
        webhook: Its fields, as a list shows them.
        now: When it is judged.
        quiet: How long it may be without a delivery.
    """
    at = webhook.get("last_delivery_at")
    why = _failure(webhook)
    if webhook.get("is_active") is False:
        last = f"; its last delivery failed: {why}" if why and at else ""
        return Verdict("inactive", f"it is switched off: activate(id) switches it on{last}")
    if not isinstance(at, datetime):
        if why:
            return Verdict("failing", why)
        return Verdict("never", f"nothing was ever delivered to it since {_since(webhook)}")
    if why:
        return Verdict("failing", why)
    age = now - at
    if age > quiet:
        return Verdict("silent", f"nothing was delivered for {_length(age)}")
    return Verdict("healthy", f"delivered {_length(age)} ago")


def span(value: object) -> timedelta:
    """Read how long a webhook may be quiet: a timedelta, or a number of hours.

    Raises:
        InputError: It is neither, or not above 0.
    """
    if isinstance(value, timedelta):
        found = value
    elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e6:
        found = timedelta(hours=value)
    else:
        raise InputError("quiet= takes a number of hours, or a timedelta.")
    if found <= timedelta():
        raise InputError("quiet= must be above 0.")
    return found


def moment(value: datetime | None) -> datetime | None:
    """Check that a time has a zone.

    Raises:
        InputError: It has none.
    """
    if value is not None and value.tzinfo is None:
        raise InputError("now= needs a time zone: datetime.now(UTC).")
    return value


def _failure(webhook: Mapping[str, Any]) -> str:
    """Say what went wrong with the last delivery; empty when nothing did."""
    error, status = webhook.get("last_delivery_error"), webhook.get("last_delivery_status")
    code = _code(webhook.get("last_delivery_http_status"))
    if error not in (None, "", False):
        return _short(error)
    if code is not None:
        return "" if 200 <= code < 300 else f"the receiver answered {code}"
    if status is None or status is True or status == "":
        return ""
    text = str(status)
    good = _GOOD.search(text) and not _BAD.search(text)
    return "" if good else f"its status is {_short(text)}"


def _code(value: object) -> int | None:
    """Read an HTTP status, which some services print as text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    text = str(value).removesuffix(".0")
    return int(text) if re.fullmatch(r"[1-9][0-9]{2}", text, re.ASCII) else None


def _since(webhook: Mapping[str, Any]) -> str:
    made = webhook.get("created_at")
    return f"{made:%Y-%m-%d %H:%M} UTC" if isinstance(made, datetime) else "it was made"


def _length(age: timedelta) -> str:
    """Say how long something took, in the largest unit that fits."""
    seconds = int(age.total_seconds())
    for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds >= size:
            return many(seconds // size, unit)
    return "less than a minute"  # HTTP tells whole seconds: finer would be a guess


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 120 else text[:119] + "…"
