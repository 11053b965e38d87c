"""The agent that looks after the memory when it is asked to: one file among the agents of Claude Code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clawmem.app.services.setup.curator_page import PAGE
from clawmem.app.services.setup.text_file import TextFile
from clawmem.ports.errors import ConfigError

FILE = "agents/clawmem-curator.md"
MARK = "name: clawmem-curator"  # what every version of ours says of itself


@dataclass(frozen=True, slots=True)
class CuratorChange:
    """What became of the file, or would: ``text`` is all of it, empty when it is to go."""

    file: str
    text: str
    changed: bool


def page_of(command: Sequence[str]) -> str:
    """What the agent is told, with *command* as what starts clawmem."""
    import shlex

    return PAGE.replace("{clawmem}", shlex.join(command))


class SetUpCurator:
    """Writes or deletes the agent's file below the client's *folder*; repeating it changes nothing."""

    def __init__(self, folder: Path, *, dry_run: bool = False) -> None:
        self._file = TextFile(folder / FILE)
        self._dry_run = dry_run

    def install(self, text: str) -> CuratorChange:
        """
        Let the file say *text*, in the place of an older one of ours.

        Raises:
            ConfigError: somebody else's is there, or it cannot be read or written.
        """
        before = self._ours()
        changed = before != text
        if changed and not self._dry_run:
            self._file.write(text)
        return CuratorChange(str(self._file.path), text, changed)

    def remove(self) -> CuratorChange:
        """Delete the file, if it is ours. Raises `ConfigError` as `install` does."""
        changed = self._ours() is not None
        if changed and not self._dry_run:
            self._file.delete()
        return CuratorChange(str(self._file.path), "", changed)

    def _ours(self) -> str | None:
        """What stands there now; ``None`` when nothing does."""
        text = self._file.read()
        if text is not None and MARK not in text.splitlines():
            raise ConfigError(f"{self._file.path} is not ours. Move it away, then try again.")
        return text
