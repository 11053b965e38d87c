"""Report for the owner of a vault: documents recalled and never recalled, growth, age and response times."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing

from clawmem.app.services.documents.listing import every_served
from clawmem.domain.documents.times import DAY_MS, iso_utc, parse_iso
from clawmem.ports.analytics import Analytics, Question, Table, VaultReport
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import Document
from clawmem.ports.telemetry import Telemetry

Progress = Callable[[int, int], None]

MAX_TOP = 1000

_DAYS = re.compile("([0-9]{1,6}) ?d")
_RANKED = frozenset({Question.MOST_RECALLED, Question.NEVER_RECALLED})  # may list nearly every document


class Report:
    """Loads documents and telemetry into an `Analytics` and runs every query; changes nothing."""

    def __init__(
        self,
        documents: DocumentStore,
        telemetry: Telemetry,
        clock: Clock,
        open_analytics: Callable[[], Analytics],
    ) -> None:
        self._documents = documents
        self._telemetry = telemetry
        self._clock = clock
        self._open_analytics = open_analytics

    def __call__(
        self,
        *,
        since: str | None = None,
        top: int = 10,
        export: str | None = None,
        progress: Progress = lambda done, total: None,
    ) -> VaultReport:
        """
        Return the answers to every question.

        Args:
            since: Only recalls from then on, as `read_since` returns it.
            top: The number of documents listed as most and never recalled.
            export: An existing folder to which the loaded data is written, too.

        Raises:
            InvalidInput: the folder cannot be written.
            ExtraMissing: the packages of the analytics are not installed.
            VaultError: the vault cannot be read.
        """
        now = iso_utc(self._clock.now_ms())
        with closing(self._open_analytics()) as analytics:
            analytics.load(self._facts(progress), self._telemetry.recalls(since))
            files = analytics.export(export) if export else []
            tables = {
                question: analytics.ask(question, now=now, limit=top if question in _RANKED else None)
                for question in Question
            }
        documents = _sum(tables[Question.COVERAGE], "documents")
        return VaultReport(now, since, documents, _sum(tables[Question.SPEED], "recalls"), tables, files)

    def _facts(self, progress: Progress) -> Iterator[Document]:
        """Yield every document; a review date that cannot be parsed is dropped."""
        total = sum(self._documents.collections().values())
        for done, document in enumerate(self._every_document(), start=1):
            progress(min(done, total), total)
            review_ms = parse_iso(document.review_by or "")
            yield document._replace(review_by=None if review_ms is None else iso_utc(review_ms))

    def _every_document(self) -> Iterator[Document]:
        yield from every_served(self._documents)
        yield from self._documents.latest(active=False)


def read_since(text: str, now_ms: int) -> str:
    """
    Return the start of a period in the format of the records, from ``2026-05-01``, a full ISO time or ``30d``.

    Raises:
        InvalidInput: it has none of these forms, or is in the future.
    """
    days = _DAYS.fullmatch(text.strip())
    since_ms = now_ms - int(days[1]) * DAY_MS if days else parse_iso(text)
    if since_ms is None:
        raise InvalidInput(
            "INVALID_INPUT",
            f"--since {text!r} is no time. Give a day such as 2026-05-01, or a number of days such as 30d.",
        )
    if since_ms > now_ms:
        raise InvalidInput("OUT_OF_BOUNDS", f"--since {text!r} lies in the future. Give an earlier day.")
    return iso_utc(max(since_ms, 0))


def _sum(table: Table, column: str) -> int:
    return sum(record[column] for record in table.records())
