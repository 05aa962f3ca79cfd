"""Language: the names, the script and the direction of a `lang_code`.

They come from CLDR, by Babel. A code stays as the API writes it, `en_US`;
upstream deliveries print `en-US`. So two codes are compared in one form, and never stored in it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

Direction = Literal["ltr", "rtl"]
V = TypeVar("V")

#: The data on languages that CLDR does not have.
DATA = tomllib.loads(Path(__file__).with_name("languages.toml").read_text("utf-8"))
#: The codes in which the platform has templates, by its page of November 2025.
SUPPORTED = tuple(DATA["listed"].split())

_CODE = re.compile("([A-Za-z]{2,3})(?:[-_]([A-Za-z]{4}))?(?:[-_]([A-Za-z]{2}|[0-9]{3}))?")
#: What CLDR has no English name for, or no script.
_NAMES = {"prs": "Dari"}
_SCRIPTS = {"prs": "Arab"}
#: Languages that are written in another script too.
_SECOND_SCRIPTS = {"az": "Cyrl", "bs": "Cyrl", "kk": "Latn", "sr": "Latn", "uz": "Cyrl"}
_RIGHT_TO_LEFT = frozenset(("Adlm", "Arab", "Hebr", "Nkoo", "Rohg", "Syrc", "Thaa"))
#: Scripts that put no space between two words.
_UNSPACED = frozenset(("Hans", "Hant", "Jpan", "Khmr", "Laoo", "Mymr", "Thai"))
#: Other codes for Norwegian, of which the platform has Bokmål.
_NORWEGIAN = {"no": "nb", "nn": "nb"}
_MAX_SUGGESTIONS = 3  #: so many codes are named of those that may be meant
#: The names of the letters of each script.
_LETTERS = {script: tuple(names.split()) for script, names in DATA["letters"].items()}
#: The names of the letters of all these scripts.
KNOWN_LETTERS = frozenset(name for names in _LETTERS.values() for name in names)


@lru_cache(4096)
def _split_code(code: str) -> tuple[str, str, str]:
    """Split a code into language, script and region; one of another form is its own language."""
    match = _CODE.fullmatch(code.strip())
    if not match:
        return code, "", ""
    language, script, region = match.groups(default="")
    return language.lower(), script.title(), region.upper()


@lru_cache(4096)
def normalize(code: str) -> str:
    """Return a code in its normal form, for comparison: en-US and en_us become en_US."""
    return "_".join(filter(None, _split_code(code)))


def is_same(one: str, other: str) -> bool:
    """Return whether two codes mean the same language, however they are written."""
    return normalize(one) == normalize(other)


def base(code: str) -> str:
    """Return the language of a code without its region: en of en_US."""
    return _split_code(code)[0]


def choose(table: Mapping[str, V], code: str) -> V | None:
    """Return the entry of a table for a language: of its code, else its language, else of all."""
    keys = (normalize(code), base(code), "")
    return next((table[key] for key in keys if key in table), None)


def find_code(code: str, among: Iterable[str]) -> str | None:
    """Return a code among others: itself, else the only one of its language, else None."""
    codes = list(dict.fromkeys(among))
    if code in codes:
        return code
    if equal := [other for other in codes if is_same(code, other)]:
        return equal[0]
    related = [other for other in codes if base(code) == base(other)]
    return related[0] if len(related) == 1 else None


def suggest_codes(code: str, among: Iterable[str]) -> list[str]:
    """Return the codes that may be meant by one that is not among them, the likeliest first.

    They are the code of the language of this name, or the same code written otherwise, else its
    language without the region, else forms of this language for other regions; only where there is
    none of these, one that is spelled alike.
    """
    codes = list(dict.fromkeys(among))
    names = {name(other).casefold(): other for other in codes}
    if not is_tag(code.strip()) and (meant := get_close_matches(code.casefold(), names, 1)):
        return [names[meant[0]]]
    form = _current_code(code)
    own = base(form)
    for meaning in (form, own):
        if equal := [other for other in codes if is_same(other, meaning)]:
            return equal[:1]
    if forms := [other for other in codes if base(other) == own]:
        return sorted(forms, key=lambda other: script(other) != script(form))
    folded = {other.casefold(): other for other in codes}
    return [folded[near] for near in get_close_matches(code.casefold(), folded, 1)]


def _current_code(code: str) -> str:
    """Return a code with the present codes of CLDR for its language and region."""
    from babel.core import get_global  # only where languages are named: it takes long to import

    language, script, region = _split_code(code)
    language = _NORWEGIAN.get(language) or get_global("language_aliases").get(language) or language
    region = (get_global("territory_aliases").get(region) or [region])[0]
    return normalize("_".join(filter(None, (language, script, region))))


def did_you_mean(code: str, among: Iterable[str]) -> str:
    """Return the question "did you mean pt_BR or pt_PT?"; empty if no code is like this one."""
    codes = suggest_codes(code, among)[:_MAX_SUGGESTIONS]
    *first, last = ['"it"' if each == "it" else each for each in codes] or [""]  # it is a word, too
    return f"did you mean {', '.join(first)}{' or ' if first else ''}{last}?" if last else ""


def as_list(codes: str | Iterable[str]) -> list[str]:
    """Return languages as a list; a text is one language."""
    return [codes] if isinstance(codes, str) else list(codes)


def sort_codes(codes: Iterable[str], source: str = "en") -> list[str]:
    """Sort languages: the source first, then its regional forms, then all others by their code."""
    own, near = normalize(source), base(source)
    return sorted(
        codes, key=lambda code: (normalize(code) != own, base(code) != near, normalize(code))
    )


@lru_cache(4096)
def name(code: str) -> str:
    """Return the name of a language: German (Switzerland). An unknown code is its own name."""
    from babel import Locale

    language, script, region = _split_code(code)
    names = Locale.parse("en")
    first = names.languages.get(language) or _NAMES.get(language)
    if not first:
        return code
    rest = [
        names.scripts.get(script, script) if script else "",
        names.territories.get(region, region) if region else "",
    ]
    details = ", ".join(filter(None, rest))
    return f"{first} ({details})" if details else first


@lru_cache(4096)
def script(code: str) -> str:
    """Return the script of a language as in ISO 15924: Latn. Empty if it is not known."""
    from babel.core import get_global

    language, own, region = _split_code(code)
    if own:
        return own
    likely = get_global("likely_subtags")
    tag = likely.get(f"{language}_{region}") or likely.get(language) or ""
    return tag.split("_")[1] if tag.count("_") else _SCRIPTS.get(language, "")


@lru_cache(4096)
def letters(code: str) -> frozenset[str]:
    """Return the names in Unicode of the letters of a language, like LATIN. Empty if unknown."""
    scripts = (script(code), _SECOND_SCRIPTS.get(base(code), ""))
    return frozenset(name for one in scripts for name in _LETTERS.get(one, ()))


@lru_cache(4096)
def has_spaces(code: str) -> bool:
    """Return whether a language puts spaces between its words."""
    return script(code) not in _UNSPACED


@lru_cache(4096)
def direction(code: str) -> Direction:
    """Return the direction in which a language is read."""
    return "rtl" if script(code) in _RIGHT_TO_LEFT else "ltr"


# --- numbers and dates ----------------------------------------------------------------------


class Conventions(NamedTuple):
    """The form of numbers and dates of a language, in the digits 0 to 9."""

    decimal: str
    group: str
    date: str  #: the order of day, month and year, and the sign between: "dmy."


@lru_cache(4096)
def conventions(code: str) -> Conventions | None:
    """Return how a language writes numbers and dates; None if CLDR does not have it."""
    from babel import Locale, UnknownLocaleError

    try:
        locale = Locale.parse(normalize(code))
    except (ValueError, UnknownLocaleError):
        return None
    symbols = locale.number_symbols.get("latn")
    if not symbols:
        return None
    date = re.sub("[^dMy./-]", "", locale.date_formats["short"].pattern)
    order = "".join(dict.fromkeys(re.sub("[./-]", "", date).lower()))
    return Conventions(symbols["decimal"], symbols["group"], order + re.sub("[dMy]", "", date)[:1])


# --- locale tags: what a file format calls a language --------------------------------------

# XLIFF wants the tags of BCP 47, en-US; a PO file the normal form, en_US. The `lang_code` itself is
# never converted: a returned file has it beside the tag.


def is_tag(lang_code: str) -> bool:
    """Return whether a code has the form of a language tag."""
    return _CODE.fullmatch(lang_code) is not None


def bcp47_tag(lang_code: str) -> str:
    """Return a code as XLIFF writes it: en-US for en_US."""
    return normalize(lang_code).replace("_", "-")
