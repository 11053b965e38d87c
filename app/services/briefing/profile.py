"""The profile page: built from decisions, hubs and the last sessions, and rebuilt when it is outdated."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import NamedTuple

from clawmem.app.services.briefing.telling import is_told
from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.documents.succession import current_successors
from clawmem.app.services.indexing.publish import Publisher
from clawmem.domain.briefing.profile import (
    DECISIONS,
    HUBS,
    MOST_ITEMS,
    PAGE_PATH,
    PAGE_TYPE,
    STALE_SESSIONS,
    TITLE,
    Phrase,
    ProfileLine,
    is_profile_page,
    is_settled,
    last_of_subject,
    profile_text,
    repeated_phrases,
)
from clawmem.domain.briefing.statements import named_decision, note_statements
from clawmem.domain.capture.notes import COLLECTION
from clawmem.domain.documents.standing import has_lost_text
from clawmem.domain.documents.times import DAY_MS, iso_utc
from clawmem.domain.retrieval.confidence import baseline
from clawmem.domain.security.redaction import redact, redact_parts
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore, SuccessionStore
from clawmem.ports.records import Document, InactiveReason
from clawmem.ports.sessions import SessionStore, UsageStore
from clawmem.ports.storage import Transactions

PATH = PAGE_PATH
SOURCE = "made-from:"  # prefix of tags that name the sources of the page
SOURCES = ("decision", PAGE_TYPE, "progress", "handoff")  # types of notes that the profile uses
DAY = len("2026-03-31")


@dataclass(frozen=True, slots=True)
class Profile:
    """
    Keeps ``_clawmem/profile.md`` up to date.

    A page with a deleted or superseded source is not shown; the next `refresh` rebuilds it.
    """

    documents: DocumentStore
    successions: SuccessionStore
    sessions: SessionStore
    transactions: Transactions
    publisher: Publisher
    memories: Memories
    clock: Clock

    def page(self) -> Document | None:
        """Return the page, if it and all its sources are served and no source is superseded."""
        page = self.documents.at(COLLECTION, PATH)
        if page is None or page.inactive is not None:
            return None
        made_from = _made_from(page)
        documents = self.documents.many(made_from)
        served = {number for number, document in documents.items() if document.inactive is None}
        is_sound = served == made_from and not current_successors(self.documents, self.successions, made_from)
        return page if is_sound else None

    def refresh(self) -> bool:
        """
        Rebuild the page if it is missing or outdated; return whether it was rebuilt.

        It is outdated after five sessions, when a source was deleted, superseded or indexed again, or when there is a
        new note that it may use. A page that was forgotten on request is not rebuilt.

        Raises:
            VaultError: nothing was stored.
        """
        page = self.page()
        if page is None:
            return self.rebuild()
        newest = current_documents(self.documents, self.successions, iso_utc(self.clock.now_ms()))
        sources = self.documents.many(_made_from(page)).values()
        last = self.sessions.recent(STALE_SESSIONS)
        is_due = any(document.indexed_at > page.indexed_at for document in (*sources, *newest)) or (
            len(last) == STALE_SESSIONS and last[-1].started_at > page.modified_at
        )
        return is_due and self.rebuild()

    def rebuild(self) -> bool:
        """Rebuild the page in any case; return whether it has any line."""
        page = self.documents.at(COLLECTION, PATH)
        if page is not None and page.inactive is InactiveReason.FORGOTTEN:
            return False
        newest = current_documents(self.documents, self.successions, iso_utc(self.clock.now_ms()))
        facts, items = current_statements(self.documents, newest), self._items(newest)
        text = profile_text([entry.line for entry in facts], [entry.line for entry in items])
        numbers = sorted({entry.source for entry in (*facts, *items)})
        with self.transactions.writing():
            if text:
                tags = tuple(f"{SOURCE}{number}" for number in numbers)
                sources = self.documents.many(numbers).values()
                self.memories.write(
                    PATH, TITLE, text, PAGE_TYPE, baseline(PAGE_TYPE), tags=tags, sources=sources
                )
            elif page is not None and (page.inactive is None or has_lost_text(page)):
                self._empty(page)
        return bool(text)

    def drop(self, document_ids: Collection[int]) -> None:
        """
        Empty the page if one of these documents is a source. To be called in `Transactions.writing`.

        `refresh_dropped` rebuilds it.
        """
        page = self.documents.at(COLLECTION, PATH)
        is_forgotten = page is None or page.inactive is InactiveReason.FORGOTTEN
        if page is not None and not is_forgotten and not _made_from(page).isdisjoint(document_ids):
            self._empty(page)

    def refresh_dropped(self) -> None:
        """Rebuild a page that was emptied or withdrawn."""
        page = self.documents.at(COLLECTION, PATH)
        if page is not None and page.inactive is InactiveReason.REMOVED:
            self.rebuild()

    def _items(self, newest: Sequence[Document]) -> list[Statement]:
        """Return summaries of the last sessions whose handoffs are served, and titles of progress notes."""
        served = {document.display_path: document for document in newest}
        summaries = [
            (session.summary, served[session.handoff_path])
            for session in self.sessions.recent(MOST_ITEMS)
            if session.summary and session.handoff_path in served
        ]
        progress = [(document.title, document) for document in newest if document.content_type == "progress"]
        return [statement_of(redact(text), document) for text, document in (*summaries, *progress)]

    def _empty(self, page: Document) -> None:
        self.memories.write(PATH, TITLE, "", PAGE_TYPE, baseline(PAGE_TYPE))
        self.publisher.withdraw([page.id], InactiveReason.REMOVED)


def _made_from(page: Document) -> set[int]:
    return {int(tag.removeprefix(SOURCE)) for tag in page.tags if tag.startswith(SOURCE)}


class Statement(NamedTuple):
    """A line of the profile, and the document it comes from."""

    line: ProfileLine
    source: int


def statement_of(text: str, document: Document) -> Statement:
    """Return *text* as a line with the origin and the day of *document*."""
    return Statement(ProfileLine(text, document.display_path, document.authored_at[:DAY]), document.id)


def current_documents(documents: DocumentStore, successions: SuccessionStore, now: str) -> list[Document]:
    """Return the notes for the profile, last written first: served, settled, public and not superseded."""
    notes = [
        note
        for note in documents.latest()
        if note.content_type in SOURCES
        and not is_profile_page(note)
        and is_settled(note)
        and is_told(note, now)
    ]
    replaced = current_successors(documents, successions, [note.id for note in notes])
    # The date of an undated file may only be that of a copy, so undated notes come after dated ones.
    return sorted((note for note in notes if note.id not in replaced), key=lambda note: not note.has_own_date)


def current_statements(store: DocumentStore, documents: Sequence[Document]) -> list[Statement]:
    """Return statements of the last decisions and hubs among *documents*: the first of each note, then the second."""
    decisions = last_of_subject([note for note in documents if note.content_type == "decision"])[:DECISIONS]
    hubs = [note for note in documents if note.content_type == PAGE_TYPE][:HUBS]
    sources = (*decisions, *hubs)
    bodies = store.bodies([note.id for note in sources])
    # A sentence alone may lack the label of its secret.
    texts = [redact_parts((note.title, bodies.get(note.id, ""))) for note in sources]
    statements = [
        [statement_of(text, note) for text in note_statements(title, body)]
        for note, (title, body) in zip(sources, texts, strict=True)
    ]
    if decisions and not statements[0]:  # the newest decision is always named
        statements[0] = [statement_of(text, decisions[0]) for text in named_decision(*texts[0])]
    return [line for line in chain.from_iterable(zip_longest(*statements)) if line is not None]


DAYS = 14
LISTED_DECISIONS, ANTIPATTERNS, PAIRS = 50, 10, 10
LEAST_TOGETHER = 3


@dataclass(frozen=True, slots=True)
class DocumentPair:
    """Two served documents, ordered by id, and how often both were used in the same turn."""

    one: Document
    other: Document
    count: int


@dataclass(frozen=True, slots=True)
class Reflection:
    """
    Results of a review.

    ``decisions`` and ``antipatterns`` were written in the last ``days``, latest first; ``phrases`` occur repeatedly in
    the decisions. ``together`` covers all time, most frequent pairs first.
    """

    days: int
    decisions: list[Document]
    phrases: list[Phrase]
    antipatterns: list[Document]
    together: list[DocumentPair]


def reflect(documents: DocumentStore, usage: UsageStore, clock: Clock, days: int = DAYS) -> Reflection:
    """Review the last *days*; nothing is changed. Raises `VaultError`."""
    since = iso_utc(max(0, clock.now_ms() - days * DAY_MS))
    served = {document.id: document for document in documents.latest()}
    recent = [document for document in served.values() if document.authored_at >= since]
    decisions = [note for note in recent if note.content_type == "decision"][:LISTED_DECISIONS]
    pairs = [
        DocumentPair(document, served[other], count)
        for document in served.values()
        if document.access_count  # without any use it cannot have been used together with others
        for other, count in usage.partners(document.id).items()
        if count >= LEAST_TOGETHER and document.id < other and other in served
    ]
    # A decision that was captured and imported as well counts once.
    distinct = {(note.title, note.authored_at[:DAY]): note for note in decisions}
    return Reflection(
        days,
        decisions,
        repeated_phrases(f"{note.title}\n\n{documents.body(note.id) or ''}" for note in distinct.values()),
        [note for note in recent if note.content_type == "antipattern"][:ANTIPATTERNS],
        sorted(pairs, key=lambda pair: (-pair.count, pair.one.id, pair.other.id))[:PAIRS],
    )
