from dataclasses import replace

import pytest

from clawmem.contracts.base import VaultContract
from clawmem.contracts.entities import entity
from clawmem.contracts.samples import UNKNOWN, save
from clawmem.ports.errors import InvalidInput
from clawmem.ports.knowledge import Direction, Entity, Triple
from clawmem.ports.records import InactiveReason
from clawmem.ports.vault import Vault

LEDGER, SHOP = (entity(name, "project") for name in ("Ledger", "Shop"))
MYSQL, POSTGRES, REDIS = (entity(name, "tool") for name in ("MySQL", "Postgres", "Redis"))
MARCH, APRIL, MAY = "2024-03-01", "2024-04-01", "2024-05-01"
MANY = 1000


def says(
    document_id: int,
    subject: Entity,
    predicate: str,
    other: Entity | str,
    since: str = MARCH,
    sure: float = 0.9,
) -> Triple:
    """Return a statement of a document that is valid since a day."""
    return Triple(subject, predicate, other, document_id, since, confidence=sure, said="It is so.")


def read(triples: list[Triple]) -> list[str]:
    """Return each triple as a line of text, in order."""
    return [f"{triple.subject.name} {triple.predicate} {triple.object_name}" for triple in triples]


def current(vault: Vault, triple: Entity, direction: Direction = Direction.BOTH) -> list[str]:
    """Return the valid triples of an entity as lines."""
    return read(vault.triples.recorded(triple.id, MANY, direction, ended=False))


def recorded(vault: Vault, triple: Entity, on: str | None = None) -> list[str]:
    """Return the triples of an entity as lines, all of them or those valid on a day."""
    return read(vault.triples.recorded(triple.id, MANY, on=on))


