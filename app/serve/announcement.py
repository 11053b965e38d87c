"""
What a server leaves beside its vault, so that it is found: where it listens, and in a file of its own its token.

Read by every hook before anything else: the standard library, and of that little.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from clawmem.ports.named_tuple import NamedTuple

TYPE_CHECKING = False  # as `typing` has it, which costs a prompt a millisecond and a half
if TYPE_CHECKING:
    from pathlib import Path

_MOST_BYTES = 1 << 16  # of an announcement; who announces writes some hundred
_LAST_PORT, _LAST_PID = 65535, 2**31 - 1
_SERVER, _TOKEN = ".server", ".token"  # behind the name of the vault

# What decides where a process looks for settings, models and topics. Who looks elsewhere is served by nobody else.
PLACES = (
    "HOME",
    "USERPROFILE",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "CLAWMEM_CONFIG_DIR",
    "CLAWMEM_FOCUS_ROOT",
)
TOKEN_VARIABLE = "CLAWMEM_API_TOKEN"
# Variables that change no answer of a server: it takes them from each request.
APART = frozenset({*PLACES, TOKEN_VARIABLE, "CLAWMEM_SESSION_ID", "CLAWMEM_MCP_TOOLS"})


class Announcement(NamedTuple):
    """
    A server that runs, or did.

    ``holder`` names its process as leases do; ``vault`` is the real path of the vault file and ``vault_id`` what
    the vault calls itself; ``places`` are the variables of `PLACES` that it was started with, ``variables`` is
    what `variables_in` made of the others.
    """

    pid: int
    holder: str
    host: str
    port: int
    version: str
    vault: str
    vault_id: str
    places: Mapping[str, str]
    variables: str


def announcement_file(vault: Path) -> Path:
    """Where the server of *vault* says that it is there."""
    return vault.with_name(f"{vault.name}{_SERVER}")


def token_file(vault: Path) -> Path:
    """Where the token of the servers of *vault* is kept, readable by its owner alone."""
    return vault.with_name(f"{vault.name}{_TOKEN}")


def announced(vault: Path | str) -> Announcement | None:
    """What stands beside *vault*, true or not any more; ``None`` where nothing does, or nothing of this vault."""
    try:
        with open(f"{vault}{_SERVER}", "rb") as file:  # noqa: PTH123
            told = Announcement(**json.loads(file.read(_MOST_BYTES)))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    if not _is_well_formed(told):
        return None
    # A copy of the folder holds a copy of the announcement.
    return told if told.vault == os.path.realpath(vault) else None


def _is_well_formed(told: Announcement) -> bool:
    """Whether every part of *told* can be what it has to be: anybody may have written the file."""
    texts = (told.holder, told.host, told.version, told.vault, told.vault_id, told.variables)
    numbers = (told.pid, told.port)
    return (
        all(isinstance(text, str) and text.isprintable() and "\0" not in text for text in texts)
        and all(type(number) is int and number > 0 for number in numbers)
        and told.port <= _LAST_PORT
        and told.pid <= _LAST_PID
        and isinstance(told.places, dict)
    )


def token_of(vault: Path | str, environ: Mapping[str, str]) -> str:
    """The token that a client of *vault* shows; empty where there is none, or none that it may read."""
    if chosen := environ.get(TOKEN_VARIABLE):
        return chosen
    try:
        with open(f"{vault}{_TOKEN}", encoding="ascii") as file:  # noqa: PTH123
            return file.read().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def places_in(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of `PLACES` that are set."""
    return {name: environ[name] for name in PLACES if environ.get(name)}


def variables_in(environ: Mapping[str, str]) -> str:
    """
    A name for everything that variables choose beside `PLACES`; empty where they choose nothing.

    Where it differs an answer may; what it is made of, keys of other servers for example, it does not tell.
    """
    ours = {name for name, value in environ.items() if name.startswith("CLAWMEM_") and value}
    chosen = [(name, environ[name]) for name in sorted(ours - APART)]
    if not chosen:
        return ""
    import hashlib

    return hashlib.sha256(json.dumps(chosen).encode()).hexdigest()
