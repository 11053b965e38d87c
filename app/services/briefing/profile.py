"""The profile page: built from decisions, hubs and the last sessions, and rebuilt when it is outdated."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import NamedTuple

from clawmem.app.services.briefing.telling import is_told
from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.capture.session import without_secrets
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
from clawmem.domain.security.redaction import redact_parts
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.records import Document, InactiveReason
from clawmem.ports.sessions import UsageStore
from clawmem.ports.vault import Vault

PATH = PAGE_PATH
SOURCE = "made-from:"  # prefix of tags that name the sources of the page
BUILDER = "made-by:statements"  # pages of an earlier builder are rebuilt
SOURCES = ("decision", PAGE_TYPE, "progress", "handoff")  # types of notes that the profile uses
DAY = len("2026-03-31")


class Profile:
    """
    Keeps ``_clawmem/profile.md`` up to date.

    A page with a deleted or superseded source is not shown; the next `refresh` rebuilds it.
    """

    def __init__(self, vault: Vault, clock: Clock) -> None:
        self._vault = vault
        self._publisher = Publisher(vault)
        self._clock = clock
        self._memories = Memories(vault.captures, self._publisher, clock)

    def refresh(self) -> bool:
        """
        Rebuild the page if it is missing or outdated; return whether it was rebuilt.

        It is outdated after five sessions, when a source was deleted, superseded or indexed again, or when there is a
        new note that it may use. A page that was forgotten on request is not rebuilt.

        Raises:
            VaultError: nothing was stored.
        """
        page = self._vault.documents.at(COLLECTION, PATH)
        if page is not None and not self._is_due(page):
            return False
        return self.rebuild()

    def rebuild(self) -> bool:
        """Rebuild the page in any case; return whether it has any line."""
        page = self._vault.documents.at(COLLECTION, PATH)
        if page is not None and page.inactive is InactiveReason.FORGOTTEN:
            return False
        now = iso_utc(self._clock.now_ms())
        newest = current_documents(self._vault, now)
        facts, items = current_statements(self._vault.documents, newest), self._items(newest)
        text = profile_text([one.line for one in facts], [one.line for one in items])
        with self._vault.transactions.writing():
            return self._published(text, {one.source for one in (*facts, *items)}, page)

    def drop(self, document_ids: Collection[int]) -> bool:
        """
        Empty the page if one of these documents is a source; return whether it was. To be called in `Vault.writing`.

        `refresh_dropped` rebuilds it.
        """
        page = self._vault.documents.at(COLLECTION, PATH)
        if (
            page is None
            or page.inactive is InactiveReason.FORGOTTEN
            or _made_from(page).isdisjoint(document_ids)
        ):
            return False
        self._empty(page)
        return True

    def refresh_dropped(self) -> bool:
        """Rebuild a page that was emptied or withdrawn; return whether it was rebuilt."""
        page = self._vault.documents.at(COLLECTION, PATH)
        return page is not None and page.inactive is InactiveReason.REMOVED and self.rebuild()

    # -- sources ------------------------------------------------------------------------------------

    def _items(self, newest: Sequence[Document]) -> list[Statement]:
        """Return summaries of the last sessions whose handoffs are served, and titles of progress notes."""
        served = {one.display_path: one for one in newest}
        last = self._vault.sessions.recent(MOST_ITEMS)
        handed_over = [
            (one.summary, served[one.handoff_path])
            for one in last
            if one.summary and one.handoff_path in served
        ]
        progress = [(one.title, one) for one in newest if one.content_type == "progress"]
        told = [*handed_over, *progress]
        return [statement_of(without_secrets(text), document) for text, document in told]

    # -- the page ------------------------------------------------------------------------------------

    def _published(self, text: str, sources: Collection[int], page: Document | None) -> bool:
        if text:
            tags = (BUILDER, *(f"{SOURCE}{number}" for number in sorted(sources)))
            said = self._vault.documents.many(sources).values()
            self._memories.write(PATH, TITLE, text, PAGE_TYPE, baseline(PAGE_TYPE), tags=tags, sources=said)
        elif page is not None and (page.inactive is None or has_lost_text(page)):
            self._empty(page)
        return bool(text)

    def _empty(self, page: Document) -> None:
        self._memories.write(PATH, TITLE, "", PAGE_TYPE, baseline(PAGE_TYPE))
        self._publisher.withdraw([page.id], InactiveReason.REMOVED)

    def _is_due(self, page: Document) -> bool:
        if not is_sound(self._vault, page) or BUILDER not in page.tags:
            return True
        sources = self._vault.documents.many(_made_from(page)).values()
        if any(one.indexed_at > page.indexed_at for one in sources):
            return True
        newest = current_documents(self._vault, iso_utc(self._clock.now_ms()))
        if any(one.indexed_at > page.indexed_at for one in newest):
            return True
        last = self._vault.sessions.recent(STALE_SESSIONS)
        return len(last) == STALE_SESSIONS and last[-1].started_at > page.modified_at


def is_sound(vault: Vault, page: Document) -> bool:
    """Whether the page and all its sources are served, and no source is superseded."""
    made_from = _made_from(page)
    there = vault.documents.many(made_from)
    served = {number for number, document in there.items() if document.inactive is None}
    if page.inactive is not None or served != made_from:
        return False
    return not current_successors(vault.documents, vault.successions, made_from)


def _made_from(page: Document) -> set[int]:
    return {int(tag.removeprefix(SOURCE)) for tag in page.tags if tag.startswith(SOURCE)}


class Statement(NamedTuple):
    """A line of the profile, and the document it comes from."""

    line: ProfileLine
    source: int


def statement_of(text: str, document: Document) -> Statement:
    """Return *text* as a line with the origin and the day of *document*."""
    return Statement(ProfileLine(text, document.display_path, document.authored_at[:DAY]), document.id)


def current_documents(vault: Vault, now: str) -> list[Document]:
    """Return the notes for the profile, last written first: served, settled, public and not superseded."""
    found = [
        one
        for one in vault.documents.latest()
        if one.content_type in SOURCES and not is_profile_page(one) and is_settled(one) and is_told(one, now)
    ]
    replaced = current_successors(vault.documents, vault.successions, [one.id for one in found])
    # The date of an undated file may only be that of a copy, so undated notes come after dated ones.
    return sorted((one for one in found if one.id not in replaced), key=lambda one: not one.has_own_date)


def current_statements(store: DocumentStore, documents: Sequence[Document]) -> list[Statement]:
    """Return statements of the last decisions and hubs among *documents*: the first of each note, then the second."""
    decisions = last_of_subject([one for one in documents if one.content_type == "decision"])[:DECISIONS]
    hubs = [one for one in documents if one.content_type == PAGE_TYPE][:HUBS]
    sources = (*decisions, *hubs)
    bodies = store.bodies([one.id for one in sources])
    # A sentence alone may lack the label of its secret.
    texts = [redact_parts((one.title, bodies.get(one.id, ""))) for one in sources]
    told = [
        [statement_of(text, one) for text in note_statements(title, body)]
        for one, (title, body) in zip(sources, texts, strict=True)
    ]
    if decisions and not told[0]:  # the newest decision is always named
        told[0] = [statement_of(text, decisions[0]) for text in named_decision(*texts[0])]
    return [one for one in chain.from_iterable(zip_longest(*told)) if one is not None]


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


def reflect(vault: Vault, clock: Clock, days: int = DAYS) -> Reflection:
    """Review the last *days*; nothing is changed. Raises `VaultError`."""
    since = iso_utc(max(0, clock.now_ms() - days * DAY_MS))
    served = vault.documents.latest()
    recent = [one for one in served if one.authored_at >= since]
    decisions = [one for one in recent if one.content_type == "decision"][:LISTED_DECISIONS]
    pairs = sorted(_together(vault.usage, served), key=lambda pair: (-pair.count, pair.one.id, pair.other.id))
    # A decision that was captured and imported as well counts once.
    said = {(one.title, one.authored_at[: len("2026-03-31")]): one for one in decisions}
    return Reflection(
        days,
        decisions,
        repeated_phrases(f"{one.title}\n\n{vault.documents.body(one.id) or ''}" for one in said.values()),
        [one for one in recent if one.content_type == "antipattern"][:ANTIPATTERNS],
        pairs[:PAIRS],
    )


def _together(usage: UsageStore, served: list[Document]) -> Iterator[DocumentPair]:
    known = {one.id: one for one in served}
    for one in served:
        # Documents without any use cannot have been used together with others.
        for other, count in usage.partners(one.id).items() if one.access_count else ():
            if count >= LEAST_TOGETHER and one.id < other and other in known:
                yield DocumentPair(one, known[other], count)
