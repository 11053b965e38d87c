"""
Exports: the selected documents as Markdown files or as lines of memories, and a vault as one file, a bundle.

Imports of memories of other tools, which can be repeated and interrupted, and the sources of all imports.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from os import SEEK_END, SEEK_SET
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.documents.listing import every_served
from clawmem.app.services.indexing.embed import EmbedReport
from clawmem.app.services.indexing.publish import apply_in_chunks
from clawmem.app.services.indexing.update import LinkTargets, is_forgotten_text
from clawmem.domain.capture.notes import COLLECTION
from clawmem.domain.conversations.units import conversation_of_path
from clawmem.domain.documents.identity import body_hash, source_hash
from clawmem.domain.documents.links import note_links
from clawmem.domain.documents.markdown import Markdown
from clawmem.domain.documents.names import document_names
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.knowledge.entities import CONCEPT, KINDS, entity_id, name_words
from clawmem.domain.portability import (
    FOLDER,
    LEAST,
    file_of,
    front_matter_of,
    imported_relations,
    memory_path,
    memory_title,
    without_secrets,
)
from clawmem.domain.security.injections import has_injection
from clawmem.domain.security.redaction import redact
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore, PropertyStore, SuccessionStore
from clawmem.ports.errors import (
    BundleDamaged,
    InvalidInput,
    SourceUnreadable,
    VaultError,
    VaultFull,
    VaultReadOnly,
)
from clawmem.ports.files import FileSource
from clawmem.ports.imports import ForeignFact, ForeignMemory, ForeignRelation, Unmatched
from clawmem.ports.journal import Act, ActEntry, ActJournal, ForgottenTexts
from clawmem.ports.knowledge import Entity, EntityStore, RelationStore, Triple, TripleStore
from clawmem.ports.records import Document, InactiveReason, Origin
from clawmem.ports.storage import BundleReader, BundleWriter, RecordTable, Transactions, Value, VaultRecords


def note_files(
    store: DocumentStore,
    documents: Iterable[Document],
    files: FileSource | None = None,
    roots: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[tuple[Document, NoteFile]]:
    """
    Yield *documents* as files with different names, which every file system accepts and which lead nowhere else.

    A file below *roots* that is still as it was indexed is repeated with its name. Others are Markdown with the stored
    text and front matter.
    """
    taken: set[str] = set()
    for document in documents:
        body, head, data = store.body(document.id) or "", front_matter_of(document), b""
        if files and document.stamp and document.collection in roots:
            with suppress(SourceUnreadable):
                data = files.read(roots[document.collection], document.path)
        is_original = bool(data) and source_hash(data) == document.source_hash
        name = file_of(document, is_original=is_original)
        if name.casefold() in taken:
            stem, dot, ending = name.rpartition(".")
            name = f"{stem}~{document.id}{dot}{ending}"
        taken.add(name.casefold())
        text = (head + body).encode("utf-8", "surrogatepass")
        yield document, NoteFile(name, data if is_original else text, len(head))


def memory_lines(
    store: DocumentStore,
    properties: PropertyStore,
    triples: TripleStore,
    relations: RelationStore,
    newer: Mapping[int, Document],
    documents: Iterable[Document],
    private: Collection[int],
) -> Iterator[tuple[str, str]]:
    """
    Yield each document's path and JSON object of a memory, with facts and relations; ``import jsonl`` reads them.

    Documents without text and properties are left out. *newer* are the successors of superseded documents by id.
    """
    exported = {document.id: document for document in documents}
    for document in exported.values():
        body, declared = store.body(document.id) or "", properties.many([document.id])
        if not (body.strip() or declared):
            continue
        facts = [
            ForeignFact(
                triple.subject.name,
                triple.predicate,
                triple.object.name if isinstance(triple.object, Entity) else triple.object,
                triple.valid_from,
                triple.valid_to,
                triple.confidence,
                triple.subject.kind,
            )._asdict()
            for triple in triples.of_document(document.id)
        ]
        edges = [
            ForeignRelation(exported[edge.target].display_path, edge.kind.value, edge.weight)._asdict()
            for edge in relations.outbound([document.id], limit=1_000_000)
            if edge.target in exported
        ]
        memory = ForeignMemory(
            document.display_path,
            body,
            document.title,
            document.content_type,
            document.authored_at,
            tuple(tag for tag in document.tags if not tag.startswith("origin:")),
            document.confidence,
            document.is_pinned,
            document.snoozed_until or "",
            document.domain or "",
            aliases=document_names(document)[1:] if document.stamp else document.aliases,
            properties=tuple((name, value) for name, value, _ in declared.get(document.id, ())),
            private=document.id in private,
            superseded_by=newer[document.id].display_path if document.id in newer else "",
        )
        record = {**memory._asdict(), "facts": facts, "relations": edges}
        yield document.display_path, json.dumps(record, ensure_ascii=False)


class NoteFile(NamedTuple):
    """The file of a note; the stored body begins at the character ``start`` of its text."""

    name: str
    data: bytes
    start: int


_MARKS = {"backup": (68, b"CLWM"), "bundle": (-35, b"manifest.json"), "jsonl": (0, b'{"id": "')}
"""Position and bytes of what the files of a form have in common; the last file in a bundle is its manifest."""


def is_earlier(file: Path, form: str) -> bool:
    """Return whether *file* was written by clawmem in this form, judged by a few bytes."""
    position, mark = _MARKS.get(form, (0, b""))
    with suppress(OSError), file.open("rb") as opened:
        opened.seek(position, SEEK_END if position < 0 else SEEK_SET)
        return opened.read(len(mark)) == mark
    return False


# -- bundles ----------------------------------------------------------------------------------------

FORMAT, VERSION = "clawmem-bundle", 1
CONTENT = "content"
_RECORDS, _NOTES, _LINES = "records/", "notes/", ".jsonl"
_SETTINGS, _README = "settings.yaml", "README.md"
_ABOUT = """# A clawmem bundle

