from abc import abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

import pytest

from clawmem.contracts.base import Capability, VaultContract, needs
from clawmem.contracts.samples import entry, found_by, save, unit_vector
from clawmem.contracts.vector_index import index_of
from clawmem.ports.errors import IndexBusy
from clawmem.ports.indexes import DerivedIndex
from clawmem.ports.records import FragmentKey, Grain, Marker, VectorEntry
from clawmem.ports.vault import Vault

HERE = Marker("vault-1", 7, "e7")
LATER = Marker("vault-1", 12, "e12")
EAST = unit_vector(1, 0, 0, 0)
OVERLAP_S = 0.2  # a writer that does not wait for another one has committed by then


class CommitContract(VaultContract):
    """
    Commits, markers and several writers, common to lexical and vector indexes.

    Supply ``vault``: an EMPTY ``Vault``; and, for durable backends, ``reopen``: a function that opens the
    same index a second time, as another process would, while the first is still open.
    """

    @abstractmethod
    def index(self, vault: Vault) -> DerivedIndex:
        """Return the index under test."""

    @abstractmethod
    def put(self, vault: Vault, *document_ids: int) -> None:
        """Add one entry for each of the documents."""

    @abstractmethod
    def documents(self, vault: Vault) -> list[int]:
        """Return the documents that a search finds, sorted."""

    def test_a_commit_carries_its_marker(self, vault: Vault) -> None:
        """A commit stores its entries and its marker; that of a later commit replaces it, also by a smaller number."""
        first, second = ids(vault, 2)
        with self.index(vault).committing(HERE):
            self.put(vault, first)
        assert (self.documents(vault), self.index(vault).marker()) == ([first], HERE)

        with self.index(vault).committing(LATER):
            self.put(vault, second)

        assert (self.documents(vault), self.index(vault).marker()) == ([first, second], LATER)
        with self.index(vault).committing(HERE):
            pass
        assert self.index(vault).marker() == HERE

    def test_changes_without_a_marker_keep_the_old_one(self, vault: Vault) -> None:
        """A commit without a marker, and a single change outside a block, leave the marker unchanged."""
        first, second = ids(vault, 2)
        with self.index(vault).committing(HERE):
            pass

        with self.index(vault).committing():
            self.put(vault, first)
        self.put(vault, second)

        assert (self.documents(vault), self.index(vault).marker()) == ([first, second], HERE)

    @pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
    def test_a_block_that_raises_leaves_nothing(self, vault: Vault, error: type[BaseException]) -> None:
        """Any exception rolls back entries, removals and the marker, and is propagated."""
        first, second = ids(vault, 2)
        with self.index(vault).committing(HERE):
            self.put(vault, first)

        with pytest.raises(error), self.index(vault).committing(LATER):
            self.index(vault).remove(first)  # type: ignore[attr-defined]
            self.put(vault, second)
            raise error

        assert (self.documents(vault), self.index(vault).marker()) == ([first], HERE)

    def test_blocks_do_not_nest(self, vault: Vault) -> None:
        """A nested block is refused, and the outer one can continue."""
        (first,) = ids(vault, 1)
        with self.index(vault).committing(HERE):
            self.put(vault, first)
            with pytest.raises(RuntimeError), self.index(vault).committing(LATER):
                pass

        assert (self.documents(vault), self.index(vault).marker()) == ([first], HERE)

    def test_order_within_a_block_counts(self, vault: Vault) -> None:
        """In a block, the last put or removal of a document decides, and two puts store one entry."""
        first, second, third = ids(vault, 3)
        self.put(vault, first)

        with self.index(vault).committing(HERE):
            self.index(vault).remove(first)  # type: ignore[attr-defined]
            self.put(vault, first, second, third)
            self.index(vault).remove(second)  # type: ignore[attr-defined]
            self.put(vault, third)

        assert self.documents(vault) == [first, third]

    def test_clear_forgets_the_marker(self, vault: Vault) -> None:
        """A cleared index has neither entries nor a marker."""
        (first,) = ids(vault, 1)
        with self.index(vault).committing(HERE):
            self.put(vault, first)

        self.index(vault).clear()

        assert (self.documents(vault), self.index(vault).marker()) == ([], None)

    def test_optimizing_changes_no_answer(self, vault: Vault) -> None:
        """Optimizing preserves entries, marker and counts; an empty index can be optimized too."""
        self.index(vault).optimize()
        every = ids(vault, 6)
        for number in every:
            with self.index(vault).committing(HERE):
                self.put(vault, number)
        self.index(vault).remove(every[0])  # type: ignore[attr-defined]

        self.index(vault).optimize()

        assert (self.documents(vault), self.index(vault).marker()) == (every[1:], HERE)

    @needs(Capability.DURABILITY)
    def test_a_commit_is_seen_by_other_handles(self, vault: Vault, reopen: Callable[[], Vault]) -> None:
        """A handle that was opened earlier sees the entries and markers of later commits."""
        first, second = ids(vault, 2)
        with self.index(vault).committing(HERE):
            pass
        other = reopen()
        assert (self.documents(other), self.index(other).marker()) == ([], HERE)

        for marker, number in ((HERE, first), (LATER, second)):
            with self.index(vault).committing(marker):
                self.put(vault, number)

            assert self.index(other).marker() == marker
            assert self.documents(other) == self.documents(vault)

    @needs(Capability.DURABILITY)
    def test_a_commit_survives(self, vault: Vault, reopen: Callable[[], Vault]) -> None:
        """Committed entries and markers survive a reopen; uncommitted ones do not."""
        first, second = ids(vault, 2)
        with self.index(vault).committing(HERE):
            self.put(vault, first)
        with pytest.raises(ValueError), self.index(vault).committing(LATER):
            self.put(vault, second)
            raise ValueError

        again = reopen()

        assert (self.documents(again), self.index(again).marker()) == ([first], HERE)

    @needs(Capability.DURABILITY)
    def test_overlapping_commits_lose_nothing(self, vault: Vault, reopen: Callable[[], Vault]) -> None:
        """Of two overlapping commits either goes first, and the other waits or gets IndexBusy; none is lost."""
        first, second = ids(vault, 2)
        other = reopen()
        with ThreadPoolExecutor(1) as pool:
            with self.index(vault).committing(HERE):
                self.put(vault, first)
                late = pool.submit(self._commit, other, LATER, second)
                wait([late], OVERLAP_S)
            pool.submit(lambda: late.result() or self._commit(other, LATER, second)).result()

        assert self.documents(vault) == [first, second]
        assert self.index(vault).marker() in (HERE, LATER)

    @needs(Capability.DURABILITY)
    def test_a_failed_commit_takes_no_other_along(self, vault: Vault, reopen: Callable[[], Vault]) -> None:
        """A commit that raises while another writer waits leaves the index to that writer."""
        first, second = ids(vault, 2)
        other = reopen()
        with ThreadPoolExecutor(1) as pool:
            with pytest.raises(ValueError), self.index(vault).committing(HERE):
                self.put(vault, first)
                late = pool.submit(self._commit, other, LATER, second)
                wait([late], OVERLAP_S)
                raise ValueError
            pool.submit(lambda: late.result() or self._commit(other, LATER, second)).result()

        assert (self.documents(vault), self.index(vault).marker()) == ([second], LATER)

    def _commit(self, vault: Vault, marker: Marker, document_id: int) -> bool:
        """Commit one document; return False if another writer held the index for too long."""
        try:
            with self.index(vault).committing(marker):
                self.put(vault, document_id)
        except IndexBusy:
            return False
        return True


