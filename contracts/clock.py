from clawmem.contracts.base import Contract
from clawmem.ports.clock import Clock


class ClockContract(Contract):
    """Current time. Supply ``clock``: any ``Clock``; a manual one must be set after 2020."""

    def test_unit_is_milliseconds(self, clock: Clock) -> None:
        """The current time is an integer, between 2020 and 2200 when read as milliseconds since 1970."""
        assert type(clock.now_ms()) is int
        assert 1_577_836_800_000 < clock.now_ms() < 7_258_118_400_000
