"""Policy of ``embedder: auto`` for a vault that has vectors."""

from __future__ import annotations


def keeps_vectors(serving: str | None, building: str | None, selected: str) -> bool:
    """
    Whether a vault keeps its vectors, although ``auto`` selects another model.

    A model that is installed later replaces no vectors without a request: embedding a large vault again takes long, and
    an environment variable that is missing in one shell must not cost any. The request is ``--force``; an interrupted
    replacement continues.

    Args:
        serving: Fingerprint of the model whose vectors answer; ``None`` without vectors.
        building: Fingerprint of the model whose vectors are under construction.
        selected: Fingerprint of the best installed model.
    """
    return serving is not None and selected not in (serving, building)
