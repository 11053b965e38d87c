"""Facts drawn from imported conversations, by a model or by rules, and the relations between them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.knowledge.asking import Ask, DailyLimitReached
from clawmem.app.services.progress import Progress
from clawmem.domain.conversations.facts import (
    CONFIDENCE,
    FACTS,
    ImportedFact,
    fact_body,
    fact_path,
    facts_by_rules,
    facts_prompt,
    read_facts,
    title_key,
)
from clawmem.domain.conversations.places import CONVERSATION
from clawmem.domain.documents.address import OWN_COLLECTION
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.security.injections import has_injection
from clawmem.domain.security.redaction import redact
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import InvalidInput, ModelError
from clawmem.ports.knowledge import Relation, RelationStore
from clawmem.ports.records import Document, InactiveReason, Origin
from clawmem.ports.sessions import CaptureStore, Cursor
from clawmem.ports.storage import Transactions

WRITER = "mine-synthesis"
MOST_ASKED = 20  # conversations in one run with a model
MOST_RELATIONS = 1_000
_RULES = "rules"
_DIGITS = 15


@dataclass(slots=True)
class SynthesisReport:
    """
    Counters of one run. ``stopped`` is the reason why a run with a model ended early; empty if it did not.

    ``factsSaved`` counts facts that were added or changed, ``llmFailures`` conversations without a usable answer.
    """

    docsScanned: int = 0  # noqa: N815  the names of the published counters
    factsExtracted: int = 0  # noqa: N815
    factsSaved: int = 0  # noqa: N815
    linksResolved: int = 0  # noqa: N815
    linksUnresolved: int = 0  # noqa: N815
    llmFailures: int = 0  # noqa: N815
    docsWithNoFacts: int = 0  # noqa: N815
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class SynthesizeFacts:
    """
    Draws facts from the conversations of a collection, oldest first; each version of a conversation is read once.

    With a model it asks for facts, within the daily limit, and accepts those that quote the conversation; without
    one, cue words mark them. A second pass relates facts whose titles the links name. The import is not affected.
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
        reader = f"{WRITER} {self.ask.model if self.ask else _RULES}"
        conversations = (
            document
            for document in self.documents.sources(collection).values()
            if document.inactive is None
            and document.content_type == CONVERSATION
            and document.origin is Origin.IMPORTED
            and self.captures.cursor(document.display_path, reader) != _version(document)
        )
        waiting = sorted(conversations, key=lambda document: (document.authored_at, document.id))
        waiting = waiting[:most] if self.ask else waiting
        saved: list[tuple[int, ImportedFact]] = []
        for done, document in enumerate(waiting, start=1):
            try:
                saved += self._read(document, reader, report)
            except (DailyLimitReached, ModelError) as error:
                report.llmFailures += isinstance(error, ModelError)
                report.stopped = str(error)
                break
            progress(done, len(waiting))
        self._relate(saved, report)
        return report

    def _read(
        self, document: Document, reader: str, report: SynthesisReport
    ) -> list[tuple[int, ImportedFact]]:
        body = self.documents.body(document.id) or ""
        facts = self._facts(document, body)
        report.docsScanned += 1
        report.llmFailures += facts is None
        report.factsExtracted += len(facts or ())
        report.docsWithNoFacts += facts == []
        saved: list[tuple[int, ImportedFact]] = []
        with self.transactions.writing():
            for fact in facts or ():
                with suppress(InvalidInput):  # it was forgotten
                    number, is_new = self._save(fact, document)
                    report.factsSaved += is_new
                    saved.append((number, fact))
            if facts is not None:
                self.captures.advance(document.display_path, reader, _version(document))
        return saved

    def _facts(self, document: Document, body: str) -> list[ImportedFact] | None:
        if self.ask is None:
            return facts_by_rules(body, document.authored_at)
        if has_injection(body):  # not shown to a model
            return []
        answer = self.ask(FACTS, facts_prompt(body))
        return None if answer is None else read_facts(answer, body)

    def _save(self, fact: ImportedFact, document: Document) -> tuple[int, bool]:
        path = fact_path(fact.title, document.id)
        body = redact(fact_body(fact, document.display_path, document.authored_at[:10]))
        known = self.documents.at(OWN_COLLECTION, path)
        if known and known.inactive is None and self.documents.body(known.id) == body:
            return known.id, False
        if known and known.inactive is not InactiveReason.REMOVED and known.inactive is not None:
            raise InvalidInput("INVALID_INPUT", f"{known.display_path} is {known.inactive}.")
        number = self.memories.write(
            path,
            redact(fact.title),
            body,
            fact.kind.value,
            CONFIDENCE,
            document.authored_at,
            tags=(WRITER,),
            sources=[document],
            origin=Origin.MODEL if self.ask else Origin.ASSISTANT,
        )
        return number, True

    # -- relations ----------------------------------------------------------------------------------

    def _relate(self, saved: Sequence[tuple[int, ImportedFact]], report: SynthesisReport) -> None:
        """Add the relations whose target is the only fact of that title, first of this run, then of the vault."""
        local: dict[str, set[int]] = {}
        for number, fact in saved:
            for name in (fact.title, *fact.aliases):
                local.setdefault(title_key(name), set()).add(number)
        stored: dict[str, set[int]] = {}
        if any(fact.links for _, fact in saved):
            for document in self.documents.sources(OWN_COLLECTION).values():
                if document.inactive is None and WRITER in document.tags:
                    stored.setdefault(title_key(document.title), set()).add(document.id)
        for number, fact in saved:
            for link in fact.links:
                targets = local.get(title_key(link.target)) or stored.get(title_key(link.target)) or set()
                if len(targets) != 1 or number in targets:
                    report.linksUnresolved += 1
                    continue
                report.linksResolved += 1
                [target] = targets
                now = iso_utc(self.clock.now_ms())
                known = self.relations.outbound([number], {link.kind}, limit=MOST_RELATIONS)
                weight = max([link.weight, *(edge.weight for edge in known if edge.target == target)])
                self.relations.put([Relation(number, target, link.kind, weight, WRITER, now)])


def _version(document: Document) -> Cursor:
    return Cursor(1, int(document.hash[:_DIGITS], 16))
