"""Template contents: one text in one language of a template (section Template content)."""

import json
from collections.abc import Mapping
from typing import Any

from chatkit.localization.checks import check_content
from chatkit.sandbox.delivery import EventPublisher
from chatkit.sandbox.replies import RefusedRequest, ServiceAnswer, dumps
from chatkit.sandbox.request import parameters
from chatkit.sandbox.resource import (
    FLAG,
    TEXT,
    WHOLE,
    AllowedCall,
    Anything,
    Field,
    Fields,
    ListOf,
    Plain,
    ResourceHandler,
    String,
    TextMap,
    Tools,
)
from chatkit.sandbox.store import StoredRecord

LANGUAGE = Fields.all_of((Field("code", TEXT), Field("label", TEXT)))
_LISTED = ("id", "lang_code", "text", "is_draft")
# What a content has in each field that was not sent.
_DEFAULTS: dict[str, Any] = {
    "parameter_format": "TEXT",
    "text": "",
    "variables": {},
    "footer": "",
    "is_draft": False,
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
    "headers": [],
    "buttons": [],
}


# --- fields ---------------------------------------------------------------------------


def _optional(name: str) -> Field:
    return Field(name, TEXT, nullable=True)


def _header(closed: bool) -> Fields:
    return Fields(
        (
            Field("type", String(choices=("text", "image", "video", "document"))),
            _optional("text"),
            Field("text_variable", Anything(), nullable=True),
            Field("parameter", Anything(), nullable=True),
            _optional("link"),
            _optional("file_name"),
        ),
        frozenset({"type"}),
        closed,
    )


def _button(closed: bool) -> Fields:
    kinds = ("custom", "visit_website", "call_phone", "copy_offer_code", "view_catalog")
    return Fields(
        (
            Field("type", String(choices=kinds)),
            Field("label", TEXT),
            _optional("value"),
            _optional("country_code"),
            _optional("url_type"),
            Field("dynamic_url", Anything(), nullable=True),
        ),
        frozenset({"type"}),
        closed,
    )


def _fields(lang_code: String, closed: bool) -> tuple[Field, ...]:
    """The fields of a content, all but its id."""
    app = Fields((Field("package_name", TEXT), Field("signature_hash", TEXT)), closed=closed)
    return (
        Field("lang_code", lang_code),
        Field("parameter_format", TEXT),
        Field("text", TEXT, note="The body; placeholders are {{1}}, {{2}}, ..."),
        Field(
            "variables",
            TextMap("^[0-9]+$", "keys must be placeholder numbers"),
            note="Placeholder number to sample value.",
        ),
        Field("footer", TEXT),
        Field("is_draft", FLAG),
        Field("is_catalog", FLAG),
        _optional("catalog_format"),
        Field("connected_catalog_id", Plain(("string", "number")), nullable=True),
        Field("is_catalog_connected", FLAG),
        Field("is_custom_validity_period", FLAG),
        Field("validity_period_seconds", WHOLE, nullable=True),
        _optional("auth_delivery_method"),
        Field("auth_add_security_recommendation", FLAG),
        Field("auth_add_code_expiration", FLAG),
        Field("auth_code_expiration_seconds", WHOLE, nullable=True),
        Field("auth_apps", ListOf(app), nullable=True),
        Field("headers", ListOf(_header(closed))),
        Field("buttons", ListOf(_button(closed))),
    )


# --- operations -----------------------------------------------------------------------


