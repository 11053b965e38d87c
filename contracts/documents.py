from __future__ import annotations

from dataclasses import replace

import pytest

from clawmem.contracts.base import VaultContract
from clawmem.contracts.samples import document, fragments, keys, save, sha, unit_vector
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import (
    Document,
    EmbedState,
    Fragment,
    FragmentKey,
    FragmentKind,
    InactiveReason,
    Scope,
    SourceStamp,
    Span,
)
from clawmem.ports.vault import Vault

UNKNOWN = 987_654
REVIVABLE = (InactiveReason.REMOVED, InactiveReason.ARCHIVED, InactiveReason.SUPERSEDED)


class DocumentIdentityContract(VaultContract):
    """One document is one (collection, path). Supply ``vault``: an EMPTY ``Vault``."""

    def test_first_save_gives_an_id(self, vault: Vault) -> None:
        """
        Saving gives an id above zero, under which the document is found.

        If this fails: the row's id is not returned, or counting starts at zero.
        """
        saved = save(vault, "a.md")

        assert saved > 0
        assert _got(vault, saved).path == "a.md"

    def test_same_place_same_id(self, vault: Vault) -> None:
        """
        The same (collection, path) keeps its id, whatever its text becomes.

        If this fails: replacing deletes the row and inserts another; use an upsert.
        """
        first = save(vault, "a.md", "One.")
        save(vault, "b.md", "Between.")

        assert save(vault, "a.md", "Two.") == first
        assert _got(vault, first).hash == sha("Two.")

    @pytest.mark.parametrize("reason", REVIVABLE)
    def test_id_survives_absence(self, vault: Vault, reason: InactiveReason) -> None:
        """
        A document that stops being served and comes back has the id it had.

        If this fails: deactivating deletes the row, or save only looks among the active.
        """
        first = save(vault, "a.md")
        vault.documents.deactivate([first], reason)
        save(vault, "b.md")

        assert save(vault, "a.md") == first

    def test_places_are_told_apart(self, vault: Vault) -> None:
        """
        Another collection, path or letter case is another document, equal text notwithstanding.

        If this fails: documents are found by hash, or paths are compared without case.
        """
        ids = {
            save(vault, "a.md", "Same."),
            save(vault, "A.md", "Same."),
            save(vault, "x/a.md", "Same."),
            save(vault, "a.md", "Same.", collection="work"),
        }

        assert len(ids) == 4

    def test_place_is_looked_up_exactly(self, vault: Vault) -> None:
        """
        `at` finds a place exactly, active or not, and nothing else.

        If this fails: the path is matched without case or as a suffix, or inactive rows are filtered.
        """
        saved = save(vault, "x/a.md")

        assert _id(vault.documents.at("notes", "x/a.md")) == saved
        assert [vault.documents.at(*place) for place in (("notes", "a.md"), ("work", "x/a.md"))] == [
            None,
            None,
        ]
        assert vault.documents.at("notes", "X/a.md") is None
        vault.documents.deactivate([saved], InactiveReason.REMOVED)
        assert _id(vault.documents.at("notes", "x/a.md")) == saved

    def test_every_field_comes_back(self, vault: Vault) -> None:
        """
        A document comes back with every field it was saved with, its id and revision 1 set.

        If this fails: the field that differs is not stored, or changes its type on the way.
        """
        made = document(
            "über/ノート 1.md",
            "Body.",
            title='It\'s "quoted" › 日本',
            authored_at="2021-05-06T07:08:09.123Z",
            modified_at="2022-05-06T07:08:09.123Z",
            indexed_at="2023-05-06T07:08:09.123Z",
            content_type="decision",
            confidence=0.85,
            quality_score=0.25,
            tags=("b", "a", "with space, comma"),
            domain="work",
            workstream="search",
            review_by="2025-01-01",
            body_line=7,
            stamp=SourceStamp(size=123, mtime_ns=1_700_000_000_123_456_789),
        )

        saved = vault.documents.save(made, "Body.", fragments("Body."))

        assert _got(vault, saved) == replace(made, id=saved)

    def test_absent_fields_stay_absent(self, vault: Vault) -> None:
        """
        Nothing comes back as nothing: no tags as an empty tuple, no stamp as None, not as zeros.

        If this fails: absent values are stored as empty text or zero.
        """
        saved = save(vault, "a.md")

        assert _got(vault, saved) == replace(document("a.md"), id=saved)

    def test_unknown_ids(self, vault: Vault) -> None:
        """
        An unknown id is a normal absence everywhere.

        If this fails: the missing row reaches the code that builds the record.
        """
        documents = vault.documents

        assert (documents.get(UNKNOWN), documents.body(UNKNOWN)) == (None, None)
        assert (documents.fragments(UNKNOWN), documents.many([UNKNOWN])) == ([], {})
        assert documents.at("notes", "a.md") is None
        assert documents.deactivate([UNKNOWN], InactiveReason.REMOVED) == 0

    def test_many_are_those_that_exist(self, vault: Vault) -> None:
        """
        `many` gives each id that exists, active or not, once, and leaves the others out.

        If this fails: inactive rows are filtered, or a missing id raises.
        """
        here, gone = save(vault, "a.md"), save(vault, "b.md")
        vault.documents.deactivate([gone], InactiveReason.ARCHIVED)

        found = vault.documents.many([gone, UNKNOWN, here, here])

        assert found == {here: _got(vault, here), gone: _got(vault, gone)}
        assert vault.documents.many([]) == {}

    def test_many_takes_thousands(self, vault: Vault) -> None:
        """
        Asking for thousands of ids at once, from an iterator, is no more than a question.

        If this fails: a limit on bound parameters is hit; pass the ids in batches or as one JSON array.
        """
        saved = save(vault, "a.md")

        assert set(vault.documents.many(iter(range(saved, saved + 40_000)))) == {saved}


