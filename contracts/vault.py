from collections.abc import Callable

import pytest

from clawmem.contracts.base import Capability, VaultContract, needs
from clawmem.contracts.samples import T0, WHEN, any_of, entry, fetch, save, sha, unit_vector
from clawmem.ports.documents import Claims
from clawmem.ports.errors import InvalidInput, LeaseLost
from clawmem.ports.indexes import EmbeddingCounts
from clawmem.ports.journal import Act, ActEntry, Run, RunStatus
from clawmem.ports.knowledge import Entity, Note, Relation, RelationKind, Triple
from clawmem.ports.records import FragmentKey, Grain, InactiveReason, Role
from clawmem.ports.sessions import Cursor, Session
from clawmem.ports.vault import Vault

VECTOR = unit_vector(1, 2)


class Interrupted(BaseException):
    """Replacement for Ctrl-C: not an ``Exception``, but must still cause a rollback."""


def write_everywhere(vault: Vault, path: str, body: str) -> int:
    """Save a document with one fragment in the records and in every index, and return its id."""
    saved = save(vault, path, body)
    vault.lexical.put([entry(saved, body)])
    vault.embeddings.store("model", {sha(body): VECTOR})
    return saved


def assert_holds(vault: Vault, ids: list[int]) -> None:
    """Assert that records and indexes contain exactly these documents of `write_everywhere`."""
    keys = [FragmentKey(number, 0) for number in ids]
    assert sorted(found.id for found in vault.documents.latest()) == ids
    assert sorted(vault.documents.spans(keys)) == keys
    assert [hit.key for hit in vault.lexical.search(any_of("budget"), Grain.PASSAGE, 10)] == keys
    assert [hit.key for hit in vault.vectors.search(VECTOR, 10)] == keys
    assert (vault.lexical.count(Grain.PASSAGE), vault.vectors.count()) == (len(ids), len(ids))
    assert vault.embeddings.counts() == EmbeddingCounts(stored=1 if ids else 0)


