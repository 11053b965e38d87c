from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import pytest

from clawmem.contracts.base import VaultContract, needs
from clawmem.contracts.samples import entry, found_by, save, unit_vector
from clawmem.ports.capability import Capability
from clawmem.ports.derived_index import DerivedIndex
from clawmem.ports.records import FragmentKey, Grain, Marker, VectorEntry
from clawmem.ports.vault import Vault

HERE = Marker("vault-1", 7, "e7")
LATER = Marker("vault-1", 12, "e12")
EAST = unit_vector(1, 0, 0, 0)


class CommitContract(VaultContract):
    """
    What is common to all indexes: commits and their markers.

    Supply ``vault``: an EMPTY ``Vault``; and, for what is durable, ``reopen``: a function that opens the same
    index anew, as another process would, while the first is still open.
    """

    @pytest.fixture
    def reopen(self) -> Callable[[], Vault]:
        """Supplied by the subclass."""
        raise NotImplementedError("override the `reopen` fixture and return a function that opens it again")

    @abstractmethod
    def index(self, vault: Vault) -> DerivedIndex:
        """The index that is tested."""

    @abstractmethod
    def put(self, vault: Vault, *document_ids: int) -> None:
        """Put one entry in for each of the documents."""

    @abstractmethod
    def held(self, vault: Vault) -> list[int]:
        """The documents that a search finds, sorted."""

    def test_no_marker_at_first(self, vault: Vault) -> None:
        """
        A new index has no marker, with or without entries.

        If this fails: an absent marker is read as one at 0.
        """
        assert self.index(vault).marker() is None

        self.put(vault, *ids(vault, 1))

        assert self.index(vault).marker() is None

    def test_a_commit_carries_its_marker(self, vault: Vault) -> None:
        """
        After a block the entries and the marker are there; a later block's marker replaces it.

        If this fails: the marker is not part of the commit, or markers pile up and the first is read.
        """
        one, two = ids(vault, 2)
        with self.index(vault).committing(HERE):
            self.put(vault, one)
        assert (self.held(vault), self.index(vault).marker()) == ([one], HERE)

        with self.index(vault).committing(LATER):
            self.put(vault, two)

        assert (self.held(vault), self.index(vault).marker()) == ([one, two], LATER)

    def test_a_marker_can_go_back(self, vault: Vault) -> None:
        """
        A marker with a smaller number replaces a larger one: the caller decides.

        If this fails: the largest marker is read instead of the last.
        """
        for marker in (LATER, HERE):
            with self.index(vault).committing(marker):
                pass

        assert self.index(vault).marker() == HERE

    def test_a_commit_without_changes_moves_the_marker(self, vault: Vault) -> None:
        """
        An empty block stamps its marker all the same.

        If this fails: a commit of nothing is skipped together with its marker.
        """
        with self.index(vault).committing(HERE):
            pass

        assert self.index(vault).marker() == HERE

    def test_changes_without_a_marker_keep_the_old_one(self, vault: Vault) -> None:
        """
        A block without a marker, and a single change, leave the marker as it was.

        If this fails: ``None`` is written as a marker.
        """
        one, two = ids(vault, 2)
        with self.index(vault).committing(HERE):
            pass

        with self.index(vault).committing():
            self.put(vault, one)
        self.put(vault, two)

        assert (self.held(vault), self.index(vault).marker()) == ([one, two], HERE)

    @pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
    def test_a_block_that_raises_leaves_nothing(self, vault: Vault, error: type[BaseException]) -> None:
        """
        An exception of any kind takes back entries, removals and the marker, and comes out itself.

        If this fails: changes are written as they come, or only `Exception` is caught.
        """
        one, two = ids(vault, 2)
        with self.index(vault).committing(HERE):
            self.put(vault, one)

        with pytest.raises(error), self.index(vault).committing(LATER):
            self.index(vault).remove(one)  # type: ignore[attr-defined]
            self.put(vault, two)
            raise error

        assert (self.held(vault), self.index(vault).marker()) == ([one], HERE)

    def test_blocks_follow_each_other(self, vault: Vault) -> None:
        """
        After a failed block another can begin, and it does not bring back what failed.

        If this fails: the failed block's changes stay in a buffer, or its lock is kept.
        """
        one, two = ids(vault, 2)
        with pytest.raises(ValueError), self.index(vault).committing(HERE):
            self.put(vault, one)
            raise ValueError

        with self.index(vault).committing(LATER):
            self.put(vault, two)

        assert (self.held(vault), self.index(vault).marker()) == ([two], LATER)

    def test_blocks_do_not_nest(self, vault: Vault) -> None:
        """
        A block inside a block is refused, and the outer one can go on.

        If this fails: the inner block commits half of the outer one.
        """
        (one,) = ids(vault, 1)
        with self.index(vault).committing(HERE):
            self.put(vault, one)
            with pytest.raises(RuntimeError), self.index(vault).committing(LATER):
                pass

        assert (self.held(vault), self.index(vault).marker()) == ([one], HERE)

    def test_order_within_a_block_counts(self, vault: Vault) -> None:
        """
        Removed and put again is there; put and removed again is not; put twice is there once.

        If this fails: all removals are done before, or after, everything else.
        """
        one, two, three = ids(vault, 3)
        self.put(vault, one)

        with self.index(vault).committing(HERE):
            self.index(vault).remove(one)  # type: ignore[attr-defined]
            self.put(vault, one, two, three)
            self.index(vault).remove(two)  # type: ignore[attr-defined]
            self.put(vault, three)

        assert self.held(vault) == [one, three]

    def test_large_blocks(self, vault: Vault) -> None:
        """
        Hundreds of documents change in one block, some of which were there before.

        If this fails: a statement grows with the block, or replaced entries stay.
        """
        every = ids(vault, 300)
        with self.index(vault).committing(HERE):
            self.put(vault, *every)

        with self.index(vault).committing(LATER):
            for number in every[:200]:
                self.index(vault).remove(number)  # type: ignore[attr-defined]
            self.put(vault, *every[:100])

        assert self.held(vault) == [*every[:100], *every[200:]]

    def test_clear_forgets_the_marker(self, vault: Vault) -> None:
        """
        A cleared index has neither entries nor a marker.

        If this fails: the marker survives and the next indexer believes it.
        """
        (one,) = ids(vault, 1)
        with self.index(vault).committing(HERE):
            self.put(vault, one)

        self.index(vault).clear()

        assert (self.held(vault), self.index(vault).marker()) == ([], None)

    def test_optimizing_changes_no_answer(self, vault: Vault) -> None:
        """
        Whatever optimizing does, entries, marker and counts stay; an empty index can be optimized, too.

        If this fails: the marker is merged away, or removed entries come back.
        """
        self.index(vault).optimize()
        every = ids(vault, 6)
        for number in every:
            with self.index(vault).committing(HERE):
                self.put(vault, number)
        self.index(vault).remove(every[0])  # type: ignore[attr-defined]

        self.index(vault).optimize()

        assert (self.held(vault), self.index(vault).marker()) == (every[1:], HERE)

    def test_a_sound_index_has_no_faults(self, vault: Vault) -> None:
        """
        Neither an empty index nor one in use finds anything wrong with itself.

        If this fails: the self-test leaves something behind, or takes emptiness for a fault.
        """
        assert self.index(vault).faults() == []
        with self.index(vault).committing(HERE):
            self.put(vault, *ids(vault, 2))

        assert self.index(vault).faults() == []
        assert self.index(vault).marker() == HERE

    def test_closing_twice(self, vault: Vault) -> None:
        """
        A second close does nothing.

        If this fails: close assumes that everything is still open.
        """
        self.index(vault).close()
        self.index(vault).close()

    @needs(Capability.DURABILITY)
    def test_a_commit_is_seen_by_other_handles(self, vault: Vault, reopen: Callable[[], Vault]) -> None:
        """
        A handle that was opened before sees entries and marker of a later commit, and of the one after that.

        If this fails: handles are not refreshed before they read.
        """
        one, two = ids(vault, 2)
        with self.index(vault).committing(HERE):
            pass
        other = reopen()
        assert (self.held(other), self.index(other).marker()) == ([], HERE)

        for marker, number in ((HERE, one), (LATER, two)):
            with self.index(vault).committing(marker):
                self.put(vault, number)

            assert self.index(other).marker() == marker
            assert self.held(other) == self.held(vault)

    @needs(Capability.DURABILITY)
    def test_a_commit_survives(self, vault: Vault, reopen: Callable[[], Vault]) -> None:
        """
        Entries and marker are there at the next opening; what was not committed is not.

        If this fails: the commit is only in memory.
        """
        one, two = ids(vault, 2)
        with self.index(vault).committing(HERE):
            self.put(vault, one)
        with pytest.raises(ValueError), self.index(vault).committing(LATER):
            self.put(vault, two)
            raise ValueError
        self.index(vault).close()

        again = reopen()

        assert (self.held(again), self.index(again).marker()) == ([one], HERE)


