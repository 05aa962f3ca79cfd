"""The OpenAPI 3.1 document, generated from the sandbox's operations and models."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from chatkit.profile import ServiceProfile
from chatkit.sandbox.interface import (
    HTML_TYPE,
    JSON_TYPE,
    PREFIX,
    REFUSALS,
    Operation,
    ResponseBuilder,
)
from chatkit.sandbox.resource import ID_DIGITS, Fields, RequestBody, ResourceHandler, Schema
from chatkit.sandbox.templates import Language

_STRING: Schema = {"type": "string"}
_WHOLE: Schema = {"type": "integer"}


def build_openapi_document(
    resources: dict[str, ResourceHandler], profile: ServiceProfile, replies: ResponseBuilder
) -> dict[str, Any]:
    """Build the OpenAPI document of the sandbox as a JSON object."""
    paths: dict[str, dict[str, Any]] = {}
    several = [(each, operation) for each in resources.values() for operation in each.operations]
    for resource, operation in several:
        described: dict[str, Any] = {
            "operationId": f"{operation.verb}_{resource.name}",
            "tags": [resource.name],
            "summary": (getattr(resource, operation.verb).__doc__ or "").partition("\n")[0],
            "description": f"Needs the permission `{operation.permission}`.",
            "parameters": _describe_parameters(operation, resource, profile),
            "responses": _describe_responses(operation, resource, profile, replies),
        }
        if operation.takes_body:
            body = resource.create_body if operation.verb == "create" else resource.update_body
            content = {JSON_TYPE: {"schema": make_body_schema(body)}}
            described["requestBody"] = {"required": True, "content": content}
        path = re.sub(r":(\w+)", r"{\1}", f"{PREFIX}:accountId{operation.path}")
        paths.setdefault(path, {})[operation.method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Business Messaging Public API, as the sandbox serves it",
            "version": "1",
            "description": "What the API document leaves open is as the sandbox's profile says.",
        },
        "paths": paths,
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{"token": []}],
    }


def _describe_parameters(
    operation: Operation, resource: ResourceHandler, profile: ServiceProfile
) -> list[Schema]:
    """Describe the parameters of an operation in path and query."""
    whole = _WHOLE | {"minimum": 1, "maximum": 10**ID_DIGITS - 1}
    # Not the two that stand for this and the upper folder; no client can send those.
    text = _STRING | {"minLength": 1, "pattern": r"^(?!\.{1,2}$)"}
    names = ["accountId", *re.findall(r":(\w+)", operation.path)]
    in_path = {n: text if n in ("templateCode", "langCode") else whole for n in names}
    in_query: dict[str, Schema] = {}
    if operation.verb == "list" and resource.paged:
        in_query["page"] = _WHOLE | {"minimum": profile.page_base}
        in_query["pageSize"] = _WHOLE | {"minimum": 1}
    if operation.verb == "list" and resource.filter_param:
        in_query[resource.filter_param] = _STRING
    return [
        *({"name": n, "in": "path", "required": True, "schema": s} for n, s in in_path.items()),
        *({"name": n, "in": "query", "schema": s} for n, s in in_query.items()),
    ]


def _describe_responses(
    operation: Operation,
    resource: ResourceHandler,
    profile: ServiceProfile,
    replies: ResponseBuilder,
) -> dict[str, Any]:
    """Describe the success and the refusals of an operation by status."""
    done = 204 if "no_body" in replies.quirks else 200
    status, data = {
        "list": (
            200,
            {"type": "array", "items": make_record_schema(resource.item, replies.quirks)},
        ),
        "languages": (200, {"type": "array", "items": make_object_schema(Language)}),
        "get": (200, make_record_schema(resource.record, replies.quirks)),
        "create": (201, make_record_schema(resource.created, replies.quirks)),
        "update": (done, make_record_schema(resource.updated, replies.quirks)),
        "delete": (done, {"type": "null"}),
    }[operation.verb]
    success: dict[str, Any] = {"description": "Done."}
    if status != 204:
        paged = resource.paged and operation.verb == "list"
        schema = _make_envelope_schema(data, paged=paged and "no_pagination" not in replies.quirks)
        success["content"] = {JSON_TYPE: {"schema": schema}}
    responses = {str(status): success}
    for reason in _list_refusal_reasons(operation, resource, profile):
        refused = str(replies.statuses[reason])
        if refused in responses:
            responses[refused]["description"] += f" {REFUSALS[reason][1]}"
        else:
            responses[refused] = {
                "description": REFUSALS[reason][1],
                **_make_error_content(replies),
            }
    return responses


def _make_envelope_schema(data: Schema, *, paged: bool) -> Schema:
    """Make the schema of a success envelope around the schema of its data."""
    properties = {
        "success": {"const": True},
        "statusCode": _WHOLE,
        "message": _STRING,
        "data": data,
    }
    required = ["success", "statusCode", "data"]
    if paged:
        names = ["page", "pageSize", "totalCount", "totalPages"]
        properties["pagination"] = _make_object_schema(dict.fromkeys(names, _WHOLE), names)
        required.append("pagination")
    return _make_object_schema(properties, required)


def _list_refusal_reasons(
    operation: Operation, resource: ResourceHandler, profile: ServiceProfile
) -> list[str]:
    """List the reasons for which an operation can be refused."""
    reasons: dict[str, bool] = {
        "malformed": True,
        "unauthenticated": True,
        "forbidden": True,
        "unavailable": True,
        "too_large": operation.takes_body,
        "media_type": operation.takes_body,
        "invalid": operation.takes_body or operation.verb == "list",
        "not_found": operation.verb != "create",
        "conflict": operation.verb in resource.conflicts,
        "clash": operation.verb in resource.clashes,
        "too_many_calls": profile.rate_limit is not None,
    }
    return [reason for reason, applies in reasons.items() if applies]


def _make_error_content(replies: ResponseBuilder) -> dict[str, Any]:
    """Make the content of an error response: an envelope, or HTML by a quirk."""
    if "html_errors" in replies.quirks:
        return {"content": {HTML_TYPE: {"schema": _STRING}}}
    problem = _make_object_schema({"field": _STRING, "message": _STRING}, ["field", "message"])
    properties = {
        "success": {"const": False},
        "statusCode": _WHOLE,
        "message": _STRING,
        "errors": {"type": "array", "items": problem},
    }
    schema = _make_object_schema(properties, ["success", "statusCode", "message"])
    return {"content": {JSON_TYPE: {"schema": schema}}}


def _make_object_schema(properties: dict[str, Any], required: Sequence[str]) -> Schema:
    """Make the schema of an object."""
    return {"type": "object", "properties": properties, "required": list(required)}


# --- JSON Schema ----------------------------------------------------------------------


def make_body_schema(body: RequestBody) -> Schema:
    """Make the JSON Schema of a body."""
    schema = make_object_schema(body.fields, closed=body.closed)
    return schema | {"required": sorted(body.required)} if body.required else schema


def make_record_schema(fields: type[Fields], quirks: Iterable[str]) -> Schema:
    """Make the JSON Schema of a record, in which all fields are required."""
    schema = make_object_schema(fields)
    if "text_ids" in quirks:
        schema["properties"]["id"] = {"type": "string", "pattern": "^[0-9]+$"}
    return schema | {"required": list(schema["properties"])}


def make_object_schema(fields: type[Fields], *, closed: bool = False) -> Schema:
    """Make the JSON Schema of a model that stands alone, without titles and references."""
    schema = fields.model_json_schema()
    definitions = schema.pop("$defs", {})

    def clean(part: Any) -> Any:
        """Return a part of a schema without unused keys, its references resolved."""
        if isinstance(part, list):
            return [clean(each) for each in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            part = definitions[part["$ref"].rpartition("/")[2]] | part
        unused = {"title", "default", "$ref"}
        if "properties" in part and not closed:
            unused.add("additionalProperties")
        return {name: clean(value) for name, value in part.items() if name not in unused}

    cleaned: Schema = clean(schema)
    return cleaned
