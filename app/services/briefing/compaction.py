"""Context after the compaction of a conversation: the state saved before, and related notes of the vault."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from clawmem.app.services.briefing.telling import MarkedDocument, is_told, told_succession, without_replaced
from clawmem.app.services.retrieval.answer import Answer, Result
from clawmem.app.services.retrieval.request import RetrievalRequest, read_request
from clawmem.domain.briefing.current import RECENT_DAYS
from clawmem.domain.briefing.packing import block, section
from clawmem.domain.capture.notes import COLLECTION, OBSERVATIONS
from clawmem.domain.documents.times import DAY_MS, iso_utc
from clawmem.domain.security.redaction import redact_part
from clawmem.domain.security.safety import safe
from clawmem.domain.surfacing.visible import is_hidden
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ClawmemError
from clawmem.ports.records import Document
from clawmem.ports.vault import Vault

TOKENS, STATE_TOKENS, DECISION_TOKENS, LESSON_TOKENS, CONTEXT_TOKENS = 1200, 600, 400, 150, 200
MOST_DECISIONS, MOST_LESSONS, MOST_CONTEXT = 5, 3, 3
READ_OF_REQUEST, READ_OF_BODY, SNIPPET = 200, 2000, 150  # characters
NEWEST = 500  # documents among which recent ones are searched
LOOKED_AT = 10  # search results for the last request, some of which may be excluded

TAG = "vault-postcompact"
LAST_REQUEST = re.compile(r"^##\s*Last User Request\s*\n+(.+?)(?=\n##\s|\Z)", re.MULTILINE | re.DOTALL)

Search = Callable[[RetrievalRequest], Answer]


class AfterCompaction:
    """
    Restores context that a compaction loses.

    Args:
        search: Lexical search.
    """

    def __init__(self, vault: Vault, search: Search, clock: Clock) -> None:
        self._vault = vault
        self._search = search
        self._clock = clock

    def __call__(self, state: str, summary: str = "") -> str:
        """
        Return the block ``<vault-postcompact>`` within 1200 tokens; empty when there is nothing to say.

        Args:
            state: The Markdown saved before the compaction; may be empty.
            summary: The client's summary of the conversation, if any; the query when the state has no last request.
        """
        recent = self._recent()
        return block(
            TAG,
            "State of this session, saved when its conversation was compacted, and what the vault has on it.",
            [
                section("## Saved before compaction", self._lines(state), STATE_TOKENS),
                self._of_type(
                    "decision", "## Decisions of the last days", recent, MOST_DECISIONS, DECISION_TOKENS
                ),
                self._of_type(
                    "antipattern", "## What went wrong before", recent, MOST_LESSONS, LESSON_TOKENS
                ),
                section("## From the vault", self._context(last_request(state) or summary), CONTEXT_TOKENS),
            ],
            TOKENS,
        )

    def _recent(self) -> list[Document]:
        since = iso_utc(self._clock.now_ms() - RECENT_DAYS * DAY_MS)
        newest = self._vault.documents.latest(limit=NEWEST)
        return [one for one in newest if one.authored_at >= since and self._is_told(one)]

    def _of_type(
        self, content_type: str, heading: str, recent: Sequence[Document], most: int, budget: int
    ) -> str:
        of_type = [document for document in recent if document.content_type == content_type]
        chosen = without_replaced(self._vault, of_type)[:most]
        lines = [line for one in chosen for line in self._told(one)]
        return section(heading, lines, budget)

    def _context(self, request: str) -> list[str]:
        request = request[:READ_OF_REQUEST]
        if not request:
            return []
        try:
            asked = read_request(request, now_ms=self._clock.now_ms(), limit=LOOKED_AT, show_all=True)
            results = self._search(asked).results
        except ClawmemError:  # a failing index must not discard the other sections
            return []
        told = [result for result in results if self._is_told(result.document)]
        return [f"- {self._one_line(result)}" for result in told[:MOST_CONTEXT]]

    def _is_told(self, document: Document) -> bool:
        now = iso_utc(self._clock.now_ms())
        return is_told(document, now) and not is_hidden(document.display_path, document.content_type)

    def _one_line(self, result: Result) -> str:
        document, mark = result.document, told_succession(result.superseded_by)
        place = ", ".join(filter(None, (document.display_path, mark)))
        body = self._body(document)
        beginning = " ".join(redact_part(body, 0, min(len(body), READ_OF_BODY)).split())[:SNIPPET]
        return safe(f"{document.title} ({place}): {beginning}")

    def _told(self, told: MarkedDocument) -> list[str]:
        """Return the lines of a note: its quoted sentence if it is an observation, else its body."""
        document = told.document
        if document.path.startswith(f"{OBSERVATIONS}/") and document.collection == COLLECTION:
            noted = ", ".join(filter(None, (document.authored_at[:10], told.mark)))
            return [f"- {safe(f'{document.title} ({noted})')}"]
        return [*self._lines(told.mark and f"[{told.mark}]"), *self._lines(self._body(document))]

    def _body(self, document: Document) -> str:
        return self._vault.documents.body(document.id) or ""

    def _lines(self, text: str) -> list[str]:
        return [line for line in safe(text).splitlines() if line.strip()]


def last_request(state: str) -> str:
    """Return the last request of the user in a saved state; empty if there is none."""
    found = LAST_REQUEST.search(state)
    return " ".join(found[1].split()) if found else ""