class LexicalCommitContract(CommitContract):
    """Commits of a lexical index."""

    def index(self, vault: Vault) -> DerivedIndex:
        """Return the lexical index."""
        return vault.lexical

    def put(self, vault: Vault, *document_ids: int) -> None:
        """Add an entry at every granularity for each document."""
        vault.lexical.put(
            [entry(number, "budget", grain=grain) for number in document_ids for grain in Grain]
        )

    def documents(self, vault: Vault) -> list[int]:
        """Return the documents found, which must be equal at every granularity."""
        by_grain = [found_by(vault, "budget", grain=grain, limit=1000) for grain in Grain]
        assert all(found == by_grain[0] for found in by_grain), "the granularities differ"
        assert [vault.lexical.count(grain) for grain in Grain] == [len(by_grain[0])] * len(Grain)
        return sorted(by_grain[0])


class VectorCommitContract(CommitContract):
    """Commits of an external vector index."""

    def index(self, vault: Vault) -> DerivedIndex:
        """Return the vector index."""
        return index_of(vault)

    def put(self, vault: Vault, *document_ids: int) -> None:
        """Add one vector for each document."""
        index_of(vault).put(VectorEntry(FragmentKey(number, 0), EAST) for number in document_ids)

    def documents(self, vault: Vault) -> list[int]:
        """Return the documents found by that vector."""
        hits = vault.vectors.search(EAST, 1000)
        assert vault.vectors.count() == len(hits)
        return sorted(hit.key.document_id for hit in hits)


def ids(vault: Vault, number: int) -> list[int]:
    """Save *number* documents and return their ids, ascending."""
    return [save(vault, f"{place}.md") for place in range(number)]
