"""Match: each row means one record or none, and what cannot be told is refused, all of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest
from bulk.planning import Things

from chatkit.bulk.matching import Edits
from chatkit.errors import InputError

CONTACT = Things("contact", ("number",))
CONTENT = Things("content", chosen=True)
NUMBER_AND_CODE = Things("contact", ("number", "country_code"))


def contacts(*rows: tuple[Any, Any]) -> pd.DataFrame:
    """A base: ids and numbers."""
    frame = pd.DataFrame(
        {"number": pd.Series([n for _, n in rows], dtype="str"), "country_code": "+1"}
    )
    return frame.set_axis(pd.Index([key for key, _ in rows], name="id", dtype="int64"))


BASE = contacts((10, "1"), (11, "2"), (12, "3"))
TWINS = contacts((10, "1"), (11, "1"), (12, "3"))
ABROAD = contacts((10, "1"), (11, "2"), (12, "1")).assign(country_code=["+1", "+1", "+44"])
CONTENTS = pd.DataFrame(
    {"text": ["Hi", "Hola", "Bye"]},
    index=pd.MultiIndex.from_tuples(
        [("a", "en"), ("a", "es"), ("b", "en")], names=["template_code", "lang_code"]
    ),
)
SPACED = CONTENTS.rename(index={"a": "a\xa0b"})


def rows(ids: Any, **columns: Any) -> pd.DataFrame:
    """A frame with a column of ids."""
    return pd.DataFrame({"id": pd.Series(ids, dtype=object), **columns})


def codes(templates: list[Any], languages: list[Any], **columns: Any) -> pd.DataFrame:
    keys = {"template_code": templates, "lang_code": languages}
    return pd.DataFrame(keys | columns, dtype=object)


NEW_ID = "leave the id empty for a new contact, or read the frame again"
AS_TEXT = "write the template_code and lang_code as text, as the frame that was read has it"
KEEP = "keep one of them, or change the other in a plan of its own, or say duplicates=True"
ZERO_ONE = (
    "keep one of them: frame.drop(1) keeps the first, frame.drop(0) this one; "
    "skip_invalid=True takes the first"
)
NUMBER, LOST = "must be a whole number", "has lost digits: a float cannot hold so long a number"
MISSING = "no contact of the account has it"


@dataclass(frozen=True)
class Case:
    """A frame, and what its rows mean: rows of the base, and what is refused."""

    frame: pd.DataFrame
    positions: list[int]
    #: Row, column, reason and next step of each refused cell.
    refused: list[tuple[Any, str, str, str]] = field(default_factory=list)
    base: pd.DataFrame = field(default_factory=lambda: BASE)
    who: Any = field(default_factory=lambda: CONTACT)
    keys: list[Any] | None = None
    merged: dict[int, int] = field(default_factory=dict)
    duplicates: bool = False


def of_contents(frame: pd.DataFrame, positions: list[int], *refused: Any, **more: Any) -> Case:
    return Case(frame, positions, [*refused], **{"base": CONTENTS, "who": CONTENT} | more)


FLAT = CONTENTS.reset_index()
CASES = {
    # by key: a column, or a level of the index; a column counts more
    "an index": Case(BASE.iloc[[2, 0]], [2, 0], keys=[12, 10]),
    "a column": Case(BASE.reset_index().iloc[[2, 0]], [2, 0]),
    "a level": Case(BASE.set_index("number", append=True), [0, 1, 2]),
    "a column and an index": Case(BASE.assign(id=[12, 10, 11]), [2, 0, 1]),
    "two levels": of_contents(CONTENTS.iloc[[2, 1]], [2, 1]),
    "two columns": of_contents(FLAT.iloc[[2, 1]], [2, 1]),
    "a level and a column": of_contents(FLAT.set_index("lang_code"), [0, 1, 2]),
    "texts": of_contents(
        CONTENTS.loc["a"].iloc[[1, 0]].reset_index(), [1, 0],
        base=CONTENTS.loc["a"], keys=["es", "en"],
    ),
    "odd ids": Case(
        rows([True, 1.5, 2.0**53, "new", 10, None, "11", 12.0, ""]),
        [-1, -1, -1, -1, 0, -1, 1, 2, -1],
        [(n, "id", LOST if n == 2 else NUMBER, NEW_ID) for n in range(4)],
    ),
    "unknown ids": Case(
        rows([99, 10, 99.0]), [-1, 0, -1], [(n, "id", MISSING, NEW_ID) for n in (0, 2)]
    ),
    "repeated ids": Case(rows([10, 11, 10, 12, 10]), [0, 1, -1, 2, -1], merged={2: 0, 4: 0}),
    "ids repeated in other types": Case(
        rows(["10", 11, 10.0, 12, 10]), [0, 1, -1, 2, -1], merged={2: 0, 4: 0}, duplicates=True
    ),
    "a chosen key that is new": of_contents(
        codes(["a", "a", "b"], ["en", "fr", "es"]), [0, -1, -1],
        keys=[("a", "en"), ("a", "fr"), ("b", "es")],
    ),
    "a repeated chosen key": of_contents(
        codes([*"aabb"], ["en", "en", "fr", "fr"], text=["Hi", "Ho", None, "Salut"]),
        [0, -1, -1, -1],
        (1, "text", "row 0 is the same content with another text: 'Hi' there, 'Ho' here",
         ZERO_ONE),
        merged={3: 2},
    ),
    "a chosen key that is no text": of_contents(
        codes(["a", 5, None, ""], [7, "en", "en", "en"]), [-1] * 4,
        (1, "template_code", "must be text", AS_TEXT), (0, "lang_code", "must be text", AS_TEXT),
        keys=[None] * 4,
    ),
    "half a key": of_contents(pd.DataFrame({"lang_code": ["en"]}), [-1], keys=[None]),
    # nothing
    "no rows": Case(BASE.iloc[:0], []),
    "no base": Case(rows([10]), [-1], [(0, "id", MISSING, NEW_ID)], BASE.iloc[:0]),
    "no base and no id": Case(rows([None], number=["5"]), [-1], base=BASE.iloc[:0]),
    "no contents": of_contents(CONTENTS, [-1] * 3, base=CONTENTS.iloc[:0]),
    # an index without a name
    "numbers of rows": Case(
        contacts((0, "1"), (1, "2"), (5, "3")).reset_index(drop=True), [0, 1, 2],
        base=contacts((0, "1"), (1, "2"), (5, "3")),
    ),
    "labels of others": Case(
        contacts((0, "3"), (5, "2")).rename_axis(None), [2, 1],
        base=contacts((0, "1"), (1, "2"), (5, "3")),
    ),
    "new rows beside read ones": Case(
        pd.concat([BASE.reset_index(), pd.DataFrame({"number": ["7"]})]), [0, 1, 2, -1]
    ),
    # by natural key
    "a natural key": Case(
        rows([None, 10, None], number=["3", "1", "9 9"]), [2, 0, -1], keys=[12, 10, None]
    ),
    "the first record": Case(pd.DataFrame({"number": ["1"]}), [0], keys=[10]),
    "no natural key": Case(pd.DataFrame({"number": [None, None], "name": ["a", "b"]}), [-1, -1]),
    **{
        f"a natural key of two records, duplicates {duplicates}": Case(
            pd.DataFrame({"number": ["1", "3"]}), [-1, 2],
            [(0, "number", "2 contacts have it", "add the id of the one that is meant")],
            TWINS, duplicates=duplicates,
        )
        for duplicates in (False, True)
    },
    "a new natural key in two rows": Case(
        pd.DataFrame({"number": [None, "7", "8", "7"]}), [-1] * 4, merged={3: 1}
    ),
    "a known natural key in two rows": Case(
        pd.DataFrame({"number": [None, "3", "8", "3"]}), [-1, 2, -1, -1], merged={3: 1}
    ),
    "the natural key of another row": Case(
        rows([10, None], number=["1", "1"]), [0, -1],
        [(1, "number", "the contact with the id 10 has it, and is in another row", KEEP)],
    ),
    "the natural key of another record": Case(
        rows([10, 11], number=["3", "2"]), [-1, 1],
        [(0, "number", "the contact with the id 12 has it", KEEP)],
    ),
    "a natural key that several rows take": Case(
        rows([10, 11, None], number=["7", "7", "7"]), [-1] * 3,
        [(n, "number", "3 rows have it", KEEP) for n in (2, 0, 1)],
    ),
    "a natural key that two rows take": Case(
        rows([10, None], number=["7", "7"]), [-1, -1],
        [(n, "number", "2 rows have it", KEEP) for n in (1, 0)],
    ),
    "a natural key that another row leaves": Case(rows([10, 11], number=["2", "1"]), [0, 1]),
    "a natural key that is no other": Case(rows([10], number=["1 "]), [0], base=TWINS),
    "a part of a natural key": Case(
        rows([10, 11], country_code=["+44", None]), [-1, 1],
        [(0, "number", "the contact with the id 12 has it", KEEP)], ABROAD, NUMBER_AND_CODE,
    ),
    "doubles that are allowed": Case(
        rows([10, None, None, None, None, None], number=["1", "1", "2", "2", "7", "7"]),
        [0, -1, 1, -1, -1, -1], duplicates=True,
    ),
    "a name that could do harm": Case(
        codes(["a\xa0b", None], ["en", None], text=["Hi", "Hi"]), [0, -1],
        [(1, "text", "the content with the template_code and lang_code ('a\\xa0b', 'en') has it, "
          "and is in another row", KEEP)],
        SPACED, Things("content", ("text",), chosen=True),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_each_row_means_one_record_or_none(name: str) -> None:
    case = CASES[name]
    edits = Edits(case.frame, case.base, case.who, duplicates=case.duplicates)
    assert edits.positions.tolist() == case.positions
    cells = edits.refusals.cells
    assert [(c.row, c.column, c.reason, c.next_step) for c in cells] == case.refused
    assert edits.merged == case.merged
    out = {*edits.merged, *edits.refusals.rows}
    assert {*edits.new} == {*np.flatnonzero(edits.positions < 0)} - out
    if case.keys is not None:
        assert [edits.key(row) for row in range(len(case.frame))] == case.keys


# --- an index that lost its name ------------------------------------------------------------

ANEW = pd.DataFrame({"number": ["7"], "country_code": ["+1"]})
NAMELESS = CONTENTS.rename_axis([None, None])


@pytest.mark.parametrize(
    ("frame", "base", "who", "message"),
    [
        (pd.concat([BASE, ANEW]), BASE, CONTACT,
         "The index of this frame holds the id of each row, but has lost its name (pd.concat does "
         "that): set frame.index.name = 'id', or make the frame with "
         "pd.concat([contacts.reset_index(), new]), where new rows have no id."),
        (BASE.iloc[:1].rename_axis(None), BASE, CONTACT, "lost its name"),
        *((BASE.set_axis(pd.Index(ids)), BASE, CONTACT, "lost its name")
          for ids in ([10.0, 11.0, 12.0], ["10", "11", "12"],
                      pd.Series([10, 11, 12], dtype="Int64"))),
        (NAMELESS, CONTENTS, CONTENT, "names = ['template_code', 'lang_code']"),
        (CONTENTS.loc["a"].rename_axis(None), CONTENTS.loc["a"], CONTENT,
         "set frame.index.name = 'lang_code', or make the frame with "
         "pd.concat([contents.reset_index(), new])."),
    ],
)  # fmt: skip
def test_keys_in_an_index_without_a_name_are_one_clear_problem(frame, base, who, message) -> None:
    with pytest.raises(InputError) as caught:
        Edits(frame, base, who)
    assert message in str(caught.value)
