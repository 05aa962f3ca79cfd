"""Memory: how the account has translated a text before, or one much like it.

The one import of RapidFuzz, which counts how alike two texts are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rapidfuzz import fuzz, process

from chatkit.errors import InputError
from chatkit.localization import language
from chatkit.localization.content import Contents, entries, grouped, source_of

#: How alike two texts must be for one to be of use to a translator, from 0 to 1.
LEAST = 0.7
MOST = 5  #: suggestions for one text


class Suggestion(NamedTuple):
    """A translation that the account has, of a text that is the same or much like it."""

    translation: str
    source: str  #: what it is the translation of
    alike: float  #: how alike that is, from 0 to 1; 1.0 is the same text
    template_code: str
    lang_code: str
    field: str  #: as in the API: "buttons.1.label"; the first is 0
    live: bool | None  #: whether it is of a content that is not a draft; None: only answered yet


class TranslationMemory:
    """The translations into one language that contents hold.

    Args:
        contents: Contents in the source language and in this one, as `frame(full=True)` has them.
        lang_code: The language of the translations.
        source: The language that they are made from.
    """

    def __init__(self, contents: Contents, lang_code: str, source: str = "en") -> None:
        self._found = list(dict.fromkeys(_pairs(contents, lang_code, source)))
        # live ones before drafts: of two that are equally alike the first is taken
        self._found.sort(key=lambda one: not one.live)
        self._texts = [one.source for one in self._found]
        self._folded = [text.casefold() for text in self._texts]

    def __len__(self) -> int:
        return len(self._found)

    def suggest(
        self,
        text: str,
        *,
        besides: tuple[str, str] | None = None,
        also: Sequence[Suggestion] = (),
        least: float = LEAST,
    ) -> list[Suggestion]:
        """Find translations of texts like this one, the most alike first.

        Args:
            text: A text in the source language.
            besides: The template and the field that are being translated: not suggested.
            also: Translations that no content has yet; they go before what is as much alike.
            least: How alike a text must be, from 0 to 1.

        Raises:
            InputError: `least` is no number from 0 to 1.
        """
        if not 0 <= least <= 1:
            raise InputError(f"least= is from 0 to 1, not {least!r}.")
        if not text.strip():
            return []
        said: dict[str, Suggestion] = {}
        folded = [one.source.casefold() for one in also]
        for found, texts in ((also, folded), (self._found, self._folded)):
            near = process.extract(
                text.casefold(), texts, scorer=fuzz.ratio, score_cutoff=100 * least, limit=8 * MOST
            )
            for _, score, place in near:
                one = found[place]
                if besides != (one.template_code, one.field):
                    alike = 1.0 if one.source == text else round(min(score / 100, 0.99), 2)
                    if one.translation not in said or said[one.translation].alike < alike:
                        said[one.translation] = one._replace(alike=alike)
        return sorted(said.values(), key=lambda one: (-one.alike, one.live is False))[:MOST]


def _pairs(contents: Contents, lang_code: str, source: str) -> Iterator[Suggestion]:
    for template, members in grouped(entries(contents)).items():
        original = source_of(members, source)
        if original is None:
            continue
        texts = {field: text for field, _, text in original.pieces}
        for entry in members:
            if entry is original or not language.same(entry.lang_code, lang_code):
                continue
            live = entry.flag("is_draft") is not True
            for field, _, translation in entry.pieces:
                if (text := texts.get(field)) and text != translation:
                    yield Suggestion(translation, text, 1.0, template, entry.lang_code, field, live)
