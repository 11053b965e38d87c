"""Content type of a document, declared in its front matter or inferred from its path."""

from __future__ import annotations

import re

DEFAULT = "note"

TYPES = (
    "decision",
    "deductive",
    "preference",
    "note",
    "handoff",
    "conversation",
    "progress",
    "research",
    "hub",
    "antipattern",
    "project",
    "milestone",
    "problem",
    "observation",  # internal: written by capture, never inferred from a path
)

# The first matching rule wins, so an index of decisions is a decision.
RULES = (
    ("decision", frozenset({"decision", "decisions", "adr", "adrs"})),
    ("hub", frozenset({"hub", "hubs", "moc", "mocs"})),
    ("research", frozenset({"research", "investigation", "investigations", "analysis", "analyses"})),
    ("project", frozenset({"project", "projects", "epic", "epics", "initiative", "initiatives"})),
    ("handoff", frozenset({"handoff", "handoffs", "handover", "handovers", "session", "sessions"})),
    (
        "conversation",
        frozenset(
            {"conversation", "conversations", "convo", "convos", "chat", "chats", "transcript", "transcripts"}
        ),
    ),
    (
        "progress",
        frozenset({"progress", "status", "statuses", "standup", "standups", "changelog", "changelogs"}),
    ),
)

INDEX = "index.md"  # index page of a folder, counted as a hub
WORD = re.compile(r"[^\W_]+")  # letters and digits of any script


def content_type(declared: str | None, path: str) -> str:
    """
    Return the type of a document: *declared*, known or not, else a type inferred from the words of *path*.

    A word is an unbroken run of letters and digits, compared without case: ``github`` does not contain ``hub``.
    The rules are tried in the order of `RULES`; a file called ``index.md`` counts as a hub.

    Returns:
        The declared type, trimmed; one of `TYPES`; or ``note`` if no rule matches.
    """
    if declared and declared.strip():
        return declared.strip()
    return next((name for name, words in RULES if words & _words(path)), DEFAULT)


def _words(path: str) -> set[str]:
    lowered = path.lower()
    is_index = lowered.rpartition("/")[2] == INDEX
    return {*WORD.findall(lowered), *(["hub"] if is_index else [])}
