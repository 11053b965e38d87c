"""Storage of memories that programs write."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from clawmem.app.services.indexing.publish import Publisher
from clawmem.domain.capture.extraction import payload, source
from clawmem.domain.capture.notes import COLLECTION, Note, note_body, note_path
from clawmem.domain.documents.identity import document_without_file
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.security.origin import with_origin
from clawmem.ports.clock import Clock
from clawmem.ports.origin import Origin, least_trusted
from clawmem.ports.records import Document
from clawmem.ports.sessions import CaptureStore, Sighting


class Action(StrEnum):
    """Outcome of storing a memory."""

    INSERTED = "inserted"
    MERGED = "deduplicated"  # the same thing was captured before; this sighting was added
    KNOWN = "known"  # this very sentence was captured before


class SavedMemory(NamedTuple):
    """The id of a stored document, 0 if the sentence was known, and the outcome."""

    document_id: int
    action: Action


class Memories:
    """Stores notes, and texts of clawmem itself. To be called inside `Transactions.writing`."""

    def __init__(self, captures: CaptureStore, publisher: Publisher, clock: Clock) -> None:
        self._captures = captures
        self._publisher = publisher
        self._clock = clock

    def keep(self, note: Note, session_id: str) -> SavedMemory:
        """
        Store *note*, unless its sentence was stored before or the same thing was captured recently.

        The time window depends on the kind: see `clawmem.domain.capture.kinds.merge_window_ms`.
        """
        place = source(note.message.id, note.quote)
        if self._captures.is_known(place):
            return SavedMemory(0, Action.KNOWN)
        now = self._clock.now_ms()
        window = note.merge_window_ms
        since = "" if window is None else iso_utc(now - window)
        said = payload(note.quote)
        earlier = self._captures.earliest(said, note.content_type, since)
        document_id = earlier.document_id if earlier else self._insert(note, session_id)
        sighting = Sighting(
            place,
            document_id,
            said,
            note.content_type,
            note.message.speaker.value,
            session_id,
            note.message.id,
            note.message.line,
            note.quote,
            iso_utc(now),
        )
        self._captures.add(sighting)
        return SavedMemory(document_id, Action.MERGED if earlier else Action.INSERTED)

    def write(
        self,
        path: str,
        title: str,
        body: str,
        content_type: str,
        confidence: float,
        authored_at: str = "",
        *,
        tags: tuple[str, ...] = (),
        domain: str | None = None,
        sources: Iterable[Document] = (),
        origin: Origin = Origin.ASSISTANT,
    ) -> int:
        """
        Store *body* at *path* of the own collection, replacing an earlier document; return its id.

        Its origin is *origin*, or the least trusted of its *sources*.

        Raises:
            InvalidInput: the document at *path* was forgotten on request.
        """
        origin = least_trusted([origin, *(one.origin for one in sources)])
        return self._publish(
            path, title, body, content_type, confidence, authored_at, origin, *tags, domain=domain
        )

    def _insert(self, note: Note, session_id: str) -> int:
        return self._publish(
            note_path(note, session_id),
            note.title,
            note_body(note, session_id),
            note.content_type,
            note.confidence,
            note.message.at,
            Origin(note.message.speaker),
            *note.tags,
        )

    def _publish(
        self,
        path: str,
        title: str,
        body: str,
        content_type: str,
        confidence: float,
        said_at: str,
        origin: Origin,
        *tags: str,
        domain: str | None = None,
    ) -> int:
        now = iso_utc(self._clock.now_ms())
        said_ms = parse_iso(said_at)
        authored = now if said_ms is None else iso_utc(said_ms)
        plain = document_without_file(COLLECTION, path, title, body, authored, now)
        document = plain._replace(content_type=content_type, confidence=confidence, domain=domain)
        return self._publisher.publish_text(with_origin(document, origin, tags), body)
