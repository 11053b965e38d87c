"""Time limit for incoming requests, so that idle connections cannot exhaust the server's connections."""

from __future__ import annotations

from asyncio import TimerHandle, Transport
from operator import itemgetter
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_WAITING = 128  # connections without a complete request; half of the server's maximum
ASKING_S = 20.0  # for headers and body of a request; a local client sends the largest one in 0.1 s


class Patient(H11Protocol):
    """HTTP connection that is closed if no complete request arrives within `ASKING_S` seconds."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._waiting: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Start the timer; if too many connections are waiting, abort the one that has waited longest."""
        super().connection_made(transport)
        self._watch()
        self._make_room()

    def data_received(self, data: bytes) -> None:
        """Process the data, and stop the timer when the request is complete."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        super().connection_lost(exc)
        self._stop()

    def _make_room(self) -> None:
        # Clients send their request at once, so the longest-idle connection is the least likely to be in use.
        if len(self.connections) <= MOST_WAITING:
            return
        others = (one for one in self.connections if isinstance(one, Patient) and one is not self)
        waiting = [(one._waiting.when(), one) for one in others if one._waiting]
        if len(waiting) >= MOST_WAITING:
            _, longest = min(waiting, key=itemgetter(0))
            longest.transport.abort()
            longest.connections.discard(longest)

    def _watch(self) -> None:
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._stop()
        elif self._waiting is None:
            self._waiting = self.loop.call_later(ASKING_S, self.transport.close)

    def _stop(self) -> None:
        if self._waiting:
            self._waiting.cancel()
            self._waiting = None
