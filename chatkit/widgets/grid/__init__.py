"""Grid: a frame as an editable table."""
