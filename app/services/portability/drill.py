"""Questions of a bundle, whose answers prove that the restored vault finds the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter

from clawmem.app.services.maintenance.finding import spread
from clawmem.app.services.portability.bundle import AskedQuestion
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.receipts import unpack_if_readable
from clawmem.app.services.retrieval.request import RetrievalRequest, read_request
from clawmem.domain.documents.times import parse_iso
from clawmem.domain.retrieval.query_forms import MAX_QUERY
from clawmem.ports.stores import DocumentRecords, DocumentsWithAnswerLog

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
