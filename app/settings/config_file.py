"""Lookup, parsing and comment-preserving edits of the config file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from io import StringIO
from pathlib import Path
from stat import S_IMODE
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError

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
    entry: dict[str, Any] = {"path": str(folder), "pattern": pattern}
    entry |= {"exclude": list(exclude)} if exclude else {}
    _edit(path, lambda data: _section(_section(data, "collections"), name).update(entry))


def remove_collection(path: Path, name: str) -> None:
    """Remove a collection from the config file; raise `NotFound` if there is none of that name."""

    def change(data: Any) -> None:
        del data["collections"][name]
        if not data["collections"]:  # ruamel writes an emptied mapping with comments wrongly
            del data["collections"]

    _edit(path, change, known=name)


def choose_trust(path: Path, name: str, level: str) -> None:
    """Write the trust in a collection; raise `NotFound` if there is none of that name."""
    _edit(path, lambda data: data["collections"][name].update(trust=level), known=name)


def set_context(path: Path, name: str, prefix: str, text: str) -> None:
    """Write the description of *prefix* in a collection; raise `NotFound` if there is none of that name."""
    _edit(
        path, lambda data: _section(data["collections"][name], "context").update({prefix: text}), known=name
    )


def remove_context(path: Path, name: str, prefix: str) -> None:
    """Remove the description of *prefix*; raise `NotFound` if there is no collection of that name."""
    _edit(path, lambda data: (data["collections"][name].get("context") or {}).pop(prefix, None), known=name)


def choose(path: Path, key: str, value: str, note: str = "") -> None:
    """Write a top-level setting, such as ``embedder: minilm``; a new one with the comment *note*."""

    def change(data: Any) -> None:
        is_new = key not in data
        data[key] = value
        if is_new and note:
            data.yaml_add_eol_comment(note, key, column=0)

    _edit(path, change)


def withdraw(path: Path, key: str, value: str, note: str) -> bool:
    """Remove the line that `choose` added with *note*, and a file of nothing else; return whether the line exists."""
    lines = _text(path).splitlines(keepends=True)
    others = [line for line in lines if line.split() != [f"{key}:", value, "#", *note.split()]]
    if len(others) == len(lines):
        return False
    _write(path, "".join(others)) if "".join(others).strip() else path.unlink()
    return True


def add_vault(path: Path, name: str, file: Path) -> None:
    """Write the name of the vault in *file* to the config file."""
    _edit(path, lambda data: _section(data, "vaults").update({name: str(file)}))


def _edit(path: Path, change: Callable[[Any], object], *, known: str = "") -> None:
    """
    Write the config file after *change* of its content, with its comments as far as ruamel.yaml keeps them.

    If it does not keep all of them, the previous text stays next to the file, with the suffix ``.bak``.

    Args:
        known: Name of a collection that must be in the file.

    Raises:
        NotFound: There is no collection of that name.
        ConfigError: The file cannot be read or written, or its collections are no mappings.
    """
    collections = read_config(path).get("collections") or {}
    if not isinstance(collections, dict) or not all(
        isinstance(entry, dict) for entry in collections.values()
    ):
        raise ConfigError(f"{path}: 'collections' must give each name a mapping with its path.")
    if known and known not in collections:
        raise NotFound("collection", known, suggestions=sorted(collections))
    text, yaml, output = _text(path), _yaml("rt"), StringIO()
    data = yaml.load(text)
    if data is None:  # nothing but comments, which ruamel drops
        output.write(f"{text.rstrip()}\n" if text.strip() else "")
        data = CommentedMap()
    change(data)
    yaml.dump(data, output)
    _load(path, output.getvalue())  # nothing is written that could not be read again
    if output.getvalue().count("#") < text.count("#"):
        _write(path.with_name(f"{path.name}.bak"), text)
    _write(path, output.getvalue())


def _section(data: Any, key: str) -> Any:
    """Return the mapping at *key*, which is created if it is missing or empty."""
    if not data.get(key):
        data[key] = CommentedMap()
    return data[key]


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}. {_REMEDY}") from error


def _load(path: Path, text: str) -> Any:
    if not text.strip():
        return None
    try:
        return _yaml("safe").load(text)
    except (YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        reason = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise ConfigError(f"{path}{where}: {reason}. {_REMEDY}") from error


def _yaml(kind: str) -> YAML:
    yaml = YAML(typ=kind, pure=True)
    yaml.preserve_quotes = True
    yaml.width = 10_000  # never fold a long path
    return yaml


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
