"""A bundle: a vault as one file that other programs can read, too."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from clawmem.app.services.maintenance.finding import spread
from clawmem.app.services.portability.notes import Selection, selected_files
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.receipts import unpack_if_readable
from clawmem.app.services.retrieval.request import RetrievalRequest, read_request
from clawmem.domain.documents.identity import body_hash
from clawmem.domain.documents.times import parse_iso
from clawmem.domain.retrieval.query_forms import MAX_QUERY
from clawmem.ports.errors import BundleDamaged, VaultError, VaultFull, VaultReadOnly
from clawmem.ports.records import InactiveReason
from clawmem.ports.storage import BundleReader, BundleWriter, RecordTable, Value, VaultRecords
from clawmem.ports.vault import Vault

FORMAT, VERSION = "clawmem-bundle", 1
CONTENT = "content"
_RECORDS, _NOTES, _LINES = "records/", "notes/", ".jsonl"
_SETTINGS, _QUESTIONS, _README = "settings.yaml", "questions.jsonl", "README.md"
_ABOUT = """# A clawmem bundle

- `notes/`: every note as Markdown, also what programs wrote (`notes/_clawmem/`).
- `records/`: the tables of the vault as JSON lines; the first line of each names the columns. A body that is a file in
  `notes/` is given as `{"note": file, "start": characters before it}`.
- `settings.yaml`: the config file. `questions.jsonl`: questions with their answers, for the drill.
- `manifest.json`: the schema version, and size and SHA-256 of every part.

