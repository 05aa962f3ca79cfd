"""How the numbers of a region look and are dialled, for a column of digits at once.

These are the library's patterns, used as the library uses them, but by Arrow. One that Arrow
does not understand is `Foreign`: then the library itself must look at each number.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from phonenumbers import PhoneMetadata, PhoneNumberDesc
from phonenumbers import PhoneNumberType as Type
from phonenumbers import ValidationResult as Size

from chatkit.numbers.number import SIZES, TYPES, VERDICTS
from chatkit.numbers.texts import Ints, Mask, begins, lengths, matches, replaced

#: No column of digits has longer ones, not even with a prefix put before them.
LONGEST = 30

_VERDICTS = list(VERDICTS)
_TYPES = list(TYPES.values())
_LINES = [_TYPES.index(name) for name in ("fixed line", "mobile", "fixed line or mobile")]
#: The library leaves nothing out of a number when what is left would be one of these.
_UNFIT = [_VERDICTS.index(name) for name in ("too short", "no area code", "wrong length")]


class Region:
    """The numbers of one region that has a country code, perhaps among others."""

    def __init__(self, code: int, name: str) -> None:
        data = PhoneMetadata.metadata_for_region_or_calling_code(code, name)
        if not data or not data.general_desc:
            raise LookupError(f"the library knows nothing of {name} (+{code})")
        self.code, self.data, self._general = code, data, data.general_desc
        self.sizes: Ints = np.array(
            [_VERDICTS.index(self._size(n)) for n in range(LONGEST)], np.int16
        )

    def _size(self, length: int) -> str:
        """What the library says of a number of this length that is not valid."""
        known = self._general.possible_length
        if length in self._general.possible_length_local_only:
            return SIZES[Size.IS_POSSIBLE_LOCAL_ONLY]
        if length in known:
            return SIZES[Size.IS_POSSIBLE]
        if length < known[0]:
            return SIZES[Size.TOO_SHORT]
        return SIZES[Size.TOO_LONG if length > known[-1] else Size.INVALID_LENGTH]

    def viable(self, digits: Any) -> Mask:
        """Tell which look like a number of this region."""
        return _like(digits, self._general)

    def cut(self, digits: Any) -> Any:
        """Leave out, or change, what is dialled inside the country: a 0, a carrier's code."""
        prefix = self.data.national_prefix_for_parsing
        rule = self.data.national_prefix_transform_rule
        if not prefix or not (found := begins(digits, prefix)).any():
            return digits
        whole = digits.filter(pa.array(found))
        rest = replaced(whole, f"^(?:{prefix})", "")
        if rule:
            last = replaced(whole, f"^(?:{prefix}).*$", rf"\{re.compile(prefix).groups}")
            by_rule = replaced(whole, f"^(?:{prefix})", rule)
            rest = pc.if_else(pc.equal(last, ""), rest, by_rule)
        spoilt = self.viable(whole) & ~self.viable(rest)
        rest = pc.if_else(pa.array(spoilt), whole, rest)
        return pc.replace_with_mask(digits, pa.array(found), rest)

    def significant(self, digits: Any) -> Any:
        """Cut the digits, unless too few would be left."""
        cut = self.cut(digits)
        if cut is digits:
            return digits
        unfit = np.isin(self.sizes[lengths(cut)], _UNFIT)
        return pc.if_else(pa.array(unfit), digits, cut)

    def leads(self, numbers: Any) -> Mask | None:
        """Tell which begin as only numbers of this region do; None where nothing tells that."""
        leading = self.data.leading_digits
        return None if leading is None else begins(numbers, leading)

    def types(self, numbers: Any) -> Ints:
        """The place in `TYPES` of the type of each number; -1 for one that is not valid."""
        found: Ints = np.full(len(numbers), -1, np.int16)
        if not len(numbers):
            return found
        size = lengths(numbers)
        fits = _fits(numbers, size, self._general)
        fixed = mobile = fits & _fits(numbers, size, self.data.fixed_line)
        if not self.data.same_mobile_and_fixed_line_pattern:
            mobile = fits & _fits(numbers, size, self.data.mobile)
        for type_, here in zip(_LINES, (fixed, mobile, fixed & mobile), strict=True):
            found[here] = type_
        if self._rare:
            one_of = "|".join(str(desc.national_number_pattern) for desc in self._rare.values())
            rare = np.flatnonzero(fits & matches(numbers, f"^(?:{one_of})$"))
            few = numbers.take(pa.array(rare))
            for type_, desc in reversed(self._rare.items()):  # so that the first has the last word
                found[rare[_fits(few, size[rare], desc)]] = type_
        return found

    @cached_property
    def _rare(self) -> dict[int, PhoneNumberDesc]:
        """The types that few numbers have, in the order of `TYPES`."""
        data = self.data
        descs = {
            Type.PREMIUM_RATE: data.premium_rate,
            Type.TOLL_FREE: data.toll_free,
            Type.SHARED_COST: data.shared_cost,
            Type.VOIP: data.voip,
            Type.PERSONAL_NUMBER: data.personal_number,
            Type.PAGER: data.pager,
            Type.UAN: data.uan,
            Type.VOICEMAIL: data.voicemail,
        }
        known = {type_: desc for type_, desc in descs.items() if desc is not None}
        return {
            _TYPES.index(TYPES[type_]): desc
            for type_, desc in known.items()
            if desc.national_number_pattern
        }


@cache
def region_of(code: int, name: str) -> Region:
    """The region, made once."""
    return Region(code, name)


def _fits(numbers: Any, size: Ints, desc: PhoneNumberDesc | None) -> Mask:
    like = _like(numbers, desc)
    if desc and desc.possible_length:
        like &= np.isin(size, desc.possible_length)
    return like


def _like(numbers: Any, desc: PhoneNumberDesc | None) -> Mask:
    if not desc or not desc.national_number_pattern:
        return np.zeros(len(numbers), bool)
    return matches(numbers, f"^(?:{desc.national_number_pattern})$")
