"""Whatever the service does where its document is silent, a file can be checked and sent."""

import pandas as pd
import pytest
from profiles import SERVICES

import chatkit


@pytest.fixture(params=SERVICES[::4], ids=range(0, len(SERVICES), 4))
def client(request):
    with (
        request.param.sandbox() as sandbox,
        chatkit.connect(sandbox) as client,
    ):
        yield client


def test_under_any_profile_a_file_is_checked_fixed_and_applied(client):
    gone = client.contacts.create(number="2025550142", country_code="+1", name="Gone")
    client.contacts.delete(gone.id)
    client.contacts.create(number="2025550146", country_code="+1", name="Bo")
    numbers = ["+1 202 555 0142", "(202) 555-0143", "202-555-0144", "2025550146"]
    names = ["Ana\u200b  Cruz", "JosÃ©", "علی‌رضا", "Bo"]
    frame = pd.DataFrame({"name": names, "number": numbers})
    quality = client.contacts.check(frame, region="US")
    profile = client.profile
    report = {outcome.code for outcome in quality.findings if outcome.place == 0}
    assert ("restores" in report) is (profile.inactive_in_lists and not profile.inactive_readable)
    assert bool(quality.notes) is ("restores" not in report)
    persons = quality.fix().frame
    if profile.inactive_in_lists:  # no plan restores a contact that is listed all the same
        persons = persons.drop(index=0)
    result = client.contacts.plan(persons).apply(many=True)
    assert set(result["state"]) <= {"applied", "unchanged"}
    after = client.contacts.frame()
    held = dict(zip(after["number"], after["name"], strict=True))
    assert held["2025550143"] == "José"
    assert set(held) == {"2025550142", "2025550143", "2025550144", "2025550146"}
    again = client.contacts.check(after)
    assert not [
        outcome for outcome in again.findings if outcome.safe or outcome.severity == "error"
    ]
