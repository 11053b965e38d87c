"""Installation of the curator agent as a file among the agents of Claude Code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clawmem.app.services.setup.curator_page import PAGE
from clawmem.app.services.setup.text_file import TextFile
from clawmem.ports.errors import ConfigError

FILE = "agents/clawmem-curator.md"
MARK = "name: clawmem-curator"  # line that identifies all versions of the file


@dataclass(frozen=True, slots=True)
class CuratorChange:
    """The change to the file, made or planned: ``text`` is its new content, empty if it is removed."""

    file: str
    text: str
    changed: bool


def page_of(command: Sequence[str]) -> str:
    """Return the page for the agent, with *command* as the command line of clawmem."""
    import shlex

    return PAGE.replace("{clawmem}", shlex.join(command))


class SetUpCurator:
    """Writes or deletes the agent's file below the client's *folder*. Repeating either changes nothing."""

    def __init__(self, folder: Path, *, dry_run: bool = False) -> None:
        self._file = TextFile(folder / FILE)
        self._dry_run = dry_run

    def install(self, text: str) -> CuratorChange:
        """
        Write *text* to the file, replacing an older version.

        Raises:
            ConfigError: the file is not from clawmem, or cannot be read or written.
        """
        before = self._ours()
        changed = before != text
        if changed and not self._dry_run:
            self._file.write(text)
        return CuratorChange(str(self._file.path), text, changed)

    def remove(self) -> CuratorChange:
        """Delete the file if it is from clawmem. Raises `ConfigError` as `install` does."""
        changed = self._ours() is not None
        if changed and not self._dry_run:
            self._file.delete()
        return CuratorChange(str(self._file.path), "", changed)

    def _ours(self) -> str | None:
        """Return the current text; ``None`` if the file does not exist."""
        text = self._file.read()
        if text is not None and MARK not in text.splitlines():
            raise ConfigError(f"{self._file.path} is not ours. Move it away, then try again.")
        return text
