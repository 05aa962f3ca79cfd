"""Templates: message templates by their codes, and their contents by language."""

from chatkit.templates.contents import App, Button, Content, ContentBody, Contents, Header
from chatkit.templates.room import Templates

__all__ = ["App", "Button", "Content", "ContentBody", "Contents", "Header", "Templates"]
