import pytest

from clawmem.contracts.base import VaultContract
from clawmem.contracts.samples import document, fragments
from clawmem.ports.errors import ModelMismatch
from clawmem.ports.records import FragmentKey, FragmentKind, InactiveReason
from clawmem.ports.vault import Vault

MODEL, OTHER = "model-a", "model-b"


class SketchContract(VaultContract):
    """Sketches of lines. Supply ``vault``: an EMPTY ``Vault``."""

    def test_lines_wait_in_their_order(self, vault: Vault) -> None:
        """Every line of every active document is pending, and no other fragment."""
        first, gone, last = lines(vault, "a.md", 3), lines(vault, "b.md", 1), lines(vault, "c.md", 2)
        save(vault, "d.md", 2, FragmentKind.PASSAGE)
        vault.documents.deactivate([gone[0].document_id], InactiveReason.REMOVED)

        assert vault.sketches.pending(10) == [*first, *last]
        assert vault.sketches.pending(2) == first[:2]
        assert vault.sketches.pending(0) == []
        assert vault.sketches.pending(10, first[1]) == [first[2], *last]
        assert vault.sketches.waiting() == 5

    def test_what_is_kept_comes_back(self, vault: Vault) -> None:
        """Sketches are returned byte for byte, empty ones included; the other lines are still pending."""
        first, second, third = lines(vault, "a.md", 3)
        vault.sketches.begin(MODEL)

        vault.sketches.store(MODEL, {first: b"\x00\xff", second: b""})

        assert vault.sketches.fingerprint() == MODEL
        assert vault.sketches.of([third, second, first, FragmentKey(99, 0)]) == {
            first: b"\x00\xff",
            second: b"",
        }
        assert vault.sketches.pending(10) == [third]
        assert vault.sketches.waiting() == 1

    def test_a_document_written_anew_begins_without(self, vault: Vault) -> None:
        """A document that is saved again has no sketches; other documents keep theirs."""
        changed, other = lines(vault, "a.md", 2), lines(vault, "b.md", 1)
        vault.sketches.begin(MODEL)
        vault.sketches.store(MODEL, dict.fromkeys([*changed, *other], b"x"))

        again = lines(vault, "a.md", 3)

        assert vault.sketches.of([*again, *other]) == {other[0]: b"x"}
        assert vault.sketches.pending(10) == again

    def test_what_is_gone_is_not_kept(self, vault: Vault) -> None:
        """A sketch of a missing line is ignored."""
        (key,) = lines(vault, "a.md", 1)
        vault.sketches.begin(MODEL)

        vault.sketches.store(
            MODEL, {key: b"x", FragmentKey(key.document_id, 7): b"y", FragmentKey(99, 0): b"z"}
        )

        assert vault.sketches.of([key, FragmentKey(key.document_id, 7), FragmentKey(99, 0)]) == {key: b"x"}

    def test_another_model_begins_anew(self, vault: Vault) -> None:
        """
        Beginning with another model deletes the sketches; with the same model it keeps them.

        Only the model of the last `begin` may store sketches, and none before the first one.
        """
        (key,) = lines(vault, "a.md", 1)
        with pytest.raises(ModelMismatch):
            vault.sketches.store(MODEL, {key: b"x"})
        vault.sketches.begin(MODEL)
        vault.sketches.store(MODEL, {key: b"x"})
        vault.sketches.begin(MODEL)
        assert vault.sketches.of([key]) == {key: b"x"}

        vault.sketches.begin(OTHER)
        with pytest.raises(ModelMismatch):
            vault.sketches.store(MODEL, {key: b"x"})

        assert vault.sketches.of([key]) == {}
        assert vault.sketches.pending(10) == [key]


def lines(vault: Vault, path: str, count: int) -> list[FragmentKey]:
    """Save a document with *count* lines and return their keys."""
    return save(vault, path, count, FragmentKind.LINE)


def save(vault: Vault, path: str, count: int, kind: FragmentKind) -> list[FragmentKey]:
    """Save a document with *count* fragments and return their keys."""
    body = "\n".join(f"{path} {nth}" for nth in range(count))
    parts = fragments(body, kind=kind)
    number = vault.documents.save(document(path, body), body, parts)
    return [FragmentKey(number, part.seq) for part in parts]
