"""The models on this machine: which are there, which is used, and whether they do what they should."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from struct import unpack
from time import perf_counter
from typing import Any, Protocol, cast

from clawmem.ports.embedder import Embedder
from clawmem.ports.errors import InvalidInput, NotFound
from clawmem.ports.generator import Generator
from clawmem.ports.records import Vector
from clawmem.ports.reranker import Reranker

CLOSE = 0.99  # cosine of a vector and its reference; bytes for numbers cost a third of that
QUESTION = "When did we move the login sessions to another database?"
TEXTS = 64
SLOW_TEXTS, FAST_MS = 8, 10.0  # of a model that takes longer for a question, so many are enough
ANSWER_TOKENS = 16
PATIENCE_S = 120.0

EMBED, GENERATE, RERANK = "embed", "generate", "rerank"

Progress = Callable[[int, int], None]


class LocalModel(Protocol):
    """A model that is run in process."""

    @property
    def name(self) -> str:
        """What it is called in the settings."""
        ...

    @property
    def role(self) -> str:
        """What it is for: embed, generate or rerank."""
        ...

    @property
    def summary(self) -> str:
        """What it is, in a line."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of its vectors; 0 for a model that makes none."""
        ...

    @property
    def origin(self) -> str:
        """Where it comes from; empty while it is not there."""
        ...

    @property
    def download_bytes(self) -> int:
        """What fetching it means; 0 when there is nothing to fetch."""
        ...

    def is_there(self) -> bool:
        """Whether nothing must be fetched before it can be used."""
        ...

    def size_bytes(self) -> int:
        """What it takes on disk beside the installed packages."""
        ...

    def add(self, source: Path | None, progress: Progress | None = None) -> None:
        """Put it in place, from the file *source* when there is one; otherwise it is fetched."""
        ...

    def remove(self) -> None:
        """Delete it."""
        ...

    def faults(self) -> list[str]:
        """What is wrong with its files."""
        ...

    def reference(self) -> Mapping[str, Vector]:
        """Texts and the vectors that they should have."""
        ...

    def opened(self) -> Embedder | Generator | Reranker:
        """The model in its role, ready to be used."""
        ...


@dataclass(frozen=True, slots=True)
class ModelState:
    """
    A model in a list.

    ``in_use`` is the choice of the settings for a model that makes vectors; one of the others is used as soon
    as it is there, unless a server is named. ``origin`` says where it came from.
    """

    name: str
    role: str
    there: bool
    in_use: bool
    dimensions: int
    size_bytes: int
    origin: str
    summary: str


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """
    What a model does on this machine.

    ``likeness`` is the lowest cosine of a vector and its reference, None without references. ``query_ms`` is
    for a question, for one document with its question, or for a short answer, by the role; ``texts_per_second``
    is for a model that makes vectors. One with faults is not run.
    """

    name: str
    fingerprint: str
    faults: list[str]
    likeness: float | None = None
    query_ms: float | None = None
    texts_per_second: float | None = None

    @property
    def ok(self) -> bool:
        """Whether its files and its vectors are what they should be."""
        return not self.faults and (self.likeness is None or self.likeness >= CLOSE)


