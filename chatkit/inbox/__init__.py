"""The inbox: what the service sends to a webhook, checked and kept."""
