from __future__ import annotations

from dataclasses import dataclass


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
