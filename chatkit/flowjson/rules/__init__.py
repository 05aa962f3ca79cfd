"""Rules: what the platform asks of a flow document, each kind in a file with its `check`."""
