"""Customers without a telephone number: a table of deliveries, and what the frames show.

The fields and their absence are those of the platform's page on business-scoped user ids.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from inbox.bodies import ANA, START, change, enveloped, keep, status
from internals import inbox_store

from chatkit.inbox import Inbox
from chatkit.inbox.events import parse_timestamp

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


def test_the_frames_have_them_with_name_and_id(tmp_path: Path) -> None:
    with Inbox(tmp_path / "inbox.sqlite") as inbox:
        several = [wrote(from_user_id=PIA), wrote(from_user_id=QUY) | {"id": "n"}]
        arrived = [reached(recipient_user_id=PIA), reached(recipient_user_id=QUY) | {"id": "n"}]
        persons = (person(user_id=PIA), OTHER)
        keep(
            inbox_store(inbox),
            enveloped(batch(*persons, messages=several)),
            enveloped(batch(*persons, statuses=arrived)),
        )
        for frame in (inbox.messages(), inbox.statuses()):
            assert frame[["contact", "name"]].values.tolist() == [[PIA, "Pia"], [QUY, "Quy"]]
        assert inbox.messages(contact=QUY).index.tolist() == ["n"]


def test_a_status_without_contacts_has_no_name(tmp_path: Path) -> None:
    with Inbox(tmp_path / "inbox.sqlite") as inbox:
        keep(inbox_store(inbox), enveloped(status("m", "sent")))
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
    assert parse_timestamp(written) == expected.to_pydatetime()
    assert parse_timestamp(f"{written}0") is None or len(str(written)) == 10
    assert isinstance(parse_timestamp(written), datetime)
