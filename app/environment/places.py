"""Paths of the config file, vault and models, and identities of processes, without loading the whole configuration."""

import os
import sys
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from errno import EACCES, ENAMETOOLONG, ENOTDIR
from io import StringIO
from pathlib import Path
from socket import gethostname
from stat import S_ISREG
from typing import Literal

from clawmem.ports.errors import ConfigError, InvalidInput

CURATOR_REPORT = "curator-report.json"  # next to the vault
CORRECT_IT = "Correct it, or move the file aside."
REMEDIES = {
    ENAMETOOLONG: "Choose a shorter name.",
    EACCES: "Check its permissions and its folder's.",
    ENOTDIR: "Part of its path is a file: check --vault, and what CLAWMEM_CONFIG_DIR and the XDG variables name.",
}
XDG = {"XDG_CACHE_HOME": "~/.cache", "XDG_CONFIG_HOME": "~/.config", "XDG_DATA_HOME": "~/.local/share"}
# Variables that a hook takes from its client, also through a server, and the fields of the settings that they set.
HOOK_SETTINGS = {
    "CLAWMEM_PROFILE": "profile",
    "CLAWMEM_TOKEN_BUDGET": "token_budget",
    "CLAWMEM_SESSION_FOCUS": "topic",
    "CLAWMEM_HEARTBEAT_PATTERNS": "heartbeat_patterns",
    "CLAWMEM_DISABLE_HEARTBEAT_SUPPRESSION": "with_heartbeats",
    "CLAWMEM_HOOK_DEDUP_WINDOW_SEC": "dedupe_seconds",
    "CLAWMEM_NUDGE_INTERVAL": "nudge_interval",
    "CLAWMEM_HOOKS": "optional_hooks",
}
OptionalHook = Literal["staleness-check", "session-bootstrap", "pretool-inject"]  # the others run by default
FILES_VARIABLE = "CLAWMEM_MCP_FILES"  # names the collection of the files that the tool `memory` changes


def complete(env: MutableMapping[str, str]) -> None:
    """
    Add the variables of ``.env`` in the config folder; variables that are already set stay unchanged.

    No other ``.env`` is read: the ``.env`` of a cloned repository is not the user's choice, and it could send every
    note to another server or to another vault. Raises `ConfigError` if it is no text, and warns of wrong lines.
    """
    for name, value in _assigned(env).items():
        env.setdefault(name, value)


def _assigned(env: Mapping[str, str]) -> dict[str, str]:
    file = config_folder(env) / ".env"
    if not (text := config_text(file)):
        return {}
    from dotenv.parser import parse_stream

    lines = [*parse_stream(StringIO(text))]
    for number in [line.original.line for line in lines if line.error]:
        sys.stderr.write(f"clawmem: {file}, line {number} is ignored: write NAME=value.\n")
    return {line.key: line.value for line in lines if line.key and line.value and "\0" not in line.value}


def variable_shown(name: str, env: Mapping[str, str]) -> str:
    """Return the variable *name* as a message names it: with the ``.env`` file that its value comes from."""
    is_in_file = _assigned(env).get(name) == env.get(name)
    return f"{name} in {config_folder(env) / '.env'}" if is_in_file else name


def config_text(file: Path) -> str:
    """Return the text of a file that the user wrote; empty if it is missing. Raises `ConfigError` if it is no text."""
    try:
        if not S_ISREG(file.stat().st_mode):  # a FIFO would block forever
            raise OSError("it is not a regular file")
        return file.read_text("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} cannot be read: it is not UTF-8. {CORRECT_IT}") from error
    except OSError as error:
        remedy = REMEDIES.get(error.errno or 0, CORRECT_IT)
        place = file if os.access(file.parent, os.X_OK) else file.parent
        raise ConfigError(f"{place} cannot be read: {error.strerror or error}. {remedy}") from error


def config_folder(env: Mapping[str, str]) -> Path:
    """Return the folder of the config file."""
    return below_home(_own_folder(env, "XDG_CONFIG_HOME"), env, "CLAWMEM_CONFIG_DIR")


def usual_vault(env: Mapping[str, str]) -> Path:
    """Return the path of the vault that nothing names."""
    return _own_folder(env, "XDG_CACHE_HOME") / "index.sqlite"


def default_vault(env: Mapping[str, str]) -> Path:
    """Return the path of the vault when the command line names none."""
    return below_home(usual_vault(env), env, "INDEX_PATH")


def models_folder(env: Mapping[str, str]) -> Path:
    """Return the folder of models that are not part of an installed package."""
    return _own_folder(env, "XDG_DATA_HOME") / "models"


