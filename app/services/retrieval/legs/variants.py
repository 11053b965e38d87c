"""The legs that ask the question in other words."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.app.services.retrieval.legs.ask_all import Leg, LegAnswer, Search, answered
from clawmem.app.services.retrieval.legs.lexical import DEPTH
from clawmem.app.services.retrieval.legs.vector import VECTOR, VECTOR_DEPTH
from clawmem.app.services.retrieval.request import RetrievalRequest
from clawmem.app.services.retrieval.work import Work
from clawmem.domain.retrieval.expansion import Variant, VariantKind
from clawmem.domain.retrieval.grains import VARIANT_MARK
from clawmem.domain.retrieval.query_forms import query_forms
from clawmem.ports.embedder import Embedder
from clawmem.ports.records import Grain, Hit, LexicalQuery
from clawmem.ports.vault import Vault

GRAINS = (Grain.DOCUMENT, Grain.PASSAGE)


def variant_leg(leg: str, number: int) -> str:
    """What the *number*-th variant of a leg's kind, from 1, is called: ``document~1``, ``vector~2``."""
    return f"{leg}{VARIANT_MARK}{number}"


def is_variant(name: str) -> bool:
    """Whether the leg of that name asked in other words."""
    return VARIANT_MARK in name


def variant_legs(vault: Vault, embedder: Embedder) -> dict[str, Leg]:
    """Both legs, by the names under which they are degraded."""
    return {
        "lexical variants": lexical_variants(vault),
        "vector variants": vector_variants(vault, embedder),
    }


def lexical_variants(vault: Vault) -> Leg:
    """Words: any of each list of keywords, in whole documents and in passages."""

    def search(request: RetrievalRequest, work: Work) -> LegAnswer:
        def at(query: LexicalQuery, grain: Grain) -> Search:
            return lambda: vault.lexical.search(query, grain, DEPTH[grain], request.scope)

        searches: dict[str, Search] = {}
        for number, variant in enumerate(_of(work, VariantKind.LEX), start=1):
            query = query_forms(variant.text).relaxed
            searches |= {variant_leg(grain.value, number): at(query, grain) for grain in GRAINS}
        return answered(searches)

    return search


def vector_variants(vault: Vault, embedder: Embedder) -> Leg:
    """
    Meaning: the fragments nearest to each rephrasing, and to the passage that could be the answer.

    Two spaces are never compared: where the vault's vectors are another model's nothing is found, and the
    leg of the question itself says why.
    """

    def search(request: RetrievalRequest, work: Work) -> LegAnswer:
        def near(variant: Variant) -> Search:
            return lambda: _nearest(vault, embedder, variant, request)

        variants = _of(work, VariantKind.VEC, VariantKind.HYDE)
        if not variants or not is_of_one_space():
            return LegAnswer({})
        found = answered({variant_leg(VECTOR, n): near(v) for n, v in enumerate(variants, start=1)})
        return found if is_of_one_space() else LegAnswer({})  # another's vectors took over meanwhile

    def is_of_one_space() -> bool:
        return vault.embeddings.fingerprint() == embedder.fingerprint

    return search


def _of(work: Work, *kinds: VariantKind) -> list[Variant]:
    return [variant for variant in work.variants if variant.kind in kinds]


def _nearest(vault: Vault, embedder: Embedder, variant: Variant, request: RetrievalRequest) -> Sequence[Hit]:
    # A passage is no question: models that tell the two apart embed it as what it looks like.
    is_passage = variant.kind is VariantKind.HYDE
    vector = embedder.embed_documents([variant.text])[0] if is_passage else embedder.embed_query(variant.text)
    return vault.vectors.search(vector, VECTOR_DEPTH, request.scope)
