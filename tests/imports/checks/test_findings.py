"""What a finding says, and where."""

from chatkit.finding import SEVERITIES
from chatkit.imports.characters import Oddity
from chatkit.imports.quality import CellFinding


def test_a_finding_says_where_an_oddity_is() -> None:
    odd = Oddity("spaces", "warning", "it ends with a space", "Ana", True)
    found = CellFinding.of(odd, ("A", 7), "name", "Ana ", 3)
    assert (found.row, found.field, found.value, found.place) == (("A", 7), "name", "Ana ", 3)
    assert (found.severity, found.code, found.message) == odd[1::-1] + odd[2:3]
    assert (found.suggestion, found.safe) == ("Ana", True)


def test_an_oddity_without_a_suggestion_has_none_that_is_safe() -> None:
    assert Oddity("lost letters", "warning", "…")[3:] == (None, False)


def test_the_worst_comes_first() -> None:
    assert SEVERITIES == ("error", "warning", "note")
