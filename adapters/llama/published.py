"""Default models: one per role, small enough for a laptop."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.adapters.llama.gguf import Role


class PublishedModel(NamedTuple):
    """
    A published model: one file at a URL whose content never changes.

    ``dimensions`` is the length of its vectors, 0 for a model that produces none.
    """

    name: str
    role: Role
    summary: str
    url: str
    size: int
    sha256: str
    dimensions: int = 0


EMBEDDER = PublishedModel(
    "embeddinggemma",
    Role.EMBED,
    "EmbeddingGemma 300M, Q8_0, a hundred languages, reads 2048 tokens (Gemma terms of use)",
    "https://huggingface.co/ggml-org/embeddinggemma-300M-GGUF/resolve/"
    "0f741b5a6585bd53aeb15cd1372c56f2a0f65e12/embeddinggemma-300M-Q8_0.gguf",
    333_590_944,
    "b5ce9d77a3fc4b3b39ccb5643c36777911cc4eb46a66962eadfa3f5f60490d63",
    dimensions=768,
)
GENERATOR = PublishedModel(
    "qmd-query-expansion",
    Role.GENERATE,
    "Qwen3 1.7B tuned to rephrase questions, Q4_K_M (MIT)",
    "https://huggingface.co/tobil/qmd-query-expansion-1.7B-gguf/resolve/"
    "7816de0b72572c6c860ca1eddf97ba9e7fb8cc65/qmd-query-expansion-1.7B-q4_k_m.gguf",
    1_282_438_912,
    "000dfb1c06efa6a049e9f64ba921c3740e2454f62abab6fa10e77bd30bb2bcc0",
)
RERANKER = PublishedModel(
    "qwen3-reranker",
    Role.RERANK,
    "Qwen3-Reranker 0.6B, Q8_0 (Apache-2.0)",
    "https://huggingface.co/ggml-org/Qwen3-Reranker-0.6B-Q8_0-GGUF/resolve/"
    "a02f48bb4f057028298c21fa033da2b30d7742d5/qwen3-reranker-0.6b-q8_0.gguf",
    639_153_184,
    "22c9979ce4fbcdc5acdc310c6641c32797eff1aa980b8f7a2db8a8ea23429a48",
)
ALL = (EMBEDDER, GENERATOR, RERANKER)
