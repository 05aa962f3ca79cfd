"""Checkup: what the doctor finds about an account, without changing anything."""

from __future__ import annotations

import html
import socket
import ssl
import textwrap
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import msgspec
from pydantic import ValidationError

from chatkit.answer import printable
from chatkit.client import Client, connect
from chatkit.connection import Connection
from chatkit.errors import BadAnswer, NotFound, steady
from chatkit.observation import Observation, Observer, Seen
from chatkit.profile import ServiceProfile
from chatkit.webhooks import MAX_WEBHOOKS

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.sandbox import Sandbox

State = Literal["ok", "warning", "problem", "unknown"]

_POINT = "Profile: "
_WIDTH = 80  # of the details in the text form
_SOON = 21  # days before its end at which a certificate is worth a warning
_WRITES = {
    "Chat Flows": ("Add", "Edit", "Delete"),
    "Chat Templates": ("Add", "Edit", "Delete"),
    "Chat Contacts": ("Add", "Edit", "Delete"),
    "Chat Detail": ("Edit", "Delete"),
}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing the doctor looked at, what it found, and what to do about it."""

    check: str
    state: State
    detail: str
    next_step: str = ""


class Report:
    """The doctor's report: shows itself as text and in a notebook; `.frame()` is a table.

    `status` is 1 when there is a problem, so that nothing can work, and else 0.
    """

    def __init__(self, subject: str, checks: tuple[Check, ...]) -> None:
        self.subject = subject
        self.checks = checks

    @property
    def status(self) -> int:
        """The exit status: 1 when any check is a problem."""
        return int(any(check.state == "problem" for check in self.checks))

    def frame(self) -> pd.DataFrame:
        """The checks as a DataFrame: `state`, `detail` and `next_step`, indexed by `check`."""
        from chatkit.frame import Columns

        columns = Columns(dict.fromkeys(Check.__slots__, "text"))
        columns.add(msgspec.json.encode([asdict(check) for check in self.checks]))
        return columns.frame("check")

    @steady
    def __repr__(self) -> str:
        width = max((len(check.check) for check in self.checks), default=0)
        lines = [printable(f"Checkup of {self.subject}")]
        for check in self.checks:
            details = textwrap.wrap(printable(check.detail), _WIDTH)
            if check.next_step:
                details += textwrap.wrap(f"-> {printable(check.next_step)}", _WIDTH)
            heads = [
                f"{check.state:<8} {check.check:<{width}}",
                *[" " * (9 + width)] * len(details),
            ]
            lines += [f"  {head}  {detail}" for head, detail in zip(heads, details, strict=False)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        calm = [c for c in self.checks if c.check.startswith(_POINT) and c.state == "ok"]
        untold = [c for c in self.checks if c.state == "unknown"]
        rest = [c for c in self.checks if c not in calm + untold]
        return (
            f"<p><strong>Checkup of {html.escape(self.subject)}</strong></p>{_table(rest)}"
            f"{_folded(f'{len(calm)} open points look as assumed', calm)}"
            f"{_folded(f'{len(untold)} checks could not be told', untold)}"
        )


def _folded(summary: str, checks: list[Check]) -> str:
    return f"<details><summary>{summary}</summary>{_table(checks)}</details>" if checks else ""


def _table(checks: list[Check]) -> str:
    left = ' style="text-align: left"'
    head = "".join(f"<th{left}>{name.replace('_', ' ')}</th>" for name in Check.__slots__)
    rows = (
        "".join(f"<td{left}>{_cell(value)}</td>" for value in asdict(check).values())
        for check in checks
    )
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(text: str) -> str:
    escaped = html.escape(text)
    return escaped.replace(" ", "&nbsp;") if len(text) < 40 else escaped


def doctor(to: Client | Sandbox | str | None = None) -> Report:
    """Check address, TLS, account, token, permissions, webhooks and open points, read-only.

    Nothing is ever written: permissions that only a write could prove are `unknown`.

    Args:
        to: A client, or what `chatkit.connect` takes: a connection's name, a sandbox, nothing.
    """
    if not isinstance(to, Client):
        with connect(to) as client:
            return doctor(client)
    connection = to.connection
    return Report(
        f"account {connection.account_id} at {connection.base_url}",
        tuple(_checks(connection, Observer(to.transport))),
    )


def _checks(connection: Connection, observer: Observer) -> Iterator[Check]:
    contacts = observer.ask("contacts")
    address = _address(connection, contacts)
    yield address
    yield _tls(connection)
    if address.state == "problem":
        return  # whatever else is asked would be answered by nobody, or by somebody else
    views = {
        "Chat Flows": observer.ask("flows"),
        "Chat Templates": observer.ask("templates", "default", "contents", "lookups", "languages"),
        "Chat Contacts": contacts,
        "Chat Detail": observer.ask("webhooks"),
    }
    accepted = any(seen.envelope for seen in views.values())
    yield _account(connection, views, accepted)
    yield _token(views, accepted)
    for group, seen in views.items():
        yield _view(f"{group}, View", seen, accepted, connection.profile)
        for operation in _WRITES[group]:
            yield Check(f"{group}, {operation}", "unknown", "cannot be tried without a write")
    yield _webhooks(views["Chat Detail"])
    observations = list(observer.points(contacts, views["Chat Flows"], views["Chat Detail"]))
    denied = {s.answer.status for s in views.values() if s.answer} & {401, 403}
    if accepted and len(denied) == 1:
        observations.append(Observation("forbidden_status", "a list is refused", denied.pop()))
    for observation in observations:
        yield _point(observation, connection.profile)
    seen_points = {observation.field for observation in observations}
    unseen = [name for name in ServiceProfile.model_fields if name not in seen_points]
    yield Check("Other open points", "unknown", f"reading cannot tell: {', '.join(unseen)}")


def _address(connection: Connection, first: Seen) -> Check:
    name, url = "Base address", connection.base_url
    if first.answer is None:
        reason = str(first.error.reason if first.error else "")
        return Check(
            name, "problem", f"{url} does not answer: {reason}",
            "Check the address, the network and the proxy.",
        )  # fmt: skip
    if isinstance(first.error, BadAnswer) or first.answer.status >= 500:
        return Check(
            name, "problem",
            f"{url} answers {first.outcome}, but not as the API document describes",
            "Check the address: it is what stands before /api/business/public.",
        )  # fmt: skip
    where = "loopback" if connection.loopback else "https"
    return Check(name, "ok", f"{url} answers ({where})")


def _tls(connection: Connection) -> Check:
    parts = urlsplit(connection.base_url)
    if parts.scheme == "http":
        return Check("TLS", "ok", "loopback, no TLS")
    try:
        days = _days_left(parts.hostname or "", parts.port or 443)
    except ssl.SSLCertVerificationError as error:
        return Check(
            "TLS", "problem", f"the certificate is not trusted: {error.verify_message}",
            "Ask who runs the service; SSL_CERT_FILE can name a certificate authority of your own.",
        )  # fmt: skip
    except (OSError, ValueError) as error:
        return Check("TLS", "unknown", f"no direct connection ({type(error).__name__})")
    if days < _SOON:
        return Check(
            "TLS", "warning", f"the certificate ends in {days} days", "Tell who runs the service."
        )
    return Check("TLS", "ok", f"the certificate is trusted and ends in {days} days")


def _days_left(host: str, port: int) -> int:
    context = ssl.create_default_context()
    with (
        socket.create_connection((host, port), timeout=10) as plain,
        context.wrap_socket(plain, server_hostname=host) as secure,
    ):
        certificate = secure.getpeercert() or {}
    return int((ssl.cert_time_to_seconds(str(certificate["notAfter"])) - time.time()) // 86400)


def _account(connection: Connection, views: dict[str, Seen], accepted: bool) -> Check:
    name, account_id = "Account", connection.account_id
    if accepted:
        return Check(name, "ok", f"{account_id} answers")
    if all(isinstance(seen.error, NotFound) for seen in views.values()):
        return Check(
            name, "problem", f"{account_id} is not found",
            "Check the account id, and that the token is of this account.",
        )  # fmt: skip
    return Check(name, "unknown", f"{account_id}: not told while the token is refused")


def _token(views: dict[str, Seen], accepted: bool) -> Check:
    if accepted:
        return Check("Access token", "ok", "accepted")
    outcomes = ", ".join(sorted({seen.outcome for seen in views.values()}))
    if not any(seen.refused for seen in views.values()):
        return Check("Access token", "unknown", f"no list can be read ({outcomes})")
    return Check(
        "Access token", "problem", f"refused ({outcomes})",
        "Make one in the business application under Profile, API access token, with a user "
        "of this account who has the View permissions.",
    )  # fmt: skip


def _view(permission: str, seen: Seen, accepted: bool, profile: ServiceProfile) -> Check:
    if seen.envelope is not None:
        return Check(permission, "ok", "its list was read")
    if not accepted or seen.outcome not in {"401", "403", str(profile.forbidden_status)}:
        return Check(permission, "unknown", f"answered with {seen.outcome}")
    return Check(
        permission, "warning", f"refused ({seen.outcome})",
        "Give it to the user of the token in the business application.",
    )  # fmt: skip


def _webhooks(seen: Seen) -> Check:
    name = "Webhooks"
    if seen.envelope is None:
        return Check(name, "unknown", f"answered with {seen.outcome}")
    used = len(seen.rows)
    left = max(0, MAX_WEBHOOKS - used)
    detail = f"{used} of {MAX_WEBHOOKS} used, {left} left"
    return Check(name, "ok", detail) if left else Check(
        name, "warning", detail, "Delete one before you create another."
    )  # fmt: skip


def _point(observation: Observation, profile: ServiceProfile) -> Check:
    field, how, value = observation.field, observation.how, observation.value
    name = f"{_POINT}{field}"
    assumed = getattr(profile, field)
    if not observation.told:
        return Check(name, "unknown", f"assumed {assumed!r}; {how}")
    if value == assumed:
        return Check(name, "ok", f"{value!r} as assumed ({how})")
    detail = f"observed {value!r}, assumed {assumed!r} ({how})"
    try:
        ServiceProfile.model_validate({field: value})
    except ValidationError:
        return Check(name, "warning", detail, "The profile cannot say this yet: please report it.")
    return Check(name, "warning", detail, f"Set {field}={value!r} in the profile.")
