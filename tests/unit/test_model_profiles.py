"""What models want to be told."""

from __future__ import annotations

import pytest

from clawmem.adapters.models.server import prompts_of


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gemma-embedding Embeddinggemma 300M", "gemma"),
        ("gemma-embedding", "gemma"),
        ("nomic-bert Nomic Embed Text v1.5", "nomic"),
        ("bert Bge Small En v1.5", "bge"),
        ("qwen3 Qwen3 Embedding 0.6b", "qwen3"),
        ("bert", "plain"),
    ],
)
def test_prompts_of_what_a_file_says_about_itself(model: str, name: str) -> None:
    """An architecture and a title with spaces tell a model's family as its file's name does."""
    assert prompts_of(model).name == name


def test_questions_and_documents_are_told_apart() -> None:
    """A question and what is searched begin differently for a model that was trained so."""
    gemma = prompts_of("embeddinggemma")

    assert (gemma.query, gemma.document) == ("task: search result | query: ", "title: none | text: ")
