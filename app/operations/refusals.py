"""Errors of invalid requests: the parameter, its fault, and a code that is the same in every interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from clawmem.app.settings.faults import fault_of
from clawmem.ports.errors import ClawmemError, InvalidInput

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

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
    return refusal_of_errors(error.errors(include_url=False, include_input=False), spelling, hint)


def refusal_of_errors(
    errors: Sequence[ErrorDetails], spelling: Callable[[str], str] = str, hint: str = ""
) -> InvalidInput:
    """Return the error that names the wrong parameters of *errors*, which are pydantic's."""
    faults = (
        f"{spelling('.'.join(map(str, error['loc']))[:SHOWN])} {fault_of(error)}".strip() for error in errors
    )
    message = " ".join(filter(None, (f"{'; '.join(faults)}.", hint)))
    return InvalidInput(CODES.get(errors[0]["type"], "INVALID_INPUT"), message)


def error_record(error: ClawmemError) -> dict[str, Any]:
    """
    Return *error* as a record: ``error`` is the message and ``code`` its name, as in the REST API.

    ``suggestions``, ``candidates`` and the other details of the error are added if it has any.
    """
    more = {name: list(getattr(error, name, ())) for name in ("suggestions", "candidates")}
    named = {name: found for name, found in more.items() if found}
    return {**named, **error.details, "error": str(error), "code": error.code}
