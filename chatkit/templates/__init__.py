"""Templates: message templates by their codes, and their contents by language."""

from chatkit.templates.contents import (
    App,
    Button,
    Content,
    ContentBody,
    Contents,
    Header,
    checks_of,
)
from chatkit.templates.resource import Templates

__all__ = [
    "App",
    "Button",
    "Content",
    "ContentBody",
    "Contents",
    "Header",
    "Templates",
    "checks_of",
]
