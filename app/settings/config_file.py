"""Lookup, parsing and comment-preserving edits of the config file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from stat import S_IMODE
from typing import Any

from clawmem.app.environment.private_files import private_umask
from clawmem.domain.documents.eligibility import check_pattern, collection_name, is_collection_name
from clawmem.ports.errors import ConfigError, InvalidInput, NotFound

PREFERRED, OTHER = "config.yaml", "index.yml"
DEFAULT_PATTERN = "**/*.md"
_REMEDY = "Correct it, or move the file aside."
RESERVED = frozenset({"_clawmem", "beads"})  # filled by clawmem itself


def find_config(folder: Path) -> Path:
    """Return the path of ``config.yaml``, or of ``index.yml`` if only that exists."""
    preferred, other = folder / PREFERRED, folder / OTHER
    return other if other.is_file() and not preferred.is_file() else preferred


def read_config(path: Path) -> dict[str, Any]:
    """
    Return the content of the config file; empty if the file is missing.

    Raises:
        ConfigError: The file cannot be read or is not a YAML mapping; the message names file and line.
    """
    data = _load(path, _text(path))
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise ConfigError(f"{path} must be a mapping of keys to values, such as 'collections:'.")
    return {str(key): value for key, value in data.items()}


def typed_folder(text: str) -> Path:
    """
    Return *text* as the path of a folder; refuse an empty text, such as an unset variable.

    Raises:
        InvalidInput: The text is empty.
    """
    if not text.strip():
        raise InvalidInput(
            "INVALID_PATH", "The path of the folder is empty. Give a path; the current folder is '.'."
        )
    return Path(text)


def existing_folder(folder: Path) -> Path:
    """Return *folder* as an absolute path; raise `InvalidInput` if it does not exist."""
    try:
        found = folder.expanduser().resolve()
        is_folder = found.is_dir()
    except OSError:  # a name that is too long, or a parent folder without permission
        is_folder = False
    if not is_folder:
        raise InvalidInput("INVALID_PATH", f"{folder} is not a folder. Create it, or give the path of one.")
    return found


def breadth_warning(folder: Path, home: Path) -> str | None:
    """Return a warning if *folder* is the home folder or contains it, and ``None`` otherwise."""
    if not home.is_relative_to(folder):
        return None
    what = "your home folder" if folder == home else "a folder that contains your home folder"
    return (
        f"{folder} is {what}. Every Markdown file in it becomes searchable and may be put into prompts, those of other "
        "programs included. A narrower folder is usually meant."
    )


def refuse_second(folder: Path, pattern: str, name: str, known: Mapping[str, tuple[Path, str]]) -> None:
    """
    Raise if another collection has the same folder and pattern as the new collection *name*.

    Args:
        known: The folder and the pattern of each configured collection.

    Raises:
        InvalidInput: Another collection already has every file of the folder.
    """
    for other, (path, its_pattern) in known.items():
        if other != name and its_pattern == pattern and path.resolve() == folder:
            raise InvalidInput(
                "INVALID_INPUT",
                f"{folder} is already the collection {other!r}, which has all of its files ({pattern}). To rename it, "
                f"run: clawmem collection remove {other}, then repeat. To read other files, add --pattern.",
            )


def name_for(folder: Path, name: str | None, taken: Mapping[str, Path], *, moved: bool = False) -> str:
    """
    Return the name for a collection of *folder*: *name*, or one made from the name of the folder.

    Args:
        taken: The folders of the configured collections.
        moved: Whether *folder* is the new place of the collection that has the name.

    Raises:
        InvalidInput: The name is reserved, invalid, or that of another folder's collection.
    """
    if name is None and not folder.name:
        raise InvalidInput("INVALID_INPUT", f"{folder} has no name of its own. Choose one with --name.")
    chosen = name if name is not None else collection_name(folder.name)
    if fault := fault_of_name(chosen):
        raise InvalidInput("INVALID_INPUT", f"{fault} Choose another with --name.")
    if moved and chosen not in taken:
        raise InvalidInput("INVALID_INPUT", f"There is no collection {chosen!r} to move. Leave --move out.")
    if not moved and chosen in taken and taken[chosen].resolve() != folder:
        raise InvalidInput(
            "INVALID_INPUT",
            f"Collection {chosen!r} is the folder {taken[chosen]}. Choose another name with --name, or, if that "
            f"folder was moved to {folder}, run: clawmem collection add PATH --name {chosen} --move",
        )
    return chosen


def fault_of_name(name: str) -> str | None:
    """Return why *name* is not allowed for a collection of files, or ``None``."""
    if not is_collection_name(name):
        return f"{name!r} is no name for a collection. Use letters, digits, '-' and '_'."
    return f"{name!r} is reserved." if name in RESERVED else None


def make_config_folder(path: Path) -> None:
    """Create the folder of the config file *path* and its missing parents, private to the owner."""
    with private_umask():
        path.parent.mkdir(parents=True, exist_ok=True)


def add_collection(
    path: Path, name: str, folder: Path, pattern: str = DEFAULT_PATTERN, *, exclude: Sequence[str] = ()
) -> None:
    """Write a collection to the config file; an existing entry of that name keeps its other keys."""
    check_pattern(pattern)
    text, meant = _editable(path)
    entry: dict[str, Any] = {"path": str(folder), "pattern": pattern}
    entry |= {"exclude": list(exclude)} if exclude else {}
    drafts = [lambda: _dumped(text, lambda data: _overwrite(data, name, entry))]
    if meant["collections"] and name not in meant["collections"]:
        drafts.insert(0, lambda: _with_lines(text, name, entry))
    _overwrite(meant, name, entry)
    _write_first(path, meant, drafts)


def remove_collection(path: Path, name: str) -> None:
    """Remove a collection from the config file; raise `NotFound` if there is none of that name."""
    text, meant = _editable(path)
    if name not in meant["collections"]:
        raise NotFound("collection", name, suggestions=sorted(meant["collections"]))
    del meant["collections"][name]
    drafts = (
        lambda: _without_lines(text, name),
        lambda: _dumped(text, lambda data: data["collections"].pop(name)),
    )
    _write_first(path, meant, drafts)


def choose_trust(path: Path, name: str, level: str) -> None:
    """Write the trust in a collection; raise `NotFound` if there is none of that name."""
    _change_collection(path, name, lambda data: _overwrite(data, name, {"trust": level}))


def set_context(path: Path, name: str, prefix: str, text: str) -> None:
    """Write the description of *prefix* in a collection; raise `NotFound` if there is none of that name."""

    def change(data: Any) -> None:
        if not data["collections"][name].get("context"):
            _overwrite(data, name, {"context": {}})
        data["collections"][name]["context"][prefix] = text

    _change_collection(path, name, change)


def remove_context(path: Path, name: str, prefix: str) -> None:
    """Remove the description of *prefix*; raise `NotFound` if there is no collection of that name."""

    def change(data: Any) -> None:
        (data["collections"][name].get("context") or {}).pop(prefix, None)

    _change_collection(path, name, change)


def _change_collection(path: Path, name: str, change: Callable[[Any], object]) -> None:
    text, meant = _editable(path)
    if name not in meant["collections"]:
        raise NotFound("collection", name, suggestions=sorted(meant["collections"]))
    change(meant)
    _write_first(path, meant, [lambda: _dumped(text, change)])


def choose(path: Path, key: str, value: str, note: str = "") -> None:
    """Write a top-level setting, such as ``embedder: minilm``; a new one with the comment *note*."""
    _set(path, key, lambda data: data.__setitem__(key, value), _noted_line(key, value, note))


def withdraw(path: Path, key: str, value: str, note: str) -> bool:
    """Remove the line that `choose` added with *note*, and a file of nothing else; return whether the line exists."""
    lines = _text(path).splitlines(keepends=True)
    added = _noted_line(key, value, note)
    if added not in lines:
        return False
    lines.remove(added)
    _write(path, "".join(lines)) if "".join(lines).strip() else path.unlink()
    return True


def _noted_line(key: str, value: str, note: str) -> str:
    return f"{key}: {json.dumps(value)}{f'  # {note}' if note else ''}\n"


def add_vault(path: Path, name: str, file: Path) -> None:
    """Write the name of the vault in *file* to the config file."""

    def add(data: Any) -> None:
        if not data.get("vaults"):
            data["vaults"] = {}
        data["vaults"][name] = str(file)

    _set(path, "vaults", add, f"vaults:\n  {name}: {json.dumps(str(file))}\n")


def _set(path: Path, key: str, change: Callable[[Any], object], lines: str) -> None:
    """Apply *change* to the top-level setting *key*; a new one is added as *lines* at the end."""
    text, meant = _editable(path)
    drafts = [lambda: _dumped(text, change)]
    if key not in meant:
        below = f"{text}\n" if text and not text.endswith("\n") else text
        drafts.insert(0, lambda: f"{below}{lines}")
    change(meant)
    _write_first(path, meant, drafts)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}. {_REMEDY}") from error


def _load(path: Path, text: str) -> Any:
    if not text.strip():
        return None  # saves the import of the parser
    from ruamel.yaml.error import YAMLError

    try:
        return _yaml("safe").load(text)
    except (YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        reason = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise ConfigError(f"{path}{where}: {reason}. {_REMEDY}") from error


def _yaml(kind: str) -> Any:
    from ruamel.yaml import YAML

    yaml = YAML(typ=kind, pure=True)
    yaml.preserve_quotes = True
    yaml.width = 10_000  # never fold a long path
    return yaml


def _editable(path: Path) -> tuple[str, dict[str, Any]]:
    """Return the file's text and its parsed content."""
    meant = read_config(path)
    meant["collections"] = known = meant.get("collections") or {}
    if not isinstance(known, dict) or not all(isinstance(one, dict) for one in known.values()):
        raise ConfigError(f"{path}: 'collections' must give each name a mapping with its path.")
    return _text(path), meant


