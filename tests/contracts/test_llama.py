"""The contracts of models, by llama.cpp in this process with tiny models of random numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from llama_server import Role, write_model

from clawmem.adapters.llama.embedder import LlamaEmbedder
from clawmem.adapters.llama.factories import local_embedder, local_generator, local_reranker
from clawmem.adapters.llama.generator import LlamaGenerator
from clawmem.adapters.llama.published import ALL
from clawmem.adapters.llama.reranker import LlamaReranker
from clawmem.contracts.embedder import EmbedderContract
from clawmem.contracts.generator import GeneratorContract
from clawmem.contracts.reranker import RerankerContract

Models = dict[Callable[..., Any], Any]

pytestmark = pytest.mark.skipif(
    not (find_spec("xllamacpp") and find_spec("gguf")), reason="needs pip install xllamacpp gguf"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of each role, in the places of the published ones."""
    made = tmp_path_factory.mktemp("models")
    for model in ALL:
        write_model(Role(model.role), made / f"{model.name}.gguf")
    return made


@pytest.fixture(scope="module")
def models(folder: Path) -> Iterator[Models]:
    """The three adapters, each loaded once."""
    with ExitStack() as stack:
        kinds = (local_embedder, local_generator, local_reranker)
        yield {kind: stack.enter_context(closing(kind(folder))) for kind in kinds}


class TestLlamaEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, models: Models) -> LlamaEmbedder:
        return models[local_embedder]  # type: ignore[no-any-return]


class TestLlamaGenerator(GeneratorContract):
    @pytest.fixture
    def generator(self, models: Models) -> LlamaGenerator:
        return models[local_generator]  # type: ignore[no-any-return]


class TestLlamaReranker(RerankerContract):
    @pytest.fixture
    def reranker(self, models: Models) -> LlamaReranker:
        return models[local_reranker]  # type: ignore[no-any-return]
