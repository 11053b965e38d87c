"""Errors of a model in this process: the text is too long, the model is unavailable, or it refuses the request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from clawmem.ports.errors import InputTooLong, ModelError, ModelRefused, ModelUnavailable

_TOO_LONG = re.compile(
    r"\((?P<tokens>\d+) tokens\).{0,300}?(?:batch size: |context size \()(?P<limit>\d+)", re.DOTALL
)
_CONTEXT = "exceed_context_size_error"
_EXCERPT = 200

_WITHOUT_IT = "Do without such models (CLAWMEM_NO_LOCAL_MODELS=1)"


def unavailable(model: str, reason: str, *, remedy: str = _WITHOUT_IT) -> ModelUnavailable:
    """Return the error for an unavailable model in this process; its remedy does not mention a server."""
    return ModelUnavailable(model, reason, remedy=remedy)


def checked(model: str, answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    Return *answer* unless it is an error.

    Raises:
        InputTooLong: the text does not fit the context.
        ModelUnavailable: the error is temporary.
        ModelRefused: the error is permanent.
    """
    if error := answer.get("error"):
        raise _meant(model, error if isinstance(error, Mapping) else {"message": str(error)})
    return answer


def _meant(model: str, error: Mapping[str, Any]) -> ModelError:
    said = " ".join(str(error.get("message", "")).split())[:_EXCERPT].rstrip(".")
    if found := _TOO_LONG.search(said):
        return InputTooLong(model, tokens=int(found["tokens"]), limit=int(found["limit"]))
    if error.get("type") == _CONTEXT:
        return InputTooLong(model)
    if error.get("code") in (500, 503):
        return unavailable(model, said)
    return ModelRefused(model, said, remedy="Check it with: clawmem doctor")
