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

ATTEMPTS = 3  # failures after which a text is given up


RelationKey = tuple[int, int, RelationKind]  # source, target


@dataclass(frozen=True, slots=True)
class Change:
    """Something that the indexes outside have to see."""

    marker: Marker
    document_id: int  # 0: where an index was registered
    is_text: bool


class Enriched(NamedTuple):
    """How far a document is on its way to a note: as of which source, by whom, and how often a model failed."""

    source_hash: str
    by_model: bool = False
    failures: int = 0


@dataclass
class Tables:
    """
    The records of one vault: the reference to read first for what is stored and what is derived.

    Values are immutable, so a copy of the dictionaries is a copy of everything. A document's embedding
    state is not stored: it follows from its texts, the vectors and the failures.
    """

    documents: dict[int, Document] = field(default_factory=dict)
    bodies: dict[str, str] = field(default_factory=dict)  # by hash, once however many documents share one
    fragments: dict[int, tuple[Fragment, ...]] = field(default_factory=dict)
    texts: dict[int, tuple[tuple[FragmentKey, PendingText], ...]] = field(default_factory=dict)
    vectors: dict[str, Vector] = field(default_factory=dict)  # by text hash
    failures: dict[str, tuple[str, ...]] = field(default_factory=dict)  # what went wrong, each time
    fingerprint: str | None = None
    beside: str | None = None  # the model whose vectors are made beside those that serve
    beside_vectors: dict[str, Vector] = field(default_factory=dict)
    beside_failures: dict[str, tuple[str, ...]] = field(default_factory=dict)
    retired_vectors: list[Vector] = field(default_factory=list)  # seen by nobody any more
    sketches: dict[FragmentKey, Sketch] = field(default_factory=dict)
    sketched_by: str | None = None
    vault_id: str = field(default_factory=lambda: token_hex(8))
    indexes: dict[int, IndexRecord] = field(default_factory=dict)  # by generation
    generations: int = 0
    changes: list[Change] = field(default_factory=list)
    change_count: int = 0
    relations: dict[RelationKey, Relation] = field(default_factory=dict)
    claims: dict[int, Claims] = field(default_factory=dict)
    aims: dict[Claim, tuple[str, str]] = field(default_factory=dict)  # claims without a place
    sessions: dict[str, Session] = field(default_factory=dict)
    entities: dict[str, Entity] = field(default_factory=dict)
    mentions: dict[int, frozenset[str]] = field(default_factory=dict)  # of entities by id, by document
    triples: list[Triple] = field(default_factory=list)  # in the order in which they came
    notes: dict[int, tuple[Note, ...]] = field(default_factory=dict)  # by document, the latest one last
    enriched: dict[int, Enriched] = field(default_factory=dict)
    cursors: dict[tuple[str, str], Cursor] = field(default_factory=dict)  # by session and reader
    sightings: dict[str, Sighting] = field(default_factory=dict)  # by source
    utility: dict[int, Utility] = field(default_factory=dict)
    recall_stats: dict[int, RecallStats] = field(default_factory=dict)
    acts: list[ActEntry] = field(default_factory=list)  # in the order in which they came
    runs: list[Run] = field(default_factory=list)
    run_count: int = 0  # those that were trimmed included
    replacements: list[Replacement] = field(default_factory=list)
    forgotten_texts: frozenset[ForgottenText] = frozenset()
    co_activations: dict[tuple[int, int], int] = field(default_factory=dict)  # the smaller id first

    def note_change(self, document_id: int, *, is_text: bool) -> Marker:
        """Write a change down, if there is an index that will want to know; the marker it got."""
        marker = Marker(self.vault_id, self.change_count + 1, token_hex(8))
        if self.indexes or not document_id:
            self.change_count += 1
            self.changes.append(Change(marker, document_id, is_text))
        return marker

    def forget_sketches(self, document_id: int) -> None:
        """Of the lines that a document had."""
        self.sketches = {key: one for key, one in self.sketches.items() if key.document_id != document_id}

    def snapshot(self) -> Callable[[], None]:
        """A function that puts the records back to how they are now."""
        kept = {name: copy(value) for name, value in vars(self).items()}

        def restore() -> None:
            vars(self).update(kept)

        return restore

    def seen(self, document_id: int) -> Document:
        """A document as it is handed out, with its embedding state."""
        return self.documents[document_id]._replace(embed_state=self._state(document_id))

    def active_texts(self) -> Iterator[tuple[FragmentKey, PendingText]]:
        """Every text to embed of every active document, by document and fragment."""
        for document_id in sorted(self.documents):
            if self.documents[document_id].inactive is None:
                yield from self.texts[document_id]

    def is_given_up(self, text_hash: str) -> bool:
        """Whether a text failed too often to be tried again, and never succeeded."""
        return text_hash not in self.vectors and len(self.failures.get(text_hash, ())) >= ATTEMPTS

    def _state(self, document_id: int) -> EmbedState:
        hashes = [text.text_hash for _, text in self.texts[document_id]]
        if any(map(self.is_given_up, hashes)):
            return EmbedState.FAILED
        return EmbedState.SYNCED if all(name in self.vectors for name in hashes) else EmbedState.PENDING


def embedded_texts(
    document_id: int, fragments: tuple[Fragment, ...]
) -> tuple[tuple[FragmentKey, PendingText], ...]:
    """What is embedded for each fragment that is embedded at all: not of a kind that never is, and not blank."""
    found = []
    for fragment in fragments:
        text = embedding_text(fragment.context, fragment.text)
        if text and fragment.kind not in NEVER_EMBEDDED:
            name = sha256(text.encode()).hexdigest()
            found.append((FragmentKey(document_id, fragment.seq), PendingText(name, text)))
    return tuple(found)
