"""Server discovery: a file next to the vault with the address of its server, and a separate file with the token."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

_MOST_BYTES = 1 << 16  # of an announcement; servers write a few hundred
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
        variables: Digest of the other variables that the server was started with, from `variables_in`.
        places: Variables of `PLACES` that it was started with.
    """

    pid: int
    holder: str
    host: str
    port: int
    version: str
    vault: str
    vault_id: str
    variables: str
    places: dict[str, str]

    @property
    def authority(self) -> str:
        """Host and port as in a URL and in the Host header."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """Base URL."""
        return f"http://{self.authority}"

    def as_bytes(self) -> bytes:
        """Return the content of the announcement file."""
        return json.dumps(self._asdict()).encode()


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
            server = Announcement(**json.loads(file.read(_MOST_BYTES)))
        # The content is untrusted: the host becomes part of a request, and a copied folder contains the announcement
        # of the original vault.
        is_address = server.host.isprintable() and isinstance(server.port, int) and 0 < server.port < 1 << 16
        is_process = (
            isinstance(server.pid, int) and 0 < server.pid < 1 << 31 and isinstance(server.holder, str)
        )
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return None
    return server if is_address and is_process and server.vault == os.path.realpath(vault) else None


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
    names = {name for name, value in environ.items() if name.startswith("CLAWMEM_") and value}
    chosen = [(name, environ[name]) for name in sorted(names - APART)]
    return hashlib.sha256(json.dumps(chosen).encode()).hexdigest() if chosen else ""
