"""Parts of a vault that the pages show and no operation returns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from clawmem.app.bootstrap.services import Services
from clawmem.app.operations.documents import ListedDocument, Text, get, list_documents
from clawmem.ports.errors import ClawmemError
from clawmem.ports.sessions import Session

LATEST = 200  # notes that the first page looks at
_TASK = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+\[ \]\s+(\S.*)$")
_DUE = re.compile(r"(?:📅|\bdue:?:?|\(due:?)\s*(\d{4}-\d\d-\d\d)\)?", re.IGNORECASE)


class OpenTask(NamedTuple):
    """A line with an empty box, its place, and the day on which it is due, if it says so."""

    text: str
    file: str
    line: int
    due: str
    origin: str


def latest_notes(services: Services) -> Sequence[ListedDocument]:
    """Return the notes that were written last, newest first."""
    return list_documents(services, limit=LATEST).documents


def open_tasks(services: Services, limit: int = 12) -> list[OpenTask]:
    """Return tasks of the latest notes, in the order in which they are due."""
    documents = services.vault.documents.latest(limit=LATEST)
    bodies = services.vault.documents.bodies(document.id for document in documents)
    tasks = []
    for document in documents:
        if "[ ]" not in bodies.get(document.id, ""):
            continue
        for line, text in enumerate(bodies[document.id].split("\n"), document.body_line):
            if match := _TASK.match(text):
                due = _DUE.search(match[1])
                words = _DUE.sub("", match[1]).strip()
                tasks.append(
                    OpenTask(words, document.display_path, line, due[1] if due else "", document.origin)
                )
    return sorted(tasks, key=lambda task: task.due or "9999")[:limit]


def last_handoff(services: Services, sessions: Sequence[Session]) -> Text | None:
    """Return the text of the hand-off of the last session that left one, or of the latest note of that type."""
    files = [session.handoff_path for session in sessions if session.handoff_path]
    files += [
        note.display_path
        for note in services.vault.documents.latest(limit=LATEST)
        if note.content_type == "handoff"
    ]
    for file in files[:3]:
        try:
            return get(services, file)
        except ClawmemError:
            continue  # it was forgotten or archived
    return None
