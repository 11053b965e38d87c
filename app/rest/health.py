"""``GET /health``: whether the server and its vault answer."""

from __future__ import annotations

import os

from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from clawmem.app.cli.main import VERSION
from clawmem.app.rest.operation import Json, Nothing, Operation
from clawmem.app.rest.reading import read_asked
from clawmem.app.serve.inside import Inside
from clawmem.ports.vault import Vault


class Health(TypedDict):
    """A server that answers, and its vault in numbers."""

    status: str
    service: str
    version: str
    pid: int
    database: str
    documents: int
    needsEmbedding: int
    hasVectors: bool


def health_record(vault: Vault, database: str) -> Health:
    """What there is to say of a server of *vault*, which lies at *database*."""
    counts = vault.embeddings.counts()
    return {
        "status": "ok",
        "service": "clawmem",
        "version": VERSION,
        "pid": os.getpid(),
        "database": database,
        "documents": sum(vault.documents.collections().values()),
        "needsEmbedding": counts.pending,
        "hasVectors": counts.stored > 0,
    }


async def health(inside: Inside, request: Request) -> Response:
    """Whether the server and its vault answer."""
    await read_asked(Nothing, request)
    said = inside.desk.read(lambda services: health_record(services.vault, str(inside.vault)))
    return Json(await said)


OPERATIONS = (
    Operation("GET", "/health", "Whether the server and its vault answer.", Nothing, Health, health),
)
