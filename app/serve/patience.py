"""How long somebody may take to say what he wants: who opens connections and keeps silent would keep others out."""

from __future__ import annotations

from asyncio import TimerHandle, Transport
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

ASKING_S = 20.0  # for a request, head and body; on this machine the largest takes a tenth of a second


class Patient(H11Protocol):
    """A connection that is closed when a request is begun, or none is, and does not come to its end in time."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._waiting: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """The time begins to run."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """It runs on until the request is whole."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """It does not matter any more."""
        super().connection_lost(exc)
        self._stop()

    def _watch(self) -> None:
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._stop()
        elif self._waiting is None:
            self._waiting = self.loop.call_later(ASKING_S, self.transport.close)

    def _stop(self) -> None:
        if self._waiting:
            self._waiting.cancel()
            self._waiting = None
