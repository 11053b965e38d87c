"""
Comparison of a question with a line by binary sketches of their vectors.

The share of equal signs of two vectors under random hyperplanes estimates their angle (Charikar 2002), so counting
equal bits replaces the cosine. This allows late interaction over a transformer's word vectors with 48 bytes per word
and about ten microseconds per line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

READ = 2000  # characters of a line that are sketched; the rest rarely matters and costs as much to compare


class Rows(NamedTuple):
    """A decoded sketch: ``whole`` and each of ``words`` is an integer of ``bits`` bits."""

    bits: int
    whole: int
    words: tuple[int, ...]


def read_rows(sketch: bytes, dimensions: int) -> Rows | None:
    """
    Return the rows of a sketch; ``None`` for an empty sketch.

    Raises:
        ValueError: *dimensions* is not a positive multiple of 8, or the sketch ends in the middle of a row.
    """
    width, rest = divmod(dimensions, 8)
    if rest or width < 1 or len(sketch) % width:
        raise ValueError(f"a sketch of {len(sketch)} bytes does not consist of rows of {dimensions} bits")
    if not sketch:
        return None
    whole, *words = (int.from_bytes(sketch[at : at + width]) for at in range(0, len(sketch), width))
    return Rows(dimensions, whole, tuple(words))


def agreement(one: int, other: int, bits: int) -> float:
    """Return the similarity of two rows: 1 if all *bits* are equal, 0 if half of them or fewer are."""
    return max(0.0, 1.0 - 2.0 * (one ^ other).bit_count() / bits)


def nearest_words(question: Rows, line: Rows) -> tuple[float, ...]:
    """Return for each word of the question its similarity to the nearest word of the line, in [0, 1]."""
    return tuple(_nearest(word, line.words, question.bits) for word in question.words)


def _nearest(word: int, others: Sequence[int], bits: int) -> float:
    differing = min(((word ^ other).bit_count() for other in others), default=bits)
    return max(0.0, 1.0 - 2.0 * differing / bits)
