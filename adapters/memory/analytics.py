from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeVar

from clawmem.ports.analytics import COLUMNS, Cell, Question, Table
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import Document, EmbedState
from clawmem.ports.telemetry import Recall

Row = tuple[Cell, ...]
Item = TypeVar("Item")
Key = TypeVar("Key", str, tuple[str, ...])

AGES = (0, 7, 30, 90, 365)  # bounds of the columns of `Question.AGES` in days


class MemoryAnalytics:
    """Reference ``Analytics`` in plain Python over lists. Exports JSON lines."""

    def __init__(self) -> None:
        self._documents: dict[int, Document] = {}
        self._recalls: list[Recall] = []

    def load(self, documents: Iterable[Document], recalls: Iterable[Recall]) -> None:
        self._documents |= {document.id: document for document in documents}
        self._recalls += recalls

    def ask(self, question: Question, *, now: str, limit: int | None = None) -> Table:
        answers: dict[Question, Callable[[], Iterable[Row]]] = {
            Question.MOST_RECALLED: self._most_recalled,
            Question.NEVER_RECALLED: lambda: self._never_recalled(now),
            Question.GROWTH: self._growth,
            Question.AGES: lambda: self._ages(now),
            Question.STALENESS: lambda: self._staleness(now),
            Question.COVERAGE: self._coverage,
            Question.INACTIVE: self._inactive,
            Question.USE: self._use,
            Question.SPEED: lambda: self._speed(lambda recall: (recall.verb,)),
            Question.DAYS: lambda: self._speed(lambda recall: (recall.asked_at[:10], recall.verb)),
            Question.DEGRADED: self._degraded,
        }
        return Table(COLUMNS[question], tuple(answers[question]())[:limit])

    def export(self, folder: str) -> list[str]:
        rows: dict[str, Iterable[Any]] = {
            "documents": self._documents.values(),
            "recalls": self._recalls,
            "hits": (hit for recall in self._recalls for hit in recall.hits),
        }
        return [_write(Path(folder) / f"{name}.jsonl", found) for name, found in rows.items()]

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    # -- documents ----------------------------------------------------------------------------------

    def _most_recalled(self) -> list[Row]:
        rows: list[tuple[Any, ...]] = []
        for document, recalls in self._recalls_of_served():
            questions = {recall.query_hash for recall in recalls}
            ranks = [hit.rank for r in recalls for hit in r.hits if hit.document_id == document.id]
            last = max(recall.asked_at for recall in recalls)
            rows.append((*_named(document), len(recalls), len(questions), min(ranks), last))
        return sorted(rows, key=lambda row: (-row[3], -row[4], row[0]))

    def _never_recalled(self, now: str) -> list[Row]:
        recalled = {document.id for document, _ in self._recalls_of_served()}
        never = [document for document in self._served() if document.id not in recalled]
        never.sort(key=lambda document: (document.authored_at, document.display_path))
        return [(*_named(d), d.authored_at, _age_days(d, now)) for d in never]

    def _growth(self) -> Iterator[Row]:
        bases: dict[str, Callable[[Document], str]] = {
            "authored": lambda document: document.authored_at,
            "indexed": lambda document: document.indexed_at,
        }
        for basis, time in bases.items():
            rows = [row for part in self._by_collection(self._served()) for row in _months(part, time)]
            yield from sorted((basis, *row) for row in rows)

    def _ages(self, now: str) -> Iterator[Row]:
        for part in self._by_collection(self._served()):
            ages = [_age_days(document, now) for document in part]
            columns = Counter(sum(age >= bound for bound in AGES) for age in ages)
            counts = [columns[number] for number in range(len(AGES) + 1)]
            yield (part[0].collection, *counts, _percentile(ages, 0.5))

    def _staleness(self, now: str) -> list[Row]:
        recalled = {document.id for document, _ in self._recalls_of_served()}
        rows: list[tuple[Any, ...]] = []
        for content_type, part in _grouped(self._served(), lambda document: document.content_type):
            ages = [_age_days(document, now) for document in part]
            never = sum(document.id not in recalled for document in part)
            overdue = sum(d.review_by is not None and d.review_by <= now for d in part)
            rows.append((content_type, len(part), _percentile(ages, 0.5), max(ages), never, overdue))
        return sorted(rows, key=lambda row: (-row[2], row[0]))

    def _coverage(self) -> Iterator[Row]:
        recalls = {document.id: len(recalls) for document, recalls in self._recalls_of_served()}
        for place, part in _grouped(self._served(), lambda d: (d.collection, d.content_type)):
            pinned = sum(document.pinned for document in part)
            unembedded = sum(document.embed_state is not EmbedState.SYNCED for document in part)
            counts = [recalls[document.id] for document in part if document.id in recalls]
            size = sum(map(_bytes, part))
            yield (*place, len(part), size, pinned, unembedded, len(counts), sum(counts))

    def _inactive(self) -> Iterator[Row]:
        gone = [document for document in self._documents.values() if document.inactive]
        for place, part in _grouped(gone, lambda d: (d.collection, str(d.inactive))):
            yield (*place, len(part), sum(map(_bytes, part)))

    # -- recalls ------------------------------------------------------------------------------------

    def _use(self) -> Iterator[Row]:
        given = [(recall, document) for document, recalls in self._recalls_of_served() for recall in recalls]
        for place, part in _grouped(
            given, lambda pair: (pair[0].asked_at[:7], pair[1].collection, pair[1].content_type)
        ):
            yield (*place, len({r.id for r, _ in part}), len({d.id for _, d in part}))

    def _speed(self, key: Callable[[Recall], tuple[str, ...]]) -> Iterator[Row]:
        for place, part in _grouped(self._recalls, key):
            unanswered = sum(not recall.hits for recall in part)
            degraded = sum(bool(recall.degraded) for recall in part)
            took = [recall.took_ms for recall in part]
            times = (_percentile(took, 0.5), _percentile(took, 0.95), max(took))
            yield (*place, len(part), unanswered, degraded, *times)

    def _degraded(self) -> list[Row]:
        asked = Counter(recall.verb for recall in self._recalls)
        missing = [(recall.verb, leg, recall.asked_at) for recall in self._recalls for leg in recall.degraded]
        rows: list[tuple[Any, ...]] = []
        for (verb, leg), part in _grouped(missing, lambda row: row[:2]):
            rows.append((verb, leg, len(part), len(part) / asked[verb], max(at for _, _, at in part)))
        return sorted(rows, key=lambda row: (-row[2], row[0], row[1]))

    # -- both ---------------------------------------------------------------------------------------

    def _served(self) -> list[Document]:
        return [document for document in self._documents.values() if document.inactive is None]

    def _recalls_of_served(self) -> list[tuple[Document, list[Recall]]]:
        """Return every active document that was recalled, with its recalls."""
        found: defaultdict[int, list[Recall]] = defaultdict(list)
        for recall in self._recalls:
            for document_id in {hit.document_id for hit in recall.hits}:
                found[document_id].append(recall)
        return [(document, found[document.id]) for document in self._served() if document.id in found]

    def _by_collection(self, documents: Iterable[Document]) -> list[list[Document]]:
        return [part for _, part in _grouped(documents, lambda document: document.collection)]


