"""A file of another program's that setting up makes: whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from clawmem.ports.errors import ConfigError


class TextFile:
    """The text at *path*. Every method raises `ConfigError` when the system refuses it; the file is then as it was."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> str | None:
        """What stands there now; ``None`` when nothing does."""
        try:
            return self.path.read_bytes().decode("utf-8", "replace")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ConfigError(f"{self.path} cannot be read: {error.strerror}.") from error

    def write(self, text: str) -> None:
        """Let it say *text*; folders that are missing are made."""
        self._do(lambda: self._replace(text))

    def delete(self) -> None:
        """Take it away."""
        self._do(self.path.unlink)

    def _replace(self, text: str) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        draft.write_bytes(text.encode("utf-8"))
        draft.replace(self.path)

    def _do(self, action: Callable[[], object]) -> None:
        try:
            action()
        except OSError as error:
            raise ConfigError(f"{self.path} cannot be changed: {error.strerror}. It is as it was.") from error
