"""A vault from a bundle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from clawmem.app.services.maintenance.finding import spread
from clawmem.app.services.portability.bundle import (
    AskedQuestion,
    check_version,
    questions_in,
    settings_in,
    tables_in,
)
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.receipts import unpack_if_readable
from clawmem.app.services.retrieval.request import RetrievalRequest, read_request
from clawmem.domain.documents.times import parse_iso
from clawmem.domain.retrieval.query_forms import MAX_QUERY
from clawmem.ports.bundle import BundleDamaged, BundleReader, RecordTable
from clawmem.ports.errors import VaultError, VaultFull, VaultReadOnly
from clawmem.ports.stores import DocumentRecords, DocumentsWithAnswerLog

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
        BundleDamaged, BundleTooNew: The file is no bundle of this clawmem.
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


def recorded_questions(vault: DocumentsWithAnswerLog, *, receipts: bool) -> list[str]:
    """
    Return up to `QUESTIONS` questions: those of receipts, newest first, then the titles of notes.

    Without *receipts*, only titles are returned.
    """
    found = (*(_of_receipts(vault) if receipts else ()), *_titles(vault))
    return [*dict.fromkeys(one for one in found if one.strip() and len(one) <= MAX_QUERY)][:QUESTIONS]


def newest_moment(vault: DocumentRecords) -> str:
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


def _of_receipts(vault: DocumentsWithAnswerLog) -> Iterator[str]:
    for stored in vault.receipts.latest(_RECEIPTS):
        if receipt := unpack_if_readable(stored.content):
            yield receipt.question


def _titles(vault: DocumentRecords) -> list[str]:
    return [one.title for one in spread(sorted(vault.documents.latest(), key=_PLACE), QUESTIONS)]
