"""Selection of notes for a briefing: current and stale notes, and lines that name a file."""

from __future__ import annotations

import re

PINNED = 1_000.0
RECENT_DAYS = 7  # age up to which a decision counts as current
STALE_DAYS = 30  # idle time after which a note is due for review

# Current at any age; decisions only while they are recent.
CURRENT_TYPES = frozenset({"problem", "preference", "deductive"})


def current_rank(*, pinned: bool, age_days: float, access_count: int) -> float:
    """
    Return the rank of a document; a pin outweighs everything, a day of age costs as much as 2.5 accesses add.

    Args:
        age_days: Days since the last change. The freshness bonus never falls below 0.
    """
    return PINNED * pinned + max(0.0, 100.0 - 5.0 * age_days) + 2.0 * access_count


def is_current(content_type: str, age_days: float) -> bool:
    """Whether a document of *content_type* belongs to the current work."""
    return content_type in CURRENT_TYPES or (content_type == "decision" and age_days <= RECENT_DAYS)


def is_stale(*, review_by: str | None, today: str, idle_days: float) -> bool:
    """
    Whether a note is due for review: its review day has passed or, without one, it was idle for over 30 days.

    Args:
        idle_days: As by `clawmem.domain.lifecycle.policy.idle_days`.
        review_by: An ISO 8601 day or time. The note is not yet due on that day.
        today: The current day, ``YYYY-MM-DD``.
    """
    if review_by:
        return review_by[: len(today)] < today
    return idle_days > STALE_DAYS


# Base names that occur in every project and therefore identify no file on their own.
EVERYWHERE = frozenset(
    "__init__ __main__ app base changelog common config conftest constants dockerfile errors index license main "
    "makefile mod models package readme routes schema settings setup styles tests types util utils views".split()
)
MOST_FILES = 3
_SUFFIX = re.compile(r"\w\.[A-Za-z]\w{0,9}$")
_PATH = re.compile(r"(?:[A-Za-z]:)?[\w.@+~-]*(?:[/\\]+[\w.@+~-]+)*")


def file_name(path: str) -> str:
    """Return the base name of *path* in its own spelling, for any operating system; empty for a folder path."""
    return path.replace("\\", "/").rpartition("/")[2]


def names_file(line: str, path: str) -> bool:
    """
    Whether *line* names the file at *path*, an absolute or relative path of any operating system.

    A path in the line matches if it is a suffix of *path*, folder by folder, or the reverse, ignoring case. A bare
    name matches unless it is common to all projects (``index.ts``, ``README.md``). A line with more than three
    file names is a listing and matches none of them.
    """
    touched = _parts(path)
    paths = [match[0] for match in _PATH.finditer(line) if match[0]]
    if not touched or sum(map(bool, map(_SUFFIX.search, paths))) > MOST_FILES:
        return False
    is_common = touched[-1].partition(".")[0] in EVERYWHERE
    for named in (_parts(path) for path in paths if touched[-1] in path.lower()):
        shared = min(len(named), len(touched))
        is_suffix = shared > 0 and named[-shared:] == touched[-shared:]
        if is_suffix and (shared > 1 or len(touched) == 1 or not is_common):
            return True
    return False


def _parts(path: str) -> list[str]:
    plain = path.lower().replace("\\", "/").rstrip(".")
    return [part for part in plain.split("/") if part not in ("", ".", "..") and not part.endswith(":")]
