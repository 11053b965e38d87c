"""``GET /health``: the health check of the server and its vault."""

from __future__ import annotations

import os

from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from clawmem.app.interfaces.rest.operation import Json, Nothing, Operation
from clawmem.app.interfaces.rest.reading import read_asked
from clawmem.app.serve.inside import Inside
from clawmem.app.version import VERSION
from clawmem.ports.vault import Vault


class Health(TypedDict):
    """A running server and its vault; ``/stats`` has the numbers of the vault."""

    status: str
    service: str
    version: str
    pid: int
    database: str
    hasVectors: bool


def health_record(vault: Vault, database: str) -> Health:
    """Return the health of a server of *vault*, whose file is *database*, without counting anything."""
    return {
        "status": "ok",
        "service": "clawmem",
        "version": VERSION,
        "pid": os.getpid(),
        "database": database,
        "hasVectors": vault.embeddings.fingerprint() is not None,
    }


async def health(inside: Inside, request: Request) -> Response:
    """Answer the health check of the server and its vault."""
    await read_asked(Nothing, request)
    said = inside.dispatcher.read(lambda services: health_record(services.vault, str(inside.vault)))
    return Json(await said)


OPERATIONS = (
    Operation("GET", "/health", "Whether the server and its vault answer.", Nothing, Health, health),
)
