"""Messages about invalid values."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_OF_KEYS = {"missing": "is missing", "extra_forbidden": "is not known"}  # by pydantic's name of the error


def fault_of(error: ErrorDetails) -> str:
    """Return the fault of one value in pydantic's words, such as "must be greater than 0"."""
    message = error["msg"].removeprefix("Value error, ").rstrip(".")
    subject, should, demand = message.partition(" should ")
    demand = f"must {demand}" if should and " " not in subject else message
    return _OF_KEYS.get(error["type"], demand)
