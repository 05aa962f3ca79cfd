"""Player: a flow as a customer walks through it."""