def _overwrite(data: Any, name: str, entry: Mapping[str, Any]) -> None:
    if not data.get("collections"):
        data["collections"] = {}
    known = data["collections"].setdefault(name, {})
    for key, value in entry.items():
        if key in known or not hasattr(known, "insert"):
            known[key] = value
        else:
            known.insert(0, key, value)  # the last key holds the comments on the next entry


def _dumped(text: str, change: Callable[[Any], object]) -> str:
    """Return *text* after a change that ruamel applied."""
    from io import StringIO

    data = _yaml("rt").load(text) if text.strip() else None
    heading, data = (text, {}) if data is None else ("", data)
    change(data)
    written = StringIO()
    _yaml("rt").dump(data, written)
    return heading + written.getvalue()


def _with_lines(text: str, name: str, entry: Mapping[str, Any]) -> str:
    """
    Return *text* with one more collection after the others.

    The lines are edited directly, because ruamel would insert the entry after the comment on the next key.
    """
    collections = _yaml("rt").load(text)["collections"]
    last, column = max(collections.lc.key(known) for known in collections)
    lines = f"{text}\n".splitlines(keepends=True) if not text.endswith("\n") else text.splitlines(True)
    indent = " " * column
    added = [f"{indent}{name}:\n"]
    added += [f"{indent}  {key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in entry.items()]
    end = _end_of_block(lines, last, column)
    return "".join([*lines[:end], *added, *lines[end:]])


def _without_lines(text: str, name: str) -> str:
    """Return *text* without a collection; comments after it are kept, because they describe the next entry."""
    line, column = _yaml("rt").load(text)["collections"].lc.key(name)
    lines = text.splitlines(keepends=True)
    return "".join([*lines[:line], *lines[_end_of_block(lines, line, column) :]])


def _end_of_block(lines: Sequence[str], first: int, column: int) -> int:
    """Return the number of the line after the block of the key at *first* and *column*."""
    end = first + 1
    for number, line in enumerate(lines[end:], start=end):
        content = line.strip()
        if content and not content.startswith("#"):
            if len(line) - len(line.lstrip()) <= column:
                break
            end = number + 1
    return end


def _write_first(path: Path, meant: Mapping[str, Any], drafts: Iterable[Callable[[], str]]) -> None:
    """Write the first draft that parses to *meant*; raise `ConfigError` if none does."""
    from ruamel.yaml.error import YAMLError

    for draft in drafts:
        with suppress(YAMLError, ValueError):
            text = draft()
            data = _yaml("safe").load(text) or {}
            if {**data, "collections": data.get("collections") or {}} == meant:
                _write(path, text)
                return
    raise ConfigError(f"{path} is written in a way that cannot be edited safely. Edit it by hand.")


def _write(path: Path, text: str) -> None:
    """
    Replace the file atomically. Symbolic links are kept.

    The file may contain keys, so a new file and its new parent folders are private. An existing file keeps its mode.
    """
    target = path.resolve()
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        make_config_folder(target)
        draft.unlink(missing_ok=True)
        with private_umask(), draft.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            draft.chmod(S_IMODE(target.stat().st_mode))
        draft.replace(target)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise ConfigError(f"{path} cannot be written: {error.strerror}.") from error
