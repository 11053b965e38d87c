"""Requests with misspelt words corrected."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.domain.retrieval.spelling import (
    MOST_CORRECTED,
    Spelling,
    best_spelling,
    full_words,
    most_edits,
    with_corrections,
)
from clawmem.ports.errors import ClawmemError
from clawmem.ports.lexical_index import LexicalIndex
from clawmem.ports.records import Grain, Term
from clawmem.ports.spelling import UnknownWord, unknown_words


def corrected_request(
    lexical: LexicalIndex, request: RetrievalRequest
) -> tuple[RetrievalRequest, Mapping[str, str]]:
    """Return *request* with the words corrected that the vault does not know, and the corrections."""
    try:
        unknown = unknown_words(lexical, request.question.forms.relaxed.terms)
        found = {
            word: spelling
            for word, one in islice(unknown.items(), MOST_CORRECTED)
            if (spelling := _corrected(lexical, request.question.text, word, one))
        }
    except ClawmemError:  # the lexical retriever reports it
        return request, {}
    if not found:
        return request, {}
    return request.asking(with_corrections(request.question.text, found)), found


def _corrected(lexical: LexicalIndex, query: str, word: str, unknown: UnknownWord) -> str | None:
    most = most_edits(word, query)
    if not most:
        return None
    from rapidfuzz.distance import OSA  # most questions have no unknown word

    near: dict[str, Spelling] = {}
    for stored, documents in unknown.alike.items():
        # Stemming may have removed a letter that is in the wrong place: "porbe" becomes "porb".
        edits = min(OSA.distance(form, stored, score_cutoff=most) for form in (unknown.stem, word))
        if edits <= most:
            near[stored] = Spelling(stored, edits, documents)
    best = best_spelling(word, unknown.stem, near)
    if best is None:
        return None
    spelt = full_words(word, unknown.stem, best)
    return next((one for one in spelt if lexical.holding(Term(one), Grain.DOCUMENT)), None)
