"""Timelines: documents written before and after a document, and the session in which it was written."""

from __future__ import annotations

from clawmem.app.services.documents.records import DatedDocument, Record, dated_fields_of
from clawmem.domain.capture.notes import COLLECTION
from clawmem.domain.text.written_dates import local_moment
from clawmem.ports.documents import DocumentStore, SuccessionStore
from clawmem.ports.records import Document, Scope
from clawmem.ports.sessions import Session, SessionStore

LOOKED_AT = 50  # sessions among which those with an outcome are searched


def latest_sessions(store: SessionStore, limit: int, before: str | None = None) -> list[Session]:
    """
    Return the latest sessions by start, newest first; with *before* as known at that time.

    For a session that continued after *before* only its start is known, as its outcome was written at its end.
    """
    return [
        session
        if before is None or (session.ended_at is not None and session.ended_at < before)
        else Session(session.id, session.started_at, machine=session.machine)
        for session in store.recent(limit, before)
    ]


def sessions_with_outcome_first(
    store: SessionStore, documents: DocumentStore, limit: int, before: str | None = None
) -> list[Session]:
    """
    Return the latest sessions, those with a served handoff first, each group newest first.

    A session that just began, or had no outcome, therefore does not hide the last one with an outcome.
    """

    groups: dict[bool, list[Session]] = {True: [], False: []}
    for session in latest_sessions(store, max(limit, LOOKED_AT), before):
        path = (session.handoff_path or "").removeprefix(f"{COLLECTION}/")
        document = documents.at(COLLECTION, path) if path else None
        groups[document is not None and document.inactive is None].append(session)
    return [*groups[True], *groups[False]][: max(limit, 0)]


AROUND = 5
MOST_AROUND = 20


class TimelineDocument(DatedDocument):
    """A document of a timeline."""

    id: int


class Timeline(Record):
    """
    The documents written just before and after a document, each side oldest first, and the session of the document.

    ``total_in_range`` counts all documents of the timeline.
    """

    focus: TimelineDocument
    before: list[TimelineDocument]
    after: list[TimelineDocument]
    total_in_range: int
    session_id: str | None = None
    session_summary: str | None = None


def read_timeline(
    document: Document,
    documents: DocumentStore,
    successions: SuccessionStore,
    sessions: SessionStore,
    *,
    before: int = AROUND,
    after: int = AROUND,
    same_collection: bool = False,
    as_of: str | None = None,
) -> Timeline:
    """
    Return the neighbours of *document* among all served documents, or those of its collection.

    Args:
        before: Number of documents written before it.
        after: Number of documents written after it.
        as_of: Documents written then or later are left out.
    """
    counts = documents.collections(Scope(authored_until=as_of))
    within = document.collection if same_collection else None
    earlier = documents.written_near(document.id, before, within)
    later = documents.written_near(document.id, after, within, after=True)
    notes = documents.many([*earlier, document.id, *later])
    fields = dated_fields_of(documents, successions, [*notes.values()], as_of)
    entries = {
        number: TimelineDocument(id=number, **fields[number])
        for number, note in notes.items()
        if as_of is None or local_moment(note.authored_at) < as_of or number == document.id
    }
    session = sessions.covering(document.authored_at)
    return Timeline(
        focus=entries[document.id],
        before=[entries[number] for number in earlier if number in entries],
        after=[entries[number] for number in later if number in entries],
        total_in_range=counts.get(within, 0) if within else sum(counts.values()),
        session_id=session.id if session else None,
        session_summary=session.summary if session else None,
    )
