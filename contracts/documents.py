import pytest

from clawmem.contracts.base import VaultContract
from clawmem.contracts.samples import UNKNOWN, document, embed_all, fetch, fragments, id_of, keys, save, sha
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import (
    EmbedState,
    Fragment,
    FragmentKey,
    FragmentKind,
    InactiveReason,
    SourceStamp,
    Span,
)
from clawmem.ports.vault import Vault

REVIVABLE = (InactiveReason.REMOVED, InactiveReason.ARCHIVED, InactiveReason.SUPERSEDED)


class DocumentIdentityContract(VaultContract):
    """Identity of documents by (collection, path). Supply ``vault``: an EMPTY ``Vault``."""

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


class DocumentLifecycleContract(VaultContract):
    """Replacing, deactivating and reactivating documents. Supply ``vault``: an EMPTY ``Vault``."""

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


class BodyContract(VaultContract):
    """Bodies are deduplicated and returned unchanged. Supply ``vault``: an EMPTY ``Vault``."""

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


class FragmentContract(VaultContract):
    """Fragments of a document. Supply ``vault``: an EMPTY ``Vault``."""

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
