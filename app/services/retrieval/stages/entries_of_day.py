"""Notes with an entry of a day: diaries of a month and logs, whose own date is another."""

from __future__ import annotations

from collections.abc import Mapping

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.domain.retrieval.by_date import period_name
from clawmem.domain.retrieval.excerpts import entry_of
from clawmem.domain.retrieval.temporal import TimeRange
from clawmem.ports.records import Document, Grain, LexicalQuery, Term
from clawmem.ports.stores import SearchableDocuments

MOST_ENTRIES = 100  # lines with the date of the day
DAY = len("2026-03-31")


def with_entries(
    vault: SearchableDocuments,
    request: RetrievalRequest,
    named: TimeRange | None,
    written: Mapping[int, Document],
) -> Mapping[int, Document]:
    """Return *written*, and the notes with a section whose heading is the date of the *named* day, such as 2026-03-31."""
    day = period_name(named) if named else ""
    if named is None or len(day) != DAY:
        return written
    dated = LexicalQuery(tuple(map(Term, day.split("-"))), every=True)
    hits = vault.lexical.search(dated, Grain.LINE, MOST_ENTRIES, request.scope)
    ids = {hit.key.document_id for hit in hits} - written.keys()
    bodies = vault.documents.bodies(ids) if ids else {}
    asked = request.question
    having = {n for n, body in bodies.items() if entry_of(body, named, now_ms=asked.now_ms, zone=asked.zone)}
    found = vault.documents.many(having) if having else {}
    return {**written, **{n: one for n, one in found.items() if one.inactive is None}}
