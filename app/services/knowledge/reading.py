"""Documents prepared for enrichment: text without secrets, and the people listed in the front matter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clawmem.domain.capture.own_collection import OWN_COLLECTION
from clawmem.domain.knowledge.names import people_of
from clawmem.ports.records import Document, EmbedState, FragmentKind
from clawmem.ports.vault import Vault

_CARDS = "entities/"  # pages of the own collection that declare their mentions

Redact = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Reading:
    """Input of an enrichment: a document with its redacted title and body."""

    document: Document
    title: str
    body: str
    people: tuple[str, ...]

    @property
    def has_own_mentions(self) -> bool:
        """Whether the document declares its mentions: a page about one entity."""
        return self.has_own_triples and self.document.path.startswith(_CARDS)

    @property
    def has_own_triples(self) -> bool:
        """Whether its facts were stored when the document was captured."""
        return self.document.collection == OWN_COLLECTION


def read(vault: Vault, document_id: int, redact: Redact) -> Reading | None:
    """Return a document that can be enriched now; ``None`` if it is deleted or waits for vectors."""
    document = vault.documents.get(document_id)
    if document is None or document.inactive or waits_for_vectors(vault, document):
        return None
    body = vault.documents.body(document_id) or ""
    listed = [one for one in vault.documents.fragments(document_id) if one.kind is FragmentKind.FRONT_MATTER]
    people = people_of({one.label: one.text.partition(": ")[2] for one in listed})
    return Reading(document, redact(document.title), redact(body), tuple(people))


def waits_for_vectors(vault: Vault, document: Document) -> bool:
    """Whether the vectors of a document are pending: links need them. False if the vault has no vectors at all."""
    return document.embed_state is EmbedState.PENDING and vault.embeddings.fingerprint() is not None
