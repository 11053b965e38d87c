"""Vectors of 16 bits for each number: their size, their precision, and the migration of longer ones."""

from __future__ import annotations

import math
import random
from contextlib import closing
from pathlib import Path

from clawmem.adapters.sqlite.database import Database
from clawmem.adapters.sqlite.migrations import bring_to, migrate
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


def test_longer_vectors_are_shortened(tmp_path: Path) -> None:
    """Ids stay, an id that was given is not given again, and entries with a vector of their own are shortened too."""
    first, second, third = directions(3)
    with closing(Database(str(tmp_path / "vault.sqlite"))) as db:
        bring_to(db, 31)
        db.write("insert into spaces (id, fingerprint, state) values (1, 'm', 'serving')")
        rows = [(3, b"a", first), (5, b"b", second), (9, b"c", third)]
        db.write_many("insert into space_vectors values (?, 1, ?, ?)", rows)
        db.write("delete from space_vectors where id = 9")
        db.write_many("insert into vector_entries values (?, ?, ?)", [(1, 3, None), (2, None, third)])

        migrate(db)

        stored = db.rows("select id, text_hash, vector from space_vectors order by id")
        assert stored == [(3, b"a", shortened(first)), (5, b"b", shortened(second))]
        entries = db.rows("select key, record, vector from vector_entries order by key")
        assert entries == [(1, 3, None), (2, None, shortened(third))]
        db.write("insert into space_vectors (space, text_hash, vector) values (1, x'01', x'02')")
        assert db.value("select max(id) from space_vectors") == 10
