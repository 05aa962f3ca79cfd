"""An inbox from the delivery to the frame, on both databases."""

import json
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from inbox.bodies import (
    ANA,
    BEN,
    START,
    change,
    enveloped,
    keep,
    message,
    moved,
    status,
    written,
)
from inbox.senders import OTHER, SECRET, post, signed
from internals import deliveries_of, inbox_store
from ports import own_ports

from chatkit.errors import InputError
from chatkit.inbox import Bound, Inbox, parse_bound
from chatkit.inbox.store import InboxStore
from chatkit.profile import ServiceProfile
from chatkit.signature import sign


def test_an_inbox_is_shown_without_counting_it(inbox: Inbox, store: InboxStore) -> None:
    assert repr(inbox) == f"<inbox {inbox_store(inbox).address}: there are no deliveries yet>"
    keep(store, b"{}", verified=False)
    keep(store, *[b"{}"] * 1000)
    assert repr(inbox) == f"<inbox {inbox_store(inbox).address}: the last delivery is 1,001>"


def test_a_repeat_is_one_message_and_two_raw_deliveries(inbox: Inbox) -> None:
    receiver = inbox.serve(SECRET)
    body = written(message(1))
    for _ in range(2):
        post(receiver.url, body, signed(body))
    assert (len(inbox.frame()), len(inbox.messages()), len(inbox.raw())) == (1, 1, 2)


def test_a_forger_is_seen_and_not_believed(inbox: Inbox) -> None:
    receiver = inbox.serve(SECRET)
    lie, truth = moved(status("m1", "failed")), moved(status("m1", "sent"))
    post(receiver.url, lie, signed(lie, "same", OTHER))
    post(receiver.url, truth, signed(truth, "same"))
    assert inbox.statuses()["status"].tolist() == ["sent"]
    assert inbox.statuses(verified=False)["status"].tolist() == ["failed"]
    assert inbox.statuses(verified=None)["status"].tolist() == ["failed"]
    assert repr(inbox) == (
        f"<inbox {inbox_store(inbox).address}: the last delivery is 2; of the last 1,000, 1 is not "
        "verified and left out of frames>"
    )
    assert inbox.raw()["reason"].tolist() == [
        "no signature in webhook-signature fits this body and secret",
        "",
    ]


def test_frames_can_be_read_on_from_where_one_was(inbox: Inbox, store: InboxStore) -> None:
    keep(store, written(message(1)), moved(status("a", "sent", 0)))
    mark = inbox.last
    keep(store, moved(status("a", "read", 9), status("b", "sent")), written(message(2)))
    assert [*inbox.messages(since=mark).index] == ["m2"]
    assert inbox.statuses(since=mark)["status"].tolist() == ["read", "sent"]
    assert inbox.statuses().loc["a", "to_read"] == pd.Timedelta(seconds=9)


def test_a_choice_is_by_time_kind_and_contact(inbox: Inbox, store: InboxStore) -> None:
    keep(store, written(message(1)), written(message(2, who=BEN)), written(message(3)))
    keep(store, written(message(4)), kind="other")
    after = datetime.fromtimestamp(START + 2, UTC)
    assert [*inbox.messages(since=after).index] == ["m3", "m4"]
    assert [*inbox.messages(until=after.isoformat()).index] == ["m1", "m2"]
    assert [*inbox.messages(contact=f"+{BEN}").index] == ["m2"]
    assert [*inbox.messages(contact=f"+{ANA}", kinds="chat.message.status").index] == ["m1", "m3"]
    with pytest.raises(InputError, match="is not a time"):
        inbox.messages(since="soon")
    with pytest.raises(InputError, match="filtered by sinc"):
        inbox.messages(sinc=3)


def test_a_delivery_that_is_not_there_is_told_whatever_was_asked_for(
    inbox: Inbox, store: InboxStore
) -> None:
    keep(store, written(message(0)))
    assert inbox.delivery(inbox.raw().index[0]).id == 1
    for unusual in (2, 0, -1, "1", "x", None, 1.5):
        with pytest.raises(InputError, match="The inbox has no delivery"):
            inbox.delivery(unusual)


