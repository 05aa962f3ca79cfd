"""Pseudo: a language that nobody speaks, to see how a layout bears longer and stranger texts.

Letters get accents, texts grow by 40 % as German or Finnish does, brackets show where one ends.
What a program reads stays: placeholders, addresses, and the marks of *bold*, _italic_, ~strike~
and ```monospace```. For a language from right to left the letters become Hebrew or Arabic ones.
"""

from __future__ import annotations

import re
from math import ceil
from typing import TYPE_CHECKING, Any

from chatkit.display import many
from chatkit.errors import InputError
from chatkit.localization import language
from chatkit.localization.content import grouped, source_of
from chatkit.localization.translation.units import contents, field_texts, new_draft, with_texts
from chatkit.progress import say

if TYPE_CHECKING:
    import pandas as pd

_KEPT = re.compile(r"(\{\{[^{}]*\}\}|https?://\S+|www\.\S+|\S+@\S+\.\w+)")
_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ACCENTED = "áƀçđéƒǧĥíĵķļɱñóþǫŕšţúṽŵẋýžÁƁÇĐÉƑǦĤÍĴĶĻṀÑÓÞǪŔŠŢÚṼŴẊÝŽ"
_HEBREW = "אבגדהופחטיכלמנסעצקרשתוואזת" * 2
_ARABIC = "ابجدهوزحطيكلمنسعفصقرشتثخذض" * 2
_LATIN = str.maketrans(_PLAIN, _ACCENTED)
_LETTERS = {
    "Hebr": str.maketrans(_PLAIN, _HEBREW),
    "Arab": str.maketrans(_PLAIN, _ARABIC),
}
_GROWTH = 0.4


def pseudo(
    frame: pd.DataFrame,
    source: str = "en",
    lang_code: str = "en_XA",
    *,
    right_to_left: bool | None = None,
) -> pd.DataFrame:
    """Make drafts in a language that nobody speaks, one for each content in the source language.

    Args:
        frame: As `client.templates.frame(codes, full=True)` gives it.
        source: The language they are made from.
        lang_code: The language they are said to be in; the service must know it.
        right_to_left: Whether it is; without it, what the language is.

    Returns:
        The frame with these contents, for a plan or a preview. What `check` says of their
        lengths is what would happen to a long language.

    Raises:
        InputError: There is no content in the source language, or one in the other already.
    """
    from chatkit.localization.table import assembled

    found = contents(frame)
    script = language.script(lang_code)
    if right_to_left is None:
        right_to_left = language.direction(lang_code) == "rtl"
    letters = _LETTERS.get(script, _LETTERS["Hebr"]) if right_to_left else _LATIN
    if there := [e.template_code for e in found if language.same(e.lang_code, lang_code)]:
        raise InputError(
            f"{', '.join(there[:3])} has a content in {lang_code} already. Take a language that "
            "is not in use, or leave these rows out."
        )
    new: list[dict[str, Any]] = []
    for group in grouped(found).values():
        original = source_of(group, source)
        if original is not None:
            begun = new_draft(original, lang_code)
            fields = {f: stretched(t, letters) for f, t in field_texts(original, ()).items()}
            new.append({**begun, **with_texts(begun, original, fields)})
    if not new:
        raise InputError(f"No template has a content in {source!r} to make it from.")
    say(f"{many(len(new), 'content')} in {lang_code}, made from {source}")
    return assembled(frame, {}, new)


def stretched(text: str, letters: dict[int, int] = _LATIN) -> str:
    """Return a text in other letters, longer by 40 %, between brackets."""
    parts = _KEPT.split(text)  # every second one is kept
    room = sum(c.isalpha() for part in parts[::2] for c in part)
    more = ceil(_GROWTH * sum(map(len, parts[::2])))
    passed = 0
    for place in range(0, len(parts), 2):
        said = []
        for c in parts[place]:
            times = 1
            if c.isalpha():  # each letter takes its share, so that words grow evenly
                times += more * (passed + 1) // room - more * passed // room
                passed += 1
            said.append(c.translate(letters) * times)
        parts[place] = "".join(said)
    return f"⟦{''.join(parts)}⟧"
