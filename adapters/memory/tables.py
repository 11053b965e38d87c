from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, field
from hashlib import sha256
from secrets import token_hex
from typing import NamedTuple

from clawmem.ports.acts import ActEntry
from clawmem.ports.captures import Cursor, RecallStats, Sighting, Utility
from clawmem.ports.entities import Entity
from clawmem.ports.forgotten_texts import ForgottenText
from clawmem.ports.journal import Replacement, Run
from clawmem.ports.notes import Note
from clawmem.ports.records import (
    NEVER_EMBEDDED,
    Document,
    EmbedState,
    Fragment,
    FragmentKey,
    IndexRecord,
    Marker,
    PendingText,
    Vector,
    embedding_text,
)
from clawmem.ports.relations import Relation, RelationKind
from clawmem.ports.sessions import Session
from clawmem.ports.sketches import Sketch
from clawmem.ports.succession import Claim, Claims
from clawmem.ports.triples import Triple

ATTEMPTS = 3  # failures after which a text is not tried again


RelationKey = tuple[int, int, RelationKind]  # source, target, kind


@dataclass(frozen=True, slots=True)
class Change:
    """A change that external indexes have to apply."""

    marker: Marker
    document_id: int  # 0 for the registration of an index
    is_text: bool


class EnrichmentState(NamedTuple):
    """
    Enrichment state of a document: the hash of its source, whether a model wrote the note, and failed
    attempts.
    """

    source_hash: str
    by_model: bool = False
    failures: int = 0


@dataclass
class Tables:
    """
    The records of one vault. Shows which values are stored and which are derived.

    Values are immutable, so a copy of the dictionaries copies everything. The embedding state of a document
    is not stored: it is derived from its texts, the vectors and the failures.
    """

    documents: dict[int, Document] = field(default_factory=dict)
    bodies: dict[str, str] = field(default_factory=dict)  # by hash, once for all documents with this body
    fragments: dict[int, tuple[Fragment, ...]] = field(default_factory=dict)
    texts: dict[int, tuple[tuple[FragmentKey, PendingText], ...]] = field(default_factory=dict)
    vectors: dict[str, Vector] = field(default_factory=dict)  # by text hash
    failures: dict[str, tuple[str, ...]] = field(default_factory=dict)  # errors by text hash
    fingerprint: str | None = None
    beside: str | None = None  # the model of the embedding space that is being built
    beside_vectors: dict[str, Vector] = field(default_factory=dict)
    beside_failures: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # vectors of retired embedding spaces, to be deleted
    retired_vectors: list[Vector] = field(default_factory=list)
    sketches: dict[FragmentKey, Sketch] = field(default_factory=dict)
    sketched_by: str | None = None
    vault_id: str = field(default_factory=lambda: token_hex(8))
    indexes: dict[int, IndexRecord] = field(default_factory=dict)  # by generation
    generations: int = 0
    changes: list[Change] = field(default_factory=list)
    change_count: int = 0
    relations: dict[RelationKey, Relation] = field(default_factory=dict)
    claims: dict[int, Claims] = field(default_factory=dict)
    # resolved places, by claim with an empty place
    aims: dict[Claim, tuple[str, str]] = field(default_factory=dict)
    sessions: dict[str, Session] = field(default_factory=dict)
    entities: dict[str, Entity] = field(default_factory=dict)
    mentions: dict[int, frozenset[str]] = field(default_factory=dict)  # ids of entities by document
    triples: list[Triple] = field(default_factory=list)  # in insertion order
    notes: dict[int, tuple[Note, ...]] = field(default_factory=dict)  # by document, in order of version
    enriched: dict[int, EnrichmentState] = field(default_factory=dict)
    cursors: dict[tuple[str, str], Cursor] = field(default_factory=dict)  # by session and reader
    sightings: dict[str, Sighting] = field(default_factory=dict)  # by source
    utility: dict[int, Utility] = field(default_factory=dict)
    recall_stats: dict[int, RecallStats] = field(default_factory=dict)
    acts: list[ActEntry] = field(default_factory=list)  # in insertion order
    runs: list[Run] = field(default_factory=list)
    run_count: int = 0  # including trimmed runs
    replacements: list[Replacement] = field(default_factory=list)
    forgotten_texts: frozenset[ForgottenText] = frozenset()
    co_activations: dict[tuple[int, int], int] = field(default_factory=dict)  # keys have the smaller id first

    def note_change(self, document_id: int, *, is_text: bool) -> Marker:
        """Record a change if an index is registered, and return its marker."""
        marker = Marker(self.vault_id, self.change_count + 1, token_hex(8))
        if self.indexes or not document_id:
            self.change_count += 1
            self.changes.append(Change(marker, document_id, is_text))
        return marker

    def forget_sketches(self, document_id: int) -> None:
        """Delete the sketches of a document."""
        self.sketches = {key: one for key, one in self.sketches.items() if key.document_id != document_id}

    def snapshot(self) -> Callable[[], None]:
        """Return a function that restores the current records."""
        kept = {name: copy(value) for name, value in vars(self).items()}

        def restore() -> None:
            vars(self).update(kept)

        return restore

    def seen(self, document_id: int) -> Document:
        """Return a document with its embedding state."""
        return self.documents[document_id]._replace(embed_state=self._state(document_id))

    def active_texts(self) -> Iterator[tuple[FragmentKey, PendingText]]:
        """Iterate over the texts to embed of all active documents, by document and fragment."""
        for document_id in sorted(self.documents):
            if self.documents[document_id].inactive is None:
                yield from self.texts[document_id]

    def is_given_up(self, text_hash: str) -> bool:
        """Whether embedding a text has failed too often and never succeeded."""
        return text_hash not in self.vectors and len(self.failures.get(text_hash, ())) >= ATTEMPTS

    def _state(self, document_id: int) -> EmbedState:
        hashes = [text.text_hash for _, text in self.texts[document_id]]
        if any(map(self.is_given_up, hashes)):
            return EmbedState.FAILED
        return EmbedState.SYNCED if all(name in self.vectors for name in hashes) else EmbedState.PENDING


def embedded_texts(
    document_id: int, fragments: tuple[Fragment, ...]
) -> tuple[tuple[FragmentKey, PendingText], ...]:
    """Return the texts to embed: fragments that are not blank and of a kind that is embedded."""
    found = []
    for fragment in fragments:
        text = embedding_text(fragment.context, fragment.text)
        if text and fragment.kind not in NEVER_EMBEDDED:
            name = sha256(text.encode()).hexdigest()
            found.append((FragmentKey(document_id, fragment.seq), PendingText(name, text)))
    return tuple(found)
