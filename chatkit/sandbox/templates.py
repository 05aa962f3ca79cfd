"""Template contents: one text in one language of a template (section Template content)."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from chatkit.sandbox.interface import (
    Operation,
    RefusedRequest,
    ServiceAnswer,
    dumps,
    make_operations,
    parse_query,
)
from chatkit.sandbox.resource import AllowedCall, Fields, ResourceHandler
from chatkit.sandbox.store import StoredRecord

if TYPE_CHECKING:
    from chatkit.sandbox.service import Service

# 113 codes of the upstream platform and their English names.
LANGUAGES: dict[str, str] = json.loads(Path(__file__).with_name("languages.json").read_bytes())


# --- fields ---------------------------------------------------------------------------


def _validate_language(code: str) -> str:
    """Return a known language code; raise ValueError for another one."""
    if code not in LANGUAGES:
        raise ValueError
    return code


def _check_catalog_id(value: object) -> object:
    """Return a text, a number or None; raise ValueError for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | None):
        raise ValueError
    return value


class Language(Fields):
    """A language of the lookup."""

    code: str
    label: str


class HeaderFields(Fields):
    """A header of a content."""

    type: Literal["text", "image", "video", "document"]
    text: str | None = None
    text_variable: Any = None
    parameter: Any = None
    link: str | None = None
    file_name: str | None = None


class ButtonFields(Fields):
    """A button of a content."""

    type: Literal["custom", "visit_website", "call_phone", "copy_offer_code", "view_catalog"]
    label: str = ""
    value: str | None = None
    country_code: str | None = None
    url_type: str | None = None
    dynamic_url: Any = None


class AppFields(Fields):
    """An app that a code is handed to."""

    package_name: str = ""
    signature_hash: str = ""


class ContentFields(Fields):
    """A content without its id; the defaults are what it has in fields that were not sent."""

    lang_code: str = Field("", description="must begin with a letter", pattern="^[A-Za-z]")
    parameter_format: str = "TEXT"
    text: str = Field("", description="The body; placeholders are {{1}}, {{2}}, ...")
    variables: dict[Annotated[str, Field(pattern="^[0-9]+$")], str] = Field(
        {},
        description="keys must be placeholder numbers",
        json_schema_extra={"additionalProperties": False},
    )
    footer: str = ""
    is_draft: bool = False
    is_catalog: bool = False
    catalog_format: str | None = None
    connected_catalog_id: Annotated[
        Any,
        AfterValidator(_check_catalog_id),
        WithJsonSchema({"type": ["string", "number", "null"]}),
    ] = Field(None, description="must be a string or a number")
    is_catalog_connected: bool = False
    is_custom_validity_period: bool = False
    validity_period_seconds: int | None = None
    auth_delivery_method: str | None = None
    auth_add_security_recommendation: bool = False
    auth_add_code_expiration: bool = False
    auth_code_expiration_seconds: int | None = None
    auth_apps: list[AppFields] | None = None
    headers: list[HeaderFields] = Field([])
    buttons: list[ButtonFields] = Field([])


class ListedContent(ContentFields):
    """A content in one of the languages of the lookup."""

    lang_code: Annotated[str, AfterValidator(_validate_language)] = Field(
        "",
        description="must be a code of the language lookup",
        json_schema_extra={"enum": list(LANGUAGES)},
    )


class ContentRecord(ContentFields):
    """A content as get shows it."""

    id: int
    lang_code: str


class ContentItem(Fields):
    """A content in lists."""

    id: int
    lang_code: str
    text: str
    is_draft: bool


CONTENT_DEFAULTS = ContentFields().model_dump(exclude={"lang_code"})


_CONTENTS = "/templates/:templateCode/contents"

# --- operations -----------------------------------------------------------------------


