import pytest

from clawmem.contracts.base import VaultContract
from clawmem.contracts.samples import UNKNOWN, document, fragments
from clawmem.ports.documents import NO_CLAIMS, Claim, ClaimKind, Claims, Succession
from clawmem.ports.records import InactiveReason
from clawmem.ports.vault import Vault


def note(vault: Vault, path: str, body: str = "", *, collection: str = "notes") -> int:
    """Save a note with this path; its body is unique unless *body* is given."""
    text = body or f"Body of {path}."
    return vault.documents.save(document(path, text, collection=collection), text, fragments(text))


class SuccessionContract(VaultContract):
    """Documents that supersede each other, and those made from others. Supply ``vault``: an EMPTY ``Vault``."""

    def test_either_end_may_say_it(self, vault: Vault) -> None:
        """
        The newer document may name the older one, or the reverse; if both do, there is one succession.

        `direct` returns the direct successors of the given documents only.
        """
        old, new, newest = (note(vault, path) for path in ("old.md", "new.md", "newest.md"))
        vault.successions.claim(new, Claims(supersedes=("old.md",), superseded_by=("newest.md",)))
        vault.successions.claim(newest, Claims(supersedes=("new.md",)))

        assert vault.successions.direct([old, new, newest]) == {Succession(old, new), Succession(new, newest)}
        assert vault.successions.direct([old, old]) == {Succession(old, new)}
        assert vault.successions.direct([newest, UNKNOWN]) == vault.successions.direct([]) == set()

    def test_the_last_word_counts(self, vault: Vault) -> None:
        """New claims of a document replace its former ones, but not those of other documents."""
        old, new, other = (note(vault, path) for path in ("old.md", "new.md", "other.md"))
        vault.successions.claim(other, Claims(supersedes=("old.md",)))
        vault.successions.claim(new, Claims(supersedes=("old.md", "other.md")))

        vault.successions.claim(new, NO_CLAIMS)

        assert vault.successions.direct([old, other]) == {Succession(old, other)}

    def test_a_decision_outlasts_what_notes_say(self, vault: Vault) -> None:
        """`decide` adds a successor that new claims of the note leave, until it names another one or none."""
        old, new, other = (note(vault, path) for path in ("old.md", "new.md", "other.md"))
        vault.successions.decide(old, new)
        vault.successions.claim(old, Claims(superseded_by=("other.md",)))
        vault.successions.claim(old, NO_CLAIMS)

        assert vault.successions.direct([old]) == {Succession(old, new)}
        assert vault.successions.claims() == [
            Claim(old, ClaimKind.REPLACED_BY, str(new), ("notes", "new.md"))
        ]
        vault.successions.decide(old, other)
        assert vault.successions.direct([old]) == {Succession(old, other)}
        vault.successions.decide(old, None)
        assert vault.successions.direct([old]) == set()

    def test_what_is_named_may_come_later(self, vault: Vault) -> None:
        """A claim for an unknown path takes effect when a document is saved there."""
        old = note(vault, "old.md")
        vault.successions.claim(old, Claims(superseded_by=("new.md",)))
        assert vault.successions.direct([old]) == set()

        new = note(vault, "new.md")

        assert vault.successions.direct([old]) == {Succession(old, new)}

    @pytest.mark.parametrize("renamed", ["old.md", "new.md"])
    def test_a_renamed_document_is_found(self, vault: Vault, renamed: str) -> None:
        """A claim for a removed file means the served document with the same body, at either end of the claim."""
        ids = {path: note(vault, path) for path in ("old.md", "new.md")}
        claims = {
            "new.md": (ids["old.md"], Claims(superseded_by=("new.md",))),
            "old.md": (ids["new.md"], Claims(supersedes=("old.md",))),
        }
        vault.successions.claim(*claims[renamed])

        vault.documents.deactivate([ids[renamed]], InactiveReason.REMOVED)
        ids[renamed] = note(vault, f"moved/{renamed}", f"Body of {renamed}.")

        assert vault.successions.direct([ids["old.md"]]) == {Succession(ids["old.md"], ids["new.md"])}

    def test_a_copy_is_not_what_is_named(self, vault: Vault) -> None:
        """While a document is served at the claimed path, copies with the same body are not affected."""
        old, new = note(vault, "old.md"), note(vault, "new.md")
        copies = [note(vault, f"copy/{path}", f"Body of {path}.") for path in ("old.md", "new.md")]
        vault.successions.claim(new, Claims(supersedes=("old.md",)))

        assert vault.successions.direct([old, *copies]) == {Succession(old, new)}

    @pytest.mark.parametrize("reason", [InactiveReason.FORGOTTEN, InactiveReason.ARCHIVED])
    def test_only_a_file_that_is_gone_was_renamed(self, vault: Vault, reason: InactiveReason) -> None:
        """A forgotten or archived document is not resolved by its body."""
        old, new = note(vault, "old.md"), note(vault, "new.md")
        note(vault, "copy.md", "Body of new.md.")
        vault.successions.claim(old, Claims(superseded_by=("new.md",)))

        vault.documents.deactivate([new], reason)

        assert vault.successions.direct([old]) == set()

    @pytest.mark.parametrize("gone", [0, 1])
    def test_withdrawn_and_back(self, vault: Vault, gone: int) -> None:
        """Deactivating either document suspends the succession; reactivating it restores it."""
        ends = old, new = note(vault, "old.md"), note(vault, "new.md")
        vault.successions.claim(new, Claims(supersedes=("old.md",)))

        vault.documents.deactivate([ends[gone]], InactiveReason.REMOVED)
        assert vault.successions.direct(ends) == set()

        note(vault, ("old.md", "new.md")[gone])
        assert vault.successions.direct(ends) == {Succession(old, new)}

    def test_within_a_collection(self, vault: Vault) -> None:
        """A path refers to the collection of the claiming document."""
        old, other = note(vault, "old.md"), note(vault, "old.md", collection="other")
        new = note(vault, "new.md", "Elsewhere.", collection="other")
        vault.successions.claim(new, Claims(supersedes=("old.md",)))

        assert vault.successions.direct([old, other]) == {Succession(other, new)}

    @pytest.mark.parametrize("kind", [ClaimKind.SUPERSEDES, ClaimKind.SUPERSEDED_BY])
    def test_a_claim_means_the_place_it_is_aimed_at(self, vault: Vault, kind: ClaimKind) -> None:
        """An aimed claim means that place, in any collection; claiming again resets it to its address as a path."""
        said_by, named = note(vault, "a.md"), note(vault, "b.md", collection="other")
        claims = Claims(**{kind.value: ("Title of B",)})
        vault.successions.claim(said_by, claims)
        unaimed = Claim(said_by, kind, "Title of B", ("notes", "Title of B"))
        assert vault.successions.claims() == [unaimed]

        vault.successions.aim(unaimed._replace(place=("other", "b.md")))

        pair = (named, said_by) if kind is ClaimKind.SUPERSEDES else (said_by, named)
        assert vault.successions.direct([said_by, named]) == {Succession(*pair)}
        assert vault.successions.claims() == [unaimed._replace(place=("other", "b.md"))]
        vault.successions.claim(said_by, claims)
        assert vault.successions.direct([said_by, named]) == set()

    def test_claims_of_served_documents(self, vault: Vault) -> None:
        """The claims of served documents are listed by document, kind and address."""
        a, b = note(vault, "a.md"), note(vault, "b.md")
        vault.successions.claim(b, Claims(superseded_by=("z.md", "c.md"), supersedes=("a.md",)))
        vault.successions.claim(a, Claims(supersedes=("c.md",)))

        listed = [
            (claim.document_id, claim.kind.value, claim.address) for claim in vault.successions.claims()
        ]

        assert listed == [
            (a, "supersedes", "c.md"),
            (b, "superseded_by", "c.md"),
            (b, "superseded_by", "z.md"),
            (b, "supersedes", "a.md"),
        ]
        vault.documents.deactivate([b], InactiveReason.REMOVED)
        assert {claim.document_id for claim in vault.successions.claims()} == {a}

    def test_itself_and_in_a_circle(self, vault: Vault) -> None:
        """A document never supersedes itself; two documents that claim each other give two successions."""
        a, b = note(vault, "a.md"), note(vault, "b.md")
        vault.successions.claim(a, Claims(supersedes=("a.md", "b.md"), superseded_by=("a.md",)))
        vault.successions.claim(b, Claims(supersedes=("a.md",)))

        assert vault.successions.direct([a, b]) == {Succession(a, b), Succession(b, a)}

    def test_the_children_of_a_document(self, vault: Vault) -> None:
        """A document may have several parents and children; a later record replaces the parents of a child."""
        first, second, merged, concluded = (note(vault, f"{name}.md") for name in "abcd")
        vault.derivations.derive(merged, [first, second, first])
        vault.derivations.derive(concluded, [merged, first])
        assert vault.derivations.children(first) == [merged, concluded]
        assert vault.derivations.children(merged) == [concluded]

        vault.derivations.derive(merged, [second])

        assert vault.derivations.children(first) == [concluded]
        assert vault.derivations.children(second) == [merged]
        assert vault.derivations.children(UNKNOWN) == []
