"""Requests and answers as values."""

from chatkit.sandbox.replies import ServiceAnswer
from chatkit.sandbox.request import Request
from chatkit.sandbox.service import Request as RequestOfService
from chatkit.sandbox.service import ServiceAnswer as AnswerOfService


def test_no_two_answers_share_their_headers():
    one, other = ServiceAnswer(200, b""), ServiceAnswer(200, b"")
    one.headers["x"] = "1"
    assert other.headers == {}


def test_a_request_cannot_change_and_the_service_gives_both_names():
    request = Request("GET", "/a%20b", "q=1", {"host": "x"}, b"")
    assert request == ("GET", "/a%20b", "q=1", {"host": "x"}, b"")
    assert (AnswerOfService, RequestOfService) == (ServiceAnswer, Request)
