"""Which part of a long text a reranker reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clawmem.domain.retrieval.query_forms import STOP_WORDS

CHUNK_CHARS = 4000
OVERLAP_CHARS = 200

# Whole worths, so that a tie is a tie: a query term 1.0, an intent term 0.5.
_TERM, _INTENT_TERM = 2, 1


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
    A text that is short enough as it is; of a longer one the window of *chars* that is worth reading.

    Where it is known which fragment matched, that is the window around it: the beginning of a long note says
    little about an answer in its middle. Where it is not, the beginning. With *intent_terms* windows of *chars*
    that overlap by *overlap* compete too: each is worth 1.0 for every distinct term that it holds (as a
    substring, in any case) and 0.5 for every intent term, and the first of equals wins, in the order given here.

    Args:
        around: Character offsets (start, end) of the fragment that matched; past the end count as the end.
        chars: > *overlap*.

    Raises:
        ValueError: windows that would not move on, or an *around* that is no range.
    """
    if not 0 <= overlap < chars:
        raise ValueError(f"windows of {chars} characters cannot overlap by {overlap}")
    if around is not None and not 0 <= around[0] <= around[1]:
        raise ValueError(f"around must be (start, end) with 0 <= start <= end, not {around}")
    if len(body) <= chars:
        return body
    first = _window_around(len(body), around, chars) if around else 0
    starts = [first, *range(0, len(body) - overlap, chars - overlap)] if intent_terms else [first]
    return _best((body[start : start + chars] for start in starts), terms, intent_terms)


def intent_terms(intent: str) -> tuple[str, ...]:
    """
    The words of an intent that can tell windows apart: lower case, without stop words and single characters.

    Split at white space; of each word only letters, digits and hyphens are kept.
    """
    typed = intent.lower().split()
    bare = ("".join(sign for sign in word if sign.isalnum() or sign == "-") for word in typed)
    kept = (word for word in bare if len(word) > 1 and word not in STOP_WORDS)
    return tuple(dict.fromkeys(kept))


def _window_around(length: int, around: tuple[int, int], chars: int) -> int:
    start, end = (min(place, length) for place in around)
    # Centred; a fragment that is longer than a window is read from its beginning.
    wanted = start - max(0, chars - (end - start)) // 2
    return max(0, min(wanted, length - chars))


def _best(windows: Iterator[str], terms: Sequence[str], intents: Sequence[str]) -> str:
    wanted, intended = _distinct(terms), _distinct(intents)

    def worth(window: str) -> int:
        lower = window.lower()
        return _TERM * sum(t in lower for t in wanted) + _INTENT_TERM * sum(t in lower for t in intended)

    return max(windows, key=worth)  # max keeps the first of equals


def _distinct(terms: Sequence[str]) -> set[str]:
    return {term.lower() for term in terms if term.strip()}
