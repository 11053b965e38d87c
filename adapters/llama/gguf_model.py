"""A model of the catalogue, as a GGUF file in the folder of models."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from clawmem.adapters.llama import model_file
from clawmem.adapters.llama.gguf import Role
from clawmem.adapters.llama.model_file import ModelFacts
from clawmem.adapters.llama.published import PublishedModel
from clawmem.ports.errors import ConfigError, ExtraMissing, InputTooLong

if TYPE_CHECKING:
    from clawmem.adapters.llama.download import Progress
    from clawmem.ports.embedder import Embedder
    from clawmem.ports.generator import Generator
    from clawmem.ports.records import Vector
    from clawmem.ports.reranker import Reranker

EXTRA = "local"
NAMING_TIMEOUT_S = 2.0  # a caller does not wait for a download that has just begun


class GgufModel:
    """A published model, or another model file of the same role that replaces it."""

    def __init__(self, published: PublishedModel, folder: Path, *, may_download: bool = False) -> None:
        """
        Describe the model without reading its file.

        Args:
            folder: Folder with the model files.
            may_download: Download the file on first use.
        """
        self._published = published
        self._may_download = may_download
        self.path = folder / f"{published.name}.gguf"
        self.label = f"{published.name!r} in this process"

    @property
    def name(self) -> str:
        """Name of the model in the settings."""
        return self._published.name

    @property
    def role(self) -> Role:
        """Task of the model."""
        return self._published.role

    @property
    def summary(self) -> str:
        """Description of the model in one line."""
        return self._published.summary

    @property
    def dimensions(self) -> int:
        """Length of its vectors; 0 for a model that produces none."""
        if self.role is not Role.EMBED:
            return 0
        return self.known().width if self.is_there() else self._published.dimensions

    @property
    def origin(self) -> str:
        """Origin of the file, published or the user's own; empty if the file does not exist."""
        if not self.is_there():
            return ""
        return "published" if self.known().sha256 == self._published.sha256 else "a file of your own"

    @property
    def download_bytes(self) -> int:
        """Size of the download in bytes."""
        return self._published.size

    def is_there(self) -> bool:
        """Whether the file exists, so that using the model needs no download."""
        return self.path.is_file()

    def size_bytes(self) -> int:
        """Return the size of the file on disk; 0 if it does not exist."""
        return self.path.stat().st_size if self.is_there() else 0

    def add(self, source: Path | None, progress: Progress | None = None) -> None:
        """
        Install the model from the file *source*, or download it if *source* is None. Replaces an existing
        file.

        Raises:
            ExtraMissing: llama.cpp is not installed.
            ConfigError: the download failed, or *source* is no model or a model with another role.
        """
        require_llama()
        if source is None:
            self._download(progress)
        else:
            self._copy(source)
        self.__dict__.pop("_known", None)

    def remove(self) -> None:
        """Delete the file of the model."""
        model_file.remove(self.path)

    def faults(self) -> list[str]:
        """Compare the checksum of the file with the one recorded when it was added."""
        as_added = model_file.known(self.path).sha256
        return (
            []
            if model_file.hash_of(self.path) == as_added
            else [f"{self.path} has changed since it was added"]
        )

    def reference(self) -> Mapping[str, Vector]:
        """Return no reference vectors, because none are stored for these models."""
        return {}

    def opened(self) -> Embedder | Generator | Reranker:
        """Return the adapter for the model. Raises `ExtraMissing` if llama.cpp is not installed."""
        from clawmem.adapters.llama.factories import opened

        return opened(self)

    def known(self, timeout_s: float | None = None) -> ModelFacts:
        """
        Return the facts about the model file, downloading it first if allowed, within *timeout_s*.

        Raises:
            ConfigError: the file does not exist, or the model has another role.
            ModelUnavailable: the download did not finish in time.
        """
        if self._may_download and not self.is_there():
            self._download(None, timeout_s)
        return self._known

    @cached_property
    def _known(self) -> ModelFacts:
        if not self.is_there():
            raise self._missing()
        return self._check_role(model_file.known(self.path))

    def _missing(self) -> ConfigError:
        return ConfigError(
            f"The model {self.name!r} is not there. Run: clawmem models add {self.name}  "
            f"(downloads {self._published.size / 1e6:.0f} MB; with --file FILE it takes one that you have.)"
        )

    def _check_role(self, found: ModelFacts) -> ModelFacts:
        if found.role is not self.role:
            raise ConfigError(
                f"{self.path} is a model to {found.role} ({found.architecture}), not to {self.role}. "
                f"Run: clawmem models add {self.name}"
            )
        return found

    def _download(self, progress: Progress | None, timeout_s: float | None = None) -> None:
        from clawmem.adapters.llama.download import RemoteFile, download

        remote = RemoteFile(self._published.url, self._published.size, self._published.sha256)
        download(remote, self.path, progress=progress, timeout_s=timeout_s)
        model_file.record_facts(self.path, self._published.sha256)

    def _copy(self, source: Path) -> None:
        draft = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, draft)
            self._check_loadable(draft, source)
            draft.replace(self.path)
            model_file.record_facts(self.path, model_file.hash_of(self.path))
        except OSError as error:
            raise ConfigError(f"{source} cannot be copied to {self.path}: {error.strerror}.") from error
        finally:
            model_file.remove(draft)

    def _check_loadable(self, draft: Path, source: Path) -> None:
        """Raise an error if the file is no model of this role or cannot be loaded."""
        from clawmem.adapters.llama.gguf import NotGguf, read_header
        from clawmem.adapters.llama.loading import loaded

        try:
            header = read_header(draft)
        except NotGguf as error:
            raise ConfigError(
                f"{source} is not a model for llama.cpp: {error}. Nothing was installed."
            ) from error
        if header.role is not self.role:
            raise ConfigError(
                f"{source} is a model to {header.role} ({header.architecture}), {self.name!r} is one to "
                f"{self.role}. Nothing was installed."
            )
        loaded(draft, header)


def require_llama() -> None:
    """Raise `ExtraMissing` if llama.cpp is not installed."""
    if find_spec("xllamacpp") is None:  # finds the package without importing it
        raise ExtraMissing("xllamacpp", extra=EXTRA)


Made = TypeVar("Made")

_CUTS = 4  # number of times that a text is shortened before giving up
_MARGIN = 0.9  # tokens are not spread evenly over a text


def sendable(text: str) -> str:
    """Return *text* with question marks for characters that UTF-8 cannot encode (unpaired surrogates)."""
    return text.encode("utf-8", "replace").decode("utf-8")


def fitted(text: str, ask: Callable[[str], Made]) -> Made:
    """
    Return the result of *ask* for *text*, or for the longest beginning of it that the model accepts.

    Raises:
        InputTooLong: even the shortened text does not fit.
    """
    for _ in range(_CUTS):
        try:
            return ask(text)
        except InputTooLong as error:
            text = _shortened(text, error)
    return ask(text)


def _shortened(text: str, error: InputTooLong) -> str:
    share = error.limit / error.tokens if error.limit and error.tokens else 0.5
    return text[: max(1, int(len(text) * min(share, 1.0) * _MARGIN))]
