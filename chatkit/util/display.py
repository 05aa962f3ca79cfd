"""Display: values, and both sides of a change, as short and safe texts.

The values were written by strangers. A character that would not be seen, or that changes how
the rest is read (control characters, direction marks, zero-width characters), is spelled out:
⟨U+202E⟩.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from html import escape
from itertools import accumulate, takewhile, zip_longest
from typing import Any, Literal, NamedTuple

LONG, AROUND = 60, 20  #: characters of a value, and of what is kept before a difference
#: Stands for what one side does not have.
MISSING: Any = type("Missing", (), {"__repr__": lambda self: "(absent)"})()

# Joiners and variation selectors are kept where they shape what stands beside them: Persian and
# Indic words (also at the end, after a virama), emoji, old forms of Han. Anywhere else they are
# as invisible as the blanks.
_SHAPING = re.compile(
    "(?<=[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca])[\u200c\u200d]|"
    "(?<=[\u0600-\u1cff\u2190-\u2bff\ua840-\uabff\ufe0f\U0001f000-\U0001faff])[\u200c\u200d]"
    "(?=[\u0600-\u1cff\u2190-\u2bff\ua840-\uabff\U0001f000-\U0001faff])"
    "|(?<=[0-9#*\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff])[\ufe0e\ufe0f]"
    "|(?<=[\u3400-\u9fff\U00020000-\U000323af])[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


# --- texts and counts -----------------------------------------------------------------------


def visible(text: str) -> str:
    """Spell out the characters that are invisible, or change how the rest is read."""
    return "".join(_spelled_characters(text))


def escaped(text: str) -> str:
    """Escape a text for HTML, and make all of its characters visible."""
    return escape(visible(text))


def cut(text: str, width: int = LONG, *, strict: bool = False) -> str:
    """Make all characters of a text visible, and cut it to a width."""
    units = _spelled_characters(text[: width + 1], strict=strict)
    for n, used in enumerate(accumulate(map(len, units))):
        if used > width:
            return "".join(units[: max(n - 1, 1)]) + "…"
    return "".join(units)


def shorten(text: str, most: int = LONG) -> str:
    """Cut a text that is visible already, as a `repr` is, to a width."""
    return text if len(text) <= most else text[: most - 1] + "…"


def cut_middle(text: str, width: int) -> str:
    """Cut a text in its middle, so that its end stays visible."""
    if len(text) <= width:
        return cut(text, width)
    half = (width - 1) // 2
    return f"{cut(text[:half], half)}…{cut(text[-half:], half)}"


def columns(text: str) -> int:
    """Return the number of columns that a text takes in a terminal."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)


def is_right_to_left(text: str) -> bool:
    """Check if a text has letters that are written from right to left."""
    return _RIGHT_TO_LEFT.search(text) is not None


def find_invisible_characters(text: str) -> list[int]:
    """Return the positions of characters that are invisible, or change how the rest is read."""
    if text.isprintable() and (text.isascii() or not _BLANK.search(text)):
        return []
    shaping = {match.start() for match in _SHAPING.finditer(text)}
    return [n for n, c in enumerate(text) if n not in shaping and not _is_visible(c)]


def has_half_character(text: str) -> bool:
    """Check if a text holds half a character, which no file and no call can hold."""
    try:
        return not text.isascii() and not text.encode()
    except UnicodeEncodeError:
        return True


def _spelled_characters(text: str, *, strict: bool = False) -> list[str]:
    """Split a text into characters, spelled out where they would not be seen.

    With `strict`, for texts that look alike, whatever is beyond ASCII is spelled out too.
    """
    if text.isascii() and text.isprintable():
        return list(text)
    if strict:
        return [c if c.isascii() and c.isprintable() else _spell_character(c) for c in text]
    hidden = {*find_invisible_characters(text)}
    return [_spell_character(c) if n in hidden else c for n, c in enumerate(text)]


def _is_visible(c: str) -> bool:
    """Return whether a character can be seen, or is a space."""
    if c.isascii():
        return c.isprintable()
    return (c.isprintable() or unicodedata.category(c) == "Zs") and not _BLANK.match(c)


def _spell_character(c: str) -> str:
    """Spell out a character by its code point; a line break is an arrow."""
    return "↵" if c == "\n" else f"⟨U+{ord(c):04X}⟩"


