"""
Notes that describe the same subject at different times, and the one that a question means.

Owners often keep the old note when its subject changes: "energy 2025" beside "energy 2026", "travel rules before" beside
"travel rules". Nothing in them says which one is current, but their names and dates do.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from itertools import combinations
from typing import NamedTuple

from clawmem.domain.retrieval.intent import TimeIntent, time_intent
from clawmem.domain.retrieval.query_forms import content_words
from clawmem.domain.text.vocabulary import FORMER, MONTHS, ORDINALS, STOP_WORDS, any_of
from clawmem.domain.text.words import words

# Share of the best version's relevance. A note that matches worse is about something else, or names the event that ended
# the former state.
COMPARABLE = 0.45

# Words in file names that tell versions of a subject apart. Months and days are not among them: notes that are dated to
# the month or day are records, of which each stays true.
_VERSION_WORDS = frozenset(
    "a before the old older former previous earlier original first initial new newer current now last this year from since"
    " until alt alte alter neu neue vieux ancien ancienne nouveau nouvelle antes viejo vieja nuevo nueva antigo velho novo".split()
)
_ORDINALS = ORDINALS.keys() - {"first"} | MONTHS.keys() | {"next"}
SHARED = 2  # words of two names that make a series, or one subject of two decisions
# First words of decisions that name no subject: "use-postgres", "move-to-hetzner".
_DECIDING = frozenset(
    "use adopt choose pick take move switch keep drop stop start add remove allow no not".split()
)
_YEAR = re.compile(r"(?:19|20)[0-9]{2}\Z")
_FROM_ON = re.compile(rf"\b(?:from|since|until|ab|seit|bis)\s+(?:{any_of(MONTHS)})\b")
_EARLIEST = re.compile(
    r"\b(?:original(?:ly)?|initial(?:ly)?|in\s+the\s+beginning|to\s+begin\s+with|first\W*\Z"
    r"|when\s+(?:we|i|they|it)\s+(?:start|began|open)\w*"
    r"|(?:the|my|our|your|her|his|its|at|very)\s+first)\b",
    re.IGNORECASE,
)
_BEGINS = re.compile(r"\b(?:from|since|starting|as\s+of|ab|seit|depuis|desde)(?:\s+the)?\s*\Z", re.IGNORECASE)
_BEFORE = re.compile(
    r"\b(?:before|until|till|ahead\s+of|prior\s+to)\b(?P<event>.*)", re.IGNORECASE | re.DOTALL
)
_FORMER = re.compile(rf"\b(?:{any_of(FORMER)}|used?\s+to|back\s+then|in\s+the\s+past)\b", re.IGNORECASE)
_WHY = re.compile(r"\A\W*why\b", re.IGNORECASE)
_PAST_TENSE = re.compile(r"\b(?:was|were|did|had)\b", re.IGNORECASE)


class Wanted(StrEnum):
    """Version of a subject that a question asks for."""

    CURRENT = "current"
    ANY = "any"  # the best match: a question in the past tense may mean each of them
    FORMER = "former"
    EARLIEST = "earliest"


class WantedVersion(NamedTuple):
    """
    The version of a subject that a question asks for.

    ``event`` contains the words for the event that ended it ("before Stripe"). ``until`` is the end of the time that the
    question names, an ISO time: the version that was valid then is meant.
    """

    wanted: Wanted
    event: frozenset[str] = frozenset()
    until: str | None = None


class Version(NamedTuple):
    """
    One note of a subject: when it was written, the words of its names, its relevance, whether its file name contains a year
    that has not begun, and the number of notes that have superseded it.
    """

    written: str
    names: frozenset[str]
    relevance: float
    is_future: bool = False
    successors: int = 0


def subject_name(path: str) -> tuple[str, str] | None:
    """
    Return the folder and the subject that the file name of *path* names, without the words for its version.

    ``None`` if only such words are left, as in ``2025.md``.
    """
    folder, _, file = path.rpartition("/")
    name = _FROM_ON.sub(" ", file.rpartition(".")[0].casefold().replace("-", " ").replace("_", " "))
    subject = [word for word in words(name) if word not in _VERSION_WORDS and not _YEAR.match(word)]
    return (folder, " ".join(subject)) if any(word.isalpha() and len(word) > 1 for word in subject) else None


def decision_subjects(path: str) -> frozenset[tuple[str, ...]]:
    """
    Return the subjects that the decision in the file *path* may be about; two decisions that share one are about the same.

    These are its folder with the first content word of its name ("sensor-sht31", "sensor-sht45"), and with each two
    ("slot-hold-length", "shorter-slot-hold").
    """
    folder, _, file = path.rpartition("/")
    name = words(file.rpartition(".")[0].casefold().replace("_", " "))
    content = [
        word for word in name if word.isalpha() and word not in STOP_WORDS | _ORDINALS | _VERSION_WORDS
    ]
    pairs = combinations(sorted({*content}), SHARED)
    first = [(content[0],)] if content and content[0] not in _DECIDING else []
    return frozenset((folder, *subject) for subject in (*first, *pairs))


def names_future_year(path: str, now: str) -> bool:
    """Whether the file name of *path* contains a year after that of *now*, an ISO time."""
    return any(_YEAR.match(word) and word > now[:4] for word in words(path.rpartition("/")[2]))


def wanted_version(query: str, named_until: str | None = None) -> WantedVersion:
    """
    Return the version that *query* asks for.

    Args:
        named_until: End of the time that the question names, ``None`` if it names none.
    """
    if named_until is not None:
        return WantedVersion(Wanted.CURRENT, until=named_until)
    if _WHY.search(query):
        return WantedVersion(Wanted.CURRENT)
    if _EARLIEST.search(query):
        return WantedVersion(Wanted.EARLIEST)
    if not _FORMER.search(query):
        is_undecided = _PAST_TENSE.search(query) and time_intent(query) in (
            TimeIntent.ANY,
            TimeIntent.HISTORY,
        )
        return WantedVersion(Wanted.ANY if is_undecided else Wanted.CURRENT)
    before = _BEFORE.search(query)
    return WantedVersion(Wanted.FORMER, frozenset(content_words(before["event"])) if before else frozenset())


def begins_then(before: str) -> bool:
    """Whether the text *before* a named time says that something begins with it: "from September"."""
    return _BEGINS.search(before) is not None


def in_wanted_order(versions: Mapping[int, Version], asked: WantedVersion) -> list[int]:
    """
    Return the documents of one subject, the one that the question means first.

    The current version is the last written one, unless it is for a year that has not begun, or the last one written
    before the end of the named time. A former
    version is the one directly before the version that the question names, else the best match of all but the current.
    """
    newest = sorted(
        versions,
        key=lambda number: (-versions[number].successors, versions[number].written, number),
        reverse=True,
    )
    if asked.until is not None:
        known = [number for number in newest if versions[number].written < asked.until]
        return [*known, *(number for number in newest[::-1] if number not in known)]
    if asked.wanted is Wanted.EARLIEST:
        return newest[::-1]
    if asked.wanted is Wanted.CURRENT:
        return sorted(newest, key=lambda number: versions[number].is_future)
    if asked.wanted is Wanted.ANY:
        return sorted(versions, key=lambda number: -versions[number].relevance)
    # After the oldest version that the event names, if an older one exists, else after the newest.
    named = [place for place, number in enumerate(newest[:-1]) if asked.event & versions[number].names]
    after = max(named, default=0)
    former = newest[after + 1 :]
    if not asked.event or not any(asked.event & versions[number].names for number in newest):
        former = sorted(former, key=lambda number: -versions[number].relevance)
    return [*former, *newest[: after + 1]]
