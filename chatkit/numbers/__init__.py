"""Telephone numbers: what people write, as country code and digits; the only phonenumbers import.

`split` reads one, `split_all` a whole column to the same result, some 30 times as fast.
"""

from chatkit.numbers.column import split_all
from chatkit.numbers.number import TYPES, VERDICTS, Number, split

__all__ = ["TYPES", "VERDICTS", "Number", "split", "split_all"]
