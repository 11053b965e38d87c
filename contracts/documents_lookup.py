from hashlib import sha256

import pytest

from clawmem.contracts.base import VaultContract
from clawmem.contracts.samples import DAYS, fetch, id_of, save, sha
from clawmem.ports.journal import ForgottenText
from clawmem.ports.records import Document, InactiveReason, Origin, Scope
from clawmem.ports.vault import Vault


class LookupContract(VaultContract):
    """Lookup of documents by id, hash, path, time and type. Supply ``vault``: an EMPTY ``Vault``."""

    def test_following_walks_over_the_served(self, vault: Vault) -> None:
        """Served documents above the given id are returned by id, up to the limit."""
        ids = [save(vault, f"{name}.md") for name in "cab"]
        gone = save(vault, "gone.md")
        ids.append(save(vault, "d.md"))
        vault.documents.deactivate([gone], InactiveReason.REMOVED)

        assert [found.id for found in vault.documents.following(0, 9)] == sorted(ids)
        assert [found.id for found in vault.documents.following(ids[0], 2)] == sorted(ids)[1:3]
        assert vault.documents.following(ids[-1], 9) == vault.documents.following(0, 0) == []

    def test_places_are_those_of_the_served(self, vault: Vault) -> None:
        """The places of served documents are ordered by collection, then path."""
        for collection, path in (("z", "a.md"), ("n", "b.md"), ("n", "a.md")):
            save(vault, path, collection=collection)
        vault.documents.deactivate([save(vault, "gone.md")], InactiveReason.REMOVED)

        assert vault.documents.places() == [("n", "a.md"), ("n", "b.md"), ("z", "a.md")]

    def test_hash_prefix(self, vault: Vault) -> None:
        """A prefix of a body hash, from one digit to all 64, finds the active documents, by collection and path."""
        last = save(vault, "a.md", "One.", collection="z")
        second = save(vault, "b.md", "One.", collection="n")
        first = save(vault, "a.md", "One.", collection="n")
        vault.documents.deactivate([save(vault, "gone.md", "One.")], InactiveReason.REMOVED)
        save(vault, "c.md", "Two.")  # sha-256 begins with another digit

        for length in (1, 6, 64):
            assert _ids(vault.documents.by_docid(sha("One.")[:length])) == [first, second, last]
        assert vault.documents.by_docid(sha("Three.")) == []

    def test_an_edit_keeps_the_first_hash(self, vault: Vault) -> None:
        """Unless another document has it, as notes from one template have."""
        first, second = save(vault, "a.md", "One."), save(vault, "b.md", "One.")
        save(vault, "b.md", "Two.")
        save(vault, "a.md", "Three.")
        save(vault, "b.md", "Four.")

        assert _ids(vault.documents.by_docid(sha("One."))) == [first]
        assert _ids(vault.documents.by_docid(sha("Two."))) == [second]

    def test_path_suffix(self, vault: Vault) -> None:
        """
        A suffix of whole path parts, up to the whole `collection/path`, finds the document.

        A partial path component, another letter case, or a wildcard finds nothing.
        """
        saved = save(vault, "deep/er/plan.md")

        for suffix in ("plan.md", "er/plan.md", "deep/er/plan.md", "notes/deep/er/plan.md"):
            assert _ids(vault.documents.by_suffix(suffix)) == [saved], suffix
        for suffix in "lan.md r/plan.md plan PLAN.md % plan_md * x/notes/deep/er/plan.md".split():
            assert vault.documents.by_suffix(suffix) == [], suffix

    def test_list_is_newest_first(self, vault: Vault) -> None:
        """The list is ordered by time of authoring, newest first, then collection, then path."""
        old = save(vault, "a.md", authored_at="2024-01-01T00:00:00.000Z")
        tied = "2024-01-02T00:00:00.000Z"
        third = save(vault, "a.md", collection="z", authored_at=tied)
        second = save(vault, "b.md", collection="n", authored_at=tied)
        first = save(vault, "a.md", collection="n", authored_at=tied)
        new = save(
            vault, "z.md", authored_at="2024-01-03T00:00:00.000Z", modified_at="2020-01-01T00:00:00.000Z"
        )

        assert _ids(vault.documents.latest()) == [new, first, second, third, old]

    def test_list_honours_the_scope_before_the_limit(self, vault: Vault) -> None:
        """The oldest document of a collection is first in a list of that collection alone."""
        wanted = save(vault, "a.md", collection="work", authored_at="2020-01-01T00:00:00.000Z")
        for number in range(5):
            save(vault, f"{number}.md", collection="home")

        assert _ids(vault.documents.latest(Scope(frozenset({"work"})), limit=1)) == [wanted]
        assert len(vault.documents.latest(Scope(frozenset({"work", "home"})))) == 6
        assert vault.documents.latest(Scope(frozenset({"nowhere"}))) == []

    def test_ids_of_an_origin(self, vault: Vault) -> None:
        """Documents match if they have one of the origins."""
        own = save(vault, "own.md")
        shared = save(vault, "shared.md", origin=Origin.SHARED)
        save(vault, "web.md", origin=Origin.TOOL_OUTSIDE)

        ids = vault.documents.ids

        assert ids(origins=[Origin.USER]) == {own}
        assert ids(
            Scope(documents=frozenset({own, shared})), origins=[Origin.SHARED, Origin.TOOL_OUTSIDE]
        ) == {shared}

    def test_ids_of_a_kind(self, vault: Vault) -> None:
        """Served documents match if they have one of the types and, of each tag, one of its spellings."""
        both = save(vault, "both.md", content_type="decision", tags=("Queue", "billing"))
        first = save(vault, "one.md", content_type="research", tags=("queue",))
        gone = save(vault, "gone.md", content_type="decision", tags=("queue",))
        vault.documents.deactivate([gone], InactiveReason.REMOVED)
        ids = vault.documents.ids

        assert ids() == {both, first}
        assert ids(content_types=["decision", "research"]) == {both, first}
        assert ids(content_types=["decision"]) == ids(tags=[["queue", "Queue"], ["billing"]]) == {both}
        assert ids(tags=[["queue", "Queue"]]) == {both, first}
        assert ids(content_types=["research"], tags=[["billing"]]) == ids(tags=[["que"], []]) == frozenset()
        assert ids(Scope(documents=frozenset({first})), tags=[["queue", "Queue"]]) == {first}
        assert vault.documents.tags() == {"Queue": 1, "billing": 1, "queue": 1}
        assert vault.documents.tags(Scope(documents=frozenset({first}))) == {"queue": 1}

    def test_sources_are_all_of_a_collection(self, vault: Vault) -> None:
        """The sources of a collection are all its documents by path, inactive ones included."""
        here, gone = save(vault, "a.md"), save(vault, "b.md")
        save(vault, "c.md", collection="work")
        vault.documents.deactivate([gone], InactiveReason.FORGOTTEN)

        assert vault.documents.sources("notes") == {"a.md": fetch(vault, here), "b.md": fetch(vault, gone)}
        assert vault.documents.sources("nowhere") == {}

    def test_collections_are_counted_by_name(self, vault: Vault) -> None:
        """Collections are listed by name with their number of active documents; empty ones are omitted."""
        for place, collection in (("a.md", "z"), ("b.md", "z"), ("c.md", "a"), ("d.md", "m")):
            save(vault, place, collection=collection)
        vault.documents.deactivate([id_of(vault.documents.at("m", "d.md"))], InactiveReason.REMOVED)

        assert list(vault.documents.collections().items()) == [("a", 1), ("z", 2)]
        assert vault.documents.collections(Scope(frozenset({"z", "m"}))) == {"z": 2}


