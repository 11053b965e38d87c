"""Records that describe the state of a vault, its embeddings and its models."""

from __future__ import annotations

from dataclasses import dataclass

from clawmem.ports.model_records import ModelRole


@dataclass(frozen=True, slots=True)
class VaultInfo:
    """Description of an open vault by its backend."""

    backend: str
    location: str
    schema: int
    size_bytes: int
    read_only: bool
    lexical_method: str
    vector_method: str


@dataclass(frozen=True, slots=True)
class EmbeddingCounts:
    """Progress of one model: texts with a vector, pending and failed, and vectors that no document uses."""

    stored: int = 0
    pending: int = 0
    failed: int = 0
    orphaned: int = 0


@dataclass(frozen=True, slots=True)
class EmbeddingBuild:
    """
    Progress of an embedding space with fingerprint ``fingerprint`` that is built next to the serving one.

    ``share`` is an approximate progress for display, 0 to 1: the fraction of documents passed.
    """

    fingerprint: str
    share: float


@dataclass(frozen=True, slots=True)
class ModelFailure:
    """
    Failure of a model to execute a request: its name and location, the time, and the reason as a sentence.

    ``answered_at`` is the first time at which it was seen to work again, None before that.
    """

    role: ModelRole
    model: str
    failed_at: str
    reason: str
    answered_at: str | None = None