class Models:
    """The known models; *in_use* is the name of the one that the settings amount to."""

    def __init__(self, known: Sequence[LocalModel], in_use: str) -> None:
        self._known = {model.name: model for model in known}
        self._in_use = in_use

    def all(self) -> list[ModelState]:
        """Every model, in the order in which they are known."""
        return [self._state(model) for model in self._known.values()]

    def download_bytes(self, name: str) -> int:
        """What adding a model from nowhere fetches. Raises `NotFound` when there is none of that name."""
        return self._named(name).download_bytes

    def add(self, name: str, source: Path | None = None, progress: Progress | None = None) -> ModelState:
        """
        Put a model in place, anew when it is there.

        Args:
            source: A file that was fetched before; None fetches it.
            progress: Told the bytes that are here, and all.

        Raises:
            NotFound: no model of that name.
            ConfigError: it cannot be fetched or built.
        """
        self._named(name).add(source, progress)
        return self._state(self._named(name))

    def remove(self, name: str) -> None:
        """
        Delete a model.

        Raises:
            NotFound: no model of that name.
            InvalidInput: it is not there, or it is the one in use.
        """
        model = self._present(name)
        if name == self._in_use and model.size_bytes():
            raise InvalidInput(
                "INVALID_INPUT", f"{name!r} is in use. Choose another first: clawmem models use static"
            )
        model.remove()

    def usable(self, name: str) -> Embedder:
        """
        A model that could make the vectors now.

        Raises:
            NotFound: no model of that name.
            InvalidInput: it is not there, or it makes no vectors.
            ConfigError: what runs it is not installed.
        """
        model = self._present(name)
        if model.role != EMBED:
            raise InvalidInput(
                "INVALID_INPUT",
                f"{name!r} makes no vectors; it is used as soon as it is there. "
                f"To be without it: clawmem models remove {name}",
            )
        return cast("Embedder", model.opened())

    def check(self, name: str) -> ModelCheck:
        """
        Read its files, ask it what its role is for and measure how fast it is; about a second, or ten.

        Raises:
            NotFound: no model of that name.
            InvalidInput: it is not there.
            EmbeddingError, ModelError, ConfigError: it cannot be loaded.
        """
        model = self._present(name)
        opened = model.opened()
        if faults := model.faults():
            return ModelCheck(name, opened.fingerprint, faults)
        measured = _MEASURES[model.role](opened, model.reference())
        return ModelCheck(name, opened.fingerprint, [], *measured)

    def _named(self, name: str) -> LocalModel:
        if name not in self._known:
            raise NotFound("model", name, suggestions=sorted(self._known))
        return self._known[name]

    def _present(self, name: str) -> LocalModel:
        model = self._named(name)
        if not model.is_there():
            raise InvalidInput("NOT_ADDED", f"{name!r} is not there yet. Run: clawmem models add {name}")
        return model

    def _state(self, model: LocalModel) -> ModelState:
        is_there = model.is_there()
        return ModelState(
            name=model.name,
            role=str(model.role),
            there=is_there,
            in_use=model.name == self._in_use if model.role == EMBED else is_there,
            dimensions=model.dimensions,
            size_bytes=model.size_bytes(),
            origin=model.origin,
            summary=model.summary,
        )


_Measured = tuple[float | None, float, float | None]  # likeness, milliseconds, texts a second


def _as_embedder(embedder: Embedder, reference: Mapping[str, Vector]) -> _Measured:
    return _likeness(embedder, reference), *_speed(embedder)


def _as_generator(generator: Generator, reference: Mapping[str, Vector]) -> _Measured:
    def ask() -> object:
        return generator.generate(QUESTION, timeout_s=PATIENCE_S, max_tokens=ANSWER_TOKENS)

    ask()
    return None, 1000 * _seconds(ask), None


def _as_reranker(reranker: Reranker, reference: Mapping[str, Vector]) -> _Measured:
    texts = [f"{number}. {QUESTION * 6}" for number in range(SLOW_TEXTS)]
    reranker.rerank(QUESTION, texts[:1], timeout_s=PATIENCE_S)
    took_s = _seconds(lambda: reranker.rerank(QUESTION, texts, timeout_s=PATIENCE_S))
    return None, 1000 * took_s / SLOW_TEXTS, None


_MEASURES: Mapping[str, Callable[[Any, Mapping[str, Vector]], _Measured]] = {
    EMBED: _as_embedder,
    GENERATE: _as_generator,
    RERANK: _as_reranker,
}


def _likeness(embedder: Embedder, reference: Mapping[str, Vector]) -> float | None:
    vectors = embedder.embed_documents(list(reference))
    return min(map(_cosine, vectors, reference.values()), default=None)


def _cosine(one: Vector, other: Vector) -> float:
    """Of two vectors of length one; 0 when they cannot be compared."""
    if len(one) != len(other):
        return 0.0
    cosine = sum(x * y for x, y in zip(_numbers(one), _numbers(other), strict=True))
    return cosine if math.isfinite(cosine) else 0.0


def _numbers(vector: Vector) -> tuple[float, ...]:
    return unpack(f"<{len(vector) // 4}f", vector)


def _speed(embedder: Embedder) -> tuple[float, float]:
    """Milliseconds a question, the best of some, and texts a second, of about sixty words."""
    embedder.embed_query(QUESTION)
    query_ms = 1000 * min(_seconds(lambda: embedder.embed_query(QUESTION)) for _ in range(10))
    count = TEXTS if query_ms < FAST_MS else SLOW_TEXTS
    texts = [f"{number}. {QUESTION * 6}" for number in range(count)]
    return query_ms, count / _seconds(lambda: embedder.embed_documents(texts))


def _seconds(work: Callable[[], object]) -> float:
    began = perf_counter()
    work()
    return perf_counter() - began
