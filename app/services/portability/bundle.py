"""A bundle: a vault as one file that other programs can read, too."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from clawmem.app.services.portability.notes import Selection, selected_files
from clawmem.domain.documents.identity import body_hash
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import BundleDamaged, VaultError, VaultFull, VaultReadOnly
from clawmem.ports.records import InactiveReason
from clawmem.ports.storage import BundleReader, BundleWriter, RecordTable, Value, VaultRecords

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
    writer: BundleWriter,
    documents: DocumentStore,
    records: VaultRecords,
    selection: Selection,
    *,
    settings: str,
) -> tuple[int, list[str]]:
    """
    Write the *selection* of *documents*, those of a copied vault; return their number and those whose files are gone.

    A part of a vault has none of the latter; the whole has their texts, with its history.

    *records* reads the file of that copy, and changes it. *settings* is the text of the config file.
    """
    notes: dict[str, dict[str, Value]] = {}
    ids: list[int] = []
    for document, file in selected_files(documents, selection):
        writer.add(f"{_NOTES}{file.name}", [file.text.encode("utf-8", "surrogatepass")])
        notes.setdefault(document.hash, {"note": file.name, "start": file.start})
        ids.append(document.id)
    away = [*filter(selection.holds, documents.latest(active=False))]
    if is_part := bool(selection.collections or selection.since):
        away = [document for document in away if document.inactive is not InactiveReason.REMOVED]
    ids += [document.id for document in away]
    records.keep(ids if is_part else None)
    for table in records.tables():
        writer.add(f"{_RECORDS}{table.name}{_LINES}", _lines(table, notes))
    writer.add(_SETTINGS, [settings.encode()])
    writer.add(_README, [_ABOUT.encode()])
    forgotten = sum(document.inactive is InactiveReason.FORGOTTEN for document in away)
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "schema": records.schema(),
        "sequences": dict(records.sequences()),
        "collections": sorted(selection.collections),
        "since": selection.since,
        "documents": len(ids) - len(away),
        "forgotten": forgotten,
    }
    writer.finish(manifest)
    removed = [note.display_path for note in away if note.inactive is InactiveReason.REMOVED]
    return len(ids) - len(away), removed


def _tables_in(reader: BundleReader) -> Iterator[RecordTable]:
    """Yield the tables; reading them raises ValueError, TypeError or KeyError if a line cannot be read."""
    for name in reader.names():
        if name.startswith(_RECORDS):
            lines = reader.lines(name)
            columns = tuple(map(str, json.loads(next(lines, b""))))
            rows = (tuple(_read(value, reader) for value in json.loads(line)) for line in lines)
            table = name.removeprefix(_RECORDS).removesuffix(_LINES)
            yield RecordTable(table, columns, map(_whole_body, rows) if table == CONTENT else rows)


def _lines(table: RecordTable, notes: Mapping[str, Mapping[str, Value]]) -> Iterator[bytes]:
    yield _line(table.columns)
    for row in table.rows:
        if table.name == CONTENT and str(row[0]) in notes:
            yield _line([row[0], notes[str(row[0])]])
        else:
            yield _line([_written(value) for value in row])


def _written(value: Value) -> object:
    return {"base64": b64encode(value).decode()} if isinstance(value, bytes) else value


def _read(value: Any, reader: BundleReader) -> Value:
    if not isinstance(value, dict):
        return value if isinstance(value, str | int | float) else None
    if "note" in value:
        text = reader.content(f"{_NOTES}{value['note']}").decode("utf-8", "surrogatepass")
        return text[int(value["start"]) :]
    return b64decode(value["base64"], validate=True)


def _whole_body(row: tuple[Value, ...]) -> tuple[Value, ...]:
    digest, body = row
    if not isinstance(body, str) or body_hash(body) != digest:
        raise ValueError(f"the text of {digest!r} is another one")
    return row


def _line(value: object) -> bytes:
    return f"{json.dumps(value, separators=(',', ':'), sort_keys=True)}\n".encode()


Load = Callable[[Path, Iterable[RecordTable], Mapping[str, int]], None]


def restore_records(reader: BundleReader, target: Path, schema: int, load: Load) -> str:
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
        remedy = "Run: pip install --upgrade clawmem"
        raise BundleDamaged(reader.location, reason, remedy, code="BUNDLE_TOO_NEW")
    try:
        load(target, _tables_in(reader), dict(manifest["sequences"]))
        return reader.content(_SETTINGS).decode()
    except (BundleDamaged, VaultFull, VaultReadOnly):
        raise
    except (VaultError, ValueError, TypeError, KeyError, IndexError, RecursionError, StopIteration) as error:
        raise BundleDamaged(reader.location, f"its records cannot be read ({error})") from error
