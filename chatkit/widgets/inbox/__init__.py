"""The inbox in a notebook: deliveries as they come, conversations, plots, registrations."""
