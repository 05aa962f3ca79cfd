"""Translation: texts out to translators in the files they use, and back without a loss."""

from __future__ import annotations

from chatkit.localization.translation.export import export
from chatkit.localization.translation.pseudo import pseudo
from chatkit.localization.translation.returned import Returned, read

__all__ = ["Returned", "export", "pseudo", "read"]
