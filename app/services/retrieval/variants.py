"""Retrievers for reformulations of the question."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.retrievers import LEXICAL_DEPTH, VECTOR, VECTOR_DEPTH
from clawmem.app.services.retrieval.scheduling import Retriever, RetrieverResult, Search, answered
from clawmem.app.services.retrieval.work import Work
from clawmem.domain.retrieval.expansion import Variant, VariantKind
from clawmem.domain.retrieval.grains import VARIANT_MARK
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.ports.embedder import Embedder
from clawmem.ports.records import Grain, Hit, LexicalQuery
from clawmem.ports.vault import Vault

GRAINS = (Grain.DOCUMENT, Grain.PASSAGE)


def variant_name(leg: str, number: int) -> str:
    """Return the name of the *number*-th variant, from 1, of a retriever: ``document~1``, ``vector~2``."""
    return f"{leg}{VARIANT_MARK}{number}"


def is_variant(name: str) -> bool:
    """Whether *name* is a retriever for a reformulation."""
    return VARIANT_MARK in name


def variant_retrievers(vault: Vault, embedder: Embedder) -> dict[str, Retriever]:
    """Return both retrievers by their names in ``trace.degraded``."""
    return {
        "lexical variants": lexical_variants(vault),
        "vector variants": vector_variants(vault, embedder),
    }


def lexical_variants(vault: Vault) -> Retriever:
    """Return a retriever for any word of each list of keywords, in documents and passages."""

    def search(request: RetrievalRequest, work: Work) -> RetrieverResult:
        def at(query: LexicalQuery, grain: Grain) -> Search:
            return lambda: vault.lexical.search(query, grain, LEXICAL_DEPTH[grain], request.scope)

        searches: dict[str, Search] = {}
        for number, variant in enumerate(_of(work, VariantKind.LEX), start=1):
            query = query_forms(variant.text).relaxed
            searches |= {variant_name(grain.value, number): at(query, grain) for grain in GRAINS}
        return answered(searches)

    return search


def vector_variants(vault: Vault, embedder: Embedder) -> Retriever:
    """
    Return a retriever for the fragments nearest to each rephrasing and to the hypothetical answer.

    Different embedding spaces are never compared: if the vault has vectors of another model nothing is found, and
    the retriever of the question itself reports why.
    """

    def search(request: RetrievalRequest, work: Work) -> RetrieverResult:
        def near(variant: Variant) -> Search:
            return lambda: _nearest(vault, embedder, variant, request)

        variants = _of(work, VariantKind.VEC, VariantKind.HYDE)
        if not variants or not is_of_one_space():
            return RetrieverResult({})
        found = answered({variant_name(VECTOR, n): near(v) for n, v in enumerate(variants, start=1)})
        return found if is_of_one_space() else RetrieverResult({})  # the embedding space changed

    def is_of_one_space() -> bool:
        return vault.embeddings.fingerprint() == embedder.fingerprint

    return search


def _of(work: Work, *kinds: VariantKind) -> list[Variant]:
    return [variant for variant in work.variants if variant.kind in kinds]


def _nearest(vault: Vault, embedder: Embedder, variant: Variant, request: RetrievalRequest) -> Sequence[Hit]:
    # A passage is no question: some models embed queries and documents differently.
    is_passage = variant.kind is VariantKind.HYDE
    vector = embedder.embed_documents([variant.text])[0] if is_passage else embedder.embed_query(variant.text)
    return vault.vectors.search(vector, VECTOR_DEPTH, request.scope)
