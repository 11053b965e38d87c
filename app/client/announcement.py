"""
Server discovery: a file next to the vault with the address of its server, and a separate file with the token.

Every hook imports this module first, so it imports only a few fast modules of the standard library.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

_MOST_BYTES = 1 << 16  # of an announcement; servers write a few hundred
_LAST_PORT, _LAST_PID = 65535, 2**31 - 1
_SERVER, _TOKEN = ".server", ".token"  # suffixes of the name of the vault file

# Variables that determine where a process looks for settings, models and topics. A server serves only clients with the
# same values.
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
# Variables that need not match between client and server: the server takes them from each request.
APART = frozenset(
    {*PLACES, TOKEN_VARIABLE, "CLAWMEM_SESSION_ID", "CLAWMEM_MCP_TOOLS", "CLAWMEM_NO_SERVER", "CLAWMEM_HOOKS"}
)


class Announcement(NamedTuple):
    """
    Announcement of a server that runs, or has run.

    Attributes:
        pid: Process id.
        holder: Process identity, as used in leases.
        host: Address at which the server can be reached.
        port: Port at which the server listens.
        version: Version of clawmem that the server runs.
        vault: Real path of the vault file.
        vault_id: Id stored in the vault.
        places: Variables of `PLACES` that the server was started with.
        variables: Digest of its other variables, from `variables_in`.
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
    """Return the path of the announcement file of *vault*'s server."""
    return vault.with_name(f"{vault.name}{_SERVER}")


def token_file(vault: Path) -> Path:
    """Return the path of the token file for servers of *vault*; only its owner may read the file."""
    return vault.with_name(f"{vault.name}{_TOKEN}")


def announced(vault: Path | str) -> Announcement | None:
    """Return the announcement next to *vault*, which may be stale; ``None`` if there is no valid one for this vault."""
    try:
        with open(f"{vault}{_SERVER}", "rb") as file:  # noqa: PTH123
            told = Announcement(**json.loads(file.read(_MOST_BYTES)))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    if not _is_well_formed(told):
        return None
    # A copied folder contains the announcement of the original vault.
    return told if told.vault == os.path.realpath(vault) else None


def _is_well_formed(told: Announcement) -> bool:
    """Whether every field of *told* has a valid type and value; the content of the file is untrusted."""
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
    """Return the token that a client of *vault* sends; empty if there is none or it cannot be read."""
    if chosen := environ.get(TOKEN_VARIABLE):
        return chosen
    try:
        with open(f"{vault}{_TOKEN}", encoding="ascii") as file:  # noqa: PTH123
            return file.read().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def places_in(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of `PLACES` that are set."""
    return {name: environ[name] for name in PLACES if environ.get(name)}


def variables_in(environ: Mapping[str, str]) -> str:
    """
    Return a digest of all clawmem variables except those in `APART`; empty if none are set.

    Processes with different digests may give different answers. The digest does not reveal the values, which may
    include API keys.
    """
    ours = {name for name, value in environ.items() if name.startswith("CLAWMEM_") and value}
    chosen = [(name, environ[name]) for name in sorted(ours - APART)]
    if not chosen:
        return ""
    import hashlib

    return hashlib.sha256(json.dumps(chosen).encode()).hexdigest()
