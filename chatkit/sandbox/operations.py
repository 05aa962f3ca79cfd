"""The operations: the whole public interface as one table (sections Endpoints, Authentication)."""

from typing import Literal, NamedTuple

PREFIX = "/api/business/public/channels/chat/accounts/"
Verb = Literal["list", "get", "create", "update", "delete", "languages"]


class Operation(NamedTuple):
    """One call of the interface: its resource and verb, method and path, and who may call it."""

    resource: str
    verb: Verb
    method: str
    path: str
    permission: str

    @property
    def takes_body(self) -> bool:
        """Whether the call carries a JSON object."""
        return self.verb in ("create", "update")


_CONTENTS = "/templates/:templateCode/contents"

OPERATIONS = (
    Operation("flows", "list", "GET", "/flows", "Chat Flows, View"),
    Operation("flows", "get", "GET", "/flows/:id", "Chat Flows, View"),
    Operation("flows", "create", "POST", "/flows", "Chat Flows, Add"),
    Operation("flows", "update", "PUT", "/flows/:id", "Chat Flows, Edit"),
    Operation("flows", "delete", "DELETE", "/flows/:id", "Chat Flows, Delete"),
    Operation(
        "templates", "languages", "GET", f"{_CONTENTS}/lookups/languages", "Chat Templates, View"
    ),
    Operation("templates", "list", "GET", _CONTENTS, "Chat Templates, View"),
    Operation("templates", "get", "GET", f"{_CONTENTS}/:langCode", "Chat Templates, View"),
    Operation("templates", "create", "POST", _CONTENTS, "Chat Templates, Add"),
    Operation("templates", "update", "PUT", f"{_CONTENTS}/:langCode", "Chat Templates, Edit"),
    Operation("templates", "delete", "DELETE", f"{_CONTENTS}/:langCode", "Chat Templates, Delete"),
    Operation("contacts", "list", "GET", "/contacts", "Chat Contacts, View"),
    Operation("contacts", "get", "GET", "/contacts/:contactId", "Chat Contacts, View"),
    Operation("contacts", "create", "POST", "/contacts", "Chat Contacts, Add"),
    Operation("contacts", "update", "PUT", "/contacts/:contactId", "Chat Contacts, Edit"),
    Operation("contacts", "delete", "DELETE", "/contacts/:contactId", "Chat Contacts, Delete"),
    Operation("webhooks", "list", "GET", "/webhooks", "Chat Detail, View"),
    Operation("webhooks", "create", "POST", "/webhooks", "Chat Detail, Edit"),
    Operation("webhooks", "update", "PATCH", "/webhooks/:webhookId", "Chat Detail, Edit"),
    Operation("webhooks", "delete", "DELETE", "/webhooks/:webhookId", "Chat Detail, Delete"),
)

# Every permission there is, in the order of the table.
PERMISSIONS = tuple(dict.fromkeys(operation.permission for operation in OPERATIONS))
