"""A delivery shows what it is in one line, and nothing of what somebody wrote."""

from inbox.bodies import delivery


def test_a_verified_delivery_shows_its_time_kind_and_size() -> None:
    output = repr(delivery(b"private words", 7, kind="chat.message.status"))
    assert output == (
        "<delivery 7, 2025-06-15 15:06:40+00:00, chat.message.status, 13 bytes, verified>"
    )


def test_a_doubtful_one_shows_why_and_never_its_headers() -> None:
    output = repr(delivery(b"", verified=False, reason="too old", headers=(("x", "hidden"),)))
    assert "no kind, 0 bytes, not verified: too old" in output and "hidden" not in output
