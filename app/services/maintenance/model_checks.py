"""Checks of the configured models, and of the stored vectors against the current embedder."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter, mul
from struct import unpack
from typing import Any, NamedTuple

from clawmem.app.services.maintenance.finding import CheckResult, listed, spread
from clawmem.app.services.models import NONE
from clawmem.domain.knowledge.llm_answer import json_answer
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import EmbeddingError, ModelError
from clawmem.ports.indexes import EmbeddingStore
from clawmem.ports.models import Embedder, Generator, Reranker
from clawmem.ports.records import Document, EmbedState, Vector, embedding_text

SAME = 0.999  # least cosine between a stored and a recomputed vector of one text; rounding stays above
SAMPLE = 20  # stored vectors that are computed again for comparison
RERANK_TIMEOUT_S = 20.0  # per question; a small model on one core reads about one text per second
GENERATE_TIMEOUT_S = 30.0
ANSWER_TOKENS = 60
COMPARED = 4  # texts per question to a reranker


class Golden(NamedTuple):
    """A question, a text that answers it, and one that does not."""

    question: str
    right: str
    wrong: str


# A working model ranks the right text of each question first among the twelve. A model that returns constants or
# noise does not: a random pick is right in 1 of 12 cases, and it would have to be right six times.
GOLDEN = (
    Golden("how to bake sourdough bread", "We bake sourdough bread in a hot oven.", "The tax is due."),
    Golden("database connection timeout", "The database connection had a timeout.", "Basil grows in pots."),
    Golden("which train goes to the airport", "Take this train to the airport.", "The cello part is hard."),
    Golden("my daughter's birthday party", "A birthday party for our daughter.", "Compile this module."),
    Golden("doctor appointment for knee pain", "The doctor examined the painful knee.", "Stock prices fell."),
    Golden("learning to play the guitar", "She is learning guitar chords to play.", "A volcano erupted."),
)

# Every use of a generator needs one of a few words under a given key.
_VERDICT = {"type": "object", "properties": {"answer": {"enum": ["yes", "no"]}}, "required": ["answer"]}
# The question contains no example answer; otherwise a model that repeats its prompt would pass.
_QUESTION = 'Is fire hot? Answer in JSON, with one object whose only field, "answer", is either yes or no.'


def embedder_fault(embedder: Embedder) -> str | None:
    """Return the fault in the vectors of *embedder* for texts of known similarity, or ``None``."""
    questions = [embedder.embed_query(golden.question) for golden in GOLDEN]
    texts = [text for golden in GOLDEN for text in (golden.right, golden.wrong)]
    vectors = embedder.embed_documents(texts)
    if len(vectors) != len(texts):
        return f"{len(vectors)} vectors came for {len(texts)} texts"
    if any(len(vector) != 4 * embedder.dimensions for vector in (*questions, *vectors)):
        return f"a vector is not of {embedder.dimensions} dimensions"
    if any(cosine(group[0], other) >= SAME for group in (vectors, questions) for other in group[1:]):
        return "different texts get the same vector"
    similarities = [[cosine(question, vector) for vector in vectors] for question in questions]
    places = range(0, len(texts), 2)
    return _missed(map(_leads, similarities, places), "are not nearest to what they mean")


def reranker_fault(reranker: Reranker) -> str | None:
    """
    Return the fault in the scores of *reranker* for texts of known order, or ``None``.

    The position of the right text varies, which exposes a model that scores by position alone.
    """
    scores: list[list[float]] = []
    for number, golden in enumerate(GOLDEN):
        texts = [GOLDEN[(number + step) % len(GOLDEN)].wrong for step in range(COMPARED)]
        texts[number % COMPARED] = golden.right
        scores.append(reranker.rerank(golden.question, texts, timeout_s=RERANK_TIMEOUT_S))
    if any(len(row) != COMPARED or not all(0 <= score <= 1 for score in row) for row in scores):
        return "a score is missing, or not from 0 to 1"
    if len({score for row in scores for score in row}) == 1:
        return "every text gets the same score"
    if all(_leads([-score for score in row], number % COMPARED) for number, row in enumerate(scores)):
        return "it scores the wrong way round: what answers a question comes last"
    places = (number % COMPARED for number in range(len(GOLDEN)))
    return _missed(map(_leads, scores, places), "do not get their answer first")


def generator_fault(generator: Generator) -> str | None:
    """Return the fault in the JSON that *generator* writes on request, or ``None``."""
    ask = partial(generator.generate, timeout_s=GENERATE_TIMEOUT_S, max_tokens=ANSWER_TOKENS, schema=_VERDICT)
    is_usable = json_answer(ask, _QUESTION, _VERDICT) is not None
    return None if is_usable else "asked for JSON of a given shape, it wrote something else, twice"


def cosine(first: Vector, second: Vector) -> float:
    """Return the cosine of two vectors of any length; 0 for a zero vector, NaN if not finite or not comparable."""
    a, b = (unpack(f"<{len(vector) // 4}f", vector) for vector in (first, second))
    if len(a) != len(b):
        return math.nan
    lengths = math.hypot(*a) * math.hypot(*b)
    return sum(map(mul, a, b)) / lengths if lengths else 0.0


def _leads(scores: Sequence[float], place: int) -> bool:
    """Whether the score at *place* is above all others; False if any score is NaN."""
    return all(scores[place] > score for other, score in enumerate(scores) if other != place)


def _missed(leads: Iterable[bool], how: str) -> str | None:
    missed = [golden.question for golden, is_first in zip(GOLDEN, leads, strict=True) if not is_first]
    return f"{len(missed)} of {len(GOLDEN)} questions {how}: {listed(missed)}" if missed else None


@dataclass(frozen=True, slots=True)
class ModelChecks:
    """
    Checks that query the models. They change nothing and read a sample of the stored vectors.

    The models are made when needed; ``None`` where no model is configured.
    """

    documents: DocumentStore
    embeddings: EmbeddingStore
    embedder: Callable[[], Embedder | None] = lambda: None
    generator: Callable[[], Generator | None] = lambda: None
    reranker: Callable[[], Reranker | None] = lambda: None

    def checks(self) -> dict[str, Callable[[str], CheckResult]]:
        """Return every check by name, in the order to run them."""
        answered = f"{len(GOLDEN)} of {len(GOLDEN)} questions"
        return {
            "model": self._model,
            "model test": lambda name: _tested(
                name,
                embedder_fault,
                self.embedder(),
                f"{answered} are nearest to what they mean",
                "Configure another model, or repair this one, then run: clawmem embed --force",
            ),
            "stored vectors": self._stored,
            "generator": lambda name: _tested(
                name,
                generator_fault,
                self.generator(),
                "it writes JSON as asked",
                "Repair the model, or leave it out (CLAWMEM_LLM_URL): questions are then not expanded.",
            ),
            "reranker": lambda name: _tested(
                name,
                reranker_fault,
                self.reranker(),
                f"{answered} get their answer first",
                "Repair the model, or leave it out (CLAWMEM_RERANK_URL): answers are then not reranked.",
            ),
        }

    def _model(self, name: str) -> CheckResult:
        embedder, stored = self.embedder(), self.embeddings.fingerprint()
        if embedder is None:
            remedy = "Install or configure that model again (see: clawmem models list), or run: clawmem embed --force"
            detail = f"the vectors of {stored!r} cannot be searched" if stored else "none; search is by words"
            return CheckResult(name, stored is None, detail, remedy if stored else "")
        if stored in (None, embedder.fingerprint):
            state = ", which made the vectors" if stored else "; no vectors yet"
            return CheckResult(name, True, f"{embedder.fingerprint!r}{state}")
        building = self.embeddings.building()
        detail = f"but the vectors are of {stored!r}"
        if building and building.fingerprint == embedder.fingerprint:
            detail = f"whose vectors are {building.share:.0%} made; until then those of {stored!r} answer"
        return CheckResult(name, False, f"{embedder.fingerprint!r}, {detail}", "Run: clawmem embed")

    def _stored(self, name: str) -> CheckResult:
        embedder = self.embedder()
        if embedder is None or self.embeddings.fingerprint() != embedder.fingerprint:
            return CheckResult(name, True, "not compared: no vectors of this model are stored")
        sample = list(self._sample())
        fresh = embedder.embed_documents([text for _, text, _ in sample])
        cosines = [cosine(vector, new) for (_, _, vector), new in zip(sample, fresh, strict=True)]
        pairs = zip(sample, cosines, strict=True)
        wrong = [document.display_path for (document, _, _), value in pairs if not value >= SAME]
        if not wrong:
            return CheckResult(name, True, f"{len(sample)} computed again, all the same")
        cause = "these were damaged, or made from other texts"
        if len(wrong) == len(cosines):
            cause = "another model, or the same with other settings, answers under its name"
        detail = (
            f"{len(wrong)} of {len(cosines)} differ from what the model gives now (cosine down to "
            f"{min(cosines):.3f}): {cause}: {listed(wrong)}"
        )
        return CheckResult(name, False, detail, "Run: clawmem embed --force")

    def _sample(self) -> Iterator[tuple[Document, str, Vector]]:
        """Yield a text and its stored vector per document, for documents spread evenly over the paths."""
        synced = [note for note in self.documents.latest() if note.embed_state is EmbedState.SYNCED]
        for document in spread(sorted(synced, key=attrgetter("collection", "path")), SAMPLE):
            if vectors := self.embeddings.of_document(document.id):
                middle = vectors[len(vectors) // 2]
                fragments = {fragment.seq: fragment for fragment in self.documents.fragments(document.id)}
                fragment = fragments[middle.key.seq]
                yield document, embedding_text(fragment.context, fragment.text), middle.vector


def _tested(
    name: str, fault_of: Callable[[Any], str | None], model: object, passed: str, remedy: str
) -> CheckResult:
    """Return the result of a canary; `NONE` if there is no model."""
    if model is None:
        return CheckResult(name, True, NONE)
    try:
        fault = fault_of(model)
    except (ModelError, EmbeddingError) as error:
        fault = str(error)
    return CheckResult(name, False, fault, remedy) if fault else CheckResult(name, True, passed)
