"""Correction of words that no document contains, and their division into words that some contain."""

import re
from collections.abc import Iterator, Mapping

from rapidfuzz.distance import OSA

from clawmem.domain.text.words import WRITTEN, fold, is_unspaced, written_words

SHORT, LONG = 5, 8  # letters
MOST_CORRECTED = 8  # words of one question; more unknown words are a pasted text or another language
# Letters of one group are written for one another: "calender", "relevent".
_GROUPS = {ord(c): g[0] for g in "aehiouwy bfpv cgjkqsxz dt mn".split() for c in g}
_ENDINGS = ("", "e", "er", "y", "ion", "ing")  # that stems may have lost


def best_spelling(word: str, stem: str, alike: Mapping[str, int]) -> str | None:
    """
    Return the stored word of *alike*, which gives numbers of documents, that *word* probably means, or ``None``.

    It differs by one edit; the one in most documents wins. Words with digits and of fewer than five letters stay as they
    are. A short word may only lack a letter, have two in the wrong order, or, from seven letters on, one twice: "house" is
    not "horse", nor "spend" "send". A long one may also have any letter too many, or another one of the same sound. A word
    that begins with the stored word is another one ("printf", "print"). A neighbour in a single note may be a misspelling
    itself.
    """
    if len(word) < SHORT or not word.isalpha() or is_unspaced(word):
        return None
    is_long, fits = len(stem) >= LONG, []
    for stored, documents in alike.items():
        is_known = (documents > 1 or is_long) and not word.startswith(stored)
        # Stemming may have removed a letter that is in the wrong place: "porbe" becomes "porb".
        if is_known and any(_is_likely(word, form, is_long) for form in full_words(word, stem, stored)):
            fits.append((-documents, stored))
    return min(fits)[1] if fits else None


def _is_likely(word: str, form: str, is_long: bool) -> bool:
    """Whether one writes *word* for *form*, which differs by one edit."""
    if len(word) == len(form):
        return (_sound(word) == _sound(form)) if is_long else (sorted(word) == sorted(form))
    is_doubled = len(word) > SHORT + 1 and _once(word) == _once(form)
    return is_long or len(word) < len(form) or is_doubled


def _once(word: str) -> str:
    """Return *word* without the repetitions of a letter that follows itself."""
    return re.sub(r"(.)\1+", r"\1", word)


def _sound(word: str) -> list[str]:
    """Return the letters of *word* in the groups of Soundex (Russell 1918), and those of other alphabets, sorted."""
    return sorted(word.translate(_GROUPS))


def full_words(word: str, stem: str, corrected: str) -> list[str]:
    """
    Return the words that the stored form *corrected* may stand for, the one with the ending of *word* first.

    They differ from *word* by one edit: with the stems alone, "meaning" would be "man".
    """
    endings = [word[len(stem) :]] if word.startswith(stem) else []
    every = [f"{corrected}{ending}" for ending in (*endings, *_ENDINGS)]
    if corrected.endswith("i"):
        every.insert(0, f"{corrected[:-1]}y")
    return [form for form in dict.fromkeys(every) if OSA.distance(form, word, score_cutoff=1) <= 1]


def compound_parts(word: str) -> Iterator[tuple[str, str]]:
    """Yield the pairs of words of which *word* may be a compound, as German writes it, also with an "s" between them."""
    for at in range(SHORT - 1, len(word) - SHORT + 2):
        yield word[:at], word[at:]
        if word[at - 1] == "s":
            yield word[: at - 1], word[at:]


def with_corrections(query: str, corrected: Mapping[str, str]) -> str:
    """Return *query* with each of its words replaced by its correction, if it has one."""
    return re.sub(WRITTEN, lambda match: corrected.get(fold(match[0]), match[0]), query)


def stated_corrections(corrected: Mapping[str, str], *texts: str) -> list[str]:
    """Return a sentence for each correction, with the words as *texts* have them: with accents and vowel signs."""
    written = {fold(word): word for word in written_words(" ".join(texts))}
    pairs = [[written.get(word, word) for word in pair] for pair in corrected.items()]
    return [f"No note has {word!r}: read as {known!r}." for word, known in pairs]