class TripleContract(VaultContract):
    """Statements of documents, and their validity over time. Supply ``vault``: an EMPTY ``Vault``."""

    def test_a_merged_entity_says_what_both_said(self, vault: Vault) -> None:
        """Merging moves triples from one entity to the other; duplicates and self-relations are dropped."""
        concept = entity("Shop", "concept")
        first, other = save(vault, "one.md"), save(vault, "other.md")
        vault.triples.add([says(first, concept, "uses", MYSQL), says(first, SHOP, "uses", MYSQL)])
        vault.triples.add(
            [says(other, LEDGER, "depends_on", concept), says(other, concept, "depends_on", SHOP)]
        )

        assert vault.entities.merge(concept.id, SHOP)

        assert current(vault, SHOP) == ["Shop uses MySQL", "Ledger depends_on Shop"]
        assert [len(vault.triples.of_document(number)) for number in (first, other)] == [1, 1]
        assert vault.triples.recorded(concept.id, 9, ended=False) == []

    def test_everything_is_kept(self, vault: Vault) -> None:
        """A triple is returned unchanged, with an entity or a text as object; an entity keeps its first name."""
        saved = save(vault, "a.md")
        uses = Triple(LEDGER, "uses", POSTGRES, saved, MARCH, "", 1 / 3, "„Wir nehmen Postgres“ – 因为")
        prefers = Triple(LEDGER, "prefers", "default:tool:redis", saved, "", MAY, 1.0, "")

        assert vault.triples.add([uses, prefers]) == 2

        assert vault.triples.recorded(LEDGER.id, MANY) == [uses, prefers]
        assert vault.triples.recorded(LEDGER.id, MANY, ended=False) == [uses]
        assert current(vault, REDIS) == []
        vault.triples.add([says(saved, replace(LEDGER, name="LEDGER", kind="org"), "uses", REDIS)])
        assert vault.entities.known([LEDGER.id, "no:such:id"]) == {LEDGER.id: LEDGER}
        assert vault.entities.mentions(saved) == []

    def test_both_directions(self, vault: Vault) -> None:
        """An entity is found as subject and as object; triples with it as subject come first."""
        saved = save(vault, "a.md")
        vault.triples.add(
            [
                says(saved, SHOP, "depends_on", LEDGER, sure=1.0),
                says(saved, LEDGER, "uses", POSTGRES),
                says(saved, LEDGER, "depends_on", LEDGER),
            ]
        )

        own, beside = ["Ledger uses Postgres", "Ledger depends_on Ledger"], "Shop depends_on Ledger"
        assert current(vault, LEDGER) == [*own, beside]
        assert current(vault, LEDGER, Direction.OUTGOING) == own
        assert current(vault, LEDGER, Direction.INCOMING) == [beside, own[1]]
        assert current(vault, REDIS) == []

    def test_the_surest_then_the_latest(self, vault: Vault) -> None:
        """Triples are ordered by confidence, latest beginning, then insertion; the limit applies to this order."""
        saved = save(vault, "a.md")
        vault.triples.add(
            [
                says(saved, LEDGER, "uses", MYSQL, MARCH, 0.7),
                says(saved, LEDGER, "uses", POSTGRES, MARCH, 0.9),
                says(saved, LEDGER, "uses", REDIS, APRIL, 0.9),
                says(saved, LEDGER, "avoids", "joins", APRIL, 0.9),
            ]
        )

        ordered = ["Ledger uses Redis", "Ledger avoids joins", "Ledger uses Postgres", "Ledger uses MySQL"]
        assert current(vault, LEDGER) == ordered
        for limit in (0, -1, 1, 3):
            assert read(vault.triples.recorded(LEDGER.id, limit, ended=False)) == ordered[: max(limit, 0)]
            assert read(vault.triples.recorded(LEDGER.id, limit)) == ordered[: max(limit, 0)]

    def test_said_by_several_is_one(self, vault: Vault) -> None:
        """A statement of several documents is returned once, most confident, until the last one is gone."""
        first, second = (save(vault, f"{name}.md") for name in "ab")
        sure, surer = says(first, LEDGER, "uses", POSTGRES, sure=0.7), says(second, LEDGER, "uses", POSTGRES)
        vault.triples.add([sure, surer, says(first, SHOP, "avoids", "joins")])

        assert [found.document_id for found in vault.triples.recorded(LEDGER.id, MANY, ended=False)] == [
            second
        ]
        assert list(vault.triples.counts().items()) == [("avoids", 1), ("uses", 1)]
        assert vault.triples.forget(second) == 1
        assert [found.document_id for found in vault.triples.recorded(LEDGER.id, MANY, ended=False)] == [
            first
        ]

    @pytest.mark.parametrize(
        "wrong",
        [
            {"document_id": UNKNOWN},
            {"confidence": 0.0},
            {"confidence": 1.01},
            {"predicate": ""},
            {"object": ""},
            {"valid_from": "March"},
            {"valid_to": "2024-02-29"},
        ],
    )
    def test_what_cannot_be_kept(self, vault: Vault, wrong: dict[str, str]) -> None:
        """An unknown document, an empty part, or an invalid day or confidence is refused; nothing is stored."""
        good = says(save(vault, "a.md"), LEDGER, "uses", POSTGRES)

        with pytest.raises(InvalidInput):
            vault.triples.add([good, replace(good, **wrong)])  # type: ignore[arg-type]

        assert vault.triples.counts() == {}
        assert vault.entities.known([LEDGER.id]) == {}

    def test_what_ended(self, vault: Vault) -> None:
        """
        An ended triple is no longer current or counted, but still recorded with both days.

        Neither a triple with the same subject and predicate nor an end before its beginning ends it.
        """
        saved = save(vault, "a.md")
        given = says(saved, LEDGER, "uses", MYSQL)
        vault.triples.add([given, says(saved, LEDGER, "uses", POSTGRES, APRIL)])
        assert vault.triples.end(given, "2024-02-29") == 0
        assert current(vault, LEDGER) == ["Ledger uses Postgres", "Ledger uses MySQL"]

        assert vault.triples.end(given, MAY) == 1

        assert current(vault, LEDGER) == ["Ledger uses Postgres"]
        assert recorded(vault, LEDGER) == ["Ledger uses Postgres", "Ledger uses MySQL"]
        assert vault.triples.recorded(MYSQL.id, MANY) == [replace(given, valid_to=MAY)]
        assert (vault.triples.counts(), vault.triples.counts(ended=True)) == ({"uses": 1}, {"uses": 2})
        assert vault.triples.end(given, MAY) == 0

    def test_on_a_day(self, vault: Vault) -> None:
        """A query for a day returns the triples valid then, first and last day included."""
        saved = save(vault, "a.md")
        ended = says(saved, LEDGER, "uses", MYSQL)
        vault.triples.add([ended, says(saved, LEDGER, "uses", REDIS, MAY, 0.7)])
        vault.triples.add([says(saved, LEDGER, "avoids", "joins", "", 0.5)])
        vault.triples.end(ended, APRIL)

        always, mysql, redis = "Ledger avoids joins", "Ledger uses MySQL", "Ledger uses Redis"
        assert recorded(vault, LEDGER, "2024-02-29") == [always]
        assert recorded(vault, LEDGER, MARCH) == recorded(vault, LEDGER, APRIL) == [always, mysql]
        assert recorded(vault, LEDGER, "2024-04-02") == [always]
        assert recorded(vault, LEDGER, MAY) == [redis, always]
        of_use = vault.triples.recorded(LEDGER.id, MANY, on=MAY, predicate="uses")
        assert read(of_use) == [redis]
        assert read(vault.triples.recorded(LEDGER.id, MANY, predicate="uses")) == [redis, mysql]

    def test_an_end_is_of_one_thing(self, vault: Vault) -> None:
        """Ending ends a statement in all documents, and none with another predicate, object, or a text of that name."""
        first, second = (save(vault, f"{name}.md") for name in "ab")
        ended = says(first, LEDGER, "uses", MYSQL)
        others = [
            says(first, LEDGER, "depends_on", MYSQL),
            says(first, LEDGER, "uses", "MySQL"),
            says(first, SHOP, "uses", MYSQL),
            says(first, LEDGER, "uses", REDIS),
        ]
        vault.triples.add([ended, replace(ended, document_id=second), *others])

        assert vault.triples.end(ended, MAY) == 2

        assert set(vault.triples.recorded(LEDGER.id, MANY, ended=False)) == {others[0], others[1], others[3]}
        assert vault.triples.recorded(SHOP.id, MANY, ended=False) == [others[2]]

    @pytest.mark.parametrize("is_ended_by_document", [False, True])
    def test_it_may_begin_again(self, vault: Vault, is_ended_by_document: bool) -> None:
        """An ended statement that is made again is valid from then on, and its former interval stays ended."""
        first, second = (save(vault, f"{name}.md") for name in "ab")
        given = says(first, LEDGER, "uses", MYSQL)
        vault.triples.add([given])
        vault.triples.end(given, APRIL, second if is_ended_by_document else None)

        assert vault.triples.add([replace(given, valid_from=MAY)]) == 1
        vault.triples.forget(second)

        assert vault.triples.recorded(LEDGER.id, MANY, ended=False) == [replace(given, valid_from=MAY)]
        assert recorded(vault, LEDGER) == ["Ledger uses MySQL"] * 2

    def test_an_end_is_taken_back_with_who_said_it(self, vault: Vault) -> None:
        """A triple ended by a document names it, and is valid again when that document's statements are forgotten."""
        first, second = (save(vault, f"{name}.md") for name in "ab")
        by_two, by_nobody = says(first, LEDGER, "uses", MYSQL), says(first, LEDGER, "uses", REDIS)
        vault.triples.add([by_two, by_nobody])
        vault.triples.end(by_two, MAY, second)
        vault.triples.end(by_nobody, MAY)

        ended = [replace(by_two, valid_to=MAY, ended_by=second), replace(by_nobody, valid_to=MAY)]
        assert vault.triples.of_document(first) == ended
        assert vault.triples.forget(second) == 0
        assert vault.triples.of_document(first) == [by_two, ended[1]]

    def test_what_holds_again_is_answered(self, vault: Vault) -> None:
        """Reopening returns the triples that the document had ended and served ones state; other ends remain."""
        first, second, third = (save(vault, f"{name}.md") for name in "abc")
        told, given = says(first, LEDGER, "uses", MYSQL), says(first, LEDGER, "uses", REDIS)
        vault.triples.add([told, given, says(second, SHOP, "uses", MYSQL)])
        vault.triples.end(told, APRIL, third)
        vault.triples.end(given, APRIL, second)
        vault.triples.end(says(second, SHOP, "uses", MYSQL), APRIL, third)
        vault.documents.deactivate([second], InactiveReason.REMOVED)

        assert vault.triples.reopen(third) == [told]
        assert vault.triples.reopen(third) == vault.triples.reopen(UNKNOWN) == []
        assert vault.triples.of_document(first) == [told, replace(given, valid_to=APRIL, ended_by=second)]

    def test_the_first_end_counts(self, vault: Vault) -> None:
        """Of several ends the earliest day counts in any order; an end added with the triple is unchanged."""
        first, second = (save(vault, f"{name}.md") for name in "ab")
        told, given = says(first, LEDGER, "uses", MYSQL), says(first, LEDGER, "uses", REDIS)
        vault.triples.add([told, replace(given, valid_to=MAY)])

        assert [vault.triples.end(told, day, second) for day in (MAY, APRIL, MAY)] == [1, 1, 0]
        assert vault.triples.end(given, APRIL, second) == 0

        ended = [replace(told, valid_to=APRIL, ended_by=second), replace(given, valid_to=MAY)]
        assert vault.triples.of_document(first) == ended

    def test_what_one_document_says(self, vault: Vault) -> None:
        """`of_document` returns the statements of a document in order, unless it is not served."""
        first, second = (save(vault, f"{name}.md") for name in "ab")
        given = [says(first, SHOP, "uses", REDIS), says(first, LEDGER, "avoids", "joins")]
        vault.triples.add([given[0], says(second, LEDGER, "uses", MYSQL), given[1]])

        assert vault.triples.of_document(first) == given
        vault.documents.deactivate([first], InactiveReason.ARCHIVED)
        assert vault.triples.of_document(first) == vault.triples.of_document(UNKNOWN) == []
        assert (current(vault, SHOP), recorded(vault, SHOP), vault.triples.counts()) == ([], [], {"uses": 1})
        assert save(vault, "a.md") == first
        assert current(vault, SHOP) == ["Shop uses Redis"]

    def test_forgetting_leaves_no_name(self, vault: Vault) -> None:
        """Forgetting a document's statements deletes every entity that is no longer referenced or mentioned."""
        first, second = (save(vault, f"{name}.md") for name in "ab")
        vault.triples.add([says(first, LEDGER, "uses", POSTGRES), says(first, SHOP, "uses", REDIS)])
        vault.triples.add([says(second, LEDGER, "avoids", "joins")])
        vault.entities.set_mentions(second, [REDIS])

        assert vault.triples.forget(first) == 2

        every = [entity.id for entity in (LEDGER, SHOP, POSTGRES, REDIS)]
        assert vault.entities.known(every).keys() == {LEDGER.id, REDIS.id}
        assert vault.triples.forget(first) == 0
