from __future__ import annotations

import pytest

from clawmem.contracts.base import VaultContract, needs
from clawmem.contracts.samples import DAYS, UNKNOWN, save
from clawmem.ports.capability import Capability
from clawmem.ports.errors import InvalidInput
from clawmem.ports.origin import Origin
from clawmem.ports.records import InactiveReason, Scope
from clawmem.ports.relations import EVERY_KIND, Relation, RelationKind
from clawmem.ports.vault import Vault

CAUSAL, SEMANTIC, TEMPORAL = RelationKind.CAUSAL, RelationKind.SEMANTIC, RelationKind.TEMPORAL
MANY = 1000  # more relations than anybody asks for


def documents(vault: Vault, count: int) -> list[int]:
    """So many documents; their ids, rising."""
    with vault.writing():
        return [save(vault, f"{number}.md", f"Text {number}.") for number in range(count)]


def ends(relations: list[Relation]) -> list[tuple[int, int, str]]:
    """Source, target and kind of each, in the order in which they came."""
    return [(relation.source, relation.target, relation.kind.value) for relation in relations]


def outbound(vault: Vault, *document_ids: int) -> list[Relation]:
    """Everything that goes out from these documents."""
    return vault.relations.outbound(document_ids, limit=MANY)


class RelationWriteContract(VaultContract):
    """What is kept of the graph. Supply ``vault``: an EMPTY ``Vault``."""

    def test_everything_is_kept(self, vault: Vault) -> None:
        """
        A relation comes back as it was given, every field of it.

        If this fails: a column is missing, or metadata lost its types or its characters on the way.
        """
        a, b = documents(vault, 2)
        metadata = {"reasoning": "weil's so war – 因为", "facts": [1, 2.5, None, True], "deep": {"x": "y"}}
        given = Relation(a, b, CAUSAL, 1 / 3, "observer", "2024-03-01T09:30:00.000Z", metadata)

        assert vault.relations.put([given]) == 1

        assert outbound(vault, a) == [given]
        assert vault.relations.inbound([b], limit=MANY) == [given]

    @pytest.mark.parametrize("outside", ["source", "target"])
    def test_trust_is_that_of_the_less_trusted_end(self, vault: Vault, outside: str) -> None:
        """
        A relation carries the less trusted origin of its two documents, whatever it claims, as they are now.

        If this fails: the origin of one end is not read, or what was given is kept instead.
        """
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

    def test_kinds_and_directions_are_apart(self, vault: Vault) -> None:
        """
        Of two documents there can be one relation of every kind, in either direction.

        If this fails: the kind or the direction is missing from the key.
        """
        a, b = documents(vault, 2)
        given = [Relation(*pair, kind) for pair in ((a, b), (b, a)) for kind in RelationKind]

        assert vault.relations.put(given) == 2 * len(RelationKind)

        assert len(outbound(vault, a, b)) == 2 * len(RelationKind)

    def test_put_twice_is_put_once(self, vault: Vault) -> None:
        """
        What stands there already is left as it is, with the time at which it was first written.

        If this fails: writing is counted instead of changing, or the time is compared with the rest.
        """
        a, b = documents(vault, 2)
        given = Relation(a, b, SEMANTIC, 0.7, created_at=DAYS[0], metadata={"x": 1})
        vault.relations.put([given])

        assert vault.relations.put([given._replace(created_at=DAYS[1])]) == 0
        assert outbound(vault, a) == [given]

    @pytest.mark.parametrize("change", [{"weight": 0.8}, {"origin": "else"}, {"metadata": {"x": 2}}])
    def test_put_replaces(self, vault: Vault, change: dict[str, object]) -> None:
        """
        A relation that is there becomes what is given, its time included.

        If this fails: look at the field of the case, it is not compared or not written.
        """
        a, b = documents(vault, 2)
        vault.relations.put([Relation(a, b, SEMANTIC, 0.7, created_at=DAYS[0], metadata={"x": 1})])
        after = Relation(a, b, SEMANTIC, 0.7, created_at=DAYS[1], metadata={"x": 1})._replace(
            **change,  # type: ignore[arg-type]
        )

        assert vault.relations.put([after]) == 1
        assert outbound(vault, a) == [after]

    @pytest.mark.parametrize("weight", [0.0, -0.1, 1.001, float("nan"), float("inf")])
    def test_weights_that_are_none(self, vault: Vault, weight: float) -> None:
        """
        A weight outside (0, 1] is refused, and everything else of its call with it.

        If this fails: relations are stored one by one while they are checked.
        """
        a, b = documents(vault, 2)

        with pytest.raises(InvalidInput):
            vault.relations.put([Relation(a, b, CAUSAL), Relation(b, a, CAUSAL, weight)])

        assert vault.relations.counts() == {}

    def test_no_relation_to_itself(self, vault: Vault) -> None:
        """
        A document cannot be related to itself.

        If this fails: every walk over the graph has to look out for it.
        """
        a, b = documents(vault, 2)

        with pytest.raises(InvalidInput):
            vault.relations.put([Relation(a, b, CAUSAL), Relation(a, a, SEMANTIC)])

        assert vault.relations.counts() == {}

    @pytest.mark.parametrize("end", ["source", "target"])
    def test_unknown_documents(self, vault: Vault, end: str) -> None:
        """
        A relation with a document that the vault does not know is refused, whichever end it is.

        If this fails: the graph points to nothing, and later to whatever document gets that id.
        """
        a, b = documents(vault, 2)
        dangling = Relation(UNKNOWN, b, CAUSAL) if end == "source" else Relation(a, UNKNOWN, CAUSAL)

        with pytest.raises(InvalidInput):
            vault.relations.put([Relation(b, a, CAUSAL), dangling])
        with pytest.raises(InvalidInput):
            vault.relations.renew(CAUSAL, "", [a, b], [dangling])

        assert vault.relations.counts() == {}

    def test_renew(self, vault: Vault) -> None:
        """
        Renewing puts what is new, leaves what is the same, and deletes what is not there any more.

        If this fails: everything is deleted first, so that nothing keeps its time, or nothing is deleted at all.
        """
        a, b, c, d = documents(vault, 4)
        kept, gone = (Relation(a, other, SEMANTIC, 0.7, "build", DAYS[0]) for other in (b, c))
        vault.relations.put([kept, gone])
        new = Relation(a, d, SEMANTIC, 0.9, "build", DAYS[1])

        changed = vault.relations.renew(SEMANTIC, "build", [a], [kept._replace(created_at=DAYS[1]), new])

        assert changed == 2
        assert outbound(vault, a) == [new, kept]

    def test_renew_leaves_the_rest(self, vault: Vault) -> None:
        """
        Other sources, kinds and origins stand as they are, also in the way of a new one at their place.

        If this fails: one of the three conditions is missing, or the last writer wins.
        """
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
        """
        Forgetting a document deletes what leads from it and to it, of every kind, and nothing else.

        If this fails: one direction stays, and with it what was said about the document.
        """
        a, b, c = documents(vault, 3)
        vault.relations.put([Relation(a, b, CAUSAL), Relation(c, a, SEMANTIC), Relation(b, c, CAUSAL)])

        assert vault.relations.forget(a) == 2
        assert vault.relations.forget(a) == 0
        assert ends(outbound(vault, a, b, c)) == [(b, c, "causal")]

    def test_forget_what_is_not_served(self, vault: Vault) -> None:
        """
        Relations of a document that is not served any more can be forgotten as well.

        If this fails: only what is answered is deleted, and comes back with the document.
        """
        a, b = documents(vault, 2)
        vault.relations.put([Relation(a, b, CAUSAL)])
        vault.documents.deactivate([a], InactiveReason.REMOVED)

        assert vault.relations.forget(a) == 1

    @needs(Capability.TRANSACTIONS)
    def test_part_of_the_transaction(self, vault: Vault) -> None:
        """
        A block that fails takes back what it related, renewed and forgot.

        If this fails: the graph has a connection or a copy of its own.
        """
        a, b, c = documents(vault, 3)
        before = Relation(a, b, CAUSAL, 0.7, "hand")
        vault.relations.put([before])

        with pytest.raises(ValueError), vault.writing():
            vault.relations.put([Relation(b, c, CAUSAL), before._replace(weight=0.9)])
            vault.relations.renew(CAUSAL, "hand", [a], [])
            vault.relations.forget(c)
            raise ValueError

        assert outbound(vault, a, b, c) == [before]

    @needs(Capability.TRANSACTIONS)
    def test_refused_renewal_deletes_nothing(self, vault: Vault) -> None:
        """
        A renewal that is refused and caught inside of a block leaves what was there.

        If this fails: it deletes before it looks.
        """
        a, b = documents(vault, 2)
        before = Relation(a, b, CAUSAL, 0.7, "hand")
        vault.relations.put([before])

        with vault.writing(), pytest.raises(InvalidInput):
            vault.relations.renew(CAUSAL, "hand", [a], [Relation(a, a, CAUSAL, 0.7, "hand")])

        assert outbound(vault, a) == [before]


