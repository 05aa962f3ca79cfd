"""Fleet: several accounts at once."""
