"""Ports for models, wherever they run, and for the records about them: cached answers, failures and costs."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, Protocol, Self

from clawmem.ports.records import Vector

JsonSchema = Mapping[str, Any]
"""A JSON schema; only ``type``, ``properties``, ``required``, ``items`` and ``enum`` are used."""

Sketch = bytes  # rows of dimensions / 8 bytes: the whole text, then each word; empty if nothing is known


class ModelRole(StrEnum):
    """Kind of model, by its output: vectors, text, or a ranking."""

    EMBEDDER = "embedder"
    GENERATOR = "generator"
    RERANKER = "reranker"


class Embedder(Protocol):
    """
    Model that maps text to vectors of unit length: the same text gives the same bytes in every process.

    The vector of a text without any known token is all zeros, and no index stores it.
    """

    @property
    def fingerprint(self) -> str:
        """Return the identifier of the embedding space: model, weights and everything else that changes the vectors."""

    @property
    def dimensions(self) -> int:
        """Return the length of every vector, > 0."""

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a query."""

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector for each of *texts*, in order."""


def for_background(embedder: Embedder) -> Embedder:
    """Return the same embedder for background work: with longer time-outs, and retries where a server is busy."""
    configure: Callable[[], Embedder] | None = getattr(embedder, "for_background", None)
    return embedder if configure is None else configure()


def is_in_process(part: object) -> bool:
    """Whether an index or an embedder runs in this process, by its attribute ``in_process``; others may be servers."""
    return bool(getattr(part, "in_process", False))


def is_remote(model: object) -> bool:
    """Whether the texts that a model reads go to another machine, by its attribute ``is_remote``."""
    return bool(getattr(model, "is_remote", False))


class Sketcher(Protocol):
    """Model that returns a contextual vector for each word of a text; it raises EmbeddingError or ModelError."""

    @property
    def fingerprint(self) -> str:
        """Return the identifier of the model; sketches of different models are not comparable."""

    @property
    def dimensions(self) -> int:
        """Return the number of bits per row, a multiple of 8."""

    def sketch(self, texts: Sequence[str], without: Collection[str] = ()) -> list[Sketch]:
        """
        Return the sketches of *texts*, in order, each independent of the others.

        A bit tells whether a component of the vector is above zero; the first component is the highest bit of the first
        byte. Punctuation and the tokens in *without* (lower case) are omitted.
        """


def sketcher_of(embedder: object) -> Sketcher | None:
    """Return the sketcher of an embedder; most embedders only have vectors for whole texts and return ``None``."""
    sketcher: Sketcher | None = getattr(embedder, "sketcher", None)
    return sketcher


class WordSimilarities(NamedTuple):
    """
    Weights of the query words (sum 1), for each text the nearest word's similarity to each, in [0, 1], and the weight of
    all query words, which says how telling they are together in general.
    """

    weights: tuple[float, ...]
    nearest: tuple[tuple[float, ...], ...]
    weight: float = 0.0


class LateInteraction(Protocol):
    """Model that matches words by meaning, without regard to their order (Khattab & Zaharia 2020)."""

    def compare(self, words: Sequence[str], texts: Sequence[Sequence[str]]) -> WordSimilarities:
        """
        Compare *words*, the content words of a query, with each of *texts*, which are lists of words.

        Texts are independent of each other, and words unknown to the model similar to none. Rows are in the order of
        *texts*, columns in the order of *words*; without *words* everything is empty.
        """


class Reranker(Protocol):
    """Model that reads a query together with a document and scores their relevance to each other."""

    @property
    def fingerprint(self) -> str:
        """Return the identifier of the model and of its score scale; otherwise like `Generator.fingerprint`."""

    def rerank(self, query: str, documents: Sequence[str], *, timeout_s: float) -> list[float]:
        """
        Return one relevance score for each of *documents*, in order.

        Scores are from 0 to 1, higher is better, and depend on the query and the document alone. They are not
        calibrated: thresholds are fitted for each fingerprint. Time-out and errors are those of `Generator.generate`;
        `InputTooLong` if the query alone is too long.
        """


class GeneratedText(str):
    """Text generated by a model, with the token counts that it reported; ``None`` if it reported none."""

    prompt_tokens: int | None
    answer_tokens: int | None

    def __new__(cls, text: str, prompt_tokens: int | None = None, answer_tokens: int | None = None) -> Self:
        made = super().__new__(cls, text)
        made.prompt_tokens, made.answer_tokens = prompt_tokens, answer_tokens
        return made


class Generator(Protocol):
    """Language model that completes a prompt. Its text is untrusted: parse it, never execute it."""

    @property
    def fingerprint(self) -> str:
        """Return the identifier of the model and its location; asking a server for it may raise ModelUnavailable."""

    def generate(
        self,
        prompt: str,
        *,
        timeout_s: float,
        max_tokens: int,
        temperature: float = 0.0,
        schema: JsonSchema | None = None,
    ) -> str:
        """
        Return the model's answer to *prompt*, truncated at *max_tokens* of its own tokens, possibly within a word.

        At *temperature* 0 the same prompt has the same answer. With a *schema* the answer is JSON of that shape if the
        model supports constrained decoding; otherwise the prompt merely requests the shape. The answer may include
        reasoning before it. If the model counts its tokens, the result is a `GeneratedText`. The call returns or raises
        within *timeout_s* seconds, retries included.

        Raises:
            ModelUnavailable: unreachable, busy, or not finished in time; at once if *timeout_s* is not positive.
            ModelRefused: the model rejects the request permanently; `InputTooLong` if the prompt exceeds its context.
            ModelAnswerInvalid: the response does not have the expected shape.
        """


class ModelAnswers(Protocol):
    """
    Best-effort cache of model answers, so that the same question is not sent twice.

    The key is the model (its fingerprint), the purpose (a word such as ``expansion``) and the question (all other
    inputs), stored as one SHA-256. It is written like `clawmem.ports.telemetry`, with the same errors.
    """

    def get(self, model: str, purpose: str, question: str) -> str | None:
        """Return the answer stored last, unchanged; None if there is none."""

    def keep(self, model: str, purpose: str, answers: Mapping[str, str], *, at: str) -> None:
        """Store answers to questions at the time *at*, all or none; raise InvalidInput for an unpaired surrogate."""

    def trim(self, before: str, *, at_most: int | None = None) -> int:
        """Delete the answers stored before *before* (exclusive), the oldest *at_most*, and return their number."""

    def counts(self) -> dict[str, int]:
        """Return the number of answers for each purpose that has any."""


@dataclass(frozen=True, slots=True)
class ModelFailure:
    """Failure of a model, its reason as a sentence, and the first time at which it was seen to work again."""

    role: ModelRole
    model: str
    failed_at: str
    reason: str
    answered_at: str | None = None


class ModelFailures(Protocol):
    """Best-effort log of the last failure of each role; it is stored like `ModelAnswers`, with the same errors."""

    def record(self, failure: ModelFailure) -> None:
        """Store *failure* as the last one of its role."""

    def latest(self) -> Mapping[ModelRole, ModelFailure]:
        """Return the last failure of every role that has one, in the order of the roles."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of one model for one purpose, on one day or (``day`` is empty) in total; tokens may be estimated."""

    day: str
    model: str
    purpose: str
    calls: int = 1
    failed: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    took_ms: int = 0


class CostLedger(Protocol):
    """Sums of model costs by day, model and purpose."""

    def charge(self, cost: Cost) -> None:
        """Add *cost* to the sums of its day immediately, whether or not the answer is used."""

    def calls_on(self, day: str) -> int:
        """Return the number of calls on that day."""

    def totals(self) -> list[Cost]:
        """Return the total costs sorted by model and purpose; ``day`` is empty."""
