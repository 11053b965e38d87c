from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from clawmem.contracts.base import VaultContract, needs
from clawmem.contracts.samples import MODEL, VECTOR_A, VECTOR_B, save, sha
from clawmem.ports.capability import Capability
from clawmem.ports.records import InactiveReason, IndexRecord, IndexState, Marker, Role, SourceStamp
from clawmem.ports.vault import Vault


class OutboxContract(VaultContract):
    """What is written down for indexes outside. Supply ``vault``: an EMPTY ``Vault``."""

    def test_without_an_index_nothing_is_written(self, vault: Vault) -> None:
        """
        As long as no index is registered there are no changes, whatever happens.

        If this fails: the outbox grows in vaults where nobody reads it.
        """
        save(vault)

        assert vault.outbox.head().seq == 0
        assert vault.outbox.after(vault.outbox.head(), Role.LEXICAL).document_ids == ()

    def test_every_change_of_text_is_seen_by_both(self, vault: Vault) -> None:
        """
        Saving, saving again and withdrawing a document are changes for both roles, in their order, each document once.

        If this fails: one way of changing a document does not write it down.
        """
        since = registered(vault).since
        first, second, third = (save(vault, f"{name}.md") for name in "abc")
        save(vault, "a.md", "Other.")
        vault.documents.deactivate([second], InactiveReason.REMOVED)

        for role in Role:
            assert vault.outbox.after(since, role).document_ids == (first, second, third)

    def test_withdrawing_is_a_change(self, vault: Vault) -> None:
        """
        A document that stops being served is named, and one that comes back.

        If this fails: the trigger looks at new rows only.
        """
        number = save(vault)
        registered(vault)

        for change in (
            lambda: vault.documents.deactivate([number], InactiveReason.REMOVED),
            lambda: save(vault),
        ):
            assert changed_by(vault, change, Role.LEXICAL) == (number,)

    def test_vectors_are_changes_for_vectors_alone(self, vault: Vault) -> None:
        """
        Storing, replacing and forgetting vectors names every document with the text, for `Role.VECTORS` only.

        If this fails: documents that share a text are forgotten, or the lexical index works for nothing.
        """
        one, two = save(vault, "a.md", "One."), save(vault, "b.md", "One.")
        registered(vault)

        for change in (
            lambda: vault.embeddings.store(MODEL, {sha("One."): VECTOR_A}),
            lambda: vault.embeddings.store(MODEL, {sha("One."): VECTOR_B}),
            lambda: vault.embeddings.clear(),
        ):
            before = vault.outbox.head()
            change()
            assert vault.outbox.after(before, Role.LEXICAL).document_ids == ()
            assert set(vault.outbox.after(before, Role.VECTORS).document_ids) == {one, two}

    def test_what_no_index_sees_is_no_change(self, vault: Vault) -> None:
        """
        A newer stat of an unchanged file, a failed attempt and a state of embedding change nothing for an index.

        If this fails: every update of a row is written down.
        """
        number = save(vault, "a.md", "One.")
        registered(vault)

        def unseen() -> None:
            vault.documents.touch(number, SourceStamp(1, 2))
            vault.embeddings.fail([sha("One.")], "no")

        assert changed_by(vault, unseen, Role.VECTORS) == ()

    def test_head_moves_with_every_change(self, vault: Vault) -> None:
        """
        The head names the vault, grows, and has another epoch after each change.

        If this fails: the epoch belongs to the vault, and histories that parted look alike.
        """
        heads = [registered(vault).since]
        for name in "abc":
            save(vault, f"{name}.md")
            heads.append(vault.outbox.head())

        assert len({head.vault for head in heads}) == 1
        assert [head.seq for head in heads] == sorted({head.seq for head in heads})
        assert len({head.epoch for head in heads}) == len(heads)

    def test_limit_counts_changes(self, vault: Vault) -> None:
        """
        A limited read ends at the change it came to, and the next one goes on from there without a gap.

        If this fails: the marker is that of the head, and what was not read is skipped.
        """
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

    def test_a_known_marker(self, vault: Vault) -> None:
        """
        Markers of this history are known, at its beginning, within it and at its head.

        If this fails: only the head is known, and every crash costs a rebuild.
        """
        since = registered(vault).since
        save(vault, "a.md")
        within = vault.outbox.head()
        save(vault, "b.md")

        assert [vault.outbox.knows(marker) for marker in (since, within, vault.outbox.head())] == [True] * 3

    def test_a_strange_marker(self, vault: Vault) -> None:
        """
        A marker of another vault, of another history, or ahead of this one is not known.

        If this fails: an index restored from elsewhere is believed.
        """
        registered(vault)
        save(vault)
        head = vault.outbox.head()

        for strange in (
            Marker("other", head.seq, head.epoch),
            Marker(head.vault, head.seq, "other"),
            Marker(head.vault, head.seq + 1, head.epoch),
            Marker(head.vault, head.seq, ""),
        ):
            assert not vault.outbox.knows(strange), strange

    def test_what_every_index_has_seen_is_forgotten(self, vault: Vault) -> None:
        """
        Once all indexes stand at a marker, it and all after it are known and readable, and earlier ones are not.

        If this fails: the change at the marker goes as well, and an index that stands there must be rebuilt.
        """
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
        """
        Changes that only a retired index has not seen are forgotten.

        If this fails: an index whose files could not be deleted keeps the outbox for ever.
        """
        old = registered(vault)
        vault.outbox.serve(old, Role.LEXICAL)
        save(vault)
        new = registered(vault)
        vault.outbox.serve(new, Role.LEXICAL)

        vault.outbox.seen(new, vault.outbox.head())

        assert not vault.outbox.knows(old.since)

    @needs(Capability.TRANSACTIONS)
    def test_a_change_that_is_taken_back_leaves_no_trace(self, vault: Vault) -> None:
        """
        What a failed block changed is not written down.

        If this fails: the outbox has a connection of its own.
        """
        registered(vault)
        before = vault.outbox.head()

        with pytest.raises(ValueError), vault.writing():
            save(vault)
            raise ValueError

        assert vault.outbox.head() == before


