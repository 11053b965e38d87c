"""How the vectors of what is captured from conversations call this implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clawmem.contracts.samples import document
from clawmem.domain.capture.contradiction import Verdict, is_invalid, lowered
from clawmem.domain.capture.kinds import Kind, confidence_of, content_type_of, merge_window_ms
from clawmem.domain.capture.references import is_referenced


def _lowered_confidence(given: dict[str, Any]) -> dict[str, Any]:
    confidence = lowered(given["confidence"], Verdict(given["verdict"]))
    return {
        "confidence": confidence,
        "invalid": is_invalid(given.get("content_type", "decision"), confidence),
    }


def _captured_kind(given: dict[str, Any]) -> Any:
    try:
        kind = Kind(given["kind"])
    except ValueError:
        return {"error": True}
    confidence = confidence_of(kind, by_model=given.get("by_model", False))
    return [content_type_of(kind), confidence, merge_window_ms(kind)]


def _is_referenced(given: dict[str, Any]) -> bool:
    named = document(given["path"], collection=given["collection"], title=given["title"])
    return is_referenced(named, given["answer"])


BINDINGS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "lowered_confidence": _lowered_confidence,
    "captured_kind": _captured_kind,
    "is_referenced": _is_referenced,
}
