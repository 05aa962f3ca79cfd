"""ServiceProfile: the open points of the API document that the client acts on.

The API document says "not shown" of many things. Nothing else in chatkit may guess at
them: the sandbox and the client both take a profile and behave as it says, so that a
fact learned about the real service is a changed value here and nowhere else. What the client
works with either way is no point: it is a quirk of the sandbox, or the sandbox has one answer.
"""

import inspect
import textwrap
from difflib import get_close_matches
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError, field_validator

from chatkit.errors import HelpPage, InputError, Problem


def declare_point(default: Any, why: str) -> Any:
    """Declare one open point: its default, and why that default."""
    return Field(default, description=why)


def declare_event_kind(default: str, means: str, more: str = "") -> Any:
    """Declare the kind of a family of events, which the API document does not name."""
    why = f"Kind of {means}.{more}"
    return Field(default, description=why, json_schema_extra={"means": means})


class _Signature(inspect.Signature):
    """A signature with all points, for completion; pages of help list them below."""

    def __str__(self) -> str:
        return "(**points)"


class _ProfilePage(type(BaseModel)):  # type: ignore[misc]  # its own metaclass is private
    """A model whose page of help shows nothing of pydantic."""

    __dir__ = HelpPage.__dir__


class ServiceProfile(BaseModel, metaclass=_ProfilePage):
    """The assumptions where the API document is silent.

    Every point has a default that works with the sandbox and with the most likely service, and
    is listed below with the reason for the default. Pass what is otherwise to `Client` and
    `Sandbox`:

    >>> from chatkit import ServiceProfile
    >>> profile = ServiceProfile(search_param="q", put="replace")
    >>> profile.changed()
    {'search_param': 'q', 'put': 'replace'}

    A profile cannot be changed, so make another one:
    `ServiceProfile(**profile.changed(), page_base=0)`.

    Raises:
        InputError: There is no such point, or it cannot have that value.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    # --- refusals -------------------------------------------------------------------
    unauthenticated_status: Literal[401, 403] = declare_point(
        401, "RFC 9110: no or wrong credentials."
    )
    forbidden_status: Literal[403, 401, 404] = declare_point(
        403, "RFC 9110: the token is known but lacks the permission."
    )
    not_found_status: Literal[404, 400, 410] = declare_point(
        404, "RFC 9110: no record with that id."
    )
    validation_status: Literal[422, 400] = declare_point(
        422, "Most JSON services that split 'not JSON' (400) from 'not valid' (422)."
    )
    clash_status: Literal[409, 422, 400] = declare_point(
        409,
        "What would be in the way of another record or of its own state: a webhook URL or "
        "flow name that exists, a published flow that is deleted, a number that is taken by "
        "an update. 409 is stated for the create of a contact only.",
    )

    # --- lists ----------------------------------------------------------------------
    page_base: Literal[1, 0] = declare_point(1, "The examples use page 1.")
    max_page_size: PositiveInt = declare_point(100, "A common cap; the document gives none.")
    page_past_end: Literal["empty", "refuse"] = declare_point(
        "empty", "A page after the last is an empty list."
    )
    search_param: str | None = declare_point(
        "search", "The document calls it 'optional search'. None: lists cannot search."
    )
    status_param: str | None = declare_point(
        "status", "The document calls it 'optional status filter'. None: flows cannot be filtered."
    )

    # --- updates --------------------------------------------------------------------
    put: Literal["merge", "replace"] = declare_point(
        "merge", "Whether fields left out of a PUT stay (merge) or are cleared (replace)."
    )
    put_requires: Literal["nothing", "create_fields"] = declare_point(
        "nothing", "Which fields an update requires."
    )
    unknown_fields: Literal["ignore", "refuse"] = declare_point(
        "ignore", "Fields of a body that the document does not list."
    )

    # --- flows ----------------------------------------------------------------------
    flow_json_in_get: bool = declare_point(
        True,
        "The documented flow object has no flow_json, but an editor without it would "
        "be blind. False: flows cannot be read back.",
    )
    duplicate_flow_name: Literal["allow", "refuse"] = declare_point(
        "allow",
        "No rule is stated; upstream refuses a second flow of one name. Allowing is "
        "the harder case for a careful client.",
    )
    published_flow_update: Literal["draft", "keep"] = declare_point(
        "draft", "Upstream returns an edited published flow to DRAFT."
    )

    # --- template contents ----------------------------------------------------------
    duplicate_content: Literal["conflict", "invalid", "replace"] = declare_point(
        "conflict",
        "Creating a language that exists: 409, as for contacts. invalid: the "
        "validation status. replace: an upsert.",
    )
    content_requires: tuple[str, ...] = declare_point(
        ("lang_code", "text"), "Which fields a new content needs: at least its key and body."
    )
    unknown_language: Literal["refuse", "accept"] = declare_point(
        "refuse", "The language lookup exists so that only its codes are used."
    )

    # --- contacts -------------------------------------------------------------------
    contact_key: Literal["number", "country_code_and_number"] = declare_point(
        "number", "Rule 3 says 'the same number'."
    )
    number_form: Literal["national", "international"] = declare_point(
        "national",
        "It stands beside country_code, so it is most likely without the country's digits. "
        "international: it begins with them, as 447700900000 beside +44. The client shows and "
        "takes it without them, and sends it as this point says.",
    )
    name_split: Literal["first_middle_last", "first_last", "first_only"] = declare_point(
        "first_middle_last",
        "'Split into first, middle and last name': first word, last "
        "word, the rest between. first_last: first word, the rest. first_only: all in first.",
    )
    restore_keeps: Literal["everything", "nothing"] = declare_point(
        "everything",
        "Restoring keeps id, tags, ai_mode and, when none is sent, the name; "
        "nothing: only the id stays.",
    )
    inactive_in_lists: bool = declare_point(False, "A deleted contact leaves the list.")
    inactive_readable: bool = declare_point(
        False, "GET of a deleted contact: found, or as an unknown id."
    )

    # --- webhooks -------------------------------------------------------------------
    duplicate_webhook_url: Literal["refuse", "allow"] = declare_point(
        "refuse", "One URL registered twice would receive each event twice."
    )

    # --- events and deliveries ------------------------------------------------------
    event_kind_field: str = declare_point(
        "event", "The name of the field of a delivery that tells its kind."
    )
    event_data_field: str = declare_point(
        "data", "The name of the field of a delivery that holds what happened."
    )
    event_kind_inbound: str = declare_event_kind(
        "chat.message.inbound",
        "messages from customers",
        " Only `*` and chat.message.status are named; this and the next five follow their "
        "pattern for the families that rule 2 lists.",
    )
    event_kind_outbound: str = declare_event_kind(
        "chat.message.outbound", "messages that the account sent"
    )
    event_kind_reaction: str = declare_event_kind("chat.message.reaction", "reactions to messages")
    event_kind_media: str = declare_event_kind(
        "chat.message.media", "messages from customers that hold a file"
    )
    event_kind_template: str = declare_event_kind(
        "chat.template", "what the platform says of template contents"
    )
    event_kind_raw: str = declare_event_kind(
        "chat.raw", "every other change that the platform tells"
    )
    signature_scheme: Literal["standard_webhooks", "sha256_hex"] = declare_point(
        "standard_webhooks",
        "Standard Webhooks 1.0 with the ASCII bytes of the 64-character "
        "secret as key; sha256_hex is the upstream platform's own form.",
    )

    # --- limits ---------------------------------------------------------------------
    rate_limit: PositiveInt | None = declare_point(
        None, "Calls a second for each token; None: no limit."
    )

    @field_validator("search_param", "status_param", "rate_limit", mode="before")
    @classmethod
    def _empty_is_none(cls, value: object) -> object:
        """Convert an empty text of a configuration file to None: TOML has no null."""
        return None if value == "" else value

    def __init__(self, **points: Any) -> None:
        """Take points that differ from the defaults; all errors are raised at once."""
        try:
            super().__init__(**points)
        except ValidationError as error:
            raise InputError("This profile cannot be used:", _convert_errors(error)) from None

    def changed(self) -> dict[str, Any]:
        """Return the points whose value is not the default, by name."""
        return self.model_dump(exclude_defaults=True)

    def event_kinds(self) -> dict[str, str]:
        """Return the kinds of events that the API document does not name, and what each means."""
        extras = {name: field.json_schema_extra for name, field in type(self).model_fields.items()}
        return {
            getattr(self, name): str(extra["means"])
            for name, extra in extras.items()
            if isinstance(extra, dict) and "means" in extra
        }


def _convert_errors(error: ValidationError) -> list[Problem]:
    """Convert errors of pydantic to problems in our words."""
    points = ServiceProfile.model_fields
    problems: dict[str, Problem] = {}
    for detail in error.errors(include_url=False):
        name = str(detail["loc"][0]) if detail["loc"] else "(all)"
        value = repr(detail["input"])[:60]
        if name not in points:
            like = get_close_matches(name, points, 1)
            hint = f"did you mean {like[0]}?" if like else "help(chatkit.ServiceProfile) lists them"
            problems[name] = Problem(name, value, f"no such setting; {hint}")
        else:
            expected = detail["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
            problems[name] = Problem(name, value, f"must be {expected}")
    return list(problems.values())


def _list_points() -> str:
    """List the points for `help`: default, and why."""
    lines = ["Points (name = default, and why):"]
    for name, field in ServiceProfile.model_fields.items():
        lines += ["", f"{name} = {field.default!r}"]
        lines.append(textwrap.indent(textwrap.fill(str(field.description), 88), "    "))
    return "\n".join(lines)


ServiceProfile.__signature__ = _Signature(
    list(inspect.signature(ServiceProfile).parameters.values())
)
ServiceProfile.__doc__ = f"{inspect.cleandoc(ServiceProfile.__doc__ or '')}\n\n{_list_points()}\n"
