"""From a messy file to contacts and back: nothing crashes, no digit and no name is changed unsaid.

Each corpus goes the whole way: import, check, fix, plan, apply in the sandbox, export, import.
"""

import csv
import io
import json
from collections import Counter

import pandas as pd
import pytest
from bulk.planning import account, client, sandbox, states  # noqa: F401
from internals import service_of

import chatkit

MESS = (
    "Full name;Mobile;Country\n"
    "Ana\u200b  Cruz;+1 202 555 0143;\n"
    "JosÃ© GarcÃ\u00ada;(202) 555-0144;+1\n"
    "علی‌رضا محمدی;(202) 555-0145;\n"
    "BO;2025550146;+1\n"
    "Ana Cruz;1-202-555-0143;\n"
    "Zoë;12345;+1\n"
)


def imported(frame, client, region=None):
    """Check, fix, plan and apply a frame; return the fixed frame and what came of it."""
    fixed = client.contacts.check(frame, region=region).fix()
    plan = client.contacts.plan(fixed.frame, skip_invalid=True)
    return fixed, plan.apply(many=True)


@pytest.mark.parametrize("write", ["to_csv", "to_xlsx"])
def test_a_messy_file_becomes_contacts_and_comes_back(client, sandbox, write):
    frame = chatkit.read_contacts(io.BytesIO(MESS.encode()), country_code="Country")
    _, result = imported(frame, client, region="+1")
    assert set(states(result)) == {"applied"}
    contacts = client.contacts.frame()
    assert dict(zip(contacts["number"], contacts["name"], strict=True)) == {
        "2025550143": "Ana Cruz",
        "2025550144": "José García",
        "2025550145": "علی‌رضا محمدی",
        "2025550146": "BO",
        "12345": "Zoë",
    }
    out = io.BytesIO()
    getattr(contacts.chatkit, write)(out)
    back = chatkit.read_contacts(out.getvalue())
    assert len(client.contacts.plan(back)) == 0
    codes = {outcome.code for outcome in client.contacts.check(back).findings}
    assert codes == {"too short"}


def test_naughty_names_go_all_the_way(client, sandbox, shared):
    strings = json.loads((shared / "corpora/blns/blns.json").read_text("utf-8"))
    names = [text for text in dict.fromkeys(strings) if text]
    numbers = [f"202555{n:04}" for n in range(len(names))]
    frame = pd.DataFrame({"name": names, "number": numbers, "country_code": "+1"})
    before = frame.copy()
    fixed, result = imported(frame, client)
    assert frame.equals(before)
    assert set(states(result)) <= {"applied", "differs"}
    expected = dict(zip(fixed.frame["number"], fixed.frame["name"], strict=True))
    contacts = client.contacts.frame()
    assert dict(zip(contacts["number"], contacts["name"], strict=True)) == expected
    changed = set(fixed.done["row"])
    kept = [(number, name) for n, (number, name) in enumerate(zip(numbers, names, strict=True))
            if n not in changed]  # fmt: skip
    assert len(kept) > 300
    assert all(expected[number] == name for number, name in kept)
    out = io.BytesIO()
    contacts.chatkit.to_csv(out)
    assert len(client.contacts.plan(chatkit.read_contacts(out.getvalue()))) == 0


def test_every_example_number_goes_all_the_way_digit_for_digit(shared):
    text = (shared / "corpora/phone/example_numbers.csv").read_text("utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    frame = pd.DataFrame({"name": "Ana", "number": [row["international"] for row in rows]})
    often = Counter(row["e164"] for row in rows)
    with account(contact_key="country_code_and_number") as (_, client):
        imported(frame, client)
        contacts = client.contacts.frame()
        held = set(contacts["country_code"] + contacts["number"])
        assert max(often.values()) > 1  # rows that say the same are one
        assert held == {*often}
        assert len(held) > 500
        out = io.BytesIO()
        contacts.chatkit.to_xlsx(out)
        back = chatkit.read_contacts(out.getvalue())
        assert set(back["country_code"] + back["number"]) == held
        assert len(client.contacts.plan(back)) == 0


def test_look_alike_letters_are_told_and_their_words_mended(client, shared):
    lines = (shared / "corpora/homoglyph/confusables.txt").read_text("utf-8-sig").splitlines()
    names = ["Ma" + chr(int(line.partition(" ")[0], 16)) + "ria" for line in lines
             if " ;\t" in line]  # fmt: skip
    assert len(names) > 6000
    frame = pd.DataFrame({"name": names})
    quality = client.contacts.check(frame)
    codes = {outcome.code for outcome in quality.findings}
    assert {"look-alike", "styled letters", "invisible", "mixed scripts"} <= codes
    fixed = quality.fix()
    assert len(fixed.frame) == len(frame)
    assert not [outcome for outcome in client.contacts.check(fixed.frame).findings if outcome.safe]


def test_what_people_dial_is_read_or_told(client, shared):
    inputs = json.loads((shared / "corpora/phone/parse_inputs.json").read_text("utf-8"))
    frame = pd.DataFrame({"number": [each["input"] for each in inputs]}, dtype="str")
    fixed, result = imported(frame, client, region="US")
    assert set(states(result)) == {"applied"}
    quality = client.contacts.check(fixed.frame, region="US")
    unread = {outcome.place for outcome in quality.findings}
    sent = len(client.contacts.frame())
    assert sent == len(result)
    assert sent + len(unread) >= len(frame)


def test_tags_that_come_back_from_a_file_are_no_edit(client, sandbox):
    made = client.contacts.create(number="2025550143", country_code="+1", name="Ana")
    service_of(sandbox).contacts.set_readonly_fields(
        made.id, sandbox.account_id, tags=["vip", {"id": 7}]
    )
    contacts = client.contacts.frame()
    assert contacts.loc[made.id, "tags"] == ["vip", {"id": 7}]
    for write in (contacts.chatkit.to_csv, contacts.chatkit.to_xlsx):
        out = io.BytesIO()
        write(out)
        plan = client.contacts.plan(chatkit.read_contacts(out.getvalue()))
        assert (len(plan), len(plan.refused)) == (0, 0)
