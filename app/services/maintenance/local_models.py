"""Local models: which are installed, which is used, and whether they work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, cast

from clawmem.ports.errors import InvalidInput, NotFound
from clawmem.ports.models import Embedder, Generator, Reranker

EMBED, GENERATE, RERANK = "embed", "generate", "rerank"


class LocalModel(Protocol):
    """
    A model that is run in process.

    ``role`` is embed, generate or rerank; ``download_bytes`` is 0 when there is nothing to download.
    """

    name: str
    role: str
    summary: str
    download_bytes: int

    @property
    def dimensions(self) -> int:
        """The length of its vectors; 0 for a model that makes none."""

    @property
    def origin(self) -> str:
        """The source of the installed files; empty while the model is not installed."""

    def is_there(self) -> bool:
        """Whether the model can be used without a download."""

    def size_bytes(self) -> int:
        """Return its size on disk in bytes, without the installed packages."""

    def add(self, source: Path | None) -> None:
        """
        Install the model from the file *source*, or download it if *source* is ``None``; replace an installed one.

        Raises:
            ConfigError: it cannot be downloaded or built.
        """

    def remove(self) -> None:
        """Delete the files of the model."""

    def faults(self) -> list[str]:
        """Return the faults of its files."""

    def opened(self) -> Embedder | Generator | Reranker:
        """Return the loaded model. Raises `ConfigError` if the packages that run it are not installed."""


@dataclass(frozen=True, slots=True)
class ModelState:
    """
    A model in the list of models.

    ``in_use`` for an embedder means that the settings select it. A generator or reranker is used as soon as it is
    installed, unless a server is configured. ``origin`` is the source of its files.
    """

    name: str
    role: str
    there: bool
    in_use: bool
    dimensions: int
    size_bytes: int
    origin: str
    summary: str
    problems: list[str] = field(default_factory=list)


class LocalModels:
    """The known models; *in_use* is the name of the embedder that the settings select."""

    def __init__(self, known: Sequence[LocalModel], in_use: str) -> None:
        self._known = {model.name: model for model in known}
        self._in_use = in_use

    def states(self) -> list[ModelState]:
        """Return the state of every model, in the order of *known*."""
        return [*map(self.state, self._known)]

    def state(self, name: str) -> ModelState:
        """Return the state of a model. Raises `NotFound` if no model has that name."""
        model = self.find(name)
        return ModelState(
            name=model.name,
            role=str(model.role),
            there=model.is_there(),
            in_use=model.name == self._in_use if model.role == EMBED else model.is_there(),
            dimensions=model.dimensions,
            size_bytes=model.size_bytes(),
            origin=model.origin,
            summary=model.summary,
        )

    def find(self, name: str, *, installed: bool = False) -> LocalModel:
        """Return a model by its name. Raises `NotFound`, and `InvalidInput` if it should be *installed* and is not."""
        if name not in self._known:
            raise NotFound("model", name, suggestions=sorted(self._known))
        if installed and not self._known[name].is_there():
            raise InvalidInput("NOT_ADDED", f"{name!r} is not installed. Run: clawmem models add {name}")
        return self._known[name]

    def remove(self, name: str) -> None:
        """Delete a model. Raises as `find`, and `InvalidInput` if it is in use."""
        model = self.find(name, installed=True)
        if name == self._in_use and model.size_bytes():
            message = f"{name!r} is in use. Choose another first: clawmem models use static"
            raise InvalidInput("INVALID_INPUT", message)
        model.remove()

    def usable(self, name: str) -> Embedder:
        """Return the model as an embedder. Raises as `find` and `LocalModel.opened`, and `InvalidInput` for others."""
        model = self.find(name, installed=True)
        if model.role != EMBED:
            raise InvalidInput(
                "INVALID_INPUT",
                f"{name!r} makes no vectors; it is used as soon as it is installed. "
                f"To stop using it: clawmem models remove {name}",
            )
        return cast("Embedder", model.opened())

    def check(self, name: str) -> ModelState:
        """Return the state of an installed model with the faults of its files. Raises as `find`."""
        faults = self.find(name, installed=True).faults()
        remedy = [f"Run: clawmem models add {name}"] if faults else []
        return replace(self.state(name), problems=[*faults, *remedy])
