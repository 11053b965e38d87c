"""What was learnt about a file, when that file is about to be changed."""

from __future__ import annotations

from collections.abc import Callable

from clawmem.app.services.briefing.session import Safe
from clawmem.app.services.retrieval.answer import Answer, Result
from clawmem.app.services.retrieval.request import RetrievalRequest, read_request
from clawmem.domain.briefing.packing import block
from clawmem.ports.clock import Clock
from clawmem.ports.vault import Vault

TOKENS, MOST = 200, 3
LOOKED_AT = 20  # answers to the file's name, most of which are no lessons
LESSONS = frozenset({"antipattern", "decision", "problem"})
TAG = "vault-file-lessons"

Search = Callable[[RetrievalRequest], Answer]


class FileLessons:
    """
    Decisions, problems and mistakes that name a file.

    Args:
        search: Finds by words.
        safe: Applied to everything that comes from a document.
    """

    def __init__(self, vault: Vault, search: Search, clock: Clock, safe: Safe) -> None:
        self._vault = vault
        self._search = search
        self._clock = clock
        self._safe = safe

    def __call__(self, file_name: str) -> str:
        """
        The block ``<vault-file-lessons>`` with at most three lines within 200 tokens; empty when there is none.

        Args:
            file_name: The file's name without its folders.
        """
        asked = read_request(file_name, now_ms=self._clock.now_ms(), limit=LOOKED_AT)
        found = (self._lesson(result, file_name) for result in self._search(asked).results)
        lines = [f"- {self._safe(line)}" for line in filter(None, found)][:MOST]
        return block(TAG, f"Noted about {self._safe(file_name)} before:", ["\n".join(lines)], TOKENS)

    def _lesson(self, result: Result, file_name: str) -> str:
        """The first line that names the file, with its document's title; empty where none does."""
        if result.document.content_type not in LESSONS:
            return ""
        body = self._vault.documents.body(result.document.id) or ""
        named = (line.strip() for line in body.splitlines() if file_name.lower() in line.lower())
        line = next(named, "")
        day = result.document.modified_at[:10]
        return f"{result.document.title} ({result.document.content_type}, {day}): {line}" if line else ""
