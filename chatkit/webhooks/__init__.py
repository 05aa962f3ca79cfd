"""Webhooks: registered addresses that hear what happens (API document, Webhooks)."""

from chatkit.webhooks.resource import MAX_WEBHOOKS, Webhook, WebhookBody, Webhooks

__all__ = ["MAX_WEBHOOKS", "Webhook", "WebhookBody", "Webhooks"]
