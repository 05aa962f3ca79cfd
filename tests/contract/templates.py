"""Facts about template contents."""

from __future__ import annotations

import secrets
from contextlib import suppress
from functools import cached_property
from typing import Any

from contract.account import Account, Caller, Reply, ResourceCalls
from contract.fact import (
    ANYTHING,
    FLAG,
    TEXT,
    WHOLE,
    Facts,
    Unknown,
    ValueKind,
    array_of,
    expect,
    object_of,
    pattern,
    unknown,
)

#: The two languages in which contents are made: those the document has as examples.
LANGUAGES = ("en_US", "en")


def content_body(lang_code: str, text: str) -> dict[str, Any]:
    """Return the body of a create or an update, with every field."""
    return {
        "lang_code": lang_code,
        "parameter_format": "TEXT",
        "text": text,
        "variables": {"1": "Ana", "2": "1001"},
        "footer": "chatkit contract",
        "is_draft": True,
        "is_catalog": False,
        "catalog_format": None,
        "connected_catalog_id": None,
        "is_catalog_connected": False,
        "is_custom_validity_period": False,
        "validity_period_seconds": None,
        "auth_delivery_method": None,
        "auth_add_security_recommendation": False,
        "auth_add_code_expiration": False,
        "auth_code_expiration_seconds": None,
        "auth_apps": None,
        "headers": [HEADER],
        "buttons": [
            BUTTON,
            {**BUTTON, "type": "visit_website", "label": "Look", "url_type": "static",
             "value": "https://contract.example/"},
            {**BUTTON, "type": "call_phone", "label": "Call", "country_code": "+1",
             "value": "2025550143"},
        ],
    }  # fmt: skip


HEADER = {"type": "text", "text": "Hello", "text_variable": None, "parameter": None,
          "link": None, "file_name": None}  # fmt: skip
BUTTON = {"type": "custom", "label": "Stop", "value": None, "country_code": None,
          "url_type": None, "dynamic_url": None}  # fmt: skip


class TemplateCalls(ResourceCalls):
    def __init__(self, account: Account, suffix: str = "") -> None:
        super().__init__(account)
        self.path = (
            "templates",
            f"{account.marker} {suffix}".strip().replace(" ", "_"),
            "contents",
        )

    def new(self, lang_code: str, caller: Caller | None = None, **fields: Any) -> Reply:
        """Create a content."""
        sent = {
            **content_body(lang_code, f"Hello {{{{1}}}}, {self.account.word} {{{{2}}}}."),
            **fields,
        }
        return (caller or self.caller).create(self.path, sent)

    def create_as(self, caller: Caller) -> Reply:
        """Create the content of one more template with the token of a caller."""
        return TemplateCalls(self.account, secrets.token_hex(2)).new(LANGUAGES[0], caller)

    @cached_property
    def created(self) -> Reply:
        """The content of a language."""
        return self.new(LANGUAGES[0])

    @cached_property
    def removable(self) -> Reply:
        """The content of another language; it is deleted later."""
        return self.new(LANGUAGES[1], text="Nothing {{1}} to find {{2}}.")

    def key(self, created: Reply) -> Any:
        """The language of a content that was created."""
        created.require_done()
        return (created.call.body or {})["lang_code"]

    @property
    def first(self) -> Any:
        """The language of the first content: no call lists the templates of an account."""
        return self.key(self.created)

    @cached_property
    def languages(self) -> Reply:
        """The language lookup."""
        with suppress(Unknown):
            _ = self.created  # a template without contents may count as unknown
        return self.caller.languages(self.path[1])

    @cached_property
    def listed(self) -> Reply:
        """The list of contents."""
        with suppress(Unknown):
            _ = self.created, self.removable
        return self.caller.get(*self.path)

    @cached_property
    def created_twice(self) -> Reply:
        """The list of another template, whose one content was created twice."""
        other = TemplateCalls(self.account, "twice")
        other.created.require_done()
        other.new(LANGUAGES[0])
        return self.caller.get(*other.path)

    @property
    def changes(self) -> dict[str, Any]:
        """The body of an update of the first content: another text, and no draft."""
        _ = self.read  # what was there before
        text = f"Hello again {{{{1}}}}, {self.account.word} is {{{{2}}}}."
        return {**content_body(self.first, text), "is_draft": False}

    def create_invalid(self, **fields: Any) -> Reply:
        """Create a content with an error, in the language that is free again."""
        if not self.gone.refused:
            unknown("a content could not be deleted first")
        return self.new(LANGUAGES[1], **fields)

    def expect_template(self, reply: Reply) -> None:
        """Raise `Differs` unless a call succeeded, `Unknown` if the template is the reason."""
        known = self.account.writes and self.created.ok
        if not known and reply.status == self.account.profile.not_found_status:
            unknown("the template is not known, and the API cannot make one")
        reply.expect_success()


_WHERE = "get create update"
_OPTIONAL = {
    "text": TEXT.or_null(),
    "text_variable": ANYTHING,
    "parameter": ANYTHING,
    "link": TEXT.or_null(),
    "file_name": TEXT.or_null(),
}
_HEADER = object_of({"type": pattern("text|image|video|document", ""), **_OPTIONAL})
_BUTTON = object_of(
    {
        "type": pattern("custom|visit_website|call_phone|copy_offer_code|view_catalog", ""),
        "label": TEXT,
        "value": TEXT.or_null(),
        "country_code": TEXT.or_null(),
        "url_type": TEXT.or_null(),
        "dynamic_url": ANYTHING,
    }
)
_APPS = array_of(object_of({"package_name": TEXT, "signature_hash": TEXT}), "an array of apps")
_VARIABLES = ValueKind(
    "an object from placeholder numbers to sample text",
    lambda value: (
        type(value) is dict
        and all(key.isdigit() and type(text) is str for key, text in value.items())
    ),
)

