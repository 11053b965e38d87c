"""Comparison of an answer with the expected one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

ROOM = 60  # most characters of a value in a reason
BEFORE = 20  # characters shown before the first difference of two texts


class Difference(NamedTuple):
    """The path of a differing value, such as ``$.fragments[2].text``, and the reason."""

    path: str
    reason: str


def differences(got: Any, expected: Any, tolerance: float = 0.0) -> list[Difference]:
    """
    Return the differences between *got* and *expected*; empty if they agree.

    Objects must have the same keys in any order, lists the same length and order. Where a number with a fraction is
    expected, a number may differ by at most *tolerance*; everything else must be equal, and a boolean is no number.
    """
    return list(_differing("$", got, expected, tolerance))


def shortened(value: Any, room: int = ROOM) -> str:
    """Return *value* as JSON, cut after *room* characters."""
    written = json.dumps(value, ensure_ascii=False)
    return written if len(written) <= room else f"{written[:room]}…"


def _differing(path: str, got: Any, expected: Any, tolerance: float) -> Iterator[Difference]:
    if isinstance(got, dict) and isinstance(expected, dict):
        yield from _differing_objects(path, got, expected, tolerance)
    elif isinstance(got, list) and isinstance(expected, list):
        yield from _differing_lists(path, got, expected, tolerance)
    elif not _agree(got, expected, tolerance):
        yield Difference(path, _reason(got, expected))


def _differing_objects(
    path: str, got: dict[str, Any], expected: dict[str, Any], tolerance: float
) -> Iterator[Difference]:
    for key, value in expected.items():
        if key in got:
            yield from _differing(_member(path, key), got[key], value, tolerance)
        else:
            yield Difference(_member(path, key), f"missing, expected {shortened(value)}")
    for key, value in got.items():
        if key not in expected:
            yield Difference(_member(path, key), f"not expected, got {shortened(value)}")


def _differing_lists(
    path: str, got: list[Any], expected: list[Any], tolerance: float
) -> Iterator[Difference]:
    if len(got) != len(expected):
        yield Difference(path, f"expected a list of {len(expected)}, got one of {len(got)}")
    for place, (one, other) in enumerate(zip(got, expected, strict=False)):
        yield from _differing(f"{path}[{place}]", one, other, tolerance)


def _member(path: str, key: str) -> str:
    return f"{path}.{key}" if key.isidentifier() else f"{path}[{json.dumps(key, ensure_ascii=False)}]"


def _agree(got: Any, expected: Any, tolerance: float) -> bool:
    if isinstance(got, bool) or isinstance(expected, bool):
        return got is expected
    if isinstance(expected, float) and isinstance(got, int | float):
        return _is_near(got, expected, tolerance)
    return bool(got == expected)


def _is_near(got: float, expected: float, tolerance: float) -> bool:
    try:
        return abs(got - expected) <= tolerance
    except OverflowError:  # a whole number beyond every float
        return False


def _reason(got: Any, expected: Any) -> str:
    if not isinstance(got, str) or not isinstance(expected, str):
        return f"expected {shortened(expected)}, got {shortened(got)}"
    place = _parting(got, expected)
    start = place - BEFORE if place > 2 * BEFORE else 0
    cut = "…" if start else ""
    shown = f"expected {cut}{shortened(expected[start:])}, got {cut}{shortened(got[start:])}"
    return f"{shown} (they part at character {place})"


def _parting(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))
