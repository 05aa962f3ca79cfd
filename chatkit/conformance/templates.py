"""Templates: facts about template contents, and the calls that tell them."""

from __future__ import annotations

import secrets
from contextlib import suppress
from functools import cached_property
from typing import Any

from chatkit.conformance.fact import (
    ANYTHING,
    FLAG,
    TEXT,
    WHOLE,
    Facts,
    NotTold,
    ValueKind,
    add_fields,
    array_of,
    expect,
    not_told,
    object_of,
    pattern,
)
from chatkit.conformance.trial import Caller, ResourceEvidence, Trial, TrialReply

#: The two languages in which contents are made: those the document has as examples.
LANGUAGES = ("en_US", "en")


def content_body(lang_code: str, text: str) -> dict[str, Any]:
    """The body of a create or an update, with every field."""
    return {
        "lang_code": lang_code,
        "parameter_format": "TEXT",
        "text": text,
        "variables": {"1": "Ana", "2": "1001"},
        "footer": "chatkit conformance",
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
             "value": "https://conformance.example/"},
            {**BUTTON, "type": "call_phone", "label": "Call", "country_code": "+1",
             "value": "2025550143"},
        ],
    }  # fmt: skip


HEADER = {"type": "text", "text": "Hello", "text_variable": None, "parameter": None,
          "link": None, "file_name": None}  # fmt: skip
BUTTON = {"type": "custom", "label": "Stop", "value": None, "country_code": None,
          "url_type": None, "dynamic_url": None}  # fmt: skip


class TemplateEvidence(ResourceEvidence):
    """Evidence about the contents of one template: each call is made once."""

    def __init__(self, trial: Trial, suffix: str = "") -> None:
        super().__init__(trial)
        self.path = ("templates", f"{trial.marker} {suffix}".strip().replace(" ", "_"), "contents")

    def new(self, lang_code: str, by: Caller | None = None, **fields: Any) -> TrialReply:
        """Create a content."""
        sent = {
            **content_body(lang_code, f"Hello {{{{1}}}}, {self.trial.word} {{{{2}}}}."),
            **fields,
        }
        return (by or self._call).create(self.path, sent)

    def another(self, by: Caller) -> TrialReply:
        """Create the content of one more template, as some caller."""
        return TemplateEvidence(self.trial, secrets.token_hex(2)).new(LANGUAGES[0], by)

    @cached_property
    def created(self) -> TrialReply:
        """The content of a language."""
        return self.new(LANGUAGES[0])

    @cached_property
    def doomed(self) -> TrialReply:
        """The content of another language; it is deleted later."""
        return self.new(LANGUAGES[1], text="Nothing {{1}} to find {{2}}.")

    def key(self, created: TrialReply) -> Any:
        """The language of a content that was created."""
        created.expect_done()
        return (created.call.body or {})["lang_code"]

    @property
    def first(self) -> Any:
        """The language of the first content: only a trial knows one of its template."""
        return self.key(self.created)

    @cached_property
    def languages(self) -> TrialReply:
        """The language lookup."""
        with suppress(NotTold):
            _ = self.created  # a template without contents may count as unknown
        return self._call.languages(self.path[1])

    @cached_property
    def listed(self) -> TrialReply:
        """The list of contents."""
        with suppress(NotTold):
            _ = self.created, self.doomed
        return self._call.get(*self.path)

    @cached_property
    def twice(self) -> TrialReply:
        """The list of another template, whose one content was created twice."""
        other = TemplateEvidence(self.trial, "twice")
        other.created.expect_done()
        other.new(LANGUAGES[0])
        return self._call.get(*other.path)

    @property
    def changes(self) -> dict[str, Any]:
        """The body of an update of the first content: another text, and no draft."""
        _ = self.read  # what was there before
        text = f"Hello again {{{{1}}}}, {self.trial.word} is {{{{2}}}}."
        return {**content_body(self.first, text), "is_draft": False}

    def refusal(self, **fields: Any) -> TrialReply:
        """Create a content with something wrong, in the language that is free again."""
        if not self.gone.refused:
            not_told("a content could not be deleted first")
        return self.new(LANGUAGES[1], **fields)

    def expect_known(self, reply: TrialReply) -> None:
        """Raise `Differs` unless a call succeeded, `NotTold` if the template is the reason."""
        known = self.trial.allow_writes and self.created.ok
        if not known and reply.status == self.trial.profile.not_found_status:
            not_told("the template is not known, and the API cannot make one")
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

