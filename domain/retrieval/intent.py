"""
What kind of answer a question wants, told from its words.

Whole words decide: "update" is no date, "blockchain" blocks nothing, "whole" asks for nobody.
"""

from __future__ import annotations

import re
from enum import StrEnum
from types import MappingProxyType

from clawmem.domain.security.patterns import AnyCase, Pattern
from clawmem.ports.named_tuple import NamedTuple

# Each names the words of which it needs one: most questions hold few of them, and compile few patterns.
_RECENCY = AnyCase(
    r"""\b(?:
        recent(?:ly)? | latest | yesterday | today | continue
        | last\s+(?:session|time|week|month|few\s+days)
        | left\s+off | pick\s+up
        | where\s+(?:was|were)\s+(?:we|i)
        | what\s+(?:was|were)\s+(?:we|i)\s+(?:doing|working)
    )\b""",
    "recent|latest|yesterday|today|continue|last|left|pick|where|doing|working",
    re.VERBOSE,
)
# What `has_recency_intent` leaves out, being the published list; "last summer" and "last year" are history.
_LATELY = AnyCase(
    r"""\b(?:
        lately | newest | leave\s+off | this\s+year
        | last\s+(?:quarter|thing|one)
        | (?:did|have|has)\s+\w+\s+last
        | (?:the|my|our|'s)\s+last(?!\s+(?:spring|summer|autumn|fall|winter|year|name))
    )\b""",
    "lately|newest|leave|this|last",
    re.VERBOSE,
)
_HISTORY = AnyCase(
    r"""\b(?:
        before | formerly | previous(?:ly)? | original(?:ly)? | initially | earlier | used?\s+to
        | back\s+(?:in|then) | in\s+the\s+past | history\s+of
        | (?:at|the|her|his|our)(?:\s+very)?\s+first
        | why\s+(?:did|do|have)\s+(?:we|i|they)\s+(?:abandon|chang|drop|leav|left|mov|replac|stop|switch)\w*
        | (?:in|spring|summer|autumn|fall|winter)(?:\s+of)?\s+(?:19|20)[0-9]{2}
        | last\s+(?:spring|summer|autumn|fall|winter|year)
    )\b""",
    "before|former|previous|original|initial|earlier|use|back|past|history|first|19|20|last"
    "|abandon|chang|drop|leav|left|mov|replac|stop|switch",
    re.VERBOSE,
)
_AS_OF_TODAY = r"as\s+of\s+(?:now|today)"
_CURRENT = AnyCase(
    rf"\b(?:{_AS_OF_TODAY}|now(?:adays)?|current(?:ly)?|presently|these\s+days|at\s+(?:the\s+moment|present))\b",
    "now|today|current|present|days|moment",
)
_NO_DAY = AnyCase(rf"\b{_AS_OF_TODAY}\b", "now|today & of")


class TimeIntent(StrEnum):
    """Of which time a question wants to know."""

    ANY = "any"
    RECENT = "recent"  # what happened lately
    CURRENT = "current"  # what holds now, however old
    HISTORY = "history"  # what was before


class Intent(StrEnum):
    """What a question asks for. The order is the order of preference where scores are equal."""

    WHY = "WHY"
    WHEN = "WHEN"
    ENTITY = "ENTITY"
    WHAT = "WHAT"


# Intents along whose answers relations are followed from document to document.
GRAPH_INTENTS = frozenset({Intent.WHY, Intent.ENTITY})


