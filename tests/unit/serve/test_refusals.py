"""What a refusal is called over HTTP: whose fault it is, and whether to come again."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from starlette.requests import Request

from clawmem.app.interfaces.rest.security import HANDLERS
from clawmem.app.operations.dispatch import Busy
from clawmem.ports.errors import (
    Ambiguous,
    ClawmemError,
    ConfigError,
    EmbeddingError,
    IndexBusy,
    InvalidInput,
    ModelMismatch,
    NotFound,
    VaultDamaged,
    VaultFull,
    VaultLocked,
    VaultReadOnly,
)

PLACE = "/notes/vault.sqlite"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InvalidInput("OUT_OF_BOUNDS", "No."), 400),
        (NotFound("document", "x"), 404),
        (Ambiguous("x", ["a.md", "b.md"]), 409),
        (EmbeddingError("No vectors."), 409),
        (ModelMismatch("one", "another"), 409),
        (VaultReadOnly(PLACE), 403),
        (VaultFull(PLACE), 507),
        (VaultLocked(PLACE), 503),
        (IndexBusy(PLACE), 503),
        (Busy("busy"), 503),
        (VaultDamaged(PLACE, "torn"), 500),
        (ConfigError("No such backend."), 409),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, Exception) else str(one),
)
def test_a_status_for_each(error: ClawmemError, status: int) -> None:
    """With the sentence that every other door says, and its name."""
    handler: Any = HANDLERS[ClawmemError]

    refusal = asyncio.run(handler(Request({"type": "http"}), error))

    assert refusal.status_code == status
    assert json.loads(refusal.body) == {"error": str(error), "code": error.code}
