"""Programs whose folders of notes are recognised."""

from __future__ import annotations

from collections.abc import Collection

# The folder or file, below the folder of notes, that each program writes there; the first one that is found counts.
_MARKS = (
    (".obsidian", "Obsidian"),
    ("logseq/config.edn", "Logseq"),
    (".foam", "Foam"),
    (".vscode/foam.json", "Foam"),
)
MARKS = frozenset(mark for mark, _ in _MARKS)


def app_of(found: Collection[str]) -> str:
    """Return the program of a folder in which the marks *found* are; an empty string for plain Markdown."""
    return next((app for mark, app in _MARKS if mark in found), "")
