"""The contracts of models, by llama.cpp in this process with tiny models of random numbers."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

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


class TestLlamaEmbedder(EmbedderContract):
    @pytest.fixture(scope="class")
    def embedder(self, folder: Path) -> Iterator[LlamaEmbedder]:
        made = local_embedder(folder)
        yield made
        made.close()


class TestLlamaGenerator(GeneratorContract):
    @pytest.fixture(scope="class")
    def generator(self, folder: Path) -> Iterator[LlamaGenerator]:
        made = local_generator(folder)
        yield made
        made.close()


class TestLlamaReranker(RerankerContract):
    @pytest.fixture(scope="class")
    def reranker(self, folder: Path) -> Iterator[LlamaReranker]:
        made = local_reranker(folder)
        yield made
        made.close()
