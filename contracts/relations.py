import pytest

from clawmem.contracts.base import VaultContract
from clawmem.contracts.samples import DAYS, UNKNOWN, save
from clawmem.ports.errors import InvalidInput
from clawmem.ports.knowledge import EVERY_KIND, Relation, RelationKind
from clawmem.ports.records import InactiveReason, Origin, Scope
from clawmem.ports.vault import Vault

CAUSAL, SEMANTIC, TEMPORAL = RelationKind.CAUSAL, RelationKind.SEMANTIC, RelationKind.TEMPORAL
MANY = 1000  # above the number of relations in every test


def documents(vault: Vault, count: int) -> list[int]:
    """Save *count* documents and return their ids, ascending."""
    with vault.transactions.writing():
        return [save(vault, f"{number}.md", f"Text {number}.") for number in range(count)]


def ends(relations: list[Relation]) -> list[tuple[int, int, str]]:
    """Return source, target and kind of each relation, in order."""
    return [(relation.source, relation.target, relation.kind.value) for relation in relations]


def outbound(vault: Vault, *document_ids: int) -> list[Relation]:
    """Return all relations that start at these documents."""
    return vault.relations.outbound(document_ids, limit=MANY)


class RelationContract(VaultContract):
    """Changes and queries of the graph. Supply ``vault``: an EMPTY ``Vault``."""

    def test_everything_is_kept(self, vault: Vault) -> None:
        """A relation is returned with every field unchanged."""
        a, b = documents(vault, 2)
        metadata = {"reasoning": "weil's so war – 因为", "facts": [1, 2.5, None, True], "deep": {"x": "y"}}
        given = Relation(a, b, CAUSAL, 1 / 3, "observer", "2024-03-01T09:30:00.000Z", metadata)

        assert vault.relations.put([given]) == 1

        assert outbound(vault, a) == [given]
        assert vault.relations.inbound([b], limit=MANY) == [given]

    @pytest.mark.parametrize("outside", ["source", "target"])
    def test_trust_is_that_of_the_less_trusted_end(self, vault: Vault, outside: str) -> None:
        """A relation has the less trusted of the present origins of its documents, whatever trust is given."""
        a, b = documents(vault, 2)
        vault.documents.set_origin([a if outside == "source" else b], Origin.SHARED)
        vault.documents.set_origin([b if outside == "source" else a], Origin.ASSISTANT)
        given = Relation(a, b, CAUSAL, 0.7, "hand", DAYS[0])

        assert vault.relations.put([given._replace(trust=Origin.TOOL_OUTSIDE)]) == 1
        assert vault.relations.put([given]) == 0

        shared = given._replace(trust=Origin.SHARED)
        assert outbound(vault, a) == vault.relations.inbound([b], limit=MANY) == [shared]
        vault.documents.set_origin([a, b], Origin.TOOL_OUTSIDE)
        assert outbound(vault, a) == [given._replace(trust=Origin.TOOL_OUTSIDE)]
        vault.documents.set_origin([a, b], Origin.USER)
        assert outbound(vault, a) == [given]

    @pytest.mark.parametrize("change", [{"weight": 0.8}, {"origin": "else"}, {"metadata": {"x": 2}}])
    def test_put_replaces(self, vault: Vault, change: dict[str, object]) -> None:
        """An unchanged relation keeps its time; one with a different field is replaced, including its time."""
        a, b = documents(vault, 2)
        given = Relation(a, b, SEMANTIC, 0.7, created_at=DAYS[0], metadata={"x": 1})
        vault.relations.put([given])
        later = given._replace(created_at=DAYS[1])
        assert vault.relations.put([later]) == 0
        assert outbound(vault, a) == [given]
        after = later._replace(**change)  # type: ignore[arg-type]

        assert vault.relations.put([after]) == 1
        assert outbound(vault, a) == [after]

    @pytest.mark.parametrize("weight", [0.0, -0.1, 1.001, float("nan"), float("inf")])
    def test_weights_that_are_none(self, vault: Vault, weight: float) -> None:
        """A weight outside (0, 1] and a relation to itself are refused, and nothing else of the call is stored."""
        a, b = documents(vault, 2)

        for wrong in (Relation(b, a, CAUSAL, weight), Relation(b, b, SEMANTIC)):
            with pytest.raises(InvalidInput):
                vault.relations.put([Relation(a, b, CAUSAL), wrong])

        assert vault.relations.counts() == {}

    @pytest.mark.parametrize("end", ["source", "target"])
    def test_unknown_documents(self, vault: Vault, end: str) -> None:
        """A relation with an unknown document at either end is refused."""
        a, b = documents(vault, 2)
        dangling = Relation(UNKNOWN, b, CAUSAL) if end == "source" else Relation(a, UNKNOWN, CAUSAL)

        with pytest.raises(InvalidInput):
            vault.relations.put([Relation(b, a, CAUSAL), dangling])
        with pytest.raises(InvalidInput):
            vault.relations.renew(CAUSAL, "", [a, b], [dangling])

        assert vault.relations.counts() == {}

    def test_renew(self, vault: Vault) -> None:
        """Renewing adds new relations, keeps equal ones, and deletes those that are no longer given."""
        a, b, c, d = documents(vault, 4)
        kept, gone = (Relation(a, other, SEMANTIC, 0.7, "build", DAYS[0]) for other in (b, c))
        vault.relations.put([kept, gone])
        new = Relation(a, d, SEMANTIC, 0.9, "build", DAYS[1])

        changed = vault.relations.renew(SEMANTIC, "build", [a], [kept._replace(created_at=DAYS[1]), new])

        assert changed == 2
        assert outbound(vault, a) == [new, kept]

    def test_renew_leaves_the_rest(self, vault: Vault) -> None:
        """Other relations are unchanged, and prevent a new one with the same source, target and kind."""
        a, b, c = documents(vault, 3)
        others = [
            Relation(b, c, SEMANTIC, 0.7, "build"),
            Relation(a, b, TEMPORAL, 0.7, "build"),
            Relation(a, b, SEMANTIC, 0.7, "by hand"),
        ]
        vault.relations.put([*others, Relation(a, c, SEMANTIC, 0.7, "build")])

        assert vault.relations.renew(SEMANTIC, "build", [a], [Relation(a, b, SEMANTIC, 0.9, "build")]) == 1

        left = vault.relations.outbound([a, b, c], limit=MANY)
        assert sorted(left, key=lambda r: (r.source, r.kind)) == sorted(
            others, key=lambda r: (r.source, r.kind)
        )

    def test_forget(self, vault: Vault) -> None:
        """Forgetting a document deletes all relations from and to it, of every kind, and no others."""
        a, b, c = documents(vault, 3)
        vault.relations.put([Relation(a, b, CAUSAL), Relation(c, a, SEMANTIC), Relation(b, c, CAUSAL)])

        vault.documents.forget([a])
        assert vault.relations.counts() == {CAUSAL: 1}
        assert ends(outbound(vault, a, b, c)) == [(b, c, "causal")]

    def test_order(self, vault: Vault) -> None:
        """Relations are ordered by document, kind, weight and the other end, regardless of insertion order."""
        a, b, c, d = documents(vault, 4)
        ordered = [
            Relation(a, d, CAUSAL, 0.9),
            Relation(a, b, CAUSAL, 0.5),
            Relation(a, c, CAUSAL, 0.5),
            Relation(a, b, SEMANTIC, 1.0),
            Relation(b, a, CAUSAL, 0.1),
        ]
        vault.relations.put(reversed(ordered))

        assert outbound(vault, b, a, b) == ordered

    def test_inbound_mirrors_outbound(self, vault: Vault) -> None:
        """Inbound queries return the same relations, ordered by their target."""
        a, b, c = documents(vault, 3)
        vault.relations.put(
            [Relation(a, c, CAUSAL, 0.5), Relation(b, c, CAUSAL, 0.9), Relation(c, a, CAUSAL)]
        )

        found = vault.relations.inbound([c, a], limit=MANY)

        assert ends(found) == [(c, a, "causal"), (b, c, "causal"), (a, c, "causal")]

    def test_kinds(self, vault: Vault) -> None:
        """Only the requested kinds are returned; an empty set of kinds returns none."""
        a, b = documents(vault, 2)
        vault.relations.put([Relation(a, b, kind) for kind in RelationKind])

        asked = vault.relations.outbound([a], {CAUSAL, TEMPORAL}, limit=MANY)

        assert [relation.kind for relation in asked] == [CAUSAL, TEMPORAL]
        assert vault.relations.outbound([a], (), limit=MANY) == []
        assert len(vault.relations.outbound([a], EVERY_KIND, limit=MANY)) == len(RelationKind)

    def test_limit_is_per_document_and_kind(self, vault: Vault) -> None:
        """The limit keeps the strongest relations per kind and document, ties by the smaller id."""
        a, b, *others = documents(vault, 6)
        likes = [Relation(source, other, SEMANTIC, 0.9) for source in (a, b) for other in others]
        vault.relations.put([*likes, Relation(a, others[-1], CAUSAL, 0.1)])

        found = vault.relations.outbound([a, b], limit=2)

        likenesses = [(source, other, "semantic") for source in (a, b) for other in others[:2]]
        assert ends(found) == [(a, others[-1], "causal"), *likenesses]
        assert vault.relations.outbound([a], limit=0) == vault.relations.inbound([b], limit=-1) == []

    @pytest.mark.parametrize("end", [0, 1])
    def test_served_documents_only(self, vault: Vault, end: int) -> None:
        """Deactivating a document hides its relations, and reactivating it restores them."""
        a, b = documents(vault, 2)
        vault.relations.put([Relation(a, b, CAUSAL)])

        vault.documents.deactivate([(a, b)[end]], InactiveReason.REMOVED)

        assert outbound(vault, a, b) == vault.relations.inbound([a, b], limit=MANY) == []
        assert vault.relations.counts() == {}

        save(vault, f"{end}.md", f"Text {end}.")

        assert ends(outbound(vault, a, b)) == [(a, b, "causal")]

    def test_scope_is_honoured_before_the_cut(self, vault: Vault) -> None:
        """The other end must be in scope, by collection and by time; the given document may be outside."""
        near = save(vault, "a.md", "One.", authored_at=DAYS[0])
        early = save(vault, "b.md", "Two.", collection="mine", authored_at=DAYS[0])
        late = save(vault, "c.md", "Three.", collection="mine", authored_at=DAYS[2])
        vault.relations.put([Relation(near, early, CAUSAL, 0.9), Relation(near, late, CAUSAL, 0.5)])
        vault.relations.put([Relation(late, near, CAUSAL)])

        def seen(scope: Scope) -> list[int]:
            return [r.target for r in vault.relations.outbound([near], limit=1, scope=scope)]

        assert seen(Scope(frozenset({"mine"}))) == [early]
        assert seen(Scope(frozenset({"mine"}), authored_from=DAYS[1])) == [late]
        assert seen(Scope(authored_until=DAYS[0])) == []
        assert vault.relations.inbound([near], limit=1, scope=Scope(frozenset({"notes"}))) == []