class TemplatesHandler(ResourceHandler):
    """The contents of an account's templates; templates themselves are made elsewhere."""

    noun = "Template content"
    key_field = "lang_code"
    conflicts = ("create",)
    clashes = ("update",)
    paged = False

    def __init__(self, tools: Tools, publisher: EventPublisher) -> None:
        super().__init__(tools)
        self._publisher = publisher
        profile = self.profile
        closed = profile.unknown_fields == "refuse"
        if profile.unknown_language == "refuse":
            lang_code = String(
                choices=[code for code, _ in LANGUAGES],
                says="must be a code of the language lookup",
            )
        else:
            lang_code = String(pattern=r"^[A-Za-z]", says="must begin with a letter")
        fields = _fields(lang_code, closed)
        needed = frozenset(profile.content_requires) | {"lang_code"}
        self.create_body = Fields(fields, needed, closed)
        self.update_body = Fields(fields, self._required_again(needed), closed)
        whole = (self._id_field(), *_fields(TEXT, closed=False))
        self.record = self.created = self.updated = Fields.all_of(whole)
        self.filter_param = profile.search_param
        self.item = Fields.all_of(field for field in whole if field.name in _LISTED)
        self.table = self.store.table("contents", first_id=7001)
        self._languages = dumps(
            [{"code": code, "label": label} for code, label in LANGUAGES]
        ).encode()

    def codes(self, account: str) -> list[str]:
        """Name the templates of an account that have contents."""
        scopes = (scope.split("/", 1) for scope in self.table.scopes())
        return sorted(code for owner, code in scopes if owner == account)

    def languages(self, call: AllowedCall) -> ServiceAnswer:
        """Answer with all languages a content can have."""
        self._check_known(call)
        return self.replies.data(self._languages)

    def list(self, call: AllowedCall) -> ServiceAnswer:
        """Answer with the contents of a template, all or those that hold the search term."""
        self._check_known(call)
        term = self._filter(parameters(call.query)).casefold()
        items = [row.item for row in self.table.rows(_scope(call))]
        if term:
            items = [item for item in items if _holds(json.loads(item), term)]
        return self.replies.data(f"[{','.join(items)}]".encode())

    def create(self, call: AllowedCall) -> ServiceAnswer:
        """Make the content of one language."""
        given = self.create_body.read(call.body)
        scope, lang_code = _scope(call), given["lang_code"]
        row = self.table.find(scope, lang_code)
        if row is not None and row.active:
            match self.profile.duplicate_content:
                case "conflict":
                    raise RefusedRequest("conflict", "The template has a content in this language")
                case "invalid":
                    raise RefusedRequest("invalid", "The template has a content in this language")
            content = self._rewrite(row, _DEFAULTS | given)
        else:
            content_id = self.table.next_id()
            content = _shown({"id": self._shown_id(content_id), **_complete(given)})
            self.clock.stamp()
            self.table.insert(content_id, scope, lang_code, *_texts(content))
        self._publisher.content(call.grant.account, call.values[0], content, "create")
        return self.replies.data(dumps(content).encode(), 201, "Template content created")

    def update(self, call: AllowedCall) -> ServiceAnswer:
        """Change the content of one language."""
        row = self.find(call)
        given = self.update_body.read(call.body)
        if given.get("lang_code", row.key) != row.key:
            raise RefusedRequest("clash", "The body names another language than the path")
        if self.profile.put == "replace":
            # A content cannot be without what creating it requires: that stays.
            before = json.loads(row.shown)
            kept = {name: before[name] for name in self.create_body.required}
            given = _DEFAULTS | kept | given
        content = self._rewrite(row, given)
        self._publisher.content(call.grant.account, call.values[0], content, "update")
        return self.replies.updated(dumps(content).encode(), "Template content updated")

    def delete(self, call: AllowedCall) -> ServiceAnswer:
        """Make the content of one language inactive."""
        row = self._stored(call)
        answer = super().delete(call)
        if row is not None and row.active:
            self._publisher.content(
                call.grant.account, call.values[0], json.loads(row.shown), "delete"
            )
        return answer

    def insert_copy(self, account: str, code: str, record: Mapping[str, Any]) -> None:
        """Store a content of another account as it is, under its id; the newest ids last."""
        content_id = self._copied_id(record)
        given = {n: v for n, v in record.items() if n not in ("id", "template_code")}
        shown = {"id": self._shown_id(content_id), **_complete(given)}
        texts = _texts(_shown(shown))
        self.table.insert(content_id, f"{account}/{code}", given["lang_code"], *texts)

    def _rewrite(self, row: StoredRecord, given: dict[str, Any]) -> dict[str, Any]:
        content = _shown(json.loads(row.shown) | given)
        self.clock.stamp()
        self.table.rewrite(row, row.key, *_texts(content))
        return content

    def _stored(self, call: AllowedCall) -> StoredRecord | None:
        return self.table.find(_scope(call), call.values[1])

    def _check_known(self, call: AllowedCall) -> None:
        if "unknown_template_404" in self.quirks and not self.table.knows(_scope(call)):
            raise RefusedRequest("not_found", "Template not found")


def _scope(call: AllowedCall) -> str:
    """Contents stand in the list of their template."""
    return f"{call.grant.account}/{call.values[0]}"


