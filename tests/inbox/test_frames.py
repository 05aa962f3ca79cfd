"""Frames have the right dtypes whatever strangers wrote, and one row for each thing."""

import json
from typing import Any

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from inbox.bodies import ANA, change, delivery, enveloped, message, status, taken, value

from chatkit.inbox import frames
from chatkit.inbox.events import Event


def events(*payloads: Any) -> list[Event]:
    """The events of these payloads, each in a delivery of its own."""
    return [e for n, payload in enumerate(payloads, 1) for e in taken(enveloped(payload), n)]


def messages(*contents: dict[str, Any]) -> list[Event]:
    return events(*(change("messages", value(messages=[one])) for one in contents))


def table(name: str, result: list[Event]) -> pd.DataFrame:
    return frames.TABLES[name].make_frame(result)


@pytest.mark.parametrize("name", frames.TABLES)
def test_an_empty_frame_has_the_columns_and_dtypes_of_a_full_one(name: str, shared) -> None:
    paths = sorted((shared / "samples" / "webhooks").glob("[mp]*_*.json"))
    full = table(name, [e for n, p in enumerate(paths, 1) for e in taken(p.read_bytes(), n)])
    empty = table(name, [])
    assert len(full) and not len(empty)
    assert full.dtypes.to_dict() == empty.dtypes.to_dict()
    assert full.index.name == empty.index.name == frames.TABLES[name].key


def test_the_samples_fill_each_frame(shared) -> None:
    paths = sorted((shared / "samples" / "webhooks").glob("[mp]*_*.json"))
    result = [e for n, p in enumerate(paths, 1) for e in taken(p.read_bytes(), n)]
    rows = {name: len(table(name, result)) for name in frames.TABLES}
    rows["answers"] = len(frames.make_flow_answers_frame(result))
    rows["statuses"] = len(frames.make_statuses_frame(result))
    assert rows == ROWS
    everything = table("frame", result)
    assert everything.index.is_unique and not everything["content"].isna().any()


def test_messages_are_joined_with_contacts_and_are_there_once() -> None:
    frame = table("messages", messages(message(1), message(2), message(1)))
    assert [*frame.index] == ["m1", "m2"]
    contacts = pd.DataFrame({"country_code": ["+1"], "number": [ANA[1:]], "first_name": ["Ana"]})
    contacts["contact"] = contacts.country_code + contacts.number
    joined = frame.merge(contacts, on="contact")
    assert [*joined["first_name"]] == ["Ana", "Ana"]
    assert [*joined["text"]] == ["words 1", "words 2"]


def test_a_message_tells_what_it_answers_and_what_it_changes() -> None:
    frame = table(
        "messages",
        messages(
            message(1, context={"id": "m0"}),
            message(2, "revoke", revoke={"original_message_id": "m1"}),
            message(3, "edit", edit={"original_message_id": "m1", "message": {}}),
        ),
    )
    assert frame["reply_to"].fillna("").tolist() == ["m0", "", ""]
    assert frame["changes"].fillna("").tolist() == ["", "m1", "m1"]


def test_the_last_reaction_of_each_contact_counts_whatever_the_order() -> None:
    reactions = [
        message(5, "reaction", reaction={"message_id": "a", "emoji": "👍"}),
        message(9, "reaction", reaction={"message_id": "a", "emoji": "❤"}),
        message(7, "reaction", reaction={"message_id": "a", "emoji": ""}),
        message(8, "reaction", who="447700900123", reaction={"message_id": "a"}),
    ]
    for order in (reactions, reactions[::-1]):
        frame = table("reactions", messages(*order)).sort_values("contact")
        assert frame[["contact", "removed"]].to_numpy().tolist() == [
            [f"+{ANA}", False],
            ["+447700900123", True],
        ]
        assert frame["emoji"].iloc[0] == "❤" and pd.isna(frame["emoji"].iloc[1])
    assert not len(table("messages", messages(*reactions))), "a reaction is no message"
    other = message(6, text={"body": "x"}, reaction={"message_id": "a"})
    assert not len(table("reactions", messages(other))), "a text is no reaction"


def test_files_keep_their_checksum_and_caption() -> None:
    picture = {"id": "9", "mime_type": "image/jpeg", "sha256": "abc=", "caption": "A bell"}
    frame = table("media", messages(message(1, "image", image=picture), message(2)))
    (row,) = frame.to_dict("records")
    assert (row["type"], row["media_id"], row["sha256"]) == ("image", "9", "abc=")
    assert (row["caption"], row["mime_type"]) == ("A bell", "image/jpeg")


