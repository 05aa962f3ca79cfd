"""Contents: one message beside its source, its preview, and the board of all."""