def test_the_158_samples_go_through_the_receiver_and_come_out_whole(inbox: Inbox, shared) -> None:
    paths = sorted((shared / "samples" / "webhooks").glob("[mp]*_*.json"))
    receiver = inbox.serve(SECRET, unverified="refuse")
    for n, path in enumerate(paths):
        body = path.read_bytes()
        assert post(receiver.url, body, signed(body, f"msg_{n}")) == 200, path.name
    assert [one.body for one in deliveries_of(inbox)] == [path.read_bytes() for path in paths]
    assert len(inbox.frame()) == 161
    for name in ("messages", "statuses", "reactions", "media", "flow_answers"):
        assert len(getattr(inbox, name)()), name


def test_the_profile_says_which_fields_and_which_scheme(url: str) -> None:
    profile = ServiceProfile(
        event_kind_field="type", event_data_field="payload", signature_scheme="sha256_hex"
    )
    with Inbox(url, profile=profile) as inbox:
        receiver = inbox.serve(SECRET)
        body = json.dumps({"type": "a", "payload": message(1)}).encode()
        post(receiver.url, body, sign("sha256_hex", SECRET, "-", 0, body))
        assert inbox.messages()["text"].tolist() == ["words 1"]
        assert inbox.raw()["kind"].tolist() == ["a"]


def test_closing_an_inbox_stops_its_receivers(inbox: Inbox) -> None:
    receiver = inbox.serve(SECRET)
    port = int(receiver.url.rpartition(":")[2].strip("/"))
    assert port in own_ports()
    inbox.close()
    assert port not in own_ports()


def test_closing_an_inbox_stops_who_reads_on(inbox: Inbox) -> None:
    class ReadsOn:
        stopped = 0

        def stop(self) -> None:
            self.stopped += 1

    reader = ReadsOn()
    inbox._readers.add(reader)
    inbox.close()
    assert reader.stopped == 1


def test_no_secret_is_in_what_an_inbox_shows(inbox: Inbox) -> None:
    receiver = inbox.serve([SECRET, OTHER])
    body = written(message(1))
    post(receiver.url, body, signed(body) | {"authorization": f"Bearer {OTHER}"})
    output = [repr(inbox), repr(receiver), repr(inbox.delivery(1)), inbox.raw().to_csv()]
    assert not any(secret in text for secret in (SECRET, OTHER) for text in output)


def test_a_receiver_loads_no_pandas_and_does_not_keep_a_process_that_forgot_it(
    tmp_path: Path,
) -> None:
    code = """
import sys
from chatkit.inbox import Inbox
kept = Inbox(sys.argv[1]).serve()
sys.exit("pandas" in sys.modules)
"""
    command = [sys.executable, "-c", code, str(tmp_path / "inbox.sqlite")]
    assert subprocess.run(command, check=False, timeout=30).returncode == 0


# --- verified later than it came --------------------------------------------------------


def test_the_past_is_verified_when_its_secret_is_found(inbox: Inbox) -> None:
    with inbox.serve() as receiver:
        for number in range(3):
            body = moved(status("a", ("sent", "delivered", "read")[number], number))
            post(receiver.url, body, signed(body, f"msg_{number}"))
        forged = moved(status("a", "failed"))
        post(receiver.url, forged, signed(forged, "msg_0", OTHER))
    mark = inbox.last
    assert len(inbox.statuses()) == 0
    assert inbox.verify(SECRET) == 3
    assert inbox.verify(SECRET) == 0, "the second time there is nothing left"
    assert inbox.statuses()["status"].tolist() == ["read"]
    assert len(inbox.frame(since=mark)) == 0
    assert [one.verified for one in deliveries_of(inbox, verified=None)] == [True] * 3 + [False]
    assert inbox_store(inbox).verified_later == 3


def test_repeats_of_one_delivery_are_one_whenever_they_were_verified(inbox: Inbox) -> None:
    receiver = inbox.serve()
    body = written(message(1))
    post(receiver.url, body, signed(body))
    receiver.accept(SECRET)
    post(receiver.url, body, signed(body))
    assert (len(inbox.frame()), len(inbox.raw())) == (1, 2)
    assert inbox.raw()["verified"].all()


