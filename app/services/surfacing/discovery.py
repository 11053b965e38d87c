"""The legs of a prompt: asked together with the questions before it."""

from __future__ import annotations

from collections.abc import Mapping

from clawmem.app.services.retrieval.legs.ask_all import Leg
from clawmem.app.services.retrieval.legs.lexical import lexical_leg
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.surfacing.choices import Choices
from clawmem.domain.retrieval.query_forms import MAX_QUERY, query_forms
from clawmem.ports.embedder import Embedder
from clawmem.ports.vault import Vault


def legs_of(vault: Vault, embedder: Embedder | None, choices: Choices) -> Mapping[str, Leg]:
    """Words; and where the profile wants it and there is an *embedder*, meaning and time."""
    words = asking(lexical_leg(vault), choices.asked)
    if embedder is None or not choices.profile.by_meaning:
        return {"lexical": words}
    from clawmem.app.services.retrieval.legs.temporal import temporal_leg
    from clawmem.app.services.retrieval.legs.vector import vector_leg

    meaning = asking(vector_leg(vault, embedder), choices.asked)
    return {
        "lexical": words,
        "vector": meaning,
        "temporal": temporal_leg(vault),
    }


def asking(leg: Leg, question: str) -> Leg:
    """*leg*, asked *question* in the place of the one that was asked; the same where that is empty."""

    return lambda request, work: leg(asked_as(request, question), work)


def asked_as(request: RetrievalRequest, question: str) -> RetrievalRequest:
    """*request* for *question* in the place of its own; the same where that is empty."""
    text = question.strip()[:MAX_QUERY]
    return request._replace(query=text, forms=query_forms(text)) if text else request
