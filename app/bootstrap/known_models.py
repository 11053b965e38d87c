"""The models that can run in this process, by name: small embedders and large models."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

from clawmem.adapters.models import catalogue
from clawmem.adapters.models.catalogue import Selection
from clawmem.ports.errors import ConfigError, NotFound

if TYPE_CHECKING:
    from clawmem.app.services.maintenance.models import LocalModel
    from clawmem.ports.embedder import Embedder


def known_models(folder: Path | str) -> list[LocalModel]:
    """Return the known models, small ones first; installed models are stored below *folder*."""
    from clawmem.adapters.llama.gguf_model import GgufModel
    from clawmem.adapters.llama.published import ALL

    return [*catalogue.known_models(folder), *(GgufModel(one, Path(folder)) for one in ALL)]


def selected(wanted: str, folder: Path | str) -> Selection:
    """
    Return the selection of the model *wanted*; ``auto`` selects the best installed small model.

    A large model must be selected by name: a question waits about a second until the model is loaded.
    """
    return catalogue.selected(wanted, folder)


def embedder_named(wanted: str, folder: Path | str) -> Embedder:
    """
    Return the embedder of `selected`; it loads its weights with the first text, and never downloads them.

    Raises:
        NotFound: There is no model of that name.
        EmbeddingError, ConfigError: The model was selected by name and is not installed.
        ExtraMissing: The model was selected by name and its runtime is not installed.
    """
    name = selected(wanted, folder).name
    if name in (catalogue.STATIC, catalogue.MINILM):
        return catalogue.embedder_named(name, folder)
    large = {model.name: model for model in known_models(folder) if model.role == catalogue.EMBED}
    if name not in large:
        raise NotFound("model", name, suggestions=sorted(model.name for model in known_models(folder)))
    return cast("Embedder", large[name].opened())


def embedder_of(fingerprint: str, folder: Path | str) -> Embedder | None:
    """Return the known embedder whose vectors have this fingerprint; ``None`` if there is none."""
    if small := catalogue.embedder_of(fingerprint, folder):
        return small
    from clawmem.adapters.llama.published import EMBEDDER

    if fingerprint.startswith(f"llama.cpp:{EMBEDDER.name}:"):
        with suppress(ConfigError):  # the model or its runtime is not installed
            large = embedder_named(EMBEDDER.name, folder)
            return large if large.fingerprint == fingerprint else None
    return None
