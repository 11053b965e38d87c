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
    "observation",  # internal: written by machines, never inferred from a path
)

# First rule that hits wins, so an index of decisions is a decision.
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

INDEX = "index.md"  # the cover page of a folder links the rest together
WORD = re.compile(r"[^\W_]+")  # letters and digits of any script


def content_type(declared: str | None, path: str) -> str:
    """
    The type of a document: *declared* as written, known or not, else inferred from the words of *path*.

    A word is an unbroken run of letters and digits, compared without case: ``github`` holds no ``hub``.
    The rules are tried in the order of `RULES`; a file called ``index.md`` counts as a hub.

    Returns:
        A declared type, trimmed; one of `TYPES`; or ``note`` when no rule hits.
    """
    if declared and declared.strip():
        return declared.strip()
    return next((name for name, words in RULES if words & _words(path)), DEFAULT)


def _words(path: str) -> set[str]:
    lowered = path.lower()
    is_index = lowered.rpartition("/")[2] == INDEX
    return {*WORD.findall(lowered), *(["hub"] if is_index else [])}
