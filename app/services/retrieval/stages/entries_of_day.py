"""Notes of a time: those with an entry of a day, whose own date is another, and those of the kind that is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.domain.documents.names import file_name
from clawmem.domain.retrieval.by_date import kinds_in, names_the_same, period_name
from clawmem.domain.retrieval.excerpts import entry_of
from clawmem.domain.retrieval.query_forms import content_words
from clawmem.domain.text.dates import TimeRange
from clawmem.ports.documents import DocumentStore
from clawmem.ports.indexes import LexicalIndex
from clawmem.ports.records import Document, Grain, LexicalQuery, Term

MOST_ENTRIES = 100  # lines with the date of the day
DAY = len("2026-03-31")


def with_entries(
    documents: DocumentStore,
    lexical: LexicalIndex,
    request: RetrievalRequest,
    named: TimeRange | None,
    written: Mapping[int, Document],
) -> Mapping[int, Document]:
    """Return *written*, and the notes with a section whose heading is the date of the *named* day, such as 2026-03-31."""
    day = period_name(named) if named else ""
    if named is None or len(day) != DAY:
        return written
    dated = LexicalQuery(tuple(map(Term, day.split("-"))), every=True)
    hits = lexical.search(dated, Grain.LINE, MOST_ENTRIES, request.scope)
    ids = {hit.key.document_id for hit in hits} - written.keys()
    bodies = documents.bodies(ids) if ids else {}
    asked = request.question
    having = {n for n, body in bodies.items() if entry_of(body, named, now_ms=asked.now_ms, zone=asked.zone)}
    found = documents.many(having) if having else {}
    return {**written, **{n: one for n, one in found.items() if one.inactive is None}}


def asked_kind_first(
    order: Sequence[int], written: Mapping[int, Document], named: TimeRange | None, query: str
) -> list[int]:
    """Put notes of the kind, folder or tag that *query* names first ("in my diary"), then the diary of the time."""
    diary = period_name(named) if named else ""
    asked = query[: named.start] if named else query
    kinds, nouns = kinds_in(asked), content_words(asked)

    def place(number: int) -> tuple[bool, bool]:
        one = written[number]
        is_named = one.content_type in kinds or any(is_filed_under(one, noun) for noun in nouns)
        return not is_named, not diary or file_name(one.path) != diary

    return sorted(order, key=place)


def is_filed_under(document: Document, noun: str) -> bool:
    """Whether a folder or a tag of *document* has the name *noun*, in singular or plural."""
    folders = document.path.split("/")[:-1]
    return any(names_the_same(noun, name) for name in (*folders, *document.tags))
