"""Vectors of 16 bits for each number: their size, their precision, and the migration of longer ones."""

from __future__ import annotations

import math
import random

from clawmem.adapters.sqlite.short_vectors import lengthened, shortened
from clawmem.contracts.samples import cosine, raw_vector
from clawmem.ports.records import Vector

DIMENSIONS = 256


def directions(number: int) -> list[Vector]:
    """Unit vectors in single precision, of which few numbers are multiples of a step."""
    rng = random.Random(7)
    rows = [[rng.gauss(0, 1) for _ in range(DIMENSIONS)] for _ in range(number)]
    return [raw_vector(*(one / math.hypot(*row) for one in row)) for row in rows]


def test_cosines_keep_four_digits() -> None:
    """A stored vector has half the bytes, and no cosine changes by more than .00005; storing it again changes nothing."""
    vectors = directions(50)

    kept = [lengthened(shortened(vector)) for vector in vectors]

    assert {len(shortened(vector)) for vector in vectors} == {DIMENSIONS * 2}
    assert (
        max(abs(cosine(a, vectors[0]) - cosine(b, vectors[0])) for a, b in zip(vectors, kept, strict=True))
        < 5e-5
    )
    assert [lengthened(shortened(vector)) for vector in kept] == kept


def test_numbers_at_the_edge() -> None:
    """A number rounded to slightly more than one stays one, and no number changes its sign."""
    assert lengthened(shortened(raw_vector(1.0005, -1.0005, 0))) == raw_vector(1, -1, 0)


def test_a_damaged_vector_stays_damaged() -> None:
    """What was no vector before the migration becomes none by it."""
    assert shortened(b"odd") == b"odd"
