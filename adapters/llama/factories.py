"""
Factories of the default model for each role, run in this process.

They load no model before its first use, and download no model without permission.
"""

from __future__ import annotations

from pathlib import Path

from clawmem.adapters.llama.embedder import LlamaEmbedder
from clawmem.adapters.llama.generator import LlamaGenerator
from clawmem.adapters.llama.gguf import Role
from clawmem.adapters.llama.gguf_model import GgufModel, require_llama
from clawmem.adapters.llama.published import EMBEDDER, GENERATOR, RERANKER, PublishedModel
from clawmem.adapters.llama.reranker import LlamaReranker


def local_embedder(models_folder: Path | str, *, may_download: bool = False) -> LlamaEmbedder:
    """
    Return EmbeddingGemma, or the model file that replaces it.

    Args:
        models_folder: Folder with the model files.
        may_download: Download the file on first use.

    Raises:
        ExtraMissing: llama.cpp is not installed.
        ConfigError: the file does not exist and may not be downloaded, or the model has another role.
    """
    return LlamaEmbedder(_ready(EMBEDDER, models_folder, may_download))


def local_generator(models_folder: Path | str, *, may_download: bool = False) -> LlamaGenerator:
    """Return the model that rephrases queries. Arguments and errors are those of `local_embedder`."""
    return LlamaGenerator(_ready(GENERATOR, models_folder, may_download))


def local_reranker(models_folder: Path | str, *, may_download: bool = False) -> LlamaReranker:
    """Return the model that scores documents for a query. Arguments and errors are those of `local_embedder`."""
    return LlamaReranker(_ready(RERANKER, models_folder, may_download))


def opened(model: GgufModel) -> LlamaEmbedder | LlamaGenerator | LlamaReranker:
    """
    Return the adapter that uses *model* in its role.

    Raises:
        ExtraMissing: llama.cpp is not installed.
        ConfigError: the file does not exist, or the model has another role.
    """
    require_llama()
    model.known()
    if model.role is Role.EMBED:
        return LlamaEmbedder(model)
    return LlamaGenerator(model) if model.role is Role.GENERATE else LlamaReranker(model)


def _ready(published: PublishedModel, models_folder: Path | str, may_download: bool) -> GgufModel:
    require_llama()
    model = GgufModel(published, Path(models_folder), may_download=may_download)
    if model.is_there() or not may_download:
        model.known()
    return model
