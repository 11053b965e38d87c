"""Import of memories of other tools, which can be repeated and interrupted, and the sources of all imports."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256

from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.indexing.embed import EmbedReport
from clawmem.app.services.indexing.publish import apply_in_chunks
from clawmem.app.services.indexing.update import is_forgotten_text
from clawmem.domain.capture.notes import COLLECTION, title_of
from clawmem.domain.conversations.units import conversation_of_path
from clawmem.domain.documents.identity import body_hash
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.knowledge.entities import CONCEPT, KINDS, entity_id, name_words
from clawmem.domain.security.injections import has_injection
from clawmem.domain.security.redaction import redact, redact_parts
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import InvalidInput
from clawmem.ports.imports import ForeignMemory, Unmatched
from clawmem.ports.journal import Act, ActEntry, ActJournal, ForgottenTexts
from clawmem.ports.knowledge import (
    Entity,
    EntityStore,
    Relation,
    RelationKind,
    RelationStore,
    Triple,
    TripleStore,
)
from clawmem.ports.records import Document, InactiveReason, Origin
from clawmem.ports.storage import Transactions

FOLDER = "imports"
# Words of other tools for kinds of relations; unknown ones say only that two notes are about the same.
_KINDS = {
    **{kind.value: kind for kind in RelationKind if kind is not RelationKind.LINKS_TO},
    **dict.fromkeys(("supports", "extends", "derived_from"), RelationKind.SUPPORTING),
    **dict.fromkeys(("caused_by", "causes"), RelationKind.CAUSAL),
}
_LEAST = 0.01  # weight and confidence


@dataclass(slots=True)
class ImportReport:
    """
    Counts of an import: memories by outcome and property, and ``unmatched`` items without a counterpart by kind.

    A served document, or an earlier memory of the store, has the text of ``duplicates``. ``forgotten`` memories were
    forgotten or archived in this vault. ``suspicious`` ones give orders, and no hook injects them.
    """

    tool: str
    place: str = ""
    dry_run: bool = False
    imported: int = 0
    updated: int = 0
    unchanged: int = 0
    duplicates: int = 0
    forgotten: int = 0
    facts: int = 0
    relations: int = 0
    pinned: int = 0
    snoozed: int = 0
    redacted: int = 0
    suspicious: int = 0
    unmatched: dict[str, int] = field(default_factory=dict)
    embed: EmbedReport | None = None

    def leave_out(self, kind: str) -> None:
        """Count an item of *kind* without a counterpart."""
        self.unmatched[kind] = self.unmatched.get(kind, 0) + 1


@dataclass(frozen=True, slots=True)
class ImportMemories:
    """
    Stores memories of other tools in ``_clawmem/imports``, with origin `Origin.IMPORTED` and their original times.

    Secrets are replaced. Texts that give orders to a model are counted; they are stored, and not injected.
    """

    documents: DocumentStore
    entities: EntityStore
    triples: TripleStore
    relations: RelationStore
    acts: ActJournal
    forgotten_texts: ForgottenTexts
    transactions: Transactions
    memories: Memories
    clock: Clock
    caller: str

    def __call__(
        self, tool: str, items: Iterable[ForeignMemory | Unmatched], *, dry_run: bool = False
    ) -> ImportReport:
        """
        Import *items* of *tool*; a *dry_run* only counts. An interrupted import keeps the finished memories.

        Raises:
            StoreUnreadable: The store cannot be read on; the memories before are imported.
        """
        report = ImportReport(tool, dry_run=dry_run)
        memories: list[ForeignMemory] = []
        ids: Counter[str] = Counter()
        for item in items:
            if isinstance(item, Unmatched):
                report.leave_out(item.kind)
                continue
            ids[item.id] += 1
            unique = item.id if ids[item.id] == 1 else f"{item.id} ({ids[item.id]})"
            text = item.text.encode("utf-8", "replace").decode()
            redacted, title, *tags = redact_parts([text, item.title, *item.tags])
            memory = item._replace(id=unique, text=redacted, title=title, tags=tuple(tags))
            report.redacted += memory[1:] != item._replace(text=text)[1:]
            memories.append(memory)
        first_paths: dict[str, str] = {}  # by the hash of a text
        numbers: dict[str, int] = {}

        def take(memory: ForeignMemory) -> None:
            # The path is the same at every import: imports/TOOL/slug-of-its-id-HASH.md
            slug = "-".join("".join(char if char.isalnum() else " " for char in memory.id.lower()).split())
            name = sha256(f"{tool}\0{memory.id}".encode("utf-8", "replace")).hexdigest()[:12]
            path, digest = f"{FOLDER}/{tool}/{slug[:50] or 'memory'}-{name}.md", body_hash(memory.text)
            known = self.documents.at(COLLECTION, path)
            others = [document for document in self.documents.holding(digest) if document.inactive is None]
            outcome = "updated" if known else "imported"
            if known and known.hash == digest and known.inactive is None:
                outcome = "unchanged"
            elif (known and known.inactive is not None) or is_forgotten_text(
                self.documents, self.forgotten_texts, memory.text
            ):
                outcome = "forgotten"
            elif others or first_paths.get(digest, path) != path:
                outcome = "duplicates"
            else:
                report.suspicious += has_injection(memory.text)
                if not dry_run:
                    self._store(path, memory, report, is_new=known is None)
            setattr(report, outcome, getattr(report, outcome) + 1)
            first_paths.setdefault(digest, path)
            if document := self.documents.at(COLLECTION, path):
                numbers[memory.id] = document.id

        if dry_run:
            deque(map(take, memories), maxlen=0)
        else:
            deque(apply_in_chunks(self.transactions, memories, take), maxlen=0)
            self._relate(tool, memories, numbers, report)
        return report

    def _store(self, path: str, memory: ForeignMemory, report: ImportReport, *, is_new: bool) -> None:
        """Store a memory at *path*, with its facts; pin and snooze a new one, later changes are the user's."""
        now_ms = self.clock.now_ms()
        authored_ms, until = parse_iso(memory.authored_at), parse_iso(memory.snoozed_until)
        first = next((line for line in (memory.title or memory.text).splitlines() if line.strip()), memory.id)
        number = self.memories.write(
            path,
            title_of(first.lstrip("# ").strip()) or memory.id,
            memory.text,
            memory.content_type,
            memory.confidence,
            iso_utc(now_ms if authored_ms is None else min(authored_ms, now_ms)),
            tags=tuple(dict.fromkeys(memory.tags)),
            domain=memory.project or None,
            origin=Origin.IMPORTED,
        )
        self.triples.forget(number)
        mentioned: dict[str, Entity] = {}
        for fact in memory.facts:
            if not (name_words(fact.subject) and fact.predicate):
                report.leave_out("fact without a subject")
                continue
            kind = fact.kind.lower() if fact.kind.lower() in KINDS else CONCEPT
            subject = Entity(entity_id(fact.subject, kind), fact.subject, kind)
            mentioned[subject.id] = subject
            text = redact(f"{fact.subject} {fact.predicate} {fact.object}")
            days, confidence = (fact.valid_from, fact.valid_to), min(1.0, max(_LEAST, fact.confidence))
            triple = Triple(subject, fact.predicate, redact(fact.object), number, *days, confidence, text)
            try:
                report.facts += self.triples.add([triple])
            except InvalidInput:  # for example an end before the beginning
                report.leave_out("invalid fact")
        if mentioned:
            self.entities.set_mentions(number, list(mentioned.values()))
        if is_new and memory.pinned:
            self.documents.pin(number, True)
            self.acts.add([ActEntry(number, Act.PIN, self.caller, iso_utc(now_ms), "imported")])
            report.pinned += 1
        if is_new and until is not None and until > now_ms:
            self.documents.snooze(number, iso_utc(until))
            self.acts.add([ActEntry(number, Act.SNOOZE, self.caller, iso_utc(now_ms), "imported")])
            report.snoozed += 1

    def _relate(
        self, tool: str, memories: Iterable[ForeignMemory], numbers: dict[str, int], report: ImportReport
    ) -> None:
        now = iso_utc(self.clock.now_ms())
        relations = []
        for memory in memories:
            for relation in memory.relations:
                source, target = numbers.get(memory.id), numbers.get(relation.target)
                if source is None or target is None or source == target:
                    report.leave_out("relation to an item without a counterpart")
                    continue
                kind = _KINDS.get(relation.kind.lower().replace(" ", "_"), RelationKind.SEMANTIC)
                details = {"reasoning": "", "kind": relation.kind}
                weight = min(1.0, max(_LEAST, relation.weight))
                relations.append(Relation(source, target, kind, weight, f"import {tool}", now, details))
        with self.transactions.writing():
            report.relations += self.relations.put(relations)