def _complete(given: dict[str, Any]) -> dict[str, Any]:
    return {"lang_code": given["lang_code"], **_DEFAULTS, **given}


def _shown(content: dict[str, Any]) -> dict[str, Any]:
    """Show every nullable field of headers and buttons, as null when it was not sent."""
    for name, fields in (("headers", _header(False)), ("buttons", _button(False))):
        content[name] = [
            {f.name: item.get(f.name) for f in fields.fields if f.nullable or f.name in item} | item
            for item in content[name] or []
        ]
    return content


def _texts(content: dict[str, Any]) -> tuple[str, str, str]:
    """The list item, the rest, and what upstream would say."""
    item = {name: content[name] for name in _LISTED}
    more = {name: value for name, value in content.items() if name not in _LISTED}
    return dumps(item), dumps(more), _findings(content)


def _findings(content: dict[str, Any]) -> str:
    """What upstream would say of a content: its published rules stand in `localization`."""
    told = [
        {
            "code": each.code,
            "severity": "error" if each.refused else "warning",
            "pointer": each.pointer,
            "message": each.message,
        }
        for each in check_content(content)
        if each.severity != "note"
    ]
    return dumps({"findings": told})


def _holds(item: dict[str, Any], term: str) -> bool:
    return term in item["text"].casefold() or term in item["lang_code"].casefold()


# --- languages: 113 codes of the upstream platform and their English names ------------

_TABLE = """
af Afrikaans | sq Albanian | ar Arabic | ar_EG Arabic (EGY) | ar_LB Arabic (LBN) |
ar_MA Arabic (MAR) | ar_QA Arabic (QAT) | ar_SA Arabic (SAU) | ar_AE Arabic (UAE) |
az Azerbaijani | be_BY Belarusian | bn Bengali | bn_IN Bengali (IND) | bg Bulgarian | ca Catalan |
zh_CN Chinese (CHN) | zh_HK Chinese (HKG) | zh_TW Chinese (TAI) | hr Croatian | cs Czech |
da Danish | prs_AF Dari | nl Dutch | nl_BE Dutch (BEL) | en English | en_AU English (AUS) |
en_CA English (CAN) | en_GH English (GHA) | en_IN English (IND) | en_IE English (IRL) |
en_JM English (JAM) | en_MY English (MYS) | en_NZ English (NZL) | en_QA English (QAT) |
en_SG English (SGP) | en_AE English (UAE) | en_UG English (UGA) | en_GB English (UK) |
en_US English (US) | en_ZA English (ZAF) | et Estonian | fil Filipino | fi Finnish | fr French |
fr_BE French (BEL) | fr_CA French (CAN) | fr_CH French (CHE) | fr_CI French (CIV) |
fr_MA French (MAR) | ka Georgian | de German | de_AT German (AUT) | de_CH German (CHE) |
el Greek | gu Gujarati | ha Hausa | he Hebrew | hi Hindi | hu Hungarian | id Indonesian |
ga Irish | it Italian | ja Japanese | kn Kannada | kk Kazakh | rw_RW Kinyarwanda | ko Korean |
ky_KG Kyrgyz | lo Lao | lv Latvian | lt Lithuanian | mk Macedonian | ms Malay | ml Malayalam |
mr Marathi | nb Norwegian | ps_AF Pashto | fa Persian | pl Polish | pt_BR Portuguese (BR) |
pt_PT Portuguese (POR) | pa Punjabi | ro Romanian | ru Russian | sr Serbian | si_LK Sinhala |
sk Slovak | sl Slovenian | es Spanish | es_AR Spanish (ARG) | es_CL Spanish (CHL) |
es_CO Spanish (COL) | es_CR Spanish (CRI) | es_DO Spanish (DOM) | es_EC Spanish (ECU) |
es_HN Spanish (HND) | es_MX Spanish (MEX) | es_PA Spanish (PAN) | es_PE Spanish (PER) |
es_ES Spanish (SPA) | es_UY Spanish (URY) | es_VE Spanish (VEN) | sw Swahili | sv Swedish |
ta Tamil | te Telugu | th Thai | tr Turkish | uk Ukrainian | ur Urdu | uz Uzbek | vi Vietnamese |
zu Zulu
"""


def _read(entry: str) -> tuple[str, str]:
    code, _, label = entry.strip().partition(" ")
    return code, label


LANGUAGES = tuple(_read(entry) for entry in _TABLE.split("|"))
