"""Settings files of clients: edited in place, written atomically, and restored when nothing of clawmem is left."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from clawmem.app.services.setup.json_text import Path as KeyPath
from clawmem.app.services.setup.json_text import (
    read_json,
    source_of,
    with_json,
    with_json_element,
    without_json,
)
from clawmem.ports.errors import ConfigError

BACKUP = "before-clawmem"  # suffix of the backup file
_MARK = "\ufeff"  # byte order mark that some editors write before UTF-8


class Format(NamedTuple):
    """
    A format of settings: functions that read a text, and that return it with or without one value.

    ``source`` returns a value as the text writes it.
    """

    title: str
    read: Callable[[str], dict[str, Any]]
    put: Callable[[str, KeyPath, Any], str]
    drop: Callable[[str, KeyPath], str]
    source: Callable[[str, KeyPath], Any] | None = None


def _late(module: str, name: str) -> Callable[..., Any]:
    """Return a function that imports its module at the first call, because most clients need JSON only."""

    def call(*given: Any) -> Any:
        from importlib import import_module

        return getattr(import_module(f"clawmem.app.services.setup.{module}"), name)(*given)

    return call


_EDITS = with_json, without_json, source_of
JSON = Format("JSON", read_json, *_EDITS)
JSON_WITH_COMMENTS = Format("JSON", partial(read_json, comments=True), *_EDITS)
JSON5 = Format("JSON5", partial(read_json, json5=True), *_EDITS)
TOML = Format("TOML", *(_late("toml_and_yaml", f"{verb}_toml") for verb in ("read", "with", "without")))
YAML = Format(
    "YAML",
    *(_late("toml_and_yaml", name) for name in ("read_yaml", "with_yaml", "without_yaml", "yaml_source")),
)


class Document(NamedTuple):
    """A text of a format. Methods return changed copies; they raise `ValueError` when the text has another shape."""

    format: Format
    text: str

    @property
    def value(self) -> dict[str, Any]:
        """The values in the text."""
        return self.format.read(self.text)

    def get(self, *path: str | int) -> Any:
        """Return the value at *path*; ``None`` if it does not exist."""
        found: Any = self.value
        for key in path:
            known = found.get(key) if isinstance(found, dict) else None
            if isinstance(found, list) and isinstance(key, int) and key < len(found):
                known = found[key]
            found = known
        return found

    def put(self, path: KeyPath, value: Any) -> Document:
        """Set the value at *path*."""
        return (
            self if self.get(*path) == value else self._replace(text=self.format.put(self.text, path, value))
        )

    def put_back(self, path: KeyPath, original: Document | None) -> Document:
        """Set the value at *path* as *original* writes it; remove a value that was not there or was empty."""
        before = original.get(*path) if original else None
        if original is None or before is None or before == {}:
            return self.drop(path, original)
        if self.get(*path) == before:
            return self
        source = self.format.source(original.text, path) if self.format.source else before
        return self._replace(text=self.format.put(self.text, path, source))

    def add(self, path: KeyPath, value: Any) -> Document:
        """Append *value* to the list at *path*, which only JSON supports."""
        return self._replace(text=with_json_element(self.text, path, value))

    def drop(self, path: KeyPath, original: Document | None = None) -> Document:
        """Remove the value at *path*, and parents that are empty then and were not so in *original*."""
        dropped = self._replace(text=self.format.drop(self.text, path))
        parent = path[:-1]
        was_empty = original is not None and original.get(*parent) in ({}, [])
        if parent and dropped.get(*parent) in ({}, []) and not was_empty:
            return dropped.drop(parent, original)
        return dropped


class SettingsFile:
    """
    Settings file of a client.

    Raises:
        ConfigError: the file cannot be read, or has a syntax error; it is left unchanged.
    """

    def __init__(self, file: Path, format_: Format = JSON) -> None:
        self.file = file.resolve()  # a link is kept, and its target is changed
        self._before = self._read()
        self.document = Document(format_, self._decoded(self._before or b""))
        self._check(self.document)
        self._copy = self.file.with_name(f"{self.file.name}.{BACKUP}")

    @property
    def original(self) -> Document | None:
        """The document before the first change of clawmem; ``None`` without a readable backup."""
        try:
            text = self._copy.read_bytes().decode("utf-8").removeprefix(_MARK)
            self.document.format.read(text)
        except (OSError, ValueError, RecursionError):
            return None
        return self.document._replace(text=text)

    def write(self, text: str, *, fresh: bool = False) -> str:
        """
        Replace the file with *text*, atomically.

        The first time, the original file is copied; later calls keep that copy, unless the change is *fresh*: the file
        contains nothing of clawmem.

        Returns:
            The path of the copy if it was written now, else an empty text.

        Raises:
            ConfigError: the file cannot be written, or another program changed it in the meantime.
        """
        marked = self._before is not None and self._before.startswith(_MARK.encode())
        content = f"{_MARK if marked else ''}{text}".encode()
        return str(self._done(lambda: self._rewritten(content, fresh)))

    def restore(self, document: Document) -> None:
        """
        Write *document*, from which the entries of clawmem were removed.

        If only blanks differ from the backup, the backup takes its place again. A file that clawmem created, and that
        contains nothing else, is deleted.
        """
        original = self.original
        if original is not None and _squeezed(original.text) == _squeezed(document.text):
            self._done(lambda: self._replace(self._copy.read_bytes()))
            self._done(self._copy.unlink)
        elif original is None and not self._copy.exists() and not document.value:
            self._done(self.file.unlink)
        else:
            self.write(document.text)

    def _done(self, action: Callable[[], Any]) -> Any:
        try:
            return action()
        except OSError as error:
            raise ConfigError(f"{self.file} cannot be written: {error.strerror}. It is as it was.") from error

    def _rewritten(self, content: bytes, fresh: bool) -> str:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        backup = self._back_up(fresh)
        self._replace(content)
        return backup

    def _read(self) -> bytes | None:
        try:
            return self.file.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ConfigError(f"{self.file} cannot be read: {error.strerror}.") from error

    def _decoded(self, content: bytes) -> str:
        try:
            return content.decode("utf-8").removeprefix(_MARK)
        except UnicodeDecodeError as error:
            raise ConfigError(f"{self.file} is not UTF-8. It was left as it is.") from error

    def _check(self, document: Document) -> None:
        try:
            document.format.read(document.text)
        except (ValueError, RecursionError) as error:
            raise ConfigError(
                f"{self.file} is not valid {document.format.title}: {error}. It was left as it is. "
                "Correct it, then try again."
            ) from error

    def _back_up(self, fresh: bool) -> str:
        if self._before is None or (self._copy.exists() and not fresh):
            return ""
        self._copy.write_bytes(self._before)
        self._copy.chmod(stat.S_IMODE(self.file.stat().st_mode))
        return str(self._copy)

    def _replace(self, content: bytes) -> None:
        mode = stat.S_IMODE(self.file.stat().st_mode) if self._before is not None else 0o600
        draft = self.file.with_name(f".{self.file.name}.{os.getpid()}.part")
        try:
            with draft.open("wb") as out:
                draft.chmod(mode)
                out.write(content)
                out.flush()
                os.fsync(out.fileno())
            if self._read() != self._before:
                raise ConfigError(f"{self.file} was changed by another program in the meantime. Try again.")
            draft.replace(self.file)
        finally:
            draft.unlink(missing_ok=True)


def _squeezed(text: str) -> str:
    squeezed = "".join(text.split())
    return "" if squeezed == "{}" else squeezed
