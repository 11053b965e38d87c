"""Content type of a document, declared in its front matter or inferred from its path."""

from __future__ import annotations

import re

DEFAULT = "note"

# Capture writes observations; they are never inferred from a path.
TYPES = tuple(
    """
    decision deductive preference note handoff conversation progress research hub antipattern project milestone
    problem observation
    """.split()
)

# The first matching rule wins, so an index of decisions is a decision.
RULES = tuple(
    (name, frozenset(words.split()))
    for name, words in {
        "decision": "decision decisions adr adrs",
        "hub": "hub hubs moc mocs",
        "research": "research investigation investigations analysis analyses",
        "project": "project projects epic epics initiative initiatives",
        "handoff": "handoff handoffs handover handovers session sessions",
        "conversation": "conversation conversations convo convos chat chats transcript transcripts",
        "progress": "progress status statuses standup standups changelog changelogs",
    }.items()
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
    lower = path.lower()
    words = set(WORD.findall(lower)) | ({"hub"} if lower.rpartition("/")[2] == INDEX else set())
    return next((name for name, of_type in RULES if of_type & words), DEFAULT)
