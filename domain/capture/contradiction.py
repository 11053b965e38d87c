"""Effect of a new decision on an earlier one."""

from __future__ import annotations

import re
from enum import StrEnum

from clawmem.domain.capture.sentences import sentences

LEAST_MODEL_CONFIDENCE = 0.7  # below, a model's verdict is ignored
LEAST_SHARED = 2  # common content words of two decisions on the same subject
SAME_MATTER = 0.6  # share of the smaller sentence's content words
SAME_STATEMENT = 0.75  # share of the content words of both: one other word of four is often another matter
INVALID_AT = 0.2  # confidence at which an observation becomes inactive


class Verdict(StrEnum):
    """Relation of a new decision to an earlier one."""

    NONE = "none"
    CONTRADICTION = "contradiction"  # one denies the other
    UPDATE = "update"  # the new one replaces the earlier one


_LOWERED = {Verdict.CONTRADICTION: (0.25, 0.20), Verdict.UPDATE: (0.15, 0.30)}  # reduction and lower bound

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
    Return the relation of the decision *new* to the earlier decision *old*, by their words alone.

    Decisions with fewer than two common content words are unrelated. If *new* names a word of *old* as abandoned
    ("X instead of Y"), it is an update if it adds other content words, else a contradiction. Two decisions that share
    at least 0.6 of the smaller one's content words are a contradiction if exactly one is a negation. Otherwise the
    verdict is none, because a wrong verdict would lower a valid decision.
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


def contradicted_line(text: str, body: str) -> int | None:
    """
    Return the 1-based line of *body* with a sentence that the single sentence *text* contradicts; ``None`` without one.

    Both have nearly the same content words, because two facts about one subject may both hold, and one is a negation.
    """
    said = _words(text)
    if len(said) < LEAST_SHARED or len(list(sentences(text))) != 1:
        return None
    for number, line in enumerate(body.split("\n"), 1):
        if len(said & _words(line)) < LEAST_SHARED:
            continue
        for sentence in sentences(line):
            either, both = said | _words(sentence), said & _words(sentence)
            is_same = len(both) >= SAME_STATEMENT * len(either)
            if is_same and _denies(text) is not _denies(sentence):
                return number
    return None


def lowered(confidence: float, verdict: Verdict) -> float:
    """
    Return the confidence of an earlier decision after *verdict*: reduced by 0.25 to no less than 0.2 after a
    contradiction, by 0.15 to no less than 0.3 after an update. A confidence below the bound is unchanged.
    """
    if verdict is Verdict.NONE:
        return confidence
    less, floor = _LOWERED[verdict]
    return min(confidence, max(floor, round(confidence - less, 10)))


def is_invalid(content_type: str, confidence: float) -> bool:
    """Whether a document of this type becomes inactive: an observation with a confidence of 0.2 or less."""
    return content_type == "observation" and confidence <= INVALID_AT


def _denies(text: str) -> bool:
    return any(_NEGATION.search(sentence) for sentence in sentences(text))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - _COMMON
