"""Exports: the selected documents as Markdown files or as lines of memories, and a vault as one file, a bundle."""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from clawmem.app.services.documents.listing import every_served
from clawmem.domain.documents.identity import body_hash
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import BundleDamaged, VaultError, VaultFull, VaultReadOnly
from clawmem.ports.imports import ForeignFact, ForeignMemory, ForeignRelation
from clawmem.ports.knowledge import Entity, RelationStore, TripleStore
from clawmem.ports.records import Document, InactiveReason
from clawmem.ports.storage import BundleReader, BundleWriter, RecordTable, Value, VaultRecords

_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')  # refused by some file system, or no part of a name


def note_files(store: DocumentStore, documents: Iterable[Document]) -> Iterator[tuple[Document, NoteFile]]:
    """
    Yield *documents* as Markdown files with different names, which every file system accepts and which lead nowhere else.

    The front matter of a file is repeated. That of a machine-made note is made from its record.
    """
    taken: set[str] = set()
    for document in documents:
        body, head = store.body(document.id) or "", ""
        if document.stamp is None:
            fields = {
                "title": document.title,
                "type": document.content_type,
                "date": document.authored_at,
                "origin": str(document.origin),
                "confidence": document.confidence,
                "tags": list(document.tags),
            }
            lines = (f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in fields.items())
            head = f"---\n{''.join(lines)}---\n\n"
        elif document.front_matter.strip():
            fence = document.front_matter.strip("\n")
            head = f"---\n{fence}\n---\n"
        parts = (part for part in f"{document.collection}/{document.path}".split("/") if part)
        name = "/".join(_UNSAFE.sub("_", part).rstrip(". ") or "_" for part in parts)
        name += "" if name.lower().endswith((".md", ".markdown", ".txt")) else ".md"
        if name.casefold() in taken:
            stem, dot, ending = name.rpartition(".")
            name = f"{stem}~{document.id}{dot}{ending}"
        taken.add(name.casefold())
        yield document, NoteFile(name, head + body, len(head))


def memory_lines(
    store: DocumentStore, triples: TripleStore, relations: RelationStore, documents: Iterable[Document]
) -> Iterator[str]:
    """Yield each document as the JSON object of a memory, with its facts and relations; ``import jsonl`` reads them."""
    exported = {document.id: document for document in documents}
    for document in exported.values():
        body = store.body(document.id) or ""
        if not body.strip():
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
        )
        yield json.dumps({**memory._asdict(), "facts": facts, "relations": edges}, ensure_ascii=False)


class NoteFile(NamedTuple):
    """The Markdown file of a note; its body begins at the character ``start`` of ``text``."""

    name: str
    text: str
    start: int


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
        writer.add(f"{_NOTES}{file.name}", [file.text.encode("utf-8", "surrogatepass")])
        notes.setdefault(document.hash, {"note": file.name, "start": file.start})
        served += 1
    away = documents.latest(active=False)
    for table in records.tables():
        writer.add(f"{_RECORDS}{table.name}{_LINES}", _lines(table, notes))
    writer.add(_SETTINGS, [settings.encode()])
    writer.add(_README, [_ABOUT.encode()])
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "schema": records.schema(),
        "sequences": dict(records.sequences()),
        "documents": served,
        "forgotten": sum(document.inactive is InactiveReason.FORGOTTEN for document in away),
    }
    writer.finish(manifest)
    return served, [note.display_path for note in away if note.inactive is InactiveReason.REMOVED]


def _tables_in(reader: BundleReader) -> Iterator[RecordTable]:
    """Yield the tables; reading them raises ValueError, TypeError or KeyError if a line cannot be read."""
    for name in reader.names():
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
        remedy = "Install a newer clawmem."
        raise BundleDamaged(reader.location, reason, remedy, code="BUNDLE_TOO_NEW")
    try:
        load(target, _tables_in(reader), dict(manifest["sequences"]))
        return reader.content(_SETTINGS).decode()
    except (BundleDamaged, VaultFull, VaultReadOnly):
        raise
    except (VaultError, ValueError, TypeError, KeyError, IndexError, RecursionError, StopIteration) as error:
        raise BundleDamaged(reader.location, f"its records cannot be read ({error})") from error
