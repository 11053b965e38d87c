"""Overview of the commands for ``clawmem --help``: groups, and a line for each command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from clawmem.app.operations.output import Part, Table

# A command behind a word that announces one: the words of a title are not changed.
_ADVISED = re.compile(r"((?:\b(?:[Rr]un|[Nn]ext|[Uu]ndo|with):|, then) clawmem )([a-z][a-z-]*)")
_OF_NO_VAULT = frozenset({"vault", "models", "setup", "focus", "conformance", "bench"})


def with_vault(text: str, vault: Path | None) -> str:
    """Return *text* with ``--vault`` in the commands that it recommends."""
    if vault is None:
        return text
    option = f"--vault {shlex.quote(str(vault))}"
    return _ADVISED.sub(
        lambda found: found[0] if found[2] in _OF_NO_VAULT else f"{found[1]}{option} {found[2]}", text
    )


def advised(part: Part, vault: Path | None) -> Part:
    """Return *part* of a text with the commands as `with_vault` completes them; verbatim texts are not changed."""
    if isinstance(part, str):
        return with_vault(part, vault)
    if isinstance(part, Table):
        return part._replace(rows=[[with_vault(cell, vault) for cell in row] for row in part.rows])
    return part


# The commands of daily life; `clawmem help --all` shows the others.
DAILY = (
    "bootstrap",
    "setup",
    "query",
    "search",
    "get",
    "remember",
    "list",
    "update",
    "forget",
    "status",
    "doctor",
)
GROUPS: Mapping[str, Mapping[str, str]] = {
    "First steps": {
        "bootstrap": "Add a folder, and index and embed its notes.",
        "setup": "Connect agents: context, capture, tools.",
        "status": "Show the content of the vault and its vectors.",
        "doctor": "Check the vault or a file; repair the vault.",
    },
    "Questions": {
        "query": "Find by words and meaning; --mode for others.",
        "search": "Find by words.",
        "timeline": "List the documents written around a document.",
        "sessions": "List the latest sessions.",
        "why": "Explain a stored answer.",
    },
    "Documents": {
        "list": "List the documents that were written last.",
        "get": "Read documents, or lines of one.",
        "links": "List links, causes and near documents of a note.",
        "tags": "List the tags of notes.",
        "entities": "List people, projects and things; their facts.",
        "remember": "Save a thought as a Markdown file.",
        "diary": "Write and read the diary.",
        "profile": "Show the profile of the user.",
        "reflect": "Show repeated decisions and failed attempts.",
    },
    "Care": {
        "pin": "Rank a note before others.",
        "snooze": "Keep a note out of prompts until a day.",
        "forget": "Forget a note for good.",
        "archive": "Archive idle notes by the policy; find archived ones.",
        "restore": "Serve archived notes again.",
        "undo": "List and undo acts.",
        "trust": "Set the trust in collections.",
        "maintain": "Enrich, merge and relate notes; show the lanes.",
    },
    "Folders and files": {
        "collection": "Add, list, describe and remove folders.",
        "update": "Index new and changed files.",
        "embed": "Compute missing vectors.",
        "watch": "Index changes as they happen.",
        "mine": "Import chats and sessions of agents.",
        "import": "Bring the memories of another tool, or a bundle.",
        "export": "Write notes and memories to a file.",
        "backup": "Copy the vault to a file while it is used.",
        "beads": "Index the issues of a Beads project.",
        "vault": "Make, list and fill vaults.",
        "rebuild": "Rebuild the indexes, or move them.",
    },
    "Clients and server": {
        "serve": "Keep the vault open and answer over HTTP.",
        "mcp": "Run the MCP server; an assistant starts it.",
        "hook": "Run the hooks of an event.",
        "surface": "Print the context block of a prompt.",
        "focus": "Set the topic of a session.",
        "openclaw": "Show the plan of a flush for OpenClaw.",
        "install-service": "Start the watcher or the server at login.",
    },
    "Measurement": {
        "models": "List, add and check models of this machine.",
        "report": "Report use, growth, age and speed.",
        "bench": "Measure the quality and the speed of answers.",
        "conformance": "Compare another implementation with this one.",
    },
}