@dataclass(slots=True)
class ImportedSource:
    """
    One source in one collection: its served documents, with the times of the first and the last, and of the last import.

    A source is a program whose conversations were mined, or a tool whose memories were imported.
    """

    source: str
    collection: str
    documents: int
    first: str
    last: str
    imported_at: str


def imported_sources(documents: DocumentStore, configured: Collection[str]) -> list[ImportedSource]:
    """Return the sources by collection and name; a *configured* collection has files, so nothing is imported into it."""
    served: dict[tuple[str, str], list[Document]] = {}
    for name, document in imported_documents(documents, configured):
        if document.inactive is None:
            served.setdefault((document.collection, name), []).append(document)
    return [
        ImportedSource(
            name,
            collection,
            len(imported),
            min(document.authored_at for document in imported),
            max(document.authored_at for document in imported),
            max(document.indexed_at for document in imported),
        )
        for (collection, name), imported in sorted(served.items())
    ]


def imported_documents(
    documents: DocumentStore, configured: Collection[str]
) -> Iterator[tuple[str, Document]]:
    """Yield each imported document whose text the vault has, served or not, after the name of its source."""
    withdrawn = (document.collection for document in documents.latest(active=False))
    for collection in sorted({*documents.collections(), *withdrawn}.difference(configured)):
        for document in documents.sources(collection).values():
            name = ""
            if document.origin is Origin.IMPORTED and document.stamp is None:
                if document.collection == COLLECTION:
                    name = document.path.split("/")[1] if document.path.startswith(f"{FOLDER}/") else ""
                elif conversation_of_path(document.path):  # not one that was derived from others
                    name = document.path.partition("/")[0]
            if name and document.inactive is not InactiveReason.FORGOTTEN:
                yield name, document
