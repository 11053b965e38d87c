"""Pipeline stage that promotes stated preferences."""

from __future__ import annotations

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.work import Candidate, Stage, Trace, Work
from clawmem.app.services.surfacing.settling import text_of
from clawmem.domain.security.origin import is_verified
from clawmem.domain.surfacing.tiers import Tier, tier_of
from clawmem.domain.surfacing.wishes import states_wish, wishes_first
from clawmem.ports.vault import Vault

WISH = "preference"  # content type of a note that states a preference


def wished(vault: Vault) -> Stage:
    """
    Return a stage that moves a few stated preferences directly behind the best candidates.

    They apply to how the prompt is answered, so they may outrank better matches. Only preferences whose text would be
    shown are moved, and only those from texts of the user and of assistants.
    """

    def is_wish(candidate: Candidate) -> bool:
        document = candidate.document
        if document is None or not is_verified(document.origin):
            return False
        speaker = candidate.span.label if candidate.span else ""
        return document.content_type == WISH or states_wish(text_of(vault, candidate), speaker)

    def stage(request: RetrievalRequest, work: Work, trace: Trace) -> Work:
        best = max((c.score for c in work.candidates), default=0.0) or 1.0

        def rises(candidate: Candidate) -> bool:
            return tier_of(candidate.score / best) is not Tier.COLD and is_wish(candidate)

        return work.with_candidates(wishes_first(work.candidates, rises))

    return stage
