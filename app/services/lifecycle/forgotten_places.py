"""Synchronization of forgotten paths between the vault and the log file next to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clawmem.app.services.indexing.publish import withdraw
from clawmem.domain.documents.identity import body_hash
from clawmem.ports.forget_log import ForgetLog, ForgetRecord, ForgottenPlace
from clawmem.ports.journal import Act, ActEntry
from clawmem.ports.records import Document, InactiveReason
from clawmem.ports.stores import LifecycleStores

BY = "forget record"  # author of the acts in a recreated vault


class ForgottenPlaces:
    """
    Forgetting that outlasts the vault: a recreated, repaired or restored vault forgets the same documents again.

    A path is written to the log after its transaction. If the process ends in between, the next `agree` writes it.
    """

    def __init__(self, vault: LifecycleStores, log: ForgetLog) -> None:
        self._vault = vault
        self._log = log

    def note(self, documents: Sequence[Document], at: str) -> None:
        """
        Record in the log that *documents* were forgotten.

        Raises:
            VaultFull, VaultReadOnly: the log could not be written; the documents are forgotten nevertheless.
        """
        if self._log.read().is_damaged:
            self.agree()
        elif documents:
            self._add([ForgottenPlace(one.collection, one.path, at) for one in documents])

    def agree(self, *, lost_records: bool = False) -> int:
        """
        Forget the documents that the log names, and complete the log; return the number of newly forgotten documents.

        A damaged file is written again from the vault. A copy of it stays unless the vault surely knows everything that
        the file held: see `warnings`.

        Args:
            lost_records: Whether the vault was repaired and records of it are lost.

        Raises:
            VaultError: possibly only a part was done; the call can be repeated.
        """
        record = self._log.read()
        waiting = [place for place in record.places if not self._is_forgotten(place)]
        away = self._vault.documents.latest(active=False)
        is_new = not away and not self._vault.documents.following(0, 1)
        if waiting:
            with self._vault.writing():
                for place in waiting:
                    self._forget(place)
        if record.is_damaged and (lost_records or waiting or is_new):
            self._log.set_aside()
        self._complete(record, away)
        return len(waiting)

    def warnings(self) -> list[str]:
        """Return a sentence if forgotten documents may come back because the file is or was damaged."""
        log = self._log.location
        said = [
            f"{log} was damaged, and so was the vault: notes that were forgotten may come back. Forget them again, "
            f"then delete {copy}."
            for copy in self._log.damaged_copies()
        ]
        if self._log.read().is_damaged:
            said.append(
                f"{log} is damaged: notes that were forgotten may come back if the vault is lost. Run: clawmem update"
            )
        return said

    def _complete(self, record: ForgetRecord, away: Iterable[Document]) -> None:
        written = {(place.collection, place.path) for place in record.places}
        missing = [
            ForgottenPlace(one.collection, one.path, one.modified_at)
            for one in away
            if one.inactive is InactiveReason.FORGOTTEN and (one.collection, one.path) not in written
        ]
        if missing or record.is_damaged or not record.is_sealed:
            self._add([*record.places, *missing])

    def _add(self, places: Sequence[ForgottenPlace]) -> None:
        with self._vault.writing():  # so that one process writes the file at a time
            every: dict[tuple[str, str], ForgottenPlace] = {}
            for place in (*self._log.read().places, *places):
                every.setdefault((place.collection, place.path), place)
            self._log.write(every.values())

    def _is_forgotten(self, place: ForgottenPlace) -> bool:
        known = self._vault.documents.at(place.collection, place.path)
        return known is not None and known.inactive is InactiveReason.FORGOTTEN

    def _forget(self, place: ForgottenPlace) -> None:
        known = self._vault.documents.at(place.collection, place.path)
        document_id = known.id if known else self._vault.documents.save(_empty(place), "", ())
        withdraw(self._vault, [document_id], InactiveReason.FORGOTTEN)
        self._vault.acts.add([ActEntry(document_id, Act.FORGET, BY, place.at)])


def _empty(place: ForgottenPlace) -> Document:
    """Return a document without text at *place*."""
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
