"""The one runner over the language-neutral vectors: every file, every case, every table of bindings."""

from __future__ import annotations

import json
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from clawmem.app.conformance.judging import differences
from clawmem.ports.errors import ClawmemError

VECTORS = Path(__file__).parents[2] / "contracts" / "vectors"
TABLES = [import_module(path.stem).BINDINGS for path in sorted(Path(__file__).parent.glob("bindings_*.py"))]
BINDINGS = {policy: answer for table in TABLES for policy, answer in table.items()}
FILES = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(VECTORS.glob("*.json"))}


def test_every_file_has_one_binding_and_every_binding_a_file() -> None:
    """A policy that no table binds is untested, and a binding without vectors tests nothing."""
    assert Counter(policy for table in TABLES for policy in table) == Counter(FILES.keys())


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


def answer(policy: str, given: Any) -> Any:
    """Return what the policy says of *given*; an error of any kind is one of the vectors' answers."""
    try:
        return BINDINGS[policy](given)
    except (ClawmemError, ValueError):
        return {"error": True}


@pytest.mark.parametrize("policy", FILES)
def test_the_policy_agrees_with_its_vectors(policy: str) -> None:
    """What another language is held to holds here, case by case."""
    file = FILES[policy]
    found = {
        case["name"]: differences(answer(policy, case["input"]), case["expected"], file.get("tolerance", 0.0))
        for case in file["cases"]
    }

    assert not {name: wrong for name, wrong in found.items() if wrong}


@pytest.mark.parametrize(
    ("actual", "expected", "agreed"),
    [
        (0.5, 0.5, True),
        (0.625, 0.5, True),
        (0.626, 0.5, False),
        (1, 1.0, True),
        (1.1, 1, False),
        (10**400, 1.0, False),
        (True, 1, False),
        (1, True, False),
        (True, 1.0, False),
        (True, True, True),
        ("a", "a", True),
        ("0.5", 0.5, False),
        (None, None, True),
        (None, 0.5, False),
        ([0.5, 1.0], [0.6, 1.0], True),
        ([1.0, 0.5], [0.5, 1.0], False),
        ([0.5], [0.5, 1.0], False),
        (None, [0.5], False),
        ({"a": [0.5]}, {"a": [0.6]}, True),
        ({"b": 1, "a": 2}, {"a": 2, "b": 1}, True),
        ({"a": 0.5, "b": 1}, {"a": 0.5}, False),
        (["a"], {"a": 1}, False),
    ],
)
def test_agreement_is_part_by_part(actual: Any, expected: Any, agreed: bool) -> None:
    """Numbers with a fraction may differ by exactly the tolerance; everything else may not differ at all."""
    assert (not differences(actual, expected, 0.125)) is agreed


@pytest.mark.parametrize(
    ("actual", "expected", "path", "reason"),
    [
        (2, 1, "$", "expected 1, got 2"),
        ([1, [2, 4]], [1, [2, 3]], "$[1][1]", "expected 3, got 4"),
        ([1], [1, 2], "$", "expected a list of 2, got one of 1"),
        ({"a": {"b": None}}, {"a": {"b": 0.5}}, "$.a.b", "expected 0.5, got null"),
        ({}, {"a": [1]}, "$.a", "missing"),
        ({"not a name": 1}, {}, "$.not a name", "not expected"),
        ("day", "dax", "$", 'expected "dax", got "day"'),
        (list(range(100)), 1, "$", f"expected 1, got {str(list(range(100)))[:60]}…"),
    ],
)
def test_a_difference_has_a_place_and_a_reason(actual: Any, expected: Any, path: str, reason: str) -> None:
    """Whoever ports a policy is told where to look, in a line."""
    assert differences(actual, expected) == [f"{path}: {reason}"]


def test_every_difference_is_found() -> None:
    """One that was found hides none of the others."""
    found = differences({"a": [1, 2, 3], "b": 1}, {"a": [0, 2], "c": 1})

    assert sorted(difference.partition(":")[0] for difference in found) == ["$.a", "$.a[0]", "$.b", "$.c"]
