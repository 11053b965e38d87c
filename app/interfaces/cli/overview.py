"""Overview of the commands for ``clawmem --help``: groups, and a line for each command."""

from __future__ import annotations

from collections.abc import Mapping

GROUPS: Mapping[str, Mapping[str, str]] = {
    "First steps": {
        "bootstrap": "Add a folder, and index and embed its notes.",
        "setup": "Connect a client: hooks, MCP, the curator.",
        "status": "Show the content of the vault and its vectors.",
        "doctor": "Check the vault and its environment.",
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
        "why": "Explain a stored answer, or ask it again.",
    },
    "Documents": {
        "list": "List the documents that were written last.",
        "get": "Read a document, or lines of it.",
        "multi-get": "Read several documents.",
        "diary": "Write and read the diary.",
        "profile": "Show the profile of the user.",
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
        "collection": "Add, list and remove folders.",
        "update": "Index new and changed files.",
        "reindex": "Read the folders again.",
        "embed": "Compute missing vectors.",
        "enrich": "Add keywords, names and links to notes.",
        "watch": "Index changes as they happen.",
        "lanes": "Run scheduled maintenance, show its decisions.",
        "vault": "List and fill named vaults.",
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
        "install-service": "Start the watcher or the server at login.",
    },
    "Repair and measurement": {
        "verify": "Compare files, records and indexes.",
        "repair": "Rebuild a damaged vault from what can be read.",
        "rebuild": "Rebuild an index from the records.",
        "migrate": "Move the indexes to another backend.",
        "models": "List, add and check models of this machine.",
        "index-stats": "Show the vault in numbers.",
        "report": "Report use, growth, age and speed.",
        "bench": "Measure the quality and the speed of answers.",
        "conformance": "Compare another implementation with this one.",
    },
}