class TemplatesHandler(ResourceHandler):
    """The contents of an account's templates; templates themselves are made elsewhere."""

    name = "templates"
    noun = "Template content"
    operations = (
        Operation("languages", "GET", f"{_CONTENTS}/lookups/languages", "Chat Templates, View"),
        *make_operations(_CONTENTS, "langCode", "Chat Templates"),
    )
    key_field = natural_key = "lang_code"
    table_name = "contents"
    first_id = 7001
    filter_point = "search_param"
    item = ContentItem
    record = created = updated = ContentRecord
    details = ContentRecord.model_fields.keys() - ContentItem.model_fields.keys()
    conflicts = ("create",)
    clashes = ("update",)
    paged = False

    def __init__(self, service: "Service") -> None:
        refused = service.profile.unknown_language == "refuse"
        self.fields = ListedContent if refused else ContentFields
        self.required = {*service.profile.content_requires, "lang_code"}
        super().__init__(service)
        self._languages = dumps(
            [{"code": code, "label": label} for code, label in LANGUAGES.items()]
        ).encode()

    def list_codes(self, account: str) -> list[str]:
        """Return the codes of the templates of an account that have contents."""
        scopes = (scope.split("/", 1) for scope in self.table.list_active_scopes())
        return sorted(code for owner, code in scopes if owner == account)

    def languages(self, call: AllowedCall) -> ServiceAnswer:
        """Answer with all languages a content can have."""
        self._check_template(call)
        return self.replies.build_success(self._languages)

    def list(self, call: AllowedCall) -> ServiceAnswer:
        """Answer with the contents of a template, all or those that hold the search term."""
        self._check_template(call)
        term = self._read_filter_value(parse_query(call.query)).casefold()
        items = [row.item for row in self.table.select_records(_find_scope(call))]
        if term:
            items = [item for item in items if _matches_term(json.loads(item), term)]
        return self.replies.build_success(f"[{','.join(items)}]".encode())

    def create(self, call: AllowedCall) -> ServiceAnswer:
        """Create the content of one language."""
        fields = self.create_body.validate(call.body)
        scope, lang_code = _find_scope(call), fields["lang_code"]
        row = self.table.find_by_key(scope, lang_code)
        if row is not None and row.active:
            match self.profile.duplicate_content:
                case "conflict":
                    raise RefusedRequest("conflict", "The template has a content in this language")
                case "invalid":
                    raise RefusedRequest("invalid", "The template has a content in this language")
            content = self._rewrite_content(row, CONTENT_DEFAULTS | fields)
        else:
            content_id = self.table.next_id()
            content = self._new_content(content_id, fields)
            self.clock.stamp()
            self._insert(scope, content_id, content)
        self.publisher.publish_content(call.grant.account, call.values[0], content, "create")
        return self.replies.build_success(dumps(content).encode(), 201, "Template content created")

    def update(self, call: AllowedCall) -> ServiceAnswer:
        """Change the content of one language."""
        row = self.find_active_record(call)
        fields = self.update_body.validate(call.body)
        if fields.get("lang_code", row.key) != row.key:
            raise RefusedRequest("clash", "The body names another language than the path")
        if self.profile.put == "replace":
            # A content cannot be without what creating it requires: that stays.
            before = self._load_record(row)
            required_fields = {name: before[name] for name in self.create_body.required}
            fields = CONTENT_DEFAULTS | required_fields | fields
        content = self._rewrite_content(row, fields)
        self.publisher.publish_content(call.grant.account, call.values[0], content, "update")
        return self.replies.build_confirmation("Template content updated", dumps(content).encode())

    def delete(self, call: AllowedCall) -> ServiceAnswer:
        """Make the content of one language inactive."""
        row = self._find_stored(call)
        answer = super().delete(call)
        if row is not None and row.active:
            content = self._load_record(row)
            self.publisher.publish_content(call.grant.account, call.values[0], content, "delete")
        return answer

    def insert_copy(self, account: str, record: Mapping[str, Any]) -> None:
        """Store a content of another account under its id; call it in the order of ids."""
        content_id = self._choose_copied_id(record)
        fields = {n: v for n, v in record.items() if n not in ("id", "template_code")}
        content = self._new_content(content_id, fields)
        self._insert(f"{account}/{record['template_code']}", content_id, content)

    def _new_content(self, content_id: int, fields: dict[str, Any]) -> dict[str, Any]:
        """Make a new content with all fields."""
        identity = {"id": self._format_id(content_id), "lang_code": fields["lang_code"]}
        return _fill_nulls(identity | CONTENT_DEFAULTS | fields)

    def _rewrite_content(self, row: StoredRecord, fields: dict[str, Any]) -> dict[str, Any]:
        """Store a content with these fields changed, and return it."""
        content = _fill_nulls(self._load_record(row) | fields)
        self.clock.stamp()
        self._rewrite(row, content)
        return content

    def _find_stored(self, call: AllowedCall) -> StoredRecord | None:
        """Return the content that the path of a call names, also an inactive one."""
        return self.table.find_by_key(_find_scope(call), call.values[1])

    def _check_template(self, call: AllowedCall) -> None:
        """Refuse a template without contents if a quirk asks for it."""
        if "unknown_template_404" in self.quirks and not self.table.has_scope(_find_scope(call)):
            raise RefusedRequest("not_found", "Template not found")


def _find_scope(call: AllowedCall) -> str:
    """Return the scope of the contents of the template in the path of a call."""
    return f"{call.grant.account}/{call.values[0]}"


def _fill_nulls(content: dict[str, Any]) -> dict[str, Any]:
    """Set the nullable fields of headers and buttons that were not sent to None."""
    for name, model in (("headers", HeaderFields), ("buttons", ButtonFields)):
        content[name] = [
            {
                field: item.get(field)
                for field, declared in model.model_fields.items()
                if declared.default is None or field in item
            }
            | item
            for item in content[name] or []
        ]
    return content


def _matches_term(item: dict[str, Any], term: str) -> bool:
    """Check if the text or the language code of a content holds a term."""
    return term in item["text"].casefold() or term in item["lang_code"].casefold()
