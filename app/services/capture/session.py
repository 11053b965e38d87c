"""Sessions with agents: transcripts without secrets, read incrementally, and the documents that answers used."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, permutations
from typing import Any, NamedTuple

from clawmem.app.services.retrieval.receipts import query_hash
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.knowledge.llm_answer import ModelTask, json_answer
from clawmem.domain.security.redaction import redact_parts
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import ModelError, VaultError
from clawmem.ports.knowledge import Relation, RelationKind, RelationStore
from clawmem.ports.models import Generator
from clawmem.ports.records import Document
from clawmem.ports.sessions import (
    BEGINNING,
    CaptureStore,
    Cursor,
    Speaker,
    TranscriptMessage,
    TranscriptPart,
    Transcripts,
    UsageStore,
)
from clawmem.ports.storage import Transactions
from clawmem.ports.telemetry import Recall, Telemetry


@dataclass(frozen=True, slots=True)
class RedactedTranscripts:
    """
    Wrapper of transcripts that redacts secrets for all later steps.

    Messages are redacted together, so that a secret of one message is also found where another repeats it.
    """

    transcripts: Transcripts

    def read(self, path: str, since: Cursor = BEGINNING) -> TranscriptPart:
        """Read like `Transcripts.read`, and redact the messages."""
        part = self.transcripts.read(path, since)
        messages, sidechains = (
            tuple(replace(message, text=text) for message, text in zip(group, texts, strict=True))
            for group in (part.messages, part.sidechains)
            for texts in [redact_parts([message.text for message in group])]
        )
        return replace(part, messages=messages, sidechains=sidechains)


def model_answer(generator: Generator, left: Callable[[], float], task: ModelTask, prompt: str) -> Any | None:
    """
    Return the model's answer to the *prompt* of a task, see `json_answer`; ``None`` also if the model fails.

    *left* returns the seconds until the work has to be done.
    """

    _, schema, temperature, most = task

    def ask(text: str) -> str:
        seconds = max(0.0, left() - 1.0)  # a reserve
        return generator.generate(
            text, timeout_s=seconds, max_tokens=most, temperature=temperature, schema=schema
        )

    with suppress(ModelError):
        return json_answer(ask, prompt, schema)
    return None


@dataclass(frozen=True, slots=True)
class Session:
    """
    A session with an agent: the client's session id, the absolute path of the transcript, its project and its folder.

    The project is the root of the git repository in which the session runs, else its folder; empty if it is unknown.
    """

    id: str
    transcript: str
    project: str = ""
    folder: str = ""


class UnreadMessages(NamedTuple):
    """
    The ``fresh`` messages of a transcript, those after ``seen``, and messages before it as context.

    ``part`` also has the messages of the previous call. ``stored`` is the cursor in the vault, which equals ``seen``
    unless the transcript was rewritten.
    """

    stored: Cursor
    seen: Cursor
    part: TranscriptPart
    fresh: tuple[TranscriptMessage, ...]


@dataclass(frozen=True, slots=True)
class SessionReader:
    """
    Reads transcripts incrementally, for one purpose.

    The cursor is stored in the vault, in the transaction that stores the results, so that interrupted or repeated calls
    never process a message twice.
    """

    captures: CaptureStore
    transcripts: Transcripts
    name: str

    def news(self, session: Session) -> UnreadMessages | None:
        """
        Return the messages since the last `finish`; ``None`` if there are none.

        Raises:
            InvalidInput, SourceUnreadable: see `clawmem.ports.sessions.Transcripts.read`.
        """
        stored = seen = self.captures.cursor(session.id, self.name)
        before = self.captures.cursor(session.id, f"{self.name}/before")
        part = self.transcripts.read(session.transcript, before)
        if part.end.offset < seen.offset:
            seen = Cursor()
            part = self.transcripts.read(session.transcript, seen)
        fresh = tuple(message for message in part.messages if message.line > seen.line)
        return UnreadMessages(stored, seen, part, fresh) if fresh else None

    def finish(self, session: Session, news: UnreadMessages) -> bool:
        """
        Advance the cursor past *news*; return false if another process has processed these messages meanwhile.

        To be called inside `Transactions.writing`, with the results.
        """
        if self.captures.cursor(session.id, self.name) != news.stored:
            return False
        self.captures.advance(session.id, f"{self.name}/before", news.seen)
        self.captures.advance(session.id, self.name, news.part.end)
        return True


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
                new = self.documents.many(hit.document_id for hit in recall.hits if not hit.was_referenced)
                referenced[recall.id] = sorted(
                    number for number, document in new.items() if is_referenced(document, answer)
                )
        with self.transactions.writing():
            if not reader.finish(session, news):
                return []
            at = iso_utc(self.clock.now_ms())
            for numbers in referenced.values():
                self.usage.note(numbers, at)
                self.relations.put(
                    Relation(source, target, RelationKind.USAGE, origin=READER, created_at=at)
                    for source, target in permutations(numbers, 2)
                )
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

    Of equal texts the last prompt counts. What a hook gave without a prompt is answered by the rest of its turn.
    """
    texts: list[str] = []
    is_asked = False
    is_prompt = not recall.verb.endswith("-inject")
    for message in messages:
        if not is_prompt and not recall.prompt_id:
            is_after = message.at > recall.asked_at
            if is_after and message.speaker is Speaker.USER:
                break
            texts += [message.text] if is_after else []
            continue
        is_same = message.prompt_id == recall.prompt_id
        if message.speaker is Speaker.USER:
            is_asked = is_same if recall.prompt_id else query_hash(message.text) == recall.query_hash
            texts = [] if is_asked and not recall.prompt_id else texts
        elif is_same if recall.prompt_id and message.prompt_id else is_asked:
            texts.append(message.text)
    return "\n".join(texts)
