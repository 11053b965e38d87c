"""Atomically written text file of another program."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from clawmem.ports.errors import ConfigError


def remove_empty_folders(folder: Path) -> None:
    """Remove *folder* and its parents while they are empty folders of a client, such as ``.codex``."""
    while folder.name.startswith(".") or folder.name in ("plugin", "plugins"):
        if folder in (Path.home(), Path.cwd()):
            return
        try:
            folder.rmdir()
        except OSError:  # not empty, or without permission
            return
        folder = folder.parent


class TextFile:
    """The text file at *path*. Methods raise `ConfigError` on system errors; the file is then unchanged."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> str | None:
        """Return the current text; ``None`` if the file does not exist."""
        try:
            return self.path.read_bytes().decode("utf-8", "replace")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ConfigError(f"{self.path} cannot be read: {error.strerror}.") from error

    def write(self, text: str) -> None:
        """Replace the text, creating missing folders."""
        self._do(lambda: self._replace(text))

    def delete(self) -> None:
        """Delete the file."""
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
