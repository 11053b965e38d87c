import math
import random
from collections.abc import Sequence
from typing import cast

import pytest

from clawmem.contracts.base import VaultContract
from clawmem.contracts.samples import (
    DAYS,
    MODEL,
    ROUNDING,
    UNKNOWN,
    WHEN,
    WINDOWS,
    cosine,
    save,
    sha,
    unit_vector,
)
from clawmem.ports.errors import BadVector
from clawmem.ports.indexes import VectorIndex
from clawmem.ports.records import EVERYTHING, FragmentKey, Scope, Vector, VectorEntry
from clawmem.ports.vault import Vault

EAST = unit_vector(1, 0, 0, 0)
NORTH = unit_vector(0, 1, 0, 0)
WEST = unit_vector(-1, 0, 0, 0)
NORTH_EAST = unit_vector(1, 1, 0, 0)


class VectorSearchContract(VaultContract):
    """Search for nearest fragments. Supply ``vault``: an EMPTY ``Vault``."""

    def test_nearest_first_with_its_cosine(self, vault: Vault) -> None:
        """Hits are ordered by cosine, from 1 for equal directions through 0 to -1 for opposite ones."""
        ids = put_all(vault, [WEST, NORTH, EAST, NORTH_EAST])

        hits = vault.vectors.search(EAST, 10)

        assert [hit.key.document_id for hit in hits] == [ids[2], ids[3], ids[1], ids[0]]
        assert [hit.score for hit in hits] == pytest.approx([1, math.sqrt(0.5), 0, -1], abs=ROUNDING)

    def test_scores_are_those_of_plain_python(self, vault: Vault) -> None:
        """Of 200 vectors the nearest 20 are those of a cosine in plain Python, but for the precision of the store."""
        dice = random.Random(7)
        vectors = [unit_vector(*(dice.gauss(0, 1) for _ in range(16))) for _ in range(201)]
        query = vectors.pop()
        ids = put_all(vault, vectors)

        hits = vault.vectors.search(query, 20)

        true = {number: cosine(query, vector) for number, vector in zip(ids, vectors, strict=True)}
        found = [hit.key.document_id for hit in hits]
        assert [hit.score for hit in hits] == pytest.approx([true[number] for number in found], abs=ROUNDING)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        least = sorted(true.values(), reverse=True)[19]
        assert len(set(found)) == 20
        assert min(true[number] for number in found) > least - ROUNDING

    def test_limit(self, vault: Vault) -> None:
        """The nearest *limit* hits are returned, equal ones by document; below 1 there are none."""
        ids = put_all(vault, [EAST, *[NORTH_EAST] * 4, NORTH])

        for limit, expected in ((-1, 0), (0, 0), (1, 1), (2, 2), (5, 5), (6, 6), (7, 6)):
            assert found(vault, EAST, limit) == ids[:expected], limit

    def test_question_of_another_length(self, vault: Vault) -> None:
        """A query vector whose length differs from the stored vectors is refused."""
        put_all(vault, [EAST])

        for query in (unit_vector(1, 0, 0), unit_vector(1, 0, 0, 0, 0)):
            with pytest.raises(BadVector):
                vault.vectors.search(query, 10)

    def test_small_collection_is_never_short(self, vault: Vault) -> None:
        """All vectors of the collections in scope are found, even if others are nearer; an unknown one has none."""
        put_all(vault, [EAST] * 200, collection="large")
        ids = put_all(vault, [NORTH_EAST, NORTH, WEST], collection="small")

        third = put_all(vault, [WEST], collection="third")

        assert found(vault, EAST, 3, "small") == found(vault, EAST, 5, "small") == ids
        assert found(vault, EAST, 9, "small", "third") == [*ids, *third]
        assert found(vault, EAST, 9, "nowhere") == []

    def test_authored_window(self, vault: Vault) -> None:
        """A time window includes its beginning and excludes its end."""
        ids = [put_all(vault, [EAST], collection=day[:10], authored_at=day)[0] for day in DAYS]
        put_all(vault, [EAST] * 50, authored_at="2020-01-01T00:00:00.000Z")

        for window, expected in WINDOWS:
            hits = vault.vectors.search(EAST, 3, window)
            assert [hit.key.document_id for hit in hits] == [ids[number] for number in expected], window

    def test_named_documents_alone(self, vault: Vault) -> None:
        """A scope of documents finds only these documents, even if nearer ones exist; an empty set finds nothing."""
        first, second, third = (put_all(vault, [EAST], authored_at=day)[0] for day in DAYS)
        put_all(vault, [EAST] * 50)

        def found(scope: Scope) -> list[int]:
            return [hit.key.document_id for hit in vault.vectors.search(EAST, 3, scope)]

        assert found(Scope(documents=frozenset({third, first}))) == [first, third]
        assert found(Scope(authored_until=DAYS[2], documents=frozenset({second, third}))) == [second]
        assert found(Scope(documents=frozenset({UNKNOWN}))) == found(Scope(documents=frozenset())) == []


