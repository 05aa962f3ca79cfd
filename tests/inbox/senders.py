"""A sender of deliveries: signs and posts as a service does."""

import http.client
import time
from urllib.parse import urlsplit

from chatkit.signature import sign

SECRET = "0123456789abcdef" * 4
OTHER = "f" * 64


def signed(
    body: bytes, message_id: str = "msg_1", secret: str = SECRET, age: int = 0
) -> dict[str, str]:
    return sign("standard_webhooks", secret, message_id, int(time.time()) - age, body)


def post(
    url: str,
    body: bytes,
    headers: dict[str, str] | None = None,
    method: str = "POST",
) -> int:
    """Send one request on a connection of its own; the status of the answer."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 0
    connection = http.client.HTTPConnection(host, port, timeout=20)
    try:
        connection.request(method, parts.path, body, headers or {})
        return connection.getresponse().status
    finally:
        connection.close()
