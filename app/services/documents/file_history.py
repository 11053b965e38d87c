"""The reasons why a file is as it is: decisions, commits and notes about it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath

from clawmem.app.environment.session_topics import PROJECT
from clawmem.app.services.documents.records import DatedDocument, dated_fields_of
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.request import MAX_LIMIT, RetrievalRequest, read_request
from clawmem.domain.briefing.blocks import LONGEST, names_file, shortened
from clawmem.domain.capture.cues import sentences
from clawmem.domain.conversations.units import CONVERSATION
from clawmem.domain.security.quoting import without_orders
from clawmem.domain.text.words import words
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore, PropertyStore, SuccessionStore

FILES = "files"  # property of commits, and of notes that name their files so
LEAST_REASON = 4  # words; a shorter sentence only names the file, as a heading does


class FileReason(DatedDocument):
    """A document about a file, and the sentence that gives the reason."""

    reason: str


def file_history(
    path: str,
    limit: int,
    documents: DocumentStore,
    successions: SuccessionStore,
    properties: PropertyStore,
    search: Callable[[RetrievalRequest], Answer],
    clock: Clock,
) -> list[FileReason]:
    """
    Return what changed the file at *path* or names it, newest first, found by properties and words.

    An absolute path is a file of the project that contains it; the end of a path is one of any project.

    Args:
        search: Answers a request by words.
    """
    projects = {number: values[0].value for number, values in properties.named(PROJECT).items()}
    places = {
        number: [f"{projects.get(number, '')}/{value.value}" for value in values]
        for number, values in properties.named(FILES).items()
    }
    changes = [number for number, files in places.items() if path in files]
    if not changes:
        end = f"/{path.lstrip('./')}"
        changes = [number for number, files in places.items() if any(file.endswith(end) for file in files)]
    changed = documents.many(changes).values()
    reasons = {
        note: shortened(" ".join(sentences(documents.body(note.id) or "")), LONGEST) for note in changed
    }
    named = read_request(PurePath(path).name or path, now_ms=clock.now_ms(), limit=MAX_LIMIT, show_all=True)
    for result in search(named).results:
        note = result.document
        if note.content_type == CONVERSATION or note in reasons:
            continue
        parts = [*sentences(result.body)]
        place = next((place for place, part in enumerate(parts) if names_file(part, path)), None)
        if place is not None:
            # Below a heading with the name of the file, the reason is the next sentence.
            is_heading = len(words(parts[place].replace(PurePath(path).name, ""))) < LEAST_REASON
            reasons[note] = shortened(parts[min(place + is_heading, len(parts) - 1)], LONGEST)
        elif parts and names_file(note.title, path):
            reasons[note] = shortened(" ".join(parts), LONGEST)
    notes = sorted(reasons, key=lambda note: (note.authored_at, note.id), reverse=True)[:limit]
    fields = dated_fields_of(documents, successions, notes)
    return [
        FileReason(**fields[note.id], reason=without_orders(reasons[note], note.origin)) for note in notes
    ]
