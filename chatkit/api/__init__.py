"""One call of the service: request, transport, rate limit, answer, listing and record."""
