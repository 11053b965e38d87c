"""Paths and titles of diary entries."""

from __future__ import annotations

import re

from clawmem.domain.documents.times import iso_utc

FOLDER = "diary"
TOPIC = "general"
TOPIC_CHARS = 60
TITLE_CHARS = 80
NAME_CHARS = 100  # of a writer or a topic
MOST_CHARACTERS = 100_000  # of an entry

_OTHER = re.compile(r"[^\w]+")


def diary_path(at_ms: int, topic: str) -> str:
    """
    Return the path ``diary/<YYYY-MM-DD>-<HHMMSSmmm>-<topic>.md``, in UTC.

    The topic keeps its letters and digits in lower case; every other run of characters becomes one hyphen, so the
    topic cannot name another folder.
    """
    moment = iso_utc(at_ms)
    clock = "".join(filter(str.isdigit, moment[len("2026-01-31T") :]))
    return f"{FOLDER}/{moment[:10]}-{clock}-{_slug(topic)}.md"


def diary_title(entry: str) -> str:
    """Return the first 80 characters of an entry, on one line."""
    return " ".join(entry.split())[:TITLE_CHARS]


def _slug(topic: str) -> str:
    return _OTHER.sub("-", topic.lower()).strip("-_")[:TOPIC_CHARS].strip("-") or TOPIC
