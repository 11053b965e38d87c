"""Selection of the part of a long text that a reranker reads."""

from collections.abc import Sequence

from clawmem.domain.text.vocabulary import STOP_WORDS

CHUNK_CHARS = 4000
OVERLAP_CHARS = 200


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
    distinct query term in it (as a substring, ignoring case) and 0.5 for each intent term; of equal windows the first
    wins.
    """
    if len(body) <= chars:
        return body
    first = 0
    if around:
        start, end = (min(place, len(body)) for place in around)
        # Centred on the fragment; a fragment longer than a window is read from its beginning.
        first = max(0, min(start - max(0, chars - (end - start)) // 2, len(body) - chars))
    starts = [first, *range(0, len(body) - overlap, chars - overlap)] if intent_terms else [first]
    wanted, intended = ({term.lower() for term in some if term.strip()} for some in (terms, intent_terms))

    def term_score(window: str) -> int:
        """Return twice the score of *window*."""
        lower = window.lower()
        return 2 * sum(term in lower for term in wanted) + sum(term in lower for term in intended)

    return max((body[start : start + chars] for start in starts), key=term_score)  # the first of equals


def intent_terms(intent: str) -> tuple[str, ...]:
    """
    Return the words of an intent that can distinguish windows: lower case, no stop words or single characters.

    The intent is split at white space; only letters, digits and hyphens of each word are kept.
    """
    typed = intent.lower().split()
    bare = ("".join(sign for sign in word if sign.isalnum() or sign == "-") for word in typed)
    return tuple(dict.fromkeys(word for word in bare if len(word) > 1 and word not in STOP_WORDS))
