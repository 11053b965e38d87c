"""
Separate retrieval of own texts (of the user and of assistants) and of texts by others.

There are two candidate lists. Own texts are retrieved, scored and filtered as if the vault held no texts of others, so
that those can neither displace an own text nor raise its confidence. Texts of others get the remaining places.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import NamedTuple

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.work import Candidate, Trace, Work
from clawmem.domain.retrieval.diversity import without_copies
from clawmem.domain.security.origin import UNVERIFIED
from clawmem.ports.origin import VERIFIED
from clawmem.ports.records import Scope
from clawmem.ports.vault import Vault


class SeparateResults(NamedTuple):
    """Candidates among own texts with their trace, and candidates among texts of others."""

    own: Work
    trace: Trace
    others: Work

    @property
    def first(self) -> Work:
        """The own candidates; if there are none, the candidates of others."""
        return self.own if self.own.candidates else self.others

    def with_first(self, work: Work, trace: Trace) -> SeparateResults:
        """Return the same results with ``first`` replaced by *work*."""
        return self._replace(**{"own" if self.own.candidates else "others": work}, trace=trace)


def others_in(vault: Vault, work: Work) -> Work:
    """Return *work* reduced to the candidates that neither the user nor an assistant wrote."""
    found = frozenset(c.document_id for c in work.candidates)
    others = vault.documents.ids(Scope(documents=found), origins=UNVERIFIED) if found else frozenset()
    return work.with_candidates([c for c in work.candidates if c.document_id in others])


def among_own(vault: Vault, request: RetrievalRequest) -> RetrievalRequest:
    """Return *request* restricted to documents of the user and of assistants."""
    own = vault.documents.ids(request.scope, origins=VERIFIED)
    return request._replace(scope=request.scope._replace(documents=own))


def own_before_others(own: Work, others: Work, limit: int, text_of: Callable[[Candidate], str]) -> Work:
    """
    Return the *own* candidates, then the best of *others* up to *limit* in total, without near-duplicates.

    Scores of others are capped at the best own score, because the score decides how much of a text is shown.
    """
    best = max((c.score for c in own.candidates), default=inf)
    room = max(0, limit - len(own.candidates))
    shown = without_copies(others.candidates, text_of)[:room]
    work = own if own.candidates else others
    return work.with_candidates([*own.candidates, *(c._replace(score=min(best, c.score)) for c in shown)])