def many(count: int, noun: str) -> str:
    """Return a count with its noun in the singular or the plural."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def many_are(count: int, noun: str) -> str:
    """Return a count with its noun and the verb: "1 text is", "2 texts are"."""
    return f"{many(count, noun)} {'is' if count == 1 else 'are'}"


def format_duration(seconds: float) -> str:
    """Return a duration as a text, rounded, in a fitting unit."""
    for size, noun in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= (3 if noun == "day" else 1.5) * size:
            return f"about {many(round(seconds / size), noun)}"
    if seconds >= 10:
        return f"about {10 * round(seconds / 10)} seconds"
    return f"about {many(round(seconds), 'second')}" if seconds >= 1 else "less than a second"


# --- one value ------------------------------------------------------------------------


class RenderedValue(NamedTuple):
    """A value as it is shown; of two values, `text` is where they differ.

    `head` and `tail` are what both sides share. `words` stand where there is no value.
    """

    text: str
    head: str = ""
    tail: str = ""
    kind: Literal["text", "value", "words"] = "value"
    whole: str = ""  #: all of a text, where that is asked for

    def __str__(self) -> str:
        """Return the whole value, a text in quotes."""
        whole = self.head + self.text + self.tail
        if self.kind != "text":
            return whole
        quote = "'" if '"' in whole and "'" not in whole else '"'
        return quote + whole.replace(quote, "\\" + quote) + quote


def words(text: str) -> RenderedValue:
    """Render words in place of a value."""
    return RenderedValue(text, kind="words")


def values(value: Any) -> str:
    """Return a value as a short text."""
    return str(render_value(value))


def render_value(value: Any) -> RenderedValue:
    """Render one value."""
    for special, text in ((MISSING, "(absent)"), (None, "(none)")):
        if value is special:
            return words(text)
    if isinstance(value, str):
        return RenderedValue(cut(_mark_edges(value)), kind="text") if value else words("(empty)")
    nested = isinstance(value, Mapping | list | tuple)
    return RenderedValue(cut(_summarize_nested(value) if nested else str(value)))


def _mark_edges(text: str) -> str:
    """Make the spaces at the edges of a text visible."""
    left = len(text) - len(text.lstrip(" "))
    right = max(left, len(text.rstrip(" ")))
    return "␣" * left + text[left:right] + "␣" * (len(text) - right)


def _summarize_nested(value: Mapping[str, Any] | Sequence[Any]) -> str:
    """Return a nested value as short JSON or its size, a flow document as its screens."""
    if isinstance(value, Mapping) and isinstance(screens := value.get("screens"), list):
        return f"{many(len(screens), 'screen')}, version {value.get('version', '(none)')}"
    text = _write_json_beginning(value)
    return text if len(text) <= LONG or isinstance(value, Mapping) else many(len(value), "item")


def is_small(value: Any) -> bool:
    """Check if a value is nested, but can be shown whole."""
    return isinstance(value, Mapping | list | tuple) and len(_write_json_beginning(value)) <= LONG


def _write_json_beginning(value: Any) -> str:
    """Return the beginning of a value as JSON; what is no JSON is written as `str` does."""
    encoder = json.JSONEncoder(ensure_ascii=False, check_circular=False, default=str)
    text = ""
    try:
        for piece in encoder.iterencode(value):
            text += piece
            if len(text) > LONG:
                break
    except TypeError:  # a key of an odd type
        return str(value)
    return text


def format_short_json(value: Any) -> str:
    """Return a value as JSON; a long one by its type, name and title, or its size."""
    if value is MISSING:
        return "(absent)"
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= LONG or not isinstance(value, dict | list):
        return cut(text)
    if isinstance(value, list):
        return many(len(value), "item")
    of = {key: cut(inner, 30) for key, inner in value.items() if isinstance(inner, str)}
    names = [of[key] for key in ("type", "id", "name") if key in of]
    titles = [f'"{of[key]}"' for key in ("title", "label", "text") if key in of]
    return " ".join([*names, *titles[:1]]) or cut(text)


# --- two sides ------------------------------------------------------------------------

RenderedPair = tuple[RenderedValue, RenderedValue]


def format_label(name: str) -> str:
    """Return the name of a field as people read it: `is_draft` is "Draft"."""
    words = re.sub("[_-]+", " ", re.sub("^(is|has)_|_at$", "", name))
    words = re.sub(r"\bsrc\b", "source", words)
    words = re.sub(r"\b(ai|api|http|id|json|kb|uri|url)\b", lambda match: match[0].upper(), words)
    return words[:1].upper() + words[1:]


def find_differences(name: str, before: Any, after: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the JSON pointers and values at which two nested values differ.

    They are compared as they are written: 1 is not True.
    """
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in {**before, **after}:
            a, b = before.get(key, MISSING), after.get(key, MISSING)
            if repr(a) != repr(b):
                yield from find_differences(f"{name}/{key}", a, b)
    elif isinstance(before, list) and isinstance(after, list):
        # what was put in or taken out in one place does not move the rest
        texts = [repr(item) for item in before], [repr(item) for item in after]
        head = _count_common_prefix(*texts)
        tail = _count_common_prefix(*(text[head:][::-1] for text in texts))
        items = before[head : len(before) - tail], after[head : len(after) - tail]
        for n, (a, b) in enumerate(zip_longest(*items, fillvalue=MISSING), head):
            if repr(a) != repr(b):
                yield from find_differences(f"{name}/{n}", a, b)
    else:
        yield name, before, after


