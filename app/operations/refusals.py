"""Errors of invalid requests: the parameter, its fault, and a code that is the same in every interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

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
# Messages about invalid values, by pydantic's name of the error; {name} is a value of its context.
FAULTS: Mapping[str, str] = MappingProxyType(
    {
        "missing": "is missing",
        "extra_forbidden": "is not known",
        "greater_than": "must be more than {gt}",
        "greater_than_equal": "must be at least {ge}",
        "less_than": "must be less than {lt}",
        "less_than_equal": "must be at most {le}",
        "string_too_short": "must have at least {min_length} characters",
        "string_too_long": "must have at most {max_length} characters",
        "too_long": "must have at most {max_length} values",
        "too_short": "must have at least {min_length} values",
        "literal_error": "must be {expected}",
        "enum": "must be {expected}",
        **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "must be a whole number"),
        **dict.fromkeys(("float_type", "float_parsing"), "must be a number"),
        **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false"),
        "string_type": "must be text",
        "string_unicode": "holds half a character",
        "list_type": "must be a list",
        **dict.fromkeys(("dict_type", "model_type"), "must map names to values"),
    }
)
PREFIXES = ("Value error, ", "Assertion failed, ")
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
    message = " ".join(filter(None, (f"{'; '.join(_faults(errors, spelling))}.", hint)))
    return InvalidInput(CODES.get(errors[0]["type"], "INVALID_INPUT"), message)


def faults_of(error: ValidationError, spelling: Callable[[str], str] = str) -> list[str]:
    """Return the fault of each parameter, without the given values."""
    return _faults(error.errors(include_url=False, include_input=False), spelling)


def _faults(errors: Sequence[ErrorDetails], spelling: Callable[[str], str]) -> list[str]:
    return [f"{spelling('.'.join(map(str, one['loc']))[:SHOWN])} {fault_of(one)}".strip() for one in errors]


def fault_of(one: ErrorDetails) -> str:
    """Return the fault of one value, such as "must be at least 1"."""
    if one["type"] == "string_too_short" and one["ctx"]["min_length"] == 1:
        return "is empty"
    if known := FAULTS.get(one["type"]):
        return known.format(**one.get("ctx", {}))
    said = one["msg"].replace("Input should", "must")
    for prefix in PREFIXES:
        said = said.removeprefix(prefix)
    return said.rstrip(".")


def error_record(error: ClawmemError) -> dict[str, Any]:
    """
    Return *error* as a record: ``error`` is the message and ``code`` its name, as in the REST API.

    ``suggestions``, ``candidates`` and the other details of the error are added if it has any.
    """
    more = {name: list(getattr(error, name, ())) for name in ("suggestions", "candidates")}
    named = {name: found for name, found in more.items() if found}
    return {**named, **error.details, "error": str(error), "code": error.code}
