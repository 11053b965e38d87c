"""Steps of a client's connection: a change to one file or link, planned first and then applied."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clawmem.app.environment.private_files import write_whole
from clawmem.app.services.setup.parts import PROMPT, ConfiguredCommand, Part
from clawmem.app.services.setup.settings_file import BACKUP, JSON, Document, Format, SettingsFile
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
        write_whole(self.path, text.encode("utf-8"))

    def _do(self, action: Callable[[], object]) -> None:
        try:
            action()
        except OSError as error:
            raise ConfigError(f"{self.path} cannot be changed: {error.strerror}. It is as it was.") from error


_PLUGIN_LINE = re.compile(r"^const settings = (\{.*\});$", re.MULTILINE)


@dataclass
class Change:
    """The change of a file, made or planned: its new content, empty if it is deleted, and the new backup."""

    file: str
    changed: bool
    text: str
    entries: list[str] = field(default_factory=list)
    backup: str = ""

    def line(self, what: str = "") -> str:
        """Return the file and *what* happened to it, by default its entries; a second line is about a new backup."""
        if not self.changed:
            return f"{self.file}: nothing to change."
        told = f" {what}" if what else "".join(f"\n  {entry}" for entry in self.entries)
        backup = f"\nThe file as it was before is kept as {self.backup}" if self.backup else ""
        return f"{self.file}:{told}{backup}"


class FileEdit:
    """Parts in one settings file. `plan` reads the file, `apply` writes what was planned."""

    def __init__(self, file: Path, parts: Sequence[Part], format_: Format = JSON) -> None:
        self._path, self._parts, self._format = file, parts, format_

    def plan(self, *, remove: bool = False) -> Change:
        """
        Return the change.

        Raises:
            ConfigError: the file cannot be read, or its shape is unknown.
        """
        self._remove, self._file = remove, SettingsFile(self._path, self._format)
        self._now = self._file.document
        self._after = Document(self._format, self._now.text)
        original = self._file.original
        try:
            for part in self._parts:
                part.remove(self._after, original) if remove else part.install(self._after)
            text = self._after.text
        except (ValueError, TypeError, KeyError) as error:
            raise ConfigError(
                f"{self._file.file}: {error}. The file was not changed. Correct it, then try again."
            ) from error
        changed = text != self._now.text
        entries = [line for part in self._parts for line in part.shown(self._now)]
        self._change = Change(str(self._file.file), changed, text, entries)
        return self._change

    def apply(self) -> None:
        """Write the planned change. Raises `ConfigError` if the file cannot be written."""
        if not self._change.changed:
            return
        if self._remove:
            self._file.restore(self._after)
            remove_empty_folders(self._path.parent)
        else:
            fresh = not any(part.is_in(self._now) for part in self._parts)
            self._change.backup = self._file.write(self._after.text, fresh=fresh)

    def commands(self) -> Iterator[ConfiguredCommand]:
        """Yield the commands that the client starts because of entries in the file. Raises `ConfigError`."""
        settings = SettingsFile(self._path, self._format)
        try:
            for part in self._parts:
                yield from part.commands(settings.document)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ConfigError(f"{settings.file}: {error}. Correct it, then try again.") from error

    def has_traces(self) -> bool:
        """Whether the file names clawmem or has a backup, even with a syntax error."""
        backup = self._path.with_name(f"{self._path.name}.{BACKUP}")
        try:
            return backup.exists() or b"clawmem" in self._path.read_bytes()
        except OSError:
            return False


class WholeFile:
    """A file of clawmem in a folder of the client, recognised by *mark*."""

    def __init__(self, file: Path, text: str, mark: str) -> None:
        self._file, self._text, self._mark = TextFile(file), text, mark

    def plan(self, *, remove: bool = False) -> Change:
        """Return the change. Raises `ConfigError` if the file is not from clawmem, or cannot be read."""
        self._remove, before = remove, self._ours()
        changed = before is not None if remove else before != self._text
        entries = ["the file"]
        self._change = Change(str(self._file.path), changed, "" if remove else self._text, entries)
        return self._change

    def apply(self) -> None:
        """Write or delete the file. Raises `ConfigError` if that fails."""
        if self._change.changed:
            self._file.delete() if self._remove else self._file.write(self._text)
            remove_empty_folders(self._file.path.parent)

    def commands(self) -> Iterator[ConfiguredCommand]:
        """Yield the command in the settings of the file, which are one line of JSON."""
        found = _PLUGIN_LINE.search(self._ours() or "")
        if found:
            settings = json.loads(found[1])
            yield ConfiguredCommand([*settings["command"], "hook", PROMPT[0]], settings["environment"])

    def has_traces(self) -> bool:
        """Whether the file is from clawmem."""
        try:
            return self._ours() is not None
        except ConfigError:
            return False

    def _ours(self) -> str | None:
        text = self._file.read()
        if text is not None and self._mark not in text:
            raise ConfigError(f"{self._file.path} is not ours. Move it away, then try again.")
        return text


class Link:
    """A symbolic link from a folder of the client to a folder of clawmem."""

    def __init__(self, link: Path, target: Path) -> None:
        self._link, self._target = link, target

    def plan(self, *, remove: bool = False) -> Change:
        """Return the change. Raises `ConfigError` if something else has the name."""
        if os.path.lexists(self._link) and not self.has_traces():
            raise ConfigError(f"{self._link} is not a link of ours. Move it away, then try again.")
        self._remove, now = remove, self._link.readlink() if self.has_traces() else None
        changed = now is not None if remove else now != self._target
        self._change = Change(str(self._link), changed, "", [f"a link to {self._target}"])
        return self._change

    def apply(self) -> None:
        """Create or delete the link. Raises `ConfigError` if that fails."""
        if not self._change.changed:
            return
        try:
            self._link.parent.mkdir(parents=True, exist_ok=True)
            self._link.unlink(missing_ok=True)
            if not self._remove:
                self._link.symlink_to(self._target, target_is_directory=True)
            remove_empty_folders(self._link.parent)
        except OSError as error:
            raise ConfigError(f"{self._link} cannot be changed: {error.strerror}.") from error

    def commands(self) -> Iterator[ConfiguredCommand]:
        """Yield nothing: a link starts no command."""
        yield from ()

    def has_traces(self) -> bool:
        """Whether the link exists."""
        return os.path.islink(self._link)  # noqa: PTH114  no error without permission


Step = FileEdit | WholeFile | Link


def plan_steps(steps: Sequence[Step], *, remove: bool = False) -> list[Change]:
    """Return the changes of *steps*, of which nothing is written. Raises `ConfigError` if a file cannot be edited."""
    return [step.plan(remove=remove) for step in steps]


def apply_steps(steps: Sequence[Step]) -> None:
    """Write the planned changes. Raises `ConfigError` if a file cannot be written."""
    for step in steps:
        step.apply()


def run_steps(steps: Sequence[Step], *, remove: bool = False, dry_run: bool = False) -> list[Change]:
    """
    Plan all *steps*, then apply them unless *dry_run*; return the changes.

    Raises:
        ConfigError: a file cannot be edited. Nothing was written if the plan failed.
    """
    changes = plan_steps(steps, remove=remove)
    if not dry_run:
        apply_steps(steps)
    return changes
