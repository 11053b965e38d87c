"""Parts of a long text: its lines and sentences, and the window that a reranker reads."""

import re
from collections.abc import Iterator, Sequence

from clawmem.domain.text.vocabulary import STOP_WORDS
from clawmem.domain.text.words import FULL_STOPS, fold

CHUNK_CHARS, OVERLAP_CHARS = 4000, 200  # of the text that a reranker reads

Place = tuple[int, int]  # character offsets: the first one, and the one after the last

# Not after a number, or after a short word with a capital: "Sr. Costa", "Mrs. Pell".
_SENTENCE_END = re.compile(
    r"[.!?;:…](?<!\d.)(?<!\b[A-Z].)(?<!\b[A-Z]\w.)(?<!\b[A-Z]\w\w.)\W{0,3}(?=\s)\s+"
    rf"|[{FULL_STOPS}]+[”’」』）)]*\s*"
)


def text_pieces(body: str, start: int, end: int, most: int) -> Iterator[Place]:
    """Yield the lines of *body* from *start* to *end* that have text; long ones in sentences, long sentences at spaces."""
    for line in body[start:end].split("\n"):
        at, stop = start, start + len(line.rstrip())
        start += len(line) + 1
        if stop - at <= most:
            if stop > at:
                yield at, stop
            continue
        ends = [match.end() for match in _SENTENCE_END.finditer(body, at, stop)]
        for sentence_end in (*ends, stop):
            while sentence_end - at > most:
                space = body.rfind(" ", at + 1, at + most) + 1 or at + most
                yield at, space
                at = space
            if sentence_end > at:
                yield at, sentence_end
            at = sentence_end


def choose_chunk(
    body: str,
    terms: Sequence[str],
    intent_terms: Sequence[str] = (),
    *,
    around: tuple[int, int] | None = None,
    chars: int = CHUNK_CHARS,
    overlap: int = OVERLAP_CHARS,
) -> str:
    """
    Return *body* if it is short enough, else the window of *chars* characters most useful to a reranker.

    That is the window around the matching fragment (*around*, its offsets), if it is known, else the beginning. With
    *intent_terms*, windows that overlap by *overlap* characters are candidates too. A window scores 1.0 for each
    distinct query term in it (as a substring, folded) and 0.5 for each intent term; of equal windows the first
    wins.
    """
    first = 0
    if around:
        start, end = (min(place, len(body)) for place in around)
        # Centred on the fragment; a fragment longer than a window is read from its beginning.
        first = max(0, min(start - max(0, chars - (end - start)) // 2, len(body) - chars))
    starts = [first, *range(0, len(body) - overlap, chars - overlap)] if intent_terms else [first]
    wanted, intended = ({fold(term) for term in some if term.strip()} for some in (terms, intent_terms))

    def worth(window: str) -> int:
        folded = fold(window)
        return 2 * sum(term in folded for term in wanted) + sum(term in folded for term in intended)

    windows = (body[start : start + chars] for start in starts)
    return body if len(body) <= chars else max(windows, key=worth)  # the first of equals


def holds_any(text: str, terms: Sequence[str]) -> bool:
    """Whether *text* contains one of *terms*, as a substring, ignoring case and accents."""
    folded = fold(text)
    return any(fold(term) in folded for term in terms if term.strip())


def intent_terms(intent: str) -> tuple[str, ...]:
    """Return the words of an intent that can distinguish texts: letters, digits and hyphens, without stop words."""
    typed = intent.lower().split()
    bare = ("".join(sign for sign in word if sign.isalnum() or sign == "-") for word in typed)
    return tuple(dict.fromkeys(word for word in bare if len(word) > 1 and word not in STOP_WORDS))
