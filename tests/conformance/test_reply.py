"""Replies: what a call brought, whatever it was, without a word of the service."""

import msgspec
import pytest

from chatkit import ServiceProfile
from chatkit.answer import Answer
from chatkit.call import Call
from chatkit.conformance.fact import Differs, NotTold
from chatkit.conformance.trial import TrialReply
from chatkit.errors import DeadlinePassed

CALL = Call("GET", ("contacts", 17))
BODILESS = ServiceProfile(update_status=204, delete_status=204)
DELETED = b'{"success": true, "message": "Gone", "data": null}'


def reply(status, body=b"", error=None):
    answer = None if status is None else Answer(CALL, status, {}, body)
    return TrialReply(CALL, answer, error)


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[1]", b'"text"', b"\xff", b"[" * 100_000, b'{"data"']
)
def test_a_body_of_any_shape_has_an_envelope(body):
    assert reply(200, body).envelope == {}
    assert reply(200, body).data is msgspec.UNSET
    with pytest.raises(NotTold):
        reply(200, body).record()
    with pytest.raises(NotTold):
        reply(200, body).rows()


def test_rows_are_the_objects_of_an_array():
    assert reply(200, b'{"data": [{"id": 1}, 2, null]}').rows() == [{"id": 1}]
    assert reply(200, b'{"data": {"id": 1}}').record() == {"id": 1}


@pytest.mark.parametrize(
    ("status", "ok", "refused"),
    [(200, True, False), (204, True, False), (302, False, False), (404, False, True),
     (429, False, False), (500, False, False), (None, False, False)],
)  # fmt: skip
def test_an_answer_is_a_success_a_refusal_or_neither(status, ok, refused):
    assert (reply(status).ok, reply(status).refused) == (ok, refused)


@pytest.mark.parametrize("status", [None, 401, 403, 429])
def test_what_says_nothing_of_the_operation_is_not_told(status):
    with pytest.raises(NotTold):
        reply(status).expect_success()
    with pytest.raises(NotTold):
        reply(status).expect_refusal("it")


def test_outcomes_are_told_without_ids_and_texts():
    assert reply(500, b"secret").outcome == "GET contacts was answered with 500"
    lost = reply(None, error=DeadlinePassed(CALL, "late"))
    assert lost.outcome == "GET contacts was answered with no answer (DeadlinePassed)"


def test_a_success_may_be_asked_for_one_status():
    reply(201).expect_success()
    reply(201).expect_success(201)
    with pytest.raises(Differs, match="201"):
        reply(201).expect_success(200)
    with pytest.raises(Differs, match="it: GET contacts was answered with 500"):
        reply(500).expect_refusal("it")


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (200, DELETED, None),
        (200, DELETED.replace(b"true", b"false"), Differs),
        (200, DELETED.replace(b'"Gone"', b"1"), Differs),
        (200, DELETED.replace(b"null", b"[]"), Differs),
        (200, b'{"success": true, "message": "Gone"}', Differs),
        (204, b"", Differs),
        (500, b"", Differs),
    ],
)
def test_how_a_delete_answers(status, body, error):
    if error is None:
        return reply(status, body).expect_deleted(ServiceProfile())
    with pytest.raises(error):
        reply(status, body).expect_deleted(ServiceProfile())


def test_a_204_that_is_expected_tells_nothing_of_a_body():
    with pytest.raises(NotTold, match="204"):
        reply(204).expect_deleted(BODILESS)
    with pytest.raises(NotTold, match="204"):
        reply(204).expect_updated("id", BODILESS)
    with pytest.raises(Differs, match="data has no name"):
        reply(200, b'{"data": {"id": 1}}').expect_updated("id name", BODILESS)
