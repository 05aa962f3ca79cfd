"""Customers without a telephone number: a table of deliveries, and what the frames show.

The fields and their absence are those of the platform's page on business-scoped user ids.
"""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from inbox.bodies import ANA, START, change, enveloped, keep, status, taken

from chatkit.inbox.events import time_of
from chatkit.inbox.inbox import Inbox

PIA, QUY, PARENT = "US.13491208655302741918", "BR.9", "US.ENT.11815799212886844830"
SHOP = "15550100"


def wrote(**ids: Any) -> dict[str, Any]:
    return {"id": "m", "timestamp": str(START), "type": "text", "text": {"body": "hi"}, **ids}


def reached(**ids: Any) -> dict[str, Any]:
    return {"id": "m", "timestamp": str(START), "status": "delivered", **ids}


def person(name: str | None = "Pia", username: str | None = None, **ids: Any) -> dict[str, Any]:
    return {"profile": {"name": name, "username": username}, **ids}


def batch(*contacts: dict[str, Any], field: str = "messages", **lists: Any) -> dict[str, Any]:
    number = {"display_phone_number": SHOP, "phone_number_id": "77"}
    return change(field, {"metadata": number, "contacts": [*contacts], **lists})


OTHER = person("Quy", user_id=QUY)
ECHO = {"from": SHOP, "to_user_id": PIA}
DELIVERIES: dict[str, tuple[Any, str, str | None, str | None]] = {
    "of several people, by user id": (
        batch(OTHER, person(user_id=PIA), messages=[wrote(from_user_id=PIA)]),
        "message", PIA, "Pia"),
    "a number that is empty": (
        batch(OTHER, person(wa_id="", user_id=PIA), messages=[
            wrote(**{"from": "", "from_user_id": PIA})]), "message", PIA, "Pia"),
    "a number that is null": (
        batch(OTHER, person(wa_id=None, user_id=PIA), messages=[
            wrote(**{"from": None, "from_user_id": PIA})]), "message", PIA, "Pia"),
    "a user id in place of the number": (
        batch(OTHER, person(wa_id=PIA), messages=[wrote(**{"from": PIA})]), "message", PIA, "Pia"),
    "the id of a parent business": (
        batch(OTHER, person(parent_user_id=PARENT), messages=[
            wrote(from_parent_user_id=PARENT)]), "message", PARENT, "Pia"),
    "by the parent's id where the other is misspelt": (
        batch(OTHER, person(user_id=f"u{PIA}", parent_user_id=PARENT), messages=[
            wrote(from_user_id=PIA, from_parent_user_id=PARENT)]), "message", PIA, "Pia"),
    "a number that only the contacts have": (
        batch(OTHER, person(wa_id=ANA, user_id=PIA), messages=[wrote(from_user_id=PIA)]),
        "message", f"+{ANA}", "Pia"),
    "no id but that of the only contact": (
        batch(person(user_id=PIA), messages=[wrote()]), "message", PIA, "Pia"),
    "a username and no name": (
        batch(person(None, "@pia", user_id=PIA), messages=[wrote(from_user_id=PIA)]),
        "message", PIA, "@pia"),
    "an empty name": (
        batch(person("", "@pia", user_id=PIA), messages=[wrote(from_user_id=PIA)]),
        "message", PIA, "@pia"),
    "the only contact is somebody else": (
        batch(OTHER, messages=[wrote(from_user_id=PIA)]), "message", PIA, None),
    "an echo": (
        batch(person(user_id=PIA), field="smb_message_echoes", message_echoes=[wrote(**ECHO)]),
        "echo", PIA, "Pia"),
    "history": (
        batch(field="history", history=[{"threads": [{"id": PIA, "messages": [
            wrote(**{"from": SHOP})]}]}]), "message", PIA, None),
    "a thread with a user id": (
        batch(field="history", history=[{"threads": [{"user_id": PIA, "messages": [
            wrote(**{"from": SHOP})]}]}]), "message", PIA, None),
    "one message": (wrote(from_user_id=PIA), "message", PIA, None),
    "one message, its number empty": (
        wrote(**{"from": "", "from_user_id": PIA}), "message", PIA, None),
    "one message of a parent's customer": (
        wrote(from_parent_user_id=PARENT), "message", PARENT, None),
    "one message with its contact": (
        wrote(from_user_id=PIA, contacts=[person(user_id=PIA)]), "message", PIA, "Pia"),
    "one message with its contact alone": (
        wrote(contacts=[person(user_id=PIA)]), "message", PIA, "Pia"),
    "one message with a profile": (
        wrote(from_user_id=PIA, profile={"name": "Pia"}), "message", PIA, "Pia"),
    "one message to the business": (wrote(from_user_id=PIA, to=SHOP), "message", PIA, None),
    "one message of the business": (wrote(**ECHO), "echo", PIA, None),
    "address cards are not who sent them": (
        {"id": "m", "type": "contacts", "from_user_id": PIA, "contacts": [
            {"name": {"formatted_name": "Zoë"}}]}, "message", PIA, None),
    "a status": (
        batch(person(user_id=PIA), statuses=[reached(recipient_user_id=PIA)]),
        "status", PIA, "Pia"),
    "a status of several people": (
        batch(OTHER, person(user_id=PIA), statuses=[
            reached(recipient_id="", recipient_user_id=PIA)]),
        "status", PIA, "Pia"),
    "a status by the parent's id": (
        batch(OTHER, person(parent_user_id=PARENT), statuses=[
            reached(recipient_parent_user_id=PARENT)]), "status", PARENT, "Pia"),
    "a status in a group": (
        batch(OTHER, person(user_id=PIA), statuses=[
            reached(recipient_id="group", recipient_participant_user_id=PIA)]),
        "status", PIA, "Pia"),
    "a status in a group, of a number": (
        batch(OTHER, person(wa_id=ANA), statuses=[
            reached(recipient_id="group", recipient_participant_id=ANA,
                    recipient_participant_user_id=PIA)]),
        "status", f"+{ANA}", "Pia"),
    "a status of a group": (
        batch(statuses=[reached(recipient_id="group", recipient_type="group")]),
        "status", "group", None),
    "one status": (reached(recipient_user_id=PIA), "status", PIA, None),
    "one status with its contact alone": (
        reached(contacts=[person(user_id=PIA)]), "status", PIA, "Pia"),
    "something else with a user id": (
        {"id": "x", "type": "contact.created", "user_id": PIA}, "other", None, None),
    "a decision with a list of contacts": (
        {"id": "x", "status": "approved", "contacts": []}, "other", None, None),
}  # fmt: skip


