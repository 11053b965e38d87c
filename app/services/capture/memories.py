"""Storage of memories that programs write, and the diary of agents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from clawmem.app.environment.session_topics import PROJECT
from clawmem.app.services.capture.session import Session
from clawmem.app.services.capture.visibility import APPLIES_TO, CITES, SAID, citations
from clawmem.app.services.indexing.publish import Declarations, Publisher
from clawmem.domain.briefing.blocks import TITLE_CHARS
from clawmem.domain.capture.cues import LOCAL, Kind
from clawmem.domain.capture.notes import (
    COLLECTION,
    Note,
    merge_window_ms,
    note_body,
    note_path,
    payload,
    source,
)
from clawmem.domain.capture.remembering import checked_name, checked_text
from clawmem.domain.documents.diary import DIARY, TOPIC, diary_path
from clawmem.domain.documents.identity import document_without_file
from clawmem.domain.documents.properties import property_key
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.security.origin import with_origin
from clawmem.domain.text.written_dates import local_day
from clawmem.ports.clock import Clock
from clawmem.ports.documents import Claims, DerivationStore, DocumentStore, Link, Property
from clawmem.ports.errors import NotFound
from clawmem.ports.records import Document, Origin, Scope, least_trusted
from clawmem.ports.sessions import CaptureStore, Sighting
from clawmem.ports.storage import Transactions


class SavedMemory(NamedTuple):
    """The id of a stored document, 0 if the very sentence was captured before, and whether the document is new."""

    document_id: int = 0
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class Memories:
    """Stores notes, and texts of clawmem itself. To be called inside `Transactions.writing`."""

    captures: CaptureStore
    derivations: DerivationStore
    publisher: Publisher
    clock: Clock

    def keep(self, note: Note, session: Session, *, supersedes: Collection[Document] = ()) -> SavedMemory:
        """
        Store *note*, unless its sentence was stored before or the same thing was captured recently, see `merge_window_ms`.

        Projects share no decision, nor what is said of one. A note that replaces a document of after its first capture is new.
        """
        place = source(note.message.id, note.quote)
        if self.captures.is_known(place):
            return SavedMemory()
        now, message, is_local = self.clock.now_ms(), note.message, LOCAL.search(note.quote) is not None
        project = session.project if is_local or note.kind is Kind.DECISION else ""
        sentence = payload(f"{project} {note.quote}".strip())
        window = merge_window_ms(note.kind)
        earlier = self.captures.earliest(sentence, note.kind, "" if window is None else iso_utc(now - window))
        if earlier and any(document.id > earlier.document_id for document in supersedes):
            earlier = None
        if earlier:
            document_id = earlier.document_id
        else:
            day = f" on {local_day(message.at)}" if message.at else ""
            document_id = self.write(
                note_path(note, session.id),
                note.title,
                note_body(note),
                note.kind,
                note.confidence,
                message.at,
                tags=note.tags,
                origin=Origin.MODEL if note.is_by_model else Origin(message.speaker),
                supersedes=[document.path for document in supersedes],
                project=session.project,
                is_local=is_local,
                cites=citations(note.quote, session.folder),
                properties=[(SAID, f"transcript line {message.line}{day}")],  # of the session in its path
            )
        speaker, seen_at = message.speaker.value, iso_utc(now)
        sighting = (place, document_id, sentence, note.kind, speaker, session.id, message.id, message.line)
        self.captures.add(Sighting(*sighting, note.quote, seen_at))
        return SavedMemory(document_id, is_new=earlier is None)

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
        supersedes: Iterable[str] = (),
        project: str = "",
        is_local: bool = False,
        cites: Iterable[str] = (),
        aliases: tuple[str, ...] = (),
        properties: Iterable[tuple[str, str]] = (),
        links: Sequence[Link] = (),
    ) -> int:
        """
        Store *body* at *path* of the own collection, replacing an earlier document; return its id.

        Its origin is *origin*, or the least trusted of its *sources*, which are recorded. A local memory applies to *project* alone.

        Raises:
            InvalidInput: the document at *path* was forgotten on request.
        """
        parents = list(sources)
        origin = least_trusted([origin, *(parent.origin for parent in parents)])
        now = iso_utc(self.clock.now_ms())
        authored_ms = parse_iso(authored_at)
        authored = now if authored_ms is None else iso_utc(authored_ms)
        plain = document_without_file(COLLECTION, path, title, body, authored, now)
        document = plain._replace(
            content_type=content_type, confidence=confidence, domain=domain, aliases=aliases
        )
        names = (PROJECT, APPLIES_TO) if is_local else (PROJECT,)
        values = [
            *properties,
            *((name, project) for name in names if project),
            *((CITES, value) for value in cites),
        ]
        keyed = [Property(name, value, property_key(value)) for name, value in values]
        declared = Declarations(Claims(tuple(supersedes)), links, keyed)
        number = self.publisher.publish_text(with_origin(document, origin, tags), body, declared)
        self.derivations.derive(number, [parent.id for parent in parents])
        return number


AGENT = "agent"
NAME_CHARS = 100  # of a writer or a topic
LAST = 10


@dataclass(frozen=True)
class DiaryEntry:
    """An entry; ``agent`` is who wrote it."""

    id: int
    file: str
    title: str
    authored_at: str
    modified_at: str
    agent: str
    text: str


@dataclass(frozen=True, slots=True)
class Diary:
    """Entries in ``_clawmem/diary``; the domain of an entry names its agent."""

    documents: DocumentStore
    transactions: Transactions
    memories: Memories
    clock: Clock

    def write(self, entry: str, topic: str = TOPIC, agent: str = AGENT) -> Document:
        """
        Store *entry*, even if the same text was stored before.

        Raises:
            InvalidInput: the entry is blank, or the topic or the writer is no name on one line. VaultError: nothing was stored.
        """
        topic, agent = checked_name("topic", topic), checked_name("agent", agent)
        text = checked_text(entry).strip()
        title = " ".join(text.split())[:TITLE_CHARS]
        with self.transactions.writing():
            now_ms, zone = self.clock.now_ms(), self.clock.zone()
            paths = (diary_path(now_ms + later, topic, zone) for later in count())
            path = next(path for path in paths if self.documents.at(COLLECTION, path) is None)
            number = self.memories.write(path, title, text, "note", 0.7, domain=agent)
        return self.documents.many([number])[number]

    def read(self, last: int = LAST, agent: str = "", *, is_known: bool = False) -> list[DiaryEntry]:
        """Return the newest *last* entries, of one agent or of all; raise `NotFound` if it *is_known* and only others wrote."""
        own = self.documents.latest(Scope(frozenset({COLLECTION})))
        every = [note for note in own if note.path.startswith(f"{DIARY}/")]
        entries = [note for note in every if agent in ("", note.domain)]
        if is_known and every and not entries:
            writers = sorted({note.domain or "" for note in every})
            raise NotFound("writer of the diary", agent, suggestions=writers)
        newest = sorted(entries, key=lambda entry: (entry.authored_at, entry.id), reverse=True)[:last]
        bodies = self.documents.bodies([note.id for note in newest])
        return [
            DiaryEntry(
                note.id,
                note.display_path,
                note.title,
                note.authored_at,
                note.modified_at,
                note.domain or "",
                bodies.get(note.id, ""),
            )
            for note in newest
        ]
