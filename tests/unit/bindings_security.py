"""How the vectors of what is guarded, escaped and redacted call this implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clawmem.domain.security.escaping import clean, escape
from clawmem.domain.security.fingerprint import echo_share, fingerprint, is_echo
from clawmem.domain.security.folders import restriction_of
from clawmem.domain.security.injections import find_injections
from clawmem.domain.security.redaction import redact
from clawmem.domain.security.secrets import find_secrets


def _injections(given: dict[str, Any]) -> list[list[Any]]:
    return [list(order) for order in find_injections(given["text"])]


def _escape(given: dict[str, Any]) -> dict[str, str]:
    return {name: shape(given["text"]) for name, shape in _SHAPES.items()}


def _redact(given: dict[str, Any]) -> dict[str, Any]:
    text = "".join(given["parts"])
    return {"text": redact(text), "findings": [list(secret) for secret in find_secrets(text)]}


def _echo(given: dict[str, Any]) -> dict[str, Any]:
    injected = fingerprint(given["injected"])
    return {"share": echo_share(given["text"], injected), "is_echo": is_echo(given["text"], injected)}


def _restricted(given: dict[str, Any]) -> str | None:
    found = restriction_of(given["folder"], given["home"])
    return found.name.lower() if found else None


_SHAPES = {"clean": clean, "content": escape}

BINDINGS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "echo": _echo,
    "injections": _injections,
    "escape": _escape,
    "redaction": _redact,
    "restricted_folder": _restricted,
}
