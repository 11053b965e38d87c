"""The profile of the user, computed from notes and sessions, and the review of recent decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from clawmem.app.services.capture.visibility import DAY, applying_elsewhere, day_of, may_show
from clawmem.app.services.documents.records import TitledFile, titled_file
from clawmem.app.services.documents.succession import current_successors
from clawmem.domain.briefing.profile import (
    DECISIONS,
    MOST_ITEMS,
    Phrase,
    ProfileLine,
    fact_of,
    profile_text,
    repeated_phrases,
)
from clawmem.domain.capture.contradiction import Verdict, verdict
from clawmem.domain.capture.notes import COLLECTION
from clawmem.domain.documents.times import DAY_MS, iso_utc
from clawmem.domain.security.redaction import redact, redact_parts
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore, PropertyStore, SuccessionStore
from clawmem.ports.records import Document
from clawmem.ports.sessions import SessionStore, UsageStore

FACTS = ("decision", "preference")
LEAST_CONFIDENCE, LEAST_CAPTURED = 0.4, 0.8  # a captured decision that a later one contradicted is below it
NOT_IN_FORCE = frozenset(
    "draft proposed rejected deprecated superseded withdrawn".split()
)  # values of `status`


@dataclass(frozen=True, slots=True)
class Profile:
    """Titles and first sentences of current decisions and preferences, and what the last sessions came to."""

    documents: DocumentStore
    successions: SuccessionStore
    properties: PropertyStore
    sessions: SessionStore
    clock: Clock

    def text(self, project: str = "") -> str:
        """
        Return the profile as Markdown; empty without a decision, a preference and a session.

        Handoffs and statements that apply to other projects than *project* alone are left out.
        """
        now = iso_utc(self.clock.now_ms())
        elsewhere = applying_elsewhere(self.properties, project)
        notes = [note for note in self.documents.latest() if may_show(note, now) and note.id not in elsewhere]
        handoffs = {note.display_path: note for note in notes if note.content_type == "handoff"}
        items = [
            _line(redact(session.summary), handoffs[session.handoff_path])
            for session in self.sessions.recent(MOST_ITEMS)
            if session.summary and session.handoff_path in handoffs
        ]
        items += [_line(redact(note.title), note) for note in notes if note.content_type == "progress"]
        return profile_text(self._facts(notes), items)

    def _facts(self, notes: Sequence[Document]) -> list[ProfileLine]:
        """Return the lines of decisions and preferences in force; a fact that a later one contradicts is not."""
        status = self.properties.named("status")
        stated = [
            note
            for note in notes
            if note.content_type in FACTS
            and note.confidence >= (LEAST_CAPTURED if note.collection == COLLECTION else LEAST_CONFIDENCE)
            and NOT_IN_FORCE.isdisjoint(value.key for value in status.get(note.id, ()))
        ]
        newer = current_successors(self.documents, self.successions, [note.id for note in stated])
        # The date of an undated file may only be that of a copy, so undated notes come after dated ones.
        current = sorted(
            (note for note in stated if note.id not in newer), key=lambda note: not note.has_own_date
        )
        of_kind = ([note for note in current if note.content_type == kind][:DECISIONS] for kind in FACTS)
        facts = list(filter(None, chain.from_iterable(zip_longest(*of_kind))))
        bodies = self.documents.bodies([note.id for note in facts])
        lines: list[ProfileLine] = []
        for note in facts:
            # A captured note repeats its title and adds its origin. A sentence alone may lack the label of its secret.
            body = "" if note.collection == COLLECTION else bodies.get(note.id, "")
            lines.append(_line(fact_of(*redact_parts((note.title, body))), note))
        return [
            line
            for line in lines
            if not any(
                other.day > line.day and verdict(other.text, line.text) is not Verdict.NONE for other in lines
            )
        ]


def _line(text: str, note: Document) -> ProfileLine:
    return ProfileLine(text, note.display_path, day_of(note))


DAYS = 14
LISTED_DECISIONS, ANTIPATTERNS, PAIRS = 50, 10, 10
LEAST_TOGETHER = 3


@dataclass(frozen=True, slots=True)
class DocumentPair:
    """The files of two served documents, ordered by id, and how often both were used in the same turn."""

    one: str
    other: str
    count: int


@dataclass(frozen=True, slots=True)
class Reflection:
    """
    Results of a review.

    ``decisions`` and ``antipatterns`` were written in the last ``days``, latest first; ``phrases`` occur repeatedly in
    the decisions. ``together`` covers all time, most frequent pairs first.
    """

    days: int
    decisions: list[TitledFile]
    phrases: list[Phrase]
    antipatterns: list[TitledFile]
    together: list[DocumentPair]


def reflect(documents: DocumentStore, usage: UsageStore, clock: Clock, days: int = DAYS) -> Reflection:
    """Review the last *days*; nothing is changed. Raises `VaultError`."""
    since = iso_utc(max(0, clock.now_ms() - days * DAY_MS))
    served = {document.id: document for document in documents.latest()}
    recent = [document for document in served.values() if document.authored_at >= since]
    decisions = [note for note in recent if note.content_type == "decision"][:LISTED_DECISIONS]
    pairs = [
        DocumentPair(document.display_path, served[other].display_path, count)
        for document in sorted(served.values(), key=lambda document: document.id)
        if document.access_count  # without any use it cannot have been used together with others
        for other, count in sorted(usage.partners(document.id).items())
        if count >= LEAST_TOGETHER and document.id < other and other in served
    ]
    # A decision that was captured and imported as well counts once.
    distinct = {(note.title, note.authored_at[:DAY]): note for note in decisions}
    return Reflection(
        days,
        [titled_file(note) for note in decisions],
        repeated_phrases(f"{note.title}\n\n{documents.body(note.id) or ''}" for note in distinct.values()),
        [titled_file(note) for note in recent if note.content_type == "antipattern"][:ANTIPATTERNS],
        sorted(pairs, key=lambda pair: -pair.count)[:PAIRS],
    )
