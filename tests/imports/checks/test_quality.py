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


def test_a_table_of_nothing_has_its_columns(client):
    quality = client.contacts.check(pd.DataFrame({"name": ["Ana"]}))
    assert (len(quality), len(quality.frame())) == (0, 0)
    assert "reason" in quality.frame()
    fixed = quality.fix()
    assert len(fixed.done) == 0 and "after" in fixed.done
    assert fixed.frame.equals(pd.DataFrame({"name": ["Ana"]}))


def test_values_of_all_kinds_fit_into_the_table(client):
    unusual = pd.DataFrame({"name": [7, ["a"], "half \ud83d"], "number": [1.5, None, True]})
    table = client.contacts.check(unusual.astype(object)).frame()
    assert "7" in table["value"].tolist()
    assert table["row"].tolist() == sorted(table["row"].tolist())


def test_fix_takes_the_safe_suggestions_in_a_new_frame(client, messy):
    before = messy.copy()
    fixed = client.contacts.check(messy).fix()
    assert messy.equals(before)
    expected = {
        "name": ["Ana Cruz", "José", None, "Zoë", "MARIA CRUZ"],
        "number": ["2025550143", "2025550144", "2025550145", "911", None],
        "country_code": ["+1"] * 5,
    }
    pd.testing.assert_frame_equal(fixed.frame, pd.DataFrame(expected, index=messy.index))


def test_fix_lists_each_cell_with_what_it_was(client, messy):
    done = client.contacts.check(messy).fix().done
    assert done.astype(object).where(done.notna(), None).values.tolist() == [
        [2, "name", "invisible, spaces", "Ana\u200b  Cruz", "Ana Cruz"],
        [2, "country_code", "not split", None, "+1"],
        [2, "number", "not split", "+1 202 555 0143", "2025550143"],
        [3, "name", "garbled", "JosÃ© ", "José"],
        [3, "number", "not split", "(202) 555-0144", "2025550144"],
    ]


def test_fix_takes_only_the_codes_that_are_named(client, messy):
    quality = client.contacts.check(messy)
    fixed = quality.fix("spaces").frame
    assert fixed["name"].tolist()[:2] == ["Ana\u200b Cruz", "JosÃ© "]
    assert fixed["number"].equals(messy["number"])
    fixed = quality.fix(["not split"]).frame
    assert fixed["name"].equals(messy["name"])
    assert len(quality.fix([]).done) == 0


def test_what_cannot_be_fixed_is_refused_with_what_can(client, messy):
    with pytest.raises(chatkit.errors.InputError, match=r"'duplicate' cannot be fixed.*spaces"):
        client.contacts.check(messy).fix(["duplicate"])


def test_a_column_of_country_codes_is_made_where_there_was_none(client):
    frame = pd.DataFrame({"name": ["Ana", "Bo"], "number": ["+1 202 555 0143", "911"]})
    fixed = client.contacts.check(frame).fix().frame
    assert fixed.columns.tolist() == ["name", "country_code", "number"]
    assert fixed["country_code"].tolist()[0] == "+1"
    assert fixed["country_code"].isna().tolist() == [False, True]
    assert "country_code" not in frame


def test_duplicates_are_told_and_never_dropped(client):
    frame = pd.DataFrame({"number": ["+1 202 555 0143"] * 3 + ["2025550143"]})
    fixed = client.contacts.check(frame, region="US").fix().frame
    assert fixed["number"].tolist() == ["2025550143"] * 4
    codes = [result.code for result in client.contacts.check(fixed).findings]
    assert codes == ["duplicate"] * 3


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


def test_rows_of_one_label_are_fixed_each_for_itself(client):
    frame = pd.DataFrame({"name": ["Ana ", "Bo", "Cem "]}, index=["x", "x", "x"])
    fixed = client.contacts.check(frame).fix()
    assert fixed.frame["name"].tolist() == ["Ana", "Bo", "Cem"]
    assert fixed.done["row"].tolist() == ["x", "x"]


def test_objects_stay_objects(client):
    frame = pd.DataFrame({"name": pd.Series(["Ana ", 7, None, ["x"]], dtype=object)})
    fixed = client.contacts.check(frame).fix().frame
    assert fixed["name"].tolist() == ["Ana", 7, None, ["x"]]


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
