from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bindings_documents import BINDINGS

VECTORS = Path(__file__).resolve().parents[3] / "contracts" / "vectors"


def load(policy: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((VECTORS / f"{policy}.json").read_text("utf-8"))
    return loaded


def cases() -> Iterator[Any]:
    for policy in BINDINGS:
        vectors = load(policy)
        for case in vectors["cases"]:
            yield pytest.param(policy, case, vectors.get("tolerance"), id=f"{policy}: {case['name']}")


@pytest.mark.parametrize("policy", BINDINGS)
def test_a_vector_file_is_well_formed(policy: str) -> None:
    """It names its policy, says what it is about, and no case twice."""
    vectors = load(policy)
    names = [case["name"] for case in vectors["cases"]]

    assert vectors["policy"] == policy
    assert vectors["about"].endswith(".")
    assert 8 <= len(names) == len(set(names)) <= 25
    assert all(case.keys() == {"name", "input", "expected"} for case in vectors["cases"])


@pytest.mark.parametrize(("policy", "case", "tolerance"), list(cases()))
def test_the_policy_agrees_with_its_vectors(
    policy: str, case: dict[str, Any], tolerance: float | None
) -> None:
    """What another language is held to holds here."""
    answer = BINDINGS[policy](case["input"])

    assert answer == (
        case["expected"] if tolerance is None else pytest.approx(case["expected"], abs=tolerance)
    )
