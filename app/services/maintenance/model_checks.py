"""Checks of the configured models, and of the stored vectors against the current embedder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from operator import attrgetter
from time import perf_counter
from typing import NamedTuple, TypeVar

from clawmem.app.services.maintenance.canaries import (
    GOLDEN,
    SAME,
    cosine,
    embedder_fault,
    generator_fault,
    listed,
    reranker_fault,
)
from clawmem.app.services.maintenance.finding import Check, CheckResult, spread
from clawmem.app.services.models.watching import NONE, Provider
from clawmem.ports.embedder import Embedder
from clawmem.ports.errors import EmbeddingError, ModelError
from clawmem.ports.generator import Generator
from clawmem.ports.model_records import ModelRole
from clawmem.ports.records import Document, EmbedState, Vector, embedding_text
from clawmem.ports.reranker import Reranker
from clawmem.ports.stores import SearchableDocuments

SAMPLE = 20  # stored vectors that are computed again for comparison

MODEL = "model"
CANARY = "model canary"
STORED = "stored vectors"
GENERATOR = "generator"
RERANKER = "reranker"

_EMBED_AGAIN = "Run: clawmem embed --force"
_MISSING = "Install or configure that model again (see: clawmem models list), or run: clawmem embed --force"
_REPAIR = "Configure another model, or repair this one, then run: clawmem embed --force"
_WAYS_OUT = {
    GENERATOR: "Repair the model, or leave it out (CLAWMEM_LLM_URL): questions are then not expanded.",
    RERANKER: "Repair the model, or leave it out (CLAWMEM_RERANK_URL): answers are then not reranked.",
}
_PLACE = attrgetter("collection", "path")

Model = TypeVar("Model")


def _nobody() -> None:
    return None


class Models(NamedTuple):
    """Factories of the models to examine, called when needed; ``None`` where no model is configured."""

    embedder: Callable[[], Embedder | None] = _nobody
    generator: Callable[[], Generator | None] = _nobody
    reranker: Callable[[], Reranker | None] = _nobody
    roles: Callable[[], Sequence[Provider]] = tuple


class ModelChecks:
    """Checks that query the models. They change nothing and read a sample of the stored vectors."""

    def __init__(self, vault: SearchableDocuments, models: Models) -> None:
        self._vault = vault
        self._models = models

    def checks(self) -> dict[str, Check]:
        """Return every check by name, in the order to run them."""
        return {
            MODEL: self._model,
            CANARY: self._canary,
            STORED: self._stored,
            GENERATOR: self._generator,
            RERANKER: self._reranker,
        }

    # -- the embedder -------------------------------------------------------------------------------

    def _model(self) -> CheckResult:
        return self._by(ModelRole.EMBEDDER, self._model_of(self._models.embedder()))

    def _model_of(self, embedder: Embedder | None) -> CheckResult:
        stored = self._vault.embeddings.fingerprint()
        if embedder is None:
            detail = f"the vectors of {stored!r} cannot be searched" if stored else "none; search is by words"
            return CheckResult(MODEL, stored is None, detail, _MISSING if stored else "")
        asked = embedder.fingerprint
        if stored not in (None, asked):
            return CheckResult(
                MODEL, False, f"{asked!r}, {self._of_another(asked, stored)}", "Run: clawmem embed"
            )
        return CheckResult(
            MODEL, True, f"{asked!r}, as the vectors" if stored else f"{asked!r}; no vectors yet"
        )

    def _of_another(self, asked: str, stored: str | None) -> str:
        building = self._vault.embeddings.building()
        if building is None or building.fingerprint != asked:
            return f"but the vectors are of {stored!r}"
        return f"whose vectors are {building.share:.0%} made; until then those of {stored!r} answer"

    def _canary(self) -> CheckResult:
        embedder = self._models.embedder()
        if embedder is None:
            return CheckResult(CANARY, True, "no model to test")
        well = f"{len(GOLDEN)} of {len(GOLDEN)} questions are nearest to what they mean"
        return _judged(CANARY, embedder, embedder_fault, well, _REPAIR)

    def _stored(self) -> CheckResult:
        embedder = self._models.embedder()
        if embedder is None or self._vault.embeddings.fingerprint() != embedder.fingerprint:
            return CheckResult(STORED, True, "not compared: no vectors of this model are stored")
        sample = list(self._sample())
        fresh = embedder.embed_documents([text for _, text, _ in sample])
        cosines = [cosine(vector, new) for (_, _, vector), new in zip(sample, fresh, strict=True)]
        pairs = zip(sample, cosines, strict=True)
        wrong = [document.display_path for (document, _, _), likeness in pairs if not likeness >= SAME]
        if wrong:
            return CheckResult(STORED, False, _differing(wrong, cosines), _EMBED_AGAIN)
        return CheckResult(STORED, True, f"{len(sample)} computed again, all the same")

    def _sample(self) -> Iterator[tuple[Document, str, Vector]]:
        """Yield a text and its stored vector per document, for documents spread evenly over the paths."""
        synced = [d for d in self._vault.documents.latest() if d.embed_state is EmbedState.SYNCED]
        for document in spread(sorted(synced, key=_PLACE), SAMPLE):
            vectors = self._vault.embeddings.of_document(document.id)
            if vectors:
                middle = vectors[len(vectors) // 2]
                texts = {
                    p.seq: embedding_text(p.context, p.text)
                    for p in self._vault.documents.fragments(document.id)
                }
                yield document, texts[middle.key.seq], middle.vector

    # -- the others ---------------------------------------------------------------------------------

    def _generator(self) -> CheckResult:
        generator = self._models.generator()
        if generator is None:
            return self._by(ModelRole.GENERATOR, CheckResult(GENERATOR, True, NONE))
        found = _judged(
            GENERATOR, generator, generator_fault, "it writes JSON as asked", _WAYS_OUT[GENERATOR]
        )
        return self._by(ModelRole.GENERATOR, found)

    def _reranker(self) -> CheckResult:
        reranker = self._models.reranker()
        if reranker is None:
            return self._by(ModelRole.RERANKER, CheckResult(RERANKER, True, NONE))
        well = f"{len(GOLDEN)} of {len(GOLDEN)} questions get their answer first"
        found = _judged(RERANKER, reranker, reranker_fault, well, _WAYS_OUT[RERANKER])
        return self._by(ModelRole.RERANKER, found)

    def _by(self, role: ModelRole, finding: CheckResult) -> CheckResult:
        """Return *finding* with the provider of *role* and the reason for its choice."""
        provider = self._providers.get(role)
        if provider is None:
            return finding
        why = "; ".join([f"{provider.chosen}, because {provider.reason}", *provider.passed_over])
        told = why if finding.detail == provider.chosen else f"{why}; {finding.detail}"
        return replace(finding, detail=told, provider=provider)

    @cached_property
    def _providers(self) -> dict[ModelRole, Provider]:
        return {provider.role: provider for provider in self._models.roles()}


def _judged(
    name: str, model: Model, fault_of: Callable[[Model], str | None], well: str, way_out: str
) -> CheckResult:
    """Run a canary on *model* and return its result with the time it took."""
    began = perf_counter()
    try:
        fault = fault_of(model)
    except (ModelError, EmbeddingError) as error:
        fault = str(error)
    took = f"{(perf_counter() - began) * 1000:.0f} ms"
    if fault:
        return CheckResult(name, False, f"{fault} ({took})", way_out)
    return CheckResult(name, True, f"{well}, in {took}")


def _differing(wrong: Sequence[str], cosines: Sequence[float]) -> str:
    """Describe how many vectors differ and the likely cause: another model changes all of them, damage a few."""
    cause = (
        "another model, or the same with other settings, answers under its name"
        if len(wrong) == len(cosines)
        else "these were damaged, or made from other texts"
    )
    what = f"{len(wrong)} of {len(cosines)} differ from what the model gives now"
    return f"{what} (cosine down to {min(cosines):.3f}): {cause}: {listed(wrong)}"
