"""Timelines: documents written before and after a document, and the session in which it was written."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from clawmem.app.services.documents.listing import docids
from clawmem.app.services.documents.records import DatedDocument, Record, dated_fields
from clawmem.app.services.documents.succession import current_successors
from clawmem.app.services.retrieval.request import first_after
from clawmem.domain.capture.handoff import is_empty
from clawmem.domain.capture.notes import COLLECTION
from clawmem.ports.documents import DocumentStore, SuccessionStore
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import Document
from clawmem.ports.sessions import Session, SessionStore

LOOKED_AT = 50  # sessions among which those with an outcome are searched


def latest_sessions(store: SessionStore, limit: int, before: str | None = None) -> list[Session]:
    """
    Return the latest sessions by start, newest first; with *before* as known at that time.

    For a session that continued after *before* only its start is known, as its outcome was written at its end.
    """
    return [as_known(session, before) for session in store.recent(limit, before)]


def sessions_with_outcome_first(
    store: SessionStore, documents: DocumentStore, limit: int, before: str | None = None
) -> list[Session]:
    """
    Return the latest sessions, those with a served, non-empty handoff first, each group newest first.

    A session that just began, or had no outcome, therefore does not hide the last one with an outcome.
    """

    def has_no_outcome(session: Session) -> bool:
        path = (session.handoff_path or "").removeprefix(f"{COLLECTION}/")
        document = documents.at(COLLECTION, path) if path else None
        return (
            document is None or document.inactive is not None or is_empty(documents.body(document.id) or "")
        )

    latest = latest_sessions(store, max(limit, LOOKED_AT), before)
    return sorted(latest, key=has_no_outcome)[: max(limit, 0)]


def as_known(session: Session, before: str | None) -> Session:
    """Return *session* as known before a time; unchanged without one."""
    if before is None or (session.ended_at is not None and session.ended_at < before):
        return session
    return Session(session.id, session.started_at, machine=session.machine)


AROUND = 5
MOST_AROUND = 20
DAY = len("2026-03-31")


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


@dataclass(frozen=True, slots=True)
class ReadTimeline:
    """Reader of the documents written around one document."""

    documents: DocumentStore
    successions: SuccessionStore
    sessions: SessionStore

    def __call__(
        self,
        document: Document,
        *,
        before: int = AROUND,
        after: int = AROUND,
        same_collection: bool = False,
        as_of: str = "",
    ) -> Timeline:
        """
        Return the neighbours of *document* among all served documents, or those of its collection.

        Args:
            before: Number of documents written before it, 1 to 20.
            after: Number of documents written after it, 1 to 20.
            as_of: Day (including all of it) or moment; later documents are ignored.

        Raises:
            InvalidInput: ``OUT_OF_BOUNDS`` for either number; an invalid date, or one before *document* was written.
        """
        for side, number in (("before", before), ("after", after)):
            if not 1 <= number <= MOST_AROUND:
                raise InvalidInput(
                    "OUT_OF_BOUNDS",
                    f"{number} documents {side} cannot be shown; choose 1 to {MOST_AROUND}.",
                )
        until = first_after(as_of)
        if until is not None and document.authored_at >= until:
            day = document.authored_at[:DAY]
            raise InvalidInput(
                "INVALID_INPUT", f"{document.display_path} was written later, on {day}. Ask as of then."
            )
        counts = self.documents.collections()
        within = document.collection if same_collection else None
        total = counts.get(document.collection, 0) if same_collection else sum(counts.values())
        earlier = self.documents.written_before(document.id, before, within)
        later = self.documents.written_after(document.id, after if until is None else total, within)
        if until is not None:  # documents written at that time or later were not known
            known = bisect_left(
                later, until, key=lambda number: self.documents.many([number])[number].authored_at
            )
            total -= len(later) - known
            later = later[: min(known, after)]
        entries = self._entries([*earlier, document.id, *later], until)
        covering = self.sessions.covering(document.authored_at)
        session = covering and as_known(covering, until)
        return Timeline(
            focus=entries[document.id],
            before=[entries[number] for number in earlier if number in entries],
            after=[entries[number] for number in later if number in entries],
            total_in_range=total,
            session_id=session.id if session else None,
            session_summary=session.summary if session else None,
        )

    def _entries(self, document_ids: Sequence[int], until: str | None) -> dict[int, TimelineDocument]:
        documents = self.documents.many(document_ids)
        names = docids(self.documents, list(documents.values()))
        newer = current_successors(self.documents, self.successions, document_ids, until)
        return {
            number: TimelineDocument(id=number, **dated_fields(document, names[number], newer.get(number)))
            for number, document in documents.items()
        }
