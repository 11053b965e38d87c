from __future__ import annotations

import pytest

from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.memory.models import HashingEmbedder
from clawmem.contracts.clock import ClockContract
from clawmem.contracts.models import EmbedderContract
from clawmem.ports.clock import Clock
from clawmem.ports.models import Embedder


class TestClock(ClockContract):
    @pytest.fixture
    def clock(self) -> Clock:
        return ManualClock()


class TestEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return HashingEmbedder()


def test_manual_clock_moves_when_told() -> None:
    """The manual clock stands, goes forward by `advance`, and anywhere by `set`."""
    clock = ManualClock(1_000)

    clock.advance(5)
    assert (clock.now_ms(), clock.now_ms()) == (1_005, 1_005)
    clock.set(7)
    assert clock.now_ms() == 7
