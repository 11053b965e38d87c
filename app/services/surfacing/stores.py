"""The stores that surfacing reads."""

from __future__ import annotations

from dataclasses import dataclass

from clawmem.app.services.retrieval.work import RetrievalStores
from clawmem.ports.journal import ActJournal
from clawmem.ports.sessions import CaptureStore, UsageStore
from clawmem.ports.telemetry import Receipts


@dataclass(frozen=True)
class SurfacingStores:
    """The stores of retrieval, and those that decide what a session needs to see."""

    retrieval: RetrievalStores
    captures: CaptureStore
    usage: UsageStore
    receipts: Receipts
    acts: ActJournal
