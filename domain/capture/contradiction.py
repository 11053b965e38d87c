"""What a new decision does to an earlier one."""

from __future__ import annotations

import re
from enum import StrEnum

from clawmem.domain.capture.sentences import sentences

LEAST_MODEL_CONFIDENCE = 0.7  # below, a model's verdict is none
LEAST_SHARED = 2  # content words, or it is about something else
SAME_MATTER = 0.6  # of the smaller sentence's content words, shared
INVALID_AT = 0.2  # an observation that is relied on this little is not served any more


class Verdict(StrEnum):
    """How a new decision stands to an earlier one."""

    NONE = "none"
    CONTRADICTION = "contradiction"  # one says what the other denies
    UPDATE = "update"  # the new one takes the place of the earlier one


_LOWERED = {Verdict.CONTRADICTION: (0.25, 0.20), Verdict.UPDATE: (0.15, 0.30)}  # by how much, not below

_NEGATION = re.compile(
    r"\b(?:not|no|never|won't|don't|doesn't|isn't|aren't|no longer|against|without|nicht|kein\w*|nie)\b",
    re.IGNORECASE,
)
_REPLACED = re.compile(
    r"\b(?:instead of|rather than|no longer|not|replac(?:e|es|ing)|drop(?:s|ping)?|away from|(?:mov|switch|migrat)\w* "
    r"(?:away )?from|statt|anstelle von|nicht mehr)\s+(?:use |using |the |our |to |with )*(?P<old>[\w.+#/-]+)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_][\w.+#-]*[^\W_]|[^\W_]")
_COMMON = frozenset(
    "a an the we i you it they is are be will shall to of in on at for and or with by from as that this these those "
    "our your its not no never don't won't longer any more now then so ok okay use uses using used go going goes "
    "let let's us keep keeps decided agreed instead rather than stay stays switch move do does all only".split()
)


def verdict(new: str, old: str) -> Verdict:
    """
    How the decision *new* stands to the earlier *old*, by their words alone.

    Both speak of the same: two content words or more. An update names something of the old one as what is
    left behind ("X instead of Y"), and has something else in its place, or else it is a contradiction. So are
    two that have at least 0.6 of the smaller one's content words in common and of which exactly one is a denial. What
    says neither so plainly is none: to lower nothing is the smaller mistake.
    """
    left_behind = {match["old"].lower().strip(".") for match in _REPLACED.finditer(new)}
    new_words, old_words = _words(new), _words(old)
    shared = len(new_words & old_words)
    if shared < LEAST_SHARED:
        return Verdict.NONE
    if left_behind & old_words and not _denies(old):
        return Verdict.CONTRADICTION if new_words <= old_words else Verdict.UPDATE
    if shared >= SAME_MATTER * min(len(new_words), len(old_words)):
        return Verdict.CONTRADICTION if _denies(new) is not _denies(old) else Verdict.NONE
    return Verdict.NONE


def lowered(confidence: float, verdict: Verdict) -> float:
    """
    The confidence of an earlier decision after *verdict*: 0.25 less after a contradiction but not below 0.2,
    0.15 less after an update but not below 0.3. One that is lower already stays where it is.
    """
    if verdict is Verdict.NONE:
        return confidence
    less, floor = _LOWERED[verdict]
    return min(confidence, max(floor, round(confidence - less, 10)))


def is_invalid(content_type: str, confidence: float) -> bool:
    """Whether a document of this type is not served any more: an observation at 0.2 or below."""
    return content_type == "observation" and confidence <= INVALID_AT


def _denies(text: str) -> bool:
    return any(_NEGATION.search(sentence) for sentence in sentences(text))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - _COMMON