class VectorUpkeepContract(VaultContract):
    """Adding, replacing and removing vectors of an external index. Supply ``vault``: an EMPTY ``Vault`` with one."""

    def test_put_replaces(self, vault: Vault) -> None:
        """Adding a key again replaces its vector, and it counts once."""
        (number,) = put_all(vault, [EAST])

        index_of(vault).put([VectorEntry(FragmentKey(number, 0), WEST)])

        (hit,) = vault.vectors.search(EAST, 10)
        assert hit.key == FragmentKey(number, 0)
        assert hit.score == pytest.approx(-1, abs=1e-5)
        assert index_of(vault).count() == 1

    def test_remove_takes_all_of_a_document(self, vault: Vault) -> None:
        """Removing a document deletes the vectors of all its fragments, and no others."""
        gone, here = save(vault, "a.md"), save(vault, "b.md")
        index_of(vault).put(
            [VectorEntry(FragmentKey(number, seq), EAST) for number in (gone, here) for seq in (0, 1, 2)]
        )

        index_of(vault).remove(gone)

        assert found(vault, EAST, 10) == [here] * 3
        assert index_of(vault).count() == 3

    def test_clear_allows_another_length(self, vault: Vault) -> None:
        """A cleared index is empty and accepts vectors of another length."""
        (number,) = put_all(vault, [EAST])

        index_of(vault).clear()

        assert (index_of(vault).count(), vault.vectors.search(EAST, 10)) == (0, [])
        index_of(vault).put([VectorEntry(FragmentKey(number, 0), unit_vector(1, 0))])
        assert found(vault, unit_vector(1, 0), 10) == [number]


def put_all(
    vault: Vault, vectors: Sequence[Vector], *, collection: str = "notes", authored_at: str = WHEN
) -> list[int]:
    """Save a document for each vector, add the vector as fragment 0, and return the ids, ascending."""
    # No other document has such a text.
    texts = [f"Text {number} of {collection} at {authored_at}." for number in range(len(vectors))]
    places = {"collection": collection, "authored_at": authored_at}
    ids = [save(vault, f"{authored_at[:10]}-{n}.md", text, **places) for n, text in enumerate(texts)]
    if vault.vectors is vault.embeddings:
        vault.embeddings.store(MODEL, dict(zip(map(sha, texts), vectors, strict=True)))
        return ids
    index_of(vault).put(
        VectorEntry(FragmentKey(number, 0), vector, collection, authored_at)
        for number, vector in zip(ids, vectors, strict=True)
    )
    return ids


def index_of(vault: Vault) -> VectorIndex:
    """Return the index of a vault whose vectors are in an index outside of it."""
    return cast("VectorIndex", vault.vectors)


def found(vault: Vault, vector: Vector, limit: int, *collections: str) -> list[int]:
    """Return the documents of the hits, nearest first."""
    scope = Scope(frozenset(collections)) if collections else EVERYTHING
    return [hit.key.document_id for hit in vault.vectors.search(vector, limit, scope)]
