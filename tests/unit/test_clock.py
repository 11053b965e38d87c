from __future__ import annotations

import os
import subprocess
import sys
import time
from datetime import UTC, datetime

import pytest

from clawmem.adapters.system.clock import SystemClock
from clawmem.app.environment.places import holder_id, is_gone


def test_now_is_the_time_of_the_system_in_milliseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nanoseconds are cut, not rounded, to whole milliseconds."""
    monkeypatch.setattr(time, "time_ns", lambda: 1_700_000_000_123_999_999)

    assert SystemClock().now_ms() == 1_700_000_000_123


def test_a_holder_names_its_process() -> None:
    """A holder id is host, process id and nonce, none of them empty."""
    host, pid, nonce = holder_id().rsplit(":", 2)

    assert host
    assert nonce
    assert int(pid) == os.getpid()


def test_two_holders_are_never_the_same() -> None:
    """Two ids of one process differ, so a reused process id is no other's lease."""
    assert len({holder_id() for _ in range(100)}) == 100


def test_a_process_that_ended_is_gone() -> None:
    """One that runs is not, nor one of another machine, nor a holder of another form."""
    host, pid, _ = holder_id().rsplit(":", 2)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()

    assert is_gone(f"{host}:{ended.pid}:abc")
    assert not is_gone(f"{host}:{pid}:abc")
    assert not is_gone(f"elsewhere:{ended.pid}:abc")
    assert not any(map(is_gone, ("", "a", "a:b:c", f"{host}:x:abc")))


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="only where TZ can be changed")
def test_the_zone_has_the_offset_of_each_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """Summer and winter differ whenever it is asked, in both directions."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    zone = SystemClock().zone()
    try:
        summer, winter = datetime(2025, 7, 1, tzinfo=zone), datetime(2025, 1, 1, tzinfo=zone)
        assert [moment.astimezone(UTC).hour for moment in (summer, winter)] == [22, 23]
        assert datetime(2025, 3, 30, 1, tzinfo=UTC).astimezone(zone).hour == 3
    finally:
        monkeypatch.undo()
        time.tzset()
