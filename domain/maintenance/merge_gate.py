"""Whether two observations say the same, so surely that one may stand for both."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import combinations
from math import sqrt
from typing import NamedTuple

from clawmem.domain.maintenance.contradiction_gate import denies, numbers

NORMAL = 0.93  # cosine that two texts about the same names need
STRICT = 0.98  # and those where the names cannot be compared
SAME_ANCHORS = 0.5  # Jaccard; at or below, they are about others
SAME_MATTER = 0.5  # Jaccard of the longer words; at or below, it is not even asked
GROUNDED = 0.6  # of a pattern's words, that each observation behind it holds
TAKEN_UP = 0.8  # of each observation's words, that the pattern holds
_LONG = 4  # letters of a word that says what a text is about
_STEM = 4  # letters by which such words are compared: fail, fails
_SHORTEST_NAME = 2

_OTHER = re.compile(r"[^a-z0-9 ]")
_BLANKS = re.compile(r"\s+")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_SMALL = re.compile(r"\b[a-z][\w+#-]*")
_CAPITALISED = re.compile(r"\b[A-Z][\w+#-]*")
_COMMON = frozenset(  # neither names nor what a text is about
    "about come comes gets goes kept keeps made makes need needs take taken takes took used uses works "
    "a all also always an and any are as at backups because before both build builds but by can change changes code "
    "deploy deploys do does each every for from good have he her his how i if in into is it its keep let make my never new "
    "no not nobody note now of old on once one only or our please releases run set she since so some somebody still "
    "stop tests that the their then there these they this those to use users we what when where which while who why "
    "will with without you your".split()
)
_COUNTED = frozenset(
    "zero one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty hundred "
    "thousand million once twice half monday tuesday wednesday thursday friday saturday sunday january february march "
    "april may june july august september october november december spring summer autumn winter minus hourly daily nightly "
    "weekly monthly yearly quarterly morning afternoon evening".split()
)
_OPPOSITES = tuple(
    frozenset(pair.split())
    for pair in (
        "enabled disabled,enable disable,enables disables,on off,allowed forbidden,allow forbid,allows forbids,"
        "before after,always never,start stop,starts stops,add remove,adds removes,public private,sync async,"
        "synchronous asynchronous,increase decrease,increases decreases,more less,more fewer,above below,first last,"
        "required optional,open closed,left right,up down,minimum maximum,encrypted unencrypted,with without,"
        "likes dislikes,passes fails,accepted rejected,faster slower,manual automatic,manually automatically,"
        "prefers avoids,bought sold,old new,hot cold,grew shrank,upper lower,early late,earlier later,in out,"
        "increased decreased,grows shrinks,wider narrower,longer shorter,bigger smaller,input output,read write,reads writes,client server,internal external,won lost,raised lowered"
    ).split(",")
)
# After these it matters what stands before and what behind.
_DIRECTED = re.compile(
    r"\b(?:first|then|from|over|instead|rather|than|before|after|replac\w*|supersed\w*|above|below|behind|under|depends?|owns|owned|"
    r"calls?|reports?|taught|teaches|reviews?|sent|sends|gave|gives|owes?|beats?|into|onto)\b",
    re.IGNORECASE,
)


class Method(StrEnum):
    """By what it was told whether two texts are about the same."""

    ENTITIES = "entity_aware"
    LEXICAL = "lexical_only"
    STRICTEST = "strictest_default"


class Merge(NamedTuple):
    """Whether two texts may become one, the cosine, what it had to be, and why not."""

    accepted: bool
    score: float
    threshold: float
    reason: str
    method: Method


class Said(NamedTuple):
    """What an observation says, and the ids of the entities that it mentions."""

    text: str
    entities: frozenset[str] = frozenset()


def may_merge(one: Said, other: Said, *, normal: float = NORMAL, strict: float = STRICT) -> Merge:
    """
    Whether *one* and *other* say the same.

    They do when nothing in them differs (`difference`) and the cosine of their character 3-grams reaches *normal*,
    or *strict* where names stand in one of them only, or in neither.
    """
    ours, theirs, method = _anchors_of(one, other)
    score = similarity(one.text, other.text)
    threshold = normal if ours and theirs else strict
    reason = difference(one, other, in_order=True)
    if not reason and score < threshold:
        reason = "their words differ"
    return Merge(not reason, score, threshold, reason, method)


def difference(one: Said, other: Said, *, in_order: bool = False) -> str:
    """
    What keeps two texts from being the same whatever a model says, in a few words; empty when nothing does.

    Names that differ (Jaccard of both sides at most 0.5) or change places, numbers, days and months that are not the
    same, a denial or the opposite word on one side.

    Args:
        in_order: Whether all long words that both hold must stand in the same order, not only names.
    """
    ours, theirs, _ = _anchors_of(one, other)
    if ours and theirs and jaccard(ours, theirs) <= SAME_ANCHORS:
        return "they name others"
    counted, also = _values(one.text), _values(other.text)
    if counted and also and counted != also:
        return "their numbers differ"
    if denies(one.text) is not denies(other.text):
        return "one of them is a denial"
    if _opposed(one.text, other.text):
        return "they hold opposite words"
    directed = in_order or bool(_DIRECTED.search(one.text) or _DIRECTED.search(other.text))
    words = long_words if directed else _names
    return "" if _same_order(words(one.text), words(other.text)) else "their words change places"


def may_stand_for(pattern: str, sources: Sequence[Said]) -> str:
    """
    Why what a model wrote may not stand in the place of *sources*; empty when it may.

    There are two sources or more and no two of them differ; the pattern has 0.6 of its long words or more from each of
    them and holds 0.8 of theirs, and it has no number or name that none of them holds.
    """
    if len(sources) < 2:
        return "it rests on fewer than two observations"
    for one, other in combinations(sources, 2):
        if reason := difference(one, other):
            return reason
    if any(_from(pattern, source.text) < GROUNDED for source in sources):
        return "it says what one of them does not"
    if any(_from(source.text, pattern) < TAKEN_UP for source in sources):
        return "it does not say what one of them does"
    held = " ".join(source.text for source in sources)
    if _values(pattern) - _values(held) or lexical_anchors(pattern) - _all_words(held):
        return "it names what none of them does"
    return "one of them is a denial" if denies(pattern) is not denies(sources[0].text) else ""


def similarity(one: str, other: str) -> float:
    """
    The cosine of the counts of character 3-grams, in lower case and without what is no ASCII letter or digit.

    Equal texts have 1, an empty one 0; one of fewer than three characters is its own 3-gram.
    """
    ours, theirs = _flat(one), _flat(other)
    if not ours or not theirs:
        return 0.0
    if ours == theirs:
        return 1.0
    left, right = _trigrams(ours), _trigrams(theirs)
    shared = sum(count * right[gram] for gram, count in left.items())
    return shared / (_length(left) * _length(right))


def lexical_anchors(text: str) -> frozenset[str]:
    """Capitalised words of two characters or more that are no common ones, in lower case: the names in it."""
    return frozenset(_names(text))


def is_candidate(one: str, other: str) -> bool:
    """Whether two texts share so many of their words of four letters or more that they may be about the same."""
    return jaccard(frozenset(long_words(one)), frozenset(long_words(other))) > SAME_MATTER


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """What both hold, as a share of what either holds; 0 when both are empty."""
    either = len(one | other)
    return len(one & other) / either if either else 0.0


def _anchors_of(one: Said, other: Said) -> tuple[frozenset[str], frozenset[str], Method]:
    if one.entities and other.entities:
        return one.entities, other.entities, Method.ENTITIES
    # A word that begins a sentence may be a name; one that is written small elsewhere is none.
    small = frozenset(_SMALL.findall(one.text)) | frozenset(_SMALL.findall(other.text))
    ours, theirs = lexical_anchors(one.text) - small, lexical_anchors(other.text) - small
    return ours, theirs, Method.LEXICAL if ours or theirs else Method.STRICTEST


def _names(text: str) -> list[str]:
    found = (name.lower() for name in _CAPITALISED.findall(text) if len(name) >= _SHORTEST_NAME)
    return [name for name in found if name not in _COMMON]


def long_words(text: str) -> list[str]:
    """Its words of four characters or more that are no common ones, in lower case: what it is about."""
    return [word for word in _words(text) if len(word) >= _LONG and word not in _COMMON]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _all_words(text: str) -> frozenset[str]:
    return frozenset(_words(text)) | lexical_anchors(text)


def _values(text: str) -> frozenset[str]:
    return numbers(text) | (frozenset(_words(text)) & _COUNTED)


def _opposed(one: str, other: str) -> bool:
    ours, theirs = frozenset(_words(one)), frozenset(_words(other))
    return any(
        len(pair & ours) == len(pair & theirs) == 1 and pair & ours != pair & theirs for pair in _OPPOSITES
    )


def _same_order(ours: Iterable[str], theirs: Iterable[str]) -> bool:
    left, right = list(dict.fromkeys(ours)), list(dict.fromkeys(theirs))
    return [word for word in left if word in right] == [word for word in right if word in left]


def _from(pattern: str, text: str) -> float:
    wanted, held = ({word[:_STEM] for word in long_words(one)} for one in (pattern, text))
    return len(wanted & held) / len(wanted) if wanted else 0.0


def _flat(text: str) -> str:
    return _BLANKS.sub(" ", _OTHER.sub(" ", text.lower())).strip()


def _trigrams(text: str) -> Counter[str]:
    return Counter(text[i : i + 3] for i in range(max(1, len(text) - 2)))


def _length(counts: Counter[str]) -> float:
    return sqrt(sum(count * count for count in counts.values()))