class RelationReadContract(VaultContract):
    """What is answered of the graph. Supply ``vault``: an EMPTY ``Vault``."""

    def test_nothing_yet(self, vault: Vault) -> None:
        """
        An empty graph, unknown documents and no documents at all give nothing.

        If this fails: look at how an empty list of ids is asked for.
        """
        assert outbound(vault) == outbound(vault, UNKNOWN) == []
        assert vault.relations.inbound([UNKNOWN], limit=MANY) == []
        assert vault.relations.counts() == {}

    def test_order(self, vault: Vault) -> None:
        """
        Relations come by document, kind, weight and the other end, whatever order they were written in.

        If this fails: the order of the table shows, or kinds are in the order of the enumeration.
        """
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
        """
        From the other end the same relations are found, ordered by that end.

        If this fails: the two directions are not one query with its ends exchanged.
        """
        a, b, c = documents(vault, 3)
        vault.relations.put(
            [Relation(a, c, CAUSAL, 0.5), Relation(b, c, CAUSAL, 0.9), Relation(c, a, CAUSAL)]
        )

        found = vault.relations.inbound([c, a], limit=MANY)

        assert ends(found) == [(c, a, "causal"), (b, c, "causal"), (a, c, "causal")]

    def test_kinds(self, vault: Vault) -> None:
        """
        Only the kinds that are asked for are answered; asking for none gives none.

        If this fails: an empty choice is taken for all of them.
        """
        a, b = documents(vault, 2)
        vault.relations.put([Relation(a, b, kind) for kind in RelationKind])

        asked = vault.relations.outbound([a], {CAUSAL, TEMPORAL}, limit=MANY)

        assert [relation.kind for relation in asked] == [CAUSAL, TEMPORAL]
        assert vault.relations.outbound([a], (), limit=MANY) == []
        assert len(vault.relations.outbound([a], EVERY_KIND, limit=MANY)) == len(RelationKind)

    def test_limit_is_per_document_and_kind(self, vault: Vault) -> None:
        """
        The limit leaves the strongest of each kind of each document, of equal ones those to smaller ids.

        If this fails: a hub's many likenesses crowd out its only cause.
        """
        a, b, *others = documents(vault, 6)
        likes = [Relation(source, other, SEMANTIC, 0.9) for source in (a, b) for other in others]
        vault.relations.put([*likes, Relation(a, others[-1], CAUSAL, 0.1)])

        found = vault.relations.outbound([a, b], limit=2)

        likenesses = [(source, other, "semantic") for source in (a, b) for other in others[:2]]
        assert ends(found) == [(a, others[-1], "causal"), *likenesses]
        assert vault.relations.outbound([a], limit=0) == vault.relations.inbound([b], limit=-1) == []

    @pytest.mark.parametrize("end", [0, 1])
    def test_served_documents_only(self, vault: Vault, end: int) -> None:
        """
        A document that is not served takes its relations out of sight, and brings them back with it.

        If this fails: only one end is looked at, or deactivating deletes.
        """
        a, b = documents(vault, 2)
        vault.relations.put([Relation(a, b, CAUSAL)])

        vault.documents.deactivate([(a, b)[end]], InactiveReason.REMOVED)

        assert outbound(vault, a, b) == vault.relations.inbound([a, b], limit=MANY) == []
        assert vault.relations.counts() == {}

        save(vault, f"{end}.md", f"Text {end}.")

        assert ends(outbound(vault, a, b)) == [(a, b, "causal")]

    def test_what_is_not_served_takes_no_place(self, vault: Vault) -> None:
        """
        The limit counts what is answered: stronger relations to documents that are gone do not use it up.

        If this fails: the cut comes before the look at the document.
        """
        a, b, c = documents(vault, 3)
        vault.relations.put([Relation(a, b, CAUSAL, 0.9), Relation(a, c, CAUSAL, 0.5)])
        vault.documents.deactivate([b], InactiveReason.ARCHIVED)

        assert ends(vault.relations.outbound([a], limit=1)) == [(a, c, "causal")]

    def test_scope_is_honoured_before_the_cut(self, vault: Vault) -> None:
        """
        The other end lies in scope, by collection and by time; where the walk stands may lie outside.

        If this fails: somebody sees what is in another's collection, or the cut comes first.
        """
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

    def test_counts(self, vault: Vault) -> None:
        """
        What is answered is counted by kind.

        If this fails: relations of documents that are not served are counted too, or each from either end.
        """
        a, b, c = documents(vault, 3)
        vault.relations.put([Relation(a, b, CAUSAL), Relation(b, a, CAUSAL), Relation(a, c, SEMANTIC)])

        assert vault.relations.counts() == {CAUSAL: 2, SEMANTIC: 1}
