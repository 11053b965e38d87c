"""Timelines: documents written before and after a document, and the session in which it was written."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from clawmem.app.services.documents.listing import docids
from clawmem.app.services.documents.succession import current_successors
from clawmem.app.services.retrieval.request import first_after
from clawmem.domain.capture.handoff import is_empty
from clawmem.domain.capture.notes import COLLECTION
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import Document
from clawmem.ports.sessions import Session, SessionStore
from clawmem.ports.vault import Vault

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
    found = latest_sessions(store, max(limit, LOOKED_AT), before)
    ranked = sorted(found, key=lambda session: not _has_outcome(documents, session))
    return list(islice(ranked, max(limit, 0)))


def _has_outcome(documents: DocumentStore, session: Session) -> bool:
    path = (session.handoff_path or "").removeprefix(f"{COLLECTION}/")
    document = documents.at(COLLECTION, path) if path else None
    if document is None or document.inactive is not None:
        return False
    return not is_empty(documents.body(document.id) or "")


def as_known(session: Session, before: str | None) -> Session:
    """Return *session* as known before a time; unchanged without one."""
    if before is None or (session.ended_at is not None and session.ended_at < before):
        return session
    return Session(session.id, session.started_at, machine=session.machine)


AROUND = 5
MOST_AROUND = 20
DAY = len("2026-03-31")


@dataclass(frozen=True, slots=True)
class Entry:
    """A document of a timeline with its short id and its current successor."""

    document: Document
    docid: str
    superseded_by: Document | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """
    A document with those written just before and after it, each side oldest first.

    ``total`` counts all documents of the timeline. ``session`` is the one in which the document was written.
    """

    focus: Entry
    before: tuple[Entry, ...]
    after: tuple[Entry, ...]
    total: int
    session: Session | None


class ReadTimeline:
    """Reads the documents written around one document."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

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
        _check("before", before)
        _check("after", after)
        within = document.collection if same_collection else None
        until = _not_before(document, first_after(as_of))
        earlier = self._vault.chronology.before(document.id, before, within)
        later, unknown = self._later(document, after, within, until)
        entries = self._entries([*earlier, document.id, *later], until)
        return Timeline(
            focus=entries[document.id],
            before=tuple(entries[number] for number in earlier if number in entries),
            after=tuple(entries[number] for number in later if number in entries),
            total=self._total(within) - unknown,
            session=self._session(document, until),
        )

    def _later(
        self, document: Document, limit: int, within: str | None, until: str | None
    ) -> tuple[list[int], int]:
        """Return the documents just after this one, and the number of those written after *until*."""
        if until is None:
            return self._vault.chronology.after(document.id, limit, within), 0
        every = self._vault.chronology.after(document.id, self._total(within), within)
        documents = self._vault.documents
        known = bisect_left(every, until, key=lambda number: documents.many([number])[number].authored_at)
        return every[:known][:limit], len(every) - known

    def _session(self, document: Document, until: str | None) -> Session | None:
        session = self._vault.sessions.covering(document.authored_at)
        return session and as_known(session, until)

    def _entries(self, document_ids: Sequence[int], until: str | None) -> dict[int, Entry]:
        documents = self._vault.documents.many(document_ids)
        names = docids(self._vault.documents, list(documents.values()))
        newer = current_successors(self._vault.documents, self._vault.successions, document_ids, until)
        return {
            number: Entry(document, names[number], newer.get(number))
            for number, document in documents.items()
        }

    def _total(self, collection: str | None) -> int:
        counts = self._vault.documents.collections()
        return sum(counts.values()) if collection is None else counts.get(collection, 0)


def _not_before(document: Document, until: str | None) -> str | None:
    if until is not None and document.authored_at >= until:
        day = document.authored_at[:DAY]
        raise InvalidInput(
            "INVALID_INPUT", f"{document.display_path} was written later, on {day}. Ask as of then."
        )
    return until


def _check(what: str, number: int) -> None:
    if not 1 <= number <= MOST_AROUND:
        raise InvalidInput(
            "OUT_OF_BOUNDS", f"{number} documents {what} cannot be shown; choose 1 to {MOST_AROUND}."
        )
