"""Messages about invalid values."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

# By pydantic's name of the error; {name} is a value of its context.
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
        **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "must be a whole number"),
        "int_parsing_size": "is too large",
        **dict.fromkeys(("float_type", "float_parsing"), "must be a number"),
        **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false"),
        "path_type": "must be a path",
        "string_type": "must be text",
        "string_unicode": "holds half a character",
        "list_type": "must be a list",
        **dict.fromkeys(("dict_type", "model_type"), "must map names to values"),
    }
)
PREFIXES = ("Value error, ", "Assertion failed, ")


def fault_of(error: ErrorDetails) -> str:
    """Return the fault of one value, such as "must be at least 1"."""
    if error["type"] == "string_too_short" and error["ctx"]["min_length"] == 1:
        return "is empty"
    if known := FAULTS.get(error["type"]):
        return known.format(**error.get("ctx", {}))
    message = error["msg"].replace("Input should", "must")
    for prefix in PREFIXES:
        message = message.removeprefix(prefix)
    return message.rstrip(".")
