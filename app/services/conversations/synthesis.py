"""Memories drawn from imported conversations, by a model or by rules."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.knowledge.asking import Ask, DailyLimitReached
from clawmem.app.services.progress import Progress
from clawmem.domain.capture.cues import Kind
from clawmem.domain.capture.notes import Note, note_body, notes_by_rules
from clawmem.domain.capture.observations import OBSERVE, observer_prompt, read_notes
from clawmem.domain.conversations.units import CONVERSATION, fact_path, messages_of
from clawmem.domain.documents.address import OWN_COLLECTION
from clawmem.domain.security.injections import has_injection
from clawmem.domain.security.redaction import redact
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import InvalidInput, ModelError, ModelUnavailable
from clawmem.ports.records import Document, InactiveReason, Origin
from clawmem.ports.sessions import CaptureStore, Cursor
from clawmem.ports.storage import Transactions

WRITER = "mine-synthesis"
MOST_ASKED = 20  # conversations in one run with a model
MOST_FAILURES = 3  # runs without a usable answer, after which a conversation is skipped
SHOWN = 3_000  # characters of a conversation that a model is shown
CONFIDENCE = 0.7
KINDS = (Kind.DECISION, Kind.PREFERENCE, Kind.MILESTONE, Kind.PROBLEM)
TASK = OBSERVE._replace(purpose=WRITER, max_tokens=1200)


@dataclass(slots=True)
class SynthesisReport:
    """
    Counters of one run. ``stopped`` is the reason why a run with a model ended early; empty if it did not.

    ``factsSaved`` counts facts that were added or changed, ``llmFailures`` conversations without a usable answer.
    ``docsSkipped`` had none in three runs, and are read again when they change.
    """

    docsScanned: int = 0  # noqa: N815  the names of the published counters
    factsExtracted: int = 0  # noqa: N815
    factsSaved: int = 0  # noqa: N815
    llmFailures: int = 0  # noqa: N815
    docsWithNoFacts: int = 0  # noqa: N815
    docsSkipped: int = 0  # noqa: N815
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class SynthesizeFacts:
    """
    Draws memories from the conversations of a collection, oldest first; each version of a conversation is read once.

    With a model it asks for observations, within the daily limit; without one, cue words mark them. The import is not
    affected.
    """

    documents: DocumentStore
    captures: CaptureStore
    transactions: Transactions
    memories: Memories
    ask: Ask | None = None

    def __call__(
        self, collection: str, most: int = MOST_ASKED, progress: Progress = lambda done, total: None
    ) -> SynthesisReport:
        """
        Read up to *most* conversations with a model, or all by rules, and return the counters.

        Raises:
            VaultError: facts stored before it persist.
        """
        report = SynthesisReport()
        reader = f"{WRITER} {self.ask.model if self.ask else 'rules'}"
        waiting: list[tuple[int, Document]] = []  # with the number of runs that failed
        for document in self.documents.sources(collection).values():
            is_conversation = document.content_type == CONVERSATION and document.origin is Origin.IMPORTED
            if document.inactive is None and is_conversation:
                position = self.captures.cursor(document.display_path, reader)
                is_known = position.offset == _version(document)
                failures = position.turns if is_known else 0
                report.docsSkipped += failures >= MOST_FAILURES
                if not is_known or 0 < failures < MOST_FAILURES:
                    waiting.append((failures, document))
        waiting.sort(key=lambda entry: (entry[0], entry[1].authored_at, entry[1].id))
        waiting = waiting[:most] if self.ask else waiting
        for done, (failures, document) in enumerate(waiting, start=1):
            notes = None
            try:
                notes = self._notes(document)
            except (DailyLimitReached, ModelUnavailable) as error:
                report.llmFailures += isinstance(error, ModelError)
                report.stopped = str(error)
                break
            except ModelError:  # it failed on this conversation, which may be too long
                pass
            report.docsScanned += 1
            report.llmFailures += notes is None
            report.factsExtracted += len(notes or ())
            report.docsWithNoFacts += notes == []
            with self.transactions.writing():
                for note in notes or ():
                    with suppress(InvalidInput):  # it was forgotten
                        report.factsSaved += self._save(note, document)
                position = Cursor(1, _version(document), failures + 1 if notes is None else 0)
                self.captures.advance(document.display_path, reader, position)
            progress(done, len(waiting))
        return report

    def _notes(self, document: Document) -> list[Note] | None:
        """Return the statements of a conversation that are worth a memory; ``None`` without a usable answer."""
        body = self.documents.body(document.id) or ""
        messages = messages_of(body, document.authored_at)
        if self.ask is None:
            notes = list(notes_by_rules(messages))
        elif has_injection(body):  # not shown to a model
            return []
        else:
            answer = self.ask(TASK, observer_prompt(body[:SHOWN]))
            if answer is None:
                return None
            notes = read_notes(answer, messages)
        return [note for note in notes if note.kind in KINDS and not has_injection(note_body(note, ""))]

    def _save(self, note: Note, document: Document) -> bool:
        path = fact_path(note.title, document.id)
        body = redact(note_body(note, f"{document.display_path} on {document.authored_at[:10]}"))
        known = self.documents.at(OWN_COLLECTION, path)
        if known and known.inactive is None and self.documents.body(known.id) == body:
            return False
        if known and known.inactive is not InactiveReason.REMOVED and known.inactive is not None:
            raise InvalidInput("INVALID_INPUT", f"{known.display_path} is {known.inactive}.")
        self.memories.write(
            path,
            redact(note.title),
            body,
            note.kind.value,
            CONFIDENCE,
            document.authored_at,
            tags=(WRITER,),
            sources=[document],
            origin=Origin.MODEL if self.ask else Origin.ASSISTANT,
        )
        return True


def _version(document: Document) -> int:
    return int(document.hash[:15], 16)
