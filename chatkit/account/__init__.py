"""The account as a whole: what all four resources of it hold, kept, compared and planned."""

from chatkit.account.fleet import Fleet
from chatkit.account.history import journal, prune

__all__ = ["Fleet", "journal", "prune"]