_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_SIGNS = MappingProxyType(
    {
        Intent.WHY: AnyCase(
            r"""\b(?:
                why | caus(?:e[sd]?|ing) | because | reasons? | rationale | led\s+to
                | result(?:s|ed|ing)?\s+(?:in|from) | depend(?:s|ed|ing|ent|enc(?:y|ies))?
                | block(?:s|ed|er|ers|ing)? | chose | decisions? | trade-?offs? | instead\s+of
            )\b""",
            flags=re.VERBOSE,
        ),
        Intent.WHEN: AnyCase(
            rf"""\b(?:
                when | timelines? | chronolog\w+ | (?<!up\ to\ )(?<!up-to-)dates? | yesterday
                | last\s+(?:week|month|year|night) | ago
                | (?:before|after)\s+[0-9]\w* | (?:in|since|during|until)\s+(?:{_MONTH}|(?:19|20)[0-9]{{2}})
            )\b""",
            flags=re.VERBOSE,
        ),
        Intent.ENTITY: AnyCase(
            r"""\b(?:
                who(?:m|se)? | persons? | teams? | projects? | relationships? | mention(?:s|ed|ing)?
                | organi[sz]ations? | compan(?:y|ies)
            )\b
            | (?<![\w@\#])[@\#]\w""",
            flags=re.VERBOSE,
        ),
    }
)
_OPENERS = MappingProxyType({"why": Intent.WHY, "when": Intent.WHEN, "who": Intent.ENTITY})
_FIRST_WORD = Pattern(r"\A\W*(\w+)")

SIGN = 3  # what a category gains by any of its words
OPENER = 2  # by being what the question begins with
NAMED_TIME = 2  # WHEN, by a stretch of time that could be read
LEAST_PERCENT, PERCENT_A_POINT, MOST_PERCENT = 60, 10, 95  # confidence
DECIDED = 0.8


class Classification(NamedTuple):
    """
    What a question asks for, with ``confidence`` in [0.6, 0.95] and the scores that it comes from.

    ``is_decided`` is False where no word said anything: then a model may be asked.
    """

    intent: Intent
    confidence: float
    scores: MappingProxyType[Intent, int]

    @property
    def is_decided(self) -> bool:
        """Whether the words alone are enough, at a confidence of `DECIDED` or more."""
        return self.confidence >= DECIDED


def has_recency_intent(query: str) -> bool:
    """
    Whether the question asks for what happened lately: "latest", "yesterday", "where were we", "pick up" …

    Whole words only, in any case; words of a phrase may be apart by any white space. "current" is not
    among them: it asks for what holds now, which may be old.
    """
    return _RECENCY.search(query) is not None


def time_intent(query: str) -> TimeIntent:
    """
    Of which time *query* wants to know, by its words; whole words in any case, as `has_recency_intent`.

    Of several the first counts: "the latest", "lately", "the last one" ask for what is recent; "before",
    "formerly", "used to", "the first", "in summer 2025", "why did we leave" for what was; "now", "currently",
    "these days", "as of today" for what holds.
    """
    not_this_day = _NO_DAY.compiled.sub("now", query) if _NO_DAY.search(query) else query
    if has_recency_intent(not_this_day) or _LATELY.search(query):
        return TimeIntent.RECENT
    if _HISTORY.search(query):
        return TimeIntent.HISTORY
    return TimeIntent.CURRENT if _CURRENT.search(query) else TimeIntent.ANY


def classify_intent(query: str, *, names_time: bool = False) -> Classification:
    """
    Classify *query* by its words: 3 for any sign of a category, 2 more if it opens with why, when or who.

    Args:
        query: Any text.
        names_time: Whether a stretch of time was read from it (`temporal_range`): 2 more for WHEN.

    Returns:
        The category of the highest score, at a confidence of ``min(0.95, 0.6 + 0.1 * score)``; of equal
        ones WHY before WHEN before ENTITY. WHAT at 0.6 where nothing scores.
    """
    scores = {intent: SIGN * bool(sign.search(query)) for intent, sign in _SIGNS.items()}
    scores[Intent.WHEN] += NAMED_TIME * names_time
    first = _FIRST_WORD.compiled.match(query)
    opener = _OPENERS.get(first[1].lower()) if first else None
    if opener is not None:
        scores[opener] += OPENER
    best = max(scores, key=scores.__getitem__)  # the first of equal ones
    confidence = min(MOST_PERCENT, LEAST_PERCENT + PERCENT_A_POINT * scores[best]) / 100
    return Classification(best if scores[best] else Intent.WHAT, confidence, MappingProxyType(scores))