facts = Facts(TemplateCalls)

facts.fields("Template content", "content", [
    (28, "id", WHOLE, "list get create update"),
    (29, "lang_code text", TEXT, "list get create update"),
    (30, "is_draft", FLAG, "list get create update"),
    (31, "parameter_format footer", TEXT, _WHERE),
    (32, "variables", _VARIABLES, _WHERE),
    (33, "is_catalog is_catalog_connected is_custom_validity_period "
         "auth_add_security_recommendation auth_add_code_expiration", FLAG, _WHERE),
    (34, "catalog_format auth_delivery_method", TEXT.or_null(), _WHERE),
    (35, "connected_catalog_id", ValueKind("text, a number or null",
                                      lambda v: type(v) in (str, int, float, type(None))), _WHERE),
    (36, "validity_period_seconds auth_code_expiration_seconds", WHOLE.or_null(), _WHERE),
    (37, "auth_apps", _APPS.or_null(), _WHERE),
    (38, "headers", array_of(_HEADER, "an array of headers, of the four types"), _WHERE),
    (39, "buttons", array_of(_BUTTON, "an array of buttons, of the five types"), _WHERE),
])  # fmt: skip


@facts(40, "Template contents")
def languages(calls: TemplateCalls) -> None:
    """GET …/contents/lookups/languages answers with an array of code and label, both text."""
    calls.expect_template(calls.languages)
    calls.languages.expect_list()
    item = object_of({"code": TEXT, "label": TEXT})
    expect(all(map(item.accepts, calls.languages.data)), "an item is not code and label")


@facts(41, "Template contents")
def list_contents(calls: TemplateCalls) -> None:
    """GET …/contents answers with an array of contents."""
    calls.expect_template(calls.listed)
    calls.listed.expect_list()
    if calls.account.writes:
        calls.created.require_done()
        listed = [row.get("lang_code") for row in calls.listed.rows()]
        expect(LANGUAGES[0] in listed, "a content that was created is not in it")


@facts(42, "Template contents")
def search_contents(calls: TemplateCalls) -> None:
    """The list can be searched."""
    calls.created.require_done()
    languages = [row.get("lang_code") for row in calls.filtered("search_param", calls.account.word)]
    expect(LANGUAGES[0] in languages, "a word of its text does not find a content")
    expect(LANGUAGES[1] not in languages, "a content without the word matches, too")


@facts(43, "Template contents")
def get_content(calls: TemplateCalls) -> None:
    """GET …/contents/:langCode answers with the content of that language."""
    calls.read.expect_success()
    output = calls.read.expect_object()
    expect(output.get("lang_code") == LANGUAGES[0], "its lang_code is a different one")


@facts(44, "Template contents")
def create_content(calls: TemplateCalls) -> None:
    """POST …/contents takes all fields but id and answers with the content."""
    calls.expect_template(calls.created)
    calls.created.expect_object()


@facts(45, "Template content")
def content_comes_back(calls: TemplateCalls) -> None:
    """A get shows what was sent, in every field."""
    output, sent = calls.read.record(), calls.created.call.body or {}
    changed = [name for name in sent if name in output and output[name] != sent[name]]
    expect(not changed, f"{', '.join(changed)} came back otherwise")


@facts(46, "Template content")
def one_content_per_language(calls: TemplateCalls) -> None:
    """A template has one content per language, even when it is created twice."""
    same = [row for row in calls.created_twice.rows() if row.get("lang_code") == LANGUAGES[0]]
    expect(len(same) == 1, "the list has two of one language")


@facts(47, "Template content")
def language_codes(calls: TemplateCalls) -> None:
    """A language code is one such as en or en_US, and comes back as it was sent."""
    for reply, lang_code in zip((calls.created, calls.removable), LANGUAGES, strict=True):
        expect(reply.record().get("lang_code") == lang_code, f"{lang_code} came back otherwise")


@facts(48, "Template content")
def header_types(calls: TemplateCalls) -> None:
    """A header is a text, image, video or document and nothing else."""
    reply = calls.create_invalid(headers=[{**HEADER, "type": "contract"}])
    reply.expect_refusal("a header of an unknown type")


@facts(49, "Template content")
def button_types(calls: TemplateCalls) -> None:
    """A button has one of the five types."""
    reply = calls.create_invalid(buttons=[{**BUTTON, "type": "contract"}])
    reply.expect_refusal("a button of an unknown type")


@facts(50, "Template contents")
def update_content(calls: TemplateCalls) -> None:
    """PUT …/contents/:langCode answers with the content."""
    calls.updated.expect_updated()


@facts(51, "Template contents")
def update_changes_content(calls: TemplateCalls) -> None:
    """An update changes the content."""
    sent = calls.updated.call.body or {}
    expect(calls.changed.get("text") == sent["text"], "the text is not what was sent")


@facts(52, "States")
def is_draft_is_set_by_the_client(calls: TemplateCalls) -> None:
    """is_draft is set by whoever sends it."""
    expect(calls.read.record().get("is_draft") is True, "it was created with true")
    expect(calls.changed.get("is_draft") is False, "it was updated to false")


@facts(53, "Template contents")
def delete_content(calls: TemplateCalls) -> None:
    """DELETE …/contents/:langCode answers with success, a message and data null."""
    calls.deleted.expect_deleted()


@facts(54, "Template contents")
def deleted_content_is_gone(calls: TemplateCalls) -> None:
    """A content that was deleted is no longer there."""
    calls.gone.expect_refusal("a get of a deleted content")
