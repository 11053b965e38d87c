"""Lessons about a file that is about to be edited."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clawmem.app.services.briefing.telling import may_show, told_succession
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


@dataclass(frozen=True, slots=True)
class FileLessons:
    """Decisions, problems and mistakes that name a file."""

    search: Callable[[RetrievalRequest], Answer]  # lexical
    clock: Clock

    def __call__(self, path: str) -> str:
        """
        Return the block ``<vault-file-lessons>`` with at most three lines within 200 tokens; empty without lessons.

        Args:
            path: The file path, of any system; its folders distinguish it from other files of that name.
        """
        name = file_name(path)
        now_ms = self.clock.now_ms()
        request = read_request(name, now_ms=now_ms, limit=LOOKED_AT, show_all=True)
        lessons = (_lesson(result, path, iso_utc(now_ms)) for result in self.search(request).results)
        lines = [f"- {safe(lesson)}" for lesson in lessons if lesson][:MOST]
        return block(TAG, f"Noted about {safe(name)} before:", ["\n".join(lines)], TOKENS)


def _lesson(result: Result, path: str, now: str) -> str:
    """
    Return the first line about the file, with its document's title; empty if there is none.

    The line has no secrets, even if their labels are in other lines.
    """
    document, start = result.document, 0
    if document.content_type not in LESSONS or not may_show(document, now):
        return ""
    for line in result.body.splitlines(keepends=True):
        if names_file(line, path):
            mark = told_succession(result.superseded_by)
            noted = ", ".join(filter(None, (document.content_type, document.authored_at[:10], mark)))
            shown = redact_part(result.body, start, start + len(line)).strip()
            return f"{document.title} ({noted}): {shown}"
        start += len(line)
    return ""
