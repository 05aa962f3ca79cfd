"""Requests and answers as values."""

from chatkit.sandbox.interface import ServiceAnswer


def test_no_two_answers_share_their_headers():
    one, other = ServiceAnswer(200, b""), ServiceAnswer(200, b"")
    one.headers["x"] = "1"
    assert other.headers == {}
