"""What was forgotten, kept in step between the vault and the file beside it."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.app.services.indexing.publish import withdraw
from clawmem.domain.documents.identity import body_hash
from clawmem.ports.acts import Act, ActEntry
from clawmem.ports.forget_log import ForgetLog, ForgottenPlace
from clawmem.ports.records import Document, InactiveReason
from clawmem.ports.vault import Vault

BY = "forget record"  # who forgets in a vault that was made anew


class ForgottenPlaces:
    """
    Forgetting that outlives the vault: a vault that was deleted, repaired or put back forgets the same documents again.

    A place is written to the file after its transaction. If the process ends in between, the next `agree` writes it.
    """

    def __init__(self, vault: Vault, log: ForgetLog) -> None:
        self._vault = vault
        self._log = log

    def note(self, documents: Sequence[Document], at: str) -> None:
        """
        Write down that *documents* were forgotten.

        Raises:
            VaultFull, VaultReadOnly: they are forgotten, and could not be written down.
        """
        self._log.add(ForgottenPlace(one.collection, one.path, at) for one in documents)

    def agree(self) -> int:
        """
        Forget in the vault what the file names, and name in the file what the vault forgot; how many were forgotten now.

        Raises:
            VaultError: a part of it may be done; it can be repeated.
        """
        written = self._log.places()
        waiting = [place for place in written if not self._is_forgotten(place)]
        if waiting:
            with self._vault.writing():
                for place in waiting:
                    self._forget(place)
        self._complete({(place.collection, place.path) for place in written})
        return len(waiting)

    def _complete(self, written: set[tuple[str, str]]) -> None:
        away = self._vault.documents.latest(active=False)
        gone = [one for one in away if one.inactive is InactiveReason.FORGOTTEN]
        self._log.add(
            ForgottenPlace(one.collection, one.path, one.modified_at)
            for one in gone
            if (one.collection, one.path) not in written
        )

    def _is_forgotten(self, place: ForgottenPlace) -> bool:
        known = self._vault.documents.at(place.collection, place.path)
        return known is not None and known.inactive is InactiveReason.FORGOTTEN

    def _forget(self, place: ForgottenPlace) -> None:
        known = self._vault.documents.at(place.collection, place.path)
        document_id = known.id if known else self._vault.documents.save(_empty(place), "", ())
        withdraw(self._vault, [document_id], InactiveReason.FORGOTTEN)
        self._vault.acts.add([ActEntry(document_id, Act.FORGET, BY, place.at)])


def _empty(place: ForgottenPlace) -> Document:
    """A document without a word at a place."""
    return Document(
        place.collection,
        place.path,
        "",
        body_hash(""),
        "",
        authored_at=place.at,
        modified_at=place.at,
        indexed_at=place.at,
        content_type="note",
        confidence=0.0,
        quality_score=0.0,
    )