class DocumentLifecycleContract(VaultContract):
    """Replacing, deactivating, coming back. Supply ``vault``: an EMPTY ``Vault``."""

    def test_new_document_counts_revision_one(self, vault: Vault) -> None:
        """
        A first save is revision 1, whatever the record says, active and pending.

        If this fails: the caller's `revision_count` or `inactive` is stored as it came.
        """
        saved = save(vault, "a.md", revision_count=9, inactive=InactiveReason.ARCHIVED)

        got = _got(vault, saved)
        assert (got.revision_count, got.inactive, got.embed_state) == (1, None, EmbedState.PENDING)

    def test_another_body_is_another_revision(self, vault: Vault) -> None:
        """
        Each save with another body adds one revision; a body that returns is another body too.

        If this fails: revisions are counted by distinct hash, or taken from the caller.
        """
        saved = [save(vault, "a.md", body) for body in ("One.", "Two.", "One.")][-1]

        assert _got(vault, saved).revision_count == 3

    def test_same_body_is_the_same_revision(self, vault: Vault) -> None:
        """
        Saving the same body again changes the other fields and leaves the revision alone.

        If this fails: every save counts; compare the hashes.
        """
        save(vault, "a.md", "One.", title="Before")

        saved = save(vault, "a.md", "One.", title="After")

        assert (_got(vault, saved).title, _got(vault, saved).revision_count) == ("After", 1)

    def test_coming_back_is_no_revision(self, vault: Vault) -> None:
        """
        Only an active document's replacement counts: one that comes back keeps its revision.

        If this fails: reviving is counted like replacing.
        """
        saved = save(vault, "a.md", "One.")
        vault.documents.deactivate([saved], InactiveReason.REMOVED)

        save(vault, "a.md", "Two.")

        assert _got(vault, saved).revision_count == 1

    def test_what_the_vault_learnt_is_kept(self, vault: Vault) -> None:
        """
        Pin, accesses and duplicates outlive a replacement that knows nothing of them.

        If this fails: the upsert overwrites columns that no file knows.
        """
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

        got = _got(vault, saved)
        assert (got.pinned, got.access_count, got.duplicate_count) == (True, 4, 3)
        assert got.last_accessed_at == "2024-02-02T02:02:02.000Z"

    def test_replacement_replaces_the_rest(self, vault: Vault) -> None:
        """
        All other fields are those of the last save, cleared ones included.

        If this fails: an absent new value lets the old one stand (`coalesce`).
        """
        save(
            vault, "a.md", "One.", tags=("x",), domain="work", review_by="2025-01-01", stamp=SourceStamp(1, 2)
        )

        saved = save(vault, "a.md", "Two.")

        assert _got(vault, saved) == replace(document("a.md", "Two."), id=saved, revision_count=2)

    def test_touch_changes_the_stamp_alone(self, vault: Vault) -> None:
        """
        Touching remembers the newer stat and nothing else, of that document only.

        If this fails: touch bumps a time or a revision, or its condition is too wide.
        """
        saved, other = save(vault, "a.md", stamp=SourceStamp(1, 2)), save(vault, "b.md")
        before, bystander = _got(vault, saved), _got(vault, other)

        vault.documents.touch(saved, SourceStamp(3, 4))

        assert _got(vault, saved) == replace(before, stamp=SourceStamp(3, 4))
        assert _got(vault, other) == bystander

    def test_deactivate_counts_the_active(self, vault: Vault) -> None:
        """
        The count is of documents that were active until now: not of unknown, repeated or inactive ones.

        If this fails: the length of the argument is returned, or an update without `inactive is null`.
        """
        first, second = save(vault, "a.md"), save(vault, "b.md")
        vault.documents.deactivate([first], InactiveReason.REMOVED)

        assert vault.documents.deactivate(iter([first, second, second, UNKNOWN]), InactiveReason.REMOVED) == 1
        assert vault.documents.deactivate([], InactiveReason.REMOVED) == 0

    @pytest.mark.parametrize("reason", InactiveReason)
    def test_inactive_remembers_why(self, vault: Vault, reason: InactiveReason) -> None:
        """
        An inactive document keeps its row, body and fragments, and the reason.

        If this fails: deactivating deletes, or stores a flag instead of the reason.
        """
        saved = save(vault, "a.md", "One.")
        before = _got(vault, saved)

        vault.documents.deactivate([saved], reason)

        assert replace(_got(vault, saved), embed_state=before.embed_state) == replace(before, inactive=reason)
        assert vault.documents.body(saved) == "One."
        assert vault.documents.fragments(saved) == fragments("One.")

    def test_forgetting_an_inactive_document(self, vault: Vault) -> None:
        """
        A document that is inactive for another reason can still be forgotten.

        If this fails: only active rows are updated.
        """
        saved = save(vault, "a.md")
        vault.documents.deactivate([saved], InactiveReason.ARCHIVED)

        vault.documents.deactivate([saved], InactiveReason.FORGOTTEN)

        assert _got(vault, saved).inactive is InactiveReason.FORGOTTEN

    @pytest.mark.parametrize("reason", REVIVABLE)
    def test_forgotten_keeps_its_reason(self, vault: Vault, reason: InactiveReason) -> None:
        """
        No later reason takes the place of "forgotten".

        If this fails: a pass that misses the file overwrites what the user asked for.
        """
        saved = save(vault, "a.md")
        vault.documents.deactivate([saved], InactiveReason.FORGOTTEN)

        assert vault.documents.deactivate([saved], reason) == 0
        assert _got(vault, saved).inactive is InactiveReason.FORGOTTEN

    def test_forgotten_is_not_revived(self, vault: Vault) -> None:
        """
        Saving a forgotten document is refused and changes nothing.

        If this fails: the upsert revives whatever stands at the place; look at the reason first.
        """
        saved = save(vault, "a.md", "One.")
        vault.documents.deactivate([saved], InactiveReason.FORGOTTEN)
        before = _got(vault, saved)

        with pytest.raises(InvalidInput):
            save(vault, "a.md", "Two.")

        assert _got(vault, saved) == before
        assert vault.documents.body(saved) == "One."

    @pytest.mark.parametrize("reason", REVIVABLE)
    def test_others_are_revived(self, vault: Vault, reason: InactiveReason) -> None:
        """
        Saving a document that is inactive for another reason makes it active.

        If this fails: the upsert leaves the reason in its column.
        """
        saved = save(vault, "a.md")
        vault.documents.deactivate([saved], reason)

        save(vault, "a.md")

        assert _got(vault, saved).inactive is None
        assert vault.documents.collections() == {"notes": 1}

    def test_changed_text_is_pending_again(self, vault: Vault) -> None:
        """
        A document is synced by its vectors and pending again once it has a text without one.

        If this fails: the state is only written by the embedding pass, or kept by the upsert.
        """
        saved = save(vault, "a.md", "One.")
        _embed_all(vault)
        assert _got(vault, saved).embed_state is EmbedState.SYNCED

        save(vault, "a.md", "One.\nTwo.")

        assert _got(vault, saved).embed_state is EmbedState.PENDING

    def test_known_texts_are_synced_at_once(self, vault: Vault) -> None:
        """
        A document all of whose texts have vectors already, thanks to others, is synced when saved.

        If this fails: save sets "pending" without looking into the vectors.
        """
        save(vault, "a.md", "One.\nTwo.")
        _embed_all(vault)

        saved = save(vault, "b.md", "Two.\nOne.")

        assert _got(vault, saved).embed_state is EmbedState.SYNCED

    def test_nothing_to_embed_is_synced(self, vault: Vault) -> None:
        """
        A document without a text to embed has them all.

        If this fails: such documents stay on the worklist for ever.
        """
        saved = vault.documents.save(document("a.md", "- a"), "- a", fragments("- a", kind=FragmentKind.LINE))

        assert _got(vault, saved).embed_state is EmbedState.SYNCED