def _ids(found: list[Document]) -> list[int]:
    return [document.id for document in found]


class IdentityContract(VaultContract):
    """Moves of documents, lookup by body, and forgotten bodies. Supply ``vault``: an EMPTY ``Vault``."""

    def test_holding(self, vault: Vault) -> None:
        """Every document with exactly this body is found, active or not, by place, except forgotten ones."""
        served = save(vault, "b.md", "One.")
        removed, archived, forgotten = (save(vault, f"{name}.md", "One.") for name in "acd")
        save(vault, "e.md", "Two.")
        for document_id, reason in (
            (removed, InactiveReason.REMOVED),
            (archived, InactiveReason.ARCHIVED),
            (forgotten, InactiveReason.FORGOTTEN),
        ):
            vault.documents.deactivate([document_id], reason)

        assert [document.id for document in vault.documents.holding(sha("One."))] == [
            removed,
            served,
            archived,
        ]
        assert vault.documents.holding(sha("One.")[:63]) == []
        assert vault.documents.holding(sha("Three.")) == []

    def test_moving(self, vault: Vault) -> None:
        """A moved document keeps its id and all other fields; the former place is empty."""
        moved = save(vault, "a.md", "One.")
        vault.documents.pin(moved, True)
        before = fetch(vault, moved)

        with vault.transactions.writing():
            vault.documents.move(moved, "other", "b/c.md")

        assert fetch(vault, moved) == before._replace(collection="other", path="b/c.md")
        assert vault.documents.at(before.collection, "a.md") is None
        assert vault.documents.body(moved) == "One."

    def test_moving_to_a_known_place(self, vault: Vault) -> None:
        """Moving to an occupied place exchanges two documents; moving to the own place changes nothing."""
        first, second = save(vault, "a.md", "One."), save(vault, "b.md", "Two.")
        vault.documents.deactivate([second], InactiveReason.REMOVED)
        place = fetch(vault, first).collection

        with vault.transactions.writing():
            vault.documents.move(first, place, "b.md")
            vault.documents.move(first, place, "b.md")

        assert id_of(vault.documents.at(place, "b.md")) == first
        assert id_of(vault.documents.at(place, "a.md")) == second
        assert fetch(vault, second).inactive is InactiveReason.REMOVED

    def test_marks_of_forgotten_bodies(self, vault: Vault) -> None:
        """
        An added body is recognised, even with other white space; any other body is not.

        Digests of another vault are recognised as well, and each is stored once.
        """
        assert not vault.forgotten_texts.holds("One text.")
        other = ForgottenText("salt", sha256(b"salt:Another text.").hexdigest())
        with vault.transactions.writing():
            vault.forgotten_texts.add(["One text.", "Two."])
            vault.forgotten_texts.add(["One text."])
            vault.forgotten_texts.restore([other, other])

        assert vault.forgotten_texts.holds("One text.")
        assert vault.forgotten_texts.holds("Another text.")
        assert other in vault.forgotten_texts.digests()
        assert len(vault.forgotten_texts.digests()) == 3
        assert vault.forgotten_texts.holds("\n One  text.\n")
        assert vault.forgotten_texts.holds("Two.")
        assert not vault.forgotten_texts.holds("Onetext.")
        assert not vault.forgotten_texts.holds("Three.")


