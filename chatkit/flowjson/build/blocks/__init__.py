"""The classes of components, written from the table; `Block.kinds` holds them by name."""

from chatkit.flowjson.build.blocks import choice, container, day, entry, media, tap, text

__all__ = ["choice", "container", "day", "entry", "media", "tap", "text"]
