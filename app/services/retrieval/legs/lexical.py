"""The lexical retriever."""

from __future__ import annotations

from clawmem.app.services.retrieval.legs.ask_all import Retriever, RetrieverResult, Search, answered
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit
from clawmem.app.services.retrieval.work import Work
from clawmem.domain.retrieval.grains import DOCUMENT_WEIGHTS, LINE_WEIGHTS
from clawmem.ports.records import Grain, LexicalQuery
from clawmem.ports.vault import Vault

# Deep enough that the first results do not depend on the limit.
DEPTH = {Grain.LINE: 200, Grain.PASSAGE: 100, Grain.SECTION: 100, Grain.DOCUMENT: 100}

PRECISE = "precise"


def lexical_retriever(vault: Vault) -> Retriever:
    """Return a retriever for any word at every weighted granularity, and for all words if the question is a name."""

    def search(request: RetrievalRequest, work: Work) -> RetrieverResult:
        def at(query: LexicalQuery, grain: Grain) -> Search:
            return lambda: vault.lexical.search(query, grain, DEPTH[grain], request.scope)

        weights = DOCUMENT_WEIGHTS if request.unit is Unit.DOCUMENT else LINE_WEIGHTS
        searches = {
            grain.value: at(request.forms.relaxed, grain) for grain in Grain if grain.value in weights
        }
        if request.forms.precise:
            grain = Grain.DOCUMENT if request.unit is Unit.DOCUMENT else Grain.LINE
            searches[PRECISE] = at(request.forms.precise, grain)
        return answered(searches)

    return search
