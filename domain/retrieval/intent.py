"""Classification of a question's intent by its whole words: "update" is no date, "blockchain" has no "block"."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from clawmem.domain.text.vocabulary import MONTHS, NEWEST, SEASONS, any_of
from clawmem.domain.text.words import words

_RECENCY = re.compile(
    r"""\b(?:
        recent(?:ly)? | latest | yesterday | today | continue
        | last\s+(?:session|time|week|month|few\s+days)
        | left\s+off | pick\s+up
        | where\s+(?:was|were)\s+(?:we|i)
        | what\s+(?:was|were)\s+(?:we|i)\s+(?:doing|working)
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
# Not in `has_recency_intent`, which uses the published list. "Last summer" and "last year" are history.
_LATELY = re.compile(
    rf"""\b(?:
        lately | {any_of(NEWEST - {"last"})} | leave\s+off | this\s+year
        | last\s+(?:quarter|thing|one)
        | (?:did|have|has)\s+\w+\s+last
        | (?:the|my|our|'s)\s+last(?!\s+(?:{any_of(SEASONS)}|year|name))
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)


class Intent(StrEnum):
    """Kind of answer that a question asks for. The order breaks ties between equal scores."""

    WHY = "WHY"
    WHEN = "WHEN"
    ENTITY = "ENTITY"
    WHAT = "WHAT"


# Intents for which the relations of the results are followed.
GRAPH_INTENTS = frozenset({Intent.WHY, Intent.ENTITY})


_SIGNS = {
    Intent.WHY: re.compile(
        r"""\b(?:
                why | caus(?:e[sd]?|ing) | because | reasons? | rationale | led\s+to
                | result(?:s|ed|ing)?\s+(?:in|from) | depend(?:s|ed|ing|ent|enc(?:y|ies))?
                | block(?:s|ed|er|ers|ing)? | chose | decisions? | trade-?offs? | instead\s+of
            )\b""",
        re.IGNORECASE | re.VERBOSE,
    ),
    Intent.WHEN: re.compile(
        rf"""\b(?:
                when | timelines? | chronolog\w+ | (?<!up\ to\ )(?<!up-to-)dates? | yesterday
                | last\s+(?:week|month|year|night) | ago
                | (?:before|after)\s+[0-9]\w* | (?:in|since|during|until)\s+(?:{any_of(MONTHS)}|(?:19|20)[0-9]{{2}})
            )\b""",
        re.IGNORECASE | re.VERBOSE,
    ),
    Intent.ENTITY: re.compile(
        r"""\b(?:
                who(?:m|se)? | persons? | teams? | projects? | relationships? | mention(?:s|ed|ing)?
                | organi[sz]ations? | compan(?:y|ies)
            )\b
            | (?<![\w@\#])[@\#]\w""",
        re.IGNORECASE | re.VERBOSE,
    ),
}
_OPENERS = {"why": Intent.WHY, "when": Intent.WHEN, "who": Intent.ENTITY}
DECIDED = 0.8  # confidence


class Classification(NamedTuple):
    """The intent of a question, with ``confidence`` in [0.6, 0.95]; from `DECIDED` on its words alone are enough."""

    intent: Intent
    confidence: float


def has_recency_intent(query: str) -> bool:
    """Whether the question asks for recent events: "latest", "yesterday"; "current" asks for a state, maybe an old one."""
    return _RECENCY.search(query) is not None


def asks_for_recent(query: str) -> bool:
    """Whether the question asks for recent events, also by "lately", "the newest" or "the last one"."""
    return has_recency_intent(query) or _LATELY.search(query) is not None


def classify_intent(query: str, *, names_time: bool = False) -> Classification:
    """
    Classify *query* by its words: 3 for any word of a category, 2 more if it begins with why, when or who.

    A time that was recognised in it (*names_time*) gives WHEN 2 more. The category with the highest score has a
    confidence of ``min(0.95, 0.6 + 0.1 * score)``; of equal scores WHY comes before WHEN before ENTITY. WHAT at 0.6 if
    nothing scores.
    """
    scores = {intent: 3 * bool(sign.search(query)) for intent, sign in _SIGNS.items()}
    scores[Intent.WHEN] += 2 * names_time
    if opener := _OPENERS.get(next(iter(words(query)), "")):
        scores[opener] += 2
    best = max(scores, key=scores.__getitem__)  # the first of equal ones
    confidence = min(95, 60 + 10 * scores[best]) / 100
    return Classification(best if scores[best] else Intent.WHAT, confidence)


def weights_for_intent(weights: Mapping[str, float], intent: Intent, meaning: str) -> dict[str, float]:
    """
    Return *weights* of fusion adjusted to *intent*; *meaning* is the name of the vector retriever.

    A time is found by its words; a reason is often expressed in other words than the question.
    """
    for_words = 1.5 if intent is Intent.WHEN else 1.0
    for_meaning = 1.5 if intent is Intent.WHY else 1.0
    return {
        name: weight * (for_meaning if name == meaning else for_words) for name, weight in weights.items()
    }
