"""Editor: a flow document to be edited."""
