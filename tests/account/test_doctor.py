import html
import re
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import trustme
from displayed import html_of
from internals import middleware_of

import chatkit
from chatkit.account.doctor import Check, CheckupReport, doctor
from chatkit.profile import ServiceProfile
from chatkit.sandbox import Sandbox

MARKER = "tok_5f3a9c1e77"
VIEWS = ("Chat Flows, View", "Chat Templates, View", "Chat Contacts, View", "Chat Detail, View")


@contextmanager
def account(
    *,
    service: ServiceProfile | None = None,
    assumed: ServiceProfile | None = None,
    permissions: tuple[str, ...] | None = None,
    token: str | None = None,
) -> Iterator[tuple[Sandbox, chatkit.Client]]:
    """A demo sandbox over HTTP, and a client of it that may assume another profile."""
    with Sandbox(seed="demo", profile=service) as sandbox, sandbox.serve() as base_url:
        if permissions is not None:
            token = sandbox.make_token(*permissions)
        with chatkit.Client(
            base_url, sandbox.account_id, token or sandbox.token, profile=assumed or service
        ) as client:
            yield sandbox, client


def states(report: CheckupReport) -> dict[str, str]:
    return {check.check: check.state for check in report.checks}


def result(report: CheckupReport, name: str) -> Check:
    return next(check for check in report.checks if check.check == name)


def test_a_sound_account_has_no_warning_and_each_permission_is_a_row(shared: Path) -> None:
    table = (shared / "api.md").read_text(encoding="utf-8").split("| Operation group |")[1]
    named = re.findall(r"\| (Chat \w+, \w+) \|", table.split("\n\n")[0])
    assert len(named) == 15
    with account() as (sandbox, client):
        before = len(middleware_of(sandbox).log)
        report = doctor(client)
        sent = list(middleware_of(sandbox).log)[before:]
    assert len(sent) > 10 and {call.method for call in sent} == {"GET"}
    assert set(states(report).values()) == {"ok", "unknown"} and report.status == 0
    for name in ("Base address", "Account", "Access token", "Webhooks"):
        assert result(report, name).state == "ok", result(report, name)
    permissions = [check for check in report.checks if check.check.startswith("Chat ")]
    assert sorted(check.check for check in permissions) == sorted(named)
    for check in permissions:
        assert (check.state == "ok") is check.check.endswith("View")
        assert check.check.endswith("View") or "it would change" in check.detail
    open_points = result(report, "Other open points")
    assert open_points.state == "unknown"
    unread = open_points.detail.split(": ")[1].split(", ")
    assert {"put", "inactive_in_lists", "name_split", "signature_scheme"} <= {*unread}
    output = {c.check.removeprefix("Profile: ") for c in report.checks if "Profile: " in c.check}
    assert {*ServiceProfile.model_fields} == output ^ {*unread}


REFUSED = {"Access token": "problem"}
#: What an account is, the states of some checks, and what is told of the token.
ACCOUNTS: dict[str, tuple[dict[str, Any], dict[str, str], str]] = {
    **{
        f"without {view}": (
            {"permissions": tuple(each for each in VIEWS if each != view)},
            {"Access token": "ok", **dict.fromkeys(VIEWS, "ok"), view: "warning"},
            "accepted",
        )
        for view in VIEWS
    },
    **{
        f"forbidden is {status}": (
            {"service": ServiceProfile(forbidden_status=status), "permissions": VIEWS[1:]},
            {"Access token": "ok", VIEWS[0]: "warning", VIEWS[1]: "ok"},
            "accepted",
        )
        for status in (401, 404)
    },
    "wrong token": (
        {"token": MARKER},
        REFUSED | dict.fromkeys(("Account", *VIEWS), "unknown"),
        "refused (401)",
    ),
    "no view": ({"permissions": ("Chat Contacts, Add",)}, REFUSED, "refused (403)"),
}


