"""Match: each row means one record or none, and what cannot be told is refused, all of it."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from bulk.planning import Things

from chatkit.bulk.matching import Edits
from chatkit.errors import InputError

CONTACT = Things("contact", ("number",))
CONTENT = Things("content", chosen=True)


def contacts(*rows: tuple[Any, Any]) -> pd.DataFrame:
    """A base: ids and numbers."""
    frame = pd.DataFrame(
        {"number": pd.Series([n for _, n in rows], dtype="str"), "country_code": "+1"}
    )
    return frame.set_axis(pd.Index([key for key, _ in rows], name="id", dtype="int64"))


BASE = contacts((10, "1"), (11, "2"), (12, "3"))
CONTENTS = pd.DataFrame(
    {"text": ["Hi", "Hola", "Bye"]},
    index=pd.MultiIndex.from_tuples(
        [("a", "en"), ("a", "es"), ("b", "en")], names=["template_code", "lang_code"]
    ),
)


def matched(
    frame: pd.DataFrame, base: pd.DataFrame = BASE, who: Any = CONTACT, **how: Any
) -> Edits:
    edits = Edits(frame, base, who, duplicates=how.get("duplicates", False))
    out = [*edits.merged, *(refusal.row for refusal in edits.refused)]
    assert (edits.positions[out] == -1).all()
    assert {*edits.new} == {*np.flatnonzero(edits.positions < 0)} - {*out}
    return edits


def refusals(match: Edits) -> list[tuple[Any, ...]]:
    return [refusal[:4] for refusal in match.refused]


def rows(ids: Any, **columns: Any) -> pd.DataFrame:
    """A frame with a column of ids."""
    return pd.DataFrame({"id": pd.Series(ids), **columns})


# --- by key ---------------------------------------------------------------------------------


def test_a_key_is_a_column_or_a_level_of_the_index() -> None:
    assert matched(BASE.iloc[[2, 0]]).positions.tolist() == [2, 0]
    assert matched(BASE.reset_index().iloc[[2, 0]]).positions.tolist() == [2, 0]
    assert matched(BASE.set_index("number", append=True)).positions.tolist() == [0, 1, 2]
    assert matched(CONTENTS.iloc[[2, 1]], CONTENTS, CONTENT).positions.tolist() == [2, 1]
    flat = CONTENTS.reset_index()
    assert matched(flat.iloc[[2, 1]], CONTENTS, CONTENT).positions.tolist() == [2, 1]
    mixed = flat.set_index("lang_code")
    assert matched(mixed, CONTENTS, CONTENT).positions.tolist() == [0, 1, 2]


def test_a_column_counts_more_than_the_index() -> None:
    frame = BASE.assign(id=[12, 10, 11])
    assert matched(frame).positions.tolist() == [2, 0, 1]


def test_one_level_of_texts_is_a_key_too() -> None:
    base = CONTENTS.loc["a"]
    match = matched(base.iloc[[1, 0]].reset_index(), base, CONTENT)
    assert match.positions.tolist() == [1, 0]
    assert [match.key(row) for row in range(2)] == ["es", "en"]


def test_all_odd_ids_are_refused_at_once_and_nothing_else() -> None:
    unusual = [True, 1.5, 2.0**53, "new", 10, None, "11", 12.0, ""]
    match = matched(rows(pd.Series(unusual, dtype=object)))
    assert match.positions.tolist() == [-1, -1, -1, -1, 0, -1, 1, 2, -1]
    assert refusals(match) == [
        (0, "id", True, "must be a whole number"),
        (1, "id", 1.5, "must be a whole number"),
        (2, "id", 2.0**53, "has lost digits: a float cannot hold so long a number"),
        (3, "id", "new", "must be a whole number"),
    ]
    assert {r.next_step for r in match.refused} == {
        "leave the id empty for a new contact, or read the frame again"
    }


def test_an_unknown_id_is_refused() -> None:
    match = matched(rows([99, 10, 99.0]))
    assert match.positions.tolist() == [-1, 0, -1]
    reason = "no contact of the account has it"
    assert refusals(match) == [(0, "id", 99, reason), (2, "id", 99, reason)]
    assert match.refused[0].next_step == (
        "leave the id empty for a new contact, or read the frame again"
    )


@pytest.mark.parametrize("ids", [[10, 11, 10, 12, 10], ["10", 11, 10.0, 12, 10]])
def test_rows_of_one_id_that_say_the_same_are_the_first_of_them(ids: list[Any]) -> None:
    match = matched(rows(pd.Series(ids, dtype=object)))
    assert match.positions.tolist() == [0, 1, -1, 2, -1]
    assert match.merged == {2: 0, 4: 0} and match.refused == []
    assert matched(rows(ids), duplicates=True).positions.tolist() == match.positions.tolist()


def test_a_chosen_key_that_the_base_has_not_is_new() -> None:
    frame = pd.DataFrame({"template_code": ["a", "a", "b"], "lang_code": ["en", "fr", "es"]})
    match = matched(frame, CONTENTS, CONTENT)
    assert match.positions.tolist() == [0, -1, -1]
    assert [match.key(row) for row in range(3)] == [("a", "en"), ("a", "fr"), ("b", "es")]
    assert match.refused == []


def test_of_rows_of_a_chosen_key_that_differ_all_but_the_first_are_refused() -> None:
    frame = pd.DataFrame({"template_code": list("aabb"), "lang_code": ["en", "en", "fr", "fr"]})
    frame["text"] = ["Hi", "Ho", None, "Salut"]
    match = matched(frame, CONTENTS, CONTENT)
    assert match.positions.tolist() == [0, -1, -1, -1]
    assert match.merged == {3: 2} and match.new.tolist() == [2]
    reason = "row 0 is the same content with another text: 'Hi' there, 'Ho' here"
    assert refusals(match) == [(1, "text", "Ho", reason)]
    assert match.refused[0].next_step == (
        "keep one of them: frame.drop(1) keeps the first, frame.drop(0) this one; "
        "skip_invalid=True takes the first"
    )


def test_a_key_that_should_be_text_is_refused_as_a_number() -> None:
    frame = pd.DataFrame(
        {"template_code": ["a", 5, None, ""], "lang_code": [7, "en", "en", "en"]}, dtype=object
    )
    match = matched(frame, CONTENTS, CONTENT)
    assert refusals(match) == [
        (1, "template_code", 5, "must be text"),
        (0, "lang_code", 7, "must be text"),
    ]
    assert [match.key(row) for row in range(4)] == [None] * 4
    assert "as text" in match.refused[0].next_step


def test_half_a_key_is_none() -> None:
    match = matched(pd.DataFrame({"lang_code": ["en"]}), CONTENTS, CONTENT)
    assert match.positions.tolist() == [-1]
    assert match.key(0) is None
    assert match.refused == []


def test_empty_frames_and_empty_bases() -> None:
    assert matched(BASE.iloc[:0]).positions.tolist() == []
    assert matched(BASE.iloc[:0], BASE.iloc[:0]).refused == []
    assert refusals(matched(rows([10]), BASE.iloc[:0]))[0][:3] == (0, "id", 10)
    match = matched(rows([None], number=["5"]), BASE.iloc[:0])
    assert match.positions.tolist() == [-1]
    assert match.refused == []
    for frame in (CONTENTS.iloc[:0], CONTENTS):
        match = matched(frame, CONTENTS.iloc[:0], CONTENT)
        assert match.positions.tolist() == [-1] * len(frame)
        assert match.refused == []


# --- an index that lost its name ------------------------------------------------------------


def test_ids_in_an_index_without_a_name_are_one_clear_problem() -> None:
    new = pd.DataFrame({"number": ["7"], "country_code": ["+1"]})
    with pytest.raises(InputError) as caught:
        matched(pd.concat([BASE, new]))
    assert str(caught.value) == (
        "The index of this frame holds the id of each row, but has lost its name (pd.concat does "
        "that): set frame.index.name = 'id', or make the frame with "
        "pd.concat([contacts.reset_index(), new]), where new rows have no id."
    )


def test_both_ways_out_of_it_work() -> None:
    new = pd.DataFrame({"number": ["7"], "country_code": ["+1"]})
    match = matched(pd.concat([BASE.reset_index(), new]))
    assert match.positions.tolist() == [0, 1, 2, -1]
    assert match.refused == []
    named = pd.concat([BASE, BASE.iloc[:0].rename_axis(None)])
    named.index.name = "id"
    assert matched(named).positions.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "index", [[10.0, 11.0, 12.0], ["10", "11", "12"], pd.Series([10, 11, 12], dtype="Int64")]
)
def test_ids_are_seen_in_an_index_of_any_dtype(index: Any) -> None:
    with pytest.raises(InputError, match="lost its name"):
        matched(BASE.set_axis(pd.Index(index)))


def test_texts_that_are_keys_are_seen_too() -> None:
    frame = CONTENTS.copy()
    frame.index.names = [None, None]
    with pytest.raises(InputError, match=r"names = \['template_code', 'lang_code'\]"):
        matched(frame, CONTENTS, CONTENT)
    with pytest.raises(InputError, match=r"name = 'lang_code', or .*new\]\)\.$"):
        matched(frame.loc["a"].rename_axis(None), CONTENTS.loc["a"], CONTENT)


def test_numbers_that_only_look_like_ids_are_not_taken_for_them() -> None:
    base = contacts((0, "1"), (1, "2"), (5, "3"))
    fresh = base.reset_index(drop=True)  # numbers of rows, as pandas gives them
    assert matched(fresh, base).positions.tolist() == [0, 1, 2]
    filtered = fresh.iloc[[2, 1]].set_axis(pd.Index([0, 5]))  # labels of other records
    assert matched(filtered, base).positions.tolist() == [2, 1]


# --- by natural key -------------------------------------------------------------------------


def test_a_row_without_a_key_is_found_by_its_natural_key() -> None:
    frame = rows([None, 10, None], number=["3", "1", "9 9"])
    match = matched(frame)
    assert match.positions.tolist() == [2, 0, -1]
    assert [match.key(row) for row in range(3)] == [12, 10, None]
    assert match.refused == []


def test_the_first_record_is_found_too() -> None:
    match = matched(pd.DataFrame({"number": ["1"]}))
    assert match.positions.tolist() == [0]
    assert match.key(0) == 10
    with pytest.raises(InputError, match="lost its name"):
        matched(BASE.iloc[:1].rename_axis(None))


def test_a_row_that_says_nothing_is_new_and_never_a_double() -> None:
    match = matched(pd.DataFrame({"number": [None, None], "name": ["a", "b"]}))
    assert match.positions.tolist() == [-1, -1]
    assert match.refused == []


def test_a_natural_key_of_two_records_cannot_say_which() -> None:
    base = contacts((10, "1"), (11, "1"), (12, "3"))
    match = matched(pd.DataFrame({"number": ["1", "3"]}), base)
    assert match.positions.tolist() == [-1, 2]
    assert refusals(match) == [(0, "number", "1", "2 contacts have it")]
    assert match.refused[0].next_step == "add the id of the one that is meant"
    assert matched(pd.DataFrame({"number": ["1"]}), base, duplicates=True).refused


@pytest.mark.parametrize("number", ["7", "3"])  # new, and known
def test_rows_of_one_natural_key_that_say_the_same_are_the_first_of_them(number: str) -> None:
    frame = pd.DataFrame({"number": [None, number, "8", number]})
    match = matched(frame)
    assert match.positions.tolist() == [-1, 2 if number == "3" else -1, -1, -1]
    assert match.merged == {3: 1} and match.refused == []


def test_a_row_without_a_key_may_not_mean_the_record_of_another_row() -> None:
    match = matched(rows([10, None], number=["1", "1"]))
    assert match.positions.tolist() == [0, -1]
    assert refusals(match) == [
        (1, "number", "1", "the contact with the id 10 has it, and is in another row")
    ]


def test_an_edited_natural_key_may_not_be_that_of_another_record() -> None:
    match = matched(rows([10, 11], number=["3", "2"]))
    assert match.positions.tolist() == [-1, 1]
    assert refusals(match) == [(0, "number", "3", "the contact with the id 12 has it")]


def test_an_edited_natural_key_may_not_be_that_of_another_row() -> None:
    match = matched(rows([10, 11, None], number=["7", "7", "7"]))
    assert refusals(match) == [
        (2, "number", "7", "3 rows have it"),
        (0, "number", "7", "3 rows have it"),
        (1, "number", "7", "3 rows have it"),
    ]


def test_what_another_row_leaves_may_be_taken() -> None:
    match = matched(rows([10, 11], number=["2", "1"]))
    assert match.refused == []
    assert match.positions.tolist() == [0, 1]


def test_an_edit_that_leaves_the_natural_key_as_it_was_is_no_double() -> None:
    base = contacts((10, "1"), (11, "1"))  # the service has two already
    match = matched(rows([10], number=["1 "]), base)
    assert match.refused == []


def test_a_cell_that_is_na_or_not_there_counts_as_in_the_base() -> None:
    frame = pd.DataFrame({"id": [10, 11], "country_code": ["+44", None]})
    base = contacts((10, "1"), (11, "2"), (12, "1"))
    base.loc[12, "country_code"] = "+44"
    match = matched(frame, base, Things("contact", ("number", "country_code")))
    assert refusals(match) == [(0, "number", "1 +44", "the contact with the id 12 has it")]
    assert match.positions.tolist() == [-1, 1]


def test_doubles_are_allowed_by_name_and_one_record_goes_to_one_row() -> None:
    frame = rows([10, None, None, None, None, None], number=["1", "1", "2", "2", "7", "7"])
    match = matched(frame, duplicates=True)
    assert match.refused == []
    assert match.positions.tolist() == [0, -1, 1, -1, -1, -1]


def test_names_in_messages_are_shown_so_that_they_can_do_no_harm() -> None:
    base = CONTENTS.rename(index={"a": "a\xa0b"})
    who = Things("content", ("text",), chosen=True)
    frame = pd.DataFrame(
        {"template_code": ["a\xa0b", None], "lang_code": ["en", None], "text": ["Hi", "Hi"]}
    )
    [refusal] = matched(frame, base, who).refused
    assert refusal.reason == (
        "the content with the template_code and lang_code ('a\\xa0b', 'en') has it, "
        "and is in another row"
    )