class WholeVaultContract(VaultContract):
    """
    Joint transactions, blocks of reads, upkeep and durability. Supply ``vault``: an EMPTY ``Vault``; and ``reopen``.

    ``reopen`` opens the location of ``vault`` again; the tests of durability close ``vault`` before.
    """

    @needs(Capability.TRANSACTIONS)
    @pytest.mark.parametrize("error", [ValueError, Interrupted])
    def test_a_block_that_raises_leaves_nothing(self, vault: Vault, error: type[BaseException]) -> None:
        """Any exception rolls back records and indexes together, and is propagated."""
        with pytest.raises(error), vault.transactions.writing():
            write_everywhere(vault, "a.md", "budget")
            raise error

        assert_holds(vault, [])
        assert vault.embeddings.fingerprint() is None

    @needs(Capability.TRANSACTIONS)
    def test_every_store_is_part_of_the_transaction(self, vault: Vault) -> None:
        """A failed block leaves knowledge, logs, sessions and declarations as they were."""
        first, second = save(vault, "a.md", "One."), save(vault, "b.md", "Two.")
        ann = Entity("default:person:ann", "Ann", "person")
        vault.outbox.register(Role.LEXICAL, "engine")
        head = vault.outbox.head()

        with pytest.raises(ValueError), vault.transactions.writing():
            vault.entities.set_mentions(first, [ann])
            vault.triples.add([Triple(ann, "likes", "boats", first)])
            vault.relations.put([Relation(first, second, RelationKind.CAUSAL)])
            vault.notes.put(Note(first, ("hive",)))
            vault.successions.claim(second, Claims(supersedes=("a.md",)))
            vault.captures.advance("session", "decisions", Cursor(3, 400, 1))
            vault.usage.note([first], WHEN)
            vault.acts.add([ActEntry(first, Act.PIN, "cli", WHEN)])
            vault.journal.begin(Run("heavy", "gate", RunStatus.STARTED, WHEN))
            vault.sessions.save(Session("session", WHEN))
            vault.forgotten_texts.add(["One."])
            save(vault, "c.md")
            raise ValueError

        assert (vault.entities.mentions(first), vault.triples.of_document(first)) == ([], [])
        assert (vault.relations.counts(), vault.notes.get(first)) == ({}, None)
        assert vault.successions.direct([first]) == set()
        assert vault.captures.cursor("session", "decisions") == Cursor()
        assert fetch(vault, first).access_count == 0
        assert (vault.acts.latest(9), vault.journal.runs(9), vault.sessions.recent(9)) == ([], [], [])
        assert not vault.forgotten_texts.holds("One.")
        assert vault.outbox.head() == head

    @needs(Capability.TRANSACTIONS)
    def test_rollback_restores_what_was_there(self, vault: Vault) -> None:
        """A failed block restores everything that it replaced, removed or cleared."""
        saved = write_everywhere(vault, "a.md", "budget")
        before = vault.documents.get(saved)

        with pytest.raises(ValueError), vault.transactions.writing():
            save(vault, "a.md", "Other.")
            vault.documents.deactivate([saved], InactiveReason.FORGOTTEN)
            vault.lexical.remove(saved)
            vault.embeddings.clear()
            raise ValueError

        assert_holds(vault, [saved])
        assert vault.documents.get(saved) == before
        assert vault.documents.body(saved) == "budget"
        assert vault.embeddings.fingerprint() == "model"

    @needs(Capability.TRANSACTIONS)
    def test_refused_write_does_not_end_the_block(self, vault: Vault) -> None:
        """A refused write whose error is caught inside a block does not revert the rest of the block."""
        forgotten = save(vault, "f.md", "One.")
        vault.documents.deactivate([forgotten], InactiveReason.FORGOTTEN)

        with vault.transactions.writing():
            saved = write_everywhere(vault, "a.md", "budget")
            with pytest.raises(InvalidInput):
                save(vault, "f.md", "Two.")

        assert_holds(vault, [saved])

    def test_not_reentrant(self, vault: Vault) -> None:
        """
        A nested block is refused with RuntimeError; the outer one continues and is committed.

        Then all of its changes are visible: document, fragments, words, vectors.
        """
        with vault.transactions.writing():
            saved = write_everywhere(vault, "a.md", "budget")
            with pytest.raises(RuntimeError), vault.transactions.writing():
                pass

        assert_holds(vault, [saved])

    def test_info(self, vault: Vault) -> None:
        """A vault reports its backend, location and vector search method; sizes are not negative."""
        info = vault.storage.info()

        assert info.backend
        assert info.location
        assert info.vector_method == vault.vectors.method
        assert info.schema >= 0
        assert info.size_bytes >= 0
        assert info.read_only is False

    def test_sound_vault_has_nothing_to_say(self, vault: Vault) -> None:
        """The self-test finds no defects in an empty vault, nor after writes, rollbacks and cleaning."""
        assert vault.storage.check() == []

        gone = write_everywhere(vault, "a.md", "budget")
        write_everywhere(vault, "b.md", "budget")
        with pytest.raises(ValueError), vault.transactions.writing():
            vault.documents.deactivate([gone], InactiveReason.REMOVED)
            raise ValueError
        vault.documents.deactivate([gone], InactiveReason.REMOVED)
        vault.lexical.remove(gone)
        vault.embeddings.clean()

        assert vault.storage.check() == []

    @needs(Capability.DURABILITY)
    def test_writes_survive(self, vault: Vault, reopen: Callable[[], Vault]) -> None:
        """A transaction and a single write survive a reopen, in records and indexes."""
        with vault.transactions.writing():
            first = write_everywhere(vault, "a.md", "budget")
        second = write_everywhere(vault, "b.md", "budget")
        before = vault.documents.many([first, second])
        vault.close()

        again = reopen()

        assert_holds(again, [first, second])
        assert again.documents.many([first, second]) == before
        assert again.embeddings.fingerprint() == "model"
        again.close()

    @needs(Capability.DURABILITY)
    def test_what_was_taken_back_stays_away(self, vault: Vault, reopen: Callable[[], Vault]) -> None:
        """A failed transaction leaves nothing after a reopen either."""
        with pytest.raises(ValueError), vault.transactions.writing():
            write_everywhere(vault, "a.md", "budget")
            raise ValueError
        vault.close()

        again = reopen()

        assert_holds(again, [])
        again.close()

    @needs(Capability.DURABILITY)
    def test_leases_survive(self, vault: Vault, reopen: Callable[[], Vault]) -> None:
        """A lease survives a reopen, and a released one stays lost."""
        released = vault.leases.acquire("index", "a", now_ms=T0, ttl_ms=100)
        assert released is not None
        vault.leases.release(released)
        lease = vault.leases.acquire("index", "b", now_ms=T0, ttl_ms=100)
        assert lease is not None
        vault.close()

        again = reopen()

        again.leases.check(lease, now_ms=T0 + 99)
        with pytest.raises(LeaseLost):
            again.leases.check(released, now_ms=T0)
        assert again.leases.acquire("index", "a", now_ms=T0 + 99, ttl_ms=100) is None
        again.close()

    def test_reading_block_holds_what_was_there(self, vault: Vault) -> None:
        """Reads in a block, nested or not, find what was written before it; reads after it what is written since."""
        first = write_everywhere(vault, "a.md", "budget")
        with vault.transactions.reading():
            with vault.transactions.reading():
                assert_holds(vault, [first])
            assert_holds(vault, [first])
        second = write_everywhere(vault, "b.md", "budget")

        assert_holds(vault, [first, second])
        with vault.transactions.reading():
            assert_holds(vault, [first, second])

    def test_transaction_reads_its_own_changes(self, vault: Vault) -> None:
        """A block of reads inside a transaction finds the changes of that transaction."""
        with vault.transactions.writing():
            saved = write_everywhere(vault, "a.md", "budget")
            with vault.transactions.reading():
                assert_holds(vault, [saved])