@pytest.mark.parametrize("name", ACCOUNTS)
def test_what_a_token_may_do_is_told_by_each_row(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    how, expected, detail = ACCOUNTS[name]
    with account(**how) as (_, client):
        report = doctor(client)
    assert expected.items() <= states(report).items()
    assert detail in result(report, "Access token").detail
    assert report.status == (expected["Access token"] == "problem")
    assert MARKER not in _everything(report) + caplog.text


def test_a_token_of_another_account_is_told_as_one() -> None:
    with Sandbox(seed="demo") as sandbox, sandbox.serve() as base_url:
        report = doctor(chatkit.Client(base_url, "2002", sandbox.token))
    token = result(report, "Access token")
    assert token.state == "problem"
    assert "refused (403): it is a token of another account than 2002" in token.detail
    assert "account 2002" in token.next_step and "account id" in token.next_step


HTML, TEXT, JSON = "text/html; charset=utf-8", "text/plain", "application/json"
ECHO = (
    '{"success": %s, "message": "no {token}", "pagination": {"page": 1, "pageSize": 1, '
    '"totalCount": 1, "totalPages": 1}, "data": [{"id": "{token}", "tags": ["{token}"]}]}'
)
#: What answers at an address, and what is told of that; "" where a service may answer so.
ANSWERS = [
    *[(status, HTML, "<h1>{token}</h1>", "by a proxy") for status in (200, 401, 403, 404, 503)],
    *[
        (status, kind, "{token}", "by a proxy")
        for status in (421, 502, 504)
        for kind in (TEXT, JSON)
    ],
    (407, HTML, "<h1>Blocked {token}</h1>", "by a proxy"),
    (502, JSON, '{"success": false, "message": "later"}', "answers 502"),
    (200, JSON, '{"hello": "{token}"}', "not as the API document"),
    (200, JSON, "", "not as the API document"),
    (503, TEXT, "{token}", "answers 503"),
    (302, TEXT, "{token}", "not as the API document"),
    (200, JSON, ECHO % "true", ""),
    *[(status, JSON, ECHO % "false", "") for status in (400, 401, 403, 404, 409, 422)],
]


@pytest.mark.parametrize(("status", "kind", "body", "detail"), ANSWERS)
def test_what_is_not_the_service_is_named_and_no_token_is_shown(
    status: int, kind: str, body: str, detail: str
) -> None:
    with answering(status, kind, body) as url:
        report = checkup(url)
    assert MARKER not in _everything(report)
    address = result(report, "Base address")
    if detail:
        assert set(states(report)) == {"Base address"} and report.status == 1
        assert address.state == "problem" and detail in address.detail
        proxy = "by a proxy" in detail
        assert ("proxy" in address.detail + address.next_step) is proxy
        assert not proxy or str(status) in address.detail
        assert ("got no answer" in address.next_step) is (proxy and status in (502, 504))


@pytest.mark.parametrize("status", [407, 421])
def test_a_proxy_that_does_not_let_through_is_named_with_its_address_and_no_password(
    status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No service is asked: the proxy of the environment is, and it refuses to connect."""
    with answering(status, "text/html", "<h1>Blocked</h1>") as url:
        host = url.removeprefix("http://")
        monkeypatch.setenv("HTTPS_PROXY", f"http://ana:{MARKER}@{host}")
        for name in ("https_proxy", "NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        with chatkit.Client("https://api.example.com", "1001", MARKER, deadline=5) as client:
            report = doctor(client)
    address = report.checks[0]
    assert (address.check, address.state) == ("Base address", "problem")
    assert f"by way of the proxy {host}: " in address.detail and str(status) in address.detail
    assert "HTTPS_PROXY" in address.next_step
    assert {check.check for check in report.checks} == {"Base address"}
    assert MARKER not in _everything(report)


def test_webhooks_left_are_counted() -> None:
    with account() as (_, client):
        used = len(client.webhooks.frame())
        assert f"{used} of 10 used, {10 - used} left" in result(doctor(client), "Webhooks").detail
        for n in range(10 - used):
            client.webhooks.create(url=f"https://hooks.example.com/{n}", events=["*"])
        report = doctor(client)
    assert result(report, "Webhooks") == Check(
        "Webhooks", "warning", "10 of 10 used, 0 left", "Delete one before you create another."
    )


# --- open points --------------------------------------------------------------------


def test_an_open_point_that_differs_is_a_warning_that_says_what_to_set() -> None:
    service = ServiceProfile(search_param="q", page_base=0)
    with account(service=service, assumed=ServiceProfile()) as (_, client):
        report = doctor(client)
    warnings = [check for check in report.checks if check.state == "warning"]
    assert [(check.check, check.next_step) for check in warnings] == [
        ("Profile: page_base", "Set page_base=0 in the profile."),
        ("Profile: search_param", "Set search_param='q' in the profile."),
    ]
    assert "observed 'q', assumed 'search'" in warnings[-1].detail
    assert report.status == 0


class Teapot(Sandbox):
    """A service whose answer to an unknown id no profile knows."""

    def answer(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        status, fields, content = super().answer(method, target, headers, body)
        return 418 if status == 404 else status, fields, content


def test_what_the_profile_cannot_say_is_told_too() -> None:
    with Teapot(seed="demo") as service:
        report = doctor(chatkit.connect(service))
    check = result(report, "Profile: not_found_status")
    assert check.detail == "observed 418, assumed 404 (reading an unknown id)"
    assert check.next_step == "The profile cannot say this yet: please report it."


# --- services that are not there, or are something else -----------------------------


class Handler(BaseHTTPRequestHandler):
    """Answers everything with what the server holds; `{token}` becomes what was sent."""

    server: "Server"

    def do_CONNECT(self) -> None:
        self.send_error(self.server.status)

    def do_GET(self) -> None:
        echo = (self.headers["Authorization"] or "").removeprefix("Bearer ")
        body = self.server.body.replace("{token}", echo).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Type", self.server.kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    status, kind, body = 200, "application/json", ""


@contextmanager
def answering(
    status: int, kind: str, body: str, context: ssl.SSLContext | None = None
) -> Iterator[str]:
    with Server(("127.0.0.1", 0), Handler) as server:
        server.status, server.kind, server.body = status, kind, body
        if context:
            server.socket = context.wrap_socket(server.socket, server_side=True)
            server.handle_error = lambda *_: None  # type: ignore[method-assign]
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            scheme = "https" if context else "http"
            yield f"{scheme}://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def checkup(base_url: str) -> CheckupReport:
    with chatkit.Client(base_url, "1001", MARKER, deadline=5) as client:
        return doctor(client)


def _everything(report: CheckupReport) -> str:
    return repr(report) + html_of(report) + report.frame().to_string() + str(vars(report))


def test_nobody_there_and_a_certificate_nobody_trusts_are_one_problem() -> None:
    report = checkup("http://127.0.0.1:9")
    assert states(report) == {"Base address": "problem"} and report.status == 1
    assert "does not answer" in result(report, "Base address").detail
    assert MARKER not in _everything(report)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    with answering(200, "application/json", "{}", context) as base_url:
        report = checkup(base_url)
    assert states(report) == {"Base address": "problem"}
    address = result(report, "Base address")
    assert "not trusted" in address.detail and "SSL_CERT_FILE" in address.next_step


# --- how it shows itself ------------------------------------------------------------

STRANGE = CheckupReport(
    "account <b>1</b>",
    (
        Check("Base address", "ok", "fine"),
        Check("TLS", "problem", "<script>alert(1)</script>\x1b[2J\nline", "do & see"),
    ),
)


def test_a_report_is_stable_and_holds_nothing_that_is_obeyed() -> None:
    assert (
        repr(STRANGE)
        == str(STRANGE)
        == (
            "Checkup of account <b>1</b>\n"
            "  problem  TLS           <script>alert(1)</script>⟨U+001B⟩[2J↵line\n"
            "                         -> do & see\n"
            "  ok       Base address  fine"
        )
    )
    output = html_of(STRANGE)
    assert "<script" not in output and "<b>" not in output
    assert html.unescape(output.replace("<wbr>", "")).count("<script>alert(1)</script>") == 1
    frame = STRANGE.frame()
    assert list(frame.columns) == ["state", "detail", "next_step"]
    assert list(frame.index) == ["TLS", "Base address"]
    assert frame.loc["TLS", "next_step"] == "do & see"
    assert CheckupReport("x", ()).frame().empty


def test_what_is_wrong_comes_first_and_what_is_unknown_is_one_entry() -> None:
    untold = [Check(f"Chat Flows, {n}", "unknown", "a write") for n in ("Add", "Edit", "Delete")]
    checks = (untold[0], Check("A", "ok", "fine"), *untold[1:], Check("B", "warning", "odd"))
    report = CheckupReport("x", (*checks, Check("C", "problem", "bad", "mend it")))
    entries = [line.split()[:2] for line in repr(report).splitlines() if line[2:3].strip()]
    assert entries[1:] == [["problem", "C"], ["warning", "B"], ["ok", "A"], ["unknown", "3"]]
    assert "Chat Flows, Add, Chat Flows, Edit, Chat Flows, Delete" in " ".join(repr(report).split())
    output = ["C", "B", "A", *(f"Chat Flows, {n}" for n in ("Add", "Edit", "Delete"))]
    assert report.frame().index.tolist() == output
    output = html_of(report)
    assert (
        output.index("bad") < output.index("odd") < output.index("fine") < output.index("a write")
    )
    assert '<span class="delete">problem</span>' in output


def test_the_notebook_form_folds_what_is_as_assumed_and_what_could_not_be_told() -> None:
    calm = Check("Profile: put", "ok", "merge as assumed")
    unusual = Check("Profile: page_base", "warning", "0, not 1")
    untold = Check("Chat Flows, Add", "unknown", "not checked: it would change data")
    output = html_of(CheckupReport("an account", (calm, unusual, untold)))
    front, points, rest = output.split("<details>")
    assert "page_base" in front and "put" not in front
    assert "1 open points look as assumed" in points and "put" in points
    assert "1 check could not be determined" in rest and "it would change" in rest


def test_the_doctor_takes_a_name_or_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert chatkit.doctor is doctor
    assert doctor().status == 0
    assert "sandbox" in capsys.readouterr().out
    with pytest.raises(chatkit.errors.SettingsError, match="no connection 'nobody'"):
        doctor("nobody")
