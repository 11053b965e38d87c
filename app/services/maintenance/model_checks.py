"""Checks of the configured models, and of the stored vectors against the current embedder."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from operator import attrgetter
from struct import unpack
from time import perf_counter
from typing import NamedTuple, TypeVar

from clawmem.app.services.maintenance.finding import Check, CheckResult, spread
from clawmem.app.services.models import NONE, Provider
from clawmem.domain.knowledge.llm_answer import json_answer
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import EmbeddingError, ModelError
from clawmem.ports.indexes import EmbeddingStore
from clawmem.ports.models import Embedder, Generator, ModelRole, Reranker
from clawmem.ports.records import Document, EmbedState, Vector, embedding_text

SAME = 0.999  # least cosine between a stored and a recomputed vector of one text; rounding stays above
NAMED = 3  # names listed in a message

RERANK_TIMEOUT_S = 20.0  # per question; a small model on one core reads about one text per second
GENERATE_TIMEOUT_S = 30.0
ANSWER_TOKENS = 60


class Golden(NamedTuple):
    """A question, a text that answers it, and one that does not."""

    question: str
    right: str
    wrong: str


# A working model ranks the right text of each question first among the twelve. A model that returns constants or
# noise does not: a random pick is right in 1 of 12 cases, and it would have to be right six times.
GOLDEN = (
    Golden(
        "how to bake sourdough bread",
        "Bake the bread in a hot oven after the sourdough has risen overnight.",
        "The quarterly tax return is due before the end of March.",
    ),
    Golden(
        "database connection timeout error",
        "The connection to the database failed with a timeout.",
        "We planted tomatoes and basil behind the greenhouse.",
    ),
    Golden(
        "which train goes to the airport",
        "Take the train from the central station to reach the airport.",
        "The cello part of this quartet is surprisingly hard.",
    ),
    Golden(
        "my daughter's birthday party",
        "A party for the birthday of our daughter, with cake and balloons.",
        "Compile the kernel module before loading it.",
    ),
    Golden(
        "doctor appointment for knee pain",
        "The doctor examined the painful knee and ordered an x-ray at the next appointment.",
        "Stock prices fell sharply when the bank raised interest rates.",
    ),
    Golden(
        "learning to play the guitar",
        "She practises guitar chords every evening and is learning to play a song.",
        "The volcano erupted and covered the valley with ash.",
    ),
)
_TEXTS = tuple(text for golden in GOLDEN for text in (golden.right, golden.wrong))
_LINE_UP = 4  # texts compared per question

# Every use of a generator needs one of a few words under a given key.
_VERDICT = {"type": "object", "properties": {"answer": {"enum": ["yes", "no"]}}, "required": ["answer"]}
# The question contains no example answer; otherwise a model that repeats its prompt would pass.
_QUESTION = 'Is fire hot? Answer in JSON, with one object whose only field, "answer", is either yes or no.'


def embedder_fault(embedder: Embedder) -> str | None:
    """Return the fault in the vectors of *embedder* for texts of known similarity, or ``None``."""
    asked = [embedder.embed_query(golden.question) for golden in GOLDEN]
    told = embedder.embed_documents(_TEXTS)
    if len(told) != len(_TEXTS):
        return f"{len(told)} vectors came for {len(_TEXTS)} texts"
    if any(len(vector) != 4 * embedder.dimensions for vector in (*asked, *told)):
        return f"a vector is not of {embedder.dimensions} dimensions"
    if _is_constant(told) or _is_constant(asked):
        return "different texts get the same vector"
    likeness = [[cosine(question, text) for text in told] for question in asked]
    return _missed(
        [_leads(row, 2 * place) for place, row in enumerate(likeness)], "are not nearest to what they mean"
    )


def reranker_fault(reranker: Reranker) -> str | None:
    """Return the fault in the scores of *reranker* for texts of known order, or ``None``."""
    scores = [_scores(reranker, number) for number in range(len(GOLDEN))]
    if any(len(row) != _LINE_UP or not all(0 <= score <= 1 for score in row) for row in scores):
        return "a score is missing, or not from 0 to 1"
    if len({score for row in scores for score in row}) == 1:
        return "every text gets the same score"
    if all(_leads([-score for score in row], _place(number)) for number, row in enumerate(scores)):
        return "it scores the wrong way round: what answers a question comes last"
    leads = [_leads(row, _place(number)) for number, row in enumerate(scores)]
    return _missed(leads, "do not get their answer first")


def generator_fault(generator: Generator) -> str | None:
    """Return the fault in the JSON that *generator* writes on request, or ``None``."""

    def ask(prompt: str) -> str:
        return generator.generate(
            prompt, timeout_s=GENERATE_TIMEOUT_S, max_tokens=ANSWER_TOKENS, schema=_VERDICT
        )

    if json_answer(ask, _QUESTION, _VERDICT) is None:
        return "asked for JSON of a given shape, it wrote something else, twice"
    return None


def cosine(one: Vector, other: Vector) -> float:
    """Return the cosine of two vectors of any length; 0 for a zero vector, NaN if not finite or not comparable."""
    a, b = _numbers(one), _numbers(other)
    if len(a) != len(b):
        return math.nan
    lengths = math.hypot(*a) * math.hypot(*b)
    return sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0.0


def listed(names: Sequence[str]) -> str:
    """Return the first `NAMED` of *names* and the number of the others."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _scores(reranker: Reranker, number: int) -> list[float]:
    """
    Return the scores of the candidate texts of one question: its right text among wrong ones.

    The position of the right text varies, which exposes a model that scores by position alone.
    """
    wrong = [golden.wrong for golden in GOLDEN]
    line_up = [wrong[(number + step) % len(wrong)] for step in range(_LINE_UP)]
    line_up[_place(number)] = GOLDEN[number].right
    return reranker.rerank(GOLDEN[number].question, line_up, timeout_s=RERANK_TIMEOUT_S)


def _place(number: int) -> int:
    return number % _LINE_UP


def _leads(scores: Sequence[float], place: int) -> bool:
    """Whether the score at *place* is above all others; False if any score is NaN."""
    return all(scores[place] > score for other, score in enumerate(scores) if other != place)


def _missed(hits: Sequence[bool], how: str) -> str | None:
    missed = [golden.question for golden, hit in zip(GOLDEN, hits, strict=True) if not hit]
    if not missed:
        return None
    return f"{len(missed)} of {len(GOLDEN)} questions {how}: {listed(missed)}"


def _is_constant(vectors: Sequence[Vector]) -> bool:
    return any(cosine(vectors[0], other) >= SAME for other in vectors[1:])


def _numbers(vector: Vector) -> tuple[float, ...]:
    return unpack(f"<{len(vector) // 4}f", vector)


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

    def __init__(self, documents: DocumentStore, embeddings: EmbeddingStore, models: Models) -> None:
        self._documents = documents
        self._embeddings = embeddings
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
        stored = self._embeddings.fingerprint()
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
        building = self._embeddings.building()
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
        if embedder is None or self._embeddings.fingerprint() != embedder.fingerprint:
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
        synced = [d for d in self._documents.latest() if d.embed_state is EmbedState.SYNCED]
        for document in spread(sorted(synced, key=_PLACE), SAMPLE):
            vectors = self._embeddings.of_document(document.id)
            if vectors:
                middle = vectors[len(vectors) // 2]
                texts = {
                    p.seq: embedding_text(p.context, p.text) for p in self._documents.fragments(document.id)
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
