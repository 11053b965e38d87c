"""Memories drawn from imported conversations, by a model or by rules."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass

from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.knowledge.asking import Ask, DailyLimitReached
from clawmem.app.services.progress import Progress
from clawmem.domain.briefing.blocks import TITLE_CHARS
from clawmem.domain.capture.cues import Kind
from clawmem.domain.capture.notes import Note, note_body, notes_by_rules
from clawmem.domain.capture.observations import OBSERVATION, observer_prompt, read_notes
from clawmem.domain.conversations.units import CONVERSATION, fact_path, messages_of
from clawmem.domain.documents.address import OWN_COLLECTION
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.knowledge.llm_answer import (
    NUMBER,
    TEXT,
    ModelTask,
    enum_schema,
    list_schema,
    object_schema,
)
from clawmem.domain.security.injections import has_injection
from clawmem.domain.security.redaction import redact
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import InvalidInput, ModelError, ModelUnavailable
from clawmem.ports.knowledge import EVERY_KIND, Relation, RelationKind, RelationStore
from clawmem.ports.records import Document, InactiveReason, Origin
from clawmem.ports.sessions import CaptureStore, Cursor
from clawmem.ports.storage import Transactions

WRITER = "mine-synthesis"
MOST_ASKED = 20  # conversations in one run with a model
MOST_FAILURES = 3  # runs without a usable answer, after which a conversation is skipped
SHOWN = 3_000  # characters of a conversation that a model is shown
CONFIDENCE = 0.7
KINDS = (Kind.DECISION, Kind.PREFERENCE, Kind.MILESTONE, Kind.PROBLEM)
LINK_KINDS = sorted(EVERY_KIND - {RelationKind.USAGE, RelationKind.LINKS_TO})
_LINK = object_schema(
    "targetTitle relationType", targetTitle=TEXT, relationType=enum_schema(LINK_KINDS), weight=NUMBER
)
_OBSERVATION = object_schema("type title quote", **OBSERVATION, links=list_schema(_LINK))
TASK = ModelTask(WRITER, object_schema("observations", observations=list_schema(_OBSERVATION)), 0.3, 1200)
ASKED = (
    'An observation may have "links" to others, also of other conversations: [{"targetTitle", "relationType", "weight" '
    f"from 0 to 1}}]; relationType is one of {', '.join(LINK_KINDS)}. "
)
# A line of a memory with a link; its target may be drawn from a later conversation.
_RELATED = re.compile(r"^Related \((\w+), ([\d.]+)\): (.+)$", re.MULTILINE)


@dataclass(slots=True)
class SynthesisReport:
    """
    Counters of one run. ``stopped`` is the reason why a run with a model ended early; empty if it did not.

    ``factsSaved`` counts facts that were added or changed, ``llmFailures`` conversations without a usable answer.
    ``docsSkipped`` had none in three runs, and are read again when they change. The links of all memories are counted
    when one was saved: the title of an unresolved one is that of no other memory, or of several.
    """

    docsScanned: int = 0  # noqa: N815  the names of the published counters
    factsExtracted: int = 0  # noqa: N815
    factsSaved: int = 0  # noqa: N815
    linksResolved: int = 0  # noqa: N815
    linksUnresolved: int = 0  # noqa: N815
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
    relations: RelationStore
    transactions: Transactions
    memories: Memories
    clock: Clock
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
            notes, links = None, dict[str, list[str]]()
            try:
                notes, links = self._notes(document)
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
                        report.factsSaved += self._save(note, links.get(note.title, []), document)
                position = Cursor(1, _version(document), failures + 1 if notes is None else 0)
                self.captures.advance(document.display_path, reader, position)
            progress(done, len(waiting))
        if report.factsSaved:
            self._relate(report)
        return report

    def _notes(self, document: Document) -> tuple[list[Note] | None, dict[str, list[str]]]:
        """
        Return the statements of a conversation that are worth a memory, and the lines of their links by title.

        The statements are ``None`` without a usable answer.
        """
        body = self.documents.body(document.id) or ""
        links: dict[str, list[str]] = {}
        messages = messages_of(body, document.authored_at)
        if self.ask is None:
            notes = list(notes_by_rules(messages))
        elif has_injection(body):  # not shown to a model
            return [], links
        else:
            answer = self.ask(TASK, ASKED + observer_prompt(body[:SHOWN]))
            if answer is None:
                return None, links
            notes = read_notes(answer, messages)
            for entry in answer["observations"]:
                title = " ".join(entry["title"].split())[:TITLE_CHARS]
                for link in entry.get("links", ()):
                    weight = min(1.0, max(0.01, link.get("weight", 0.6)))
                    target = " ".join(link["targetTitle"].split())[:TITLE_CHARS]
                    line = f"Related ({link['relationType']}, {weight:.2f}): {target}"
                    links.setdefault(title, []).extend([] if has_injection(target) else [line])
        notes = [note for note in notes if note.kind in KINDS and not has_injection(note_body(note, ""))]
        return notes, links

    def _save(self, note: Note, links: list[str], document: Document) -> bool:
        path = fact_path(note.title, document.id)
        body = note_body(note, f"{document.display_path} on {document.authored_at[:10]}")
        body = redact("\n\n".join([body.rstrip(), *links]) + "\n")
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

    def _relate(self, report: SynthesisReport) -> None:
        """Relate the memories that name each other, where exactly one has the title; a later run resolves the rest."""
        drawn = [
            document
            for document in self.documents.sources(OWN_COLLECTION).values()
            if document.inactive is None and WRITER in document.tags
        ]
        known = Counter(document.title.casefold() for document in drawn)
        ids = {document.title.casefold(): document.id for document in drawn}
        edges = defaultdict[RelationKind, list[Relation]](list)
        now = iso_utc(self.clock.now_ms())
        for document in drawn:
            for kind, weight, title in _RELATED.findall(self.documents.body(document.id) or ""):
                target = ids.get(title.casefold(), document.id)
                if kind not in LINK_KINDS or known[title.casefold()] != 1 or target == document.id:
                    report.linksUnresolved += 1
                    continue
                report.linksResolved += 1
                edge = Relation(document.id, target, RelationKind(kind), float(weight), WRITER, now)
                edges[edge.kind].append(edge)
        for relation, listed in edges.items():
            self.relations.renew(relation, WRITER, [document.id for document in drawn], listed)


def _version(document: Document) -> int:
    return int(document.hash[:15], 16)
