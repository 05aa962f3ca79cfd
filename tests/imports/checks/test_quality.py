"""The quality table as a frame, and the frame with the safe part mended."""

import pandas as pd
import pytest
from bulk.planning import client, sandbox  # noqa: F401
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from volume import volume

import chatkit
from chatkit.imports.quality import FIXABLE

MESSY = {
    "name": ["Ana\u200b  Cruz", "JosÃ© ", None, "Zoë", "MARIA CRUZ"],
    "number": ["+1 202 555 0143", "(202) 555-0144", "2025550145", "911", None],
    "country_code": [None, "+1", "+1", "+1", "+1"],
}


@pytest.fixture
def messy():
    return pd.DataFrame(MESSY, index=pd.Index([2, 3, 4, 5, 6], name="row"))


def test_the_table_has_a_row_for_each_finding(client, messy):
    quality = client.contacts.check(messy)
    table = quality.frame()
    assert table.columns.tolist() == [
        *("row", "column", "severity", "code", "reason", "value", "suggestion", "safe")
    ]
    assert len(table) == len(quality) == len(quality.findings)
    assert {str(table[c].dtype) for c in table.columns[1:-1]} == {"str"}
    assert (str(table["row"].dtype), str(table["safe"].dtype)) == ("int64", "bool")
    first = table.iloc[0]
    assert (first["row"], first["code"], first["suggestion"]) == (2, "not split", "+1 2025550143")


def test_values_of_all_kinds_fit_into_the_table(client):
    unusual = pd.DataFrame({"name": [7, ["a"], "half \ud83d"], "number": [1.5, None, True]})
    table = client.contacts.check(unusual.astype(object)).frame()
    assert "7" in table["value"].tolist()
    assert table["row"].tolist() == sorted(table["row"].tolist())


def test_what_cannot_be_fixed_is_refused_with_what_can(client, messy):
    with pytest.raises(chatkit.errors.InputError, match=r"'duplicate' cannot be fixed.*spaces"):
        client.contacts.check(messy).fix(["duplicate"])


def test_what_is_edited_after_the_check_is_not_what_was_checked(client, messy):
    quality = client.contacts.check(messy)
    messy.loc[2, "name"] = "Somebody else"
    assert quality.fix().frame.loc[2, "name"] == "Ana Cruz"
    fixed = quality.fix().frame
    fixed.loc[2, "name"] = "Nobody"
    assert quality.fix().frame.loc[2, "name"] == "Ana Cruz"


def test_a_fixed_frame_is_still_the_frame_that_was_read(client):
    with pytest.warns(UserWarning, match="several spaces"):
        client.contacts.create(number="2025550143", country_code="+1", name="Ana  Cruz")
    frame = client.contacts.frame()
    fixed = client.contacts.check(frame).fix().frame
    assert fixed.attrs == frame.attrs
    plan = client.contacts.plan(fixed)
    assert [dict(change.after) for change in plan.changes] == [{"name": "Ana Cruz"}]
    assert "does not tell when it was read" not in repr(plan)


names = st.one_of(
    st.none(),
    st.text(st.sampled_from("Añe Ã©\u00a0\u200b\u202e\t\u0301аеЖ𝓐 \ufffd?1"), max_size=8),
)
numbers = st.one_of(
    st.none(),
    st.sampled_from(["+1 202 555 0143", "2025550143", "09876543210", "919876543210", "x"]),
    st.text("0123456789+ -", max_size=13),
)
codes = st.sampled_from([None, "+1", "+91", "91", "IN", "", "x", "+39"])


@settings(max_examples=volume(24, 600), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(names, codes, numbers), max_size=5), st.sets(st.sampled_from(FIXABLE)))
@example([("JosÃ©\u200b ", "+91", "919876543210")], {"garbled", "spaces"})
def test_what_was_fixed_is_not_found_again(client, rows, chosen):
    frame = pd.DataFrame(rows, columns=["name", "country_code", "number"], dtype="str")
    fixed = client.contacts.check(frame).fix(chosen)
    again = client.contacts.check(fixed.frame)
    assert not [f for f in again.findings if f.safe and f.code in chosen]
    assert again.fix(chosen).frame.equals(fixed.frame)
    assert len(fixed.frame) == len(frame)
    untouched = frame.index.difference(fixed.done["row"].tolist())
    assert fixed.frame.loc[untouched].equals(frame.loc[untouched])
