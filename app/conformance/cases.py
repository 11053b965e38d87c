"""Loading of the language-neutral test vectors from the installed package."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class Case:
    """One input of a policy and the expected answer, as decoded JSON."""

    name: str
    given: Any
    expected: Any


@dataclass(frozen=True, slots=True)
class VectorFile:
    """The cases of one policy; ``tolerance`` is absolute and applies only to numbers with a fraction."""

    policy: str
    tolerance: float
    cases: tuple[Case, ...]


def load_vectors() -> list[VectorFile]:
    """Return every vector file, sorted by policy."""
    return sorted(_files(), key=lambda file: file.policy)


def _files() -> Iterator[VectorFile]:
    # Located from the root package: importing the contracts package requires pytest.
    for path in files("clawmem").joinpath("contracts", "vectors").iterdir():
        if path.name.endswith(".json"):
            read = json.loads(path.read_text("utf-8"))
            cases = tuple(Case(one["name"], one["input"], one["expected"]) for one in read["cases"])
            yield VectorFile(read["policy"], read.get("tolerance", 0.0), cases)
