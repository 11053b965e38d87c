"""``GET /health`` and ``GET /stats``: the health check of the server and its vault."""

from __future__ import annotations

import os

from typing_extensions import TypedDict

from clawmem.app.bootstrap.services import Services
from clawmem.app.interfaces.rest.operation import Nothing, reading
from clawmem.app.operations.collections import Collection, list_collections
from clawmem.app.version import VERSION


class Health(TypedDict):
    """A running server and its vault; ``/stats`` has the numbers of the vault."""

    status: str
    service: str
    version: str
    pid: int
    database: str
    hasVectors: bool


def health(services: Services, asked: Nothing) -> Health:
    """Return whether the server and its vault answer, without counting anything."""
    return {
        "status": "ok",
        "service": "clawmem",
        "version": VERSION,
        "pid": os.getpid(),
        "database": str(services.settings.vault),
        "hasVectors": services.vault.embeddings.fingerprint() is not None,
    }


class Stats(Health):
    """Health, and the numbers of the vault."""

    documents: int
    needsEmbedding: int
    collections: list[Collection]


def stats(services: Services, asked: Nothing) -> Stats:
    """Return the health, and the number of documents in each collection."""
    return {
        **health(services, asked),
        "documents": sum(services.vault.documents.collections().values()),
        "needsEmbedding": services.vault.embeddings.counts().pending,
        "collections": list_collections(services),
    }


OPERATIONS = (
    reading("GET", "/health", Nothing, Health, health),
    reading("GET", "/stats", Nothing, Stats, stats),
)
