"""What a process keeps of the vault between two questions, and what makes it ask anew."""

from __future__ import annotations

import random
import threading
from array import array
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from clawmem.adapters.sqlite import vector_index, vector_scan
from clawmem.adapters.sqlite.lru_cache import LruCache
from clawmem.adapters.sqlite.matches import Matches, _best, _best_in_bulk
from clawmem.adapters.sqlite.quantized_vectors import rounded
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.contracts.samples import any_of, cosine, entry, filler, save, unit_vector
from clawmem.ports.records import EVERYTHING, FragmentKey, Grain, Scope, VectorEntry
from clawmem.ports.vault import Vault

QUESTION = any_of("anvil", "quince")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "vault.sqlite"
    with closing(open_vault(str(place))) as vault:
        for number in range(1, 4):
            save(vault, f"{number}.md")
        vault.lexical.put([entry(1, "anvil quince"), entry(2, "anvil"), *filler()])
    return place


@pytest.fixture
def reader(path: Path) -> Iterator[Vault]:
    with closing(open_vault(str(path), read_only=True)) as vault:
        yield vault


def found(vault: Vault) -> list[int]:
    return [hit.key.document_id for hit in vault.lexical.search(QUESTION, Grain.PASSAGE, 10)]


def chunk(vectors: list[bytes], first: int) -> tuple[bytes, bytes]:
    """As the index reads them."""
    return array("q", range(first, first + len(vectors))).tobytes(), b"".join(vectors)


MATCHES = st.lists(
    st.dictionaries(
        st.integers(1, 40), st.sampled_from([0.1, 0.2, 0.3, 0.7, 1 / 3]), min_size=0, max_size=30
    ),
    min_size=1,
    max_size=4,
)


class TestBestOf:
    """The sums of several terms, with numpy and without."""

    @given(MATCHES, st.integers(1, 50), st.booleans())
    def test_both_ways_agree(self, found: list[dict[int, float]], limit: int, every: bool) -> None:
        """To the last bit: which way is taken depends on what else the process has loaded."""
        several = [Matches(array("q", one.keys()), array("d", one.values())) for one in found]
        least = len(several) if every else 1

        assert _best(several, limit, least) == _best_in_bulk(several, limit, least)


