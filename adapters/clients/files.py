"""Files of an agent that an installation changes: settings, whole files and links, planned first and then written."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from difflib import unified_diff
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from clawmem.adapters.clients.entries import PROMPT, Entry
from clawmem.adapters.clients.formats import JSON, Format, Values
from clawmem.ports.clients import ConfiguredCommand, FileChange
from clawmem.ports.errors import ConfigError

BACKUP = "before-clawmem"  # suffix of the copy of a file as it was before the first entry
OUR_PLUGIN = "clawmem"
PLUGIN_SETTINGS = re.compile(r"^const settings = (\{.*\});$", re.MULTILINE)


class Plan(NamedTuple):
    """A planned change, and the function that makes it. The function raises `OSError`."""

    change: FileChange
    write: Callable[[], None]


def read(file: Path) -> str | None:
    """Return the text of *file*; ``None`` if it does not exist. Raises `ConfigError` if it cannot be read."""
    try:
        return file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8. It was left as it is.") from error
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}.") from error


def write(file: Path, text: str) -> None:
    """Replace *file* in one step. It keeps its mode; a new file is private."""
    file.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(file.stat().st_mode) if file.exists() else 0o600
    with TemporaryDirectory(prefix=f".{file.name}.", dir=file.parent) as folder:
        draft = Path(folder) / file.name
        draft.write_bytes(text.encode())
        draft.chmod(mode)
        draft.replace(file)


class SettingsFile:
    """Settings of an agent in *file*, with the *entries* of clawmem."""

    def __init__(self, file: Path, entries: Sequence[Entry], format_: Format = JSON) -> None:
        self._file = file.resolve()  # a link is kept, and its target is changed
        self._entries, self._format = entries, format_

    def plan(self, *, remove: bool) -> Plan:
        """Return the change. Raises `ConfigError` if the file cannot be read, or has another shape."""
        text = read(self._file)
        before = self._parse(text)
        copy = self._file.with_name(f"{self._file.name}.{BACKUP}")
        bare, after = deepcopy(before), deepcopy(before)
        try:
            former = read(copy)
            original = self._parse(former)
            for entry in self._entries:
                entry.remove(bare, {})
                entry.remove(after, original) if remove else entry.install(after)
        except ValueError as error:
            raise self._fault(error) from error
        new = self._format.rewrite(text or "", after) if after != before else text
        if remove and former and after == original:
            new = former
        is_copied = not remove and bool(text) and bare == before

        def apply() -> None:
            if is_copied:
                write(copy, text or "")
            if remove and not after and not copy.exists():
                self._file.unlink()
            else:
                write(self._file, new or "")
            if remove:
                copy.unlink(missing_ok=True)

        lines = unified_diff((text or "").splitlines(), (new or "").splitlines(), n=0, lineterm="")
        entries = [line for line in lines if line[0] in "+-" and line[:3] not in ("+++", "---")]
        backup = str(copy) if new != text and is_copied else ""
        return Plan(FileChange(str(self._file), new != text, entries, backup), apply)

    def commands(self) -> Iterator[ConfiguredCommand]:
        """Yield the commands that the agent starts because of the entries. Raises `ConfigError`."""
        settings = self._parse(read(self._file))
        try:
            for entry in self._entries:
                yield from entry.commands(settings)
        except ValueError as error:
            raise self._fault(error) from error

    def has_plugin(self) -> bool:
        """Whether the plugin of clawmem for Claude Code is switched on, which brings hooks and tools itself."""
        plugins = self._parse(read(self._file)).get("enabledPlugins")
        switched_on = [name for name, on in plugins.items() if on] if isinstance(plugins, dict) else []
        return any(name.partition("@")[0] == OUR_PLUGIN for name in switched_on)

    def _parse(self, text: str | None) -> Values:
        try:
            return self._format.parse(text or "")
        except (ValueError, RecursionError) as error:
            raise self._fault(error, f" is not valid {self._format.title}") from error

    def _fault(self, error: Exception, what: str = "") -> ConfigError:
        return ConfigError(f"{self._file}{what}: {error}. It was left as it is. Correct it, then try again.")


class WholeFile:
    """A *file* of clawmem in a folder of the agent; *mark* is part of all its versions."""

    def __init__(self, file: Path, text: str, mark: str) -> None:
        self._file, self._text, self._mark = file, text, mark

    def plan(self, *, remove: bool) -> Plan:
        """Return the change. Raises `ConfigError` if the file is not from clawmem, or cannot be read."""
        before = self._own_text()
        changed = before is not None if remove else before != self._text
        write_or_delete = self._file.unlink if remove else lambda: write(self._file, self._text)
        return Plan(FileChange(str(self._file), changed, ["the file"]), write_or_delete)

    def commands(self) -> Iterator[ConfiguredCommand]:
        """Yield the command in the settings of the file, which are one line of JSON."""
        if line := PLUGIN_SETTINGS.search(self._own_text() or ""):
            settings = json.loads(line[1])
            yield ConfiguredCommand([*settings["command"], "hook", PROMPT], settings["environment"], PROMPT)

    def _own_text(self) -> str | None:
        text = read(self._file)
        if text is not None and self._mark not in text:
            raise ConfigError(f"{self._file} is not ours. Move it away, then try again.")
        return text


class Link:
    """A symbolic *link* from a folder of the agent to the folder *target* of clawmem."""

    def __init__(self, link: Path, target: Path) -> None:
        self._link, self._target = link, target

    def plan(self, *, remove: bool) -> Plan:
        """Return the change. Raises `ConfigError` if something else has the name."""
        is_link = os.path.islink(self._link)  # noqa: PTH114  no error without permission
        if os.path.lexists(self._link) and not is_link:
            raise ConfigError(f"{self._link} is not a link of ours. Move it away, then try again.")
        changed = is_link if remove else not is_link or self._link.readlink() != self._target

        def apply() -> None:
            self._link.parent.mkdir(parents=True, exist_ok=True)
            self._link.unlink(missing_ok=True)
            if not remove:
                self._link.symlink_to(self._target, target_is_directory=True)

        return Plan(FileChange(str(self._link), changed, [f"a link to {self._target}"]), apply)

    def commands(self) -> Iterable[ConfiguredCommand]:
        """Return nothing: a link starts no command."""
        return ()


Step = SettingsFile | WholeFile | Link