class LexicalCommitContract(CommitContract):
    """Commits of a lexical index."""

    def index(self, vault: Vault) -> DerivedIndex:
        """The lexical index."""
        return vault.lexical

    def put(self, vault: Vault, *document_ids: int) -> None:
        """An entry at every grain for each."""
        vault.lexical.put(
            [entry(number, "budget", grain=grain) for number in document_ids for grain in Grain]
        )

    def held(self, vault: Vault) -> list[int]:
        """Found at every grain alike."""
        by_grain = [found_by(vault, "budget", grain=grain, limit=1000) for grain in Grain]
        assert all(found == by_grain[0] for found in by_grain), "the grains differ"
        assert [vault.lexical.count(grain) for grain in Grain] == [len(by_grain[0])] * len(Grain)
        return sorted(by_grain[0])


class VectorCommitContract(CommitContract):
    """Commits of a vector index."""

    def index(self, vault: Vault) -> DerivedIndex:
        """The vector index."""
        return vault.vectors

    def put(self, vault: Vault, *document_ids: int) -> None:
        """One vector for each."""
        vault.vectors.put(VectorEntry(FragmentKey(number, 0), EAST) for number in document_ids)

    def held(self, vault: Vault) -> list[int]:
        """Found by that vector."""
        hits = vault.vectors.search(EAST, 1000)
        assert vault.vectors.count() == len(hits)
        return sorted(hit.key.document_id for hit in hits)


def ids(vault: Vault, number: int) -> list[int]:
    """Save that many documents; their ids, ascending."""
    return [save(vault, f"{place}.md") for place in range(number)]
