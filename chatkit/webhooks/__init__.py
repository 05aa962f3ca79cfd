"""Webhooks: registered addresses that hear what happens (API document, Webhooks)."""

from chatkit.webhooks.room import Webhook, WebhookBody, Webhooks

__all__ = ["Webhook", "WebhookBody", "Webhooks"]