class BodyContract(VaultContract):
    """Bodies are kept once and given back whole. Supply ``vault``: an EMPTY ``Vault``."""

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
        """
        A body comes back code point by code point.

        If this fails: line ends or Unicode are normalised, ends are stripped, or text stops at a NUL.
        """
        saved = vault.documents.save(document("a.md", body), body, [])

        assert vault.documents.body(saved) == body

    def test_shared_body_outlives_one_of_its_documents(self, vault: Vault) -> None:
        """
        A body that two documents share stays while one of them still has it.

        If this fails: replacing deletes the old body without asking who else uses it.
        """
        first, second = save(vault, "a.md", "Same."), save(vault, "b.md", "Same.")

        save(vault, "a.md", "Other.")

        assert (vault.documents.body(first), vault.documents.body(second)) == ("Other.", "Same.")
        assert vault.documents.fragments(second) == fragments("Same.")

    def test_inactive_body_is_still_there(self, vault: Vault) -> None:
        """
        The body of an inactive document can be read.

        If this fails: the body is joined with active documents only.
        """
        saved = save(vault, "a.md", "One.")
        vault.documents.deactivate([saved], InactiveReason.FORGOTTEN)

        assert vault.documents.body(saved) == "One."


class FragmentContract(VaultContract):
    """The stretches of a document. Supply ``vault``: an EMPTY ``Vault``."""

    def test_fragments_come_back_by_seq(self, vault: Vault) -> None:
        """
        Fragments come back by `seq` with every field, in whatever order they were handed over.

        If this fails: the order is that of insertion, or the field that differs is not stored.
        """
        body = "# One\n- 🐝 é\n"
        made = [
            Fragment(0, FragmentKind.DOCUMENT, 4, 5, 0, 13, body),
            Fragment(
                1, FragmentKind.SECTION, 4, 5, 0, 13, body, label="One", heading="Top › One", context="T"
            ),
            Fragment(2, FragmentKind.LINE, 5, 5, 8, 11, "🐝 é", label="Ann", heading="One"),
        ]

        saved = vault.documents.save(document("a.md", body), body, made[::-1])

        assert vault.documents.fragments(saved) == made

    def test_text_is_cut_by_code_points(self, vault: Vault) -> None:
        """
        Offsets count code points, so characters outside of the basic plane shift nothing.

        If this fails: the text is cut from bytes or UTF-16 units.
        """
        body = "🐝🐝 first\n東京 é second\n"

        saved = vault.documents.save(document("a.md", body), body, fragments(body))

        assert [found.text for found in vault.documents.fragments(saved)] == ["🐝🐝 first", "東京 é second"]

    def test_front_matter_has_its_own_text(self, vault: Vault) -> None:
        """
        A front-matter fragment keeps its text, which is not part of the body.

        If this fails: every fragment's text is cut out of the body.
        """
        made = [
            Fragment(0, FragmentKind.FRONT_MATTER, 2, 2, 0, 0, "owner: Ann", label="owner"),
            Fragment(1, FragmentKind.PASSAGE, 4, 4, 0, 5, "Body."),
        ]

        saved = vault.documents.save(document("a.md", "Body.", body_line=4), "Body.", made)

        assert vault.documents.fragments(saved) == made

    def test_replacement_leaves_no_old_fragment(self, vault: Vault) -> None:
        """
        A shorter replacement leaves nothing of the longer one.

        If this fails: fragments are upserted by `seq` and the rest is not deleted.
        """
        saved = save(vault, "a.md", "One.\nTwo.\nThree.")

        save(vault, "a.md", "Four.")

        assert vault.documents.fragments(saved) == fragments("Four.")
        assert set(vault.documents.spans(keys(saved, range(3)))) == {FragmentKey(saved, 0)}

    def test_same_body_other_fragments(self, vault: Vault) -> None:
        """
        The fragments are those of the last save even when the body is the same.

        If this fails: an equal hash skips more than it may.
        """
        saved = save(vault, "a.md", "One.\nTwo.")
        other = fragments("One.\nTwo.", kind=FragmentKind.LIST, context="Title")

        vault.documents.save(document("a.md", "One.\nTwo."), "One.\nTwo.", other)

        assert vault.documents.fragments(saved) == other

    def test_spans_say_where(self, vault: Vault) -> None:
        """
        A span is its fragment without text and context, under the key that was asked for.

        If this fails: look at the columns that a span is built from.
        """
        made = fragments("One.\nTwo.")
        second = replace(made[1], label="L", heading="A › B", context="Title")
        saved = vault.documents.save(document("a.md", "One.\nTwo."), "One.\nTwo.", [made[0], second])
        key = FragmentKey(saved, 1)

        assert vault.documents.spans([key]) == {
            key: Span(key, FragmentKind.PASSAGE, 2, 2, 5, 9, "L", "A › B")
        }

    def test_spans_leave_out_what_is_not_served(self, vault: Vault) -> None:
        """
        Keys of inactive and unknown documents and fragments are left out; the others are all there.

        If this fails: spans are read without the documents, or a missing key raises.
        """
        here, gone = save(vault, "a.md", "One.\nTwo."), save(vault, "b.md", "One.")
        vault.documents.deactivate([gone], InactiveReason.REMOVED)

        asked = [*keys(here, [1, 0, 2]), *keys(gone, [0]), *keys(UNKNOWN, [0])]

        assert set(vault.documents.spans(iter(asked))) == set(keys(here, [0, 1]))
        assert vault.documents.spans([]) == {}

    def test_spans_take_thousands(self, vault: Vault) -> None:
        """
        Asking for thousands of keys at once is no more than a question.

        If this fails: a limit on bound parameters is hit; pass the keys in batches or as one JSON array.
        """
        saved = save(vault, "a.md", "One.")

        assert set(vault.documents.spans(keys(saved, range(40_000)))) == {FragmentKey(saved, 0)}


