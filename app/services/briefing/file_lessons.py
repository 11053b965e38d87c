"""What was learnt about a file, when that file is about to be changed."""

from __future__ import annotations

from collections.abc import Callable

from clawmem.app.services.briefing.session import Safe
from clawmem.app.services.briefing.telling import is_told, told_succession
from clawmem.app.services.retrieval.answer import Answer, Result
from clawmem.app.services.retrieval.request import RetrievalRequest, read_request
from clawmem.domain.briefing.naming import file_name, names_file
from clawmem.domain.briefing.packing import block
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.security.redaction import redact_part
from clawmem.ports.clock import Clock

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

    def __init__(self, search: Search, clock: Clock, safe: Safe) -> None:
        self._search = search
        self._clock = clock
        self._safe = safe

    def __call__(self, path: str) -> str:
        """
        The block ``<vault-file-lessons>`` with at most three lines within 200 tokens; empty when there is none.

        Args:
            path: The file, of any system; its folders tell it from others of its name.
        """
        name = file_name(path)
        asked = read_request(name, now_ms=self._clock.now_ms(), limit=LOOKED_AT, show_all=True)
        found = (self._lesson(result, path) for result in self._search(asked).results)
        lines = [f"- {self._safe(line)}" for line in filter(None, found)][:MOST]
        return block(TAG, f"Noted about {self._safe(name)} before:", ["\n".join(lines)], TOKENS)

    def _lesson(self, result: Result, path: str) -> str:
        """The first line that says something of the file, with its document's title; empty where none does."""
        now = iso_utc(self._clock.now_ms())
        if result.document.content_type not in LESSONS or not is_told(result.document, now):
            return ""
        line = _line_about(result.body, path)
        if not line:
            return ""
        document, mark = result.document, told_succession(result.superseded_by)
        noted = ", ".join(filter(None, (document.content_type, document.authored_at[:10], mark)))
        return f"{document.title} ({noted}): {line}"


def _line_about(body: str, path: str) -> str:
    """Return the first line that names the file, without secrets; their labels may stand in other lines."""
    at = 0
    for line in body.splitlines(keepends=True):
        if names_file(line, path):
            return redact_part(body, at, at + len(line)).strip()
        at += len(line)
    return ""