def _months(documents: Sequence[Document], time: Callable[[Document], str]) -> Iterator[Row]:
    """Return, for one collection, rows of month, collection, growth in the month, and totals at its end."""
    months = _grouped(documents, lambda document: time(document)[:7])
    counts = [len(part) for _, part in months]
    sizes = [sum(map(_bytes, part)) for _, part in months]
    totals = zip(accumulate(counts), accumulate(sizes), strict=True)
    for (month, part), count, size, total in zip(months, counts, sizes, totals, strict=True):
        yield (month, part[0].collection, count, size, *total)


def _grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> list[tuple[Key, list[Item]]]:
    groups: defaultdict[Key, list[Item]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return sorted(groups.items(), key=lambda group: group[0])


def _named(document: Document) -> tuple[str, str, str]:
    return document.display_path, document.collection, document.content_type


def _bytes(document: Document) -> int:
    return document.stamp.size if document.stamp else document.body_length


def _age_days(document: Document, now: str) -> int:
    return (datetime.fromisoformat(now) - datetime.fromisoformat(document.authored_at)).days


def _percentile(values: Iterable[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[math.ceil(share * len(ordered)) - 1]


def _write(path: Path, rows: Iterable[Any]) -> str:
    try:
        path.write_text("".join(f"{json.dumps(_spelt_out(row))}\n" for row in rows), "utf-8")
    except OSError as error:
        raise InvalidInput("INVALID_PATH", f"{path} cannot be written: {error.strerror}.") from error
    return str(path)


def _spelt_out(value: Any) -> Any:
    """Convert named tuples to dictionaries, recursively."""
    if not isinstance(value, tuple):
        return value
    if hasattr(value, "_asdict"):
        return {name: _spelt_out(part) for name, part in value._asdict().items()}
    return [_spelt_out(part) for part in value]
