"""Notes in order of date: the newest that match a question, and those of the time that it names."""

import re
from collections.abc import Collection, Mapping, Sequence

from clawmem.domain.documents.times import parse_iso
from clawmem.domain.retrieval.question import KINDS
from clawmem.domain.text.dates import TimeRange
from clawmem.domain.text.words import words

MATCHING = 0.9  # share of the best coverage of the topic that a matching note needs
# Confidence of the newest note of a kind ("the latest handoff"), which matches by its type and date alone. Not fitted:
# an estimate of how often the kind in the question and the type and date of the note are recognised correctly.
OF_ITS_KIND = 0.8
LEAST_COVERAGE = 0.5  # of the topic's weight; below, no note is about the topic


def kinds_in(text: str) -> frozenset[str]:
    """Return the content types that *text* names, `ANY_KIND` for words such as "notes"."""
    verbs = {kind for kind, verb in _KIND_VERBS.items() if verb.search(text)}
    return frozenset({KINDS[word] for word in words(text) if word in KINDS} | verbs)


def matching(coverage: Mapping[int, float]) -> set[int]:
    """Return the notes whose coverage of the topic is near the best; none if the best is below `LEAST_COVERAGE`."""
    best = max(coverage.values(), default=0.0)
    least = max(LEAST_COVERAGE, MATCHING * best) - 1e-9
    return {document for document, share in coverage.items() if share >= least}


def newest_first(
    dated: Mapping[int, str], superseded: Collection[int] = (), undated: Collection[int] = ()
) -> list[int]:
    """
    Return documents by their dates, newest first.

    Args:
        dated: The time at which each was written, as texts that sort chronologically.
        superseded: Documents that are not current: another note has superseded them, or they are drafts, copies or
            overviews. They come last.
        undated: Documents dated only by their file, whose time may be that of a copy; they come after those with
            a date of their own.
    """
    by_date = sorted(dated, key=lambda one: (dated[one], one), reverse=True)
    return sorted(by_date, key=lambda one: (one in superseded, one in undated))


def names_the_same(noun: str, name: str) -> bool:
    """Whether *noun* and *name*, of a folder or tag, are the same word, in singular or plural."""
    return _singular(noun) == _singular(name)


def _singular(word: str) -> str:
    lower = word.casefold()
    if lower.endswith("ies") and len(lower) > len("ties"):
        return f"{lower[:-3]}y"
    return lower[:-1] if lower.endswith("s") and not lower.endswith("ss") else lower


# Not fitted: estimates of how often the time of the question and the date of a note are recognised correctly.
IN_ITS_TIME = 0.8
OUT_OF_ITS_TIME = 0.05  # maximum for a note that was written at another time
BY_TIME_OF_FILE = 0.3  # maximum for a note that is only dated by its file

DAY_MS = 86_400_000
LEAST_OF_TIME, HALF = 1 / 3, 0.5  # of a topic, for a note that is known to be of the right time
# Verbs that ask for notes of a kind: a decision seldom contains the word "decide", a report of a fault "broke".
_KIND_VERBS = {
    "decision": re.compile(
        r"\b(?:decide[ds]?|settled?\s+(?:on|in|about)|entschieden|beschlossen)\b", re.IGNORECASE
    ),
    "problem": re.compile(
        r"\b(?:broken?|fail(?:ed|s)?|crash(?:ed|es)?|went\s+(?:wrong|down)|kaputt)\b", re.IGNORECASE
    ),
}
_AMOUNT = re.compile(
    r"\b(?:how\s+(?:much|many)|wie\s?viele?|combien|cuánt[oa]s?|quant[oa]s?)\b", re.IGNORECASE
)
_OF_OTHERS = re.compile(
    r"\b(?:did|does|do|has|have|had|is|are|was|were|will|hat|haben|ist|sind|war)\b(?!\s+(?:i|we|it|there|ich|wir|es)\b)",
    re.IGNORECASE,
)
_OWN_DEEDS = re.compile(r"\b(?:did|have|had|were|was)\s+(?:i|we)\b(?:\s+(\w+))?", re.IGNORECASE)


def asks_for_records(query: str, named: TimeRange) -> bool:
    """
    Whether *query* asks for notes of the *named* time: "what did we decide in March", "notes about bees from May".

    The notes of the user are about the user's own time. A question about others may be answered by a later note. An
    amount of a time ("how much gas this year") is the sum over its notes.
    """
    if _AMOUNT.search(query[: named.start]) and not _OF_OTHERS.search(query):
        return True
    return _OWN_DEEDS.search(query) is not None or bool(kinds_in(query[: named.start]))


def is_own_deed(query: str, topic: Sequence[str]) -> bool:
    """Whether *topic* is the verb of "what did I …" alone, so that every note of the time may tell of it."""
    found = _OWN_DEEDS.search(query)
    return found is not None and found[1] is not None and [*topic] == [found[1].lower()]


def about_topic(coverage: Mapping[int, float]) -> set[int]:
    """Return the notes that cover at least a third of the topic, and half as much as the best one."""
    least = max(LEAST_OF_TIME, HALF * max(coverage.values(), default=0.0))
    return {document for document, share in coverage.items() if share >= least}


def period_name(named: TimeRange) -> str:
    """Return the name of a diary of the *named* day, month or year, such as ``2026-03``; empty for other times."""
    first = named.recorded_from or ""
    start, end = parse_iso(first), parse_iso(named.authored_until or "")
    if start is None or end is None:
        return ""
    days = round((end - start) / DAY_MS)
    if days == 1:
        return first[: len("2026-03-31")]
    if days in (365, 366) and first[5:10] == "01-01":
        return first[: len("2026")]
    return first[: len("2026-03")] if 28 <= days <= 31 and first[8:10] == "01" else ""


def time_share(time_rarity: float, topic_rarities: Sequence[float]) -> float:
    """
    Return the confidence in a note that only matches the time, in [0, `IN_ITS_TIME`].

    The time counts like a word of the question: its weight grows with its rarity among the notes and falls with the
    weight of the question's other words.
    """
    total = time_rarity + sum(topic_rarities)
    return IN_ITS_TIME * time_rarity / total if total > 0 else 0.0
