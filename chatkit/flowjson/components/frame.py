"""The shapes around components: the document, its screens, their layout."""

from __future__ import annotations

from chatkit.flowjson.components.property import Property, Shape
from chatkit.flowjson.version import FIRST, Version

DOCUMENT = Shape(
    "document",
    "A flow.",
    (
        Property("version", "name", "The version of its rules.", required=FIRST, binding=False),
        Property(
            "screens", "items", "The screens.", required=FIRST, least=1, most=100, binding=False
        ),
        Property(
            "data_api_version", "name", "The version of the endpoint's protocol; endpoint flows.",
            binding=False,
        ),
        Property(
            "routing_model", "map", "Which screens may follow a screen; endpoint flows.",
            binding=False,
        ),
        Property(
            "data_channel_uri", "url", "The address of the endpoint.", until=Version(3, 0),
            binding=False,
        ),
        Property("meta", "map", "Marks of other tools.", since=Version(5, 1), binding=False),
    ),
)  # fmt: skip

LAYOUT = Shape(
    "layout",
    "How a screen is laid out.",
    (
        Property(
            "type", "choice", "Always SingleColumnLayout.", required=FIRST,
            enum=("SingleColumnLayout",), binding=False,
        ),
        Property(
            "children", "components", "The components from top to bottom.", required=FIRST,
            binding=False,
        ),
    ),
)  # fmt: skip

SCREEN = Shape(
    "screen",
    "A screen.",
    (
        Property("id", "name", "Its id: letters and underscores.", required=FIRST, binding=False),
        Property(
            "title", "text", "What its top says.", required=FIRST, not_blank=FIRST, binding=False
        ),
        Property(
            "layout", "object", "Its components.", required=Version(6, 0), item=LAYOUT,
            binding=False,
        ),
        Property("data", "map", "Its data model: field -> type and __example__.", binding=False),
        Property("terminal", "boolean", "Whether the flow may end here.", binding=False),
        Property(
            "success", "boolean", "Whether an end here is a success; terminal screens.",
            binding=False,
        ),
        Property(
            "refresh_on_back", "boolean", "Whether the endpoint is asked on the way back.",
            binding=False,
        ),
        Property(
            "sensitive", "strings", "Names of fields whose values are not shown afterwards.",
            since=Version(5, 1), binding=False,
        ),
    ),
)  # fmt: skip
#: Components on one screen: the documentation names the first, the platform counts to the second.
ADVISED_COMPONENTS, MOST_COMPONENTS = 50, 100
#: If in If in If.
MOST_NESTED = 3
