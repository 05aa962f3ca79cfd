"""Refusals: each reason has a status, and a short text of what is wrong."""

from chatkit import ServiceProfile
from chatkit.sandbox.interface import (
    REFUSALS,
    FieldProblem,
    RefusedRequest,
    ResponseBuilder,
    make_invalid_refusal,
)


def test_each_reason_is_answered_with_an_error_status():
    replies = ResponseBuilder(ServiceProfile())
    for reason in REFUSALS:
        assert 400 <= replies.build_refusal(RefusedRequest(reason, "why")).status < 600


def test_the_text_names_the_first_problems_and_the_list_has_all():
    refusal = make_invalid_refusal(*(FieldProblem(f"f{n}", "is required") for n in range(9)))
    assert refusal.message == "f0: is required; f1: is required; f2: is required"
    assert len(refusal.problems) == 9


def test_headers_of_a_refusal_are_sent():
    refusal = RefusedRequest("too_many_calls", "why", headers={"retry-after": "1"})
    assert ResponseBuilder(ServiceProfile()).build_refusal(refusal).headers["retry-after"] == "1"