class LookupContract(VaultContract):
    """Finding documents by what people remember. Supply ``vault``: an EMPTY ``Vault``."""

    def test_hash_prefix(self, vault: Vault) -> None:
        """
        A prefix of a body hash, from one digit to all 64, finds each active document that has it.

        If this fails: the prefix is compared with a fixed length, or with the file's hash.
        """
        first, second = save(vault, "a.md", "One."), save(vault, "b.md", "One.")
        save(vault, "c.md", "Two.")  # sha-256 begins with another digit

        for length in (1, 6, 64):
            assert _ids(vault.documents.by_hash(sha("One.")[:length])) == [first, second]
        assert vault.documents.by_hash(sha("Three.")) == []

    def test_hash_prefix_is_ordered_and_active(self, vault: Vault) -> None:
        """
        The finds come by collection and path, inactive ones left out.

        If this fails: they come in the order of their ids, or the reason is not looked at.
        """
        last = save(vault, "a.md", "One.", collection="z")
        second = save(vault, "b.md", "One.", collection="n")
        first = save(vault, "a.md", "One.", collection="n")
        vault.documents.deactivate([save(vault, "gone.md", "One.")], InactiveReason.REMOVED)

        assert _ids(vault.documents.by_hash(sha("One.")[:8])) == [first, second, last]

    def test_path_suffix(self, vault: Vault) -> None:
        """
        A suffix of whole path parts, up to the whole `collection/path`, finds the document.

        If this fails: the collection is not part of what is compared.
        """
        saved = save(vault, "deep/er/plan.md")

        for suffix in ("plan.md", "er/plan.md", "deep/er/plan.md", "notes/deep/er/plan.md"):
            assert _ids(vault.documents.by_suffix(suffix)) == [saved], suffix

    @pytest.mark.parametrize(
        "suffix", ["lan.md", "r/plan.md", "plan", "PLAN.md", "%", "plan_md", "*", "x/notes/deep/er/plan.md"]
    )
    def test_path_suffix_means_whole_parts(self, vault: Vault, suffix: str) -> None:
        """
        Half a part, another case, or a wildcard finds nothing.

        If this fails: `like` is used without escaping and without a slash, or compares without case.
        """
        save(vault, "deep/er/plan.md")

        assert vault.documents.by_suffix(suffix) == []

    def test_path_suffix_is_ordered_and_active(self, vault: Vault) -> None:
        """
        The finds come by collection and path, inactive ones left out.

        If this fails: they come in the order of their ids, or the reason is not looked at.
        """
        last = save(vault, "a/plan.md", collection="z")
        second = save(vault, "b/plan.md", collection="n")
        first = save(vault, "a/plan.md", collection="n")
        vault.documents.deactivate([save(vault, "plan.md")], InactiveReason.REMOVED)

        assert _ids(vault.documents.by_suffix("plan.md")) == [first, second, last]

    def test_list_is_newest_first(self, vault: Vault) -> None:
        """
        The list is ordered by modification, newest first, then collection, then path.

        If this fails: another of the three times is sorted by, or ties are left to chance.
        """
        old = save(vault, "a.md", modified_at="2024-01-01T00:00:00.000Z")
        tied = "2024-01-02T00:00:00.000Z"
        third = save(vault, "a.md", collection="z", modified_at=tied)
        second = save(vault, "b.md", collection="n", modified_at=tied)
        first = save(vault, "a.md", collection="n", modified_at=tied)
        new = save(
            vault, "z.md", modified_at="2024-01-03T00:00:00.000Z", authored_at="2020-01-01T00:00:00.000Z"
        )

        assert _ids(vault.documents.latest()) == [new, first, second, third, old]

    @pytest.mark.parametrize(
        ("limit", "expected"), [(-1, 0), (0, 0), (1, 1), (2, 2), (3, 3), (4, 3), (None, 3)]
    )
    def test_list_limit(self, vault: Vault, limit: int | None, expected: int) -> None:
        """
        A limit cuts the list's end off; below 1 it leaves nothing and None leaves everything.

        If this fails: -1 reaches a `limit` clause, where it means no limit, or 0 is taken for None.
        """
        for name in ("a.md", "b.md", "c.md"):
            save(vault, name)

        found = vault.documents.latest(limit=limit)

        assert [got.path for got in found] == ["a.md", "b.md", "c.md"][:expected]

    def test_list_honours_the_scope_before_the_limit(self, vault: Vault) -> None:
        """
        A collection's oldest document is first when only that collection is asked for.

        If this fails: the limit is applied before the scope.
        """
        wanted = save(vault, "a.md", collection="work", modified_at="2020-01-01T00:00:00.000Z")
        for number in range(5):
            save(vault, f"{number}.md", collection="home")

        assert _ids(vault.documents.latest(Scope(frozenset({"work"})), limit=1)) == [wanted]
        assert len(vault.documents.latest(Scope(frozenset({"work", "home"})))) == 6
        assert vault.documents.latest(Scope(frozenset({"nowhere"}))) == []

    def test_list_of_the_inactive(self, vault: Vault) -> None:
        """
        With `active=False` the list is of the inactive documents, else of the active.

        If this fails: the flag widens the list instead of turning it round.
        """
        here, gone = save(vault, "a.md"), save(vault, "b.md")
        vault.documents.deactivate([gone], InactiveReason.ARCHIVED)

        assert _ids(vault.documents.latest()) == [here]
        assert _ids(vault.documents.latest(active=False)) == [gone]

    def test_sources_are_all_of_a_collection(self, vault: Vault) -> None:
        """
        A collection's sources are all its documents by path, the inactive among them.

        If this fails: inactive ones are filtered, so a file that comes back looks new.
        """
        here, gone = save(vault, "a.md"), save(vault, "b.md")
        save(vault, "c.md", collection="work")
        vault.documents.deactivate([gone], InactiveReason.FORGOTTEN)

        assert vault.documents.sources("notes") == {"a.md": _got(vault, here), "b.md": _got(vault, gone)}
        assert vault.documents.sources("nowhere") == {}

    def test_collections_are_counted_by_name(self, vault: Vault) -> None:
        """
        Collections come by name with their active documents; one without any is left out.

        If this fails: inactive documents are counted, or the order is that of insertion.
        """
        for place, collection in (("a.md", "z"), ("b.md", "z"), ("c.md", "a"), ("d.md", "m")):
            save(vault, place, collection=collection)
        vault.documents.deactivate([_id(vault.documents.at("m", "d.md"))], InactiveReason.REMOVED)

        assert list(vault.documents.collections().items()) == [("a", 1), ("z", 2)]

    def test_empty_vault(self, vault: Vault) -> None:
        """
        A new vault lists, counts and finds nothing.

        If this fails: the `vault` fixture returns one that is not empty, or an aggregate gives a null row.
        """
        documents = vault.documents

        assert (documents.latest(), documents.latest(active=False), dict(documents.collections())) == (
            [],
            [],
            {},
        )
        assert (documents.by_hash("ab"), documents.by_suffix("a.md"), documents.sources("notes")) == (
            [],
            [],
            {},
        )

    def test_hash_neighbours(self, vault: Vault) -> None:
        """
        All active hashes that begin like one of those asked for come back, those asked for among them.

        If this fails: the whole hash is compared, or inactive documents are looked at.
        """
        bodies = [f"Body {number}." for number in range(60)]
        for body in bodies:
            save(vault, f"{body}.md", body)
        asked = sha(bodies[0])

        found = vault.documents.hash_prefixes(1, [asked])

        assert found == {sha(body) for body in bodies if sha(body)[0] == asked[0]}
        assert len(found) > 1

    def test_hash_neighbours_at_the_ends(self, vault: Vault) -> None:
        """
        All 64 digits find the hash alone; an unknown or inactive one, or no question, finds nothing.

        If this fails: the cut is one off, or the questions are returned instead of what is stored.
        """
        here, gone = save(vault, "a.md", "One."), save(vault, "b.md", "Two.")
        vault.documents.deactivate([gone], InactiveReason.REMOVED)
        hashes = [_got(vault, here).hash, _got(vault, gone).hash, sha("Three.")]

        assert vault.documents.hash_prefixes(64, iter(hashes)) == {sha("One.")}
        assert vault.documents.hash_prefixes(6, []) == set()


def _got(vault: Vault, document_id: int) -> Document:
    found = vault.documents.get(document_id)
    assert found is not None, f"document {document_id} is gone"
    return found


def _id(found: Document | None) -> int:
    assert found is not None, "the document was not found"
    return found.id


def _ids(found: list[Document]) -> list[int]:
    return [document.id for document in found]


def _embed_all(vault: Vault) -> None:
    texts = vault.embeddings.pending(100)
    vault.embeddings.store("model", {text.text_hash: unit_vector(1, 2) for text in texts})
