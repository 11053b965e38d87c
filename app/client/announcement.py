"""Server discovery: a file next to the vault with the address of its server, and a separate file with the token."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

_MOST_BYTES = 1 << 16  # of an announcement; servers write a few hundred
_LAST_PORT, _LAST_PID = 65535, 2**31 - 1
_SERVER, _TOKEN = ".server", ".token"  # suffixes of the name of the vault file
_ENCODING = "utf-8", "surrogateescape"  # a path need not be text
_FIELDS = {"pid", "holder", "host", "port", "version", "vault", "vault_id", "variables"}

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


class Announcement:
    """
    Announcement of a server that runs, or has run: one line ``NAME=VALUE`` per field, which is read without a parser.

    Args:
        fields: The text of each attribute, and of each variable of `PLACES` that is set.

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

    Raises:
        KeyError, ValueError: A field is missing or unknown, or its value is invalid; the content of a file is untrusted.
    """

    def __init__(self, fields: Mapping[str, str]) -> None:
        own = {name: value for name, value in fields.items() if name not in PLACES}
        if own.keys() != _FIELDS:
            raise ValueError("These are not the fields of an announcement.")
        self.pid, self.port = _number(own["pid"], _LAST_PID), _number(own["port"], _LAST_PORT)
        self.holder, self.host = own["holder"], own["host"]
        self.version, self.variables = own["version"], own["variables"]
        self.vault, self.vault_id = own["vault"], own["vault_id"]
        self.places = places_in(fields)
        self._fields = fields

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
        return "\n".join(f"{name}={value}" for name, value in self._fields.items()).encode(*_ENCODING)


def _number(text: str, most: int) -> int:
    if not 0 < int(text) <= most:
        raise ValueError(text)
    return int(text)


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
            lines = file.read(_MOST_BYTES).decode(*_ENCODING).split("\n")
        server = Announcement({name: value for name, _, value in (line.partition("=") for line in lines)})
    except (OSError, ValueError, KeyError):
        return None
    # The host becomes part of a request. A copied folder contains the announcement of the original vault.
    return server if server.host.isprintable() and server.vault == os.path.realpath(vault) else None


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
    if not chosen:
        return ""
    return hashlib.sha256(json.dumps(chosen).encode()).hexdigest()
