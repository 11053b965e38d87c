"""Settings files of clients: edited with their comments, written atomically, restored when nothing of clawmem is left."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import tomlkit
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError
from tomlkit.exceptions import TOMLKitError

from clawmem.app.environment.private_files import PRIVATE, draft_of
from clawmem.app.services.setup.json5_text import Json5Object, Json5Text, Layout, unique_members
from clawmem.ports.errors import ConfigError

BACKUP = "before-clawmem"  # suffix of the backup file
_MARK = "\ufeff"  # byte order mark that some editors write before UTF-8
KeyPath = tuple[str | int, ...]


class Tree(NamedTuple):
    """The values of a text as a mapping that can be changed, and the function that writes the text of it."""

    root: MutableMapping[str, Any]
    write: Callable[[], str]


class Format(NamedTuple):
    """A format of settings. ``parse`` raises `ValueError`, whose message says where the text is wrong."""

    title: str
    parse: Callable[[str], Tree]


def _json(text: str) -> Tree:
    try:
        root = json.loads(text, object_pairs_hook=unique_members) if text.strip() else {}
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    if not isinstance(root, dict):
        raise ValueError("it is no JSON object")  # noqa: TRY004  the file is wrong, not the program
    layout, is_escaped = Layout.of(text), "\\ud" in text.lower()  # a lone surrogate has no UTF-8
    end = "\n" if not text.strip() or text.endswith("\n") else ""

    def write() -> str:
        written = json.dumps(root, ensure_ascii=is_escaped, indent=layout.indent) + end
        return written.replace("\n", layout.newline)

    return Tree(root, write)


def _json5(text: str) -> Tree:
    try:
        return _json(text)  # a hundred times faster
    except ValueError:
        json5 = Json5Text(text)
        return Tree(json5.root, json5.__str__)


def _toml(text: str) -> Tree:
    try:
        root = tomlkit.parse(text)
    except TOMLKitError as error:
        raise ValueError(str(error)) from error
    return Tree(root, root.as_string)


def _yaml(text: str) -> Tree:
    yaml = YAML(pure=True)
    yaml.preserve_quotes, yaml.width = True, 10_000
    try:
        loaded = yaml.load(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise ValueError(f"{where}{getattr(error, 'problem', None) or error}") from error
    if loaded is not None and not isinstance(loaded, CommentedMap):
        raise ValueError("it is no mapping")
    root = CommentedMap() if loaded is None else loaded

    def write() -> str:
        output = StringIO()
        if loaded is None and text.strip():  # nothing but comments, which ruamel drops
            output.write(f"{text.rstrip()}\n")
        if root:
            yaml.dump(root, output)
        return output.getvalue()

    return Tree(root, write)


JSON, JSON5 = Format("JSON", _json), Format("JSON5", _json5)
TOML, YAML_FORMAT = Format("TOML", _toml), Format("YAML", _yaml)


class Document:
    """
    A text of a format, which methods change in place; they raise `ValueError` when the text has another shape.

    Raises:
        ValueError: the text has a syntax error; the message says where.
    """

    def __init__(self, format_: Format, text: str) -> None:
        self.format, self._text = format_, text
        self._tree, self._is_changed = format_.parse(text), False

    @property
    def text(self) -> str:
        """The text with all changes."""
        return self._tree.write() if self._is_changed else self._text

    @property
    def rewritten(self) -> str:
        """The text as it is written after a change, without blanks; empty for an empty mapping."""
        text = "".join(self._tree.write().split())
        return "" if text == "{}" else text

    @property
    def value(self) -> dict[str, Any]:
        """A copy of the values in the text."""
        return _plain(self._tree.root)  # type: ignore[no-any-return]

    def get(self, *path: str | int) -> Any:
        """Return a copy of the value at *path*; ``None`` if it does not exist."""
        return _plain(self._at(path))

    def put(self, path: KeyPath, value: Any) -> None:
        """Set the value at *path*; missing mappings are created."""
        if value is not None and self.get(*path) == value:
            return
        at = next(at for at in range(len(path)) if at + 1 == len(path) or self._at(path[: at + 1]) is None)
        box = self._at(path[:at])
        if not isinstance(box, MutableMapping):
            raise ValueError(f"{'.'.join(map(str, path[:at]))} is no mapping")  # noqa: TRY004  the file is wrong
        for key in reversed(path[at + 1 :]):
            value = {key: value}
        key, self._is_changed = str(path[at]), True
        if isinstance(box, CommentedMap) and at and key not in box:
            box.insert(0, key, value)  # the comments after the last member belong to what follows
        else:
            box[key] = value

    def put_back(self, path: KeyPath, original: Document | None) -> None:
        """Set the value at *path* as *original* has it; remove a value that was not there or was empty."""
        before = original.get(*path) if original else None
        if before is None or before == {}:
            self.drop(path, original)
        elif original and self.get(*path) != before:
            box = original._at(path[:-1])
            has_notation = isinstance(box, Json5Object) and isinstance(self._at(path[:-1]), Json5Object)
            self.put(path, box.node(str(path[-1])) if has_notation else before)

    def add(self, path: KeyPath, value: Any) -> None:
        """Append *value* to the list at *path*, which is created if it does not exist."""
        box = self._at(path)
        if box is None:
            self.put(path, [value])
        elif isinstance(box, MutableSequence):
            box.append(value)
            self._is_changed = True
        else:
            raise ValueError(f"{'.'.join(map(str, path))} is no list")

    def drop(self, path: KeyPath, original: Document | None = None) -> None:
        """Remove the value at *path*, and parents that are empty then and were not so in *original*."""
        parent, key = path[:-1], path[-1]
        box = self._at(parent)
        if self._at(path) is not None or (isinstance(box, MutableMapping) and key in box):
            del box[key]
            self._is_changed = True
        was_empty = original is not None and original.get(*parent) in ({}, [])
        if parent and self.get(*parent) in ({}, []) and not was_empty:
            self.drop(parent, original)

    def _at(self, path: KeyPath) -> Any:
        found: Any = self._tree.root
        for key in path:
            if isinstance(found, Mapping):
                found = found.get(str(key))
            elif isinstance(found, MutableSequence) and isinstance(key, int) and key < len(found):
                found = found[key]
            else:
                return None
        return found


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(member) for key, member in value.items()}
    return [_plain(element) for element in value] if isinstance(value, MutableSequence) else value


class SettingsFile:
    """
    Settings file of a client.

    Raises:
        ConfigError: the file cannot be read, or has a syntax error; it is left unchanged.
    """

    def __init__(self, file: Path, format_: Format = JSON) -> None:
        self.file = file.resolve()  # a link is kept, and its target is changed
        self._before = self._read()
        self._copy = self.file.with_name(f"{self.file.name}.{BACKUP}")
        try:
            text = (self._before or b"").decode("utf-8").removeprefix(_MARK)
        except UnicodeDecodeError as error:
            raise ConfigError(f"{self.file} is not UTF-8. It was left as it is.") from error
        try:
            self.document = Document(format_, text)
        except (ValueError, RecursionError) as error:
            raise ConfigError(
                f"{self.file} is not valid {format_.title}: {error}. It was left as it is. Correct it, then try again."
            ) from error

    @property
    def original(self) -> Document | None:
        """The document before the first change of clawmem; ``None`` without a readable backup."""
        try:
            text = self._copy.read_bytes().decode("utf-8").removeprefix(_MARK)
            return Document(self.document.format, text)
        except (OSError, ValueError, RecursionError):
            return None

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

        If it differs from the backup in its layout only, the backup takes its place again. A file that clawmem created, and that
        contains nothing else, is deleted.
        """
        original = self.original
        if original is not None and original.rewritten == document.rewritten:
            self._done(lambda: self._replace(self.file, self._copy.read_bytes()))
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
        copied = self._before is not None and (fresh or not self._copy.exists())
        if copied:
            self._replace(self._copy, self._before or b"")
        try:
            self._replace(self.file, content)
        except BaseException:
            if copied:
                self._copy.unlink()
            raise
        return str(self._copy) if copied else ""

    def _read(self) -> bytes | None:
        try:
            return self.file.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ConfigError(f"{self.file} cannot be read: {error.strerror}.") from error

    def _replace(self, target: Path, content: bytes) -> None:
        """Replace *target*, the file or its copy, completely or not at all; it gets the mode of the file."""
        mode = stat.S_IMODE(self.file.stat().st_mode) if self._before is not None else PRIVATE
        with draft_of(target) as draft:
            draft.write_bytes(content)
            draft.chmod(mode)
            if self._read() != self._before:
                raise ConfigError(f"{self.file} was changed by another program in the meantime. Try again.")
