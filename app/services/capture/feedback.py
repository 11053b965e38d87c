"""Feedback: detection of the surfaced documents that an answer used."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, permutations

from clawmem.app.services.capture.session import CursorConflict, Session, SessionReader
from clawmem.app.services.retrieval.receipts import query_hash
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import VaultError
from clawmem.ports.knowledge import Relation, RelationKind, RelationStore
from clawmem.ports.records import Document
from clawmem.ports.sessions import CaptureStore, Speaker, TranscriptMessage, Transcripts, UsageStore
from clawmem.ports.storage import Transactions
from clawmem.ports.telemetry import Recall, Telemetry

READER = "feedback-loop"


@dataclass(frozen=True, slots=True)
class FeedbackLoop:
    """
    Compares each answer with the documents surfaced for its turn.

    A referenced document gets one more access, is marked in the telemetry, and is related by usage to the documents
    referenced in the same turn.
    """

    captures: CaptureStore
    documents: DocumentStore
    relations: RelationStore
    telemetry: Telemetry
    usage: UsageStore
    transactions: Transactions
    transcripts: Transcripts
    clock: Clock

    def __call__(self, session: Session) -> list[int]:
        """
        Process the new part of *session*, and return the documents that its answers reference.

        Raises:
            InvalidInput, SourceUnreadable: the transcript cannot be read.
            VaultError: nothing was stored; the next call processes the same part again.
        """
        reader = SessionReader(self.captures, self.transcripts, READER)
        news = reader.news(session)
        if news is None:
            return []
        referenced: dict[int, list[int]] = {}
        for recall in self.telemetry.of_session(session.id):
            if answer := answer_to(recall, news.part.messages):
                new = [hit.document_id for hit in recall.hits if not hit.was_referenced]
                documents = self.documents.many(new)
                referenced[recall.id] = [
                    number
                    for number in new
                    if number in documents and is_referenced(documents[number], answer)
                ]
        try:
            with self.transactions.writing():
                reader.finish(session, news)
                at = iso_utc(self.clock.now_ms())
                for numbers in map(sorted, referenced.values()):
                    self.usage.note(numbers, at)
                    self.relations.put(
                        Relation(source, target, RelationKind.USAGE, origin=READER, created_at=at)
                        for source, target in permutations(numbers, 2)
                    )
        except CursorConflict:
            return []
        for recall_id, numbers in referenced.items():
            with suppress(VaultError):  # marks in the telemetry are best effort; usage is stored already
                self.telemetry.mark_referenced(recall_id, numbers)
        return list(dict.fromkeys(chain.from_iterable(referenced.values())))


def is_referenced(document: Document, answer: str) -> bool:
    """
    Whether *answer* names *document*: its path, its file name (4 characters or more) or its title (5 or more).

    The comparison ignores case; a name inside a longer word does not count.
    """
    names = [document.display_path, document.path, document.path.rpartition("/")[2]]
    names += [document.title] if len(document.title) >= 5 else []
    return any(
        re.search(rf"(?<!\w){re.escape(name)}(?!\w)", answer, re.IGNORECASE)
        for name in names
        if len(name) >= 4
    )


def answer_to(recall: Recall, messages: Iterable[TranscriptMessage]) -> str:
    """
    Return the assistant's answer to a recall: by the client's prompt id, or else by the prompt's text.

    Of equal texts the last prompt counts.
    """
    texts: list[str] = []
    is_asked = False
    for message in messages:
        is_same = message.prompt_id == recall.prompt_id
        if message.speaker is Speaker.USER:
            is_asked = is_same if recall.prompt_id else query_hash(message.text) == recall.query_hash
            texts = [] if is_asked and not recall.prompt_id else texts
        elif is_same if recall.prompt_id and message.prompt_id else is_asked:
            texts.append(message.text)
    return "\n".join(texts)
