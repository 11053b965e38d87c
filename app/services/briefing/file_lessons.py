"""Lessons about a file that is about to be edited."""

from __future__ import annotations

from collections.abc import Callable

from clawmem.app.services.briefing.telling import is_told, told_succession
from clawmem.app.services.retrieval.answer import Answer, Result
from clawmem.app.services.retrieval.request import RetrievalRequest, read_request
from clawmem.domain.briefing.naming import file_name, names_file
from clawmem.domain.briefing.packing import block
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.security.redaction import redact_part
from clawmem.domain.security.safety import safe
from clawmem.ports.clock import Clock

TOKENS, MOST = 200, 3
LOOKED_AT = 20  # search results for the file name, most of which are no lessons
LESSONS = frozenset({"antipattern", "decision", "problem"})
TAG = "vault-file-lessons"

Search = Callable[[RetrievalRequest], Answer]


class FileLessons:
    """
    Decisions, problems and mistakes that name a file.

    Args:
        search: Lexical search.
    """

    def __init__(self, search: Search, clock: Clock) -> None:
        self._search = search
        self._clock = clock

    def __call__(self, path: str) -> str:
        """
        Return the block ``<vault-file-lessons>`` with at most three lines within 200 tokens; empty without lessons.

        Args:
            path: The file path, of any system; its folders distinguish it from other files of that name.
        """
        name = file_name(path)
        asked = read_request(name, now_ms=self._clock.now_ms(), limit=LOOKED_AT, show_all=True)
        found = (self._lesson(result, path) for result in self._search(asked).results)
        lines = [f"- {safe(line)}" for line in filter(None, found)][:MOST]
        return block(TAG, f"Noted about {safe(name)} before:", ["\n".join(lines)], TOKENS)

    def _lesson(self, result: Result, path: str) -> str:
        """Return the first line about the file, with its document's title; empty if there is none."""
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
    """Return the first line that names the file, without secrets, even if their labels are in other lines."""
    at = 0
    for line in body.splitlines(keepends=True):
        if names_file(line, path):
            return redact_part(body, at, at + len(line)).strip()
        at += len(line)
    return ""
