"""The displayed and saved forms of a value, requested as a kernel does."""

from __future__ import annotations

from typing import Any

from IPython.core.formatters import DisplayFormatter, HTMLFormatter

_html = HTMLFormatter()
_display = DisplayFormatter()


def html_of(value: Any) -> str:
    """The HTML of a value that is the last line of a cell."""
    html = _html(value)
    assert isinstance(html, str), f"there is no HTML of a {type(value).__name__}: see above"
    return html


def bundle_of(value: Any) -> dict[str, Any]:
    """All forms that a notebook keeps of a value, by their media types."""
    data, _ = _display.format(value)
    return data
