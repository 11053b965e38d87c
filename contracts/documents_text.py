from __future__ import annotations

import pytest

from clawmem.contracts.base import VaultContract
from clawmem.contracts.samples import UNKNOWN, document, fragments, keys, save
from clawmem.ports.records import Fragment, FragmentKey, FragmentKind, InactiveReason, Span
from clawmem.ports.vault import Vault


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
        """Fragments are returned by `seq` with every field, in whichever order they were saved."""
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
        """Offsets count code points; characters outside the basic plane do not shift them."""
        body = "🐝🐝 first\n東京 é second\n"

        saved = vault.documents.save(document("a.md", body), body, fragments(body))

        assert [found.text for found in vault.documents.fragments(saved)] == ["🐝🐝 first", "東京 é second"]

    def test_front_matter_has_its_own_text(self, vault: Vault) -> None:
        """A front-matter fragment keeps its text, which is not part of the body."""
        made = [
            Fragment(0, FragmentKind.FRONT_MATTER, 2, 2, 0, 0, "owner: Ann", label="owner"),
            Fragment(1, FragmentKind.PASSAGE, 4, 4, 0, 5, "Body."),
        ]

        saved = vault.documents.save(document("a.md", "Body.", body_line=4), "Body.", made)

        assert vault.documents.fragments(saved) == made

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
