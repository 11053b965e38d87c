from collections.abc import Callable, Iterable

from clawmem.contracts.base import Capability, VaultContract, needs
from clawmem.contracts.samples import MODEL, VECTOR_A, VECTOR_B, save, sha
from clawmem.ports.records import InactiveReason, IndexRecord, IndexState, Marker, Role, SourceStamp
from clawmem.ports.vault import Vault


class OutboxContract(VaultContract):
    """Log of changes for external indexes, and their register. Supply ``vault``: an EMPTY ``Vault``; and ``reopen`` for durable backends."""

    def test_without_an_index_nothing_is_written(self, vault: Vault) -> None:
        """Without a registered index no changes are logged."""
        save(vault)

        assert vault.outbox.head().seq == 0
        assert vault.outbox.after(vault.outbox.head(), Role.LEXICAL).document_ids == ()

    def test_every_change_of_text_is_seen_by_both(self, vault: Vault) -> None:
        """Saving, saving again and deactivating are changes for both roles, in order, each document once."""
        since = registered(vault).since
        first, second, third = (save(vault, f"{name}.md") for name in "abc")
        save(vault, "a.md", "Other.")
        vault.documents.deactivate([second], InactiveReason.REMOVED)

        for role in Role:
            assert vault.outbox.after(since, role).document_ids == (first, second, third)

    def test_vectors_are_changes_for_vectors_alone(self, vault: Vault) -> None:
        """Storing, replacing and deleting a vector logs every document with its text, for `Role.VECTORS` only."""
        first, second = save(vault, "a.md", "One."), save(vault, "b.md", "One.")
        registered(vault)

        changes: tuple[Callable[[], None], ...] = (
            lambda: vault.embeddings.store(MODEL, {sha("One."): VECTOR_A}),
            lambda: vault.embeddings.store(MODEL, {sha("One."): VECTOR_B}),
            vault.embeddings.clear,
        )
        for change in changes:
            before = vault.outbox.head()
            change()
            assert vault.outbox.after(before, Role.LEXICAL).document_ids == ()
            assert set(vault.outbox.after(before, Role.VECTORS).document_ids) == {first, second}

    def test_what_no_index_sees_is_no_change(self, vault: Vault) -> None:
        """New stat values of an unchanged file and failed embedding attempts are not logged."""
        number = save(vault, "a.md", "One.")
        since = registered(vault).since

        vault.documents.touch(number, SourceStamp(1, 2))
        vault.embeddings.fail([sha("One.")])

        assert vault.outbox.after(since, Role.VECTORS).document_ids == ()

    def test_head_moves_with_every_change(self, vault: Vault) -> None:
        """The head contains the vault's id, increases, and has a new epoch after each change."""
        heads = [registered(vault).since]
        for name in "abc":
            save(vault, f"{name}.md")
            heads.append(vault.outbox.head())

        assert len({head.vault for head in heads}) == 1
        assert [head.seq for head in heads] == sorted({head.seq for head in heads})
        assert len({head.epoch for head in heads}) == len(heads)

    def test_limit_counts_changes(self, vault: Vault) -> None:
        """A limited read ends at the last change it returned, and the next read continues without a gap."""
        marker = registered(vault).since
        saved = [save(vault, f"{name}.md") for name in "abcde"]
        read: list[int] = []

        for _ in range(3):
            ids, marker = vault.outbox.after(marker, Role.LEXICAL, 2)
            read += ids

        assert read == saved
        assert marker == vault.outbox.head()
        assert vault.outbox.after(marker, Role.LEXICAL, 2) == ((), marker)
        assert vault.outbox.after(vault.outbox.indexes()[0].since, Role.LEXICAL, 0).document_ids == ()

    def test_known_markers(self, vault: Vault) -> None:
        """
        Markers of this history are known, at its beginning, within it and at its head.

        A marker of another vault, of another history, or ahead of this one is not known.
        """
        since = registered(vault).since
        save(vault, "a.md")
        within = vault.outbox.head()
        save(vault, "b.md")
        head = vault.outbox.head()

        assert [vault.outbox.knows(marker) for marker in (since, within, head)] == [True] * 3
        for strange in (
            Marker("other", head.seq, head.epoch),
            Marker(head.vault, head.seq, "other"),
            Marker(head.vault, head.seq + 1, head.epoch),
            Marker(head.vault, head.seq, ""),
        ):
            assert not vault.outbox.knows(strange), strange

    def test_what_every_index_has_seen_is_forgotten(self, vault: Vault) -> None:
        """Changes before the oldest marker of all indexes are deleted; that marker and later changes remain."""
        slow, fast = registered(vault), registered(vault)
        save(vault, "a.md")
        within = vault.outbox.head()
        later = save(vault, "b.md")

        vault.outbox.seen(fast, vault.outbox.head())
        assert vault.outbox.knows(slow.since)
        vault.outbox.seen(slow, within)

        assert [vault.outbox.knows(marker) for marker in (fast.since, within)] == [False, True]
        assert vault.outbox.after(within, Role.LEXICAL).document_ids == (later,)
        assert [record.since for record in vault.outbox.indexes()] == [within, vault.outbox.head()]

    def test_a_retired_index_holds_nothing_back(self, vault: Vault) -> None:
        """Changes that only a retired index has not seen are deleted."""
        old = registered(vault)
        vault.outbox.serve(old, Role.LEXICAL)
        save(vault)
        new = registered(vault)
        vault.outbox.serve(new, Role.LEXICAL)

        vault.outbox.seen(new, vault.outbox.head())

        assert not vault.outbox.knows(old.since)

    def test_registering(self, vault: Vault) -> None:
        """A registered index is building from the head, with a generation that is never reused."""
        first = vault.outbox.register(Role.LEXICAL, "tantivy")
        vault.outbox.unregister(first)
        second = vault.outbox.register(Role.LEXICAL, "tantivy")
        third = vault.outbox.register(Role.VECTORS, "lancedb")

        assert first.generation < second.generation < third.generation
        assert second.state is IndexState.BUILDING
        assert vault.outbox.knows(second.since)
        assert list(vault.outbox.indexes()) == [second, third]

    def test_serving_retires_the_predecessor(self, vault: Vault) -> None:
        """The new serving index of a role retires the former one; other roles and building indexes are unchanged."""
        old = vault.outbox.register(Role.LEXICAL, "tantivy")
        other = vault.outbox.register(Role.VECTORS, "lancedb")
        vault.outbox.serve(old, Role.LEXICAL)
        new, waiting = (vault.outbox.register(Role.LEXICAL, "tantivy") for _ in range(2))

        vault.outbox.serve(new, Role.LEXICAL)

        assert states(vault.outbox.indexes()) == {
            old.generation: IndexState.RETIRED,
            new.generation: IndexState.SERVING,
            waiting.generation: IndexState.BUILDING,
            other.generation: IndexState.BUILDING,
        }

    def test_the_vault_itself_can_serve_again(self, vault: Vault) -> None:
        """
        Serving None retires the role's index; removing the last index deletes the logged changes.

        Markers from before are unknown after a new index is registered.
        """
        record = registered(vault)
        vault.outbox.serve(record, Role.LEXICAL)
        save(vault)

        vault.outbox.serve(None, Role.LEXICAL)
        assert states(vault.outbox.indexes()) == {record.generation: IndexState.RETIRED}
        before = vault.outbox.head()
        vault.outbox.unregister(record)

        assert list(vault.outbox.indexes()) == []
        assert not vault.outbox.knows(record.since)
        again = registered(vault)
        assert again.since.seq > before.seq
        assert not vault.outbox.knows(before)

    @needs(Capability.DURABILITY)
    def test_indexes_and_changes_survive(self, vault: Vault, reopen: Callable[[], Vault]) -> None:
        """Indexes, changes and markers survive a reopen."""
        record = registered(vault)
        number = save(vault)
        head = vault.outbox.head()
        vault.close()

        again = reopen()

        assert list(again.outbox.indexes()) == [record]
        assert again.outbox.head() == head
        assert again.outbox.after(record.since, Role.LEXICAL) == ((number,), head)


def registered(vault: Vault) -> IndexRecord:
    """Register an index, so that changes are logged."""
    return vault.outbox.register(Role.LEXICAL, "engine")


def states(records: Iterable[IndexRecord]) -> dict[int, IndexState]:
    """Return the states of indexes by generation."""
    return {record.generation: record.state for record in records}
