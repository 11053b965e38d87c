"""Parts of a question that the passages of candidates lack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.work import Candidate, Work
from clawmem.domain.documents.names import searchable_names
from clawmem.domain.retrieval.requested import Shortfall, unmet
from clawmem.domain.text.dates import is_within
from clawmem.ports.documents import DocumentStore
from clawmem.ports.records import FragmentKey

PASSAGE, NEAR = 800, 300  # characters before and after a line, for words and for fillers of a slot


def shortfalls(
    store: DocumentStore,
    request: RetrievalRequest,
    work: Work,
    candidates: Iterable[Candidate],
    rarities: Sequence[float],
) -> dict[FragmentKey, Shortfall]:
    """
    Return what the passage around each candidate's line lacks; *rarities* are those of the searched words.

    Those that an earlier stage left in *work* are not compared with the question again.
    """
    text = request.question.text
    best = {c.best: c.document_id for c in candidates}
    found = {key: work.lacks[text, key] for key in best if (text, key) in work.lacks}
    new = {key: number for key, number in best.items() if key not in found}
    return found | (_compared(store, request, new, rarities) if new else {})


def _compared(
    store: DocumentStore,
    request: RetrievalRequest,
    best: Mapping[FragmentKey, int],
    rarities: Sequence[float],
) -> dict[FragmentKey, Shortfall]:
    question = request.question
    asked, named = question.demands.of_first(len(rarities)), question.named_time
    documents, bodies, spans = store.many(best.values()), store.bodies(best.values()), store.spans(best)
    found = {}
    for key, number in best.items():
        if (document := documents.get(number)) is None:
            continue
        body, span = bodies.get(number, ""), spans.get(key)
        start, end = (span.start, span.end) if span else (0, 0)
        names = " ".join((*searchable_names(document), *document.tags, *document.front_matter.split()))
        text, near = (f"{body[max(0, start - reach) : end + reach]}\n{names}" for reach in (PASSAGE, NEAR))
        is_in_time = named is not None and is_within(document.authored_at, named)
        dated = f"{text} {document.authored_at[:10]}"
        found[key] = unmet(asked, rarities, dated, near, is_in_time=is_in_time)
    return found
