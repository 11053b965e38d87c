from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.maintenance.debounce import LONGEST_S, QUIET_S, Debounce


def test_quiet_and_longest() -> None:
    """A name is due when nothing more happens to it, and once only."""
    waiting = Debounce()
    waiting.touch("notes", 10.0)
    waiting.touch("notes", 10.2)

    assert waiting.left(10.2) == pytest.approx(QUIET_S)
    assert waiting.due(10.2 + QUIET_S - 0.01) == []
    assert waiting.due(10.2 + QUIET_S) == ["notes"]
    assert waiting.due(100.0) == []
    assert waiting.left(100.0) is None


def test_what_never_ends() -> None:
    """It is looked at all the same, now and then."""
    waiting, looked = Debounce(), []
    for tick in range(100):
        waiting.touch("log", tick / 10)
        looked += [tick / 10 for _ in waiting.due(tick / 10)]

    assert looked[0] == pytest.approx(LONGEST_S)
    assert len(looked) == pytest.approx(10 / LONGEST_S, abs=1)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 0.5)), max_size=40))
def test_nothing_is_lost(touches: list[tuple[str, float]]) -> None:
    """Each change is followed by a look at its name, not before it and not much after."""
    waiting, now, owed = Debounce(), 0.0, {}
    for name, pause in [*touches, ("a", LONGEST_S)]:
        now += pause
        for seen in waiting.due(now):
            owed.pop(seen)
        assert all(now - since <= LONGEST_S + 0.5 for since in owed.values())
        waiting.touch(name, now)
        owed.setdefault(name, now)
    assert set(waiting.due(now + LONGEST_S)) == set(owed)
