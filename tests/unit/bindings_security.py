"""How the vectors of what is guarded, escaped and redacted call this implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clawmem.domain.security.escaping import clean, escape
from clawmem.domain.security.folders import restriction_of
from clawmem.domain.security.promptguard import inspect
from clawmem.domain.security.redaction import redact


def _inspect(given: dict[str, Any]) -> dict[str, Any]:
    """A text may be given as a piece that is repeated, so that a long one stays short in the file."""
    text = given["text"] if isinstance(given["text"], str) else "".join(part * n for part, n in given["text"])
    limits = {"limit": given["limit"]} if "limit" in given else {}
    verdict = inspect(text, **limits)
    return {
        "score": verdict.score,
        "rule": verdict.rule,
        "span": [verdict.start, verdict.end],
        "dropped": verdict.dropped,
    }


def _escape(given: dict[str, Any]) -> dict[str, str]:
    return {name: shape(given["text"]) for name, shape in _SHAPES.items()}


def _redact(given: dict[str, Any]) -> dict[str, Any]:
    redacted = redact("".join(given["parts"]))
    return {"text": redacted.text, "findings": [list(finding) for finding in redacted.findings]}


def _restricted(given: dict[str, Any]) -> str | None:
    found = restriction_of(given["folder"], given["home"])
    return found.name.lower() if found else None


_SHAPES = {"clean": clean, "content": escape}

BINDINGS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "promptguard": _inspect,
    "escape": _escape,
    "redaction": _redact,
    "restricted_folder": _restricted,
}
