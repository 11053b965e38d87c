"""Effect of a new decision on an earlier one, in other sessions and within its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from clawmem.domain.capture.cues import CaptureFinding, Kind
from clawmem.domain.text.vocabulary import STOP_WORDS
from clawmem.ports.sessions import Speaker

LEAST_MODEL_CONFIDENCE = 0.7  # below, a model's verdict is ignored
LEAST_SHARED = 2  # common content words of two decisions on the same subject
SAME_MATTER = 0.6  # share of the smaller sentence's content words
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
_FRAME = frozenset("use uses used using longer instead rather decided agreed".split())
_WORD = re.compile(r"[^\W_][\w.+#-]*[^\W_]|[^\W_]")


def verdict(new: str, old: str, least_shared: int = LEAST_SHARED) -> Verdict:
    """
    Return the relation of the decision *new* to the earlier decision *old*, by their words alone.

    Decisions with fewer than *least_shared* common content words are unrelated. If *new* names a word of *old* as abandoned
    ("X instead of Y"), it is an update if it adds other content words, else a contradiction. Two decisions that share
    at least 0.6 of the smaller one's content words are a contradiction if exactly one is a negation. Otherwise the
    verdict is none, because a wrong verdict would lower a valid decision.
    """
    left_behind = {match["old"].lower().strip(".") for match in _REPLACED.finditer(new)}
    new_words, old_words = _words(new), _words(old)
    shared = len(new_words & old_words)
    if shared < least_shared:
        return Verdict.NONE
    if left_behind & old_words and not _NEGATION.search(old):
        return Verdict.CONTRADICTION if new_words <= old_words else Verdict.UPDATE
    if shared >= SAME_MATTER * min(len(new_words), len(old_words)):
        return (
            Verdict.CONTRADICTION
            if bool(_NEGATION.search(new)) is not bool(_NEGATION.search(old))
            else Verdict.NONE
        )
    return Verdict.NONE


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


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - STOP_WORDS - _FRAME


class Revision(NamedTuple):
    """A statement of a session that a later one replaces."""

    old: CaptureFinding
    new: CaptureFinding


_REVISED = re.compile(
    r"^(?:\w+,? )?actually\b(?!.{0,150}\b(?:also|too)\b)|^on second thoughts?\b|^scratch that\b|^(?:nein,? )?doch lieber\b",
    re.IGNORECASE,
)


def revisions(found: Sequence[CaptureFinding]) -> list[Revision]:
    """
    Return the decisions and preferences among the findings of a conversation that later ones replace, in order.

    A statement replaces those that `verdict` says it does, with one common content word; one after "actually" that opposes none replaces the last one.
    Only the user revises what the assistant said.
    """
    standing: list[CaptureFinding] = []
    revised: list[Revision] = []
    for new in found:
        if new.kind not in (Kind.DECISION, Kind.PREFERENCE):
            continue
        by_user = new.message.speaker is Speaker.USER
        earlier = [old for old in standing if by_user or old.message.speaker is new.message.speaker]
        replaced = [old for old in earlier if verdict(new.sentence, old.sentence, 1) is not Verdict.NONE]
        if not replaced and _REVISED.search(new.sentence):
            replaced = earlier[-1:]
        revised += [Revision(old, new) for old in replaced]
        standing = [*(old for old in standing if old not in replaced), new]
    return revised
