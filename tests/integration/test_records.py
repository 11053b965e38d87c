"""Results of operations: what programs and people read stays the same."""

from __future__ import annotations

import json

import pytest
from frozen_records import GOLDEN, frozen_records


def test_results_stay_the_same() -> None:
    """After a change on purpose: PYTHONPATH=tests python tests/frozen_records.py."""
    pytest.importorskip("duckdb")

    assert frozen_records() == json.loads(GOLDEN.read_text("utf-8"))