facts = Facts(TemplateEvidence)

add_fields(facts, "Template content", "content", [
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
def languages(seen: TemplateEvidence) -> None:
    """GET …/contents/lookups/languages answers with an array of code and label, both text."""
    seen.expect_known(seen.languages)
    seen.languages.expect_list()
    item = object_of({"code": TEXT, "label": TEXT})
    expect(all(map(item.fits, seen.languages.data)), "an item is not code and label")


@facts(41, "Template contents")
def list_contents(seen: TemplateEvidence) -> None:
    """GET …/contents answers with an array of contents."""
    seen.expect_known(seen.listed)
    seen.listed.expect_list()
    if seen.trial.allow_writes:
        seen.created.expect_done()
        listed = [row.get("lang_code") for row in seen.listed.rows()]
        expect(LANGUAGES[0] in listed, "a content that was created is not in it")


@facts(42, "Template contents")
def search_contents(seen: TemplateEvidence) -> None:
    """The list can be searched."""
    seen.created.expect_done()
    found = [row.get("lang_code") for row in seen.filtered("search_param", seen.trial.word)]
    expect(LANGUAGES[0] in found, "a word of its text does not find a content")
    expect(LANGUAGES[1] not in found, "a content without the word is found, too")


@facts(43, "Template contents")
def get_content(seen: TemplateEvidence) -> None:
    """GET …/contents/:langCode answers with the content of that language."""
    seen.read.expect_success()
    shown = seen.read.expect_object()
    expect(shown.get("lang_code") == LANGUAGES[0], "its lang_code is another")


@facts(44, "Template contents")
def create_content(seen: TemplateEvidence) -> None:
    """POST …/contents takes all fields but id and answers with the content."""
    seen.expect_known(seen.created)
    seen.created.expect_object()


@facts(45, "Template content")
def content_comes_back(seen: TemplateEvidence) -> None:
    """A get shows what was sent, in every field."""
    shown, sent = seen.read.record(), seen.created.call.body or {}
    others = [name for name in sent if name in shown and shown[name] != sent[name]]
    expect(not others, f"{', '.join(others)} came back otherwise")


@facts(46, "Template content")
def one_content_per_language(seen: TemplateEvidence) -> None:
    """A template has one content per language, even when it is created twice."""
    same = [row for row in seen.twice.rows() if row.get("lang_code") == LANGUAGES[0]]
    expect(len(same) == 1, "the list has two of one language")


@facts(47, "Template content")
def language_codes(seen: TemplateEvidence) -> None:
    """A language code is one such as en or en_US, and comes back as it was sent."""
    for reply, lang_code in zip((seen.created, seen.doomed), LANGUAGES, strict=True):
        expect(reply.record().get("lang_code") == lang_code, f"{lang_code} came back otherwise")


@facts(48, "Template content")
def header_types(seen: TemplateEvidence) -> None:
    """A header is a text, image, video or document and nothing else."""
    reply = seen.refusal(headers=[{**HEADER, "type": "conformance"}])
    reply.expect_refusal("a header of another type")


@facts(49, "Template content")
def button_types(seen: TemplateEvidence) -> None:
    """A button has one of the five types."""
    reply = seen.refusal(buttons=[{**BUTTON, "type": "conformance"}])
    reply.expect_refusal("a button of another type")


@facts(50, "Template contents")
def update_content(seen: TemplateEvidence) -> None:
    """PUT …/contents/:langCode answers with the content."""
    seen.updated.expect_updated("", seen.trial.profile)


@facts(51, "Template contents")
def update_changes_content(seen: TemplateEvidence) -> None:
    """An update changes the content."""
    sent = seen.updated.call.body or {}
    expect(seen.changed.get("text") == sent["text"], "the text is not what was sent")


@facts(52, "States")
def is_draft_is_set_by_the_client(seen: TemplateEvidence) -> None:
    """is_draft is set by whoever sends it."""
    expect(seen.read.record().get("is_draft") is True, "it was created with true")
    expect(seen.changed.get("is_draft") is False, "it was updated to false")


@facts(53, "Template contents")
def delete_content(seen: TemplateEvidence) -> None:
    """DELETE …/contents/:langCode answers with success, a message and data null."""
    seen.deleted.expect_deleted(seen.trial.profile)


@facts(54, "Template contents")
def deleted_content_is_gone(seen: TemplateEvidence) -> None:
    """A content that was deleted is no longer there."""
    seen.gone.expect_refusal("a get of a deleted content")
