"""The one runner over the language-neutral vectors: every file, every case, every table of bindings."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import bindings_documents
import bindings_retrieval
import bindings_text
import pytest

VECTORS = Path(__file__).parents[2] / "contracts" / "vectors"
TABLES = (bindings_documents.BINDINGS, bindings_retrieval.BINDINGS, bindings_text.BINDINGS)
BINDINGS = {policy: answer for table in TABLES for policy, answer in table.items()}
FILES = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(VECTORS.glob("*.json"))}


def cases() -> list[Any]:
    return [
        pytest.param(policy, case, file.get("tolerance", 0.0), id=f"{policy}: {case['name']}")
        for policy, file in FILES.items()
        for case in file["cases"]
    ]


def agree(actual: Any, expected: Any, tolerance: float) -> bool:
    """As the README of the vectors says: keys, lengths and order are exact, numbers with a fraction are near."""
    if isinstance(expected, dict):
        return (
            isinstance(actual, dict)
            and actual.keys() == expected.keys()
            and all(agree(actual[key], expected[key], tolerance) for key in expected)
        )
    if isinstance(expected, list):
        return (
            isinstance(actual, list)
            and len(actual) == len(expected)
            and all(agree(one, other, tolerance) for one, other in zip(actual, expected, strict=True))
        )
    if isinstance(expected, float) and isinstance(actual, (int, float)):
        return math.isclose(actual, expected, rel_tol=0.0, abs_tol=tolerance)
    return isinstance(actual, bool) == isinstance(expected, bool) and bool(actual == expected)


def test_every_file_has_one_binding_and_every_binding_a_file() -> None:
    """A policy that no table binds is untested, and a binding without vectors tests nothing."""
    bound = Counter(policy for table in TABLES for policy in table)

    assert bound == Counter(FILES.keys())


@pytest.mark.parametrize("policy", FILES)
def test_a_file_is_well_formed(policy: str) -> None:
    """It names its policy, says what it is about, and has eight or more cases, none of them twice."""
    file = FILES[policy]
    names = [case["name"] for case in file["cases"]]

    assert file.keys() - {"tolerance"} == {"policy", "about", "cases"}
    assert file["policy"] == policy
    assert file["about"].endswith(".")
    assert len(names) == len(set(names)) >= 8
    assert all(case.keys() == {"name", "input", "expected"} for case in file["cases"])


@pytest.mark.parametrize(("policy", "case", "tolerance"), cases())
def test_the_policy_agrees_with_its_vectors(policy: str, case: dict[str, Any], tolerance: float) -> None:
    """What another language is held to holds here."""
    actual = BINDINGS[policy](case["input"])

    assert agree(actual, case["expected"], tolerance), f"got {actual}, expected {case['expected']}"


@pytest.mark.parametrize(
    ("actual", "expected", "agreed"),
    [
        (0.5, 0.5, True),
        (0.625, 0.5, True),
        (0.626, 0.5, False),
        (1, 1.0, True),
        (1.1, 1, False),
        (True, 1, False),
        (1, True, False),
        ("a", "a", True),
        (None, None, True),
        (None, 0.5, False),
        ([0.5, 1.0], [0.6, 1.0], True),
        ([1.0, 0.5], [0.5, 1.0], False),
        ([0.5], [0.5, 1.0], False),
        (None, [0.5], False),
        ({"a": [0.5]}, {"a": [0.6]}, True),
        ({"a": 0.5, "b": 1}, {"a": 0.5}, False),
        (["a"], {"a": 1}, False),
    ],
)
def test_agreement_is_part_by_part(actual: Any, expected: Any, agreed: bool) -> None:
    """Numbers with a fraction may differ by exactly the tolerance; everything else may not differ at all."""
    assert agree(actual, expected, 0.125) is agreed
