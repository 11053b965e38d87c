"""How long somebody may take to say what he wants: who opens connections and keeps silent would keep others out."""

from __future__ import annotations

from asyncio import TimerHandle, Transport
from operator import itemgetter
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_WAITING = 128  # connections without a whole request; half of those that a server has at most
ASKING_S = 20.0  # for a request, head and body; on this machine the largest takes a tenth of a second


class Patient(H11Protocol):
    """A connection that is closed when a request is begun, or none is, and does not come to its end in time."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._waiting: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """The time begins to run; who has waited longest gives way if too many wait."""
        super().connection_made(transport)
        self._watch()
        self._make_room()

    def data_received(self, data: bytes) -> None:
        """It runs on until the request is whole."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """It does not matter any more."""
        super().connection_lost(exc)
        self._stop()

    def _make_room(self) -> None:
        # Who wants something says it at once: whoever is silent for longest is the least likely to ask.
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
