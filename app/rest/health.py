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
    """A server that answers, and the vault that it answers from; its numbers are in ``/stats``."""

    status: str
    service: str
    version: str
    pid: int
    database: str
    hasVectors: bool


def health_record(vault: Vault, database: str) -> Health:
    """What there is to say at once of a server of *vault*, which lies at *database*: nothing is counted."""
    return {
        "status": "ok",
        "service": "clawmem",
        "version": VERSION,
        "pid": os.getpid(),
        "database": database,
        "hasVectors": vault.embeddings.fingerprint() is not None,
    }


async def health(inside: Inside, request: Request) -> Response:
    """Whether the server and its vault answer."""
    await read_asked(Nothing, request)
    said = inside.desk.read(lambda services: health_record(services.vault, str(inside.vault)))
    return Json(await said)


OPERATIONS = (
    Operation("GET", "/health", "Whether the server and its vault answer.", Nothing, Health, health),
)
