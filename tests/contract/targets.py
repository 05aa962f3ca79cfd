"""The services that `make test` checks: the sandbox in this process, over HTTP, and unusual."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from contract.account import Account

import chatkit
from chatkit.sandbox.interface import Quirk

#: A service that differs at many points that the API document leaves open, and at no other.
UNUSUAL = chatkit.ServiceProfile(
    put="replace",
    put_requires="create_fields",
    unknown_fields="refuse",
    page_base=0,
    page_past_end="refuse",
    name_split="first_last",
    duplicate_content="replace",
    duplicate_flow_name="refuse",
    contact_key="country_code_and_number",
    search_param="q",
    status_param="wa_status",
    restore_keeps="nothing",
    inactive_in_lists=True,
    inactive_readable=True,
    duplicate_webhook_url="allow",
    not_found_status=410,
    validation_status=400,
    forbidden_status=404,
)
UNUSUAL_QUIRKS: tuple[Quirk, ...] = (
    "unknown_template_404",
    "html_errors",
    "raw_flow_json",
    "repeated_deletes",
    "secret_in_update",
    "constant_updated_at",
)
TARGETS = ("in process", "over HTTP", "unusual")


@contextmanager
def target(name: str) -> Iterator[Account]:
    profile = UNUSUAL if name == "unusual" else None
    quirks = UNUSUAL_QUIRKS if name == "unusual" else ()
    with chatkit.Sandbox(seed="demo", profile=profile, quirks=quirks) as sandbox:
        if name == "over HTTP":
            with (
                sandbox.serve() as base_url,
                chatkit.Client(base_url, sandbox.account_id, sandbox.token) as client,
                whole(client, sandbox) as account,
            ):
                yield account
        else:
            with chatkit.connect(sandbox) as client, whole(client, sandbox) as account:
                yield account


def whole(client: chatkit.Client, sandbox: chatkit.Sandbox) -> Account:
    """Return an account of a sandbox on which every fact can be known."""

    def send_event(kind: str) -> None:
        headers = {
            "authorization": f"Bearer {sandbox.admin_token}",
            "content-type": "application/json",
        }
        body = json.dumps({"kind": kind, "payload": {}}).encode()
        assert sandbox.answer("POST", "/_sandbox/events", headers, body)[0] == 200

    return Account(
        client,
        writes=True,
        make_token=lambda permissions: sandbox.make_token(*permissions),
        send_event=send_event,
    )
