"""Effect of a new decision on an earlier one, in other sessions and within its own."""

import re
from enum import StrEnum

from clawmem.domain.capture.cues import Kind
from clawmem.domain.capture.notes import Note
from clawmem.domain.retrieval.versions import CHANGE, CORRECTION
from clawmem.domain.text.vocabulary import STOP_WORDS, denies
from clawmem.ports.sessions import Speaker

REVISABLE = frozenset({Kind.DECISION, Kind.PREFERENCE})


class Verdict(StrEnum):
    """Relation of a new decision to an earlier one."""

    NONE = "none"
    CONTRADICTION = "contradiction"  # one denies the other
    UPDATE = "update"  # the new one replaces the earlier one


_LOWERED = {Verdict.CONTRADICTION: (0.25, 0.20), Verdict.UPDATE: (0.15, 0.30)}  # reduction and lower bound

_EXCLUSIONS = frozenset({"against", "without"})
_REPLACED = re.compile(
    r"(?i)\b(?:instead of|rather than|no longer|not|replac(?:e|es|ing)|drop(?:s|ping)?|away from|(?:mov|switch|migrat)\w* "
    r"(?:away )?from|statt|anstelle von|nicht mehr)\s+(?:use |using |the |our |to |with )*(?P<old>[\w.+#/-]+)"
)
_FRAME = frozenset("use uses used using let longer instead rather decided agreed".split())
_WORD = re.compile(r"[^\W_][\w.+#-]*[^\W_]|[^\W_]")


def verdict(new: str, old: str, *, in_session: bool = False) -> Verdict:
    """
    Return the relation of the decision *new* to the earlier decision *old*, by their words alone.

    Decisions with fewer than two common content words are unrelated, in a session those with none. If *new* names a word
    of *old* as abandoned ("X instead of Y"), it is an update if it adds other content words, else a contradiction. Two
    decisions that share at least 0.6 of the smaller one's content words are a contradiction if exactly one is a negation.
    In a session, one that says what changed updates one with half of its words; verbs count if it begins with "Actually".
    """
    abandoned = {match["old"].lower().strip(".") for match in _REPLACED.finditer(new)}
    stated = CORRECTION.sub("", new) if in_session else new
    frame = STOP_WORDS if stated != new else STOP_WORDS | _FRAME
    new_words, old_words = (set(_WORD.findall(text.lower())) - frame for text in (stated, old))
    is_negation, was_negation = (
        denies(text) or not _EXCLUSIONS.isdisjoint(_WORD.findall(text.lower())) for text in (new, old)
    )
    shared, least = len(new_words & old_words), min(len(new_words), len(old_words))
    if shared < (1 if in_session else 2):
        return Verdict.NONE
    if abandoned & old_words and not was_negation:
        return Verdict.CONTRADICTION if new_words <= old_words else Verdict.UPDATE
    if in_session and 2 * shared >= least and (stated != new or CHANGE.search(new)):
        return Verdict.UPDATE
    is_same_subject = shared >= 0.6 * least
    return Verdict.CONTRADICTION if is_same_subject and is_negation is not was_negation else Verdict.NONE


def lowered(confidence: float, verdict: Verdict) -> float:
    """Return the confidence of an earlier decision: 0.25 less, 0.2 at least, if contradicted; 0.15, 0.3 if updated."""
    if verdict is Verdict.NONE:
        return confidence
    less, floor = _LOWERED[verdict]
    return min(confidence, max(floor, round(confidence - less, 10)))


def is_invalid(content_type: str, confidence: float) -> bool:
    """Whether a document of this type becomes inactive: an observation with a confidence of 0.2 or less."""
    return content_type == "observation" and confidence <= 0.2


def revises(new: Note, old: Note) -> bool:
    """Whether a decision or preference replaces an earlier one of its session; only the user revises the assistant."""
    is_entitled = new.message.speaker in (Speaker.USER, old.message.speaker)
    is_revisable = REVISABLE.issuperset((new.kind, old.kind))
    return is_entitled and is_revisable and verdict(new.quote, old.quote, in_session=True) is not Verdict.NONE
