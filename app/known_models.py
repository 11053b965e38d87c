"""Every model that can run in this process, by name: those whose vectors cost little, and the large ones."""

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
    """The small ones first; added ones are kept below *folder*."""
    from clawmem.adapters.llama.gguf_model import GgufModel
    from clawmem.adapters.llama.published import ALL

    return [*catalogue.known_models(folder), *(GgufModel(one, Path(folder)) for one in ALL)]


def selected(wanted: str, folder: Path | str) -> Selection:
    """
    The model *wanted*; with ``auto`` the best of the small ones that is there.

    A large one has to be wanted by name: it makes a question wait for a second until it is loaded.
    """
    return catalogue.selected(wanted, folder)


def embedder_named(wanted: str, folder: Path | str) -> Embedder:
    """
    The embedder of `selected`, which loads its weights with the first text, and never downloads them.

    Raises:
        NotFound: no model of that name.
        EmbeddingError, ConfigError: it was asked for by name and is not there.
        ExtraMissing: it was asked for by name and nothing can run it.
    """
    name = selected(wanted, folder).name
    if name in (catalogue.STATIC, catalogue.MINILM):
        return catalogue.embedder_named(name, folder)
    large = {model.name: model for model in known_models(folder) if model.role == catalogue.EMBED}
    if name not in large:
        raise NotFound("model", name, suggestions=sorted(model.name for model in known_models(folder)))
    return cast("Embedder", large[name].opened())


def embedder_of(fingerprint: str, folder: Path | str) -> Embedder | None:
    """The embedder that makes vectors of this fingerprint, if one that is known by name here does."""
    if small := catalogue.embedder_of(fingerprint, folder):
        return small
    from clawmem.adapters.llama.published import EMBEDDER

    if fingerprint.startswith(f"llama.cpp:{EMBEDDER.name}:"):
        with suppress(ConfigError):  # it is not there, or nothing runs it
            large = embedder_named(EMBEDDER.name, folder)
            return large if large.fingerprint == fingerprint else None
    return None
