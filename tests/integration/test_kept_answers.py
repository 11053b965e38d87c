"""What a process keeps of the vault between two questions, and what makes it ask anew."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.adapters.sqlite.lexical_index import Matches, best_of
from clawmem.adapters.sqlite.lru_cache import LruCache
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.contracts.samples import any_of, entry, filler, save
from clawmem.ports.records import Grain
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


MATCHES = st.lists(
    st.dictionaries(
        st.integers(1, 40), st.sampled_from([0.1, 0.2, 0.3, 0.7, 1 / 3]), min_size=0, max_size=30
    ),
    min_size=1,
    max_size=4,
)


class TestBestOf:
    """The highest sums of several terms."""

    @given(MATCHES, st.integers(1, 50), st.booleans())
    def test_sums(self, found: list[dict[int, float]], limit: int, every: bool) -> None:
        """Highest first, then by key; with *every* only of rows that all terms have."""
        several = [Matches(array("q", one.keys()), array("d", one.values())) for one in found]
        keys = {key for one in found for key in one if not every or all(key in other for other in found)}
        sums = {key: round(sum(one.get(key, 0.0) for one in found), 9) for key in keys}

        best = best_of(several, limit, every=every)

        assert list(best.keys) == sorted(keys, key=lambda key: (-sums[key], key))[:limit]
        assert [round(score, 9) for score in best.scores] == [sums[key] for key in best.keys]


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
