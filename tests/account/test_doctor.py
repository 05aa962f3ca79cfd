import html
import json
import re
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import trustme
from displayed import html_of

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


def test_a_sound_account_has_no_warning_and_no_problem() -> None:
    with account() as (_, client):
        report = doctor(client)
    assert set(states(report).values()) == {"ok", "unknown"}
    assert report.status == 0
    for name in ("Base address", "Account", "Access token", "Webhooks", *VIEWS):
        assert result(report, name).state == "ok", result(report, name)


def test_every_permission_of_the_document_is_a_row_named_as_there(shared: Path) -> None:
    table = (shared / "api.md").read_text(encoding="utf-8").split("| Operation group |")[1]
    named = re.findall(r"\| (Chat \w+, \w+) \|", table.split("\n\n")[0])
    assert len(named) == 15
    with account() as (_, client):
        report = doctor(client)
    permissions = [check for check in report.checks if check.check.startswith("Chat ")]
    assert sorted(check.check for check in permissions) == sorted(named)
    for check in permissions:
        assert (check.state == "ok") is check.check.endswith("View")
        assert check.check.endswith("View") or "it would change" in check.detail


def test_the_doctor_only_reads() -> None:
    with account() as (sandbox, client):
        before = _log(sandbox)
        doctor(client)
        log = _log(sandbox)[len(before) :]
    assert len(log) > 10
    assert {entry["method"] for entry in log} == {"GET"}


def _log(sandbox: Sandbox) -> list[dict[str, str]]:
    headers = {"authorization": f"Bearer {sandbox.admin_token}"}
    status, _, body = sandbox.answer("GET", "/_sandbox/requests", headers, b"")
    assert status == 200
    return [e for e in json.loads(body)["requests"] if "/_sandbox" not in e["path"]]


@pytest.mark.parametrize("missing", VIEWS)
def test_a_missing_view_permission_is_a_warning_on_its_row_alone(missing: str) -> None:
    with account(permissions=tuple(v for v in VIEWS if v != missing)) as (_, client):
        report = doctor(client)
    assert result(report, missing).state == "warning"
    assert [v for v in VIEWS if result(report, v).state == "ok"] == [
        v for v in VIEWS if v != missing
    ]
    assert result(report, "Access token").state == "ok"
    assert report.status == 0


