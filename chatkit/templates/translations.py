"""Translations: what translators sent back, as a plan, and what could not be taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatkit.bulk.rendering import marked
from chatkit.errors import steady

if TYPE_CHECKING:
    import pandas as pd

    from chatkit.bulk.plan import Plan
    from chatkit.localization.translation import ImportedTexts


class Translations:
    """What came back of files for translators: `plan` makes it so, `rejected` was not taken.

    Args:
        plan: What would change.
        returned: What was read, text by text.
    """

    def __init__(self, plan: Plan, returned: ImportedTexts) -> None:
        self.plan = plan
        self._returned = returned
        if count := len(returned.rejected):
            one = count == 1
            plan.notes.append(
                f"{count:,} text{' was' if one else 's were'} not taken: "
                f"{'it is' if one else 'they are'} in .rejected, with the reason."
            )

    @property
    def changed(self) -> pd.DataFrame:
        """Every text that was taken, with what was there before."""
        return self._returned.changed

    @property
    def rejected(self) -> pd.DataFrame:
        """Every text that was not taken, with what is there now, and the reason."""
        return self._returned.rejected

    @steady
    def __repr__(self) -> str:
        return f"{self._returned!r}\n\n{self.plan!r}"

    def _repr_html_(self) -> str:
        lines = "<br>".join(map(marked, repr(self._returned).splitlines()))
        return f"<p>{lines}</p>{self.plan._repr_html_()}"
