"""Fingerprints of surfaced text, used to recognise its echo in an assistant's answer so that it is not stored again."""

import re
from collections.abc import Collection, Iterator
from hashlib import blake2b

from clawmem.domain.security.escaping import unescape
from clawmem.domain.surfacing.gate import AFFIRMATIONS
from clawmem.domain.text.vocabulary import UNINFLECTED, denies
from clawmem.domain.text.words import words

SHINGLE = 5  # words; decisions often have six or seven, and one changed word invalidates up to five shingles
ECHO = 0.5
_HASH_BYTES = 8
_SAYING_NOTHING = UNINFLECTED | AFFIRMATIONS
_TAG = re.compile(r"</?[a-z][a-z0-9-]*(?:\s[^<>\n]*)?>")
_LIST_MARKER = re.compile(
    r"^(?:[ \t]*(?:[>*+•–—-]|#{1,6}|\d{1,3}[.)]|\[[ xX]\])(?=\s|>|$))+", flags=re.MULTILINE
)


def fingerprint(text: str) -> frozenset[int]:
    """
    Return 64-bit unsigned hashes of every run of five words of *text*, and of every shorter line.

    Tags, quotation marks, list markers, line breaks, punctuation and case do not affect the hashes.
    """
    plain = _without_markers(text)
    runs = {_hash(run) for run in _shingles(words(plain))}
    short = {_hash(line) for line in map(words, plain.splitlines()) if 0 < len(line) < SHINGLE}
    return frozenset(runs | short)


def echo_share(text: str, injected: Collection[int]) -> float:
    """
    Return the share of words of *text*, 0 to 1, covered by runs whose hashes are in *injected*; 0 without words.

    ``echo_share(text, fingerprint(text))`` is 1, and the share never falls when *injected* grows.
    """
    spoken, own = _spoken_words(text, injected)
    return (len(spoken) - len(own)) / len(spoken) if spoken else 0.0


def is_echo(text: str, injected: Collection[int], *, at_least: float = ECHO, by_user: bool = False) -> bool:
    """
    Whether at least the share *at_least* of the words of *text* repeats *injected* text.

    A user, who does not see that text, repeats nothing with a denial, another number or another content word in it.
    """
    _, own = _spoken_words(text, injected) if by_user else ((), ())
    is_different = any(word not in _SAYING_NOTHING or denies(word) for word in own)
    return not is_different and echo_share(text, injected) >= at_least


def _spoken_words(text: str, injected: Collection[int]) -> tuple[list[str], list[str]]:
    """Return the words of *text*, and those outside of runs that were *injected*."""
    spoken = words(_without_markers(text))
    length = min(SHINGLE, len(spoken))
    known = {place for place, run in enumerate(_shingles(spoken)) if _hash(run) in injected}
    covered = {place + step for place in known for step in range(length)}
    return spoken, [word for place, word in enumerate(spoken) if place not in covered]


def to_bytes(hashes: Collection[int]) -> bytes:
    """Return *hashes* in ascending order, eight big-endian bytes each; equal fingerprints give equal bytes."""
    return b"".join(value.to_bytes(_HASH_BYTES, "big") for value in sorted(hashes))


def from_bytes(packed: bytes) -> frozenset[int]:
    """
    Return the hashes that `to_bytes` packed.

    Raises:
        ValueError: The length is not a multiple of eight.
    """
    if len(packed) % _HASH_BYTES:
        raise ValueError(f"a fingerprint is a multiple of {_HASH_BYTES} bytes, not {len(packed)}")
    starts = range(0, len(packed), _HASH_BYTES)
    return frozenset(int.from_bytes(packed[start : start + _HASH_BYTES], "big") for start in starts)


def _without_markers(text: str) -> str:
    return _LIST_MARKER.sub("", unescape(_TAG.sub("\n", text)))


def _shingles(spoken: list[str]) -> Iterator[list[str]]:
    """Yield every run of five words; a single run if there are fewer words."""
    last = max(len(spoken) - SHINGLE, 0)
    return (spoken[start : start + SHINGLE] for start in range(last + 1) if spoken)


def _hash(run: list[str]) -> int:
    return int.from_bytes(blake2b(" ".join(run).encode(), digest_size=_HASH_BYTES).digest(), "big")