Make a vault from it: `clawmem restore FILE`. Prove that this would work: `clawmem restore FILE --drill`.
"""


class AskedQuestion(NamedTuple):
    """A question, the first ten documents of its answer, and the retrievers that were missing."""

    question: str
    files: Sequence[str]
    degraded: Sequence[str] = ()


class BundleReport(NamedTuple):
    """Number of documents, of forgotten places and of questions in a bundle."""

    documents: int
    forgotten: int
    questions: int


def write_bundle(
    writer: BundleWriter,
    vault: Vault,
    records: VaultRecords,
    selection: Selection,
    *,
    settings: str,
    questions: Sequence[AskedQuestion],
    asked_at: str,
    receipts: bool,
) -> BundleReport:
    """
    Write the *selection* of *vault*, a copy that is changed, and whose file *records* reads.

    Args:
        settings: The text of the config file.
        asked_at: The time for which *questions* were asked.
    """
    notes: dict[str, dict[str, Value]] = {}
    count = 0
    for document, file in selected_files(vault, selection):
        writer.add(f"{_NOTES}{file.name}", [file.text.encode("utf-8", "surrogatepass")])
        notes.setdefault(document.hash, {"note": file.name, "start": file.start})
        count += 1
    records.keep(None if selection.is_everything else _kept(vault, selection), receipts=receipts)
    for table in records.tables():
        writer.add(f"{_RECORDS}{table.name}{_LINES}", _lines(table, notes))
    writer.add(_SETTINGS, [settings.encode()])
    writer.add(_QUESTIONS, (_line(one._asdict()) for one in questions))
    writer.add(_README, [_ABOUT.encode()])
    forgotten = sum(one.inactive is InactiveReason.FORGOTTEN for one in vault.documents.latest(active=False))
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "schema": records.schema(),
        "sequences": dict(records.sequences()),
        "collections": sorted(selection.collections),
        "since": selection.since,
        "asked_at": asked_at,
        "documents": count,
        "forgotten": forgotten,
    }
    writer.finish(manifest)
    return BundleReport(count, forgotten, len(questions))


def check_version(reader: BundleReader, schema: int) -> None:
    """
    Refuse a file that is no bundle of this clawmem, whose schema is *schema*, or of an earlier one.

    Raises:
        BundleDamaged: It is no bundle, or a later clawmem wrote it.
    """
    manifest = reader.manifest
    found = [manifest.get("schema"), manifest.get("version")]
    if manifest.get("format") != FORMAT or not all(isinstance(one, int) and one > 0 for one in found):
        raise BundleDamaged(reader.location, "its manifest is not that of a clawmem bundle")
    if manifest["schema"] > schema or manifest["version"] > VERSION:
        reason = f"it has schema {manifest['schema']}, newer than this clawmem supports ({schema})"
        remedy = "Run: pip install --upgrade clawmem"
        raise BundleDamaged(reader.location, reason, remedy, code="BUNDLE_TOO_NEW")


def settings_in(reader: BundleReader) -> str:
    """Return the text of the config file."""
    return reader.content(_SETTINGS).decode()


def questions_in(reader: BundleReader) -> list[AskedQuestion]:
    """Return the questions of the drill; raise ValueError or TypeError if they cannot be read."""
    return [AskedQuestion(**json.loads(line)) for line in reader.lines(_QUESTIONS)]


def tables_in(reader: BundleReader) -> Iterator[RecordTable]:
    """Yield the tables; reading them raises ValueError, TypeError or KeyError if a line cannot be read."""
    for name in reader.names():
        if name.startswith(_RECORDS):
            lines = reader.lines(name)
            columns = tuple(map(str, json.loads(next(lines, b""))))
            rows = (tuple(_read(value, reader) for value in json.loads(line)) for line in lines)
            table = name.removeprefix(_RECORDS).removesuffix(_LINES)
            yield RecordTable(table, columns, map(_whole_body, rows) if table == CONTENT else rows)


def _kept(vault: Vault, selection: Selection) -> list[int]:
    served = (one.id for one in vault.documents.latest() if selection.holds(one))
    return [*served, *(one.id for one in vault.documents.latest(active=False) if selection.holds_place(one))]


def _lines(table: RecordTable, notes: Mapping[str, Mapping[str, Value]]) -> Iterator[bytes]:
    yield _line(table.columns)
    for row in table.rows:
        if table.name == CONTENT and str(row[0]) in notes:
            yield _line([row[0], notes[str(row[0])]])
        else:
            yield _line(list(map(_written, row)))


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


Load = Callable[[Path, int, Iterable[RecordTable], Mapping[str, int]], None]


class RestoredBundle(NamedTuple):
    """The contents of a bundle beside its records: config file, and questions of the drill."""

    settings: str
    questions: list[AskedQuestion]
    asked_at: str


def restore_records(reader: BundleReader, target: Path, schema: int, load: Load) -> RestoredBundle:
    """
    Make the new vault file *target* from a bundle; its indexes are still empty.

    Args:
        schema: The newest schema that is known.
        load: Writes tables to a new file.

    Raises:
        BundleDamaged: The file is no bundle of this clawmem.
        VaultFull, VaultReadOnly: The file cannot be written.
    """
    check_version(reader, schema)
    manifest = reader.manifest
    try:
        load(target, manifest["schema"], tables_in(reader), dict(manifest["sequences"]))
        return RestoredBundle(settings_in(reader), questions_in(reader), str(manifest["asked_at"]))
    except (BundleDamaged, VaultFull, VaultReadOnly):
        raise
    except (VaultError, ValueError, TypeError, KeyError, IndexError, RecursionError, StopIteration) as error:
        raise BundleDamaged(reader.location, f"its records cannot be read ({error})") from error


QUESTIONS = 50
COMPARED = 10
_RECEIPTS = 1_000  # receipts that are searched for different questions
_PLACE = attrgetter("collection", "path")

Ask = Callable[[RetrievalRequest], Answer]


def recorded_questions(vault: Vault, *, receipts: bool) -> list[str]:
    """
    Return up to `QUESTIONS` questions: those of receipts, newest first, then the titles of notes.

    Without *receipts*, only titles are returned.
    """
    found = (*(_of_receipts(vault) if receipts else ()), *_titles(vault))
    return [*dict.fromkeys(one for one in found if one.strip() and len(one) <= MAX_QUERY)][:QUESTIONS]


def newest_moment(vault: Vault) -> str:
    """Return the time of the last change of a document, so that a later export asks the same questions."""
    return max((max(one.indexed_at, one.modified_at) for one in vault.documents.latest()), default="")


def asked(ask: Ask, questions: Sequence[str], at: str) -> list[AskedQuestion]:
    """Return the *questions* with their answers, as if they were asked *at* that time."""
    now_ms = parse_iso(at) or 0
    found = ((one, ask(read_request(one, now_ms=now_ms, limit=COMPARED))) for one in questions)
    return [
        AskedQuestion(
            one, [result.document.display_path for result in answer.results], sorted(answer.trace.degraded)
        )
        for one, answer in found
    ]


def _of_receipts(vault: Vault) -> Iterator[str]:
    for stored in vault.receipts.latest(_RECEIPTS):
        if receipt := unpack_if_readable(stored.content):
            yield receipt.question


def _titles(vault: Vault) -> list[str]:
    return [one.title for one in spread(sorted(vault.documents.latest(), key=_PLACE), QUESTIONS)]
