"""The contracts of models, by llama.cpp in this process with tiny models of random numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from importlib.util import find_spec
from typing import Any

import pytest
from llama_server import Role, write_model

from clawmem.adapters.models.api import ApiEmbedder, ApiGenerator, ApiReranker
from clawmem.adapters.models.catalogue import model_named
from clawmem.contracts.models import EmbedderContract, GeneratorContract, RerankerContract

Models = dict[str, Any]

pytestmark = pytest.mark.skipif(
    not (find_spec("xllamacpp") and find_spec("gguf")), reason="needs pip install xllamacpp gguf"
)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Models]:
    """An adapter of each role by the name of its model, each loaded once."""
    folder = tmp_path_factory.mktemp("models")
    with ExitStack() as stack:
        opened: Models = {}
        for name in ("embeddinggemma", "qmd-query-expansion", "qwen3-reranker"):
            model = model_named(name, folder)
            write_model(Role(model.role), folder / "tiny.gguf")
            model.add(folder / "tiny.gguf")
            opened[model.role] = stack.enter_context(closing(model.opened()))  # type: ignore[type-var]
        yield opened


class TestLlamaEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, models: Models) -> ApiEmbedder:
        return models[Role.EMBED]  # type: ignore[no-any-return]


class TestLlamaGenerator(GeneratorContract):
    @pytest.fixture
    def generator(self, models: Models) -> ApiGenerator:
        return models[Role.GENERATE]  # type: ignore[no-any-return]


class TestLlamaReranker(RerankerContract):
    @pytest.fixture
    def reranker(self, models: Models) -> ApiReranker:
        return models[Role.RERANK]  # type: ignore[no-any-return]
