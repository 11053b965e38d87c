"""Pipeline stage that adds lines about files named in the prompt."""

from __future__ import annotations

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.work import Candidate, Stage, Trace, Work
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.domain.surfacing.named_files import RESULTS_EACH, named_files
from clawmem.ports.records import FragmentKey, Grain
from clawmem.ports.vault import Vault

SHARE = 0.8  # of the best relevance: a named file matters, but the prompt also asks about something else


def about_named_files(vault: Vault) -> Stage:
    """Return a stage that adds lines mentioning a file named in the prompt, even if they hold no other query word."""

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        best = max((c.relevance for c in work.candidates), default=0.0)
        found = _lines_about(vault, request)
        spans = vault.documents.spans(found)
        added = [
            Candidate(key.document_id, key, SHARE * best, SHARE * best, span=spans[key])
            for key in found
            if key in spans
        ]
        others = [c for c in work.candidates if c.best not in spans or c.relevance >= SHARE * best]
        known = {c.best for c in others}
        every = [*others, *(c for c in added if c.best not in known)]
        return work.with_candidates(sorted(every, key=lambda c: -c.relevance)) if added else work

    return stage


def _lines_about(vault: Vault, request: RetrievalRequest) -> list[FragmentKey]:
    wanted = (query_forms(name).precise for name in named_files(request.query))
    hits = (vault.lexical.search(query, Grain.LINE, RESULTS_EACH, request.scope) for query in wanted if query)
    return list(dict.fromkeys(hit.key for found in hits for hit in found))
