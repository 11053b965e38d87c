"""
Normalisation of text that is disguised by invisible or look-alike characters.

The tables are excerpts of Unicode's confusables (UTS 39): letters that look like Latin ones in common fonts.
"""

import unicodedata
from functools import lru_cache
from typing import NamedTuple

from clawmem.domain.text.words import INVISIBLE

CYRILLIC_LOOKALIKES = dict(
    zip(
        "авекмнорстухіјѕԁԛԝһӏьгпАВЕКМНОРСТУХІЈЅԌԚԜҺ",
        "abekmhopctyxijsdqwhlbrnABEKMHOPCTYXIJSGQWH",
        strict=True,
    )
)
GREEK_LOOKALIKES = dict(zip("αβγεηικνορστυχωΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "abyenikvopstuxwABEZHIKMNOPTYX", strict=True))
_LOOKALIKES = (
    CYRILLIC_LOOKALIKES | GREEK_LOOKALIKES | {"ı": "i", "ɑ": "a", "ɡ": "g", "ⅼ": "l", "ǃ": "!", "⁄": "/"}
)


class Unmasked(NamedTuple):
    """
    Normalised text with a mapping of its characters to the original.

    ``places`` holds the offset in the original of every character of ``text``, and finally the original's length.
    """

    text: str
    places: range | list[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the original of the characters from *start* to *end* (exclusive)."""
        return self.places[start], self.places[end - 1] + 1 if end > start else self.places[start]


def unmask(text: str) -> Unmasked:
    """
    Return *text* in lower case without disguise: invisible characters removed, look-alikes replaced by Latin letters.

    Compatibility forms (full-width, mathematical, circled) are replaced by plain letters; accents are removed.
    """
    if text.isascii():
        return Unmasked(text.lower(), range(len(text) + 1))
    parts = [character.lower() if character.isascii() else _small(character) for character in text]
    places = [at for at, letters in enumerate(parts) for _ in letters]
    return Unmasked("".join(parts), [*places, len(text)])


@lru_cache(maxsize=4096)
def _small(character: str) -> str:
    if INVISIBLE.match(character):
        return ""
    if character in _LOOKALIKES:
        return _LOOKALIKES[character].lower()
    decomposed = unicodedata.normalize("NFKD", character)
    bare = "".join(part for part in decomposed if not unicodedata.combining(part))
    return "".join(_LOOKALIKES.get(part, part) for part in bare).casefold()