- `notes/`: every note as Markdown, also what programs wrote (`notes/_clawmem/`).
- `records/`: the tables of the vault as JSON lines; the first line of each names the columns. A body that is a file in
  `notes/` is given as `{"note": file, "start": characters before it}`.
- `settings.yaml`: the config file.
- `manifest.json`: the schema version, and size and SHA-256 of every part.

Make a vault from it: `clawmem import bundle FILE`.
"""


def write_bundle(
    writer: BundleWriter, documents: DocumentStore, records: VaultRecords, *, settings: str
) -> tuple[int, list[str]]:
    """
    Write the vault of *documents* and *records*; return the number of its documents and those whose files are gone.

    The bundle has the texts of the latter as well. *settings* is the text of the config file.
    """
    notes: dict[str, dict[str, Value]] = {}
    served = 0
    for document, file in note_files(documents, every_served(documents)):
        writer.add(f"{_NOTES}{file.name}", [file.data])
        notes.setdefault(document.hash, {"note": file.name, "start": file.start})
        served += 1
    away = documents.latest(active=False)
    for table in records.tables:
        writer.add(f"{_RECORDS}{table.name}{_LINES}", _lines(table, notes))
    writer.add(_SETTINGS, [settings.encode()])
    writer.add(_README, [_ABOUT.encode()])
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "schema": records.schema,
        "sequences": dict(records.sequences),
        "documents": served,
        "forgotten": sum(document.inactive is InactiveReason.FORGOTTEN for document in away),
    }
    writer.finish(manifest)
    return served, [note.display_path for note in away if note.inactive is InactiveReason.REMOVED]


def _tables_in(reader: BundleReader) -> Iterator[RecordTable]:
    """Yield the tables; reading them raises ValueError, TypeError or KeyError if a line cannot be read."""
    for name in reader.names:
        if name.startswith(_RECORDS):
            lines = reader.lines(name)
            columns = tuple(map(str, json.loads(next(lines, b""))))
            table = name.removeprefix(_RECORDS).removesuffix(_LINES)
            yield RecordTable(table, columns, _rows(reader, lines, table))


def _rows(reader: BundleReader, lines: Iterable[bytes], table: str) -> Iterator[tuple[Value, ...]]:
    for line in lines:
        row: list[Value] = []
        for value in json.loads(line):
            if isinstance(value, dict) and "note" in value:
                text = reader.content(f"{_NOTES}{value['note']}").decode("utf-8", "surrogatepass")
                row.append(text[int(value["start"]) :])
            elif isinstance(value, dict):
                row.append(b64decode(value["base64"], validate=True))
            else:
                row.append(value if isinstance(value, str | int | float) else None)
        if table == CONTENT:
            digest, body = row
            if not isinstance(body, str) or body_hash(body) != digest:
                raise ValueError(f"the text of {digest!r} is another one")
        yield tuple(row)


def _lines(table: RecordTable, notes: Mapping[str, Mapping[str, Value]]) -> Iterator[bytes]:
    in_notes = notes if table.name == CONTENT else {}
    for row in chain((table.columns,), table.rows):
        values = (row[0], in_notes[str(row[0])]) if str(row[0]) in in_notes else row
        written = json.dumps(
            values,
            separators=(",", ":"),
            sort_keys=True,
            default=lambda value: {"base64": b64encode(value).decode()},
        )
        yield f"{written}\n".encode()


def restore_records(
    reader: BundleReader,
    target: Path,
    schema: int,
    load: Callable[[Path, Iterable[RecordTable], Mapping[str, int]], None],
) -> str:
    """
    Make the new vault file *target* from a bundle, with empty indexes; return the text of its config file.

    Args:
        schema: The newest schema that is known.
        load: Writes tables to a new file.

    Raises:
        BundleDamaged: The file is no bundle of this clawmem, or a later clawmem wrote it.
        VaultFull, VaultReadOnly: The file cannot be written.
    """
    manifest = reader.manifest
    versions = [manifest.get("schema"), manifest.get("version")]
    if manifest.get("format") != FORMAT or not all(
        isinstance(version, int) and version > 0 for version in versions
    ):
        raise BundleDamaged(reader.location, "its manifest is not that of a clawmem bundle")
    if manifest["schema"] > schema or manifest["version"] > VERSION:
        reason = f"it has schema {manifest['schema']}, newer than this clawmem supports ({schema})"
        raise BundleDamaged(reader.location, reason, "Install a newer clawmem.", code="BUNDLE_TOO_NEW")
    try:
        load(target, _tables_in(reader), dict(manifest["sequences"]))
        return reader.content(_SETTINGS).decode()
    except (BundleDamaged, VaultFull, VaultReadOnly):
        raise
    except (VaultError, ValueError, TypeError, KeyError, IndexError, RecursionError, StopIteration) as error:
        raise BundleDamaged(reader.location, f"its records cannot be read ({error})") from error


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

    def leave_out(self, kind: str, count: int = 1) -> None:
        """Count items of *kind* without a counterpart."""
        self.unmatched[kind] = self.unmatched.get(kind, 0) + count


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
    successions: SuccessionStore
    acts: ActJournal
    forgotten_texts: ForgottenTexts
    transactions: Transactions
    memories: Memories
    link_targets: LinkTargets
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
        memories, report.redacted = without_secrets(_matched(items, report))
        first_paths: dict[tuple[str, str], str] = {}  # by the hash of a text, and the title
        numbers: dict[str, int] = {}
        new: list[ForeignMemory] = []

        def take(memory: ForeignMemory) -> None:
            path, digest = memory_path(tool, memory), body_hash(memory.text)
            known = self.documents.at(COLLECTION, path)
            title = memory_title(memory)
            others = [
                document
                for document in self.documents.holding(digest)
                if document.inactive is None
                and (document.title == title or not document.path.startswith(f"{FOLDER}/{tool}/"))
            ]
            outcome = "updated" if known else "imported"
            if known and known.hash == digest and known.inactive is None:
                outcome = "unchanged"
            elif (known and known.inactive is not None) or is_forgotten_text(
                self.documents, self.forgotten_texts, memory.text
            ):
                outcome = "forgotten"
            elif others or first_paths.get((digest, title), path) != path:
                outcome = "duplicates"
            else:
                report.suspicious += has_injection(memory.text)
                if not dry_run:
                    self._store(path, memory, report, is_new=known is None)
            setattr(report, outcome, getattr(report, outcome) + 1)
            first_paths.setdefault((digest, title), path)
            if outcome == "imported":
                new.append(memory)
            if document := self.documents.at(COLLECTION, path):
                numbers[memory.id] = document.id

        if dry_run:
            deque(map(take, memories), maxlen=0)
        else:
            deque(apply_in_chunks(self.transactions, memories, take), maxlen=0)
            relations, unmatched = imported_relations(tool, memories, numbers, iso_utc(self.clock.now_ms()))
            if unmatched:
                report.leave_out("relation to an item without a counterpart", unmatched)
            self.link_targets.aim()
            with self.transactions.writing():
                report.relations += self.relations.put(relations)
                for memory in new:  # later changes are the user's
                    if successor := numbers.get(memory.superseded_by):
                        self.successions.decide(numbers[memory.id], successor)
                        why = f"imported: by {memory.superseded_by}"
                        act = ActEntry(
                            numbers[memory.id], Act.SUPERSEDE, self.caller, iso_utc(self.clock.now_ms()), why
                        )
                        self.acts.add([act])
        return report

    def _store(self, path: str, memory: ForeignMemory, report: ImportReport, *, is_new: bool) -> None:
        """Store a memory at *path*, with its facts; pin and snooze a new one, later changes are the user's."""
        now_ms = self.clock.now_ms()
        authored_ms, until = parse_iso(memory.authored_at), parse_iso(memory.snoozed_until)
        front_matter = "\n".join(f"{name}: {value}" for name, value in memory.properties)
        number = self.memories.write(
            path,
            memory_title(memory),
            memory.text,
            memory.content_type,
            memory.confidence,
            iso_utc(now_ms if authored_ms is None else min(authored_ms, now_ms)),
            tags=tuple(dict.fromkeys(memory.tags)),
            domain=memory.project or None,
            origin=Origin.IMPORTED,
            aliases=memory.aliases,
            properties=memory.properties,
            links=note_links(Markdown(memory.text), front_matter),
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
            days, confidence = (fact.valid_from, fact.valid_to), min(1.0, max(LEAST, fact.confidence))
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
        if is_new and memory.private:
            self.acts.add([ActEntry(number, Act.PRIVATE, self.caller, iso_utc(now_ms), "imported")])
        if is_new and until is not None and until > now_ms:
            self.documents.snooze(number, iso_utc(until))
            self.acts.add([ActEntry(number, Act.SNOOZE, self.caller, iso_utc(now_ms), "imported")])
            report.snoozed += 1


def _matched(items: Iterable[ForeignMemory | Unmatched], report: ImportReport) -> Iterator[ForeignMemory]:
    """Yield the memories among *items*, and count the others."""
    for item in items:
        if isinstance(item, Unmatched):
            report.leave_out(item.kind)
        else:
            yield item


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


def imported_sources(documents: DocumentStore) -> list[ImportedSource]:
    """Return the sources by collection and name."""
    served: dict[tuple[str, str], list[Document]] = {}
    for name, document in imported_documents(documents):
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


def imported_documents(documents: DocumentStore) -> Iterator[tuple[str, Document]]:
    """Yield each imported document, also one that is not served or was forgotten, after the name of its source."""
    withdrawn = (document.collection for document in documents.latest(active=False))
    for collection in sorted({*documents.collections(), *withdrawn}):
        for document in documents.sources(collection).values():
            name = ""
            if document.origin is Origin.IMPORTED and document.stamp is None:
                if document.collection == COLLECTION:
                    name = document.path.split("/")[1] if document.path.startswith(f"{FOLDER}/") else ""
                elif conversation_of_path(document.path):  # not one that was derived from others
                    name = document.path.partition("/")[0]
            if name:
                yield name, document
