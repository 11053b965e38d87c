"""Python API: an opened vault with a method for each operation."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import ValidationError

from clawmem.app.bootstrap.opening import open_services
from clawmem.app.interfaces.python.methods import Methods
from clawmem.app.operations.refusals import refusal_of
from clawmem.app.operations.table import operation_named
from clawmem.app.settings.model import load_settings
from clawmem.app.settings.vaults import at_vault

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.operations.operation import Result

CALLER = "python"


class Memory(Methods):
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

    def _run(self, name: str, given: dict[str, Any]) -> Any:
        """Return the result of the operation *name*; *given* are the local variables of a method."""
        operation = operation_named(name)
        try:
            request = operation.request(**{one: value for one, value in given.items() if one != "self"})
        except ValidationError as error:
            raise refusal_of(error) from error
        if operation.settings is None:
            return self._finished(operation.run(self._services, request))
        chosen = operation.settings(self._services.settings, request, CALLER)
        with open_services(chosen) as services:
            return self._finished(operation.run(services.called_by(CALLER), request))

    @staticmethod
    def _finished(result: Result) -> Result:
        result.finish()
        return result