class OutboxIndexContract(VaultContract):
    """Which indexes there are. Supply ``vault``: an EMPTY ``Vault``; ``reopen`` for what is durable."""

    def test_none_at_first(self, vault: Vault) -> None:
        """
        A new vault has no index outside.

        If this fails: the vault's own index is registered.
        """
        assert list(vault.outbox.indexes()) == []

    def test_registering(self, vault: Vault) -> None:
        """
        A registered index is building since the head, with a generation that no other ever has.

        If this fails: generations are counted per role, or used again after one was struck off.
        """
        first = vault.outbox.register(Role.LEXICAL, "tantivy")
        vault.outbox.strike(first)
        second = vault.outbox.register(Role.LEXICAL, "tantivy")
        third = vault.outbox.register(Role.VECTORS, "lancedb")

        assert first.generation < second.generation < third.generation
        assert second.state is IndexState.BUILDING
        assert vault.outbox.knows(second.since)
        assert list(vault.outbox.indexes()) == [second, third]

    def test_progress_is_remembered(self, vault: Vault) -> None:
        """
        How far a building index is can be read again, and belongs to that index alone.

        If this fails: progress is kept in memory.
        """
        one, two = (vault.outbox.register(Role.LEXICAL, "tantivy") for _ in range(2))

        vault.outbox.built(one, 42)

        assert [record.built_to for record in vault.outbox.indexes()] == [42, two.built_to]

    def test_serving_retires_the_predecessor(self, vault: Vault) -> None:
        """
        Whoever serves a role takes the place of who did, and leaves other roles and building ones alone.

        If this fails: two indexes serve one role.
        """
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
        With nobody to serve a role its index is retired; the last one that is struck off takes the changes along.

        If this fails: changes are written down for nobody for ever.
        """
        record = registered(vault)
        vault.outbox.serve(record, Role.LEXICAL)
        save(vault)

        vault.outbox.serve(None, Role.LEXICAL)
        assert states(vault.outbox.indexes()) == {record.generation: IndexState.RETIRED}
        vault.outbox.strike(record)

        assert list(vault.outbox.indexes()) == []
        assert not vault.outbox.knows(record.since)

    def test_a_new_beginning_knows_nothing_of_the_old(self, vault: Vault) -> None:
        """
        After the last index went, markers of that time are not known to a vault that has a new one.

        If this fails: numbers begin again, and an old index seems to be up to date.
        """
        first = registered(vault)
        save(vault)
        before = vault.outbox.head()
        vault.outbox.strike(first)

        again = registered(vault)

        assert again.since.seq > before.seq
        assert not vault.outbox.knows(before)

    @needs(Capability.DURABILITY)
    def test_indexes_and_changes_survive(self, vault: Vault, reopen: Callable[[], Vault]) -> None:
        """
        At the next opening the indexes, their changes and the markers are as they were.

        If this fails: part of it is kept in memory, or the epoch is drawn at opening.
        """
        record = registered(vault)
        number = save(vault)
        head = vault.outbox.head()
        vault.close()

        again = reopen()

        assert list(again.outbox.indexes()) == [record]
        assert again.outbox.head() == head
        assert again.outbox.after(record.since, Role.LEXICAL) == ((number,), head)


def registered(vault: Vault) -> IndexRecord:
    """Register an index, so that changes are written down."""
    return vault.outbox.register(Role.LEXICAL, "engine")


def changed_by(vault: Vault, change: Callable[[], object], role: Role) -> tuple[int, ...]:
    """What *change* wrote down for a role."""
    before = vault.outbox.head()
    change()
    return vault.outbox.after(before, role).document_ids


def states(records: Iterable[IndexRecord]) -> dict[int, IndexState]:
    """The states of indexes by generation."""
    return {record.generation: record.state for record in records}