def test_statuses_tell_how_long_each_step_took() -> None:
    steps = [status("a", "sent", 0), status("a", "read", 65), status("a", "delivered", 5)]
    steps += [status("b", "sent", 0)]
    frame = frames.make_statuses_frame(events(change("messages", value(statuses=steps))))
    assert frame.loc["a", "status"] == "read"
    assert frame.loc["a", "to_delivered"] == pd.Timedelta(seconds=5)
    assert frame.loc["a", "to_read"] == pd.Timedelta(seconds=65)
    assert pd.isna(frame.loc["b", "to_delivered"])
    assert str(frame["to_read"].dtype).startswith("timedelta64")


def answer(number: int, response: Any) -> dict[str, Any]:
    reply = {"name": "flow", "body": "Sent", "response_json": response}
    return message(number, "interactive", interactive={"type": "nfm_reply", "nfm_reply": reply})


def test_answers_of_flows_are_columns_of_their_own_kinds() -> None:
    frame = frames.make_flow_answers_frame(
        messages(
            answer(1, '{"stars": 4, "words": "good", "again": true, "of": [1]}'),
            answer(2, '{"stars": 5, "contact": "mine"}'),
            answer(3, "{broken"),
            message(4),
        )
    )
    assert [*frame.index] == ["m1", "m2", "m3"]
    assert frame["answer.stars"].astype(object).tolist()[:2] == [4, 5]
    assert str(frame["answer.stars"].dtype) == "Int64"
    assert str(frame["answer.words"].dtype) == "str"
    assert str(frame["answer.again"].dtype) == "boolean"
    assert frame["answer.of"].iloc[0] == [1]
    assert frame["contact"].iloc[1] == f"+{ANA}", "an answer never takes the place of a column"
    assert frame["answer.contact"].iloc[1] == "mine"
    assert frame["unread"].iloc[2] == "{broken" and frame["answers"].iloc[2] == {}


values = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(max_size=5)


@settings(max_examples=40)
@example([{"stars": 2**63}])
@example([{"stars": 4}, {"stars": None}])
@given(st.lists(st.dictionaries(st.text(max_size=3), values, max_size=4), max_size=4))
def test_any_answers_make_a_frame_and_none_is_lost(answers: list[dict[str, Any]]) -> None:
    frame = frames.make_flow_answers_frame(
        messages(*(answer(n, json.dumps(one)) for n, one in enumerate(answers)))
    )
    assert len(frame) == len(answers)
    assert frame["answers"].tolist() == answers


def test_a_thousand_different_answers_do_not_make_a_thousand_columns() -> None:
    many = json.dumps({f"field{n}": "x" for n in range(3000)})
    frame = frames.make_flow_answers_frame(messages(answer(1, many)))
    assert sum(name.startswith("answer.") for name in frame.columns) == 200
    assert len(frame["answers"].iloc[0]) == 3000


def test_markup_of_strangers_is_text() -> None:
    evil = "<img src=x onerror=alert(1)>"
    frame = table("messages", messages(message(1, text={"body": evil})))
    assert frame["text"].iloc[0] == evil


def test_raw_deliveries_keep_their_order_and_size() -> None:
    result = [
        delivery(b"\xff", 1, is_json=False, reason="not JSON", headers=(("a", "b"),)),
        delivery("Zoë".encode(), 2, verified=False),
    ]
    frame = frames.RAW.make_frame(result)
    assert [*frame.index] == [1, 2] and frame["size"].tolist() == [1, 4]
    assert frame["body"].tolist() == ["\ufffd", "Zoë"]
    assert frame["headers"].iloc[0] == [["a", "b"]]
    assert frame["verified"].tolist() == [True, False]


ROWS = {
    **{"frame": 161, "messages": 61, "reactions": 2, "media": 14},
    **{"answers": 3, "statuses": 6},
}


def test_no_index_looks_like_a_decimal() -> None:
    """An event was called 1.0, and the frame of statuses of nobody has whole numbers too."""
    result = events(change("messages", value(messages=[message(1), message(2)])))
    assert [*table("frame", result).index] == ["1-0", "1-1"]
    columns = {"delivery": "Int64"}
    for name in ("frame", "messages", "reactions", "media"):
        for rows in (result, []):
            frame = table(name, rows)
            assert {n: str(frame[n].dtype) for n in columns} == columns
            assert frame.index.dtype == "str" and frame.index.name == frames.TABLES[name].key
    raw = frames.RAW.make_frame([])
    assert raw.index.dtype == frames.RAW.make_frame([delivery(b"{}")]).index.dtype == "int64"
    assert str(frames.make_statuses_frame([])["delivery"].dtype) == "Int64"