def test_the_receivers_own_secrets_verify_the_past(inbox: Inbox) -> None:
    body = written(message(1))
    with inbox.serve() as old:
        post(old.url, body, signed(body))
    with pytest.raises(InputError, match="No signing secret is known"):
        inbox.verify()
    inbox.serve(SECRET)
    assert inbox.verify() == 1


def test_no_secret_is_in_the_database(tmp_path) -> None:
    with Inbox(tmp_path / "inbox.sqlite") as inbox:
        receiver = inbox.serve(OTHER)
        body = written(message(1))
        post(receiver.url, body, signed(body))
        receiver.accept(SECRET, OTHER)
        assert inbox.messages()["verified"].all()
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert body in kept
    assert SECRET.encode() not in kept and OTHER.encode() not in kept


# --- contacts -----------------------------------------------------------------------------


def contacts(store: InboxStore) -> list[str | None]:
    """Return the stored identifiers of each delivery."""
    with store.reading.connect() as connection:
        result = connection.exec_driver_sql("SELECT contact FROM delivery ORDER BY id")
        return [*result.scalars()]


def test_whom_a_delivery_is_of_is_found_when_it_comes(inbox: Inbox, store: InboxStore) -> None:
    receiver = inbox.serve(SECRET)
    bodies = [
        written(message(1)),
        written(message(2, who=BEN)),
        written(message(3), message(4, who=BEN)),
        b"\xff" + BEN.encode(),
        enveloped(change("flows", {"event": "FLOW_STATUS_CHANGE"})),
        written(message(5, who="user.77")),
    ]
    for n, body in enumerate(bodies):
        assert post(receiver.url, body, signed(body, f"msg_{n}")) == 200
    assert contacts(store) == [f"+{ANA}", f"+{BEN}", "", "", "", "user.77"]
    assert inbox.messages(contact=f"+{BEN}").index.tolist() == ["m2", "m4"]
    assert inbox.messages(contact=BEN).index.tolist() == ["m2", "m4"], "digits are a number too"
    assert inbox.messages(contact="user.77").index.tolist() == ["m5"]


def test_what_another_profile_finds_is_not_lost(url: str) -> None:
    """The envelope has two fields with contacts: which counts is for the reader to say."""
    body = json.dumps({"event": "a", "data": message(1), "copy": message(2, who=BEN)}).encode()
    with Inbox(url) as inbox:
        receiver = inbox.serve()
        assert post(receiver.url, body) == 200
        assert len(inbox.messages(contact=f"+{ANA}", verified=None)) == 1
        assert len(inbox.messages(contact=f"+{BEN}", verified=None)) == 0
    with Inbox(url, profile=ServiceProfile(event_data_field="copy")) as inbox:
        assert len(inbox.messages(contact=f"+{ANA}", verified=None)) == 0
        assert len(inbox.messages(contact=f"+{BEN}", verified=None)) == 1


# --- times --------------------------------------------------------------------------------

NOW = datetime(2026, 11, 20, 14, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("values", "read"),
    [
        ("now", NOW),
        ("today", datetime(2026, 11, 20, tzinfo=UTC)),
        ("Yesterday", datetime(2026, 11, 19, tzinfo=UTC)),
        ("1h", NOW - timedelta(hours=1)),
        ("1.5 hours", NOW - timedelta(minutes=90)),
        ("30 min", NOW - timedelta(minutes=30)),
        ("2 days ago", NOW - timedelta(days=2)),
        ("2 weeks", NOW - timedelta(weeks=2)),
        (timedelta(days=3), NOW - timedelta(days=3)),
        ("2026-11-19", datetime(2026, 11, 19)),  # the store reads it as UTC
        (date(2026, 11, 19), datetime(2026, 11, 19)),
        (7, 7),
        (None, None),
    ],
)
def test_a_time_is_read_as_people_write_it(values: Bound, read: object) -> None:
    assert parse_bound(values, NOW) == read


@pytest.mark.parametrize("values", ["2 moons", "", "2026-13-01", 2.5, True])
def test_what_is_no_time_is_refused_with_those_that_are(values: Any) -> None:
    with pytest.raises(InputError, match="yesterday"):
        parse_bound(values, NOW)
