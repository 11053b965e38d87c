"""Python API: an opened vault with a method for each operation."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import ValidationError

from clawmem.app.bootstrap.opening import open_services
from clawmem.app.operations.operation import AnyOperation
from clawmem.app.operations.refusals import refusal_of
from clawmem.app.operations.table import all_operations
from clawmem.app.settings.model import load_settings
from clawmem.app.settings.vaults import at_vault

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

CALLER = "python"


@cache
def methods() -> Mapping[str, AnyOperation]:
    """Return each operation by the name of its method: its own without ``memory_``, but never that of a builtin."""
    names = ((operation.name.removeprefix("memory_"), operation) for operation in all_operations())
    return {
        operation.function.__name__ if hasattr(builtins, name) else name: operation
        for name, operation in names
    }


class Memory:
    """
    An opened vault.

    Open it in the thread that uses it, and close it at the end, best with ``with``. Every method raises a
    `clawmem.ports.errors.ClawmemError`, whose message names the next step.
    """

    def __init__(self, services: Services, closing: ExitStack) -> None:
        self._services = services
        self._closing = closing

    @classmethod
    def open(cls, path: str | Path | None = None, *, read_only: bool = False, create: bool = False) -> Self:
        """
        Open a vault.

        Args:
            path: The file or the name of the vault; ``None`` for the one of the settings.
            read_only: Whether every change is refused.
            create: Whether a missing vault is created.

        Raises:
            ConfigError: The settings are invalid.
            VaultError: There is no vault, or it cannot be opened.
        """
        settings = load_settings(environ=dict(os.environ))
        if path is not None:
            settings = at_vault(settings, Path(path))
        closing = ExitStack()
        services = closing.enter_context(open_services(settings, read_only=read_only, create=create))
        return cls(services.called_by(CALLER), closing)

    def close(self) -> None:
        """Close the vault."""
        self._closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def run(self, operation: AnyOperation, parameters: Mapping[str, Any]) -> Any:
        """
        Return the result of *operation*.

        Raises:
            InvalidInput: A parameter is invalid.
        """
        try:
            request = operation.request.model_validate(parameters, by_name=True)
        except ValidationError as error:
            raise refusal_of(error) from error
        if operation.settings is None:
            return operation.run(self._services, request)
        chosen = operation.settings(self._services.settings, request, CALLER)
        with open_services(chosen) as services:
            return operation.run(services.called_by(CALLER), request)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return the method of an operation: it takes the parameters of the request, the first ones also by position."""
        operation = methods().get(name)
        if operation is None:
            raise AttributeError(f"Memory has no method {name!r}. See dir(Memory.open()).")

        def method(*positional: Any, **parameters: Any) -> Any:
            fields = [*operation.request.model_fields][: len(positional)]
            return self.run(operation, {**dict(zip(fields, positional, strict=True)), **parameters})

        method.__name__, method.__doc__ = name, operation.about
        return method

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *methods()]
