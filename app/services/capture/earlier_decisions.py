"""Earlier decisions that contradict a new one, and the reduction of their confidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from clawmem.app.services.indexing.publish import publish, withdraw
from clawmem.domain.capture.contradiction import Verdict, is_invalid, lowered, verdict
from clawmem.domain.capture.kinds import Kind
from clawmem.domain.capture.notes import COLLECTION, Note
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.ports.records import Document, Grain, InactiveReason, Scope
from clawmem.ports.relations import Relation, RelationKind
from clawmem.ports.vault import Vault

CANDIDATES = 5  # per new decision
ORIGIN = "decision-extractor"
JUDGED = frozenset({"decision", "observation"})

Judge = Callable[[str, str], Verdict]  # the new decision, the earlier one


class Conflict(NamedTuple):
    """A new decision, an earlier document that contradicts it, and the verdict."""

    note: Note
    document_id: int
    verdict: Verdict


class EarlierDecisions:
    """Finds earlier decisions that new ones contradict, and lowers their confidence."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def conflicts(self, notes: Sequence[Note], session_id: str, judge: Judge = verdict) -> list[Conflict]:
        """
        Return conflicts of decisions among *notes* with decisions of other sessions; nothing is changed.

        Each decision is compared with its five best lexical matches.
        """
        found = []
        for note in notes:
            if note.kind is Kind.DECISION and not note.is_observation:
                for document, quote in self._candidates(note, session_id):
                    answer = judge(note.quote, quote)
                    if answer is not Verdict.NONE:
                        found.append(Conflict(note, document.id, answer))
        return found

    def settle(self, conflict: Conflict, new_id: int) -> bool:
        """
        Lower the confidence of an earlier document because of the document *new_id*; return whether it changed.

        The two get a relation of contradiction. An observation whose confidence falls to 0.2 is withdrawn. To be called
        inside `Vault.writing`.
        """
        document = self._vault.documents.get(conflict.document_id)
        if document is None or document.inactive is not None or document.id == new_id:
            return False
        confidence = lowered(document.confidence, conflict.verdict)
        self._vault.relations.put(
            [
                Relation(
                    new_id,
                    document.id,
                    RelationKind.CONTRADICTS,
                    origin=ORIGIN,
                    created_at=document.indexed_at,
                )
            ]
        )
        if confidence == document.confidence:
            return False
        self._save(document._replace(confidence=confidence))
        if is_invalid(document.content_type, confidence):
            withdraw(self._vault, [document.id], InactiveReason.SUPERSEDED)
        return True

    def _save(self, document: Document) -> None:
        body = self._vault.documents.body(document.id) or ""
        publish(self._vault, document, body, self._vault.documents.fragments(document.id), declared=None)

    def _candidates(self, note: Note, session_id: str) -> list[tuple[Document, str]]:
        terms = query_forms(note.quote).relaxed
        hits = self._vault.lexical.search(terms, Grain.DOCUMENT, CANDIDATES, Scope(frozenset({COLLECTION})))
        documents = self._vault.documents.many(hit.key.document_id for hit in hits)
        found = []
        for document in documents.values():
            seen = self._vault.captures.sightings(document.id)
            is_ours = any(sighting.session_id == session_id for sighting in seen)
            if seen and not is_ours and document.content_type in JUDGED:
                found.append((document, seen[0].quote))
        return found
