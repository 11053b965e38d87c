"""Requests that are refused: what is wrong with which parameter, with one code in every interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from pydantic import ValidationError

from clawmem.ports.errors import InvalidInput

CODES: Mapping[str, str] = MappingProxyType(
    {
        "string_too_long": "INPUT_TOO_LONG",
        "greater_than_equal": "OUT_OF_BOUNDS",
        "less_than_equal": "OUT_OF_BOUNDS",
    }
)
SHOWN = 80  # characters of a parameter's name, which the caller may have made up


def refusal_of(error: ValidationError, spelling: Callable[[str], str] = str, hint: str = "") -> InvalidInput:
    """
    Return the error that names the wrong parameters.

    Args:
        spelling: How the interface writes the name of a parameter.
        hint: A sentence to end with.
    """
    wrong = error.errors(include_url=False, include_context=False, include_input=False)
    parts = [f"{spelling('.'.join(map(str, one['loc']))[:SHOWN])}: {one['msg']}" for one in wrong]
    message = " ".join(filter(None, (f"{'; '.join(parts)}.", hint)))
    return InvalidInput(CODES.get(wrong[0]["type"], "INVALID_INPUT"), message)
