"""Checkup: the state of an account, found without changing anything.

It asks read-only questions, derives from the replies what the token may do, and compares what the
service does at the points that the API document leaves open with the profile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.parse import urlsplit

import msgspec
from pydantic import ValidationError

from chatkit import report, settings
from chatkit.api.answer import Answer, Pagination
from chatkit.api.call import Call
from chatkit.api.connection import Connection
from chatkit.api.record import parse_document
from chatkit.api.transport import Transport
from chatkit.client import Client, connect
from chatkit.errors import BadAnswer, CallError, ChatkitError, NotFound, Refused
from chatkit.frames.snapshot import write_origin
from chatkit.profile import ServiceProfile
from chatkit.report import Report, ReportPart
from chatkit.settings import TokenPlace
from chatkit.util.display import many, visible
from chatkit.webhooks import MAX_WEBHOOKS

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.sandbox import Sandbox

State = Literal["ok", "warning", "problem", "unknown"]

_POINT = "Profile: "
#: The columns of the table, with their share of its width.
_COLUMNS = {"check": 24, "state": 10, "detail": 38, "next step": 28}
_WRITES = dict.fromkeys(
    ("Chat Flows", "Chat Templates", "Chat Contacts"), ("Add", "Edit", "Delete")
) | {"Chat Detail": ("Edit", "Delete")}


@dataclass(frozen=True, slots=True)
class Check:
    """A check of an account: its name, its state, what was observed, and the next step."""

    check: str
    state: State
    detail: str
    next_step: str = ""


class CheckupReport(Report):
    """A report of checks of an account: shows itself as text and in a notebook.

    `checks` stand in the order in which they are shown: what is wrong first, what could not be
    told last. `status` is 1 when there is a problem, so that nothing can work, and else 0.
    """

    def __init__(self, subject: str, checks: Iterable[Check]) -> None:
        self.subject = subject
        self.checks = tuple(sorted(checks, key=lambda check: _ORDER.index(check.state)))

    @property
    def status(self) -> int:
        """The exit status: 1 when any check is a problem."""
        return int(any(check.state == "problem" for check in self.checks))

    def frame(self) -> pd.DataFrame:
        """Return the checks as a DataFrame: `state`, `detail` and `next_step` by `check`."""
        names = [field.name for field in fields(Check)]
        frame = report.make_object_frame(self.checks, names, texts=names).set_index("check")
        write_origin(frame)
        return frame

    def _parts(self) -> Iterator[ReportPart]:
        """Yield all checks as text lines, then as HTML tables; what is as assumed is folded."""
        known = [check for check in self.checks if check.state != "unknown"]
        unknown = self.checks[len(known) :]
        unknown_count = many(len(unknown), "check")
        names = ", ".join(check.check.removeprefix(_POINT) for check in unknown)
        summed = Check(unknown_count, "unknown", f"not shown by reading: {names}")
        checks = [*known, *([summed] if unknown else [])]
        width = max((len(check.check) for check in checks), default=0)
        heading = f"Checkup of {visible(self.subject)}"
        lines = report.wrapped("", heading)
        for check in checks:
            head = f"  {check.state:<8} {check.check:<{width}}  "
            lines += report.wrapped(head, visible(check.detail))
            if check.next_step:
                lines += report.wrapped(" " * len(head) + "-> ", visible(check.next_step))
        yield ReportPart(lines, report.html_heading(heading))
        as_assumed = [c for c in known if c.check.startswith(_POINT) and c.state == "ok"]
        yield _render_checks_table([check for check in known if check not in as_assumed])
        for summary, hidden in (
            (f"{len(as_assumed)} open points look as assumed", as_assumed),
            (f"{unknown_count} could not be determined", unknown),
        ):
            yield ReportPart(
                html=report.folded(summary, [_render_checks_table(hidden)]) if hidden else ""
            )


#: How checks are shown, with the class of the style.
_ORDER: tuple[State, ...] = ("problem", "warning", "ok", "unknown")
_CLASSES = {"problem": "delete", "warning": "update", "ok": "create", "unknown": ""}


def _render_checks_table(checks: Iterable[Check]) -> ReportPart:
    """Render checks as an HTML table, coloured by state."""
    rows = [[visible(text) for text in asdict(check).values()] for check in checks]
    html = report.table(_COLUMNS, rows, severities=[_CLASSES[row[1]] for row in rows]).html
    return ReportPart(html=html)


def doctor(to: Client | Sandbox | str | None = None) -> CheckupReport:
    """Check address, account, token, permissions, webhooks and open points, read-only.

    Nothing is ever written: permissions that only a write could prove are `unknown`.

    Args:
        to: A client, or what `chatkit.connect` takes: a connection's name, a sandbox, nothing.

    >>> report = chatkit.doctor(client)
    >>> report.frame().state.value_counts().idxmax()
    'ok'
    """
    if isinstance(to, Mapping):
        raise TypeError(
            "doctor checks one account: fleet.doctor() checks all of a fleet, and "
            "chatkit.doctor(fleet['NAME']) one of them"
        )
    if not isinstance(to, Client):
        with connect(to) as client:
            return doctor(client)
    connection = to.connection
    return CheckupReport(
        f"account {connection.account_id} at {connection.base_url}",
        _run_checks(connection, ProbeClient(to.transport)),
    )


def save_if_healthy(name: str, connection: Connection, place: TokenPlace) -> None:
    """Save a connection under a name if the doctor finds no problem.

    Raises:
        ChatkitError: There is a problem: what it is, and the next step.
        SettingsError: It cannot be kept.
    """
    with Client(
        connection.base_url, connection.account_id, connection.token, profile=connection.profile
    ) as client:
        report = doctor(client)
    if report.status:
        worst = report.checks[0]
        raise ChatkitError(f"Nothing was kept. {worst.check}: {worst.detail}. {worst.next_step}")
    settings.save(name, connection, place)


def _run_checks(connection: Connection, probe: ProbeClient) -> Iterator[Check]:
    """Yield all checks of an account; only that of the address if nothing answers there."""
    contacts = probe.get("contacts")
    address = Check("Base address", *_check_address(connection, contacts))
    yield address
    if address.state == "problem":
        return  # whatever else is asked would be answered by nobody, or by somebody else
    views = {
        "Chat Flows": probe.get("flows"),
        "Chat Templates": probe.get("templates", "default", "contents", "lookups", "languages"),
        "Chat Contacts": contacts,
        "Chat Detail": probe.get("webhooks"),
    }
    replies = views.values()
    accepted = any(reply.succeeded for reply in replies)
    yield Check("Account", *_check_account(connection, replies, accepted=accepted))
    yield Check("Access token", *_check_token(connection, replies, accepted=accepted))
    for group, reply in views.items():
        yield Check(f"{group}, View", *_check_view(reply, connection.profile, accepted=accepted))
        for operation in _WRITES[group]:
            yield Check(f"{group}, {operation}", "unknown", "not checked: it would change data")
    yield Check("Webhooks", *_check_webhooks(views["Chat Detail"]))
    observations = list(observe_points(probe, contacts, views["Chat Flows"]))
    denied = {reply.status for reply in replies} & {401, 403}
    if accepted and len(denied) == 1:
        observations.append(Observation("forbidden_status", "a list is refused", denied.pop()))
    for observation in observations:
        yield _check_profile_field(observation, connection.profile)
    observed_fields = {observation.field for observation in observations}
    unobserved = [name for name in ServiceProfile.model_fields if name not in observed_fields]
    yield Check("Other open points", "unknown", f"not shown by reading: {', '.join(unobserved)}")


# --- questions and replies ----------------------------------------------------------------

_UNUSED_ID = 2147483646  #: an id that no account has


@dataclass(frozen=True)
class Reply:
    """Reply to one call: an answer, and the error if there is none that can be used."""

    call: Call
    answer: Answer | None = None
    error: CallError | None = None

    @property
    def status(self) -> int | None:
        """The HTTP status; None when there was no answer."""
        return None if self.answer is None else self.answer.status

    @property
    def succeeded(self) -> bool:
        """True if the service did it, and answered as the document describes."""
        return self.error is None

    @property
    def refused(self) -> bool:
        """True if the service understood the call and refused it."""
        return isinstance(self.error, Refused) and self.status != 429

    @property
    def status_text(self) -> str:
        """The status or the kind of failure; never a text of the service: it may be an echo."""
        return str(self.status) if self.status is not None else type(self.error).__name__

    @cached_property
    def envelope(self) -> dict[str, Any]:
        """The fields of the envelope; none when the body is no JSON object."""
        try:
            body = msgspec.json.decode(self.answer.body if self.answer else b"")
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return {}
        return body if type(body) is dict else {}

    @property
    def records(self) -> list[dict[str, Any]]:
        """The records of a list, or the one record, as far as they are objects."""
        data = self.envelope.get("data") if self.succeeded else []
        return [row for row in (data if isinstance(data, list) else [data]) if type(row) is dict]

    @property
    def pagination(self) -> Pagination | None:
        """Pagination of the page; None where the answer has none."""
        pagination = self.envelope.get("pagination") if self.succeeded else None
        return None if pagination is None else msgspec.convert(pagination, Pagination)


class ProbeClient:
    """Source of read-only questions to an account: it makes no other calls than GET."""

    def __init__(self, transport: Transport) -> None:
        self.profile = transport.profile
        self._transport = transport

    def get(self, *segments: str | int, **query: str | int) -> Reply:
        """Send a GET call; return its answer or its error."""
        call = Call("GET", segments, query)
        answer = error = None
        try:
            answer = self._transport.send_raw(call)
            answer.unwrap(self.profile)
        except CallError as failure:
            error = failure
        return Reply(call, answer, error)


# --- address, token and permissions -------------------------------------------------------


#: The state, the detail and the next step of a check.
_Outcome: TypeAlias = tuple[State, str, str]


def _check_address(connection: Connection, first: Reply) -> _Outcome:
    """Check that the service answers at the base address, and not a proxy."""
    url, proxy = connection.base_url, _find_proxy_address(connection)
    if first.answer is None:
        reason = str(first.error.reason if first.error else "")
        route = f" by way of the proxy {proxy}" if proxy else ""
        step = _PROXY_STEP if proxy else "Check the address and the network."
        if "certificate" in reason:
            step = _TRUST_STEP
        return "problem", f"{url} does not answer{route}: {reason}", step
    if (sign := _describe_intermediary(first)) is not None:
        step = "Check the port: what listens there is not the service."
        if first.status in _GATEWAY_STATUSES:
            step = _WAIT_STEP
        elif not connection.loopback:
            step = _PROXY_STEP
        answerer = "a proxy or another web site, not by the service"
        return "problem", f"{url} was answered by {answerer}: {sign}", step
    if isinstance(first.error, BadAnswer) or first.answer.status >= 500:
        detail = f"{url} answers {first.status_text}, but not as the API document describes"
        step = "Check the address: it is what stands before /api/business/public."
        return "problem", detail, step
    return "ok", f"{url} answers ({'loopback' if connection.loopback else 'https'})", ""


#: Said by who stands before a service, of a service that did not answer.
_GATEWAY_STATUSES = (502, 504)
_WAIT_STEP = (
    "It got no answer from what is behind it: try again in a few minutes. If that does not help, "
    "ask who runs the service, or the proxy that HTTPS_PROXY names."
)
_TRUST_STEP = (
    "Ask who runs the service; SSL_CERT_FILE can name a certificate authority of your own."
)
_PROXY_STEP = (
    "Check the address, and the proxy: HTTPS_PROXY names it, NO_PROXY what goes past it. If your "
    "network has a sign-in page, open that in a browser first."
)


def _find_proxy_address(connection: Connection) -> str:
    """Return host and port of the proxy that calls go through; empty without one."""
    from chatkit.api.wire import proxy_for

    proxy = None if connection.loopback else proxy_for(connection.base_url)
    return urlsplit(proxy).netloc.rpartition("@")[2] if proxy else ""


def _describe_intermediary(first: Reply) -> str | None:
    """Describe the answer of a proxy in place of the service; None if the service answered.

    A proxy answers in HTML where the service has JSON, or with a status that only a proxy has
    (407), or that says that the call came to the wrong server (421), or that who is behind it did
    not answer (502, 504), unless the service says so itself, in its own envelope.
    """
    if first.answer is None or first.succeeded:
        return None
    status = first.answer.status
    if status in (407, 421) or (status in _GATEWAY_STATUSES and "success" not in first.envelope):
        return f"{status} {HTTPStatus(status).phrase}"
    if "html" in first.answer.headers.get("content-type", "").lower():
        return f"{status} with a page of HTML"
    return None


def _check_account(connection: Connection, views: Iterable[Reply], *, accepted: bool) -> _Outcome:
    """Check by the lists of all resources that the account exists."""
    account_id = connection.account_id
    if accepted:
        return "ok", f"{account_id} answers", ""
    if all(isinstance(reply.error, NotFound) for reply in views):
        step = "Check the account id, and that the token is of this account."
        return "problem", f"{account_id} is not found", step
    return "unknown", f"{account_id}: not checked, as the token is refused", ""


def _check_token(connection: Connection, views: Iterable[Reply], *, accepted: bool) -> _Outcome:
    """Check by the lists of all resources that the token is accepted."""
    if accepted:
        return "ok", "accepted", ""
    statuses = ", ".join(sorted({reply.status_text for reply in views}))
    if not any(reply.refused for reply in views):
        return "unknown", f"no list can be read ({statuses})", ""
    detail, account = f"refused ({statuses})", connection.account_id
    if statuses != "403":
        step = (
            "Make one in the business application under Profile, API access token, with a user "
            "of this account who has the View permissions."
        )
        return "problem", detail, step
    detail += f": it is a token of another account than {account}, or its user has none of the "
    step = (
        f"Make one in the business application of account {account} under Profile, API access "
        "token, with a user who has the View permissions; or correct the account id."
    )
    return "problem", f"{detail}View permissions", step


def _check_view(reply: Reply, profile: ServiceProfile, *, accepted: bool) -> _Outcome:
    """Evaluate the permission to view a resource by the answer to its list."""
    if reply.succeeded:
        return "ok", "its list was read", ""
    if not accepted or reply.status_text not in {"401", "403", str(profile.forbidden_status)}:
        return "unknown", f"answered with {reply.status_text}", ""
    step = "Give this permission to the user of the token in the business application."
    return "warning", f"refused ({reply.status_text})", step


def _check_webhooks(reply: Reply) -> _Outcome:
    """Check how many webhooks can be registered still."""
    if not reply.succeeded:
        return "unknown", f"answered with {reply.status_text}", ""
    used = len(reply.records)
    remaining = max(0, MAX_WEBHOOKS - used)
    detail = f"{used} of {MAX_WEBHOOKS} used, {remaining} left"
    if remaining:
        return "ok", detail, ""
    return "warning", detail, "Delete one before you create another."


# --- points that the API document leaves open ---------------------------------------------

#: A text that no account has.
_UNMATCHED_TEXT = "chatkit doctor finds nothing"
#: Pages that are asked for where a service takes more rows than is assumed, the largest first.
_LARGER_PAGE_SIZES = (1000, 500, 200)
_SEARCH_NAMES = ("search", "q", "query", "keyword", "filter")
_STATUS_NAMES = ("status", "wa_status", "state", "filter")


@dataclass(frozen=True, slots=True)
class Observation:
    """One open point: the field of the profile, the value that was seen, and how.

    `known` is False when reading could not show it; `how` then says why.
    """

    field: str
    how: str
    value: object = None
    known: bool = True


def _check_profile_field(observation: Observation, profile: ServiceProfile) -> Check:
    """Check a field of the profile against what was observed."""
    field, how, value = observation.field, observation.how, observation.value
    name = f"{_POINT}{field}"
    assumed = getattr(profile, field)
    if not observation.known:
        return Check(name, "unknown", f"assumed {assumed!r}; {how}")
    if value == assumed:
        return Check(name, "ok", f"{value!r} as assumed ({how})")
    detail = f"observed {value!r}, assumed {assumed!r} ({how})"
    try:
        ServiceProfile.model_validate({field: value})
    except ValidationError:
        return Check(name, "warning", detail, "The profile cannot say this yet: please report it.")
    return Check(name, "warning", detail, f"Set {field}={value!r} in the profile.")


def observe_points(probe: ProbeClient, contacts: Reply, flows: Reply) -> Iterator[Observation]:
    """Observe the open points that reading can show; takes the first pages of both lists."""
    resource, first = ("contacts", contacts) if contacts.succeeded else ("flows", flows)
    if not first.succeeded:
        return
    yield from _observe_pages(probe, resource, first)
    yield _observe_number_form(contacts)
    yield _observe_flow_document(probe, flows)
    yield _observe_missing_status(probe, resource)
    yield _observe_parameter(probe, "search_param", "contacts", contacts, _SEARCH_NAMES)
    yield _observe_parameter(probe, "status_param", "flows", flows, _STATUS_NAMES)


def _observe_pages(probe: ProbeClient, resource: str, first: Reply) -> Iterator[Observation]:
    """Observe the number of the first page, the size of pages, and a page past the end."""
    pagination = first.pagination
    if pagination is None:
        yield Observation("page_base", "the list came without pagination", known=False)
        return
    asked = "the number of the page when none is asked for"
    yield Observation("page_base", asked, pagination.page)
    yield _observe_page_size(probe, resource)
    past_end = probe.get(resource, page=pagination.page + pagination.total_pages + 3)
    field, how = "page_past_end", "a page after the last"
    if past_end.records or not (past_end.succeeded or past_end.refused):
        what = "has records" if past_end.records else f"was answered with {past_end.status_text}"
        yield Observation(field, f"{how} {what}", known=False)
    else:
        yield Observation(field, how, "empty" if past_end.succeeded else "refuse")


def _observe_page_size(probe: ProbeClient, resource: str) -> Observation:
    """Observe the largest size of a page that the service returns."""
    assumed = probe.profile.max_page_size
    largest = probe.get(resource, pageSize=assumed)
    if largest.pagination is None:
        how = f"{assumed} was answered with {largest.status_text}"
        return Observation("max_page_size", how, known=False)
    asked = assumed + 1
    above = probe.get(resource, pageSize=asked)
    sizes = [reply.pagination.page_size for reply in (largest, above) if reply.pagination]
    if max(sizes) == asked:  # it takes more than is assumed: a larger page is fewer calls
        for asked in [size for size in _LARGER_PAGE_SIZES if size > asked]:
            if larger := probe.get(resource, pageSize=asked).pagination:
                sizes.append(larger.page_size)
                break
    how = f"the most used when {asked:,} were asked for"
    return Observation("max_page_size", how, max(sizes))


def _observe_flow_document(probe: ProbeClient, flows: Reply) -> Observation:
    """Observe whether reading a flow returns its document."""
    key = str(flows.records[0].get("id")) if flows.records else ""
    records = probe.get("flows", key).records if key.isascii() and key.isdigit() else []
    if not records:
        return Observation("flow_json_in_get", "no flow could be read", known=False)
    raw = parse_document(records[0].get("flow_json_raw"))
    value = "flow_json" in records[0] or isinstance(raw, dict)
    return Observation("flow_json_in_get", "reading one flow", value)


def _observe_missing_status(probe: ProbeClient, resource: str) -> Observation:
    """Observe the status that answers an unknown id."""
    reply = probe.get(resource, _UNUSED_ID)
    how = f"an unknown id was answered with {reply.status_text}"
    how = "reading an unknown id" if reply.refused else how
    return Observation("not_found_status", how, reply.status, known=reply.refused)


def _observe_parameter(
    probe: ProbeClient, field: str, resource: str, unfiltered: Reply, candidates: tuple[str, ...]
) -> Observation:
    """Find the parameter that filters a list, by searching for a text that no record has."""
    if not unfiltered.records:
        return Observation(field, f"there are no {resource} to look among", known=False)
    assumed = getattr(probe.profile, field)
    names = dict.fromkeys([assumed, *candidates] if assumed else candidates)
    for name in names:
        reply = probe.get(resource, **{name: _UNMATCHED_TEXT})
        if reply.succeeded and not reply.records:
            return Observation(field, f"it filters the {resource}", name)
    return Observation(field, f"none of {', '.join(names)} filters the {resource}", None)


def _observe_number_form(contacts: Reply) -> Observation:
    """Observe whether the numbers of contacts begin with their country codes."""
    pairs = [(row.get("number"), row.get("country_code")) for row in contacts.records]
    with_code = [
        number.startswith(code.removeprefix("+"))
        for number, code in pairs
        if isinstance(number, str) and isinstance(code, str) and code.removeprefix("+")
    ]
    form = "international" if all(with_code) else "national"
    how = f"{sum(with_code)} of {len(with_code)} numbers begin with their country code"
    how = how if with_code else "no record shows it"
    return Observation("number_form", how, form, known=bool(with_code))