def _count_common_prefix(a: Sequence[Any], b: Sequence[Any]) -> int:
    """Count the items or characters with which two sequences begin alike."""
    return sum(1 for _ in takewhile(lambda two: two[0] == two[1], zip(a, b, strict=False)))


def render_change(before: Any, after: Any) -> RenderedPair:
    """Render both sides of a change so that their difference is visible."""
    if isinstance(before, str) and isinstance(after, str) and before and after:
        return _render_texts(before, after)
    both = render_value(before), render_value(after)
    same = both[0].text == both[1].text  # "5" and 5: quotes tell them apart
    return (RenderedValue(str(both[0])), RenderedValue(str(both[1]))) if same else both


def format_json_pair(before: Any, after: Any) -> list[str]:
    """Return both sides of a change as JSON; of long texts the part where they differ."""
    if not (isinstance(before, str) and isinstance(after, str)):
        return [format_short_json(before), format_short_json(after)]
    long = max(len(before), len(after)) > LONG - 2
    start = max(_count_common_prefix(before, after) - AROUND, 0) if long else 0
    return [
        f"{'…' if start else ''}{format_short_json(value[start:])}" for value in (before, after)
    ]


#: A placeholder, a character of a script without spaces, a word with its marks, blanks, a sign.
_WORD = re.compile(
    r"\{\{[^{}]*\}\}|[\u3040-\u30ff\u3400-\u9fff]|\s+|"
    r"[^\s!-/:-@\[-`{-~\u00a1-\u00bf\u2010-\u205e\u3000-\u30ff\u3400-\u9fff\uff01-\uff0f]+|."
)


def compare_words(before: str, after: str) -> list[tuple[Literal["same", "out", "in"], str]]:
    """Compare two texts word by word; return what is the same, taken out and put in.

    >>> from chatkit.util.display import compare_words
    >>> compare_words("Your bike is ready", "Your red bike is ready")
    [('same', 'Your'), ('in', ' red'), ('same', ' bike is ready')]
    >>> compare_words("Please come by", "Now go to it")
    [('out', 'Please come by'), ('in', 'Now go to it')]
    """
    a, b = _WORD.findall(before), _WORD.findall(after)
    parts: list[tuple[Literal["same", "out", "in"], str]] = []
    steps: list[tuple[str, int, int, int, int]] = []
    for step in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        several = step[0] == "replace" and len(steps) > 1 and steps[-2][0] == "replace"
        if several and "".join(a[steps[-1][1] : step[1]]).isspace():  # words in place of words
            _, i, _, k, _ = steps[-2]
            steps[-2:] = [("replace", i, step[2], k, step[4])]
        else:
            steps.append(step)
    for kind, i, j, k, m in steps:
        parts.append(("same" if kind == "equal" else "out", "".join(a[i:j])))
        parts.append(("in", "" if kind == "equal" else "".join(b[k:m])))
    return [part for part in parts if part[1]]


def _render_texts(before: str, after: str, *, strict: bool = False) -> RenderedPair:
    """Render two texts where they differ, with some of what both share."""
    a, b = (before, after) if strict else (_mark_edges(before), _mark_edges(after))
    head = _count_common_beginning(a, b, whole_words=not strict)
    tail = _count_common_beginning(a[head:][::-1], b[head:][::-1], whole_words=not strict)
    long = max(len(a), len(b)) > LONG

    def render(whole: str) -> RenderedValue:
        """Render one of the texts: where it differs, and some of what both share."""
        end = len(whole) - tail
        first, text, last = whole[:head], whole[head:end], whole[end:]
        blank = text.isspace()
        text = cut(text, LONG - AROUND if long else LONG, strict=strict or blank)
        text = text.replace(" ", "␣") if blank else text
        if long and len(first) > AROUND:  # the last words before the difference
            ending = first[-AROUND:]
            first = "…" + (ending.partition(" ")[2].lstrip() or ending)
        width = max(LONG - AROUND - len(text), 1) if long else LONG
        return RenderedValue(text, visible(first), cut(last, width), "text")

    left, right = render(a), render(b)
    looks = [unicodedata.normalize("NFKC", _SHAPING.sub("", str(each))) for each in (left, right)]
    if not strict and looks[0] == looks[1]:  # eyes cannot tell them apart
        return _render_texts(before, after, strict=True)
    return left, right


def _count_common_beginning(a: str, b: str, *, whole_words: bool) -> int:
    """Count the characters with which two texts begin alike, in whole words if wanted."""
    n = _count_common_prefix(a, b)
    if not whole_words:
        return n
    for place in range(n, max(n - 24, -1), -1):
        ends = all(not x[place : place + 1].strip() for x in (a, b))
        if place == 0 or ends or a[place - 1].isspace():
            return place
    while n and any(unicodedata.category(c)[0] in "MC" for x in (a, b) for c in x[n - 1 : n + 1]):
        n -= 1  # never between a letter and its accent
    return n
