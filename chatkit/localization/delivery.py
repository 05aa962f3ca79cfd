"""Delivery: authentication codes, how long a message is valid, catalogs."""

from __future__ import annotations

import re

from chatkit.display import many, values
from chatkit.localization.content import Entry, part
from chatkit.localization.finding import Ledger
from chatkit.localization.wording import emoji

EXPIRY = range(60, 5_401)  #: seconds until a code expires: 1 to 90 minutes
VALIDITY = range(30, 2_592_001)  #: seconds a message is valid: the widest of all categories
AUTHENTICATION_VALIDITY = range(30, 901)
MARKETING = 43_200  #: a marketing message is valid for so long at least, a utility one at most
FOREVER = -1  #: 30 days, for all but marketing messages
APPS = 5
_HASH = re.compile("[A-Za-z0-9+/=]{11}")
_PACKAGE = re.compile(r"[A-Za-z]\w*(\.[A-Za-z]\w*)+", re.ASCII)
_PACKAGE_LENGTH = 224
_ADDRESS = re.compile(r"https?://|www\.", re.IGNORECASE)


def judge(entry: Entry, tell: Ledger) -> None:
    """Look at the settings of a content."""
    if entry.authenticates:
        _authentication(entry, tell)
    if entry.knows("auth_code_expiration_seconds"):
        _expiry(entry, tell)
    if entry.apps:
        _apps(entry, tell)
    if entry.knows("validity_period_seconds"):
        _validity(entry, tell)
    if entry.flag("is_catalog") and entry.knows("buttons"):
        kinds = [part(button, "type") for button in entry.buttons]
        if "view_catalog" not in kinds:
            said = "it shows a catalog, but has no button view_catalog"
            tell("catalog", "buttons", said, "Add the button, or set is_catalog to False.")
    elif entry.flag("is_catalog") is False:
        for number, button in enumerate(entry.buttons):
            if part(button, "type") == "view_catalog":
                said = f"button {number + 1} shows a catalog, but is_catalog is False"
                tell("catalog", f"buttons.{number}.type", said, "Set is_catalog to True.")


def _authentication(entry: Entry, tell: Ledger) -> None:
    if entry.headers:
        tell("authentication", "headers", "it has a header", _NO_HEADER)
    if entry.text and (found := _ADDRESS.search(entry.text)):
        tell("authentication", "text", "an address is in the text", _PLAIN, at=found.start())
    if entry.text and (found := emoji(entry.text)):
        tell("authentication", "text", "an emoji is in the text", _PLAIN, at=found.start())
    method = entry.flag("auth_delivery_method")
    if method in ("one_tap", "zero_tap") and entry.knows("auth_apps") and not entry.apps:
        said = f"{method} hands the code to an app, and none is named"
        tell("app count", "auth_apps", said, "Name its package and its signature hash.")


def _expiry(entry: Entry, tell: Ledger) -> None:
    seconds, field = entry.flag("auth_code_expiration_seconds"), "auth_code_expiration_seconds"
    if field in entry.wrong:
        return
    if entry.flag("auth_add_code_expiration"):
        if seconds is None:
            tell("code expiry", field, "it does not say when the code expires", _MINUTES)
        elif seconds not in EXPIRY:
            tell("code expiry", field, f"the code expires after {seconds:,} seconds", _MINUTES)
        elif seconds % 60:
            said = f"{seconds:,} seconds are no whole minutes"
            tell("code expiry", field, said, "The platform takes minutes.", severity="note")
    elif seconds is not None and entry.flag("auth_add_code_expiration") is False:
        said = f"{seconds:,} seconds do not count, as auth_add_code_expiration is False"
        tell("code expiry unused", field, said)


def _apps(entry: Entry, tell: Ledger) -> None:
    if len(entry.apps) > APPS:
        said = f"there are {many(len(entry.apps), 'app')}"
        tell("app count", "auth_apps", said, f"{APPS} are allowed.")
    for number, app in enumerate(entry.apps):
        field = f"auth_apps.{number}"
        if field in entry.wrong:
            continue
        package, signature = part(app, "package_name"), part(app, "signature_hash")
        if len(package) > _PACKAGE_LENGTH or not _PACKAGE.fullmatch(package):
            said = f"{values(package)} is no name of a package"
            tell("app", f"{field}.package_name", said, "Write it like com.example.shop.")
        if not _HASH.fullmatch(signature):
            said = f"the hash has {many(len(signature), 'character')}"
            hint = "It has 11: letters, digits, +, / and =."
            tell("app", f"{field}.signature_hash", said, hint)


def _validity(entry: Entry, tell: Ledger) -> None:
    seconds, field = entry.flag("validity_period_seconds"), "validity_period_seconds"
    if field in entry.wrong:
        return
    if not entry.flag("is_custom_validity_period"):
        if seconds is not None and entry.flag("is_custom_validity_period") is False:
            said = f"{seconds:,} seconds do not count, as is_custom_validity_period is False"
            tell("validity unused", field, said)
        return
    allowed = AUTHENTICATION_VALIDITY if entry.authenticates else VALIDITY
    if seconds is None:
        tell("validity", field, "it does not say how long the message is valid", "Say it.")
    elif seconds == FOREVER:
        tell("validity category", field, "-1 means 30 days, but not for marketing")
    elif seconds not in allowed:
        said = f"the message is valid for {seconds:,} seconds"
        tell("validity", field, said, f"{allowed.start} to {allowed.stop - 1:,} are allowed.")
    elif entry.authenticates or seconds == MARKETING:
        return
    elif seconds < MARKETING:
        tell("validity category", field, f"{seconds:,} seconds are too few for marketing")
    else:
        tell("validity category", field, f"{seconds:,} seconds are allowed for marketing only")


_NO_HEADER = "An authentication content takes none."
_PLAIN = "An authentication content takes no addresses, media and emoji."
_MINUTES = f"{EXPIRY.start} to {EXPIRY.stop - 1:,} seconds are allowed."
