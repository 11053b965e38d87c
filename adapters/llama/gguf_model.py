"""A model that clawmem knows by name, as a file below the folder of models."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from clawmem.adapters.llama import model_file
from clawmem.adapters.llama.gguf import Role
from clawmem.adapters.llama.model_file import Known
from clawmem.adapters.llama.published import Published
from clawmem.ports.errors import ConfigError, ExtraMissing

if TYPE_CHECKING:
    from clawmem.adapters.llama.download import Progress
    from clawmem.ports.embedder import Embedder
    from clawmem.ports.generator import Generator
    from clawmem.ports.records import Vector
    from clawmem.ports.reranker import Reranker

EXTRA = "local"
NAMING_TIMEOUT_S = 2.0  # a download that has only begun is no reason to keep anybody waiting


class GgufModel:
    """The published model, or whatever of its kind was put in its place."""

    def __init__(self, published: Published, folder: Path, *, may_download: bool = False) -> None:
        """
        Args:
            folder: Where models are kept.
            may_download: Fetch the file when it is first needed.
        """
        self._published = published
        self._may_download = may_download
        self.path = folder / f"{published.name}.gguf"
        self.label = f"{published.name!r} in this process"

    @property
    def name(self) -> str:
        """What it is called in the settings."""
        return self._published.name

    @property
    def role(self) -> Role:
        """What it is for."""
        return self._published.role

    @property
    def summary(self) -> str:
        """What it is, in a line."""
        return self._published.summary

    @property
    def dimensions(self) -> int:
        """Length of its vectors; 0 for a model that makes none."""
        if self.role is not Role.EMBED:
            return 0
        return self.known().width if self.is_there() else self._published.dimensions

    @property
    def origin(self) -> str:
        """Where it comes from; empty while it is not there."""
        if not self.is_there():
            return ""
        return "published" if self.known().sha256 == self._published.sha256 else "a file of your own"

    @property
    def download_bytes(self) -> int:
        """What fetching it means."""
        return self._published.size

    def is_there(self) -> bool:
        """Whether nothing must be fetched before it can be used."""
        return self.path.is_file()

    def size_bytes(self) -> int:
        """What it takes on disk."""
        return self.path.stat().st_size if self.is_there() else 0

    def add(self, source: Path | None, progress: Progress | None = None) -> None:
        """
        Copy it from *source*, a file of its kind; None downloads it. What was there is replaced.

        Raises:
            ExtraMissing: what runs it is not installed.
            ConfigError: no download, no model, or one of another kind.
        """
        require_llama()
        if source is None:
            self._download(progress)
        else:
            self._copy(source)
        self.__dict__.pop("_known", None)

    def remove(self) -> None:
        """Delete its file."""
        model_file.remove(self.path)

    def faults(self) -> list[str]:
        """Whether its file is the one that was added, by reading all of it."""
        as_added = model_file.known(self.path).sha256
        return (
            []
            if model_file.hash_of(self.path) == as_added
            else [f"{self.path} has changed since it was added"]
        )

    def reference(self) -> Mapping[str, Vector]:
        """None is kept."""
        return {}

    def opened(self) -> Embedder | Generator | Reranker:
        """The model, ready to be used. Raises `ExtraMissing` when nothing can run it."""
        from clawmem.adapters.llama.factories import opened

        return opened(self)

    def known(self, timeout_s: float | None = None) -> Known:
        """
        What its file is; fetched before when it may be, within *timeout_s*.

        Raises:
            ConfigError: there is no file, or one of another kind.
            ModelUnavailable: there was no time to fetch all of it.
        """
        if self._may_download and not self.is_there():
            self._download(None, timeout_s)
        return self._known

    @cached_property
    def _known(self) -> Known:
        if not self.is_there():
            raise self._missing()
        return self._refused_if_other(model_file.known(self.path))

    def _missing(self) -> ConfigError:
        return ConfigError(
            f"The model {self.name!r} is not there. Run: clawmem models add {self.name}  "
            f"(downloads {self._published.size / 1e6:.0f} MB; with --file FILE it takes one that you have.)"
        )

    def _refused_if_other(self, found: Known) -> Known:
        if found.role is not self.role:
            raise ConfigError(
                f"{self.path} is a model to {found.role} ({found.architecture}), not to {self.role}. "
                f"Run: clawmem models add {self.name}"
            )
        return found

    def _download(self, progress: Progress | None, timeout_s: float | None = None) -> None:
        from clawmem.adapters.llama.download import Remote, download

        remote = Remote(self._published.url, self._published.size, self._published.sha256)
        download(remote, self.path, progress=progress, timeout_s=timeout_s)
        model_file.remember(self.path, self._published.sha256)

    def _copy(self, source: Path) -> None:
        draft = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, draft)
            self._try(draft, source)
            draft.replace(self.path)
            model_file.remember(self.path, model_file.hash_of(self.path))
        except OSError as error:
            raise ConfigError(f"{source} cannot be copied to {self.path}: {error.strerror}.") from error
        finally:
            model_file.remove(draft)

    def _try(self, draft: Path, source: Path) -> None:
        """Refuse what is not a model of this kind, or cannot be loaded."""
        from clawmem.adapters.llama.gguf import NotGguf, read_header
        from clawmem.adapters.llama.loading import loaded

        try:
            header = read_header(draft)
        except NotGguf as error:
            raise ConfigError(
                f"{source} is no model for llama.cpp: {error}. Nothing was installed."
            ) from error
        if header.role is not self.role:
            raise ConfigError(
                f"{source} is a model to {header.role} ({header.architecture}), {self.name!r} is one to "
                f"{self.role}. Nothing was installed."
            )
        loaded(draft, header)


def require_llama() -> None:
    """Raises `ExtraMissing` when llama.cpp is not installed."""
    if find_spec("xllamacpp") is None:  # finds, does not import
        raise ExtraMissing("xllamacpp", extra=EXTRA)
