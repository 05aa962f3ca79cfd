"""Bodies that came packed: kept byte by byte, and read as if they had not been."""

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from inbox.bodies import ANA, BEN, change, enveloped, message, value
from inbox.senders import SECRET, post, signed

from chatkit.inbox import Inbox

BODY = enveloped(change("messages", value(messages=[message(1), message(2, who=BEN)])))


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
@pytest.mark.parametrize("signs_packed", [True, False])
def test_a_packed_delivery_is_verified_read_found_and_sent_on(
    tmp_path: Path, pack: Callable[[bytes], bytes], signs_packed: bool
) -> None:
    packed = pack(BODY)
    headers = signed(packed if signs_packed else BODY) | {"Content-Encoding": "gzip"}
    with Inbox(tmp_path / "inbox.sqlite") as inbox, inbox.serve(SECRET) as receiver:
        assert post(receiver.url, packed, headers) == 200
        assert inbox.messages()["text"].tolist() == ["words 1", "words 2"]
        assert inbox.messages(contact=f"+{BEN}")["text"].tolist() == ["words 2"]
        (raw,) = inbox.raw().itertuples()
        assert (raw.kind, raw.reason, raw.body) == ("chat.message.status", "", BODY.decode())
        assert inbox.delivery(raw.Index).body == packed
        assert inbox.forget(f"+{ANA}").mixed == 1
        assert inbox.raw()["verified"].all()


@pytest.mark.parametrize(
    ("encoding", "body", "reason"),
    [
        ("br", b"\x0b\x02\x80", "it came packed as 'br', and was not unpacked"),
        ("gzip", gzip.compress(BODY)[:-9], "it came packed as 'gzip', and was not unpacked"),
        ("gzip", gzip.compress(b" " * 20_000_000), "it came packed as 'gzip'"),
        ("", b"<html>", "not JSON"),
    ],
)
def test_what_cannot_be_unpacked_is_kept_with_the_reason(
    tmp_path: Path, encoding: str, body: bytes, reason: str
) -> None:
    headers = signed(body) | ({"Content-Encoding": encoding} if encoding else {})
    with Inbox(tmp_path / "inbox.sqlite") as inbox, inbox.serve(SECRET) as receiver:
        assert post(receiver.url, body, headers) == 200
        (raw,) = inbox.raw().itertuples()
        assert reason in raw.reason and raw.verified and not raw.is_json
        assert ("packed" in raw.reason) == bool(encoding)


def test_a_body_that_a_proxy_has_unpacked_is_read(tmp_path: Path) -> None:
    with Inbox(tmp_path / "inbox.sqlite") as inbox, inbox.serve(SECRET) as receiver:
        assert post(receiver.url, BODY, signed(BODY) | {"Content-Encoding": "gzip"}) == 200
        assert len(inbox.messages()) == 2
