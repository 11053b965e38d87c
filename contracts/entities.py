from dataclasses import replace

import pytest

from clawmem.contracts.base import VaultContract
from clawmem.contracts.samples import DAYS, save
from clawmem.ports.knowledge import DOCUMENTS_EACH, MOST_COMPANIONS, Entity
from clawmem.ports.records import InactiveReason, Scope
from clawmem.ports.vault import Vault


def entity(name: str, kind: str = "person") -> Entity:
    """Return an entity with this name."""
    return Entity(f"default:{kind}:{name.lower()}", name, kind)


ANN, BOB, CYD, DEE = map(entity, ("Ann", "Bob", "Cyd", "Dee"))


def mentioning(vault: Vault, path: str, *entities: Entity, **rest: str) -> int:
    """Save a document that mentions these entities and return its id."""
    document_id = save(vault, path, f"Text of {path}", **rest)
    vault.entities.set_mentions(document_id, entities)
    return document_id


def found(vault: Vault, text: str, limit: int = 10) -> list[tuple[str, int]]:
    """Return the names that a search finds, each with the number of documents that mention it."""
    return [(entity.name, entity.mention_count) for entity in vault.entities.search(text, limit)]


def neighbours(
    vault: Vault, *document_ids: int, limit: int = 100, scope: Scope | None = None
) -> list[tuple[int, int]]:
    """Return the neighbours of documents, each with its count."""
    return [*vault.entities.neighbours(document_ids, limit, scope or Scope()).items()]