class ChronologyContract(VaultContract):
    """Documents written just before and after a document. Supply ``vault``: an EMPTY ``Vault``."""

    def test_by_the_time_of_writing(self, vault: Vault) -> None:
        """Documents before and after are returned oldest first, whatever the order in which they were saved."""
        third = save(vault, "3.md", authored_at=DAYS[2])
        first = save(vault, "1.md", authored_at=DAYS[0])
        focus = save(vault, "f.md", authored_at=DAYS[1])
        zeroth = save(vault, "0.md", authored_at="2023-12-31T23:59:59.999Z")
        last = save(vault, "4.md", authored_at="2024-03-03T00:00:00.001Z")

        assert vault.documents.written_near(focus, 9) == [zeroth, first]
        assert vault.documents.written_near(focus, 9, after=True) == [third, last]

    def test_the_nearest(self, vault: Vault) -> None:
        """A limit returns the documents nearest to the focus on each side; a limit below 1 returns none."""
        first, second, third, fourth, fifth = (save(vault, f"{number}.md") for number in range(5))

        assert vault.documents.written_near(third, 1) == [second]
        assert vault.documents.written_near(third, 1, after=True) == [fourth]
        assert vault.documents.written_near(fifth, 3) == [second, third, fourth]
        for limit in (0, -1):
            assert (
                vault.documents.written_near(third, limit)
                == vault.documents.written_near(third, limit, after=True)
                == []
            )
        assert first

    def test_within_a_collection(self, vault: Vault) -> None:
        """With a collection only its documents are returned, and other documents do not count against the limit."""
        mine = save(vault, "a.md", collection="mine")
        focus = save(vault, "f.md", collection="mine")
        other = save(vault, "b.md", collection="other")
        later = save(vault, "c.md", collection="mine")

        assert vault.documents.written_near(focus, 1, "mine", after=True) == [later]
        assert vault.documents.written_near(focus, 1, after=True) == [other]
        assert vault.documents.written_near(other, 9, "mine") == [mine, focus]
        assert vault.documents.written_near(focus, 9, "nobody") == []

    @pytest.mark.parametrize("reason", InactiveReason)
    def test_what_is_not_served_is_not_told(self, vault: Vault, reason: InactiveReason) -> None:
        """An inactive document is never returned, but its neighbours can still be requested."""
        first, gone, third = (save(vault, f"{number}.md") for number in range(3))

        vault.documents.deactivate([gone], reason)

        assert vault.documents.written_near(first, 9, after=True) == [third]
        assert (vault.documents.written_near(gone, 9), vault.documents.written_near(gone, 9, after=True)) == (
            [first],
            [third],
        )