def test_a_wrong_token_is_a_problem_and_is_never_shown(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(0)
    with account(token=MARKER) as (_, client):
        report = doctor(client)
    assert result(report, "Access token").state == "problem"
    assert "refused (401)" in result(report, "Access token").detail
    assert {result(report, view).state for view in VIEWS} == {"unknown"}
    assert result(report, "Account").state == "unknown"
    assert report.status == 1
    assert MARKER not in _everything(report) + caplog.text


def test_a_token_without_any_view_permission_is_a_problem() -> None:
    with account(permissions=("Chat Contacts, Add",)) as (_, client):
        report = doctor(client)
    assert result(report, "Access token").state == "problem"
    assert "refused (403)" in result(report, "Access token").detail


def test_a_token_of_another_account_is_told_as_one() -> None:
    with Sandbox(seed="demo") as sandbox, sandbox.serve() as base_url:
        report = doctor(chatkit.Client(base_url, "2002", sandbox.token))
    token = result(report, "Access token")
    assert token.state == "problem"
    assert "refused (403): it is a token of another account than 2002" in token.detail
    assert "account 2002" in token.next_step and "account id" in token.next_step


@pytest.mark.parametrize(
    ("status", "kind"),
    [(421, "text/plain"), (421, "application/json"), (407, "text/html"), (200, "text/html"),
     (401, "text/html"), (403, "text/html; charset=utf-8"), (404, "text/html"), (503, "text/html"),
     (502, "text/html"), (502, "text/plain"), (504, "text/plain"), (504, "application/json")],
)  # fmt: skip
def test_a_proxy_is_called_a_proxy_and_no_token_is_doubted(status: int, kind: str) -> None:
    body = '{"message": "none {token}"}' if "json" in kind else "<h1>Blocked {token}</h1>"
    with answering(status, kind, body) as url:
        report = checkup(url)
    address = result(report, "Base address")
    assert address.state == "problem" and "by a proxy" in address.detail
    assert str(status) in address.detail
    assert ("got no answer" in address.next_step) is (status in (502, 504))
    assert set(states(report)) == {"Base address"}
    assert MARKER not in _everything(report)


def test_a_service_that_says_itself_that_it_reached_nobody_is_no_proxy() -> None:
    with answering(502, "application/json", '{"success": false, "message": "later"}') as url:
        address = result(checkup(url), "Base address")
    assert address.state == "problem" and "answers 502" in address.detail
    assert "proxy" not in address.detail + address.next_step


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


@pytest.mark.parametrize("status", [401, 404])
def test_a_refusal_with_another_status_is_told_apart_by_what_is_accepted(status: int) -> None:
    service = ServiceProfile(forbidden_status=status)
    with account(service=service, permissions=VIEWS[1:]) as (_, client):
        report = doctor(client)
    assert result(report, VIEWS[0]).state == "warning"
    assert report.status == 0


def test_what_reading_cannot_tell_is_listed() -> None:
    with account() as (_, client):
        report = doctor(client)
    listed = result(report, "Other open points")
    assert listed.state == "unknown"
    for field in ("put", "inactive_in_lists", "name_split", "signature_scheme"):
        assert field in listed.detail
    output = {c.check.removeprefix("Profile: ") for c in report.checks if "Profile: " in c.check}
    assert all(
        (field in output) is not (field in listed.detail.split(": ")[1].split(", "))
        for field in ServiceProfile.model_fields
    )


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


def test_nobody_there_is_one_problem_and_no_guess() -> None:
    report = checkup("http://127.0.0.1:9")
    assert states(report) == {"Base address": "problem"}
    assert "does not answer" in result(report, "Base address").detail
    assert report.status == 1
    assert MARKER not in _everything(report)


@pytest.mark.parametrize(
    ("status", "kind", "body"),
    [
        (200, "text/html", "<h1>Welcome {token}</h1>"),
        (200, "application/json", '{"hello": "{token}"}'),
        (200, "application/json", ""),
        (503, "text/plain", "{token}"),
        (302, "text/plain", "{token}"),
    ],
)
def test_another_service_at_the_address_is_a_problem(status: int, kind: str, body: str) -> None:
    with answering(status, kind, body) as base_url:
        report = checkup(base_url)
    assert result(report, "Base address").state == "problem"
    assert report.status == 1
    assert MARKER not in _everything(report)


@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 409, 422])
def test_a_service_that_echoes_the_token_does_not_make_the_doctor_show_it(status: int) -> None:
    success = "true" if status == 200 else "false"
    body = (
        f'{{"success": {success}, "message": "no {{token}}", "pagination": '
        '{"page": 1, "pageSize": 1, "totalCount": 1, "totalPages": 1}, '
        '"data": [{"id": "{token}", "updated_at": "{token}", "tags": ["{token}"]}]}'
    )
    with answering(status, "application/json", body) as base_url:
        report = checkup(base_url)
    assert MARKER not in _everything(report)


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


def test_a_certificate_nobody_trusts_is_a_problem(authority: trustme.CA) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
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


def test_the_text_is_stable_and_holds_nothing_a_terminal_obeys() -> None:
    assert repr(STRANGE) == (
        "Checkup of account <b>1</b>\n"
        "  problem  TLS           <script>alert(1)</script>⟨U+001B⟩[2J↵line\n"
        "                         -> do & see\n"
        "  ok       Base address  fine"
    )
    assert str(STRANGE) == repr(STRANGE)


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


def test_the_notebook_form_is_escaped() -> None:
    output = html_of(STRANGE)
    assert "<script" not in output and "<b>" not in output
    assert html.unescape(output.replace("<wbr>", "")).count("<script>alert(1)</script>") == 1


def test_the_notebook_form_folds_what_is_as_assumed_and_what_could_not_be_told() -> None:
    calm = Check("Profile: put", "ok", "merge as assumed")
    unusual = Check("Profile: page_base", "warning", "0, not 1")
    untold = Check("Chat Flows, Add", "unknown", "not checked: it would change data")
    output = html_of(CheckupReport("an account", (calm, unusual, untold)))
    front, points, rest = output.split("<details>")
    assert "page_base" in front and "put" not in front
    assert "1 open points look as assumed" in points and "put" in points
    assert "1 check could not be determined" in rest and "it would change" in rest


def test_the_frame_has_one_row_for_each_check() -> None:
    frame = STRANGE.frame()
    assert list(frame.columns) == ["state", "detail", "next_step"]
    assert list(frame.index) == ["TLS", "Base address"]
    assert frame.loc["TLS", "next_step"] == "do & see"
    assert CheckupReport("x", ()).frame().empty


def test_the_doctor_takes_a_name_or_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert chatkit.doctor is doctor
    assert doctor().status == 0
    assert "sandbox" in capsys.readouterr().out
    with pytest.raises(chatkit.errors.SettingsError, match="no connection 'nobody'"):
        doctor("nobody")
