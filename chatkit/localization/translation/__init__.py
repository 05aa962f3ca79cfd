"""Translation: texts out to translators in the files they use, and back without a loss."""

from __future__ import annotations

from chatkit.localization.translation.export import export
from chatkit.localization.translation.files import read_units
from chatkit.localization.translation.importer import Translations, import_units

__all__ = ["Translations", "export", "import_units", "read_units"]
