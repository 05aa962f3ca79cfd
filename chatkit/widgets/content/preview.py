"""Preview: a content as a customer will see it on a phone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anywidget
import traitlets

from chatkit.display import cut
from chatkit.errors import InputError, steady
from chatkit.localization.content import Contents, entries
from chatkit.widgets import packed
from chatkit.widgets.content import bubble


class Preview(anywidget.AnyWidget):
    """A message as a customer will see it: header, text, footer and buttons.

    Sample values stand in place of placeholders, and are marked; a placeholder without a
    sample is marked as missing. Nothing is fetched: a picture is only named.

    Args:
        content: A content: a record, a dict with its fields, or a frame of one row.
        samples: Values for placeholders, in place of those of the content: {"1": "Ana"}.
        dark: Whether the phone is dark; None: as the notebook is.

    Raises:
        InputError: It is no content, or more than one.
    """

    _esm = packed.joined(["preview/preview.js"])
    _css = packed.joined(["preview/preview.css"])

    #: What is seen, for the page.
    message: traitlets.Dict[str, Any] = traitlets.Dict().tag(sync=True)
    notes: traitlets.List[str] = traitlets.List().tag(sync=True)
    dark = traitlets.Bool(None, allow_none=True).tag(sync=True)

    def __init__(
        self,
        content: Contents,
        samples: Mapping[str, str] | None = None,
        *,
        dark: bool | None = None,
    ) -> None:
        super().__init__(dark=dark)
        self._samples = dict(samples or {})
        self.show(content)

    @property
    def samples(self) -> dict[str, str]:
        """The values that stand in place of those of the content."""
        return dict(self._samples)

    @samples.setter
    def samples(self, samples: Mapping[str, str]) -> None:
        self._samples = dict(samples)
        self.show([self._entry])

    def show(self, content: Contents) -> None:
        """Show another content.

        Raises:
            InputError: It is no content, or more than one.
        """
        found = entries(content)
        if len(found) != 1:
            raise InputError(f"A preview shows one content, not {len(found)}: choose a language.")
        self._entry = found[0]
        self._seen = bubble.bubble(self._entry, self._samples)
        with self.hold_sync():
            self.message, self.notes = self._seen.sent(), bubble.notes(self._seen)

    @steady
    def __repr__(self) -> str:
        seen = self._seen
        name = cut(f"{self._entry.template_code} {self._entry.lang_code}".strip(), 40)
        parts = [seen.medium, bubble.plain(seen.header), bubble.plain(seen.body)]
        text = " ".join(" / ".join(filter(None, parts)).split())
        buttons = "".join(f" [{cut(bubble.plain(tap.label), 25)}]" for tap in seen.buttons)
        return f"<message{f' {name}' if name else ''}: {cut(text, 70)}{buttons}>"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Show the message where it is live, and to be read where it is not."""
        data, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        return data | {"text/plain": repr(self), "text/html": bubble.html(self._seen)}, metadata
