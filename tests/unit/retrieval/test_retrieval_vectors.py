from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from bindings_retrieval import BINDINGS

VECTORS = Path(__file__).parents[3] / "contracts" / "vectors"


def _cases() -> list[Any]:
    files = {policy: json.loads((VECTORS / f"{policy}.json").read_text("utf-8")) for policy in BINDINGS}
    return [
        pytest.param(policy, case, file.get("tolerance", 0.0), id=f"{policy}: {case['name']}")
        for policy, file in files.items()
        for case in file["cases"]
    ]


def _agree(actual: Any, expected: Any, tolerance: float) -> bool:
    if isinstance(expected, dict):
        return actual.keys() == expected.keys() and all(
            _agree(actual[key], expected[key], tolerance) for key in expected
        )
    if isinstance(expected, list):
        return len(actual) == len(expected) and all(
            _agree(one, other, tolerance) for one, other in zip(actual, expected, strict=True)
        )
    if isinstance(expected, float):
        return math.isclose(actual, expected, rel_tol=0.0, abs_tol=tolerance)
    return bool(actual == expected)


@pytest.mark.parametrize(("policy", "case", "tolerance"), _cases())
def test_policy_answers_its_vector(policy: str, case: dict[str, Any], tolerance: float) -> None:
    """The policy gives the answer that the language-neutral vector states."""
    actual = BINDINGS[policy](case["input"])

    assert _agree(actual, case["expected"], tolerance), f"got {actual}, expected {case['expected']}"


@pytest.mark.parametrize("policy", sorted(BINDINGS))
def test_vector_file_is_well_formed(policy: str) -> None:
    """A vector file names its policy, says what it is about and has eight or more distinct cases."""
    file = json.loads((VECTORS / f"{policy}.json").read_text("utf-8"))
    names = [case["name"] for case in file["cases"]]

    assert file["policy"] == policy
    assert file["about"].endswith(".")
    assert len(names) == len(set(names)) >= 8
