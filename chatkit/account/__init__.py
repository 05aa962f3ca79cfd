"""Whole-account operations: save, compare and plan all four resources together."""

from chatkit.util import make_lazy_exports

# Names are loaded when they are first used: a doctor needs no fleet.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from chatkit.account.fleet import Fleet as Fleet
    from chatkit.account.history import journal as journal
    from chatkit.account.history import prune as prune

_HOME = {"Fleet": "fleet", "journal": "history", "prune": "history"}
__all__ = list(_HOME)
__getattr__, __dir__ = make_lazy_exports(__name__, _HOME)