@pytest.mark.parametrize("case", DELIVERIES)
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_customer_without_a_number_is_known_by_user_id(case: str, wrapped: bool) -> None:
    body, *expected = DELIVERIES[case]
    (event,) = taken(json.loads(enveloped(body)) if wrapped else body)
    assert [event.family, event.contact, event.name] == expected


def test_the_frames_have_them_with_name_and_id(tmp_path: Path) -> None:
    with Inbox(tmp_path / "inbox.sqlite") as inbox:
        several = [wrote(from_user_id=PIA), wrote(from_user_id=QUY) | {"id": "n"}]
        arrived = [reached(recipient_user_id=PIA), reached(recipient_user_id=QUY) | {"id": "n"}]
        people = (person(user_id=PIA), OTHER)
        keep(
            inbox._store,
            enveloped(batch(*people, messages=several)),
            enveloped(batch(*people, statuses=arrived)),
        )
        for frame in (inbox.messages(), inbox.statuses()):
            assert frame[["contact", "name"]].values.tolist() == [[PIA, "Pia"], [QUY, "Quy"]]
        assert inbox.messages(contact=QUY).index.tolist() == ["n"]


def test_a_status_without_contacts_has_no_name(tmp_path: Path) -> None:
    with Inbox(tmp_path / "inbox.sqlite") as inbox:
        keep(inbox._store, enveloped(status("m", "sent")))
        assert inbox.statuses().contact.tolist() == [f"+{ANA}"]
        assert inbox.statuses().name.isna().all()


@pytest.mark.parametrize(
    ("written", "microseconds"),
    [
        (str(START), 0),
        (START * 1000 + 250, 250_000),
        (str(START * 1000 + 250), 250_000),
        (f"{START}000250", 250),
        (f"{START}000250000", 250),
    ],
)
def test_times_finer_than_seconds_are_the_same_time(written: Any, microseconds: int) -> None:
    expected = pd.Timestamp(START, unit="s", tz=UTC) + pd.Timedelta(microseconds, "us")
    assert time_of(written) == expected.to_pydatetime()
    assert time_of(f"{written}0") is None or len(str(written)) == 10
    assert isinstance(time_of(written), datetime)
