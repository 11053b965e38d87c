"""The contracts of models: the references in memory, and the adapters over HTTP against a real llama.cpp server."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from llama_server import Role, running

from clawmem.adapters.memory.models import OverlapReranker, ScriptedGenerator
from clawmem.adapters.models.api import ApiEmbedder, ApiGenerator, ApiReranker
from clawmem.adapters.system.clock import SystemClock
from clawmem.contracts.models import (
    EmbedderContract,
    GeneratorContract,
    RerankerContract,
    RerankerJudgementContract,
)

needs_server = pytest.mark.skipif(
    not (find_spec("xllamacpp") and find_spec("gguf")),
    reason="needs a llama.cpp server: pip install xllamacpp gguf",
)


class TestScriptedGenerator(GeneratorContract):
    @pytest.fixture
    def generator(self) -> ScriptedGenerator:
        return ScriptedGenerator()


class TestOverlapReranker(RerankerContract, RerankerJudgementContract):
    @pytest.fixture
    def reranker(self) -> OverlapReranker:
        return OverlapReranker()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the models of this file's servers lie."""
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def embed_address(folder: Path) -> Iterator[str]:
    with running(Role.EMBED, folder) as address:
        yield address


@pytest.fixture(scope="module")
def generate_address(folder: Path) -> Iterator[str]:
    with running(Role.GENERATE, folder) as address:
        yield address


@pytest.fixture(scope="module")
def rerank_address(folder: Path) -> Iterator[str]:
    with running(Role.RERANK, folder) as address:
        yield address


@needs_server
class TestHttpEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, embed_address: str) -> Iterator[ApiEmbedder]:
        made = ApiEmbedder.at(embed_address, SystemClock())
        yield made
        made.close()


@needs_server
class TestHttpGenerator(GeneratorContract):
    @pytest.fixture
    def generator(self, generate_address: str) -> Iterator[ApiGenerator]:
        made = ApiGenerator.at(generate_address, SystemClock())
        yield made
        made.close()


@needs_server
class TestHttpReranker(RerankerContract):
    @pytest.fixture
    def reranker(self, rerank_address: str) -> Iterator[ApiReranker]:
        made = ApiReranker.at(rerank_address, SystemClock())
        yield made
        made.close()
