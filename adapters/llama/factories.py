"""
The usual model of each role, in this process.

Nothing is loaded before it is used, and nothing is downloaded unless that is said.
"""

from __future__ import annotations

from pathlib import Path

from clawmem.adapters.llama.embedder import LlamaEmbedder
from clawmem.adapters.llama.generator import LlamaGenerator
from clawmem.adapters.llama.gguf import Role
from clawmem.adapters.llama.gguf_model import GgufModel, require_llama
from clawmem.adapters.llama.published import EMBEDDER, GENERATOR, RERANKER, Published
from clawmem.adapters.llama.reranker import LlamaReranker


def local_embedder(models_folder: Path | str, *, may_download: bool = False) -> LlamaEmbedder:
    """
    EmbeddingGemma, or the file that was put in its place.

    Args:
        models_folder: Where models are kept.
        may_download: Fetch the file when it is first needed.

    Raises:
        ExtraMissing: llama.cpp is not installed.
        ConfigError: there is no file and none may be fetched, or it is one of another kind.
    """
    return LlamaEmbedder(_ready(EMBEDDER, models_folder, may_download))


def local_generator(models_folder: Path | str, *, may_download: bool = False) -> LlamaGenerator:
    """The model that rephrases questions; as `local_embedder`."""
    return LlamaGenerator(_ready(GENERATOR, models_folder, may_download))


def local_reranker(models_folder: Path | str, *, may_download: bool = False) -> LlamaReranker:
    """The model that compares answers with a question; as `local_embedder`."""
    return LlamaReranker(_ready(RERANKER, models_folder, may_download))


def opened(model: GgufModel) -> LlamaEmbedder | LlamaGenerator | LlamaReranker:
    """
    *model* in the role that it has.

    Raises:
        ExtraMissing: llama.cpp is not installed.
        ConfigError: there is no file, or it is one of another kind.
    """
    require_llama()
    model.known()
    if model.role is Role.EMBED:
        return LlamaEmbedder(model)
    return LlamaGenerator(model) if model.role is Role.GENERATE else LlamaReranker(model)


def _ready(published: Published, models_folder: Path | str, may_download: bool) -> GgufModel:
    require_llama()
    model = GgufModel(published, Path(models_folder), may_download=may_download)
    if model.is_there() or not may_download:
        model.known()
    return model