class EntityContract(VaultContract):
    """Mentions of entities, search by name, and related documents. Supply ``vault``: an EMPTY ``Vault``."""

    def test_mentions_are_kept(self, vault: Vault) -> None:
        """A document's entities are returned by id, with their kinds and counts; a repeated mention counts once."""
        service = entity("Redis", "service")
        saved = mentioning(vault, "a.md", service, replace(ANN, mention_count=7), ANN)
        vault.entities.set_mentions(saved, [ANN, service])
        other = mentioning(vault, "b.md", service)

        counted = [replace(ANN, mention_count=1), replace(service, mention_count=2)]
        assert vault.entities.mentions(saved) == counted
        assert neighbours(vault, saved) == [(other, 1)]

    def test_mentions_are_replaced(self, vault: Vault) -> None:
        """New mentions of a document replace its former ones, also in the counts."""
        saved = mentioning(vault, "a.md", ANN, BOB)

        vault.entities.set_mentions(saved, [BOB, CYD])

        assert [entity.name for entity in vault.entities.mentions(saved)] == ["Bob", "Cyd"]
        assert [found(vault, name) for name in ("ann", "bob", "cyd")] == [[], [("Bob", 1)], [("Cyd", 1)]]

    def test_a_merged_entity_is_the_other(self, vault: Vault) -> None:
        """Merging turns mentions of one entity into those of the other, once per document, and deletes the first."""
        concept, service = entity("Ledger", "concept"), entity("Ledger", "service")
        both = mentioning(vault, "both.md", concept, service, ANN)
        first = mentioning(vault, "one.md", concept, ANN)
        hidden = mentioning(vault, "hidden.md", concept)
        vault.documents.deactivate([hidden], InactiveReason.ARCHIVED)

        assert vault.entities.merge(concept.id, service)

        assert vault.entities.known([concept.id]) == {}
        assert found(vault, "ledger") == [("Ledger", 2)]
        mentioned = [[entity.id for entity in vault.entities.mentions(number)] for number in (both, first)]
        assert mentioned == [[ANN.id, service.id]] * 2
        assert neighbours(vault, both) == [(first, 2)]
        save(vault, "hidden.md", "Text of hidden.md")
        assert [entity.id for entity in vault.entities.mentions(hidden)] == [service.id]

    def test_a_known_entity_keeps_its_name(self, vault: Vault) -> None:
        """The first name and kind of an id are retained; later variants are ignored."""
        mentioning(vault, "a.md", ANN)
        mentioning(vault, "b.md", replace(ANN, name="Annie", kind="tool"))

        assert vault.entities.search("ann", 10) == [replace(ANN, mention_count=2)]
        assert vault.entities.search(None, 10) == [replace(ANN, mention_count=2)]
        assert vault.entities.search(None, 0) == []
        assert found(vault, "annie") == []

    def test_every_word_begins_a_word(self, vault: Vault) -> None:
        """Search matches prefixes of the words of a name, in any order and case, with or without accents."""
        mentioning(vault, "a.md", entity("José Vega-Ruiz"), entity("Josefina Roth"))

        assert [name for name, _ in found(vault, "jose")] == ["Josefina Roth", "José Vega-Ruiz"]
        assert [name for name, _ in found(vault, "RUIZ, jo")] == ["José Vega-Ruiz"]
        assert found(vault, "jos ega") == []
        assert found(vault, "vega smith") == []

    def test_the_most_mentioned_first(self, vault: Vault) -> None:
        """Matches are ordered by number of mentions, then by id, up to the limit."""
        al, ali, alma = map(entity, ("Al", "Ali", "Alma"))
        mentioning(vault, "a.md", alma, ali, al)
        mentioning(vault, "b.md", alma)

        assert found(vault, "al") == [("Alma", 2), ("Al", 1), ("Ali", 1)]
        assert found(vault, "al", 1) == [("Alma", 2)]
        assert found(vault, "al", 0) == found(vault, "al", -1) == []

    def test_who_mentions_it(self, vault: Vault) -> None:
        """`mentioning` returns the served documents that mention an entity, highest ids first, up to the limit."""
        numbers = [mentioning(vault, f"{n}.md", ANN, BOB) for n in range(4)]
        mentioning(vault, "other.md", BOB)
        vault.documents.deactivate(numbers[3:], InactiveReason.ARCHIVED)

        assert vault.entities.mentioning(ANN.id, 10) == numbers[2::-1]
        assert vault.entities.mentioning(ANN.id, 2) == numbers[2:0:-1]
        assert vault.entities.mentioning(ANN.id, 0) == vault.entities.mentioning(ANN.id, -1) == []
        assert vault.entities.mentioning(CYD.id, 10) == []

    @pytest.mark.parametrize("reason", InactiveReason)
    def test_what_is_not_served_is_not_mentioned(self, vault: Vault, reason: InactiveReason) -> None:
        """A document that is not served mentions nothing; an entity without other mentions is not found."""
        gone = mentioning(vault, "a.md", ANN, BOB)
        mentioning(vault, "b.md", BOB)

        vault.documents.deactivate([gone], reason)
        vault.documents.deactivate([gone], reason)

        assert vault.entities.mentions(gone) == []
        assert found(vault, "ann") == []
        assert found(vault, "bob") == [("Bob", 1)]

    @pytest.mark.parametrize("reason", [None, InactiveReason.FORGOTTEN])
    def test_names_go_with_the_last_mention(self, vault: Vault, reason: InactiveReason | None) -> None:
        """Forgetting deletes entities that only this document mentioned; the others keep their counts."""
        gone, kept = mentioning(vault, "a.md", ANN, BOB), mentioning(vault, "b.md", BOB, CYD)
        if reason:
            vault.documents.deactivate([gone], reason)

        vault.documents.forget([gone])

        assert vault.entities.mentions(gone) == []
        assert found(vault, "ann") == []
        assert vault.entities.known([ANN.id, BOB.id]) == {BOB.id: replace(BOB, mention_count=1)}
        assert [entity.id for entity in vault.entities.mentions(kept)] == [BOB.id, CYD.id]
        assert neighbours(vault, gone) == []

    def test_by_what_occurs_together(self, vault: Vault) -> None:
        """
        A document that mentions an entity co-occurring with one of the given document's is a neighbour.

        The given documents are never returned, even if they are reached from one another.
        """
        seed = mentioning(vault, "seed.md", ANN)
        pair = mentioning(vault, "pair.md", ANN, BOB)
        alone = mentioning(vault, "alone.md", BOB)
        mentioning(vault, "far.md", CYD)

        assert neighbours(vault, seed) == [(pair, 1), (alone, 1)]
        assert [neighbours(vault, seed, limit=limit) for limit in (-1, 0, 1)] == [[], [], [(pair, 1)]]
        assert neighbours(vault, seed, pair) == [(alone, 1)]
        assert neighbours(vault, seed, pair, alone) == []

    def test_thirty_companions(self, vault: Vault) -> None:
        """Exactly the thirty most frequent companions are followed, ties by id."""
        companions = [entity(f"C{n:02}") for n in range(MOST_COMPANIONS + 1)]
        seed = mentioning(vault, "seed.md", ANN)
        for companion in companions:
            mentioning(vault, f"pair-{companion.name}.md", ANN, companion)
        alone = [mentioning(vault, f"{companion.name}.md", companion) for companion in companions]
        mentioning(vault, "again.md", ANN, companions[-1])

        near = dict(neighbours(vault, seed))

        assert near[alone[-1]] == 2
        assert [number in near for number in alone[:-1]] == [True] * (MOST_COMPANIONS - 1) + [False]

    def test_ten_documents_each(self, vault: Vault) -> None:
        """Ten documents with the highest ids come from each companion; given and inactive ones do not count."""
        seed = mentioning(vault, "seed.md", ANN, BOB)
        numbers = [mentioning(vault, f"{n}.md", BOB) for n in range(DOCUMENTS_EACH + 2)]
        vault.documents.deactivate(numbers[-1:], InactiveReason.ARCHIVED)

        assert [number for number, _ in neighbours(vault, seed)] == numbers[1:-1]

    def test_a_scope_is_honoured_before_the_cut(self, vault: Vault) -> None:
        """Documents outside the scope do not count against the limit; pair counts cover the whole vault."""
        seed = mentioning(vault, "seed.md", ANN, BOB)
        mine = mentioning(vault, "mine.md", ANN, BOB, collection="mine", authored_at=DAYS[0])
        for n in range(DOCUMENTS_EACH):
            mentioning(vault, f"{n}.md", BOB, authored_at=DAYS[1])

        assert neighbours(vault, seed, scope=Scope(frozenset({"mine"}))) == [(mine, 2)]
        assert neighbours(vault, seed, scope=Scope(authored_until=DAYS[1])) == [(mine, 2)]
        assert neighbours(vault, seed, scope=Scope(frozenset({"nobody"}))) == []

    @pytest.mark.parametrize("reason", InactiveReason)
    def test_what_is_not_served_is_near_to_nothing(self, vault: Vault, reason: InactiveReason) -> None:
        """An inactive document is no neighbour, contributes to no pair, and has no neighbours itself."""
        seed = mentioning(vault, "seed.md", ANN)
        pair = mentioning(vault, "pair.md", ANN, BOB)
        bob = mentioning(vault, "bob.md", BOB, CYD)
        assert neighbours(vault, seed) == [(pair, 1), (bob, 1)]

        vault.documents.deactivate([pair], reason)

        assert neighbours(vault, seed) == []
        assert neighbours(vault, pair) == []
        assert neighbours(vault, bob) == []
