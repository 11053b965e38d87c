"""Results of operations: what programs and people read stays the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any, get_args, get_type_hints

import pytest
from frozen_records import GOLDEN, frozen_records
from pydantic import BaseModel

from clawmem.app.operations.table import all_operations


def test_results_stay_the_same() -> None:
    """After a change on purpose: PYTHONPATH=tests python tests/frozen_records.py."""
    pytest.importorskip("duckdb")

    assert frozen_records() == json.loads(GOLDEN.read_text("utf-8"))


def test_no_result_has_a_tuple_with_names() -> None:
    """JSON would have its values without their names."""

    def kinds(annotation: Any, seen: set[Any]) -> Iterator[Any]:
        for part in get_args(annotation):
            yield from kinds(part, seen)
        if isinstance(annotation, type) and annotation not in seen:
            seen.add(annotation)
            yield annotation
            if issubclass(annotation, BaseModel):
                for field in annotation.model_fields.values():
                    yield from kinds(field.annotation, seen)
            elif is_dataclass(annotation):
                for part in get_type_hints(annotation).values():
                    yield from kinds(part, seen)

    for operation in all_operations():
        named = [kind for kind in kinds(operation.result, set()) if hasattr(kind, "_fields")]
        assert named == [], operation.name
