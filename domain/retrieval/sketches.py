"""
Comparing a question with a line by the sketches of both: signs instead of numbers.

Of two random hyperplanes' signs the share that agrees tells the angle between the vectors (Charikar 2002), so
that counting bits stands in for the cosine: late interaction over a transformer's own word vectors for
48 bytes a word and some ten microseconds a line.
"""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.ports.named_tuple import NamedTuple

READ = 2000  # characters of a line: what follows is rarely why it was found, and takes as long to compare


class Rows(NamedTuple):
    """A sketch, read: ``whole`` and each of ``words`` as one number of ``bits`` bits."""

    bits: int
    whole: int
    words: tuple[int, ...]


def read_rows(sketch: bytes, dimensions: int) -> Rows | None:
    """
    The rows of a sketch; ``None`` for an empty one, of which nothing is known.

    Raises:
        ValueError: *dimensions* is no multiple of 8, or the sketch ends in the middle of a row.
    """
    width, rest = divmod(dimensions, 8)
    if rest or width < 1 or len(sketch) % width:
        raise ValueError(f"{len(sketch)} bytes are no rows of {dimensions} bits")
    if not sketch:
        return None
    whole, *words = (int.from_bytes(sketch[at : at + width]) for at in range(0, len(sketch), width))
    return Rows(dimensions, whole, tuple(words))


def agreement(one: int, other: int, bits: int) -> float:
    """From 1 where all *bits* agree down to 0 where half of them do, or fewer: no likeness at all."""
    return max(0.0, 1.0 - 2.0 * (one ^ other).bit_count() / bits)


def nearest_words(question: Rows, line: Rows) -> tuple[float, ...]:
    """For each word of the question the agreement with the nearest word of the line, in [0, 1]; 0 without words."""
    return tuple(_nearest(word, line.words, question.bits) for word in question.words)


def _nearest(word: int, others: Sequence[int], bits: int) -> float:
    differing = min(((word ^ other).bit_count() for other in others), default=bits)
    return max(0.0, 1.0 - 2.0 * differing / bits)
