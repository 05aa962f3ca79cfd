"""The OpenAPI document: complete, valid, and kept under attack."""

import json
import sys

import processes
import pytest
from caller import ROOT
from internals import middleware_of, service_of
from profiles import Service
from volume import FULL, volume

from chatkit import Sandbox, ServiceProfile
from chatkit.sandbox.openapi import build_openapi_document
from chatkit.sandbox.service import OPERATIONS

SCHEMATHESIS = [sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()"]

# An unknown record is a 404, because a check knows no other status.
# All checks of schemathesis are on, also use_after_free: a deleted record, even a contact
# that stays stored, is as unknown as one that never was, unless `inactive_readable` or
# `repeated_deletes` says otherwise.
PROFILES = {
    "default": {},
    "other": {
        "validation_status": 400,
        "html_errors": True,
        "no_body": True,
        "text_ids": True,
        "page_base": 0,
        "search_param": "q",
        "status_param": None,
        "put": "replace",
        "put_requires": "create_fields",
        "unknown_fields": "refuse",
        "flow_json_in_get": False,
        "unknown_language": "accept",
        "duplicate_content": "replace",
    },
}


def served(sandbox):
    status, headers, body = sandbox.answer("GET", "/openapi.json", {}, b"")
    assert (status, headers["content-type"]) == (200, "application/json")
    return json.loads(body)


def test_the_document_has_every_operation_and_its_permission():
    with Sandbox() as sandbox:
        made = served(sandbox)
        service = service_of(sandbox)
    assert made == build_openapi_document(service.resources, service.profile, service.replies)
    assert made["openapi"] == "3.1.0"
    described = {
        (method.upper(), path): operation["description"]
        for path, operations in made["paths"].items()
        for method, operation in operations.items()
    }
    assert len(described) == len(OPERATIONS) == 20
    for (_, path), description in described.items():
        assert path.startswith("/api/business/public/channels/chat/accounts/{accountId}/")
        assert "Needs the permission `Chat " in description


@pytest.mark.parametrize(("search", "status"), [("search", "status"), ("q", None), (None, "x")])
def test_parameters_are_named_as_the_profile_names_them(search, status):
    with Sandbox(profile=ServiceProfile(search_param=search, status_param=status)) as sandbox:
        paths = served(sandbox)["paths"]
    for resource, cut_by in (("contacts", search), ("flows", status)):
        parameters = paths[f"{ROOT}{{accountId}}/{resource}"]["get"]["parameters"]
        names = [parameter["name"] for parameter in parameters if parameter["in"] == "query"]
        assert names == ["page", "pageSize", *([cut_by] if cut_by else [])]


def of_one_account(made, account_id):
    """The document as the owner of one account sees it: an attack on others is only refused."""
    made = json.loads(json.dumps(made).replace("{accountId}", account_id))
    for operations in made["paths"].values():
        for operation in operations.values():
            operation["parameters"] = [
                parameter
                for parameter in operation["parameters"]
                if parameter["name"] != "accountId"
            ]
    return made


@pytest.mark.timeout(300)  # only what hangs ends there, however busy the machine
@pytest.mark.parametrize(
    ("profile", "examples"), [("default", volume(3, 50)), *([("other", 20)] if FULL else [])]
)
def test_schemathesis_finds_nothing(profile, examples, tmp_path, monkeypatch):
    # Valid data may be refused with 409, but not as the eleventh webhook is.
    monkeypatch.setattr("chatkit.sandbox.webhooks.MOST", 10**6)
    points = PROFILES[profile]
    with Service.of(**points).sandbox("demo") as sandbox, sandbox.serve() as url:
        attacked = tmp_path / "openapi.json"
        attacked.write_text(json.dumps(of_one_account(served(sandbox), sandbox.account_id)))
        options = ["run", str(attacked), "--url", url, "--checks", "all"]
        options += ["--max-examples", str(examples)]
        options += ["--header", f"Authorization: Bearer {sandbox.token}", "--seed", "20260105"]
        # Two workers are threads of one process, in which Python 3.11 parses its own source: at
        # once, now and then, that is a SystemError (AST constructor recursion depth mismatch).
        options += ["--workers", "1", "--no-color", "--warnings", "off"]
        options += ["--suppress-health-check", "all"]  # a busy machine is no finding
        done = processes.run(
            [*SCHEMATHESIS, *options], cwd=tmp_path, capture_output=True, text=True, timeout=280
        )
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        assert "Tested: 20" in done.stdout
        statuses = {entry.status for entry in middleware_of(sandbox).log}
        assert not {status for status in statuses if status is None or status >= 500}
