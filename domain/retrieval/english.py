"""
Set of the English words of four letters or more, as a Bloom filter (Bloom 1970).

One in a hundred other words is taken for a word. ``tests/data/make_english_words.py`` writes the filter.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b
from pkgutil import get_data

FILE = "english_words.bin"
BITS = 700_001  # of the filter: 9.5 for each word
PROBES = 6


def is_english_word(word: str) -> bool:
    """Whether *word*, in lower case, is probably an English word of four letters or more."""
    bits = _filter()
    return all(bits[place >> 3] >> (place & 7) & 1 for place in places(word))


def places(word: str) -> Iterator[int]:
    """Yield the places of *word* in the filter."""
    digest = blake2b(word.encode(), digest_size=16).digest()
    first, step = int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:], "big")
    return ((first + number * step) % BITS for number in range(PROBES))


@lru_cache(1)
def _filter() -> bytes:
    data = get_data(__package__, FILE)
    assert data is not None
    return data
