"""The account as a whole: what all four resources of it hold, kept, compared and planned."""
