"""Overview of the commands for ``clawmem --help``: groups, and a line for each command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from clawmem.app.operations.output import Part, Table
from clawmem.domain.documents.eligibility import is_collection_name

# A command behind a word that announces one: the words of a title are not changed.
_ADVISED = re.compile(r"((?:\b(?:[Rr]un|[Nn]ext|[Uu]ndo|with):|, then) clawmem )([a-z][a-z-]*)")
_OF_NO_VAULT = frozenset({"vault", "models", "setup", "focus", "conformance", "bench"})
_OF_USUAL_VAULT = frozenset({"bootstrap", "collection", "curate", "reindex", "update", "watch", "why-not"})


def with_vault(text: str, vault: Path | None) -> str:
    """
    Return *text* with ``--vault`` in the commands that it recommends.

    A named vault refuses the commands that read the folders of the config file, so these are not changed.
    """
    if vault is None:
        return text
    others = _OF_NO_VAULT | (_OF_USUAL_VAULT if is_collection_name(str(vault)) else frozenset())
    option = f"--vault {shlex.quote(str(vault))}"
    return _ADVISED.sub(
        lambda found: found[0] if found[2] in others else f"{found[1]}{option} {found[2]}", text
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
    "mine",
    "forget",
    "status",
    "doctor",
)
GROUPS: Mapping[str, Mapping[str, str]] = {
    "First steps": {
        "bootstrap": "Add a folder, and index and embed its notes.",
        "setup": "Connect agents: context, capture, tools.",
        "status": "Show the content of the vault and its vectors.",
        "doctor": "Check the vault and its environment; repair it.",
    },
    "Questions": {
        "query": "Find by words and meaning together.",
        "search": "Find by words.",
        "vsearch": "Find by meaning.",
        "retrieve": "Find by the route that fits the question.",
        "intent-search": "Find by intent: why, when, who, what.",
        "plan": "Answer a question of several topics.",
        "similar": "List the documents nearest to a document.",
        "timeline": "List the documents written around a document.",
        "sessions": "List the latest sessions.",
        "log": "The same as sessions.",
        "why": "Explain a stored answer.",
    },
    "Documents": {
        "list": "List the documents that were written last.",
        "get": "Read a document, or lines of it.",
        "multi-get": "Read several documents.",
        "links": "List the links of a note, or broken links.",
        "remember": "Save a thought as a Markdown file.",
        "diary": "Write and read the diary.",
        "profile": "Show the profile of the user.",
        "tags": "List the tags of notes.",
        "entities": "List people, projects and other things.",
        "graph": "Show entities, facts, causes and relations.",
    },
    "Care": {
        "pin": "Rank a note before others.",
        "unpin": "Undo pin.",
        "snooze": "Keep a note out of prompts until a day.",
        "unsnooze": "Undo snooze.",
        "forget": "Forget a note for good.",
        "lifecycle": "Archive, restore, purge; log and undo.",
        "trust": "Set the trust in collections.",
        "reflect": "Show repeated decisions and failed attempts.",
        "consolidate": "Archive uncertain notes that repeat others.",
        "curate": "Write a report with recommended actions.",
    },
    "Folders and indexes": {
        "mine": "Import chats and sessions of agents.",
        "sources": "List what was imported from where.",
        "collection": "Add, list and remove folders.",
        "context": "Describe folders, for readers of notes.",
        "update": "Index new and changed files.",
        "why-not": "Explain why a file is not indexed.",
        "reindex": "Read the folders again.",
        "embed": "Compute missing vectors.",
        "enrich": "Add keywords, names and links to notes.",
        "watch": "Index changes as they happen.",
        "lanes": "Run scheduled maintenance, show its decisions.",
        "vault": "List and fill named vaults.",
        "backup": "Copy the vault to a file while it is used.",
        "export": "Write notes and memories to a file.",
        "beads": "Index the issues of a Beads project.",
        "import": "Bring the memories of another tool.",
        "restore": "Make a vault from a bundle.",
        "init": "Create an empty vault.",
        "path": "Print the path of the vault.",
    },
    "Clients and server": {
        "serve": "Keep the vault open and answer over HTTP.",
        "mcp": "Run the MCP server; an assistant starts it.",
        "hook": "Run the hooks of an event.",
        "surface": "Print the context block of a prompt.",
        "budget": "Show the tokens added to prompts.",
        "focus": "Set the topic of a session.",
        "openclaw": "Show the plan of a flush for OpenClaw.",
        "install-service": "Start the watcher or the server at login.",
    },
    "Repair and measurement": {
        "verify": "Compare files, records and indexes.",
        "rebuild": "Rebuild an index from the records.",
        "migrate": "Move the indexes to another backend.",
        "models": "List, add and check models of this machine.",
        "index-stats": "Show the vault in numbers.",
        "report": "Report use, growth, age and speed.",
        "bench": "Measure the quality and the speed of answers.",
        "conformance": "Compare another implementation with this one.",
    },
}
