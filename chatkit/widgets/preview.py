"""Preview of a content as a customer will see it on a phone, as a widget."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import traitlets

from chatkit.errors import InputError, safe_repr
from chatkit.localization.bubble import draw_bubble, join_runs, make_bubble, make_bubble_notes
from chatkit.localization.content import Contents, read_entries
from chatkit.util.display import cut
from chatkit.widgets.controls import Exported, Model, join_module, join_styles


class Preview(Exported, Model):
    """A message as a customer will see it: header, text, footer and buttons.

    Sample values stand in place of placeholders, and are marked; a placeholder without a
    sample is marked as missing. Nothing is fetched: a picture is only named.

    Args:
        content: A content: a record, a dict with its fields, or a frame of one row.

    Raises:
        InputError: It is no content, or more than one.

    >>> chatkit.widgets.Preview(client.templates("order_ready").get("en"))
    <message en: Your bike is ready / Hello Amara, ...>
    """

    _esm = join_module(["elements.js", "preview/preview.js"])
    _css = join_styles("preview/preview.css")

    #: The message as JSON, for the page.
    message: traitlets.Dict[str, Any] = traitlets.Dict().tag(sync=True)
    notes: traitlets.List[str] = traitlets.List().tag(sync=True)

    def __init__(self, content: Contents) -> None:
        super().__init__()
        self.show(content)

    def show(self, content: Contents, more: Iterable[str] = ()) -> None:
        """Show another content.

        Args:
            content: As when it was made.
            more: Sentences that stand below the message.

        Raises:
            InputError: It is no content, or more than one.
        """
        contents = read_entries(content)
        if len(contents) != 1:
            raise InputError(
                f"A preview shows one content, not {len(contents)}: pass one row, like "
                "frame.loc[['en']]."
            )
        self._entry = contents[0]
        self._bubble = make_bubble(self._entry, {})
        with self.hold_sync():
            self.message, self.notes = (
                self._bubble.to_json(),
                [*make_bubble_notes(self._bubble), *more],
            )

    @safe_repr
    def __repr__(self) -> str:
        seen = self._bubble
        name = cut(f"{self._entry.template_code} {self._entry.lang_code}".strip(), 40)
        parts = [seen.medium, join_runs(seen.header), join_runs(seen.body)]
        text = " ".join(" / ".join(filter(None, parts)).split())
        buttons = "".join(f" [{cut(join_runs(tap.label), 25)}]" for tap in seen.buttons)
        return f"<message{f' {name}' if name else ''}: {cut(text, 70)}{buttons}>"

    def _make_saved_page(self) -> str:
        return draw_bubble(self._bubble)
