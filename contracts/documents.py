from hashlib import sha256

import pytest

from clawmem.contracts.base import VaultContract
from clawmem.contracts.samples import (
    DAYS,
    UNKNOWN,
    document,
    embed_all,
    fetch,
    fragments,
    id_of,
    keys,
    save,
    sha,
)
from clawmem.ports.errors import InvalidInput
from clawmem.ports.journal import ForgottenText
from clawmem.ports.records import (
    Document,
    EmbedState,
    Fragment,
    FragmentKey,
    FragmentKind,
    InactiveReason,
    Origin,
    Scope,
    SourceStamp,
    Span,
)
from clawmem.ports.vault import Vault

REVIVABLE = (InactiveReason.REMOVED, InactiveReason.ARCHIVED, InactiveReason.SUPERSEDED)


def _ids(found: list[Document]) -> list[int]:
    return [note.id for note in found]


class DocumentContract(VaultContract):
    """Documents, their bodies, fragments and moves, and every lookup. Supply ``vault``: an EMPTY ``Vault``."""

    def test_same_place_same_id(self, vault: Vault) -> None:
        """The same (collection, path) keeps its id when its text changes."""
        first = save(vault, "a.md", "One.")
        save(vault, "b.md", "Between.")

        assert save(vault, "a.md", "Two.") == first
        assert fetch(vault, first).hash == sha("Two.")

    def test_places_are_told_apart(self, vault: Vault) -> None:
        """A different collection, path or letter case is a different document, even with equal text."""
        ids = {
            save(vault, "a.md", "Same."),
            save(vault, "A.md", "Same."),
            save(vault, "x/a.md", "Same."),
            save(vault, "a.md", "Same.", collection="work"),
        }

        assert len(ids) == 4

    def test_place_is_looked_up_exactly(self, vault: Vault) -> None:
        """`at` finds exactly one place, active or not, and no other."""
        saved = save(vault, "x/a.md")

        assert id_of(vault.documents.at("notes", "x/a.md")) == saved
        assert [vault.documents.at(*place) for place in (("notes", "a.md"), ("work", "x/a.md"))] == [
            None,
            None,
        ]
        assert vault.documents.at("notes", "X/a.md") is None
        vault.documents.deactivate([saved], InactiveReason.REMOVED)
        assert id_of(vault.documents.at("notes", "x/a.md")) == saved

    def test_every_field_comes_back(self, vault: Vault) -> None:
        """A document is returned with every saved field, plus its id and revision 1."""
        made = document(
            "über/ノート 1.md",
            "Body.",
            title='It\'s "quoted" › 日本',
            authored_at="2021-05-06T07:08:09.123Z",
            modified_at="2022-05-06T07:08:09.123Z",
            indexed_at="2023-05-06T07:08:09.123Z",
            content_type="decision",
            confidence=0.85,
            tags=("b", "a", "with space, comma"),
            aliases=("Ü", "other, name"),
            front_matter="tags: [b, a]\nalias: Ü\n",
            domain="work",
            workstream="search",
            review_by="2025-01-01",
            body_line=7,
            stamp=SourceStamp(size=123, mtime_ns=1_700_000_000_123_456_789),
        )

        saved = vault.documents.save(made, "Body.", fragments("Body."))

        assert fetch(vault, saved) == made._replace(id=saved, first_hash=made.hash)

    def test_many_are_those_that_exist(self, vault: Vault) -> None:
        """`many` returns each existing id once, active or not, and omits the others."""
        here, gone = save(vault, "a.md"), save(vault, "b.md")
        vault.documents.deactivate([gone], InactiveReason.ARCHIVED)

        found = vault.documents.many([gone, UNKNOWN, here, here])

        assert found == {here: fetch(vault, here), gone: fetch(vault, gone)}
        assert vault.documents.many([]) == {}

    def test_new_document_counts_revision_one(self, vault: Vault) -> None:
        """The first save sets revision 1, active and pending, regardless of the record's values."""
        saved = save(vault, "a.md", revision_count=9, inactive=InactiveReason.ARCHIVED)

        got = fetch(vault, saved)
        assert (got.revision_count, got.inactive, got.embed_state) == (1, None, EmbedState.PENDING)

    def test_another_body_is_another_revision(self, vault: Vault) -> None:
        """Another body adds one revision, also one that equals an earlier body; other fields alone add none."""
        saved = [save(vault, "a.md", body) for body in ("One.", "Two.", "One.")][-1]
        assert fetch(vault, saved).revision_count == 3

        save(vault, "a.md", "One.", title="After")

        assert (fetch(vault, saved).title, fetch(vault, saved).revision_count) == ("After", 3)

    def test_what_the_vault_learnt_is_kept(self, vault: Vault) -> None:
        """Pin, accesses and duplicates survive a replacement that does not contain them."""
        saved = save(
            vault,
            "a.md",
            "One.",
            pinned=True,
            access_count=4,
            last_accessed_at="2024-02-02T02:02:02.000Z",
            duplicate_count=3,
        )

        save(vault, "a.md", "Two.")

        got = fetch(vault, saved)
        assert (got.pinned, got.access_count, got.duplicate_count) == (True, 4, 3)
        assert got.last_accessed_at == "2024-02-02T02:02:02.000Z"

    def test_replacement_replaces_the_rest(self, vault: Vault) -> None:
        """All other fields have the values of the last save, cleared ones included."""
        save(
            vault, "a.md", "One.", tags=("x",), domain="work", review_by="2025-01-01", stamp=SourceStamp(1, 2)
        )

        saved = save(vault, "a.md", "Two.")

        first = document("a.md", "One.").hash
        expected = document("a.md", "Two.")._replace(id=saved, revision_count=2, first_hash=first)
        assert fetch(vault, saved) == expected

    def test_touch_changes_the_stamp_alone(self, vault: Vault) -> None:
        """Touching stores the new stat values of that document and changes nothing else."""
        saved, other = save(vault, "a.md", stamp=SourceStamp(1, 2)), save(vault, "b.md")
        before, bystander = fetch(vault, saved), fetch(vault, other)

        vault.documents.touch(saved, SourceStamp(3, 4))

        assert fetch(vault, saved) == before._replace(stamp=SourceStamp(3, 4))
        assert fetch(vault, other) == bystander

    def test_deactivate_counts_the_active(self, vault: Vault) -> None:
        """The count includes only documents that were active before, not unknown, repeated or inactive ones."""
        first, second = save(vault, "a.md"), save(vault, "b.md")
        vault.documents.deactivate([first], InactiveReason.REMOVED)

        assert vault.documents.deactivate(iter([first, second, second, UNKNOWN]), InactiveReason.REMOVED) == 1
        assert vault.documents.deactivate([], InactiveReason.REMOVED) == 0

    @pytest.mark.parametrize("reason", InactiveReason)
    def test_inactive_remembers_why(self, vault: Vault, reason: InactiveReason) -> None:
        """An inactive document keeps its row, body, fragments and the reason."""
        saved = save(vault, "a.md", "One.")
        before = fetch(vault, saved)

        vault.documents.deactivate([saved], reason)

        assert fetch(vault, saved)._replace(embed_state=before.embed_state) == before._replace(
            inactive=reason
        )
        assert vault.documents.body(saved) == "One."
        assert vault.documents.fragments(saved) == fragments("One.")

    def test_forgotten_is_not_revived(self, vault: Vault) -> None:
        """Saving a forgotten document is refused and changes nothing; no other reason replaces "forgotten"."""
        saved = save(vault, "a.md", "One.")
        vault.documents.deactivate([saved], InactiveReason.FORGOTTEN)
        for reason in REVIVABLE:
            assert vault.documents.deactivate([saved], reason) == 0
        before = fetch(vault, saved)
        assert before.inactive is InactiveReason.FORGOTTEN

        with pytest.raises(InvalidInput):
            save(vault, "a.md", "Two.")

        assert fetch(vault, saved) == before
        assert vault.documents.body(saved) == "One."

    @pytest.mark.parametrize("reason", REVIVABLE)
    def test_others_are_revived(self, vault: Vault, reason: InactiveReason) -> None:
        """Saving a document that is inactive for another reason reactivates it, with its id."""
        saved = save(vault, "a.md")
        vault.documents.deactivate([saved], reason)
        save(vault, "b.md")

        assert save(vault, "a.md") == saved

        assert fetch(vault, saved).inactive is None
        assert vault.documents.collections() == {"notes": 2}

    def test_changed_text_is_pending_again(self, vault: Vault) -> None:
        """A document is synced when all of its texts have vectors, and pending again once a text has none."""
        saved = save(vault, "a.md", "One.")
        embed_all(vault)
        assert fetch(vault, saved).embed_state is EmbedState.SYNCED

        save(vault, "a.md", "One.\nTwo.")

        assert fetch(vault, saved).embed_state is EmbedState.PENDING

    @pytest.mark.parametrize(
        "body",
        [
            "",
            "Plain.",
            "Two\r\nlines\r\n",
            "  spaces \n\n",
            "🐝 naïve 東京 a\u0301",
            "nul \x00 inside",
            "x" * 300_000,
        ],
        ids=["empty", "plain", "crlf", "blank", "unicode", "nul", "long"],
    )
    def test_body_comes_back_exactly(self, vault: Vault, body: str) -> None:
        """A body is returned code point for code point."""
        saved = vault.documents.save(document("a.md", body), body, [])

        assert vault.documents.body(saved) == body
        assert vault.documents.bodies(iter([saved, UNKNOWN])) == {saved: body}

    def test_shared_body_outlives_one_of_its_documents(self, vault: Vault) -> None:
        """A body that two documents share remains while one of them still uses it."""
        first, second = save(vault, "a.md", "Same."), save(vault, "b.md", "Same.")

        save(vault, "a.md", "Other.")

        assert (vault.documents.body(first), vault.documents.body(second)) == ("Other.", "Same.")
        assert vault.documents.bodies([first, second]) == {first: "Other.", second: "Same."}
        assert vault.documents.fragments(second) == fragments("Same.")

    def test_fragments_come_back_by_seq(self, vault: Vault) -> None:
        """
        Fragments are returned by `seq` with every field, in whichever order they were saved.

        A front-matter fragment keeps its text, which is not part of the body.
        """
        body = "# One\n- 🐝 é\n"
        made = [
            Fragment(0, FragmentKind.DOCUMENT, 4, 5, 0, 13, body),
            Fragment(
                1, FragmentKind.SECTION, 4, 5, 0, 13, body, label="One", heading="Top › One", context="T"
            ),
            Fragment(2, FragmentKind.LINE, 5, 5, 8, 11, "🐝 é", label="Ann", heading="One"),
            Fragment(3, FragmentKind.FRONT_MATTER, 2, 2, 0, 0, "owner: Ann", label="owner"),
        ]

        saved = vault.documents.save(document("a.md", body, body_line=4), body, made[::-1])

        assert vault.documents.fragments(saved) == made

    def test_text_is_cut_by_code_points(self, vault: Vault) -> None:
        """Offsets count code points; characters outside the basic plane do not shift them."""
        body = "🐝🐝 first\n東京 é second\n"

        saved = vault.documents.save(document("a.md", body), body, fragments(body))

        assert [found.text for found in vault.documents.fragments(saved)] == ["🐝🐝 first", "東京 é second"]

    def test_replacement_leaves_no_old_fragment(self, vault: Vault) -> None:
        """A replacement with fewer fragments deletes all old ones."""
        saved = save(vault, "a.md", "One.\nTwo.\nThree.")

        save(vault, "a.md", "Four.")

        assert vault.documents.fragments(saved) == fragments("Four.")
        assert set(vault.documents.spans(keys(saved, range(3)))) == {FragmentKey(saved, 0)}

    def test_spans_say_where(self, vault: Vault) -> None:
        """A span is its fragment without text and context, under the requested key."""
        made = fragments("One.\nTwo.")
        second = made[1]._replace(label="L", heading="A › B", context="Title")
        saved = vault.documents.save(document("a.md", "One.\nTwo."), "One.\nTwo.", [made[0], second])
        key = FragmentKey(saved, 1)

        assert vault.documents.spans([key]) == {
            key: Span(key, FragmentKind.PASSAGE, 2, 2, 5, 9, "L", "A › B")
        }

    def test_spans_leave_out_what_is_not_served(self, vault: Vault) -> None:
        """Keys of inactive documents and of unknown documents or fragments are omitted; all others are returned."""
        here, gone = save(vault, "a.md", "One.\nTwo."), save(vault, "b.md", "One.")
        vault.documents.deactivate([gone], InactiveReason.REMOVED)

        asked = [*keys(here, [1, 0, 2]), *keys(gone, [0]), *keys(UNKNOWN, [0])]

        assert set(vault.documents.spans(iter(asked))) == set(keys(here, [0, 1]))
        assert vault.documents.spans([]) == {}

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
        vault.documents.set_folder("z", "/notes")
        vault.documents.set_folder("z", "/moved")

        assert (vault.documents.folder("z"), vault.documents.folder("a")) == ("/moved", None)
        assert list(vault.documents.collections().items()) == [("a", 1), ("z", 2)]
        assert vault.documents.collections(Scope(frozenset({"z", "m"}))) == {"z": 2}

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
