"""Server discovery: a file next to the vault with the address of its server, and a separate file with the token."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Literal, NamedTuple

from clawmem.app.environment.places import HOOK_SETTINGS

# Variables that determine where a process looks for settings, models and topics.
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
OPTIONAL_HOOKS_VARIABLE = "CLAWMEM_HOOKS"
"""Names the optional hooks that run with their event, separated by commas."""

TOOLS_VARIABLE = "CLAWMEM_MCP_TOOLS"
OFF_VARIABLE = "CLAWMEM_NO_SERVER"

# Variables that need not match between client and server: those of hooks come with each request, and no command
# depends on the others.
APART = frozenset(
    {
        *HOOK_SETTINGS,
        TOKEN_VARIABLE,
        OPTIONAL_HOOKS_VARIABLE,
        TOOLS_VARIABLE,
        OFF_VARIABLE,
        "CLAWMEM_SESSION_ID",
    }
)


class ToolSet(StrEnum):
    """Tool sets; each is a server of its own, because names and conventions of the others are not those of clawmem."""

    CLAWMEM = "clawmem"  # what an agent needs daily
    ALL = "all"  # every tool
    FILES = "files"  # a folder of text files


def path_of(chosen: ToolSet) -> str:
    """Return the path of a tool set at a running server."""
    return "/mcp" if chosen is ToolSet.CLAWMEM else f"/mcp/{chosen}"


class Announcement(NamedTuple):
    """Announcement of a server that runs, or has run."""

    pid: int
    holder: str  # process identity, as used in leases
    host: str  # address at which the server can be reached
    port: int
    version: str  # of clawmem
    vault: str  # real path of the vault file
    environment: str  # `environment_digest` of its environment

    @property
    def authority(self) -> str:
        """Host and port as in a URL and in the Host header."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """Base URL."""
        return f"http://{self.authority}"


def server_file(
    vault: Path | str, kind: Literal["server", "server-lock", "server-log", "server-start", "token"]
) -> Path:
    """
    Return the path of a file of *vault*'s server.

    ``server`` is its announcement. ``server-lock`` is locked while it runs; its existence alone means nothing.
    ``server-log`` is the log of servers in the background. ``server-start`` marks a start; the server deletes it as soon
    as it answers. Only its owner may read ``token``.
    """
    return Path(f"{vault}.{kind}")


def announced(vault: Path | str) -> Announcement | None:
    """Return the announcement next to *vault*, which may be stale; ``None`` if there is no valid one for this vault."""
    try:
        server = Announcement(**json.loads(server_file(vault, "server").read_bytes()))
        # The content is untrusted: the host becomes part of a request, and a copied folder contains the announcement
        # of the original vault.
        numbers = 0 < server.port < 1 << 16 and 0 < server.pid < 1 << 31
        is_valid = numbers and server.host.isprintable() and isinstance(server.holder, str)
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return None
    return server if is_valid and server.vault == os.path.realpath(vault) else None


def token_of(vault: Path | str, environ: Mapping[str, str]) -> str:
    """Return the token that a client of *vault* sends; empty if there is none or it cannot be read."""
    with suppress(OSError, UnicodeDecodeError):
        return environ.get(TOKEN_VARIABLE) or server_file(vault, "token").read_text("ascii").strip()
    return ""


def environment_digest(environ: Mapping[str, str]) -> str:
    """
    Return a digest of `PLACES` and of all clawmem variables except those in `APART`.

    Processes with different digests may give different answers. The digest does not reveal the values, which may
    include API keys.
    """
    names = {
        name for name, value in environ.items() if value and (name in PLACES or name.startswith("CLAWMEM_"))
    }
    chosen = [(name, environ[name]) for name in sorted(names - APART)]
    return hashlib.sha256(json.dumps(chosen).encode()).hexdigest()
