"""
Where things lie, from the environment alone: for doors that cannot wait for the whole configuration.

What a prompt asks for comes as text as well: ``pathlib`` costs its process as much as reading JSON does.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from stat import S_ISREG

TYPE_CHECKING = False  # as `typing` has it, which costs a prompt as much again
if TYPE_CHECKING:
    from pathlib import Path


def complete(env: MutableMapping[str, str]) -> None:
    """
    Add the variables that ``.env`` in the config folder gives; what is set already stays.

    No other ``.env`` is read: whoever clones a repository has not chosen what stands in it, and it could send
    every note to a stranger's server, or to a stranger's vault.
    """
    # Not there, not text, no home: a hook must go on all the same.
    with suppress(OSError, RuntimeError, ValueError):
        for key, value in filter(None, map(_assignment, text_in(f"{config_place(env)}/.env").splitlines())):
            env.setdefault(key, value)


def config_folder(env: Mapping[str, str]) -> Path:
    """Where the config file is looked for."""
    return _path(config_place(env))


def config_place(env: Mapping[str, str]) -> str:
    """`config_folder` as text."""
    if chosen := env.get("CLAWMEM_CONFIG_DIR"):
        return place_below_home(chosen, env)
    return f"{_base_folder(env, 'XDG_CONFIG_HOME', '~/.config')}/clawmem"


def default_vault(env: Mapping[str, str]) -> Path:
    """The vault when the command line names none."""
    return _path(vault_place(env))


def vault_place(env: Mapping[str, str]) -> str:
    """`default_vault` as text."""
    if chosen := env.get("INDEX_PATH"):
        return place_below_home(chosen, env)
    return f"{_base_folder(env, 'XDG_CACHE_HOME', '~/.cache')}/clawmem/index.sqlite"


def models_folder(env: Mapping[str, str]) -> Path:
    """Where models are kept that are no part of an installed package."""
    return _path(models_place(env))


def models_place(env: Mapping[str, str]) -> str:
    """`models_folder` as text."""
    return f"{_base_folder(env, 'XDG_DATA_HOME', '~/.local/share')}/clawmem/models"


def client_servers(env: Mapping[str, str]) -> Path:
    """The file in which Claude Code keeps the servers that it starts."""
    return _path(env.get("CLAUDE_CONFIG_DIR") or "~").expanduser() / ".claude.json"


def client_folder(env: Mapping[str, str]) -> Path:
    """Where Claude Code keeps its settings, plugins and transcripts."""
    return below_home(env.get("CLAUDE_CONFIG_DIR") or "~/.claude", env)


def home_folder(env: Mapping[str, str]) -> Path:
    """What ``~`` stands for."""
    return below_home("~", env)


def below_home(place: str, env: Mapping[str, str]) -> Path:
    """*place*, where ``~`` is the home that the environment names: a server answers for others than itself."""
    return _path(place_below_home(place, env))


def text_in(place: str) -> str:
    """
    Return the text of the file at *place*.

    Raises:
        OSError, UnicodeDecodeError: there is no such file, or no text in it.
    """
    if not S_ISREG(os.stat(place).st_mode):  # noqa: PTH116  nobody may write to a pipe that stands there
        raise PermissionError(f"{place} is not a regular file")
    with open(place, encoding="utf-8") as file:  # noqa: PTH123
        return file.read()


def is_there(path: Path) -> bool:
    """Whether anything stands at *path*; what cannot even be asked is not there."""
    try:
        return path.exists()
    except OSError:  # a name that is too long, or a folder above that may not be entered
        return False


def _base_folder(env: Mapping[str, str], name: str, usual: str) -> str:
    """
    Return the folder in the variable *name*, else *usual*.

    A relative one is ignored, as the XDG specification demands: the vault would follow the working folder.
    """
    chosen = place_below_home(env.get(name) or usual, env)
    return chosen if os.path.isabs(chosen) else place_below_home(usual, env)  # noqa: PTH117


def place_below_home(place: str, env: Mapping[str, str]) -> str:
    """`below_home` as text."""
    home = env.get("HOME")
    if home and (place == "~" or place.startswith("~/")):
        return f"{home}{place[1:]}"
    return str(_path(place).expanduser()) if place.startswith("~") else place


def _path(place: str) -> Path:
    from pathlib import Path

    return Path(place)


def _assignment(line: str) -> tuple[str, str] | None:
    key, equals, value = line.partition("=")
    key, value = key.strip(), value.strip()
    if not equals or not key or " " in key or key.startswith("#"):
        return None
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return key, value[1:-1] if quoted else value
