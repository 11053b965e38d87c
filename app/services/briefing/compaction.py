"""Context after the compaction of a conversation: the state saved before, and related notes of the vault."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from clawmem.app.services.briefing.telling import (
    applying_elsewhere,
    may_show,
    told_succession,
    without_replaced,
)
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.request import RetrievalRequest, read_request
from clawmem.domain.briefing.current import RECENT_DAYS
from clawmem.domain.briefing.packing import block, section
from clawmem.domain.briefing.profile import fact_of
from clawmem.domain.capture.notes import COLLECTION
from clawmem.domain.documents.times import DAY_MS, iso_utc
from clawmem.domain.security.redaction import redact_part, redact_parts
from clawmem.domain.security.safety import safe
from clawmem.domain.surfacing.visible import is_hidden
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore, PropertyStore, SuccessionStore
from clawmem.ports.errors import ClawmemError
from clawmem.ports.records import Document

TOKENS, STATE_TOKENS, DECISION_TOKENS, LESSON_TOKENS, CONTEXT_TOKENS = 1200, 600, 400, 150, 200
MOST_DECISIONS, MOST_LESSONS, MOST_CONTEXT = 5, 3, 3
READ_OF_REQUEST, READ_OF_BODY, SNIPPET = 200, 2000, 150  # characters
NEWEST = 500  # documents among which recent ones are searched
LOOKED_AT = 10  # search results for the last request, some of which may be excluded

TAG = "vault-postcompact"
LAST_REQUEST = re.compile(r"^##\s*Last User Request\s*\n+(.+?)(?=\n##\s|\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class AfterCompaction:
    """Restores context that a compaction loses."""

    documents: DocumentStore
    successions: SuccessionStore
    properties: PropertyStore
    search: Callable[[RetrievalRequest], Answer]  # lexical
    clock: Clock

    def __call__(self, state: str, summary: str = "", project: str = "") -> str:
        """
        Return the block ``<vault-postcompact>`` within 1200 tokens; empty when there is nothing to say.

        Args:
            state: The Markdown saved before the compaction; may be empty.
            summary: The client's summary of the conversation, if any; the query when the state has no last request.
            project: The project of the session; statements that apply to others alone are left out.
        """
        since = iso_utc(self.clock.now_ms() - RECENT_DAYS * DAY_MS)
        newest = self.documents.latest(limit=NEWEST)
        elsewhere = applying_elsewhere(self.properties, project)
        recent = [
            note
            for note in newest
            if note.authored_at >= since and note.id not in elsewhere and self._is_visible(note)
        ]
        decisions = self._of_type("decision", recent, MOST_DECISIONS)
        lessons = self._of_type("antipattern", recent, MOST_LESSONS)
        return block(
            TAG,
            "State of this session, saved when its conversation was compacted, and what the vault has on it.",
            [
                section("## Saved before compaction", _lines(state), STATE_TOKENS),
                section("## Decisions of the last days", decisions, DECISION_TOKENS),
                section("## What went wrong before", lessons, LESSON_TOKENS),
                section("## From the vault", self._context(last_request(state) or summary), CONTEXT_TOKENS),
            ],
            TOKENS,
        )

    def _of_type(self, content_type: str, recent: Sequence[Document], most: int) -> list[str]:
        """Return lines about the latest notes of a type: a title and a first sentence each."""
        of_type = [document for document in recent if document.content_type == content_type]
        lines = []
        for document, mark in without_replaced(self.documents, self.successions, of_type)[:most]:
            body = "" if document.collection == COLLECTION else self._body(document)
            noted = ", ".join(filter(None, (document.authored_at[:10], mark)))
            lines.append(f"- {safe(f'{fact_of(*redact_parts((document.title, body)))} ({noted})')}")
        return lines

    def _context(self, text: str) -> list[str]:
        """Return a line for each of the best notes about the request *text*."""
        text = text[:READ_OF_REQUEST]
        if not text:
            return []
        request = read_request(text, now_ms=self.clock.now_ms(), limit=LOOKED_AT, show_all=True)
        lines: list[str] = []
        with suppress(ClawmemError):  # a failing index must not discard the other sections
            for result in self.search(request).results:
                document = result.document
                if self._is_visible(document):
                    mark = told_succession(result.superseded_by)
                    place = ", ".join(filter(None, (document.display_path, mark)))
                    body = self._body(document)
                    beginning = " ".join(redact_part(body, 0, min(len(body), READ_OF_BODY)).split())[:SNIPPET]
                    lines.append(f"- {safe(f'{document.title} ({place}): {beginning}')}")
        return lines[:MOST_CONTEXT]

    def _is_visible(self, document: Document) -> bool:
        now = iso_utc(self.clock.now_ms())
        return may_show(document, now) and not is_hidden(document.display_path, document.content_type)

    def _body(self, document: Document) -> str:
        return self.documents.body(document.id) or ""


def _lines(text: str) -> list[str]:
    return [line for line in safe(text).splitlines() if line.strip()]


def last_request(state: str) -> str:
    """Return the last request of the user in a saved state; empty if there is none."""
    match = LAST_REQUEST.search(state)
    return " ".join(match[1].split()) if match else ""
