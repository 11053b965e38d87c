"""Errors of invalid requests: the parameter, its fault, and a code that is the same in every interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from clawmem.app.settings.model import fault_of
from clawmem.ports.errors import ClawmemError, InvalidInput

CODES: Mapping[str, str] = MappingProxyType(
    {
        "string_too_long": "INPUT_TOO_LONG",
        "greater_than_equal": "OUT_OF_BOUNDS",
        "less_than_equal": "OUT_OF_BOUNDS",
    }
)
SHOWN = 80  # characters of a parameter's name, which the caller may have made up


def refusal_of(error: Any, spelling: Callable[[str], str] = str, hint: str = "") -> InvalidInput:
    """
    Return the error that names the wrong parameters.

    Args:
        error: A `ValidationError` of pydantic, or one of FastAPI.
        spelling: How the interface writes the name of a parameter.
        hint: A sentence to end with.
    """
    faults = [
        f"{spelling('.'.join(map(str, fault['loc']))[:SHOWN])} {fault_of(fault)}".strip()
        for fault in error.errors()
    ]
    code = CODES.get(error.errors()[0]["type"], "INVALID_INPUT")
    return InvalidInput(code, f"{'; '.join(faults)}. {hint}".strip())


def error_record(error: ClawmemError) -> dict[str, Any]:
    """Return *error* as a record: ``error`` is the message and ``code`` its name, with candidates and other details."""
    more = {name: list(getattr(error, name, ())) for name in ("suggestions", "candidates")}
    named = {name: found for name, found in more.items() if found}
    return {**named, **error.details, "error": str(error), "code": error.code}
