"""Lookup, parsing and comment-preserving edits of the config file."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from stat import S_IMODE
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError

from clawmem.app.environment.places import CORRECT_IT, below_home, config_text, real_path
from clawmem.app.environment.private_files import PRIVATE, draft_of, make_folder
from clawmem.domain.documents.eligibility import is_collection_name
from clawmem.ports.errors import DISK_FULL, ConfigError, InvalidInput

RESERVED = frozenset({"_clawmem", "beads"})  # filled by clawmem itself
PLACE = ("path", "pattern", "kind")  # what no two collections have in common
LOCK_S = 10.0  # patience with another process that changes the same config file


def config_of(vault: Path) -> Path:
    """Return the path of the config file of a vault that has its own collections."""
    return Path(f"{vault}.yaml")  # a folder without a name, such as / or ., is refused when it is opened


def read_config(path: Path) -> dict[str, Any]:
    """Return the content of the config file without empty values; raise `ConfigError` if it is no mapping."""
    data = _load(path, config_text(path))
    if not isinstance(data, dict):
        raise ConfigError(f"{path} must be a mapping of keys to values, such as 'collections:'.")
    return {key: value for key, value in data.items() if value is not None}


def set_value(path: Path, keys: Sequence[str], value: Any, *, is_new: bool = False) -> None:
    """
    Write the setting at *keys*, such as ``("collections", "notes")``; comments stay as far as YAML keeps them.

    A mapping is joined with the present one. Raises `ConfigError` if the file cannot be read or written, and
    `InvalidInput` if another process has just removed the section of the setting, or added a setting that *is_new*.
    """
    *above, last = keys
    with _edited(path) as section:
        for key in above:
            if not section.get(key):
                if key != keys[0]:
                    raise InvalidInput("INVALID_INPUT", f"{path} has no {key!r} any more.")
                section[key] = CommentedMap()
            section = section[key]
        place = [value.get(key) for key in PLACE] if is_new else []
        if is_new and any(key == last or place == [*map(each.get, PLACE)] for key, each in section.items()):
            raise InvalidInput(
                "INVALID_INPUT", f"Another command has just added {last!r} or its files. Repeat this one."
            )
        if isinstance(value, Mapping) and section.get(last):
            section[last].update(value)
        else:
            section[last] = value


def remove_collection(path: Path, name: str) -> None:
    """Remove the collection *name*, and the section if that is empty then. Raises as `set_value`."""
    with _edited(path) as whole:
        collections = whole.get("collections") or {}
        collections.pop(name, None)
        if not collections:  # ruamel writes an emptied mapping with comments wrongly
            whole.pop("collections", None)


@contextmanager
def locked_config(path: Path) -> Iterator[None]:
    """Let no other process change the config file at *path* inside the block; raise `ConfigError` if one does for long."""
    from filelock import FileLock, Timeout  # not for a prompt, which only reads settings

    target = real_path(path)
    try:
        (Path.stat if path.is_symlink() else make_folder)(
            target.parent
        )  # a link into nowhere creates nothing
        with FileLock(f"{target}.lock", timeout=LOCK_S, is_singleton=False, mode=PRIVATE):
            yield
    except Timeout as error:
        raise ConfigError(f"Another command changes {path}. Repeat this one after it.") from error
    except OSError as error:
        remedy = "Free some space" if error.errno in DISK_FULL else "Check its permissions and its folder's"
        raise ConfigError(f"{path} cannot be written: {error.strerror}. {remedy}, and repeat.") from error


@contextmanager
def _edited(path: Path) -> Iterator[Any]:
    with locked_config(path):
        text, yaml, output = config_text(path), YAML(pure=True), StringIO()
        yaml.preserve_quotes, yaml.width = True, 10_000  # never fold a long path
        if not isinstance(read_config(path).get("collections") or {}, dict):
            raise ConfigError(f"{path}: 'collections' must give each name a mapping with its path.")
        data = yaml.load(text)
        if data is None:  # nothing but comments, which ruamel drops, or null
            output.write("".join(re.findall(r"(?m)^\s*#.*\n", f"{text}\n")))
            data = CommentedMap()
        yield data
        yaml.dump(data, output)
        _load(path, output.getvalue())  # nothing is written that could not be read again
        if output.getvalue().count("#") < text.count("#"):  # ruamel dropped a comment
            _write(path.with_name(f"{path.name}.bak"), text)
        _write(path, output.getvalue())


def _load(path: Path, text: str) -> Any:
    try:
        return {} if (data := YAML(typ="safe", pure=True).load(text)) is None else data
    except RecursionError as error:
        raise ConfigError(f"{path} is nested too deeply. {CORRECT_IT}") from error
    except (YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        reason = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise ConfigError(f"{path}{where}: {reason}. {CORRECT_IT}") from error


def _write(path: Path, text: str) -> None:
    """Replace the file atomically; links and its mode are kept. A new file is private, because it may contain keys."""
    target = real_path(path)
    mode = S_IMODE(target.stat().st_mode) if target.exists() else PRIVATE
    if not mode & 0o222:
        raise PermissionError(0, "it is read-only")
    newline = "\r\n" if target.exists() and b"\r\n" in target.read_bytes() else "\n"
    with draft_of(target) as draft:
        draft.write_text(text, "utf-8", newline=newline)
        draft.chmod(mode)


def existing_folder(folder: Path) -> Path:
    """Return *folder* as an absolute path; raise `InvalidInput` if it does not exist or cannot be read."""
    expanded = below_home(folder)
    try:
        os.scandir(expanded).close()
    except PermissionError as error:
        raise InvalidInput("INVALID_PATH", f"{folder} cannot be read. Check its permissions.") from error
    except FileNotFoundError as error:
        raise InvalidInput("INVALID_PATH", f"{folder} does not exist. Name a folder.") from error
    except (OSError, ValueError) as error:  # also for a name that is too long
        raise InvalidInput("INVALID_PATH", f"{folder} is not a folder. Name one, or unpack it.") from error
    return real_path(expanded)


def fault_of_name(name: str, what: str = "collection") -> str | None:
    """Return why *name* is not allowed for a collection of files, or a vault (*what*), or ``None``."""
    if not is_collection_name(name):
        return f"{name!r} is no name for a {what}. Use letters, digits, '-' and '_'."
    if len(name.encode()) > 100:  # with the endings of its files it fits into every file system
        return f"{name[:20]!r}... is longer than 100 bytes, so it is no name for a {what}."
    return f"{name!r} is reserved." if what == "collection" and name in RESERVED else None