def topics_folder(env: Mapping[str, str]) -> Path:
    """Return the folder of the topics of sessions."""
    return below_home(_own_folder(env, "XDG_CACHE_HOME") / "sessions", env, "CLAWMEM_FOCUS_ROOT")


def below_home(place: str | Path, env: Mapping[str, str] = os.environ, variable: str = "") -> Path:
    """Return the path in *variable* of *env*, else *place*, with the home of *env* for ``~``; refuse an unknown user's."""
    text, home = env.get(variable) or str(place), env.get("HOME")
    if home and (text == "~" or text.startswith("~/")):  # a server may answer for another user
        return Path(f"{home}{text[1:]}")
    if (expanded := os.path.expanduser(text)).startswith("~"):  # noqa: PTH111  which accepts an unknown user
        fault = f"{text.split('/')[0]} is the home of no user here. Write the whole path, or ./ before it."
        raise ConfigError(f"{variable}: {fault}") if variable else InvalidInput("INVALID_PATH", fault)
    return Path(expanded)


def file_version(file: Path) -> tuple[int, int, int] | None:
    """Return a value that changes when *file* is replaced or edited; ``None`` if it cannot be examined."""
    with suppress(OSError):
        status = file.stat()
        return status.st_dev, status.st_ino, status.st_mtime_ns
    return None


def file_identity(file: Path) -> tuple[int, ...]:
    """Return a value that changes when *file* is replaced; an empty one if it cannot be examined."""
    return (file_version(file) or ())[:2]


def is_there(path: Path) -> bool:
    """Whether *path* exists; a path that cannot be examined does not."""
    return os.path.exists(path)  # noqa: PTH110  which is false for a name that is too long


def real_path(path: str | Path) -> Path:
    """Return the absolute *path* without links; one that is part of a circle of links stays, and cannot be opened."""
    return Path(os.path.realpath(path))


def _own_folder(env: Mapping[str, str], variable: str) -> Path:
    """
    Return the folder of clawmem in the folder that *variable* of the XDG specification names, else in the usual one.

    A relative folder is ignored, as the specification demands. On macOS and Windows platformdirs knows the usual folders;
    importing it on Linux, where it names the same ones, would cost a hook a third of a request to the server.
    """
    if (chosen := below_home("", env, variable)).is_absolute():
        return chosen / "clawmem"
    if sys.platform in ("darwin", "win32"):
        import platformdirs

        kind = variable.split("_")[1].lower()  # cache, config or data
        return Path(getattr(platformdirs, f"user_{kind}_dir")("clawmem", appauthor=False))
    return below_home(XDG[variable], env) / "clawmem"


def agent_vaults(env: Mapping[str, str]) -> Path:
    """Return the folder of the vaults of OpenClaw's agents."""
    return below_home("~/.openclaw", env, "OPENCLAW_STATE_DIR") / "clawmem"


def session_places(env: Mapping[str, str]) -> list[Path]:
    """Return the folders and databases in which agents on this machine record their sessions, or closed ones above."""
    opencode = below_home("~/.local/share", env, "XDG_DATA_HOME") / "opencode"
    places = (
        below_home("~/.claude", env, "CLAUDE_CONFIG_DIR") / "projects",
        below_home("~/.codex", env, "CODEX_HOME") / "sessions",
        below_home("~", env, "GEMINI_CLI_HOME") / ".gemini" / "tmp",
        below_home("~/.openclaw", env, "OPENCLAW_STATE_DIR") / "agents",
        opencode / "storage",
        opencode / "opencode.db",
        below_home("~/.hermes", env, "HERMES_HOME") / "state.db",
    )
    parents = (place.parent for place in places)
    closed = (folder for folder in parents if is_there(folder) and not os.access(folder, os.X_OK))
    return [*filter(is_there, places), *closed]


def holder_id() -> str:
    """Return a unique name for this process, ``host:pid:nonce``; each call returns another one."""
    return f"{gethostname()}:{os.getpid()}:{os.urandom(6).hex()}"


def is_gone(holder: str) -> bool:
    """
    Whether *holder* was a process of this machine that has ended.

    False if that is unknown: the holder is on another machine, or its process id was reused. If several
    containers share a host name, the result can be wrong; the token of a lease makes that harmless.
    """
    host, _, rest = holder.rpartition(":")[0].rpartition(":")
    if host != gethostname() or not rest.isdecimal() or os.name == "nt":  # there signal 0 would terminate it
        return False
    try:
        os.kill(int(rest), 0)
        state = Path(f"/proc/{rest}/stat").read_bytes().rpartition(b")")[2].split()[0]
        return state == b"Z"  # on Linux, until the process that started it waits for it
    except (OSError, OverflowError) as error:
        return isinstance(error, ProcessLookupError)
