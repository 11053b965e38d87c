"""Functions whose parameters are the fields of a request: the libraries of the interfaces read signatures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from inspect import Parameter, Signature
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo


def parameters_of(
    request: type[BaseModel],
    annotated: Callable[[str, FieldInfo], Any] | None = None,
    *,
    without: Collection[str] = (),
    defaults: Mapping[str, Any] = MappingProxyType({}),
) -> list[Parameter]:
    """Return one keyword parameter for each field of *request*; *annotated* makes its annotation."""
    made = annotated or (lambda name, field: Annotated[field.annotation, field])
    return [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=defaults.get(name, Parameter.empty if field.is_required() else field.get_default()),
            annotation=made(name, field),
        )
        for name, field in request.model_fields.items()
        if name not in without
    ]


def with_signature(
    function: Callable[..., Any], parameters: Iterable[Parameter], returns: Any = Signature.empty
) -> Callable[..., Any]:
    """Give *function* the signature that libraries read."""
    function.__signature__ = Signature(list(parameters), return_annotation=returns)  # type: ignore[attr-defined]
    return function
