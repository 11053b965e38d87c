"""The page about who works here: made from decisions, hubs and the last sessions, and made anew when it is old."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.indexing.publish import withdraw
from clawmem.domain.briefing.profile import (
    DECISIONS,
    HUBS,
    MOST_ITEMS,
    STALE_SESSIONS,
    TITLE,
    bullets,
    profile_text,
)
from clawmem.domain.capture.notes import COLLECTION
from clawmem.domain.retrieval.confidence import baseline
from clawmem.ports.clock import Clock
from clawmem.ports.records import Document, InactiveReason
from clawmem.ports.vault import Vault

PATH = "profile.md"
CONTENT_TYPE = "hub"
SOURCE = "made-from:"  # the tag that names a document of which something stands on the page


class Said(NamedTuple):
    """A line of the page, and the document it comes from."""

    text: str
    source: int


class Profile:
    """
    Keeps ``_clawmem/profile.md``.

    What stands on it is only as good as its sources: with one of them gone it is not shown, and made anew.

    Args:
        redact: Takes secrets out of a text.
    """

    def __init__(self, vault: Vault, clock: Clock, redact: Callable[[str], str] = str) -> None:
        self._vault = vault
        self._memories = Memories(vault, clock)
        self._redact = redact

    def refresh(self) -> bool:
        """
        Make the page anew where it is due: five sessions since the last one, a source gone, or none there yet.

        Whether it was. One that was forgotten on request is not made again.

        Raises:
            VaultError: nothing was stored.
        """
        page = self._vault.documents.at(COLLECTION, PATH)
        if page is not None and not self._is_due(page):
            return False
        return self.rebuild()

    def rebuild(self) -> bool:
        """Make the page anew, due or not; nothing where there is nothing to say."""
        page = self._vault.documents.at(COLLECTION, PATH)
        if page is not None and page.inactive is InactiveReason.FORGOTTEN:
            return False
        newest = self._vault.documents.latest()
        facts, items = self._facts(newest), self._items(newest)
        text = self._redact(profile_text([one.text for one in facts], [one.text for one in items]))
        with self._vault.writing():
            return self._published(text, {one.source for one in (*facts, *items)}, page)

    def drop(self, document_ids: Collection[int]) -> bool:
        """
        Empty the page where it says something of one of these documents; whether it did. Inside `Vault.writing`.

        `refresh_dropped` makes it anew.
        """
        page = self._vault.documents.at(COLLECTION, PATH)
        if (
            page is None
            or page.inactive is InactiveReason.FORGOTTEN
            or _made_from(page).isdisjoint(document_ids)
        ):
            return False
        self._memories.write(PATH, TITLE, "", CONTENT_TYPE, baseline(CONTENT_TYPE))
        withdraw(self._vault, [page.id], InactiveReason.REMOVED)
        return True

    def refresh_dropped(self) -> bool:
        """Make a page anew that was emptied or withdrawn; whether it was."""
        page = self._vault.documents.at(COLLECTION, PATH)
        return page is not None and page.inactive is InactiveReason.REMOVED and self.rebuild()

    # -- what it is made of --------------------------------------------------------------------------

    def _facts(self, newest: Sequence[Document]) -> list[Said]:
        decisions = [one for one in newest if one.content_type == "decision"][:DECISIONS]
        hubs = [one for one in newest if one.content_type == CONTENT_TYPE and not _is_page(one)][:HUBS]
        return [Said(fact, one.id) for one in (*decisions, *hubs) for fact in self._facts_of(one)]

    def _facts_of(self, document: Document) -> list[str]:
        listed = bullets(self._vault.documents.body(document.id) or "")
        if not listed and document.collection == COLLECTION:  # one sentence, and its title is that
            return bullets(f"- {document.title}")
        return listed

    def _items(self, newest: Sequence[Document]) -> list[Said]:
        """What the last sessions came to, as long as their handoffs are served, and notes on progress."""
        served = {one.display_path: one.id for one in newest}
        last = self._vault.sessions.recent(MOST_ITEMS)
        handed_over = [
            Said(one.summary, served[one.handoff_path])
            for one in last
            if one.summary and one.handoff_path in served
        ]
        progress = [Said(one.title, one.id) for one in newest if one.content_type == "progress"]
        return [*handed_over, *progress]

    # -- the page ------------------------------------------------------------------------------------

    def _published(self, text: str, sources: Collection[int], page: Document | None) -> bool:
        if text:
            tags = tuple(f"{SOURCE}{number}" for number in sorted(sources))
            self._memories.write(PATH, TITLE, text, CONTENT_TYPE, baseline(CONTENT_TYPE), tags=tags)
        elif page is not None and page.inactive is None:
            withdraw(self._vault, [page.id], InactiveReason.REMOVED)
        return bool(text)

    def _is_due(self, page: Document) -> bool:
        if not is_sound(self._vault, page):
            return True
        last = self._vault.sessions.recent(STALE_SESSIONS)
        return len(last) == STALE_SESSIONS and last[-1].started_at > page.modified_at


def is_sound(vault: Vault, page: Document) -> bool:
    """Whether the page is served and everything that it was made of still is."""
    made_from = _made_from(page)
    there = vault.documents.many(made_from)
    served = {number for number, document in there.items() if document.inactive is None}
    return page.inactive is None and served == made_from


def _made_from(page: Document) -> set[int]:
    return {int(tag.removeprefix(SOURCE)) for tag in page.tags if tag.startswith(SOURCE)}


def _is_page(document: Document) -> bool:
    return (document.collection, document.path) == (COLLECTION, PATH)