class TestKept:
    """Values by key, up to so much of them."""

    def test_made_once(self) -> None:
        """And handed out again."""
        made: list[int] = []
        kept: LruCache[int] = LruCache(10)
        assert [kept.get("a", lambda: made.append(1) or len(made)) for _ in range(3)] == [1, 1, 1]

    def test_the_longest_unused_goes_first(self) -> None:
        """As many as it takes, the new one included when it alone is too large."""
        kept: LruCache[str] = LruCache(6, len)
        for key in ("aa", "bb", "cc", "aa", "dd"):
            kept.get(key, lambda key=key: key)  # type: ignore[misc]
        assert [kept.get(key, lambda: "") for key in ("aa", "cc", "dd")] == ["aa", "cc", "dd"]
        assert kept.get("bb", lambda: "anew") == "anew"
        assert kept.get("long", lambda: "longer than all") == "longer than all"
        assert kept.get("long", lambda: "x") == "x"

    def test_what_fails_is_not_kept(self) -> None:
        """It is tried again."""
        kept: LruCache[int] = LruCache(10)
        with suppress(ZeroDivisionError):
            kept.get("a", lambda: 1 // 0)
        assert kept.get("a", lambda: 1) == 1


class TestWords:
    """What a term was found to add to the score of each entry."""

    def test_another_connection_changes_them(self, path: Path, reader: Vault) -> None:
        """A reader that has been asked before answers from what is there now."""
        assert found(reader) == found(reader) == [1, 2]
        with closing(open_vault(str(path))) as writer:
            writer.lexical.put([entry(3, "quince quince")])
            writer.lexical.remove(2)
        assert sorted(found(reader)) == [1, 3]

    def test_what_was_taken_back_never_was(self, path: Path, reader: Vault) -> None:
        """Neither for who wrote it nor for anybody else."""
        with closing(open_vault(str(path))) as writer:
            with suppress(KeyError), writer.transactions.writing():
                writer.lexical.put([entry(3, "quince quince")])
                assert sorted(found(writer)) == [1, 2, 3]
                raise KeyError
            assert found(writer) == found(reader) == [1, 2]
            writer.lexical.put([entry(3, "elsewhere")])
            assert found(writer) == found(reader) == [1, 2]

    def test_another_vault_in_its_place(self, path: Path, tmp_path: Path) -> None:
        """LruCache is what lies in a file, not what lay under its name."""
        with closing(open_vault(str(path), read_only=True)) as vault:
            assert found(vault) == [1, 2]
        path.unlink()
        with closing(open_vault(str(path))) as vault:
            vault.lexical.put([entry(2, "quince"), *filler()])
            assert found(vault) == [2]

    def test_threads_side_by_side(self, reader: Vault) -> None:
        """All get the same."""
        answers: list[list[int]] = []
        threads = [threading.Thread(target=lambda: answers.append(found(reader))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == [[1, 2]] * 8


class TestVectors:
    """All vectors, rounded, in a process that is asked often."""

    def test_as_without_them(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The same hits with the same scores, with a scope and without."""
        rng = random.Random(7)
        vectors = [unit_vector(*(rng.gauss(0, 1) for _ in range(16))) for _ in range(60)]
        with closing(open_vault(str(path))) as vault:
            ids = [save(vault, f"v{n}.md", collection="notes" if n % 3 else "journal") for n in range(60)]
            vault.vectors.put(VectorEntry(FragmentKey(n, 0), v) for n, v in zip(ids, vectors, strict=True))
            for scope in (EVERYTHING, Scope(frozenset({"journal"})), Scope(frozenset({"nowhere"}))):
                monkeypatch.setattr(vector_index, "ASKED_OFTEN", 10**9)
                exact = [vault.vectors.search(vector, 10, scope) for vector in vectors]
                monkeypatch.setattr(vector_index, "ASKED_OFTEN", 0)
                assert [vault.vectors.search(vector, 10, scope) for vector in vectors] == exact

    def test_the_scan_keeps_the_nearest_of_all_batches(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The first hits are those of a search for all, wherever they are in the file and however close they lie."""
        rng = random.Random(8)
        vectors = [unit_vector(*(1 + rng.gauss(0, 0.01) for _ in range(16))) for _ in range(60)]
        monkeypatch.setattr(vector_scan, "_ROWS_AT_ONCE", 7)
        monkeypatch.setattr(vector_index, "ASKED_OFTEN", 10**9)
        with closing(open_vault(str(path))) as vault:
            ids = [save(vault, f"v{n}.md") for n in range(60)]
            vault.vectors.put(VectorEntry(FragmentKey(n, 0), v) for n, v in zip(ids, vectors, strict=True))
            for vector in vectors[:20]:
                every = vault.vectors.search(vector, len(vectors))
                assert [vault.vectors.search(vector, limit) for limit in (1, 10, 59)] == [
                    every[:limit] for limit in (1, 10, 59)
                ]

    @given(data=st.data())
    def test_none_of_the_nearest_is_left_out(self, data: st.DataObject) -> None:
        """However close the vectors lie, and however often one comes; one that comes again beside it is kept once."""
        number = st.floats(-1, 1, width=16)
        several = data.draw(st.lists(st.lists(number, min_size=4, max_size=4), min_size=1, max_size=40))
        made = [unit_vector(*numbers) for numbers in several if any(abs(n) > 1e-3 for n in numbers)]
        vectors = [vector for vector in made for _ in range(data.draw(st.integers(1, 3)))]
        assume(vectors)
        parts = {first: vectors[first : first + 20] for first in range(0, len(vectors), 20)}
        chunks = [chunk(part, first) for first, part in parts.items()]
        quick = rounded(chunks, len(vectors))
        assert quick
        assert len(quick.codes) == sum(len(set(part)) for part in parts.values())
        assert not rounded(chunks, len(vectors) - 1)
        assert not rounded(chunks, len(vectors) + 1)
        question, limit = vectors[0], data.draw(st.integers(1, 10))
        looked_at = set(quick.candidates(question, limit))
        scores = {key: cosine(question, vector) for key, vector in enumerate(vectors)}
        least = sorted(scores.values(), reverse=True)[:limit][-1]
        assert {key for key, score in scores.items() if score > least + 1e-6} <= looked_at
        assert len(looked_at) >= min(limit, len(vectors))
