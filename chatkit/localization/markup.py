"""Markup: the signs that count in a text, those that customers read as typed, and residue.

A phone shows *bold*, _italic_, ~struck~ and `code` in the text of a message, where each sign
stands beside the end of a word. Other markup, and what programs leave behind, customers read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from html import unescape
from itertools import pairwise
from typing import Any, TypeAlias

from chatkit.localization.content import SLOT
from chatkit.localization.rules import Case, Flaw, flaw
from chatkit.localization.typography import ADDRESS, UNSPACED, find_emoji
from chatkit.util.display import cut

#: The signs, and the element that each stands for.
SIGNS = {"*": "strong", "_": "em", "~": "s", "`": "code"}
#: Where a part of a text begins and ends, and the elements that it stands in.
Tagged: TypeAlias = tuple[int, int, tuple[str, ...]]


@cache
def _sign_pattern(signs: str) -> re.Pattern[str]:
    """Return the pattern of text between two of these signs, each beside the end of a word."""
    fence = "```(?P<fence>[^`]+)```|" if "`" in signs else ""
    return re.compile(
        rf"{fence}(?<![^\W_])(?P<sign>[{re.escape(signs)}])(?=\S)(?!(?P=sign))(?P<inner>[^\n]{{0,1100}}?\S)"
        r"(?P=sign)(?![^\W_])"
    )


def tagged_parts(text: str, tags: tuple[str, ...] = (), offset: int = 0) -> Iterator[Tagged]:
    """Yield the parts of a text between its signs, each with the elements that it stands in."""
    open_ = "".join(sign for sign, tag in SIGNS.items() if tag not in tags)
    last = 0
    for match in _sign_pattern(open_).finditer(text) if open_ and "code" not in tags else ():
        yield offset + last, offset + match.start(), tags
        name = "inner" if match["sign"] else "fence"
        inside = (*tags, SIGNS[match["sign"] or "`"])
        yield from tagged_parts(match[name], inside, offset + match.start(name))
        last = match.end()
    yield offset + last, offset + len(text), tags


# --- what programs leave in texts -------------------------------------------------------------

_HTML = (
    "a|abbr|b|big|blockquote|br|center|code|del|div|em|font|h[1-6]|hr|i|img|ins|li|mark|ol|p|pre|q"
    "|s|small|span|strike|strong|sub|sup|table|tbody|td|th|tr|tt|u|ul"
)
#: Tags of HTML, of XML and of programs for translators; a word in angle brackets is none.
_TAG = (
    rf"<(?:{_HTML})(?:\s[^<>\n]*)?>|</[\w.:-]+\s*>|<[\w.:-]+\s*/>|<!\[CDATA\[|\]\]>|<!--"
    r"|<[a-z][\w.:-]*(?:\s+[\w:-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'))+\s*/?>"
    r"|\[\d+\}|\{\w{1,3}[\]>]|<\w{1,3}\}"
)
ENTITY = re.compile(
    r"&(?:[a-z][a-z0-9]{1,30}|#[0-9]{1,7}|#x[0-9a-f]{1,6});"
    r"|&(?:nbsp|quot|amp|apos|lt|gt|#39|#34|#160)(?![\w;=])",
    re.IGNORECASE,
)
#: A backslash before a sign or in place of one, and %20; \n before small letters may be a path.
#: Programs that translate put a space into it: \ n.
_ESCAPE = (
    r"(?<![\w¯:;=])\\ [nrtNRT](?!\w)"
    r"|(?<!\w)\\[nrt]|\\[nrt](?![a-z])|\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2})"
    r"|(?<![¯:;=])\\[\\'\"`~@?!%&_*#\[\]{}<>|/.,;:-]"
    r"|(?<=[^\W\d_])%(?:2[0-9A-F]|C[23]%[89AB][0-9A-F])(?![0-9])"
)
_RESIDUE = re.compile(rf"(?i:{_TAG})|(?i:{ENTITY.pattern})|{_ESCAPE}")
_MAY_HAVE_RESIDUE = re.compile(r"[]<&\\}>%]")
_PATH = re.compile(r"\b[A-Za-z]:\\\S*|(?<!\S)\\\\\w[\w.-]*\\\S*|\b(?:https?://|www\.)[^\s<>]*")


def find_residue(text: str) -> list[re.Match[str]]:
    """Return the matches of what programs leave in a text: tags, entities and escapes."""
    if not _MAY_HAVE_RESIDUE.search(text):
        return []
    rest = _PATH.sub(lambda match: " " * len(match[0]), text)
    return [
        match
        for match in _RESIDUE.finditer(rest)
        if match[0][0] != "&" or unescape(match[0]) != match[0]
    ]


# --- markup that is shown as it is typed ------------------------------------------------------

#: Letters of languages that put no space beside a sign.
_CLOSE = f"{UNSPACED}\u0e00-\u0e7f\uac00-\ud7af"
_DOUBLED_SIGNS = re.compile(
    "|".join(
        rf"(?:(?<![^\W_])|(?<=[{_CLOSE}]))(?<!{sign}){sign}{{2,3}}(?=[^\s{sign}])"
        rf"(?:[^\n]*?[^\s{sign}]{sign}{{2,3}}(?!{sign})|(?=[^\W\d_]))"
        for sign in (r"\*", "_", "~")
    )
)
#: A line between two ~ is decorated so.
_SPACED_SIGNS = re.compile(
    r"(?<![\w*_~])(?<!\d )(?<!: )(?:([*_])[ \u00a0](?=[^\W\d_])[^*_~\n]*[ \u00a0]\1"
    r"|(?<=\S )~[ \u00a0](?=[^\W\d_])[^*_~\n]*[ \u00a0]~(?=[^\S\n]?\S)"
    r"|(?<=\S )([*_~])[ \u00a0](?=[^\W\d_])[^*_~\n]*\w\2)(?![\w*_~])",
)
_OPEN_SIGN = re.compile(r"(?<![^\s\"'“”‘«»„¿¡>–—:;,/*_~\0-])([*_~])(?=[^\W\d_])|```(?=[^`])")
#: Headings and links of Markdown, and tags in square brackets.
_OTHER_MARKUP = re.compile(
    r"^#{2,6} (?=\S)|\[[^][\n]+\]\((?=0)"
    r"|\[(b|i|u|s|url|img|code|quote|color|size)(?:=[^\]\n]*)?\](?=[^\n]*\[/\1\])",
    re.MULTILINE | re.IGNORECASE,
)
#: The markup of longer texts is not read: they cannot be sent, and reading it would take long.
_MAX_READ_LENGTH = 5000
_MAY_HAVE_MARKUP = re.compile(r"[*_~`＊＿～]|^##|\[", re.MULTILINE)
_WIDE_SIGNS = str.maketrans("＊＿～", "*_~")
_LETTER = re.compile(r"[^\W\d_]")
#: What is done about markup that does not count, by what is wrong with it.
_HINTS = {
    "plain": "No bold or italic letters are here: take the signs out.",
    "doubled": "One sign on each side makes it bold or italic: *so*, _so_.",
    "spaced": "No space stands inside the signs: *so*.",
    "open": "Put the second sign behind the last letter, or take this one out.",
    "other": "Only *bold*, _italic_, ~struck~ and `code` count: write it so, or take it out.",
    "source": "In the source it counts: put each sign beside a letter inside, and a space outside.",
}


def _mask_signs(text: str) -> tuple[str, Counter[str]]:
    """Replace the signs that format a text by NUL; return the text and the count of each sign."""
    parts = [*tagged_parts(text)]
    gaps = [text[one[1] : other[0]] for one, other in pairwise(parts)]
    rest = "".join(
        text[start:end] + "\0" * len(gap)
        for (start, end, _), gap in zip(parts, [*gaps, ""], strict=True)
    )
    return rest, Counter("".join(gaps))


def _fill_placeholders(text: str, samples: Mapping[str, Any]) -> str:
    """Replace each placeholder by letters or digits, as its sample has, and addresses by digits."""
    text = ADDRESS.sub(lambda match: "0" * len(match[0]), text.replace("\0", " "))

    def fill(slot: re.Match[str]) -> str:
        letter = "a" if _LETTER.search(str(samples.get(slot[1], ""))) else "0"
        return letter * len(slot[0])

    return SLOT.sub(fill, text)


def _find_typed_markup(text: str, source: str, field: str) -> tuple[str, int, int] | None:
    """Find markup that formats nothing, so that customers read it as it is typed.

    Args:
        text: A text, without placeholders and addresses.
        source: The text that it is translated from, in the same form.
        field: Its place in the content.

    Returns:
        The kind of the fault, a key of `_HINTS`, with its start and its end; None if all is well.
    """
    rest, count = _mask_signs(text)
    if count and field != "text":
        return "plain", rest.index("\0"), rest.rindex("\0") + 1
    for kind, pattern, where in (
        ("doubled", _DOUBLED_SIGNS, text),
        ("spaced", _SPACED_SIGNS, rest),
        ("other", _OTHER_MARKUP, rest),
        ("open", _OPEN_SIGN, rest),
    ):
        for match in pattern.finditer(where):
            if match[0].strip("*_~"):
                return (kind, *match.span())
            if not _is_footnote(match, rest, field):
                return kind, match.start(), _word_end(text, match.end())
    expected = _mask_signs(source)[1]
    for at, sign in enumerate(rest.translate(_WIDE_SIGNS) if expected else ""):
        if count[sign] < expected[sign]:
            return "source", at, _word_end(text, at)
    return None


def _word_end(text: str, at: int) -> int:
    return at + len(re.split(r"\s", text[at:], maxsplit=1)[0])


def _is_footnote(match: re.Match[str], text: str, field: str) -> bool:
    """Return whether a sign before a word marks a footnote, or belongs to a picture."""
    sign, before, after = re.escape(match[0][0]), text[: match.start()], text[match.end() :]
    if re.search(rf"[^\s{sign}]{sign}(?!\w)", before):
        return True
    begins_line = not before.rpartition("\n")[2].strip()
    return begins_line and "\n" not in after.strip() and (field == "footer" or before != "")


_BREAK = "(?:\r\n?|[\n\v\f\x85\u2028\u2029])"
_LINE_BREAK = re.compile(_BREAK)
_LINE_BREAKS = re.compile(rf"\A\s*?{_BREAK}|{_BREAK}{{3,}}")
#: The code of what may not be in a text.
CODES = {
    "text": "markup",
    "headers": "header format",
    "footer": "footer format",
    "buttons": "button label format",
}


def check_markup(case: Case) -> Iterator[Flaw]:
    """Find line breaks, emoji and markup where none may be, markup without effect, and residue."""
    entry, original = case.entry, case.original
    for field, name, text in entry.pieces:
        code = CODES[field.partition(".")[0]]
        if field == "text":
            if match := _LINE_BREAKS.search(text):
                what = "has three line breaks in a row"
                what = what if match.start() else "begins with a line break"
                yield flaw("line breaks", field, match.start(), name=name, what=what)
        else:
            if match := _LINE_BREAK.search(text):
                message = f"a line break is in {name}"
                yield Flaw(code, field, message, "Take it out.", match.start())
            if not text.isascii() and (match := find_emoji(text)):
                message = f"{cut(match[0], 4)} is in {name}"
                hint = "The platform was seen to refuse this: take it out."
                yield Flaw(code, field, message, hint, match.start())
        if len(text) < _MAX_READ_LENGTH and _MAY_HAVE_MARKUP.search(text):
            source = "" if original is None else original.texts.get(field, "")
            typed = _find_typed_markup(
                _fill_placeholders(text, entry.variables),
                _fill_placeholders(source, original.variables if original else {}),
                field,
            )
            if typed:
                kind, start, end = typed
                message = f"“{cut(text[start:end], 20)}” is shown as it is written"
                yield Flaw(code, field, message, _HINTS[kind], start)
        for match in find_residue(text)[:1]:
            yield flaw("residue", field, match.start(), part=cut(match[0], 20))
